/* SPDX-License-Identifier: MIT */
#include "targets/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <zstd.h>

#include "arch/arch.h"
#include "mem/memory.h"
#include "util/alloc.h"
#include "util/fuzzed.h"
#include "util/text.h"

/** First size of the memory for unpacked bytes; then it doubles. */
#define CAPACITY_FIRST (FUZZED(8u << 20, 8192u))
#define OUTPUT_SIZE    ((size_t)FUZZED(256 << 10, 4096))
/** Bytes of input between two checks for cancellation. */
#define INPUT_STEP ((size_t)FUZZED(1 << 20, 512))
/**
 * The largest window that zstd accepts without an option, and the largest possible one: 128 MB and
 * 2 GB.
 */
#define WINDOW_LOG_DEFAULT 27
#define WINDOW_LOG_MAX     31

/** One file being unpacked. */
/* Zeros are left out in pieces of a page. */
#define PIECE ((uint64_t)4096)

struct unpacker {
	const char *path;
	const struct mapped_file *packed;
	struct stat as_of; /**< of packed, before its first byte was read */
	ZSTD_DCtx *context;
	uint8_t *output; /**< OUTPUT_SIZE */
	uint8_t *bytes;  /**< the memory that it goes to: zeros, until something is written */
	size_t capacity; /**< bytes of it, whole pages */
	uint64_t size;   /**< unpacked until now */
	uint64_t max_mem;
	bool is_cut;
	ZSTD_inBuffer input;
};

bool unpack_is_packed(const uint8_t *bytes, uint64_t size)
{
	return size >= 4 && load_u32(bytes) == ZSTD_MAGICNUMBER;
}

bool unpack_head(const uint8_t *head, size_t size, void *buf, size_t want)
{
	if (!unpack_is_packed(head, size))
		return false;
	ZSTD_DCtx *context = ZSTD_createDCtx();
	if (!context)
		return false;
	(void)ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_DEFAULT);
	ZSTD_inBuffer input = { .src = head, .size = size };
	ZSTD_outBuffer output = { .dst = buf, .size = want };
	size_t before;
	/* Blocks come out as a whole: go on while input is used or output is produced. */
	do {
		before = input.pos + output.pos;
		if (ZSTD_isError(ZSTD_decompressStream(context, &output, &input)))
			break;
	} while (output.pos < want && input.pos + output.pos > before);
	(void)ZSTD_freeDCtx(context);
	return output.pos == want;
}

static enum hd_status fail_unpacked_too_large(const struct unpacker *unpacker, uint64_t size,
					      struct hd_error *err)
{
	char need[32], most[32];
	return fail(err, HD_ERR_NOMEM, 0,
		    "%s: unpacked it takes %s%s of memory, more than max-mem (%s): unpack it to a "
		    "file (zstd -d), or raise --max-mem",
		    unpacker->path, size > unpacker->max_mem && size != UINT64_MAX ? "" : "over ",
		    format_bytes(size, need), format_bytes(unpacker->max_mem, most));
}

static bool is_all_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static enum hd_status cannot_unpack(const struct unpacker *unpacker, struct hd_error *err)
{
	return fail(err, HD_ERR_OS, 0, "%s: cannot unpack into memory: %s", unpacker->path,
		    strerrordesc_np(errno));
}

/* Change the memory to @p capacity bytes, which are moved and not copied. */
static enum hd_status resize_unpacked(struct unpacker *unpacker, size_t capacity,
				      struct hd_error *err)
{
	void *bytes = unpacker->bytes ? mremap(unpacker->bytes, unpacker->capacity, capacity,
					       MREMAP_MAYMOVE)
				      : mmap(NULL, capacity, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return cannot_unpack(unpacker, err);
	unpacker->bytes = bytes;
	unpacker->capacity = capacity;
	return HD_OK;
}

/* Room for @p size more bytes, which keep to max_mem. */
static enum hd_status reserve_unpacked(struct unpacker *unpacker, size_t size, struct hd_error *err)
{
	uint64_t needed = unpacker->size + size, twice = (uint64_t)unpacker->capacity * 2;
	if (needed <= unpacker->capacity)
		return HD_OK;
	if (unpacker->max_mem && twice > unpacker->max_mem)
		twice = unpacker->max_mem;
	uint64_t most = needed > twice ? needed : twice;
	if (most < CAPACITY_FIRST)
		most = CAPACITY_FIRST;
	return resize_unpacked(unpacker, (size_t)page_align(PIECE, most), err);
}

/* Append, without touching pages that stay all zeros. */
static enum hd_status store(struct unpacker *unpacker, size_t size, struct hd_error *err)
{
	if (unpacker->max_mem && size > unpacker->max_mem - unpacker->size)
		return fail_unpacked_too_large(unpacker, unpacker->max_mem, err);
	TRY(reserve_unpacked(unpacker, size, err));
	for (size_t i = 0; i < size;) {
		size_t piece = (size_t)(PIECE - (unpacker->size + i) % PIECE);
		piece = piece < size - i ? piece : size - i;
		if (!is_all_zero(unpacker->output + i, piece))
			memcpy(unpacker->bytes + unpacker->size + i, unpacker->output + i, piece);
		i += piece;
	}
	unpacker->size += size;
	return HD_OK;
}

/*
 * Check the size that the frame at the input's position claims against the limit, before it is
 * used.
 */
static enum hd_status check_packed_frame(const struct unpacker *unpacker, struct hd_error *err)
{
	const uint8_t *bytes = unpacker->packed->bytes + unpacker->input.pos;
	unsigned long long size = ZSTD_getFrameContentSize(
		bytes, (size_t)(unpacker->packed->size - unpacker->input.pos));
	if (!unpacker->max_mem || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size == ZSTD_CONTENTSIZE_ERROR || size <= unpacker->max_mem - unpacker->size)
		return HD_OK;
	uint64_t total;
	if (__builtin_add_overflow(unpacker->size, size, &total))
		total = UINT64_MAX;
	return fail_unpacked_too_large(unpacker, total, err);
}

static enum hd_status unpack_frames(struct unpacker *unpacker, struct job *job,
				    struct hd_error *err)
{
	bool at_frame = true;
	for (;;) {
		uint64_t position = unpacker->input.pos, left = unpacker->packed->size - position;
		if (at_frame && !left)
			return HD_OK;
		if (at_frame)
			TRY(check_packed_frame(unpacker, err));
		unpacker->input.size =
			(size_t)position + (left < INPUT_STEP ? (size_t)left : INPUT_STEP);
		ZSTD_outBuffer output = { .dst = unpacker->output, .size = OUTPUT_SIZE };
		size_t hint = ZSTD_decompressStream(unpacker->context, &output, &unpacker->input);
		if (ZSTD_isError(hint)) {
			return fail(err, HD_ERR_FORMAT, position,
				    "%s: is damaged at byte %" PRIu64 " of the packed file: %s",
				    unpacker->path, position, ZSTD_getErrorName(hint));
		}
		TRY(store(unpacker, output.pos, err));
		TRY(job_check(job, unpacker->input.pos - position, err));
		at_frame = hint == 0;
		if (!at_frame && unpacker->input.pos == position && !output.pos) {
			unpacker->is_cut = true;
			return HD_OK;
		}
	}
}

/* Replace the packed bytes by the unpacked ones. */
static enum hd_status replace_file(struct unpacker *unpacker, struct mapped_file *file,
				   struct hd_error *err)
{
	if (file_was_written(file->fd, &unpacker->as_of)) {
		return fail(err, HD_ERR_OS, 0, "%s: the file was changed while it was unpacked",
			    unpacker->path);
	}
	struct mapped_file unpacked = { .size = unpacker->size, .fd = -1 };
	if (unpacker->size) {
		TRY(resize_unpacked(unpacker, (size_t)page_align(PIECE, unpacker->size), err));
		(void)mprotect(unpacker->bytes, unpacker->capacity, PROT_READ);
		unpacked.bytes = unpacker->bytes;
		unpacker->bytes = NULL;
	}
	mapped_file_close(file);
	*file = unpacked;
	return HD_OK;
}

static enum hd_status unpack(struct unpacker *unpacker, struct mapped_file *file, struct job *job,
			     struct findings *findings, struct hd_error *err)
{
	uint64_t packed_size = file->size;
	job_begin(job, "Unpacking", packed_size);
	enum hd_status status = unpack_frames(unpacker, job, err);
	job_end(job);
	TRY(status);
	TRY(replace_file(unpacker, file, err));
	if (unpacker->is_cut) {
		findings_add(findings, FINDING_TRUNCATED, "copy it again, or write the core again",
			     "the packed file ends within its data, at byte %" PRIu64 ": %" PRIu64
			     " bytes could be unpacked",
			     packed_size, unpacker->size);
	}
	return HD_OK;
}

/* zstd --long needs a window of up to 2 GB: as far as the limit goes. */
static int window_log(uint64_t max_mem)
{
	int log = WINDOW_LOG_DEFAULT;
	while (log < WINDOW_LOG_MAX && (!max_mem || (uint64_t)4 << log <= max_mem))
		log++;
	return log;
}

enum hd_status unpack_file(struct mapped_file *file, const char *path, uint64_t max_mem,
			   struct job *job, struct findings *findings, struct hd_error *err)
{
	struct unpacker unpacker = { .path = path, .packed = file, .max_mem = max_mem };
	if (fstat(file->fd, &unpacker.as_of)) {
		return fail(err, HD_ERR_OS, 0, "%s: cannot read its times: %s", path,
			    strerrordesc_np(errno));
	}
	unpacker.input.src = file->bytes;
	unpacker.context = ZSTD_createDCtx();
	unpacker.output = mem_alloc(OUTPUT_SIZE, 1);
	enum hd_status status;
	if (unpacker.context && unpacker.output) {
		(void)ZSTD_DCtx_setParameter(unpacker.context, ZSTD_d_windowLogMax,
					     window_log(max_mem));
		status = unpack(&unpacker, file, job, findings, err);
	} else {
		status = fail_nomem(err);
	}
	(void)ZSTD_freeDCtx(unpacker.context);
	mem_free(unpacker.output);
	if (unpacker.bytes)
		(void)munmap(unpacker.bytes, unpacker.capacity);
	return status;
}
