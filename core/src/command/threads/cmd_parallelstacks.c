/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "analysis/threads/parallel_stacks.h"
#include "command/async/async_text.h"
#include "command/call.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "command/threads/thread_choice.h"
#include "inspect/thread_name.h"
#include "output/fit.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/source.h"
#include "util/alloc.h"

/** "frames": each with the threads whose stacks end there. */
extern const struct schema parallel_schema;

/** How trees are written. */
struct parallel_rows {
	struct call *call;
	struct parallel_stacks *stacks;
	uint32_t ids_shown; /**< threads that text lists in one line */
};

/* Columns of a level of the tree, and the deepest level that text shows as one. */
#define INDENT      5u
#define INDENT_THIN 2u
#define INDENT_MAX  12u

#define FRAME_LIST(X)                                                                         \
	X(FRAME_ID, "id", NULL, KIND_NUMBER, 0, 0, "number of the frame in this answer")      \
	X(FRAME_PARENT, "parent", NULL, KIND_NUMBER, 0, 0,                                    \
	  "id of the frame that called it, or of the async method that awaits it")            \
	X(FRAME_DEPTH, "depth", NULL, KIND_NUMBER, 0, 0, "frames further out")                \
	X(FRAME_COUNT, "count", NULL, KIND_NUMBER, 0, 0,                                      \
	  "threads that have it; chains, for an async method")                                \
	X(FRAME_KIND, "kind", NULL, KIND_TEXT, 0, 0,                                          \
	  "managed; folded: frames that repeat; async: a method that awaits")                 \
	X(FRAME_METHOD, "method", NULL, KIND_TEXT, 0, 0, "name and arguments of the method")  \
	X(FRAME_METHOD_DESC, "method_desc", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,            \
	  "MethodDesc of the method; of dynamic ones that are called the same, of the first") \
	X(FRAME_FILE, "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                             \
	  "path of the source file, if all threads are at the same line")                     \
	X(FRAME_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")      \
	X(FRAME_FUNCLET, "funclet", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                       \
	  "is it a catch, finally or filter block?")                                          \
	X(FRAME_UNWOUND, "unwound", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                       \
	  "has an exception left it already?")                                                \
	X(FRAME_FOLDED, "folded", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                       \
	  "so many frames repeat those that they call, in the stack with the fewest")         \
	X(FRAME_FOLDED_MOST, "folded_most", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,             \
	  "the same in the stack with the most")                                              \
	X(FRAME_STATE, "state", NULL, KIND_SIGNED, 0, LOOK_LEAVE_OUT,                         \
	  "the await that an async method is at, from 0; -1: it runs")                        \
	X(FRAME_WAITS_FOR, "waits_for", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                   \
	  "what an innermost async method waits for")                                         \
	X(FRAME_OBJECT, "object", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                      \
	  "that object, of the first chain")                                                  \
	X(FRAME_BOX, "box", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                            \
	  "the box of the outermost method of the first chain")                               \
	X(FRAME_CHAIN_DEPTH, "chain_depth", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,             \
	  "methods of that chain; after 200, those further in are left out")                  \
	X(FRAME_AWAITED_BY, "awaited_by", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                 \
	  "who goes on when an outermost async method is done")                               \
	X(FRAME_INDENT, NULL, NULL, KIND_NUMBER, 0, 0, NULL)

COLUMNS(parallel, FRAME_COLUMNS, FRAME_LIST);

static void put_indent(struct out *out, uint64_t level)
{
	level = level < INDENT_MAX ? level : INDENT_MAX;
	out_pad(out, level * (out_is_narrow(out) ? INDENT_THIN : INDENT));
}

static void put_frame_name(struct out *out, const struct cell *cell)
{
	out_begin_name(out, FIT_METHOD);
	text_escape(&out->text, cell->text.bytes, cell->text.size);
	out_end_name(out);
}

/* "... from 96 to 174,560 more frames of P.A() ..." */
static void put_folded(struct out *out, const struct cell *cells)
{
	uint64_t fewest = cells[FRAME_FOLDED].number, most = cells[FRAME_FOLDED_MOST].number;
	char number[COUNT_SIZE];
	out_puts(out, "... ");
	if (fewest < most) {
		char least[NUMBER_SIZE];
		out_printf(out, "from %s to ", format_thousands(fewest, least));
	}
	out_printf(out, "%s of ", format_count(most, "more frame", number));
	put_frame_name(out, &cells[FRAME_METHOD]);
	out_puts(out, " ...");
}

/* "    2 System.Threading.Thread.StartCallback()" */
static void parallel_layout(struct out *out, const struct cell *cells)
{
	put_indent(out, cells[FRAME_INDENT].number);
	out_printf(out, "%5" PRIu64 " ", cells[FRAME_COUNT].number);
	if (cells[FRAME_FOLDED].is_there) {
		put_folded(out, cells);
	} else {
		put_frame_name(out, &cells[FRAME_METHOD]);
	}
	if (cells[FRAME_STATE].is_there)
		out_printf(out, " (%" PRId64 ")", cells[FRAME_STATE].signed_number);
	source_line_put(out, &cells[FRAME_FILE], &cells[FRAME_LINE]);
	if (cells[FRAME_FUNCLET].flag)
		out_styled(out, STYLE_NOTE, " (handler)");
	if (cells[FRAME_UNWOUND].flag)
		out_styled(out, STYLE_NOTE, " (unwound)");
	if (cells[FRAME_AWAITED_BY].is_there &&
	    strcmp(cells[FRAME_AWAITED_BY].text.bytes, async_root_name(ROOT_NOBODY)) != 0)
		out_styled(out, STYLE_NOTE, " (awaited by %s)", cells[FRAME_AWAITED_BY].text.bytes);
	out_puts(out, "\n");
}

const struct schema parallel_schema = {
	.name = "frames",
	SCHEMA_COLUMNS(parallel_columns),
	.is_main = true,
	.layout = parallel_layout,
};

static const struct column thread_columns[] = {
	{ "id", NULL, KIND_NUMBER, 0, 0, "its managed id" },
	{ "os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system" },
	{ "name", NULL, KIND_TEXT, 0, 0, "the name that the program gave it" },
	{ "partial", NULL, KIND_FLAG, 0, 0, "could its stack not be walked to the end?" },
};
SCHEMA(thread, .name = "threads");

/* One tree, or the trees of all threads or chains, while they are written. */
struct writing {
	const struct parallel_rows *rows;
	const struct stack_tree *tree;
	bool chains;
	struct stack_tree_order order;
	uint32_t *done;   /* by node: children that are written */
	uint32_t level;   /* nodes further out that have several branches */
	struct text name; /* of one row */
};

/* Does the tree have more than one way from there? */
static bool is_fork(const struct stack_tree_node *node)
{
	return node->children + (node->first_path != STACK_TREE_NONE) > 1;
}

/* Index of the thread of a path: whose stack it is, or which runs the chain; or STACK_TREE_NONE. */
static uint32_t thread_of_path(const struct writing *writing, uint32_t path)
{
	const struct parallel_stacks *stacks = writing->rows->stacks;
	uint32_t id = writing->tree->paths[path].id;
	return writing->chains ? stacks->runners[stacks->async.rows[id].end] : id;
}

/* " ~~~~ 4b94,4b95,4b96,4b97,... (20 threads)" */
static void put_threads(struct writing *writing, struct text *text,
			const struct stack_tree_node *node)
{
	const struct parallel_rows *rows = writing->rows;
	const struct runtime *runtime = rows->call->heap->runtime;
	uint32_t count = 0;
	for (uint32_t path = node->first_path; path != STACK_TREE_NONE;
	     path = writing->tree->paths[path].next) {
		uint32_t thread = thread_of_path(writing, path);
		if (thread == STACK_TREE_NONE || count++ >= rows->ids_shown)
			continue;
		text_printf(text, "%s%" PRIx64, count > 1 ? "," : "",
			    runtime_thread_at(runtime, thread)->os_id);
		if (rows->stacks->is_partial[thread] && !writing->chains)
			text_puts(text, " (incomplete)");
	}
	if (count > rows->ids_shown)
		text_printf(text, ",... (%" PRIu32 " threads)", count);
}

/* Do the chains that end at a node wait for different objects? */
static bool has_others(const struct writing *writing, const struct stack_tree_node *node)
{
	const struct parallel_stacks *stacks = writing->rows->stacks;
	const struct stack_tree_path *paths = writing->tree->paths;
	const struct async_node *boxes = stacks->async.rows;
	uint64_t first = boxes[boxes[paths[node->first_path].id].end].object;
	uint32_t path = node->first_path;
	while (path != STACK_TREE_NONE && boxes[boxes[paths[path].id].end].object == first)
		path = paths[path].next;
	return path != STACK_TREE_NONE;
}

/* Write what the chains that end at a node wait for, or which threads run them. */
static void put_chains(struct writing *writing, struct text *text,
		       const struct stack_tree_node *node)
{
	struct parallel_stacks *stacks = writing->rows->stacks;
	uint32_t root = writing->tree->paths[node->first_path].id;
	const struct async_node *boxes = stacks->async.rows, *end = &boxes[boxes[root].end];
	text_puts(text, "(async) ");
	if (boxes[root].depth > STACK_TREE_ASYNC_MAX) {
		text_printf(text, "over %" PRIu32 " more methods, ",
			    boxes[root].depth - STACK_TREE_ASYNC_MAX);
	}
	if (end->wait == AWAIT_RUNS) {
		size_t size = text->size;
		text_puts(text, "run by ");
		put_threads(writing, text, node);
		if (text->size == size + sizeof("run by ") - 1)
			text_puts(text, "a thread that is not known");
		return;
	}
	text_puts(text, "waits for ");
	append_async_wait(text, &stacks->async, end);
	text_puts(text, has_others(writing, node) ? " and others" : "");
}

static void write_path_ends(struct writing *writing, const struct stack_tree_node *node)
{
	struct answer *answer = &writing->rows->call->answer;
	HD_CLEANUP(text) struct text text = { 0 };
	if (node->first_path == STACK_TREE_NONE)
		return;
	(writing->chains ? put_chains : put_threads)(writing, &text, node);
	uint32_t level = writing->level < INDENT_MAX ? writing->level : INDENT_MAX;
	uint32_t width = out_is_narrow(answer->out) ? INDENT_THIN : INDENT;
	answer_remark_styled(answer, STYLE_HEAD, "%*s ~~~~ %s\n", (int)(level * width), "",
			     text.bytes ? text.bytes : "");
	answer->out->text.failed |= text.failed;
}

static void write_path_threads(struct writing *writing, const struct stack_tree_node *node)
{
	struct call *call = writing->rows->call;
	answer_table(&call->answer, &thread_schema, NULL);
	for (uint32_t path = node->first_path; path != STACK_TREE_NONE;
	     path = writing->tree->paths[path].next) {
		uint32_t index = thread_of_path(writing, path);
		if (index == STACK_TREE_NONE)
			continue;
		const struct runtime_thread *thread = runtime_thread_at(call->heap->runtime, index);
		struct text name = { 0 };
		(void)thread_name(call->heap, thread, &name);
		const struct cell cells[] = {
			cell_number(thread->id),
			cell_number(thread->os_id),
			cell_text(name.size ? name.bytes : NULL, name.size),
			cell_flag(writing->rows->stacks->is_partial[index]),
		};
		answer_row(&call->answer, cells);
		text_deinit(&name);
	}
	(void)answer_table_end(&call->answer);
}

static void set_method(struct writing *writing, const struct stack_tree_node *node,
		       struct cell *cells)
{
	struct call *call = writing->rows->call;
	const struct stack_step *step = &node->step;
	runtime_method_signature(call->heap->runtime, step->method, &writing->name);
	cells[FRAME_KIND] = cell_string("managed");
	cells[FRAME_METHOD_DESC] = cell_number(step->method);
	cells[FRAME_FUNCLET] = cell_flag(step->is_funclet);
	cells[FRAME_UNWOUND] = cell_flag(step->is_dead);
	source_text_cells(call, step->method, node->place, &cells[FRAME_FILE], &cells[FRAME_LINE]);
}

static void set_folded(struct writing *writing, const struct stack_tree_node *node,
		       struct cell *cells)
{
	const uint64_t *methods = &writing->tree->methods[node->methods];
	for (uint32_t i = 0; i < node->step.period; i++) {
		if (i)
			text_puts(&writing->name, i + 1 == node->step.period ? " and " : ", ");
		runtime_method_signature(writing->rows->call->heap->runtime, methods[i],
					 &writing->name);
	}
	cells[FRAME_KIND] = cell_string("folded");
	cells[FRAME_FOLDED] = cell_number(node->fewest);
	cells[FRAME_FOLDED_MOST] = cell_number(node->most);
}

static void set_async(struct writing *writing, const struct stack_tree_node *node,
		      struct cell *cells)
{
	struct parallel_stacks *stacks = writing->rows->stacks;
	const struct stack_step *step = &node->step;
	text_puts(&writing->name, async_methods_name(&stacks->async.methods, stacks->heap->runtime,
						     step->async_method));
	cells[FRAME_KIND] = cell_string("async");
	cells[FRAME_STATE] = cell_signed(step->state);
	if (node->parent == STACK_TREE_NONE)
		cells[FRAME_AWAITED_BY] = cell_string(async_root_name((enum async_root)step->root));
	if (node->first_path == STACK_TREE_NONE)
		return;
	uint32_t root = writing->tree->paths[node->first_path].id;
	const struct async_node *boxes = stacks->async.rows, *end = &boxes[boxes[root].end];
	cells[FRAME_WAITS_FOR] = cell_string(async_wait_name(end->wait));
	cells[FRAME_BOX] = cell_number(stacks->async.rows[root].address);
	cells[FRAME_CHAIN_DEPTH] = cell_number(boxes[root].depth);
	if (end->object)
		cells[FRAME_OBJECT] = cell_number(end->object);
}

/* The methods that repeat, innermost first. */
static void write_tree_methods(struct writing *writing, const struct stack_tree_node *node)
{
	struct text names[FRAME_PERIOD_MAX] = { 0 };
	const char *words[FRAME_PERIOD_MAX];
	for (uint32_t i = 0; i < node->step.period; i++) {
		runtime_method_signature(writing->rows->call->heap->runtime,
					 writing->tree->methods[node->methods + i], &names[i]);
		words[i] = names[i].bytes;
	}
	answer_list(&writing->rows->call->answer, "methods", words, node->step.period);
	for (uint32_t i = 0; i < node->step.period; i++)
		text_deinit(&names[i]);
}

static void write_node(struct writing *writing, uint32_t index)
{
	static void (*const setters[])(struct writing *, const struct stack_tree_node *,
				       struct cell *) = {
		[STEP_METHOD] = set_method,
		[STEP_REPEATED] = set_folded,
		[STEP_ASYNC] = set_async,
	};
	struct answer *answer = &writing->rows->call->answer;
	const struct stack_tree_node *node = &writing->tree->rows[index];
	/* The numbers of async methods come after those of frames. */
	uint64_t first = writing->chains ? writing->rows->stacks->threads.rows_count : 0;
	struct cell cells[FRAME_COLUMNS] = {
		[FRAME_ID] = cell_number(first + index),
		[FRAME_DEPTH] = cell_number(node->depth),
		[FRAME_COUNT] = cell_number(node->count),
		[FRAME_INDENT] = cell_number(writing->level),
	};
	if (node->parent != STACK_TREE_NONE)
		cells[FRAME_PARENT] = cell_number(first + node->parent);
	writing->name.size = 0;
	setters[node->step.kind](writing, node, cells);
	cells[FRAME_METHOD] = cell_text(writing->name.bytes, writing->name.size);
	answer->out->text.failed |= writing->name.failed;
	if (answer_is_text(answer)) {
		write_path_ends(writing, node);
		answer_row(answer, cells);
		return;
	}
	answer_row_begin(answer, cells);
	if (node->step.kind == STEP_REPEATED)
		write_tree_methods(writing, node);
	write_path_threads(writing, node);
	answer_row_end(answer);
}

/* All frames of one tree, without recursion. */
static enum hd_status write_tree(struct writing *writing, uint32_t root)
{
	const struct stack_tree_node *nodes = writing->tree->rows;
	bool is_text = answer_is_text(&writing->rows->call->answer);
	uint32_t at = root;
	while (at != STACK_TREE_NONE) {
		TRY(call_check(writing->rows->call));
		const struct stack_tree_node *node = &nodes[at];
		if (!writing->done[at] && !is_text)
			write_node(writing, at);
		if (writing->done[at] < node->children) {
			writing->level += is_fork(node);
			at = writing->order.rows[writing->order.begin[at] + writing->done[at]++];
			continue;
		}
		if (is_text)
			write_node(writing, at);
		at = node->parent;
		writing->level -= at != STACK_TREE_NONE && is_fork(&nodes[at]);
	}
	return HD_OK;
}

static enum hd_status write_trees(struct writing *writing)
{
	struct answer *answer = &writing->rows->call->answer;
	TRY(stack_tree_sort(writing->tree, &writing->order, writing->rows->call->err));
	writing->done = mem_calloc(writing->tree->rows_count + 1, sizeof(*writing->done));
	TRY_MEMORY(writing->done, writing->rows->call->err);
	for (size_t i = writing->order.root_begin; i < writing->tree->rows_count; i++) {
		answer_remark(answer, "________________________________________________\n");
		TRY(write_tree(writing, writing->order.rows[i]));
		answer_remark(answer, "\n");
	}
	return HD_OK;
}

/*
 * Write the rows of the trees of threads, or of async methods: for programs each frame comes after
 * the one that called it; text has the innermost first, and a line over each tree.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
static enum hd_status parallel_rows_write(const struct parallel_rows *rows, bool chains)
{
	struct writing writing = { .rows = rows,
				   .tree = chains ? &rows->stacks->chains : &rows->stacks->threads,
				   .chains = chains };
	enum hd_status status = write_trees(&writing);
	stack_tree_order_deinit(&writing.order);
	mem_free(writing.done);
	text_deinit(&writing.name);
	return status;
}

/* So many threads are listed in one line, as SOS does it. */
#define IDS_SHOWN 4u

#define PARALLEL_OPTIONS(X)                                                           \
	X(OPT_ALL, "all", VALUE_NONE, NULL,                                           \
	  "list the ids of all threads that are at the same place, not only 4", NULL) \
	X(OPT_A, "a", VALUE_NONE, NULL, "the same as -all", NULL)                     \
	X(OPT_ALL_THREADS, "allthreads", VALUE_NONE, NULL, "the same as -all", NULL)  \
	X(OPT_NO_ASYNC, "noasync", VALUE_NONE, NULL,                                  \
	  "only threads; the heap is not searched for async methods", NULL)

OPTIONS(parallel, PARALLEL_OPTIONS);

/* Are two places in the code of a method on the same line of source? */
static bool is_same_line(void *arg, uint64_t method, uint64_t a, uint64_t b)
{
	struct runtime *runtime = arg;
	struct source_line x = { 0 }, y = { 0 };
	return runtime_source_line(runtime, method, a, &x) &&
	       runtime_source_line(runtime, method, b, &y) && x.file == y.file && x.line == y.line;
}

static const struct column total_columns[] = {
	{ "threads", NULL, KIND_NUMBER, 0, 0, "threads that have managed frames" },
	{ "roots", NULL, KIND_NUMBER, 0, 0, "different outermost frames of these" },
	{ "frameless", NULL, KIND_NUMBER, 0, 0, "threads that have no managed frames" },
	{ "partial", NULL, KIND_NUMBER, 0, 0, "stacks that could not be walked to their ends" },
	{ "async_chains", NULL, KIND_NUMBER, 0, 0, "chains of async methods that are not done" },
	{ "async_roots", NULL, KIND_NUMBER, 0, 0, "different outermost methods of these" },
};
SCHEMA(total, .name = "total");

static void write_stack_total(struct call *call, const struct parallel_stacks *stacks)
{
	struct answer *answer = &call->answer;
	uint64_t threads = stacks->threads.paths_count, chains = stacks->chains.paths_count;
	const struct cell cells[] = {
		cell_number(threads),
		cell_number(stacks->threads.roots),
		cell_number(stacks->frameless),
		cell_number(stacks->partial),
		cell_number(chains),
		cell_number(stacks->chains.roots),
	};
	char count[COUNT_SIZE], roots[COUNT_SIZE];
	answer_data(answer, &total_schema, cells);
	answer_remark(answer, "==> %s with %s\n", format_count(threads, "thread", count),
		      format_count(stacks->threads.roots, "root", roots));
	if (chains) {
		answer_remark(answer, "==> %s with %s\n",
			      format_count(chains, "async chain", count),
			      format_count(stacks->chains.roots, "root", roots));
	}
	if (stacks->frameless) {
		answer_remark(answer, "%s %s no managed frames.\n",
			      format_count(stacks->frameless, "thread", count),
			      stacks->frameless == 1 ? "has" : "have");
	}
	if (stacks->partial) {
		answer_remark(answer, "%s could not be walked to the end (clrstack says why).\n",
			      format_count(stacks->partial, "stack", count));
	}
}

static enum hd_status run_parallelstacks(struct call *call)
{
	static const struct table_options options = { .no_heading = true };
	const struct stack_tree_lines lines = { is_same_line, call->heap->runtime };
	bool with_async = call->heap->is_walkable && !call->options[OPT_NO_ASYNC].given;
	HD_CLEANUP(parallel_stacks) struct parallel_stacks stacks = { 0 };
	TRY(threads_check(call));
	runtime_symbols_set(call->heap->runtime, call->settings.symbols);
	TRY(parallel_stacks_create(call->heap, with_async, &lines, &call->job, &stacks, call->err));
	bool all = call->options[OPT_ALL].given || call->options[OPT_A].given ||
		   call->options[OPT_ALL_THREADS].given;
	const struct parallel_rows rows = { .call = call,
					    .stacks = &stacks,
					    .ids_shown = all ? UINT32_MAX : IDS_SHOWN };
	answer_table(&call->answer, &parallel_schema, &options);
	TRY(parallel_rows_write(&rows, false));
	TRY(parallel_rows_write(&rows, true));
	(void)answer_table_end(&call->answer);
	write_stack_total(call, &stacks);
	return HD_OK;
}

COMMAND(parallelstacks, .alias = "pstacks", .has_rows = true,
	.summary = "merge the stacks of all threads, and of async methods, into trees",
	.description =
		"Threads that share their outermost frames share these lines; the number in front of a\n"
		"frame says how many threads have it. Over the innermost frames are the OS ids of the\n"
		"threads. Where these are at different lines of the same method, no line is shown.\n"
		"Below, in the same way, are the async methods that are not done: what the innermost\n"
		"waits for, or which thread runs it, then each method with the one that awaits it.\n"
		"Frames that only repeat are one line.\n",
	.example = "parallelstacks -all", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_THREADS, .options = parallel_options);
