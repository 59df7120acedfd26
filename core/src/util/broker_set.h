/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/broker.h>

/**
 * The broker that opens things with a name for this process (hd_broker_set()); NULL: the process
 * does so itself.
 */
const struct hd_broker *broker_current(void);
