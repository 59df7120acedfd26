/* SPDX-License-Identifier: MIT */
#include "answer/path.h"

#include <inttypes.h>
#include <string.h>

#include "util/alloc.h"
#include "util/bitmap.h"
#include "util/field_label.h"

/* Names of a fold that text shows before it says "...". */
#define FOLD_NAMES 3u

/* One element of a path: a node, or @p folded of them, all of one type. */
struct element {
	uint32_t node;
	uint32_t next; /* the node after it, or HD_NONE */
	uint32_t type;
	uint64_t folded; /* 0: the node itself */
};

/* The path while it is written: runs are folded first, then the middle if it is too long. */
struct fold {
	struct path_report *report;
	struct element run[FOLD_RUN_MIN]; /* the first ones of the current run */
	struct element last;              /* its last one */
	uint64_t run_length;
	uint64_t shown_count;           /* elements written at once: the first FOLD_ENDS */
	struct element tail[FOLD_TAIL]; /* a ring of those that may be the last ones */
	uint64_t tail_begin, tail_end;
	uint64_t middle; /* nodes folded between head and tail */
	uint32_t *types; /* how many different types they have */
	size_t types_count, types_capacity;
	uint64_t *has_type; /* bitmap, made with the first */
	bool failed;
};

static uint32_t path_node_type(const struct hd_graph *graph, uint32_t node)
{
	return graph_is_missing(graph, node) ? HD_NONE : graph->node_types[node];
}

static struct cell path_type_cell(const struct hd_graph *graph, uint32_t type)
{
	if (type == HD_NONE)
		return (struct cell){ .shown = "<not in this dump>" };
	return cell_type(graph->types[type].name, graph->types[type].name_size,
			 graph->types[type].id);
}

#define PATH_LIST(X)                                                                    \
	X(PATH_ADDRESS, "address", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT, "the object") \
	X(PATH_TYPE, "type", NULL, KIND_TYPE, 0, LOOK_LEAVE_OUT, "name of its type")    \
	X(PATH_SIZE, "size", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT, "its own bytes")      \
	X(PATH_VIA, "via", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                          \
	  "field or element that refers to the next object")                            \
	X(PATH_FOLDED, "folded", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                  \
	  "in place of an object: how many are left out here")                          \
	X(PATH_WIDTH, NULL, NULL, KIND_NUMBER, 0, 0,                                    \
	  NULL) /* text only: least columns of the address */                           \
	X(PATH_CONTINUES, NULL, NULL, KIND_FLAG, 0, 0,                                  \
	  NULL) /* text only: the rest was shown above */

COLUMNS(path, PATH_COLUMNS, PATH_LIST);

void link_put(struct out *out, const struct cell *link)
{
	HD_CLEANUP(text) struct text text = { 0 };
	field_labels_append(&text, link->text.bytes, link->text.size);
	if (text.size)
		text_escape(&out->text, text.bytes, text.size);
	out->text.failed |= text.failed;
}

/* After a fold, the names and the end of the line follow. */
static void path_layout(struct out *out, const struct cell *cells)
{
	uint64_t id = cells[PATH_ADDRESS].number;
	if (cells[PATH_FOLDED].is_there) {
		char number[NUMBER_SIZE];
		out_printf(out, "             ... %s more ",
			   format_thousands(cells[PATH_FOLDED].number, number));
		return;
	}
	out_puts(out, "          -> ");
	out_begin_style(out, STYLE_ADDRESS);
	size_t begin = out->text.size;
	text_hex(&out->text, id, 1, false);
	size_t size = out->text.size - begin, width = cells[PATH_WIDTH].number;
	out_pad(out, size < width ? width - size : 0);
	out_end_style(out);
	out_puts(out, " ");
	out_type_cell(out, &cells[PATH_TYPE]);
	if (cells[PATH_VIA].is_there) {
		out_puts(out, " ");
		link_put(out, &cells[PATH_VIA]);
	}
	if (cells[PATH_CONTINUES].flag)
		out_styled(out, STYLE_NOTE, " (continues at %" PRIx64 " above)", id);
	out_puts(out, "\n");
}

const struct schema path_schema = {
	.name = "path",
	SCHEMA_COLUMNS(path_columns),
	.is_main = true,
	.layout = path_layout,
};

#define FOLD_LIST(X)                                                                           \
	X(FOLD_TYPE, "type", NULL, KIND_TYPE, 0, 0, "a type of the objects that are left out") \
	X(FOLD_INDEX, NULL, NULL, KIND_NUMBER, 0, 0,                                           \
	  NULL) /* text only: among the types of the fold */

COLUMNS(fold, FOLD_COLUMNS, FOLD_LIST);

static void path_fold_layout(struct out *out, const struct cell *cells)
{
	if (cells[FOLD_INDEX].number >= FOLD_NAMES)
		return;
	out_puts(out, cells[FOLD_INDEX].number ? ", " : "");
	out_type_cell(out, &cells[FOLD_TYPE]);
}

SCHEMA(fold, .name = "types", .is_list = true, .layout = path_fold_layout);

/* How @p node refers to @p next, without the space that may come first; or nothing. */
static const char *link_text(const struct hd_graph *graph, uint32_t node, uint32_t next,
			     struct text *text)
{
	if (next != HD_NONE && graph->places.link)
		graph->places.link(graph->places.arg, node, next, text);
	if (!text->size)
		return NULL;
	return text->bytes[0] == ' ' ? text->bytes + 1 : text->bytes;
}

static void write_path_node(struct path_report *report, uint32_t node, uint32_t next,
			    bool continues)
{
	const struct hd_graph *graph = report->graph;
	HD_CLEANUP(text) struct text link = { 0 };
	const char *via = link_text(graph, node, next, &link);
	const struct cell cells[PATH_COLUMNS] = {
		[PATH_ADDRESS] = cell_number(graph_id(graph, node)),
		[PATH_TYPE] = cell_or_null(path_type_cell(graph, path_node_type(graph, node))),
		[PATH_SIZE] = cell_number(graph_size(graph, node)),
		[PATH_VIA] = cell_or_null(cell_string(via)),
		[PATH_WIDTH] = cell_number(graph->origins.details ? 16 : 12),
		[PATH_CONTINUES] = cell_flag(continues),
	};
	if (report->shown)
		(void)bitmap_add(report->shown, node);
	answer_row(report->answer, cells);
	report->answer->out->text.failed |= link.failed;
}

static void write_path_fold(struct path_report *report, uint64_t count, const uint32_t *types,
			    size_t type_count)
{
	struct answer *answer = report->answer;
	const struct cell fold[PATH_COLUMNS] = { [PATH_FOLDED] = cell_number(count) };
	char number[COUNT_SIZE];
	answer_row_begin(answer, fold);
	answer_table(answer, &fold_schema, NULL);
	for (size_t i = 0; i < type_count; i++) {
		const struct cell cells[FOLD_COLUMNS] = {
			[FOLD_TYPE] = path_type_cell(report->graph, types[i]),
			[FOLD_INDEX] = cell_number(i),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
	answer_row_end(answer);
	if (type_count > FOLD_NAMES) {
		answer_remark(answer, " and %s",
			      format_count(type_count - FOLD_NAMES, "other type", number));
	}
	answer_remark(answer, " ...\n");
}

static void write_path_element(struct path_report *report, const struct element *element)
{
	if (element->folded) {
		write_path_fold(report, element->folded, &element->type, 1);
		return;
	}
	write_path_node(report, element->node, element->next, false);
}

static void note_type(struct fold *fold, uint32_t type)
{
	uint32_t count = fold->report->graph->type_count;
	if (!fold->has_type)
		fold->has_type = bitmap_alloc(count);
	/* The type of a missing node has the bit after the last one. */
	uint32_t bit = type == HD_NONE ? count : type;
	if (!fold->has_type || !PAGES_RESERVE(fold, types)) {
		fold->failed = true;
		return;
	}
	if (bitmap_add(fold->has_type, bit))
		fold->types[fold->types_count++] = type;
}

/*
 * Take one element: near the start it is written at once, else it is kept while it may be near the
 * end.
 */
static void take_element(struct fold *fold, const struct element *element)
{
	if (fold->report->full || fold->shown_count < FOLD_ENDS) {
		fold->shown_count++;
		write_path_element(fold->report, element);
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
				   .type = path_node_type(fold->report->graph, node) };
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
		write_path_fold(fold->report, fold->middle, fold->types, fold->types_count);
	for (; fold->tail_begin < fold->tail_end; fold->tail_begin++)
		write_path_element(fold->report, &fold->tail[fold->tail_begin % FOLD_TAIL]);
}

enum hd_status path_write(struct path_report *report, const struct path_tree *tree, uint32_t node,
			  struct hd_error *err)
{
	struct fold fold = { .report = report };
	bool continued = false;
	uint64_t steps = 0;
	enum hd_status status = HD_OK;
	for (;; node = path_tree_next(tree, node)) {
		continued =
			report->shown && node != tree->target && bitmap_has(report->shown, node);
		if (continued)
			break;
		take_node(&fold, node, node == tree->target ? HD_NONE : path_tree_next(tree, node));
		if (node == tree->target)
			break;
		if (++steps % 4096 == 0 &&
		    (answer_is_stopped(report->answer) || !job_step(report->job, 0, 0))) {
			status = fail_cancelled(err);
			break;
		}
	}
	end_path(&fold);
	if (continued)
		write_path_node(report, node, HD_NONE, true);
	if (fold.failed && status == HD_OK)
		status = fail_nomem(err);
	pages_free(fold.types, fold.types_capacity, sizeof(*fold.types));
	if (fold.has_type)
		bitmap_free(fold.has_type, report->graph->type_count);
	return status;
}
