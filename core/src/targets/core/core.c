/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem/chain.h"
#include "targets/core/core_notes.h"
#include "targets/target.h"
#include "targets/target_files.h"
#include "targets/unpack.h"
#include "util/alloc.h"
#include "util/opening.h"
#include "util/read_at.h"

/** Most bytes that target_module_files() needs for each mapping. */
#define MODULE_FILE_SIZE 512u

static bool is_core_head(const uint8_t *head, size_t size)
{
	if (size >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		return true;
	uint8_t first[EI_NIDENT + 2];
	return unpack_head(head, size, first, sizeof(first)) &&
	       memcmp(first, ELFMAG, SELFMAG) == 0 && load_u16(first + EI_NIDENT) == ET_CORE;
}

enum hd_status target_is_core(const char *path, bool *ret, struct hd_error *err)
{
	*ret = false;
	int fd = open_as(HD_OPEN_INPUT, path);
	/* If it is not a regular file, the reader of dump files reports what is wrong. */
	if (fd < 0 && errno != EISDIR && errno != EINVAL)
		return fail(err, HD_ERR_OS, 0, "%s: cannot open: %s", path, open_reason(errno));
	if (fd < 0)
		return HD_OK;
	HD_FREE uint8_t *head = mem_alloc(UNPACK_HEAD_SIZE, 1);
	ssize_t got = head ? read_at(fd, head, UNPACK_HEAD_SIZE, 0) : 0;
	enum hd_status status = head ? HD_OK : fail_nomem(err);
	/* ESPIPE: the standard input is a pipe. */
	if (got < 0 && errno != ESPIPE) {
		status = fail(err, HD_ERR_OS, 0, "%s: cannot read: %s", path,
			      strerrordesc_np(errno));
	} else if (got > 0) {
		*ret = is_core_head(head, (size_t)got);
	}
	(void)close(fd);
	return status;
}

static void add_truncation(struct target *target, const struct core_headers *headers)
{
	if (!headers->missing_bytes)
		return;
	target->core.is_truncated = true;
	target->core.missing_bytes = headers->missing_bytes;
	findings_add(&target->findings, FINDING_TRUNCATED,
		     "write the core again where it fits: the disk was full, or a limit (ulimit "
		     "-c, the container's, systemd-coredump's) cut it",
		     "the file ends after %" PRIu64 " bytes: %" PRIu64
		     " bytes (%.1f %%) of what its headers promise are missing%s",
		     target->core.unpacked_size, headers->missing_bytes,
		     100.0 * (double)headers->missing_bytes / (double)headers->segment_bytes,
		     headers->notes_cut ? ", with the notes that tell of threads and mapped files"
					: "");
}

/* Read everything from the headers to target->own; @p file is taken over. */
static enum hd_status read_core(struct target *target, const char *path, struct mapped_file *file,
				struct core_headers *headers, struct job *job, struct hd_error *err)
{
	TRY(core_headers_read(target, file, path, headers, err));
	add_truncation(target, headers);
	struct core_notes notes;
	TRY(core_notes_read(target, file, headers, &notes, job, err));
	target->core.producer = core_guess_producer(&notes, headers);
	struct core_run *runs = NULL;
	size_t count = 0;
	TRY(core_ranges_make(target, headers, &runs, &count, err));
	target->own = target->memory = core_memory_create(file, runs, count);
	TRY_MEMORY(target->own, err);
	TRY(target_mark_cut(target, err));
	return core_guess_content(target, err);
}

static enum hd_status add_files(struct target *target, struct hd_error *err)
{
	if (target->options.no_files || !target->map.mapping_count)
		return HD_OK;
	TRY(target_reserve(target, target->map.mapping_count, MODULE_FILE_SIZE, err));
	struct memory *files = target_module_files(target);
	TRY_MEMORY(files, err);
	struct memory *const parts[] = { target->own, files };
	target->memory = memory_chain(parts, 2);
	if (!target->memory) {
		target->own = NULL;
		target->files.files = NULL;
		return fail_nomem(err);
	}
	return HD_OK;
}

static enum hd_status open_core_file(struct target *target, const char *path, struct job *job,
				     struct hd_error *err)
{
	struct mapped_file file = { .fd = -1 };
	TRY(mapped_file_open(path, &file, err));
	target->core.file_size = file.size;
	struct stat info;
	enum hd_status status = HD_OK;
	if (fstat(file.fd, &info) != 0) {
		status = fail(err, HD_ERR_OS, 0, "%s: cannot tell when it was written: %s", path,
			      strerrordesc_np(errno));
	} else {
		target->time = info.st_mtim;
		mapped_file_watch(&file, &info);
	}
	if (status == HD_OK && unpack_is_packed(file.bytes, file.size)) {
		target->core.is_compressed = true;
		status = unpack_file(&file, path, target->options.max_mem, job, &target->findings,
				     err);
	}
	target->core.unpacked_size = file.size;
	target->reserved = target->core.is_compressed ? file.size : 0;
	if (status == HD_OK) {
		struct core_headers headers = { 0 };
		status = read_core(target, path, &file, &headers, job, err);
		core_headers_deinit(&headers);
	}
	mapped_file_close(&file);
	TRY(status);
	TRY(add_files(target, err));
	TRY(target_load_modules(target, job, err));
	target_add_file_findings(target);
	return HD_OK;
}

enum hd_status target_open_core(const char *path, const struct target_options *options,
				struct job *job, struct target **ret, struct hd_error *err)
{
	struct target *target = target_create(TARGET_CORE, options);
	TRY_MEMORY(target, err);
	mapped_files_guard_begin();
	enum hd_status status = open_core_file(target, path, job, err);
	mapped_files_guard_end();
	return target_hand_over(target, status, ret);
}
