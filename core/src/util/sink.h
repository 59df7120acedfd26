/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <heapdump/session.h>

#include "util/fail.h"

/**
 * Copy the caller's sink, which may be of an older or a newer version of the library.
 *
 * @param[out] ret For as long as the call that got @p sink takes.
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT it is NULL, has an impossible struct_size or a member that is not known
 * here, or has no write although @p writes says that it is needed
 */
HD_NODISCARD enum hd_status sink_read(const struct hd_sink *sink, bool writes, struct hd_sink *ret,
				      struct hd_error *err);

/**
 * Give @p line to the sink as a warning, if it takes warnings.  What a terminal would act on is
 * written as escapes, because the line may contain names from a target.  @p sink may be NULL.
 */
void sink_warn(const struct hd_sink *sink, const char *line);
/** The same as a note about what is going on; a sink without notes gets it as a warning. */
void sink_note(const struct hd_sink *sink, const char *line);
