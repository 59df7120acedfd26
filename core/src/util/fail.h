/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/error.h>

/** Fill @p err (which may be NULL) and return @p status, so that a failure is one statement. */
enum hd_status fail(struct hd_error *err, enum hd_status status, uint64_t address,
		    const char *format, ...) HD_PRINTF(4, 5);

/** The failure of every allocation: HD_ERR_NOMEM. */
static inline enum hd_status fail_nomem(struct hd_error *err)
{
	(void)fail(err, HD_ERR_NOMEM, 0,
		   "out of memory: close other programs or use a machine with more");
	return HD_ERR_NOMEM;
}

/** Return from the calling function if @p expr is not HD_OK. */
#define TRY(expr)                                    \
	do {                                         \
		enum hd_status try_status_ = (expr); \
		if (try_status_ != HD_OK)            \
			return try_status_;          \
	} while (0)

/** Return from the calling function with HD_ERR_NOMEM if @p got is NULL or false. */
#define TRY_MEMORY(got, err)                    \
	do {                                    \
		if (!(got))                     \
			return fail_nomem(err); \
	} while (0)
