/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_BROKER_SET_H
#define HEAPDUMP_SRC_UTIL_BROKER_SET_H

#include <heapdump/broker.h>

/** Who opens what has a name for this process (hd_broker_set()); NULL: it does so itself. */
const struct hd_broker *broker_current(void);

#endif
