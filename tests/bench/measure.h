/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include <heapdump/error.h>

/** Seconds of a clock that only goes forward. */
double seconds(void);

/** Begin to watch the private memory of this process: resident pages that no file backs. */
void sampler_start(void);
/** Its peak in bytes so far. */
uint64_t sampler_peak(void);
void sampler_stop(void);

/** End the program with a message unless @p status is HD_OK. */
void check(enum hd_status status, const struct hd_error *err);
