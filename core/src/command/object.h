/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COMMAND_OBJECT_H
#define HEAPDUMP_SRC_COMMAND_OBJECT_H

#include "command/command.h"
#include "inspect/value.h"

/*
 * What the commands about one object share.  @p indent: blanks before each line of text; JSON goes
 * to the object that is open.
 */

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

/** The type whose MethodTable stands at @p address; HD_ERR_NOTFOUND when there is none. */
HD_NODISCARD enum hd_status call_type(struct call *call, uint64_t address, const struct type **ret);

/** Path of the file of a type's module, or NULL. */
const char *type_file(struct clr *clr, const struct type *type);

/** Name:, MethodTable:, EEClass:; mt, type and ee_class. */
void type_head(struct call *call, const struct type *type, unsigned int indent);
/** Size: and File:; size and file. */
void size_and_file(struct call *call, const struct type *type, uint64_t size, unsigned int indent);

/** Where the fields that are written lie. */
enum fields_of {
	FIELDS_OF_OBJECT, /**< behind the MethodTable of the object at an address */
	FIELDS_OF_STRUCT, /**< of a struct at an address */
	FIELDS_OF_TYPE,   /**< no instance: statics alone have values */
};

/** SOS's table of fields, or "fields" (embedded structs with theirs inside). */
HD_NODISCARD enum hd_status write_fields(struct call *call, const struct type *type,
					 uint64_t address, enum fields_of of, unsigned int indent);

/** SOS's line about an array, or length, lengths and lower_bounds. */
void array_line(struct call *call, const struct array_info *array);

/** A value as a JSON member (NULL @p key: an element). */
void value_json(struct json *json, const char *key, const struct value_out *value);
/** A value in SOS's form, for a column of 16. */
void value_text(const struct value_out *value, char *buf, size_t size);

/**
 * What a value means, for a person: an enum's name, the first characters of a string, a date.
 * Escaped; nothing is appended when there is no more to say.
 */
void value_note(struct heap *heap, const struct value_out *value, struct text *text);

/** Append a string object's text, escaped, at most @p limit UTF-16 units; false if unreadable. */
bool string_text(struct heap *heap, uint64_t address, uint32_t limit, struct text *text);

enum hd_status run_dumpobj_heap(struct call *call);
enum hd_status run_dumparray(struct call *call);
enum hd_status run_dumpmt(struct call *call);
enum hd_status run_dumpclass(struct call *call);
enum hd_status run_dumpvc(struct call *call);
enum hd_status run_printexception(struct call *call);
enum hd_status run_dumpdelegate(struct call *call);
enum hd_status run_strings(struct call *call);
enum hd_status run_syncblk(struct call *call);

extern const struct option dumparray_options[], printexception_options[], strings_options[],
	syncblk_options[];

#endif
