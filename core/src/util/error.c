/* SPDX-License-Identifier: MIT */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static const char *const status_names[] = {
	[HD_OK] = "ok",
	[HD_ERR_NOMEM] = "nomem",
	[HD_ERR_OS] = "os",
	[HD_ERR_FAULT] = "fault",
	[HD_ERR_FORMAT] = "format",
	[HD_ERR_UNSUPPORTED] = "unsupported",
	[HD_ERR_NOTFOUND] = "notfound",
	[HD_ERR_ARGUMENT] = "argument",
	[HD_ERR_CANCELLED] = "cancelled",
};

const char *hd_status_name(enum hd_status status)
{
	size_t i = (size_t)status;
	if (i >= sizeof(status_names) / sizeof(status_names[0]))
		return "unknown";
	return status_names[i];
}

const char *hd_version(void)
{
	return HD_VERSION;
}

/*
 * Copy @p from to @p to, of HD_ERROR_MESSAGE_SIZE, with control characters as \\u001b: a path or a
 * name in a message must not move the cursor of a terminal.
 */
static void copy_escaped(char *to, const char *from)
{
	size_t used = 0;
	for (; *from && used + 1 < HD_ERROR_MESSAGE_SIZE; from++) {
		unsigned char c = (unsigned char)*from, next = (unsigned char)from[1];
		bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
		if (c >= 0x20 && c != 0x7f && !c1) {
			to[used++] = *from;
			continue;
		}
		if (used + 7 > HD_ERROR_MESSAGE_SIZE)
			break;
		(void)snprintf(to + used, 7, "\\u%04x", c1 ? next : c);
		used += 6;
		from += c1;
	}
	to[used] = '\0';
}

enum hd_status fail(struct hd_error *err, enum hd_status status, uint64_t address,
		    const char *format, ...)
{
	int saved_errno = errno;
	if (!err)
		return status;
	*err = (struct hd_error){ .status = (uint32_t)status, .address = address };
	if (status == HD_ERR_OS)
		err->os_errno = saved_errno;
	va_list args;
	va_start(args, format);
	char message[HD_ERROR_MESSAGE_SIZE];
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	copy_escaped(err->message, message);
	return status;
}
