/* SPDX-License-Identifier: MIT */
/* Which objects the nodes of a .gcdump are. */
#include <stdlib.h>
#include <string.h>

#include "format/gcdump/gcdump_reading.h"
#include "util/alloc.h"
#include "util/sort.h"

/* How far ahead memory at random places is prefetched. */
#define AHEAD_NODES 96u
/* How many objects' places are prefetched together. */
#define GROUP 64u

/* Are there GCDUMP_BLOCK nodes, beginning with @p first, which are all objects? */
static bool is_plain_block(const struct gcdump_reading *reading, uint32_t first)
{
	const struct gcdump *file = &reading->file;
	uint32_t others = 0;
	if (file->node_count - first < GCDUMP_BLOCK)
		return false;
	const uint64_t *pseudo = reading->pseudo.nodes, *bad = reading->undefined.bad;
	for (uint32_t word = first / 64; word < (first + GCDUMP_BLOCK) / 64; word++)
		others |= pseudo[word] || (bad && bad[word]);
	for (uint32_t i = 0; reading->undefined.is_zero && i < GCDUMP_BLOCK; i++)
		others |= !gcdump_offset(file, first + i);
	return !others;
}

static enum hd_status number_node(struct gcdump_reading *reading, uint32_t node, uint32_t *count)
{
	struct gcdump_numbers *numbers = &reading->numbers;
	uint64_t address = gcdump_address(&reading->file, node);
	numbers->map[node] = HD_NONE;
	if (bitmap_has(reading->pseudo.nodes, node))
		return HD_OK;
	if (!gcdump_is_undefined(&reading->file, &reading->undefined, node)) {
		numbers->map[node] = (*count)++;
		return HD_OK;
	}
	/* Such as an empty slot of a stack. */
	if (!address)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(numbers, missing), reading->err);
	numbers->map[node] = GCDUMP_MISSING | (uint32_t)numbers->missing_count;
	numbers->missing[numbers->missing_count++] = address;
	return HD_OK;
}

/* Consecutive blocks become one run; the longest is kept. */
static void add_to_run(struct gcdump_numbers *numbers, uint32_t *run, uint32_t first)
{
	uint32_t end = first + GCDUMP_BLOCK;
	if (*run == HD_NONE)
		*run = first;
	if (end - *run <= numbers->main_count)
		return;
	numbers->main_node = *run;
	numbers->main_count = end - *run;
	numbers->main_object = *run - numbers->shifts[first / GCDUMP_BLOCK];
}

/* Number the objects of all blocks in the order of the file. */
static enum hd_status number_blocks(struct gcdump_reading *reading, uint32_t *ret_count)
{
	struct gcdump_numbers *numbers = &reading->numbers;
	uint32_t count = 0, run = HD_NONE, nodes = reading->file.node_count;
	numbers->main_count = 0;
	for (size_t block = 0; block < numbers->blocks; block++) {
		uint32_t first = (uint32_t)block * GCDUMP_BLOCK;
		numbers->firsts[block] = count;
		if (is_plain_block(reading, first)) {
			numbers->shifts[block] = first - count;
			count += GCDUMP_BLOCK;
			add_to_run(numbers, &run, first);
			continue;
		}
		numbers->shifts[block] = run = HD_NONE;
		for (uint32_t node = first; node < nodes && node - first < GCDUMP_BLOCK; node++)
			TRY(number_node(reading, node, &count));
	}
	*ret_count = count;
	return HD_OK;
}

uint32_t gcdump_node_of(const struct gcdump_numbers *numbers, uint32_t object)
{
	size_t low = search_run_of(NUMBERS_ABOVE(numbers->firsts, numbers->blocks, object));
	uint32_t node = (uint32_t)low * GCDUMP_BLOCK;
	while (gcdump_object(numbers, node) != object)
		node++;
	return node;
}

/* Prefetch the word of the starts in which a node's record will soon be looked up. */
static inline uint32_t word_ahead(const struct gcdump_reading *reading, uint32_t node)
{
	const struct gcdump *file = &reading->file;
	uint32_t offset =
		file->node_count - node > AHEAD_NODES ? gcdump_offset(file, node + AHEAD_NODES) : 0;
	return offset < file->blob_size ? offset / 64 : 0;
}

/* Mark the records of all objects; false: two objects share one. */
static bool mark_starts(struct gcdump_reading *reading)
{
	const struct gcdump_starts *starts = &reading->numbers.starts;
	const struct gcdump *file = &reading->file;
	for (uint32_t node = 0; node < file->node_count; node++) {
		uint32_t offset = gcdump_offset(file, node);
		__builtin_prefetch(&starts->bits[word_ahead(reading, node)], 1);
		if (gcdump_object(&reading->numbers, node) < GCDUMP_MISSING &&
		    offset < file->blob_size)
			starts->bits[offset / 64] |= (uint64_t)1 << offset % 64;
	}
	uint32_t count = 0;
	for (size_t i = 0; i < starts->words; i++) {
		starts->ranks[i] = count;
		count += (uint32_t)__builtin_popcountll(starts->bits[i]);
	}
	return count == reading->raw.object_count;
}

static uint32_t count_bits(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555u;
	bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
	return (uint32_t)(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

/* How many records begin before that of @p node; any object if the file changes meanwhile. */
static uint32_t rank_of(const struct gcdump_reading *reading, uint32_t node)
{
	const struct gcdump_starts *starts = &reading->numbers.starts;
	uint32_t offset = gcdump_offset(&reading->file, node);
	if (offset >= reading->file.blob_size)
		return 0;
	uint64_t before = starts->bits[offset / 64] & (((uint64_t)1 << offset % 64) - 1);
	uint32_t rank = starts->ranks[offset / 64] + count_bits(before);
	return rank < reading->raw.object_count ? rank : 0;
}

/* Work on all nodes, of which each worker has a share. */
struct sorting {
	struct gcdump_reading *reading;
	unsigned int workers;
};

static uint32_t sorting_share(const struct sorting *sorting, unsigned int worker)
{
	uint64_t count = sorting->reading->file.node_count;
	return (uint32_t)(count * worker / sorting->workers);
}

/* Get the addresses of all objects in the order of their records; map gets this order. */
static void list_addresses(void *arg, unsigned int worker)
{
	const struct sorting *sorting = arg;
	const struct gcdump_reading *reading = sorting->reading;
	uint32_t end = sorting_share(sorting, worker + 1);
	for (uint32_t node = sorting_share(sorting, worker); node < end;) {
		uint32_t ranks[GROUP], nodes[GROUP], count = 0;
		for (; node < end && count < GROUP; node++) {
			uint32_t ahead = word_ahead(reading, node);
			__builtin_prefetch(&reading->numbers.starts.bits[ahead]);
			__builtin_prefetch(&reading->numbers.starts.ranks[ahead]);
			if (gcdump_object(&reading->numbers, node) >= GCDUMP_MISSING)
				continue;
			nodes[count] = node;
			ranks[count] = rank_of(reading, node);
			__builtin_prefetch(&reading->raw.ids[ranks[count++]], 1);
		}
		for (uint32_t i = 0; i < count; i++) {
			reading->numbers.map[nodes[i]] = ranks[i];
			reading->raw.ids[ranks[i]] = gcdump_address(&reading->file, nodes[i]);
		}
	}
}

/* The piece that has @p rank. */
static const struct sort_piece *find_piece(const struct gcdump_starts *starts, uint32_t rank)
{
	return &starts->pieces[ROW_OF(starts->pieces, starts->piece_count, from, rank)];
}

/* Put all objects where they belong. */
static void place_sorted_objects(void *arg, unsigned int worker)
{
	const struct sorting *sorting = arg;
	const struct gcdump_reading *reading = sorting->reading;
	const struct gcdump *file = &reading->file;
	const struct sort_piece *piece = reading->numbers.starts.pieces;
	uint32_t end = sorting_share(sorting, worker + 1);
	for (uint32_t node = sorting_share(sorting, worker); node < end;) {
		uint32_t places[GROUP], nodes[GROUP], count = 0;
		for (; node < end && count < GROUP; node++) {
			if (gcdump_object(&reading->numbers, node) >= GCDUMP_MISSING)
				continue;
			uint32_t rank = reading->numbers.map[node];
			if (rank - piece->from >= piece->count)
				piece = find_piece(&reading->numbers.starts, rank);
			uint32_t at = piece->to + (rank - piece->from);
			__builtin_prefetch(&reading->raw.ids[at], 1);
			__builtin_prefetch(&reading->numbers.order[at], 1);
			nodes[count] = node;
			places[count++] = at;
		}
		for (uint32_t i = 0; i < count; i++) {
			reading->raw.ids[places[i]] = gcdump_address(file, nodes[i]);
			reading->numbers.order[places[i]] = nodes[i];
			reading->numbers.map[nodes[i]] = places[i];
		}
	}
}

/* Does each object have an address that no other one has? */
static bool addresses_ascend(const struct raw_graph *raw)
{
	bool descends = raw->object_count && !raw->ids[0];
	for (uint32_t i = 1; i < raw->object_count; i++)
		descends |= raw->ids[i - 1] >= raw->ids[i];
	return !descends;
}

ORDER_BY(compare_to, struct sort_piece, to)

/*
 * Writers number nodes when they are first mentioned, and write them in the order of a heap walk,
 * so in the order of records the addresses are nearly sorted. raw.ascends: they are sorted, and
 * each object has its own.
 */
static enum hd_status sort_by_record(struct sorting *sorting)
{
	struct gcdump_reading *reading = sorting->reading;
	struct gcdump_starts *starts = &reading->numbers.starts;
	uint32_t count = reading->raw.object_count;
	starts->words = bitmap_words(reading->file.blob_size);
	starts->bits = bitmap_alloc(reading->file.blob_size);
	starts->ranks = pages_alloc(starts->words, sizeof(*starts->ranks));
	TRY_MEMORY(starts->bits && starts->ranks, reading->err);
	if (mark_starts(reading)) {
		run_parallel(sorting->workers, sorting->reading->job, list_addresses, sorting);
		starts->piece_count = sort_pieces(reading->raw.ids, count, starts->pieces);
	}
	if (starts->piece_count) {
		run_parallel(sorting->workers, sorting->reading->job, place_sorted_objects,
			     sorting);
		qsort(starts->pieces, starts->piece_count, sizeof(*starts->pieces), compare_to);
		reading->raw.ascends = addresses_ascend(&reading->raw);
	}
	return HD_OK;
}

/* Objects with the same address, and those without one, keep the order of nodes. */
static enum hd_status sort_by_address(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint32_t next = 0;
	for (uint32_t node = 0; node < file->node_count; node++) {
		if (gcdump_object(&reading->numbers, node) >= GCDUMP_MISSING)
			continue;
		reading->raw.ids[next] = gcdump_address(file, node);
		reading->numbers.order[next++] = node;
	}
	TRY_MEMORY(sort_pairs(reading->raw.ids, reading->numbers.order, next), reading->err);
	for (uint32_t i = 0; i < next; i++)
		reading->numbers.map[reading->numbers.order[i]] = i;
	return HD_OK;
}

enum hd_status gcdump_sort(struct gcdump_reading *reading)
{
	struct sorting sorting = { .reading = reading, .workers = job_workers(reading->job) };
	uint32_t count = reading->raw.object_count;
	job_begin(reading->job, "Sorting objects", 0);
	TRY(job_check(reading->job, 0, reading->err));
	TRY(job_check_memory(reading->job, (uint64_t)count * 40, reading->err));
	reading->numbers.order = reading->raw.types;
	TRY(sort_by_record(&sorting));
	if (!reading->raw.ascends) {
		gcdump_starts_deinit(&reading->numbers.starts, reading->file.blob_size);
		TRY(sort_by_address(reading));
	}
	reading->numbers.main_count = 0;
	memset(reading->numbers.shifts, 0xff,
	       reading->numbers.blocks * sizeof(*reading->numbers.shifts));
	return HD_OK;
}

enum hd_status gcdump_number(struct gcdump_reading *reading)
{
	uint32_t count;
	reading->numbers.order = NULL;
	gcdump_starts_deinit(&reading->numbers.starts, reading->file.blob_size);
	reading->numbers.missing_count = 0;
	TRY(number_blocks(reading, &count));
	raw_graph_deinit(&reading->raw);
	TRY(raw_graph_init(&reading->raw, count, 0, reading->job, reading->err));
	reading->raw.keeps_repeated = true;
	return HD_OK;
}
