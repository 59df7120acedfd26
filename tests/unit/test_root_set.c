/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "arch/x86_64/register_table.h"
#include "roots/root_set.h"
#include "support/assert_more.h"
#include "support/fake_handles.h"
#include "support/fake_statics.h"
#include "support/suite.h"
#include "util/alloc.h"

#define TYPES      13u /* internal types of handles in .NET 10 */
#define STACK_SIZE 64u

/* Thread: last thrown object, ExInfo; ExInfo: the one before it, handle. */
#define LAST_THROWN_OF 336u
#define TRACKER_OF     352u
#define EXINFO_THROWN  8u

/* Thread::ThreadState */
#define DEAD 0x00000800u

enum {
	BLOCK_STRONG,
	BLOCK_PINNED,
	BLOCK_WEAK,
	BLOCK_DEPENDENT,
	BLOCK_DATA
};

struct fixture {
	struct fake_statics statics;
	struct target_thread threads[2];
	struct target_range ranges[2]; /* their stacks */
	uint64_t strong[4];            /* handles */
	uint64_t weak;
	uint64_t box; /* what Ns.Holder.when is in */
};

static void make_handles(struct fixture *fixture)
{
	struct fake_clr *fake = fixture->statics.fake;
	const uint64_t *objects = fixture->statics.objects;
	uint64_t table = fake_handle_table(fake, TYPES);
	uint64_t segment = fake_handle_segment(fake, table, TYPES);
	fake_handle_bucket(fake, &table, 1);
	fake_handle_block(fake, segment, BLOCK_STRONG, HANDLE_STRONG);
	fake_handle_block(fake, segment, BLOCK_PINNED, HANDLE_PINNED);
	fake_handle_block(fake, segment, BLOCK_WEAK, HANDLE_WEAK_LONG);
	fake_handle_block(fake, segment, BLOCK_DEPENDENT, HANDLE_DEPENDENT);
	for (uint32_t i = 0; i < 3; i++)
		fixture->strong[i] = fake_handle(fake, segment, BLOCK_STRONG, i, objects[i]);
	fixture->strong[3] = fake_handle(fake, segment, BLOCK_PINNED, 0, objects[3]);
	fixture->weak = fake_handle(fake, segment, BLOCK_WEAK, 0, objects[4]);
	/* the later one first: edges are sorted */
	fake_handle_user_data(fake, segment, BLOCK_DEPENDENT, BLOCK_DATA, TYPES);
	(void)fake_handle(fake, segment, BLOCK_DEPENDENT, 0, objects[6]);
	(void)fake_handle(fake, segment, BLOCK_DEPENDENT, 1, objects[5]);
	(void)fake_handle(fake, segment, BLOCK_DEPENDENT, 2, objects[4]);
	(void)fake_handle(fake, segment, BLOCK_DATA, 0, objects[7]);
	(void)fake_handle(fake, segment, BLOCK_DATA, 1, objects[6]);
}

static void make_statics(struct fixture *fixture)
{
	struct fake_statics *statics = &fixture->statics;
	struct fake_memory *memory = &statics->fake->memory;
	fixture->box = fake_object(statics->fake, statics->node, 0);
	fake_poke_u64(memory, fake_element(statics->holder_array, 0), statics->objects[0]);
	fake_poke_u64(memory, fake_element(statics->holder_array, 1), fixture->box);
	fake_poke_u64(memory, fake_element(statics->holder_array, 3), statics->objects[1]);
	fake_poke_u64(memory, fake_element(statics->plug_array, 0), statics->objects[2]);
	fake_poke_u64(memory, fake_element(statics->plug_statics, 0), statics->objects[2]);
	fake_poke_u64(memory, fake_element(statics->statics[1], 0), statics->objects[3]);
}

static struct fixture set_up(void)
{
	const size_t counts[7] = { 0, 0, 1, 0, 0, 1, 1 };
	struct fixture fixture = { .statics = fake_statics_create() };
	struct fake_clr *fake = fixture.statics.fake;
	make_handles(&fixture);
	make_statics(&fixture);
	(void)fake_finalizer_queue(fake, 0, counts, &fixture.statics.objects[4]);
	fixture.statics.heap = fake_heap(fake);
	return fixture;
}

static void tear_down(struct fixture *fixture)
{
	fixture->statics.fake->target.threads.rows = NULL;
	fixture->statics.fake->target.threads.count = 0;
	fixture->statics.fake->target.map.ranges = NULL;
	fixture->statics.fake->target.map.range_count = 0;
	fake_statics_destroy(&fixture->statics);
}

/* Let the process have thread @p index, whose stack pointer is @p sp. */
static void add_registers(struct fixture *fixture, unsigned int index, uint64_t sp)
{
	struct target *target = &fixture->statics.fake->target;
	fixture->threads[index] = (struct target_thread){
		.tid = (int32_t)fixture->statics.runtime->threads.rows[index].os_id
	};
	fixture->threads[index].registers[REGISTER_RSP] = sp;
	fixture->ranges[index] =
		(struct target_range){ .start = sp, .end = sp + STACK_SIZE, .flags = PF_W };
	target->threads.rows = fixture->threads;
	target->map.ranges = fixture->ranges;
	target->threads.count = target->map.range_count = index + 1;
}

static struct root_set *collect(struct fixture *fixture, bool conservative)
{
	struct root_set *roots = NULL;
	struct hd_error err = { 0 };
	if (root_set_create(fixture->statics.heap, conservative, NULL, &roots, &err) != HD_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	return roots;
}

static const struct root *find(const struct root_set *roots, unsigned int source, uint64_t value,
			       uint32_t thread)
{
	for (size_t i = 0; i < roots->rows_count; i++) {
		const struct root *root = &roots->rows[i];
		if (root->source == source && root->value == value && root->thread == thread)
			return root;
	}
	return NULL;
}

static size_t count_of(const struct root_set *roots, unsigned int source)
{
	size_t count = 0;
	for (size_t i = 0; i < roots->rows_count; i++)
		count += roots->rows[i].source == source;
	return count;
}

TEST(test_handles)
{
	struct fixture fixture = set_up();
	const uint64_t *objects = fixture.statics.objects;
	struct root_set *roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(count_of(roots, ROOT_HANDLE), 5);
	for (unsigned int i = 0; i < 3; i++) {
		const struct root *root = find(roots, ROOT_HANDLE, objects[i], UINT32_MAX);
		REQUIRE(root);
		ASSERT_UINT(roots->handles.rows[root->index].address, fixture.strong[i]);
		CU_ASSERT(!root->is_weak && !root->is_pinned && !root->is_interior);
	}
	const struct root *pinned = find(roots, ROOT_HANDLE, objects[3], UINT32_MAX);
	CU_ASSERT(pinned && pinned->is_pinned && !pinned->is_weak);
	const struct root *weak = find(roots, ROOT_HANDLE, objects[4], UINT32_MAX);
	CU_ASSERT(weak && weak->is_weak && !weak->is_pinned);
	/* dependent ones are edges, without the one that has no secondary */
	ASSERT_UINT_FATAL(roots->edges_count, 2);
	ASSERT_UINT(roots->edges[0].from, objects[5]);
	ASSERT_UINT(roots->edges[0].to, objects[6]);
	ASSERT_UINT(roots->edges[1].from, objects[6]);
	ASSERT_UINT(roots->edges[1].to, objects[7]);
	ASSERT_TEXT(fake_finding(fixture.statics.fake, "bad-root"), "");
	root_set_destroy(roots);
	tear_down(&fixture);
}

TEST(test_runtime)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.statics.fake;
	const uint64_t *objects = fixture.statics.objects;
	uint64_t info = fake_alloc(&fake->memory, 64), outer = info + 32;
	const struct runtime_thread *threads = fixture.statics.runtime->threads.rows;
	/* a thread's last exception; two in flight; a weak handle is one all the same */
	fake_poke_u64(&fake->memory, threads[1].address + LAST_THROWN_OF, fixture.strong[0]);
	fake_poke_u64(&fake->memory, threads[0].address + TRACKER_OF, info);
	fake_poke_u64(&fake->memory, info + EXINFO_THROWN, fixture.strong[1]);
	fake_poke_u64(&fake->memory, info, outer);
	fake_poke_u64(&fake->memory, outer + EXINFO_THROWN, fixture.strong[2]);
	fake_poke_u64(&fake->memory, outer, outer);
	fake_poke_u64(&fake->memory, threads[1].address + 40, fixture.weak);
	struct root_set *roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(count_of(roots, ROOT_HANDLE), 2);
	ASSERT_UINT(count_of(roots, ROOT_RUNTIME), 3);
	const struct root *root = find(roots, ROOT_RUNTIME, objects[0], 1);
	REQUIRE(root);
	ASSERT_UINT(roots->handles.rows[root->index].address, fixture.strong[0]);
	ASSERT_UINT(root->record, RECORD_LAST_THROWN);
	for (unsigned int i = 1; i < 3; i++) {
		root = find(roots, ROOT_RUNTIME, objects[i], 0);
		REQUIRE(root);
		ASSERT_UINT(root->record, RECORD_EXCEPTION);
	}
	CU_ASSERT(find(roots, ROOT_HANDLE, objects[4], UINT32_MAX) != NULL);
	/* in flight: also the exceptions of the thread's stack */
	CU_ASSERT(find(roots, ROOT_EXCEPTION, objects[1], 0) != NULL);
	CU_ASSERT(find(roots, ROOT_EXCEPTION, objects[2], 0) != NULL);
	root_set_destroy(roots);
	tear_down(&fixture);
}

TEST(test_statics)
{
	struct fixture fixture = set_up();
	struct fake_statics *statics = &fixture.statics;
	struct root_set *roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(count_of(roots, ROOT_STATIC), 4);
	const struct root *root = find(roots, ROOT_STATIC, statics->objects[0], UINT32_MAX);
	REQUIRE(root);
	ASSERT_UINT(roots->statics.rows[root->index].address,
		    fake_element(statics->holder_array, 0));
	CU_ASSERT(find(roots, ROOT_STATIC, fixture.box, UINT32_MAX) != NULL);
	CU_ASSERT(find(roots, ROOT_STATIC, statics->objects[1], UINT32_MAX) != NULL);
	CU_ASSERT(find(roots, ROOT_STATIC, statics->objects[3], 1) != NULL);
	/* the arrays of the threads' statics are held by the threads */
	ASSERT_UINT(count_of(roots, ROOT_THREAD_LOCALS), 2);
	CU_ASSERT(find(roots, ROOT_THREAD_LOCALS, statics->thread_arrays[0], 0) != NULL);
	CU_ASSERT(find(roots, ROOT_THREAD_LOCALS, statics->thread_arrays[1], 1) != NULL);
	/* null ones are claimed too; the two of collectible types are not */
	ASSERT_UINT_FATAL(roots->claimed_count, 8);
	for (size_t i = 1; i < roots->claimed_count; i++)
		CU_ASSERT(roots->claimed[i - 1] < roots->claimed[i]);
	for (size_t i = 0; i < roots->claimed_count; i++) {
		CU_ASSERT(roots->claimed[i] != fake_element(statics->plug_array, 0));
		CU_ASSERT(roots->claimed[i] != fake_element(statics->plug_statics, 0));
	}
	root_set_destroy(roots);
	tear_down(&fixture);
}

TEST(test_finalizers)
{
	struct fixture fixture = set_up();
	struct root_set *roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(roots->finalizers.rows_count, 3);
	ASSERT_UINT(count_of(roots, ROOT_FINALIZER), 2);
	CU_ASSERT(find(roots, ROOT_FINALIZER, fixture.statics.objects[5], UINT32_MAX) != NULL);
	CU_ASSERT(find(roots, ROOT_FINALIZER, fixture.statics.objects[6], UINT32_MAX) != NULL);
	root_set_destroy(roots);
	tear_down(&fixture);
}

TEST(test_bad_values)
{
	struct fixture fixture = set_up();
	struct fake_memory *memory = &fixture.statics.fake->memory;
	fake_poke_u64(memory, fixture.strong[1], 0x12345678);
	fake_poke_u64(memory, fake_element(fixture.statics.holder_array, 0), 0x12345680);
	struct root_set *roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(count_of(roots, ROOT_HANDLE), 4);
	ASSERT_UINT(count_of(roots, ROOT_STATIC), 3);
	ASSERT_TEXT(fake_finding(fixture.statics.fake, "bad-root"),
		    "2 roots do not point into the heap and were left out (the first one to "
		    "0x12345678)");
	root_set_destroy(roots);
	tear_down(&fixture);
}

/* Words on a stack: an object, the middle of one, something else. */
static uint64_t make_stack(struct fixture *fixture, uint64_t object)
{
	struct fake_memory *memory = &fixture->statics.fake->memory;
	uint64_t stack = fake_alloc(memory, STACK_SIZE);
	fake_poke_u64(memory, stack + 8, object);
	fake_poke_u64(memory, stack + 24, 0x4711);
	fake_poke_u64(memory, stack + 40, object + 8);
	return stack;
}

TEST(test_conservative)
{
	struct fixture fixture = set_up();
	const uint64_t *objects = fixture.statics.objects;
	add_registers(&fixture, 0, make_stack(&fixture, objects[6]));
	add_registers(&fixture, 1, make_stack(&fixture, objects[7]));
	struct root_set *roots = collect(&fixture, true);
	REQUIRE(roots);
	CU_ASSERT(roots->is_conservative);
	ASSERT_UINT(roots->stack_count, 2);
	ASSERT_UINT(count_of(roots, ROOT_STACK), 4);
	for (uint32_t i = 0; i < 2; i++) {
		const struct root *root = find(roots, ROOT_STACK, objects[6 + i], i);
		REQUIRE(root);
		CU_ASSERT(root->is_conservative);
		ASSERT_UINT(root->stack, i);
		ASSERT_UINT(roots->stacks[i].roots[root->index].value, objects[6 + i]);
		CU_ASSERT(find(roots, ROOT_STACK, objects[6 + i] + 8, i) != NULL);
	}
	root_set_destroy(roots);
	tear_down(&fixture);
}

TEST(test_order)
{
	struct fixture fixture = set_up();
	add_registers(&fixture, 0, make_stack(&fixture, fixture.statics.objects[6]));
	add_registers(&fixture, 1, make_stack(&fixture, fixture.statics.objects[7]));
	struct root_set *roots = collect(&fixture, true);
	REQUIRE(roots);
	static const unsigned int order[] = { ROOT_STACK, ROOT_HANDLE, ROOT_STATIC,
					      ROOT_THREAD_LOCALS, ROOT_FINALIZER };
	size_t stage = 0;
	uint64_t last = 0;
	for (size_t i = 0; i < roots->rows_count; i++) {
		const struct root *root = &roots->rows[i];
		while (stage < 5 && root->source != order[stage])
			stage++;
		if (root->source == ROOT_STATIC) {
			CU_ASSERT(roots->statics.rows[root->index].address > last);
			last = roots->statics.rows[root->index].address;
		}
	}
	CU_ASSERT(stage < 5);
	root_set_destroy(roots);
	tear_down(&fixture);
}

/* One finding per kind names the threads. */
TEST(test_gaps)
{
	struct fixture fixture = set_up();
	struct fake_clr *fake = fixture.statics.fake;
	struct runtime *runtime = fixture.statics.runtime;
	/* nothing is known of any thread */
	struct root_set *roots = collect(&fixture, false);
	root_set_destroy(roots);
	const char *finding = fake_finding(fake, "no-registers");
	CU_ASSERT(strncmp(finding,
			  "2 stacks are without registers in the target (threads 3e9, 3ea)",
			  63) == 0);
	CU_ASSERT(strstr(finding, "count as dead") != NULL);
	/* thread 0 was in managed code, and no frame of it can be found; 1's stack is not there */
	findings_deinit(&fake->target.findings);
	add_registers(&fixture, 0, make_stack(&fixture, fixture.statics.objects[6]));
	add_registers(&fixture, 1, 0x12345000);
	runtime->threads.rows[0].is_cooperative = true;
	roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(roots->stack_count, 2);
	const struct root *root = find(roots, ROOT_STACK, fixture.statics.objects[6], 0);
	CU_ASSERT(root && root->is_conservative);
	CU_ASSERT(strncmp(fake_finding(fake, "partial-stack"),
			  "1 stack is not walked to the end (thread 3e9): ", 47) == 0);
	CU_ASSERT(strncmp(fake_finding(fake, "missing-stack"),
			  "1 stack is not in the target (thread 3ea): ", 43) == 0);
	ASSERT_TEXT(fake_finding(fake, "no-registers"), "");
	root_set_destroy(roots);
	/* dead ones have no stack, nor those that were never started */
	findings_deinit(&fake->target.findings);
	runtime->threads.rows[0].state = DEAD;
	runtime->threads.rows[1].os_id = 0;
	roots = collect(&fixture, false);
	REQUIRE(roots);
	ASSERT_UINT(roots->stack_count, 0);
	ASSERT_UINT(count_of(roots, ROOT_STACK), 0);
	ASSERT_UINT(fake->target.findings.count, 0);
	root_set_destroy(roots);
	tear_down(&fixture);
}

/* A thread of the process that several Threads claim is walked once. */
TEST(test_twice)
{
	struct fixture fixture = set_up();
	add_registers(&fixture, 0, make_stack(&fixture, fixture.statics.objects[6]));
	fixture.statics.runtime->threads.rows[1].os_id =
		fixture.statics.runtime->threads.rows[0].os_id;
	struct root_set *roots = collect(&fixture, true);
	REQUIRE(roots);
	ASSERT_UINT(roots->stack_count, 1);
	ASSERT_UINT(count_of(roots, ROOT_STACK), 2);
	root_set_destroy(roots);
	tear_down(&fixture);
}

TEST(test_no_memory)
{
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < 1000; nth++) {
		struct fixture fixture = set_up();
		add_registers(&fixture, 0, make_stack(&fixture, fixture.statics.objects[6]));
		struct root_set *roots = NULL;
		alloc_fail_at(nth);
		enum hd_status status =
			root_set_create(fixture.statics.heap, true, NULL, &roots, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || (failed && status == HD_ERR_NOMEM));
		if (!failed && roots)
			ASSERT_UINT(count_of(roots, ROOT_STACK), 2);
		root_set_destroy(roots);
		tear_down(&fixture);
	}
	CU_ASSERT(!failed);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(test_cancelled)
{
	struct fixture fixture = set_up();
	struct root_set *roots = NULL;
	struct job job = { .cancelled = always };
	ASSERT_UINT(root_set_create(fixture.statics.heap, false, &job, &roots, NULL),
		    HD_ERR_CANCELLED);
	CU_ASSERT(!roots);
	root_set_destroy(roots);
	tear_down(&fixture);
}

SUITE(.name = "root_set")
