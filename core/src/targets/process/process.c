/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

#include "mem/mapped_file.h"
#include "targets/process/process_memory.h"
#include "targets/process/process_residency.h"
#include "util/alloc.h"
#include "util/text.h"

/* A process while it is opened. */
struct opening {
	struct process_server *server;
	struct job *job;
	struct target *target;
	struct proc_maps maps;
	struct process_copy *copy;
	bool is_stopped; /* until resume_process() */
};

enum hd_status process_check_program(struct process_server *server, const char *name,
				     struct hd_error *err)
{
	HD_CLEANUP(text) struct text head = { 0 };
	int pid = process_server_pid(server);
	enum hd_status status = process_server_file(server, SERVER_FILE_EXE, &head, NULL);
	bool is_elf =
		status == HD_OK && head.size >= 20 && memcmp(head.bytes, ELFMAG, SELFMAG) == 0;
	bool is_64 = is_elf && head.bytes[EI_CLASS] == ELFCLASS64;
	uint16_t machine = is_elf ? load_u16((const uint8_t *)head.bytes + 18) : 0;
	if (!is_elf)
		return process_server_check(server, err);
	if (!is_64) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "process %d (%s) is a 32-bit program: only %s is read", pid, name,
			    arch_of_host()->name);
	}
	if (arch_of_machine(machine) != arch_of_host()) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "process %d (%s) is a program of ELF machine %u: only %s (%u) is "
			    "read",
			    pid, name, machine, arch_of_host()->name, arch_of_host()->machine);
	}
	return HD_OK;
}

static enum hd_status read_process_maps(struct opening *opening, struct hd_error *err)
{
	HD_CLEANUP(text) struct text text = { 0 };
	proc_maps_deinit(&opening->maps);
	TRY(process_server_file(opening->server, SERVER_FILE_MAPS, &text, err));
	TRY_MEMORY(proc_maps_parse(text.bytes, text.size, &opening->maps), err);
	return HD_OK;
}

enum hd_status process_describe(struct process_server *server, const struct proc_maps *maps,
				struct target *target, struct hd_error *err)
{
	HD_CLEANUP(text) struct text auxv = { 0 };
	struct proc_status known;
	TRY_MEMORY(proc_maps_to_target(maps, target), err);
	if (process_server_file(server, SERVER_FILE_AUXV, &auxv, NULL) == HD_OK)
		target_auxv_read(&target->auxv, (const uint8_t *)auxv.bytes, auxv.size);
	if (proc_status_read(process_server_pid(server), &known))
		(void)snprintf(target->name, sizeof(target->name), "%.31s", known.name);
	return process_server_check(server, err);
}

static enum hd_status keep_threads(struct target *target, const struct target_thread *threads,
				   size_t count, struct hd_error *err)
{
	target->threads.rows = mem_alloc(count, sizeof(*threads));
	TRY_MEMORY(target->threads.rows, err);
	memcpy(target->threads.rows, threads, count * sizeof(*threads));
	target->threads.count = count;
	proc_set_inner_ids(target->pid, target->threads.rows, count);
	return target_sort_threads(target, err);
}

/* Every read asks the kernel; @p seen gets what is read. */
static enum hd_status read_live(struct opening *opening, struct page_list *seen,
				struct hd_error *err)
{
	struct target *target = opening->target;
	target->memory = target->own =
		process_memory(opening->server, target, seen, !target->options.no_stop);
	TRY_MEMORY(target->memory, err);
	target->process.server = process_server_share(opening->server);
	return HD_OK;
}

/* Too large to copy: it stays stopped. */
static enum hd_status hold_process(struct opening *opening, uint64_t size, struct hd_error *err)
{
	struct target *target = opening->target;
	TRY(process_server_hold(opening->server, err));
	TRY(read_live(opening, NULL, err));
	opening->is_stopped = false;
	char need[32], most[32];
	findings_add(&target->findings, FINDING_HELD, NULL,
		     "process %d stays stopped as long as it is open: copying it takes %s, "
		     "and max-mem allows %s",
		     target->pid, format_bytes(size, need),
		     format_bytes(target->options.max_mem, most));
	return HD_OK;
}

/* It succeeds only if the process was stopped until now. */
static enum hd_status resume_process(struct opening *opening, struct hd_error *err)
{
	bool is_stopped = opening->is_stopped;
	opening->is_stopped = false;
	return is_stopped ? process_server_resume(opening->server,
						  &opening->target->process.stopped_seconds, err)
			  : HD_OK;
}

static enum hd_status copy(struct opening *opening, struct hd_error *err)
{
	struct target *target = opening->target;
	uint64_t lost = 0;
	struct process_copy *plan = opening->copy;
	opening->copy = NULL;
	TRY(process_copy_run(plan, opening->job, &target->memory, &lost, err));
	if (process_copy_left(plan))
		target->process.copy = plan;
	target->own = target->memory;
	TRY(resume_process(opening, err));
	if (lost) {
		findings_add(&target->findings, FINDING_UNREADABLE, NULL,
			     "%" PRIu64 " bytes of process %d could not be read", lost,
			     target->pid);
	}
	return HD_OK;
}

/* A process is not copied while it does what options.busy_at tells. */
static bool is_busy(const struct opening *opening)
{
	const struct target *target = opening->target;
	uint32_t word = 0;
	return target->options.busy_at &&
	       process_server_read(opening->server, target->options.busy_at, &word, sizeof(word)) ==
		       sizeof(word) &&
	       word != 0;
}

/* Get the registers of its threads, which tell what native memory is needed. */
static enum hd_status look_at_threads(struct opening *opening, struct hd_error *err)
{
	const struct target_thread *threads;
	size_t count;
	TRY(process_server_stop(opening->server, &threads, &count, err));
	TRY(process_server_resume(opening->server, NULL, err));
	return keep_threads(opening->target, threads, count, err);
}

static enum hd_status open_running(struct opening *opening, struct hd_error *err)
{
	if (opening->target->options.kept)
		TRY(look_at_threads(opening, err));
	TRY(read_process_maps(opening, err));
	TRY(process_describe(opening->server, &opening->maps, opening->target, err));
	return read_live(opening, opening->target->options.kept, err);
}

/* Find out what has to be copied of its native memory, and leave out the rest. */
static enum hd_status choose_native(struct opening *opening, struct page_list *pages,
				    struct hd_error *err)
{
	struct target *target = opening->target;
	struct memory *memory =
		process_memory(opening->server, target, target->options.kept, false);
	TRY_MEMORY(memory, err);
	enum hd_status status =
		target->options.find_heap(target->options.find_heap_arg, memory, pages, err);
	memory_destroy(memory);
	TRY(status);
	page_list_join(pages, target->options.kept);
	process_copy_stacks(&opening->maps, target, pages);
	process_copy_around(&opening->maps, target->options.type_at, pages);
	page_list_sort(pages);
	if (pages->failed)
		return fail_nomem(err);
	return process_copy_leave_out(opening->copy, pages, err);
}

static enum hd_status leave_out(struct opening *opening, struct hd_error *err)
{
	struct page_list pages = { 0 };
	enum hd_status status = choose_native(opening, &pages, err);
	page_list_deinit(&pages);
	/* If the place of the heap is not known, it may be anywhere. */
	return status == HD_ERR_NOTFOUND ? HD_OK : status;
}

/* It is no reason to fail that the kernel does not tell. */
static enum hd_status read_residency(struct opening *opening, struct hd_error *err)
{
	struct hd_error reason;
	enum hd_status status = process_residency_read(
		opening->server, &opening->target->process.residency, &reason);
	if (status == HD_ERR_NOMEM)
		return fail_nomem(err);
	return process_server_check(opening->server, err);
}

/* It is stopped now. */
static enum hd_status look_and_copy(struct opening *opening, struct hd_error *err)
{
	struct target *target = opening->target;
	/* Before memory is read: a swapped page that is read comes back. */
	if (target->options.residency)
		TRY(read_residency(opening, err));
	TRY(read_process_maps(opening, err));
	TRY(process_describe(opening->server, &opening->maps, target, err));
	TRY(process_copy_plan(opening->copy, &opening->maps, opening->job, err));
	if (target->options.kept)
		TRY(leave_out(opening, err));
	uint64_t size = process_copy_size(opening->copy);
	if (target->options.max_mem && size > target->options.max_mem)
		return hold_process(opening, size, err);
	return copy(opening, err);
}

static enum hd_status open_stopped(struct opening *opening, struct hd_error *err)
{
	const struct target_thread *threads;
	size_t count;
	struct target *target = opening->target;
	/* Work that may take long comes first: the process runs on meanwhile. */
	TRY(read_process_maps(opening, err));
	TRY(process_copy_create(opening->server, &opening->maps, target->options.no_files,
				&opening->copy, err));
	process_server_add_readers(opening->server, job_workers(opening->job));
	TRY(process_server_stop(opening->server, &threads, &count, err));
	opening->is_stopped = true;
	target->process.is_busy = is_busy(opening);
	enum hd_status status = process_server_check(opening->server, err);
	if (status == HD_OK && !target->process.is_busy)
		status = keep_threads(target, threads, count, err);
	return status != HD_OK || target->process.is_busy ? status : look_and_copy(opening, err);
}

static enum hd_status open_with_server(struct opening *opening, struct hd_error *err)
{
	struct target *target = opening->target;
	job_begin(opening->job, "Stopping the process", 0);
	TRY(process_check_program(opening->server, target->name, err));
	enum hd_status status =
		target->options.no_stop ? open_running(opening, err) : open_stopped(opening, err);
	struct hd_error reason;
	enum hd_status resumed = resume_process(opening, &reason);
	job_end(opening->job);
	if (status == HD_OK && resumed != HD_OK) {
		if (err)
			*err = reason;
		return resumed;
	}
	if (status != HD_OK || target->process.is_busy)
		return status;
	/* Files that the process has mapped may shrink while they are read. */
	mapped_files_guard_begin();
	status = target_load_modules(target, opening->job, err);
	mapped_files_guard_end();
	TRY(status);
	return target_check(target, err);
}

enum hd_status target_open_process(int pid, const struct target_options *options, struct job *job,
				   struct target **ret, struct hd_error *err)
{
	struct proc_status known;
	TRY(proc_check(pid, &known, err));
	struct opening opening = { .job = job };
	opening.target = target_create(TARGET_PROCESS, options);
	TRY_MEMORY(opening.target, err);
	opening.target->pid = pid;
	(void)snprintf(opening.target->name, sizeof(opening.target->name), "%.31s", known.name);
	enum hd_status status = HD_OK;
	if (options && options->server) {
		opening.server = process_server_share(options->server);
	} else {
		status = process_server_create(pid, &opening.server, err);
	}
	if (status == HD_OK) {
		process_server_set_job(opening.server, job);
		process_server_set_limit(opening.server, options ? options->stop_seconds : 0);
		status = open_with_server(&opening, err);
		process_server_set_job(opening.server, NULL);
	}
	process_copy_destroy(opening.copy);
	proc_maps_deinit(&opening.maps);
	process_server_release(opening.server);
	return target_hand_over(opening.target, status, ret);
}
