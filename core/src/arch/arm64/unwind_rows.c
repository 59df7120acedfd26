/* SPDX-License-Identifier: MIT */
/*
 * Every code is one instruction, in the prologue from the last code to the first, in an epilogue in the order of the codes:
 * a row after each says what is true then.
 */
#include "arch/arm64/unwind_rows.h"

#include "arch/arm64/register_table.h"
#include "arch/arm64/unwind_record.h"
#include "arch/call_frame.h"
#include "mem/memory.h"
#include "util/leb.h"
#include "util/text.h"

#define WORD      8u
#define DEPTH_MAX (UINT64_C(1) << 40)

/* Most epilogues of one function that are described: those after them have the row of its body. */
#define EPILOGUES_MAX 4096u

/* The codes of a prologue or an epilogue, in the order in which they are written. */
struct codes {
	struct unwind_code rows[UNWIND_CODES_MAX];
	uint32_t count;
};

struct description {
	struct text *out;
	uint64_t at;         /* offset in the function of the last row */
	uint64_t depth;      /* from sp to the CFA */
	unsigned int cfa;    /* the register that the CFA is relative to, */
	uint64_t cfa_offset; /* and by how much */
};

static bool read_codes(const struct unwind_record *record, uint32_t index, struct codes *ret)
{
	for (ret->count = 0;; ret->count++) {
		struct unwind_code code = arm64_unwind_code_at(record, index);
		if (code.operation == UNWIND_UNKNOWN)
			return false;
		if (code.operation == UNWIND_END)
			return true;
		ret->rows[ret->count] = code;
		index += code.bytes;
	}
}

/* Go on to the row at @p offset, which is not before the last one. */
static void advance(struct description *description, uint64_t offset)
{
	uint64_t step = offset - description->at;
	description->at = offset;
	if (!step)
		return;
	if (step <= CFA_LOW) {
		text_fixed(description->out, CFA_ADVANCE_LOC | step, 1);
	} else {
		text_fixed(description->out, CFA_ADVANCE_LOC4, 1);
		text_fixed(description->out, step, 4);
	}
}

static void define_cfa(struct description *description, unsigned int number, uint64_t offset)
{
	if (description->cfa == number && description->cfa_offset == offset)
		return;
	text_fixed(description->out, CFA_DEF_CFA, 1);
	text_uleb(description->out, number);
	text_uleb(description->out, offset);
	description->cfa = number;
	description->cfa_offset = offset;
}

/* Register @p number lies @p above bytes over the stack pointer. */
static bool save(struct description *description, unsigned int number, uint64_t above)
{
	if (number > ARM64_LR || above >= description->depth)
		return false;
	text_fixed(description->out, CFA_OFFSET | number, 1);
	text_uleb(description->out, (description->depth - above) / WORD);
	return true;
}

static void restore(struct description *description, unsigned int number)
{
	text_fixed(description->out, CFA_SAME_VALUE, 1);
	text_uleb(description->out, number);
}

/* The pair that the save_next of code @p index means: the first register, and how far over the stack pointer it lies. */
static bool next_pair(const struct codes *codes, uint32_t index, unsigned int *ret_number,
		      uint64_t *ret_above)
{
	uint32_t saved = index;
	while (saved < codes->count && saved - index <= UNWIND_NEXT_MAX &&
	       codes->rows[saved].operation == UNWIND_SAVE_NEXT)
		saved++;
	if (saved == codes->count || saved - index > UNWIND_NEXT_MAX)
		return false;
	const struct unwind_code *code = &codes->rows[saved];
	if (code->operation == UNWIND_SAVE_FLOATS) {
		*ret_number = ARCH_NONE;
		return true;
	}
	*ret_number = code->number + 2 * (saved - index);
	*ret_above = code->offset + 16 * (uint64_t)(saved - index);
	return code->operation == UNWIND_SAVE_PAIR && *ret_number < ARM64_LR;
}

/* The instruction of code @p index has run. */
static bool describe(struct description *description, const struct codes *codes, uint32_t index)
{
	const struct unwind_code *code = &codes->rows[index];
	unsigned int number = ARCH_NONE;
	uint64_t above = 0;
	description->depth += code->size;
	if (description->depth > DEPTH_MAX)
		return false;
	if (description->cfa == ARM64_SP)
		define_cfa(description, ARM64_SP, description->depth);
	switch (code->operation) {
	case UNWIND_SAVE_PAIR:
		return save(description, code->number, code->offset) &&
		       save(description, code->number + 1u, code->offset + WORD);
	case UNWIND_SAVE_ONE:
		return save(description, code->number, code->offset);
	case UNWIND_SAVE_LR_PAIR:
		return save(description, code->number, code->offset) &&
		       save(description, ARM64_LR, code->offset + WORD);
	case UNWIND_SAVE_NEXT:
		return next_pair(codes, index, &number, &above) &&
		       (number == ARCH_NONE || (save(description, number, above) &&
						save(description, number + 1, above + WORD)));
	case UNWIND_SET_FP:
		define_cfa(description, ARM64_FP, description->depth);
		return true;
	case UNWIND_ADD_FP:
		if (code->offset > description->depth)
			return false;
		define_cfa(description, ARM64_FP, description->depth - code->offset);
		return true;
	case UNWIND_SIGN:
		text_fixed(description->out, CFA_AARCH64_NEGATE_RA_STATE, 1);
		return true;
	default:
		return true;
	}
}

static bool describe_prologue(struct description *description, const struct codes *codes,
			      uint64_t size)
{
	for (uint32_t i = codes->count; i-- > 0;) {
		uint64_t after = (uint64_t)UNWIND_INSTRUCTION * (codes->count - i);
		if (after >= size)
			return true;
		advance(description, after);
		if (!describe(description, codes, i))
			return false;
	}
	return true;
}

/* The instruction that undoes code @p index has run; the rest of the epilogue still moves the stack pointer by @p left. */
static bool describe_undone(struct description *description, const struct codes *codes,
			    uint32_t index, uint64_t left)
{
	const struct unwind_code *code = &codes->rows[index];
	unsigned int number = ARCH_NONE;
	uint64_t unused;
	bool is_known = description->cfa == ARM64_SP || code->operation == UNWIND_SET_FP ||
			code->operation == UNWIND_ADD_FP;
	if (is_known)
		define_cfa(description, ARM64_SP, left);
	switch (code->operation) {
	case UNWIND_SAVE_PAIR:
		restore(description, code->number);
		restore(description, code->number + 1u);
		return is_known || (code->number != ARM64_FP && code->number + 1u != ARM64_FP);
	case UNWIND_SAVE_ONE:
		restore(description, code->number);
		return is_known || code->number != ARM64_FP;
	case UNWIND_SAVE_LR_PAIR:
		restore(description, code->number);
		restore(description, ARM64_LR);
		return is_known || code->number != ARM64_FP;
	case UNWIND_SAVE_NEXT:
		if (!next_pair(codes, index, &number, &unused))
			return false;
		if (number != ARCH_NONE) {
			restore(description, number);
			restore(description, number + 1);
		}
		return true;
	case UNWIND_SIGN:
		text_fixed(description->out, CFA_AARCH64_NEGATE_RA_STATE, 1);
		return true;
	default:
		return true;
	}
}

static uint64_t taken_by(const struct codes *codes, uint32_t from)
{
	uint64_t taken = 0;
	for (uint32_t i = from; i < codes->count; i++)
		taken += codes->rows[i].size;
	return taken;
}

static bool sets_sp(const struct codes *codes)
{
	for (uint32_t i = 0; i < codes->count; i++) {
		if (codes->rows[i].operation == UNWIND_SET_FP ||
		    codes->rows[i].operation == UNWIND_ADD_FP)
			return true;
	}
	return false;
}

/* The epilogue from the instruction at @p begin on; the row before it is true again after its end. */
static bool describe_epilogue(struct description *description, const struct codes *codes,
			      uint64_t begin, uint64_t size)
{
	const struct description before = *description;
	uint64_t end = begin + (uint64_t)UNWIND_INSTRUCTION * (codes->count + 1);
	uint64_t left = taken_by(codes, 0);
	advance(description, begin);
	text_fixed(description->out, CFA_REMEMBER_STATE, 1);
	/* Else the function takes nothing from the stack later, and the stack pointer is where its prologue left it. */
	if (!sets_sp(codes))
		define_cfa(description, ARM64_SP, left);
	for (uint32_t i = 0; i < codes->count; i++) {
		left -= codes->rows[i].size;
		advance(description, begin + (uint64_t)UNWIND_INSTRUCTION * (i + 1));
		if (!describe_undone(description, codes, i, left))
			return false;
	}
	if (end < size) {
		advance(description, end);
		text_fixed(description->out, CFA_RESTORE_STATE, 1);
	}
	description->cfa = before.cfa;
	description->cfa_offset = before.cfa_offset;
	return true;
}

static bool write_rows(struct memory *memory, const struct unwind_record *record, uint64_t size,
		       struct description *description, struct codes *codes)
{
	if (!read_codes(record, 0, codes) || !describe_prologue(description, codes, size))
		return false;
	uint32_t count = record->is_single ? 1 : record->epilogues;
	for (uint32_t i = 0; i < count && i < EPILOGUES_MAX; i++) {
		uint32_t instruction, code;
		if (!arm64_unwind_epilogue_at(memory, record, i, &instruction, &code))
			return false;
		/* They ascend, and none begins in another: so all of them together are as long as the function. */
		uint64_t begin = (uint64_t)UNWIND_INSTRUCTION * instruction;
		if (begin < description->at)
			continue;
		if (!read_codes(record, code, codes))
			return false;
		if (begin + (uint64_t)UNWIND_INSTRUCTION * (codes->count + 1) > size)
			break;
		if (!describe_epilogue(description, codes, begin, size))
			return false;
	}
	return !description->out->failed;
}

bool arm64_managed_rows(struct memory *memory, const struct unwind_function *function,
			uint64_t size, struct text *ret)
{
	struct unwind_record record;
	struct codes codes;
	if (!arm64_unwind_record_read(memory, function->unwind_info, &record))
		return false;
	struct description description = { .out = ret, .cfa = ARM64_SP };
	size_t begin = ret->size;
	bool done = write_rows(memory, &record, size, &description, &codes);
	if (!done && ret->bytes)
		ret->size = begin;
	return done;
}
