/* SPDX-License-Identifier: MIT */
/* dumpmt and dumpclass: a type by its MethodTable. */
#include <inttypes.h>

#include "clr/layout.h"
#include "command/object.h"

static const char *category_name(const struct type *type)
{
	static const char *const names[] = {
		[CATEGORY_CLASS] = "class",
		[CATEGORY_VALUE] = "struct",
		[CATEGORY_NULLABLE] = "nullable",
		[CATEGORY_PRIMITIVE] = "enum or primitive struct",
		[CATEGORY_TRUE_PRIMITIVE] = "primitive",
		[CATEGORY_INTERFACE] = "interface",
		[CATEGORY_SZ_ARRAY] = "array",
		[CATEGORY_MD_ARRAY] = "multi-dimensional array",
	};
	return type->category < sizeof(names) / sizeof(names[0]) ? names[type->category] : "?";
}

/* A 16-bit number of a runtime structure; false when its place is not known. */
static bool small_number(struct clr *clr, uint64_t base, enum layout_field field, uint16_t *ret)
{
	return base && layout_has(&clr->layout, field) &&
	       memory_u16(clr->memory, base + clr_offset(clr, field), ret);
}

static void type_json(struct call *call, const struct type *type)
{
	struct clr *clr = call->heap->clr;
	struct json *json = &call->json;
	size_t size;
	const char *name = type_name(clr, type, &size);
	uint16_t number;
	json_address(json, "mt", type->method_table);
	json_text(json, "name", name, size);
	json_number(json, "base_size", type->base_size);
	json_number(json, "component_size", type->component_size);
	json_address(json, "flags", type->flags);
	json_address(json, "module", type->module);
	json_address(json, "token", type->token);
	json_address(json, "parent", type->parent);
	json_string(json, "file", type_file(clr, type));
	json_address(json, "ee_class", type->ee_class);
	json_address(json, "canonical", type->canonical);
	json_string(json, "category", category_name(type));
	json_bool(json, "has_pointers", type->has_pointers);
	json_bool(json, "has_finalizer", type->has_finalizer);
	json_bool(json, "is_collectible", type->is_collectible);
	if (small_number(clr, type->ee_class, L_CLASS_NUM_METHODS, &number))
		json_number(json, "methods", number);
	if (small_number(clr, type->method_table, L_MT_NUM_INTERFACES, &number))
		json_number(json, "interfaces", number);
}

static void put_name(struct call *call, const char *label, const struct type *type)
{
	size_t size;
	const char *name = type_name(call->heap->clr, type, &size);
	out_puts(&call->out, label);
	out_type(&call->out, name, size, type->method_table);
	out_puts(&call->out, "\n");
}

static void put_file(struct call *call, const char *label, const struct type *type)
{
	const char *file = type_file(call->heap->clr, type);
	if (!file)
		return;
	out_puts(&call->out, label);
	text_escape(&call->out.text, file, strlen(file));
	out_puts(&call->out, "\n");
}

static void type_text(struct call *call, const struct type *type)
{
	struct clr *clr = call->heap->clr;
	struct out *out = &call->out;
	uint16_t number;
	out_printf(out, "EEClass:             %016" PRIx64 "\n", type->ee_class);
	if (type->canonical && type->canonical != type->method_table)
		out_printf(out, "Canonical MT:        %016" PRIx64 "\n", type->canonical);
	out_printf(out, "Parent:              %016" PRIx64 "\n", type->parent);
	out_printf(out, "Module:              %016" PRIx64 "\n", type->module);
	put_name(call, "Name:                ", type);
	out_printf(out, "mdToken:             %016" PRIx32 "\n", type->token);
	put_file(call, "File:                ", type);
	out_printf(out, "BaseSize:            0x%" PRIx32 "\n", type->base_size);
	if (type->flags & MT_HAS_COMPONENT_SIZE)
		out_printf(out, "ComponentSize:       0x%x\n", type->component_size);
	out_printf(out, "Has GC Pointers:     %s\n", type->has_pointers ? "true" : "false");
	out_printf(out, "Has Finalizer:       %s\n", type->has_finalizer ? "true" : "false");
	out_printf(out, "Collectible:         %s\n", type->is_collectible ? "true" : "false");
	out_printf(out, "Category:            %s\n", category_name(type));
	out_printf(out, "Flags:               0x%08" PRIx32 "\n", type->flags);
	if (small_number(clr, type->ee_class, L_CLASS_NUM_METHODS, &number))
		out_printf(out, "Number of Methods:   %u\n", number);
	if (small_number(clr, type->method_table, L_MT_NUM_INTERFACES, &number))
		out_printf(out, "Number of IFaces in IFaceMap: %u\n", number);
}

enum hd_status run_dumpmt(struct call *call)
{
	const struct type *type;
	TRY(call_type(call, call->words[0].number, &type));
	if (call->as_json) {
		type_json(call, type);
	} else {
		type_text(call, type);
	}
	return HD_OK;
}

/* By its MethodTable, or its EEClass. */
static enum hd_status find_class(struct call *call, const struct type **ret)
{
	struct clr *clr = call->heap->clr;
	uint64_t address = call->words[0].number, method_table;
	if (clr_pointer(clr, address, L_CLASS_METHOD_TABLE, &method_table)) {
		const struct type *type = type_find(clr, method_table);
		if (type && type->ee_class == address) {
			*ret = type;
			return HD_OK;
		}
	}
	return call_type(call, address, ret);
}

enum hd_status run_dumpclass(struct call *call)
{
	const struct type *type;
	TRY(find_class(call, &type));
	struct out *out = &call->out;
	if (call->as_json) {
		type_json(call, type);
		return write_fields(call, type, 0, FIELDS_OF_TYPE, 0);
	}
	uint16_t number;
	put_name(call, "Class Name:      ", type);
	out_printf(out, "mdToken:         %016" PRIx32 "\n", type->token);
	put_file(call, "File:            ", type);
	out_printf(out, "Parent:          %016" PRIx64 "\n", type->parent);
	out_printf(out, "Module:          %016" PRIx64 "\n", type->module);
	out_printf(out, "Method Table:    %016" PRIx64 "\n", type->method_table);
	if (small_number(call->heap->clr, type->ee_class, L_CLASS_NUM_INSTANCE, &number))
		out_printf(out, "NumInstanceFields:   %u\n", number);
	if (small_number(call->heap->clr, type->ee_class, L_CLASS_NUM_STATIC, &number))
		out_printf(out, "NumStaticFields:     %u\n", number);
	return write_fields(call, type, 0, FIELDS_OF_TYPE, 0);
}
