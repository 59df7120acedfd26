/* SPDX-License-Identifier: MIT */
/* covers: core/src/format/gcdump/gcdump_copy.c core/src/format/gcdump/gcdump_encode.c */
/* Any bytes as a .gcdump: its copy, if there is one, is copied to itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/gcdump/gcdump.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static enum hd_status copy(const void *bytes, size_t size, struct text *ret)
{
	const struct format_options options = { 0 };
	struct hd_error err = { 0 };
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || (size && write(fd, bytes, size) != (ssize_t)size))
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	enum hd_status status = gcdump_copy(&(struct dump_input){ .path = path, .fd = -1 },
					    &options, NULL, take, ret, &err);
	if (status != HD_OK && !err.message[0])
		abort();
	(void)close(fd);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Traces are the matter of another target. */
	if (size >= 8 && memcmp(data, "Nettrace", 8) == 0)
		return 0;
	struct text first = { 0 }, second = { 0 };
	if (copy(data, size, &first) == HD_OK) {
		enum hd_status status = copy(first.bytes, first.size, &second);
		if (status != HD_OK || second.size != first.size ||
		    memcmp(first.bytes, second.bytes, first.size) != 0)
			abort();
	}
	text_deinit(&first);
	text_deinit(&second);
	return 0;
}
