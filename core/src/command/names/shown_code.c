/* SPDX-License-Identifier: MIT */
#include "command/names/shown_code.h"

#include <inttypes.h>

#include "command/names/code_rows.h"
#include "gc/heap.h"
#include "runtime/coreclr/code/source.h"
#include "util/sort.h"

void shown_code_deinit(struct shown_code *shown)
{
	code_bounds_deinit(&shown->bounds);
	pdb_points_deinit(&shown->points);
	*shown = (struct shown_code){ 0 };
}

/* The code of a method: its address. */
static enum hd_status code_of_method(struct call *call, const struct method *method,
				     struct shown_code *ret)
{
	struct runtime *runtime = call->heap->runtime;
	HD_CLEANUP(method_bodies) struct method_bodies bodies = { 0 };
	size_t count;
	TRY(method_bodies_read(runtime, &call->job, &bodies, call->err));
	size_t first = method_bodies_of(&bodies, method->address, &count);
	if (!count) {
		return fail(call->err, HD_ERR_NOTFOUND, method->address,
			    "the method %" PRIx64 " has no code%s", method->address,
			    bodies.is_partial ? " that can be read; info says what is missing"
					      : ": it was not called yet, or only its "
						"instantiations have some");
	}
	const struct method_body *current = method_body_current(runtime, &bodies, method);
	ret->address = current ? current->start : bodies.rows[first].start;
	ret->has_others = count > 1;
	return HD_OK;
}

static enum hd_status find_code(struct call *call, struct shown_code *ret)
{
	struct runtime *runtime = call->heap->runtime;
	struct method method;
	ret->address = call->words[0].number;
	bool is_method = method_read(runtime, ret->address, &method);
	if (is_method)
		TRY(code_of_method(call, &method, ret));
	if (!runtime_code_at(runtime, ret->address, &ret->code)) {
		if (is_method) {
			return fail(call->err, HD_ERR_NOTFOUND, ret->address,
				    "the code of the method at %" PRIx64 " lies at %" PRIx64
				    ", but what is known about it is not there; info says what is "
				    "missing",
				    method.address, ret->address);
		}
		return fail(call->err, HD_ERR_NOTFOUND, ret->address,
			    "%" PRIx64 " is neither in the code of a method nor a MethodDesc%s",
			    ret->address,
			    runtime_has_code_at(runtime, ret->address)
				    ? ", or the tables that tell it are not there; info says what "
				      "is missing"
				    : "");
	}
	ret->size = code_size(call->heap, &ret->code);
	if (!ret->size || ret->address - ret->code.start >= ret->size) {
		return fail(call->err, HD_ERR_NOTFOUND, ret->address,
			    ret->size ? "%" PRIx64 " lies after the end of a method's code"
				      : "the GCInfo of the code at %" PRIx64 " cannot be read",
			    ret->address);
	}
	return HD_OK;
}

/* Read the lines and the IL that the PDB and the runtime tell. */
static void find_places(struct call *call, struct shown_code *ret)
{
	struct runtime *runtime = call->heap->runtime;
	runtime_symbols_set(runtime, call->settings.symbols);
	uint64_t *budget = coreclr_debug_budget(runtime);
	if (!budget || !runtime_bounds_read(runtime, &ret->code, budget, &ret->bounds))
		ret->bounds.rows_count = 0;
	if (!ret->method.rid || !ret->method.module)
		return;
	ret->pdb = runtime_pdb(runtime, ret->method.module, &budget);
	uint32_t size = ret->pdb ? pdb_method_size(ret->pdb, ret->method.rid) : 0;
	if (!size || size > *budget)
		return;
	*budget -= size;
	(void)pdb_points_read(ret->pdb, ret->method.rid, &ret->points);
}

enum hd_status shown_code_find(struct call *call, struct shown_code *ret)
{
	*ret = (struct shown_code){ 0 };
	TRY(find_code(call, ret));
	if (!method_read(call->heap->runtime, ret->code.method_desc, &ret->method))
		ret->method.rid = 0;
	find_places(call, ret);
	TRY_MEMORY(!ret->bounds.failed && !ret->points.failed, call->err);
	return HD_OK;
}

/* The IL of the instruction at @p offset, or CODE_BOUND_NOTHING. */
static uint32_t il_of(const struct shown_code *shown, uint32_t offset)
{
	size_t above = ROWS_ABOVE(shown->bounds.rows, shown->bounds.rows_count, native, offset);
	return above ? shown->bounds.rows[above - 1].il : CODE_BOUND_NOTHING;
}

uint32_t shown_code_next(const struct shown_code *shown, uint32_t offset)
{
	size_t above = ROWS_ABOVE(shown->bounds.rows, shown->bounds.rows_count, native, offset);
	return above < shown->bounds.rows_count ? shown->bounds.rows[above].native : UINT32_MAX;
}

uint32_t shown_code_first(const struct shown_code *shown, uint32_t begin, uint32_t end)
{
	const struct code_bounds *bounds = &shown->bounds;
	size_t i = ROWS_FROM(bounds->rows, bounds->rows_count, native, begin);
	while (i < bounds->rows_count && bounds->rows[i].native < end &&
	       (!bounds->rows[i].is_exact || bounds->rows[i].il == CODE_BOUND_NOTHING))
		i++;
	return i < bounds->rows_count && bounds->rows[i].native < end ? bounds->rows[i].native
								      : begin;
}

void shown_code_place(const struct shown_code *shown, uint32_t offset, struct cell *ret_il,
		      struct cell *ret_file, struct cell *ret_line)
{
	uint32_t il = il_of(shown, offset);
	if (il == CODE_BOUND_NOTHING)
		return;
	*ret_il = cell_number(il);
	size_t above = ROWS_ABOVE(shown->points.rows, shown->points.rows_count, il, il);
	const struct pdb_point *point = above ? &shown->points.rows[above - 1] : NULL;
	const char *file = point ? pdb_document(shown->pdb, point->document) : NULL;
	if (!file)
		return;
	*ret_file = cell_string(file);
	*ret_line = cell_number(point->line);
}

#define SHOWN_LIST(X)                                                                       \
	X(SHOWN_METHOD_DESC, "method_desc", NULL, KIND_ADDRESS, 0, 0, "the MethodDesc")     \
	X(SHOWN_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of the method, with arguments")  \
	X(SHOWN_KIND, "kind", NULL, KIND_TEXT, 0, 0, "JIT or ReadyToRun")                   \
	X(SHOWN_START, "start", NULL, KIND_ADDRESS, 0, 0, "where the method's code begins") \
	X(SHOWN_SIZE, "size", NULL, KIND_BYTES, 0, 0, "bytes of it, handlers included")     \
	X(SHOWN_OTHERS, "has_other_code", NULL, KIND_FLAG, 0, 0,                            \
	  "a MethodDesc was given, and it has more code, which dumpmd lists")

COLUMNS(shown, SHOWN_COLUMNS, SHOWN_LIST);

SCHEMA(shown, .lines = "Method Name:          {name}\nentry point {start:016} ({kind}, {size} "
		       "bytes)[?has_other_code ; dumpmd lists the method's other code]\n");

void shown_code_write(struct call *call, const struct shown_code *shown)
{
	HD_CLEANUP(text) struct text name = { 0 };
	runtime_method_signature(call->heap->runtime, shown->code.method_desc, &name);
	const struct cell cells[SHOWN_COLUMNS] = {
		[SHOWN_METHOD_DESC] = cell_number(shown->code.method_desc),
		[SHOWN_NAME] = cell_text(name.bytes, name.size),
		[SHOWN_KIND] = cell_string(code_kind(shown->code.is_precompiled)),
		[SHOWN_START] = cell_number(shown->code.start),
		[SHOWN_SIZE] = cell_number(shown->size),
		[SHOWN_OTHERS] = cell_flag(shown->has_others),
	};
	answer_record(&call->answer, &shown_schema, cells);
	call->out.text.failed |= name.failed;
}
