/* SPDX-License-Identifier: MIT */
/*
 * The GC's handle tables (gc/handletablepriv.h, objecthandle.h): identical in .NET 8, 9, 10 except
 * for N.
 */
#include "gc/handles.h"

#include <inttypes.h>
#include <string.h>

#include "gc/layouts/gc_vars.h"
#include "mem/memory.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/job.h"

/* The number of types without cross references. */
#define TYPES_OLD 12u

struct handle_type_counts handle_type_counts(const struct runtime *runtime)
{
	return runtime_has_cross_references(runtime)
		       ? (struct handle_type_counts){ HANDLE_TABLE_TYPES_MAX, TYPES_OLD }
		       : (struct handle_type_counts){ TYPES_OLD, HANDLE_TABLE_TYPES_MAX };
}

/*
 * Most maps that are read.  One has room for everything that .NET makes; the runtime has one
 * bucket.
 */
#define MAPS_MAX          64u
#define HANDLE_TABLES_MAX 8192u

/* Problems; each is reported once. */
enum handle_trouble {
	TROUBLE_MAP,
	TROUBLE_TABLE,
	TROUBLE_LIST,
	TROUBLE_CYCLE,
	TROUBLE_TYPE,
	TROUBLE_COUNT,
	TROUBLE_MISSING,
	TROUBLE_USER_DATA,
	TROUBLE_OUTSIDE,
	TROUBLES
};

static const struct {
	const char *what, *cost;
} trouble_texts[TROUBLES] = {
	[TROUBLE_MAP] = { "maps or buckets of handle tables cannot be read",
			  "the handles that they lead to are not known" },
	[TROUBLE_TABLE] = { "handle tables are damaged or not in the target",
			    "their handles are not known" },
	[TROUBLE_LIST] = { "lists of a handle table's segments break off",
			   "the handles after that are not known" },
	[TROUBLE_CYCLE] = { "lists of a handle table's segments lead back into themselves",
			    "segments after that are not known" },
	[TROUBLE_TYPE] = { "blocks of handles have a type that does not exist",
			   "their handles are not known" },
	[TROUBLE_COUNT] = { "segments of handle tables contradict themselves",
			    "some handles may be missing, or of another type" },
	[TROUBLE_MISSING] = { "blocks of handles are not in the target",
			      "their handles are not known" },
	[TROUBLE_USER_DATA] = { "blocks of handles have lost their user data",
				"what dependent handles there keep alive is not known" },
	[TROUBLE_OUTSIDE] = { "handles lead to where no segment of the heap is",
			      "they count as roots of nothing" },
};

struct address_list {
	uint64_t *rows;
	size_t rows_count, rows_capacity;
};

struct handles_reader {
	struct heap *heap;
	struct memory *memory;
	struct job *job;
	struct handle_list list;
	struct address_list tables;   /* segments that were met: each is read once */
	struct address_list segments; /* of one table */
	unsigned int types;           /* N; 0 until a table has told it */
	struct {
		uint64_t count, first;
	} troubles[TROUBLES];
};

static void note_trouble(struct handles_reader *reader, enum handle_trouble trouble,
			 uint64_t address)
{
	if (!reader->troubles[trouble].count++)
		reader->troubles[trouble].first = address;
}

static void list_free(struct address_list *list)
{
	pages_free(list->rows, list->rows_capacity, sizeof(*list->rows));
	*list = (struct address_list){ 0 };
}

/* Is it a segment of @p table, if there are @p types types? *ret_next gets the next segment. */
static bool is_segment(struct handles_reader *reader, uint64_t segment, uint64_t table,
		       unsigned int types, uint64_t *ret_next)
{
	uint64_t links[2]; /* pNextSegment, pHandleTable */
	if (!segment || segment % HANDLE_SEGMENT_SIZE ||
	    !memory_read(reader->memory, segment + handle_segment_links(types), links,
			 sizeof(links)) ||
	    links[1] != table)
		return false;
	*ret_next = links[0];
	return true;
}

/*
 * The first segment of @p table, by rgTypeFlags[N] and pSegmentList; 0: it is not a handle table.
 */
static uint64_t first_segment(struct handles_reader *reader, uint64_t table)
{
	unsigned int known = reader->types;
	const struct handle_type_counts counts = handle_type_counts(reader->heap->runtime);
	const unsigned int tries[] = { known ? known : counts.usual, known ? 0 : counts.other };
	for (size_t i = 0; table && i < 2 && tries[i]; i++) {
		uint64_t segment, next, at = table + handle_table_first_segment(tries[i]);
		if (memory_u64(reader->memory, at, &segment) &&
		    is_segment(reader, segment, table, tries[i], &next)) {
			reader->types = tries[i];
			return segment;
		}
	}
	return 0;
}

/* The segments ended where those at [mark, count) begin again: keep each once. */
static void cut_cycle(struct address_list *list, size_t mark)
{
	size_t length = list->rows_count - mark, first = 0;
	while (first < mark && list->rows[first] != list->rows[first + length])
		first++;
	list->rows_count = first + length;
}

/* Put the segments of @p table into reader->segments; a cycle is found by Brent's algorithm. */
static enum hd_status find_segments(struct handles_reader *reader, uint64_t table, uint64_t first,
				    struct hd_error *err)
{
	struct address_list *list = &reader->segments;
	size_t mark = 0, limit = 2;
	list->rows_count = 0;
	for (uint64_t segment = first, next; segment; segment = next) {
		if (list->rows_count && segment == list->rows[mark]) {
			note_trouble(reader, TROUBLE_CYCLE, segment);
			reader->list.broken++;
			cut_cycle(list, mark);
			return HD_OK;
		}
		if (!is_segment(reader, segment, table, reader->types, &next)) {
			note_trouble(reader, TROUBLE_LIST, segment);
			reader->list.broken++;
			return HD_OK;
		}
		TRY_MEMORY(PAGES_RESERVE(list, rows), err);
		list->rows[list->rows_count++] = segment;
		if (list->rows_count == limit) {
			mark = limit - 1;
			limit *= 2;
		}
	}
	return HD_OK;
}

/* How many blocks say that block @p index has their user data: at most one is right. */
static unsigned int user_data_owners(const uint8_t *header, uint8_t index)
{
	unsigned int count = 0;
	for (uint32_t i = 0; i < HANDLE_BLOCKS; i++) {
		count += header[HANDLE_SEGMENT_TYPES + i] != HANDLE_BLOCK_NONE &&
			 header[HANDLE_SEGMENT_USER_DATA + i] == index;
	}
	return count;
}

/* The user data of a block's handles; false: it has none, or it cannot be read. */
static bool read_user_data(struct handles_reader *reader, uint64_t segment, const uint8_t *header,
			   uint32_t block, uint64_t *ret)
{
	uint8_t index = header[HANDLE_SEGMENT_USER_DATA + block];
	if (index == HANDLE_BLOCK_NONE && header[HANDLE_SEGMENT_TYPES + block] != HANDLE_DEPENDENT)
		return false;
	uint64_t at = segment + HANDLE_SEGMENT_VALUES + HANDLE_BLOCK_SIZE * index;
	if (index < HANDLE_BLOCKS && header[HANDLE_SEGMENT_TYPES + index] == reader->types - 1 &&
	    user_data_owners(header, index) == 1 &&
	    memory_read(reader->memory, at, ret, HANDLE_BLOCK_SIZE))
		return true;
	note_trouble(reader, TROUBLE_USER_DATA,
		     segment + HANDLE_SEGMENT_VALUES + HANDLE_BLOCK_SIZE * block);
	return false;
}

/* Blocks that have types are committed; still, a core may lack their pages. */
static enum hd_status read_handle_block(struct handles_reader *reader, uint64_t segment,
					const uint8_t *header, uint32_t block, struct hd_error *err)
{
	uint64_t is_free = load_u64(header + HANDLE_SEGMENT_FREE_MASKS + 8 * (size_t)block);
	uint64_t at = segment + HANDLE_SEGMENT_VALUES + HANDLE_BLOCK_SIZE * block;
	uint64_t values[HANDLE_BLOCK_HANDLES], user_data[HANDLE_BLOCK_HANDLES];
	uint8_t type = header[HANDLE_SEGMENT_TYPES + block];
	if (type >= reader->types) {
		note_trouble(reader, TROUBLE_TYPE, at);
		return HD_OK;
	}
	if (is_free == UINT64_MAX)
		return HD_OK;
	if (!memory_read(reader->memory, at, values, sizeof(values))) {
		note_trouble(reader, TROUBLE_MISSING, at);
		return HD_OK;
	}
	bool has_user_data = read_user_data(reader, segment, header, block, user_data);
	for (uint32_t i = 0; i < HANDLE_BLOCK_HANDLES; i++) {
		if (is_free >> i & 1 || !values[i])
			continue;
		struct handle_list *list = &reader->list;
		TRY_MEMORY(PAGES_RESERVE(list, rows), err);
		list->rows[list->rows_count++] =
			(struct handle){ .address = at + 8 * (uint64_t)i,
					 .object = values[i],
					 .secondary = has_user_data ? user_data[i] : 0,
					 .type = type };
		if (!heap_segment_at(reader->heap, values[i]))
			note_trouble(reader, TROUBLE_OUTSIDE, at + 8 * (uint64_t)i);
	}
	return HD_OK;
}

/*
 * Compare the facts that a segment has twice: how many handles of each type are free, and which
 * blocks belong to a type, as these are a ring that contains the type's tail.
 */
static bool fits_counts(const struct handles_reader *reader, const uint8_t *header)
{
	const uint8_t *stored = header + handle_segment_free_counts(reader->types);
	uint32_t counts[HANDLE_TABLE_TYPES_MAX] = { 0 };
	for (uint32_t block = 0; block < HANDLE_BLOCKS; block++) {
		uint64_t is_free = load_u64(header + HANDLE_SEGMENT_FREE_MASKS + 8 * (size_t)block);
		uint8_t type = header[HANDLE_SEGMENT_TYPES + block];
		if (type < reader->types) {
			counts[type] += (uint32_t)__builtin_popcountll(is_free);
		} else if (type == HANDLE_BLOCK_NONE && is_free != UINT64_MAX) {
			return false;
		}
	}
	for (unsigned int i = 0; i < reader->types; i++) {
		if (counts[i] != load_u32(stored + 4 * (size_t)i))
			return false;
	}
	return true;
}

/*
 * Put the blocks from @p first into @p ring; false: they do not lead back, or belong to other
 * types.
 */
static bool follow_ring(const uint8_t *header, uint8_t first, bool ring[HANDLE_BLOCKS])
{
	uint8_t block = first;
	memset(ring, 0, HANDLE_BLOCKS * sizeof(*ring));
	do {
		if (block >= HANDLE_BLOCKS || ring[block] ||
		    header[HANDLE_SEGMENT_TYPES + block] != header[HANDLE_SEGMENT_TYPES + first])
			return false;
		ring[block] = true;
		block = header[HANDLE_SEGMENT_RINGS + block];
	} while (block != first);
	return true;
}

/*
 * Find the blocks of @p type whose type cannot be right: the ring is sound, but they are not in it.
 * If the ring or the tail is damaged, the blocks are trusted.  False: something does not match.
 */
static bool check_ring(const uint8_t *header, unsigned int type, uint8_t tail, bool *is_doubtful)
{
	bool ring[HANDLE_BLOCKS], fits = true, none[HANDLE_BLOCKS];
	bool has_tail = tail < HANDLE_BLOCKS && header[HANDLE_SEGMENT_TYPES + tail] == type;
	bool is_sound = has_tail && follow_ring(header, tail, ring);
	for (uint8_t block = 0; block < HANDLE_BLOCKS; block++) {
		if (header[HANDLE_SEGMENT_TYPES + block] != type)
			continue;
		if (is_sound) {
			is_doubtful[block] = !ring[block];
		} else if (tail == HANDLE_BLOCK_NONE) {
			is_doubtful[block] = !follow_ring(header, block, none);
		}
		fits &= is_sound && !is_doubtful[block];
	}
	return fits && (is_sound || tail == HANDLE_BLOCK_NONE);
}

static void check_segment(struct handles_reader *reader, uint64_t segment, const uint8_t *header,
			  bool is_doubtful[HANDLE_BLOCKS])
{
	bool fits = fits_counts(reader, header);
	memset(is_doubtful, 0, HANDLE_BLOCKS * sizeof(*is_doubtful));
	for (unsigned int type = 0; type < reader->types; type++) {
		uint8_t tail = header[HANDLE_SEGMENT_TAILS + type];
		fits &= check_ring(header, type, tail, is_doubtful);
	}
	/* read_handle_block() reports types that do not exist. */
	for (uint8_t block = 0; block < HANDLE_BLOCKS && !fits; block++) {
		uint8_t type = header[HANDLE_SEGMENT_TYPES + block];
		fits = type >= reader->types && type != HANDLE_BLOCK_NONE;
	}
	if (!fits)
		note_trouble(reader, TROUBLE_COUNT, segment);
}

static enum hd_status read_handle_segment(struct handles_reader *reader, uint64_t segment,
					  struct hd_error *err)
{
	uint8_t header[HANDLE_SEGMENT_HEADER];
	bool is_doubtful[HANDLE_BLOCKS];
	TRY(job_check(reader->job, 1, err));
	if (!memory_read(reader->memory, segment, header, sizeof(header))) {
		note_trouble(reader, TROUBLE_LIST, segment);
		reader->list.broken++;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(&reader->list, segments), err);
	reader->list.segments[reader->list.segments_count++] = segment;
	check_segment(reader, segment, header, is_doubtful);
	for (uint32_t block = 0; block < HANDLE_BLOCKS; block++) {
		uint8_t type = header[HANDLE_SEGMENT_TYPES + block];
		if (type != HANDLE_BLOCK_NONE && type != reader->types - 1 && !is_doubtful[block])
			TRY(read_handle_block(reader, segment, header, block, err));
	}
	return HD_OK;
}

static bool is_known_table(const struct address_list *tables, uint64_t table)
{
	for (size_t i = 0; i < tables->rows_count; i++) {
		if (tables->rows[i] == table)
			return true;
	}
	return false;
}

/*
 * The tables of a bucket: one, or one per processor (getNumberOfSlots(), objecthandle.cpp), which
 * are at least as many as heaps.
 */
static enum hd_status read_handle_bucket(struct handles_reader *reader, uint64_t bucket,
					 struct hd_error *err)
{
	const struct gc_vars *gc = heap_gc(reader->heap);
	uint64_t tables;
	if (!memory_u64(reader->memory, bucket, &tables)) {
		note_trouble(reader, TROUBLE_MAP, bucket);
		return HD_OK;
	}
	uint32_t most = gc->is_server ? GC_HEAPS_MAX : 1;
	for (uint32_t i = 0; i < most; i++) {
		uint64_t table = 0, segment;
		bool is_there = reader->tables.rows_count < HANDLE_TABLES_MAX &&
				memory_u64(reader->memory, tables + 8 * (uint64_t)i, &table);
		segment = is_there && !is_known_table(&reader->tables, table)
				  ? first_segment(reader, table)
				  : 0;
		if (!segment && i >= gc->heap_count)
			break;
		if (!segment) {
			note_trouble(reader, TROUBLE_TABLE,
				     table ? table : tables + 8 * (uint64_t)i);
			reader->list.broken++;
			continue;
		}
		TRY_MEMORY(PAGES_RESERVE(&reader->tables, rows), err);
		reader->tables.rows[reader->tables.rows_count++] = table;
		TRY(find_segments(reader, table, segment, err));
		for (size_t j = 0; j < reader->segments.rows_count; j++)
			TRY(read_handle_segment(reader, reader->segments.rows[j], err));
	}
	return HD_OK;
}

static bool was_seen(const uint64_t *seen, size_t count, uint64_t map)
{
	for (size_t i = 0; i < count; i++) {
		if (seen[i] == map)
			return true;
	}
	return false;
}

static enum hd_status read_handle_maps(struct handles_reader *reader, struct hd_error *err)
{
	uint64_t seen[MAPS_MAX] = { 0 }, next, map = heap_gc(reader->heap)->handle_table_map;
	for (size_t count = 0; map || !count; map = next) {
		uint64_t words[2], buckets[HANDLE_MAP_BUCKETS]; /* pBuckets, pNext */
		if (!map || count == MAPS_MAX || was_seen(seen, count, map) ||
		    !memory_read(reader->memory, map, words, sizeof(words)) ||
		    !memory_read(reader->memory, words[0], buckets, sizeof(buckets))) {
			note_trouble(reader, TROUBLE_MAP, map);
			return HD_OK;
		}
		seen[count++] = map;
		next = words[1];
		for (size_t i = 0; i < HANDLE_MAP_BUCKETS; i++) {
			if (buckets[i])
				TRY(read_handle_bucket(reader, buckets[i], err));
		}
	}
	/* A running runtime has at least one. */
	if (!reader->tables.rows_count && !reader->troubles[TROUBLE_MAP].count &&
	    !reader->troubles[TROUBLE_TABLE].count)
		note_trouble(reader, TROUBLE_MAP, heap_gc(reader->heap)->handle_table_map);
	return HD_OK;
}

static void add_handle_findings(struct handles_reader *reader)
{
	struct target *target = heap_target(reader->heap);
	for (size_t i = 0; i < TROUBLES; i++) {
		uint64_t count = reader->troubles[i].count, first = reader->troubles[i].first;
		uint8_t byte;
		if (!count)
			continue;
		const char *advice =
			"the process's memory was overwritten, or changing: take another dump";
		if (!memory_u8(reader->memory, first, &byte)) {
			advice = target_advice(target, first,
					       "write the core with createdump --full, or gcore");
		}
		findings_add(&target->findings, FINDING_HANDLE_TABLE, advice,
			     "%s (%" PRIu64 ", the first at %" PRIx64 "): %s",
			     trouble_texts[i].what, count, first, trouble_texts[i].cost);
	}
}

enum hd_status handle_list_read(struct heap *heap, struct job *job, struct handle_list *ret,
				struct hd_error *err)
{
	struct handles_reader reader = { .heap = heap, .memory = heap->memory, .job = job };
	job_begin(job, "Reading handle tables", 0);
	enum hd_status status = read_handle_maps(&reader, err);
	list_free(&reader.tables);
	list_free(&reader.segments);
	if (status != HD_OK) {
		handle_list_deinit(&reader.list);
		return status;
	}
	add_handle_findings(&reader);
	*ret = reader.list;
	return HD_OK;
}

void handle_list_deinit(struct handle_list *list)
{
	pages_free(list->rows, list->rows_capacity, sizeof(*list->rows));
	pages_free(list->segments, list->segments_capacity, sizeof(*list->segments));
	*list = (struct handle_list){ 0 };
}

/*
 * The GC marks from these handles (objecthandle.cpp): Ref_TracePinningRoots, Ref_TraceNormalRoots.
 * Sized handles are always marked, but at other times.  A ref-counted one is a root while its
 * count, which the class library keeps, is not 0.  Objects of cross references (.NET 10,
 * FEATURE_JAVAMARSHAL) that nothing else marks are marked after Ref_ScanBridgeObjects(): their
 * handles stay until the client allows them to go.
 */
bool handle_is_strong(enum handle_type type)
{
	switch (type) {
	case HANDLE_STRONG:
	case HANDLE_PINNED:
	case HANDLE_VARIABLE:
	case HANDLE_REF_COUNTED:
	case HANDLE_ASYNC_PINNED:
	case HANDLE_SIZED_REF:
	case HANDLE_CROSS_REFERENCE:
		return true;
	case HANDLE_WEAK_SHORT:
	case HANDLE_WEAK_LONG:
	case HANDLE_DEPENDENT:
	case HANDLE_WEAK_NATIVE_COM:
	case HANDLE_WEAK_INTERIOR:
	case HANDLE_TYPES:
		break;
	}
	return false;
}

bool handle_keeps_alive(const struct handle *handle)
{
	if (handle->type == HANDLE_VARIABLE && handle->secondary)
		return handle->secondary & (HANDLE_VARIABLE_STRONG | HANDLE_VARIABLE_PINNED);
	return handle_is_strong((enum handle_type)handle->type);
}
