/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_FORMAT_NETTRACE_FIELDS_H
#define HEAPDUMP_SRC_FORMAT_NETTRACE_FIELDS_H

#include "format/nettrace/nettrace_types.h"
#include "format/type_table.h"
#include "metadata/metadata.h"

/*
 * The static fields of the modules at hand, in the order in which the runtime sends those that are
 * not null (eventtrace_bulktype.cpp: LogAllStatics): modules as the AppDomain has them, in each the
 * types by TypeDef, of a type the fields as they are declared.  Neither those of a thread, nor of
 * generic types, nor what holds no reference.
 */

/** A static field that holds a reference, or one to its boxed struct. */
struct nt_field {
	uint64_t
		key; /**< position of the module in the upper half, of the field in it in the lower */
	uint32_t assembly;
	uint32_t rid, type; /**< Field, TypeDef */
	uint32_t name;      /**< index in names */
	/**
	 * Its slot among those of its type: how many come before it for sure, and of how many before
	 * it that is not known, because an enum holds no reference and has the signature of a struct.
	 */
	uint32_t before, unsure;
	uint32_t after; /**< slots of its type that come behind it for sure */
	bool is_sure;   /**< it is none of those that are not known itself */
};

/** What a static variable of the trace is called. */
struct nt_name {
	const char *bytes;
	size_t size;
	size_t first, count; /**< its fields: by_name[first] on, ascending by key */
};

struct nt_fields {
	struct nt_field *rows; /**< pages; ascending by key */
	size_t rows_count, rows_capacity;
	struct nt_name *names; /**< pages */
	size_t names_count, names_capacity;
	uint32_t *by_name; /**< pages; rows_count */
	size_t by_name_count;
	/** Keys where fields may lie that are not known, ascending: modules that are not at hand. */
	uint64_t *unknown; /**< pages */
	size_t unknown_count, unknown_capacity;
	struct type_table table; /**< of names, by hash */
	struct arena *arena;
};

/** No name of a field. */
#define NT_NO_NAME UINT32_MAX

/** Make a name known; NT_NO_NAME in *@p ret when another one is in its way. */
HD_NODISCARD enum hd_status nt_fields_name(struct nt_fields *fields, const char *bytes, size_t size,
					   uint32_t *ret, struct hd_error *err);
/**
 * Find the fields that are called so.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status nt_fields_read(struct nt_fields *fields, struct nt_types *types);
/** A zeroed struct is allowed. */
void nt_fields_deinit(struct nt_fields *fields);

/** Do two fields belong to one type of one module? */
static inline bool nt_same_type(const struct nt_field *a, const struct nt_field *b)
{
	return a->assembly == b->assembly && a->type == b->type;
}

/** Are the slots of two fields of one type at the distance that lies between their addresses? */
bool nt_fields_fit(const struct nt_field *a, uint64_t a_slot, const struct nt_field *b,
		   uint64_t b_slot, uint32_t pointer_size);
/** Is the slot at @p address another one of the type that declares @p field, whose slot is @p slot? */
bool nt_field_is_near(const struct nt_field *field, uint64_t slot, uint64_t address,
		      uint32_t pointer_size);

/** What an object is, for nt_field_holds(). */
struct nt_object {
	const struct nt_type *type; /**< NULL: not known */
	uint32_t assembly, type_def;
	const char *name; /**< as it was sent, without arguments; ends with NUL */
};

/** First byte of a field's type behind its modifiers; *@p at moves behind it; 0: none. */
uint8_t nt_field_element(const struct metadata *metadata, uint32_t rid, const uint8_t **at,
			 const uint8_t **end);
/** Can a field hold that object?  True as well where that is not known. */
bool nt_field_holds(struct nt_types *types, const struct nt_field *field,
		    const struct nt_object *object);
/** Is row @p rid of TypeDef or TypeRef called "Namespace.Name"? */
bool nt_row_is_named(const struct metadata *metadata, enum md_table table, uint32_t rid,
		     const char *name);

/** The type that declares a static variable. */
struct nt_declarer {
	const struct metadata *metadata; /**< NULL: not known */
	uint32_t assembly;               /**< index in assemblies */
	uint32_t type;                   /**< TypeDef */
};

/**
 * Find what declares the static variables of a snapshot: only what is certain.
 *
 * @param rows All of them, in the order in which they were sent.
 * @param[out] ret @p count, zeroed by the caller.
 */
HD_NODISCARD enum hd_status nt_declarers_find(struct nt_types *types, const struct nt_static *rows,
					      size_t count, uint32_t pointer_size,
					      struct nt_declarer *ret);

#endif
