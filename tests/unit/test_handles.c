/* SPDX-License-Identifier: MIT */
#include "gc/handles.h"
#include "support/assert_more.h"
#include "support/fake_handles.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/job.h"

/* A heap with one table of one segment, and objects to hold. */
struct made {
	struct fake_clr *fake;
	unsigned int types;
	uint64_t table, segment, objects[16];
};

static void begin(struct made *made, unsigned int types, uint32_t servers)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .servers = servers });
	*made = (struct made){ .fake = fake, .types = types };
	(void)fake_segment(fake, 0, GENERATION_0, 0x1000);
	for (size_t i = 0; i < 16; i++)
		made->objects[i] = fake_object(fake, fake->object_type, 0);
	made->table = fake_handle_table(fake, types);
	made->segment = fake_handle_segment(fake, made->table, types);
}

static void end(struct made *made)
{
	fake_clr_destroy(made->fake);
}

static void read_list(struct made *made, struct handle_list *ret)
{
	struct job job = { .workers = 1 };
	struct hd_error err = { 0 };
	*ret = (struct handle_list){ 0 };
	ASSERT_UINT_FATAL(handle_list_read(fake_heap(made->fake), &job, ret, &err), HD_OK);
}

/* Findings of the kind; *ret_first gets the text of the first. */
static size_t findings_of(const struct made *made, const char **ret_first)
{
	const struct findings *findings = &made->fake->target.findings;
	size_t count = 0;
	*ret_first = "";
	for (size_t i = 0; i < findings->count; i++) {
		if (strcmp(finding_name(findings->rows[i].kind), "handle-table") != 0)
			continue;
		CU_ASSERT(findings->rows[i].advice != NULL);
		if (!count++)
			*ret_first = findings->rows[i].detail;
	}
	return count;
}

/* The list has @p count handles and so many broken things, and one finding if @p part is given. */
static void check(struct made *made, size_t count, uint64_t broken, const char *part)
{
	struct handle_list list;
	const char *text;
	read_list(made, &list);
	ASSERT_UINT(list.rows_count, count);
	ASSERT_UINT(list.broken, broken);
	handle_list_deinit(&list);
	ASSERT_UINT(findings_of(made, &text), part ? 1 : 0);
	if (part && !strstr(text, part))
		ASSERT_TEXT(text, part);
}

TEST(test_kinds)
{
	for (unsigned int types = 12; types <= 13; types++) {
		struct made made;
		struct handle_list list;
		begin(&made, types, 0);
		uint64_t addresses[12], data = 0;
		for (uint8_t i = 0; i < types - 1; i++) {
			fake_handle_block(made.fake, made.segment, 10u + i, i);
			addresses[i] = fake_handle(made.fake, made.segment, 10u + i, 5u * i,
						   made.objects[i]);
			/* used and null; free with a value */
			(void)fake_handle(made.fake, made.segment, 10u + i, 60, 0);
			fake_poke_u64(&made.fake->memory, addresses[i] + 8, made.objects[0]);
		}
		fake_handle_user_data(made.fake, made.segment, 16, 110, types);
		data = fake_handle(made.fake, made.segment, 110, 30, made.objects[15]);
		(void)fake_handle_bucket(made.fake, &made.table, 1);
		read_list(&made, &list);
		ASSERT_UINT_FATAL(list.rows_count, types - 1);
		for (uint8_t i = 0; i < types - 1; i++) {
			ASSERT_UINT(list.rows[i].address, addresses[i]);
			ASSERT_UINT(list.rows[i].object, made.objects[i]);
			ASSERT_UINT(list.rows[i].type, i);
			ASSERT_UINT(list.rows[i].secondary, i == 6 ? made.objects[15] : 0);
		}
		ASSERT_UINT(list.segments_count, 1);
		CU_ASSERT(data != 0);
		handle_list_deinit(&list);
		check(&made, types - 1, 0, NULL);
		end(&made);
	}
}

TEST(test_segments_buckets_and_maps)
{
	struct made made;
	struct handle_list list;
	begin(&made, 13, 0);
	uint64_t expected[24];
	size_t count = 0;
	for (uint32_t i = 0; i < 12; i++) {
		uint64_t table = i ? fake_handle_table(made.fake, 13) : made.table;
		uint64_t first = fake_handle_segment(made.fake, table, 13);
		uint64_t second = fake_handle_grow(made.fake, table, 13);
		fake_handle_block(made.fake, first, 0, HANDLE_STRONG);
		fake_handle_block(made.fake, second, 119, HANDLE_PINNED);
		expected[count++] = fake_handle(made.fake, first, 0, 0, made.objects[i]);
		expected[count++] = fake_handle(made.fake, second, 119, 63, made.objects[i]);
		(void)fake_handle_bucket(made.fake, &table, 1);
	}
	read_list(&made, &list);
	ASSERT_UINT_FATAL(list.rows_count, 24);
	for (size_t i = 0; i < 24; i++) {
		ASSERT_UINT(list.rows[i].address, expected[i]);
		ASSERT_UINT(list.rows[i].type, i % 2 ? HANDLE_PINNED : HANDLE_STRONG);
	}
	ASSERT_UINT(list.segments_count, 24);
	handle_list_deinit(&list);
	check(&made, 24, 0, NULL);
	end(&made);
}

/* @p count tables of a server with 2 heaps, a handle in each. */
static void make_server(struct made *made, size_t count, uint64_t *tables)
{
	begin(made, 13, 2);
	for (size_t i = 0; i < count; i++) {
		tables[i] = i ? fake_handle_table(made->fake, 13) : made->table;
		uint64_t segment = fake_handle_segment(made->fake, tables[i], 13);
		fake_handle_block(made->fake, segment, 3, HANDLE_STRONG);
		(void)fake_handle(made->fake, segment, 3, 7, made->objects[i]);
	}
}

TEST(test_server)
{
	struct made made;
	uint64_t tables[5];
	/* more processors than heaps; what lies after the array is not a table */
	make_server(&made, 4, tables);
	tables[4] = made.objects[0];
	(void)fake_handle_bucket(made.fake, tables, 5);
	check(&made, 4, 0, NULL);
	end(&made);
	/* the first is gone; the second, after the heaps' own, may be missing */
	make_server(&made, 3, tables);
	tables[0] = 0x1234;
	(void)fake_handle_bucket(made.fake, tables, 3);
	check(&made, 2, 1,
	      "handle tables are damaged or not in the target (1, the first at 1234): their "
	      "handles are not known");
	end(&made);
	/* one table twice is read once */
	make_server(&made, 2, tables);
	tables[1] = tables[0];
	(void)fake_handle_bucket(made.fake, tables, 2);
	check(&made, 1, 1, "handle tables are damaged");
	end(&made);
}

TEST(test_cycles)
{
	for (uint32_t length = 1; length < 12; length++) {
		for (uint32_t back = 0; back < length; back++) {
			struct made made;
			uint64_t segments[12];
			begin(&made, 13, 0);
			for (uint32_t i = 0; i < length; i++) {
				segments[i] = i ? fake_handle_grow(made.fake, made.table, 13)
						: made.segment;
				fake_handle_block(made.fake, segments[i], 0, HANDLE_STRONG);
				(void)fake_handle(made.fake, segments[i], 0, 1, made.objects[i]);
			}
			fake_poke_u64(&made.fake->memory,
				      fake_handle_next(segments[length - 1], 13), segments[back]);
			(void)fake_handle_bucket(made.fake, &made.table, 1);
			check(&made, length, 1, "lead back into themselves (1, ");
			end(&made);
		}
	}
}

enum damage {
	NO_MAP,
	MAP_CYCLE,
	MANY_MAPS,
	BAD_BUCKETS,
	BAD_BUCKET,
	NO_BUCKET,
	NEXT_UNREADABLE,
	NEXT_UNALIGNED,
	NEXT_OF_ANOTHER,
	HEADER_CUT,
	BAD_TYPE,
	VALUES_MISSING,
	USER_DATA_OUTSIDE,
	USER_DATA_NO_BLOCK,
	USER_DATA_MISSING,
	USER_DATA_NONE,
	USER_DATA_TWICE,
	OTHER_TYPE,
	OTHER_MASK,
	OTHER_RING,
	UNUSED_WITH_HANDLES,
	OUTSIDE,
	DAMAGES
};

static const struct {
	size_t handles;
	uint64_t broken;
	const char *text;
} expected[DAMAGES] = {
	[NO_MAP] = { 0, 0, "maps or buckets of handle tables cannot be read (1, " },
	[MAP_CYCLE] = { 2, 0, "maps or buckets of handle tables cannot be read (1, " },
	[MANY_MAPS] = { 2, 0, "maps or buckets of handle tables cannot be read (1, " },
	[BAD_BUCKETS] = { 0, 0, "maps or buckets of handle tables cannot be read (1, " },
	[BAD_BUCKET] = { 2, 0, "maps or buckets of handle tables cannot be read (1, " },
	[NO_BUCKET] = { 0, 0, "maps or buckets of handle tables cannot be read (1, " },
	[NEXT_UNREADABLE] = { 2, 1, "segments break off (1, " },
	[NEXT_UNALIGNED] = { 2, 1, "segments break off (1, " },
	[NEXT_OF_ANOTHER] = { 2, 1, "segments break off (1, " },
	[HEADER_CUT] = { 0, 1, "handle tables are damaged or not in the target (1, " },
	[BAD_TYPE] = { 1, 0, "blocks of handles have a type that does not exist (1, " },
	[VALUES_MISSING] = { 0, 0, "blocks of handles are not in the target (2, " },
	[USER_DATA_OUTSIDE] = { 2, 0, "blocks of handles have lost their user data (1, " },
	[USER_DATA_NO_BLOCK] = { 2, 0, "blocks of handles have lost their user data (1, " },
	[USER_DATA_MISSING] = { 2, 0, "blocks of handles have lost their user data (1, " },
	[USER_DATA_NONE] = { 2, 0, "blocks of handles have lost their user data (1, " },
	[USER_DATA_TWICE] = { 3, 0, "blocks of handles have lost their user data (2, " },
	[OTHER_TYPE] = { 2, 0, "segments of handle tables contradict themselves (1, " },
	[OTHER_MASK] = { 2, 0, "segments of handle tables contradict themselves (1, " },
	[OTHER_RING] = { 2, 0, "segments of handle tables contradict themselves (1, " },
	[UNUSED_WITH_HANDLES] = { 1, 0, "segments of handle tables contradict themselves (1, " },
	[OUTSIDE] = { 2, 0, "handles lead to where no segment of the heap is (1, " },
};

static void damage_map(struct made *made, uint32_t kind)
{
	struct fake_memory *memory = &made->fake->memory;
	uint64_t map = made->fake->gc.handle_table_map, next = map + 8;
	switch (kind) {
	case NO_MAP:
		made->fake->gc.handle_table_map = 0;
		break;
	case MAP_CYCLE:
		fake_poke_u64(memory, next, map);
		break;
	case MANY_MAPS:
		for (size_t i = 0; i < 100; i++) {
			uint64_t other = fake_alloc(memory, 24);
			fake_poke_u64(memory, other, fake_alloc(memory, 80));
			fake_poke_u64(memory, next, other);
			next = other + 8;
		}
		break;
	case BAD_BUCKETS:
		fake_poke_u64(memory, map, 0x1230);
		break;
	case NO_BUCKET:
		fake_poke_u64(memory, fake_peek_u64(memory, map), 0);
		break;
	default:
		fake_poke_u64(memory, fake_peek_u64(memory, map) + 8, 0x1230);
		break;
	}
}

/* Damage block 1, whose handles have their user data in block 9. */
static void damage_user_data(struct made *made, uint32_t kind)
{
	struct fake_memory *memory = &made->fake->memory;
	uint64_t segment = made->segment;
	static const uint8_t index = 120, no_block = 50, none = 0xff, data = 9;
	switch (kind) {
	case USER_DATA_OUTSIDE:
		fake_poke(memory, fake_handle_user_data_at(segment, 1), &index, 1);
		break;
	case USER_DATA_NO_BLOCK:
		fake_poke(memory, fake_handle_user_data_at(segment, 1), &no_block, 1);
		break;
	case USER_DATA_MISSING:
		fake_unmap(memory, segment + 4096);
		fake_map(memory, segment + 4096, 1024);
		(void)fake_handle(made->fake, segment, 0, 0, made->objects[0]);
		(void)fake_handle(made->fake, segment, 1, 0, made->objects[1]);
		break;
	case USER_DATA_NONE:
		fake_poke(memory, fake_handle_user_data_at(segment, 1), &none, 1);
		break;
	default:
		fake_handle_block(made->fake, segment, 2, HANDLE_DEPENDENT);
		(void)fake_handle(made->fake, segment, 2, 0, made->objects[3]);
		fake_poke(memory, fake_handle_user_data_at(segment, 2), &data, 1);
		break;
	}
}

static void damage_segment(struct made *made, uint32_t kind)
{
	struct fake_memory *memory = &made->fake->memory;
	uint64_t segment = made->segment, next = fake_handle_next(segment, 13);
	static const uint8_t type = 13, none = 0xff, used = 0;
	static const uint8_t weak = HANDLE_WEAK_SHORT, pinned = HANDLE_PINNED;
	switch (kind) {
	case NEXT_UNREADABLE:
		fake_poke_u64(memory, next, (uint64_t)0x7eee << 16);
		break;
	case NEXT_UNALIGNED:
		fake_poke_u64(memory, next, segment + 8);
		break;
	case NEXT_OF_ANOTHER:
		fake_poke_u64(
			memory, next,
			fake_handle_segment(made->fake, fake_handle_table(made->fake, 13), 13));
		break;
	case HEADER_CUT:
		fake_unmap(memory, segment);
		break;
	case BAD_TYPE:
		fake_poke(memory, fake_handle_type_at(segment, 0), &type, 1);
		break;
	case VALUES_MISSING:
		fake_unmap(memory, segment + 4096);
		break;
	case OTHER_TYPE:
		fake_poke(memory, fake_handle_type_at(segment, 0), &weak, 1);
		break;
	case OTHER_RING:
		/* One of strong handles says that it has pinned ones, which are in a sound ring. */
		fake_handle_block(made->fake, segment, 2, HANDLE_PINNED);
		fake_handle_block(made->fake, segment, 3, HANDLE_STRONG);
		(void)fake_handle(made->fake, segment, 3, 0, made->objects[3]);
		fake_poke(memory, fake_handle_type_at(segment, 3), &pinned, 1);
		break;
	case UNUSED_WITH_HANDLES:
		fake_poke(memory, fake_handle_type_at(segment, 0), &none, 1);
		break;
	case OTHER_MASK:
		fake_poke(memory, segment + 600, &used, 1);
		break;
	default:
		(void)fake_handle(made->fake, segment, 0, 0, 0x4141414141414141);
		break;
	}
}

TEST(test_damage)
{
	for (uint32_t kind = 0; kind < DAMAGES; kind++) {
		struct made made;
		begin(&made, 13, 0);
		fake_handle_block(made.fake, made.segment, 0, HANDLE_STRONG);
		fake_handle_block(made.fake, made.segment, 1, HANDLE_DEPENDENT);
		fake_handle_user_data(made.fake, made.segment, 1, 9, 13);
		(void)fake_handle(made.fake, made.segment, 0, 0, made.objects[0]);
		(void)fake_handle(made.fake, made.segment, 1, 0, made.objects[1]);
		(void)fake_handle(made.fake, made.segment, 9, 0, made.objects[2]);
		(void)fake_handle_bucket(made.fake, &made.table, 1);
		if (kind <= NO_BUCKET) {
			damage_map(&made, kind);
		} else if (kind >= USER_DATA_OUTSIDE && kind <= USER_DATA_TWICE) {
			damage_user_data(&made, kind);
		} else {
			damage_segment(&made, kind);
		}
		check(&made, expected[kind].handles, expected[kind].broken, expected[kind].text);
		end(&made);
	}
}

TEST(test_strong)
{
	/* The GC marks these: doc/coreclr.md 11.1, objecthandle.cpp. */
	static const bool strong[HANDLE_TYPES] = {
		[HANDLE_STRONG] = true,          [HANDLE_PINNED] = true,
		[HANDLE_VARIABLE] = true,        [HANDLE_REF_COUNTED] = true,
		[HANDLE_ASYNC_PINNED] = true,    [HANDLE_SIZED_REF] = true,
		[HANDLE_CROSS_REFERENCE] = true,
	};
	for (unsigned int i = 0; i <= HANDLE_TYPES; i++) {
		ASSERT_UINT(handle_is_strong((enum handle_type)i), i < HANDLE_TYPES && strong[i]);
		struct handle handle = { .type = (uint8_t)i };
		ASSERT_UINT(handle_keeps_alive(&handle), i < HANDLE_TYPES && strong[i]);
	}
	/* VHT_WEAK_SHORT, VHT_WEAK_LONG, VHT_STRONG, VHT_PINNED (objecthandle.h) */
	for (uint64_t kind = 0x100; kind <= 0x800; kind *= 2) {
		struct handle handle = { .type = HANDLE_VARIABLE, .secondary = kind };
		ASSERT_UINT(handle_keeps_alive(&handle), kind >= 0x400);
	}
}

TEST(test_failures)
{
	struct made made;
	begin(&made, 13, 0);
	for (uint32_t i = 0; i < 12; i++)
		(void)fake_handle_grow(made.fake, made.table, 13);
	for (uint32_t i = 0; i < 40; i++) {
		fake_handle_block(made.fake, made.segment, i, HANDLE_STRONG);
		(void)fake_handle(made.fake, made.segment, i, i, made.objects[i % 16]);
	}
	(void)fake_handle_bucket(made.fake, &made.table, 1);
	struct heap *heap = fake_heap(made.fake);
	uint64_t nth = 1;
	for (bool failed = true; failed && nth < 100; nth++) {
		struct handle_list list = { 0 };
		struct job job = { .workers = 1 };
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = handle_list_read(heap, &job, &list, &err);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		ASSERT_UINT(status, failed ? HD_ERR_NOMEM : HD_OK);
		ASSERT_UINT(list.rows_count, failed ? 0 : 40);
		handle_list_deinit(&list);
	}
	CU_ASSERT(nth > 4 && nth < 100);
	struct handle_list list = { 0 };
	struct job stopped = { .workers = 1, .stop = true };
	ASSERT_UINT(handle_list_read(heap, &stopped, &list, NULL), HD_ERR_CANCELLED);
	ASSERT_UINT(handle_list_read(heap, NULL, &list, NULL), HD_OK);
	handle_list_deinit(&list);
	end(&made);
}

SUITE(.name = "handles")
