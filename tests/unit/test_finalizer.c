/* SPDX-License-Identifier: MIT */
#include "gc/finalizer.h"
#include "support/assert_more.h"
#include "support/fake_handles.h"
#include "support/suite.h"
#include "util/alloc.h"

static void read_list(struct fake_clr *fake, struct finalizer_list *ret)
{
	struct hd_error err = { 0 };
	*ret = (struct finalizer_list){ 0 };
	ASSERT_UINT_FATAL(finalizer_list_read(fake_heap(fake), ret, &err), HD_OK);
}

static size_t findings_of(const struct fake_clr *fake, const char **ret_first)
{
	const struct findings *findings = &fake->target.findings;
	size_t count = 0;
	*ret_first = "";
	for (size_t i = 0; i < findings->count; i++) {
		if (strcmp(finding_name(findings->rows[i].kind), "finalizer-queue") != 0)
			continue;
		CU_ASSERT(findings->rows[i].advice != NULL);
		if (!count++)
			*ret_first = findings->rows[i].detail;
	}
	return count;
}

static void make_objects(struct fake_clr *fake, uint64_t *objects, size_t count)
{
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
	for (size_t i = 0; i < count; i++)
		objects[i] = fake_object(fake, fake->object_type, 0);
}

TEST(test_parts)
{
	for (uint32_t servers = 0; servers <= 3; servers++) {
		struct fake_clr *fake =
			fake_clr_create(&(struct fake_options){ .servers = servers });
		uint32_t heaps = servers ? servers : 1;
		uint64_t objects[28], queues[3];
		static const size_t counts[7] = { 1, 0, 2, 3, 4, 5, 6 };
		make_objects(fake, objects, 28);
		objects[3] = 0; /* an entry that is null is none */
		for (uint32_t i = 0; i < heaps; i++)
			queues[i] = fake_finalizer_queue(fake, i, counts, objects);
		struct finalizer_list list;
		const char *text;
		read_list(fake, &list);
		ASSERT_UINT_FATAL(list.queue_count, heaps);
		ASSERT_UINT_FATAL(list.rows_count, (size_t)20 * heaps);
		for (size_t i = 0; i < list.rows_count; i++) {
			const struct finalizer_entry *entry = &list.rows[i];
			size_t in = i % 20, index = in < 3 ? in : in + 1;
			size_t part = 0, sum = 0;
			while (index >= (sum += counts[part]))
				part++;
			ASSERT_UINT(entry->object, objects[index]);
			ASSERT_UINT(entry->part, part);
			ASSERT_UINT(entry->heap, i / 20);
			ASSERT_UINT(entry->address,
				    fake_peek_u64(&fake->memory, queues[i / 20] + 56) + 8 * index);
		}
		for (uint32_t i = 0; i < heaps; i++) {
			ASSERT_UINT(list.queues[i].address, queues[i]);
			ASSERT_UINT(list.queues[i].heap, i);
			for (size_t j = 0; j < 7; j++) {
				ASSERT_UINT(list.queues[i].bounds[j + 1] - list.queues[i].bounds[j],
					    8 * counts[j]);
			}
		}
		ASSERT_UINT(findings_of(fake, &text), 0);
		finalizer_list_deinit(&list);
		fake_clr_destroy(fake);
	}
}

TEST(test_none)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .servers = 2 });
	struct finalizer_list list;
	const char *text;
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	read_list(fake, &list);
	ASSERT_UINT(list.queue_count, 0);
	ASSERT_UINT(list.rows_count, 0);
	ASSERT_UINT(findings_of(fake, &text), 2);
	ASSERT_TEXT(text, "heap 0 has no finalizer queue: objects that only one keeps alive look "
			  "dead");
	finalizer_list_deinit(&list);
	fake_clr_destroy(fake);
}

/* Words of the CFinalize, or -1: the pointer to it, -2: no page for the second half of its array. */
TEST(test_damage)
{
	static const struct {
		int word;
		int64_t add;
		size_t entries;
		const char *text;
	} cases[] = {
		{ 0, -8, 0, "which is out of order" },
		{ 3, 1, 0, "which is out of order" },
		{ 4, 800, 0, "which is out of order" },
		{ 6, 1 << 20, 0, "which is out of order" },
		{ 7, 8, 0, "which is out of order" },
		{ 7, 4, 0, "which is out of order" },
		{ 8, -64, 0, "which is out of order" },
		{ -1, 0x1234000, 0, "the finalizer queue of heap 0 is not in the target" },
		{ -2, 0, 512, "88 entries of the finalizer queue of heap 0, from " },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_clr *fake = fake_clr_create(NULL);
		static const size_t counts[7] = { 0, 0, 0, 600, 0, 0, 0 };
		uint64_t objects[600];
		make_objects(fake, objects, 600);
		uint64_t queue = fake_finalizer_queue(fake, 0, counts, objects);
		uint64_t slot = queue + 8 * (uint64_t)cases[i].word;
		struct fake_hidden hidden;
		struct finalizer_list list;
		const char *text;
		if (cases[i].word == -1)
			slot = fake->gc.finalize_queue;
		if (cases[i].word != -2) {
			uint64_t word = fake_peek_u64(&fake->memory, slot) + (uint64_t)cases[i].add;
			fake_poke_u64(&fake->memory, slot, word);
		}
		struct heap *heap = fake_heap(fake);
		if (cases[i].word == -2) {
			uint64_t array = fake_peek_u64(&fake->memory, queue + 56);
			fake_hide(&hidden, &fake->memory, array + 4096, array + 4800);
			heap->memory = &hidden.memory;
		}
		struct hd_error err = { 0 };
		ASSERT_UINT(finalizer_list_read(heap, &list, &err), HD_OK);
		ASSERT_UINT(list.rows_count, cases[i].entries);
		ASSERT_UINT(findings_of(fake, &text), 1);
		if (!strstr(text, cases[i].text))
			ASSERT_TEXT(text, cases[i].text);
		finalizer_list_deinit(&list);
		fake_clr_destroy(fake);
	}
}

TEST(test_failures)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	static const size_t counts[7] = { 0, 0, 30, 0, 20, 0, 0 };
	uint64_t objects[50], nth = 1;
	make_objects(fake, objects, 50);
	(void)fake_finalizer_queue(fake, 0, counts, objects);
	struct heap *heap = fake_heap(fake);
	for (bool failed = true; failed && nth < 100; nth++) {
		struct finalizer_list list = { 0 };
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = finalizer_list_read(heap, &list, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		ASSERT_UINT(list.rows_count, failed ? 0 : 50);
		finalizer_list_deinit(&list);
	}
	CU_ASSERT(nth > 3 && nth < 100);
	fake_clr_destroy(fake);
}

SUITE(.name = "finalizer")
