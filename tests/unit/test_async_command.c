/* SPDX-License-Identifier: MIT */
/* Commands about the tasks and async methods of a runtime that is made in code. */
#include "runtime/coreclr/types/field.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/fake_tasks.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct fake_tasks tasks;
static uint64_t box_type, all_type;
static struct hd_session *session;

static void set_up(void)
{
	tasks = fake_tasks_create();
	box_type = fake_box_type(&tasks, "Shop+<Enter>d__1",
				 "B+AsyncStateMachineBox<Shop+<Enter>d__1>");
	const struct fake_field fields[] = {
		{ .name = "m_stateFlags", .element = ELEMENT_I4 },
		{ .name = "m_continuationObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	all_type = fake_class(tasks.types, &(struct fake_class){ .space = "System.Threading.Tasks",
								 .name = "Task+WhenAllPromise",
								 .fields = fields,
								 .type = { .base_size = 32 } });
}

static void open_session(void)
{
	(void)fake_thread(tasks.fake);
	fake_types_export(tasks.types);
	fake_export(tasks.fake, &(struct fake_export){ 0 });
	ASSERT_UINT_FATAL(hd_session_create(&session, NULL), HD_OK);
	session->target = &tasks.fake->target;
	session->path = mem_strndup("a.core", 6);
}

static void tear_down(void)
{
	struct target *target = session->target;
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&target->findings);
	fake_tasks_destroy(&tasks);
}

/* Does the answer to @p line, or its error, have that part? */
static void check(const char *line, const char *part, bool is_error)
{
	struct answer answer = command_run(session, line);
	const char *text = is_error ? answer.err.message : answer_text(&answer);
	if (!strstr(text, part))
		ASSERT_TEXT(text, part);
	ASSERT_UINT(*answer.err.message != '\0', is_error);
	answer_deinit(&answer);
}

TEST(chains_that_wait_for_no_object_have_none)
{
	(void)fake_box(&tasks, box_type, 0, 0);
	(void)fake_box(&tasks, box_type, 0, 0);
	open_session();
	check("dumpasync", "STACK 1: 2 chains wait for a free thread\n", false);
	check("parallelstacks", "(async) waits for a free thread\n", false);
	check("dumpasync --json", "\"objects\": 0,", false);
	check("dumpasync -all --json", "\"objects\": 0,", false);
}

TEST(each_chain_that_waits_for_an_object_has_one)
{
	(void)fake_box(&tasks, box_type, 0, fake_task(&tasks, tasks.task_type));
	open_session();
	check("dumpasync --json", "\"objects\": 1,", false);
	check("dumpasync -all --json", "\"objects\": 1,", false);
}

/* A method that awaits all of several tasks, of which it is one itself; and so many that await it. */
static void make_own_deadlock(unsigned int followers)
{
	uint64_t all = fake_task(&tasks, all_type), box = fake_box(&tasks, box_type, 0, all);
	fake_poke_u64(&tasks.fake->memory, box + FAKE_TASK_NEXT, all);
	for (unsigned int i = 0; i < followers; i++)
		(void)fake_box(&tasks, box_type, 0, box);
}

TEST(what_waits_for_itself_is_one_and_others_wait_for_it)
{
	make_own_deadlock(2);
	open_session();
	check("hang",
	      "Deadlock: 1 async method waits for itself in Shop.Enter, and 2 async chains for it. (waits)\n",
	      false);
	check("waits", "Deadlock of 1 async method, and 2 async chains waiting for it:\n", false);
}

TEST(what_waits_for_itself_may_be_alone)
{
	make_own_deadlock(0);
	open_session();
	check("hang", "Deadlock: 1 async method waits for itself in Shop.Enter. (waits)\n", false);
	check("waits", "Deadlock of 1 async method:\n", false);
}

TEST(what_many_wait_for_is_named_also_where_somebody_may_release_it)
{
	uint64_t semaphore = fake_semaphore(&tasks, 1);
	uint64_t box = fake_box(&tasks, box_type, 1, fake_task(&tasks, tasks.task_type));
	fake_poke_u64(&tasks.fake->memory, box + FAKE_BOX_LOCAL,
		      fake_one(&tasks, tasks.owner_type, semaphore));
	for (unsigned int i = 0; i < 6; i++)
		(void)fake_box(&tasks, box_type, 0, fake_semaphore_wait(&tasks, semaphore));
	open_session();
	check("hang", "6 async methods wait for SemaphoreSlim ", false);
	check("hang", ", which somebody may still release (gcroot ", false);
}

TEST(the_flags_of_a_task_have_32_bits)
{
	open_session();
	check("taskstate -v 16777216", "RanToCompletion", false);
	check("taskstate -v 4294967295", "m_stateFlags ffffffff", false);
	check("taskstate -v 4294967296",
	      "4294967296 has more than the 32 bits of the field m_stateFlags", true);
}

SUITE(.name = "async_command", .set_up = set_up, .tear_down = tear_down)
