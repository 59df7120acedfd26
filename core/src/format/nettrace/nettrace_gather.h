/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"
#include "format/nettrace/nettrace_snapshot.h"

/*
 * Events that come one by one, not out of a file: those of one heap snapshot are copied and kept, and become a
 * struct nt_trace.  The order of the calls is the order of the events.  Only one collection is kept: the first that
 * has its GCStart, objects and its GCEnd; until it has ended, the last that has objects.
 */

/** Most different events (provider, id, version) whose metadata is kept. */
#define NT_DEFINITIONS_MAX 64u

/** The description of an event in metadata, for a .nettrace. */
struct nt_definition {
	struct nt_metadata of;
	uint8_t *metadata; /**< mem; NULL: it was not given */
	uint32_t size;
};

struct nt_chunk;

/** Copies of events, in the order in which they came. */
struct nt_store {
	struct nt_item *items; /**< pages */
	size_t items_count, items_capacity;
	struct nt_chunk *chunks; /**< the payloads; the last one first */
};

/** Begins with all zeros, but for what the caller sets. */
struct nt_gathering {
	/* the caller's: */
	uint64_t max_bytes;    /**< how much memory copies may take */
	uint32_t pointer_size; /**< 4 or 8 */
	uint32_t pid;
	bool keeps_metadata;
	struct nt_about about; /**< of the trace that it becomes: its times */
	/* what is known so far: */
	struct nt_store lasting; /**< events that belong to any collection: types, modules */
	struct nt_store current; /**< those of the collection that is open, or complete */
	struct nt_store cut;     /**< those of an earlier one that has objects and has not ended */
	struct nt_window window;
	bool is_done;     /**< current is complete, and nothing more is taken for it */
	uint64_t bytes;   /**< memory of the copies */
	uint64_t lost;    /**< events that there was no memory for, or that the caller has lost */
	uint64_t strays;  /**< events of walks outside of any collection */
	uint64_t ignored; /**< events of other collections */
	uint64_t last_time;
	struct nt_definition definitions[NT_DEFINITIONS_MAX];
	uint32_t definition_count;
};

/** Set the clock of a gathering: CLOCK_MONOTONIC, whose time now is that of the system's clock. */
void nt_gather_begin(struct nt_gathering *gathering);

/**
 * Take an event.
 *
 * @param event Its time is in nanoseconds of CLOCK_MONOTONIC; one that is earlier than that of the event before
 * counts as that.
 * @param metadata,size As EventPipe gives it to a profiler: the event's id, its name, ...; NULL: not known.
 * @retval HD_OK also when nothing had to be kept of it
 * @retval HD_ERR_NOMEM it is lost, which is counted
 */
HD_NODISCARD enum hd_status nt_gather(struct nt_gathering *gathering, const struct nt_event *event,
				      const uint8_t *metadata, uint32_t size, struct hd_error *err);

/**
 * Make a trace of what was gathered, which it borrows: the gathering must not change while the trace is used.
 *
 * @param[out] ret To be given to nt_trace_deinit(), also on failure.
 * @retval HD_OK also if there is no snapshot in it
 */
HD_NODISCARD enum hd_status nt_gathered_trace(const struct nt_gathering *gathering,
					      const char *name, struct job *job,
					      struct nt_trace *ret, struct hd_error *err);

/**
 * Write the trace of a gathering as a .nettrace of version 4.
 *
 * @retval HD_ERR_UNSUPPORTED it would not be whole: events were lost, or metadata is missing
 * @retval HD_ERR_CANCELLED the job stops, or @p write returns false
 */
HD_NODISCARD enum hd_status nt_gathered_write(const struct nt_gathering *gathering,
					      const struct nt_trace *trace, struct job *job,
					      format_write_fn write, void *arg,
					      struct hd_error *err);

/** Free the copies of the events; the counts stay. */
void nt_gather_free_events(struct nt_gathering *gathering);
void nt_gather_deinit(struct nt_gathering *gathering);
