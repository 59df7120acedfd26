/* SPDX-License-Identifier: MIT */
/* memory: what is known of malloc. */
#include "command/memory/memory_malloc_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define ARENA_LIST(X)                                                                                   \
	X(ARENA_ADDRESS, "address", "Arena", KIND_ADDRESS, 16, LOOK_ADDRESS,                            \
	  "the record of glibc's malloc; the main arena comes first")                                   \
	X(ARENA_USED, "used", "In use", KIND_BYTES, 15, LOOK_THOUSANDS,                                 \
	  "bytes of its pieces in use, those in caches too")                                            \
	X(ARENA_CACHED, "cached", "Cached", KIND_BYTES, 12, LOOK_THOUSANDS,                             \
	  "free, in the caches of its threads, where pieces of other arenas may be, and in fast lists") \
	X(ARENA_FREE, "free", "Free", KIND_BYTES, 15, LOOK_THOUSANDS,                                   \
	  "bytes of free pieces between those in use")                                                  \
	X(ARENA_TOP, "top", "Top", KIND_BYTES, 15, LOOK_THOUSANDS,                                      \
	  "free bytes at its end, which malloc_trim() can give back")                                   \
	X(ARENA_SYSTEM, "system", NULL, KIND_BYTES, 0, 0,                                               \
	  "what it got from the kernel, as it says itself")                                             \
	X(ARENA_PIECES, "pieces", "Pieces", KIND_NUMBER, 11, LOOK_THOUSANDS,                            \
	  "how many pieces it has, in use or free")                                                     \
	X(ARENA_THREADS, "threads", "Threads", KIND_NUMBER, 8, 0, "how many threads use it")            \
	X(ARENA_DAMAGED, "damaged_at", NULL, KIND_ADDRESS, 0, LOOK_LEAVE_OUT,                           \
	  "the first piece whose size is impossible: the rest is not known")

COLUMNS(arena, ARENA_COLUMNS, ARENA_LIST);

SCHEMA(arena, .name = "arenas");

#define SIZE_LIST(X)                                                                           \
	X(SIZE_FROM, "from", "Pieces from", KIND_BYTES, 16, LOOK_THOUSANDS,                    \
	  "bytes of the smallest piece of a size class, malloc's 8 bytes included")            \
	X(SIZE_TO, "to", "To", KIND_BYTES, 12, LOOK_THOUSANDS | LOOK_LEAVE_OUT,                \
	  "bytes of the largest; absent: there is no limit")                                   \
	X(SIZE_USED_PIECES, "used_pieces", "In use", KIND_NUMBER, 12, LOOK_THOUSANDS,          \
	  "how many are in use, those in caches too")                                          \
	X(SIZE_USED, "used", "Bytes in use", KIND_BYTES, 16, LOOK_THOUSANDS, "bytes of these") \
	X(SIZE_FREE_PIECES, "free_pieces", "Free", KIND_NUMBER, 12, LOOK_THOUSANDS,            \
	  "how many are free, without the ends of arenas")                                     \
	X(SIZE_FREE, "free", "Free bytes", KIND_BYTES, 16, LOOK_THOUSANDS, "bytes of these")

COLUMNS(size, SIZE_COLUMNS, SIZE_LIST);

SCHEMA(size, .name = "sizes");

/* Rows in text: further size classes have less. */
#define SIZES_SHOWN 16u

#define MALLOC_LIST(X)                                                                   \
	X(MALLOC_IS_FOUND, "is_found", NULL, KIND_FLAG, 0, 0,                            \
	  "was the memory of the C library's malloc found?")                             \
	X(MALLOC_LIBRARY, "library", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                 \
	  "whose malloc it is: glibc or musl")                                           \
	X(MALLOC_MAPPED_COUNT, "mapped_pieces", NULL, KIND_NUMBER, 0, 0,                 \
	  "how many large pieces it has mapped on their own")                            \
	X(MALLOC_MAPPED_BYTES, "mapped_bytes", NULL, KIND_BYTES, 0, 0, "bytes of these") \
	X(MALLOC_OTHER, "other_allocator", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,           \
	  "one that is loaded and cannot be walked")

COLUMNS(malloc, MALLOC_COLUMNS, MALLOC_LIST);

SCHEMA(malloc, .name = "malloc");

static void write_arenas(struct call *call, const struct memory_malloc *malloc)
{
	answer_remark(&call->answer, "\n");
	answer_table(&call->answer, &arena_schema, NULL);
	for (size_t i = 0; i < malloc->arenas_count && !answer_is_stopped(&call->answer); i++) {
		const struct malloc_arena *arena = &malloc->arenas[i];
		const struct cell damaged = cell_number(arena->damaged_at);
		const struct cell cells[ARENA_COLUMNS] = {
			[ARENA_ADDRESS] = cell_number(arena->address),
			[ARENA_USED] = cell_number(arena->bytes[MALLOC_USED]),
			[ARENA_CACHED] = cell_number(arena->cached + arena->fast),
			[ARENA_FREE] = cell_number(arena->bytes[MALLOC_FREE]),
			[ARENA_TOP] = cell_number(arena->bytes[MALLOC_TOP]),
			[ARENA_SYSTEM] = cell_number(arena->system),
			[ARENA_PIECES] = cell_number(arena->pieces),
			[ARENA_THREADS] = cell_number(arena->threads),
			[ARENA_DAMAGED] = arena->damaged_at ? damaged : (struct cell){ 0 },
		};
		answer_row(&call->answer, cells);
		if (arena->damaged_at) {
			answer_remark(&call->answer, "%16s it is damaged at %" PRIx64 "\n", "",
				      arena->damaged_at);
		}
	}
	(void)answer_table_end(&call->answer);
}

/* A size class in which there are pieces. */
struct filled_class {
	struct malloc_class has;
	unsigned int index;
};

static int compare_classes(const void *a, const void *b)
{
	const struct filled_class *left = a, *right = b;
	if (left->has.used_bytes != right->has.used_bytes)
		return left->has.used_bytes < right->has.used_bytes ? 1 : -1;
	if (left->has.free_bytes != right->has.free_bytes)
		return left->has.free_bytes < right->has.free_bytes ? 1 : -1;
	return (left->index > right->index) - (left->index < right->index);
}

/* Size classes in which there are pieces, most bytes in use first. */
static void write_sizes(struct call *call, const struct memory_malloc *malloc)
{
	struct filled_class order[MALLOC_CLASSES];
	bool is_data = answer_is_data(&call->answer);
	const struct table_options options = { .limit = is_data ? UINT64_MAX : SIZES_SHOWN };
	size_t count = 0;
	for (unsigned int i = 0; i < MALLOC_CLASSES; i++) {
		if (malloc->classes[i].used_pieces || malloc->classes[i].free_pieces)
			order[count++] = (struct filled_class){ malloc->classes[i], i };
	}
	if (count)
		qsort(order, count, sizeof(*order), compare_classes);
	answer_remark(&call->answer, "\n");
	answer_table(&call->answer, &size_schema, &options);
	for (size_t i = 0; i < count; i++) {
		if (!answer_wants_row(&call->answer))
			continue;
		const struct malloc_class *has = &order[i].has;
		uint64_t end = malloc_class_start(order[i].index + 1);
		const struct cell cells[SIZE_COLUMNS] = {
			[SIZE_FROM] = cell_number(malloc_class_start(order[i].index)),
			[SIZE_TO] = end < UINT64_MAX ? cell_number(end - 16) : (struct cell){ 0 },
			[SIZE_USED_PIECES] = cell_number(has->used_pieces),
			[SIZE_USED] = cell_number(has->used_bytes),
			[SIZE_FREE_PIECES] = cell_number(has->free_pieces),
			[SIZE_FREE] = cell_number(has->free_bytes),
		};
		answer_row(&call->answer, cells);
	}
	if (answer_table_end(&call->answer)) {
		answer_remark(&call->answer,
			      "Further size classes have less in use: --json lists all %zu.\n",
			      count);
	}
}

void memory_write_malloc(struct call *call, const struct memory_account *account, bool is_detailed)
{
	const struct memory_malloc *malloc = &account->malloc;
	const struct cell cells[MALLOC_COLUMNS] = {
		[MALLOC_IS_FOUND] = cell_flag(malloc->is_found),
		[MALLOC_LIBRARY] = malloc->is_found
					   ? cell_string(malloc->is_musl ? "musl" : "glibc")
					   : (struct cell){ 0 },
		[MALLOC_MAPPED_COUNT] = cell_number(malloc->mapped_count),
		[MALLOC_MAPPED_BYTES] = cell_number(malloc->mapped_bytes),
		[MALLOC_OTHER] = cell_string(malloc->other),
	};
	if (answer_is_data(&call->answer)) {
		write_arenas(call, malloc);
		write_sizes(call, malloc);
		answer_record(&call->answer, &malloc_schema, cells);
		return;
	}
	if (is_detailed && malloc->arenas_count)
		write_arenas(call, malloc);
	if (is_detailed && malloc->is_found)
		write_sizes(call, malloc);
	if (!malloc->is_found) {
		answer_remark(
			&call->answer,
			"\nThe memory of the C library's malloc was not found: what native code has "
			"is unknown.\n%s",
			account->is_live || malloc->other
				? ""
				: "gcore and createdump --full write what this "
				  "needs.\n");
	}
	if (malloc->other) {
		answer_remark(&call->answer,
			      "\nThe program uses %s, which cannot be walked: what it has is "
			      "unknown.\n",
			      malloc->other);
	}
}
