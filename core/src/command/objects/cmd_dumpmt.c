/* SPDX-License-Identifier: MIT */
/* dumpmt and dumpclass: a type by its MethodTable. */
#include <inttypes.h>

#include "clr/layout.h"
#include "command/names/type_methods.h"
#include "command/objects/object.h"
#include "command/table.h"

#define DUMPMT_OPTIONS(X) X(OPT_METHODS, "md", VALUE_NONE, NULL, "also list its methods", NULL)

OPTIONS(dumpmt, DUMPMT_OPTIONS);

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

#define CLASS_LIST(X)                                                                             \
	X(CLASS_ADDRESS, "mt", NULL, KIND_ADDRESS, 0, 0, "the MethodTable")                       \
	X(CLASS_NAME, "name", NULL, KIND_TYPE, 0, 0, "name of the type")                          \
	X(CLASS_BASE_SIZE, "base_size", NULL, KIND_BYTES, 0, 0,                                   \
	  "bytes of an object, without elements")                                                 \
	X(CLASS_COMPONENT_SIZE, "component_size", NULL, KIND_BYTES, 0, 0,                         \
	  "bytes of an element of an array or string")                                            \
	X(CLASS_FLAGS, "flags", NULL, KIND_ADDRESS, 0, 0, "flags of the MethodTable")             \
	X(CLASS_MODULE, "module", NULL, KIND_ADDRESS, 0, 0, "the Module that has the type")       \
	X(CLASS_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0, "metadata token of the type")           \
	X(CLASS_PARENT, "parent", NULL, KIND_ADDRESS, 0, 0, "MethodTable of the base class")      \
	X(CLASS_FILE, "file", NULL, KIND_TEXT, 0, 0, "file of the module")                        \
	X(CLASS_EE, "ee_class", NULL, KIND_ADDRESS, 0, 0, "the EEClass")                          \
	X(CLASS_CANONICAL, "canonical", NULL, KIND_ADDRESS, 0, 0,                                 \
	  "MethodTable that shares its code")                                                     \
	X(CLASS_CATEGORY, "category", NULL, KIND_TEXT, 0, 0, "what kind of type it is")           \
	X(CLASS_POINTERS, "has_pointers", NULL, KIND_FLAG, 0, 0,                                  \
	  "do its objects hold references?")                                                      \
	X(CLASS_FINALIZER, "has_finalizer", NULL, KIND_FLAG, 0, 0, "does it have a finalizer?")   \
	X(CLASS_COLLECTIBLE, "is_collectible", NULL, KIND_FLAG, 0, 0, "can it be unloaded?")      \
	X(CLASS_METHODS, "methods", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "how many it has")      \
	X(CLASS_INTERFACES, "interfaces", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                   \
	  "how many it implements")                                                               \
	X(CLASS_INSTANCE_FIELDS, .kind = KIND_NUMBER) /**< text of dumpclass only, as the next */ \
	X(CLASS_STATIC_FIELDS, .kind = KIND_NUMBER)

COLUMNS(type, CLASS_COLUMNS, CLASS_LIST);

static void name_line(struct out *out, const char *label, const struct cell *cell)
{
	out_puts(out, label);
	out_type(out, cell->text.bytes, cell->text.size, cell->text.id);
	out_puts(out, "\n");
}

static void file_line(struct out *out, const char *label, const struct cell *cell)
{
	if (!cell->is_there)
		return;
	out_puts(out, label);
	text_escape(&out->text, cell->text.bytes, cell->text.size);
	out_puts(out, "\n");
}

static void number_line(struct out *out, const char *label, const struct cell *cell)
{
	if (cell->is_there)
		out_printf(out, "%s%" PRIu64 "\n", label, cell->number);
}

static void address_line(struct out *out, const char *label, const struct cell *cell)
{
	out_printf(out, "%s%016" PRIx64 "\n", label, cell->number);
}

static void flag_line(struct out *out, const char *label, const struct cell *cell)
{
	out_printf(out, "%s%s\n", label, cell->flag ? "true" : "false");
}

static void type_layout(struct out *out, const struct cell *cells)
{
	uint64_t canonical = cells[CLASS_CANONICAL].number;
	address_line(out, "EEClass:             ", &cells[CLASS_EE]);
	if (canonical && canonical != cells[CLASS_ADDRESS].number)
		address_line(out, "Canonical MT:        ", &cells[CLASS_CANONICAL]);
	address_line(out, "Parent:              ", &cells[CLASS_PARENT]);
	address_line(out, "Module:              ", &cells[CLASS_MODULE]);
	name_line(out, "Name:                ", &cells[CLASS_NAME]);
	address_line(out, "mdToken:             ", &cells[CLASS_TOKEN]);
	file_line(out, "File:                ", &cells[CLASS_FILE]);
	out_printf(out, "BaseSize:            0x%" PRIx64 "\n", cells[CLASS_BASE_SIZE].number);
	if (cells[CLASS_FLAGS].number & MT_HAS_COMPONENT_SIZE) {
		out_printf(out, "ComponentSize:       0x%" PRIx64 "\n",
			   cells[CLASS_COMPONENT_SIZE].number);
	}
	flag_line(out, "Has GC Pointers:     ", &cells[CLASS_POINTERS]);
	flag_line(out, "Has Finalizer:       ", &cells[CLASS_FINALIZER]);
	flag_line(out, "Collectible:         ", &cells[CLASS_COLLECTIBLE]);
	out_printf(out, "Category:            %s\n", cells[CLASS_CATEGORY].text.bytes);
	out_printf(out, "Flags:               0x%08" PRIx64 "\n", cells[CLASS_FLAGS].number);
	number_line(out, "Number of Methods:   ", &cells[CLASS_METHODS]);
	number_line(out, "Number of IFaces in IFaceMap: ", &cells[CLASS_INTERFACES]);
}

static void class_layout(struct out *out, const struct cell *cells)
{
	name_line(out, "Class Name:      ", &cells[CLASS_NAME]);
	address_line(out, "mdToken:         ", &cells[CLASS_TOKEN]);
	file_line(out, "File:            ", &cells[CLASS_FILE]);
	address_line(out, "Parent:          ", &cells[CLASS_PARENT]);
	address_line(out, "Module:          ", &cells[CLASS_MODULE]);
	address_line(out, "Method Table:    ", &cells[CLASS_ADDRESS]);
	number_line(out, "NumInstanceFields:   ", &cells[CLASS_INSTANCE_FIELDS]);
	number_line(out, "NumStaticFields:     ", &cells[CLASS_STATIC_FIELDS]);
}

SCHEMA(type, .layout = type_layout);
static const struct schema class_schema = { SCHEMA_COLUMNS(type_columns), .layout = class_layout };

/* A 16-bit number of a runtime structure; absent when its place is not known. */
static struct cell small_number(struct clr *clr, uint64_t base, enum layout_field field)
{
	uint16_t number;
	bool is_known = base && clr_field_u16(clr, base, field, &number);
	return is_known ? cell_number(number) : (struct cell){ 0 };
}

static void write_type(struct answer *answer, struct clr *clr, const struct schema *schema,
		       const struct type *type)
{
	size_t size;
	const char *name = type_name(clr, type, &size);
	uint64_t mt = type->method_table, ee_class = type->ee_class;
	const struct cell cells[CLASS_COLUMNS] = {
		[CLASS_ADDRESS] = cell_number(mt),
		[CLASS_NAME] = cell_type(name, size, mt),
		[CLASS_BASE_SIZE] = cell_number(type->base_size),
		[CLASS_COMPONENT_SIZE] = cell_number(type->component_size),
		[CLASS_FLAGS] = cell_number(type->flags),
		[CLASS_MODULE] = cell_number(type->module),
		[CLASS_TOKEN] = cell_number(type->token),
		[CLASS_PARENT] = cell_number(type->parent),
		[CLASS_FILE] = cell_string(type_file(clr, type)),
		[CLASS_EE] = cell_number(ee_class),
		[CLASS_CANONICAL] = cell_number(type->canonical),
		[CLASS_CATEGORY] = cell_string(category_name(type)),
		[CLASS_POINTERS] = cell_flag(type->has_pointers),
		[CLASS_FINALIZER] = cell_flag(type->has_finalizer),
		[CLASS_COLLECTIBLE] = cell_flag(type->is_collectible),
		[CLASS_METHODS] = small_number(clr, ee_class, L_CLASS_NUM_METHODS),
		[CLASS_INTERFACES] = small_number(clr, mt, L_MT_NUM_INTERFACES),
		[CLASS_INSTANCE_FIELDS] = small_number(clr, ee_class, L_CLASS_NUM_INSTANCE),
		[CLASS_STATIC_FIELDS] = small_number(clr, ee_class, L_CLASS_NUM_STATIC),
	};
	answer_record(answer, schema, cells);
}

static enum hd_status run_dumpmt(struct call *call)
{
	const struct type *type;
	TRY(call_type(call, call->words[0].number, &type));
	write_type(&call->answer, call->heap->clr, &type_schema, type);
	return call->options[OPT_METHODS].given ? write_type_methods(call, type) : HD_OK;
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

static enum hd_status run_dumpclass(struct call *call)
{
	const struct type *type;
	TRY(find_class(call, &type));
	write_type(&call->answer, call->heap->clr, &class_schema, type);
	return write_fields(call, type, 0, FIELDS_OF_TYPE, 0);
}

COMMAND(dumpmt, .summary = "describe a type by its MethodTable", .example = "dumpmt 7f1bb073ae40",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP, .options = dumpmt_options,
	.words = { { "MT", VALUE_TYPE_ID, false } });

COMMAND(dumpclass, .summary = "list the fields of a type, its statics with their values",
	.description = "The type is given by its EEClass or its MethodTable.\n",
	.example = "dumpclass 7f1bb073ae40", .top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP,
	.words = { { "CLASS", VALUE_TYPE_ID, false } });
