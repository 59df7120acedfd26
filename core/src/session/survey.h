/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_SESSION_SURVEY_H
#define HEAPDUMP_SRC_SESSION_SURVEY_H

#include "clr/clr.h"
#include "targets/process/page_list.h"

/**
 * Read everything of the runtime's native memory that a command may need: what a target notes of it
 * (target_options.kept, process_copy_missed()) is what the copy of a process must have.  What cannot be
 * read, and what is found, is of no account here.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status survey_native(struct clr *clr, struct job *job, struct hd_error *err);

/** A target_find_heap; @p arg is the struct clr of the process when it was looked at before. */
HD_NODISCARD enum hd_status survey_find_heap(void *arg, struct memory *memory,
					     struct page_list *ret, struct hd_error *err);

#endif
