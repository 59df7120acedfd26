/* SPDX-License-Identifier: MIT */
/* The chains of async methods that wait, a line for each kind of chain. */
#pragma once

#include "analysis/async/async_graph.h"
#include "command/call.h"

/** Chains that text shows; data has all. */
#define CHAIN_ROWS_SHOWN 20u

/**
 * Write the table "async_chains": equal chains together, most first.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status write_chain_rows(struct call *call, struct async_graph *graph);
