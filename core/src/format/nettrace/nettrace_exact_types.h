/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "format/gcdump/gcdump.h"
#include "format/nettrace/nettrace_bytes.h"
#include "format/string_table.h"
#include "format/type_table.h"
#include "util/fail.h"
#include "util/job.h"
#include "util/text.h"

/** Names of different kinds are kept separately. */
enum exact_name {
	EXACT_TYPE = 'T',
	EXACT_LARGE = 'L',
	EXACT_PSEUDO_TYPE = 'P',
	EXACT_KID = 'K'
};

/**
 * Names: the text that is being made, the names that are kept, and a number for each.  Begins with
 * only arena, which it takes over, and err set.
 */
struct exact_names {
	struct hd_error *err;
	struct text text; /**< the name that is being made */
	struct arena *arena;
	uint64_t text_size;          /**< bytes in the arena */
	struct string_table numbers; /**< first byte: enum exact_name */
	uint32_t *values;            /**< pages; by number of the name */
	size_t values_count, values_capacity;
	struct text key; /**< scratch */
};

/** Set names->text to @p string. */
void exact_set_text(struct exact_names *names, const char *string);
/** Append UTF-16 to names->text, converting each unit by itself. */
void exact_append(struct exact_names *names, const struct nt_utf16 *utf16);
/** Append a copy of a name to names->text. */
void exact_append_copy(struct exact_names *names, const struct gcdump_text *copy);
/**
 * Copy names->text into the arena.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED names of over 2 GiB
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status exact_copy_text(struct exact_names *names, struct gcdump_text *ret);

void exact_names_deinit(struct exact_names *names);

/**
 * A hash table of nodes by address, with open addressing; a node's address is in
 * exact_nodes.addresses.
 */
struct exact_map {
	uint32_t *slots; /**< pages; node + 1, 0: free */
	size_t capacity;
	uint64_t seed;
	uint32_t count;
};

/** Nodes, numbered as they are first mentioned; begins with only job and err set. */
struct exact_nodes {
	struct job *job;
	struct hd_error *err;
	struct exact_map map;
	uint64_t *addresses; /**< pages; 0 for a pseudo-node */
	size_t addresses_count, addresses_capacity;
};

/**
 * Node of an address; it is made when the address is first mentioned.
 *
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED more nodes than a .gcdump has
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status exact_node(struct exact_nodes *nodes, uint64_t address, uint32_t *ret);
/**
 * Prefetch the memory that exact_node() will need: first the place in the map, then what it refers
 * to.
 */
void exact_prefetch_slot(const struct exact_nodes *nodes, uint64_t address);
void exact_prefetch_node(const struct exact_nodes *nodes, uint64_t address);

/** Free the map: after this, no address can be looked up.  The addresses stay. */
void exact_nodes_forget(struct exact_nodes *nodes);
void exact_nodes_deinit(struct exact_nodes *nodes);

struct nt_snapshot;
struct nt_trace;

/** The meaning of one of the runtime's numbers of types, modules and RCWs. */
struct exact_slot {
	uint32_t type;             /**< for a type id: its type */
	uint64_t address;          /**< for an RCW: its address */
	struct gcdump_text module; /**< for a module: its name */
};

/** Types, in the order in which they were first mentioned; begins with only names and err set. */
struct exact_types {
	struct exact_names *names;
	struct hd_error *err;
	struct gcdump_type *types; /**< pages */
	size_t types_count, types_capacity;
	struct type_table by_id;  /**< section 0: type ids, 1: modules, 2: RCWs; values are indices
				   * in slots */
	struct exact_slot *slots; /**< pages */
	size_t slots_count, slots_capacity;
	bool has_rcws;
};

/* Functions that fail do so with HD_ERR_NOMEM, or as exact_copy_text() does. */

/** Add a type without looking up its name. */
HD_NODISCARD enum hd_status exact_add_type(struct exact_types *types,
					   const struct gcdump_text *name,
					   const struct gcdump_text *module, uint32_t *ret);
/** Collect modules and types of the process. */
HD_NODISCARD enum hd_status exact_types_collect(struct exact_types *types,
						const struct nt_trace *trace,
						const struct nt_snapshot *snapshot);
/** The type with the name in names->text. */
HD_NODISCARD enum hd_status exact_type_named(struct exact_types *types,
					     const struct gcdump_text *module, uint32_t *ret);
/** The type of an object with this type id and size. */
HD_NODISCARD enum hd_status exact_type_of(struct exact_types *types, uint64_t id, int32_t size,
					  uint32_t *ret);
/** The type of a type id, or HD_NONE. */
HD_NODISCARD enum hd_status exact_known_type(struct exact_types *types, uint64_t id, uint32_t *ret);
/** Remember, and look up, the IUnknown of an object that is an RCW. */
HD_NODISCARD enum hd_status exact_set_rcw(struct exact_types *types, uint64_t object,
					  uint64_t unknown);
HD_NODISCARD enum hd_status exact_rcw(struct exact_types *types, uint64_t object, bool *ret_is_rcw,
				      uint64_t *ret_unknown);

void exact_types_deinit(struct exact_types *types);

/** A node that is not an object. */
struct exact_pseudo {
	uint32_t node, type;
	uint32_t parent, first_kid, last_kid, sibling; /**< indices in pseudos, or HD_NONE */
	struct gcdump_text name;
	uint64_t first_child; /**< index in pseudo_children, after sorting */
	uint32_t child_count;
};

/** A child of a pseudo-node. */
struct exact_link {
	uint32_t pseudo, node;
};

/**
 * The tree of roots: pseudo-nodes, and the objects under them; begins with only nodes, names and
 * err set.
 */
struct exact_tree {
	struct exact_nodes *nodes;
	struct exact_names *names;
	struct hd_error *err;
	struct exact_pseudo *pseudos; /**< pages */
	size_t pseudos_count, pseudos_capacity;
	struct exact_link *links; /**< pages */
	size_t links_count, links_capacity;
	uint32_t *pseudo_children; /**< pages, links_count; made by exact_finish_pseudos() */
};

/* Functions that fail do so with HD_ERR_NOMEM, or as exact_new_node() and exact_copy_text() do. */

/** Make the first pseudo-node. */
HD_NODISCARD enum hd_status exact_root(struct exact_tree *tree);
/** The child of @p parent with the name in names->text; made if it is new. */
HD_NODISCARD enum hd_status exact_kid(struct exact_tree *tree, uint32_t parent, uint32_t *ret);
HD_NODISCARD enum hd_status exact_kid_named(struct exact_tree *tree, uint32_t parent,
					    const char *name, uint32_t *ret);
/** Make the node of @p address a child. */
HD_NODISCARD enum hd_status exact_add_child(struct exact_tree *tree, uint32_t pseudo,
					    uint64_t address);
/** Give the pseudo-nodes their types, which are made in @p types, and their children. */
HD_NODISCARD enum hd_status exact_finish_pseudos(struct exact_tree *tree,
						 struct exact_types *types);
/**
 * The pseudo-node after @p pseudo, in the order in which parents come before their children;
 * HD_NONE: none.
 */
uint32_t exact_after(const struct exact_tree *tree, uint32_t pseudo);

void exact_tree_deinit(struct exact_tree *tree);
