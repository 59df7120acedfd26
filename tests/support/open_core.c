/* SPDX-License-Identifier: MIT */
#include "support/open_core.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/assert_more.h"

struct open_core core_open(const struct fake_core_options *options)
{
	struct open_core ret = { .core = options ? fake_core_of(options) : fake_core_make(),
				 .fd = memfd_create("core", MFD_CLOEXEC) };
	const struct text *bytes = &ret.core.bytes;
	struct hd_error err = { 0 };
	char path[64];
	CU_ASSERT_FATAL(ret.fd >= 0 &&
			write(ret.fd, bytes->bytes, bytes->size) == (ssize_t)bytes->size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", ret.fd);
	CU_ASSERT_FATAL(hd_session_create(&ret.session, NULL) == HD_OK);
	CU_ASSERT_FATAL(hd_session_open(ret.session, path, 0, NULL, &err) == HD_OK);
	return ret;
}

void core_close(struct open_core *open)
{
	hd_session_destroy(open->session);
	(void)close(open->fd);
	fake_core_free(&open->core);
}
