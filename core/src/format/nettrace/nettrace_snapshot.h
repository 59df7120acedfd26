/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/nettrace/nettrace_stream.h"

/*
 * The events of a trace that heap snapshots consist of, in order of time, and where among them each
 * snapshot begins and ends (doc/formats.md 6, 7): from the GCStart of its garbage collection to the
 * GCEnd (ClrEtwAll.man; eventtrace_gcheap.cpp and etw's gcheap of the runtime send them).
 */

enum nt_kind {
	NT_GC_START,
	NT_GC_END,
	NT_TYPES,
	NT_ROOTS,
	NT_WEAK_TABLES, /**< GCBulkRootConditionalWeakTableElementEdge */
	NT_NODES,
	NT_EDGES,
	NT_RANGE, /**< GCGenerationRange */
	NT_CCWS,
	NT_RCWS,
	NT_STATICS,
	NT_MODULE,
	NT_MODULE_RUNDOWN, /**< the same at the end of a session: all modules, in the order of the
			    * AppDomain */
	NT_RUNDOWN_END,    /**< DCEndComplete: no more NT_MODULE_RUNDOWN follow */
	NT_PROCESS,
	NT_DOMAIN, /**< the AppDomain, at the end of a session */
	NT_LOST,   /**< not an event: events were lost here */
	NT_KINDS
};

struct nt_item {
	const uint8_t *payload;
	uint64_t time, thread;
	uint32_t size;
	uint32_t pid, interval;
	uint16_t kind;       /**< enum nt_kind */
	uint16_t definition; /**< of struct nt_gathering; of a file, 0 */
};

/** Make an item of an event; false: heap snapshots do not consist of such events. */
bool nt_item_of(const struct nt_event *event, struct nt_item *ret);

/** Is it sent while a heap is walked, and only then? */
bool nt_is_of_walk(uint32_t kind);

/** Where among the events, in their order, the collection that is read now begins and ends. */
struct nt_window {
	bool is_open, has_nodes;
	bool has_start;  /**< its GCStart came */
	uint32_t number; /**< of the garbage collection, if has_start */
};

/** The effect of an event on a window. */
struct nt_window_step {
	bool ends_before; /**< the open window ends before it, without its GCEnd */
	bool begins;      /**< a window begins with it */
	bool ends_with;   /**< the window ends with it: it is its GCEnd */
};
struct nt_window_step nt_window_step(struct nt_window *window, const struct nt_item *item);

/** A heap snapshot: items [first, end) belong to its garbage collection, all in one process. */
struct nt_snapshot {
	size_t first, end;
	size_t process_first, process_end; /**< items of its process */
	uint32_t pid;
	bool has_start;  /**< it has its GCStart */
	bool has_end;    /**< it has its GCEnd */
	bool is_induced; /**< its GCStart is of the kind that dotnet-gcdump waits for */
	uint64_t time;
	uint64_t thread; /**< the thread that sent its nodes */
	uint64_t lost;   /**< lost events of that thread, until the next snapshot */
};

struct nt_trace {
	struct nt_stream stream;
	struct nt_item *items; /**< pages; by process, then time */
	size_t items_count, items_capacity;
	struct nt_snapshot *snapshots; /**< pages */
	size_t snapshots_count, snapshots_capacity;
	uint64_t
		strays; /**< events of walks that came outside of a collection (struct nt_gathering) */
};

/** Are its first or its last events missing, or any others that are known to be? */
static inline bool nt_snapshot_is_cut(const struct nt_trace *trace,
				      const struct nt_snapshot *snapshot)
{
	return !snapshot->has_start || !snapshot->has_end || snapshot->lost || trace->strays;
}

/** Find the snapshots among the items, which are in their order. */
HD_NODISCARD enum hd_status nt_trace_find(struct nt_trace *trace);

/**
 * Find the snapshots of a trace.
 *
 * @param bytes Borrowed until nt_trace_deinit().
 * @param[out] ret To be given to nt_trace_deinit(), also on failure.
 * @retval HD_OK also when there are none
 */
HD_NODISCARD enum hd_status nt_trace_read(const uint8_t *bytes, uint64_t size, const char *path,
					  struct job *job, struct nt_trace *ret,
					  struct hd_error *err);
void nt_trace_deinit(struct nt_trace *trace);

/**
 * The snapshot with number @p number, counted from 1; 0: the first; if @p exact, the one that
 * dotnet-gcdump takes: the first one of an induced blocking collection of all generations.
 *
 * @retval HD_ERR_FORMAT there is no such snapshot
 */
HD_NODISCARD enum hd_status nt_trace_choose(const struct nt_trace *trace, uint32_t number,
					    bool exact, const struct nt_snapshot **ret,
					    struct hd_error *err);

/** Rows of one size in an event, only those that are inside it. */
struct nt_rows {
	const uint8_t *at;
	uint32_t count, index;
	bool is_short;  /**< the event claims to have more */
	uint64_t first; /**< number of rows in the blocks before it (struct nt_blocks) */
};

/**
 * The rows after @p head bytes, of which the last 6 are the number of rows and the runtime's
 * instance.
 */
struct nt_rows nt_rows(const struct nt_item *item, uint32_t head, uint32_t row_size);

/** The rows of NT_NODES, NT_EDGES, NT_ROOTS or NT_WEAK_TABLES: these events have an index. */
static inline struct nt_rows nt_indexed_rows(const struct nt_item *item, uint32_t row_size)
{
	struct nt_rows rows = nt_rows(item, 10, row_size);
	rows.index = item->size >= 4 ? load_u32(item->payload) : 0;
	return rows;
}

#define NT_NODE_SIZE(pointer_size)       ((pointer_size) + 24u)
#define NT_EDGE_SIZE(pointer_size)       ((pointer_size) + 4u)
#define NT_ROOT_SIZE(pointer_size)       ((pointer_size) + (pointer_size) + 5u)
#define NT_WEAK_TABLE_SIZE(pointer_size) ((pointer_size) + (pointer_size) + (pointer_size))

/** A row of NT_NODES. */
struct nt_node {
	uint64_t address, size, type, edges;
};

static inline uint64_t nt_load_pointer(const uint8_t *at, uint32_t pointer_size)
{
	return pointer_size == 4 ? load_u32(at) : load_u64(at);
}

static inline struct nt_node nt_node(const uint8_t *at, uint32_t pointer_size)
{
	const uint8_t *rest = at + pointer_size;
	return (struct nt_node){ .address = nt_load_pointer(at, pointer_size),
				 .size = load_u64(rest),
				 .type = load_u64(rest + 8),
				 .edges = load_u64(rest + 16) };
}

/** Root kinds and flags of GCBulkRootEdge (etw: GCRootKind, GCRootFlags). */
enum nt_root_kind {
	NT_ROOT_STACK,
	NT_ROOT_FINALIZER,
	NT_ROOT_HANDLE,
	NT_ROOT_OLDER,
	NT_ROOT_SIZED_REF,
	NT_ROOT_OVERFLOW
};
enum nt_root_flag {
	NT_ROOT_PINNING = 1,
	NT_ROOT_WEAK = 2,
	NT_ROOT_INTERIOR = 4,
	NT_ROOT_REF_COUNTED = 8
};

/** A row of NT_ROOTS. */
struct nt_root {
	uint64_t object;
	/**
	 * GCRootID: address of the handle; for a root on a stack, the MethodDesc; 0: none was sent.
	 */
	uint64_t id;
	uint32_t flags;
	uint8_t kind;
};

static inline struct nt_root nt_root(const uint8_t *at, uint32_t pointer_size)
{
	return (struct nt_root){ .object = nt_load_pointer(at, pointer_size),
				 .kind = at[pointer_size],
				 .flags = load_u32(at + pointer_size + 1),
				 .id = nt_load_pointer(at + pointer_size + 5, pointer_size) };
}

/** The rows of NT_STATICS, which have a text each. */
struct nt_static {
	uint64_t slot; /**< address of what holds the reference */
	uint64_t object, type;
	uint32_t flags; /**< NT_STATIC_OF_THREAD, which no runtime has sent so far */
	struct nt_utf16 field;
};
#define NT_STATIC_OF_THREAD 1u

/** Begin with the first row. */
static inline struct nt_bytes nt_statics(const struct nt_item *item, uint32_t *ret_count)
{
	struct nt_bytes at = nt_bytes(item->payload, item->size);
	*ret_count = nt_u32(&at);
	(void)nt_take(&at, 10); /* domain, instance of the runtime */
	return at;
}

/** The next row; false: it is not complete. */
static inline bool nt_static_next(struct nt_bytes *at, struct nt_static *ret)
{
	ret->slot = nt_u64(at);
	ret->object = nt_u64(at);
	ret->type = nt_u64(at);
	ret->flags = nt_u32(at);
	ret->field = nt_utf16z(at);
	return !at->is_short;
}
