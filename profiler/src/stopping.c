/* SPDX-License-Identifier: MIT */
#include "stopping.h"

#include <poll.h>

bool stopping_is_asked(const struct stopping *stop)
{
	struct pollfd at = { .fd = stop->peer, .events = POLLRDHUP };
	return atomic_load(&stop->is_set) || (stop->peer >= 0 && poll(&at, 1, 0) > 0);
}
