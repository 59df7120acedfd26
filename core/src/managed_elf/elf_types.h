/* SPDX-License-Identifier: MIT */
/* The types of variables and fields, each once, and their entries in .debug_info (doc/managed-elf.md 9). */
#pragma once

#include "runtime/type.h"
#include "util/job.h"
#include "util/text.h"

/** Number of a type that is not known. */
#define TYPE_UNKNOWN 0u
/** Number of a pointer to anything. */
#define TYPE_ANYTHING 1u

/** Most types that are described, and most members of all of them: the others are structs without members. */
#define TYPES_MAX   100000u
#define MEMBERS_MAX 1000000u

enum type_kind {
	KIND_UNKNOWN,
	KIND_BASE,   /**< a primitive */
	KIND_STRUCT, /**< the content of an object or of a struct */
	KIND_ENUM,
	KIND_POINTER,   /**< to another row; to 0: to anything */
	KIND_REFERENCE, /**< the same for by reference */
	KIND_NAMED,     /**< a type of which only the name is known */
};

struct type_row {
	const struct type *type; /**< of KIND_STRUCT and KIND_ENUM */
	char *name;              /**< of KIND_NAMED; owned */
	uint32_t target; /**< KIND_POINTER, KIND_REFERENCE: a row; KIND_BASE: enum element_type */
	uint32_t entry;  /**< where its entry is in .debug_info; 0: it has none yet */
	uint8_t kind;    /**< enum type_kind */
};

/** Zero-initialised is empty. */
struct elf_types {
	struct runtime *runtime;
	struct type_row *rows;
	size_t rows_count, rows_capacity;
	uint32_t *slots; /**< a hash table: numbers of rows, 0: empty */
	size_t slots_count;
	uint32_t *
		uses; /**< places in .debug_info that have the number of a row in place of its entry */
	size_t uses_count, uses_capacity;
	uint32_t members; /**< how many were written */
	bool failed;      /**< memory is exhausted */
};
void elf_types_deinit(struct elf_types *table);

/** The row of a variable or a field of @p type, which is not NULL: a pointer, unless it is a struct. */
uint32_t elf_types_stored(struct elf_types *table, const struct type *type);
/** The same by its full name, as the metadata has it: also "System.Int32*". */
uint32_t elf_types_named(struct elf_types *table, const char *name);
/**
 * The same by all that is known about it.
 *
 * @param element enum element_type of what it holds.
 * @param type NULL: not known.
 * @param name "": not known.
 */
uint32_t elf_types_of(struct elf_types *table, uint8_t element, const struct type *type,
		      const char *name);
uint32_t elf_types_pointer(struct elf_types *table, uint32_t target);
uint32_t elf_types_reference(struct elf_types *table, uint32_t target);
/** The row of what an object of that type has, or a struct. */
uint32_t elf_types_content(struct elf_types *table, const struct type *type);
/** The row of a type that has @p size bytes of @p name for its name and nothing else. */
uint32_t elf_types_word(struct elf_types *table, const char *name, size_t size);
/** Bytes of the content of an object of that type, or of a struct. */
uint64_t elf_types_content_size(const struct elf_types *table, const struct type *type);
/** Bytes of a value; 0: not known. */
uint64_t elf_types_size(const struct elf_types *table, uint32_t row);

static inline bool type_is_struct(const struct type *type)
{
	return type->category >= CATEGORY_VALUE && type->category <= CATEGORY_TRUE_PRIMITIVE;
}

/**
 * "Name" of "<Name>k__BackingField" and of "<Name>5__2": the property, or the local of an async method or iterator, that the
 * compiler made a field for; of "Name@", the field of a record of F#.
 *
 * @param[out] ret_size Its bytes; 0: the field has no other name than its own.
 */
const char *elf_field_word(const char *name, size_t *ret_size);

/** The full name of the primitive that is enum element_type @p element; NULL: it is not one. */
const char *type_base_name(uint8_t element);

/**
 * Append the number of a row, in place of which elf_types_write() sets a reference to its entry; TYPE_UNKNOWN stands for a
 * pointer to anything.
 */
void elf_types_use(struct elf_types *table, uint32_t row, struct text *info);

/**
 * Append an entry for each row, and for all that they need in turn; then set all references.
 *
 * @param info The unit, which begins at 0.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status elf_types_write(struct elf_types *table, struct job *job,
					    struct text *info, struct hd_error *err);
