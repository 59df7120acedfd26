/* SPDX-License-Identifier: MIT */
#pragma once

/** How an answer is written. */
enum answer_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_NDJSON, /**< the rows of the main table, one document a line */
	FORMAT_CSV,    /**< the rows of the main table, RFC 4180 */
	FORMAT_ROWS,   /**< no bytes: the values go to a visitor (answer/visit.h) */
};
