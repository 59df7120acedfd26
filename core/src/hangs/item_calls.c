/* SPDX-License-Identifier: MIT */
#include "hangs/item_calls.h"

#include <string.h>

#include "analysis/pool/callback_name.h"
#include "analysis/pool/pool_state.h"
#include "analysis/pool/timers.h"
#include "hangs/wait_reach.h"
#include "runtime/coreclr/code/code_names.h"
#include "util/alloc.h"

/* Objects from a timer or a work item to the one that is asked for, over a delegate. */
#define ITEM_LEVELS 4u
/* Builders of async methods: what these do is in the code of their state machines. */
#define BUILDER "System.Runtime.CompilerServices.Async"

static uint64_t match_builder(const void *arg, const char *name)
{
	(void)arg;
	return strncmp(name, BUILDER, strlen(BUILDER)) == 0;
}

static bool item_may(struct wait_reach *reach, const struct item_question *question,
		     uint64_t address)
{
	const struct waits *waits = reach->waits;
	const struct code_search builders = { match_builder, NULL };
	struct object item;
	if (!wait_reaches(reach, address, ITEM_LEVELS))
		return false;
	uint64_t method = member_object(waits->members, address, &item)
				  ? callback_method(waits->heap, waits->members, &item)
				  : 0;
	return !method || code_owner_of_method(waits->heap->runtime, method) == CODE_OF_FRAMEWORK ||
	       code_names_of_method(waits->heap->runtime, method, &builders) ||
	       question->may(question->arg, method);
}

enum hd_status item_calls_ask(const struct waits *waits, const struct item_question *question,
			      struct job *job, bool *ret, struct hd_error *err)
{
	const struct queue_reader reader = { waits->heap, waits->members, job };
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	HD_CLEANUP(pool_queues) struct pool_queues queues = { 0 };
	HD_FREE struct wait_reach *reach = mem_calloc(1, sizeof(*reach));
	TRY_MEMORY(reach, err);
	reach->waits = waits;
	reach->is_wanted = reach_is_object;
	reach->wanted = question->object;
	*ret = false;
	TRY(set_timers_read(waits->heap, waits->members, job, &timers, err));
	TRY(pool_queues_read(&reader, &queues, err));
	for (size_t i = 0; i < timers.rows_count && !*ret; i++)
		*ret = item_may(reach, question, timers.rows[i].address);
	for (unsigned int i = 0; i < POOL_QUEUES; i++) {
		for (size_t k = 0; k < queues.queues[i].rows_count && !*ret; k++)
			*ret = item_may(reach, question, queues.queues[i].rows[k]);
	}
	return HD_OK;
}
