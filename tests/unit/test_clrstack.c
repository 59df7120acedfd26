/* SPDX-License-Identifier: MIT */
/* The command clrstack about stacks that are made in code. */
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_module.h"
#include "support/fake_stack.h"
#include "support/suite.h"
#include "util/alloc.h"

#define TOP (FAKE_STACK + 0x1000)

struct fixture {
	struct fake_clr *fake;
	struct fake_stack *stack;
	struct hd_session *session;
	uint64_t object, free_block, work, main;
};

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fixture->object = fake_object(fake, fake->object_type, 0);
	fixture->free_block = fake_free(fake, 64);
	fixture->stack = fake_stack_create(fake);
	fixture->work = fake_method(fixture->stack, &(struct fake_method){ .slots = 1 });
	fixture->main = fake_method(fixture->stack, &(struct fake_method){ .slots = 1 });
	ASSERT_UINT_FATAL(hd_session_create(&fixture->session, NULL), HD_OK);
	fixture->session->heap = fake_heap(fake);
	fixture->session->runtime = fake->runtime;
	fixture->session->target = &fake->target;
	fixture->session->path = mem_strndup("a.core", 6);
}

static void end(struct fixture *fixture)
{
	struct hd_session *session = fixture->session;
	session->heap = NULL;
	session->runtime = NULL;
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&fixture->fake->target.findings);
	fake_stack_destroy(fixture->stack);
	fake_clr_destroy(fixture->fake);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		count++;
	return count;
}

/* How often @p part is in the answer to @p line. */
static void check(struct fixture *fixture, const char *line, const char *part, size_t count)
{
	struct answer answer = command_run(fixture->session, line);
	ASSERT_TEXT(answer.err.message, "");
	if (count_of(answer_text(&answer), part) != count)
		ASSERT_TEXT(answer_text(&answer), part);
	answer_deinit(&answer);
}

/* Frames that call each other: two methods in turn, or the same one; main at the end. */
static void recursion(struct fixture *fixture, unsigned int count, bool in_turn)
{
	uint64_t sp = TOP;
	fake_stop_at(fixture->stack, fake_call(fixture->work, 1), TOP, fake_rbp(TOP));
	for (unsigned int i = 1; i <= count; i++) {
		uint64_t method = in_turn && i % 2 ? fixture->main : fixture->work;
		bool is_last = i == count;
		fake_poke_u64(&fixture->fake->memory, sp, fixture->object);
		sp = fake_frame(fixture->stack, sp, is_last ? 0 : fake_rbp(sp + FAKE_FRAME_SIZE),
				is_last ? FAKE_NATIVE : fake_call(method, 2));
	}
}

TEST(recursion_is_folded)
{
	struct fixture fixture;
	begin(&fixture);
	recursion(&fixture, 8000, false);
	check(&fixture, "clrstack", "... 7,997 more frames of <unknown method ", 1);
	check(&fixture, "clrstack", "+0x20\n", 2);
	check(&fixture, "clrstack -full", "+0x20\n", 7999);
	check(&fixture, "clrstack --json", "{\"folded\": 7997, \"methods\": [\"", 1);
	check(&fixture, "clrstack -roots", "    rsp+0: ", 3);
	/* Two that call each other. */
	recursion(&fixture, 8001, true);
	check(&fixture, "clrstack", " more frames of ", 1);
	check(&fixture, "clrstack", " and <unknown method ", 1);
	check(&fixture, "clrstack -limit 1", "... 8,000 more frames (-limit 0 shows all)", 1);
	check(&fixture, "clrstack -limit 1 --json", "\"truncated\": true", 1);
	/* Few are shown as they are. */
	recursion(&fixture, 12, false);
	check(&fixture, "clrstack", "more frames", 0);
	check(&fixture, "clrstack", "+0x20\n", 11);
	end(&fixture);
}

TEST(frames_of_the_runtime_name_what_they_call)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_memory *memory = &fixture.fake->memory;
	uint64_t desc = fake_method_desc(fixture.fake, 0, 0), sp = TOP + 0x1000;
	fake_poke(memory, desc + 6, "\7", 2);
	fake_stop_at(fixture.stack, FAKE_NATIVE, TOP, 0);
	fake_frame(fixture.stack, sp, 0, FAKE_NATIVE);
	fake_inlined_call(fixture.stack, sp + 8, fake_call(fixture.work, 2), sp, fake_rbp(sp));
	check(&fixture, "clrstack", "[InlinedCallFrame: 00007ffe00002008]\n", 1);
	check(&fixture, "clrstack --json", "\"frame\": \"0x7ffe00002008\", \"callee\": null", 1);
	fake_poke_u64(memory, desc + 32, fake_text(memory, "usleep"));
	fake_poke_u64(memory, sp + 8 + 16, desc);
	check(&fixture, "clrstack", "[InlinedCallFrame: 00007ffe00002008] DynamicClass.usleep\n",
	      1);
	check(&fixture, "clrstack --json", "\"callee\": \"DynamicClass.usleep\"", 1);
	end(&fixture);
}

TEST(what_is_wrong_is_said)
{
	struct fixture fixture;
	begin(&fixture);
	recursion(&fixture, 3, false);
	fake_poke_u64(&fixture.fake->memory, TOP + FAKE_FRAME_SIZE + FAKE_LOCALS + 8, 0x1234);
	fake_poke_u64(&fixture.fake->memory, TOP + 0x1000, fixture.object + 8);
	check(&fixture, "clrstack",
	      "    stack incomplete: the return address 1234 is not code after a call\n", 1);
	check(&fixture, "clrstack -roots", "1234 is not code after a call; every word", 1);
	check(&fixture, "clrstack -roots", "+8 <unknown type ", 1);
	check(&fixture, "clrstack -roots", " (conservative)\n", 2);
	/* A word that leads to none is no row. */
	fake_poke_u64(&fixture.fake->memory, TOP + 0x1008, fixture.free_block);
	check(&fixture, "clrstack -roots", " <no object>", 0);
	check(&fixture, "clrstack -roots", " (conservative)\n", 2);
	check(&fixture, "clrstack -roots --json", "\"flags\": [\"conservative\"]", 2);
	check(&fixture, "clrstack --json",
	      "\"partial\": true, \"missing\": false, \"why\": \"the return address 1234", 1);
	fixture.fake->target.threads.count = 0;
	check(&fixture, "clrstack",
	      "    stack missing: the target has no registers of thread 3e9\n", 1);
	check(&fixture, "clrstack --json", "\"partial\": false, \"missing\": true, \"why\": \"the ",
	      1);
	end(&fixture);
}

TEST(what_is_no_object_is_no_root)
{
	struct fixture fixture;
	begin(&fixture);
	const uint64_t slot = TOP + FAKE_FRAME_SIZE;
	recursion(&fixture, 2, false);
	check(&fixture, "clrstack -roots", " <no object>", 0);
	fake_poke_u64(&fixture.fake->memory, TOP, 0);
	fake_poke_u64(&fixture.fake->memory, slot, fixture.object + 0x100);
	check(&fixture, "clrstack -roots", " -> ", 0);
	check(&fixture, "clrstack -roots", "7f0000000128, which is not an object; every word", 1);
	/* A word that may be a reference. */
	fake_poke_u64(&fixture.fake->memory, slot, fixture.object + 8);
	check(&fixture, "clrstack -roots", "7f0000000030, which is not an object; every word", 1);
	check(&fixture, "clrstack -roots", "7f0000000028+8 <unknown type", 1);
	check(&fixture, "clrstack -roots --json", "\"flags\": [\"conservative\"]", 1);
	/* Where a thread was interrupted a variable may not have been set yet. */
	recursion(&fixture, 1, false);
	fake_poke_u64(&fixture.fake->memory, TOP, fixture.object + 0x100);
	check(&fixture, "clrstack -roots", "no object", 0);
	check(&fixture, "clrstack --json", "\"partial\": false", 1);
	end(&fixture);
}

SUITE(.name = "clrstack")
