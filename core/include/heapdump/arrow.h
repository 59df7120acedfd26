/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_ARROW_H
#define HEAPDUMP_ARROW_H

#include <heapdump/command.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The answers of commands in columns: a stream of the Arrow C data interface, which programs of Arrow (DuckDB,
 * pyarrow) take as it is, without a copy of each value.
 *
 *	const char *const argv[] = { "dumpheap", "-stat" };
 *	struct hd_arrow_request request = { .struct_size = sizeof(request), .argv = argv, .argc = 2 };
 *	struct ArrowArrayStream stream;
 *	int status = hd_arrow_run(session, &request, &sink, &stream, &err);
 *	struct ArrowArray batch;
 *	while (status <= HD_EXIT_FINDINGS && stream.get_next(&stream, &batch) == 0 && batch.release) {
 *		...
 *		batch.release(&batch);
 *	}
 *	if (stream.release)
 *		stream.release(&stream);
 *
 * doc/examples/columns.c is a whole program.
 */

/*
 * The three structures are those of the specification, with the guards that it asks for, so that other headers may
 * define them, too: arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
 */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/** The type of an array: its format ("L" is uint64, "u" is utf8, "+s" has children), name and metadata. */
struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

/** The values of an array, in buffers whose number its type tells. */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** Arrays of one type, one after the other. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *ret);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *ret);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

#endif

/** So many rows a batch has at most, unless hd_arrow_request.batch_rows says otherwise. */
#define HD_ARROW_BATCH_ROWS 65536
/** The most that it may say. */
#define HD_ARROW_BATCH_ROWS_MAX (1 << 24)

/** A command, and which table of its answer is wanted. */
struct hd_arrow_request {
	size_t struct_size;      /**< sizeof(struct hd_arrow_request) at the caller's build */
	const char *const *argv; /**< the command's name and its words, borrowed for the call */
	int32_t argc;            /**< how many of them */
	uint32_t batch_rows;     /**< most rows of a batch; 0: HD_ARROW_BATCH_ROWS */
	const char *table;       /**< hd_table.name, such as "roots.path"; NULL: the main table */
};

/**
 * Run a command and hand out a table of its answer in columns.
 *
 * The command is run to its end before this function returns, on the calling thread, as by hd_rows_run().  Other tables
 * of the answer are dropped.
 *
 * @param[in] request Borrowed for the call.
 * @param[in] sink For warnings, progress and cancellation; its write may be NULL.
 * @param[out] ret The caller's storage, which is overwritten.  After HD_EXIT_OK and HD_EXIT_FINDINGS a stream, to be
 * released once by ret->release(ret); else ret->release is NULL, and there is nothing to release: the first rows of an
 * answer that failed cannot be taken for the whole.
 * @param[out] err Filled when there is no stream; may be NULL.
 * @return An enum hd_exit, as hd_query(); HD_EXIT_USAGE with HD_ERR_NOTFOUND when the answer has no such table, or no
 * main one; HD_EXIT_INPUT with HD_ERR_NOMEM when the columns need more memory than the setting "max-mem"; HD_EXIT_USAGE
 * with HD_ERR_ARGUMENT when @p ret or @p request is NULL, or the request is of another version or has too large a
 * batch_rows.
 *
 * The stream: its type is a struct ("+s") with a child for each column, all nullable: uint64 ("L") for HD_KIND_NUMBER,
 * HD_KIND_BYTES and HD_KIND_ADDRESS, int64 ("l") for HD_KIND_SIGNED, bool ("b") for HD_KIND_FLAG, double ("g") for
 * HD_KIND_REAL and HD_KIND_PERCENT, utf8 ("u") for HD_KIND_TEXT, HD_KIND_TYPE and HD_KIND_SET.  A column of HD_KIND_ANY
 * (sql has them) gets the one of these types that holds all its values, null ("n") if it has no value, and utf8 if they
 * have nothing in common: numbers are decimal then, and addresses as 0x7f00.  A table in the rows of another one has a
 * first column "parent_row", uint64: the index of the row of hd_table.parent.  Text is valid UTF-8: a byte that is not
 * becomes U+FFFD, as in JSON.  The metadata of a column has "heapdump.kind", such as "address"; that of the struct has
 * "heapdump.version", "heapdump.command" and "heapdump.table".
 *
 * Batches end after batch_rows rows, or before the texts of a column take more than 64 MB.  Each is given once; the
 * last is followed by one whose release is NULL.  get_next() and get_schema() return 0, or ENOMEM or EINVAL: then
 * get_last_error() has a message, borrowed until the next call.
 *
 * Ownership and threads: the stream needs its session no longer, and batches and schemas need neither the stream nor each
 * other; each is released once, on any thread.  Only one thread may use the stream at a time.
 *
 * Cost: that of the command, plus about 10 ns a value; memory: 8 bytes a value, or 4 and its text.
 */
HD_API int hd_arrow_run(struct hd_session *session, const struct hd_arrow_request *request,
			const struct hd_sink *sink, struct ArrowArrayStream *ret,
			struct hd_error *err);

#ifdef __cplusplus
}
#endif
#endif
