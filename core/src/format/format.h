/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_FORMAT_H
#define HEAPDUMP_SRC_FORMAT_FORMAT_H

#include "graph/heap_graph.h"

/** How a file is read. */
struct format_options {
	bool lenient; /**< count and skip what breaks the format, instead of failing */
	bool exact; /**< .nettrace: the graph that dotnet-gcdump makes of it, with its names and roots;
			 .gcdump: its names of types */
	uint32_t snapshot;   /**< .nettrace: which of its heap snapshots, from 1 on; 0: the first */
	bool no_files;       /**< .nettrace: open no file of a module */
	bool trust_files;    /**< .nettrace: use files too that only the names of types speak for */
	const char *sysroot; /**< .nettrace: look those up below this folder; NULL: / */
};

struct dominators;

/** What a writer is to do, and what it may need. */
struct write_options {
	bool live_only;       /**< leave out what no strong root reaches */
	const uint64_t *live; /**< a bit per node, if the format uses_life or live_only */
	const struct dominators *dominators; /**< if the format uses_dominators */
	const char *lacks; /**< one line: what the graph is without; "" or NULL: nothing */
};

/** What a writer hands out pieces of the file to; false ends the writing. */
typedef bool (*format_write_fn)(void *arg, const char *bytes, size_t size);

/** One dump format. */
struct format {
	const char *name;    /**< as in -format and JSON's "kind" */
	const char *summary; /**< a few words */
	/** Does a file that begins with these bytes look like one?  NULL: it is only written. */
	bool (*detect)(const char *bytes, size_t size);
	/** Read an open regular file of @p size bytes; @p path is for messages. */
	enum hd_status (*read)(int fd, uint64_t size, const char *path,
			       const struct format_options *options, struct job *job,
			       struct hd_graph **ret, struct hd_error *err);
	/** NULL: it is only read.  Write @p graph; HD_ERR_CANCELLED when the job stops or @p write returns false. */
	enum hd_status (*write)(const struct hd_graph *graph, const struct write_options *options,
				struct job *job, format_write_fn write, void *arg,
				struct hd_error *err);
	const char *extension; /**< of its files: ".gcdump" */
	bool is_binary;        /**< its files are no text */
	bool uses_life, uses_dominators;
	bool has_dead;   /**< what nothing keeps alive is written, unless live_only */
	bool has_weak;   /**< weak roots are written */
	bool roots_once; /**< roots that repeat another are not */
};

/** Format @p index, or NULL past the last. */
const struct format *format_at(size_t index);

/** Format of that name, or NULL. */
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
 * @retval HD_ERR_UNSUPPORTED no format that is read
 * @retval HD_ERR_FORMAT err->address is the line
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status format_open(const char *path, const struct format_options *options,
					struct job *job, struct hd_graph **ret,
					const struct format **ret_format, struct hd_error *err);

/** The same of a file that is open as @p fd, which stays the caller's; @p name is for messages. */
HD_NODISCARD enum hd_status format_open_fd(int fd, const char *name,
					   const struct format_options *options, struct job *job,
					   struct hd_graph **ret, const struct format **ret_format,
					   struct hd_error *err);

extern const struct format rpm_format, gcdump_format, nettrace_format;
/* only written: */
extern const struct format heapsnapshot_format, folded_format, speedscope_format;

#endif
