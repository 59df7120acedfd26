/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"
#include "inspect/value.h"

/* The commands about one object share this.  @p indent: blanks before each line of text. */

/**
 * The object that starts at @p address.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND there is none: says what is there, and what to try
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status call_heap_object(struct call *call, uint64_t address,
					     struct object *ret);

struct location;

/** The same, of an address that object_locate() has looked at. */
HD_NODISCARD enum hd_status call_located_object(struct call *call, uint64_t address,
						const struct location *location,
						struct object *ret);

/**
 * Fail with HD_ERR_NOTFOUND: @p object is not @p wanted ("an array") but of its type.
 *
 * @param[in] instead The command to try.
 */
HD_NODISCARD enum hd_status call_wrong_object(struct call *call, const struct object *object,
					      const char *wanted, const char *instead);

/** The type whose MethodTable is at @p address; HD_ERR_NOTFOUND when there is none. */
HD_NODISCARD enum hd_status call_type(struct call *call, uint64_t address, const struct type **ret);

/** Path of the file of a type's module, or NULL. */
const char *type_file(struct runtime *runtime, const struct type *type);

/** The head of the answer about an object or a struct. */
struct object_head {
	const struct type *type;
	uint64_t size;
	uint64_t address;    /**< data only */
	bool has_address;    /**< false: what is around it has said that */
	bool is_free;        /**< text says so, and no more than its size */
	unsigned int indent; /**< in text */
};

/** Name:, MethodTable:, EEClass:, Size: and File:; a record of single members. */
void write_object_head(struct answer *answer, struct runtime *runtime,
		       const struct object_head *head);

/** Where the fields that are written lie. */
enum fields_of {
	FIELDS_OF_OBJECT, /**< after the MethodTable of the object at an address */
	FIELDS_OF_STRUCT, /**< of a struct at an address */
	FIELDS_OF_TYPE,   /**< no instance: only statics have values */
};

/** SOS's table of fields, or "fields" (embedded structs with theirs inside). */
HD_NODISCARD enum hd_status write_fields(struct call *call, const struct type *type,
					 uint64_t address, enum fields_of of, unsigned int indent);

/**
 * The same for @p list, which it frees: instance fields relative to @p base, and whose offsets are shown as those
 * of an object or a struct are.
 */
HD_NODISCARD enum hd_status write_field_list(struct call *call, const struct type *type,
					     struct field_list *list, uint64_t base,
					     enum fields_of of, unsigned int indent);

/** SOS's line about an array: length, lengths and lower_bounds. */
void write_array(struct answer *answer, const struct array_info *array);
/** Only the line. */
void write_array_line(struct answer *answer, const struct array_info *array, unsigned int indent);

/** A value, for a column of KIND_ANY: a number, a flag or an address; absent where it is missing. */
struct cell value_cell(const struct value_out *value);
/** For layouts: write what a value means, after the value. */
void object_note_layout(struct out *out, const struct cell *note);

/** UTF-16 units of a string that are shown at most. */
#define STRING_MAX ((uint32_t)1 << 24)

/** A value in SOS's form, for a column of 16. */
void value_text(const struct value_out *value, char *buf, size_t size);

/**
 * Append the meaning of a value, for a person: an enum's name, the first characters of a string (all of
 * them with --full), a date.  Escaped; nothing is appended when there is no more to say.
 */
void value_note(const struct call *call, const struct value_out *value, struct text *text);

/** Append what value_note() says of a reference to the object: the text of a string in quotes; else nothing. */
void object_note(const struct call *call, const struct object *object, struct text *text);

/** Append a string object's text, escaped, at most @p limit UTF-16 units; false if unreadable. */
bool string_text(struct heap *heap, uint64_t address, uint32_t limit, struct text *text);

enum hd_status run_dumpobj_heap(struct call *call);
