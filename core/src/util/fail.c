/* SPDX-License-Identifier: MIT */
#include "util/fail.h"

#include <errno.h>
#include <stdarg.h>
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
	/*
	 * Longer than what is kept: hd_escape() cuts the text before a character, never inside one.
	 */
	char message[HD_ERROR_MESSAGE_SIZE + 4];
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	(void)hd_escape(message, sizeof(message), err->message, sizeof(err->message));
	return status;
}
