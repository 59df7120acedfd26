/* SPDX-License-Identifier: MIT */
/* gcroot -type and -mt: what keeps all objects of a type alive, as one tree. */
#include "command/graph/gcroot_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/graph/root_tree.h"
#include "answer/path.h"
#include "answer/root_row.h"
#include "command/completeness.h"
#include "output/fit.h"
#include "output/root_label.h"
#include "util/alloc.h"

/* Branches are indented up to this depth. */
#define BRANCH_INDENT_MAX 60u
/* How many of the merged paths to one object are shown. */
#define MERGED_BRANCHES_MAX 100u

/* Branches in the order of the answer: those of one parent next to each other, most bytes first. */
struct tree_listing {
	const struct type_tree *tree;
	uint32_t *order;
	size_t count;
	bool is_of_roots;
	size_t *first; /* by parent + 1, 0 = roots: where in order its branches begin */
};

static uint32_t branch_group(const struct type_tree *tree, uint32_t index)
{
	return tree->branches[index].parent + 1; /* of roots HD_NONE + 1: 0 */
}

static int tree_compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_tree_branches(const void *a, const void *b, void *arg)
{
	const struct type_tree *tree = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct tree_branch *p = &tree->branches[x], *q = &tree->branches[y];
	int order = tree_compare_u64(branch_group(tree, x), branch_group(tree, y));
	if (!order)
		order = tree_compare_u64(q->is_open, p->is_open);
	if (!order)
		order = tree_compare_u64(q->size, p->size);
	if (!order)
		order = tree_compare_u64(q->count, p->count);
	return order ? order : tree_compare_u64(x, y);
}

static void listing_deinit(struct tree_listing *listing)
{
	if (!listing->tree)
		return;
	pages_free(listing->order, listing->tree->branches_count, sizeof(*listing->order));
	pages_free(listing->first, listing->tree->branches_count + 2, sizeof(*listing->first));
	*listing = (struct tree_listing){ 0 };
}

static enum hd_status listing_init(struct tree_listing *listing, struct type_tree *tree,
				   struct hd_error *err)
{
	size_t count = tree->branches_count;
	*listing = (struct tree_listing){ .tree = tree };
	listing->order = pages_alloc(count, sizeof(*listing->order));
	listing->first = pages_alloc(count + 2, sizeof(*listing->first));
	if (!listing->order || !listing->first) {
		listing_deinit(listing);
		return fail_nomem(err);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (tree->branches[i].count)
			listing->order[listing->count++] = i;
	}
	if (listing->count) {
		qsort_r(listing->order, listing->count, sizeof(*listing->order),
			compare_tree_branches, tree);
	}
	size_t at = 0;
	for (size_t group = 0; group < count + 2; group++) {
		while (at < listing->count && branch_group(tree, listing->order[at]) < group)
			at++;
		listing->first[group] = at;
	}
	return HD_OK;
}

#define BRANCH_LIST(X)                                                                             \
	X(BRANCH_DEPTH, "depth", NULL, KIND_NUMBER, 0, 0, "in the tree; 0: a root")                \
	X(BRANCH_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "objects that it leads to")              \
	X(BRANCH_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")                              \
	X(BRANCH_OWN, "own", NULL, KIND_NUMBER, 0, 0, "objects whose paths end here")              \
	X(BRANCH_REPEATS, "repeats", NULL, KIND_FLAG, 0, 0, "does it repeat, as in a list?")       \
	X(BRANCH_KIND, "kind", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "for roots: their kind")        \
	X(BRANCH_HANDLE, "handle", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT, "kind of the handles")      \
	X(BRANCH_NAME, "name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                 \
	  "for a static: its field; for locals: their method")                                     \
	X(BRANCH_CONTAINER, "container", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT,                       \
	  "for a static: the type that declares it")                                               \
	X(BRANCH_VIA, "via", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                                   \
	  "for objects: the field or element that refers to them")                                 \
	X(BRANCH_MT, "mt", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "their type's MethodTable")      \
	X(BRANCH_TYPE, "type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "name of their type")           \
	X(BRANCH_LABEL, NULL, NULL, KIND_TEXT, 0, 0,                                               \
	  NULL) /* of roots: what they are; absent where they are on a stack, in no frame */       \
	X(BRANCH_CLASS, NULL, NULL, KIND_TYPE, 0, 0,                                               \
	  NULL) /* of roots that is the container; absent: they have none */                       \
	X(BRANCH_HAS_CLASS, NULL, NULL, KIND_FLAG, 0, 0, NULL)                                     \
	X(BRANCH_IS_ENDED, NULL, NULL, KIND_FLAG, 0, 0, NULL) /* is the tree too deep to go on? */ \
	X(BRANCH_OF_ROOTS, NULL, NULL, KIND_FLAG, 0, 0,                                            \
	  NULL) /* roots are counted, not objects and bytes */

COLUMNS(branch, BRANCH_COLUMNS, BRANCH_LIST);

/* The numbers of a branch, and its indentation. */
static void put_numbers(struct out *out, const struct cell *cells)
{
	char count[NUMBER_SIZE], size[NUMBER_SIZE];
	uint64_t depth = cells[BRANCH_DEPTH].number;
	out_printf(out, "%12s ", format_thousands(cells[BRANCH_COUNT].number, count));
	if (!cells[BRANCH_OF_ROOTS].flag)
		out_printf(out, "%14s ", format_thousands(cells[BRANCH_SIZE].number, size));
	out_puts(out, " ");
	out_pad(out, 2 * (size_t)(depth < BRANCH_INDENT_MAX ? depth : BRANCH_INDENT_MAX));
}

static void put_tree_cell(struct out *out, const struct cell *cell)
{
	text_escape(&out->text, cell->text.bytes, cell->text.size);
}

/* Write what all roots of a branch share. */
static void put_roots(struct out *out, const struct cell *cells)
{
	const struct cell *name = &cells[BRANCH_NAME];
	/* As gcroot's headings: such a root is not a variable of a method. */
	if (!cells[BRANCH_LABEL].is_there) {
		out_puts(out, "(");
		out_puts(out, name->is_there ? "" : "no frame");
		put_tree_cell(out, name);
		out_puts(out, ")");
		return;
	}
	if (name->is_there) {
		out_begin_name(out, FIT_METHOD);
		put_tree_cell(out, name);
		out_end_name(out);
		out_puts(out, " ");
	} else if (cells[BRANCH_HAS_CLASS].flag) {
		out_type_cell(out, &cells[BRANCH_CLASS]);
		out_puts(out, " ");
	}
	out_puts(out, "(");
	put_tree_cell(out, &cells[BRANCH_LABEL]);
	out_puts(out, ")");
}

static void branch_layout(struct out *out, const struct cell *cells)
{
	uint64_t own = cells[BRANCH_OWN].number;
	char number[NUMBER_SIZE];
	put_numbers(out, cells);
	if (cells[BRANCH_KIND].is_there) {
		put_roots(out, cells);
		out_puts(out, "\n");
		return;
	}
	link_put(out, &cells[BRANCH_VIA]);
	out_puts(out, cells[BRANCH_VIA].is_there ? " -> " : "-> ");
	out_type_cell(out, &cells[BRANCH_CLASS]);
	if (own && own < cells[BRANCH_COUNT].number)
		out_styled(out, STYLE_NOTE, " (%s here)", format_thousands(own, number));
	if (cells[BRANCH_REPEATS].flag)
		out_styled(out, STYLE_NOTE, " (repeats)");
	if (cells[BRANCH_IS_ENDED].flag)
		out_styled(out, STYLE_NOTE, " (too deep to go on)");
	out_puts(out, "\n");
}

SCHEMA(branch, .name = "branches", .is_main = true, .heading = "       Count      TotalSize  Path",
       .layout = branch_layout);

static const struct schema root_branch_schema = {
	SCHEMA_COLUMNS(branch_columns),
	.heading = "       Roots  Path",
	.layout = branch_layout,
};

static void fill_roots(struct cell *cells, const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = root_detail(graph, index);
	bool has_no_frame =
		root->kind == HD_ROOT_STACK && graph_is_heap(graph) && !root_frame(graph, index);
	cells[BRANCH_KIND] = cell_string(root_kind_name(root->kind));
	cells[BRANCH_HANDLE] =
		cell_or_null(cell_string(detail ? graph_handle_name(detail->handle) : NULL));
	if (!has_no_frame)
		cells[BRANCH_LABEL] = cell_string(root_kind_label(graph, index));
	cells[BRANCH_CONTAINER] = cell_null();
	if (root->container == HD_NONE)
		return;
	const struct graph_type *type = &graph->types[root->container];
	cells[BRANCH_CLASS] = cell_type(type->name, type->name_size, type->id);
	cells[BRANCH_HAS_CLASS] = cell_flag(true);
	cells[BRANCH_CONTAINER] = cell_or_null(cells[BRANCH_CLASS]);
}

static void write_branch(struct call *call, const struct tree_listing *listing, uint32_t index)
{
	const struct type_tree *tree = listing->tree;
	const struct tree_branch *branch = &tree->branches[index];
	const char *name = link_name(&tree->names, branch->name);
	bool is_root = branch->type == HD_NONE;
	struct cell cells[BRANCH_COLUMNS] = {
		[BRANCH_DEPTH] = cell_number(branch->depth),
		[BRANCH_COUNT] = cell_number(branch->count),
		[BRANCH_SIZE] = cell_number(branch->size),
		[BRANCH_OWN] = cell_number(branch->own_count),
		[BRANCH_REPEATS] = cell_flag(branch->repeats),
		[BRANCH_IS_ENDED] = cell_flag(branch->depth >= TYPE_TREE_DEPTH_MAX &&
					      branch->own_count < branch->count),
		[BRANCH_OF_ROOTS] = cell_flag(listing->is_of_roots),
	};
	cells[is_root ? BRANCH_NAME : BRANCH_VIA] = cell_or_null(cell_string(*name ? name : NULL));
	if (is_root) {
		fill_roots(cells, call->graph, branch->root);
	} else {
		const struct graph_type *type = &call->graph->types[branch->type];
		cells[BRANCH_MT] = cell_number(type->id);
		cells[BRANCH_CLASS] = cell_type(type->name, type->name_size, type->id);
		cells[BRANCH_TYPE] = cell_or_null(cells[BRANCH_CLASS]);
	}
	answer_row(&call->answer, cells);
}

enum rest_column {
	REST_BRANCHES = BRANCH_COLUMNS,
	REST_COLUMNS
};

/* "... by 3 more branches", below the numbers of what they lead to. */
static void tree_rest_layout(struct out *out, const struct cell *cells)
{
	uint64_t branches = cells[REST_BRANCHES].number;
	char number[NUMBER_SIZE];
	put_numbers(out, cells);
	out_styled(out, STYLE_NOTE, "... by %s more branch%s", format_thousands(branches, number),
		   branches == 1 ? "" : "es");
	out_puts(out, "\n");
}

/* Write how much the limit leaves out of the branches of one parent: those from @p at to @p end. */
static void write_rest(struct call *call, const struct tree_listing *listing, size_t at, size_t end,
		       uint32_t depth)
{
	static const struct column columns[REST_COLUMNS] = { 0 };
	static const struct schema schema = { SCHEMA_COLUMNS(columns), .layout = tree_rest_layout };
	uint64_t branches = 0, objects = 0, bytes = 0;
	for (; at < end; at++, branches++) {
		objects += listing->tree->branches[listing->order[at]].count;
		bytes += listing->tree->branches[listing->order[at]].size;
	}
	if (!branches)
		return;
	const struct cell cells[REST_COLUMNS] = {
		[BRANCH_DEPTH] = cell_number(depth),
		[BRANCH_COUNT] = cell_number(objects),
		[BRANCH_SIZE] = cell_number(bytes),
		[BRANCH_OF_ROOTS] = cell_flag(listing->is_of_roots),
		[REST_BRANCHES] = cell_number(branches),
	};
	answer_heading(&call->answer, &schema, cells);
}

/* Preorder: a stack of the places in each level's branches. */
static enum hd_status write_branches(struct call *call, const struct tree_listing *listing)
{
	struct {
		size_t at, end;
	} levels[TYPE_TREE_DEPTH_MAX + 2];
	uint32_t depth = 0;
	levels[0].at = 0;
	levels[0].end = listing->first[1];
	for (;;) {
		TRY(call_check(call));
		size_t at = levels[depth].at;
		uint32_t index = at < levels[depth].end ? listing->order[at] : HD_NONE;
		if (index == HD_NONE || !listing->tree->branches[index].is_open) {
			write_rest(call, listing, at, levels[depth].end, depth);
			if (!depth--)
				return HD_OK;
			continue;
		}
		levels[depth].at++;
		write_branch(call, listing, index);
		depth++;
		levels[depth].at = listing->first[(size_t)index + 1];
		levels[depth].end = listing->first[(size_t)index + 2];
	}
}

#define TREE_LIST(X)                                                                      \
	X(TREE_COUNT, "count", NULL, KIND_NUMBER, 0, 0, "objects of such types")          \
	X(TREE_SIZE, "size", NULL, KIND_BYTES, 0, 0, "their bytes")                       \
	X(TREE_FOUND, "found", NULL, KIND_NUMBER, 0, 0, "objects that roots reach")       \
	X(TREE_FOUND_SIZE, "found_size", NULL, KIND_BYTES, 0, 0, "their bytes")           \
	X(TREE_TRUNCATED, "truncated", NULL, KIND_FLAG, 0, 0, "are there more branches?") \
	X(TREE_NO_STACKS, NULL, "no_stacks", KIND_FLAG, 0, 0, NULL)                       \
	X(TREE_COMPLETE, NULL, "complete", KIND_FLAG, 0, 0, NULL)                         \
	X(TREE_MISSING, NULL, "missing", KIND_NUMBER, 0, 0, NULL)

COLUMNS(tree, TREE_COLUMNS, TREE_LIST);

SCHEMA(tree,
       .lines = "[?count {found:,} of {count:*object}, {found_size:,} of {size:*byte} are "
		"reached from roots[?missing [?no_stacks  that are not on stacks|; [?complete "
		"dead|not reached]: {missing:,}]][?truncated  (-limit 0 shows all "
		"branches)].|There are no objects of such a type.]\n");

/* The totals are before the tree as data, and after it as text. */
static enum hd_status write_root_tree(struct call *call, struct type_tree *tree,
				      const struct gcroot_tree_options *options)
{
	const struct table_options table = { .limit = UINT64_MAX,
					     .no_heading = !tree->found_count };
	const struct cell cells[TREE_COLUMNS] = {
		[TREE_COUNT] = cell_number(tree->count),
		[TREE_SIZE] = cell_number(tree->size),
		[TREE_FOUND] = cell_number(tree->found_count),
		[TREE_FOUND_SIZE] = cell_number(tree->found_size),
		[TREE_MISSING] = cell_number(tree->count - tree->found_count),
		[TREE_TRUNCATED] = cell_flag(tree->is_cut),
		[TREE_NO_STACKS] = cell_flag(options->no_stacks),
		[TREE_COMPLETE] = cell_flag(call_knows_dead(call)),
	};
	struct answer *answer = &call->answer;
	HD_CLEANUP(listing) struct tree_listing listing = { 0 };
	TRY(listing_init(&listing, tree, call->err));
	answer_data(answer, &tree_schema, cells);
	answer_table(answer, &branch_schema, &table);
	enum hd_status status = write_branches(call, &listing);
	(void)answer_table_end(answer);
	TRY(status);
	if (tree->found_count < tree->count) {
		dead_completeness_json(call);
	} else {
		completeness_json(call);
	}
	answer_heading(answer, &tree_schema, cells);
	if (!tree->count) {
		completeness_write(call, "some may be missing");
	} else if (tree->found_count < tree->count) {
		dead_completeness_write(call, "what is not reached may still be alive");
	}
	return HD_OK;
}

enum hd_status gcroot_tree_write(struct call *call, const struct gcroot_tree_options *options)
{
	struct filter filter = options->filter;
	TRY(filter_prepare(&filter, call->graph, call->err));
	struct type_tree tree;
	enum hd_status status = type_tree_init(
		call->graph,
		&(struct type_tree_choice){ filter.types, options->limit, options->no_stacks },
		&call->job, &tree, call->err);
	filter_deinit(&filter, call->graph);
	TRY(status);
	job_end(&call->job);
	call->findings = !tree.found_count;
	status = write_root_tree(call, &tree, options);
	type_tree_deinit(&tree);
	return status;
}

/* Text only. */
enum hd_status gcroot_merged_write(struct call *call, const struct gcroot *gcroot)
{
	HD_CLEANUP(type_tree) struct type_tree tree = { 0 };
	struct tree_listing listing;
	TRY(root_tree_init(call->graph, gcroot, MERGED_BRANCHES_MAX, &call->job, &tree, call->err));
	TRY(listing_init(&listing, &tree, call->err));
	listing.is_of_roots = true;
	answer_table(&call->answer, &root_branch_schema, NULL);
	TRY(write_branches(call, &listing));
	(void)answer_table_end(&call->answer);
	answer_remark(&call->answer, "\n");
	listing_deinit(&listing);
	return HD_OK;
}
