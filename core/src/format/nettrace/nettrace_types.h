/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/nettrace/nettrace_snapshot.h"

struct format_options;
struct hd_graph;
struct metadata;
struct text;

/** Type flags of BulkType (eventtrace.h: TypeFlags). */
enum nt_type_flag {
	NT_TYPE_DELEGATE = 1,
	NT_TYPE_RCW = 4,
	NT_TYPE_ARRAY = 8
};

/** Some values of CorElementType (corhdr.h). */
enum nt_element {
	NT_ELEMENT_STRING = 0xe,
	NT_ELEMENT_PTR = 0xf,
	NT_ELEMENT_BYREF = 0x10,
	NT_ELEMENT_VALUE = 0x11,
	NT_ELEMENT_CLASS = 0x12,
	NT_ELEMENT_ARRAY = 0x14,
	NT_ELEMENT_GENERIC_INST = 0x15,
	NT_ELEMENT_FNPTR = 0x1b,
	NT_ELEMENT_OBJECT = 0x1c,
	NT_ELEMENT_SZ_ARRAY = 0x1d,
	NT_ELEMENT_CMOD_REQD = 0x1f,
	NT_ELEMENT_CMOD_OPT = 0x20
};

/** A row of BulkType. */
struct nt_type {
	uint64_t id, module;
	uint32_t token, flags;
	uint8_t element_type; /**< enum nt_element, or another */
	struct nt_utf16 name;
	uint64_t parameter; /**< first type parameter; for arrays, the element type; 0: none */
};

/** Begin at the first row of a NT_TYPES item. */
struct nt_bytes nt_types_begin(const struct nt_item *item, uint32_t *ret_count);
/** The next row; false: it is not complete. */
bool nt_type_next(struct nt_bytes *at, struct nt_type *ret);

/** A NT_MODULE or NT_MODULE_RUNDOWN item. */
struct nt_module {
	uint64_t id;
	uint32_t flags; /**< 2: native, it has no types; 4: made at run time, it has no file */
	struct nt_utf16 path;
	const uint8_t *pdb; /**< GUID; NULL: not known */
	uint32_t pdb_age;
};
#define NT_MODULE_NATIVE  2u
#define NT_MODULE_DYNAMIC 4u
bool nt_module_read(const struct nt_item *item, struct nt_module *ret);

/** A module whose types occur, and the metadata of its file, if that is available. */
struct nt_assembly {
	uint64_t id;
	const char *path; /**< ends with NUL; NULL: not known */
	struct metadata *metadata;
	bool is_tried, is_other; /**< is_other: the file is not the one that was loaded */
	bool is_unproven;        /**< there is a file, but nothing says whether it is the right one,
				  * so it is not used */
	bool is_certain;         /**< the file is the right one, according to its PDB or the names
				  * of its types */
	bool is_dynamic;
	int error; /**< errno if the file could not be read, except when it does not exist; else
		    * 0 */
	uint32_t first;     /**< row of one of its types, nt_place.next leads to the others; or
			 * HD_NONE */
	uint32_t position;  /**< position among the modules of the rundown, counted from 1; 0: it is
			   * not there */
	const uint8_t *pdb; /**< GUID, borrowed from the trace; NULL: not known */
	uint32_t pdb_age;
};

/** Where a type belongs. */
struct nt_place {
	uint32_t assembly; /**< index in assemblies */
	uint32_t next;     /**< row of the next type in the same module, or HD_NONE */
};

/**
 * Types and modules of a process: the last definition of a type and the first one of a module are
 * used.
 */
struct nt_types {
	struct nt_type *rows; /**< pages */
	size_t rows_count, rows_capacity;
	struct nt_assembly *assemblies; /**< pages */
	size_t assemblies_count, assemblies_capacity;
	struct nt_place *places; /**< pages; by row */
	size_t places_count, places_capacity;
	struct type_table table;              /**< section 0: types, 1: modules */
	uint64_t unknown;                     /**< types without a definition */
	uint64_t metadata_size;               /**< bytes of metadata read so far */
	uint32_t positions;                   /**< the last position of a module */
	bool has_rundown_end, has_loss;       /**< in the process's events */
	const struct format_options *options; /**< may be NULL */
	struct job *job;
	struct hd_error *err;
};

/**
 * Collect them; paths are in the arena of @p graph.
 *
 * @param[out] types To be given to nt_types_deinit(), also on failure.
 */
HD_NODISCARD enum hd_status nt_types_read(const struct nt_trace *trace,
					  const struct nt_snapshot *snapshot,
					  struct hd_graph *graph, struct nt_types *types);
void nt_types_deinit(struct nt_types *types);

/** Index of a type, which is added if it has no definition; UINT32_MAX: memory is exhausted. */
uint32_t nt_types_find(struct nt_types *types, uint64_t id);

/** Index of a type, or UINT32_MAX when it has no definition. */
uint32_t nt_types_known(const struct nt_types *types, uint64_t id);

/** Give @p graph its types, one per row. */
HD_NODISCARD enum hd_status nt_types_name(struct nt_types *types, struct hd_graph *graph);

/* The following is private to the files nettrace_types*. */

/** Append UTF-16 as UTF-8; half of a pair becomes U+FFFD. */
void nt_append_utf8(struct text *text, const struct nt_utf16 *utf16);
/** Copy of a text in @p graph's arena, with a NUL; NULL: memory is exhausted. */
const char *nt_copy_utf8(struct hd_graph *graph, const struct nt_utf16 *utf16);

/**
 * Append a type's name as the heap's types are named: `Dictionary`2+Entry[A,B]` becomes
 * "Dictionary<A, B>+Entry".
 */
void nt_append_type_name(struct text *text, const char *name, size_t size);

/** Is there a file of the module that was not used? */
bool nt_is_unused(const struct nt_assembly *assembly);
/**
 * Append what precedes the simple name of a nested class: "Namespace.Outer`1+"; nothing if the
 * class is not nested, or the file of its module is not available.
 *
 * @return Whether the class may be nested, and there is a file that was not used.
 */
bool nt_append_outer(struct nt_types *types, size_t row, struct text *text);

/**
 * Metadata of a module's file, if the file is available and certainly the one that was loaded; else
 * NULL.
 */
const struct metadata *nt_module_metadata(struct nt_types *types, uint32_t assembly);
/** Append the name of a TypeDef with its outer classes: "Namespace.Outer+Inner". */
void nt_append_type_def(const struct metadata *metadata, uint32_t rid, struct text *text);
/** Append the name of a type as the trace has it, without type arguments and '\\'. */
void nt_append_sent(const struct nt_type *type, struct text *text);
/** RID of the TypeDef of a type, in its module; 0: it has none, as an array. */
uint32_t nt_type_def(const struct nt_type *type);
