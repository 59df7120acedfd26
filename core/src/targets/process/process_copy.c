/* SPDX-License-Identifier: MIT */
/* The memory of a process as it was at one moment, so that the process need not stay stopped. */
#include <errno.h>
#include <stdatomic.h>

#include "targets/process/process_plan.h"
#include "util/alloc.h"
#include "util/sort.h"

/*
 * A worker copies so much at a time: one half of its reader's window, while the other half is
 * filled.
 */
#define TASK_SIZE ((uint64_t)SERVER_BYTES)

struct copy_call {
	struct process_copy *copy;
	struct job *job;
	_Atomic uint64_t next;
	_Atomic bool is_dead, has_failed;
	struct hd_error err; /* error of the worker that set has_failed */
};

/* Bytes [from, to) of the buffer that were requested from a reader. */
struct copy_task {
	uint64_t from, to;
	size_t first; /* piece */
	uint32_t count;
};

/* The piece that contains byte @p offset of the buffer. */
static size_t piece_at(const struct process_copy *copy, uint64_t offset)
{
	return ROWS_ABOVE(copy->pieces, copy->pieces_count, offset, offset) - 1;
}

/* Everything after the first unreadable byte is lost. */
static void lose(struct copy_piece *piece, uint64_t good)
{
	uint64_t known = atomic_load(&piece->good);
	while (good < known && !atomic_compare_exchange_weak(&piece->good, &known, good))
		continue;
}

/* Make ranges of what is copied next, beginning at task->from. */
static void fill_ranges(const struct process_copy *copy, struct copy_task *task, uint64_t limit,
			struct server_range *ranges)
{
	uint64_t at = task->from;
	task->first = piece_at(copy, at);
	task->count = 0;
	for (size_t i = task->first; at < limit && task->count < SERVER_RANGES; i++) {
		const struct copy_piece *piece = &copy->pieces[i];
		uint64_t skip = at - piece->offset, left = piece->size - skip;
		uint64_t size = limit - at < left ? limit - at : left;
		ranges[task->count++] = (struct server_range){ piece->address + skip, size };
		at += size;
	}
	task->to = at;
}

/* Put what a reader has read where it belongs. */
static void take_answer(struct copy_call *call, const struct copy_task *task,
			const struct server_answer *answer)
{
	struct process_copy *copy = call->copy;
	uint64_t at = task->from;
	for (size_t i = task->first; at < task->to; i++) {
		struct copy_piece *piece = &copy->pieces[i];
		uint64_t skip = at - piece->offset, left = piece->size - skip;
		uint64_t size = task->to - at < left ? task->to - at : left;
		uint64_t got = answer->ranges[i - task->first].size;
		if (got < size) {
			lose(piece, skip + got);
		} else {
			got = size;
		}
		memcpy(copy->bytes + at, answer->bytes + (at - task->from), (size_t)got);
		at += size;
	}
	if (answer->is_dead)
		atomic_store(&call->is_dead, true);
}

static enum hd_status ask_for_ranges(struct copy_call *call, unsigned int reader, unsigned int half,
				     struct copy_task *task, uint64_t limit, struct hd_error *err)
{
	struct server_range ranges[SERVER_RANGES];
	fill_ranges(call->copy, task, limit, ranges);
	return process_server_ask_ranges(call->copy->server, reader, half, ranges, task->count,
					 err);
}

/* The part that a worker copies next; false: there is none. */
static bool next_stretch(struct copy_call *call, uint64_t *from, uint64_t *to)
{
	uint64_t size = call->copy->size;
	if (*from < *to)
		return true;
	*from = atomic_fetch_add(&call->next, TASK_SIZE);
	*to = size > *from && size - *from > TASK_SIZE ? *from + TASK_SIZE : size;
	return *from < *to;
}

static enum hd_status copy_some(struct copy_call *call, unsigned int index, struct hd_error *err)
{
	struct process_copy *copy = call->copy;
	struct copy_task tasks[2];
	unsigned int half = 0, asked = 0;
	uint64_t from = 0, to = 0;
	while (!atomic_load(&call->is_dead) && !atomic_load(&call->has_failed)) {
		while (asked < 2 && next_stretch(call, &from, &to)) {
			struct copy_task *task = &tasks[(half + asked) % 2];
			task->from = from;
			TRY(ask_for_ranges(call, index, (half + asked) % 2, task, to, err));
			from = task->to;
			asked++;
		}
		if (!asked)
			break;
		struct server_answer answer;
		TRY(process_server_await_ranges(copy->server, index, &answer, err));
		take_answer(call, &tasks[half], &answer);
		if (!job_step(call->job, index, tasks[half].to - tasks[half].from))
			return fail_cancelled(err);
		half = !half;
		asked--;
	}
	return HD_OK;
}

static void copy_worker(void *arg, unsigned int index)
{
	struct copy_call *call = arg;
	struct hd_error err;
	if (copy_some(call, index, &err) != HD_OK && !atomic_exchange(&call->has_failed, true))
		call->err = err;
}

/* Cut off what could not be read; @return how many bytes that is. */
static uint64_t cut_lost(struct process_copy *copy)
{
	uint64_t lost = 0;
	for (size_t i = 0; i < copy->pieces_count; i++) {
		const struct copy_piece *piece = &copy->pieces[i];
		uint64_t good = atomic_load(&piece->good);
		if (good >= piece->size)
			continue;
		lost += piece->is_file ? 0 : piece->size - good;
		copy->extents[piece->extent].end = piece->address + good;
	}
	return lost;
}

/* The first extent that ends above @p address, or NULL. */
static const struct copy_extent *extent_from(const struct process_copy *copy, uint64_t address)
{
	size_t low = ROWS_ABOVE(copy->extents, copy->extents_count, end, address);
	return low < copy->extents_count ? &copy->extents[low] : NULL;
}

/* Where the bytes at @p address lie; NULL: they are zero. */
static const uint8_t *extent_bytes(const struct process_copy *copy,
				   const struct copy_extent *extent, uint64_t address)
{
	uint64_t offset = extent->offset + (address - extent->start);
	if (extent->source == SOURCE_ZERO)
		return NULL;
	if (extent->source == SOURCE_COPY)
		return copy->bytes + offset;
	return copy->files[extent->source - SOURCE_FILE].file.bytes + offset;
}

/* Note that pages were needed that were left out. */
static void miss(struct process_copy *copy, uint64_t address, uint64_t size)
{
	(void)pthread_mutex_lock(&copy->lock);
	page_list_add(&copy->missed, address, size);
	(void)pthread_mutex_unlock(&copy->lock);
}

static size_t copied_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	struct process_copy *copy = (struct process_copy *)memory;
	size_t done = 0;
	while (done < size) {
		uint64_t at = address + done;
		const struct copy_extent *extent = extent_from(copy, at);
		if (!extent || extent->start > at)
			break;
		uint64_t left = extent->end - at;
		size_t piece = left < size - done ? (size_t)left : size - done;
		if (extent->source == SOURCE_LEFT) {
			miss(copy, at, piece);
			break;
		}
		const uint8_t *bytes = extent_bytes(copy, extent, at);
		if (bytes) {
			memcpy((uint8_t *)buf + done, bytes, piece);
		} else {
			memset((uint8_t *)buf + done, 0, piece);
		}
		done += piece;
	}
	return done;
}

static const uint8_t *copied_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	const struct process_copy *copy = (const struct process_copy *)memory;
	const struct copy_extent *extent = extent_from(copy, address);
	if (!extent || extent->start > address || extent->source < SOURCE_COPY)
		return NULL;
	*ret_size = extent->end - address;
	return extent_bytes(copy, extent, address);
}

static uint64_t copied_next(struct memory *memory, uint64_t address)
{
	const struct process_copy *copy = (const struct process_copy *)memory;
	const struct copy_extent *extent = extent_from(copy, address);
	const struct copy_extent *end = copy->extents + copy->extents_count;
	while (extent && extent < end && extent->source == SOURCE_LEFT)
		extent++;
	if (!extent || extent == end)
		return UINT64_MAX;
	return extent->start > address ? extent->start : address;
}

static void copied_destroy(struct memory *memory)
{
	process_copy_destroy((struct process_copy *)memory);
}

static enum hd_status copy_all(struct process_copy *copy, struct job *job, uint64_t *ret_lost,
			       struct hd_error *err)
{
	copy->bytes = pages_alloc((size_t)copy->size, 1);
	TRY_MEMORY(copy->bytes, err);
	struct copy_call call = { .copy = copy, .job = job };
	job_begin(job, "Copying memory", copy->size);
	run_parallel(process_server_readers(copy->server), job, copy_worker, &call);
	if (job && atomic_load(&job->stop))
		return fail_cancelled(err);
	if (atomic_load(&call.has_failed)) {
		if (err)
			*err = call.err;
		return (enum hd_status)call.err.status;
	}
	int pid = process_server_pid(copy->server);
	*ret_lost = cut_lost(copy);
	if (atomic_load(&call.is_dead) || (*ret_lost && !proc_live_task(pid))) {
		errno = ESRCH;
		return fail(err, HD_ERR_OS, 0, "process %d ended while it was read", pid);
	}
	return HD_OK;
}

enum hd_status process_copy_run(struct process_copy *copy, struct job *job, struct memory **ret,
				uint64_t *ret_lost, struct hd_error *err)
{
	static const struct memory_ops ops = {
		.read = copied_read,
		.run = copied_run,
		.next = copied_next,
		.destroy = copied_destroy,
	};
	enum hd_status status = copy_all(copy, job, ret_lost, err);
	if (status != HD_OK) {
		process_copy_destroy(copy);
		return status;
	}
	copy->server = NULL;
	pages_free(copy->pieces, copy->pieces_capacity, sizeof(*copy->pieces));
	copy->pieces = NULL;
	copy->pieces_count = copy->pieces_capacity = 0;
	copy->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	*ret = &copy->memory;
	return HD_OK;
}
