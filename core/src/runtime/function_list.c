/* SPDX-License-Identifier: MIT */
/* All functions of managed code, as the runtime lists them. */
#include "runtime/function_list.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "runtime/runtime_base.h"
#include "util/alloc.h"

void code_places_add(struct code_places *places, uint64_t address, uint64_t size)
{
	if (!places)
		return;
	if (PAGES_RESERVE(places, rows)) {
		places->rows[places->rows_count++] = (struct code_place){ address, size };
	} else {
		places->failed = true;
	}
}

/* By address; of those that begin at one address, one with a method first. */
static int compare_functions(const void *a, const void *b)
{
	const struct code_function *x = a, *y = b;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (!x->method_desc != !y->method_desc)
		return x->method_desc ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Keep what begins after the end of all before it; a section may be listed twice.  Stubs give way to functions. */
static void leave_out_overlapping(struct code_functions *functions)
{
	size_t kept = 0;
	for (size_t i = 0; i < functions->rows_count; i++) {
		const struct code_function *row = &functions->rows[i],
					   *last = kept ? &functions->rows[kept - 1] : NULL;
		if (last && row->begin < last->end && last->part == CODE_STUBS &&
		    row->part != CODE_STUBS) {
			functions->rows[kept - 1] = *row;
		} else if (!last || row->begin >= last->end) {
			functions->rows[kept++] = *row;
		} else {
			functions->left_out += row->part != CODE_STUBS &&
					       (row->begin != last->begin || row->end != last->end);
		}
	}
	functions->rows_count = kept;
}

enum hd_status code_functions_read(struct runtime *runtime, struct job *job,
				   struct code_functions *ret, struct hd_error *err)
{
	*ret = (struct code_functions){ 0 };
	if (!runtime->ops->functions) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "a program with %s has no list of its methods", runtime->ops->name);
	}
	TRY(runtime->ops->functions->read(runtime, job, ret, err));
	TRY_MEMORY(!ret->places.failed, err);
	if (ret->rows_count) {
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_functions);
		leave_out_overlapping(ret);
	}
	return HD_OK;
}

void code_functions_deinit(struct code_functions *functions)
{
	pages_free(functions->rows, functions->rows_capacity, sizeof(*functions->rows));
	pages_free(functions->places.rows, functions->places.rows_capacity,
		   sizeof(*functions->places.rows));
	*functions = (struct code_functions){ 0 };
}

bool code_function_rows(struct runtime *runtime, const struct code_function *function,
			struct text *ret)
{
	const struct unwind_function unwind = { .begin = function->begin,
						.unwind_info = function->unwind_info,
						.image_base = function->image_base };
	/* A stub has no frame, and jumps. */
	if (function->part == CODE_STUBS)
		return true;
	if (runtime->ops->functions && runtime->ops->functions->rows)
		return runtime->ops->functions->rows(runtime, function, ret);
	return runtime_arch(runtime)->ops->managed_rows(runtime->memory, &unwind,
							function->end - function->begin, ret);
}
