/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_NETTRACE_TABLES_H
#define HEAPDUMP_SRC_FORMAT_NETTRACE_TABLES_H

#include "format/nettrace/nettrace_bytes.h"
#include "format/type_table.h"

/*
 * What ids of a stream stand for.  A stream can take all ids back: then a new era begins, and rows of
 * those before count as not there.
 */

enum nt_provider {
	NT_OTHER,
	NT_RUNTIME,    /**< Microsoft-Windows-DotNETRuntime */
	NT_RUNDOWN,    /**< Microsoft-Windows-DotNETRuntimeRundown */
	NT_EVENT_PIPE, /**< Microsoft-DotNETCore-EventPipe */
};

/** What a metadata id stands for. */
struct nt_metadata {
	enum nt_provider provider;
	uint32_t event, version;
	uint32_t era;   /**< of the table when it was defined, from 1 on */
	uint64_t count; /**< its events */
};

/** A thread that captures events, or that they are of. */
struct nt_thread {
	uint64_t id; /**< version 4: of the system, version 6: an index */
	uint32_t sequence;
	uint32_t pid;
	uint32_t era; /**< of the table when it was met */
	bool has_events;
};

/** Which row of a table an id has. */
struct nt_ids {
	struct type_table table;
	uint64_t last;   /**< the id that was looked up last */
	size_t last_row; /**< its row, from 1; 0: none was */
};

/** What metadata ids stand for; begins as zero but for era, 1. */
struct nt_metadata_table {
	struct nt_metadata *rows; /**< pages */
	size_t rows_count, rows_capacity;
	struct nt_ids ids;
	uint32_t era; /**< of the rows that count */
};

/** Set what a metadata id stands for; fails with HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status nt_define(struct nt_metadata_table *metadata, uint64_t id,
				      const struct nt_metadata *definition, struct hd_error *err);
/** What an id stands for, valid until the next call; NULL: it is not defined.  Fails with HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status nt_metadata_find(struct nt_metadata_table *metadata, uint64_t id,
					     struct nt_metadata **ret, struct hd_error *err);
void nt_metadata_table_deinit(struct nt_metadata_table *metadata);

enum nt_provider nt_provider_utf16(const struct nt_utf16 *name);
enum nt_provider nt_provider_utf8(const char *name, size_t size);

/** The threads of a stream; begins as zero but for era, 1. */
struct nt_thread_table {
	struct nt_thread *rows; /**< pages */
	size_t rows_count, rows_capacity;
	struct nt_ids ids;
	uint32_t era; /**< of the rows that count */
};

/** The row of a thread, made when it is new, then of @p pid; valid until the next call.  NULL: no memory. */
struct nt_thread *nt_thread(struct nt_thread_table *threads, uint64_t id, uint32_t pid);
void nt_thread_table_deinit(struct nt_thread_table *threads);

#endif
