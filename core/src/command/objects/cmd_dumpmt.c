/* SPDX-License-Identifier: MIT */
/* dumpmt and dumpclass: a type by its MethodTable. */

#include "analysis/modules/load_contexts.h"
#include "command/call.h"
#include "command/names/code_rows.h"
#include "command/objects/object.h"
#include "command/table.h"
#include "gc/heap.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/types/method_table.h"
#include "runtime/runtime_ops.h"
#include "util/alloc.h"

/* Most base classes whose methods are read. */
#define BASES_MAX 64u

#define METHOD_LIST(X)                                                                         \
	X(METHOD_ENTRY, "entry", "Entry", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER,           \
	  "where a call goes: code or a stub; null: not known")                                \
	X(METHOD_DESC, "method_desc", "MethodDesc", KIND_ADDRESS, 16, LOOK_ZEROS | LOOK_UPPER, \
	  "the MethodDesc; null: not known")                                                   \
	X(METHOD_JIT, "jit", "JIT", KIND_TEXT, 6, 0,                                           \
	  "JIT, PreJIT (ReadyToRun, and called), or NONE: no code yet")                        \
	X(METHOD_SLOT, "slot", "Slot", KIND_NUMBER, 16, 0, "number of its slot")               \
	X(METHOD_NAME, "name", "Name", KIND_TEXT, 0, 0, "name of the method, with arguments")

COLUMNS(method, METHOD_COLUMNS, METHOD_LIST);

static const struct schema methods_schema = {
	.name = "method_descs", /* "methods" is their number */
	SCHEMA_COLUMNS(method_columns),
	.heading = "           Entry       MethodDesc    JIT Slot             Name",
	.lines = "{entry:016X} {method_desc:016X} {jit:6??} {slot:016X} {name:m?<not known>}\n",
};

static const char *jit_state(const struct method_bodies *bodies, uint64_t method_desc)
{
	size_t count, first = method_bodies_of(bodies, method_desc, &count);
	for (size_t i = first; i < first + count; i++) {
		if (!bodies->rows[i].is_precompiled)
			return "JIT";
	}
	if (count)
		return "PreJIT";
	return bodies->is_partial ? NULL : "NONE";
}

static void write_slot(struct call *call, const struct method_bodies *bodies, uint64_t method_desc,
		       uint64_t entry, uint32_t slot)
{
	HD_CLEANUP(text) struct text name = { 0 };
	struct cell cells[METHOD_COLUMNS] = { [METHOD_SLOT] = cell_number(slot) };
	if (entry)
		cells[METHOD_ENTRY] = cell_number(entry);
	if (method_desc) {
		runtime_method_signature(call->heap->runtime, method_desc, &name);
		cells[METHOD_DESC] = cell_number(method_desc);
		cells[METHOD_JIT] = cell_string(jit_state(bodies, method_desc));
		cells[METHOD_NAME] = cell_text(name.bytes, name.size);
	}
	answer_row(&call->answer, cells);
	call->out.text.failed |= name.failed;
}

/*
 * MethodDescs by their slots, for slots that hold nothing yet: those of the type, then those of its base
 * classes, where @p slots is still 0.
 */
static void fill_slots(struct runtime *runtime, const struct type *type, uint64_t *slots,
		       uint16_t count)
{
	struct method_list list;
	struct method method;
	uint16_t slot;
	for (unsigned int i = 0; type && i < BASES_MAX; i++) {
		method_list_begin(&list, runtime, type);
		while (method_list_next(&list, &method)) {
			if (coreclr_field_u16(runtime, method.address, L_METHOD_SLOT, &slot) &&
			    slot < count && !slots[slot])
				slots[slot] = method.address;
		}
		type = type->parent ? type_find(runtime, type->parent) : NULL;
	}
}

static enum hd_status write_virtuals(struct call *call, const struct type *type,
				     const struct method_bodies *bodies, uint16_t count)
{
	struct runtime *runtime = call->heap->runtime;
	HD_FREE uint64_t *slots = mem_calloc((size_t)count + 1, sizeof(*slots));
	TRY_MEMORY(slots, call->err);
	fill_slots(runtime, type, slots, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t method_desc;
		if (!runtime_method_in_slot(runtime, type->method_table, i, &method_desc))
			method_desc = slots[i];
		write_slot(call, bodies, method_desc, vtable_entry(runtime, type, i), i);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_rows(struct call *call, const struct type *type,
				 const struct method_bodies *bodies, bool *ret_is_broken)
{
	struct runtime *runtime = call->heap->runtime;
	struct method_list list;
	struct method method;
	uint16_t virtuals = 0, slot;
	(void)coreclr_field_u16(runtime, type->method_table, L_MT_NUM_VIRTUALS, &virtuals);
	TRY(write_virtuals(call, type, bodies, virtuals));
	method_list_begin(&list, runtime, type);
	while (method_list_next(&list, &method)) {
		if (!coreclr_field_u16(runtime, method.address, L_METHOD_SLOT, &slot) ||
		    slot < virtuals)
			continue;
		write_slot(call, bodies, method.address, method_entry(runtime, &method), slot);
		TRY(call_check(call));
	}
	*ret_is_broken = list.is_broken;
	return HD_OK;
}

/*
 * Write the methods of @p type as SOS's dumpmt -md does: first the slots of its vtable, inherited ones, too,
 * then the other methods that it declares.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
static enum hd_status write_type_methods(struct call *call, const struct type *type)
{
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	bool is_broken = false;
	TRY(method_bodies_read(call->heap->runtime, &call->job, &bodies, call->err));
	answer_remark(&call->answer, "--------------------------------------\n"
				     "MethodDesc Table\n");
	answer_table(&call->answer, &methods_schema, NULL);
	TRY(write_rows(call, type, &bodies, &is_broken));
	(void)answer_table_end(&call->answer);
	if (is_broken) {
		answer_remark(&call->answer, "The list of methods cannot be read to its "
					     "end: some may be missing.\n");
	}
	bodies.is_partial |= is_broken;
	write_bodies_end(call, &bodies);
	return HD_OK;
}

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

#define CLASS_LIST(X)                                                                                     \
	X(CLASS_ADDRESS, "mt", NULL, KIND_ADDRESS, 0, 0, "the MethodTable")                               \
	X(CLASS_NAME, "name", NULL, KIND_TYPE, 0, 0, "name of the type")                                  \
	X(CLASS_BASE_SIZE, "base_size", NULL, KIND_BYTES, 0, 0,                                           \
	  "bytes of an object, without elements")                                                         \
	X(CLASS_COMPONENT_SIZE, "component_size", NULL, KIND_BYTES, 0, 0,                                 \
	  "bytes of an element of an array or string")                                                    \
	X(CLASS_FLAGS, "flags", NULL, KIND_ADDRESS, 0, 0, "flags of the MethodTable")                     \
	X(CLASS_MODULE, "module", NULL, KIND_ADDRESS, 0, 0,                                               \
	  "the Module that has the type; null, as token, ee_class and canonical: the runtime keeps none") \
	X(CLASS_TOKEN, "token", NULL, KIND_ADDRESS, 0, 0, "metadata token of the type")                   \
	X(CLASS_PARENT, "parent", NULL, KIND_ADDRESS, 0, 0, "MethodTable of the base class")              \
	X(CLASS_FILE, "file", NULL, KIND_TEXT, 0, 0, "file of the module")                                \
	X(CLASS_EE, "ee_class", NULL, KIND_ADDRESS, 0, 0, "the EEClass")                                  \
	X(CLASS_CANONICAL, "canonical", NULL, KIND_ADDRESS, 0, 0,                                         \
	  "MethodTable that shares its code")                                                             \
	X(CLASS_CATEGORY, "category", NULL, KIND_TEXT, 0, 0, "what kind of type it is")                   \
	X(CLASS_POINTERS, "has_pointers", NULL, KIND_FLAG, 0, 0,                                          \
	  "do its objects hold references?")                                                              \
	X(CLASS_FINALIZER, "has_finalizer", NULL, KIND_FLAG, 0, 0, "does it have a finalizer?")           \
	X(CLASS_COLLECTIBLE, "is_collectible", NULL, KIND_FLAG, 0, 0, "can it be unloaded?")              \
	X(CLASS_METHODS, "methods", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "how many it has")              \
	X(CLASS_INTERFACES, "interfaces", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                           \
	  "how many it implements")                                                                       \
	X(CLASS_CONTEXT, "load_context", NULL, KIND_ADDRESS, 0, 0,                                        \
	  "AssemblyLoadContext object of its module; 0x0: the default one, which has none yet")           \
	X(CLASS_CONTEXT_NAME, "load_context_name", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                    \
	  "name of that context")                                                                         \
	X(CLASS_CONTEXT_OBJECT, .heading = "context_object",                                              \
	  .kind = KIND_ADDRESS) /**< text of dumpmt only, as the next */                                  \
	X(CLASS_CONTEXT_GAP, .heading = "context_gap", .kind = KIND_TEXT)                                 \
	X(CLASS_INSTANCE_FIELDS, .heading = "instance_fields",                                            \
	  .kind = KIND_NUMBER) /**< text of dumpclass only, as the next */                                \
	X(CLASS_STATIC_FIELDS, .heading = "static_fields", .kind = KIND_NUMBER)                           \
	X(CLASS_SHARED, .heading = "is_shared", .kind = KIND_FLAG)                                        \
	X(CLASS_COMPONENTS, .heading = "has_components", .kind = KIND_FLAG)

COLUMNS(type, CLASS_COLUMNS, CLASS_LIST);

SCHEMA(type, .lines = "[=ee_class EEClass:             {ee_class:016}\n]"
		      "[?is_shared Canonical MT:        {canonical:016}\n]"
		      "Parent:              {parent:016}\n"
		      "[=module Module:              {module:016}\n]Name:                {name}\n"
		      "[=token mdToken:             {token:016}\n][File:                {file}\n]"
		      "[=context_gap AssemblyLoadContext: "
		      "[{context_object:016}[ {load_context_name}]|{context_gap}]\n]"
		      "BaseSize:            0x{base_size:x}\n"
		      "[?has_components ComponentSize:       0x{component_size:x}\n]"
		      "Has GC Pointers:     [?has_pointers true|false]\n"
		      "Has Finalizer:       [?has_finalizer true|false]\n"
		      "Collectible:         [?is_collectible true|false]\n"
		      "Category:            {category}\nFlags:               0x{flags:08}\n"
		      "[Number of Methods:   {methods}\n]"
		      "[Number of IFaces in IFaceMap: {interfaces}\n]");
static const struct schema class_schema = {
	SCHEMA_COLUMNS(type_columns),
	.lines = "Class Name:      {name}\n[=token mdToken:         {token:016}\n]"
		 "[File:            {file}\n]Parent:          {parent:016}\n"
		 "[=module Module:          {module:016}\n]Method Table:    {mt:016}\n"
		 "[NumInstanceFields:   {instance_fields}\n]"
		 "[NumStaticFields:     {static_fields}\n]"
};

/* A 16-bit number of a runtime structure; absent when its place is not known. */
static struct cell small_number(struct runtime *runtime, uint64_t base, enum layout_field field)
{
	uint16_t number;
	bool is_known = base && coreclr_field_u16(runtime, base, field, &number);
	return is_known ? cell_number(number) : (struct cell){ 0 };
}

/* Put the cells of the context that has loaded @p type; *@p ret_name is to be freed when they are written. */
static enum hd_status put_load_context(struct call *call, const struct type *type,
				       struct cell *cells, char **ret_name)
{
	struct runtime *runtime = call->heap->runtime;
	uint64_t address = type_home_module(runtime, type);
	const struct module *module = address ? module_find(runtime, address) : NULL;
	struct module_facts facts = { 0 };
	struct load_context context = { 0 };
	enum module_context known;
	if (module)
		module_facts_read(runtime, module, &facts);
	TRY(load_context_of_module(call->heap, &facts, &known, &context, call->err));
	if (known != MODULE_CONTEXT_UNKNOWN)
		cells[CLASS_CONTEXT] = cell_number(context.object);
	if (known == MODULE_CONTEXT_FOUND) {
		cells[CLASS_CONTEXT_OBJECT] = cell_number(context.object);
		cells[CLASS_CONTEXT_NAME] = cell_string(context.name);
		*ret_name = context.name;
	}
	cells[CLASS_CONTEXT_GAP] = cell_string(
		known == MODULE_CONTEXT_NONE ? "Default ALC: it has no object yet" : "<not known>");
	return HD_OK;
}

static enum hd_status write_type(struct call *call, const struct schema *schema,
				 const struct type *type)
{
	struct runtime *runtime = call->heap->runtime;
	HD_FREE char *context_name = NULL;
	size_t size;
	const char *name = type_name(runtime, type, &size);
	uint64_t mt = type->method_table, ee_class = type->links.ee_class;
	struct cell cells[CLASS_COLUMNS] = {
		[CLASS_ADDRESS] = cell_number(mt),
		[CLASS_NAME] = cell_type(name, size, mt),
		[CLASS_BASE_SIZE] = cell_number(type->base_size),
		[CLASS_COMPONENT_SIZE] = cell_number(type->component_size),
		[CLASS_SHARED] = cell_flag(type->links.canonical &&
					   type->links.canonical != type->method_table),
		[CLASS_COMPONENTS] = cell_flag((type->flags & MT_HAS_COMPONENT_SIZE) != 0),
		[CLASS_FLAGS] = cell_number(type->flags),
		[CLASS_PARENT] = cell_number(type->parent),
		[CLASS_FILE] = cell_string(type_file(runtime, type)),
		[CLASS_CATEGORY] = cell_string(category_name(type)),
		[CLASS_POINTERS] = cell_flag(type->has_pointers),
		[CLASS_FINALIZER] = cell_flag(type->has_finalizer),
		[CLASS_COLLECTIBLE] = cell_flag(type->is_collectible),
		[CLASS_METHODS] = small_number(runtime, ee_class, L_CLASS_NUM_METHODS),
		[CLASS_INTERFACES] = small_number(runtime, mt, L_MT_NUM_INTERFACES),
		[CLASS_INSTANCE_FIELDS] = small_number(runtime, ee_class, L_CLASS_NUM_INSTANCE),
		[CLASS_STATIC_FIELDS] = small_number(runtime, ee_class, L_CLASS_NUM_STATIC),
	};
	if (runtime_capabilities(runtime) & RUNTIME_METADATA) {
		cells[CLASS_MODULE] = cell_number(type->module);
		cells[CLASS_TOKEN] = cell_number(type->token);
		cells[CLASS_EE] = cell_number(ee_class);
		cells[CLASS_CANONICAL] = cell_number(type->links.canonical);
		TRY(put_load_context(call, type, cells, &context_name));
	}
	answer_record(&call->answer, schema, cells);
	return HD_OK;
}

static enum hd_status run_dumpmt(struct call *call)
{
	const struct runtime *runtime = call->heap->runtime;
	const struct type *type;
	if (call->options[OPT_METHODS].given &&
	    !(runtime_capabilities(runtime) & RUNTIME_METADATA)) {
		return fail(
			call->err, HD_ERR_UNSUPPORTED, 0,
			"dumpmt -md needs the metadata of methods, which a program with %s does "
			"not keep; export FILE.perfmap lists its methods",
			runtime_ops(runtime)->name);
	}
	TRY(call_type(call, call->words[0].number, &type));
	TRY(write_type(call, &type_schema, type));
	return call->options[OPT_METHODS].given ? write_type_methods(call, type) : HD_OK;
}

/* By its MethodTable, or its EEClass. */
static enum hd_status find_class(struct call *call, const struct type **ret)
{
	struct runtime *runtime = call->heap->runtime;
	uint64_t address = call->words[0].number;
	const struct type *type = type_of_class(runtime, address);
	if (type) {
		*ret = type;
		return HD_OK;
	}
	return call_type(call, address, ret);
}

static enum hd_status run_dumpclass(struct call *call)
{
	const struct type *type;
	TRY(find_class(call, &type));
	TRY(write_type(call, &class_schema, type));
	return write_fields(call, type, 0, FIELDS_OF_TYPE, 0);
}

COMMAND(dumpmt, .summary = "describe a type by its MethodTable", .example = "dumpmt 7f1bb073ae40",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_RUNTIME, .options = dumpmt_options,
	.words = { { "MT", VALUE_TYPE_ID, false } });

COMMAND(dumpclass, .summary = "list the fields of a type, its statics with their values",
	.description = "The type is given by its EEClass or its MethodTable.\n",
	.example = "dumpclass 7f1bb073ae40", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_FIELDS, .words = { { "CLASS", VALUE_TYPE_ID, false } });
