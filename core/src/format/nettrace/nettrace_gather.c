/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_gather.h"

#include <string.h>
#include <time.h>

#include "util/alloc.h"
#include "util/fuzzed.h"

#define CHUNK_SIZE FUZZED((size_t)1 << 20, (size_t)1 << 12)
#define CHUNKS_FEW  \
	((size_t)16 \
	 << 20) /* bytes; those that come then are large enough to be pages (util/alloc.h) */
#define NANOSECONDS UINT64_C(1000000000)

/* Payloads, one after the other. */
struct nt_chunk {
	struct nt_chunk *next;
	size_t size, used; /* of bytes */
	uint8_t bytes[];
};

void nt_gather_begin(struct nt_gathering *gathering)
{
	struct timespec now, clock;
	struct tm day = { 0 };
	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)clock_gettime(CLOCK_MONOTONIC, &clock);
	struct nt_about *about = &gathering->about;
	if (gmtime_r(&now.tv_sec, &day)) {
		const int values[8] = { day.tm_year + 1900, day.tm_mon + 1,
					day.tm_wday,        day.tm_mday,
					day.tm_hour,        day.tm_min,
					day.tm_sec,         (int)(now.tv_nsec / 1000000) };
		for (size_t i = 0; i < 8; i++)
			about->time[i] = (uint16_t)values[i];
	}
	about->has_trace = true;
	about->sync_time = (uint64_t)clock.tv_sec * NANOSECONDS + (uint64_t)clock.tv_nsec;
	about->frequency = NANOSECONDS;
	about->pointer_size = gathering->pointer_size;
	about->pid = gathering->pid;
}

/* Count @p bytes more of memory; false: that would be too much. */
static bool count_bytes(struct nt_gathering *gathering, uint64_t bytes)
{
	if (bytes > gathering->max_bytes || gathering->bytes > gathering->max_bytes - bytes)
		return false;
	gathering->bytes += bytes;
	return true;
}

static bool add_chunk(struct nt_gathering *gathering, struct nt_store *store, size_t least)
{
	size_t usual =
		gathering->bytes < CHUNKS_FEW ? CHUNK_SIZE : PAGES_MIN - sizeof(struct nt_chunk);
	size_t size = least > usual ? least : usual;
	size_t all = sizeof(struct nt_chunk) + size;
	if (!count_bytes(gathering, all))
		return false;
	struct nt_chunk *chunk = pages_alloc(all, 1);
	if (!chunk) {
		gathering->bytes -= all;
		return false;
	}
	chunk->size = size;
	/* The room that is left is where payloads go: it stays in front. */
	struct nt_chunk *first = store->chunks;
	if (first && least > CHUNK_SIZE) {
		chunk->next = first->next;
		first->next = chunk;
	} else {
		chunk->next = first;
		store->chunks = chunk;
	}
	return true;
}

/* Room for @p size bytes, which is not used until chunk->used counts it; NULL: too much. */
static struct nt_chunk *chunk_for(struct nt_gathering *gathering, struct nt_store *store,
				  size_t size)
{
	struct nt_chunk *first = store->chunks;
	if (first && size <= first->size - first->used)
		return first;
	if (!add_chunk(gathering, store, size))
		return NULL;
	return size > CHUNK_SIZE && first ? first->next : store->chunks;
}

static bool reserve_item(struct nt_gathering *gathering, struct nt_store *store)
{
	if (store->items_count < store->items_capacity)
		return true;
	size_t capacity = grown_capacity(store->items_capacity, sizeof(*store->items));
	uint64_t bytes = (uint64_t)(capacity - store->items_capacity) * sizeof(*store->items);
	if (!capacity || capacity >= UINT32_MAX / 2 || !count_bytes(gathering, bytes))
		return false;
	if (PAGES_RESERVE(store, items))
		return true;
	gathering->bytes -= bytes;
	return false;
}

/* Copy an item; false: there is no memory for it. */
static bool keep_item(struct nt_gathering *gathering, struct nt_store *store,
		      const struct nt_item *item)
{
	if (!reserve_item(gathering, store))
		return false;
	struct nt_chunk *chunk = chunk_for(gathering, store, item->size);
	if (!chunk)
		return false;
	uint8_t *copy = chunk->bytes + chunk->used;
	if (item->size)
		memcpy(copy, item->payload, item->size);
	chunk->used += item->size;
	struct nt_item *kept = &store->items[store->items_count++];
	*kept = *item;
	kept->payload = copy;
	return true;
}

/* Forget what a store has. */
static void empty_store(struct nt_gathering *gathering, struct nt_store *store)
{
	while (store->chunks) {
		struct nt_chunk *chunk = store->chunks;
		store->chunks = chunk->next;
		gathering->bytes -= sizeof(*chunk) + chunk->size;
		pages_free(chunk, sizeof(*chunk) + chunk->size, 1);
	}
	gathering->bytes -= (uint64_t)store->items_capacity * sizeof(*store->items);
	pages_free(store->items, store->items_capacity, sizeof(*store->items));
	*store = (struct nt_store){ 0 };
}

/* The number of an event's definition, which is made at the first; NT_DEFINITIONS_MAX: too many. */
static enum hd_status define_event(struct nt_gathering *gathering, const struct nt_metadata *of,
				   const uint8_t *metadata, uint32_t size, uint32_t *ret,
				   struct hd_error *err)
{
	uint32_t index = 0;
	for (; index < gathering->definition_count; index++) {
		const struct nt_metadata *other = &gathering->definitions[index].of;
		if (other->provider == of->provider && other->event == of->event &&
		    other->version == of->version)
			break;
	}
	*ret = index;
	if (index == NT_DEFINITIONS_MAX)
		return HD_OK;
	struct nt_definition *definition = &gathering->definitions[index];
	if (index == gathering->definition_count) {
		gathering->definition_count++;
		*definition = (struct nt_definition){ .of = *of };
	}
	/* The id and the end of a name, the keywords, the version, the level, the number of fields. */
	bool is_wanted = gathering->keeps_metadata && metadata && !definition->metadata &&
			 size >= 26 && size <= UINT16_MAX && load_u32(metadata) == of->event;
	if (!is_wanted)
		return HD_OK;
	uint8_t *copy = mem_alloc(size, 1);
	TRY_MEMORY(copy, err);
	memcpy(copy, metadata, size);
	definition->metadata = copy;
	definition->size = size;
	return HD_OK;
}

static bool belongs_to_collection(uint32_t kind)
{
	return kind == NT_GC_START || kind == NT_GC_END || kind == NT_RANGE || nt_is_of_walk(kind);
}

/*
 * The open collection has ended without being the one that is wanted: it stays as far as it goes if it has objects.
 * What came outside of a collection was not sent in order, unless it is the rest of one that had begun before all.
 */
static void leave_collection(struct nt_gathering *gathering, const struct nt_window *left,
			     bool has_end)
{
	if (left->has_nodes) {
		empty_store(gathering, &gathering->cut);
		gathering->cut = gathering->current;
		gathering->current = (struct nt_store){ 0 };
		return;
	}
	if (!left->has_start && !has_end)
		gathering->strays += gathering->current.items_count;
	gathering->ignored += gathering->current.items_count;
	empty_store(gathering, &gathering->current);
}

/* Take an event that belongs to one collection; false: there is no memory for it. */
static bool take_of_collection(struct nt_gathering *gathering, const struct nt_item *item)
{
	const struct nt_window before = gathering->window;
	const struct nt_window_step step = nt_window_step(&gathering->window, item);
	if (gathering->is_done) {
		/* A walk's event that comes before another collection begins came too late. */
		bool is_stray = nt_is_of_walk(item->kind) && !gathering->window.has_start;
		gathering->strays += is_stray ? 1 : 0;
		gathering->ignored++;
		return true;
	}
	if (step.ends_before)
		leave_collection(gathering, &before, false);
	/* Nothing is open: the end of a collection that began before all. */
	if (!gathering->window.is_open && !step.ends_with) {
		gathering->ignored++;
		return true;
	}
	if (item->kind == NT_NODES)
		empty_store(gathering, &gathering->cut);
	bool kept = keep_item(gathering, &gathering->current, item);
	if (step.ends_with) {
		gathering->is_done = before.has_start && before.has_nodes;
		if (!gathering->is_done)
			leave_collection(gathering, &before, true);
	}
	return kept;
}

enum hd_status nt_gather(struct nt_gathering *gathering, const struct nt_event *event,
			 const uint8_t *metadata, uint32_t size, struct hd_error *err)
{
	struct nt_item item;
	if (!nt_item_of(event, &item))
		return HD_OK;
	uint32_t definition = 0;
	bool kept =
		define_event(gathering, event->metadata, metadata, size, &definition, err) == HD_OK;
	item.definition = (uint16_t)definition;
	item.pid = gathering->pid;
	item.interval = 0;
	if (item.time < gathering->last_time)
		item.time = gathering->last_time;
	gathering->last_time = item.time;
	kept &= belongs_to_collection(item.kind) ? take_of_collection(gathering, &item)
						 : keep_item(gathering, &gathering->lasting, &item);
	if (kept)
		return HD_OK;
	gathering->lost++;
	return fail(err, HD_ERR_NOMEM, 0,
		    "the events of the snapshot take more memory than they may: allow more");
}

/* The collection that the snapshot is made of. */
static const struct nt_store *chosen_store(const struct nt_gathering *gathering)
{
	for (size_t i = 0; i < gathering->current.items_count; i++) {
		if (gathering->current.items[i].kind == NT_NODES)
			return &gathering->current;
	}
	return gathering->cut.items_count ? &gathering->cut : &gathering->current;
}

enum hd_status nt_gathered_trace(const struct nt_gathering *gathering, const char *name,
				 struct job *job, struct nt_trace *ret, struct hd_error *err)
{
	const struct nt_store *of = chosen_store(gathering), *lasting = &gathering->lasting;
	*ret = (struct nt_trace){ .stream = { .path = name,
					      .job = job,
					      .err = err,
					      .version = 4,
					      .about = gathering->about,
					      .outcome = { .is_complete = true,
							   .lost = gathering->lost,
							   .gaps = gathering->lost ? 1 : 0 } },
				  .strays = gathering->strays };
	size_t count = of->items_count + lasting->items_count;
	ret->items = pages_alloc(count, sizeof(*ret->items));
	TRY_MEMORY(ret->items, err);
	ret->items_capacity = count;
	size_t next = 0, next_lasting = 0;
	while (ret->items_count < count) {
		bool is_lasting = next == of->items_count ||
				  (next_lasting < lasting->items_count &&
				   lasting->items[next_lasting].time <= of->items[next].time);
		ret->items[ret->items_count++] =
			is_lasting ? lasting->items[next_lasting++] : of->items[next++];
	}
	TRY(nt_trace_find(ret));
	/* It is not known which events were lost. */
	for (size_t i = 0; i < ret->snapshots_count; i++)
		ret->snapshots[i].lost = gathering->lost;
	return HD_OK;
}

void nt_gather_free_events(struct nt_gathering *gathering)
{
	empty_store(gathering, &gathering->lasting);
	empty_store(gathering, &gathering->current);
	empty_store(gathering, &gathering->cut);
}

void nt_gather_deinit(struct nt_gathering *gathering)
{
	nt_gather_free_events(gathering);
	for (uint32_t i = 0; i < gathering->definition_count; i++)
		mem_free(gathering->definitions[i].metadata);
	gathering->definition_count = 0;
}
