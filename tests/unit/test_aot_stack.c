/* SPDX-License-Identifier: MIT */
/* The stack of a made-up NativeAOT program, which has one method, and a handler of it. */
#include <stdlib.h>

#include "arch/x86_64/frame_registers.h"
#include "runtime/code.h"
#include "runtime/function_list.h"
#include "runtime/nativeaot/internal.h"
#include "runtime/nativeaot/method_map.h"
#include "runtime/nativeaot/stack/frame_data.h"
#include "runtime/runtime_ops.h"
#include "runtime/thread_state.h"
#include "stack/stack.h"
#include "stack/stack_ops.h"
#include "support/assert_more.h"
#include "support/cfi_maker.h"
#include "support/gc_info_maker.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/text.h"

#define CODE   (BASE + FUNCTION)
#define NATIVE (BASE + FUNCTION + 0x910)
#define LSDA   (BASE + 0x100)
#define THREAD UINT64_C(0x7f1300000000)

/* Offsets in the Thread of .NET 10. */
#define THREAD_STATE      64u
#define THREAD_FRAME      72u
#define THREAD_DEFERRED   80u
#define THREAD_NEXT       96u
#define THREAD_HIJACKED   104u
#define THREAD_EXCEPTIONS 120u

/* CFA = rbp + 16; rbp is at CFA - 16, and rbx below it. */
static const char with_frame[] = "\x0c\x06\x10\x86\x02\x83\x03";

static struct cfi_world world;
static struct nativeaot aot;

/* A GCInfo whose method native code calls: the record is at rbp - 16. */
static void put_gc_info(uint64_t address)
{
	struct writer writer = { .bits = 0 };
	put(&writer, 1, 1);
	put(&writer, 10, 0x240);
	put_unsigned(&writer, 8, 0x100);
	put_unsigned(&writer, 3, 0);
	put_signed(&writer, 6, -2);
	put_unsigned(&writer, 3, 0);
	put_unsigned(&writer, 2, 0);
	put_unsigned(&writer, 1, 1);
	put_unsigned(&writer, 6, 0);
	put_unsigned(&writer, 6, 0xff);
	put_counts(&writer, 0, 0, 0);
	fake_poke(&world.fake, address, writer.bytes, sizeof(writer.bytes));
}

static void put_call(uint64_t after)
{
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0 };
	fake_poke(&world.fake, after - sizeof(call), call, sizeof(call));
}

static void set_up(void)
{
	static const uint8_t flags = 0x08; /* native code calls it */
	cfi_world_init(&world, &(struct cfi_spec){
				       .augmentation = "zRL", .lsda = LSDA, FDE_CODE(with_frame) });
	fake_map(&world.fake, THREAD, 0x1000);
	fake_poke(&world.fake, LSDA, &flags, 1);
	put_gc_info(LSDA + 1);
	put_call(CODE + 0x20);
	put_call(CODE + 0x40);
	put_call(NATIVE);
	aot = (struct nativeaot){ .base = { .ops = &nativeaot_ops,
					    .target = &world.target,
					    .memory = &world.fake.memory },
				  .major = 10,
				  .code = CODE,
				  .code_size = 0x800 };
	aot_layout_init(&aot.layout, 10);
}

static void tear_down(void)
{
	aot_code_destroy(&aot.base);
	code_cache_destroy(aot.base.code);
	cfi_world_deinit(&world);
}

/* A transition frame of a helper that has saved rbx, and of code that goes on at @p ip with @p sp and @p rbp. */
static void put_transition(uint64_t at, uint64_t ip, uint64_t sp, uint64_t rbp)
{
	fake_poke_u64(&world.fake, at, ip);
	fake_poke_u64(&world.fake, at + 8, rbp);
	fake_poke_u64(&world.fake, at + 24, 0xabcd000000000000 | 0x8001);
	fake_poke_u64(&world.fake, at + 32, 0x1111);
	fake_poke_u64(&world.fake, at + 40, sp);
	fake_poke_u64(&world.fake, sp - 8, ip);
}

/* A frame of the method: what native code had as frame pointer, its code, and the transition frame before. */
static void put_frame(uint64_t rbp, uint64_t returns_to, uint64_t older)
{
	fake_poke_u64(&world.fake, rbp, rbp + 0x40);
	fake_poke_u64(&world.fake, rbp + 8, returns_to);
	fake_poke_u64(&world.fake, rbp - 16, older);
}

#define FIRST  (STACK + 0x200)
#define SECOND (STACK + 0x600)

/* Managed code, which native code has called, which managed code has called. */
static void put_two_segments(void)
{
	fake_poke_u64(&world.fake, THREAD + THREAD_FRAME, FIRST);
	put_transition(FIRST, CODE + 0x20, STACK + 0x300, STACK + 0x380);
	put_frame(STACK + 0x380, NATIVE, SECOND);
	put_transition(SECOND, CODE + 0x40, STACK + 0x700, STACK + 0x780);
	put_frame(STACK + 0x780, NATIVE, UINT64_MAX);
}

static void walk(struct thread_stack *ret)
{
	static const struct runtime_thread thread = { .address = THREAD, .os_id = 5 };
	static const struct stack_options options = { .no_roots = true, .registers = true };
	struct stack_walker *walker = NULL;
	struct hd_error err;
	CU_ASSERT_TRUE_FATAL(stack_walker_create(&aot.base, NULL, &walker, &err) == HD_OK);
	CU_ASSERT_TRUE_FATAL(stack_walk(walker, &thread, &options, NULL, ret, &err) == HD_OK);
	stack_walker_destroy(walker);
}

TEST(transition_frames_lead_from_segment_to_segment)
{
	struct thread_stack stack;
	put_two_segments();
	walk(&stack);
	CU_ASSERT_FALSE(stack.is_partial);
	CU_ASSERT_EQUAL(stack.managed_count, 2);
	CU_ASSERT_TRUE_FATAL(stack.frames_count == 4);
	CU_ASSERT_STRING_EQUAL(stack.frames[0].name, "PInvokeTransitionFrame");
	ASSERT_UINT(stack.frames[0].frame, FIRST);
	ASSERT_UINT(stack.frames[1].kind, STACK_MANAGED);
	ASSERT_UINT(stack.frames[1].ip, CODE + 0x20);
	ASSERT_UINT(stack.frames[1].sp, STACK + 0x300);
	ASSERT_UINT(stack.frames[1].method_desc, CODE);
	ASSERT_UINT(stack.frames[2].frame, SECOND);
	ASSERT_UINT(stack.frames[3].ip, CODE + 0x40);
	CU_ASSERT_TRUE_FATAL(stack.registers_count == 2);
	ASSERT_UINT(stack.registers[0].values[REG_RBX], 0x1111);
	CU_ASSERT_TRUE(stack.registers[0].known >> REG_RBX & 1);
	thread_stack_deinit(&stack);
}

#define HANDLER (CODE + 0x800)

/* A second function, which is a handler of the first one: CFA = rsp + 16; rbp is at CFA - 16. */
static void put_handler(void)
{
	static const uint8_t code[] = { 0x0c, 7, 16, 0x86, 2 };
	const uint64_t fde = BASE + FRAMES + 0x200, lsda = LSDA + 0x80;
	uint64_t row = BASE + HEADER + 28, at = fde;
	uint8_t flags = 1;
	cfi_world_put(&world, &at, 26, 4);
	cfi_world_put(&world, &at, at - (BASE + FRAMES), 4);
	cfi_world_put(&world, &at, HANDLER - at, 4);
	cfi_world_put(&world, &at, 0x100, 4);
	cfi_world_put(&world, &at, 4, 1);
	cfi_world_put(&world, &at, lsda - at, 4);
	fake_poke(&world.fake, at, code, sizeof(code));
	cfi_world_put(&world, &row, HANDLER - (BASE + HEADER), 4);
	cfi_world_put(&world, &row, fde - (BASE + HEADER), 4);
	fake_poke(&world.fake, lsda, &flags, 1);
	fake_poke_u32(&world.fake, lsda + 1, (uint32_t)(LSDA - (lsda + 1)));
	fake_poke_u32(&world.fake, lsda + 5, HANDLER - CODE);
	flags = 0;
	fake_poke(&world.fake, LSDA, &flags, 1);
	put_call(HANDLER + 0x20);
	aot.code_size = 0x900;
}

TEST(registers_of_a_method_go_through_its_handler)
{
	struct thread_stack stack;
	put_handler();
	/* The handler has the frame pointer of its method, and rbx as the method had it. */
	fake_poke_u64(&world.fake, THREAD + THREAD_FRAME, FIRST);
	put_transition(FIRST, HANDLER + 0x20, STACK + 0x300, STACK + 0x780);
	fake_poke_u64(&world.fake, STACK + 0x300, STACK + 0x580);
	fake_poke_u64(&world.fake, STACK + 0x308, CODE + 0x20);
	/* The function that called the handler had saved another one, before the exception. */
	put_frame(STACK + 0x580, CODE + 0x40, 0);
	fake_poke_u64(&world.fake, STACK + 0x580, STACK + 0x780);
	fake_poke_u64(&world.fake, STACK + 0x578, 0xbad);
	put_frame(STACK + 0x780, NATIVE, 0);
	walk(&stack);
	CU_ASSERT_TRUE_FATAL(stack.managed_count == 3 && stack.registers_count == 3);
	ASSERT_UINT(stack.frames[1].ip, HANDLER + 0x20);
	CU_ASSERT_TRUE(stack.frames[1].is_funclet);
	CU_ASSERT_TRUE(stack.frames[2].is_dead);
	CU_ASSERT_FALSE(stack.frames[3].is_dead);
	ASSERT_UINT(stack.registers[2].values[REG_RBP], STACK + 0x780);
	ASSERT_UINT(stack.registers[2].values[REG_RBX], 0x1111);
	CU_ASSERT_TRUE(stack.registers[2].known >> REG_RBX & 1);
	thread_stack_deinit(&stack);
}

/* On arm64 the frame pointer comes first, and calls leave nothing on the stack. */
static void put_transition_arm64(uint64_t label, uint32_t flags, uint64_t sp)
{
	fake_poke_u64(&world.fake, THREAD + THREAD_FRAME, FIRST);
	fake_poke_u64(&world.fake, FIRST, STACK + 0x380);
	fake_poke_u64(&world.fake, FIRST + 8, label);
	fake_poke_u32(&world.fake, FIRST + 24, flags);
	if (flags != 0x400) {
		for (uint64_t i = 0; i < 10; i++)
			fake_poke_u64(&world.fake, FIRST + 32 + 8 * i, 0x1900 + i);
	}
	fake_poke_u64(&world.fake, flags == 0x400 ? FIRST + 32 : FIRST + 112, sp);
}

static bool read_transition_arm64(struct frame_context *ret)
{
	struct frame_chain chain;
	*ret = (struct frame_context){ .registers.arch = &arch_arm64 };
	CU_ASSERT_TRUE_FATAL(nativeaot_stack_ops.frames(&aot.base, THREAD, &chain));
	bool is_read = chain.rows_count == 1 &&
		       nativeaot_stack_ops.frame_context(&aot.base, &chain.rows[0], ret);
	CU_ASSERT_EQUAL(chain.is_broken, !is_read);
	frame_chain_deinit(&chain);
	return is_read;
}

TEST(transition_frames_of_arm64)
{
	static const uint32_t code[] = { 0x97fe5bfa, 0xf84143a0, 0x97fcfce0 }; /* bl, ldur, bl */
	struct frame_context context;
	const uint64_t *values = context.registers.values;
	world.target.arch = &arch_arm64;
	fake_poke(&world.fake, CODE + 0x20, code, sizeof(code));
	/* An inlined call: the label is behind the call of the helper that writes the frame. */
	put_transition_arm64(CODE + 0x24, 0x400, STACK + 0x300);
	CU_ASSERT_TRUE(read_transition_arm64(&context));
	ASSERT_UINT(values[arch_arm64.ip], CODE + 0x2c);
	ASSERT_UINT(values[arch_arm64.sp], STACK + 0x300);
	ASSERT_UINT(values[arch_arm64.fp], STACK + 0x380);
	/* A helper, which returns there, has saved x19 to x28. */
	put_transition_arm64(CODE + 0x24, 0x7ff, STACK + 0x300);
	CU_ASSERT_TRUE(read_transition_arm64(&context));
	ASSERT_UINT(values[arch_arm64.ip], CODE + 0x24);
	ASSERT_UINT(values[19], 0x1900);
	ASSERT_UINT(values[28], 0x1909);
	/* No call is there. */
	put_transition_arm64(CODE + 0x28, 0x7ff, STACK + 0x300);
	CU_ASSERT_FALSE(read_transition_arm64(&context));
	put_transition_arm64(CODE + 0x2c, 0x400, STACK + 0x300);
	CU_ASSERT_FALSE(read_transition_arm64(&context));
}

TEST(an_older_frame_that_is_not_older_ends_the_walk)
{
	struct thread_stack stack;
	put_two_segments();
	put_frame(STACK + 0x380, NATIVE, FIRST);
	walk(&stack);
	CU_ASSERT_TRUE(stack.is_partial);
	CU_ASSERT_EQUAL(stack.managed_count, 1);
	thread_stack_deinit(&stack);
}

TEST(a_record_without_a_stack_pointer_says_nothing)
{
	struct thread_stack stack;
	put_two_segments();
	fake_poke_u64(&world.fake, FIRST + 24, 1);
	walk(&stack);
	CU_ASSERT_EQUAL(stack.frames_count, 0);
	CU_ASSERT_TRUE(stack.is_missing);
	thread_stack_deinit(&stack);
}

TEST(a_record_whose_return_address_is_another_says_nothing)
{
	struct thread_stack stack;
	put_two_segments();
	fake_poke_u64(&world.fake, STACK + 0x2f8, CODE + 0x80);
	walk(&stack);
	CU_ASSERT_EQUAL(stack.frames_count, 0);
	thread_stack_deinit(&stack);
}

TEST(a_thread_in_managed_code_has_a_frame_that_a_helper_left)
{
	struct thread_stack stack;
	put_two_segments();
	fake_poke_u64(&world.fake, THREAD + THREAD_FRAME, 0);
	fake_poke_u64(&world.fake, THREAD + THREAD_DEFERRED, FIRST);
	walk(&stack);
	CU_ASSERT_EQUAL(stack.managed_count, 2);
	thread_stack_deinit(&stack);
	fake_poke_u64(&world.fake, THREAD + THREAD_FRAME, UINT64_MAX);
	walk(&stack);
	CU_ASSERT_EQUAL(stack.managed_count, 0);
	thread_stack_deinit(&stack);
}

TEST(a_return_address_that_the_runtime_replaced_is_put_back)
{
	struct thread_stack stack;
	put_two_segments();
	/* The method of the first frame returns to a stub, and not to the second. */
	put_frame(STACK + 0x380, NATIVE + 0x20, UINT64_MAX);
	fake_poke_u64(&world.fake, THREAD + THREAD_HIJACKED, STACK + 0x388);
	fake_poke_u64(&world.fake, THREAD + THREAD_HIJACKED + 8, CODE + 0x40);
	fake_poke_u64(&world.fake, STACK + 0x380, STACK + 0x780);
	walk(&stack);
	CU_ASSERT_FALSE(stack.is_partial);
	CU_ASSERT_TRUE_FATAL(stack.frames_count == 3);
	ASSERT_UINT(stack.frames[2].ip, CODE + 0x40);
	thread_stack_deinit(&stack);
	/* Another place was replaced. */
	fake_poke_u64(&world.fake, THREAD + THREAD_HIJACKED, STACK + 0x390);
	walk(&stack);
	CU_ASSERT_TRUE(stack.is_partial);
	CU_ASSERT_EQUAL(stack.managed_count, 1);
	thread_stack_deinit(&stack);
}

TEST(exceptions_in_flight_are_a_list_on_the_stack)
{
	struct exception_chain chain;
	fake_poke_u64(&world.fake, THREAD + THREAD_EXCEPTIONS, STACK + 0x400);
	fake_poke_u64(&world.fake, STACK + 0x400, STACK + 0x800);
	fake_poke_u64(&world.fake, STACK + 0x410, 0x1000);
	fake_poke_u64(&world.fake, STACK + 0x800, 0);
	fake_poke_u64(&world.fake, STACK + 0x810, 0x2000);
	CU_ASSERT_TRUE(nativeaot_stack_ops.exceptions(&aot.base, THREAD, &chain));
	CU_ASSERT_FALSE(chain.is_broken);
	CU_ASSERT_TRUE_FATAL(chain.rows_count == 2);
	ASSERT_UINT(chain.rows[0].object, 0x1000);
	ASSERT_UINT(chain.rows[0].slot, STACK + 0x410);
	ASSERT_UINT(chain.rows[1].object, 0x2000);
	exception_chain_deinit(&chain);
	fake_poke_u64(&world.fake, STACK + 0x800, STACK + 0x400);
	CU_ASSERT_TRUE(nativeaot_stack_ops.exceptions(&aot.base, THREAD, &chain));
	CU_ASSERT_TRUE(chain.is_broken);
	CU_ASSERT_EQUAL(chain.rows_count, 2);
	exception_chain_deinit(&chain);
}

TEST(the_state_of_a_thread_says_what_it_is_for)
{
	/* Attached; of the finalizers; of the GC; ended. */
	static const uint32_t states[] = { 0x1, 0x9, 0x21, 0x3 };
	struct runtime_threads *threads = &aot.base.threads;
	struct hd_error err;
	aot.globals.thread_store = THREAD + 0xff8;
	fake_poke_u64(&world.fake, THREAD + 0xff8, THREAD);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t thread = THREAD + 0x200 * i;
		fake_poke_u32(&world.fake, thread + THREAD_STATE, states[i]);
		fake_poke_u64(&world.fake, thread + THREAD_NEXT, i < 3 ? thread + 0x200 : 0);
	}
	CU_ASSERT_EQUAL(aot_threads(&aot.base, &err), HD_OK);
	CU_ASSERT_TRUE_FATAL(threads->count == 4);
	CU_ASSERT_TRUE(threads->is_whole);
	ASSERT_UINT(threads->finalizer, THREAD + 0x200);
	CU_ASSERT_TRUE(threads->rows[0].is_cooperative && threads->rows[1].is_cooperative);
	CU_ASSERT_FALSE(threads->rows[2].is_cooperative);
	ASSERT_UINT(threads->rows[3].state, THREAD_STATE_DEAD);
	mem_free(threads->rows);
	*threads = (struct runtime_threads){ 0 };
}

TEST(code_belongs_to_the_method_whose_data_says_so)
{
	struct code_info code;
	CU_ASSERT_TRUE(runtime_code_at(&aot.base, CODE + 0x20, &code));
	ASSERT_UINT(code.method_desc, CODE);
	ASSERT_UINT(code.gc_info, LSDA + 1);
	ASSERT_UINT(code.gc_info_version, 4);
	CU_ASSERT_TRUE(code.has_cfi && !code.is_funclet);
	CU_ASSERT_FALSE(runtime_code_at(&aot.base, CODE + 0x100, &code));
	CU_ASSERT_FALSE(runtime_code_at(&aot.base, NATIVE, &code));
	alloc_fail_at(1);
	aot_code_destroy(&aot.base);
	CU_ASSERT_FALSE(runtime_code_at(&aot.base, CODE + 0x24, &code));
	CU_ASSERT_TRUE(runtime_code_failed(&aot.base));
	alloc_fail_at(0);
}

TEST(a_handler_leads_to_its_method)
{
	struct aot_frame_data data;
	uint64_t at = LSDA + 0x80;
	uint8_t flags = 1;
	fake_poke(&world.fake, at, &flags, 1);
	fake_poke_u32(&world.fake, at + 1, (uint32_t)(LSDA - (at + 1)));
	fake_poke_u32(&world.fake, at + 5, 0x60);
	CU_ASSERT_TRUE(aot_frame_data_at(&world.fake.memory, CODE + 0x60, at, &data));
	ASSERT_UINT(data.part, AOT_PART_HANDLER);
	ASSERT_UINT(data.start, CODE);
	ASSERT_UINT(data.gc_info, LSDA + 1);
	CU_ASSERT_FALSE(data.is_called_by_native);
	/* Clauses and associated data come before the GCInfo. */
	flags = 0x14;
	fake_poke(&world.fake, LSDA, &flags, 1);
	CU_ASSERT_TRUE(aot_frame_data_at(&world.fake.memory, CODE + 0x60, at, &data));
	ASSERT_UINT(data.gc_info, LSDA + 9);
	/* A handler of a handler; a method that begins after it; a part that does not exist. */
	flags = 2;
	fake_poke(&world.fake, LSDA, &flags, 1);
	CU_ASSERT_FALSE(aot_frame_data_at(&world.fake.memory, CODE + 0x60, at, &data));
	flags = 0;
	fake_poke(&world.fake, LSDA, &flags, 1);
	fake_poke_u32(&world.fake, at + 5, (uint32_t)-1);
	CU_ASSERT_FALSE(aot_frame_data_at(&world.fake.memory, CODE + 0x60, at, &data));
	flags = 3;
	fake_poke(&world.fake, at, &flags, 1);
	CU_ASSERT_FALSE(aot_frame_data_at(&world.fake.memory, CODE + 0x60, at, &data));
	CU_ASSERT_FALSE(aot_frame_data_at(&world.fake.memory, CODE + 0x60, 0, &data));
}

TEST(functions_are_listed_with_their_methods)
{
	struct method_row row = { .code = CODE };
	struct method_map methods = { .rows = &row, .rows_count = 1 };
	struct code_functions functions;
	aot.methods = &methods;
	ASSERT_UINT_FATAL(code_functions_read(&aot.base, NULL, &functions, NULL), HD_OK);
	aot.methods = NULL;
	ASSERT_UINT_FATAL(functions.rows_count, 1);
	ASSERT_UINT(functions.rows[0].begin, CODE);
	ASSERT_UINT(functions.rows[0].end, CODE + 0x100);
	ASSERT_UINT(functions.rows[0].method_desc, CODE);
	ASSERT_UINT(functions.rows[0].unwind_info, LSDA);
	ASSERT_UINT(functions.rows[0].part, CODE_METHOD);
	CU_ASSERT_FALSE(functions.rows[0].is_native || functions.is_partial);
	ASSERT_UINT(functions.places.rows_count, 1);
	struct text rows = { 0 };
	CU_ASSERT_TRUE(code_function_rows(&aot.base, &functions.rows[0], &rows));
	CU_ASSERT_TRUE(rows.size >= sizeof(with_frame) - 1 &&
		       memcmp(rows.bytes + rows.size - (sizeof(with_frame) - 1), with_frame,
			      sizeof(with_frame) - 1) == 0);
	text_deinit(&rows);
	code_functions_deinit(&functions);
}

TEST(a_handler_without_a_name_is_one_of_its_method)
{
	struct code_functions functions;
	uint64_t at = LSDA + 0x80;
	uint8_t flags = 1;
	fake_poke(&world.fake, LSDA, &flags, 1);
	fake_poke_u32(&world.fake, LSDA + 1, (uint32_t)(at - (LSDA + 1)));
	fake_poke_u32(&world.fake, LSDA + 5, 0);
	flags = 0;
	fake_poke(&world.fake, at, &flags, 1);
	ASSERT_UINT_FATAL(code_functions_read(&aot.base, NULL, &functions, NULL), HD_OK);
	ASSERT_UINT_FATAL(functions.rows_count, 1);
	ASSERT_UINT(functions.rows[0].part, CODE_HANDLER);
	ASSERT_UINT(functions.rows[0].start, CODE);
	ASSERT_UINT(functions.rows[0].method_desc, 0);
	code_functions_deinit(&functions);
}

TEST(without_call_frame_information_the_list_is_not_whole)
{
	struct code_functions functions;
	static const uint8_t none[32];
	fake_poke(&world.fake, BASE + HEADER, none, sizeof(none));
	ASSERT_UINT_FATAL(code_functions_read(&aot.base, NULL, &functions, NULL), HD_OK);
	ASSERT_UINT(functions.rows_count, 0);
	CU_ASSERT_TRUE(functions.is_partial);
	code_functions_deinit(&functions);
}

SUITE(.name = "aot_stack", .set_up = set_up, .tear_down = tear_down)
