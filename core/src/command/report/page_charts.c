/* SPDX-License-Identifier: MIT */
/* The dominator tree of a page: as a flame graph from the roots down, as a treemap, and as a table. */

#include "command/report/chart_tree.h"
#include "command/report/page.h"
#include "findings/typed.h"
#include "gc/heap.h"
#include "runtime/coreclr/modules/module.h"
#include "util/alloc.h"

/* Most parts that are drawn, and listed. */
#define FLAME_NODES   1000u
#define SQUARE_NODES  500u
#define TABLE_NODES   200u
#define FLAME_ROW     22u
#define SQUARES_WIDTH 1000.0
#define SQUARES_SIZE  520.0
#define SQUARES_HEAD  18.0
/* Bytes of a name inside a rectangle. */
#define LABEL_SIZE 60u

/* Whose part it is decides the colour; a module or a namespace is whose its largest type is. */
static const char *color_of(const struct page *page, const struct chart_tree *tree,
			    const struct chart_node *node)
{
	const struct chart_node *of = node;
	while ((of->level == CHART_NAMESPACE || of->level == CHART_MODULE) && of->child_count)
		of = &tree->nodes[of->first_child];
	switch ((enum chart_level)node->level) {
	case CHART_TOP:
		return "all";
	case CHART_ROOT:
		return "root";
	case CHART_MODULE:
	case CHART_NAMESPACE:
	case CHART_TYPE:
		break;
	}
	return facts_name_is_own(&page->report->facts, of->name, of->name_size) ? "own" : "frame";
}

static void write_node_name(struct page *page, const struct chart_node *node, size_t most)
{
	static const char all[] = "everything alive", none[] = "(no namespace)",
			  unknown[] = "(module not known)";
	if (node->name_size) {
		html_name(&page->html, node->name, node->name_size, most);
	} else if (node->level == CHART_MODULE) {
		html_puts(&page->html, unknown);
	} else {
		html_puts(&page->html, node->level == CHART_TOP ? all : none);
	}
}

static double share_of(const struct chart_tree *tree, uint64_t total)
{
	return tree->nodes[0].total ? (double)total / (double)tree->nodes[0].total : 0;
}

/*
 * Write into a rectangle: a type without its namespace; the browser cuts off a text that is too
 * long.
 */
static void write_label(struct page *page, const struct chart_node *node)
{
	if (node->level != CHART_TYPE) {
		write_node_name(page, node, LABEL_SIZE);
		return;
	}
	/* The title has the first half of a long name. */
	size_t end = node->name_size > PAGE_CHART_NAME ? PAGE_CHART_NAME / 2 : node->name_size;
	size_t dot = chart_namespace_size(node->name, node->name_size);
	size_t begin = dot && dot + 1 < end ? dot + 1 : 0;
	html_beginning(&page->html, node->name + begin, end - begin, LABEL_SIZE);
}

/* One rectangle, with its name as a title, and inside if there is room; sizes are written by the caller. */
static void write_box(struct page *page, const struct chart_tree *tree,
		      const struct chart_node *node, bool has_label)
{
	struct html *html = &page->html;
	char size[32], share[32];
	html_puts(html, "<title>");
	write_node_name(page, node, PAGE_CHART_NAME);
	html_printf(html, ": %s, %s</title><rect width=\"100%%\" height=\"100%%\"/>",
		    format_bytes(node->total, size),
		    format_share(share_of(tree, node->total), share));
	if (has_label) {
		html_puts(html, "<text x=\"4\" y=\"14\">");
		write_label(page, node);
		html_puts(html, "</text>");
	}
	html_puts(html, "</svg>\n");
}

/* Where each node begins, as a part of the whole. */
static void write_flame_boxes(struct page *page, const struct chart_tree *tree, double *begins)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct chart_node *node = &tree->nodes[i];
		double width = 100 * share_of(tree, node->total), at = begins[i];
		for (uint32_t child = 0; child < node->child_count; child++) {
			begins[node->first_child + child] = at;
			at += 100 * share_of(tree, tree->nodes[node->first_child + child].total);
		}
		html_printf(&page->html,
			    "<svg class=\"box %s%s\" x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" "
			    "height=\"%u\" data-d=\"%u\">",
			    color_of(page, tree, node), node->level == CHART_TYPE ? " t" : "",
			    begins[i], node->depth * FLAME_ROW, width, FLAME_ROW, node->depth);
		write_box(page, tree, node, width >= 2);
	}
}

static enum hd_status write_flame(struct page *page, const struct dominator_stacks *stacks,
				  enum chart_view view, const char *id, const char *label)
{
	HD_CLEANUP(chart_tree) struct chart_tree tree = { 0 };
	unsigned int depth = 0;
	TRY(chart_tree_init(&tree, stacks, view, NULL, FLAME_NODES, page->call->err));
	HD_FREE double *begins = mem_calloc(tree.count, sizeof(*begins));
	TRY_MEMORY(begins, page->call->err);
	for (size_t i = 0; i < tree.count; i++)
		depth = tree.nodes[i].depth > depth ? tree.nodes[i].depth : depth;
	html_printf(&page->html,
		    "<h3>%s</h3>\n<div class=\"chart flame\"><svg id=\"%s\" role=\"img\" "
		    "aria-label=\"%s; the table below has the same\" width=\"100%%\" "
		    "height=\"%u\">\n",
		    label, id, label, (depth + 1) * FLAME_ROW);
	write_flame_boxes(page, &tree, begins);
	html_puts(&page->html, "</svg></div>\n");
	return HD_OK;
}

static void write_square_boxes(struct page *page, const struct chart_tree *tree,
			       const struct chart_box *boxes)
{
	for (size_t i = 1; i < tree->count; i++) {
		const struct chart_box *box = &boxes[i];
		const struct chart_node *node = &tree->nodes[i];
		if (box->width < 2 || box->height < 2)
			continue;
		html_printf(&page->html,
			    "<svg class=\"box %s\" x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" "
			    "height=\"%.1f\">",
			    color_of(page, tree, node), 100 * box->x / SQUARES_WIDTH, box->y,
			    100 * box->width / SQUARES_WIDTH, box->height);
		write_box(page, tree, node, box->width >= 40 && box->height >= SQUARES_HEAD);
	}
}

/* The file of a type's module, without its folders; NULL: it is not known. */
static const char *module_of(const struct report_facts *facts, uint32_t type)
{
	const struct type *class = facts->heap ? typed_class(facts, type) : NULL;
	const struct module *module =
		class ? module_find(facts->heap->runtime, class->module) : NULL;
	if (!module || !module->path || !module->path[0])
		return NULL;
	const char *slash = strrchr(module->path, '/');
	return slash && slash[1] ? slash + 1 : module->path;
}

/* By frame.  A frame is the name of a type, which is there already. */
static enum hd_status find_modules(struct page *page, struct dominator_stacks *stacks,
				   const char ***ret)
{
	const struct report_facts *facts = &page->report->facts;
	size_t count = stacks->frames.places_count;
	const char **modules = *ret = mem_calloc(count + 1, sizeof(const char *));
	TRY_MEMORY(modules, page->call->err);
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		const struct graph_type *row = &facts->graph->types[type];
		uint32_t frame;
		if (!row->name || !facts_live_count(facts, type))
			continue;
		TRY(string_table_add(&stacks->frames, row->name, row->name_size, &frame,
				     page->call->err));
		if (frame < count && !modules[frame])
			modules[frame] = module_of(facts, type);
	}
	return HD_OK;
}

static enum hd_status write_squares(struct page *page, const struct dominator_stacks *stacks,
				    const char *const *modules)
{
	const struct chart_box whole = { 0, 0, SQUARES_WIDTH, SQUARES_SIZE };
	/* A dump file does not say which modules its types are of. */
	bool has_modules = page->report->facts.heap != NULL;
	HD_CLEANUP(chart_tree) struct chart_tree tree = { 0 };
	TRY(chart_tree_init(&tree, stacks, has_modules ? CHART_BY_MODULE : CHART_BY_NAMESPACE,
			    modules, SQUARE_NODES, page->call->err));
	HD_FREE struct chart_box *boxes = mem_calloc(tree.count, sizeof(*boxes));
	TRY_MEMORY(boxes, page->call->err);
	chart_tree_squares(&tree, &whole, SQUARES_HEAD, boxes);
	html_printf(&page->html,
		    "<h3>Treemap%s</h3>\n<div class=\"chart\"><svg id=\"squares\" role=\"img\" "
		    "aria-label=\"Treemap; the table below has the same\" width=\"100%%\" "
		    "height=\"%.0f\">\n",
		    has_modules ? ", by module, namespace and type" : ", by namespace and type",
		    SQUARES_SIZE);
	write_square_boxes(page, &tree, boxes);
	html_puts(&page->html, "</svg></div>\n");
	return HD_OK;
}

/* The node after @p node in preorder, or 0. */
static uint32_t next_in_preorder(const struct chart_tree *tree, uint32_t node)
{
	if (tree->nodes[node].child_count)
		return tree->nodes[node].first_child;
	while (node) {
		const struct chart_node *parent = &tree->nodes[tree->nodes[node].parent];
		if (node + 1 < parent->first_child + parent->child_count)
			return node + 1;
		node = tree->nodes[node].parent;
	}
	return 0;
}

static void write_tree_row(struct page *page, const struct chart_node *node)
{
	html_puts(&page->html, "<tr>");
	page_bytes(page, node->total);
	page_share(page, node->total);
	html_printf(&page->html, "<td class=\"name\"><bdi class=\"i%u\">", node->depth - 1u);
	write_node_name(page, node, PAGE_NAME_SIZE);
	html_puts(&page->html, "</bdi></td></tr>\n");
}

static enum hd_status write_tree_table(struct page *page, const struct dominator_stacks *stacks)
{
	HD_CLEANUP(chart_tree) struct chart_tree tree = { 0 };
	TRY(chart_tree_init(&tree, stacks, CHART_BY_NAMESPACE, NULL, TABLE_NODES, page->call->err));
	html_puts(&page->html, "<details class=\"more\"><summary>The same as a table"
			       "</summary>\n");
	page_table(page, "tree-table", "Namespaces, types, and what these dominate");
	page_column(page, "Retained", "bytes", true);
	page_column(page, "Share", "of the live heap", true);
	page_column(page, "Name", "indented below what dominates it", false);
	page_body(page);
	for (uint32_t i = next_in_preorder(&tree, 0); i; i = next_in_preorder(&tree, i))
		write_tree_row(page, &tree.nodes[i]);
	page_table_end(page);
	html_puts(&page->html, "</details>\n");
	return HD_OK;
}

static enum hd_status write_charts(struct page *page, const struct dominator_stacks *stacks,
				   const char *const *modules)
{
	page_section(page, "tree", "Dominator tree");
	html_puts(
		&page->html,
		"<p>Each part is as wide as what it retains; what lies below it is kept alive only "
		"by it. <span class=\"legend\"><svg><rect class=\"own\"/></svg> the program\u2019s "
		"types <svg><rect class=\"frame\"/></svg> types of the framework "
		"<svg><rect class=\"root\"/></svg> roots</span></p>\n");
	TRY(write_flame(page, stacks, CHART_BY_NAMESPACE, "flame-types", "By namespace and type"));
	TRY(write_flame(page, stacks, CHART_BY_ROOT, "flame-roots", "By root"));
	TRY(write_squares(page, stacks, modules));
	TRY(write_tree_table(page, stacks));
	html_printf(
		&page->html,
		"<p class=\"note\">Parts under 0.1 %% of the live heap are left out, and all but "
		"the %u largest ones, in the treemap %u, in the table %u; so is what lies more "
		"than %u levels down.</p>\n",
		FLAME_NODES, SQUARE_NODES, TABLE_NODES, CHART_DEPTH_MAX);
	page_section_end(page);
	return HD_OK;
}

enum hd_status page_charts(struct page *page)
{
	struct call *call = page->call;
	const struct report_facts *facts = &page->report->facts;
	HD_CLEANUP(dominator_stacks) struct dominator_stacks stacks = { 0 };
	if (!facts->sums.live_objects)
		return HD_OK;
	TRY(dominator_stacks_init(&stacks, facts->graph, facts->dominators, &call->job, call->err));
	job_end(&call->job);
	HD_FREE const char **modules = NULL;
	TRY(find_modules(page, &stacks, &modules));
	return write_charts(page, &stacks, modules);
}
