/* SPDX-License-Identifier: MIT */
#include "unwind/cfi_rules.h"

#include "unwind/dwarf_expr.h"

/* Call frame instructions (DWARF 5, 7.24; the last two of GNU). */
enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED,
};

/* With an operand in their low six bits. */
#define CFA_HIGH        0xc0u
#define CFA_LOW         0x3fu
#define CFA_ADVANCE_LOC 0x40u
#define CFA_OFFSET      0x80u
#define CFA_RESTORE     0xc0u

struct runner {
	const struct cfi_program *program;
	struct dwarf_reader code;
	struct cfi_rules *rules;
	uint64_t location;
	struct cfi_rules remembered[CFI_REMEMBER_MAX];
	unsigned int depth;
	struct cfi_rule ignored; /* rules of registers that are not needed */
};

static struct cfi_rule *rule_of(struct runner *runner, uint64_t number)
{
	uint8_t reg = arch_of_dwarf(runner->program->arch, number);
	return reg == ARCH_NONE ? &runner->ignored : &runner->rules->registers[reg];
}

static void set_offset(struct runner *runner, enum cfi_rule_kind kind, uint64_t number,
		       uint64_t factor)
{
	*rule_of(runner, number) = (struct cfi_rule){
		.kind = (uint8_t)kind,
		.offset = (int64_t)(factor * (uint64_t)runner->program->data_align),
	};
}

static void set_expression(struct runner *runner, enum cfi_rule_kind kind, struct cfi_rule *rule)
{
	uint64_t size = dwarf_uleb(&runner->code);
	const uint8_t *bytes = dwarf_skip(&runner->code, size);
	if (bytes) {
		*rule = (struct cfi_rule){ .kind = (uint8_t)kind,
					   .bytes = bytes,
					   .size = (size_t)size };
	}
}

static void restore(struct runner *runner, uint64_t number)
{
	const struct cfi_rules *initial = runner->program->initial;
	uint8_t reg = arch_of_dwarf(runner->program->arch, number);
	if (!initial) {
		dwarf_fail(&runner->code);
	} else if (reg != ARCH_NONE) {
		runner->rules->registers[reg] = initial->registers[reg];
	}
}

static bool advance(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	const struct cfi_program *program = runner->program;
	switch (op) {
	case CFA_SET_LOC:
		runner->location = dwarf_pointer(code, program->pointers, 0);
		return true;
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		runner->location += program->code_align *
				    dwarf_number(code, (size_t)1 << (op - CFA_ADVANCE_LOC1));
		return true;
	default:
		return false;
	}
}

/* A CFA that is a register plus an offset. */
static void set_cfa(struct runner *runner, uint64_t number, uint64_t offset)
{
	uint8_t reg = arch_of_dwarf(runner->program->arch, number);
	if (reg == ARCH_NONE) {
		dwarf_fail(&runner->code);
		return;
	}
	runner->rules->cfa = (struct cfi_rule){ .kind = CFI_RULE_REGISTER,
						.reg = reg,
						.offset = (int64_t)offset };
}

/* Change one part of it. */
static void change_cfa(struct runner *runner, bool is_offset, uint64_t value)
{
	struct cfi_rule *cfa = &runner->rules->cfa;
	uint8_t reg = is_offset ? cfa->reg : arch_of_dwarf(runner->program->arch, value);
	if (cfa->kind != CFI_RULE_REGISTER || reg == ARCH_NONE) {
		dwarf_fail(&runner->code);
	} else if (is_offset) {
		cfa->offset = (int64_t)value;
	} else {
		cfa->reg = reg;
	}
}

static bool define_cfa(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	uint64_t align = (uint64_t)runner->program->data_align, number;
	switch (op) {
	case CFA_DEF_CFA:
		number = dwarf_uleb(code);
		set_cfa(runner, number, dwarf_uleb(code));
		return true;
	case CFA_DEF_CFA_SF:
		number = dwarf_uleb(code);
		set_cfa(runner, number, (uint64_t)dwarf_sleb(code) * align);
		return true;
	case CFA_DEF_CFA_REGISTER:
		change_cfa(runner, false, dwarf_uleb(code));
		return true;
	case CFA_DEF_CFA_OFFSET:
		change_cfa(runner, true, dwarf_uleb(code));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		change_cfa(runner, true, (uint64_t)dwarf_sleb(code) * align);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_expression(runner, CFI_RULE_VAL_EXPRESSION, &runner->rules->cfa);
		return true;
	default:
		return false;
	}
}

static bool define_offset(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	if (op != CFA_OFFSET_EXTENDED && op != CFA_OFFSET_EXTENDED_SF && op != CFA_VAL_OFFSET &&
	    op != CFA_VAL_OFFSET_SF && op != CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
		return false;
	uint64_t number = dwarf_uleb(code);
	bool is_signed = op == CFA_OFFSET_EXTENDED_SF || op == CFA_VAL_OFFSET_SF;
	uint64_t factor = is_signed ? (uint64_t)dwarf_sleb(code) : dwarf_uleb(code);
	if (op == CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
		factor = -factor;
	bool is_value = op == CFA_VAL_OFFSET || op == CFA_VAL_OFFSET_SF;
	set_offset(runner, is_value ? CFI_RULE_VAL_OFFSET : CFI_RULE_OFFSET, number, factor);
	return true;
}

static bool define_register(struct runner *runner, unsigned int op)
{
	struct dwarf_reader *code = &runner->code;
	uint64_t number;
	switch (op) {
	case CFA_RESTORE_EXTENDED:
		restore(runner, dwarf_uleb(code));
		return true;
	case CFA_UNDEFINED:
		*rule_of(runner, dwarf_uleb(code)) =
			(struct cfi_rule){ .kind = CFI_RULE_UNDEFINED };
		return true;
	case CFA_SAME_VALUE:
		*rule_of(runner, dwarf_uleb(code)) =
			(struct cfi_rule){ .kind = CFI_RULE_SAME_VALUE };
		return true;
	case CFA_REGISTER:
		number = dwarf_uleb(code);
		*rule_of(runner, number) = (struct cfi_rule){
			.kind = CFI_RULE_REGISTER,
			.reg = arch_of_dwarf(runner->program->arch, dwarf_uleb(code)),
		};
		return true;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		number = dwarf_uleb(code);
		set_expression(runner,
			       op == CFA_EXPRESSION ? CFI_RULE_EXPRESSION : CFI_RULE_VAL_EXPRESSION,
			       rule_of(runner, number));
		return true;
	default:
		return false;
	}
}

static bool run_other(struct runner *runner, unsigned int op)
{
	switch (op) {
	case CFA_REMEMBER_STATE:
		if (runner->depth == CFI_REMEMBER_MAX)
			return false;
		runner->remembered[runner->depth++] = *runner->rules;
		return true;
	case CFA_RESTORE_STATE:
		if (!runner->depth)
			return false;
		*runner->rules = runner->remembered[--runner->depth];
		return true;
	case CFA_GNU_ARGS_SIZE:
		(void)dwarf_uleb(&runner->code);
		return true;
	default:
		return op == CFA_NOP;
	}
}

static bool run_one(struct runner *runner)
{
	unsigned int op = (unsigned int)dwarf_number(&runner->code, 1);
	switch (op & CFA_HIGH) {
	case CFA_ADVANCE_LOC:
		runner->location += (op & CFA_LOW) * runner->program->code_align;
		return true;
	case CFA_OFFSET:
		set_offset(runner, CFI_RULE_OFFSET, op & CFA_LOW, dwarf_uleb(&runner->code));
		return true;
	case CFA_RESTORE:
		restore(runner, op & CFA_LOW);
		return true;
	default:
		return advance(runner, op) || define_cfa(runner, op) || define_offset(runner, op) ||
		       define_register(runner, op) || run_other(runner, op);
	}
}

bool cfi_rules_run(const struct cfi_program *program, struct dwarf_reader code,
		   struct cfi_rules *rules)
{
	struct runner runner;
	runner.program = program;
	runner.code = code;
	runner.rules = rules;
	runner.location = program->begin;
	runner.depth = 0;
	while (dwarf_left(&runner.code) && runner.location <= program->pc) {
		if (!run_one(&runner))
			return false;
	}
	return !runner.code.is_bad;
}
