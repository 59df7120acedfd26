/* SPDX-License-Identifier: MIT */
/* The memory of a process as it was at one moment, so that the process need not stand still. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "target/process_plan.h"
#include "util/alloc.h"

/* What one turn of a worker copies. */
#define TASK_SIZE  ((uint64_t)4 << 20)
#define VECTOR_MAX 128u

struct copy_call {
	struct process_copy *copy;
	struct job *job;
	_Atomic uint64_t next;
	_Atomic bool is_dead;
};

/* The piece that holds byte @p offset of the buffer. */
static size_t piece_at(const struct process_copy *copy, uint64_t offset)
{
	size_t low = 0, high = copy->pieces_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (copy->pieces[middle].offset <= offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low - 1;
}

/* All that follows the first byte that cannot be read is lost. */
static void lose(struct copy_piece *piece, uint64_t good)
{
	uint64_t known = atomic_load(&piece->good);
	while (good < known && !atomic_compare_exchange_weak(&piece->good, &known, good))
		continue;
}

/* Copy bytes [from, to) of the buffer one piece after the other. */
static void copy_slowly(struct copy_call *call, uint64_t from, uint64_t to)
{
	struct process_copy *copy = call->copy;
	for (size_t i = piece_at(copy, from); from < to && !atomic_load(&call->is_dead); i++) {
		struct copy_piece *piece = &copy->pieces[i];
		uint64_t skip = from - piece->offset, left = piece->size - skip;
		size_t size = (size_t)(to - from < left ? to - from : left);
		errno = 0;
		size_t got = process_read(&copy->reader, piece->address + skip, copy->bytes + from,
					  size);
		if (got < size)
			lose(piece, skip + got);
		if (got < size && errno == ESRCH)
			atomic_store(&call->is_dead, true);
		from += size;
	}
}

/* Copy bytes [from, to) of the buffer with few calls. */
static void copy_range(struct copy_call *call, uint64_t from, uint64_t to)
{
	struct process_copy *copy = call->copy;
	struct iovec vector[VECTOR_MAX];
	while (from < to) {
		unsigned int count = 0;
		uint64_t begin = from;
		for (size_t i = piece_at(copy, from); from < to && count < VECTOR_MAX; i++) {
			const struct copy_piece *piece = &copy->pieces[i];
			uint64_t skip = from - piece->offset, left = piece->size - skip;
			size_t size = (size_t)(to - from < left ? to - from : left);
			vector[count++] = (struct iovec){
				/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
				(void *)(uintptr_t)(piece->address + skip),
				size,
			};
			from += size;
		}
		struct iovec local = { copy->bytes + begin, (size_t)(from - begin) };
		ssize_t got = process_vm_readv(copy->reader.pid, &local, 1, vector, count, 0);
		if (got < 0 || (uint64_t)got != from - begin)
			copy_slowly(call, begin, from);
	}
}

static void copy_worker(void *arg, unsigned int index)
{
	struct copy_call *call = arg;
	uint64_t size = call->copy->size;
	while (!atomic_load(&call->is_dead)) {
		uint64_t from = atomic_fetch_add(&call->next, TASK_SIZE);
		if (from >= size)
			break;
		uint64_t to = size - from > TASK_SIZE ? from + TASK_SIZE : size;
		copy_range(call, from, to);
		if (!job_step(call->job, index, to - from))
			break;
	}
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
	size_t low = 0, high = copy->extents_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (copy->extents[middle].end <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
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

static size_t copied_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct process_copy *copy = (const struct process_copy *)memory;
	size_t done = 0;
	while (done < size) {
		uint64_t at = address + done;
		const struct copy_extent *extent = extent_from(copy, at);
		if (!extent || extent->start > at)
			break;
		uint64_t left = extent->end - at;
		size_t piece = left < size - done ? (size_t)left : size - done;
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
	if (!extent || extent->start > address || extent->source == SOURCE_ZERO)
		return NULL;
	*ret_size = extent->end - address;
	return extent_bytes(copy, extent, address);
}

static uint64_t copied_next(struct memory *memory, uint64_t address)
{
	const struct process_copy *copy = (const struct process_copy *)memory;
	const struct copy_extent *extent = extent_from(copy, address);
	if (!extent)
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
	if (!copy->bytes)
		return fail_nomem(err);
	struct copy_call call = { .copy = copy, .job = job };
	job_begin(job, "Copying memory", copy->size);
	run_parallel(job_workers(job), copy_worker, &call);
	if (job && atomic_load(&job->stop))
		return fail_cancelled(err);
	*ret_lost = cut_lost(copy);
	struct proc_status status;
	bool is_dead = atomic_load(&call.is_dead);
	if (*ret_lost && !is_dead) {
		is_dead = !proc_status_read(copy->reader.pid, &status) || status.state == 'Z' ||
			  status.state == 'X';
	}
	if (is_dead) {
		errno = ESRCH;
		return fail(err, HD_ERR_OS, 0, "process %d ended while it was read",
			    copy->reader.pid);
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
	process_reader_close(&copy->reader);
	pages_free(copy->pieces, copy->pieces_capacity, sizeof(*copy->pieces));
	copy->pieces = NULL;
	copy->pieces_count = copy->pieces_capacity = 0;
	copy->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	*ret = &copy->memory;
	return HD_OK;
}
