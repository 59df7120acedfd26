/* SPDX-License-Identifier: MIT */
/* info about a core or a process: what it is, what can be read of it, what is missing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clr/module.h"
#include "clr/module_proof.h"
#include "clr/type_lookup.h"
#include "command/core_kind.h"
#include "command/crash.h"
#include "command/heap_range.h"
#include "command/info.h"
#include "target/process_memory.h"
#include "util/alloc.h"

/* See job_workers(). */
#define WORKERS_MAX 64u

/* Totals of a walk of the whole heap. */
struct totals {
	uint64_t objects, bytes, free_count, free_size;
	struct gaps gaps;
	uint8_t *seen; /**< by type index: objects of it were met */
	size_t seen_capacity;
	uint64_t types;
	bool marked; /**< any object is: a GC had begun */
};

static bool see_type(struct totals *totals, size_t index)
{
	if (index >= totals->seen_capacity) {
		size_t capacity = index + 256;
		uint8_t *seen = mem_realloc(totals->seen, capacity, 1);
		if (!seen)
			return false;
		memset(seen + totals->seen_capacity, 0, capacity - totals->seen_capacity);
		totals->seen = seen;
		totals->seen_capacity = capacity;
	}
	totals->seen[index] = 1;
	return true;
}

static enum hd_status count_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	struct totals *totals = arg;
	for (;;) {
		enum walk_result result = walker_next(walker);
		if (result == WALK_END)
			return HD_OK;
		if (result == WALK_DAMAGE) {
			gaps_add(&totals->gaps, walker->heap, &walker->damage);
			continue;
		}
		bool is_free = walker->object.type->is_free;
		if (!is_free && !see_type(totals, walker->object.type->index))
			return fail_nomem(err);
		totals->objects += !is_free;
		totals->marked |= walker->object.mark_bits & 1;
		totals->bytes += is_free ? 0 : walker->object.size;
		totals->free_count += is_free;
		totals->free_size += is_free ? walker->object.size : 0;
	}
}

static enum hd_status count_heap(struct call *call, struct totals *ret)
{
	const struct value none = { 0 };
	struct heap_range range;
	TRY(heap_range_init(&range, call, &none, &none, &none, &none, &none));
	struct totals totals[WORKERS_MAX] = { 0 };
	void *args[WORKERS_MAX];
	for (size_t i = 0; i < WORKERS_MAX; i++)
		args[i] = &totals[i];
	enum hd_status status = heap_walk(call->heap, range.segments, range.count, &call->job,
					  "Scanning heap", count_segment, args, call->err);
	job_end(&call->job);
	heap_range_deinit(&range);
	for (size_t i = 0; i < type_count(call->heap->clr); i++) {
		bool seen = false;
		for (size_t j = 0; j < WORKERS_MAX && !seen; j++)
			seen = i < totals[j].seen_capacity && totals[j].seen[i];
		ret->types += seen;
	}
	for (size_t i = 0; i < WORKERS_MAX; i++) {
		mem_free(totals[i].seen);
		ret->objects += totals[i].objects;
		ret->bytes += totals[i].bytes;
		ret->free_count += totals[i].free_count;
		ret->free_size += totals[i].free_size;
		ret->marked |= totals[i].marked;
		gaps_merge(&ret->gaps, &totals[i].gaps);
	}
	gaps_settle(&ret->gaps, call->heap);
	return status;
}

/* What the walk met goes to the findings: they are what info is about. */
static void add_gaps(struct call *call, const struct totals *totals)
{
	struct findings *findings = &call->session->target->findings;
	const struct gaps *gaps = &totals->gaps;
	if (!call->heap->is_walkable) {
		const char *advice, *reason = no_heap_reason(call->heap, &advice);
		findings_add(findings, "no-heap", advice, "%s", reason);
	}
	if (gaps->missing)
		heap_report_missing(call->heap, gaps->missing_bytes, gaps->missing);
	if (gaps->damaged)
		heap_report_gaps(call->heap, gaps->damaged);
}

/* The standalone GC that is loaded, or NULL. */
static const char *standalone_gc(const struct target *target)
{
	for (size_t i = 0; i < target->module_count; i++) {
		const char *slash = strrchr(target->modules[i].path, '/');
		const char *name = slash ? slash + 1 : target->modules[i].path;
		if (strncmp(name, "libclrgc", strlen("libclrgc")) == 0)
			return name;
	}
	return NULL;
}

static const char *layout_source(const struct clr *clr)
{
	return clr->has_descriptor ? "the runtime's contract descriptor" : "tables for its version";
}

static void text_target(struct call *call)
{
	const struct target *target = call->session->target;
	struct out *out = &call->out;
	char number[COUNT_SIZE];
	if (target->kind == TARGET_CORE) {
		out_puts(out, "File:        ");
		text_escape(&out->text, call->session->path, strlen(call->session->path));
		out_printf(out, "\nKind:        ELF core, %s bytes%s%s, written by %s (%s)\n",
			   format_thousands(target->file_size, number),
			   target->is_compressed ? ", unpacked from zstd" : "",
			   target->is_truncated ? ", truncated" : "",
			   producer_name(target->producer), content_text(target, call->heap));
	} else {
		if (target->is_shown_core) {
			out_puts(out, "File:        ");
			text_escape(&out->text, call->session->path, strlen(call->session->path));
			out_puts(out, "\n");
		}
		out_printf(out, "Kind:        %s%s%s\n", target->is_shown_core ? "core" : "process",
			   target->route ? ", read by " : "", target->route ? target->route : "");
	}
	out_printf(out, "Process:     %d", target->pid);
	if (target->thread_count)
		out_printf(out, ", %s", format_count(target->thread_count, "thread", number));
	if (target->signal)
		out_printf(out, ", signal %d", target->signal);
	out_puts(out, "\n");
	if (target->stopped_seconds > 0) {
		out_printf(out, "Stopped:     for %.1f ms", target->stopped_seconds * 1e3);
		if (target->stops > 1)
			out_printf(out, ", the last of %u times", target->stops);
		out_puts(out, "\n");
	}
	if (target->copy) {
		char left[32];
		out_printf(
			out,
			"Not copied:  %s of native memory that has no part in the heap (--copy-all "
			"copies it)\n",
			format_bytes(process_copy_left(target->copy), left));
	}
}

static void text_runtime(struct call *call, const struct totals *totals)
{
	const struct heap *heap = call->heap;
	const struct clr *clr = heap->clr;
	struct out *out = &call->out;
	char number[27];
	const char *version = *clr->version ? clr->version : "(unknown version)";
	out_puts(out, "Runtime:     .NET ");
	text_escape(&out->text, version, strlen(version));
	if (clr->is_single_file)
		out_puts(out, ", single-file");
	if (*clr->build_id)
		out_printf(out, ", build-id %s", clr->build_id);
	out_puts(out, "\n             ");
	text_escape(&out->text, clr->module->path, strlen(clr->module->path));
	out_printf(out, "\nLayout:      %s (info -layout lists it)\n", layout_source(clr));
	const char *gc = standalone_gc(clr->target);
	out_printf(out, "GC:          %s, %s, %" PRIu32 " heap%s%s%s; %s\n",
		   clr->gc.is_server ? "server" : "workstation",
		   clr->gc.has_regions ? "regions" : "segments", heap->heap_count,
		   heap->heap_count == 1 ? "" : "s", gc ? ", standalone " : "", gc ? gc : "",
		   heap->gc_in_progress ? "a collection was moving objects"
					: "no collection was moving objects");
	out_printf(out, "Objects:     %s", format_thousands(totals->objects, number));
	out_printf(out, " (%s bytes)\n", format_thousands(totals->bytes, number));
	out_printf(out, "Free:        %s", format_thousands(totals->free_count, number));
	out_printf(out, " (%s bytes)\n", format_thousands(totals->free_size, number));
	out_printf(out, "Types:       %s\n", format_thousands(totals->types, number));
}

/* Where findings may still come from. */
static bool references_are_known(const struct call *call)
{
	const struct hd_graph *graph = call->session->graph;
	return graph && (graph_has_forward(graph) || graph->reverse.offsets);
}

static void text_findings(struct call *call)
{
	const struct findings *findings = &call->session->target->findings;
	struct out *out = &call->out;
	if (!findings->count)
		out_puts(out, "Findings:    none\n");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *row = &findings->rows[i];
		out_printf(out, "%s%s: ", i ? "             " : "Findings:    ", row->kind);
		text_escape(&out->text, row->detail, strlen(row->detail));
		out_puts(out, "\n");
		if (row->advice) {
			out_puts(out, "             -> ");
			text_escape(&out->text, row->advice, strlen(row->advice));
			out_puts(out, "\n");
		}
	}
}

static void json_runtime(struct json *json, const struct heap *heap)
{
	const struct clr *clr = heap->clr;
	json_object(json, "runtime");
	json_string(json, "version", clr->version);
	json_string(json, "build_id", clr->build_id);
	json_string(json, "path", clr->module->path);
	json_bool(json, "single_file", clr->is_single_file);
	json_string(json, "layout", clr->has_descriptor ? "descriptor" : "table");
	json_string(json, "gc", clr->gc.is_server ? "server" : "workstation");
	json_string(json, "standalone_gc", standalone_gc(clr->target));
	json_number(json, "heaps", heap->heap_count);
	json_bool(json, "regions", clr->gc.has_regions);
	json_bool(json, "gc_in_progress", heap->gc_in_progress);
	json_end(json);
}

static void json_core(struct json *json, const struct target *target, const struct heap *heap)
{
	json_object(json, "core");
	json_string(json, "producer", producer_name(target->producer));
	json_string(json, "content", content_name(target, heap));
	json_number(json, "size", target->file_size);
	json_bool(json, "truncated", target->is_truncated);
	json_bool(json, "compressed", target->is_compressed);
	json_number(json, "missing_bytes", target->missing_bytes);
	json_end(json);
}

static void json_findings(struct json *json, const struct findings *findings)
{
	json_array(json, "missing");
	for (size_t i = 0; i < findings->count; i++) {
		if (strstr(findings->rows[i].kind, "missing"))
			json_string(json, NULL, findings->rows[i].detail);
	}
	json_end(json);
	json_array(json, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		json_object(json, NULL);
		json_string(json, "kind", findings->rows[i].kind);
		json_string(json, "detail", findings->rows[i].detail);
		json_string(json, "advice", findings->rows[i].advice);
		json_end(json);
	}
	json_end(json);
}

/* A signal in a thread that collects is how a damaged heap mostly shows. */
static void add_crash(struct call *call, const struct crash *crash, bool any_marks)
{
	if (crash_is_collecting(call, crash, any_marks)) {
		findings_add(&call->session->target->findings, "gc-crash",
			     "verifyheap shows what is damaged",
			     "the process ended by %s in a thread that was collecting garbage: "
			     "mostly the heap is damaged then",
			     target_crash_name(crash->fault.signal));
	}
}

static enum hd_status write_json(struct call *call, const struct totals *totals,
				 const struct crash *crash)
{
	const struct target *target = call->session->target;
	const struct heap *heap = call->heap;
	struct json *json = &call->json;
	bool is_core = target->kind == TARGET_CORE || target->is_shown_core;
	json_string(json, "kind", is_core ? "core" : "process");
	if (target->kind == TARGET_CORE)
		json_core(json, target, heap);
	json_string(json, "route", target->route);
	json_number(json, "pid", (uint64_t)target->pid);
	json_number(json, "threads", target->thread_count);
	json_number(json, "signal", (uint64_t)target->signal);
	TRY(crash_write_data(call, crash, totals->marked));
	json_number(json, "stopped_ms", (uint64_t)(target->stopped_seconds * 1e3 + 0.5));
	if (target->stops)
		json_number(json, "stops", target->stops);
	if (target->kind == TARGET_PROCESS)
		json_number(json, "not_copied", target->copy ? process_copy_left(target->copy) : 0);
	if (heap) {
		json_runtime(json, heap);
	} else {
		json_null(json, "runtime");
	}
	json_bool(json, "walkable", heap && heap->is_walkable && !heap->gc_in_progress);
	json_number(json, "objects", totals->objects);
	json_number(json, "bytes", totals->bytes);
	json_number(json, "types", totals->types);
	/* Those of the graph, which walks the heap again: once a command has made it. */
	if (call->session->graph) {
		info_json_roots(json, call->session->graph);
	} else {
		json_null(json, "roots");
	}
	json_object(json, "free");
	json_number(json, "count", totals->free_count);
	json_number(json, "size", totals->free_size);
	json_end(json);
	json_object(json, "examined");
	json_bool(json, "roots", call->session->roots);
	json_bool(json, "references", references_are_known(call));
	json_end(json);
	json_findings(json, &target->findings);
	return HD_OK;
}

static void write_layout(struct call *call)
{
	const struct layout *layout = &call->heap->clr->layout;
	if (call->as_json) {
		json_array(&call->json, "layout");
	} else {
		out_styled(&call->out, STYLE_HEAD, "%-44s %8s  %s", "Field", "Offset", "Origin");
		out_puts(&call->out, "\n");
	}
	for (size_t i = 0; i < L_COUNT && !call->out.stopped; i++) {
		const char *type, *field;
		layout_name((enum layout_field)i, &type, &field);
		bool known = layout_has(layout, (enum layout_field)i);
		const char *origin = layout_origin_name(layout->origins[i]);
		char name[96], offset[16] = "-";
		(void)snprintf(name, sizeof(name), "%s.%s", type, field);
		if (known)
			(void)snprintf(offset, sizeof(offset), "%" PRId32, layout->offsets[i]);
		if (!call->as_json) {
			out_printf(&call->out, "%-44s %8s  %s\n", name, offset, origin);
			continue;
		}
		json_object(&call->json, NULL);
		json_string(&call->json, "name", name);
		if (known) {
			json_number(&call->json, "offset", (uint64_t)layout->offsets[i]);
		} else {
			json_null(&call->json, "offset");
		}
		json_string(&call->json, "origin", origin);
		json_end(&call->json);
	}
	if (call->as_json)
		json_end(&call->json);
}

/*
 * Ask for the metadata of every module, and for all types by name, as commands do: what is missing becomes
 * findings.  Types may be of modules that no list has.
 */
static void check_modules(struct call *call)
{
	struct clr *clr = call->heap->clr;
	struct module *const *modules = NULL;
	size_t count = 0;
	struct hd_error err;
	if (module_list(clr, &modules, &count, &err) != HD_OK) {
		findings_add(&clr->target->findings, "modules-missing", NULL,
			     "the list of modules cannot be read: %s", err.message);
		return;
	}
	for (size_t i = 0; i < count; i++)
		(void)module_find(clr, modules[i]->address);
	(void)type_by_name(clr, "System.Object", 0);
	module_prove_all(clr);
}

/* Read the roots, so that what is missing of them becomes findings. */
static enum hd_status check_roots(struct call *call)
{
	const struct root_set *roots;
	struct hd_error err = { 0 };
	if (call->session->roots || !call->heap->is_walkable)
		return HD_OK;
	enum hd_status status = session_roots(call->session, false, &call->job, &roots, &err);
	job_end(&call->job);
	if (status == HD_ERR_CANCELLED || status == HD_ERR_NOMEM) {
		*call->err = err;
		return status;
	}
	if (status != HD_OK) {
		findings_add(&call->session->target->findings, "no-roots", NULL,
			     "the roots cannot be read: %s", err.message);
	}
	return HD_OK;
}

enum hd_status run_info_target(struct call *call, bool layout)
{
	struct target *target = call->session->target;
	enum hd_status status = session_heap(call->session, &call->job, &call->heap, call->err);
	if (status == HD_ERR_CANCELLED || status == HD_ERR_NOMEM || (layout && status != HD_OK))
		return status;
	if (layout) {
		write_layout(call);
		return HD_OK;
	}
	struct totals totals = { 0 };
	struct crash crash = { 0 };
	if (status == HD_OK) {
		TRY(count_heap(call, &totals));
		crash_find(call, &crash);
		add_crash(call, &crash, totals.marked);
		add_gaps(call, &totals);
		check_modules(call);
		TRY(check_roots(call));
	} else {
		findings_add(&target->findings, "no-runtime", NULL, "%s", call->err->message);
		*call->err = (struct hd_error){ 0 };
	}
	target_add_file_findings(target);
	session_warned(call->session);
	call->findings = target->findings.count > 0;
	if (call->as_json)
		return write_json(call, &totals, &crash);
	text_target(call);
	if (call->heap)
		text_runtime(call, &totals);
	crash_write_line(call, &crash, totals.marked);
	if (call->session->graph)
		info_text_roots(&call->out, call->session->graph);
	if (call->heap && call->heap->is_walkable && !references_are_known(call)) {
		out_puts(&call->out,
			 "References:  not examined yet (verifyheap, gcroot and others do)\n");
	}
	text_findings(call);
	return HD_OK;
}
