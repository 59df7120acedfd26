/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_ERROR_H
#define HEAPDUMP_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_API          __attribute__((visibility("default")))
#define HD_NODISCARD    __attribute__((warn_unused_result))
#define HD_PRINTF(f, a) __attribute__((format(printf, f, a)))

/** Why a call failed.  The numbers are part of the ABI: new ones are only added at the end. */
enum hd_status {
	HD_OK = 0,
	HD_ERR_NOMEM = 1,       /**< memory, or the session's limit max-mem, is exhausted */
	HD_ERR_OS = 2,          /**< a system call failed; #hd_error.os_errno is set */
	HD_ERR_FAULT = 3,       /**< target memory is not readable; #hd_error.address is set */
	HD_ERR_FORMAT = 4,      /**< a file breaks its own format; #hd_error.address is a line */
	HD_ERR_UNSUPPORTED = 5, /**< valid, but of a kind or version that this library does not
				 * read */
	HD_ERR_NOTFOUND = 6,    /**< no such object, type or command */
	HD_ERR_ARGUMENT = 7,    /**< wrong usage, or the caller broke a documented precondition */
	HD_ERR_CANCELLED = 8,   /**< the sink asked to stop */
};

/** The size of #hd_error.message: a longer message, such as one with a path of PATH_MAX, is cut. */
#define HD_ERROR_MESSAGE_SIZE 488

/**
 * An error: the reason why a call failed.  The caller owns this storage.
 *
 * A failing call fills it completely; a successful call leaves it alone.  It holds no pointer, so
 * it needs no freeing, may be copied, and can be reported even when memory is exhausted.
 */
struct hd_error {
	uint32_t status;  /**< an enum hd_status; fixed width for ctypes */
	int32_t os_errno; /**< errno of the failing call for HD_ERR_OS, else 0 */
	uint64_t address; /**< target address, object id or line number, per status; else 0 */
	uint64_t is_told; /**< 1: the answer is a document that already holds this error; else 0 */
	char message[HD_ERROR_MESSAGE_SIZE]; /**< one line of English, NUL-terminated, no newline */
};

/** Name of a status, such as "format", as JSON shows it in "status".  Never NULL. */
HD_API const char *hd_status_name(enum hd_status status);

/**
 * Copy text that came from a target, a file or a user, so that it is safe to show on a terminal:
 * control characters, characters that change the direction of text and those that nobody sees are
 * written like \u001b or \u{e0041}, bytes that are not UTF-8 like \xff.  All text that the library hands out to be shown has already
 * been through this function.
 *
 * @param[in] text Read up to @p size bytes or its NUL; NULL is "".
 * @param[out] buf The copy, NUL-terminated, cut before a character that does not fit; 6 * @p size +
 * 1 bytes always suffice.  NULL: nothing is written.
 * @return bytes written, without the NUL
 */
HD_API size_t hd_escape(const char *text, size_t size, char *buf, size_t capacity);

/** Version of the library, such as "0.2.0".  Static storage. */
HD_API const char *hd_version(void);

#ifdef __cplusplus
}
#endif
#endif
