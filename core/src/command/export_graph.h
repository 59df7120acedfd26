/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_EXPORT_GRAPH_H
#define HEAPDUMP_SRC_COMMAND_EXPORT_GRAPH_H

#include "session/session.h"

/** One export: what, how and where to. */
struct exporting {
	struct hd_session *session; /**< has the graph; keeps what is computed for it */
	struct hd_graph *graph;
	const struct format *format;
	bool live_only;
	const char *copied; /**< the file whose content is written without loss; or NULL */
	struct format_options copy_options;
	struct job *job;
	struct hd_error *err;
	struct write_options options; /**< set by export_prepare() */
};

/** Compute what the format needs, before a file is begun. */
HD_NODISCARD enum hd_status export_prepare(struct exporting *exporting);

/** What the format holds of the graph. */
struct export_counts {
	uint64_t objects, references, roots;
};

/** Count what is written, after export_prepare(). */
struct export_counts export_count(const struct exporting *exporting);

/** Write it piece by piece; HD_ERR_CANCELLED also when @p write returns false. */
HD_NODISCARD enum hd_status export_write(const struct exporting *exporting, format_write_fn write,
					 void *arg);

/** Write it to a file that appears when it is complete. */
HD_NODISCARD enum hd_status export_file(const struct exporting *exporting, const char *path);

#endif
