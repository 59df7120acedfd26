/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "arch/x86_64/frame_registers.h"
#include "arch/x86_64/ucontext.h"
#include "support/assert_more.h"
#include "support/cfi_maker.h"
#include "support/own_stack.h"
#include "support/suite.h"
#include "targets/process/process_memory.h"

static void check_register(const struct registers *registers, unsigned int reg, uint64_t slot)
{
	ASSERT_UINT(registers->slots[reg], slot);
	ASSERT_UINT(registers->values[reg], cfi_world_word(slot));
}

/* push rbp; mov rbp, rsp; push rbx; ...; pop rbx; pop rbp; ret, and a second way out. */
static const char prologue[] = "\x41"                      /* at 1: */
			       "\x0e\x10\x86\x02"          /* CFA = rsp + 16, rbp at CFA - 16 */
			       "\x43\x0d\x06"              /* at 4: CFA = rbp + 16 */
			       "\x02\x04\x83\x03"          /* at 8: rbx at CFA - 24 */
			       "\x2e\x20"                  /* DW_CFA_GNU_args_size */
			       "\x03\x08\x00\x0a"          /* at 16: remember */
			       "\xc3\xc6\x0c\x07\x08"      /* rbx, rbp restored, CFA = rsp + 8 */
			       "\x04\x10\x00\x00\x00\x0b"; /* at 32: as at 8 */

TEST(rows_of_a_function)
{
	struct cfi_world world;
	struct registers registers;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE(prologue) });
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_FRAME);
	check_register(&registers, REG_RIP, SP);
	ASSERT_UINT(registers.values[REG_RSP], SP + 8);
	ASSERT_UINT(registers.values[REG_RBP], 0xa0 + REG_RBP);
	ASSERT_UINT(registers.slots[REG_RBP], 0);
	ASSERT_UINT(cfi_world_step_at(&world, 1, &registers), CFI_FRAME);
	check_register(&registers, REG_RIP, SP + 8);
	check_register(&registers, REG_RBP, SP);
	ASSERT_UINT(registers.values[REG_RSP], SP + 16);
	for (uint64_t offset = 4; offset < 0x100; offset++) {
		uint64_t frame = SP + 0x80, ip = BASE + FUNCTION + offset;
		registers = cfi_world_registers(ip);
		registers.values[REG_RBP] = frame;
		ASSERT_UINT(cfi_world_step(&world, true, &registers), CFI_FRAME);
		bool is_out = offset >= 16 && offset < 32;
		check_register(&registers, REG_RIP, is_out ? SP : frame + 8);
		ASSERT_UINT(registers.values[REG_RSP], is_out ? SP + 8 : frame + 16);
		if (is_out || offset < 8) {
			ASSERT_UINT(registers.values[REG_RBX], 0xa0 + REG_RBX);
		} else {
			check_register(&registers, REG_RBX, frame - 8);
		}
		if (is_out) {
			ASSERT_UINT(registers.values[REG_RBP], frame);
		} else {
			check_register(&registers, REG_RBP, frame);
		}
		/* A return address after it. */
		struct registers other = cfi_world_registers(ip + 1);
		other.values[REG_RBP] = frame;
		ASSERT_UINT(cfi_world_step(&world, false, &other), CFI_FRAME);
		ASSERT_UINT((uint64_t)memcmp(&other, &registers, sizeof(other)), 0);
	}
	ASSERT_UINT(cfi_world_step_at(&world, 0x100, &registers), CFI_NONE);
	ASSERT_UINT(cfi_world_step_at(&world, UINT64_MAX, &registers), CFI_NONE);
	ASSERT_UINT(cfi_world_step_at(&world, 0x900, &registers), CFI_NONE);
	cfi_world_deinit(&world);
}

struct rule_case {
	const char *code;
	size_t size;
	enum cfi_result expected;
	uint64_t sp;      /* of the caller */
	uint64_t ip_slot; /* 0: a value */
	uint64_t rbx, rbx_slot;
};

#define RULES(bytes) (bytes), sizeof(bytes) - 1

static void check_rules(const struct rule_case *row)
{
	struct cfi_world world;
	struct registers registers;
	cfi_world_init(&world, &(struct cfi_spec){ .fde = row->code, .fde_size = row->size });
	enum cfi_result result = cfi_world_step_at(&world, 0x20, &registers);
	ASSERT_UINT(result, row->expected);
	if (result == CFI_FRAME) {
		ASSERT_UINT(registers.values[REG_RSP], row->sp);
		ASSERT_UINT(registers.slots[REG_RIP], row->ip_slot);
		ASSERT_UINT(registers.values[REG_RBX], row->rbx);
		ASSERT_UINT(registers.slots[REG_RBX], row->rbx_slot);
	}
	cfi_world_deinit(&world);
}

TEST(rules_of_registers)
{
	const uint64_t rbx = 0xa0 + REG_RBX;
	const struct rule_case cases[] = {
		/* offset_extended, _sf, GNU_negative_offset_extended; data alignment is -8 */
		{ RULES("\x0e\x40\x05\x03\x02"), CFI_FRAME, SP + 0x40, SP + 0x38,
		  cfi_world_word(SP + 0x30), SP + 0x30 },
		{ RULES("\x0e\x40\x11\x03\x02"), CFI_FRAME, SP + 0x40, SP + 0x38,
		  cfi_world_word(SP + 0x30), SP + 0x30 },
		{ RULES("\x11\x03\x7f"), CFI_FRAME, SP + 8, SP, cfi_world_word(SP + 16), SP + 16 },
		{ RULES("\x2f\x03\x01"), CFI_FRAME, SP + 8, SP, cfi_world_word(SP + 16), SP + 16 },
		/* val_offset, _sf */
		{ RULES("\x14\x03\x02"), CFI_FRAME, SP + 8, SP, SP - 8, 0 },
		{ RULES("\x15\x03\x7e"), CFI_FRAME, SP + 8, SP, SP + 24, 0 },
		/* register, same_value, undefined, restore_extended */
		{ RULES("\x09\x03\x0c"), CFI_FRAME, SP + 8, SP, 0xa0 + REG_R12, 0 },
		{ RULES("\x83\x02\x08\x03"), CFI_FRAME, SP + 8, SP, rbx, 0 },
		{ RULES("\x07\x03"), CFI_FRAME, SP + 8, SP, 0, 0 },
		{ RULES("\x83\x02\x06\x03"), CFI_FRAME, SP + 8, SP, rbx, 0 },
		/* the return address in a register, as in vfork() */
		{ RULES("\x09\x10\x05"), CFI_FRAME, SP + 8, 0, rbx, 0 },
		/* def_cfa, _sf, _offset_sf, _register */
		{ RULES("\x0c\x07\x10"), CFI_FRAME, SP + 16, SP + 8, rbx, 0 },
		{ RULES("\x12\x07\x7e"), CFI_FRAME, SP + 16, SP + 8, rbx, 0 },
		{ RULES("\x13\x7e"), CFI_FRAME, SP + 16, SP + 8, rbx, 0 },
		/* expression, val_expression: of the CFA, minus 8; plus 16 */
		{ RULES("\x10\x03\x03\x38\x1c\x96"), CFI_FRAME, SP + 8, SP, cfi_world_word(SP),
		  SP },
		{ RULES("\x16\x03\x02\x23\x10"), CFI_FRAME, SP + 8, SP, SP + 24, 0 },
		/* def_cfa_expression: rsp + 32 */
		{ RULES("\x0f\x02\x77\x20"), CFI_FRAME, SP + 32, SP + 24, rbx, 0 },
		/* xmm0 is nobody's business */
		{ RULES("\x91\x02\x05\x20\x02\xd1\x07\x20"), CFI_FRAME, SP + 8, SP, rbx, 0 },
		/* set_loc beyond: what follows is not of this row */
		{ RULES("\x01\xf0\xff\xff\x7f\x0e\x40"), CFI_FRAME, SP + 8, SP, rbx, 0 },
		{ RULES("\x60\x0e\x10\x41\x0e\x40"), CFI_FRAME, SP + 16, SP + 8, rbx, 0 },
		/* the end, and none */
		{ RULES("\x07\x10"), CFI_END, 0, 0, 0, 0 },
		{ RULES("\x08\x10"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x16\x10\x01\x30"), CFI_END, 0, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_rules(&cases[i]);
}

TEST(rules_that_cannot_be_run)
{
	static const struct rule_case cases[] = {
		/* unknown, cut, without a state, with too many */
		{ RULES("\x17"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x3f"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x05\x03"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x05\x83"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x04\x01"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x10\x03\x7f\x30"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x0b"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"),
		  CFI_NONE, 0, 0, 0, 0 },
		/* a CFA that does not grow, is unknown, or of no register */
		{ RULES("\x0e\x00"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x12\x07\x01"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x0d\x20"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x0c\x20\x08"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x0f\x01\x96"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x0f\x01\x30\x0e\x10"), CFI_NONE, 0, 0, 0, 0 },
		/* of a register that is none; at an address with nothing */
		{ RULES("\x09\x03\x20"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x10\x03\x01\x30"), CFI_NONE, 0, 0, 0, 0 },
		{ RULES("\x16\x03\x01\x06\x06"), CFI_NONE, 0, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_rules(&cases[i]);
	/* A CIE has nothing to restore. */
	struct cfi_world world;
	struct registers registers;
	cfi_world_init(&world,
		       &(struct cfi_spec){ CIE_CODE("\x0c\x07\x08\x90\x01\xc3"), FDE_CODE("") });
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_NONE);
	cfi_world_deinit(&world);
	cfi_world_init(&world, &(struct cfi_spec){ CIE_CODE("\x90\x01"), FDE_CODE("") });
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_NONE);
	cfi_world_deinit(&world);
}

/* The FDE that ld writes for lazy PLT entries: CFA = rsp + 8 + ((rip & 15) >= 11) * 8. */
TEST(procedure_linkage_table)
{
	struct cfi_world world;
	struct registers registers;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE(
				       "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22") });
	for (uint64_t offset = 0; offset < 32; offset++) {
		ASSERT_UINT(cfi_world_step_at(&world, offset, &registers), CFI_FRAME);
		ASSERT_UINT(registers.values[REG_RSP], SP + 8 + (offset % 16 >= 11 ? 8 : 0));
	}
	cfi_world_deinit(&world);
}

/* A frame as the kernel pushes it at SP: the return address is taken already. */
static void put_signal_frame(struct cfi_world *world)
{
	for (uint64_t i = 0; i < 40; i++)
		fake_poke_u64(&world->fake, SP + 8 * i, 0);
	fake_poke_u64(&world->fake, SP, 7); /* flags */
	for (uint64_t i = 0; i < 15; i++)   /* r8, ... */
		fake_poke_u64(&world->fake, SP + 40 + 8 * i, 0x1000 + i);
	fake_poke_u64(&world->fake, SP + 40 + 120, STACK + 0x1800); /* rsp */
	fake_poke_u64(&world->fake, SP + 40 + 128, BASE + FUNCTION);
	fake_poke_u64(&world->fake, SP + 40 + 144, UINT64_C(0x002b000000000033));
	fake_poke_u64(&world->fake, SP + 40 + 184, SP + 0x240); /* fpstate */
}

static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

static void check_interrupted(const struct registers *registers)
{
	/* struct sigcontext_64. */
	static const uint8_t order[] = { REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12,
					 REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI,
					 REG_RBP, REG_RBX, REG_RDX, REG_RAX, REG_RCX };
	for (unsigned int i = 0; i < sizeof(order); i++) {
		ASSERT_UINT(registers->values[order[i]], 0x1000 + i);
		ASSERT_UINT(registers->slots[order[i]], SP + 40 + 8 * (uint64_t)i);
	}
	ASSERT_UINT(registers->values[REG_RSP], STACK + 0x1800);
	ASSERT_UINT(registers->values[REG_RIP], BASE + FUNCTION);
	ASSERT_UINT(registers->slots[REG_RIP], SP + 40 + 128);
}

TEST(signal_frames)
{
	struct cfi_world world;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE("") });
	put_signal_frame(&world);
	uint64_t place = STACK + 0x1000; /* in no image */
	CU_ASSERT_FALSE(x86_64_is_signal_return(&world.fake.memory, place));
	fake_poke(&world.fake, place, restorer, sizeof(restorer));
	CU_ASSERT(x86_64_is_signal_return(&world.fake.memory, place));
	CU_ASSERT_FALSE(x86_64_is_signal_return(&world.fake.memory, place + 1));
	CU_ASSERT_FALSE(x86_64_is_signal_return(&world.fake.memory, 0));
	for (unsigned int is_exact = 0; is_exact < 2; is_exact++) {
		struct registers registers = cfi_world_registers(place);
		ASSERT_UINT(cfi_world_step(&world, is_exact, &registers), CFI_SIGNAL);
		check_interrupted(&registers);
	}
	/* Whatever is odd about it. */
	static const uint64_t odd[][2] = {
		{ 0, 64 },     { 8, 1 },
		{ 160, 8 },    { 160, UINT64_C(1) << 47 },
		{ 168, 0 },    { 168, UINT64_C(0xffff800000000000) },
		{ 184, 0x2b }, { 184, UINT64_C(0x0010000000000033) },
		{ 224, 0 },    { 224, SP + 0x248 },
		{ 224, SP },   { 224, SP + 0x1000 },
	};
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct registers registers = cfi_world_registers(place), before = registers;
		put_signal_frame(&world);
		CU_ASSERT(x86_64_signal_context(&world.fake.memory, SP, &registers));
		registers = before;
		fake_poke_u64(&world.fake, SP + odd[i][0], odd[i][1]);
		CU_ASSERT_FALSE(x86_64_signal_context(&world.fake.memory, SP, &registers));
		ASSERT_UINT((uint64_t)memcmp(&before, &registers, sizeof(before)), 0);
		ASSERT_UINT(cfi_world_step(&world, false, &registers), CFI_NONE);
	}
	CU_ASSERT_FALSE(x86_64_signal_context(&world.fake.memory, STACK + STACK_SIZE - 8,
					      &(struct registers){ .arch = &arch_x86_64 }));
	cfi_world_deinit(&world);
}

/* By its FDE, as glibc writes it: the CFA is the interrupted rsp, which may be below. */
TEST(signal_frames_by_rules)
{
	struct cfi_world world;
	struct registers registers;
	/* CFA = *(rsp + 160); rip at *(rsp + 168), rbx at *(rsp + 128) */
	cfi_world_init(&world, &(struct cfi_spec){
				       .augmentation = "zRS",
				       FDE_CODE("\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01"
						"\x10\x03\x03\x77\x80\x01") });
	put_signal_frame(&world);
	fake_poke_u64(&world.fake, SP + 160, STACK + 8);
	ASSERT_UINT(cfi_world_step_at(&world, 0, &registers), CFI_SIGNAL);
	ASSERT_UINT(registers.values[REG_RSP], STACK + 8);
	ASSERT_UINT(registers.values[REG_RIP], BASE + FUNCTION);
	ASSERT_UINT(registers.slots[REG_RIP], SP + 168);
	ASSERT_UINT(registers.values[REG_RBX], 0x1000 + 11);
	cfi_world_deinit(&world);
}

/* This very process, against the unwinder of libgcc. */

static unsigned int own_signals;

static void compare_with_libgcc(const struct own_stack *expected)
{
	struct text text = { 0 };
	struct proc_maps maps = { 0 };
	struct target *target = target_create(TARGET_PROCESS, NULL);
	REQUIRE(target);
	CU_ASSERT_FATAL(proc_read_file((int)getpid(), "maps", &text) &&
			proc_maps_parse(text.bytes, text.size, &maps) &&
			proc_maps_to_target(&maps, target));
	struct process_server *server = NULL;
	ASSERT_UINT(process_server_create((int)getpid(), &server, NULL), HD_OK);
	REQUIRE(server);
	target->memory = target->own = process_memory(server, NULL, NULL, true);
	process_server_release(server);
	struct cfi *cfi = cfi_create(target);
	REQUIRE(cfi);
	struct registers registers = { .arch = arch_of_host() };
	memcpy(registers.values, expected->registers, sizeof(registers.values));
	enum cfi_result result = CFI_FRAME;
	unsigned int i = 0;
	for (bool is_exact = true; i < expected->count; is_exact = result == CFI_SIGNAL) {
		result = cfi_step(cfi, is_exact, &registers);
		if (result != CFI_FRAME && result != CFI_SIGNAL)
			break;
		own_signals += result == CFI_SIGNAL;
		i++;
		ASSERT_UINT(registers.values[registers.arch->ip],
			    i < expected->count ? expected->ips[i] : 0);
	}
	/* The caller of the last is undefined: to libgcc a frame without an address. */
	ASSERT_UINT(result, CFI_END);
	ASSERT_UINT(expected->ips[i + 1], 0);
	CU_ASSERT(expected->count > 4);
	cfi_destroy(cfi);
	target_destroy(target);
	proc_maps_deinit(&maps);
	text_deinit(&text);
}

TEST(functions_and_the_data_of_their_language)
{
	static const uint64_t places[] = { 0, BASE + 0x100, BASE + CFI_IMAGE_SIZE - 1 };
	for (size_t i = 0; i < 3; i++) {
		struct cfi_world world;
		struct cfi_function function = { .size = 0 };
		cfi_world_init(&world, &(struct cfi_spec){ .augmentation = "zRL",
							   .lsda = places[i],
							   FDE_CODE(prologue) });
		struct cfi *cfi = cfi_create(&world.target);
		REQUIRE(cfi);
		CU_ASSERT_TRUE(cfi_function_at(cfi, BASE + FUNCTION + 0xff, &function));
		ASSERT_UINT(function.begin, BASE + FUNCTION);
		ASSERT_UINT(function.size, 0x100);
		ASSERT_UINT(function.lsda, places[i]);
		CU_ASSERT_FALSE(cfi_function_at(cfi, BASE + FUNCTION + 0x100, &function));
		cfi_destroy(cfi);
		cfi_world_deinit(&world);
	}
}

TEST(rows_that_are_written_anew_say_the_same)
{
	struct cfi_world world, copy;
	struct text rows = { 0 };
	uint64_t begin = 0;
	cfi_world_init(&world, &(struct cfi_spec){ FDE_CODE(prologue) });
	struct cfi *cfi = cfi_create(&world.target);
	REQUIRE(cfi);
	ASSERT_UINT(cfi_functions_count(cfi, BASE + FUNCTION), 3);
	CU_ASSERT_TRUE(cfi_function_begin(cfi, BASE + FUNCTION, 1, &begin));
	ASSERT_UINT(begin, BASE + FUNCTION);
	CU_ASSERT_FALSE(cfi_function_begin(cfi, BASE + FUNCTION, 3, &begin));
	CU_ASSERT_TRUE_FATAL(cfi_rows(cfi, BASE + FUNCTION, &rows));
	cfi_world_init(&copy, &(struct cfi_spec){ .fde = rows.bytes, .fde_size = rows.size });
	for (uint64_t offset = 0; offset < 64; offset++) {
		struct registers expected = cfi_world_registers(BASE + FUNCTION + offset);
		expected.values[REG_RBP] = SP + 0x80;
		struct registers found = expected;
		ASSERT_UINT(cfi_world_step(&copy, true, &found), CFI_FRAME);
		ASSERT_UINT(cfi_world_step(&world, true, &expected), CFI_FRAME);
		CU_ASSERT_EQUAL(memcmp(&expected, &found, sizeof(found)), 0);
	}
	cfi_destroy(cfi);
	cfi_world_deinit(&copy);
	cfi_world_deinit(&world);
	text_deinit(&rows);
}

static bool copies(const char *bytes, size_t size)
{
	struct cfi_world bad;
	struct text rows = { 0 };
	cfi_world_init(&bad, &(struct cfi_spec){ .fde = bytes, .fde_size = size });
	struct cfi *cfi = cfi_create(&bad.target);
	REQUIRE(cfi);
	bool ret = cfi_rows(cfi, BASE + FUNCTION, &rows);
	CU_ASSERT_TRUE(ret || !rows.size);
	cfi_destroy(cfi);
	cfi_world_deinit(&bad);
	text_deinit(&rows);
	return ret;
}

#define COPIES(bytes) copies((bytes), sizeof(bytes) - 1)

TEST(what_debuggers_cannot_trust_is_not_written_anew)
{
	CU_ASSERT_TRUE(COPIES("\x0a\x41\x0b"));
	CU_ASSERT_FALSE(COPIES("\x0b"));             /* nothing was remembered */
	CU_ASSERT_FALSE(COPIES("\x0a\x0b\x41\x0b")); /* only once */
	CU_ASSERT_FALSE(COPIES("\x0f\x02\x77\x08")); /* expressions */
	CU_ASSERT_FALSE(COPIES("\x10\x06\x01\x30"));
	CU_ASSERT_FALSE(COPIES("\x3f"));                                     /* unknown */
	CU_ASSERT_FALSE(COPIES("\x01\0\0\0\0\0\0\0\0"));                     /* an address */
	CU_ASSERT_FALSE(COPIES("\x41\x0c\x07\xff\xff\xff\xff\xff\xff\xff")); /* ends in a number */
}

TEST(own_process)
{
	own_signals = 0;
	own_stack_look(compare_with_libgcc);
	own_stack_look_deeper(compare_with_libgcc);
	ASSERT_UINT(own_signals, 0);
	own_stack_look_in_signal(compare_with_libgcc);
	ASSERT_UINT(own_signals, 1);
}

SUITE(.name = "cfi")
