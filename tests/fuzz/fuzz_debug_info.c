/* SPDX-License-Identifier: MIT */
/* covers: core/src/runtime/coreclr/code/debug_info.c core/src/runtime/coreclr/code/debug_reader.c core/src/runtime/coreclr/code/variable_homes.c */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/x86_64/frame_registers.h"
#include "input_memory.h"
#include "linear.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/variable_homes.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layout_access.h"
#include "runtime/coreclr/layouts/ready_to_run.h"
#include "targets/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE      ((uint64_t)0x7f0000000000)
#define CODE      (BASE + 0x200)
#define BLOB      0x40u
#define VARIABLES 24u
#define SIZE_MAX_ ((size_t)1 << 16)

/* The question. */
struct head {
	uint8_t version, function; /* 0, 1, 2: JIT of 8, 9, 10; from 3 on: ReadyToRun; OF_11 */
	uint16_t place;
	uint8_t budget; /* 0: enough */
};
#define HEAD_SIZE 5u
#define OF_11     0x40u /* of 11; bit 0: ReadyToRun */

/*
 * Make the structures that lead to the bytes of the input: of the JIT, a header in front of the
 * code; else an image.
 */
static void put_roots(uint8_t *bytes, size_t blob_size, bool is_precompiled, uint16_t major)
{
	const uint64_t blob = BASE + BLOB, header = BASE + 8;
	if (!is_precompiled) {
		memcpy(bytes, &header, 8); /* the word before the code leads here */
		memcpy(bytes + 8, &blob, 8);
		return;
	}
	const uint32_t magic = R2R_SIGNATURE, count = 1, rva = BLOB, type = R2R_DEBUG_INFO,
		       length = (uint32_t)blob_size;
	memcpy(bytes, &header, 8); /* Module -> ReadyToRunInfo, with the header's address first */
	memcpy(bytes + 8, &(const uint64_t){ BASE + 16 }, 8);
	memcpy(bytes + 16, &magic, 4);
	memcpy(bytes + 16 + R2R_MAJOR, &major, 2);
	memcpy(bytes + 16 + R2R_SECTIONS, &count, 4);
	memcpy(bytes + 16 + R2R_SECTION_FIRST, &type, 4);
	memcpy(bytes + 16 + R2R_SECTION_FIRST + 4, &rva, 4);
	memcpy(bytes + 16 + R2R_SECTION_FIRST + 8, &length, 4);
}

static void check_home(const struct variable_home *home)
{
	bool is_float = home->kind == HOME_FLOAT_REGISTER;
	uint8_t last = is_float ? 31 : REG_R15;
	if (home->kind > HOME_NONE ||
	    (home->kind < HOME_OTHER && home->number > last &&
	     !(is_float && home->number == ARCH_NONE)) ||
	    (home->kind < HOME_OTHER && home->second > REG_R15))
		abort();
}

static void check_homes(const struct variable_home *rows, bool is_found)
{
	for (size_t i = 0; i < VARIABLES; i++) {
		check_home(&rows[i]);
		if (!is_found && rows[i].kind != HOME_NONE)
			abort();
	}
}

/* All ranges: in order, none is empty, and the first one of a variable that holds the place is its home there. */
static void check_ranges(const struct variable_ranges *ranges, uint32_t place,
			 const struct variable_home *rows)
{
	struct variable_home homes[VARIABLES];
	for (size_t i = 0; i < VARIABLES; i++)
		homes[i] = (struct variable_home){ .kind = HOME_NONE };
	for (size_t i = 0; i < ranges->rows_count; i++) {
		const struct variable_range *row = &ranges->rows[i];
		check_home(&row->home);
		if (row->begin >= row->end || (i && row->number < ranges->rows[i - 1].number))
			abort();
		if (row->number < VARIABLES && homes[row->number].kind == HOME_NONE &&
		    place >= row->begin && place < row->end)
			homes[row->number] = row->home;
	}
	for (size_t i = 0; i < VARIABLES; i++) {
		if (homes[i].kind != rows[i].kind || homes[i].number != rows[i].number)
			abort();
	}
}

/* The results that were read from the bytes, mapped or copied. */
struct answers {
	bool has_il, has_homes;
	uint32_t il;
	uint64_t budget;
	struct variable_home rows[VARIABLES];
};

static void ask(struct runtime *runtime, const struct head *head, bool is_precompiled,
		struct answers *ret)
{
	const struct code_info code = { .start = is_precompiled ? CODE : BASE + 8,
					.image_base = BASE,
					.module = BASE,
					.is_precompiled = is_precompiled,
					.function_index = head->function };
	uint64_t budget = head->budget ? head->budget : 1u << 20;
	*ret = (struct answers){ .budget = budget };
	ret->has_il =
		runtime_il_at(runtime, &code, code.start + head->place, &ret->budget, &ret->il);
	if (ret->budget > budget)
		abort();
	budget = ret->budget;
	ret->has_homes = runtime_variable_homes(runtime, &code, code.start + head->place,
						&ret->budget, ret->rows, VARIABLES);
	if (ret->budget > budget)
		abort();
	check_homes(ret->rows, ret->has_homes);
	HD_CLEANUP(variable_ranges) struct variable_ranges ranges = { 0 };
	budget = 1u << 20;
	if (runtime_variable_ranges_read(runtime, &code, &budget, &ranges) && ret->has_homes)
		check_ranges(&ranges, head->place, ret->rows);
}

/* Any bytes as debug info: an answer within the budget, the same whether bytes are mapped or copied. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[BLOB + SIZE_MAX_];
	struct head head;
	struct answers answers[2];
	if (size < HEAD_SIZE || size - HEAD_SIZE > SIZE_MAX_)
		return 0;
	memcpy(&head, data, HEAD_SIZE);
	size -= HEAD_SIZE;
	bool is_11 = head.version & OF_11;
	bool is_precompiled = is_11 ? head.version & 1 : head.version % 6u > 2;
	memset(bytes, 0, BLOB);
	put_roots(bytes, size, is_precompiled, head.version & 0x80 ? 9 : 16);
	memcpy(bytes + BLOB, data + HEAD_SIZE, size);
	struct linear linear = linear_begin(size);
	for (unsigned int i = 0; i < 2; i++) {
		struct input_memory input = input_memory_at(BASE, bytes, BLOB + size, i == 0);
		static struct coreclr runtime;
		static struct target target = { .arch = &arch_x86_64 };
		runtime = (struct coreclr){ .base.ops = &coreclr_ops,
					    .base.target = &target,
					    .base.memory = &input.memory,
					    .major = is_11 ? 11 : 8 + head.version % 3u };
		layout_init(&runtime.layout);
		layout_set(&runtime.layout, L_MODULE_R2R, 0, ORIGIN_BUILD);
		layout_set(&runtime.layout, L_R2R_HEADER, 0, ORIGIN_BUILD);
		layout_set(&runtime.layout, L_CODE_HEADER_DEBUG_INFO, 0, ORIGIN_BUILD);
		ask(&runtime.base, &head, is_precompiled, &answers[i]);
	}
	linear_end(&linear, "debug_info");
	if (answers[0].has_il != answers[1].has_il || answers[0].il != answers[1].il ||
	    answers[0].has_homes != answers[1].has_homes ||
	    answers[0].budget != answers[1].budget ||
	    memcmp(answers[0].rows, answers[1].rows, sizeof(answers[0].rows)) != 0)
		abort();
	return 0;
}
