/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_NETTRACE_EXACT_H
#define HEAPDUMP_SRC_FORMAT_NETTRACE_EXACT_H

#include "format/gcdump/gcdump_encode.h"
#include "format/nettrace/nettrace_heap.h"
#include "format/string_table.h"
#include "util/text.h"

/*
 * A snapshot as dotnet-gcdump turns it into a graph (doc/formats.md 7; DotNetHeapDumpGraphReader.cs, MemoryGraph.cs):
 * nodes and types are numbered as they are first mentioned, and roots are a tree of nodes that
 * stand for no object.
 */

/** A node that stands for no object. */
struct exact_pseudo {
	uint32_t node, type;
	uint32_t parent, first_kid, last_kid, sibling; /**< in pseudos, or HD_NONE */
	struct gcdump_text name;
	uint64_t first_child; /**< in pseudo_children, once they are sorted */
	uint32_t child_count;
};

/** A node's record, in the order of the blob; its children lie behind those of the one before. */
struct exact_record {
	uint32_t node, type;
	int32_t size;
	uint32_t child_count;
};

/** A child of a pseudo-node. */
struct exact_link {
	uint32_t pseudo, node;
};

/** Nodes by address: open addressing; which address a node has is in exact.addresses. */
struct exact_map {
	uint32_t *slots; /**< pages; node + 1, 0: free */
	size_t capacity;
	uint64_t seed;
	uint32_t count;
};

struct exact_dump {
	const struct nt_trace *trace;
	const struct nt_snapshot *snapshot;
	struct job *job;
	struct hd_error *err;
	uint32_t pointer_size;
	/* nodes */
	struct exact_map map;
	uint64_t *addresses; /**< pages; of a pseudo-node 0 */
	size_t addresses_count, addresses_capacity;
	struct exact_record *records; /**< pages */
	size_t records_count, records_capacity;
	uint32_t *children; /**< pages */
	size_t children_count, children_capacity;
	/* roots */
	struct exact_pseudo *pseudos; /**< pages */
	size_t pseudos_count, pseudos_capacity;
	struct exact_link *links; /**< pages */
	size_t links_count, links_capacity;
	uint32_t *pseudo_children; /**< pages, links_count */
	/* types */
	struct gcdump_type *types; /**< pages */
	size_t types_count, types_capacity;
	struct type_table table; /**< section 0: type ids, 1: modules, 2: RCWs; all into slots */
	struct exact_value {
		uint32_t type;             /**< of a type id */
		uint64_t address;          /**< of an RCW */
		struct gcdump_text module; /**< of a module */
	} * slots;                         /**< pages */
	size_t slots_count, slots_capacity;
	struct string_table names; /**< first byte: enum exact_name */
	uint32_t *values;          /**< pages; by number of the name */
	size_t values_count, values_capacity;
	struct arena *arena;
	struct text text, key; /**< scratch */
	uint64_t text_size;    /**< bytes in the arena */
	bool has_rcws;
	/* reading while it is encoded */
	size_t next_record, next_child;
	uint32_t next_pseudo;
	uint32_t passes; /**< begun; the second gives back what it has passed */
};

/** What names are kept apart. */
enum exact_name {
	EXACT_TYPE = 'T',
	EXACT_LARGE = 'L',
	EXACT_PSEUDO_TYPE = 'P',
	EXACT_KID = 'K'
};

/** Node of an address, made at its first mention. */
HD_NODISCARD enum hd_status exact_node(struct exact_dump *exact, uint64_t address, uint32_t *ret);
/** Ask for the memory that exact_node() will need: first for the place in the map, then for what it leads to. */
void exact_prefetch_slot(const struct exact_dump *exact, uint64_t address);
void exact_prefetch_node(const struct exact_dump *exact, uint64_t address);
/** A node of no address. */
HD_NODISCARD enum hd_status exact_new_node(struct exact_dump *exact, uint32_t *ret);

/** Make the first pseudo-node. */
HD_NODISCARD enum hd_status exact_root(struct exact_dump *exact);
/** Kid of @p parent (HD_NONE: the first one) of the name in exact->text, made when it is new. */
HD_NODISCARD enum hd_status exact_kid(struct exact_dump *exact, uint32_t parent, uint32_t *ret);
HD_NODISCARD enum hd_status exact_kid_named(struct exact_dump *exact, uint32_t parent,
					    const char *name, uint32_t *ret);
/** Make the node of @p address a child. */
HD_NODISCARD enum hd_status exact_add_child(struct exact_dump *exact, uint32_t pseudo,
					    uint64_t address);
/** Give the pseudo-nodes their types and children. */
HD_NODISCARD enum hd_status exact_finish_pseudos(struct exact_dump *exact);
/** The pseudo-node behind @p pseudo in the order parent before kids; HD_NONE: none. */
uint32_t exact_after(const struct exact_dump *exact, uint32_t pseudo);

/** Value of the name @p kind, @p prefix, @p bytes: *ret is HD_NONE if it is new. */
HD_NODISCARD enum hd_status exact_value(struct exact_dump *exact, enum exact_name kind,
					uint32_t prefix, const struct gcdump_text *module,
					const char *bytes, size_t size, uint32_t **ret);
/** Copy exact->text. */
HD_NODISCARD enum hd_status exact_copy_text(struct exact_dump *exact, struct gcdump_text *ret);
/** Append UTF-16 to exact->text, each unit on its own. */
void exact_append(struct exact_dump *exact, const struct nt_utf16 *utf16);

/** A type without a look at its name. */
HD_NODISCARD enum hd_status exact_add_type(struct exact_dump *exact, const struct gcdump_text *name,
					   const struct gcdump_text *module, uint32_t *ret);
/** Collect modules and types of the process. */
HD_NODISCARD enum hd_status exact_types(struct exact_dump *exact);
/** Type of the name in exact->text. */
HD_NODISCARD enum hd_status exact_type_named(struct exact_dump *exact,
					     const struct gcdump_text *module, uint32_t *ret);
/** Type of an object of a type id and a size. */
HD_NODISCARD enum hd_status exact_type_of(struct exact_dump *exact, uint64_t id, int32_t size,
					  uint32_t *ret);
/** The type of a type id, or HD_NONE. */
HD_NODISCARD enum hd_status exact_known_type(struct exact_dump *exact, uint64_t id, uint32_t *ret);
/** Remember, and look up, the IUnknown of an object that is an RCW. */
HD_NODISCARD enum hd_status exact_set_rcw(struct exact_dump *exact, uint64_t object,
					  uint64_t unknown);
HD_NODISCARD enum hd_status exact_rcw(struct exact_dump *exact, uint64_t object, bool *ret_is_rcw,
				      uint64_t *ret_unknown);

#endif
