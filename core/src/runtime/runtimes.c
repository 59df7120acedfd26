/* SPDX-License-Identifier: MIT */
/* The runtimes that are looked for in a target, and what is asked about each of them alike. */
#include "mem/memory.h"
#include "runtime/code.h"
#include "runtime/runtime_base.h"
#include "runtime/several.h"
#include "runtime/type.h"
#include "targets/target.h"
#include "util/alloc.h"

/* In this order; the first place is for one that tests make up. */
static const struct runtime_ops *runtimes[] = { NULL, &nativeaot_ops, &coreclr_ops };

#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

void runtime_set_made_up(const struct runtime_ops *ops)
{
	runtimes[0] = ops;
}

static const char *gc_advice(const struct target *target)
{
	if (target_crashed_thread(target))
		return "verifyheap tells what is damaged from what was being moved";
	if (target->kind == TARGET_CORE)
		return "take another dump when no GC runs, or read its totals as too low";
	/* A debugger holds it. */
	if (target->debugger.route)
		return "let the process run on for a moment, then run the command again";
	return "run the command again, or read its totals as too low";
}

static void report_gc(const struct runtime *runtime)
{
	struct findings *findings = &runtime->target->findings;
	if (runtime->target->process.stops > 1) {
		findings_add(
			findings, FINDING_GC_IN_PROGRESS,
			"open it again when it collects garbage less often, or read its totals as too low",
			"a GC was moving objects each of the %u times that the process was "
			"stopped: parts of the heap cannot be walked, which is not damage",
			runtime->target->process.stops);
	} else {
		bool crashed = target_crashed_thread(runtime->target);
		findings_add(findings, FINDING_GC_IN_PROGRESS, gc_advice(runtime->target),
			     "a GC was moving objects when the %s: parts of the heap cannot be "
			     "walked%s",
			     crashed                                ? "process crashed"
			     : runtime->target->kind == TARGET_CORE ? "dump was taken"
								    : "process was stopped",
			     crashed ? "" : ", which is not damage");
	}
}

/* Read the rest of what every runtime has. */
static enum hd_status read_base(struct runtime *runtime, struct hd_error *err)
{
	if (runtime->gc.structures_invalid != 0)
		report_gc(runtime);
	TRY(runtime_type_table_create(&runtime->types, err));
	runtime->threads.pending = -1;
	if (runtime->ops->threads)
		TRY(runtime->ops->threads(runtime, err));
	return runtime_threads_sort(runtime, err);
}

/* The message of the last one is told: CoreCLR says what it looked for. */
enum hd_status runtime_open(struct target *target, struct job *job, struct runtime **ret,
			    struct hd_error *err)
{
	enum hd_status status = HD_ERR_UNSUPPORTED;
	struct runtime *runtime = NULL;
	struct hd_error failure = { 0 };
	for (size_t i = 0; i < RUNTIMES && status == HD_ERR_UNSUPPORTED; i++) {
		if (runtimes[i])
			status = runtimes[i]->open(target, job, &runtime, &failure);
	}
	if (status == HD_ERR_UNSUPPORTED && target->options.runtime)
		return runtime_fail_name(target, err);
	if (status != HD_OK) {
		if (err)
			*err = failure;
		return status;
	}
	status = read_base(runtime, err);
	if (status != HD_OK) {
		runtime_destroy(runtime);
		return status;
	}
	*ret = runtime;
	return HD_OK;
}

enum hd_status runtime_read_gc(struct runtime *runtime, struct hd_error *err)
{
	return runtime->ops->read_gc ? runtime->ops->read_gc(runtime, err) : HD_OK;
}

void runtime_base_deinit(struct runtime *runtime)
{
	code_cache_destroy(runtime->code);
	runtime_type_table_destroy(runtime->types);
	mem_free(runtime->threads.rows);
	mem_free(runtime->threads.order);
	mem_free(runtime->threads.os_order);
}

void runtime_destroy(struct runtime *runtime)
{
	if (runtime)
		runtime->ops->close(runtime);
}

const struct runtime_ops *runtime_ops(const struct runtime *runtime)
{
	return runtime->ops;
}

uint32_t runtime_capabilities(const struct runtime *runtime)
{
	const struct runtime_ops *ops = runtime->ops;
	return ops->capabilities | (ops->modules ? RUNTIME_MODULES : 0) |
	       (ops->fields ? RUNTIME_FIELDS : 0) | (ops->threads ? RUNTIME_THREADS : 0);
}

struct target *runtime_target(const struct runtime *runtime)
{
	return runtime->target;
}

const struct arch *runtime_arch(const struct runtime *runtime)
{
	return runtime->target->arch;
}

struct findings *runtime_findings(const struct runtime *runtime)
{
	return &runtime->target->findings;
}

struct memory *runtime_memory(const struct runtime *runtime)
{
	return runtime->memory;
}

struct memory *runtime_set_memory(struct runtime *runtime, struct memory *memory)
{
	struct memory *before = runtime->memory;
	runtime->memory = memory;
	return before;
}

const struct gc_vars *runtime_gc(const struct runtime *runtime)
{
	return &runtime->gc;
}

bool runtime_has_server_gc(const struct runtime *runtime)
{
	return runtime->gc.is_server;
}

bool runtime_has_regions(const struct runtime *runtime)
{
	return runtime->gc.has_regions;
}

bool runtime_has_cross_references(const struct runtime *runtime)
{
	return runtime->has_cross_references;
}

bool runtime_gc_is_moving(const struct runtime *runtime)
{
	return runtime->gc.structures_invalid != 0;
}

bool runtime_knows_all_threads(const struct runtime *runtime)
{
	return runtime->threads.is_whole;
}

size_t runtime_thread_count(const struct runtime *runtime)
{
	return runtime->threads.count;
}

const struct runtime_thread *runtime_thread_at(const struct runtime *runtime, size_t index)
{
	return &runtime->threads.rows[index];
}

size_t runtime_thread_index(const struct runtime *runtime, const struct runtime_thread *thread)
{
	return (size_t)(thread - runtime->threads.rows);
}

int64_t runtime_pending_threads(const struct runtime *runtime)
{
	return runtime->threads.pending;
}

bool runtime_knows_finalizer_thread(const struct runtime *runtime)
{
	return runtime->threads.finalizer != 0;
}

bool runtime_is_finalizer_thread(const struct runtime *runtime, const struct runtime_thread *thread)
{
	return thread->address == runtime->threads.finalizer;
}

bool runtime_is_gc_thread(const struct runtime *runtime, const struct runtime_thread *thread)
{
	return thread->address == runtime->threads.gc;
}

bool runtime_is_suspending(const struct runtime *runtime)
{
	const struct runtime_threads *threads = &runtime->threads;
	for (size_t i = 0; threads->gc && i < threads->count; i++) {
		if (threads->rows[i].is_cooperative && threads->rows[i].address != threads->gc)
			return true;
	}
	return false;
}

const char *runtime_version(const struct runtime *runtime)
{
	return runtime->version;
}

const char *runtime_flavor(const struct runtime *runtime)
{
	return runtime->ops == &coreclr_ops ? NULL : runtime->ops->name;
}

const char *runtime_build_id(const struct runtime *runtime)
{
	return runtime->build_id;
}

uint64_t runtime_crash_record(const struct runtime *runtime)
{
	return runtime->crash_record;
}

const char *runtime_path(const struct runtime *runtime)
{
	return runtime->path ? runtime->path : "";
}

bool runtime_is_single_file(const struct runtime *runtime)
{
	return runtime->is_single_file;
}

uint64_t runtime_free_method_table(const struct runtime *runtime)
{
	return runtime->tables.free;
}

uint64_t runtime_object_method_table(const struct runtime *runtime)
{
	return runtime->tables.object;
}

uint64_t runtime_object_array_method_table(const struct runtime *runtime)
{
	return runtime->tables.object_array;
}

uint64_t runtime_exception_method_table(const struct runtime *runtime)
{
	return runtime->tables.exception;
}

uint64_t runtime_global_alloc_context(const struct runtime *runtime)
{
	return runtime->alloc_context;
}

struct alloc_layout runtime_alloc_layout(const struct runtime *runtime)
{
	return runtime->alloc_layout;
}

bool runtime_alloc_context(const struct runtime *runtime, uint64_t address, uint64_t *ret_pointer,
			   uint64_t *ret_limit)
{
	return memory_u64(runtime->memory, address + runtime->alloc_layout.pointer, ret_pointer) &&
	       memory_u64(runtime->memory, address + runtime->alloc_layout.limit, ret_limit);
}

bool runtime_knows_thread_modes(const struct runtime *runtime)
{
	return runtime->threads.knows_modes;
}

bool runtime_knows_exceptions(const struct runtime *runtime)
{
	return runtime->threads.knows_exceptions;
}
