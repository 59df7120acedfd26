/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/code/method_types.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/type_name.h"

/* Names of the element types that are complete types. */
static const char *primitive_name(uint8_t element)
{
	static const char *const names[] = {
		[ELEMENT_VOID] = "System.Void",
		[ELEMENT_BOOLEAN] = "System.Boolean",
		[ELEMENT_CHAR] = "System.Char",
		[ELEMENT_I1] = "System.SByte",
		[ELEMENT_U1] = "System.Byte",
		[ELEMENT_I2] = "System.Int16",
		[ELEMENT_U2] = "System.UInt16",
		[ELEMENT_I4] = "System.Int32",
		[ELEMENT_U4] = "System.UInt32",
		[ELEMENT_I8] = "System.Int64",
		[ELEMENT_U8] = "System.UInt64",
		[ELEMENT_R4] = "System.Single",
		[ELEMENT_R8] = "System.Double",
		[ELEMENT_STRING] = "System.String",
		[ELEMENT_TYPED_BYREF] = "System.TypedReference",
		[ELEMENT_I] = "System.IntPtr",
		[ELEMENT_U] = "System.UIntPtr",
		[ELEMENT_OBJECT] = "System.Object",
	};
	return element < sizeof(names) / sizeof(names[0]) ? names[element] : NULL;
}

/* The signature ends too early or holds something invalid: nothing after it is read. */
static void give_up_signature(struct name_writer *writer)
{
	writer->at = writer->end;
	name_append(writer, "?", 1);
}

static bool writer_next_number(struct name_writer *writer, uint32_t *ret)
{
	return metadata_compressed(&writer->at, writer->end, ret);
}

/* A class or struct, by TypeDefOrRef; @p count arguments follow in the signature. */
static void step_token(struct name_writer *writer, uint32_t count, uint32_t token,
		       unsigned int depth)
{
	const struct metadata *metadata = writer->module->metadata;
	if ((token & 3) == 2) {
		uint32_t size;
		const uint8_t *blob = metadata_blob(
			metadata, metadata_column(metadata, MD_TYPE_SPEC, token >> 2, 0), &size);
		name_push(writer, NAME_RESTORE, depth, 0);
		writer->at = blob;
		writer->end = blob ? blob + size : NULL;
		name_push(writer, NAME_SIGNATURE, depth + 1, 0);
		return;
	}
	struct type_chain chain;
	struct type_arguments arguments = { 0, count };
	type_chain_of(metadata, token & 1 ? MD_TYPE_REF : MD_TYPE_DEF, token >> 2, &chain);
	if ((token & 3) == 3 || !chain.count) {
		give_up_signature(writer);
		return;
	}
	name_push_chain(writer, metadata, &chain, &arguments, true, depth);
}

/* GENERICINST (CLASS | VALUETYPE) TypeDefOrRef count type* */
static void step_instance(struct name_writer *writer, unsigned int depth)
{
	uint32_t token, count;
	if (writer->at == writer->end) {
		give_up_signature(writer);
		return;
	}
	uint8_t kind = *writer->at++;
	if (kind == ELEMENT_INTERNAL && writer->end - writer->at >= 8) {
		uint64_t handle = load_u64(writer->at); /* the open type: its name has its own */
		writer->at += 8;
		if (!writer_next_number(writer, &count) || count > TYPE_ARGUMENTS_MAX) {
			give_up_signature(writer);
			return;
		}
		size_t base = writer->count;
		name_push(writer, NAME_HANDLE, depth + 1, handle);
		name_push(writer, NAME_MUTE, depth, 0);
		for (uint32_t i = 0; i < count; i++)
			name_push(writer, NAME_SIGNATURE, depth + 1, 0);
		name_push(writer, NAME_UNMUTE, depth, 0);
		name_in_order(writer, base);
		return;
	}
	if ((kind != ELEMENT_CLASS && kind != ELEMENT_VALUE) ||
	    !writer_next_number(writer, &token) || (token & 3) == 2 ||
	    !writer_next_number(writer, &count) || count > TYPE_ARGUMENTS_MAX) {
		give_up_signature(writer);
	} else {
		step_token(writer, count, token, depth);
	}
}

/* FNPTR: a method's signature, which is read but not shown. */
static void step_function(struct name_writer *writer, unsigned int depth)
{
	uint32_t generics = 0, count = 0;
	name_append(writer, "fnptr", 5);
	if (writer->at == writer->end) {
		give_up_signature(writer);
		return;
	}
	uint8_t convention = *writer->at++;
	if ((convention & CALL_GENERIC && !writer_next_number(writer, &generics)) ||
	    !writer_next_number(writer, &count) || count > (size_t)(writer->end - writer->at)) {
		give_up_signature(writer);
		return;
	}
	name_push(writer, NAME_UNMUTE, depth, 0);
	for (uint32_t i = 0; i <= count; i++)
		name_push(writer, NAME_SIGNATURE, depth + 1, 0);
	name_push(writer, NAME_MUTE, depth, 0);
}

static void step_variable(struct name_writer *writer, uint8_t element, unsigned int depth)
{
	uint32_t number;
	uint64_t handle;
	if (!writer_next_number(writer, &number)) {
		give_up_signature(writer);
	} else if (element == ELEMENT_VAR && number < writer->arguments.count &&
		   memory_u64(writer->runtime->memory,
			      writer->arguments.address + 8 * (uint64_t)number, &handle)) {
		name_push(writer, NAME_HANDLE, depth + 1, handle);
	} else if (!writer->muted) {
		text_printf(writer->text, "%s%" PRIu32, element == ELEMENT_VAR ? "!" : "!!",
			    number);
	}
}

/* Rank, sizes and lower bounds: "[,]". */
static void step_shape(struct name_writer *writer)
{
	uint32_t rank, count, number;
	if (!writer_next_number(writer, &rank) || !rank || rank > 32) {
		give_up_signature(writer);
		return;
	}
	for (unsigned int list = 0; list < 2; list++) {
		if (!writer_next_number(writer, &count) || count > rank) {
			give_up_signature(writer);
			return;
		}
		for (uint32_t i = 0; i < count; i++) {
			if (!writer_next_number(writer, &number))
				writer->at = writer->end;
		}
	}
	name_append(writer, "[", 1);
	for (uint32_t i = 1; i < rank; i++)
		name_append(writer, ",", 1);
	name_append(writer, rank == 1 ? "*]" : "]", rank == 1 ? 2 : 1);
}

/* An element type that has another type after it, or is invalid. */
static void step_compound(struct name_writer *writer, uint8_t element, unsigned int depth)
{
	switch (element) {
	case ELEMENT_SZ_ARRAY:
		name_push_string(writer, "[]");
		break;
	case ELEMENT_POINTER:
		name_push_string(writer, "*");
		break;
	case ELEMENT_BYREF:
		name_push_string(writer, "&");
		break;
	case ELEMENT_ARRAY:
		name_push(writer, NAME_SHAPE, depth, 0);
		break;
	default:
		give_up_signature(writer);
		return;
	}
	name_push(writer, NAME_SIGNATURE, depth + 1, 0);
}

static void step_element(struct name_writer *writer, uint8_t element, unsigned int depth)
{
	uint32_t token;
	const char *name = primitive_name(element);
	if (name) {
		name_append(writer, name, strlen(name));
		return;
	}
	switch (element) {
	case ELEMENT_VALUE:
	case ELEMENT_CLASS:
		if (writer_next_number(writer, &token)) {
			step_token(writer, 0, token, depth);
		} else {
			give_up_signature(writer);
		}
		return;
	case ELEMENT_VAR:
	case ELEMENT_MVAR:
		step_variable(writer, element, depth);
		return;
	case ELEMENT_GENERIC_INST:
		step_instance(writer, depth);
		return;
	case ELEMENT_FUNCTION_POINTER:
		step_function(writer, depth);
		return;
	case ELEMENT_INTERNAL:
		if (writer->end - writer->at < 8) {
			give_up_signature(writer);
			return;
		}
		name_push(writer, NAME_HANDLE, depth + 1, load_u64(writer->at));
		writer->at += 8;
		return;
	default:
		step_compound(writer, element, depth);
		return;
	}
}

/* Skip what does not change a name: required and optional modifiers, pinned, sentinel. */
static bool skip_modifiers(struct name_writer *writer)
{
	while (writer->at < writer->end) {
		uint8_t element = *writer->at;
		uint32_t token;
		if (element == ELEMENT_MODREQ || element == ELEMENT_MODOPT) {
			writer->at++;
			if (!writer_next_number(writer, &token))
				return false;
		} else if (element == ELEMENT_MODINTERNAL) {
			if (writer->end - writer->at < 10)
				return false;
			writer->at += 10;
		} else if (element == ELEMENT_SENTINEL || element == ELEMENT_PINNED) {
			writer->at++;
		} else {
			return true;
		}
	}
	return false;
}

void name_step_signature(struct name_writer *writer, const struct name_item *item)
{
	if (item->kind == NAME_SHAPE) {
		step_shape(writer);
	} else if (item->depth > NAME_DEPTH_MAX || !skip_modifiers(writer)) {
		give_up_signature(writer);
	} else {
		step_element(writer, *writer->at++, item->depth);
	}
}
