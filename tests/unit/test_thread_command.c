/* SPDX-License-Identifier: MIT */
/* Commands about the threads and monitors of a runtime that is made in code. */
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Where .NET 10 has them: threads.h, inc/dacvars.h. */
#define STORE_PENDING         124u
#define THREAD_LAST_THROWN    336u
#define FAKE_FINALIZER_THREAD ((enum fake_global)(FAKE_GC_VARS - 3))
#define THREAD_TRACKER        352u
#define FAKE_GC_THREAD        ((enum fake_global)(FAKE_GC_VARS - 2))

struct fixture {
	struct fake_clr *fake;
	struct hd_session *session;
	uint64_t object, threads[3];
};

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fixture->object = fake_object(fake, fake->object_type, 0);
	for (size_t i = 0; i < 3; i++)
		fixture->threads[i] = fake_thread(fake)->address;
	fake->threads[2].state = 0x01000200; /* background, a worker of the pool */
	fake->threads[1].os_id = 0;
	for (size_t i = 0; i < 2; i++)
		(void)fake_sync_block(fake, fake_object(fake, fake->object_type, 0));
	fake_export(fake, &(struct fake_export){ 0 });
	ASSERT_UINT_FATAL(hd_session_create(&fixture->session, NULL), HD_OK);
	fixture->session->target = &fake->target;
	fixture->session->path = mem_strndup("a.core", 6);
}

static void end(struct fixture *fixture)
{
	struct hd_session *session = fixture->session;
	struct target *target = session->target;
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&target->findings);
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

TEST(threads_have_the_columns_of_sos)
{
	struct fixture fixture;
	char part[256];
	begin(&fixture);
	struct fake_memory *memory = &fixture.fake->memory;
	uint64_t handle = fake_alloc(memory, 8);
	fake_poke_u64(memory, handle, fixture.object);
	fake_poke_u64(memory, fixture.threads[2] + THREAD_LAST_THROWN, handle);
	fake_poke_u64(memory, fixture.threads[0] + THREAD_LAST_THROWN, 0x10); /* no handle */
	fake_poke_u32(memory, fake_peek_u64(memory, fake_global(FAKE_THREAD_STORE)) + STORE_PENDING,
		      2);
	fake_set_global(fixture.fake, FAKE_FINALIZER_THREAD, fixture.threads[1]);
	fake_set_global(fixture.fake, FAKE_GC_THREAD, fixture.threads[0]);
	check(&fixture, "clrthreads",
	      "BackgroundThread: 1\nPendingThread:    2\nDeadThread:       0\nHosted Runtime:   no\n",
	      1);
	check(&fixture, "clrthreads", " -00001 Ukn (GC)\n", 1);
	check(&fixture, "clrthreads", " -00001 Ukn (Finalizer)\n", 1);
	check(&fixture, "clrthreads", "\nXXXX    2        0 ", 1);
	(void)snprintf(part, sizeof(part), " %016" PRIx64 "\n", fixture.object);
	check(&fixture, "clrthreads", " -00001 Ukn (Threadpool Worker) ", 1);
	check(&fixture, "clrthreads", part, 1);
	check(&fixture, "clrthreads --json", "\"finalizer\": true", 1);
	check(&fixture, "clrthreads --json", "\"exception\": \"0x0\"", 2);
	(void)snprintf(part, sizeof(part), "\"exception\": \"0x%" PRIx64 "\"", fixture.object);
	check(&fixture, "clrthreads --json", part, 1);
	/* ExInfo of 10 (exinfo.h) begins with the one that was in flight before. */
	uint64_t tracker = fake_alloc(memory, 256);
	fake_poke_u64(memory, fixture.threads[2] + THREAD_TRACKER, tracker);
	check(&fixture, "clrthreads", " (nested exceptions)\n", 0);
	fake_poke_u64(memory, tracker, fake_alloc(memory, 256));
	check(&fixture, "clrthreads", " (nested exceptions)\n", 1);
	check(&fixture, "clrthreads --json", "\"nested\": true", 1);
	/* It is no exception. */
	check(&fixture, "printexception", "No managed thread holds an exception", 1);
	check(&fixture, "pe --json", "\"exceptions\": []", 1);
	end(&fixture);
}

/* The warnings about @p line; NULL: none. */
static void check_warned(struct fixture *fixture, const char *line, const char *part)
{
	struct answer answer = command_run(fixture->session, line);
	const char *warnings = answer.warnings.bytes ? answer.warnings.bytes : "";
	if (!part)
		ASSERT_TEXT(warnings, "");
	else if (!strstr(warnings, part))
		ASSERT_TEXT(warnings, part);
	answer_deinit(&answer);
}

TEST(answers_about_threads_do_not_warn_of_the_heap)
{
	struct fixture fixture;
	begin(&fixture);
	check_warned(&fixture, "clrthreads", "unknown-build: ");
	findings_add(&fixture.fake->target.findings, FINDING_SEGMENT_LIST, NULL, "ends too early");
	check_warned(&fixture, "clrthreads", NULL);
	findings_add(&fixture.fake->target.findings, FINDING_THREAD_LIST, NULL, "is cut");
	check_warned(&fixture, "clrthreads", "thread-list: is cut");
	check_warned(&fixture, "eeheap -gc", "segment-list: ends too early");
	check_warned(&fixture, "eeheap -gc", NULL);
	end(&fixture);
}

TEST(threads_that_wait_are_told_in_whole_sentences_with_escaped_names)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fixture fixture = { .fake = fake };
	struct fake_memory *memory = &fake->memory;
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 40 });
	uint64_t native = fake_thread(fake)->address, object = fake_object(fake, type, 0);
	uint64_t handle = fake_alloc(memory, 8), link = fake_alloc(memory, 64), block = 0;
	fake_poke_u64(memory, object + 8, fake_string(fake, "a\x1b[2J\nb"));
	fake_poke_u64(memory, object + 16, native);
	fake_poke_u64(memory, handle, object);
	fake_poke_u64(memory, native + 304, handle);
	/* It waits in the queue of Monitor.Wait (doc/coreclr.md 7.4). */
	uint32_t index = fake_sync_block(fake, fake_object(fake, fake->object_type, 0));
	CU_ASSERT(memory_u64(&memory->memory, fake->sync_table + 16ull * index, &block));
	fake_poke_u64(memory, block + 72, link + 32);
	fake_poke_u64(memory, link, block);
	fake_poke_u64(memory, link + 16, native);
	fake_export(fake, &(struct fake_export){ 0 });
	ASSERT_UINT_FATAL(hd_session_create(&fixture.session, NULL), HD_OK);
	fixture.session->target = &fake->target;
	fixture.session->path = mem_strndup("a.core", 6);
	check(&fixture, "waits -all", "a\\u001b[2J\\u000ab ", 1);
	check(&fixture, "syncblk", "a\\u001b[2J\\u000ab\n", 1);
	check(&fixture, "waits -all", "\x1b", 0);
	check(&fixture, "syncblk", "\x1b", 0);
	/* It is held, and somebody is counted who waits to enter it (doc/coreclr.md 7.4). */
	fake_poke_u32(memory, block, 1u << 6 | 1);
	check(&fixture, "syncblk",
	      "\n1 more thread waits to get one of them; its stack does not tell which.\n", 1);
	fake_poke_u32(memory, block, 2u << 6 | 1);
	check(&fixture, "syncblk",
	      "\n2 more threads wait to get one of them; their stacks do not tell which.\n", 1);
	end(&fixture);
}

TEST(what_is_no_thread_has_no_role)
{
	struct fixture fixture;
	begin(&fixture);
	fake_set_global(fixture.fake, FAKE_FINALIZER_THREAD, fixture.object);
	fake_set_global(fixture.fake, FAKE_GC_THREAD, fixture.threads[0] + 8);
	check(&fixture, "clrthreads", " Ukn (Threadpool Worker)\n", 1);
	check(&fixture, "clrthreads", " Ukn\n", 2);
	check(&fixture, "clrthreads --json", "\"finalizer\": null", 3);
	end(&fixture);
}

/* Nobody knows then what their stacks keep alive. */
TEST(without_threads_nothing_is_called_dead)
{
	for (unsigned int lost = 0; lost < 2; lost++) {
		struct fixture fixture;
		char line[64];
		begin(&fixture);
		if (lost)
			fake_set_global(fixture.fake, FAKE_THREAD_STORE, 0);
		(void)snprintf(line, sizeof(line), "retained %" PRIx64, fixture.object);
		check(&fixture, line, "the threads, and so their stacks, are not known", lost);
		check(&fixture, line, "it may still be alive", 1);
		check(&fixture, "dumpheap -dead --json", "\"no-threads\"", lost);
		check(&fixture, "info", "no-threads: the runtime's ThreadStore was not found",
		      lost);
		end(&fixture);
	}
}

TEST(monitors_are_the_same_in_json)
{
	struct fixture fixture;
	begin(&fixture);
	check(&fixture, "syncblk", "none", 0);
	check(&fixture, "syncblk -all", "none", 2);
	check(&fixture, "syncblk --json", "\"blocks\": [], \"waiting\": [], \"total\": 2", 1);
	check(&fixture, "syncblk -all --json", "\"held\": false", 2);
	check(&fixture, "syncblk 2 --json", "\"index\": 2", 1);
	check(&fixture, "syncblk 2 --json", "\"index\": 1", 0);
	end(&fixture);
}

/*
 * Write what was there before: "erodd/net" and the like, also an odd word, which a free entry has.
 */
static void write_remains(const struct fixture *fixture, uint32_t first)
{
	struct fake_clr *fake = fixture->fake;
	for (uint32_t i = first; i < 60; i++) {
		uint64_t entry = fake->sync_table + 16 * (uint64_t)i;
		fake_poke_u64(&fake->memory, entry, UINT64_C(0x656e746f642f6572));
		fake_poke_u64(&fake->memory, entry + 8,
			      UINT64_C(0x656e746f642f6572) | (uint64_t)(i % 3 == 0));
	}
}

TEST(what_stands_behind_the_sync_blocks_is_none)
{
	struct fixture fixture;
	begin(&fixture);
	write_remains(&fixture, 3);
	check(&fixture, "syncblk", "none", 0);
	check(&fixture, "syncblk -all", "none", 2);
	check(&fixture, "syncblk --json",
	      "\"blocks\": [], \"waiting\": [], \"total\": 2, \"free\": 0", 1);
	end(&fixture);
}

/* SyncBlockCache of 10 (syncblk.h): m_FreeSyncTableIndex at 108, m_SyncTableSize at 120. */
TEST(the_runtimes_own_count_of_sync_blocks_counts)
{
	struct fixture fixture;
	begin(&fixture);
	struct fake_clr *fake = fixture.fake;
	uint64_t cache = fake_alloc(&fake->memory, 160);
	fake_poke_u32(&fake->memory, cache + 108, 5);
	fake_poke_u32(&fake->memory, cache + 120, 250);
	fake_set_global(fake, (enum fake_global)(FAKE_SYNC_TABLE + 1), cache);
	write_remains(&fixture, 5);
	/* Two that are free: the list of them, by index (m_Object is the next one's * 2 + 1). */
	fake_poke_u64(&fake->memory, fake->sync_table + 16 * 3 + 8, 4 << 1 | 1);
	fake_poke_u64(&fake->memory, fake->sync_table + 16 * 4 + 8, 1);
	check(&fixture, "syncblk -all", "none", 2);
	check(&fixture, "syncblk --json",
	      "\"blocks\": [], \"waiting\": [], \"total\": 4, \"free\": 2", 1);
	end(&fixture);
}

SUITE(.name = "thread_command")
