/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct json_t;
struct runtime;

/** A text of a record; bytes is NULL where there is none. */
struct recorded_text {
	const char *bytes;
	size_t size;
};

/** A number of a record. */
struct recorded_number {
	bool is_there;
	uint64_t value;
};

/** A frame of an exception's stack. */
struct recorded_frame {
	size_t exception; /**< its index */
	struct recorded_number ip, offset;
	struct recorded_text method;
};

/** An exception of a record. */
struct recorded_exception {
	size_t outer; /**< index of the one that it is inside of; the first is inside of none */
	struct recorded_number address, hresult;
	struct recorded_text type, message;
};

/** The reasons of the runtime (CrashInfo.cs, CrashReason). */
enum crash_reason {
	CRASH_REASON_UNKNOWN,
	CRASH_REASON_EXCEPTION, /**< an unhandled exception */
	CRASH_REASON_FAIL_FAST, /**< Environment.FailFast */
	CRASH_REASON_INTERNAL,  /**< an error of the runtime */
	CRASH_REASONS
};

/** Why the runtime has ended the process, as it says (doc/nativeaot.md 5.6). */
struct crash_record {
	bool is_there;
	bool is_damaged; /**< something is there that is no such record */
	bool is_cut;     /**< it has more exceptions than are listed */
	enum crash_reason reason;
	struct recorded_number thread;
	struct recorded_text version, message;
	struct recorded_exception *exceptions; /**< each after the one that it is inside of */
	size_t exceptions_count, exceptions_capacity;
	struct recorded_frame *frames; /**< by exception, innermost first */
	size_t frames_count, frames_capacity;
	struct json_t *root; /**< has the texts */
};

/** A zeroed struct is allowed. */
void crash_record_deinit(struct crash_record *record);

/**
 * Read the record of a text, which may be any bytes.
 *
 * @param[out] ret To be given to crash_record_deinit(), also on failure.
 * @retval HD_OK also when it is damaged
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status crash_record_parse(const char *text, size_t size,
					       struct crash_record *ret, struct hd_error *err);

/** The record of a target; without one is_there is false.  @retval HD_ERR_NOMEM */
HD_NODISCARD enum hd_status crash_record_read(struct runtime *runtime, struct crash_record *ret,
					      struct hd_error *err);
