/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/gcdump/gcdump_encode.h"
#include "format/nettrace/nettrace_exact_names.h"
#include "format/nettrace/nettrace_exact_nodes.h"
#include "format/nettrace/nettrace_exact_tree.h"
#include "format/nettrace/nettrace_exact_types.h"
#include "format/nettrace/nettrace_snapshot.h"

/*
 * A snapshot as dotnet-gcdump turns it into a graph (doc/formats.md 7;
 * DotNetHeapDumpGraphReader.cs, MemoryGraph.cs): nodes (_nodes) and types (_types) are numbered as
 * they are first mentioned, and roots (_roots) are a tree of nodes that are not objects (_tree).
 * When the records of all objects are complete (_objects), they are encoded (_encode).
 */

/**
 * A node's record, in the order of the blob; its children come after those of the record before it.
 */
struct exact_record {
	uint32_t node, type;
	int32_t size;
	uint32_t child_count;
};

/** The records of objects; begins with only nodes and err set. */
struct exact_objects {
	struct exact_nodes *nodes;
	struct hd_error *err;
	struct exact_record *records; /**< pages */
	size_t records_count, records_capacity;
	uint32_t *children; /**< pages; nodes */
	size_t children_count, children_capacity;
};

/** The conversion: what it reads, and the parts that it fills, which point to each other. */
struct exact_dump {
	const struct nt_trace *trace;
	const struct nt_snapshot *snapshot;
	struct job *job;
	struct hd_error *err;
	uint32_t pointer_size; /**< 4 or 8 */
	struct exact_nodes nodes;
	struct exact_names names;
	struct exact_types types;
	struct exact_tree tree;
	struct exact_objects objects;
};

/** Fail with @p what, because dotnet-gcdump cannot convert such a snapshot. */
HD_NODISCARD enum hd_status exact_fail_incomplete(const struct exact_dump *exact, const char *what);

/** Append a child to the next record: the node of @p address. */
HD_NODISCARD enum hd_status exact_append_child(struct exact_objects *objects, uint64_t address);
/** Add a record, with the last @p child_count children. */
HD_NODISCARD enum hd_status exact_add_record(struct exact_objects *objects, uint32_t node,
					     uint32_t type, int32_t size, uint32_t child_count);
/**
 * Read all objects and their references.
 *
 * @retval HD_OK also when it stops where dotnet-gcdump does
 * @retval HD_ERR_FORMAT some are missing
 * @retval HD_ERR_UNSUPPORTED too many for a .gcdump
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status exact_objects_read(struct exact_dump *exact);
void exact_objects_deinit(struct exact_objects *objects);

/** Add the roots that dotnet-gcdump reads as they come. */
HD_NODISCARD enum hd_status exact_early_roots(struct exact_dump *exact);
/** Add the roots that need the types to be known. */
HD_NODISCARD enum hd_status exact_late_roots(struct exact_dump *exact);

/** Write the .gcdump; the memory of records is given back as they are written. */
HD_NODISCARD enum hd_status exact_encode(const struct exact_dump *exact, format_write_fn write,
					 void *arg);
