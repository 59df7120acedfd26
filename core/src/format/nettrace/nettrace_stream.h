/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/nettrace/nettrace_bytes.h"
#include "format/type_table.h"
#include "util/job.h"

/*
 * The meaning of a stream's ids.  A stream can cancel all ids: then a new era begins, and rows of
 * earlier eras count as absent.
 */

enum nt_provider {
	NT_OTHER,
	NT_RUNTIME,    /**< Microsoft-Windows-DotNETRuntime */
	NT_RUNDOWN,    /**< Microsoft-Windows-DotNETRuntimeRundown */
	NT_EVENT_PIPE, /**< Microsoft-DotNETCore-EventPipe */
};

/** The meaning of a metadata id. */
struct nt_metadata {
	enum nt_provider provider;
	uint32_t event, version;
	uint32_t era;   /**< the table's era in which it was defined, counted from 1 */
	uint64_t count; /**< how many events have it */
};

/** A thread that captures events, or to which they belong. */
struct nt_thread {
	uint64_t id; /**< version 4: the system's id; version 6: an index */
	uint32_t sequence;
	uint32_t pid;
	uint32_t era; /**< the table's era in which it was last seen */
	bool has_events;
};

/** Finds the row of an id in a table. */
struct nt_ids {
	struct type_table table;
	uint64_t last;   /**< the id that was looked up last */
	size_t last_row; /**< its row, counted from 1; 0: none was looked up */
};

/** The meaning of all metadata ids; begins with all zeros except era, 1. */
struct nt_metadata_table {
	struct nt_metadata *rows; /**< pages */
	size_t rows_count, rows_capacity;
	struct nt_ids ids;
	uint32_t era; /**< the era of the rows that are valid */
};

/** Set what a metadata id means; fails with HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status nt_define(struct nt_metadata_table *metadata, uint64_t id,
				      const struct nt_metadata *definition, struct hd_error *err);

enum nt_provider nt_provider_utf8(const char *name, size_t size);
/** The name of a provider whose events are used; "" for NT_OTHER. */
const char *nt_provider_name(enum nt_provider provider);

/** The threads of a stream; begins with all zeros except era, 1. */
struct nt_thread_table {
	struct nt_thread *rows; /**< pages */
	size_t rows_count, rows_capacity;
	struct nt_ids ids;
	uint32_t era; /**< the era of the rows that are valid */
};

/**
 * The row of a thread; a new row is made with @p pid.  Valid until the next call.  NULL: memory is
 * exhausted.
 */
struct nt_thread *nt_thread(struct nt_thread_table *threads, uint64_t id, uint32_t pid);
void nt_thread_table_deinit(struct nt_thread_table *threads);

/*
 * The container: blocks, event blobs, the definitions of events, sequence
 * numbers.  One pass over the bytes hands out every event; nothing in the file is copied.
 */

/** An event; its payload lies in the file. */
struct nt_event {
	const struct nt_metadata *metadata;
	const uint8_t *payload;
	uint32_t size;
	uint32_t pid;
	uint32_t interval; /**< sequence points before it */
	uint64_t thread;   /**< the thread that captured it */
	uint64_t time;
};

/** A thread has dropped events, which was noticed at @p time (UINT64_MAX: at a sequence point). */
struct nt_loss {
	uint64_t thread, time, count;
	uint32_t pid, interval;
};

/** Kinds of blocks, as numbered by version 6. */
enum nt_block {
	NT_END,
	NT_TRACE,
	NT_EVENTS,
	NT_METADATA,
	NT_SEQUENCE_POINT,
	NT_STACKS,
	NT_THREADS,
	NT_REMOVE_THREADS,
	NT_LABELS,
	NT_BLOCKS
};

/** A trace's own words about itself and its process. */
struct nt_about {
	bool has_trace;
	uint16_t time[8]; /**< year, month, day of the week, day, hour, minute, second, ms; UTC */
	uint64_t sync_time, frequency; /**< the clock of events: its value at that time, and its
				        * ticks per second */
	uint32_t pointer_size, pid;
};

/** The result of reading. */
struct nt_outcome {
	bool is_complete;    /**< the end was reached */
	const char *stopped; /**< why not; also set if the trace was only cut off */
	uint64_t stopped_at;
	uint64_t damaged; /**< blocks and events that could not be read */
	uint64_t unknown; /**< events without metadata */
	uint64_t lost;    /**< events that are missing by their sequence numbers */
	uint64_t gaps;
	uint64_t blocks[NT_BLOCKS];
};

/** Remember why reading ends. */
void nt_stop(struct nt_outcome *outcome, uint64_t at, const char *why);

struct nt_stream {
	/* the caller's: */
	const uint8_t *bytes;
	uint64_t size;
	const char *path; /**< for messages */
	struct job *job;
	struct hd_error *err;
	enum hd_status (*event)(void *arg, const struct nt_event *event);
	enum hd_status (*loss)(void *arg, const struct nt_loss *loss);
	void *arg;
	/* what is known so far: */
	uint32_t version; /**< 4 or 6 */
	struct nt_about about;
	struct nt_outcome outcome;
	struct nt_metadata_table metadata;
	struct nt_thread_table threads;
	uint32_t interval; /**< sequence points so far */
};

/**
 * Read all of it.
 *
 * @param stream The caller's fields are set, everything else is zero; to be given to
 * nt_stream_deinit() in any case.
 * @retval HD_OK also when it is cut off or damaged: see outcome
 * @retval HD_ERR_FORMAT not even its header can be read
 * @retval HD_ERR_UNSUPPORTED it has another version
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status nt_stream_read(struct nt_stream *stream);
void nt_stream_deinit(struct nt_stream *stream);

/* The following is private to the files nettrace_stream*. */

/** An event blob; the state of compressed headers. */
struct nt_blob {
	uint64_t metadata, capture_thread, thread, time;
	uint32_t sequence, size;
	const uint8_t *payload;
};

/** Read a blob; false: the block ends within it. */
bool nt_blob_read(struct nt_bytes *block, uint32_t version, bool is_compressed,
		  struct nt_blob *blob);

/** Payload of a version 4 event or metadata block: call @p each with every blob. */
HD_NODISCARD enum hd_status nt_blobs(struct nt_stream *stream, struct nt_bytes block,
				     enum hd_status (*each)(struct nt_stream *stream,
							    const struct nt_blob *blob));
/** Hand out the event of a blob. */
HD_NODISCARD enum hd_status nt_blob_event(struct nt_stream *stream, const struct nt_blob *blob);

/** Note the last sequence number of a thread, which a sequence point says. */
HD_NODISCARD enum hd_status nt_thread_at(struct nt_stream *stream, uint64_t id, uint32_t sequence);

/** Read the blocks of version 6, beginning at offset @p at. */
HD_NODISCARD enum hd_status nt_read_v6(struct nt_stream *stream, uint64_t at);
