/* SPDX-License-Identifier: MIT */
/*
 * The records of a .gcdump, each decoded once.  Workers take batches of objects in turn.  The place
 * for the references of a batch is known when the batches before it have ended; if the worker is
 * early, they wait in a buffer.
 */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "format/gcdump/gcdump_reading.h"
#include "util/alloc.h"
#include "util/fuzzed.h"

/* Objects of a batch. */
#define OBJECTS_BATCH 16384u
/* For fewer objects than this, another worker is not worth it. */
#define WORKER_MIN 65536u
/* References that wait. */
#define BUFFER FUZZED(65536u, 64u)
/*
 * How far ahead memory at random places is prefetched: first what is read by position, then
 * records.
 */
#define AHEAD_ORDER   32u
#define AHEAD_RECORDS 16u

enum pass_outcome {
	GOOD,
	BAD_RECORD,
	OVERLAP,
	DESCENDS,
	CANCELLED,
	NO_MEMORY
};

/* Sums over the records of all objects, or of a batch. */
struct node_sums {
	struct gcdump_sums sizes;
	bool met_pseudo, has_others; /* references to pseudo-nodes, and to what is not an object */
};

/* State that the workers share. */
struct node_pass {
	struct gcdump_reading *reading;
	_Atomic uint32_t next; /* the next batch to be taken */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	/* under the lock: */
	uint32_t turn;  /* the batch whose turn it is */
	uint64_t edges; /* of those before it */
	enum pass_outcome outcome;
	uint32_t bad_node;
	struct node_sums sums;
};

/* A batch that a worker works on. */
struct node_part {
	struct node_pass *pass;
	struct gcdump_reading *reading;
	uint32_t batch;
	bool has_turn;
	uint32_t *begin, *to, *end; /* where references go: the buffer, or raw.targets */
	uint32_t *numbered;         /* references before this are objects */
	struct node_sums sums;
	enum pass_outcome outcome;
	uint32_t bad_node;
};

static uint32_t batch_count(const struct gcdump_reading *reading)
{
	return (uint32_t)(((uint64_t)reading->raw.object_count + OBJECTS_BATCH - 1) /
			  OBJECTS_BATCH);
}

/* End the pass; the first outcome counts. */
static void stop_pass(struct node_pass *pass, enum pass_outcome outcome)
{
	(void)pthread_mutex_lock(&pass->lock);
	if (pass->outcome == GOOD)
		pass->outcome = outcome;
	(void)pthread_cond_broadcast(&pass->moved);
	(void)pthread_mutex_unlock(&pass->lock);
}

/* Something that is not an object: a missing node, or nothing. */
static uint32_t other_target(struct node_part *part, uint32_t node, uint32_t target)
{
	part->sums.has_others = true;
	part->sums.met_pseudo |= bitmap_has(part->reading->pseudo.nodes, node);
	return target == HD_NONE ? HD_NONE
				 : part->reading->raw.object_count + (target & ~GCDUMP_MISSING);
}

static inline uint32_t target_of(struct node_part *part, uint32_t node)
{
	const struct gcdump_reading *reading = part->reading;
	if (node - reading->numbers.main_node < reading->numbers.main_count)
		return node - reading->numbers.main_node + reading->numbers.main_object;
	uint32_t target = gcdump_object(&reading->numbers, node);
	return target < GCDUMP_MISSING ? target : other_target(part, node, target);
}

/* Nodes that wait become objects, whose numbers lie all over the map. */
static void number_targets(struct node_part *part)
{
	const uint32_t *map = part->reading->numbers.map;
	for (uint32_t *at = part->numbered; at < part->to; at++) {
		if (part->to - at > (ptrdiff_t)AHEAD_ORDER)
			__builtin_prefetch(&map[at[AHEAD_ORDER]]);
		uint32_t target = map[*at];
		*at = target < GCDUMP_MISSING ? target : other_target(part, *at, target);
	}
	part->numbered = part->to;
}

/* With the lock: wait until all batches before this one have ended. false: they never will. */
static bool wait_turn(struct node_part *part)
{
	struct node_pass *pass = part->pass;
	while (pass->turn != part->batch && pass->outcome == GOOD)
		(void)pthread_cond_wait(&pass->moved, &pass->lock);
	return pass->outcome == GOOD;
}

/* From now on, references are written to their final place. */
static void go_direct(struct node_part *part, uint64_t first)
{
	struct raw_graph *raw = &part->reading->raw;
	size_t count = (size_t)(part->to - part->begin);
	uint32_t *begin = raw->targets + first;
	if (count)
		memcpy(begin, part->begin, count * sizeof(*begin));
	part->begin = begin;
	part->to = part->numbered = begin + count;
	part->end = raw->targets + raw->edge_count;
	part->has_turn = true;
}

/* Make room for @p count references; false: memory is exhausted, or the pass has ended. */
static bool make_edge_room(struct node_part *part, uint32_t count)
{
	struct node_pass *pass = part->pass;
	if (part->reading->numbers.order)
		number_targets(part);
	if (!part->has_turn) {
		(void)pthread_mutex_lock(&pass->lock);
		bool goes_on = wait_turn(part);
		uint64_t first = pass->edges;
		(void)pthread_mutex_unlock(&pass->lock);
		if (!goes_on) {
			part->outcome = CANCELLED;
			return false;
		}
		if ((uint64_t)(part->to - part->begin) > part->reading->raw.edge_count - first) {
			part->outcome = OVERLAP;
			return false;
		}
		go_direct(part, first);
	}
	if (part->end - part->to >= (ptrdiff_t)count)
		return true;
	part->outcome = OVERLAP;
	return false;
}

/* The size of an object; counts those that do not fit in 31 bits. */
static inline uint32_t object_size(const struct gcdump_record *record, struct node_part *part)
{
	/* -1 is the size of a type without nodes. */
	if (record->size == -1)
		return 0;
	part->sums.sizes.total_size += record->size;
	part->sums.sizes.cut_sizes += record->size < 0;
	return (uint32_t)record->size;
}

/* The children of a record: objects, or nodes that number_targets() will look up. */
__attribute__((always_inline)) static inline bool read_children(struct node_part *part,
								uint32_t node,
								const struct gcdump_record *record,
								bool by_map)
{
	uint32_t node_count = part->reading->file.node_count;
	const uint8_t *at = record->children;
	uint32_t *to = part->to;
	bool all_there = (uint64_t)(record->end - at) >=
			 (uint64_t)record->child_count * GCDUMP_CINT_MAX + GCDUMP_CINT_WIDE;
	for (uint32_t i = 0; i < record->child_count; i++) {
		int32_t difference;
		at = all_there ? gcdump_cint_wide(at, &difference)
			       : gcdump_cint_careful(at, record->end, &difference);
		uint32_t child = node + (uint32_t)difference;
		if (!at || child >= node_count)
			return false;
		*to++ = by_map ? child : target_of(part, child);
	}
	part->to = to;
	return true;
}

__attribute__((always_inline)) static inline bool read_record(struct node_part *part, uint32_t node,
							      uint32_t offset, uint32_t object,
							      bool by_map)
{
	struct gcdump_reading *reading = part->reading;
	const struct raw_graph *raw = &reading->raw;
	struct gcdump_record record;
	part->bad_node = node;
	if (!gcdump_record(&reading->file, offset, &record)) {
		part->outcome = BAD_RECORD;
		return false;
	}
	raw->types[object] = record.type;
	raw->sizes[object] = object_size(&record, part);
	raw->degrees[object] = record.child_count;
	uint8_t *used = &reading->used[record.type];
	if (!__atomic_load_n(used, __ATOMIC_RELAXED))
		__atomic_store_n(used, 1, __ATOMIC_RELAXED);
	if (part->end - part->to < (ptrdiff_t)record.child_count &&
	    !make_edge_room(part, record.child_count))
		return false;
	if (read_children(part, node, &record, by_map))
		return true;
	part->outcome = BAD_RECORD;
	return false;
}

/* Objects whose order is that of their nodes. */
static bool read_ascending(struct node_part *part, uint32_t object, uint32_t end)
{
	const struct gcdump_reading *reading = part->reading;
	uint64_t *ids = reading->raw.ids;
	uint32_t node = gcdump_node_of(&reading->numbers, object);
	uint64_t last = 0;
	for (; object < end; node++) {
		if (gcdump_object(&reading->numbers, node) != object)
			continue;
		uint64_t id = gcdump_address(&reading->file, node);
		if (id <= last) {
			part->outcome = DESCENDS;
			return false;
		}
		ids[object] = last = id;
		uint32_t offset = gcdump_offset(&reading->file, node);
		if (!read_record(part, node, offset, object, false))
			return false;
		object++;
	}
	return true;
}

static bool read_ordered(struct node_part *part, uint32_t object, uint32_t end)
{
	const struct gcdump *file = &part->reading->file;
	const uint32_t *order = part->reading->numbers.order;
	for (; object < end; object++) {
		if (object + AHEAD_ORDER < end) {
			uint32_t soon = order[object + AHEAD_RECORDS];
			__builtin_prefetch(file->offsets + (size_t)order[object + AHEAD_ORDER] * 4);
			__builtin_prefetch(file->blob + gcdump_offset(file, soon));
		}
		uint32_t offset = gcdump_offset(file, order[object]);
		if (!read_record(part, order[object], offset, object, true))
			return false;
	}
	number_targets(part);
	return true;
}

/* The same, when it is known where records begin, so that this need not be looked up. */
static bool read_pieces(struct node_part *part, uint32_t object, uint32_t end)
{
	const struct gcdump_reading *reading = part->reading;
	struct gcdump_cursor cursor;
	gcdump_cursor_init(&cursor, &reading->numbers.starts, object);
	for (; object < end; object++) {
		uint32_t node = reading->numbers.order[object],
			 offset = gcdump_cursor_next(&cursor);
		/* If the file changes while it is read, this may be the old value. */
		if (node >= reading->file.node_count)
			node = 0;
		if (!read_record(part, node, offset, object, true))
			return false;
	}
	number_targets(part);
	return true;
}

static void add_node_sums(struct node_sums *all, const struct node_sums *part)
{
	all->sizes.total_size += part->sizes.total_size;
	all->sizes.cut_sizes += part->sizes.cut_sizes;
	all->met_pseudo |= part->met_pseudo;
	all->has_others |= part->has_others;
}

/* Add a batch to the pass, or its failure; false: the pass has ended. */
static bool end_batch(struct node_part *part)
{
	struct node_pass *pass = part->pass;
	uint64_t count = (uint64_t)(part->to - part->begin);
	(void)pthread_mutex_lock(&pass->lock);
	bool goes_on = wait_turn(part);
	uint64_t first = pass->edges;
	if (goes_on && part->outcome == GOOD && count > part->reading->raw.edge_count - first)
		part->outcome = OVERLAP;
	if (goes_on) {
		pass->outcome = part->outcome;
		pass->bad_node = part->bad_node;
		pass->edges += count;
		add_node_sums(&pass->sums, &part->sums);
		pass->turn++;
	}
	goes_on = pass->outcome == GOOD;
	(void)pthread_cond_broadcast(&pass->moved);
	(void)pthread_mutex_unlock(&pass->lock);
	if (goes_on && !part->has_turn)
		go_direct(part, first);
	return goes_on;
}

static bool read_batch(struct node_part *part)
{
	struct node_pass *pass = part->pass;
	const struct gcdump_reading *reading = part->reading;
	uint32_t count = reading->raw.object_count, begin = part->batch * OBJECTS_BATCH;
	uint32_t end = count - begin < OBJECTS_BATCH ? count : begin + OBJECTS_BATCH;
	(void)pthread_mutex_lock(&pass->lock);
	bool is_next = pass->turn == part->batch;
	uint64_t first = pass->edges;
	(void)pthread_mutex_unlock(&pass->lock);
	if (is_next)
		go_direct(part, first);
	if (reading->numbers.starts.bits) {
		(void)read_pieces(part, begin, end);
	} else if (reading->numbers.order) {
		(void)read_ordered(part, begin, end);
	} else {
		(void)read_ascending(part, begin, end);
	}
	return end_batch(part);
}

static void read_batches(void *arg, unsigned int worker)
{
	struct node_pass *pass = arg;
	uint32_t *buffer = pages_alloc(BUFFER, sizeof(*buffer));
	if (!buffer)
		stop_pass(pass, NO_MEMORY);
	while (buffer) {
		struct node_part part = { .pass = pass,
					  .reading = pass->reading,
					  .batch = pass->next++,
					  .begin = buffer,
					  .to = buffer,
					  .numbered = buffer,
					  .end = buffer + BUFFER };
		if (part.batch >= batch_count(pass->reading) || !read_batch(&part))
			break;
		if (!job_step(pass->reading->job, worker, OBJECTS_BATCH))
			stop_pass(pass, CANCELLED);
	}
	pages_free(buffer, BUFFER, sizeof(*buffer));
}

static enum hd_status overlap(const struct gcdump_reading *reading)
{
	uint64_t at = (uint64_t)(reading->file.blob - reading->file.bytes);
	return fail(reading->err, HD_ERR_FORMAT, at,
		    "%s: offset 0x%" PRIx64
		    ": nodes share records, which no writer does (--lenient goes on)",
		    reading->file.path, at);
}

static enum hd_status fail_pass(const struct node_pass *pass, enum pass_outcome outcome)
{
	switch (outcome) {
	case BAD_RECORD:
		return gcdump_bad_record(pass->reading, pass->bad_node);
	case OVERLAP:
		return overlap(pass->reading);
	case CANCELLED:
		return fail_cancelled(pass->reading->err);
	default:
		return fail_nomem(pass->reading->err);
	}
}

/* The number of references in the records of objects, without damaged ones. */
static uint64_t count_record_edges(const struct gcdump_reading *reading)
{
	const struct gcdump *file = &reading->file;
	uint64_t edges = 0;
	for (uint32_t node = 0; node < file->node_count && edges <= file->blob_size; node++) {
		struct gcdump_record record;
		if (gcdump_object(&reading->numbers, node) < GCDUMP_MISSING &&
		    gcdump_record(file, gcdump_offset(file, node), &record))
			edges += record.child_count;
	}
	return edges;
}

/*
 * Room for one reference per byte of the records: what is not used costs nothing.  The real number
 * is only counted if there is not enough memory for this.
 */
static enum hd_status make_targets(struct gcdump_reading *reading)
{
	struct raw_graph *raw = &reading->raw;
	uint64_t most = reading->file.blob_size;
	if (raw_graph_set_edge_count(raw, most, reading->job, NULL) == HD_OK)
		return HD_OK;
	uint64_t edges = count_record_edges(reading);
	return raw_graph_set_edge_count(raw, edges < most ? edges : most, reading->job,
					reading->err);
}

/* The ids in each batch ascend: do they also ascend from one batch to the next? */
static bool batches_ascend(const struct raw_graph *raw)
{
	for (uint64_t i = OBJECTS_BATCH; i < raw->object_count; i += OBJECTS_BATCH) {
		if (raw->ids[i] <= raw->ids[i - 1])
			return false;
	}
	return true;
}

static enum pass_outcome run_pass(struct node_pass *pass)
{
	const struct gcdump_reading *reading = pass->reading;
	uint32_t count = reading->raw.object_count;
	unsigned int workers = job_workers(reading->job);
	while (workers > 1 && count / workers < WORKER_MIN)
		workers--;
	pass->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	pass->moved = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	job_begin(reading->job, "Reading nodes", count);
	run_parallel(workers, reading->job, read_batches, pass);
	(void)pthread_cond_destroy(&pass->moved);
	(void)pthread_mutex_destroy(&pass->lock);
	if (pass->outcome == GOOD && !reading->numbers.order && !batches_ascend(&reading->raw))
		return DESCENDS;
	return pass->outcome;
}

/* Take over what the pass made. */
static enum hd_status take_pass(const struct node_pass *pass)
{
	struct gcdump_reading *reading = pass->reading;
	struct raw_graph *raw = &reading->raw;
	uint32_t *targets =
		pages_resize(raw->targets, raw->edge_count, pass->edges, sizeof(*targets));
	TRY_MEMORY(targets, reading->err);
	raw->targets = targets;
	raw->edge_count = pass->edges;
	raw->all_inside = !pass->sums.has_others;
	raw->ascends = raw->ascends || !reading->numbers.order;
	raw->type_map = reading->type_map;
	reading->sums = pass->sums.sizes;
	return gcdump_make_types(reading);
}

enum hd_status gcdump_read_nodes(struct gcdump_reading *reading, bool *ret_met_pseudo)
{
	struct node_pass pass = { .reading = reading };
	TRY(gcdump_number(reading));
	TRY(make_targets(reading));
	enum pass_outcome outcome = run_pass(&pass);
	if (outcome == DESCENDS) {
		TRY(gcdump_sort(reading));
		pass = (struct node_pass){ .reading = reading };
		outcome = run_pass(&pass);
	}
	*ret_met_pseudo = pass.sums.met_pseudo;
	return outcome == GOOD ? take_pass(&pass) : fail_pass(&pass, outcome);
}
