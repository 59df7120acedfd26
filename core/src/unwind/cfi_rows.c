/* SPDX-License-Identifier: MIT */
/* Call frame instructions, written anew for another CIE (DWARF 5, 6.4.2). */
#include "unwind/cfi_rows.h"

#include "arch/call_frame.h"
#include "util/leb.h"

/* Most states that are remembered, and bytes of code that a function has. */
#define REMEMBER_MAX 16u
#define ADVANCE_MAX  ((uint64_t)1 << 31)

static bool write_advance(uint64_t step, struct text *ret)
{
	if (step > ADVANCE_MAX)
		return false;
	text_fixed(ret, CFA_ADVANCE_LOC4, 1);
	text_fixed(ret, step, 4);
	return true;
}

/* How many operands an instruction has, all of them LEB128. */
static int operands_of(unsigned int op)
{
	switch (op) {
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_REMEMBER_STATE:
	case CFA_RESTORE_STATE:
		return 0;
	case CFA_RESTORE_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_GNU_ARGS_SIZE:
		return 1;
	case CFA_OFFSET_EXTENDED:
	case CFA_REGISTER:
	case CFA_DEF_CFA:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_DEF_CFA_SF:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		return 2;
	default:
		return -1;
	}
}

static bool copy_operands(struct dwarf_reader *code, const uint8_t *begin, int count,
			  struct text *ret)
{
	for (int i = 0; i < count; i++)
		(void)dwarf_uleb(code);
	if (count < 0 || code->is_bad)
		return false;
	text_append(ret, (const char *)begin, (size_t)(code->at - begin));
	return true;
}

static bool copy_one(struct dwarf_reader *code, uint64_t align, unsigned int *depth,
		     struct text *ret)
{
	const uint8_t *begin = code->at;
	unsigned int op = (unsigned int)dwarf_number(code, 1);
	switch (op & CFA_HIGH) {
	case CFA_ADVANCE_LOC:
		return write_advance(align * (op & CFA_LOW), ret);
	case CFA_OFFSET:
		return copy_operands(code, begin, 1, ret);
	case CFA_RESTORE:
		return copy_operands(code, begin, 0, ret);
	default:
		break;
	}
	if (op == CFA_NOP)
		return true;
	if (op >= CFA_ADVANCE_LOC1 && op <= CFA_ADVANCE_LOC4) {
		uint64_t step = dwarf_number(code, (size_t)1 << (op - CFA_ADVANCE_LOC1));
		return !code->is_bad && write_advance(align * step, ret);
	}
	if (op == CFA_REMEMBER_STATE && ++*depth > REMEMBER_MAX)
		return false;
	if (op == CFA_RESTORE_STATE && (*depth)-- == 0)
		return false;
	return copy_operands(code, begin, operands_of(op), ret);
}

bool cfi_rows_copy(struct dwarf_reader code, uint64_t align, unsigned int *depth, struct text *ret)
{
	if (align > UINT32_MAX)
		return false;
	while (dwarf_left(&code)) {
		if (!copy_one(&code, align, depth, ret))
			return false;
	}
	return !code.is_bad;
}
