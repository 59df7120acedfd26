/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "format/format.h"

/** One export: what, how and where to. */
struct exporting {
	struct hd_session *session; /**< has the graph; keeps what is computed for it */
	struct hd_graph *graph;
	const struct format *format;
	bool live_only;
	/** Writes what it is instead of @c format; or NULL. */
	enum hd_status (*make)(const struct exporting *exporting, format_write_fn write, void *arg);
	struct hprof_heap *contents; /**< for who makes it */
	const char *copied;          /**< the file whose content is written without loss; or NULL */
	const int *copied_fd;        /**< it is open as this; NULL: it is opened by its name */
	struct format_options copy_options;
	struct job *job;
	struct hd_error *err;
	struct write_options options; /**< set by export_prepare() */
	char lacks[224];              /**< what options.lacks is, which must not move */
};

/** Append what the graph of the session lacks, as far as that is known when it is ready: one line, or nothing. */
HD_NODISCARD enum hd_status export_lacks(const struct hd_session *session, struct text *text,
					 struct hd_error *err);

/** Compute what the format needs, before a file is begun. */
HD_NODISCARD enum hd_status export_prepare(struct exporting *exporting);

/** The parts of the graph that the format holds, counted. */
struct export_counts {
	uint64_t objects, references, roots;
};

/** Count what is written, after export_prepare(). */
struct export_counts export_count(const struct exporting *exporting);

/** Refuse a file whose ending is not that of a format, where no format was named. */
HD_NODISCARD enum hd_status output_ending_check(const struct call *call, const struct value *name,
						const struct value *path);

/** The format that is named, else what @p path ends in, else @p otherwise. */
const struct format *output_format(const struct value *name, const struct value *path,
				   const struct format *otherwise);

/** Does @p path name the output of the command: "-", standard output? */
bool output_is_stdout(const char *path);

/** May a file that is called by @p extension go there, by the options and by what the output takes? */
HD_NODISCARD enum hd_status output_check(const struct call *call, const char *extension,
					 bool is_binary);

/** Write to the output of a command as it is, uncut: @p arg is its struct out. */
bool output_write(void *arg, const char *bytes, size_t size);

/** Write it by @p write. */
HD_NODISCARD enum hd_status export_write(const struct exporting *exporting, format_write_fn write,
					 void *arg);

/** Write it to the output of @p call. */
HD_NODISCARD enum hd_status export_output(const struct exporting *exporting, struct call *call);

/**
 * Write it to a file that appears when it is complete; then nothing can fail any more.
 *
 * @param[out] ret_size Bytes that were written; untouched on failure.
 */
HD_NODISCARD enum hd_status export_file(const struct exporting *exporting, const char *path,
					uint64_t *ret_size);
