/* SPDX-License-Identifier: MIT */
#pragma once

#include "gc/heap.h"
#include "gc/walk.h"
#include "runtime/coreclr/types/field.h"

struct members;
struct text;

/**
 * Append the content of the string object at @p address as UTF-8 (lone surrogates as U+FFFD), at
 * most @p limit UTF-16 units; false when it is not a readable string.
 */
bool string_value(struct heap *heap, uint64_t address, uint32_t limit, struct text *text,
		  uint32_t *ret_length);

/** How a value is shown; JSON has these names. */
enum value_form {
	FORM_TEXT,      /**< a number, a character, an enum, true or false */
	FORM_REFERENCE, /**< an address of an object, 0 = null */
	FORM_STRUCT,    /**< an embedded struct at an address: SOS prints the address */
	FORM_MISSING,   /**< the bytes are not in the target */
	FORM_UNSET,     /**< a static of a class that is not initialised yet */
};

struct value_out {
	enum value_form form;
	uint8_t element_type; /**< enum element_type of what is stored: an enum's number */
	uint64_t address;     /**< reference or struct */
	uint64_t bits;        /**< raw value of primitives */
	char text[128];       /**< for FORM_TEXT, as SOS prints it: numbers, a char in hex */
	char note[128];       /**< its meaning, or "": an enum's name, 'c', true, a date */
};

/** Read the value of a field of @p element_type at @p address; @p type may be NULL. */
void value_read(struct heap *heap, uint8_t element_type, const struct type *type, uint64_t address,
		struct value_out *ret);

/**
 * The same of a value that is in the register or word @p word, whose upper bytes a smaller value
 * does not use; a struct stays FORM_MISSING.
 */
void value_of_word(struct heap *heap, uint8_t element_type, const struct type *type, uint64_t word,
		   struct value_out *ret);

/** Value of a primitive as a signed number, sign-extended from its size. */
int64_t value_signed(const struct value_out *value);

/** Is it a type that derives from System.Enum? */
bool type_is_enum(struct runtime *runtime, const struct type *type);

/**
 * How a value of @p type is stored: an enum or a primitive as its number, other structs as
 * ELEMENT_VALUE, everything else as a reference.
 */
uint8_t type_storage(struct runtime *runtime, const struct type *type);

/**
 * Is @p type, or a class that it derives from, the type at @p method_table (0 = unknown) or the
 * type with the name @p name?
 */
bool type_derives_from(struct runtime *runtime, const struct type *type, uint64_t method_table,
		       const char *name);

/**
 * Does @p type implement an interface with a wanted name?  A class has those of its base classes, too.
 */
bool type_implements(struct runtime *runtime, const struct type *type,
		     bool (*is_wanted)(const char *name));

/** An array's shape and where its elements lie. */
struct array_info {
	uint32_t rank;
	uint32_t length; /**< the product of all dimensions */
	uint32_t lengths[ARRAY_RANK_MAX];
	int32_t bounds[ARRAY_RANK_MAX];
	uint64_t data;
	uint32_t element_size;
	uint64_t element_handle;    /**< TypeHandle */
	const struct type *element; /**< NULL when element_handle is not a MethodTable (pointers) */
	uint8_t element_type;       /**< enum element_type of the storage */
};

/** False when @p object is not an array or cannot be read. */
bool array_read(struct heap *heap, const struct object *object, struct array_info *ret);
/** The same of the array at @p address; false also when it is 0. */
bool array_at(struct heap *heap, struct members *members, uint64_t address, struct array_info *ret);

/** The reference in element @p index of an array of references; 0: null, or not readable. */
uint64_t array_reference(struct heap *heap, const struct array_info *array, uint64_t index);

/** Text of the indices of element @p index of an array: "[1][2]". */
void array_index_text(const struct array_info *array, uint32_t index, struct text *text);

/** A frame of an exception's stack trace. */
struct exception_frame {
	uint64_t sp;
	uint64_t ip; /**< the instruction that caused a hardware exception, or the address to which
		      * a call returns */
	uint64_t within;      /**< an address in that instruction, or in the call before ip */
	uint64_t method_desc; /**< 0 = not known */
};

/** The content of an exception object; strings as UTF-8, owned. */
struct exception_info {
	uint64_t address, inner;
	int32_t hresult;
	char *message;      /**< NULL: null, or not readable */
	char *stack_trace;  /**< _stackTraceString; NULL likewise */
	char *remote_trace; /**< _remoteStackTraceString (doc/coreclr.md 20.1); NULL likewise */
	bool message_lost;  /**< there is a message, but it cannot be read: small cores lack
			    * strings */
	bool stack_trace_lost, remote_trace_lost;
	uint64_t stack_trace_array;
	uint64_t inner_array; /**< _innerExceptions of an AggregateException, or 0 */
	/**
	 * Where exception_frame_at() was last: the frame with that number is at that word of an
	 * array of return addresses.
	 */
	struct {
		uint32_t frame, word;
	} last;
};
/** False when it is not an exception, or the names of its fields are not known. */
bool exception_read(struct heap *heap, const struct object *object, struct exception_info *ret);
void exception_info_deinit(struct exception_info *info);
/**
 * Frame number @p index of _stackTrace; false after the last one, or when it cannot be read.  All of them, one after the
 * other, cost time linear in their number.
 */
bool exception_frame_at(struct heap *heap, struct exception_info *info, uint32_t index,
			struct exception_frame *ret);
/** Does _stackTrace have more than the @p count frames that exception_frame_at() gave? */
bool exception_frames_lost(struct heap *heap, struct exception_info *info, uint32_t count);
/** Inner exception number @p index; 0: there are no more, or they cannot be read. */
uint64_t exception_inner_at(struct heap *heap, const struct exception_info *info, uint32_t index);
/** Is @p type System.Exception or derived from it? */
bool type_is_exception(struct runtime *runtime, const struct type *type);
/** System.Exception, which @p type is, or from which it derives. */
const struct type *type_exception_base(struct runtime *runtime, const struct type *type);

/** A delegate: one target and method, or the list of a multicast delegate. */
struct delegate_info {
	uint64_t target;      /**< object; an open delegate (of a static method) is its own
				   * target; or 0 */
	uint64_t method_code; /**< _methodPtr (or Aux) */
	uint64_t method_desc; /**< 0 = not known */
	uint32_t token;       /**< of the method, 0 = not known */
	uint64_t
		invocation_list; /**< of a multicast delegate: an array whose elements are 8 bytes, a
				   * reference each; 0 = single */
	uint64_t invocation_count;
};
/** False when it is not a delegate, or its fields are not known. */
bool delegate_read(struct heap *heap, const struct object *object, struct delegate_info *ret);
/** Is @p type derived from System.Delegate? */
bool type_is_delegate(struct runtime *runtime, const struct type *type);
