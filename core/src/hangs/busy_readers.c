/* SPDX-License-Identifier: MIT */
#include "hangs/busy_readers.h"

#include <string.h>

#include "analysis/async/async_graph.h"
#include "analysis/collections/collection.h"
#include "framework/owns.h"
#include "gc/references.h"
#include "hangs/wait_reach.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/code_names.h"
#include "runtime/coreclr/code/method.h"
#include "util/alloc.h"
#include "util/job.h"

#define READER "System.Threading.Channels.ChannelReader"

/* One reader alone is looked after by other verdicts. */
#define READERS_MIN 2u
#define READERS_MAX 4096u
/* Methods whose code is read. */
#define ASKED_MAX 512u
/* Objects from a reader to its channel; from an item to a source. */
#define CHANNEL_LEVELS 3u
#define ITEM_LEVELS    3u
/* Items, and readers with a source, that are looked at; and words of an item that is a struct. */
#define ITEMS_MAX   4096u
#define SOURCES_MAX 64u
#define WORDS_MAX   8u

struct reader_search {
	const struct waits *waits;
	struct busy_channels *found;
	uint8_t *are_readers; /* by method of the graph: READS or not, or NOT_ASKED */
	size_t asked;
	struct wait_rows readers; /* by channel: the rows of the graph that read it */
	struct wait_rows idle;    /* by channel: the rows that wait for an item */
	struct wait_reach *reach;
	struct wait_rows sources;  /* the tasks that the readers wait for; node: unused */
	bool has_met[SOURCES_MAX]; /* by row of these: does an item lead to its source? */
	size_t met, items_count, channels_count;
};

enum {
	NOT_ASKED,
	READS,
	READS_NOT
};

void busy_channels_deinit(struct busy_channels *channels)
{
	wait_rows_deinit(&channels->ends);
}

static void reader_search_deinit(struct reader_search *search)
{
	wait_rows_deinit(&search->readers);
	wait_rows_deinit(&search->idle);
	wait_rows_deinit(&search->sources);
	mem_free(search->are_readers);
	mem_free(search->reach);
}

/* ReadAsync, ReadAllAsync, TryRead, WaitToReadAsync of a channel. */
static uint64_t match_read(const void *arg, const char *name)
{
	const char *dot = strrchr(name, '.');
	(void)arg;
	return strncmp(name, READER, strlen(READER)) == 0 && dot && strstr(dot, "Read") != NULL;
}

static bool is_reader(struct reader_search *search, const struct async_node *method)
{
	const struct code_search code = { match_read, NULL };
	struct async_graph *graph = search->waits->async;
	uint8_t *is = &search->are_readers[method->method];
	if (*is != NOT_ASKED)
		return *is == READS;
	*is = READS_NOT;
	if (async_node_owner(graph, method) == CODE_OF_FRAMEWORK || search->asked++ >= ASKED_MAX)
		return false;
	const struct async_method_key *key = &graph->methods.rows[method->method].key;
	uint64_t reads =
		key->machine ? code_names_of_machine(graph->heap->runtime, key->machine, &code)
			     : code_names_of_method(graph->heap->runtime, key->method_desc, &code);
	if (reads == 1)
		*is = READS;
	return reads == 1;
}

static bool is_other_channel(const struct wait_reach *reach, const struct object *object)
{
	return object->address != reach->wanted &&
	       async_graph_type(reach->waits->async, object->type) == ASYNC_CHANNEL;
}

/* Do the variables of a method lead to what search->reach looks for? */
static bool method_reaches(struct reader_search *search, const struct async_node *method)
{
	const struct waits *waits = search->waits;
	HD_CLEANUP(window) struct window window = { .memory = waits->heap->memory };
	struct references references;
	struct reference reference;
	struct object object;
	if (!member_object(waits->members, method->holder, &object) || object.type->component_size)
		return false;
	references_begin(&references, &window, &object);
	while (references_next(&references, &reference)) {
		if (reference.slot >= method->fields &&
		    wait_reaches(search->reach, reference.value, CHANNEL_LEVELS))
			return true;
	}
	return false;
}

/* A channel that the variables of a method lead to, and is not @p but; 0: there is none. */
static uint64_t channel_of(struct reader_search *search, const struct async_node *method,
			   uint64_t but)
{
	search->reach->is_wanted = is_other_channel;
	search->reach->wanted = but;
	return method_reaches(search, method) ? search->reach->found : 0;
}

/* Who leads to several channels may read any of them: false. */
static bool leads_to_one(struct reader_search *search, const struct async_node *method,
			 uint64_t *channel)
{
	*channel = channel_of(search, method, 0);
	return *channel && !channel_of(search, method, *channel);
}

/* The methods that wait for a source in the end, by the channel that they lead to; no code is read for that. */
static enum hd_status collect_readers(struct reader_search *search, struct job *job,
				      struct hd_error *err)
{
	struct async_graph *graph = search->waits->async;
	size_t count = 0;
	for (uint32_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		uint64_t channel;
		if (i % JOB_STRIDE == 0)
			TRY(job_check(job, 0, err));
		if (method->wait == AWAIT_READ && method->object)
			TRY(wait_rows_add(&search->idle, method->object, i, err));
		if (graph->rows[method->end].wait != AWAIT_SOURCE || count > READERS_MAX ||
		    async_node_owner(graph, method) == CODE_OF_FRAMEWORK)
			continue;
		count++;
		if (leads_to_one(search, method, &channel))
			TRY(wait_rows_add(&search->readers, channel, i, err));
	}
	/* So many are no workers. */
	if (count > READERS_MAX)
		search->readers.rows_count = 0;
	wait_rows_sort(&search->readers);
	wait_rows_sort(&search->idle);
	return HD_OK;
}

/* Is there a reader of the channel that does something else than to wait for a source? */
static bool has_other_reader(struct reader_search *search, uint64_t channel)
{
	struct async_graph *graph = search->waits->async;
	size_t count = 0;
	for (uint32_t i = 0; i < graph->rows_count; i++) {
		const struct async_node *method = &graph->rows[i];
		if (graph->rows[method->end].wait == AWAIT_SOURCE ||
		    async_node_owner(graph, method) == CODE_OF_FRAMEWORK)
			continue;
		search->reach->is_wanted = reach_is_object;
		search->reach->wanted = channel;
		if (count++ == READERS_MAX ||
		    (method_reaches(search, method) && is_reader(search, method)))
			return true;
	}
	return false;
}

/* Do all readers of row @p begin on wait in one method, for sources? */
static enum hd_status fill_channel(struct reader_search *search, size_t begin,
				   struct busy_channel *ret, struct hd_error *err)
{
	struct async_graph *graph = search->waits->async;
	const struct wait_rows *rows = &search->readers;
	struct busy_channel busy = { .channel = rows->rows[begin].object };
	search->sources.rows_count = 0;
	for (size_t i = begin; wait_rows_has(rows, i, busy.channel); i++) {
		uint32_t row = rows->rows[i].node, end = graph->rows[row].end;
		if (!is_reader(search, &graph->rows[row]))
			continue;
		uint32_t own = async_innermost_own(graph, row);
		if (own == ASYNC_NO_NODE || async_call_is_limited(graph, row))
			return HD_OK;
		if (!busy.readers++) {
			busy.first = row;
			busy.own = own;
			busy.end = end;
		}
		if (graph->rows[own].method != graph->rows[busy.own].method)
			return HD_OK;
		TRY(wait_rows_add(&search->sources, graph->rows[end].object, 0, err));
	}
	wait_rows_sort(&search->sources);
	if (busy.readers >= READERS_MIN)
		*ret = busy;
	return HD_OK;
}

/* Is it the TaskCompletionSource of one that a reader waits for? */
static bool is_awaited_source(const struct wait_reach *reach, const struct object *object)
{
	struct reader_search *search = reach->arg;
	struct member task = fact_of(reach->waits->members, object, FACT_COMPLETION_SOURCE_TASK);
	const struct wait_rows *sources = &search->sources;
	if (task.state != MEMBER_READ)
		return false;
	size_t row = wait_rows_of(sources, task.bits);
	if (!wait_rows_has(sources, row, task.bits))
		return false;
	search->met += !search->has_met[row];
	search->has_met[row] = true;
	return true;
}

static void look_from(struct reader_search *search, uint64_t address)
{
	search->reach->is_wanted = is_awaited_source;
	search->reach->arg = search;
	(void)wait_reaches(search->reach, address, ITEM_LEVELS);
}

static bool visit_item(void *arg, const struct collection_item *item)
{
	struct reader_search *search = arg;
	const struct item_value *value = &item->value;
	uint64_t word;
	if (value->reference)
		look_from(search, value->reference);
	for (unsigned int i = 0; !value->reference && i < WORDS_MAX && value->address; i++) {
		/* Behind the item is another one, or nothing. */
		if (memory_u64(search->waits->heap->memory, value->address + 8 * (uint64_t)i,
			       &word) &&
		    word)
			look_from(search, word);
	}
	return search->met < search->sources.rows_count && ++search->items_count < ITEMS_MAX;
}

/*
 * Has each reader a source of its own, and does an item lead to each?  Readers that share one wait for something else that
 * happens, such as a connection that is made again, which the items refer to, too.
 */
static enum hd_status are_all_seen(struct reader_search *search,
				   const struct collection *collection, struct job *job, bool *ret,
				   struct hd_error *err)
{
	const struct wait_rows *sources = &search->sources;
	const struct item_visitor visitor = { visit_item, search };
	struct collection_facts facts;
	*ret = false;
	for (size_t i = 0; i < sources->rows_count; i++) {
		if (sources->rows_count > SOURCES_MAX ||
		    wait_rows_has(sources, i + 1, sources->rows[i].object))
			return HD_OK;
	}
	search->items_count = search->met = 0;
	memset(search->has_met, 0, sizeof(search->has_met));
	TRY(collection_visit(collection, job, &visitor, &facts, err));
	*ret = search->met == sources->rows_count;
	return HD_OK;
}

static enum hd_status count_items(const struct waits *waits, uint64_t channel,
				  struct collection *collection, struct job *job, uint64_t *items,
				  struct hd_error *err)
{
	struct collection_facts facts;
	struct object object;
	*items = 0;
	if (!member_object(waits->members, channel, &object) ||
	    collection_open(waits->heap, waits->members, &object, collection) != COLLECTION_KNOWN)
		return HD_OK;
	TRY(collection_visit(collection, job, NULL, &facts, err));
	*items = facts.is_broken ? 0 : facts.found;
	return HD_OK;
}

static uint64_t module_of(const struct async_graph *graph, const struct async_node *node)
{
	const struct async_method_key *key = &graph->methods.rows[node->method].key;
	struct method method;
	if (key->machine)
		return type_home_module(graph->heap->runtime, key->machine);
	bool is_known = method_read(graph->heap->runtime, key->method_desc, &method);
	return is_known && method.module ? method.module->address : 0;
}

/* May the answer that a library waits for come from outside, over a socket, a pipe, or what is not known here? */
static bool is_of_outside(struct async_graph *graph, const struct async_node *node)
{
	switch (graph->rows[node->end].wait) {
	case AWAIT_SOCKET:
	case AWAIT_PIPE_READ:
	case AWAIT_PIPE_WRITE:
	case AWAIT_HTTP:
	case AWAIT_HTTP2:
	case AWAIT_OTHER_TASK:
	case AWAIT_SOURCE_OF_VALUE:
	case AWAIT_AWAITER:
		return async_node_owner(graph, node) == CODE_OF_LIBRARY;
	default:
		return false;
	}
}

/* Is the thread in code of a library, where it may get something from outside, or is at work? */
static bool thread_is_outside(const struct waits *waits, const struct thread_wait *wait)
{
	if (wait->stack.is_partial || wait->stack.is_missing)
		return true;
	if (wait->kind != WAIT_SOCKET && wait->kind != WAIT_CALL && wait->kind != WAIT_NONE)
		return false;
	for (size_t i = 0; i < wait->stack.frames_count; i++) {
		const struct stack_frame *frame = &wait->stack.frames[i];
		if (frame->kind == STACK_MANAGED && frame->method_desc &&
		    code_owner_of_method(waits->heap->runtime, frame->method_desc) ==
			    CODE_OF_LIBRARY)
			return true;
	}
	return false;
}

/* May a call of the library make the answer: is it at work, or does it wait for something else than an item or an answer? */
static bool may_answer(struct async_graph *graph, uint32_t row, uint64_t module)
{
	const struct async_node *end = &graph->rows[graph->rows[row].end];
	uint32_t own = ASYNC_NO_NODE;
	switch (end->wait) {
	case AWAIT_READ:
	case AWAIT_COMPLETION:
	case AWAIT_SEMAPHORE:
	case AWAIT_YIELD:
	case AWAIT_CYCLE:
		return false;
	case AWAIT_SOURCE:
		return module_of(graph, async_node_waiter(graph, end)) != module;
	case AWAIT_DELAY:
	case AWAIT_PERIODIC:
		/* The library's own loops; else a handler of the program. */
		own = async_innermost_own(graph, row);
		return own == ASYNC_NO_NODE || module_of(graph, &graph->rows[own]) != module;
	default:
		return true;
	}
}

/*
 * Does a library read the channel and await the source, while no call of it may make the answer, and no library has a way to
 * the outside?
 */
static bool is_of_one_library(const struct waits *waits, const struct async_node *reader,
			      const struct async_node *end)
{
	struct async_graph *graph = waits->async;
	uint64_t module = module_of(graph, reader);
	if (!module || async_node_owner(graph, reader) != CODE_OF_LIBRARY ||
	    module_of(graph, async_node_waiter(graph, end)) != module)
		return false;
	for (uint32_t i = 0; i < graph->rows_count; i++) {
		if (is_of_outside(graph, &graph->rows[i]) ||
		    (module_of(graph, &graph->rows[i]) == module && may_answer(graph, i, module)))
			return false;
	}
	for (size_t i = 0; i < waits->count; i++) {
		if (thread_is_outside(waits, &waits->rows[i]))
			return false;
	}
	return true;
}

static bool are_enough(const struct reader_search *search, size_t begin)
{
	const struct wait_rows *rows = &search->readers;
	uint64_t channel = rows->rows[begin].object;
	return wait_rows_has(rows, begin + READERS_MIN - 1, channel) &&
	       wait_rows_first(&search->idle, channel) == WAIT_NOBODY;
}

static enum hd_status look_at_channel(struct reader_search *search, size_t begin, struct job *job,
				      struct hd_error *err)
{
	const struct waits *waits = search->waits;
	const struct async_node *graph = waits->async->rows;
	const struct wait_rows *rows = &search->readers;
	struct busy_channels *found = search->found;
	struct busy_channel busy = { 0 };
	struct collection collection;
	uint64_t items;
	TRY(count_items(waits, rows->rows[begin].object, &collection, job, &items, err));
	if (!items || search->channels_count++ >= BUSY_CHANNELS_MAX)
		return HD_OK;
	TRY(fill_channel(search, begin, &busy, err));
	if (!busy.readers || has_other_reader(search, busy.channel))
		return HD_OK;
	busy.items = items;
	TRY(are_all_seen(search, &collection, job, &busy.is_seen, err));
	if (!busy.is_seen && !is_of_one_library(waits, &graph[busy.first], &graph[busy.end]))
		return HD_OK;
	found->rows[found->rows_count++] = busy;
	for (size_t i = begin; wait_rows_has(rows, i, busy.channel); i++)
		TRY(wait_rows_add(&found->ends, busy.channel, graph[rows->rows[i].node].end, err));
	return HD_OK;
}

enum hd_status busy_channels_find(const struct waits *waits, struct job *job,
				  struct busy_channels *ret, struct hd_error *err)
{
	HD_CLEANUP(reader_search) struct reader_search search = { .waits = waits, .found = ret };
	*ret = (struct busy_channels){ 0 };
	search.are_readers = mem_calloc(waits->async->methods.rows_count + 1, 1);
	search.reach = mem_calloc(1, sizeof(*search.reach));
	TRY_MEMORY(search.are_readers && search.reach, err);
	search.reach->waits = waits;
	TRY(collect_readers(&search, job, err));
	for (size_t i = 0; i < search.readers.rows_count; i++) {
		const struct wait_row *row = &search.readers.rows[i];
		bool is_first = i == 0 || row[-1].object != row->object;
		if (is_first && are_enough(&search, i))
			TRY(look_at_channel(&search, i, job, err));
	}
	return waits->async->failed ? fail_nomem(err) : HD_OK;
}
