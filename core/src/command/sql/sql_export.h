/* SPDX-License-Identifier: MIT */
/* The tables of sql as a SQLite database, for other tools. */
#pragma once

#include "command/call.h"
#include "format/format.h"

/**
 * Make the database in a temporary file, which takes as much room in $TMPDIR as it does, and hand it
 * out.  All tables are in it but arrays, with indexes on addresses and references.
 *
 * @retval HD_OK
 * @retval HD_ERR_OS the temporary file cannot be written
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED also when @p write returned false
 */
HD_NODISCARD enum hd_status sql_export(struct call *call, format_write_fn write, void *arg);
