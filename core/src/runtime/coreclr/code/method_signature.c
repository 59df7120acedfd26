/* SPDX-License-Identifier: MIT */
/*
 * Methods with their parameters, as SOS's clrstack shows them: Ns.Type.Method(Int32,
 * System.String[], Nested ByRef).  In the parameters, primitive types are shown without their
 * namespace and nested types without their outer type, as the runtime formats them (sigformat.cpp);
 * generic types are written as everywhere: List<Int32>.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/method_types.h"
#include "runtime/coreclr/code/r2r_methods.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_facts.h"
#include "runtime/coreclr/modules/token_name.h"
#include "runtime/coreclr/types/field.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"

#define HANDLE_SIZE 8

/* InstantiatedMethodDesc, after a MethodDesc: arguments' address, u16 flags and number. */
#define INSTANCE_ARGUMENTS 8u
#define INSTANCE_COUNT     18u
/* StoredSigMethodDesc: signature, u32 its size. */
#define STORED_SIGNATURE 0u
#define STORED_SIZE      8u

/* GenericParam's owner: a TypeDef, or, with this bit set, a MethodDef (II.24.2.6). */
#define OWNER_METHOD 1u

/* Characters between the names in the name of a type. */
#define PUNCTUATION "<>,[]*& "

/* The method that is printed, and its type arguments. */
struct printer {
	struct runtime *runtime;
	const struct method *method;
	struct type_arguments type_arguments, method_arguments;
	struct text *text;
};

bool signature_next_byte(struct signature *signature, uint8_t *ret)
{
	if (signature->at == signature->end)
		return false;
	*ret = *signature->at++;
	return true;
}

bool signature_next_number(struct signature *signature, uint32_t *ret)
{
	return metadata_compressed(&signature->at, signature->end, ret);
}

bool signature_next_signed(struct signature *signature, int32_t *ret)
{
	const uint8_t *begin = signature->at;
	uint32_t number;
	if (!signature_next_number(signature, &number))
		return false;
	/* The lowest bit is the sign of a number of 7, 14 or 29 bits. */
	static const unsigned int bits[] = { 0, 7, 14, 0, 29 };
	int32_t negative = (int32_t)((uint32_t)1 << (bits[signature->at - begin] - 1));
	*ret = (int32_t)(number >> 1) - (number & 1 ? negative : 0);
	return true;
}

static bool skip_bytes(struct signature *signature, ptrdiff_t count)
{
	if (signature->end - signature->at < count)
		return false;
	signature->at += count;
	return true;
}

/* Rank, sizes and lower bounds (II.23.2.13). */
static bool skip_shape(struct signature *signature)
{
	uint32_t number, count;
	if (!signature_next_number(signature, &number))
		return false;
	for (unsigned int list = 0; list < 2; list++) {
		if (!signature_next_number(signature, &count))
			return false;
		for (; count; count--) {
			if (!signature_next_number(signature, &number))
				return false;
		}
	}
	return true;
}

/* Skip what follows element type @p element; after it, *@p types more types follow. */
static bool skip_element(struct signature *signature, uint8_t element, uint64_t *types)
{
	uint32_t number;
	uint8_t kind;
	switch (element) {
	case ELEMENT_POINTER:
	case ELEMENT_BYREF:
	case ELEMENT_SZ_ARRAY:
	case ELEMENT_PINNED:
	case ELEMENT_SENTINEL:
		*types += 1;
		return true;
	case ELEMENT_MODREQ:
	case ELEMENT_MODOPT:
		*types += 1;
		return signature_next_number(signature, &number);
	case ELEMENT_MODINTERNAL:
		*types += 1;
		return skip_bytes(signature, 1 + HANDLE_SIZE);
	case ELEMENT_INTERNAL:
		return skip_bytes(signature, HANDLE_SIZE);
	case ELEMENT_VALUE:
	case ELEMENT_CLASS:
	case ELEMENT_VAR:
	case ELEMENT_MVAR:
		return signature_next_number(signature, &number);
	case ELEMENT_GENERIC_INST:
		if (!signature_next_byte(signature, &kind) ||
		    !(kind == ELEMENT_INTERNAL ? skip_bytes(signature, HANDLE_SIZE)
					       : signature_next_number(signature, &number)) ||
		    !signature_next_number(signature, &number))
			return false;
		*types += number;
		return true;
	case ELEMENT_FUNCTION_POINTER:
		if (!signature_next_byte(signature, &kind) ||
		    (kind & CALL_GENERIC && !signature_next_number(signature, &number)) ||
		    !signature_next_number(signature, &number))
			return false;
		*types += (uint64_t)number + 1;
		return true;
	default: /* a complete type by itself, or not a type at all */
		return true;
	}
}

/* Arrays have something after the type of their elements, so types nest. */
bool signature_skip_type(struct signature *signature)
{
	uint64_t left[NAME_DEPTH_MAX]; /* types that still have to be skipped; then the shape of an
				        * array */
	size_t depth = 1;
	left[0] = 1;
	while (depth) {
		uint8_t element;
		if (!left[depth - 1]) {
			depth--;
			if (depth && !skip_shape(signature))
				return false;
			continue;
		}
		left[depth - 1]--;
		if (!signature_next_byte(signature, &element))
			return false;
		if (element == ELEMENT_ARRAY) {
			if (depth == NAME_DEPTH_MAX)
				return false;
			left[depth++] = 1;
		} else if (!skip_element(signature, element, &left[depth - 1])) {
			return false;
		}
	}
	return true;
}

/* Append generic argument @p number of the method or its type, or the parameter's name. */
static void append_argument(const struct printer *printer, bool is_method, uint32_t number,
			    struct text *text)
{
	const struct type_arguments *arguments =
		is_method ? &printer->method_arguments : &printer->type_arguments;
	const struct method *method = printer->method;
	const struct metadata *metadata = method->module ? method->module->metadata : NULL;
	const char *name = "";
	uint64_t handle;
	if (number < arguments->count &&
	    memory_u64(printer->runtime->memory, arguments->address + 8 * (uint64_t)number,
		       &handle)) {
		type_handle_name(printer->runtime, handle, text);
		return;
	}
	if (!is_method && !number && method->type &&
	    (method->type->category == CATEGORY_SZ_ARRAY ||
	     method->type->category == CATEGORY_MD_ARRAY)) {
		type_handle_name(printer->runtime, method->type->links.per_inst, text);
		return;
	}
	if (metadata && method->rid) {
		uint32_t owner = is_method ? method->rid << 1 | OWNER_METHOD
					   : metadata_owner(metadata, MD_METHOD, method->rid) << 1;
		uint32_t row = metadata_search(metadata, MD_GENERIC_PARAM, 2, owner);
		row = number <= UINT32_MAX - row ? row + number : 0;
		if (metadata_column(metadata, MD_GENERIC_PARAM, row, 2) == owner) {
			name = metadata_string(metadata,
					       metadata_column(metadata, MD_GENERIC_PARAM, row, 3));
		}
	}
	if (*name) {
		text_puts(text, name);
	} else {
		text_printf(text, "%s%" PRIu32, is_method ? "!!" : "!", number);
	}
}

/* Append the name of a type: primitives without their namespace, nested types by their own name. */
static void append_short(struct text *text, const char *name)
{
	static const char *const primitives[] = {
		"System.Void",   "System.Boolean", "System.Char",   "System.SByte",
		"System.Byte",   "System.Int16",   "System.UInt16", "System.Int32",
		"System.UInt32", "System.Int64",   "System.UInt64", "System.Single",
		"System.Double", "System.IntPtr",  "System.UIntPtr"
	};
	const size_t space = strlen("System.");
	while (*name) {
		size_t size = strcspn(name, PUNCTUATION), skipped = 0;
		for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++) {
			if (strlen(primitives[i]) == size && memcmp(primitives[i], name, size) == 0)
				skipped = space;
		}
		for (size_t i = 1; i < size; i++) { /* at 0, a generic type contains it */
			if (name[0] != '+' && name[i] == '+')
				skipped = i + 1;
		}
		text_append(text, name + skipped, size - skipped);
		name += size;
		for (; *name && strchr(PUNCTUATION, *name); name++)
			text_append(text, *name == '&' ? " ByRef" : name, *name == '&' ? 6 : 1);
	}
}

/* Append @p name, with the types for !N and !!N in it. */
static void append_substituted(const struct printer *printer, struct text *text, const char *name)
{
	while (*name) {
		size_t size = strcspn(name, PUNCTUATION), marks = strspn(name, "!"),
		       digits = strspn(name + marks, "0123456789");
		if ((marks == 1 || marks == 2) && digits && digits < 10 && marks + digits == size) {
			append_argument(printer, marks == 2,
					(uint32_t)strtoul(name + marks, NULL, 10), text);
		} else {
			text_append(text, name, size);
		}
		name += size;
		size = strspn(name, PUNCTUATION);
		text_append(text, name, size);
		name += size;
	}
}

/* Append the full name of the type at [begin, begin + size). */
static void append_full(const struct printer *printer, const uint8_t *begin, uint32_t size,
			struct text *text)
{
	struct metadata no_metadata = { .bytes = NULL };
	const struct module none = { .metadata = &no_metadata };
	const struct module *module = printer->method->module;
	HD_CLEANUP(text) struct text name = { 0 };
	signature_type_name(printer->runtime, module && module->metadata ? module : &none, begin,
			    size, printer->type_arguments, &name);
	if (name.bytes)
		append_substituted(printer, text, name.bytes);
	text->failed |= name.failed;
}

/* The next type of @p signature. */
static bool append_type(const struct printer *printer, struct signature *signature)
{
	const uint8_t *begin = signature->at;
	HD_CLEANUP(text) struct text full = { 0 };
	if (!signature_skip_type(signature))
		return false;
	append_full(printer, begin, (uint32_t)(signature->at - begin), &full);
	if (full.bytes)
		append_short(printer->text, full.bytes);
	if (full.failed)
		printer->text->failed = true;
	return true;
}

/* "<A, B>" of a generic method, then "(Int32, T)". */
static void append_parameters(const struct printer *printer, struct signature signature)
{
	uint8_t convention;
	uint32_t generics = 0, count;
	bool is_sound =
		signature_next_byte(&signature, &convention) &&
		(!(convention & CALL_GENERIC) || signature_next_number(&signature, &generics)) &&
		signature_next_number(&signature, &count) && signature_skip_type(&signature);
	if (generics > TYPE_ARGUMENTS_MAX)
		generics = 0;
	for (uint32_t i = 0; i < generics; i++) {
		text_puts(printer->text, i ? ", " : "<");
		append_argument(printer, true, i, printer->text);
	}
	if (generics)
		text_puts(printer->text, ">");
	text_puts(printer->text, "(");
	for (uint32_t i = 0; is_sound && i < count; i++) {
		if (i)
			text_puts(printer->text, ", ");
		is_sound = append_type(printer, &signature);
	}
	text_puts(printer->text, is_sound ? ")" : "?)");
}

/* Arguments of a generic method that was instantiated. */
struct type_arguments method_arguments(struct runtime *runtime, const struct method *method)
{
	struct type_arguments arguments = { 0 };
	uint64_t at = method->address + method_desc_size(runtime), address;
	uint16_t count;
	if ((method->flags & METHOD_CLASSIFICATION_MASK) == METHOD_INSTANTIATED &&
	    memory_u64(runtime->memory, at + INSTANCE_ARGUMENTS, &address) && address &&
	    memory_u16(runtime->memory, at + INSTANCE_COUNT, &count) &&
	    count <= TYPE_ARGUMENTS_MAX) {
		arguments.address = address;
		arguments.count = count;
	}
	return arguments;
}

bool method_signature_find(struct runtime *runtime, const struct method *method,
			   struct stored_signature *stored, struct signature *ret)
{
	uint32_t size;
	uint64_t address;
	const uint8_t *bytes = stored->bytes;
	if (method->rid) {
		const struct metadata *metadata = method->module->metadata;
		bytes = metadata_blob(metadata,
				      metadata_column(metadata, MD_METHOD, method->rid, 4), &size);
	} else {
		uint64_t at = method->address + method_desc_size(runtime);
		if (!memory_u64(runtime->memory, at + STORED_SIGNATURE, &address) ||
		    !memory_u32(runtime->memory, at + STORED_SIZE, &size) || !size ||
		    size > sizeof(stored->bytes) ||
		    !memory_read(runtime->memory, address, stored->bytes, size))
			return false;
	}
	*ret = (struct signature){ bytes, bytes ? bytes + size : NULL };
	return true;
}

uint64_t method_signature_address(struct runtime *runtime, const struct method *method)
{
	struct stored_signature stored;
	struct signature signature;
	uint64_t address;
	if (method->rid) {
		return method->module && method->module->metadata &&
				       method_signature_find(runtime, method, &stored, &signature)
			       ? module_blob_address(runtime, method->module, signature.at)
			       : 0;
	}
	return memory_u64(runtime->memory,
			  method->address + method_desc_size(runtime) + STORED_SIGNATURE, &address)
		       ? address
		       : 0;
}

void method_type_name(struct runtime *runtime, const struct method *method, const uint8_t *begin,
		      uint32_t size, struct text *text)
{
	const struct printer printer = {
		.runtime = runtime,
		.method = method,
		.type_arguments = method->rid ? type_arguments(runtime, method->type)
					      : (struct type_arguments){ 0 },
		.method_arguments = method->rid ? method_arguments(runtime, method)
						: (struct type_arguments){ 0 },
	};
	append_full(&printer, begin, size, text);
}

void coreclr_method_signature(struct runtime *runtime, uint64_t method_desc, struct text *text)
{
	struct method method;
	struct printer printer = { .runtime = runtime, .method = &method, .text = text };
	if (!method_read(runtime, method_desc, &method)) {
		text_printf(text, "<unknown method %" PRIx64 ">", method_desc);
		return;
	}
	size_t size;
	const char *owner = method_owner_name(runtime, &method, &size);
	text_append(text, owner, size);
	text_puts(text, ".");
	text_puts(text, method.rid ? method.name : method.dynamic_name);
	if (method.rid) {
		printer.type_arguments = type_arguments(runtime, method.type);
		printer.method_arguments = method_arguments(runtime, &method);
	}
	struct stored_signature stored;
	struct signature signature;
	if (method_signature_find(runtime, &method, &stored, &signature))
		append_parameters(&printer, signature);
}

void method_row_signature(struct runtime *runtime, uint64_t module, uint32_t rid, struct text *text)
{
	const struct method method = { .module = module_find(runtime, module), .rid = rid };
	const struct metadata *metadata = method.module ? method.module->metadata : NULL;
	const struct printer printer = { .runtime = runtime, .method = &method, .text = text };
	if (!metadata)
		return;
	uint32_t owner = metadata_owner(metadata, MD_METHOD, rid);
	const char *name = metadata_string(metadata, metadata_column(metadata, MD_METHOD, rid, 3));
	if (!owner || !*name ||
	    !token_name(runtime, method.module, (uint32_t)MD_TYPE_DEF << 24 | owner, text))
		return;
	text_puts(text, ".");
	text_puts(text, name);
	struct stored_signature stored;
	struct signature signature;
	if (method_signature_find(runtime, &method, &stored, &signature))
		append_parameters(&printer, signature);
}
