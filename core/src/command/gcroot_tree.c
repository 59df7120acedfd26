/* SPDX-License-Identifier: MIT */
/* gcroot -type and -mt: what keeps all objects of a type alive, as one tree. */
#include "command/gcroot_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/completeness.h"
#include "query/type_tree.h"
#include "report/root_label.h"
#include "util/alloc.h"

/* Branches are indented up to this depth. */
#define INDENT_MAX 60u

/* Branches in the order of the answer: those of one parent next to each other, most bytes first. */
struct listing {
	const struct type_tree *tree;
	uint32_t *order;
	size_t count;
	size_t *first; /* by parent + 1, 0 = roots: where in order its branches begin */
};

static uint32_t group_of(const struct type_tree *tree, uint32_t index)
{
	return tree->branches[index].parent + 1; /* of roots HD_NONE + 1: 0 */
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_branches(const void *a, const void *b, void *arg)
{
	const struct type_tree *tree = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct tree_branch *p = &tree->branches[x], *q = &tree->branches[y];
	int order = compare_u64(group_of(tree, x), group_of(tree, y));
	if (!order)
		order = compare_u64(q->is_open, p->is_open);
	if (!order)
		order = compare_u64(q->size, p->size);
	if (!order)
		order = compare_u64(q->count, p->count);
	return order ? order : compare_u64(x, y);
}

static void listing_deinit(struct listing *listing)
{
	pages_free(listing->order, listing->tree->branches_count, sizeof(*listing->order));
	pages_free(listing->first, listing->tree->branches_count + 2, sizeof(*listing->first));
}

static enum hd_status listing_init(struct listing *listing, struct type_tree *tree,
				   struct hd_error *err)
{
	size_t count = tree->branches_count;
	*listing = (struct listing){ .tree = tree };
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
		qsort_r(listing->order, listing->count, sizeof(*listing->order), compare_branches,
			tree);
	}
	size_t at = 0;
	for (size_t group = 0; group < count + 2; group++) {
		while (at < listing->count && group_of(tree, listing->order[at]) < group)
			at++;
		listing->first[group] = at;
	}
	return HD_OK;
}

static void write_branch(struct call *call, const struct type_tree *tree, uint32_t index)
{
	const struct tree_branch *branch = &tree->branches[index];
	struct out *out = &call->out;
	char count[27], size[27];
	out_printf(out, "%12s %14s  ", format_thousands(branch->count, count),
		   format_thousands(branch->size, size));
	out_pad(out, 2 * (size_t)(branch->depth < INDENT_MAX ? branch->depth : INDENT_MAX));
	const char *name = link_name(&tree->names, branch->name);
	if (branch->type == HD_NONE) {
		root_group_label(out, call->graph, branch->root, name);
		out_puts(out, "\n");
		return;
	}
	text_escape(&out->text, name, strlen(name));
	out_puts(out, *name ? " -> " : "-> ");
	const struct graph_type *type = &call->graph->types[branch->type];
	out_type(out, type->name, type->name_size, type->id);
	if (branch->own_count && branch->own_count < branch->count) {
		out_styled(out, STYLE_NOTE, " (%s here)",
			   format_thousands(branch->own_count, count));
	}
	if (branch->repeats)
		out_styled(out, STYLE_NOTE, " (repeats)");
	if (branch->depth >= TYPE_TREE_DEPTH_MAX && branch->own_count < branch->count)
		out_styled(out, STYLE_NOTE, " (too deep to go on)");
	out_puts(out, "\n");
}

static void json_branch(struct call *call, const struct type_tree *tree, uint32_t index)
{
	const struct tree_branch *branch = &tree->branches[index];
	const struct hd_graph *graph = call->graph;
	struct json *json = &call->json;
	const char *name = link_name(&tree->names, branch->name);
	bool is_root = branch->type == HD_NONE;
	json_object(json, NULL);
	json_number(json, "depth", branch->depth);
	json_number(json, "count", branch->count);
	json_number(json, "size", branch->size);
	json_number(json, "own", branch->own_count);
	json_bool(json, "repeats", branch->repeats);
	if (is_root) {
		const struct graph_root *root = &graph->roots[branch->root];
		const struct graph_root_detail *detail = root_detail(graph, branch->root);
		json_string(json, "kind", root_kind_name(root->kind));
		json_string(json, "handle", detail ? graph_handle_name(detail->handle) : NULL);
		json_string(json, "name", *name ? name : NULL);
	}
	uint32_t type = is_root ? graph->roots[branch->root].container : branch->type;
	if (!is_root) {
		json_string(json, "via", *name ? name : NULL);
		json_address(json, "mt", graph->types[type].id);
	}
	if (type != HD_NONE) {
		json_text(json, is_root ? "container" : "type", graph->types[type].name,
			  graph->types[type].name_size);
	} else {
		json_null(json, "container");
	}
	json_end(json);
}

/* What the limit leaves out of the branches of one parent: those from @p at to @p end. */
static void write_rest(struct call *call, const struct listing *listing, size_t at, size_t end,
		       uint32_t depth)
{
	uint64_t branches = 0, objects = 0, bytes = 0;
	char count[27], size[27], number[27];
	for (; at < end; at++, branches++) {
		objects += listing->tree->branches[listing->order[at]].count;
		bytes += listing->tree->branches[listing->order[at]].size;
	}
	if (!branches || call->as_json)
		return;
	out_printf(&call->out, "%12s %14s  ", format_thousands(objects, count),
		   format_thousands(bytes, size));
	out_pad(&call->out, 2 * (size_t)(depth < INDENT_MAX ? depth : INDENT_MAX));
	out_styled(&call->out, STYLE_NOTE, "... by %s more branch%s",
		   format_thousands(branches, number), branches == 1 ? "" : "es");
	out_puts(&call->out, "\n");
}

/* Preorder: a stack of the places in each level's branches. */
static enum hd_status write_branches(struct call *call, const struct listing *listing)
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
		if (call->as_json) {
			json_branch(call, listing->tree, index);
		} else {
			write_branch(call, listing->tree, index);
		}
		depth++;
		levels[depth].at = listing->first[(size_t)index + 1];
		levels[depth].end = listing->first[(size_t)index + 2];
	}
}

static void write_summary(struct call *call, const struct type_tree *tree,
			  const struct gcroot_tree_options *options)
{
	struct out *out = &call->out;
	char a[27], b[COUNT_SIZE], c[27], d[COUNT_SIZE];
	if (!tree->count) {
		out_puts(out, "There are no objects of such a type.\n");
		completeness_write(call, "some may be missing");
		return;
	}
	uint64_t rest = tree->count - tree->found_count;
	out_printf(out, "%s of %s, %s of %s are reached from roots",
		   format_thousands(tree->found_count, a), format_count(tree->count, "object", b),
		   format_thousands(tree->found_size, c), format_count(tree->size, "byte", d));
	if (rest && options->no_stacks) {
		out_puts(out, " that are not on stacks");
	} else if (rest) {
		out_printf(out, call_is_complete(call) ? "; dead: %s" : "; not reached: %s",
			   format_thousands(rest, a));
	}
	out_puts(out, tree->is_cut ? " (-limit 0 shows all branches).\n" : ".\n");
	if (rest)
		completeness_write(call, "what is not reached need not be dead");
}

static enum hd_status write_tree(struct call *call, struct type_tree *tree,
				 const struct gcroot_tree_options *options)
{
	struct listing listing;
	TRY(listing_init(&listing, tree, call->err));
	struct json *json = &call->json;
	if (call->as_json) {
		json_number(json, "count", tree->count);
		json_number(json, "size", tree->size);
		json_number(json, "found", tree->found_count);
		json_number(json, "found_size", tree->found_size);
		json_bool(json, "truncated", tree->is_cut);
		json_array(json, "branches");
	} else if (tree->found_count) {
		out_styled(&call->out, STYLE_HEAD, "%12s %14s  Path", "Count", "TotalSize");
		out_puts(&call->out, "\n");
	}
	enum hd_status status = write_branches(call, &listing);
	if (status == HD_OK && call->as_json) {
		json_end(json);
		completeness_json(call);
	}
	if (status == HD_OK && !call->as_json)
		write_summary(call, tree, options);
	listing_deinit(&listing);
	return status;
}

enum hd_status gcroot_tree_write(struct call *call, const struct gcroot_tree_options *options)
{
	struct filter filter = options->filter;
	TRY(filter_prepare(&filter, call->graph, call->err));
	struct type_tree tree;
	enum hd_status status = type_tree_init(call->graph, filter.types, options->no_stacks,
					       options->limit, &call->job, &tree, call->err);
	filter_deinit(&filter, call->graph);
	TRY(status);
	job_end(&call->job);
	call->findings = !tree.found_count;
	status = write_tree(call, &tree, options);
	type_tree_deinit(&tree);
	return status;
}
