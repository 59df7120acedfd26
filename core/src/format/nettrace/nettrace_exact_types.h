/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/nettrace/nettrace_exact_names.h"
#include "format/type_table.h"

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
