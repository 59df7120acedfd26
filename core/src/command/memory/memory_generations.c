/* SPDX-License-Identifier: MIT */
/* memory -live: what the committed memory of each generation is. */
#include "command/memory/memory_generations.h"

#include "command/completeness.h"
#include "command/heap/heap_call.h"
#include "util/alloc.h"

#define COLUMN_COUNT_LIST(X)                                                               \
	X(COLUMN_GENERATION, "generation", "", KIND_TEXT, 12, LOOK_LEFT, "gen0, loh, ...") \
	X(COLUMN_LIVE, "live", "Live", KIND_BYTES, 16, LOOK_THOUSANDS,                     \
	  "bytes of objects that roots keep alive")                                        \
	X(COLUMN_DEAD, "dead", "Dead", KIND_BYTES, 16, LOOK_THOUSANDS,                     \
	  "bytes of objects that the next collection of this generation frees")            \
	X(COLUMN_FREE, "free", "Free", KIND_BYTES, 16, LOOK_THOUSANDS,                     \
	  "bytes of gaps between objects (Free)")                                          \
	X(COLUMN_AREAS, "areas", "Areas", KIND_BYTES, 14, LOOK_THOUSANDS,                  \
	  "bytes from which threads allocate next, and what rounds up objects")            \
	X(COLUMN_UNUSED, "unused", "Unused", KIND_BYTES, 16, LOOK_THOUSANDS,               \
	  "committed bytes after the last object")                                         \
	X(COLUMN_COMMITTED, "committed", "Committed", KIND_BYTES, 16, LOOK_THOUSANDS,      \
	  "what the other columns add up to")

COLUMNS(generation, COLUMN_COUNT, COLUMN_COUNT_LIST);

SCHEMA(generation, .name = "generations");

enum hd_status memory_count_generations(struct call *call, struct generation_bytes *ret)
{
	struct heap *heap = call->heap;
	struct life dead = { 0 };
	struct gaps gaps = { 0 };
	struct generation_bytes total = { 0 };
	if (!heap->is_walkable) {
		return fail(call->err, HD_ERR_FAULT, 0,
			    "-live needs the objects, which cannot be walked");
	}
	TRY(call_life(call, true, &dead));
	HD_FREE struct generation_bytes *heaps = mem_calloc(heap->heap_count, sizeof(*heaps));
	TRY_MEMORY(heaps, call->err);
	enum hd_status status =
		generation_bytes_count(heaps, heap, &dead, &call->job, &gaps, call->err);
	for (uint32_t i = 0; status == HD_OK && i < heap->heap_count; i++)
		generation_bytes_add(&total, &heaps[i]);
	TRY(status);
	gaps_report(call, &gaps);
	*ret = total;
	return HD_OK;
}

static uint64_t less(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

void memory_write_generations(struct call *call, const struct generation_bytes *bytes)
{
	static const char *const names[BYTES_GENERATIONS] = { "gen0", "gen1", "gen2",
							      "loh",  "poh",  "nongc" };
	static const struct table_options options = { .limit = UINT64_MAX };
	answer_remark(&call->answer, "\n");
	answer_table(&call->answer, &generation_schema, &options);
	for (size_t i = 0; i < BYTES_GENERATIONS; i++) {
		uint64_t live = bytes->of[BYTES_LIVE][i], dead = bytes->of[BYTES_UNROOTED][i];
		uint64_t free = bytes->of[BYTES_FREE][i], size = bytes->of[BYTES_SIZE][i];
		const struct cell cells[COLUMN_COUNT] = {
			[COLUMN_GENERATION] = cell_string(names[i]),
			[COLUMN_LIVE] = cell_number(live),
			[COLUMN_DEAD] = cell_number(dead),
			[COLUMN_FREE] = cell_number(free),
			[COLUMN_AREAS] = cell_number(less(size, live + dead + free)),
			[COLUMN_UNUSED] = cell_number(less(bytes->of[BYTES_COMMITTED][i], size)),
			[COLUMN_COMMITTED] = cell_number(bytes->of[BYTES_COMMITTED][i]),
		};
		answer_row(&call->answer, cells);
	}
	(void)answer_table_end(&call->answer);
	completeness_write(call, DEAD_PERHAPS);
}
