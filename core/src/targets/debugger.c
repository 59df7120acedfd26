/* SPDX-License-Identifier: MIT */
/*
 * Reads what a debugger has, in the fastest way that gives the same bytes (doc/debuggers.md 1.2).
 */
#include <elf.h>
#include <errno.h>

#include <heapdump/debugger.h>

#include "mem/cache.h"
#include "mem/chain.h"
#include "targets/process/process_memory.h"
#include "util/alloc.h"

/* How many bytes at the stack pointer are compared before another route is trusted. */
#define PROBE_SIZE           ((size_t)64)
#define DEBUGGER_MODULES_MAX ((size_t)1 << 16)
#define THREADS_MAX          ((size_t)1 << 20)

/* The processor of its program; NULL: it is not read. */
static const struct arch *processor_of(const struct hd_debugger *debugger)
{
	return debugger->processor ? arch_of_word(debugger->processor) : arch_of_host();
}

struct callback {
	struct memory memory;
	size_t (*read)(void *arg, uint64_t address, void *buf, size_t size);
	void *arg;
};

static size_t callback_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct callback *callback = (const struct callback *)memory;
	size_t got = callback->read(callback->arg, address, buf, size);
	return got < size ? got : size;
}

static void callback_destroy(struct memory *memory)
{
	mem_free(memory);
}

/* The debugger's own reads, with a cache in front; NULL when memory is exhausted. */
static struct memory *debugger_memory(const struct hd_debugger *debugger)
{
	static const struct memory_ops ops = { .read = callback_read, .destroy = callback_destroy };
	struct callback *callback = mem_calloc(1, sizeof(*callback));
	if (!callback)
		return NULL;
	callback->memory.ops = &ops;
	callback->read = debugger->read;
	callback->arg = debugger->arg;
	return memory_cache(&callback->memory);
}

enum sameness {
	SAME,
	DIFFERENT,
	UNKNOWN, /* one of the two has nothing there, or the place is not known */
};

/* Does a route that read @p size bytes to @p bytes see what the debugger sees? */
static enum sameness compare_with_debugger(const struct hd_debugger *debugger, const uint8_t *bytes,
					   size_t size)
{
	uint8_t seen[PROBE_SIZE];
	if (!debugger->stack_pointer || !debugger->read || !size)
		return UNKNOWN;
	size_t got = debugger->read(debugger->arg, debugger->stack_pointer, seen, size);
	if (!got || got > size)
		return UNKNOWN;
	return memcmp(bytes, seen, got) == 0 ? SAME : DIFFERENT;
}

/*
 * Read the module at @p base: its load bias and the place of its .dynamic; false when it is not
 * ELF.
 */
static bool find_dynamic(const struct target *target, uint64_t base, struct target_module *ret)
{
	struct memory *memory = target->memory;
	Elf64_Ehdr head;
	if (!memory_read(memory, base, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	uint64_t lowest = UINT64_MAX, dynamic = 0;
	bool has_dynamic = false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr row;
		if (!memory_read(memory, base + head.e_phoff + i * sizeof(row), &row, sizeof(row)))
			return false;
		if (row.p_type == PT_LOAD && row.p_vaddr < lowest)
			lowest = row.p_vaddr;
		if (row.p_type == PT_DYNAMIC) {
			dynamic = row.p_vaddr;
			has_dynamic = true;
		}
	}
	if (lowest == UINT64_MAX || !has_dynamic)
		return false;
	ret->base = base - page_of(target->arch->space.page_max, lowest);
	ret->dynamic = ret->base + dynamic;
	return true;
}

/* Take the debugger's list of modules if the target itself has none. */
static enum hd_status use_modules(struct target *target, const struct hd_debugger *debugger,
				  struct hd_error *err)
{
	size_t count = debugger->modules ? debugger->module_count : 0;
	if (target->module_count || !count)
		return HD_OK;
	if (count > DEBUGGER_MODULES_MAX)
		count = DEBUGGER_MODULES_MAX;
	mem_free(target->modules);
	target->modules = mem_calloc(count, sizeof(*target->modules));
	TRY_MEMORY(target->modules, err);
	for (size_t i = 0; i < count; i++) {
		const struct hd_debugger_module *given = &debugger->modules[i];
		struct target_module module = { 0 };
		if (!given->path || !find_dynamic(target, given->base, &module))
			continue;
		module.path = mem_strndup(given->path, strlen(given->path));
		TRY_MEMORY(module.path, err);
		target->modules[target->module_count++] = module;
	}
	return HD_OK;
}

/* The numbers under which the debugger has the threads, which it lists in about the same order. */
static void use_numbers(struct target *target, const struct hd_debugger *debugger, size_t count)
{
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t tried = 0; tried < target->threads.count; tried++) {
			struct target_thread *thread = &target->threads.rows[at];
			bool is_it = thread->tid == debugger->threads[i].tid;
			at = (at + 1) % target->threads.count;
			if (is_it) {
				thread->number = debugger->threads[i].number;
				break;
			}
		}
	}
}

static bool has_registers(const struct arch *arch, const struct hd_debugger_thread *thread)
{
	for (size_t i = 0; thread->registers && i < arch->register_count; i++) {
		if (thread->registers[i])
			return true;
	}
	return false;
}

/* Take the debugger's registers if the target itself has none, and its numbers of threads. */
static enum hd_status use_threads(struct target *target, const struct hd_debugger *debugger,
				  struct hd_error *err)
{
	const struct arch *arch = target->arch;
	size_t count = debugger->threads ? debugger->thread_count : 0;
	if (count > THREADS_MAX)
		count = THREADS_MAX;
	bool has_lists = debugger->register_count && processor_of(debugger) == arch;
	if (target->threads.count || !count || !has_lists) {
		use_numbers(target, debugger, count);
		return HD_OK;
	}
	mem_free(target->threads.rows);
	target->threads.rows = mem_calloc(count, sizeof(*target->threads.rows));
	TRY_MEMORY(target->threads.rows, err);
	for (size_t i = 0; i < count; i++) {
		const struct hd_debugger_thread *given = &debugger->threads[i];
		struct target_thread *thread = &target->threads.rows[target->threads.count];
		if (!has_registers(arch, given))
			continue;
		target->threads.count++;
		thread->tid = given->tid;
		thread->number = given->number;
		thread->signal = 0;
		thread->inner_tid = 0;
		for (size_t k = 0; k < arch->register_count; k++)
			thread->registers[arch->words_of_registers[k]] = given->registers[k];
	}
	if (debugger->is_local && debugger->pid > 0 && !target->debugger.is_shown_core)
		proc_set_inner_ids(debugger->pid, target->threads.rows, target->threads.count);
	return target_sort_threads(target, err);
}

/* Take over the modules and threads that the debugger lists. */
static enum hd_status use_lists(struct target *target, const struct hd_debugger *debugger,
				struct hd_error *err)
{
	if (!target->module_count)
		TRY(target_load_modules(target, NULL, err));
	TRY(use_modules(target, debugger, err));
	return use_threads(target, debugger, err);
}

/*
 * Add the debugger as a second source after the core: it may know file pages that the core lacks.
 */
static enum hd_status ask_debugger_last(struct target *target, const struct hd_debugger *debugger,
					struct hd_error *err)
{
	if (!debugger->read)
		return HD_OK;
	struct memory *asked = debugger_memory(debugger);
	TRY_MEMORY(asked, err);
	struct memory *parts[] = { target->memory, asked };
	struct memory *both = memory_chain(parts, 2);
	target->memory = both;
	if (!both) {
		target->own = NULL;
		target->files.files = NULL;
		return fail_nomem(err);
	}
	return HD_OK;
}

static enum hd_status open_debugged_core(const struct hd_debugger *debugger,
					 const struct target_options *options, struct job *job,
					 struct target **ret, struct hd_error *err)
{
	struct target *target;
	TRY(target_open_core(debugger->core, options, job, &target, err));
	uint8_t bytes[PROBE_SIZE];
	size_t got = debugger->stack_pointer ? memory_prefix(target->own, debugger->stack_pointer,
							     bytes, sizeof(bytes))
					     : 0;
	enum hd_status status = HD_OK;
	if (compare_with_debugger(debugger, bytes, got) == DIFFERENT) {
		status = fail(err, HD_ERR_FORMAT, debugger->stack_pointer,
			      "%s is not what the debugger shows: its bytes at the stack pointer "
			      "0x%llx differ",
			      debugger->core, (unsigned long long)debugger->stack_pointer);
	}
	if (status == HD_OK)
		status = ask_debugger_last(target, debugger, err);
	if (status == HD_OK)
		status = use_lists(target, debugger, err);
	target->debugger.route =
		debugger->read ? "the core file, then the debugger" : "the core file";
	return target_hand_over(target, status, ret);
}

/* May the process be read directly, without the debugger? */
static enum hd_status check_local_debugger(const struct hd_debugger *debugger, struct hd_error *err)
{
	if (!debugger->is_local || debugger->pid <= 0) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "the debugger has no process stopped on this machine: set the backend "
			    "to auto");
	}
	if (!debugger->stack_pointer || !debugger->read) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "process %d cannot be compared with what the debugger shows: set the "
			    "backend to auto",
			    debugger->pid);
	}
	return HD_OK;
}

/* Is it the process that the debugger shows? */
static enum hd_status compare_process(const struct hd_debugger *debugger,
				      struct process_server *server, struct hd_error *err)
{
	uint8_t bytes[PROBE_SIZE];
	TRY(process_check_program(server, "in the debugger", err));
	size_t got = process_server_read(server, debugger->stack_pointer, bytes, sizeof(bytes));
	int code = errno;
	TRY(process_server_check(server, err));
	if (!got && (code == EPERM || code == EACCES || code == ESRCH))
		return proc_refused(debugger->pid, code, err);
	if (compare_with_debugger(debugger, bytes, got) == SAME)
		return HD_OK;
	return fail(err, HD_ERR_ARGUMENT, debugger->stack_pointer,
		    "process %d is not what the debugger shows: their bytes at the stack pointer "
		    "differ",
		    debugger->pid);
}

static enum hd_status describe(struct target *target, struct hd_error *err)
{
	HD_CLEANUP(text) struct text text = { 0 };
	HD_CLEANUP(proc_maps) struct proc_maps maps = { 0 };
	enum hd_status status =
		process_server_file(target->process.server, SERVER_FILE_MAPS, &text, NULL);
	if (status != HD_OK)
		return process_server_check(target->process.server, err);
	if (proc_maps_parse(text.bytes, text.size, &maps)) {
		status = process_describe(target->process.server, &maps, target, err);
	} else {
		status = fail_nomem(err);
	}
	return status;
}

/* A process of this machine that the debugger reads: its mappings say beside which file the PDB of a module is. */
static enum hd_status use_maps(struct target *target, const struct hd_debugger *debugger,
			       struct hd_error *err)
{
	HD_CLEANUP(text) struct text text = { 0 };
	HD_CLEANUP(proc_maps) struct proc_maps maps = { 0 };
	if (!debugger->is_local || target->debugger.is_shown_core || debugger->pid <= 0 ||
	    !proc_read_file(debugger->pid, "maps", &text))
		return HD_OK;
	TRY_MEMORY(proc_maps_parse(text.bytes, text.size, &maps) &&
			   proc_maps_to_target(&maps, target),
		   err);
	return HD_OK;
}

static enum hd_status finish_debugged(struct target *target, const struct hd_debugger *debugger,
				      struct target **ret, struct hd_error *err)
{
	enum hd_status status = HD_OK;
	target->pid = debugger->pid > 0 ? debugger->pid : 0;
	target->own = target->memory;
	if (!target->memory)
		status = fail_nomem(err);
	if (status == HD_OK) {
		status = target->kind == TARGET_PROCESS ? describe(target, err)
							: use_maps(target, debugger, err);
	}
	if (status == HD_OK)
		status = use_lists(target, debugger, err);
	if (status == HD_OK)
		status = target_check(target, err);
	return target_hand_over(target, status, ret);
}

static enum hd_status open_past_debugger(const struct hd_debugger *debugger,
					 const struct target_options *options,
					 struct process_server *server, struct target **ret,
					 struct hd_error *err)
{
	TRY(compare_process(debugger, server, err));
	struct target *target = target_create(TARGET_PROCESS, options);
	TRY_MEMORY(target, err);
	target->debugger.route = "the process, past the debugger";
	target->process.server = process_server_share(server);
	target->memory = process_memory(server, NULL, NULL, true);
	return finish_debugged(target, debugger, ret, err);
}

static enum hd_status open_process(const struct hd_debugger *debugger,
				   const struct target_options *options, struct job *job,
				   struct target **ret, struct hd_error *err)
{
	struct process_server *server;
	TRY(check_local_debugger(debugger, err));
	TRY(process_server_create(debugger->pid, &server, err));
	process_server_set_job(server, job);
	enum hd_status status = open_past_debugger(debugger, options, server, ret, err);
	process_server_set_job(server, NULL);
	process_server_release(server);
	return status;
}

static enum hd_status open_callback(const struct hd_debugger *debugger,
				    const struct target_options *options, struct target **ret,
				    struct hd_error *err)
{
	if (!debugger->read)
		return fail(err, HD_ERR_ARGUMENT, 0, "the debugger has nothing to read from");
	const struct arch *arch = processor_of(debugger);
	if (!arch) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "the debugger shows a program for %s: only %s is read",
			    debugger->processor, arch_of_host()->name);
	}
	struct target *target = target_create(TARGET_DEBUGGER, options);
	TRY_MEMORY(target, err);
	target->arch = arch;
	target->debugger.route = "the debugger";
	target->debugger.is_shown_core = debugger->core || debugger->is_core;
	target->memory = debugger_memory(debugger);
	return finish_debugged(target, debugger, ret, err);
}

/* Is a failure of one route a reason to try the next? */
static bool may_step_down(enum hd_status status)
{
	return status != HD_OK && status != HD_ERR_NOMEM && status != HD_ERR_CANCELLED &&
	       status != HD_ERR_UNSUPPORTED;
}

static enum hd_status open_any(const struct hd_debugger *debugger,
			       const struct target_options *options, struct job *job,
			       struct target **ret, struct hd_error *err)
{
	enum hd_status status = HD_ERR_ARGUMENT;
	struct hd_error why = { 0 }, core_why = { 0 };
	if (debugger->core) {
		status = open_debugged_core(debugger, options, job, ret, &core_why);
		why = core_why;
	}
	/*
	 * The reason why a core cannot be read is more useful than the failure of the other route.
	 */
	bool is_last = debugger->core && !debugger->read;
	if (may_step_down(status) && !is_last && debugger->is_local && debugger->pid > 0)
		status = open_process(debugger, options, job, ret, &why);
	if (may_step_down(status) && !is_last)
		status = open_callback(debugger, options, ret, &why);
	if (status != HD_OK && err)
		*err = why;
	if (status == HD_OK && *core_why.message) {
		findings_add(&(*ret)->findings, FINDING_CORE_NOT_USED, NULL, "%s",
			     core_why.message);
	}
	return status;
}

/* Does the debugger list the registers of its processor? */
static enum hd_status check_registers(const struct hd_debugger *debugger, struct hd_error *err)
{
	const struct arch *arch = processor_of(debugger);
	if (!arch || !debugger->register_count || debugger->register_count == arch->register_count)
		return HD_OK;
	return fail(err, HD_ERR_ARGUMENT, 0, "%s has %u registers here, not %zu", arch->name,
		    arch->register_count, debugger->register_count);
}

const char *const *hd_debugger_registers(const char *processor, size_t *count)
{
	const struct arch *arch = processor ? arch_of_word(processor) : arch_of_host();
	if (!arch)
		return NULL;
	*count = arch->register_count;
	return arch->register_names;
}

enum hd_status target_open_debugger(const struct hd_debugger *debugger,
				    const struct target_options *options, struct job *job,
				    struct target **ret, struct hd_error *err)
{
	const char *backend = options && options->backend ? options->backend : "auto";
	TRY(check_registers(debugger, err));
	if (strcmp(backend, "file") == 0) {
		if (debugger->core)
			return open_debugged_core(debugger, options, job, ret, err);
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "no core file of the debugger's is known: set the backend to auto");
	}
	if (strcmp(backend, "process") == 0)
		return open_process(debugger, options, job, ret, err);
	if (strcmp(backend, "debugger") == 0)
		return open_callback(debugger, options, ret, err);
	return open_any(debugger, options, job, ret, err);
}
