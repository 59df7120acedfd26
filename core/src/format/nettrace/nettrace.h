/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/*
 * NetTrace, versions 4 and 6: the stream of EventPipe sessions (dotnet/diagnostics and perfview,
 * NetTraceFormat.md), and the heap snapshots that the events of the runtime's provider make up
 * (ClrEtwAll.man: GCBulkNode, GCBulkEdge, GCBulkRootEdge, ...).
 *
 * Names of this folder begin with nt_, for NetTrace, and with exact_ where the graph of dotnet-gcdump is made
 * (nettrace_exact.c).
 */

/** Does a file begin like a trace?  (format.detect) */
bool nettrace_detect(const char *bytes, size_t size);

/**
 * Read one of its heap snapshots into a graph (format.read).  If events were lost, or the end is
 * cut off, everything up to there is used: findings say so, and info.is_partial is set.
 *
 * @retval HD_ERR_FORMAT err->address is the offset; also when the trace does not have the heap
 * snapshot
 */
HD_NODISCARD enum hd_status nettrace_read(const struct dump_input *input,
					  const struct format_options *options, struct job *job,
					  struct hd_graph **ret, struct hd_error *err);

/** Write a snapshot as a .gcdump that is byte for byte the one that dotnet-gcdump makes of it. */
HD_NODISCARD enum hd_status nettrace_to_gcdump(const struct dump_input *input,
					       const struct format_options *options,
					       struct job *job, format_write_fn write, void *arg,
					       struct hd_error *err);
