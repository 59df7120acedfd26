/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "analysis/async/async_chains.h"
#include "analysis/async/async_counts.h"
#include "analysis/async/async_wait.h"
#include "analysis/name_match.h"
#include "command/async/async_text.h"
#include "command/async/task_chains.h"
#include "command/objects/object.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "util/alloc.h"

#define DUMPASYNC_OPTIONS(X)                                                                   \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "each chain, and not equal ones together", NULL)   \
	X(OPT_STATS, "stats", VALUE_NONE, NULL, "count the methods, and show no chains", NULL) \
	X(OPT_COALESCE, "coalesce", VALUE_NONE, NULL,                                          \
	  "show equal chains together, as without (an option of SOS)", NULL)                   \
	X(OPT_TYPE, "type", VALUE_TYPE, "NAME",                                                \
	  "chains with a method whose type or name contains NAME", NULL)                       \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "ADDRESS", "chains with a box of this type", NULL)      \
	X(OPT_ADDRESS, "address", VALUE_ADDRESS, "ADDRESS",                                    \
	  "chains with the box at ADDRESS, or that wait for the object there", NULL)           \
	X(OPT_COMPLETED, "completed", VALUE_NONE, NULL, "also methods that are done", NULL)    \
	X(OPT_FIELDS, "fields", VALUE_NONE, NULL,                                              \
	  "show the fields of each method: its arguments and locals", NULL)                    \
	X(OPT_TASKS, "tasks", VALUE_NONE, NULL,                                                \
	  "also tasks that no async method waits for, and that are not of one", NULL)          \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N",                                               \
	  "show N chains, and N such tasks (0: all, as without)", NULL)

OPTIONS(dumpasync, DUMPASYNC_OPTIONS);

/* SOS's short forms. */
static const struct sos_option dumpasync_sos_options[] = {
	{ " t ", "use -tasks" },      { " c ", "use -completed" },    { " f ", "use -fields" },
	{ " addr ", "use -address" }, { " methodtable ", "use -mt" }, { NULL, NULL },
};

/* Most methods of one chain that are shown: those next to what it waits for. */
#define SHOWN_MAX 200u
/* Deepest indentation in text. */
#define INDENT_MAX 20u

#define METHOD_LIST(X)                                                                    \
	X(METHOD_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the box of the method")   \
	X(METHOD_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "MethodTable of the box")            \
	X(METHOD_STATE, "state", NULL, KIND_SIGNED, 0, LOOK_LEAVE_OUT,                    \
	  "the await that it is at, from 0; -1: it runs; -2: it is done; left out: not "  \
	  "known")                                                                        \
	X(METHOD_NAME, "method", NULL, KIND_TEXT, 0, 0, "the method")                     \
	X(METHOD_TYPE, "type", NULL, KIND_TYPE, 0, 0,                                     \
	  "type of its state machine, or of its Continuation")                            \
	X(METHOD_THROUGH, "through", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                  \
	  "what is between it and the method before: Task.Run, ContinueWith or "          \
	  "WaitAsync")                                                                    \
	X(METHOD_FILE, "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                        \
	  "path of the source file with the await, as the compiler saw it")               \
	X(METHOD_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file") \
	X(METHOD_INDENT, NULL, "indent", KIND_NUMBER, 0, 0, NULL)

COLUMNS(method, METHOD_COLUMNS, METHOD_LIST);

static const struct schema methods_schema = {
	.name = "methods",
	SCHEMA_COLUMNS(method_columns),
	.lines = "{indent:_}{address:012a} {mt:012}[ ({state})] {method:m}{file:s}[ (through "
		 "{through})]\n",
};

#define CHAIN_LIST(X)                                                                          \
	X(CHAIN_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "how many chains are like this one")  \
	X(CHAIN_WAITS_FOR, "waits_for", NULL, KIND_TEXT, 0, 0,                                 \
	  "what the innermost method waits for; \"thread\": it could go on; "                  \
	  "\"nothing\": it runs; \"itself\": a circle")                                        \
	X(CHAIN_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "that object, of the first chain") \
	X(CHAIN_TYPE, "type", NULL, KIND_TYPE, 0, 0, "type of that")                           \
	X(CHAIN_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0,                                   \
	  "how many different objects these chains wait for")                                  \
	X(CHAIN_DETAIL, "detail", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                          \
	  "what is known of the object: free places, tasks left, a delay")                     \
	X(CHAIN_ROOT, "root", NULL, KIND_ADDRESS, 0, 0,                                        \
	  "the box of the outermost method, of the first chain")                               \
	X(CHAIN_AWAITED_BY, "awaited_by", NULL, KIND_TEXT, 0, 0,                               \
	  "who goes on when the outermost method is done")                                     \
	X(CHAIN_DEPTH, "depth", NULL, KIND_NUMBER, 0, 0, "methods of the chain")               \
	X(CHAIN_NUMBER, NULL, "number", KIND_NUMBER, 0, 0, NULL)

COLUMNS(chain, CHAIN_COLUMNS, CHAIN_LIST);

const struct schema async_chains_schema = {
	.name = "chains",
	SCHEMA_COLUMNS(chain_columns),
	.is_main = true,
	.lines = "\\hSTACK {number}\\.[?count : {count} chains wait for | waits for "
		 "]{waits_for}[?objects , {objects} objects, first][ {object:012a}][ "
		 "({detail:m})][?awaited_by ; awaited by {awaited_by}]\n",
};

#define COUNT_LIST(X)                                                               \
	X(COUNT_MT, "mt", "MT", KIND_ADDRESS, 12, LOOK_ZEROS | LOOK_ADDRESS,        \
	  "MethodTable of the boxes")                                               \
	X(COUNT_COUNT, "count", "Count", KIND_NUMBER, 8, LOOK_THOUSANDS, "methods") \
	X(COUNT_BYTES, "bytes", "TotalSize", KIND_BYTES, 12, LOOK_THOUSANDS,        \
	  "bytes of their boxes")                                                   \
	X(COUNT_STATE, "state", "State", KIND_SIGNED, 5, 0,                         \
	  "the await that they are at, from 0; -1: they run; -2: they are done; "   \
	  "null: not known")                                                        \
	X(COUNT_NAME, "method", "Method", KIND_TEXT, 0, 0, "the method")

COLUMNS(count, COUNT_COLUMNS, COUNT_LIST);

static const struct schema async_counts_schema = {
	.name = "methods",
	SCHEMA_COLUMNS(count_columns),
	.is_main = true,
};

static const struct column total_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "async methods that are not done" },
	{ "chains", NULL, KIND_NUMBER, 0, 0, "chains that are asked for" },
	{ "complete", NULL, KIND_FLAG, 0, 0,
	  "could all lists of waiters and of suspended methods be read to their ends?" },
	{ "tasks", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,
	  "-tasks: tasks that no async method waits for" },
};
SCHEMA(total, .name = "total");

/* One run of the command. */
struct async_listing {
	struct call *call;
	struct async_graph graph;
	struct async_chains chains;
	struct text detail; /**< of one row */
	uint64_t number;    /**< chains shown so far */
	uint64_t tasks;     /**< that no async method waits for */
	uint32_t *boxes;    /**< of the chain that is written, from the outermost */
};

static void async_listing_deinit(struct async_listing *listing)
{
	mem_free(listing->boxes);
	text_deinit(&listing->detail);
	async_chains_deinit(&listing->chains);
	async_graph_deinit(&listing->graph);
}

static struct cell state_cell(const struct async_node *node)
{
	struct cell cell = { 0 };
	if (node->state != ASYNC_UNKNOWN)
		cell = cell_signed(node->state);
	return cell;
}

static enum hd_status write_method(struct async_listing *listing, const struct async_node *node,
				   unsigned int indent)
{
	struct call *call = listing->call;
	struct runtime *runtime = call->heap->runtime;
	size_t size;
	const char *type = type_name(runtime, node->machine, &size);
	struct cell cells[METHOD_COLUMNS] = {
		[METHOD_ADDRESS] = cell_number(node->address),
		[METHOD_MT] = cell_number(node->type->method_table),
		[METHOD_STATE] = state_cell(node),
		[METHOD_NAME] = cell_string(async_node_name(&listing->graph, node)),
		[METHOD_TYPE] = cell_type(type, size, node->machine->method_table),
		[METHOD_INDENT] = cell_number(2 * (uint64_t)indent),
	};
	if (node->next != ASYNC_NO_NODE && node->wait != AWAIT_NOTHING)
		cells[METHOD_THROUGH] = cell_string(async_wait_name(node->wait));
	source_text_await(call, &listing->graph, node, &cells[METHOD_FILE], &cells[METHOD_LINE]);
	if (!call->options[OPT_FIELDS].given) {
		answer_row(&call->answer, cells);
		return HD_OK;
	}
	struct field_list list;
	uint64_t base;
	TRY(async_node_fields(&listing->graph, node, &list, &base, call->err));
	/* A state machine in a box is a struct. */
	bool is_struct = !async_node_is_nameless(node) && node->holder == node->address;
	answer_row_begin(&call->answer, cells);
	enum hd_status status =
		write_field_list(call, node->machine, &list, base,
				 is_struct ? FIELDS_OF_STRUCT : FIELDS_OF_OBJECT, indent * 2 + 4);
	answer_row_end(&call->answer);
	return status;
}

/* The methods of the chain from the innermost to box @p root. */
static enum hd_status write_methods(struct async_listing *listing, uint32_t root)
{
	static const struct table_options options = { .no_heading = true };
	struct answer *answer = &listing->call->answer;
	const struct async_node *nodes = listing->graph.rows;
	size_t depth = 0, shown = 0;
	for (uint32_t row = root; row != ASYNC_NO_NODE; row = nodes[row].next)
		listing->boxes[depth++] = row;
	answer_table(answer, &methods_schema, &options);
	for (; shown < depth && shown < SHOWN_MAX; shown++) {
		unsigned int indent = shown < INDENT_MAX ? (unsigned int)shown : INDENT_MAX;
		TRY(write_method(listing, &nodes[listing->boxes[depth - 1 - shown]], indent));
	}
	(void)answer_table_end(answer);
	if (shown < depth)
		answer_remark(answer, "  ... and %zu more methods\n", depth - shown);
	return HD_OK;
}

static void set_object(struct async_listing *listing, const struct async_node *end,
		       struct cell *cells)
{
	struct object object;
	listing->detail.size = 0;
	async_wait_append(&listing->detail, &listing->graph, end);
	if (listing->detail.size)
		cells[CHAIN_DETAIL] = cell_text(listing->detail.bytes, listing->detail.size);
	if (!end->object)
		return;
	cells[CHAIN_OBJECT] = cell_number(end->object);
	if (member_object(listing->graph.members, end->object, &object)) {
		size_t size;
		const char *name = type_name(listing->call->heap->runtime, object.type, &size);
		cells[CHAIN_TYPE] = cell_type(name, size, object.type->method_table);
	}
}

/* @p count chains like the one of box @p root, which wait for so many objects. */
static enum hd_status write_chain(struct async_listing *listing, uint32_t root, uint64_t count,
				  uint64_t objects)
{
	struct answer *answer = &listing->call->answer;
	const struct async_node *nodes = listing->graph.rows;
	uint32_t end = nodes[root].end;
	uint32_t chain = listing->chains.of_node[root];
	listing->number++;
	if (!answer_wants_row(answer))
		return HD_OK;
	const char *wait = async_wait_name(nodes[end].wait);
	struct cell cells[CHAIN_COLUMNS] = {
		[CHAIN_COUNT] = cell_shown(cell_number(count), count > 1 ? NULL : ""),
		[CHAIN_WAITS_FOR] = cell_shown(cell_string(wait), async_wait_words(wait)),
		[CHAIN_OBJECTS] = cell_shown(cell_number(objects), objects > 1 ? NULL : ""),
		[CHAIN_ROOT] = cell_number(nodes[root].address),
		[CHAIN_AWAITED_BY] = cell_shown(cell_string(async_root_name(nodes[root].root)),
						nodes[root].root == ROOT_NOBODY ? "" : NULL),
		[CHAIN_DEPTH] = cell_number(listing->chains.rows[chain].depth),
		[CHAIN_NUMBER] = cell_number(listing->number),
	};
	set_object(listing, &nodes[end], cells);
	answer_row_begin(answer, cells);
	enum hd_status status = write_methods(listing, root);
	answer_row_end(answer);
	answer_remark(answer, "\n");
	return status;
}

static enum hd_status write_chains(struct async_listing *listing)
{
	struct call *call = listing->call;
	const struct async_chains *chains = &listing->chains;
	const struct table_options options = { .no_heading = true,
					       .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	bool all = call->options[OPT_ALL].given;
	size_t count = all ? listing->graph.rows_count : chains->sorted_count;
	answer_table(&call->answer, &async_chains_schema, &options);
	for (size_t i = 0; i < count; i++) {
		if (i % 256 == 0)
			TRY(call_check(call));
		if (!all) {
			const struct async_chain *chain = &chains->rows[chains->sorted[i]];
			TRY(write_chain(listing, chain->first, chain->count, chain->objects));
		} else if (chains->of_node[i] != ASYNC_NO_NODE &&
			   !async_node_is_awaited(&listing->graph.rows[i])) {
			const struct async_node *end =
				&listing->graph.rows[listing->graph.rows[i].end];
			TRY(write_chain(listing, (uint32_t)i, 1, end->object != 0));
		}
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	return HD_OK;
}

static enum hd_status write_counts(struct async_listing *listing)
{
	struct call *call = listing->call;
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	struct async_counts counts;
	TRY(async_counts_create(&listing->graph, &counts, call->err));
	answer_table(&call->answer, &async_counts_schema, &options);
	for (size_t i = 0; i < counts.rows_count; i++) {
		const struct async_count *row = &counts.rows[i];
		const struct async_node *node = &listing->graph.rows[row->first];
		if (!answer_wants_row(&call->answer))
			continue;
		const struct cell cells[COUNT_COLUMNS] = {
			[COUNT_MT] = cell_number(node->type->method_table),
			[COUNT_COUNT] = cell_number(row->count),
			[COUNT_BYTES] = cell_number(row->bytes),
			[COUNT_STATE] = state_cell(node),
			[COUNT_NAME] = cell_string(async_node_name(&listing->graph, node)),
		};
		answer_row(&call->answer, cells);
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	async_counts_deinit(&counts);
	answer_remark(&call->answer, "\n");
	return HD_OK;
}

static void write_total(struct async_listing *listing)
{
	struct answer *answer = &listing->call->answer;
	const struct async_graph *graph = &listing->graph;
	bool with_tasks = listing->call->options[OPT_TASKS].given;
	/* An answer that cannot be read must not look like an empty one. */
	listing->call->findings |= graph->is_cut;
	const struct cell cells[] = { cell_number(graph->rows_count),
				      cell_number(listing->chains.roots),
				      cell_flag(!graph->links.is_broken && !graph->is_cut),
				      with_tasks ? cell_number(listing->tasks)
						 : (struct cell){ 0 } };
	char methods[COUNT_SIZE], chains[COUNT_SIZE], tasks[COUNT_SIZE];
	answer_data(answer, &total_schema, cells);
	answer_remark(answer, "%s, %s%s%s.\n",
		      format_count(graph->rows_count, "async method", methods),
		      format_count(listing->chains.roots, "chain", chains), with_tasks ? ", " : "",
		      with_tasks ? format_count(listing->tasks, "other task", tasks) : "");
	if (graph->links.is_broken) {
		answer_remark(answer,
			      "A list of waiters cannot be read to its end: some semaphores "
			      "or channels may be missing.\n");
	}
}

/* Is the box asked for by -type, -mt and -address? */
static bool is_wanted(void *arg, const struct async_node *node)
{
	struct async_listing *listing = arg;
	const struct value *options = listing->call->options;
	if (options[OPT_MT].given && node->type->method_table != options[OPT_MT].number &&
	    node->machine->method_table != options[OPT_MT].number)
		return false;
	if (options[OPT_ADDRESS].given && node->address != options[OPT_ADDRESS].number &&
	    node->object != options[OPT_ADDRESS].number)
		return false;
	if (!options[OPT_TYPE].given)
		return true;
	size_t size;
	const char *name = type_name(listing->call->heap->runtime, node->type, &size);
	if (name_matches(name, size, options[OPT_TYPE].text))
		return true;
	name = async_node_name(&listing->graph, node);
	return name_matches(name, strlen(name), options[OPT_TYPE].text);
}

static enum hd_status list_chains(struct async_listing *listing)
{
	struct call *call = listing->call;
	const struct value *options = call->options;
	bool is_asked =
		options[OPT_TYPE].given || options[OPT_MT].given || options[OPT_ADDRESS].given;
	const struct async_wanted wanted = { is_asked ? is_wanted : NULL, listing };
	TRY(async_chains_create(&listing->graph, &wanted, &listing->chains, call->err));
	if (options[OPT_STATS].given)
		return write_counts(listing);
	listing->boxes = mem_alloc(listing->graph.rows_count + 1, sizeof(*listing->boxes));
	TRY_MEMORY(listing->boxes, call->err);
	return write_chains(listing);
}

/* -tasks: what SOS calls stacks that contain only tasks. */
static enum hd_status list_tasks(struct async_listing *listing)
{
	struct call *call = listing->call;
	const struct value *options = call->options;
	const struct task_choice choice = {
		.with_done = options[OPT_COMPLETED].given,
		.mt = options[OPT_MT].given ? options[OPT_MT].number : 0,
		.address = options[OPT_ADDRESS].given ? options[OPT_ADDRESS].number : 0,
		.type = options[OPT_TYPE].given ? options[OPT_TYPE].text : NULL,
		.limit = call_limit(call, OPT_LIMIT, UINT64_MAX),
	};
	return write_task_chains(call, &listing->graph, &choice, &listing->tasks);
}

static enum hd_status run_dumpasync(struct call *call)
{
	HD_CLEANUP(members) struct members *members = NULL;
	HD_CLEANUP(async_listing) struct async_listing listing = { .call = call };
	TRY(members_create(call->heap, &members, call->err));
	TRY(async_graph_create(call->heap, members, call->options[OPT_COMPLETED].given, &call->job,
			       &listing.graph, call->err));
	TRY(list_chains(&listing));
	if (call->options[OPT_TASKS].given)
		TRY(list_tasks(&listing));
	write_total(&listing);
	return HD_OK;
}

COMMAND(dumpasync, .has_rows = true,
	.summary = "list the async methods that are not done, as chains",
	.description =
		"Each chain begins with the innermost method, after what that waits for; each method\n"
		"awaits the one above it. Equal chains are shown together, with the addresses of the\n"
		"first. A line has the box, its MethodTable, the state in parentheses (the number of\n"
		"the await), the method, and the line of the await if there is a PDB. A chain that\n"
		"waits for a thread could go on: see threadpool. Methods that .NET 11 suspends\n"
		"itself are among them: the box of one is its Continuation, and of the outermost\n"
		"of a call its task. Of a program with NativeAOT the state is not known without\n"
		"symbols, and what a method awaits is found by who goes on after it.\n",
	.example = "dumpasync -type Checkout", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = dumpasync_options,
	.sos_options = dumpasync_sos_options);
