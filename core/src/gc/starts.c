/* SPDX-License-Identifier: MIT */
#include "gc/starts.h"

#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

#define BLOCK_WORDS ((uint64_t)8)          /* of 64 bits: one cache line */
#define BLOCK_BYTES (BLOCK_WORDS * 64 * 8) /* of the heap */
#define MAP_BITS    FUZZED(14u, 4u)
#define RANKS_BATCH 32u

/* Objects before a block, and in it before each of its words (Vigna's rank9). */
struct starts_block {
	uint64_t within; /* before words 1 to 7: 9 bits each */
	uint64_t before; /* in this segment */
};

/* The starts of one segment. */
struct starts_part {
	uint64_t begin, end;
	uint64_t *words;
	struct starts_block *blocks;
	uint64_t block_count;
	uint64_t first; /* objects before this segment */
	uint64_t count;
};

struct starts {
	struct starts_part *parts; /* one more than segments: its first is the count of all */
	size_t part_count;
	uint64_t *words;
	struct starts_block *blocks;
	uint64_t block_count;
	/*
	 * finds parts by address: slots of equal size; each has the first part that ends after it
	 */
	uint32_t *map;
	uint64_t map_begin, map_end;
	unsigned int map_shift;
};

/* Set bits of a word; the compiler's own needs an instruction that not every x86-64 has, @p fast. */
static inline uint32_t bits_of_word(uint64_t x, bool fast)
{
	if (fast)
		return (uint32_t)__builtin_popcountll(x);
	x = x - (x >> 1 & 0x5555555555555555u);
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(x * 0x0101010101010101u >> 56);
}

static inline uint32_t bit_count(uint64_t x)
{
	return bits_of_word(x, false);
}

/* The part that contains @p address, or NULL. */
static inline const struct starts_part *starts_part_at(const struct starts *starts,
						       uint64_t address)
{
	if (address < starts->map_begin || address >= starts->map_end)
		return NULL;
	uint64_t slot = (address - starts->map_begin) >> starts->map_shift;
	size_t low = starts->map[slot], count = starts->map[slot + 1] - low;
	/* The first one that ends after the address. */
	low += ROWS_ABOVE(&starts->parts[low], count, end, address);
	const struct starts_part *part = &starts->parts[low];
	return low < starts->part_count && part->begin <= address ? part : NULL;
}

static bool has(const struct starts_part *part, uint64_t address)
{
	uint64_t bit = (address - part->begin) / 8;
	return address % 8 == 0 && (part->words[bit / 64] >> bit % 64 & 1);
}

/* Marks of the part before bit @p bit, which is in it. */
static inline uint64_t rank_of_bit(const struct starts_part *part, uint64_t bit, bool fast)
{
	uint64_t word = bit / 64;
	const struct starts_block *block = &part->blocks[word / BLOCK_WORDS];
	/* Before word 0 it is shifted down to bit 63, which is clear. */
	uint64_t shift = (word % BLOCK_WORDS - 1) % 8 * 9;
	return block->before + (block->within >> shift & 511) +
	       bits_of_word(part->words[word] & (((uint64_t)1 << bit % 64) - 1), fast);
}

/* Objects of the part that start before @p address, which is inside it. */
static uint64_t rank_in(const struct starts_part *part, uint64_t address)
{
	uint64_t bit = (address - part->begin + 7) / 8;
	return bit / 64 / BLOCK_WORDS < part->block_count ? rank_of_bit(part, bit, false)
							  : part->count;
}

/* Address of the object number @p rank of the part. */
static uint64_t select_in(const struct starts_part *part, uint64_t rank)
{
	/* The last block with at most that many objects before it. */
	uint64_t low = ROW_OF(part->blocks, part->block_count, before, rank);
	uint64_t rest = rank - part->blocks[low].before;
	uint64_t word = low * BLOCK_WORDS, last = word + BLOCK_WORDS - 1;
	for (; word < last; word++) {
		uint32_t count = bit_count(part->words[word]);
		if (rest < count)
			break;
		rest -= count;
	}
	uint64_t bits = part->words[word];
	for (; rest && bits; rest--)
		bits &= bits - 1;
	return part->begin + (word * 64 + (bits ? (uint64_t)__builtin_ctzll(bits) : 0)) * 8;
}

static void count_blocks(struct starts_part *part)
{
	uint64_t count = 0;
	for (uint64_t i = 0; i < part->block_count; i++) {
		const uint64_t *words = part->words + i * BLOCK_WORDS;
		uint64_t within = 0, in_block = bit_count(words[0]);
		for (uint64_t k = 1; k < BLOCK_WORDS; k++) {
			within |= in_block << 9 * (k - 1);
			in_block += bit_count(words[k]);
		}
		part->blocks[i] = (struct starts_block){ .within = within, .before = count };
		count += in_block;
	}
	part->count = count;
}

/* The map from addresses to parts. */
static enum hd_status make_map(struct starts *starts, struct hd_error *err)
{
	if (starts->part_count) {
		starts->map_begin = starts->parts[0].begin;
		starts->map_end = starts->parts[starts->part_count - 1].end;
	}
	uint64_t span = starts->map_end - starts->map_begin;
	while (span >> starts->map_shift >> MAP_BITS)
		starts->map_shift++;
	size_t slots = (size_t)(span >> starts->map_shift) + 1;
	starts->map = mem_calloc(slots + 1, sizeof(*starts->map));
	TRY_MEMORY(starts->map, err);
	size_t part = 0;
	for (size_t slot = 0; slot <= slots; slot++) {
		uint64_t offset = (uint64_t)slot << starts->map_shift;
		while (part < starts->part_count &&
		       starts->parts[part].end - starts->map_begin <= offset)
			part++;
		starts->map[slot] = (uint32_t)part;
	}
	return HD_OK;
}

/* Parts of all segments, and the arrays that they share. */
static enum hd_status make_parts(struct starts *starts, const struct heap *heap,
				 const struct job *job, struct hd_error *err)
{
	starts->part_count = heap->segment_count;
	starts->parts = mem_calloc(starts->part_count + 1, sizeof(*starts->parts));
	TRY_MEMORY(starts->parts, err);
	for (size_t i = 0; i < starts->part_count; i++) {
		struct starts_part *part = &starts->parts[i];
		part->begin = heap->segments[i].begin;
		part->end = heap->segments[i].end;
		part->block_count = (part->end - part->begin) / BLOCK_BYTES + 1;
		starts->block_count += part->block_count;
	}
	TRY(job_check_memory(job, starts_bytes(starts), err));
	starts->words = pages_alloc(starts->block_count * BLOCK_WORDS, sizeof(*starts->words));
	starts->blocks = pages_alloc(starts->block_count, sizeof(*starts->blocks));
	TRY_MEMORY(starts->words && starts->blocks, err);
	uint64_t block = 0;
	for (size_t i = 0; i < starts->part_count; i++) {
		starts->parts[i].words = starts->words + block * BLOCK_WORDS;
		starts->parts[i].blocks = starts->blocks + block;
		block += starts->parts[i].block_count;
	}
	return make_map(starts, err);
}

enum hd_status starts_alloc(const struct heap *heap, const struct job *job, struct starts **ret,
			    struct hd_error *err)
{
	struct starts *starts = mem_calloc(1, sizeof(*starts));
	TRY_MEMORY(starts, err);
	enum hd_status status = make_parts(starts, heap, job, err);
	if (status != HD_OK) {
		starts_destroy(starts);
		return status;
	}
	*ret = starts;
	return HD_OK;
}

struct starts_marks starts_marks(struct starts *starts, size_t segment)
{
	const struct starts_part *part = &starts->parts[segment];
	return (struct starts_marks){ .words = part->words, .begin = part->begin };
}

uint64_t starts_close(struct starts *starts, size_t segment)
{
	count_blocks(&starts->parts[segment]);
	return starts->parts[segment].count;
}

void starts_finish(struct starts *starts)
{
	for (size_t i = 0; i < starts->part_count; i++)
		starts->parts[i + 1].first = starts->parts[i].first + starts->parts[i].count;
}

/* mark_segment() works on this. */
struct marking {
	struct starts *starts;
	bool with_free;
};

static enum hd_status mark_segment(void *arg, struct walker *walker, struct hd_error *err)
{
	const struct marking *marking = arg;
	size_t segment = (size_t)(walker->segment - walker->heap->segments);
	struct starts_marks marks = starts_marks(marking->starts, segment);
	(void)err;
	for (enum walk_result result; (result = walker_next(walker)) != WALK_END;) {
		if (result == WALK_OBJECT && (!walker->object.type->is_free || marking->with_free))
			starts_mark(&marks, walker->object.address);
	}
	(void)starts_close(marking->starts, segment);
	return HD_OK;
}

enum hd_status starts_create(struct heap *heap, bool with_free, struct job *job,
			     struct starts **ret, struct hd_error *err)
{
	struct marking marking = { .with_free = with_free };
	TRY(starts_alloc(heap, job, &marking.starts, err));
	void *args[JOB_WORKERS_MAX];
	for (size_t i = 0; i < JOB_WORKERS_MAX; i++)
		args[i] = &marking;
	enum hd_status status =
		heap_walk(heap,
			  &(const struct heap_tour){
				  .what = "Finding objects", .visit = mark_segment, .args = args },
			  job, err);
	if (status != HD_OK) {
		starts_destroy(marking.starts);
		return status;
	}
	starts_finish(marking.starts);
	*ret = marking.starts;
	return HD_OK;
}

void starts_destroy(struct starts *starts)
{
	if (!starts)
		return;
	pages_free(starts->words, starts->block_count * BLOCK_WORDS, sizeof(*starts->words));
	pages_free(starts->blocks, starts->block_count, sizeof(*starts->blocks));
	mem_free(starts->map);
	mem_free(starts->parts);
	mem_free(starts);
}

uint64_t starts_count(const struct starts *starts)
{
	return starts->parts[starts->part_count].first;
}

uint64_t starts_bytes(const struct starts *starts)
{
	return starts->block_count *
	       (BLOCK_WORDS * sizeof(*starts->words) + sizeof(*starts->blocks));
}

bool starts_has(const struct starts *starts, uint64_t address)
{
	const struct starts_part *part = starts_part_at(starts, address);
	return part && has(part, address);
}

uint64_t starts_rank(const struct starts *starts, uint64_t address)
{
	if (address < starts->map_begin)
		return 0;
	const struct starts_part *part = starts_part_at(starts, address);
	if (part)
		return part->first + rank_in(part, address);
	/* Between segments, or after all. */
	return starts->parts[ROWS_ABOVE(starts->parts, starts->part_count, end, address)].first;
}

uint64_t starts_segment_rank(const struct starts *starts, size_t segment)
{
	return starts->parts[segment].first;
}

/* The last part with at most that many objects before it: the only one that holds it. */
static const struct starts_part *part_of_rank(const struct starts *starts, uint64_t rank)
{
	return &starts->parts[ROW_OF(starts->parts, starts->part_count, first, rank)];
}

uint64_t starts_address(const struct starts *starts, uint64_t rank)
{
	const struct starts_part *part = part_of_rank(starts, rank);
	return select_in(part, rank - part->first);
}

/* Find up to @p count marks of a part, beginning at bit @p bit; returns how many there were. */
static size_t take_marks(const struct starts_part *part, uint64_t bit, uint64_t *ret, size_t count)
{
	uint64_t mask = UINT64_MAX << bit % 64, words = part->block_count * BLOCK_WORDS;
	size_t done = 0;
	for (uint64_t i = bit / 64; i < words && done < count; i++, mask = UINT64_MAX) {
		for (uint64_t word = part->words[i] & mask; word && done < count; word &= word - 1)
			ret[done++] = part->begin + (i * 64 + (uint64_t)__builtin_ctzll(word)) * 8;
	}
	return done;
}

void starts_addresses(const struct starts *starts, uint64_t rank, uint64_t *ret, size_t count)
{
	const struct starts_part *end = starts->parts + starts->part_count;
	const struct starts_part *part = part_of_rank(starts, rank);
	if (!count || part == end)
		return;
	uint64_t bit = (select_in(part, rank - part->first) - part->begin) / 8;
	for (size_t done = 0; done < count && part < end; part++, bit = 0)
		done += take_marks(part, bit, ret + done, count - done);
}

/* One batch: the first pass prefetches the memory that the second one needs. */
__attribute__((always_inline)) static inline void rank_batch(const struct starts *starts,
							     const uint64_t *addresses,
							     uint32_t *ret, size_t count, bool fast)
{
	const struct starts_part *parts[RANKS_BATCH];
	for (size_t i = 0; i < count; i++) {
		parts[i] = addresses[i] % 8 == 0 ? starts_part_at(starts, addresses[i]) : NULL;
		if (!parts[i])
			continue;
		uint64_t bit = (addresses[i] - parts[i]->begin) / 8;
		__builtin_prefetch(&parts[i]->words[bit / 64]);
		__builtin_prefetch(&parts[i]->blocks[bit / (BLOCK_WORDS * 64)]);
	}
	for (size_t i = 0; i < count; i++) {
		ret[i] = UINT32_MAX;
		if (!parts[i])
			continue;
		uint64_t bit = (addresses[i] - parts[i]->begin) / 8;
		if (!(parts[i]->words[bit / 64] >> bit % 64 & 1))
			continue;
		uint64_t rank = parts[i]->first + rank_of_bit(parts[i], bit, fast);
		if (rank < UINT32_MAX)
			ret[i] = (uint32_t)rank;
	}
}

__attribute__((always_inline)) static inline void rank_batches(const struct starts *starts,
							       const uint64_t *addresses,
							       uint32_t *ret, size_t count,
							       bool fast)
{
	for (size_t done = 0; done < count; done += RANKS_BATCH) {
		size_t size = count - done < RANKS_BATCH ? count - done : RANKS_BATCH;
		rank_batch(starts, addresses + done, ret + done, size, fast);
	}
}

#ifdef __x86_64__
__attribute__((target("popcnt"))) static void rank_fast(const struct starts *starts,
							const uint64_t *addresses, uint32_t *ret,
							size_t count)
{
	rank_batches(starts, addresses, ret, count, true);
}
#endif

void starts_rank_all(const struct starts *starts, const uint64_t *addresses, uint32_t *ret,
		     size_t count)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("popcnt")) {
		rank_fast(starts, addresses, ret, count);
		return;
	}
#endif
	rank_batches(starts, addresses, ret, count, false);
}

uint64_t starts_at_or_before(const struct starts *starts, uint64_t address)
{
	const struct starts_part *part = starts_part_at(starts, address);
	if (!part)
		return 0;
	if (has(part, address))
		return address;
	uint64_t rank = rank_in(part, address);
	return rank ? select_in(part, rank - 1) : 0;
}

uint64_t starts_at_or_after(const struct starts *starts, uint64_t address)
{
	const struct starts_part *part = starts_part_at(starts, address);
	if (!part)
		return 0;
	uint64_t rank = rank_in(part, address);
	return rank < part->count ? select_in(part, rank) : 0;
}
