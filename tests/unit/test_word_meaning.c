/* SPDX-License-Identifier: MIT */
#include "analysis/names/word_meaning.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

/* Two objects, a Free block, and memory of the segment behind them. */
struct words_heap {
	struct fake_clr *fake;
	struct heap *heap;
	uint64_t first, free, second;
	struct word_reader reader;
	struct job job;
};

static void make(struct words_heap *made)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*made = (struct words_heap){ .fake = fake, .job = { .workers = 1 } };
	(void)fake_segment(fake, 0, GENERATION_0, 4096);
	made->first = fake_object(fake, fake->object_type, 0);
	made->free = fake_free(fake, 64);
	made->second = fake_object(fake, fake->object_array_type, 4);
	made->heap = fake_heap(fake);
	made->reader.heap = made->heap;
}

static void destroy(struct words_heap *made)
{
	word_reader_deinit(&made->reader);
	fake_clr_destroy(made->fake);
}

static struct word_meaning ask(struct words_heap *made, uint64_t word)
{
	struct word_meaning meaning = { 0 };
	ASSERT_UINT(word_meaning(&made->reader, word, &made->job, &meaning, NULL), HD_OK);
	return meaning;
}

TEST(words_lead_to_objects_and_into_them)
{
	struct words_heap made;
	make(&made);
	struct word_meaning meaning = ask(&made, made.second);
	ASSERT_UINT(meaning.kind, WORD_OBJECT);
	ASSERT_UINT(meaning.object.address, made.second);
	meaning = ask(&made, made.second + 17);
	ASSERT_UINT(meaning.kind, WORD_INSIDE);
	ASSERT_UINT(meaning.object.address, made.second);
	ASSERT_UINT(meaning.offset, 17);
	/* Neither the last word of an object nor the first of the next is of both. */
	ASSERT_UINT(ask(&made, made.free - 1).object.address, made.first);
	destroy(&made);
}

TEST(the_heap_between_objects_is_no_object)
{
	struct words_heap made;
	make(&made);
	const uint64_t words[] = { made.free, made.free + 8, made.second + 2048 };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct word_meaning meaning = ask(&made, words[i]);
		CU_ASSERT(meaning.kind == WORD_HEAP || meaning.kind == WORD_PLAIN);
		CU_ASSERT_PTR_NULL(meaning.object.type);
		ASSERT_UINT(meaning.offset, 0);
	}
	ASSERT_UINT(ask(&made, made.free).kind, WORD_HEAP);
	destroy(&made);
}

TEST(types_are_named_and_numbers_are_not)
{
	struct words_heap made;
	make(&made);
	struct word_meaning meaning = ask(&made, made.fake->object_type);
	ASSERT_UINT(meaning.kind, WORD_TYPE);
	ASSERT_UINT(meaning.type->method_table, made.fake->object_type);
	ASSERT_UINT(ask(&made, made.fake->object_type + 1).kind, WORD_PLAIN);
	ASSERT_UINT(ask(&made, 0).kind, WORD_PLAIN);
	ASSERT_UINT(ask(&made, UINT64_MAX).kind, WORD_PLAIN);
	CU_ASSERT_PTR_NULL(made.reader.starts);
	destroy(&made);
}

TEST(memory_may_run_out)
{
	struct words_heap made;
	struct word_meaning meaning = { 0 };
	make(&made);
	enum hd_status status = HD_ERR_NOMEM;
	for (unsigned int i = 1; status != HD_OK; i++) {
		alloc_fail_at(i);
		status = word_meaning(&made.reader, made.first, &made.job, &meaning, NULL);
		alloc_fail_at(0);
		CU_ASSERT(status == HD_OK || status == HD_ERR_NOMEM);
		CU_ASSERT(status == HD_OK || meaning.kind == WORD_PLAIN);
	}
	ASSERT_UINT(meaning.kind, WORD_OBJECT);
	destroy(&made);
}

SUITE(.name = "word_meaning")
