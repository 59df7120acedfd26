/* SPDX-License-Identifier: MIT */
#pragma once

#include "framework/offsets/net_layout.h"

/*
 * The rows of each file, by name: the types of framework/fact_table.h and of the collections, their base classes, and
 * the types that these have fields of.  They are from the metadata of System.Private.CoreLib of NativeAOT and of the other
 * assemblies of 8.0.34, 9.0.23, 10.0.12 and 11.0.0.
 */
extern const struct net_layout_row net_rows_collections[], net_rows_tasks[], net_rows_threading[],
	net_rows_servers[], net_rows_http[], net_rows_others[];
extern const size_t net_rows_collections_count, net_rows_tasks_count, net_rows_threading_count,
	net_rows_servers_count, net_rows_http_count, net_rows_others_count;
