/* SPDX-License-Identifier: MIT */
#pragma once

#include "util/job.h"

/** The facts about a trace that the collecting code must know. */
struct nettrace_check {
	uint32_t snapshot; /**< the best of its heap snapshots, counted from 1; 0: none is usable */
	bool is_whole;     /**< it has all objects with all their references */
	uint64_t objects, references; /**< usable ones in it */
	uint64_t unnamed;             /**< objects of it whose type the trace does not name */
};

/**
 * Check the snapshots of a trace, and choose one: the first that is complete and has all names,
 * else the one with most objects.
 *
 * @param fd Open for reading, stays open; @p path is its name in messages.
 * @retval HD_OK also when there is no snapshot in it @retval HD_ERR_FORMAT it is not a trace
 * @retval HD_ERR_OS
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status nettrace_check(int fd, const char *path, struct job *job,
					   struct nettrace_check *ret, struct hd_error *err);
