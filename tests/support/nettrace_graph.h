/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"
#include "support/nettrace_maker.h"

/** Module of the types that tests make. */
#define MODULE 0x7000u

/** Two objects that know each other: the second is one of type 0x200. */
extern const struct nt_node two_nodes[2];
extern const uint64_t three_edges[3];

/** A GC that walks them. */
void put_snapshot(struct nettrace_maker *maker, uint32_t gc);

/** Read a trace of these bytes, called "trace". */
enum hd_status read_trace(const char *bytes, size_t size, const struct format_options *options,
			  struct hd_graph **ret, struct hd_error *err);
/** Same, of what a maker has made. */
enum hd_status read_maker(const struct nettrace_maker *maker, const struct format_options *options,
			  struct hd_graph **ret, struct hd_error *err);
/** Same; leaves the test when it cannot be read. */
struct hd_graph *graph_with(const struct nettrace_maker *maker,
			    const struct format_options *options);
struct hd_graph *graph_of(const struct nettrace_maker *maker);
