/* SPDX-License-Identifier: MIT */
/*
 * Which method code belongs to (doc/nativeaot.md 5.1; src/coreclr/nativeaot/Runtime/unix/UnixNativeCodeManager.cpp).
 */
#include "runtime/code.h"

#include "mem/memory.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/stack/frame_data.h"
#include "unwind/cfi.h"

/* The first byte of an LSDA: UBF_FUNC_KIND_MASK and the flags after it. */
#define PART_MASK           0x03u
#define HAS_CLAUSES         0x04u
#define IS_CALLED_BY_NATIVE 0x08u
#define HAS_ASSOCIATED_DATA 0x10u

bool aot_frame_data_at(struct memory *memory, uint64_t begin, uint64_t lsda,
		       struct aot_frame_data *ret)
{
	uint8_t flags = 0;
	uint64_t start = begin, main = lsda;
	if (!lsda || !memory_u8(memory, lsda, &flags) || (flags & PART_MASK) > AOT_PART_FILTER)
		return false;
	enum aot_part part = (enum aot_part)(flags & PART_MASK);
	if (part != AOT_PART_METHOD) {
		/* {relative address of the method's LSDA, distance to its start} */
		int32_t to_main = 0, distance = 0;
		if (!memory_i32(memory, lsda + 1, &to_main) ||
		    !memory_i32(memory, lsda + 5, &distance) || distance < 0 ||
		    (uint64_t)distance > begin)
			return false;
		main = lsda + 1 + (uint64_t)(int64_t)to_main;
		start = begin - (uint64_t)distance;
		if (!memory_u8(memory, main, &flags) || (flags & PART_MASK) != AOT_PART_METHOD)
			return false;
	}
	uint64_t gc_info = main + 1;
	gc_info += flags & HAS_ASSOCIATED_DATA ? sizeof(uint32_t) : 0;
	gc_info += flags & HAS_CLAUSES ? sizeof(uint32_t) : 0;
	*ret = (struct aot_frame_data){
		.part = part,
		.start = start,
		.gc_info = gc_info,
		.is_called_by_native = part == AOT_PART_METHOD && flags & IS_CALLED_BY_NATIVE,
	};
	return true;
}

bool aot_frame_data_read(struct memory *memory, const struct cfi_function *function,
			 struct aot_frame_data *ret)
{
	return aot_frame_data_at(memory, function->begin, function->lsda, ret);
}

/* The versions of GCInfo, as their decoder calls them. */
static unsigned int gc_info_version(const struct nativeaot *aot)
{
	return aot->major < 10 ? aot->major - 6 : 4;
}

struct cfi *aot_cfi(struct runtime *runtime)
{
	struct nativeaot *aot = aot_of(runtime);
	if (!aot->cfi)
		aot->cfi = cfi_create(runtime->target);
	if (!aot->cfi)
		runtime_code_fail(runtime);
	return aot->cfi;
}

bool aot_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret)
{
	struct nativeaot *aot = aot_of(runtime);
	struct cfi_function function;
	struct aot_frame_data data;
	if (code < aot->code || code - aot->code >= aot->code_size)
		return false;
	struct cfi *cfi = aot_cfi(runtime);
	if (!cfi || !cfi_function_at(cfi, code, &function) ||
	    !aot_frame_data_read(runtime->memory, &function, &data) || data.start < aot->code)
		return false;
	*ret = (struct code_info){
		.method_desc = data.start,
		.start = data.start,
		.function = function.begin,
		.unwind_info = function.lsda,
		.gc_info = data.gc_info,
		.gc_info_version = gc_info_version(aot),
		.is_funclet = data.part != AOT_PART_METHOD,
		.has_cfi = true,
	};
	return true;
}

void aot_code_destroy(struct runtime *runtime)
{
	cfi_destroy(aot_of(runtime)->cfi);
	aot_of(runtime)->cfi = NULL;
}
