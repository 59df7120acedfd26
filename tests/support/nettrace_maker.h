/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/nettrace/nettrace_snapshot.h"

/** Growing bytes; memory that runs out ends the program. */
struct maker_bytes {
	uint8_t *bytes;
	size_t size, capacity;
};

/**
 * Writes a trace of one thread per process as a test says.  It knows the format on its own; only the
 * rows of nodes are the reader's struct.
 */
struct nettrace_maker {
	uint32_t version;      /**< 4 or 6 */
	uint32_t pointer_size; /**< 4 or 8 */
	bool is_compressed;    /**< headers of events */
	uint32_t pid;          /**< of the events from now on; version 4: of all */
	struct maker_bytes file, block, event;
	uint64_t time;
	uint32_t sequence;      /**< of the last event */
	uint32_t last_sequence; /**< as the block says it */
	uint64_t last_time, last_thread;
	uint32_t last_size;
	bool has_thread[8];
	uint64_t parameter; /**< of the next type; 0: it has none */
};

/** Write the header; the fields above @p file are the test's. */
void nettrace_begin(struct nettrace_maker *maker);
/** End the block of events, and begin another at the next event. */
void nettrace_flush(struct nettrace_maker *maker);
/** End the trace. */
void nettrace_end(struct nettrace_maker *maker);
void nettrace_deinit(struct nettrace_maker *maker);

/** Lose @p count events. */
void nettrace_lose(struct nettrace_maker *maker, uint32_t count);
/** A sequence point that says the thread has sent @p sequence events. */
void nettrace_point(struct nettrace_maker *maker, uint32_t sequence);
/** An event of the runtime, or if @p is_rundown of its rundown provider. */
void nettrace_event(struct nettrace_maker *maker, bool is_rundown, uint32_t id, const void *payload,
		    size_t size);

/** The process and its command line. */
void nettrace_process(struct nettrace_maker *maker, const char *command);
void nettrace_gc_start(struct nettrace_maker *maker, uint32_t number);
void nettrace_gc_end(struct nettrace_maker *maker, uint32_t number);
void nettrace_nodes(struct nettrace_maker *maker, uint32_t index, const struct nt_node *nodes,
		    uint32_t count);
void nettrace_edges(struct nettrace_maker *maker, uint32_t index, const uint64_t *targets,
		    uint32_t count);
void nettrace_root(struct nettrace_maker *maker, uint64_t object, uint8_t kind, uint32_t flags);
/** The same, with its GCRootID. */
void nettrace_root_with(struct nettrace_maker *maker, uint64_t object, uint8_t kind, uint32_t flags,
			uint64_t id);
void nettrace_pair(struct nettrace_maker *maker, uint64_t key, uint64_t value);
void nettrace_static(struct nettrace_maker *maker, uint64_t object, uint64_t type, uint32_t flags,
		     const char *field);
/** The same, with the address of its slot. */
void nettrace_static_at(struct nettrace_maker *maker, uint64_t slot, uint64_t object, uint64_t type,
			uint32_t flags, const char *field);
void nettrace_range(struct nettrace_maker *maker, uint8_t generation, uint64_t start,
		    uint64_t used);
void nettrace_ccw(struct nettrace_maker *maker, uint64_t object, uint64_t type, uint64_t unknown);
void nettrace_rcw(struct nettrace_maker *maker, uint64_t object, uint64_t unknown);
/** The type parameter of the next nettrace_type(). */
void nettrace_parameter(struct nettrace_maker *maker, uint64_t parameter);
void nettrace_type(struct nettrace_maker *maker, uint64_t id, uint64_t module, uint32_t token,
		   uint32_t flags, const char *name);
void nettrace_module(struct nettrace_maker *maker, uint64_t id, const char *path);
/** A module of the rundown; @p pdb: each byte of its PDB's GUID, of age 1, 0: it has none. */
void nettrace_module_rundown(struct nettrace_maker *maker, uint64_t id, uint32_t flags,
			     const char *path, uint8_t pdb);

void maker_put(struct maker_bytes *bytes, const void *from, size_t size);
void maker_put_le(struct maker_bytes *bytes, uint64_t value, unsigned int size);
/** ASCII as UTF-16, with a zero unit. */
void maker_put_utf16(struct maker_bytes *bytes, const char *text);
