/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/completeness.h"
#include "command/gcroot_tree.h"
#include "command/heap_range.h"
#include "heap/heap.h"
#include "query/gcroot.h"
#include "report/paths.h"
#include "report/root_label.h"
#include "util/bitmap.h"

enum {
	OPT_TYPE,
	OPT_MT,
	OPT_ALL,
	OPT_LIMIT,
	OPT_WEAK,
	OPT_NOSTACKS,
	OPT_GCGEN,
	OPT_FULL,
	OPT_CONSERVATIVE
};

#define DEFAULT_LIMIT 100u
/* So many weak roots that look alike are folded. */
#define ALIKE_MIN 3u
/* From this generation on a collection looks at the whole heap. */
#define GCGEN_WHOLE 2u

const struct option gcroot_options[] = {
	[OPT_TYPE] = { "type", VALUE_TYPE, "TEXT", "a tree of what keeps the objects of such types",
		       NULL },
	[OPT_MT] = { "mt", VALUE_ADDRESS, "ID", "the same of one type (MethodTable or type id)",
		     NULL },
	[OPT_ALL] = { "all", VALUE_NONE, NULL, "show every path whole, to the object", NULL },
	[OPT_LIMIT] = { "limit", VALUE_NUMBER, "N",
			"show at most N roots, or branches (100; 0 = all)", NULL },
	[OPT_WEAK] = { "weak", VALUE_NONE, NULL, "paths from weak roots too", NULL },
	[OPT_NOSTACKS] = { "nostacks", VALUE_NONE, NULL, "leave out local variables", NULL },
	[OPT_GCGEN] = { "gcgen", VALUE_NUMBER, "N", "as a collection of generation N sees it",
			NULL },
	[OPT_FULL] = { "full", VALUE_NONE, NULL, "fold nothing", NULL },
	[OPT_CONSERVATIVE] = { "conservative", VALUE_NONE, NULL,
			       "take all words on stacks for references", NULL },
	{ NULL, VALUE_NONE, NULL, NULL, NULL },
};

/* What stood above the root that is written now. */
struct place {
	uint32_t kind, thread, frame;
	const char *name; /* in place of a frame; NULL: none */
};

#define KIND_NONE  UINT32_MAX
#define KIND_OLDER (UINT32_MAX - 1)

static uint32_t kind_of(const struct hd_graph *graph, const struct rooted *rooted)
{
	return rooted->root == HD_NONE ? KIND_OLDER : graph->roots[rooted->root].kind;
}

static void write_frame(struct out *out, const struct graph_frame *frame, const char *name)
{
	out_puts(out, "    ");
	if (!frame) {
		name = name ? name : "no frame";
		out_puts(out, "(");
		text_escape(&out->text, name, strlen(name));
		out_puts(out, ")\n");
		return;
	}
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, frame->sp);
	if (frame->ip)
		out_printf(out, " %" PRIx64, frame->ip);
	out_puts(out, " ");
	frame_label(out, frame);
	out_puts(out, "\n");
}

static bool is_same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Headings: of the kind, or of a thread, and of a frame, where they are others than the last. */
static void write_headings(struct call *call, const struct rooted *rooted, struct place *place)
{
	const struct hd_graph *graph = call->graph;
	struct out *out = &call->out;
	struct place here = { .kind = kind_of(graph, rooted), .thread = HD_NONE, .frame = HD_NONE };
	bool on_stack = here.kind == HD_ROOT_STACK && graph->details;
	if (on_stack) {
		here.thread = graph->details[rooted->root].thread;
		here.frame = graph->details[rooted->root].frame;
		here.name = graph->details[rooted->root].name;
	}
	const struct graph_thread *thread = on_stack ? root_thread(graph, rooted->root) : NULL;
	const struct graph_frame *frame = on_stack ? root_frame(graph, rooted->root) : NULL;
	bool same_thread = here.kind == place->kind && here.thread == place->thread;
	if (!same_thread) {
		if (thread) {
			thread_label(out, thread);
		} else if (here.kind == KIND_OLDER) {
			out_styled(out, STYLE_HEAD, "Older generations");
		} else {
			out_styled(out, STYLE_HEAD, "%s",
				   root_kind_heading(graph, (uint8_t)here.kind));
		}
		out_puts(out, ":\n");
	}
	if (thread &&
	    (!same_thread || here.frame != place->frame || !is_same_name(here.name, place->name)))
		write_frame(out, frame, here.name);
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

static void write_older(struct call *call, uint32_t node)
{
	const struct graph_places *places = &call->graph->places;
	unsigned int generation = places->generation(places->arg, node);
	out_styled(&call->out, STYLE_ADDRESS, "%016" PRIx64, graph_id(call->graph, node));
	out_printf(&call->out, " (%s)", generation_title(generation));
}

static void write_root(struct call *call, const struct rooted *rooted)
{
	bool on_stack = kind_of(call->graph, rooted) == HD_ROOT_STACK;
	if (on_stack && graph_is_heap(call->graph)) {
		out_puts(&call->out, "        ");
		slot_label(&call->out, call->graph, rooted->root);
	} else {
		out_puts(&call->out, "    ");
		if (rooted->root == HD_NONE) {
			write_older(call, rooted->node);
		} else {
			root_label(&call->out, call->graph, rooted->root);
		}
	}
	out_puts(&call->out, "\n");
}

/* Would the line of one root differ from that of another by its address alone? */
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
	if (!graph->details)
		return a->root != HD_NONE && b->root != HD_NONE && looks_alike(graph, a, b);
	if (kind_of(graph, a) != HD_ROOT_STACK || kind_of(graph, b) != HD_ROOT_STACK)
		return false;
	const struct graph_root_detail *x = &graph->details[a->root];
	const struct graph_root_detail *y = &graph->details[b->root];
	return a->node == b->node && x->thread == y->thread && x->frame == y->frame &&
	       is_same_name(x->name, y->name);
}

static enum hd_status write_roots(struct call *call, const struct gcroot *gcroot,
				  const struct rooted *list, size_t count, struct place *place,
				  struct path_report *report)
{
	for (size_t i = 0; i < count; i++) {
		TRY(call_check(call));
		write_headings(call, &list[i], place);
		write_root(call, &list[i]);
		if (i + 1 < count && shares_path(call->graph, &list[i], &list[i + 1]))
			continue;
		TRY(path_write(report, &gcroot->tree, list[i].node, call->err));
		out_puts(&call->out, "\n");
	}
	return HD_OK;
}

/* The weak roots from @p from on that one entry stands for. */
static size_t alike_run(const struct call *call, const struct gcroot *gcroot, size_t from)
{
	size_t end = from + 1;
	while (end < gcroot->weak_count &&
	       looks_alike(call->graph, &gcroot->weak[from], &gcroot->weak[end]))
		end++;
	bool folds = !call->options[OPT_FULL].given && end - from >= ALIKE_MIN;
	return folds ? end - from : 1;
}

/* At most @p limit entries; those that are alike are one. */
static enum hd_status write_weak(struct call *call, const struct gcroot *gcroot, uint64_t limit,
				 struct path_report *report)
{
	struct out *out = &call->out;
	struct place place = { .kind = KIND_NONE };
	char number[COUNT_SIZE];
	size_t at = 0;
	if (gcroot->weak_count && limit) {
		out_styled(out, STYLE_HEAD, "Weak roots (they keep nothing alive)");
		out_puts(out, "\n");
	}
	for (; at < gcroot->weak_count && limit; limit--) {
		size_t run = alike_run(call, gcroot, at);
		TRY(write_roots(call, gcroot, &gcroot->weak[at], 1, &place, report));
		if (run > 1) {
			out_printf(out, "    ... and %s more like it (-full lists them)\n\n",
				   format_thousands(run - 1, number));
		}
		at += run;
	}
	if (at < gcroot->weak_count) {
		out_printf(out, "Not shown: %s (-limit 0 shows all).\n",
			   format_count(gcroot->weak_count - at, "weak root", number));
	}
	return HD_OK;
}

static void write_summary(struct call *call, const struct gcroot *gcroot, uint64_t shown)
{
	struct out *out = &call->out;
	char number[COUNT_SIZE];
	uint64_t id = graph_id(call->graph, gcroot->tree.target);
	out_printf(out, "Found %s unique roots", format_thousands(gcroot->strong_count, number));
	if (shown < gcroot->strong_count)
		out_printf(out, ", %s shown (-limit 0 shows all)", format_thousands(shown, number));
	out_puts(out, ".\n");
	if (gcroot->hidden_stack) {
		out_printf(out, "Left out by -nostacks: %s that reach%s %" PRIx64 ".\n",
			   format_count(gcroot->hidden_stack, "stack root", number),
			   gcroot->hidden_stack == 1 ? "es" : "", id);
	}
	if (gcroot->strong_count)
		merged_roots_write(call, "");
	if (gcroot->strong_count || gcroot->hidden_stack)
		return;
	if (!call_is_complete(call)) {
		out_printf(out, "Nothing was found that keeps %" PRIx64 " alive%s.\n", id,
			   gcroot->weak_count ? ", only weak roots see it" : "");
		completeness_write(call, "it need not be dead");
		return;
	}
	if (call->options[OPT_GCGEN].given) {
		out_printf(out,
			   "A collection of generation %" PRIu64
			   " finds nothing that keeps %" PRIx64 " alive: it would free it.\n",
			   call->options[OPT_GCGEN].number, id);
		return;
	}
	out_printf(out, "Nothing keeps %" PRIx64 " alive: it is dead%s.\n", id,
		   gcroot->weak_count ? ", only weak roots see it" : "");
}

static enum hd_status write_text(struct call *call, const struct gcroot *gcroot,
				 struct path_report *report)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT);
	size_t strong = gcroot->strong_count < limit ? gcroot->strong_count : (size_t)limit;
	struct place place = { .kind = KIND_NONE };
	TRY(write_roots(call, gcroot, gcroot->strong, strong, &place, report));
	TRY(write_weak(call, gcroot, limit, report));
	write_summary(call, gcroot, strong);
	return HD_OK;
}

/* The members of an older object in place of a root: see root_json(). */
static void json_older(struct call *call, uint32_t node)
{
	struct json *json = &call->json;
	static const char *const absent[] = { "name",   "container", "address",
					      "thread", "frame",     "slot" };
	json_string(json, "kind", "older");
	json_null(json, "handle");
	json_array(json, "flags");
	json_end(json);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		json_null(json, absent[i]);
	json_address(json, "object", graph_id(call->graph, node));
	json_bool(json, "weak", false);
}

static enum hd_status json_roots(struct call *call, const struct gcroot *gcroot,
				 const struct rooted *list, size_t count, bool paths,
				 struct path_report *report)
{
	for (size_t i = 0; i < count; i++) {
		json_object(&call->json, NULL);
		if (list[i].root == HD_NONE) {
			json_older(call, list[i].node);
		} else {
			root_json(&call->json, call->graph, list[i].root);
		}
		json_array(&call->json, "path");
		if (paths)
			TRY(path_write(report, &gcroot->tree, list[i].node, call->err));
		json_end(&call->json);
		json_end(&call->json);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_json(struct call *call, const struct gcroot *gcroot,
				 struct path_report *report)
{
	uint64_t limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT);
	size_t strong = gcroot->strong_count < limit ? gcroot->strong_count : (size_t)limit;
	size_t weak = gcroot->weak_count < limit ? gcroot->weak_count : (size_t)limit;
	struct json *json = &call->json;
	json_address(json, "object", graph_id(call->graph, gcroot->tree.target));
	json_bool(json, "reachable", gcroot->strong_count || gcroot->hidden_stack);
	json_number(json, "found", gcroot->strong_count);
	json_bool(json, "truncated", strong < gcroot->strong_count || weak < gcroot->weak_count);
	json_array(json, "roots");
	TRY(json_roots(call, gcroot, gcroot->strong, strong, true, report));
	TRY(json_roots(call, gcroot, gcroot->weak, weak, call->options[OPT_WEAK].given, report));
	json_end(json);
	completeness_json(call);
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
static enum hd_status write_left_alone(struct call *call, uint32_t node)
{
	const struct graph_places *places = &call->graph->places;
	struct json *json = &call->json;
	uint64_t id = graph_id(call->graph, node);
	unsigned int generation = places->generation(places->arg, node);
	if (!call->as_json) {
		out_printf(&call->out,
			   "%" PRIx64 " is %s%s: a collection of generation %" PRIu64
			   " leaves it alone.\n",
			   id, generation < GENERATION_LOH ? "in " : "a ",
			   generation_title(generation), call->options[OPT_GCGEN].number);
		return HD_OK;
	}
	json_address(json, "object", id);
	json_bool(json, "reachable", true);
	json_bool(json, "left_alone", true);
	json_number(json, "found", 0);
	json_bool(json, "truncated", false);
	json_array(json, "roots");
	json_end(json);
	return HD_OK;
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
	if (read_generation(call, node, &options))
		return write_left_alone(call, node);
	struct gcroot gcroot;
	TRY(gcroot_init(call->graph, node, &options, &call->job, &gcroot, call->err));
	job_end(&call->job);
	struct path_report report = {
		.graph = call->graph,
		.out = &call->out,
		.json = call->as_json ? &call->json : NULL,
		.job = &call->job,
		.full = call->options[OPT_FULL].given,
	};
	enum hd_status status = HD_OK;
	if (!call->as_json && !call->options[OPT_ALL].given) {
		report.shown = bitmap_alloc(call->graph->node_count);
		if (!report.shown)
			status = fail_nomem(call->err);
	}
	if (status == HD_OK) {
		status = call->as_json ? write_json(call, &gcroot, &report)
				       : write_text(call, &gcroot, &report);
	}
	call->findings = !gcroot.strong_count;
	if (report.shown)
		bitmap_free(report.shown, call->graph->node_count);
	gcroot_deinit(&gcroot);
	return status;
}

static enum hd_status run_tree(struct call *call)
{
	const struct gcroot_tree_options options = {
		.filter = { .type_part = call->options[OPT_TYPE].text,
			    .has_mt = call->options[OPT_MT].given,
			    .mt = call->options[OPT_MT].number },
		.no_stacks = call->options[OPT_NOSTACKS].given,
		.limit = call_limit(call, OPT_LIMIT, DEFAULT_LIMIT),
	};
	return gcroot_tree_write(call, &options);
}

static bool is_about_types(const struct call *call)
{
	return call->options[OPT_TYPE].given || call->options[OPT_MT].given;
}

enum hd_status check_gcroot(struct call *call)
{
	static const uint8_t of_objects[] = { OPT_ALL, OPT_WEAK, OPT_GCGEN, OPT_FULL };
	const struct value *generation = &call->options[OPT_GCGEN];
	bool has_object = call->words[0].given, has_type = is_about_types(call);
	if (has_object && has_type) {
		return fail(
			call->err, HD_ERR_ARGUMENT, 0,
			"gcroot is about one object (ID) or about types (-type, -mt), not both");
	}
	if (!has_object && !has_type)
		return call_usage(call, "an id is missing (or -type TEXT, or -mt ID)");
	for (size_t i = 0; has_type && i < sizeof(of_objects); i++) {
		if (call->options[of_objects[i]].given) {
			return fail(call->err, HD_ERR_ARGUMENT, 0,
				    "-%s is about one object; it does not go with -type and -mt",
				    gcroot_options[of_objects[i]].name);
		}
	}
	if (generation->given && generation->number > GCGEN_WHOLE) {
		return fail(call->err, HD_ERR_ARGUMENT, 0, "-gcgen is 0, 1 or %u, not %" PRIu64,
			    GCGEN_WHOLE, generation->number);
	}
	return HD_OK;
}

enum hd_status run_gcroot(struct call *call)
{
	if (!is_about_types(call))
		return run_object(call);
	TRY(session_graph(call->session, call_is_conservative(call), &call->job, &call->graph,
			  call->err));
	return run_tree(call);
}
