/* SPDX-License-Identifier: MIT */
#include "command/names/type_methods.h"

#include <inttypes.h>

#include "clr/layout.h"
#include "command/names/code_rows.h"
#include "gc/heap.h"
#include "report/fit.h"
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

/* SOS's columns. */
static void method_layout(struct out *out, const struct cell *cells)
{
	out_printf(out, "%016" PRIX64 " %016" PRIX64 " %6s %016" PRIX64 " ",
		   cells[METHOD_ENTRY].is_there ? cells[METHOD_ENTRY].number : 0,
		   cells[METHOD_DESC].is_there ? cells[METHOD_DESC].number : 0,
		   cells[METHOD_JIT].is_there ? cells[METHOD_JIT].text.bytes : "?",
		   cells[METHOD_SLOT].number);
	out_begin_name(out, FIT_METHOD);
	if (cells[METHOD_NAME].is_there) {
		text_escape(&out->text, cells[METHOD_NAME].text.bytes,
			    cells[METHOD_NAME].text.size);
	} else {
		out_puts(out, "<not known>");
	}
	out_end_name(out);
	out_puts(out, "\n");
}

static const struct schema methods_schema = {
	.name = "method_descs", /* "methods" is their number */
	SCHEMA_COLUMNS(method_columns),
	.heading = "           Entry       MethodDesc    JIT Slot             Name",
	.layout = method_layout,
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
		clr_method_signature(call->heap->clr, method_desc, &name);
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
static void fill_slots(struct clr *clr, const struct type *type, uint64_t *slots, uint16_t count)
{
	struct method_list list;
	struct method method;
	uint16_t slot;
	for (unsigned int i = 0; type && i < BASES_MAX; i++) {
		method_list_begin(&list, clr, type);
		while (method_list_next(&list, &method)) {
			if (clr_field_u16(clr, method.address, L_METHOD_SLOT, &slot) &&
			    slot < count && !slots[slot])
				slots[slot] = method.address;
		}
		type = type->parent ? type_find(clr, type->parent) : NULL;
	}
}

static enum hd_status write_virtuals(struct call *call, const struct type *type,
				     const struct method_bodies *bodies, uint16_t count)
{
	struct clr *clr = call->heap->clr;
	HD_FREE uint64_t *slots = mem_calloc((size_t)count + 1, sizeof(*slots));
	TRY_MEMORY(slots, call->err);
	fill_slots(clr, type, slots, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t method_desc;
		if (!clr_method_in_slot(clr, type->method_table, i, &method_desc))
			method_desc = slots[i];
		write_slot(call, bodies, method_desc, vtable_entry(clr, type, i), i);
		TRY(call_check(call));
	}
	return HD_OK;
}

static enum hd_status write_rows(struct call *call, const struct type *type,
				 const struct method_bodies *bodies, bool *ret_is_broken)
{
	struct clr *clr = call->heap->clr;
	struct method_list list;
	struct method method;
	uint16_t virtuals = 0, slot;
	(void)clr_field_u16(clr, type->method_table, L_MT_NUM_VIRTUALS, &virtuals);
	TRY(write_virtuals(call, type, bodies, virtuals));
	method_list_begin(&list, clr, type);
	while (method_list_next(&list, &method)) {
		if (!clr_field_u16(clr, method.address, L_METHOD_SLOT, &slot) || slot < virtuals)
			continue;
		write_slot(call, bodies, method.address, method_entry(clr, &method), slot);
		TRY(call_check(call));
	}
	*ret_is_broken = list.is_broken;
	return HD_OK;
}

enum hd_status write_type_methods(struct call *call, const struct type *type)
{
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	bool is_broken = false;
	TRY(method_bodies_read(call->heap->clr, &call->job, &bodies, call->err));
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
