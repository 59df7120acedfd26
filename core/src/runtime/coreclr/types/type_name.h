/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/modules/module.h"
#include "util/text.h"

/**
 * Deepest nesting of types in a name, and most bytes of a name; a longer name is cut and ends with
 * "...".
 */
#define NAME_DEPTH_MAX 64u
#define NAME_SIZE_MAX  65536u

/**
 * Generic types of generic types can have names that double in length with each level, although
 * their structures have few bytes.  Bytes and steps above the usual limit are counted for the whole
 * runtime; when they exceed NAME_EXTRA_MAX, all further names are cut at the usual limit.
 */
#define NAME_USUAL_SIZE  1024u
#define NAME_USUAL_STEPS 4096u
#define NAME_EXTRA_MAX   ((uint64_t)16 << 20)

/** Generic arguments: an array of TypeHandles in the target. */
struct type_arguments {
	uint64_t address;
	uint32_t count; /**< at most TYPE_ARGUMENTS_MAX */
};
#define TYPE_ARGUMENTS_MAX 256u

/** Something that is still to be appended to a name. */
struct name_item {
	uint8_t kind;
	uint8_t depth;
	uint32_t size;
	const uint8_t *bytes;
	uint64_t value;
};

/**
 * Writes the name of a type, which is a tree of types.  What is left to do is kept on a stack, so
 * that no input causes recursion.  One signature is read at a time: an item for "the next type"
 * takes it from the cursor when its turn comes.
 */
struct name_writer {
	struct runtime *runtime;
	struct text *text;
	size_t begin; /**< where the name begins in text */
	struct name_item *items;
	size_t count, capacity;
	unsigned int steps;
	unsigned int muted; /**< > 0: only the cursor moves */
	bool failed;        /**< memory was exhausted */
	/* the signature */
	const struct module *module;
	const uint8_t *at, *end;
	struct type_arguments arguments; /**< the types for the signature's type parameters (VAR) */
};

struct type;

/** The generic arguments of @p type; count is 0 when it has none or they cannot be read. */
struct type_arguments type_arguments(const struct runtime *runtime, const struct type *type);

/**
 * Append the type that @p signature (of @p module's metadata) begins with.
 *
 * @param arguments The types for the type's own generic parameters.
 */
void signature_type_name(struct runtime *runtime, const struct module *module,
			 const uint8_t *signature, uint32_t size, struct type_arguments arguments,
			 struct text *text);

/** Append "Ns.Outer+Inner" of a TypeDef, arity included. */
void typedef_name(const struct metadata *metadata, uint32_t rid, struct text *text);

/* Shared by type_name.c and signature.c. */
enum name_item_kind {
	NAME_TEXT,      /* bytes, size */
	NAME_HANDLE,    /* value: a TypeHandle */
	NAME_SIGNATURE, /* the next type of the signature */
	NAME_SHAPE,     /* the shape of an array, II.23.2.13 */
	NAME_MUTE,
	NAME_UNMUTE,
	NAME_RESTORE, /* back to the signature at bytes, size */
};

void name_push(struct name_writer *writer, enum name_item_kind kind, unsigned int depth,
	       uint64_t value);
void name_push_text(struct name_writer *writer, const char *bytes, size_t size);
void name_push_string(struct name_writer *writer, const char *string);
/**
 * Reverse the order of what was pushed since the stack held @p base items: first pushed, first
 * done.
 */
void name_in_order(struct name_writer *writer, size_t base);
/**
 * Push "Ns.Outer<A>+Inner<B>" of the types @p rids (outermost first) of table TypeRef or TypeDef;
 * arguments are taken from @p arguments, or when @p from_signature is set the next @p
 * arguments.count of the signature.
 */
struct type_chain {
	enum md_table table;
	uint32_t rids[NAME_DEPTH_MAX];
	unsigned int count;
};
void name_push_chain(struct name_writer *writer, const struct metadata *metadata,
		     const struct type_chain *chain, const struct type_arguments *arguments,
		     bool from_signature, unsigned int depth);
/** A type and the types that contain it; count is 0 when @p rid is not a type. */
void type_chain_of(const struct metadata *metadata, enum md_table table, uint32_t rid,
		   struct type_chain *ret);
/** Carry out one item that concerns the signature. */
void name_step_signature(struct name_writer *writer, const struct name_item *item);
/** Append, unless muted. */
void name_append(struct name_writer *writer, const char *bytes, size_t size);
