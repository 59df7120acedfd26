/* SPDX-License-Identifier: MIT */
/* The frames of native functions without call frame information, by their first instructions (doc/managed-elf.md 14). */
#include "arch/x86_64/framed_rows.h"

#include <string.h>

#include "arch/call_frame.h"
#include "util/leb.h"

/* Numbers of DWARF; of the others that are pushed (r12 to r15) it is that of the instruction. */
#define DWARF_RBX 3u
#define DWARF_RBP 6u

/* Most registers that are pushed after rbp. */
#define PUSHES_MAX 5u

/* Most bytes of one instruction between functions. */
#define NOP_MAX 10u

static bool has(const uint8_t *code, size_t size, size_t at, const char *bytes, size_t count)
{
	return at <= size && count <= size - at && memcmp(code + at, bytes, count) == 0;
}

/* The size of a push of a register that calls preserve, and its number in DWARF; 0: it is none. */
static size_t push_at(const uint8_t *code, size_t size, size_t at, unsigned int *ret)
{
	*ret = DWARF_RBX;
	if (has(code, size, at, "\x53", 1))
		return 1;
	if (!has(code, size, at, "\x41", 1) || size - at < 2 || code[at + 1] < 0x54 ||
	    code[at + 1] > 0x57)
		return 0;
	*ret = 8u + (code[at + 1] & 7u);
	return 2;
}

static void write_row(struct text *ret, size_t step, unsigned int reg, unsigned int words)
{
	text_fixed(ret, CFA_ADVANCE_LOC | step, 1);
	text_fixed(ret, CFA_OFFSET | reg, 1);
	text_uleb(ret, words);
}

bool x86_64_framed_rows(const uint8_t *code, size_t size, struct text *ret)
{
	unsigned int reg, words = 2;
	size_t at = has(code, size, 0, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0; /* endbr64 */
	if (!has(code, size, at, "\x55\x48\x89\xe5", 4) &&
	    !has(code, size, at, "\x55\x48\x8b\xec", 4))
		return false;
	if (!ret)
		return true;
	write_row(ret, at + 1, DWARF_RBP, words);
	text_fixed(ret, CFA_DEF_CFA_OFFSET, 1);
	text_uleb(ret, 16);
	text_fixed(ret, CFA_ADVANCE_LOC | 3, 1);
	text_fixed(ret, CFA_DEF_CFA_REGISTER, 1);
	text_uleb(ret, DWARF_RBP);
	at += 4;
	for (unsigned int i = 0; i < PUSHES_MAX; i++) {
		size_t step = push_at(code, size, at, &reg);
		if (!step)
			break;
		write_row(ret, step, reg, ++words);
		at += step;
	}
	return !ret->failed;
}

bool x86_64_ends_function(const uint8_t *code, size_t at)
{
	if (!at)
		return true;
	uint8_t last = code[at - 1];
	if (last == 0xc3 || last == 0xcc || last == 0x90)
		return true;
	/* nop [rax+...]: 0f 1f, and zeros at its end */
	for (size_t i = 2; last == 0 && i <= NOP_MAX && i <= at; i++) {
		if (code[at - i] == 0x0f && code[at - i + 1] == 0x1f)
			return true;
	}
	return false;
}
