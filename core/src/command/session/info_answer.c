/* SPDX-License-Identifier: MIT */
/* Makes the answer of info about a core or a process. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/session/core_kind.h"
#include "command/session/info.h"
#include "graph/heap_graph.h"
#include "runtime/coreclr/layout_access.h"
#include "targets/process/process_memory.h"
#include "targets/target_modules.h"

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

#define TARGET_INFO_LIST(X)                                                                        \
	X(TARGET_INFO_KIND, "kind", NULL, KIND_TEXT, 0, 0, "core or process")                      \
	X(TARGET_INFO_PRODUCER, "core.producer", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,               \
	  "what has written the core")                                                             \
	X(TARGET_INFO_CONTENT, "core.content", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                 \
	  "what is in it: full, heap, mini or triage")                                             \
	X(TARGET_INFO_SIZE, "core.size", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT, "bytes of the file") \
	X(TARGET_INFO_TRUNCATED, "core.truncated", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,             \
	  "is its end missing?")                                                                   \
	X(TARGET_INFO_COMPRESSED, "core.compressed", NULL, KIND_FLAG, 0, LOOK_LEAVE_OUT,           \
	  "was it unpacked?")                                                                      \
	X(TARGET_INFO_MISSING, "core.missing_bytes", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,          \
	  "bytes that its headers name, and that it lacks")                                        \
	X(TARGET_INFO_ROUTE, "route", NULL, KIND_TEXT, 0, 0, "how it is read")                     \
	X(TARGET_INFO_PID, "pid", NULL, KIND_NUMBER, 0, 0, "id of the process")                    \
	X(TARGET_INFO_THREADS, "threads", NULL, KIND_NUMBER, 0, 0, "threads of the system")        \
	X(TARGET_INFO_SIGNAL, "signal", NULL, KIND_NUMBER, 0, 0, "the signal that ended it, or 0") \
	X(TARGET_INFO_PATH, .heading = "path", .kind = KIND_TEXT) /**< text only, as the next */   \
	X(TARGET_INFO_CONTENT_TEXT, .heading = "content_text", .kind = KIND_TEXT)

COLUMNS(target, TARGET_INFO_COLUMNS, TARGET_INFO_LIST);

static void write_target(struct call *call)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(target_columns),
		.lines =
			"[=path File:        {path}\n]"
			"[=core.producer Kind:        ELF core, {core.size:,} bytes[?core.compressed , "
			"unpacked from zstd][?core.truncated , truncated], written by {core.producer} "
			"({content_text})|Kind:        {kind}[, read by {route}]]\n"
			"Process:     {pid}[?threads , {threads:*thread}][?signal , signal {signal}]\n"
	};
	const struct target *target = call->session->target;
	bool is_file = target->kind == TARGET_CORE,
	     is_core = is_file || target->debugger.is_shown_core;
	struct cell cells[TARGET_INFO_COLUMNS] = {
		[TARGET_INFO_KIND] = cell_string(is_core ? "core" : "process"),
		[TARGET_INFO_ROUTE] = cell_string(target->debugger.route),
		[TARGET_INFO_PID] = cell_number((uint64_t)target->pid),
		[TARGET_INFO_THREADS] = cell_number(target->threads.count),
		[TARGET_INFO_SIGNAL] = cell_number((uint64_t)target->core.signal),
		[TARGET_INFO_PATH] = cell_string(is_core ? call->session->path : NULL),
	};
	if (is_file) {
		cells[TARGET_INFO_PRODUCER] = cell_string(producer_name(target->core.producer));
		cells[TARGET_INFO_CONTENT] = cell_string(content_name(target, call->heap));
		cells[TARGET_INFO_SIZE] = cell_number(target->core.file_size);
		cells[TARGET_INFO_TRUNCATED] = cell_flag(target->core.is_truncated);
		cells[TARGET_INFO_COMPRESSED] = cell_flag(target->core.is_compressed);
		cells[TARGET_INFO_MISSING] = cell_number(target->core.missing_bytes);
		cells[TARGET_INFO_CONTENT_TEXT] = cell_string(content_text(target, call->heap));
	}
	answer_record(&call->answer, &schema, cells);
}

#define STOP_LIST(X)                                                                            \
	X(STOP_MS, "stopped_ms", NULL, KIND_NUMBER, 0, 0,                                       \
	  "how long the process was stopped, in milliseconds")                                  \
	X(STOP_LIMIT, "stop_limit_ms", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                    \
	  "after how many milliseconds it would have been let go in any case")                  \
	X(STOP_COUNT, "stops", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "how often it did")        \
	X(STOP_NOT_COPIED, "not_copied", NULL, KIND_BYTES, 0, LOOK_LEAVE_OUT,                   \
	  "native memory that was left out of the copy")                                        \
	X(STOP_SECONDS, .heading = "seconds", .kind = KIND_REAL) /**< text only, as the next */ \
	X(STOP_HAS_COPY, .heading = "has_copy", .kind = KIND_FLAG)

COLUMNS(stop, STOP_COLUMNS, STOP_LIST);

static void write_stop(struct call *call)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(stop_columns),
		.lines =
			"[?seconds Stopped:     for {seconds} ms[?stops , the last of {stops} times][ "
			"(at most {stop_limit_ms} s: --max-stop)]\n]"
			"[?has_copy Not copied:  {not_copied:b} of native memory that has no part in the "
			"heap (--copy-all copies it)\n]"
	};
	const struct target *target = call->session->target;
	bool is_process = target->kind == TARGET_PROCESS;
	const double seconds = target->process.stopped_seconds;
	char ms[40], limit[NUMBER_SIZE];
	(void)snprintf(ms, sizeof(ms), "%.1f", seconds * 1e3);
	(void)snprintf(limit, sizeof(limit), "%" PRIu64, (uint64_t)target->options.stop_seconds);
	const struct cell cells[STOP_COLUMNS] = {
		[STOP_MS] = cell_number((uint64_t)(seconds * 1e3 + 0.5)),
		[STOP_LIMIT] = { .is_there = target->process.stops &&
					     !findings_has(&target->findings, FINDING_HELD),
				 .shown = limit,
				 .number = target->options.stop_seconds * UINT64_C(1000) },
		[STOP_COUNT] = { .is_there = target->process.stops,
				 .shown = target->process.stops > 1 ? NULL : "",
				 .number = target->process.stops },
		[STOP_NOT_COPIED] = { .is_there = is_process,
				      .number = target->process.copy
							? process_copy_left(target->process.copy)
							: 0 },
		[STOP_SECONDS] = cell_shown(cell_real(seconds), seconds > 0 ? ms : ""),
		[STOP_HAS_COPY] = cell_flag(target->process.copy),
	};
	answer_record(&call->answer, &schema, cells);
}

#define VERSIONS_SIZE 256u

#define RUNTIME_LIST(X)                                                                          \
	X(RUNTIME_VERSION, "runtime.version", NULL, KIND_TEXT, 0, LOOK_WHOLE, "version of .NET") \
	X(RUNTIME_BUILD_ID, "runtime.build_id", NULL, KIND_TEXT, 0, 0,                           \
	  "build-id of libcoreclr.so")                                                           \
	X(RUNTIME_FLAVOR, "runtime.flavor", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                  \
	  "NativeAOT, if it is not CoreCLR")                                                     \
	X(RUNTIME_LIBC, "runtime.libc", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                      \
	  "the C library that it is made for, if that is musl (Alpine)")                         \
	X(RUNTIME_PATH, "runtime.path", NULL, KIND_TEXT, 0, 0, "the file of the runtime")        \
	X(RUNTIME_SINGLE_FILE, "runtime.single_file", NULL, KIND_FLAG, 0, 0,                     \
	  "is it in the program's own file?")                                                    \
	X(RUNTIME_LAYOUT, "runtime.layout", NULL, KIND_TEXT, 0, 0,                               \
	  "where offsets are from: descriptor or table")                                         \
	X(RUNTIME_PROVEN, "runtime.proven", NULL, KIND_FLAG, 0, 0,                               \
	  "was this build of it compared with other tools?")                                     \
	X(RUNTIME_PROVEN_VERSIONS, "runtime.proven_versions", NULL, KIND_TEXT, 0, 0,             \
	  "versions of .NET for this processor and C library that were")                         \
	X(RUNTIME_GC, "runtime.gc", NULL, KIND_TEXT, 0, 0, "server or workstation")              \
	X(RUNTIME_STANDALONE, "runtime.standalone_gc", NULL, KIND_TEXT, 0, 0,                    \
	  "file of the GC that was loaded instead")                                              \
	X(RUNTIME_HEAPS, "runtime.heaps", NULL, KIND_NUMBER, 0, 0, "logical heaps")              \
	X(RUNTIME_REGIONS, "runtime.regions", NULL, KIND_FLAG, 0, 0,                             \
	  "has the heap regions, not segments?")                                                 \
	X(RUNTIME_COLLECTING, "runtime.gc_in_progress", NULL, KIND_FLAG, 0, 0,                   \
	  "was a garbage collection moving objects?")                                            \
	X(RUNTIME_WALKABLE, "walkable", NULL, KIND_FLAG, 0, 0, "can the heap be walked?")        \
	X(RUNTIME_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0, "how many objects it has")        \
	X(RUNTIME_BYTES, "bytes", NULL, KIND_BYTES, 0, 0, "their bytes")                         \
	X(RUNTIME_TYPES, "types", NULL, KIND_NUMBER, 0, 0, "how many types they have")           \
	X(RUNTIME_FREE_COUNT, .heading = "free_count",                                           \
	  .kind = KIND_NUMBER) /**< text only, as the next */                                    \
	X(RUNTIME_FREE_SIZE, .heading = "free_size", .kind = KIND_BYTES)                         \
	X(RUNTIME_LAYOUT_TEXT, .heading = "layout_text", .kind = KIND_TEXT)

COLUMNS(runtime, RUNTIME_COLUMNS, RUNTIME_LIST);

/* @param versions Memory for a text that a cell has. */
static void runtime_cells(const struct heap *heap, struct cell cells[RUNTIME_COLUMNS],
			  char versions[VERSIONS_SIZE])
{
	const struct runtime *runtime = heap->runtime;
	const struct target *target = runtime_target(runtime);
	bool has_descriptor = coreclr_has_descriptor(runtime);
	cells[RUNTIME_VERSION] = cell_string(runtime_version(runtime));
	cells[RUNTIME_FLAVOR] = cell_string(runtime_flavor(runtime));
	if (target_musl(target))
		cells[RUNTIME_LIBC] = cell_string("musl");
	cells[RUNTIME_BUILD_ID] = cell_string(runtime_build_id(runtime));
	cells[RUNTIME_PATH] = cell_string(runtime_path(runtime));
	cells[RUNTIME_SINGLE_FILE] = cell_flag(runtime_is_single_file(runtime));
	cells[RUNTIME_GC] = cell_string(runtime_has_server_gc(runtime) ? "server" : "workstation");
	cells[RUNTIME_STANDALONE] = cell_string(standalone_gc(target));
	cells[RUNTIME_HEAPS] = cell_number(heap->heap_count);
	cells[RUNTIME_REGIONS] = cell_flag(runtime_has_regions(runtime));
	cells[RUNTIME_COLLECTING] = cell_flag(heap->gc_in_progress);
	/* Only CoreCLR has a layout. */
	if (!coreclr_has_field(runtime, L_MT_FLAGS))
		return;
	cells[RUNTIME_LAYOUT] = cell_string(has_descriptor ? "descriptor" : "table");
	layout_build_versions(target->arch, target_musl(target), versions, VERSIONS_SIZE);
	cells[RUNTIME_PROVEN] = cell_flag(layout_build_find(runtime_build_id(runtime)) != NULL);
	if (*versions)
		cells[RUNTIME_PROVEN_VERSIONS] = cell_string(versions);
	cells[RUNTIME_LAYOUT_TEXT] = cell_string(
		has_descriptor ? "the runtime's contract descriptor" : "tables for its version");
}

static void write_runtime(struct call *call, const struct heap_totals *totals)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(runtime_columns),
		.lines =
			"[=runtime.version Runtime:     .NET [?runtime.version "
			"{runtime.version}|(unknown version)][?runtime.single_file , "
			"single-file][=runtime.flavor , {runtime.flavor}][=runtime.libc , for {runtime.libc}][?runtime.build_id , build-id {runtime.build_id}]\n"
			"             {runtime.path}\n"
			"[=layout_text Layout:      {layout_text} (info -layout lists it)\n"
			"Proven:      [?runtime.proven this build was compared with other tools|this "
			"build was not compared with other tools][=runtime.proven_versions ; builds of "
			".NET {runtime.proven_versions} were]\n]"
			"GC:          {runtime.gc}, [?runtime.regions regions|segments], "
			"{runtime.heaps:+heap}[, standalone {runtime.standalone_gc}]; "
			"[?runtime.gc_in_progress a collection was moving objects|no collection was "
			"moving objects]\n"
			"Objects:     {objects:,} ({bytes:,} bytes)\n"
			"Free:        {free_count:,} ({free_size:,} bytes)\n"
			"Types:       {types:,}\n]"
	};
	const struct heap *heap = call->heap;
	char versions[VERSIONS_SIZE];
	struct cell cells[RUNTIME_COLUMNS] = {
		[RUNTIME_WALKABLE] = cell_flag(heap && heap->is_walkable && !heap->gc_in_progress),
		[RUNTIME_OBJECTS] = cell_number(totals->objects),
		[RUNTIME_BYTES] = cell_number(totals->bytes),
		[RUNTIME_TYPES] = cell_number(totals->types),
		[RUNTIME_FREE_COUNT] = cell_number(totals->free_count),
		[RUNTIME_FREE_SIZE] = cell_number(totals->free_size),
	};
	if (heap)
		runtime_cells(heap, cells, versions);
	answer_record(&call->answer, &schema, cells);
}

/* The findings of the graph, which walks the heap again: they are known once a command has made it. */
static void write_root_count(struct call *call)
{
	static const struct column columns[] = {
		{ "roots", NULL, KIND_NUMBER, 0, 0, "how many there are, once they were read" },
	};
	static const struct schema schema = { SCHEMA_COLUMNS(columns) };
	if (call->session->graph) {
		info_roots(&call->answer, call->session->graph);
	} else {
		answer_data(&call->answer, &schema, (const struct cell[]){ { 0 } });
	}
}

#define EXAMINED_LIST(X)                                                                   \
	X(EXAMINED_FREE_COUNT, "free.count", NULL, KIND_NUMBER, 0, 0, "Free blocks")       \
	X(EXAMINED_FREE_SIZE, "free.size", NULL, KIND_BYTES, 0, 0, "their bytes")          \
	X(EXAMINED_ROOTS, "examined.roots", NULL, KIND_FLAG, 0, 0, "were the roots read?") \
	X(EXAMINED_REFERENCES, "examined.references", NULL, KIND_FLAG, 0, 0,               \
	  "were the references read?")                                                     \
	X(EXAMINED_HEAP, .heading = "heap", .kind = KIND_FLAG) /**< text only */

COLUMNS(examined, EXAMINED_COLUMNS, EXAMINED_LIST);

static void write_examined(struct call *call, const struct heap_totals *totals)
{
	static const struct schema schema = {
		SCHEMA_COLUMNS(examined_columns),
		.lines =
			"[?heap [?examined.references |References:  not examined yet (verifyheap, gcroot "
			"and others do)\n]]"
	};
	const struct hd_graph *graph = call->session->graph;
	const struct cell cells[EXAMINED_COLUMNS] = {
		[EXAMINED_FREE_COUNT] = cell_number(totals->free_count),
		[EXAMINED_FREE_SIZE] = cell_number(totals->free_size),
		[EXAMINED_ROOTS] = cell_flag(call->session->roots),
		[EXAMINED_REFERENCES] =
			cell_flag(graph && (graph_has_forward(graph) || graph->reverse.offsets)),
		[EXAMINED_HEAP] = cell_flag(call->heap && call->heap->is_walkable),
	};
	answer_record(&call->answer, &schema, cells);
}

#define TARGET_FINDING_LIST(X)                                                                 \
	X(TARGET_FINDING_KIND, "kind", NULL, KIND_TEXT, 0, 0, "what it is, in a word")         \
	X(TARGET_FINDING_DETAIL, "detail", NULL, KIND_TEXT, 0, 0, "what it is, as a sentence") \
	X(TARGET_FINDING_ADVICE, "advice", NULL, KIND_TEXT, 0, 0, "what can be done")          \
	X(TARGET_FINDING_LABEL, .heading = "label", .kind = KIND_TEXT) /**< text only */

COLUMNS(finding, TARGET_FINDING_COLUMNS, TARGET_FINDING_LIST);

static void write_missing_parts(struct answer *answer, const struct findings *findings)
{
	answer_table(answer, &info_missing_schema,
		     &(const struct table_options){ .limit = UINT64_MAX, .no_heading = true });
	for (size_t i = 0; i < findings->count; i++) {
		const struct cell cell = cell_string(findings->rows[i].detail);
		if (finding_traits(findings->rows[i].kind)->is_gap)
			answer_row(answer, &cell);
	}
	(void)answer_table_end(answer);
}

static void write_target_findings(struct answer *answer, const struct findings *findings)
{
	static const struct schema schema = {
		.name = "findings",
		SCHEMA_COLUMNS(finding_columns),
		.lines = "{label}{kind}: {detail}\n[             -> {advice}\n]"
	};
	write_missing_parts(answer, findings);
	if (!findings->count)
		answer_remark(answer, "Findings:    none\n");
	answer_table(answer, &schema, NULL);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *row = &findings->rows[i];
		const struct cell cells[TARGET_FINDING_COLUMNS] = {
			[TARGET_FINDING_KIND] = cell_string(finding_name(row->kind)),
			[TARGET_FINDING_DETAIL] = cell_string(row->detail),
			[TARGET_FINDING_ADVICE] = cell_string(row->advice),
			[TARGET_FINDING_LABEL] = cell_string(i ? INFO_BLANK : "Findings:    "),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}

enum hd_status write_target_info(struct call *call, const struct heap_totals *totals,
				 const struct crash *crash)
{
	write_target(call);
	TRY(crash_write_data(call, crash, totals->marked));
	write_stop(call);
	TRY(info_memory(call));
	write_runtime(call, totals);
	crash_write_line(call, crash, totals->marked);
	write_root_count(call);
	write_examined(call, totals);
	write_target_findings(&call->answer, &call->session->target->findings);
	return HD_OK;
}

#define LAYOUT_LIST(X)                                                                    \
	X(LAYOUT_NAME, "name", NULL, KIND_TEXT, 0, 0, "structure and field")              \
	X(LAYOUT_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "the offset, if it is known") \
	X(LAYOUT_ORIGIN, "origin", NULL, KIND_TEXT, 0, 0, "where that is from")

COLUMNS(layout, LAYOUT_COLUMNS, LAYOUT_LIST);

void write_layout_info(struct answer *answer, const struct runtime *runtime)
{
	static const struct schema schema = {
		.name = "layout",
		SCHEMA_COLUMNS(layout_columns),
		.heading = "Field                                          Offset  Origin",
		.lines = "{name:-44} {offset:8?-}  {origin}\n",
	};
	const struct layout *layout = coreclr_layout(runtime);
	answer_table(answer, &schema, NULL);
	for (size_t i = 0; i < L_COUNT && !answer_is_stopped(answer); i++) {
		const char *type, *field;
		char name[96];
		layout_name((enum layout_field)i, &type, &field);
		(void)snprintf(name, sizeof(name), "%s.%s", type, field);
		const struct cell cells[LAYOUT_COLUMNS] = {
			[LAYOUT_NAME] = cell_string(name),
			[LAYOUT_OFFSET] = { .is_there = layout_has(layout, (enum layout_field)i),
					    .number = (uint64_t)layout->offsets[i] },
			[LAYOUT_ORIGIN] = cell_string(layout_origin_name(layout->origins[i])),
		};
		answer_row(answer, cells);
	}
	(void)answer_table_end(answer);
}
