/* SPDX-License-Identifier: MIT */
#include "metadata/il.h"

/* The header of a body (ECMA-335 II.25.4.1 to II.25.4.6). */
#define FORMAT_MASK   0x3u
#define FORMAT_TINY   0x2u
#define FORMAT_FAT    0x3u
#define MORE_SECTIONS 0x8u
#define INIT_LOCALS   0x10u
#define FAT_SIZE      12u
#define FAT_WORDS     3u /* its size in words, in the highest four bits */

#define SECTION_CLAUSES 0x1u
#define SECTION_FAT     0x40u
#define SECTION_MORE    0x80u
#define SECTION_HEADER  4u
#define SMALL_CLAUSE    12u
#define FAT_CLAUSE      24u

static const uint8_t operand_sizes[] = {
	[IL_NONE] = 0,         [IL_I8] = 1,     [IL_U8] = 1,     [IL_U16] = 2,
	[IL_I32] = 4,          [IL_I64] = 8,    [IL_R32] = 4,    [IL_R64] = 8,
	[IL_SHORT_BRANCH] = 1, [IL_BRANCH] = 4, [IL_SWITCH] = 4, [IL_TOKEN] = 4,
};

static void read_operand(const uint8_t *at, struct il_instruction *ret)
{
	int64_t next = (int64_t)ret->offset + ret->size;
	switch ((enum il_operand)ret->opcode->operand) {
	case IL_NONE:
		break;
	case IL_I8:
		ret->number = *at < 0x80 ? *at : (int64_t)*at - 0x100;
		break;
	case IL_U8:
		ret->number = *at;
		break;
	case IL_U16:
		ret->number = load_u16(at);
		break;
	case IL_I32:
		ret->number = (int32_t)load_u32(at);
		break;
	case IL_I64:
		ret->number = (int64_t)load_u64(at);
		break;
	case IL_R32:
		ret->bits = load_u32(at);
		break;
	case IL_R64:
		ret->bits = load_u64(at);
		break;
	case IL_SHORT_BRANCH:
		ret->number = next + (int8_t)*at;
		break;
	case IL_BRANCH:
		ret->number = next + (int32_t)load_u32(at);
		break;
	case IL_SWITCH:
		ret->rows = at + 4;
		break;
	case IL_TOKEN:
		ret->number = load_u32(at);
		break;
	}
}

bool il_next(const uint8_t *code, uint32_t size, uint32_t offset, struct il_instruction *ret)
{
	if (offset >= size)
		return false;
	uint32_t left = size - offset, used = 1;
	uint16_t number = code[offset];
	*ret = (struct il_instruction){ .offset = offset, .size = 1 };
	if (number == IL_PREFIX) {
		if (left < 2)
			return false;
		number = (uint16_t)(IL_PREFIX << 8 | code[offset + 1]);
		used = 2;
	}
	ret->opcode = il_opcode(number);
	if (!ret->opcode)
		return true;
	uint32_t operand = operand_sizes[ret->opcode->operand];
	if (left - used < operand)
		return false;
	const uint8_t *at = code + offset + used;
	ret->size = used + operand;
	if (ret->opcode->operand == IL_SWITCH) {
		ret->count = load_u32(at);
		if (ret->count > (left - ret->size) / 4)
			return false;
		ret->size += 4 * ret->count;
	}
	read_operand(at, ret);
	return true;
}

int64_t il_switch_target(const struct il_instruction *instruction, uint32_t index)
{
	return (int64_t)instruction->offset + instruction->size +
	       (int32_t)load_u32(instruction->rows + 4 * (size_t)index);
}

bool il_body_read(struct memory *memory, uint64_t address, struct il_body *ret)
{
	uint8_t bytes[FAT_SIZE];
	if (!memory_u8(memory, address, &bytes[0]))
		return false;
	if ((bytes[0] & FORMAT_MASK) == FORMAT_TINY) {
		*ret = (struct il_body){ .code = address + 1,
					 .code_size = bytes[0] >> 2,
					 .max_stack = 8 };
		return true;
	}
	if ((bytes[0] & FORMAT_MASK) != FORMAT_FAT ||
	    !memory_read(memory, address, bytes, sizeof(bytes)) || bytes[1] >> 4 != FAT_WORDS)
		return false;
	*ret = (struct il_body){
		.code = address + FAT_SIZE,
		.code_size = load_u32(bytes + 4),
		.max_stack = load_u16(bytes + 2),
		.locals = load_u32(bytes + 8),
		.is_fat = true,
		.has_init = bytes[0] & INIT_LOCALS,
		.has_sections = bytes[0] & MORE_SECTIONS,
	};
	return true;
}

void il_clauses_begin(struct il_clauses *clauses, struct memory *memory, const struct il_body *body)
{
	uint64_t end = body->code + body->code_size;
	*clauses = (struct il_clauses){ .memory = memory,
					.at = (end + 3) & ~(uint64_t)3,
					.has_more = body->has_sections };
}

/* The header of the next section. */
static bool next_section(struct il_clauses *clauses)
{
	uint8_t bytes[SECTION_HEADER];
	if (!memory_read(clauses->memory, clauses->at, bytes, sizeof(bytes)))
		return false;
	clauses->is_fat = bytes[0] & SECTION_FAT;
	clauses->has_more = bytes[0] & SECTION_MORE;
	uint32_t size = clauses->is_fat ? load_u32(bytes) >> 8 : bytes[1];
	uint32_t row = clauses->is_fat ? FAT_CLAUSE : SMALL_CLAUSE;
	/* Compilers have written sizes with and without the header. */
	clauses->left = size / row;
	clauses->at += SECTION_HEADER;
	return bytes[0] & SECTION_CLAUSES && clauses->left;
}

static void read_small(const uint8_t *bytes, struct il_clause *ret)
{
	*ret = (struct il_clause){
		.kind = load_u16(bytes),
		.try_begin = load_u16(bytes + 2),
		.try_size = bytes[4],
		.handler_begin = load_u16(bytes + 5),
		.handler_size = bytes[7],
		.token = load_u32(bytes + 8),
	};
}

static void read_fat(const uint8_t *bytes, struct il_clause *ret)
{
	*ret = (struct il_clause){
		.kind = load_u32(bytes),
		.try_begin = load_u32(bytes + 4),
		.try_size = load_u32(bytes + 8),
		.handler_begin = load_u32(bytes + 12),
		.handler_size = load_u32(bytes + 16),
		.token = load_u32(bytes + 20),
	};
}

bool il_clauses_next(struct il_clauses *clauses, struct il_clause *ret)
{
	uint8_t bytes[FAT_CLAUSE];
	if (clauses->is_broken)
		return false;
	if (!clauses->left) {
		if (!clauses->has_more)
			return false;
		clauses->at = (clauses->at + 3) & ~(uint64_t)3;
		if (!next_section(clauses)) {
			clauses->is_broken = true;
			return false;
		}
	}
	uint32_t size = clauses->is_fat ? FAT_CLAUSE : SMALL_CLAUSE;
	if (clauses->count == IL_CLAUSES_MAX ||
	    !memory_read(clauses->memory, clauses->at, bytes, size)) {
		clauses->is_broken = true;
		return false;
	}
	if (clauses->is_fat) {
		read_fat(bytes, ret);
	} else {
		read_small(bytes, ret);
	}
	clauses->at += size;
	clauses->left--;
	clauses->count++;
	return true;
}
