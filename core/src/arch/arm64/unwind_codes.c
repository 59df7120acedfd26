/* SPDX-License-Identifier: MIT */
#include "arch/arm64/unwind_codes.h"

#include "arch/arm64/register_table.h"
#include "arch/arm64/unwind_record.h"
#include "mem/memory.h"

/* The work on one frame. */
struct unwinding {
	struct memory *memory;
	struct registers registers;
	unsigned int next; /* how many save_next came before */
};

static bool load(struct unwinding *unwinding, unsigned int number, uint64_t address)
{
	if (number > ARM64_LR)
		return false;
	unwinding->registers.slots[number] = address;
	return memory_u64(unwinding->memory, address, &unwinding->registers.values[number]);
}

/* The pair of a code, and those that the save_next before it mean, which follow it in memory and in numbers. */
static bool load_pair(struct unwinding *unwinding, const struct unwind_code *code)
{
	uint64_t at = unwinding->registers.values[ARM64_SP] + code->offset;
	unsigned int pairs = unwinding->next + 1;
	unwinding->next = 0;
	for (unsigned int i = 0; i < pairs; i++) {
		unsigned int number = code->number + 2 * i;
		if (!load(unwinding, number, at + 16 * (uint64_t)i) ||
		    !load(unwinding, number + 1, at + 16 * (uint64_t)i + 8))
			return false;
	}
	return true;
}

static bool undo(struct unwinding *unwinding, const struct unwind_code *code)
{
	uint64_t *values = unwinding->registers.values;
	uint64_t sp = values[ARM64_SP];
	bool done = true;
	switch (code->operation) {
	case UNWIND_SAVE_NEXT:
		return ++unwinding->next <= UNWIND_NEXT_MAX;
	case UNWIND_SAVE_PAIR:
		done = load_pair(unwinding, code);
		break;
	case UNWIND_SAVE_ONE:
		done = load(unwinding, code->number, sp + code->offset);
		break;
	case UNWIND_SAVE_LR_PAIR:
		done = load(unwinding, code->number, sp + code->offset) &&
		       load(unwinding, ARM64_LR, sp + code->offset + 8);
		break;
	case UNWIND_SAVE_FLOATS:
		unwinding->next = 0; /* they are vector registers, too */
		break;
	case UNWIND_SET_FP:
		values[ARM64_SP] = values[ARM64_FP];
		break;
	case UNWIND_ADD_FP:
		values[ARM64_SP] = values[ARM64_FP] - code->offset;
		break;
	default:
		break;
	}
	values[ARM64_SP] += code->size;
	return done && !unwinding->next;
}

/* Undo the codes from byte @p index on, without the first @p skipped ones, whose instructions did not run. */
static bool undo_codes(struct unwinding *unwinding, const struct unwind_record *record,
		       uint32_t index, uint32_t skipped)
{
	for (;;) {
		struct unwind_code code = arm64_unwind_code_at(record, index);
		if (code.operation == UNWIND_UNKNOWN)
			return false;
		if (code.operation == UNWIND_END)
			return !unwinding->next;
		if (skipped) {
			skipped--;
		} else if (!undo(unwinding, &code)) {
			return false;
		}
		index += code.bytes;
	}
}

/* Where an interrupted function is. */
struct place {
	bool is_body;
	uint32_t code, skipped; /* the byte of the first code, and how many codes do not count */
};

/*
 * In the prologue, the codes of what did not run yet do not count: they are written from its last instruction to its
 * first.  In an epilogue, those of what has run do not: they are written in its order.
 */
static bool find_place(struct memory *memory, const struct unwind_record *record, uint64_t offset,
		       struct place *ret)
{
	uint32_t count;
	*ret = (struct place){ .is_body = true };
	if (!arm64_unwind_codes_count(record, 0, &count))
		return false;
	if (offset < count) {
		*ret = (struct place){ .skipped = count - (uint32_t)offset };
		return true;
	}
	/* They ascend: it can only be in the last one that begins before it. */
	uint32_t epilogues = record->is_single ? 1 : record->epilogues, begin = 0, code = 0;
	bool is_after = false;
	for (uint32_t i = 0; i < epilogues && i < record->length; i++) {
		uint32_t next, next_code;
		if (!arm64_unwind_epilogue_at(memory, record, i, &next, &next_code))
			return false;
		if (offset < next)
			break;
		begin = next;
		code = next_code;
		is_after = true;
	}
	if (is_after && arm64_unwind_codes_count(record, code, &count) && offset - begin <= count)
		*ret = (struct place){ .code = code, .skipped = (uint32_t)offset - begin };
	return true;
}

static bool read_place(struct memory *memory, const struct unwind_function *function, uint64_t ip,
		       struct unwind_record *record, struct place *ret)
{
	uint64_t offset = (ip - function->begin) / UNWIND_INSTRUCTION;
	return arm64_unwind_record_read(memory, function->unwind_info, record) &&
	       find_place(memory, record, offset, ret);
}

bool arm64_frame_is_whole(struct memory *memory, const struct unwind_function *function,
			  const struct registers *registers)
{
	struct unwind_record record;
	struct place place;
	return read_place(memory, function, registers->values[ARM64_PC], &record, &place) &&
	       place.is_body;
}

bool arm64_managed_step(struct memory *memory, const struct unwind_function *function,
			struct registers *registers)
{
	struct unwinding unwinding = { .memory = memory, .registers = *registers };
	struct unwind_record record;
	struct place place = { .is_body = true };
	/* A call is no instruction of a prologue or an epilogue. */
	if (function->is_active) {
		if (!read_place(memory, function, registers->values[ARM64_PC], &record, &place))
			return false;
	} else if (!arm64_unwind_record_read(memory, function->unwind_info, &record)) {
		return false;
	}
	unwinding.registers.slots[ARM64_LR] = 0;
	if (!undo_codes(&unwinding, &record, place.code, place.skipped) ||
	    (!function->is_active && !unwinding.registers.slots[ARM64_LR]))
		return false;
	struct registers *caller = &unwinding.registers;
	if (!caller->slots[ARM64_LR])
		caller->slots[ARM64_LR] = registers->slots[ARM64_LR];
	caller->values[ARM64_PC] = caller->values[ARM64_LR] & arch_arm64.space.code_mask;
	caller->slots[ARM64_PC] = caller->slots[ARM64_LR];
	*registers = *caller;
	return true;
}
