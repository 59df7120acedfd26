/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/session.h>

#include "support/fake_core.h"

/** A session about a fake core. */
struct open_core {
	struct fake_core core;
	struct hd_session *session;
	int fd;
};

/** Open the core of @p options; NULL: the usual one. */
struct open_core core_open(const struct fake_core_options *options);
void core_close(struct open_core *open);
