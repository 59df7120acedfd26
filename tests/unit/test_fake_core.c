/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <heapdump/session.h>

#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_core.h"
#include "support/suite.h"

/* The whole core of the fuzz target: it must have all that commands are about. */
TEST(every_part_of_the_fake_core_is_found)
{
	static const struct {
		const char *line, *part;
	} rows[] = {
		{ "info", ".NET 10.0.3" },      { "dumpheap -stat", "System.String" },
		{ "clrthreads", "3ea" },        { "gchandles", "Pinned" },
		{ "finalizequeue", "object" },  { "roots", "Ns.Holder.cache" },
		{ "clrstack -all", "7ffe" },    { "verifyheap", "objects verified" },
		{ "strings", "a text of the" }, { "syncblk -all", "Index" },
	};
	struct fake_core core = fake_core_make();
	struct hd_session *session = NULL;
	struct hd_error err = { 0 };
	char path[64];
	int fd = memfd_create("core", MFD_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0 &&
			write(fd, core.bytes.bytes, core.bytes.size) == (ssize_t)core.bytes.size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CU_ASSERT_FATAL(hd_session_create(&session, NULL) == HD_OK);
	CU_ASSERT_FATAL(hd_session_open(session, path, 0, NULL, &err) == HD_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer answer = command_run(session, rows[i].line);
		CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), rows[i].part));
		answer_deinit(&answer);
	}
	hd_session_destroy(session);
	(void)close(fd);
	CU_ASSERT(core.bytes.size < 1 << 20);
	ASSERT_UINT(core.count, 115); /* PIECES of make_patches.py */
	fake_core_free(&core);
}

SUITE(.name = "fake_core")
