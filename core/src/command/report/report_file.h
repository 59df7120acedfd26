/* SPDX-License-Identifier: MIT */
/* A report in a file: text, JSON, CSV, or a page for a browser, as the name ends. */
#pragma once

#include "command/call.h"
#include "findings/report.h"

/**
 * Refuse a file whose ending is none of the four, and rows as the answer about the file.
 *
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT
 */
HD_NODISCARD enum hd_status report_file_check(const struct call *call, const char *path);

/**
 * Write it to @p path, which appears when it is complete, and say so in the answer.
 *
 * @param most Text shows this many findings.
 * @retval HD_OK
 * @retval HD_ERR_OS
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status report_file_write(struct call *call, const struct report *report,
					      const char *path, uint64_t most);
