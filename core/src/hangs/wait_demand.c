/* SPDX-License-Identifier: MIT */
#include "hangs/wait_demand.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/collections/collection.h"
#include "gc/references.h"
#include "hangs/wait_parts.h"
#include "util/job.h"

/* Methods of a call that are looked at. */
#define STEPS_MAX 64u
#define STARTS    "Microsoft.Extensions.Hosting.Internal.Host.StartAsync"

struct demand_search {
	const struct waits *waits;
	struct job *job;
	struct window window;
};

/* The first object of a kind that the one at @p address refers to; 0: there is none. */
static uint64_t reference_of(struct demand_search *search, uint64_t address, enum async_type kind)
{
	const struct waits *waits = search->waits;
	struct object object, other;
	struct references references;
	struct reference reference;
	if (!member_object(waits->members, address, &object) || object.type->component_size)
		return 0;
	references_begin(&references, &search->window, &object);
	while (references_next(&references, &reference)) {
		if (member_object(waits->members, reference.value, &other) &&
		    async_graph_type(waits->async, other.type) == kind)
			return reference.value;
	}
	return 0;
}

/* The channel that is read with the object at @p address: a reader, or the iterator over one; 0: none. */
static uint64_t channel_read_with(struct demand_search *search, uint64_t address)
{
	struct async_graph *graph = search->waits->async;
	struct object object;
	if (!member_object(search->waits->members, address, &object))
		return 0;
	enum async_type kind = async_graph_type(graph, object.type);
	if (kind == ASYNC_READ_ITERATOR)
		address = reference_of(search, address, ASYNC_CHANNEL_READER);
	return address && (kind == ASYNC_READ_ITERATOR || kind == ASYNC_CHANNEL_READER)
		       ? reference_of(search, address, ASYNC_CHANNEL)
		       : 0;
}

enum hd_status wait_count_items(const struct waits *waits, uint64_t channel, struct job *job,
				uint64_t *items, struct hd_error *err)
{
	struct object object;
	struct collection collection;
	struct collection_facts facts;
	if (!member_object(waits->members, channel, &object) ||
	    collection_open(waits->heap, waits->members, &object, &collection) != COLLECTION_KNOWN)
		return HD_OK;
	TRY(collection_visit(&collection, job, NULL, &facts, err));
	*items += facts.is_broken ? 0 : facts.found;
	return HD_OK;
}

/* Add what is in the channels that a method reads which awaits another one. */
static enum hd_status add_items(struct demand_search *search, const struct async_node *method,
				struct wait_demand *demand, struct hd_error *err)
{
	HD_CLEANUP(window) struct window window = { .memory = search->waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(search->waits->members, method->holder, &object))
		return HD_OK;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		uint64_t channel = reference.slot >= method->fields
					   ? channel_read_with(search, reference.value)
					   : 0;
		if (!channel || channel == demand->channel)
			continue;
		demand->channel = channel;
		TRY(wait_count_items(search->waits, channel, search->job, &demand->items, err));
	}
	return HD_OK;
}

/* One call, from its outermost method on. */
static enum hd_status add_call(struct demand_search *search, uint32_t row,
			       struct wait_demand *demand, struct hd_error *err)
{
	struct async_graph *graph = search->waits->async;
	const struct async_node *end = &graph->rows[graph->rows[row].end];
	bool is_endless = end->wait == AWAIT_SOURCE || end->wait == AWAIT_COMPLETION ||
			  wait_delays_without_end(search->waits, end);
	bool is_start = false;
	/* A thread that waits for the call has been counted. */
	demand->calls += graph->rows[row].root != ROOT_THREAD;
	for (unsigned int i = 0; is_endless && row != ASYNC_NO_NODE && i < STEPS_MAX; i++) {
		const struct async_node *method = &graph->rows[row];
		const char *name = async_node_name(graph, method);
		if (is_start && !framework_owns(graph->heap->runtime, name, strlen(name)))
			demand->is_start = true;
		is_start |= strcmp(name, STARTS) == 0;
		TRY(add_items(search, method, demand, err));
		row = method->next;
	}
	return HD_OK;
}

enum hd_status wait_demand_find(const struct waits *waits, const uint32_t *ends, struct job *job,
				struct wait_demand *ret, struct hd_error *err)
{
	struct async_graph *graph = waits->async;
	struct demand_search search = { waits, job, { .memory = waits->heap->memory } };
	enum hd_status status = HD_OK;
	memset(ret, 0, wait_nodes(waits) * sizeof(*ret));
	for (size_t i = 0; i < waits->count; i++) {
		if (ends[i] < wait_nodes(waits))
			ret[ends[i]].calls++;
	}
	for (uint32_t i = 0; status == HD_OK && i < graph->rows_count; i++) {
		uint32_t end = ends[waits->count + i];
		if (i % JOB_STRIDE == 0)
			status = job_check(job, 0, err);
		if (status == HD_OK && !async_node_is_awaited(&graph->rows[i]) &&
		    end < wait_nodes(waits))
			status = add_call(&search, i, &ret[end], err);
	}
	window_deinit(&search.window);
	return status == HD_OK && graph->failed ? fail_nomem(err) : status;
}
