/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/nettrace/nettrace_bytes.h"
#include "format/type_table.h"

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
/**
 * Find the meaning of an id, valid until the next call; NULL: it is not defined.  Fails with
 * HD_ERR_NOMEM.
 */
HD_NODISCARD enum hd_status nt_metadata_find(struct nt_metadata_table *metadata, uint64_t id,
					     struct nt_metadata **ret, struct hd_error *err);
void nt_metadata_table_deinit(struct nt_metadata_table *metadata);

enum nt_provider nt_provider_utf16(const struct nt_utf16 *name);
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
