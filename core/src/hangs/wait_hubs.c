/* SPDX-License-Identifier: MIT */
#include "hangs/wait_hubs.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "gc/references.h"
#include "hangs/wait_reach.h"
#include "util/alloc.h"
#include "util/job.h"

#define SIGNALR "Microsoft.AspNetCore.SignalR."
#define INVOKES ".InvokeConnectionAsync"
#define READS   "Microsoft.AspNetCore.SignalR.HubConnectionHandler<"

/* Methods between the one that waits for the result and the one that reads messages. */
#define STEPS_MAX 64u
/* From the connection of the hub over that of its transport to its name. */
#define LEVELS 3u

/* Does a method of SignalR wait for the result of one client?  It has the name of the client's connection. */
static bool invokes_client(struct async_graph *graph, const struct async_node *method)
{
	const char *name = async_node_name(graph, method);
	return strncmp(name, SIGNALR, strlen(SIGNALR)) == 0 && strstr(name, INVOKES);
}

static bool reads_messages(struct async_graph *graph, const struct async_node *method)
{
	return strncmp(async_node_name(graph, method), READS, strlen(READS)) == 0;
}

/* Does an object of the method lead to the name? */
static bool leads_to_name(struct wait_reach *reach, const struct async_node *method, uint64_t name)
{
	HD_CLEANUP(window) struct window window = { .memory = reach->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(reach->waits->members, method->holder, &object))
		return false;
	reach->wanted = name;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot >= method->fields &&
		    wait_reaches(reach, reference.value, LEVELS))
			return true;
	}
	return false;
}

/* Does the name of a connection that the method @p row has lead to the connection of @p reader?  It is one string for both. */
static bool has_name_of(struct wait_reach *reach, uint32_t row, uint32_t reader)
{
	const struct async_node *rows = reach->waits->async->rows;
	HD_CLEANUP(window) struct window window = { .memory = reach->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object, name;
	if (!member_object(reach->waits->members, rows[row].holder, &object))
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot >= rows[row].fields &&
		    member_object(reach->waits->members, reference.value, &name) &&
		    name.type->is_string && leads_to_name(reach, &rows[reader], name.address))
			return true;
	}
	return false;
}

/* The innermost method of the call @p row that reads the messages of a connection; ASYNC_NO_NODE: none. */
static uint32_t reader_of(struct async_graph *graph, uint32_t row)
{
	for (unsigned int i = 0; row != ASYNC_NO_NODE && i < STEPS_MAX; i++) {
		if (reads_messages(graph, &graph->rows[row]))
			return row;
		row = graph->rows[row].outer;
	}
	return ASYNC_NO_NODE;
}

enum hd_status wait_hubs_find(const struct waits *waits, struct job *job, struct wait_rows *ret,
			      struct hd_error *err)
{
	struct async_graph *graph = waits->async;
	HD_FREE struct wait_reach *reach = mem_calloc(1, sizeof(*reach));
	TRY_MEMORY(reach, err);
	reach->waits = waits;
	reach->is_wanted = reach_is_object;
	for (uint32_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (method->wait != AWAIT_SOURCE || method->next != ASYNC_NO_NODE ||
		    !invokes_client(graph, method))
			continue;
		uint32_t reader = reader_of(graph, i);
		if (reader != ASYNC_NO_NODE && has_name_of(reach, i, reader)) {
			TRY(wait_rows_add(ret, waits->count + i + 1,
					  (uint32_t)waits->count + reader, err));
		}
	}
	wait_rows_sort(ret);
	return graph->failed ? fail_nomem(err) : HD_OK;
}
