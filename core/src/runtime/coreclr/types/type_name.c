/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/type_name.h"

#include <inttypes.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/continuation.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/method_table.h"
#include "util/alloc.h"

#define ITEMS_MAX      65536u
#define NAME_STEPS_MAX 262144u

static struct name_item *push_name_item(struct name_writer *writer)
{
	if (writer->failed || writer->count >= ITEMS_MAX)
		return NULL;
	if (writer->count == writer->capacity) {
		size_t capacity = grown_capacity(writer->capacity, sizeof(*writer->items));
		struct name_item *items =
			mem_realloc(writer->items, capacity, sizeof(*writer->items));
		if (!items) {
			writer->failed = true;
			return NULL;
		}
		writer->items = items;
		writer->capacity = capacity;
	}
	struct name_item *item = &writer->items[writer->count++];
	*item = (struct name_item){ 0 };
	return item;
}

void name_push(struct name_writer *writer, enum name_item_kind kind, unsigned int depth,
	       uint64_t value)
{
	struct name_item *item = push_name_item(writer);
	if (!item)
		return;
	item->kind = (uint8_t)kind;
	item->depth = depth < UINT8_MAX ? (uint8_t)depth : UINT8_MAX;
	item->value = value;
	if (kind == NAME_RESTORE) {
		item->bytes = writer->at;
		item->size = (uint32_t)(writer->end - writer->at);
	}
}

void name_push_text(struct name_writer *writer, const char *bytes, size_t size)
{
	struct name_item *item = size ? push_name_item(writer) : NULL;
	if (!item)
		return;
	item->kind = NAME_TEXT;
	item->bytes = (const uint8_t *)bytes;
	item->size = size < NAME_SIZE_MAX ? (uint32_t)size : NAME_SIZE_MAX;
}

void name_push_string(struct name_writer *writer, const char *string)
{
	name_push_text(writer, string, strlen(string));
}

void name_in_order(struct name_writer *writer, size_t base)
{
	if (writer->count < 2)
		return;
	for (size_t i = base, j = writer->count - 1; i < j; i++, j--) {
		struct name_item item = writer->items[i];
		writer->items[i] = writer->items[j];
		writer->items[j] = item;
	}
}

void name_append(struct name_writer *writer, const char *bytes, size_t size)
{
	if (!writer->muted)
		text_append(writer->text, bytes, size);
}

static void append_unknown(struct name_writer *writer, uint64_t handle)
{
	if (!writer->muted)
		text_printf(writer->text, "<unknown type %" PRIx64 ">", handle);
}

void type_chain_of(const struct metadata *metadata, enum md_table table, uint32_t rid,
		   struct type_chain *ret)
{
	uint32_t rids[NAME_DEPTH_MAX];
	unsigned int count = 0;
	ret->table = table;
	while (rid && rid <= metadata->tables[table].rows && count < NAME_DEPTH_MAX) {
		rids[count++] = rid;
		if (table == MD_TYPE_DEF) {
			rid = metadata_enclosing(metadata, rid);
		} else { /* ResolutionScope: tag 3 is a TypeRef, II.24.2.6 */
			uint32_t scope = metadata_column(metadata, table, rid, 0);
			rid = (scope & 3) == 3 ? scope >> 2 : 0;
		}
	}
	ret->count = count;
	for (unsigned int i = 0; i < count; i++)
		ret->rids[i] = rids[count - 1 - i];
}

/* Bytes of a name before its `arity, and the arity: 0 when it has none. */
static size_t split_arity(const char *name, uint32_t *ret_arity)
{
	*ret_arity = 0;
	const char *tick = strrchr(name, '`');
	if (!tick || !tick[1])
		return strlen(name);
	uint32_t arity = 0;
	for (const char *p = tick + 1; *p; p++) {
		if (*p < '0' || *p > '9' || arity > TYPE_ARGUMENTS_MAX)
			return strlen(name);
		arity = arity * 10 + (uint32_t)(*p - '0');
	}
	*ret_arity = arity;
	return (size_t)(tick - name);
}

/* "<A, B>": the arguments, beginning with @p first. */
static void push_type_arguments(struct name_writer *writer, const struct type_arguments *arguments,
				uint32_t first, uint32_t count, bool from_signature,
				unsigned int depth)
{
	name_push_string(writer, "<");
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			name_push_string(writer, ", ");
		uint64_t handle = 0;
		if (!from_signature &&
		    !memory_u64(writer->runtime->memory,
				arguments->address + 8 * ((uint64_t)first + i), &handle))
			handle = 0;
		name_push(writer, from_signature ? NAME_SIGNATURE : NAME_HANDLE, depth, handle);
	}
	name_push_string(writer, ">");
}

void name_push_chain(struct name_writer *writer, const struct metadata *metadata,
		     const struct type_chain *chain, const struct type_arguments *arguments,
		     bool from_signature, unsigned int depth)
{
	size_t base = writer->count;
	uint32_t used = 0;
	for (unsigned int i = 0; i < chain->count; i++) {
		uint32_t rid = chain->rids[i], arity;
		/* Both tables have the name in column 1 and the namespace in column 2. */
		const char *name =
			metadata_string(metadata, metadata_column(metadata, chain->table, rid, 1));
		const char *space =
			metadata_string(metadata, metadata_column(metadata, chain->table, rid, 2));
		if (i)
			name_push_string(writer, "+");
		if (*space) {
			name_push_string(writer, space);
			name_push_string(writer, ".");
		}
		size_t size = split_arity(name, &arity);
		uint32_t left = arguments->count - used;
		/* A name without an arity may also have arguments: closures of F# do. */
		if (!arity && i + 1 == chain->count)
			arity = left;
		uint32_t taken = arity < left ? arity : left;
		name_push_text(writer, name, arguments->count ? size : strlen(name));
		if (taken) {
			push_type_arguments(writer, arguments, used, taken, from_signature,
					    depth + 1);
		}
		used += taken;
	}
	/* Arguments that no level took must still be read. */
	if (from_signature && used < arguments->count) {
		name_push(writer, NAME_MUTE, depth, 0);
		for (; used < arguments->count; used++)
			name_push(writer, NAME_SIGNATURE, depth + 1, 0);
		name_push(writer, NAME_UNMUTE, depth, 0);
	}
	name_in_order(writer, base);
}

struct type_arguments type_arguments(const struct runtime *runtime, const struct type *type)
{
	struct type_arguments arguments = { 0 };
	if (type->flags & MT_HAS_COMPONENT_SIZE || !(type->flags & MT_GENERICS_MASK) ||
	    !type->links.per_inst)
		return arguments;
	/* GenericsDictInfo before PerInstInfo: u16 number of dictionaries, u16 arguments. */
	uint16_t dictionaries, count;
	uint64_t address;
	if (!memory_u16(runtime->memory, type->links.per_inst - 4, &dictionaries) ||
	    !memory_u16(runtime->memory, type->links.per_inst - 2, &count) || !dictionaries ||
	    count > TYPE_ARGUMENTS_MAX ||
	    !memory_u64(runtime->memory, type->links.per_inst + 8 * (uint64_t)(dictionaries - 1),
			&address))
		return arguments;
	arguments.address = address;
	arguments.count = count;
	return arguments;
}

/* An array type: "T[]", "T[,]", "T[*]" for one dimension whose lower bound may not be 0. */
static void step_array(struct name_writer *writer, const struct type *type, unsigned int depth)
{
	static const char commas[] = "[,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"; /* 32 dimensions at most */
	size_t base = writer->count;
	name_push(writer, NAME_HANDLE, depth + 1, type->links.per_inst);
	if (type->category == CATEGORY_SZ_ARRAY) {
		name_push_string(writer, "[]");
	} else {
		/* One length and one lower bound for each dimension (array.h). */
		uint32_t rank = type->base_size >= 24 ? (type->base_size - 24) / 8 : 0;
		if (rank > sizeof(commas) - 1)
			rank = sizeof(commas) - 1;
		if (rank > 1) {
			name_push_text(writer, commas, rank);
		} else {
			name_push_string(writer, "[*");
		}
		name_push_string(writer, "]");
	}
	name_in_order(writer, base);
}

static void append_continuation(struct name_writer *writer, const struct type *type)
{
	if (!writer->muted)
		continuation_name(writer->runtime, type, writer->text);
}

static void step_method_table(struct name_writer *writer, uint64_t handle, unsigned int depth)
{
	const struct type *type = type_find(writer->runtime, handle);
	if (!type) {
		append_unknown(writer, handle);
		return;
	}
	if (type->name) {
		name_append(writer, type->name, type->name_size);
		return;
	}
	if (type->is_free) {
		name_append(writer, "Free", 4);
		return;
	}
	if (type->category == CATEGORY_SZ_ARRAY || type->category == CATEGORY_MD_ARRAY) {
		step_array(writer, type, depth);
		return;
	}
	if (type_is_continuation(writer->runtime, type)) {
		append_continuation(writer, type);
		return;
	}
	const struct module *module =
		module_find(writer->runtime, type_home_module(writer->runtime, type));
	struct type_chain chain = { .count = 0 };
	if (module && module->metadata)
		type_chain_of(module->metadata, MD_TYPE_DEF, type->token & 0xffffff, &chain);
	if (!chain.count) {
		append_unknown(writer, handle);
		return;
	}
	struct type_arguments arguments = type_arguments(writer->runtime, type);
	name_push_chain(writer, module->metadata, &chain, &arguments, false, depth);
}

/* Name of a generic parameter: TypeVarTypeDesc names its row of GenericParam. */
static void append_variable(struct name_writer *writer, uint64_t address)
{
	struct runtime *runtime = writer->runtime;
	uint64_t module_address;
	uint32_t token;
	if (!layout_has(&coreclr_of(runtime)->layout, L_TYPE_VAR_TOKEN) ||
	    !coreclr_pointer(runtime, address, L_TYPE_VAR_MODULE, &module_address) ||
	    !memory_u32(runtime->memory, address + coreclr_offset(runtime, L_TYPE_VAR_TOKEN),
			&token)) {
		append_unknown(writer, address | 2);
		return;
	}
	const struct module *module = module_find(runtime, module_address);
	const char *name = "";
	if (module && module->metadata) {
		name = metadata_string(
			module->metadata,
			metadata_column(module->metadata, MD_GENERIC_PARAM, token & 0xffffff, 3));
	}
	if (*name) {
		name_append(writer, name, strlen(name));
	} else {
		append_unknown(writer, address | 2);
	}
}

static void step_type_desc(struct name_writer *writer, uint64_t address, unsigned int depth)
{
	uint32_t flags; /* TypeDesc.TypeAndFlags: the element type in the low byte (typedesc.h) */
	uint64_t argument;
	if (!memory_u32(writer->runtime->memory, address, &flags)) {
		append_unknown(writer, address | 2);
		return;
	}
	switch (flags & 0xff) {
	case ELEMENT_POINTER:
	case ELEMENT_BYREF:
		if (!coreclr_pointer(writer->runtime, address, L_PARAM_TYPE_ARG, &argument)) {
			append_unknown(writer, address | 2);
			return;
		}
		name_push_string(writer, (flags & 0xff) == ELEMENT_POINTER ? "*" : "&");
		name_push(writer, NAME_HANDLE, depth + 1, argument);
		return;
	case ELEMENT_VAR:
	case ELEMENT_MVAR:
		append_variable(writer, address);
		return;
	case ELEMENT_FUNCTION_POINTER:
		name_append(writer, "fnptr", 5);
		return;
	default:
		append_unknown(writer, address | 2);
		return;
	}
}

static void step_name_item(struct name_writer *writer, const struct name_item *item)
{
	switch ((enum name_item_kind)item->kind) {
	case NAME_TEXT:
		name_append(writer, (const char *)item->bytes, item->size);
		return;
	case NAME_HANDLE:
		if (writer->muted)
			return;
		if (item->depth > NAME_DEPTH_MAX) {
			name_append(writer, "...", 3);
		} else if (item->value & 2) {
			step_type_desc(writer, item->value & ~(uint64_t)3, item->depth);
		} else {
			step_method_table(writer, item->value, item->depth);
		}
		return;
	case NAME_MUTE:
		writer->muted++;
		return;
	case NAME_UNMUTE:
		writer->muted--;
		return;
	case NAME_RESTORE:
		writer->at = item->bytes;
		writer->end = item->bytes + item->size;
		return;
	case NAME_SIGNATURE:
	case NAME_SHAPE:
		name_step_signature(writer, item);
		return;
	}
}

/* Count the bytes and steps that the name took above the usual limit. */
static void count_extra(struct name_writer *writer)
{
	uint64_t *extra = &coreclr_of(writer->runtime)->name_extra;
	size_t size = writer->text->size - writer->begin;
	*extra += size > NAME_USUAL_SIZE ? size - NAME_USUAL_SIZE : 0;
	*extra += writer->steps > NAME_USUAL_STEPS ? writer->steps - NAME_USUAL_STEPS : 0;
}

/* Carry out what is on the stack. */
static void write_name(struct name_writer *writer)
{
	bool is_cut = writer->runtime && coreclr_of(writer->runtime)->name_extra > NAME_EXTRA_MAX;
	size_t most = is_cut ? NAME_USUAL_SIZE : NAME_SIZE_MAX;
	unsigned int most_steps = is_cut ? NAME_USUAL_STEPS : NAME_STEPS_MAX;
	writer->begin = writer->text->size;
	while (writer->count && !writer->failed) {
		struct name_item item = writer->items[--writer->count];
		step_name_item(writer, &item);
		if (writer->text->size - writer->begin > most || ++writer->steps > most_steps) {
			if (writer->text->size - writer->begin > most) {
				writer->text->size = writer->begin + most;
				writer->text->bytes[writer->text->size] = '\0';
			}
			text_puts(writer->text, "...");
			break;
		}
	}
	if (writer->runtime && coreclr_is(writer->runtime))
		count_extra(writer);
	if (writer->failed)
		writer->text->failed = true;
	mem_free(writer->items);
}

void type_handle_name(struct runtime *runtime, uint64_t handle, struct text *text)
{
	struct name_writer writer = { .runtime = runtime, .text = text };
	name_push(&writer, NAME_HANDLE, 0, handle);
	write_name(&writer);
}

void signature_type_name(struct runtime *runtime, const struct module *module,
			 const uint8_t *signature, uint32_t size, struct type_arguments arguments,
			 struct text *text)
{
	struct name_writer writer = { .runtime = runtime,
				      .text = text,
				      .module = module,
				      .at = signature,
				      .end = signature + size,
				      .arguments = arguments };
	name_push(&writer, NAME_SIGNATURE, 0, 0);
	write_name(&writer);
}

void typedef_name(const struct metadata *metadata, uint32_t rid, struct text *text)
{
	struct type_chain chain;
	struct type_arguments none = { 0 };
	struct name_writer writer = { .text = text };
	type_chain_of(metadata, MD_TYPE_DEF, rid, &chain);
	name_push_chain(&writer, metadata, &chain, &none, false, 0);
	write_name(&writer);
}
