/* SPDX-License-Identifier: MIT */
#include "hangs/wait_agents.h"

#include "analysis/async/async_graph.h"
#include "analysis/collections/collection.h"
#include "gc/references.h"
#include "hangs/wait_alive.h"
#include "hangs/wait_rows.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/job.h"

/* Messages whose fields are looked at: larger ones are no cases of a union. */
#define OBJECT_MAX 1024u

struct agent_search {
	const struct waits *waits;
	struct wait_things *things;
	uint64_t budget; /* messages that may still be looked at: agents may share a queue */
};

/* The messages of one agent. */
struct agent_queue {
	struct agent_search *search;
	const struct waits *waits;
	struct window window, inner;
	uint64_t calls; /* that wait for a reply */
};

static void agent_queue_deinit(struct agent_queue *queue)
{
	window_deinit(&queue->window);
	window_deinit(&queue->inner);
}

static bool is_of(const struct agent_queue *queue, const struct object *object, enum net_type type)
{
	size_t size;
	const char *name = type_name(queue->waits->heap->runtime, object->type, &size);
	return net_type_is(type, name, size);
}

/* Is the object a channel for a reply that somebody still waits for? */
static bool is_asked(struct agent_queue *queue, const struct object *channel)
{
	struct members *members = queue->waits->members;
	struct references references;
	struct reference reference;
	struct object object;
	if (!is_of(queue, channel, NET_REPLY_CHANNEL) ||
	    !member_object(members, fact_of(members, channel, FACT_REPLY_CALL).bits, &object) ||
	    object.size > OBJECT_MAX)
		return false;
	references_begin(&references, &queue->inner, &object);
	while (references_next(&references, &reference)) {
		if (!member_object(members, reference.value, &object) ||
		    !is_of(queue, &object, NET_RESULT_CELL))
			continue;
		struct member done = fact_of(members, &object, FACT_RESULT_CELL_DONE);
		return done.state == MEMBER_READ && !done.bits;
	}
	return false;
}

/* Is a message such a channel, or does it have one? */
static bool visit_message(void *arg, const struct collection_item *item)
{
	struct agent_queue *queue = arg;
	struct members *members = queue->waits->members;
	struct references references;
	struct reference reference;
	struct object message, object;
	uint64_t address = item->value.reference;
	if (!queue->search->budget)
		return false;
	queue->search->budget--;
	if (item->value.address &&
	    !memory_u64(queue->waits->heap->memory, item->value.address, &address))
		return true;
	if (!element_is_reference(item->value.element_type) ||
	    !member_object(members, address, &message) || message.size > OBJECT_MAX)
		return true;
	if (is_asked(queue, &message)) {
		queue->calls++;
		return true;
	}
	references_begin(&references, &queue->window, &message);
	while (references_next(&references, &reference)) {
		if (!member_object(members, reference.value, &object) || !is_asked(queue, &object))
			continue;
		queue->calls++;
		break;
	}
	return true;
}

/* Add the agent at @p address if calls wait for its replies. */
static enum hd_status add_agent(struct agent_search *search, uint64_t address, struct job *job,
				struct hd_error *err)
{
	const struct waits *waits = search->waits;
	struct wait_things *things = search->things;
	HD_CLEANUP(agent_queue)
	struct agent_queue queue = { .search = search,
				     .waits = waits,
				     .window = { .memory = waits->heap->memory },
				     .inner = { .memory = waits->heap->memory } };
	const struct item_visitor visitor = { visit_message, &queue };
	struct member messages = fact_at(waits->members, address, FACT_AGENT_MESSAGES);
	struct object object;
	struct collection collection;
	struct collection_facts facts;
	if (!member_object(waits->members, messages.bits, &object) ||
	    collection_open(waits->heap, waits->members, &object, &collection) != COLLECTION_KNOWN)
		return HD_OK;
	TRY(collection_visit(&collection, job, &visitor, &facts, err));
	if (facts.is_broken || facts.is_stopped || !queue.calls)
		return HD_OK;
	things->rows[things->rows_count++] = (struct wait_thing){
		.address = address,
		.kind = THING_AGENT,
		.calls = queue.calls,
		.items = facts.found,
	};
	return HD_OK;
}

/* The thing that is an agent, from row @p begin on; rows_count: none. */
static size_t find_agent(const struct wait_things *things, size_t begin, uint64_t address)
{
	while (begin < things->rows_count && things->rows[begin].address != address)
		begin++;
	return begin;
}

/* The closures of loops of these agents: pairs with the rows of their links. */
static enum hd_status find_loops(const struct async_links *links, const struct wait_things *things,
				 size_t begin, struct wait_rows *ret, struct hd_error *err)
{
	for (size_t i = 0; i < links->rows_count && i < UINT32_MAX; i++) {
		const struct async_link *link = &links->rows[i];
		if (link->kind == LINK_AGENT &&
		    find_agent(things, begin, link->to) < things->rows_count)
			TRY(wait_rows_add(ret, link->from, (uint32_t)i, err));
	}
	return HD_OK;
}

enum hd_status wait_agents_find(const struct waits *waits, struct job *job,
				struct wait_things *things, struct hd_error *err)
{
	const struct async_links *links = &waits->async->links;
	HD_CLEANUP(wait_rows) struct wait_rows loops = { 0 };
	size_t begin = things->rows_count;
	struct agent_search search = { waits, things, waits->async->objects };
	bool is_known;
	for (size_t i = 0; i < links->rows_count && things->rows_count < WAIT_THINGS_MAX; i++) {
		if (links->rows[i].kind == LINK_QUEUE)
			TRY(add_agent(&search, links->rows[i].to, job, err));
	}
	if (things->rows_count == begin)
		return HD_OK;
	TRY(find_loops(links, things, begin, &loops, err));
	TRY(wait_alive_keep(waits, job, &loops, &is_known, err));
	if (!is_known)
		things->rows_count = begin;
	for (size_t i = 0; i < loops.rows_count; i++) {
		size_t row = find_agent(things, begin, links->rows[loops.rows[i].node].to);
		if (row < things->rows_count)
			things->rows[row] = things->rows[--things->rows_count];
	}
	return HD_OK;
}
