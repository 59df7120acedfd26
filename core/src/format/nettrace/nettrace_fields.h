/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/nettrace/nettrace_types.h"
#include "format/type_table.h"
#include "metadata/metadata.h"

/*
 * The static fields of the modules that are available, in the order in which the runtime sends
 * those that are not null (eventtrace_bulktype.cpp: LogAllStatics): modules in the order of the
 * AppDomain, in each the types by TypeDef, in each type the fields as they are declared.  Thread
 * statics, fields of generic types, and fields without references are left out.
 */

/** A static field that holds a reference to an object or to its boxed struct. */
struct nt_field {
	uint64_t key; /**< upper half: position of the module; lower half: position of the field in
		      * the module */
	uint32_t assembly;
	uint32_t rid, type; /**< Field, TypeDef */
	uint32_t name;      /**< index in names */
	/**
	 * Its slot among those of its type: how many slots certainly come before it, and for how
	 * many fields before it this is not known, because an enum has no reference but the
	 * signature of a struct.
	 */
	uint32_t before, unsure;
	uint32_t after; /**< slots of its type that certainly come after it */
	bool is_sure;   /**< it certainly has a slot itself */
};

/** The name of a static variable in the trace. */
struct nt_name {
	const char *bytes;
	size_t size;
	size_t first, count; /**< its fields: from by_name[first], ascending by key */
};

struct nt_fields {
	struct nt_field *rows; /**< pages; ascending by key */
	size_t rows_count, rows_capacity;
	struct nt_name *names; /**< pages */
	size_t names_count, names_capacity;
	uint32_t *by_name; /**< pages; rows_count */
	size_t by_name_count;
	/**
	 * Keys, ascending, at which there may be unknown fields: modules that are not available.
	 */
	uint64_t *unknown; /**< pages */
	size_t unknown_count, unknown_capacity;
	struct type_table table; /**< finds names by their hash */
	struct arena *arena;
};

/** In place of a name's number: it is not the name of a field. */
#define NT_NO_NAME UINT32_MAX

/** Add a name; *@p ret is NT_NO_NAME when another name with the same hash is already there. */
HD_NODISCARD enum hd_status nt_fields_name(struct nt_fields *fields, const char *bytes, size_t size,
					   uint32_t *ret, struct hd_error *err);
/**
 * Find the fields with these names.
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

/**
 * Is the distance between the slots of two fields of one type equal to that between their
 * addresses?
 */
bool nt_fields_fit(const struct nt_field *a, uint64_t a_slot, const struct nt_field *b,
		   uint64_t b_slot, uint32_t pointer_size);
/**
 * Can the slot at @p address belong to the type that declares @p field, whose own slot is at @p
 * slot?
 */
bool nt_field_is_near(const struct nt_field *field, uint64_t slot, uint64_t address,
		      uint32_t pointer_size);

/** The type of an object, for nt_field_holds(). */
struct nt_object {
	const struct nt_type *type; /**< NULL: not known */
	uint32_t assembly, type_def;
	const char *name; /**< as the trace has it, without type arguments; ends with NUL */
};

/** First byte of a field's type after its modifiers; *@p at is moved past it; 0: there is none. */
uint8_t nt_field_element(const struct metadata *metadata, uint32_t rid, const uint8_t **at,
			 const uint8_t **end);
/** Can a field hold that object?  Also true when that is not known. */
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
 * Find the types that declare the static variables of a snapshot, where they are certain.
 *
 * @param rows All of them, in the order in which they were sent.
 * @param[out] ret @p count, zeroed by the caller.
 */
HD_NODISCARD enum hd_status nt_declarers_find(struct nt_types *types, const struct nt_static *rows,
					      size_t count, uint32_t pointer_size,
					      struct nt_declarer *ret);
