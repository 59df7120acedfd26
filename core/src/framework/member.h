/* SPDX-License-Identifier: MIT */
/* Values of named fields of the framework's objects: a field that is not there is told from null. */
#pragma once

#include "framework/facts.h"
#include "gc/walk.h"
#include "runtime/coreclr/types/field.h"

enum member_state {
	MEMBER_READ,   /**< the value is known; a reference may be null (bits 0) */
	MEMBER_NULL,   /**< a reference on the way to the field is null */
	MEMBER_ABSENT, /**< a type on the way has no such field: another version of the runtime */
	MEMBER_UNREADABLE, /**< the target lacks the bytes, or a reference leads to no object */
};

/** The value of a field. */
struct member {
	uint64_t address; /**< of its bytes; 0 unless MEMBER_READ */
	uint64_t
		bits; /**< a number or a reference, zero-extended; 0 for a struct, and unless MEMBER_READ */
	const struct type *type; /**< declared type, the exact type of a struct; NULL: not known */
	uint8_t state;           /**< enum member_state */
	uint8_t element_type;    /**< enum element_type of what is stored */
};

/**
 * Reads fields by name, and remembers where the fields of each type are.  One thread uses it.
 */
struct members;

/**
 * @param[out] ret To be given to members_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status members_create(struct heap *heap, struct members **ret,
					   struct hd_error *err);

/** The heap that it reads. */
struct heap *members_heap(const struct members *members);

/** NULL is allowed. */
void members_destroy(struct members *members);

/** For HD_CLEANUP(members), in front of a pointer that is NULL or made by members_create(). */
static inline void members_deinit(struct members **members)
{
	members_destroy(*members);
}

/**
 * The field of @p object that @p path names: instance fields by their names in metadata, with dots
 * between them, through structs and through references: "_separated.counts._data",
 * "_tables._buckets".  Where a class hides a field of a base class, its own is taken.
 *
 * @param path Borrowed as long as @p members lives (a literal).
 * Cost: constant after the first time for a type; no allocation then.
 */
struct member member_of(struct members *members, const struct object *object, const char *path);

/** The same for the object at @p address; MEMBER_NULL for 0. */
struct member member_at(struct members *members, uint64_t address, const char *path);

/** The same for a struct of @p type whose first field is at @p address. */
struct member member_of_struct(struct members *members, const struct type *type, uint64_t address,
			       const char *path);

/** The value of a static field of the loaded type with that full name; MEMBER_NULL: not made yet. */
struct member member_static(struct members *members, const char *type_name, const char *name);

/**
 * The same by the row of framework/fact_table.h.  An object of the row's type that has no such field
 * is noted in the heap's ledger: the answer says then what it does not know (framework/absent.h).
 */
struct member fact_of(struct members *members, const struct object *object, enum fact fact);
struct member fact_at(struct members *members, uint64_t address, enum fact fact);
struct member fact_of_struct(struct members *members, const struct type *type, uint64_t address,
			     enum fact fact);
/**
 * The same by a list of the object's fields that was read already, base classes first.  Without the
 * names of fields all are absent, and none is noted.
 */
struct member fact_in_list(struct heap *heap, const struct object *object,
			   const struct field_list *list, enum fact fact);
/** The static field of a type that is not generic. */
struct member fact_static(struct members *members, enum fact fact);

/** Is @p type that one, or derived from it? */
bool type_is_a(struct runtime *runtime, const struct type *type, enum net_type of);

/** Read the object at @p address; false when there is none. */
bool member_object(struct members *members, uint64_t address, struct object *ret);

/** A member that was read, as a signed number of its size. */
int64_t member_signed(const struct member *member);
