/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_NETTRACE_H
#define HEAPDUMP_SRC_FORMAT_NETTRACE_H

#include "format/format.h"

struct mapped_file;

/*
 * NetTrace, versions 4 and 6: the stream of EventPipe sessions (dotnet/diagnostics and perfview,
 * NetTraceFormat.md), and the heap snapshots that the events of the runtime's provider make up
 * (ClrEtwAll.man: GCBulkNode, GCBulkEdge, GCBulkRootEdge, ...).
 *
 * Names of this folder begin with nt_, for NetTrace, and with exact_ where the graph of dotnet-gcdump is made
 * (nettrace_exact.h).
 */

/** Does a file begin like one? (format.detect) */
bool nettrace_detect(const char *bytes, size_t size);

/**
 * Read one of its heap snapshots into a graph (format.read).  What was lost or cut off is salvaged up to
 * there: findings say so, and info.is_partial is set.
 *
 * @retval HD_ERR_FORMAT err->address is the offset: it has no heap snapshot, or no such
 */
HD_NODISCARD enum hd_status nettrace_read(int fd, uint64_t size, const char *path,
					  const struct format_options *options, struct job *job,
					  struct hd_graph **ret, struct hd_error *err);

/** Write a snapshot as the .gcdump that dotnet-gcdump makes of it, byte for byte. */
HD_NODISCARD enum hd_status nettrace_to_gcdump(const struct mapped_file *file, const char *path,
					       const struct format_options *options,
					       struct job *job, format_write_fn write, void *arg,
					       struct hd_error *err);

#endif
