/* SPDX-License-Identifier: MIT */
#pragma once

#include "graph/heap_graph.h"

/** Options for reading a file. */
struct format_options {
	bool lenient; /**< count and skip what breaks the format, instead of failing */
	bool exact; /**< .nettrace: make the same graph as dotnet-gcdump, with its names and roots;
		     * .gcdump: keep the file's names of types */
	uint32_t snapshot;   /**< .nettrace: which of its heap snapshots, counted from 1; 0: the
			      * first */
	bool no_files;       /**< .nettrace: do not open module files */
	bool trust_files;    /**< .nettrace: also use files for which only the names of types are
			      * evidence */
	const char *sysroot; /**< .nettrace: look module files up in this folder; NULL: / */
};

struct dominators;

/** Options for a writer, and what it may need. */
struct write_options {
	bool live_only;       /**< leave out what no strong root reaches */
	const uint64_t *live; /**< a bit for each live node, if the format has uses_life, or with
			       * live_only */
	const struct dominators *dominators; /**< if the format has uses_dominators */
	const char *lacks; /**< one line: what the graph lacks; "" or NULL: nothing */
};

/** Takes the pieces of the file from a writer; false ends the writing. */
typedef bool (*format_write_fn)(void *arg, const char *bytes, size_t size);

/** A file to read. */
struct dump_input {
	const char *path; /**< for messages, and to open it, when fd is negative */
	int fd;           /**< open, and kept by the caller */
	uint64_t size;
	const uint8_t *bytes; /**< for who reads it from memory: all of it */
};

/** One dump format. */
struct format {
	const char *name;    /**< as in -format and JSON's "kind" */
	const char *summary; /**< a few words */
	/**
	 * Does a file that begins with these bytes look like this format?  NULL: the format is only
	 * written.
	 */
	bool (*detect)(const char *bytes, size_t size);
	/** Read an open regular file. */
	enum hd_status (*read)(const struct dump_input *input, const struct format_options *options,
			       struct job *job, struct hd_graph **ret, struct hd_error *err);
	/**
	 * NULL: the format is only read.  Write @p graph; HD_ERR_CANCELLED when the job stops or @p
	 * write returns false.
	 */
	enum hd_status (*write)(const struct hd_graph *graph, const struct write_options *options,
				struct job *job, format_write_fn write, void *arg,
				struct hd_error *err);
	const char *extension; /**< extension of its files: ".gcdump" */
	bool is_binary;        /**< its files are not text */
	bool uses_life, uses_dominators;
	bool has_dead;   /**< dead objects are written, too, unless live_only */
	bool has_weak;   /**< weak roots are written */
	bool roots_once; /**< roots that repeat another one are not written */
};

/** Format number @p index, or NULL after the last. */
const struct format *format_at(size_t index);

/** Format with that name, or NULL. */
const struct format *format_find(const char *name);

/** Format with the extension of @p path, case ignored, or NULL. */
const struct format *format_of_path(const char *path);

/**
 * Open a dump file, whose format is found by its content.
 *
 * @param[out] ret The graph, to be given to graph_destroy(); untouched on failure.
 * @param[out] ret_format May be NULL.
 * @retval HD_OK
 * @retval HD_ERR_OS cannot be opened or read, a directory, shrank while it was read
 * @retval HD_ERR_UNSUPPORTED not a format that is read
 * @retval HD_ERR_FORMAT err->address is the line
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status format_open(const char *path, const struct format_options *options,
					struct job *job, struct hd_graph **ret,
					const struct format **ret_format, struct hd_error *err);

/** The same for a file that is open; its size is not asked for. */
HD_NODISCARD enum hd_status format_open_fd(const struct dump_input *input,
					   const struct format_options *options, struct job *job,
					   struct hd_graph **ret, const struct format **ret_format,
					   struct hd_error *err);

extern const struct format rpm_format, gcdump_format, nettrace_format, hprof_format;
/* only written: */
extern const struct format heapsnapshot_format, folded_format, speedscope_format;
