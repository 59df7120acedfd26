/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Exception._stackTrace is a byte array, or an object array whose first element is one (StackTraceArray,
 * object.h): a header (u32 count, ..., thread), then for each frame ip, sp, MethodDesc, i32 flags
 * (StackTraceElement, clrex.h; the same in 8, 9 and 10).  Sizes are bytes.
 */
#define TRACE_HEADER  16u
#define TRACE_ELEMENT 32u
/**
 * Flags: the stored ip is less than the real one (processor_layout.before_return), so that it lies in the line of the
 * call (STEF_IP_ADJUSTED; always so in 8).
 */
#define TRACE_IS_BEFORE 2u
