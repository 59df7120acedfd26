/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"
#include "targets/process/page_list.h"

/**
 * Read all native memory of the runtime that a command may need.  The target notes which pages are
 * read (target_options.kept, process_copy_missed()): the copy of a process must contain these.  The
 * values, and failed reads, do not matter here.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status survey_native(struct runtime *runtime, struct job *job,
					  struct hd_error *err);

/** A target_find_heap; @p arg is the struct runtime of the process from an earlier look. */
HD_NODISCARD enum hd_status survey_find_heap(void *arg, struct memory *memory,
					     struct page_list *ret, struct hd_error *err);
