/* SPDX-License-Identifier: MIT */
/* The start of a host that waits for one of its services. */
#pragma once

#include "hangs/waits.h"

struct job;

struct host_start {
	uint32_t
		call; /**< a row of waits->async: the call that starts the host; ASYNC_NO_NODE: no host starts */
	uint32_t
		own; /**< a row: the first method of the program in that call, as a service's StartAsync */
	uint64_t services; /**< of the host; 0: not known */
	uint64_t
		later; /**< so many of them start only after the one that the call waits for; 0: not known */
	/** The task of the TaskCompletionSource that the call waits for in the end, without a limit; 0: for something else. */
	uint64_t source;
	/**
	 * A service of those that start later: it leads to the source, and its class is the only one of the program whose code
	 * completes it; address 0: there is no such service.
	 */
	struct object completer;
};

/**
 * Find a host (Microsoft.Extensions.Hosting) of which the start waits in a method of the program, as the
 * StartAsync of a service does.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: linear in async methods; if such a host is found, in the code of the program, too.
 */
HD_NODISCARD enum hd_status host_start_find(const struct waits *waits, struct job *job,
					    struct host_start *ret, struct hd_error *err);
