/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "mem/mapped_file.h"
#include "target/process_memory.h"
#include "target/stopper.h"
#include "util/alloc.h"
#include "util/text.h"

/* A process while it is opened. */
struct opening {
	int pid;
	struct job *job;
	struct target *target;
	struct stopper *stopper; /* NULL: it runs */
	struct proc_maps maps;
	struct process_copy *copy;
};

static enum hd_status read_maps(struct opening *opening, struct hd_error *err)
{
	struct text text = { 0 };
	bool got = proc_read_file(opening->pid, "maps", &text);
	int code = errno;
	if (got && !text.size)
		code = ESRCH;
	bool parsed = got && text.size && proc_maps_parse(text.bytes, text.size, &opening->maps);
	text_deinit(&text);
	if (!got || code == ESRCH)
		return proc_refused(opening->pid, code == ENOENT ? ESRCH : code, err);
	if (!parsed || !proc_maps_to_target(&opening->maps, opening->target))
		return fail_nomem(err);
	struct text auxv = { 0 };
	if (proc_read_file(opening->pid, "auxv", &auxv) && auxv.bytes)
		target_set_auxv(opening->target, (const uint8_t *)auxv.bytes, auxv.size);
	text_deinit(&auxv);
	return HD_OK;
}

static enum hd_status keep_threads(struct target *target, const struct target_thread *threads,
				   size_t count, struct hd_error *err)
{
	target->threads = mem_alloc(count, sizeof(*threads));
	if (!target->threads)
		return fail_nomem(err);
	memcpy(target->threads, threads, count * sizeof(*threads));
	target->thread_count = count;
	return HD_OK;
}

/* Too large to copy: it stays stopped, and every read asks the kernel. */
static enum hd_status hold(struct opening *opening, uint64_t size, struct hd_error *err)
{
	struct target *target = opening->target;
	target->memory = process_memory(opening->pid, opening->stopper);
	opening->stopper = NULL;
	if (!target->memory)
		return fail_nomem(err);
	target->own = target->memory;
	char need[32], most[32];
	findings_add(&target->findings, "held",
		     "give it more with --max-mem, or write a core (createdump --full) and open "
		     "that",
		     "process %d stays stopped as long as it is open: copying it takes %s, "
		     "and max-mem allows %s",
		     opening->pid, format_bytes(size, need),
		     format_bytes(target->options.max_mem, most));
	return HD_OK;
}

static enum hd_status copy(struct opening *opening, struct hd_error *err)
{
	struct target *target = opening->target;
	uint64_t lost = 0;
	struct process_copy *plan = opening->copy;
	opening->copy = NULL;
	TRY(process_copy_run(plan, opening->job, &target->memory, &lost, err));
	target->own = target->memory;
	target->stopped_seconds = stopper_release(opening->stopper);
	opening->stopper = NULL;
	if (lost) {
		findings_add(&target->findings, "unreadable", NULL,
			     "%" PRIu64 " bytes of process %d could not be read", lost,
			     opening->pid);
	}
	return HD_OK;
}

/* Nothing is copied of a process that is in the midst of what options.busy_at tells. */
static bool let_go_busy(struct opening *opening)
{
	struct target *target = opening->target;
	struct process_reader reader;
	uint32_t word = 0;
	if (!target->options.busy_at)
		return false;
	process_reader_open(&reader, opening->pid);
	target->is_busy = process_read(&reader, target->options.busy_at, &word, sizeof(word)) ==
				  sizeof(word) &&
			  word != 0;
	process_reader_close(&reader);
	if (!target->is_busy)
		return false;
	target->stopped_seconds = stopper_release(opening->stopper);
	opening->stopper = NULL;
	return true;
}

static enum hd_status open_running(struct opening *opening, struct hd_error *err)
{
	struct target *target = opening->target;
	TRY(read_maps(opening, err));
	target->memory = target->own = process_memory(opening->pid, NULL);
	return target->memory ? HD_OK : fail_nomem(err);
}

static enum hd_status open_stopped(struct opening *opening, struct hd_error *err)
{
	const struct target_thread *threads;
	size_t count;
	struct target *target = opening->target;
	TRY(stopper_start(opening->pid, opening->job, &opening->stopper, &threads, &count, err));
	if (let_go_busy(opening))
		return HD_OK;
	TRY(keep_threads(target, threads, count, err));
	TRY(read_maps(opening, err));
	TRY(process_copy_plan(opening->pid, &opening->maps, target->options.no_files, opening->job,
			      &opening->copy, err));
	uint64_t size = process_copy_size(opening->copy);
	if (target->options.max_mem && size > target->options.max_mem)
		return hold(opening, size, err);
	return copy(opening, err);
}

enum hd_status target_open_process(int pid, const struct target_options *options, struct job *job,
				   struct target **ret, struct hd_error *err)
{
	TRY(proc_check(pid, err));
	struct opening opening = { .pid = pid, .job = job };
	opening.target = target_create(TARGET_PROCESS, options);
	if (!opening.target)
		return fail_nomem(err);
	opening.target->pid = pid;
	struct proc_status known;
	if (proc_status_read(pid, &known)) {
		(void)snprintf(opening.target->name, sizeof(opening.target->name), "%.31s",
			       known.name);
	}
	job_begin(job, "Stopping the process", 0);
	enum hd_status status = opening.target->options.no_stop ? open_running(&opening, err)
								: open_stopped(&opening, err);
	job_end(job);
	(void)stopper_release(opening.stopper);
	process_copy_destroy(opening.copy);
	proc_maps_deinit(&opening.maps);
	/* Files that the process has mapped may shrink while they are read. */
	mapped_files_guard_begin();
	if (status == HD_OK && !opening.target->is_busy)
		status = target_load_modules(opening.target, err);
	mapped_files_guard_end();
	if (status != HD_OK) {
		target_destroy(opening.target);
		return status;
	}
	*ret = opening.target;
	return HD_OK;
}
