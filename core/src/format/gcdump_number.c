/* SPDX-License-Identifier: MIT */
/* Which objects the nodes of a .gcdump are. */
#include <string.h>

#include "format/gcdump_reading.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Where the numbering is. */
struct numbering {
	struct gcdump_reading *reading;
	uint32_t count; /* objects so far */
	uint64_t last;  /* the address of the one before */
	bool ascends;   /* do all addresses? */
};

static enum hd_status number_node(struct numbering *numbering, uint32_t node)
{
	struct gcdump_reading *reading = numbering->reading;
	uint64_t address = gcdump_address(&reading->file, node);
	reading->map[node] = HD_NONE;
	if (bitmap_has(reading->pseudo, node))
		return HD_OK;
	if (!gcdump_is_undefined(reading, node)) {
		numbering->ascends = numbering->ascends && address > numbering->last;
		numbering->last = address;
		reading->map[node] = numbering->count++;
		return HD_OK;
	}
	/* Such as an empty slot of a stack. */
	if (!address)
		return HD_OK;
	if (!PAGES_RESERVE(reading, missing))
		return fail_nomem(reading->err);
	reading->map[node] = GCDUMP_MISSING | (uint32_t)reading->missing_count;
	reading->missing[reading->missing_count++] = address;
	return HD_OK;
}

/* Are all nodes of a block objects? */
static bool is_plain(const struct gcdump_reading *reading, uint32_t first, uint32_t end)
{
	bool others = false;
	for (uint32_t node = first; node < end; node += 64)
		others |= reading->pseudo[node / 64] || (reading->bad && reading->bad[node / 64]);
	for (uint32_t node = first; reading->zero_is_undefined && node < end; node++)
		others |= !gcdump_offset(&reading->file, node);
	return !others;
}

static enum hd_status number_block(struct numbering *numbering, uint32_t first, uint32_t end)
{
	struct gcdump_reading *reading = numbering->reading;
	uint32_t *shift = &reading->shifts[first / GCDUMP_BLOCK];
	*shift = HD_NONE;
	if (!is_plain(reading, first, end)) {
		for (uint32_t node = first; node < end; node++)
			TRY(number_node(numbering, node));
		return HD_OK;
	}
	*shift = first - numbering->count;
	numbering->count += end - first;
	for (uint32_t node = first; numbering->ascends && node < end; node++) {
		uint64_t address = gcdump_address(&reading->file, node);
		numbering->ascends = address > numbering->last;
		numbering->last = address;
	}
	return HD_OK;
}

/* Where records begin in the blob, and how many do before each word. */
struct starts {
	uint64_t *bits;
	uint32_t *ranks;
	size_t words;
};

/* Mark the records of all objects; false: two objects share one. */
static bool mark_starts(const struct gcdump_reading *reading, struct starts *starts)
{
	const struct gcdump *file = &reading->file;
	for (uint32_t node = 0; node < file->node_count; node++) {
		uint32_t offset = gcdump_offset(file, node);
		if (gcdump_object(reading, node) < GCDUMP_MISSING && offset < file->blob_size)
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

/* How many records begin before that of @p node; should the file change meanwhile, any object. */
static uint32_t rank_of(const struct gcdump_reading *reading, const struct starts *starts,
			uint32_t node)
{
	uint32_t offset = gcdump_offset(&reading->file, node);
	if (offset >= reading->file.blob_size)
		return 0;
	uint64_t before = starts->bits[offset / 64] & (((uint64_t)1 << offset % 64) - 1);
	uint32_t rank = starts->ranks[offset / 64] + count_bits(before);
	return rank < reading->raw.object_count ? rank : 0;
}

/* Work on all nodes, of which workers have a share each. */
struct sorting {
	struct gcdump_reading *reading;
	struct starts starts;
	struct sort_piece pieces[SORT_PIECES_MAX];
	uint32_t piece_count;
	unsigned int workers;
};

static uint32_t share(const struct sorting *sorting, unsigned int worker)
{
	uint64_t count = sorting->reading->file.node_count;
	return (uint32_t)(count * worker / sorting->workers);
}

/* The addresses of all objects in the order of their records, which map gets. */
static void list_addresses(void *arg, unsigned int worker)
{
	const struct sorting *sorting = arg;
	const struct gcdump_reading *reading = sorting->reading;
	uint32_t end = share(sorting, worker + 1);
	for (uint32_t node = share(sorting, worker); node < end; node++) {
		if (gcdump_object(reading, node) >= GCDUMP_MISSING)
			continue;
		uint32_t rank = rank_of(reading, &sorting->starts, node);
		reading->map[node] = rank;
		reading->raw.ids[rank] = gcdump_address(&reading->file, node);
	}
}

/* The piece that has @p rank. */
static const struct sort_piece *find_piece(const struct sorting *sorting, uint32_t rank)
{
	uint32_t low = 0, high = sorting->piece_count - 1;
	while (low < high) {
		uint32_t middle = high - (high - low) / 2;
		if (sorting->pieces[middle].from <= rank) {
			low = middle;
		} else {
			high = middle - 1;
		}
	}
	return &sorting->pieces[low];
}

/* Put all objects where they belong. */
static void place_objects(void *arg, unsigned int worker)
{
	const struct sorting *sorting = arg;
	const struct gcdump_reading *reading = sorting->reading;
	const struct gcdump *file = &reading->file;
	const struct sort_piece *piece = sorting->pieces;
	uint32_t end = share(sorting, worker + 1);
	for (uint32_t node = share(sorting, worker); node < end; node++) {
		if (gcdump_object(reading, node) >= GCDUMP_MISSING)
			continue;
		uint32_t rank = reading->map[node];
		if (rank - piece->from >= piece->count)
			piece = find_piece(sorting, rank);
		uint32_t at = piece->to + (rank - piece->from);
		reading->raw.ids[at] = gcdump_address(file, node);
		reading->order[at] = node;
		reading->map[node] = at;
	}
}

/* Is there an address twice, or none at all? */
static bool has_repeated(const struct raw_graph *raw)
{
	bool found = raw->object_count && !raw->ids[0];
	for (uint32_t i = 1; i < raw->object_count; i++)
		found |= raw->ids[i - 1] == raw->ids[i];
	return found;
}

/*
 * Those who write a file number nodes when they are first mentioned, and write them as the heap is
 * walked: in the order of records the addresses are nearly sorted.  *@p ret_done: they were, and
 * each object has its own.
 */
static enum hd_status sort_by_record(struct sorting *sorting, bool *ret_done)
{
	struct gcdump_reading *reading = sorting->reading;
	uint32_t size = reading->file.blob_size;
	struct starts *starts = &sorting->starts;
	starts->words = bitmap_words(size);
	starts->bits = bitmap_alloc(size);
	starts->ranks = pages_alloc(starts->words, sizeof(*starts->ranks));
	bool made = starts->bits && starts->ranks;
	if (made && mark_starts(reading, starts)) {
		run_parallel(sorting->workers, list_addresses, sorting);
		sorting->piece_count =
			sort_pieces(reading->raw.ids, reading->raw.object_count, sorting->pieces);
	}
	if (sorting->piece_count)
		run_parallel(sorting->workers, place_objects, sorting);
	*ret_done = sorting->piece_count && !has_repeated(&reading->raw);
	bitmap_free(starts->bits, size);
	pages_free(starts->ranks, starts->words, sizeof(*starts->ranks));
	return made ? HD_OK : fail_nomem(reading->err);
}

/* Of those with one address, and without one, the order of nodes stays. */
static enum hd_status sort_by_address(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint32_t next = 0;
	for (uint32_t node = 0; node < file->node_count; node++) {
		if (gcdump_object(reading, node) >= GCDUMP_MISSING)
			continue;
		reading->raw.ids[next] = gcdump_address(file, node);
		reading->order[next++] = node;
	}
	if (!sort_pairs(reading->raw.ids, reading->order, next))
		return fail_nomem(reading->err);
	for (uint32_t i = 0; i < next; i++)
		reading->map[reading->order[i]] = i;
	return HD_OK;
}

/* Number them anew, by address. */
static enum hd_status sort_objects(struct gcdump_reading *reading)
{
	struct sorting sorting = { .reading = reading, .workers = job_workers(reading->job) };
	uint32_t count = reading->raw.object_count;
	job_begin(reading->job, "Sorting objects", 0);
	if (!job_step(reading->job, 0, 0))
		return fail_cancelled(reading->err);
	TRY(job_check_memory(reading->job, (uint64_t)count * 40, reading->err));
	reading->order = pages_alloc(count, sizeof(*reading->order));
	if (!reading->order)
		return fail_nomem(reading->err);
	bool done;
	TRY(sort_by_record(&sorting, &done));
	if (!done)
		TRY(sort_by_address(reading));
	memset(reading->shifts, 0xff, gcdump_blocks(&reading->file) * sizeof(*reading->shifts));
	return HD_OK;
}

enum hd_status gcdump_number(struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	struct numbering numbering = { .reading = reading, .ascends = true };
	pages_free(reading->order, reading->raw.object_count, sizeof(*reading->order));
	reading->order = NULL;
	reading->missing_count = 0;
	for (uint32_t node = 0; node < file->node_count;) {
		uint32_t left = file->node_count - node;
		uint32_t end = node + (left < GCDUMP_BLOCK ? left : GCDUMP_BLOCK);
		TRY(number_block(&numbering, node, end));
		node = end;
	}
	raw_graph_deinit(&reading->raw);
	TRY(raw_graph_init(&reading->raw, numbering.count, 0, false, reading->job, reading->err));
	reading->raw.keeps_repeated = true;
	return numbering.ascends ? HD_OK : sort_objects(reading);
}
