/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SNAPSHOT_H
#define HEAPDUMP_SNAPSHOT_H

#include <heapdump/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A heap snapshot out of single events, for profilers that get them from the runtime themselves, for example with
 * ICorProfilerInfo12::EventPipeStartSession and ICorProfilerCallback10::EventPipeEventDelivered: give every event
 * of the session to hd_snapshot_event(), look with hd_snapshot_state() whether the collection has ended, stop the
 * session, and write the snapshot with hd_snapshot_finish().  The session needs the provider
 * Microsoft-Windows-DotNETRuntime with the keywords 0x1980001 and level 5; names of modules come from the rundown.
 *
 * One snapshot has the events of one garbage collection: the first that begins (GCStart), sends objects and ends
 * (GCEnd).  Those of others are counted and dropped.  The order of the calls is the order of the events.
 *
 * Threads: hd_snapshot_event(), hd_snapshot_lost() and hd_snapshot_state() may be called by any threads at the same
 * time; they take a lock for as long as an event is copied, and never wait for anything else.  They must not be
 * called by a handler of a signal, or in a child after fork().  Everything else of a snapshot is for one thread at a
 * time; events may still come meanwhile.
 *
 * For pointers, the rules of heapdump/session.h hold.
 */

/** A snapshot that is being gathered or that was written. */
struct hd_snapshot;

/** How to gather.  A zero is the default of each. */
struct hd_snapshot_options {
	size_t struct_size; /**< sizeof(struct hd_snapshot_options) at the caller's build */
	/**
	 * Most bytes that the copies of events may take, about 32 for an object and 12 for a reference; 0: a quarter of
	 * the machine's memory, or 3/4 of what a cgroup has left.  It is also what one large array of
	 * hd_snapshot_finish() may take, which needs about as much again as the events.
	 */
	uint64_t max_memory;
	uint32_t pointer_size; /**< bytes of a pointer of the process, 4 or 8; 0: as in this one */
	uint32_t process;      /**< id of the process; 0: this one */
	uint32_t workers;      /**< threads of hd_snapshot_finish(); 0: it makes none of its own */
	/**
	 * Non-zero: do not look names up in the files of modules.  While hd_snapshot_finish() reads them, the library has
	 * a handler of SIGBUS, which passes on what is not about them.
	 */
	uint32_t no_files;
	uint32_t keep_trace; /**< non-zero: a .nettrace will be written: keep metadata and events */
	uint32_t live;       /**< 1: leave out what no root keeps alive; not of a .nettrace */
	/**
	 * A path, borrowed for the call: what would take more than max_memory, which must be given then, goes to a file
	 * without a name in the folder of this path, and the room on the disk is the limit.  Where files of the folder
	 * are in memory, and while another snapshot of the process does the same, it is as if it were NULL.
	 */
	const char *spill;
};

/** An event. */
struct hd_snapshot_event {
	size_t struct_size;   /**< sizeof(struct hd_snapshot_event) at the caller's build */
	const char *provider; /**< its name, UTF-8: "Microsoft-Windows-DotNETRuntime" */
	uint32_t id, version;
	const void *
		payload; /**< @c size bytes, borrowed for the call; may be NULL if there are none */
	size_t size;
	/** The runtime's description of such events, for a .nettrace; NULL: not known. */
	const void *metadata;
	size_t metadata_size;
	uint64_t thread; /**< the system's id of the thread that sent it; 0: the calling thread */
	uint64_t time;   /**< nanoseconds of CLOCK_MONOTONIC; 0: now */
};

/** The state of a snapshot. */
struct hd_snapshot_state {
	size_t struct_size;   /**< sizeof(struct hd_snapshot_state) at the caller's build */
	uint32_t has_started; /**< 1: objects of a collection are coming or have come */
	uint32_t has_ended;   /**< 1: its GCEnd has come, and the session may be stopped */
	/**
	 * 1: finished, and nothing is known to be missing: the collection has its beginning and its end, all objects
	 * have all their references, and no event was lost or came out of order.
	 */
	uint32_t is_complete;
	uint32_t reserved;
	uint64_t memory; /**< bytes that the copies of events take now */
	uint64_t lost; /**< events that there was no memory for, and those of hd_snapshot_lost() */
	uint64_t strays;  /**< events of a walk before a collection began or after it ended */
	uint64_t ignored; /**< events of other collections, and those that came after the finish */
	uint64_t objects, references, roots; /**< of the finished snapshot, else 0 */
};

/**
 * Begin a snapshot.
 *
 * @param[in] options NULL: the defaults.
 * @param[out] ret To be given to hd_snapshot_destroy().  Untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_ARGUMENT an option is out of range or of another version, or @p ret is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_snapshot_create(const struct hd_snapshot_options *options,
						      struct hd_snapshot **ret,
						      struct hd_error *err);

/**
 * Take an event: any of the session, also those that no snapshot needs.  The payload may be damaged in any way.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM there is no memory for it, or no more than max_memory: it is counted as lost
 * @retval HD_ERR_ARGUMENT NULL for a pointer, or an event of another version
 */
HD_API HD_NODISCARD enum hd_status hd_snapshot_event(struct hd_snapshot *snapshot,
						     const struct hd_snapshot_event *event,
						     struct hd_error *err);

/** Tell that @p count events of the session were lost before they could be given.  NULL is allowed. */
HD_API void hd_snapshot_lost(struct hd_snapshot *snapshot, uint64_t count);

/** Addresses from @p start up to @p end, which is none of them. */
struct hd_snapshot_range {
	uint64_t start, end;
};

/**
 * Tell where all frozen objects lie (ICorProfilerInfo14::GetNonGCHeapBounds), after the walk and before the finish: the
 * events have no roots for them, though they live as long as the process, and so each gets one.  Without this call
 * it is not known which objects they are.  @p count may be 0: there are none.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_ARGUMENT NULL for a pointer
 */
HD_API HD_NODISCARD enum hd_status hd_snapshot_frozen(struct hd_snapshot *snapshot,
						      const struct hd_snapshot_range *ranges,
						      size_t count, struct hd_error *err);

/** Fill @p ret, whose struct_size is set; @return 0, or -1 for NULL or another version. */
HD_API int hd_snapshot_state(struct hd_snapshot *snapshot, struct hd_snapshot_state *ret);

/**
 * Make the graph of what has come, and write it.  Events that come from now on are dropped.  It can be called again,
 * to write other formats.
 *
 * @param[in] path The file, which appears when it is complete; its ending is that of the format: .gcdump, .heap,
 * .heapsnapshot, .folded, .speedscope.json, .hprof or .nettrace.  NULL: the sink gets the bytes.
 * @param[in] format Name of the format, as export takes it, or "nettrace"; NULL: as @p path ends; without either,
 * "gcdump".
 * @param[in] sink Its write takes the bytes if @p path is NULL; for the rest it may be NULL.
 * @retval HD_OK also when something is missing: see hd_snapshot_state()
 * @retval HD_ERR_FORMAT no collection has sent objects that can be used
 * @retval HD_ERR_ARGUMENT there is no such format, no @p snapshot, or neither a path nor a sink
 * @retval HD_ERR_UNSUPPORTED the format cannot hold it, or the .nettrace would not be whole
 * @retval HD_ERR_OS the file cannot be written
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_API HD_NODISCARD enum hd_status hd_snapshot_finish(struct hd_snapshot *snapshot,
						      const char *path, const char *format,
						      const struct hd_sink *sink,
						      struct hd_error *err);

/**
 * A session that has the finished snapshot open, for commands about it (such as "report") and for
 * hd_session_graph(); or NULL: hd_snapshot_finish() has not made its graph.  Borrowed until the snapshot is destroyed.
 */
HD_API struct hd_session *hd_snapshot_session(struct hd_snapshot *snapshot);

/** Free @p snapshot.  No other thread may use it any more.  NULL is allowed. */
HD_API void hd_snapshot_destroy(struct hd_snapshot *snapshot);

#ifdef __cplusplus
}
#endif
#endif
