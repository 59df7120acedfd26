/* SPDX-License-Identifier: MIT */
/* All functions of a program, by its call frame information (doc/nativeaot.md 5.5). */
#include "runtime/function_list.h"

#include "arch/framed_rows.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_map.h"
#include "runtime/nativeaot/stack/frame_data.h"
#include "targets/target.h"
#include "unwind/cfi.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/text.h"

/* The code never changes: a few bytes of it tell that it is still there. */
#define PLACE_SIZE 64u

/* Functions begin at such addresses, and most bytes of code without information that are searched for them. */
#define FUNCTION_ALIGN 16u
#define GAP_MAX        ((uint64_t)4 << 20)
#define GAPS_MAX       ((uint64_t)64 << 20)
/* Most bytes of call frame information that are read: for each byte of code so many, and some more. */
#define RECORDS_FACTOR 4u
#define RECORDS_FLOOR  ((uint64_t)1 << 20)
#define RECORDS_MAX    ((uint64_t)256 << 20)
/* A function whose information cannot be read costs so many. */
#define BAD_RECORD 4096u
/* Bytes of code that tell the frame of a function. */
#define PROLOGUE_MAX 32u

/* The work on one program. */
struct listing {
	struct nativeaot *aot;
	struct cfi *cfi;
	struct code_functions *functions;
	uint64_t begin;   /* of the function before, */
	uint64_t records; /* bytes of call frame information that may still be read */
	uint64_t last;    /* the end of the function before */
	uint64_t room;    /* bytes that may still be searched */
	struct text rows; /* of a function that is tried */
};

static bool add(struct listing *listing, const struct code_function *function)
{
	struct code_functions *functions = listing->functions;
	if (functions->rows_count == CODE_FUNCTIONS_MAX) {
		functions->is_partial = true;
		return true;
	}
	if (!PAGES_RESERVE(functions, rows))
		return false;
	functions->rows[functions->rows_count++] = *function;
	return true;
}

/* Functions without information in @p code, which is at @p begin, as far as their frames can be told. */
static bool add_framed(struct listing *listing, uint64_t begin, const uint8_t *code, size_t size)
{
	const struct arch *arch = runtime_arch(&listing->aot->base);
	size_t at = (size_t)(-begin % FUNCTION_ALIGN);
	while (at < size) {
		size_t end = at + FUNCTION_ALIGN;
		if (!framed_rows_write(arch, code + at, size - at, NULL)) {
			at = end;
			continue;
		}
		while (end < size && !framed_function_ends(arch, code, end) &&
		       !framed_rows_write(arch, code + end, size - end, NULL))
			end += FUNCTION_ALIGN;
		const struct code_function function = {
			.begin = begin + at,
			.end = begin + (end < size ? end : size),
			.part = CODE_METHOD,
			.is_native = true,
		};
		if (!add(listing, &function))
			return false;
		at = end;
	}
	return true;
}

/* The code between two functions that have information. */
static bool search_gap(struct listing *listing, uint64_t end)
{
	uint64_t begin = listing->last, size = end - begin;
	if (!begin || end <= begin || size < FUNCTION_ALIGN / 2 || size > GAP_MAX ||
	    size > listing->room || !framed_rows_are_known(runtime_arch(&listing->aot->base)))
		return true;
	listing->room -= size;
	HD_FREE uint8_t *code = mem_alloc((size_t)size, 1);
	if (!code)
		return false;
	size_t got = memory_prefix(listing->aot->base.memory, begin, code, (size_t)size);
	return add_framed(listing, begin, code, got);
}

/* A method, or a handler of one. */
static void describe_method(const struct listing *listing, const struct cfi_function *function,
			    struct code_function *ret)
{
	const struct nativeaot *aot = listing->aot;
	struct aot_frame_data data;
	static const uint8_t parts[] = { [AOT_PART_METHOD] = CODE_METHOD,
					 [AOT_PART_HANDLER] = CODE_HANDLER,
					 [AOT_PART_FILTER] = CODE_FILTER };
	if (!aot_frame_data_read(aot->base.memory, function, &data) || data.start < aot->code)
		return;
	ret->unwind_info = function->lsda;
	ret->start = data.start;
	ret->part = parts[data.part];
	ret->method_desc =
		aot->methods && method_map_find(aot->methods, data.start) ? data.start : 0;
}

/* Damaged tables may lead to the same bytes again and again; false: it is enough. */
static bool take_records(struct listing *listing, size_t size)
{
	bool is_enough = listing->records < size;
	listing->records -= is_enough ? listing->records : size;
	return !is_enough;
}

static bool add_function(struct listing *listing, uint64_t begin)
{
	const struct nativeaot *aot = listing->aot;
	struct cfi_function function = { .record = 0 };
	bool is_there = begin > listing->begin && cfi_function_at(listing->cfi, begin, &function);
	listing->begin = begin;
	listing->functions->is_partial |=
		!take_records(listing, function.record + (is_there ? 0 : BAD_RECORD));
	if (!is_there || function.begin != begin || !function.size || function.size > UINT32_MAX) {
		listing->functions->left_out++;
		return true;
	}
	if (!search_gap(listing, begin))
		return false;
	struct code_function row = { .begin = begin,
				     .end = begin + function.size,
				     .part = CODE_METHOD,
				     .is_precompiled = true };
	if (row.end > listing->last)
		listing->last = row.end;
	if (begin - aot->code < aot->code_size) {
		describe_method(listing, &function, &row);
	} else {
		row.is_native = true;
		/* Some stubs are described by expressions. */
		if (!cfi_rows(listing->cfi, begin, &listing->rows))
			return !listing->rows.failed;
	}
	listing->rows.size = 0;
	return add(listing, &row);
}

static enum hd_status list(struct listing *listing, struct job *job, struct hd_error *err)
{
	uint64_t code = listing->aot->code, begin;
	uint64_t count = cfi_functions_count(listing->cfi, code);
	listing->functions->is_partial = !count;
	job_begin(job, "code", count);
	for (uint64_t i = 0; i < count && listing->records; i++) {
		TRY(job_check(job, 1, err));
		if (!cfi_function_begin(listing->cfi, code, i, &begin)) {
			listing->functions->is_partial = true;
			break;
		}
		TRY_MEMORY(add_function(listing, begin), err);
	}
	return HD_OK;
}

enum hd_status aot_functions(struct runtime *runtime, struct job *job, struct code_functions *ret,
			     struct hd_error *err)
{
	uint64_t size = aot_of(runtime)->code_size * RECORDS_FACTOR + RECORDS_FLOOR;
	struct listing listing = {
		.aot = aot_of(runtime),
		.cfi = aot_cfi(runtime),
		.functions = ret,
		.room = GAPS_MAX,
		.records = size < RECORDS_MAX ? size : RECORDS_MAX,
	};
	TRY_MEMORY(listing.cfi, err);
	code_places_add(&ret->places, listing.aot->code, PLACE_SIZE);
	enum hd_status status = list(&listing, job, err);
	job_end(job);
	text_deinit(&listing.rows);
	return status;
}

bool aot_function_rows(struct runtime *runtime, const struct code_function *function,
		       struct text *ret)
{
	struct cfi *cfi = aot_cfi(runtime);
	struct cfi_function known;
	uint8_t code[PROLOGUE_MAX];
	if (!cfi)
		return false;
	if (cfi_function_at(cfi, function->begin, &known) && known.begin == function->begin)
		return cfi_rows(cfi, function->begin, ret);
	size_t got = memory_prefix(runtime->memory, function->begin, code, sizeof(code));
	return framed_rows_write(runtime_arch(runtime), code, got, ret);
}
