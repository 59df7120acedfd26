/* SPDX-License-Identifier: MIT */
#include "unwind/dwarf_expr.h"

/* Operations (DWARF 5, 7.7.1). */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

/* How many operations begin at OP_LIT0, OP_REG0 and OP_BREG0 each. */
#define FAMILY 32u

struct machine {
	struct memory *memory;
	const struct registers *registers;
	struct dwarf_reader code;
	uint64_t stack[DWARF_EXPR_DEPTH_MAX];
	unsigned int depth;
	bool is_bad;
};

static void push_operand(struct machine *machine, uint64_t value)
{
	if (machine->depth == DWARF_EXPR_DEPTH_MAX) {
		machine->is_bad = true;
		return;
	}
	machine->stack[machine->depth++] = value;
}

static uint64_t pop_operand(struct machine *machine)
{
	if (!machine->depth) {
		machine->is_bad = true;
		return 0;
	}
	return machine->stack[--machine->depth];
}

static void push_copy(struct machine *machine, uint64_t below)
{
	if (below >= machine->depth) {
		machine->is_bad = true;
		return;
	}
	push_operand(machine, machine->stack[machine->depth - 1 - below]);
}

static void push_register(struct machine *machine, uint64_t number, int64_t offset)
{
	uint8_t reg = arch_of_dwarf(machine->registers->arch, number);
	if (reg == ARCH_NONE) {
		machine->is_bad = true;
		return;
	}
	push_operand(machine, machine->registers->values[reg] + (uint64_t)offset);
}

static void push_word(struct machine *machine, size_t size)
{
	uint64_t value = 0, address = pop_operand(machine);
	if (!size || size > sizeof(value) || machine->is_bad ||
	    !memory_read(machine->memory, address, &value, size)) {
		machine->is_bad = true;
		return;
	}
	push_operand(machine, value);
}

/* Read an operand in the code. */
static bool run_constant(struct machine *machine, unsigned int op)
{
	struct dwarf_reader *code = &machine->code;
	switch (op) {
	case OP_ADDR:
		push_operand(machine, dwarf_number(code, 8));
		return true;
	case OP_CONST1U:
	case OP_CONST2U:
	case OP_CONST4U:
	case OP_CONST8U:
		push_operand(machine, dwarf_number(code, (size_t)1 << (op - OP_CONST1U) / 2));
		return true;
	case OP_CONST1S:
	case OP_CONST2S:
	case OP_CONST4S:
	case OP_CONST8S:
		push_operand(machine,
			     (uint64_t)dwarf_signed(code, (size_t)1 << (op - OP_CONST1S) / 2));
		return true;
	case OP_CONSTU:
		push_operand(machine, dwarf_uleb(code));
		return true;
	case OP_CONSTS:
		push_operand(machine, (uint64_t)dwarf_sleb(code));
		return true;
	case OP_REGX:
		push_register(machine, dwarf_uleb(code), 0);
		return true;
	case OP_BREGX: {
		uint64_t number = dwarf_uleb(code);
		push_register(machine, number, dwarf_sleb(code));
		return true;
	}
	default:
		break;
	}
	if (op - OP_LIT0 < FAMILY) {
		push_operand(machine, op - OP_LIT0);
	} else if (op - OP_REG0 < FAMILY) {
		push_register(machine, op - OP_REG0, 0);
	} else if (op - OP_BREG0 < FAMILY) {
		push_register(machine, op - OP_BREG0, dwarf_sleb(code));
	} else {
		return false;
	}
	return true;
}

static bool run_stack(struct machine *machine, unsigned int op)
{
	uint64_t first, second, third;
	switch (op) {
	case OP_DUP:
		push_copy(machine, 0);
		return true;
	case OP_DROP:
		(void)pop_operand(machine);
		return true;
	case OP_OVER:
		push_copy(machine, 1);
		return true;
	case OP_PICK:
		push_copy(machine, dwarf_number(&machine->code, 1));
		return true;
	case OP_SWAP:
		first = pop_operand(machine);
		second = pop_operand(machine);
		push_operand(machine, first);
		push_operand(machine, second);
		return true;
	case OP_ROT:
		first = pop_operand(machine);
		second = pop_operand(machine);
		third = pop_operand(machine);
		push_operand(machine, first);
		push_operand(machine, third);
		push_operand(machine, second);
		return true;
	case OP_DEREF:
		push_word(machine, sizeof(uint64_t));
		return true;
	case OP_DEREF_SIZE:
		push_word(machine, dwarf_number(&machine->code, 1));
		return true;
	default:
		return op == OP_NOP;
	}
}

static bool run_unary(struct machine *machine, unsigned int op)
{
	uint64_t value;
	switch (op) {
	case OP_ABS:
		value = pop_operand(machine);
		push_operand(machine, (int64_t)value < 0 ? -value : value);
		return true;
	case OP_NEG:
		push_operand(machine, -pop_operand(machine));
		return true;
	case OP_NOT:
		push_operand(machine, ~pop_operand(machine));
		return true;
	case OP_PLUS_UCONST:
		value = pop_operand(machine);
		push_operand(machine, value + dwarf_uleb(&machine->code));
		return true;
	default:
		return false;
	}
}

/* Division with a sign; of the smallest number by -1 it wraps. */
static uint64_t divide(uint64_t left, uint64_t right)
{
	if (right == UINT64_MAX)
		return -left;
	return (uint64_t)((int64_t)left / (int64_t)right);
}

static uint64_t compare_operands(unsigned int op, int64_t left, int64_t right)
{
	switch (op) {
	case OP_EQ:
		return left == right;
	case OP_GE:
		return left >= right;
	case OP_GT:
		return left > right;
	case OP_LE:
		return left <= right;
	case OP_LT:
		return left < right;
	default:
		return left != right;
	}
}

static uint64_t shift(unsigned int op, uint64_t left, uint64_t right)
{
	if (op == OP_SHRA)
		return (uint64_t)((int64_t)left >> (right < 63 ? right : 63));
	if (right > 63)
		return 0;
	return op == OP_SHL ? left << right : left >> right;
}

static bool run_binary(struct machine *machine, unsigned int op)
{
	bool is_binary = (op >= OP_AND && op <= OP_MUL) || op == OP_OR || op == OP_PLUS ||
			 (op >= OP_SHL && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE);
	if (!is_binary)
		return false;
	uint64_t right = pop_operand(machine), left = pop_operand(machine), value;
	switch (op) {
	case OP_AND:
		value = left & right;
		break;
	case OP_MINUS:
		value = left - right;
		break;
	case OP_MUL:
		value = left * right;
		break;
	case OP_OR:
		value = left | right;
		break;
	case OP_PLUS:
		value = left + right;
		break;
	case OP_XOR:
		value = left ^ right;
		break;
	case OP_DIV:
	case OP_MOD:
		if (!right) {
			machine->is_bad = true;
			return true;
		}
		value = op == OP_DIV ? divide(left, right) : left % right;
		break;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA:
		value = shift(op, left, right);
		break;
	default:
		value = compare_operands(op, (int64_t)left, (int64_t)right);
		break;
	}
	push_operand(machine, value);
	return true;
}

static bool run_jump(struct machine *machine, unsigned int op)
{
	if (op != OP_BRA && op != OP_SKIP)
		return false;
	struct dwarf_reader *code = &machine->code;
	int64_t distance = dwarf_signed(code, 2);
	if (op == OP_BRA && !pop_operand(machine))
		return true;
	if (distance < code->begin - code->at || distance > code->end - code->at) {
		machine->is_bad = true;
	} else {
		code->at += distance;
	}
	return true;
}

bool dwarf_expr_run(struct memory *memory, const struct registers *registers, const uint8_t *bytes,
		    size_t size, const uint64_t *first, uint64_t *ret)
{
	struct machine machine;
	machine.memory = memory;
	machine.registers = registers;
	machine.code = dwarf_reader(bytes, size, 0);
	machine.depth = 0;
	machine.is_bad = false;
	if (first)
		push_operand(&machine, *first);
	for (unsigned int steps = 0; dwarf_left(&machine.code); steps++) {
		unsigned int op = (unsigned int)dwarf_number(&machine.code, 1);
		bool is_known = run_constant(&machine, op) || run_stack(&machine, op) ||
				run_unary(&machine, op) || run_binary(&machine, op) ||
				run_jump(&machine, op);
		if (!is_known || machine.is_bad || machine.code.is_bad ||
		    steps == DWARF_EXPR_STEPS_MAX)
			return false;
	}
	if (!machine.depth)
		return false;
	*ret = machine.stack[machine.depth - 1];
	return true;
}
