/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/mapped_file.h"
#include "util/findings.h"
#include "util/job.h"

/**
 * How much of a packed file unpack_head() needs: a block, the headers in front of it, and a little
 * more.
 */
#define UNPACK_HEAD_SIZE ((size_t)132 << 10)

/** Does the file begin as zstd frames do? */
bool unpack_is_packed(const uint8_t *bytes, uint64_t size);

/**
 * Decode the first @p want bytes of the packed file that begins with @p head; false: it does not
 * have so many.
 */
bool unpack_head(const uint8_t *head, size_t size, void *buf, size_t want);

/**
 * Unpack @p file into anonymous memory of this process, where runs of zeros need no memory.
 *
 * @param[in,out] file On HD_OK replaced by the unpacked one; the packed one is closed.
 * @param max_mem Most bytes of the unpacked file; 0 = no limit.  @retval HD_OK also when the packed
 * file is cut: then there is a finding, and the part before the cut
 * @retval HD_ERR_FORMAT it is damaged: the message names the offset
 * @retval HD_ERR_NOMEM it takes more than @p max_mem
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status unpack_file(struct mapped_file *file, const char *path,
					uint64_t max_mem, struct job *job,
					struct findings *findings, struct hd_error *err);
