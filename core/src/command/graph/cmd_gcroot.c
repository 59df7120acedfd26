/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/graph/gcroot.h"
#include "answer/path.h"
#include "answer/root_row.h"
#include "command/completeness.h"
#include "command/graph/gcroot_tree.h"
#include "command/heap/heap_call.h"
#include "command/table.h"
#include "command/threads/source_text.h"
#include "gc/heap.h"
#include "output/root_label.h"
#include "util/bitmap.h"

#define DEFAULT_LIMIT 100u
/* So many weak roots that look alike are folded. */
#define ALIKE_MIN 3u
/* The paths of more strong roots than these are merged. */
#define MERGED_MIN 10u
/* From this generation on a collection looks at the whole heap. */
#define GCGEN_WHOLE 2u

#define GCROOT_OPTIONS(X)                                                                          \
	X(OPT_TYPE, "type", VALUE_TYPE, "TEXT", "a tree of what keeps the objects of such types",  \
	  NULL)                                                                                    \
	X(OPT_MT, "mt", VALUE_TYPE_ID, "ID", "the same of one type (MethodTable or type id)",      \
	  NULL)                                                                                    \
	X(OPT_ALL, "all", VALUE_NONE, NULL, "show each root with its path up to the object", NULL) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N",                                                   \
	  "show at most N roots, or branches (100; 0 = all)", NULL)                                \
	X(OPT_WEAK, "weak", VALUE_NONE, NULL, "paths from weak roots too", NULL)                   \
	X(OPT_NOSTACKS, "nostacks", VALUE_NONE, NULL, "leave out local variables", NULL)           \
	X(OPT_GCGEN, "gcgen", VALUE_NUMBER, "N", "as a collection of generation N sees it", NULL)  \
	X(OPT_FULL, "full", VALUE_NONE, NULL, "fold nothing, and shorten no names", NULL)          \
	X(OPT_CONSERVATIVE, "conservative", VALUE_CONSERVATIVE, NULL,                              \
	  "treat every word on a stack as a reference", NULL)

OPTIONS(gcroot, GCROOT_OPTIONS);

/* The heading above the root that is written now. */
struct heading_place {
	uint32_t kind, thread, frame;
	const char *name; /* in place of a frame; NULL: none */
};

#define KIND_NONE  UINT32_MAX
#define KIND_OLDER (UINT32_MAX - 1)

static uint32_t rooted_kind(const struct hd_graph *graph, const struct rooted *rooted)
{
	return rooted->root == HD_NONE ? KIND_OLDER : graph->roots[rooted->root].kind;
}

static bool is_same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Headings: of the kind, or of a thread, and of a frame, where they are others than the last. */
static void write_root_headings(struct call *call, const struct rooted *rooted,
				const struct root_row *row, struct heading_place *place)
{
	const struct hd_graph *graph = call->graph;
	struct heading_place here = { .kind = rooted_kind(graph, rooted),
				      .thread = HD_NONE,
				      .frame = HD_NONE };
	bool on_stack = here.kind == HD_ROOT_STACK && graph->origins.details;
	if (on_stack) {
		here.thread = graph->origins.details[rooted->root].thread;
		here.frame = graph->origins.details[rooted->root].frame;
		here.name = graph->origins.details[rooted->root].name;
	}
	bool has_thread = on_stack && root_thread(graph, rooted->root);
	bool same_thread = here.kind == place->kind && here.thread == place->thread;
	if (!same_thread)
		answer_heading(&call->answer, &root_heading_schema, row->cells);
	if (has_thread &&
	    (!same_thread || here.frame != place->frame || !is_same_name(here.name, place->name)))
		answer_heading(&call->answer, &frame_heading_schema, row->cells);
	*place = here;
}

/* Where an object is; from GENERATION_LOH on what it is. */
static const char *generation_title(unsigned int generation)
{
	static const char *const names[] = {
		[GENERATION_0] = "generation 0",    [GENERATION_1] = "generation 1",
		[GENERATION_2] = "generation 2",    [GENERATION_LOH] = "large object",
		[GENERATION_POH] = "pinned object", [GENERATION_NONGC] = "frozen object",
	};
	return generation < sizeof(names) / sizeof(names[0]) ? names[generation] : "older object";
}

/* Would the line of one root differ from that of another only by its address? */
static bool looks_alike(const struct hd_graph *graph, const struct rooted *a,
			const struct rooted *b)
{
	const struct graph_root *x = &graph->roots[a->root], *y = &graph->roots[b->root];
	if (a->node != b->node || x->kind != y->kind || x->flags != y->flags ||
	    x->container != y->container)
		return false;
	const struct graph_root_detail *p = root_detail(graph, a->root);
	const struct graph_root_detail *q = root_detail(graph, b->root);
	return !p || (x->kind != HD_ROOT_STACK && p->handle == q->handle && !p->name && !q->name);
}

/* Two slots of one frame that hold the same, or two records alike: their path is written once. */
static bool shares_path(const struct hd_graph *graph, const struct rooted *a,
			const struct rooted *b)
{
	if (!graph->origins.details)
		return a->root != HD_NONE && b->root != HD_NONE && looks_alike(graph, a, b);
	if (rooted_kind(graph, a) != HD_ROOT_STACK || rooted_kind(graph, b) != HD_ROOT_STACK)
		return false;
	const struct graph_root_detail *x = &graph->origins.details[a->root];
	const struct graph_root_detail *y = &graph->origins.details[b->root];
	return a->node == b->node && x->thread == y->thread && x->frame == y->frame &&
	       is_same_name(x->name, y->name);
}

/* The roots and paths of one answer as they are written. */
struct gcroot_writer {
	struct call *call;
	const struct gcroot *gcroot;
	struct path_report report;
	struct root_row row;
	struct heading_place place; /* above the last root */
};

static void fill_rooted_row(struct gcroot_writer *writer, const struct rooted *rooted)
{
	const struct hd_graph *graph = writer->call->graph;
	const struct graph_places *places = &graph->places;
	if (rooted->root != HD_NONE) {
		root_row_fill(&writer->row, &writer->call->answer, graph, rooted->root);
		source_text_root(writer->call, rooted->root, &writer->row);
	} else {
		root_row_fill_older(
			&writer->row, graph, rooted->node,
			generation_title(places->generation(places->arg, rooted->node)));
	}
}

static enum hd_status write_rooted(struct gcroot_writer *writer, const struct rooted *rooted,
				   bool with_path)
{
	struct call *call = writer->call;
	struct answer *answer = &call->answer;
	TRY(call_check(call));
	fill_rooted_row(writer, rooted);
	write_root_headings(call, rooted, &writer->row, &writer->place);
	answer_row_begin(answer, writer->row.cells);
	answer_table(answer, &path_schema, NULL);
	if (with_path) {
		TRY(path_write(&writer->report, &writer->gcroot->tree, rooted->node, call->err));
		answer_remark(answer, "\n");
	}
	(void)answer_table_end(answer);
	answer_row_end(answer);
	return HD_OK;
}

/* In text, a path that the next root has, too, is written below that one. */
static enum hd_status write_strong(struct gcroot_writer *writer, size_t count)
{
	const struct rooted *roots = writer->gcroot->strong;
	bool is_read = answer_is_text(&writer->call->answer);
	for (size_t i = 0; i < count; i++) {
		bool is_shared = is_read && i + 1 < count &&
				 shares_path(writer->call->graph, &roots[i], &roots[i + 1]);
		TRY(write_rooted(writer, &roots[i], !is_shared));
	}
	return HD_OK;
}

/* The weak roots from @p from on that one entry of text stands for. */
static size_t alike_run(const struct gcroot_writer *writer, size_t from)
{
	const struct gcroot *gcroot = writer->gcroot;
	size_t end = from + 1;
	while (end < gcroot->weak_count &&
	       looks_alike(writer->call->graph, &gcroot->weak[from], &gcroot->weak[end]))
		end++;
	bool folds = !writer->report.full && end - from >= ALIKE_MIN;
	return folds ? end - from : 1;
}

/* As text: at most @p limit entries; those that are alike are one. */
static enum hd_status write_weak_folded(struct gcroot_writer *writer, uint64_t limit)
{
	const struct gcroot *gcroot = writer->gcroot;
	struct answer *answer = &writer->call->answer;
	char number[COUNT_SIZE];
	size_t at = 0;
	writer->place = (struct heading_place){ .kind = KIND_NONE };
	if (gcroot->weak_count && limit) {
		answer_remark_styled(answer, STYLE_HEAD, "Weak roots (they keep nothing alive)");
		answer_remark(answer, "\n");
	}
	for (; at < gcroot->weak_count && limit; limit--) {
		size_t run = alike_run(writer, at);
		TRY(write_rooted(writer, &gcroot->weak[at], true));
		if (run > 1) {
			answer_remark(answer, "    ... and %s more like it (-full lists them)\n\n",
				      format_thousands(run - 1, number));
		}
		at += run;
	}
	if (at < gcroot->weak_count) {
		answer_remark(answer, "Not shown: %s (-limit 0 shows all).\n",
			      format_count(gcroot->weak_count - at, "weak root", number));
	}
	return HD_OK;
}

static enum hd_status write_weak(struct gcroot_writer *writer, size_t count)
{
	bool with_paths = writer->call->options[OPT_WEAK].given;
	for (size_t i = 0; i < count; i++)
		TRY(write_rooted(writer, &writer->gcroot->weak[i], with_paths));
	return HD_OK;
}

#define SUMMARY_LIST(X)                                                                         \
	X(SUMMARY_OBJECT, "object", NULL, KIND_ADDRESS, 0, 0, "the object")                     \
	X(SUMMARY_REACHABLE, "reachable", NULL, KIND_FLAG, 0, 0, "is it kept alive?")           \
	X(SUMMARY_LEFT_ALONE, "left_alone", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,                 \
	  "is it too old for a collection of that generation?")                                 \
	X(SUMMARY_FOUND, "found", NULL, KIND_NUMBER, 0, 0, "roots that keep it alive")          \
	X(SUMMARY_TRUNCATED, "truncated", NULL, KIND_FLAG, 0, 0, "are there more roots?")       \
	X(SUMMARY_SHOWN, NULL, "shown", KIND_NUMBER, 0, 0, NULL) /* of them, if not all */      \
	X(SUMMARY_HIDDEN, NULL, "hidden", KIND_NUMBER, 0, 0,                                    \
	  NULL) /* stack roots that -nostacks left out */                                       \
	X(SUMMARY_WEAK, NULL, "weak", KIND_NUMBER, 0, 0, NULL)             /* weak roots */     \
	X(SUMMARY_GENERATION, NULL, "generation", KIND_NUMBER, 0, 0, NULL) /* of -gcgen */      \
	X(SUMMARY_COMPLETE, NULL, "complete", KIND_FLAG, 0, 0,                                  \
	  NULL) /* were all roots and references read? */                                       \
	X(SUMMARY_IS_ONE, NULL, "is_one", KIND_FLAG, 0, 0, NULL) /* is only one left out so? */ \
	X(SUMMARY_MERGED, NULL, "merged", KIND_FLAG, 0, 0, NULL) /* were their paths merged? */ \
	X(SUMMARY_PLACE, NULL, "place", KIND_TEXT, 0, 0, NULL) /* of an object that is left alone */

COLUMNS(summary, SUMMARY_COLUMNS, SUMMARY_LIST);

static const struct schema found_schema = {
	SCHEMA_COLUMNS(summary_columns),
	.lines = "Found {found:,} unique roots[?merged , merged by their paths (-all shows "
		 "each)|[, {shown:,} shown (-limit 0 shows all)]].\n"
		 "[?hidden Left out by -nostacks: {hidden:*stack root} that reach[?is_one es] "
		 "{object:x}.\n]"
};
static const struct schema dead_schema = {
	SCHEMA_COLUMNS(summary_columns),
	.lines = "[?reachable |[?complete [=generation A collection of generation {generation} "
		 "finds nothing that keeps {object:x} alive: it would free it.|Nothing keeps "
		 "{object:x} alive: it is dead[?weak , only weak roots see it].]|Nothing was "
		 "found that keeps {object:x} alive[?weak , only weak roots see it].]\n]"
};
static const struct schema left_alone_schema = {
	SCHEMA_COLUMNS(summary_columns),
	.lines =
		"{object:x} is {place}: a collection of generation {generation} does not touch it.\n"
};

static void write_summary(struct call *call, const struct gcroot *gcroot, const struct cell *cells)
{
	answer_heading(&call->answer, &found_schema, cells);
	if (gcroot->strong_count)
		merged_roots_write(call, "");
	answer_heading(&call->answer, &dead_schema, cells);
	if (!gcroot->strong_count && !gcroot->hidden_stack)
		dead_completeness_write(call, "it may still be alive");
}

/* Nobody reads so many paths one by one.  Data has each root. */
static bool wants_merged(const struct call *call, const struct gcroot *gcroot)
{
	const struct value *options = call->options;
	return answer_is_text(&call->answer) && gcroot->strong_count > MERGED_MIN &&
	       !options[OPT_ALL].given && !options[OPT_LIMIT].given && !options[OPT_FULL].given &&
	       !options[OPT_GCGEN].given;
}

/* The summary is before the roots as data, and after them as text. */
static enum hd_status gcroot_answer(struct gcroot_writer *writer)
{
	struct call *call = writer->call;
	const struct gcroot *gcroot = writer->gcroot;
	struct answer *answer = &call->answer;
	uint64_t limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT);
	bool is_merged = wants_merged(call, gcroot);
	size_t strong = gcroot->strong_count < limit ? gcroot->strong_count : (size_t)limit;
	size_t weak = gcroot->weak_count < limit ? gcroot->weak_count : (size_t)limit;
	bool is_cut = strong < gcroot->strong_count || weak < gcroot->weak_count;
	struct cell cells[SUMMARY_COLUMNS] = {
		[SUMMARY_OBJECT] = cell_number(graph_id(call->graph, gcroot->tree.target)),
		[SUMMARY_REACHABLE] = cell_flag(gcroot->strong_count || gcroot->hidden_stack),
		[SUMMARY_FOUND] = cell_number(gcroot->strong_count),
		[SUMMARY_TRUNCATED] = cell_flag(is_cut),
		[SUMMARY_SHOWN] =
			strong < gcroot->strong_count ? cell_number(strong) : (struct cell){ 0 },
		[SUMMARY_IS_ONE] = cell_flag(gcroot->hidden_stack == 1),
		[SUMMARY_HIDDEN] = cell_number(gcroot->hidden_stack),
		[SUMMARY_WEAK] = cell_number(gcroot->weak_count),
		[SUMMARY_COMPLETE] = cell_flag(call_knows_dead(call)),
		[SUMMARY_MERGED] = cell_flag(is_merged),
	};
	if (call->options[OPT_GCGEN].given)
		cells[SUMMARY_GENERATION] = cell_number(call->options[OPT_GCGEN].number);
	answer_data(answer, &found_schema, cells);
	if (is_merged)
		TRY(gcroot_merged_write(call, gcroot));
	answer_table(answer, &root_schema, NULL);
	if (!is_merged)
		TRY(write_strong(writer, strong));
	TRY(answer_is_text(answer) ? write_weak_folded(writer, limit) : write_weak(writer, weak));
	(void)answer_table_end(answer);
	if (cells[SUMMARY_REACHABLE].flag) {
		completeness_json(call);
	} else {
		dead_completeness_json(call);
	}
	write_summary(call, gcroot, cells);
	return HD_OK;
}

/* -gcgen; is the object one that such a collection leaves alone? */
static bool read_generation(struct call *call, uint32_t node, struct gcroot_options *ret)
{
	const struct value *given = &call->options[OPT_GCGEN];
	const struct graph_places *places = &call->graph->places;
	if (!given->given || given->number == GCGEN_WHOLE)
		return false;
	ret->is_young = true;
	ret->generation = (unsigned int)given->number;
	return places->generation(places->arg, node) > given->number;
}

/* The answer about an object that the collection of -gcgen does not look at. */
static void write_left_alone(struct call *call, uint32_t node)
{
	const struct graph_places *places = &call->graph->places;
	unsigned int generation = places->generation(places->arg, node);
	char place[32];
	(void)snprintf(place, sizeof(place), "%s%s", generation < GENERATION_LOH ? "in " : "a ",
		       generation_title(generation));
	const struct cell cells[SUMMARY_COLUMNS] = {
		[SUMMARY_OBJECT] = cell_number(graph_id(call->graph, node)),
		[SUMMARY_REACHABLE] = cell_flag(true),
		[SUMMARY_LEFT_ALONE] = cell_flag(true),
		[SUMMARY_FOUND] = cell_number(0),
		[SUMMARY_TRUNCATED] = cell_flag(false),
		[SUMMARY_GENERATION] = cell_number(call->options[OPT_GCGEN].number),
		[SUMMARY_PLACE] = cell_string(place),
	};
	answer_record(&call->answer, &left_alone_schema, cells);
	answer_table(&call->answer, &root_schema, NULL);
	(void)answer_table_end(&call->answer);
}

static enum hd_status run_object(struct call *call)
{
	uint32_t node;
	struct gcroot_options options = {
		.all_weak = call->options[OPT_WEAK].given,
		.no_stacks = call->options[OPT_NOSTACKS].given,
	};
	if (call->options[OPT_GCGEN].given && !call->graph->places.generation)
		return no_generations(call, "-gcgen");
	TRY(call_object(call, 0, &node));
	if (read_generation(call, node, &options)) {
		write_left_alone(call, node);
		return HD_OK;
	}
	HD_CLEANUP(gcroot) struct gcroot gcroot = { 0 };
	TRY(gcroot_init(call->graph, node, &options, &call->job, &gcroot, call->err));
	job_end(&call->job);
	struct gcroot_writer writer = {
		.call = call,
		.gcroot = &gcroot,
		.report = { .graph = call->graph,
			    .answer = &call->answer,
			    .job = &call->job,
			    .full = call->options[OPT_FULL].given },
		.place = { .kind = KIND_NONE },
	};
	enum hd_status status = HD_OK;
	if (answer_is_text(&call->answer) && !call->options[OPT_ALL].given) {
		writer.report.shown = bitmap_alloc(call->graph->node_count);
		if (!writer.report.shown)
			status = fail_nomem(call->err);
	}
	if (status == HD_OK)
		status = gcroot_answer(&writer);
	call->findings = !gcroot.strong_count;
	if (writer.report.shown)
		bitmap_free(writer.report.shown, call->graph->node_count);
	root_row_deinit(&writer.row);
	return status;
}

static enum hd_status run_tree(struct call *call)
{
	const struct value *word = &call->words[0],
			   *mt = word->is_type ? word : &call->options[OPT_MT];
	const struct gcroot_tree_options options = {
		.filter = { .type_part = call->options[OPT_TYPE].text,
			    .has_mt = mt->given,
			    .mt = mt->number },
		.no_stacks = call->options[OPT_NOSTACKS].given,
		.limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT),
	};
	return gcroot_tree_write(call, &options);
}

static bool is_about_types(const struct call *call)
{
	return call->options[OPT_TYPE].given || call->options[OPT_MT].given ||
	       call->words[0].is_type;
}

static enum hd_status check_gcroot(struct call *call)
{
	static const uint8_t of_objects[] = { OPT_ALL, OPT_WEAK, OPT_GCGEN };
	const struct value *generation = &call->options[OPT_GCGEN];
	const struct value *word = &call->words[0];
	bool has_object = word->given && !word->is_type, has_type = is_about_types(call);
	if (word->given && (call->options[OPT_TYPE].given || call->options[OPT_MT].given)) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"gcroot is about one object (ID) or about types (-type, -mt), not both");
	}
	if (!has_object && !has_type)
		return call_usage(call, "an id is missing (or -type TEXT, or -mt ID)");
	for (size_t i = 0; has_type && i < sizeof(of_objects); i++) {
		if (call->options[of_objects[i]].given) {
			return fail(call->err, HD_ERR_ARGUMENT, 0,
				    "-%s is about one object; it cannot be used with -type and -mt",
				    gcroot_options[of_objects[i]].name);
		}
	}
	if (generation->given && generation->number > GCGEN_WHOLE) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-gcgen is 0, 1 or %u, not %" PRIu64,
			    GCGEN_WHOLE, generation->number);
	}
	return HD_OK;
}

static enum hd_status run_gcroot(struct call *call)
{
	if (!is_about_types(call))
		return run_object(call);
	TRY(session_graph(call->session, call_is_conservative(call), &call->job, &call->graph,
			  call->err));
	return run_tree(call);
}

COMMAND(gcroot, .has_rows = true, .summary = "show what keeps an object alive",
	.description =
		"For each root that reaches the object: the shortest path from the root to it.\n"
		"Weak roots keep nothing alive and are listed separately; a root with the weak flag is\n"
		"weak whatever its kind. Runs of more than 4 objects of one type and the middle of very\n"
		"long paths are folded. A path that meets an earlier one ends there. The paths of\n"
		"more than 10 roots are merged into one tree that counts roots (-all, -limit or -full\n"
		"show each).\n"
		"\n"
		"With -type, -mt or the name of a type in place of ID: the shortest paths to all\n"
		"such objects, merged into one tree by root, field and type, with how many objects\n"
		"and bytes each branch leads to; most bytes first. \"repeats\" marks what comes again\n"
		"and again in a path, as in a list.\n"
		"\n"
		"-gcgen 0 or 1: what keeps the object alive when that generation is collected. Such\n"
		"a collection treats everything that older objects refer to as alive.\n",
	.example = "gcroot 1ce056", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_PATHS,
	.options = gcroot_options, .words = { { "ID", VALUE_OBJECT, true } },
	.check = check_gcroot);
