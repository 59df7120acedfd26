/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/types/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/types/continuation.h"
#include "runtime/coreclr/types/field_desc.h"
#include "runtime/coreclr/types/type_lookup.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"

#define SIGNATURE_FIELD 0x06u

#define FIELD_LEVELS_MAX 256u
#define LIST_MAX         262144u

/* The TypeDef with which the signature at @p at begins; 0 = it begins with something else. */
static uint32_t own_type_def(const uint8_t *at, const uint8_t *end)
{
	uint32_t token;
	if (at == end || (*at != ELEMENT_CLASS && *at != ELEMENT_VALUE))
		return 0;
	at++;
	return metadata_compressed(&at, end, &token) && !(token & 3) ? token >> 2 : 0;
}

/*
 * The argument [at, end) of a generic type, as shared code has it: all references are the same.
 * false: it may be a struct, which has its own layout.
 */
static bool append_shared(struct runtime *runtime, const char *at, const char *end,
			  struct text *text)
{
	char name[512];
	size_t size = (size_t)(end - at);
	if (!size || size >= sizeof(name))
		return false;
	memcpy(name, at, size);
	name[size] = '\0';
	const struct type *type = name[size - 1] == ']' ? NULL : type_by_name(runtime, name, 0);
	if (!type && name[size - 1] != ']')
		return false;
	bool is_value = type && type->category >= CATEGORY_VALUE &&
			type->category <= CATEGORY_TRUE_PRIMITIVE;
	if (is_value) {
		text_append(text, name, size);
	} else {
		text_puts(text, "System.__Canon");
	}
	return true;
}

/* The place after "<Name>" at @p at, if a compiler-generated name begins there; or @p at. */
static const char *skip_made_name(const char *name, const char *at)
{
	if (*at != '<' || (at != name && !strchr(".+<, ", at[-1])))
		return at;
	unsigned int depth = 0;
	for (const char *p = at; *p; p++) {
		depth += *p == '<';
		depth -= *p == '>';
		if (!depth)
			return p + 1;
	}
	return at;
}

/* The "," or ">" after the argument that begins at @p at; the end of the name if there is none. */
static const char *argument_end(const char *at)
{
	unsigned int depth = 0;
	for (const char *p = at; *p;) {
		const char *behind = skip_made_name(at, p);
		if (behind != p) {
			p = behind;
			continue;
		}
		if (!depth && (*p == ',' || *p == '>'))
			return p;
		depth += *p == '<' || *p == '[';
		depth -= *p == '>' || *p == ']';
		p++;
	}
	return at + strlen(at);
}

/*
 * Append "<", the arguments at *@p at as shared code has them, and ">"; *@p at is moved past them.
 */
static bool share_arguments(struct runtime *runtime, const char **at, struct text *text)
{
	text_puts(text, "<");
	for (;;) {
		const char *end = argument_end(*at);
		if (!*end || !append_shared(runtime, *at, end, text))
			return false;
		*at = end + 1;
		if (*end == '>')
			break;
		text_puts(text, ", ");
		*at += **at == ' ';
	}
	text_puts(text, ">");
	return true;
}

/*
 * "Table<System.__Canon>" of "Table<System.String>": the name of a generic type with its arguments
 * shared.  false: it has none, or one of them may be a struct that is not known.
 */
static bool share_name(struct runtime *runtime, const char *name, struct text *text)
{
	bool any = false;
	for (const char *at = name; *at;) {
		const char *behind = skip_made_name(name, at);
		if (behind == at && *at == '<') {
			at++;
			any = true;
			if (!share_arguments(runtime, &at, text))
				return false;
			continue;
		}
		behind += behind == at;
		text_append(text, at, (size_t)(behind - at));
		at = behind;
	}
	return any && !text->failed;
}

/*
 * For a struct type without a MethodTable: the type that shared code uses for it, whose fields are
 * in the same places; or NULL.
 */
static const struct type *shared_struct(struct runtime *runtime, const char *name, uint64_t module)
{
	HD_CLEANUP(text) struct text text = { 0 };
	const struct type *type = share_name(runtime, name, &text) && text.size
					  ? type_by_name(runtime, text.bytes, module)
					  : NULL;
	return type && type->category == CATEGORY_VALUE ? type : NULL;
}

/* Name and type of a field from the metadata of the module that declares it. */
static bool read_names(struct runtime *runtime, const struct module *module,
		       struct type_arguments arguments, struct field *field)
{
	const struct metadata *metadata = module ? module->metadata : NULL;
	uint32_t rid = field->token & FIELD_RID_MASK, size = 0;
	const char *name = "";
	if (metadata)
		name = metadata_string(metadata, metadata_column(metadata, MD_FIELD, rid, 1));
	char unknown[32];
	if (!*name) {
		(void)snprintf(unknown, sizeof(unknown), FIELD_UNNAMED "%08" PRIx32 ">",
			       field->token);
		name = unknown;
	}
	field->name = mem_strndup(name, strlen(name));
	const uint8_t *signature = NULL;
	if (metadata) {
		signature =
			metadata_blob(metadata, metadata_column(metadata, MD_FIELD, rid, 2), &size);
	}
	struct text text = { 0 };
	if (signature && size > 1 && signature[0] == SIGNATURE_FIELD) {
		signature_type_name(runtime, module, signature + 1, size - 1, arguments, &text);
		uint32_t type_def = own_type_def(signature + 1, signature + size);
		if (type_def) {
			field->type =
				type_find(runtime, module_type_def(runtime, module, type_def));
		} else if (text.size) {
			field->type = type_by_name(runtime, text.bytes, module->address);
			if (!field->type && field->element_type == ELEMENT_VALUE && !text.failed)
				field->type = shared_struct(runtime, text.bytes, module->address);
		}
	}
	field->type_name = text.size ? text.bytes : mem_strndup("", 0);
	return field->name && field->type_name && !text.failed;
}

/* Append the fields of @p bytes to @p list. */
static enum hd_status append_field_rows(struct runtime *runtime, const struct type *type,
					const uint8_t *bytes, size_t count, struct field_list *list,
					struct hd_error *err)
{
	struct field *rows = mem_realloc(list->rows, list->count + count, sizeof(*rows));
	TRY_MEMORY(rows, err);
	list->rows = rows;
	const struct module *module = module_find(runtime, type_home_module(runtime, type));
	struct type_arguments arguments = type_arguments(runtime, type);
	for (size_t i = 0; i < count; i++) {
		struct field_desc desc;
		if (!field_desc_decode(bytes + i * FIELD_DESC_SIZE, &desc))
			continue;
		struct field *field = &rows[list->count++];
		*field = (struct field){
			.declaring = type,
			.token = desc.token,
			.offset = desc.offset,
			.element_type = desc.element_type,
			.is_static = desc.is_static,
			.is_thread_static = desc.is_thread_static,
			.is_rva = desc.is_rva,
		};
		TRY_MEMORY(read_names(runtime, module, arguments, field), err);
	}
	return HD_OK;
}

/* The fields that @p type itself declares. */
static enum hd_status read_declared(struct runtime *runtime, const struct type *type,
				    const struct type *parent, struct field_list *list,
				    struct hd_error *err)
{
	struct field_counts own, inherited = { 0 };
	/* The class that they share declares nothing, not even what it inherits. */
	if (type_is_continuation(runtime, type))
		return HD_OK;
	if (!field_counts_read(runtime, type->links.ee_class, &own) ||
	    (parent && !field_counts_read(runtime, parent->links.ee_class, &inherited))) {
		return fail(err, HD_ERR_FAULT, type->links.ee_class,
			    "cannot read the EEClass of method table 0x%" PRIx64,
			    type->method_table);
	}
	if (own.instance < inherited.instance || own.instance > CLASS_FIELDS_MAX ||
	    own.statics > CLASS_FIELDS_MAX) {
		return fail(err, HD_ERR_FAULT, type->links.ee_class,
			    "method table 0x%" PRIx64 ": its EEClass counts %" PRIu32
			    " instance and %" PRIu32 " static fields",
			    type->method_table, own.instance, own.statics);
	}
	size_t count = own.instance - inherited.instance + own.statics;
	uint64_t descs;
	if (!count)
		return HD_OK;
	if (list->count + count > LIST_MAX ||
	    !coreclr_pointer(runtime, type->links.ee_class, L_CLASS_FIELDS, &descs)) {
		return fail(err, HD_ERR_FAULT, type->links.ee_class,
			    "cannot read the fields of method table 0x%" PRIx64,
			    type->method_table);
	}
	HD_FREE uint8_t *bytes = mem_alloc(count, FIELD_DESC_SIZE);
	TRY_MEMORY(bytes, err);
	enum hd_status status =
		memory_read(runtime->memory, descs, bytes, count * FIELD_DESC_SIZE)
			? append_field_rows(runtime, type, bytes, count, list, err)
			: fail(err, HD_ERR_FAULT, descs,
			       "cannot read the FieldDescs of method table 0x%" PRIx64,
			       type->method_table);
	return status;
}

enum hd_status coreclr_fields(struct runtime *runtime, const struct type *type,
			      struct field_list *ret, struct hd_error *err)
{
	const struct type *levels[FIELD_LEVELS_MAX];
	size_t count = 0;
	struct field_list list = { 0 };
	if (type->is_free || type->category == CATEGORY_SZ_ARRAY ||
	    type->category == CATEGORY_MD_ARRAY) {
		*ret = list;
		return HD_OK;
	}
	for (const struct type *level = type; level && count < FIELD_LEVELS_MAX;
	     level = level->parent ? type_find(runtime, level->parent) : NULL)
		levels[count++] = level;
	enum hd_status status = HD_OK;
	for (size_t i = count; i-- > 0 && status == HD_OK;) {
		const struct type *parent = i + 1 < count ? levels[i + 1] : NULL;
		status = read_declared(runtime, levels[i], parent, &list, err);
	}
	if (status != HD_OK) {
		field_list_deinit(&list);
		return status;
	}
	*ret = list;
	return HD_OK;
}
