/* SPDX-License-Identifier: MIT */
/* Exports of tables in columns: a folder of Parquet files (doc/columns.md 3). */
#pragma once

#include "command/session/export_graph.h"

/** Is a folder of tables to be written, by the format that is named, or by the name that is given? */
bool export_wants_columns(const struct value *format, const struct value *path);

/** May it go there? */
HD_NODISCARD enum hd_status export_columns_check(struct call *call, bool live_only);

/** How they are written. */
struct columns_options {
	bool is_plain; /**< not compressed */
};

/** Write all tables of call->graph; the folder appears when they are complete. */
HD_NODISCARD enum hd_status export_columns(struct call *call, const char *path,
					   const struct columns_options *options);
