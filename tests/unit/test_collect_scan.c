/* SPDX-License-Identifier: MIT */
#include "collect/stream_scan.h"
#include "support/assert_more.h"
#include "support/stream_maker.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct stream_maker maker;
static struct stream_scan scan;

static void set_up(void)
{
	stream_maker_begin(&maker);
	scan = (struct stream_scan){ 0 };
}

static void tear_down(void)
{
	text_deinit(&maker.bytes);
	text_deinit(&maker.content);
	stream_scan_deinit(&scan);
}

/* The walk of thread 7: 2 and 1 objects, 5 references. */
static void make_walk(void)
{
	stream_maker_event(&maker, MADE_GC_START, 1, 3, 2, 26);
	stream_maker_event(&maker, MADE_NODES, 2, 0, 2, 74);
	stream_maker_event(&maker, MADE_EDGES, 3, 0, 5, 70);
	stream_maker_event(&maker, MADE_NODES, 4, 1, 1, 42);
	stream_maker_event(&maker, MADE_GC_END, 5, 3, 2, 10);
}

static void feed(size_t step)
{
	const uint8_t *bytes = (const uint8_t *)maker.bytes.bytes;
	for (size_t at = 0; at < maker.bytes.size; at += step) {
		size_t left = maker.bytes.size - at;
		CU_ASSERT(stream_scan_feed(&scan, bytes + at, left < step ? left : step));
	}
}

TEST(a_whole_snapshot_is_counted)
{
	make_walk();
	stream_maker_end(&maker);
	feed(SIZE_MAX / 2);
	ASSERT_UINT(scan.state, SCAN_END);
	ASSERT_UINT(scan.offset, maker.bytes.size);
	ASSERT_UINT(scan.snapshot.objects, 3);
	ASSERT_UINT(scan.snapshot.references, 5);
	ASSERT_UINT(scan.snapshot.event_count, 5);
	CU_ASSERT(scan.snapshot.is_done && !scan.snapshot.is_lost &&
		  !scan.snapshot.is_lost_elsewhere);
}

TEST(pieces_of_any_size_give_the_same)
{
	make_walk();
	stream_maker_end(&maker);
	for (size_t step = 1; step < 400; step++) {
		stream_scan_deinit(&scan);
		feed(step);
		ASSERT_UINT(scan.state, SCAN_END);
		ASSERT_UINT(scan.snapshot.objects, 3);
		ASSERT_UINT(scan.snapshot.references, 5);
		ASSERT_UINT(scan.offset, maker.bytes.size);
		CU_ASSERT(scan.snapshot.is_done && !scan.snapshot.is_lost);
	}
}

TEST(every_cut_is_no_more_than_a_cut)
{
	make_walk();
	size_t size = maker.bytes.size;
	for (size_t end = 0; end < size; end++) {
		stream_scan_deinit(&scan);
		maker.bytes.size = end;
		feed(SIZE_MAX / 2);
		CU_ASSERT(scan.state != SCAN_BAD && scan.state != SCAN_END);
		CU_ASSERT(!scan.snapshot.is_lost);
	}
	maker.bytes.size = size;
}

TEST(a_gap_in_the_sequence_is_a_loss)
{
	stream_maker_event(&maker, MADE_NODES, 1, 0, 2, 74);
	stream_maker_event(&maker, MADE_GC_END, 12, 3, 2, 10);
	feed(64);
	CU_ASSERT(scan.snapshot.is_lost && scan.snapshot.is_done);
	ASSERT_UINT(scan.snapshot.lost_events, 10);
}

TEST(a_hole_in_the_numbers_of_the_walk_is_a_loss)
{
	stream_maker_event(&maker, MADE_NODES, 1, 0, 2, 74);
	stream_maker_event(&maker, MADE_NODES, 2, 2, 2, 74);
	feed(64);
	CU_ASSERT(scan.snapshot.is_lost);
}

TEST(a_loss_of_another_thread_is_told_apart)
{
	stream_maker_event(&maker, MADE_NODES, 1, 0, 2, 74);
	maker.thread = 8;
	stream_maker_event(&maker, MADE_OTHER, 4, 0, 0, 10);
	maker.thread = 7;
	stream_maker_event(&maker, MADE_GC_END, 2, 3, 2, 10);
	feed(64);
	CU_ASSERT(!scan.snapshot.is_lost && scan.snapshot.is_lost_elsewhere &&
		  scan.snapshot.is_done);
}

TEST(a_sequence_point_ahead_is_a_loss)
{
	stream_maker_event(&maker, MADE_NODES, 1, 0, 2, 74);
	stream_maker_point(&maker, 7, 1);
	feed(64);
	CU_ASSERT(!scan.snapshot.is_lost);
	stream_scan_deinit(&scan);
	stream_maker_point(&maker, 7, 4);
	feed(64);
	CU_ASSERT(scan.snapshot.is_lost && !scan.snapshot.is_done);
	ASSERT_UINT(scan.snapshot.lost_events, 3);
}

TEST(what_follows_the_snapshot_does_not_matter)
{
	make_walk();
	stream_maker_event(&maker, MADE_NODES, 6, 0, 9, 74);
	stream_maker_event(&maker, MADE_NODES, 7, 5, 9, 74);
	maker.thread = 8;
	stream_maker_event(&maker, MADE_OTHER, 90, 0, 0, 10);
	maker.thread = 7;
	feed(64);
	CU_ASSERT(scan.snapshot.is_done && !scan.snapshot.is_lost);
	ASSERT_UINT(scan.snapshot.objects, 3);
}

/* Another buffer was begun before. */
TEST(a_gap_far_behind_the_snapshot_is_none_of_it)
{
	make_walk();
	for (uint32_t i = 0; i < 17; i++)
		stream_maker_event(&maker, MADE_NODES, 6 + i, i, 2, 65000);
	stream_maker_event(&maker, MADE_NODES, 90, 60, 2, 74);
	feed(4096);
	CU_ASSERT(scan.snapshot.is_done && !scan.snapshot.is_lost);
	ASSERT_UINT(scan.snapshot.objects, 3);
}

/* The buffer of the walk had room for its GCEnd, not for nodes: the gap shows in the next one. */
TEST(a_gap_behind_the_snapshot_is_a_loss_of_it)
{
	make_walk();
	stream_maker_event(&maker, MADE_OTHER, 1699, 0, 0, 10);
	stream_maker_end(&maker);
	feed(64);
	CU_ASSERT(scan.snapshot.is_done && scan.snapshot.is_lost);
	ASSERT_UINT(scan.snapshot.lost_events, 1693);
	stream_scan_deinit(&scan);
	maker.bytes.size = 0;
	text_deinit(&maker.bytes);
	stream_maker_begin(&maker);
	make_walk();
	stream_maker_point(&maker, 7, 9);
	feed(64);
	CU_ASSERT(scan.snapshot.is_done && scan.snapshot.is_lost);
}

TEST(a_collection_without_a_walk_is_no_snapshot)
{
	stream_maker_event(&maker, MADE_GC_START, 1, 3, 2, 26);
	stream_maker_event(&maker, MADE_GC_END, 2, 3, 2, 10);
	stream_maker_event(&maker, MADE_OTHER, 3, 3, 2, 10);
	feed(64);
	CU_ASSERT(!scan.snapshot.is_done && !scan.snapshot.has_nodes);
	make_walk();
}

TEST(other_blocks_are_passed_over)
{
	stream_maker_block(&maker);
	for (int i = 0; i < 5000; i++)
		text_puts(&maker.content, "x");
	stream_maker_end_block(&maker, "StackBlock");
	stream_maker_block(&maker);
	stream_maker_end_block(&maker, "SomethingNew");
	make_walk();
	feed(64);
	CU_ASSERT(scan.snapshot.is_done && !scan.snapshot.is_lost);
}

/* Put @p value at @p offset from the end, and see what it is called. */
static void expect_bad(size_t from_end, uint8_t value, const char *problem)
{
	stream_scan_deinit(&scan);
	char *at = maker.bytes.bytes + maker.bytes.size - from_end;
	char old = *at;
	*at = (char)value;
	feed(SIZE_MAX / 2);
	ASSERT_UINT(scan.state, SCAN_BAD);
	ASSERT_TEXT(scan.problem, problem);
	*at = old;
}

TEST(what_breaks_the_format_is_told)
{
	/* ..., payload size 10, payload, tag 6 */
	stream_maker_event(&maker, MADE_GC_END, 1, 3, 2, 10);
	expect_bad(1, 5, "a block does not end where its size says");
	expect_bad(12, 0x7f, "an event runs past its block");
	expect_bad(1 + 10 + 9 + 18, 0, "its events have headers that no runtime writes");
	expect_bad(maker.bytes.size, 'X', "it does not begin like a NetTrace stream");
	expect_bad(maker.bytes.size - 32, 9, "a block does not begin with an object tag");
	expect_bad(maker.bytes.size - 32 - 12, 9, "the name of a block is too long");
}

TEST(no_bytes_do_harm)
{
	make_walk();
	uint32_t random = 1;
	for (int round = 0; round < 20000; round++) {
		stream_scan_deinit(&scan);
		random = random * 1664525 + 1013904223;
		size_t at = (random >> 4) % maker.bytes.size;
		char old = maker.bytes.bytes[at];
		maker.bytes.bytes[at] = (char)(random >> 24);
		feed(1 + random % 300);
		maker.bytes.bytes[at] = old;
	}
}

TEST(each_failed_allocation_is_reported)
{
	make_walk();
	for (uint64_t nth = 1; nth < 10; nth++) {
		stream_scan_deinit(&scan);
		alloc_fail_at(nth);
		bool fed = stream_scan_feed(&scan, (const uint8_t *)maker.bytes.bytes,
					    maker.bytes.size);
		bool failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		CU_ASSERT(fed != failed);
		if (!failed)
			return;
	}
	CU_FAIL("still out of memory");
}

SUITE(.name = "stream scan", .set_up = set_up, .tear_down = tear_down)
