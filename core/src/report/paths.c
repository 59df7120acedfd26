/* SPDX-License-Identifier: MIT */
#include "report/paths.h"

#include <inttypes.h>
#include <string.h>

#include "util/alloc.h"
#include "util/bitmap.h"

/* Names of a fold that text shows before it says "...". */
#define FOLD_NAMES 3u

/* One element of a path: a node, or @p folded of them, all of one type. */
struct element {
	uint32_t node;
	uint32_t next; /* the node behind it, or HD_NONE */
	uint32_t type;
	uint64_t folded; /* 0: the node itself */
};

/* The path as it passes by: runs first, then what is too long in the middle. */
struct fold {
	struct path_report *report;
	struct element run[FOLD_RUN_MIN]; /* the first ones of the present run */
	struct element last;              /* its last one */
	uint64_t run_length;
	uint64_t shown_count;           /* elements written at once: the first FOLD_ENDS */
	struct element tail[FOLD_TAIL]; /* a ring of those that may be the last */
	uint64_t tail_begin, tail_end;
	uint64_t middle; /* nodes folded between head and tail */
	uint32_t *types; /* distinct types of them */
	size_t types_count, types_capacity;
	uint64_t *has_type; /* bitmap, made with the first */
	bool failed;
};

static uint32_t type_of(const struct hd_graph *graph, uint32_t node)
{
	return graph_is_missing(graph, node) ? HD_NONE : graph->node_types[node];
}

static void json_type(struct json *json, const char *key, const struct hd_graph *graph,
		      uint32_t type)
{
	if (type != HD_NONE && graph->types[type].name) {
		json_text(json, key, graph->types[type].name, graph->types[type].name_size);
	} else {
		json_null(json, key);
	}
}

static void text_type(struct out *out, const struct hd_graph *graph, uint32_t type)
{
	if (type == HD_NONE) {
		out_styled(out, STYLE_NOTE, "<not in this dump>");
	} else {
		out_type(out, graph->types[type].name, graph->types[type].name_size,
			 graph->types[type].id);
	}
}

/* What leads from @p node to @p next, without the blank that may be before it; or nothing. */
static const char *link_text(const struct hd_graph *graph, uint32_t node, uint32_t next,
			     struct text *text)
{
	if (next != HD_NONE && graph->places.link)
		graph->places.link(graph->places.arg, node, next, text);
	if (!text->size)
		return NULL;
	return text->bytes[0] == ' ' ? text->bytes + 1 : text->bytes;
}

static void json_node(struct path_report *report, uint32_t node, const char *via)
{
	const struct hd_graph *graph = report->graph;
	struct json *json = report->json;
	json_object(json, NULL);
	json_address(json, "address", graph_id(graph, node));
	json_type(json, "type", graph, type_of(graph, node));
	json_number(json, "size", graph_size(graph, node));
	json_string(json, "via", via);
	json_end(json);
}

static void write_node(struct path_report *report, uint32_t node, uint32_t next)
{
	const struct hd_graph *graph = report->graph;
	struct out *out = report->out;
	struct text link = { 0 };
	const char *via = link_text(graph, node, next, &link);
	if (report->json) {
		json_node(report, node, via);
	} else {
		if (report->shown)
			(void)bitmap_add(report->shown, node);
		out_puts(out, "          -> ");
		out_styled(out, STYLE_ADDRESS, "%-*" PRIx64, graph->details ? 16 : 12,
			   graph_id(graph, node));
		out_puts(out, " ");
		text_type(out, graph, type_of(graph, node));
		out_puts(out, via ? " " : "");
		if (via)
			text_escape(&out->text, via, strlen(via));
	}
	out->text.failed |= link.failed;
	text_deinit(&link);
}

static void write_fold(struct path_report *report, uint64_t count, const uint32_t *types,
		       size_t type_count)
{
	struct json *json = report->json;
	if (json) {
		json_object(json, NULL);
		json_number(json, "folded", count);
		json_array(json, "types");
		for (size_t i = 0; i < type_count; i++)
			json_type(json, NULL, report->graph, types[i]);
		json_end(json);
		json_end(json);
		return;
	}
	char number[COUNT_SIZE];
	out_printf(report->out, "             ... %s more ", format_thousands(count, number));
	for (size_t i = 0; i < type_count && i < FOLD_NAMES; i++) {
		out_puts(report->out, i ? ", " : "");
		text_type(report->out, report->graph, types[i]);
	}
	if (type_count > FOLD_NAMES) {
		out_printf(report->out, " and %s",
			   format_count(type_count - FOLD_NAMES, "other type", number));
	}
	out_puts(report->out, " ...\n");
}

static void write_element(struct path_report *report, const struct element *element)
{
	if (element->folded) {
		write_fold(report, element->folded, &element->type, 1);
		return;
	}
	write_node(report, element->node, element->next);
	if (!report->json)
		out_puts(report->out, "\n");
}

static void note_type(struct fold *fold, uint32_t type)
{
	uint32_t count = fold->report->graph->type_count;
	if (!fold->has_type)
		fold->has_type = bitmap_alloc(count);
	/* The type of a missing node has the bit behind the last one. */
	uint32_t bit = type == HD_NONE ? count : type;
	if (!fold->has_type || !PAGES_RESERVE(fold, types)) {
		fold->failed = true;
		return;
	}
	if (bitmap_add(fold->has_type, bit))
		fold->types[fold->types_count++] = type;
}

/* Take one element: written at once near the start, else kept as long as it may be near the end. */
static void take_element(struct fold *fold, const struct element *element)
{
	if (fold->report->full || fold->shown_count < FOLD_ENDS) {
		fold->shown_count++;
		write_element(fold->report, element);
		return;
	}
	if (fold->tail_end - fold->tail_begin == FOLD_TAIL) {
		const struct element *oldest = &fold->tail[fold->tail_begin++ % FOLD_TAIL];
		fold->middle += oldest->folded ? oldest->folded : 1;
		note_type(fold, oldest->type);
	}
	fold->tail[fold->tail_end++ % FOLD_TAIL] = *element;
}

static void end_run(struct fold *fold)
{
	uint64_t length = fold->run_length;
	fold->run_length = 0;
	if (length < FOLD_RUN_MIN) {
		for (uint64_t i = 0; i < length; i++)
			take_element(fold, &fold->run[i]);
		return;
	}
	struct element middle = { .node = fold->last.node,
				  .next = HD_NONE,
				  .type = fold->run[0].type,
				  .folded = length - 2 };
	take_element(fold, &fold->run[0]);
	take_element(fold, &middle);
	take_element(fold, &fold->last);
}

static void take_node(struct fold *fold, uint32_t node, uint32_t next)
{
	struct element element = { .node = node,
				   .next = next,
				   .type = type_of(fold->report->graph, node) };
	if (fold->report->full) {
		take_element(fold, &element);
		return;
	}
	if (fold->run_length && fold->run[0].type != element.type)
		end_run(fold);
	if (fold->run_length < FOLD_RUN_MIN)
		fold->run[fold->run_length] = element;
	fold->run_length++;
	fold->last = element;
}

static void end_path(struct fold *fold)
{
	end_run(fold);
	if (fold->middle)
		write_fold(fold->report, fold->middle, fold->types, fold->types_count);
	for (; fold->tail_begin < fold->tail_end; fold->tail_begin++)
		write_element(fold->report, &fold->tail[fold->tail_begin % FOLD_TAIL]);
}

/* The last line of a path that goes on as one already shown. */
static void write_continued(struct path_report *report, uint32_t node)
{
	write_node(report, node, HD_NONE);
	out_styled(report->out, STYLE_NOTE, " (continues at %" PRIx64 " above)",
		   graph_id(report->graph, node));
	out_puts(report->out, "\n");
}

enum hd_status path_write(struct path_report *report, const struct path_tree *tree, uint32_t node,
			  struct hd_error *err)
{
	struct fold fold = { .report = report };
	bool continued = false;
	uint64_t steps = 0;
	enum hd_status status = HD_OK;
	for (;; node = path_tree_next(tree, node)) {
		continued = report->shown && !report->json && node != tree->target &&
			    bitmap_has(report->shown, node);
		if (continued)
			break;
		take_node(&fold, node, node == tree->target ? HD_NONE : path_tree_next(tree, node));
		if (node == tree->target)
			break;
		if (++steps % 4096 == 0 && (report->out->stopped || !job_step(report->job, 0, 0))) {
			status = fail_cancelled(err);
			break;
		}
	}
	end_path(&fold);
	if (continued)
		write_continued(report, node);
	if (fold.failed && status == HD_OK)
		status = fail_nomem(err);
	pages_free(fold.types, fold.types_capacity, sizeof(*fold.types));
	if (fold.has_type)
		bitmap_free(fold.has_type, report->graph->type_count);
	return status;
}
