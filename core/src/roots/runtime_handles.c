/* SPDX-License-Identifier: MIT */
#include "roots/runtime_handles.h"

#include <string.h>

#include "clr/threads/in_flight.h"
#include "clr/threads/thread_words.h"
#include "roots/root_set.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Most exceptions of one thread that are read. */
#define THROWN_MAX 65536u

/* Strong handles by address. */
struct owner_finder {
	const struct clr *clr;
	uint64_t *addresses;
	uint32_t *indexes;
	uint32_t count;
	struct handle_owner *owners;
};

/*
 * Is @p word, in a record of @p thread, the address of a handle?  The first thread is kept, and its
 * most specific record.
 */
static void try_word(struct owner_finder *finder, uint64_t word, uint32_t thread,
		     enum handle_record record)
{
	uint32_t count = finder->count;
	if (!count || word < finder->addresses[0] || word > finder->addresses[count - 1])
		return;
	size_t low = lower_bound_u64(finder->addresses, count, word);
	if (low == count || finder->addresses[low] != word)
		return;
	struct handle_owner *owner = &finder->owners[finder->indexes[low]];
	if (owner->thread == UINT32_MAX || (owner->thread == thread && record > owner->record))
		*owner = (struct handle_owner){ .thread = thread, .record = (uint8_t)record };
}

static void try_exceptions(struct owner_finder *finder, uint64_t thread_address, uint32_t thread)
{
	struct in_flight flight;
	uint64_t handle;
	unsigned int count = 0;
	for (in_flight_begin(&flight, finder->clr, thread_address); flight.at && count < THROWN_MAX;
	     in_flight_next(&flight), count++) {
		if (!in_flight_handle(&flight, &handle))
			return;
		try_word(finder, handle, thread, RECORD_EXCEPTION);
	}
}

static void try_threads(struct owner_finder *finder)
{
	const struct clr *clr = finder->clr;
	size_t thrown = clr_has_field(clr, L_THREAD_EXCEPTION) ? clr_offset(clr, L_THREAD_EXCEPTION)
							       : SIZE_MAX;
	uint64_t words[THREAD_WORDS_MAX];
	for (size_t i = 0; i < clr_thread_count(clr); i++) {
		const struct clr_thread *thread = clr_thread_at(clr, i);
		size_t count = clr_thread_words(clr, thread, words);
		for (size_t at = 0; at < count; at++) {
			try_word(finder, words[at], (uint32_t)i,
				 8 * at == thrown ? RECORD_LAST_THROWN : RECORD_THREAD);
		}
		try_exceptions(finder, thread->address, (uint32_t)i);
	}
}

/* False when memory is exhausted. */
static bool sort_strong(struct owner_finder *finder, const struct handle_list *handles)
{
	uint32_t count = 0;
	size_t capacity = handles->rows_count ? handles->rows_count : 1;
	HD_FREE uint32_t *order = mem_alloc(capacity, sizeof(*order));
	HD_FREE uint32_t *strong = mem_alloc(capacity, sizeof(*strong));
	finder->addresses = mem_alloc(capacity, sizeof(*finder->addresses));
	finder->indexes = mem_alloc(capacity, sizeof(*finder->indexes));
	bool good = order && strong && finder->addresses && finder->indexes;
	for (size_t i = 0; good && i < handles->rows_count; i++) {
		if (!handle_keeps_alive(&handles->rows[i]))
			continue;
		finder->addresses[count] = handles->rows[i].address;
		strong[count++] = (uint32_t)i;
	}
	good = good && sort_keys(finder->addresses, order, count);
	for (uint32_t i = 0; good && i < count; i++)
		finder->indexes[i] = strong[order[i]];
	finder->count = count;
	return good;
}

enum hd_status runtime_handles_find(const struct clr *clr, const struct handle_list *handles,
				    struct handle_owner **ret, struct hd_error *err)
{
	struct owner_finder finder = { .clr = clr };
	finder.owners = pages_alloc(handles->rows_count, sizeof(*finder.owners));
	bool good = finder.owners != NULL;
	if (good) {
		memset(finder.owners, 0xff, handles->rows_count * sizeof(*finder.owners));
		good = sort_strong(&finder, handles);
	}
	if (good)
		try_threads(&finder);
	mem_free(finder.addresses);
	mem_free(finder.indexes);
	if (!good) {
		pages_free(finder.owners, handles->rows_count, sizeof(*finder.owners));
		return fail_nomem(err);
	}
	*ret = finder.owners;
	return HD_OK;
}
