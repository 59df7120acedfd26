/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_ROOTS_RUNTIME_HANDLES_H
#define HEAPDUMP_SRC_ROOTS_RUNTIME_HANDLES_H

#include "gc/handles.h"

/** The record of a thread that holds a handle, and the index of that thread. */
struct handle_owner {
	uint32_t thread; /**< UINT32_MAX: none */
	uint8_t record;  /**< enum handle_record */
};

/**
 * Find the strong handles that the runtime's own records hold: words of its Threads (the managed
 * Thread object, the exception last thrown, ...), and exceptions in flight (ExInfo).
 *
 * @param[out] ret The owner of each handle; to be given to pages_free().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status runtime_handles_find(const struct clr *clr,
						 const struct handle_list *handles,
						 struct handle_owner **ret, struct hd_error *err);

#endif
