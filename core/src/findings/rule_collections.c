/* SPDX-License-Identifier: MIT */
/* Collections whose arrays are nearly empty, or that are small and many: doc/report.md 4.12. */
#include "findings/counted.h"
#include "findings/rule.h"
#include "framework/collection_layout.h"
#include "framework/owns.h"
#include "util/bitmap.h"
#include "util/job.h"

#define ROOM_MIN 4u
/* Buckets that a ConcurrentDictionary has from the start. */
#define CHAINS_MIN 64u
#define BYTES_MIN  65536u
/* So many collections of one type with so few elements each are one for each row of something. */
#define SMALLS_MIN 1000u
#define SMALL_MAX  16u

/* So few collections of a library are made by it, whatever the program does with it. */
#define LIBRARY_FEW 16u

#define STREAM "System.IO.MemoryStream"

static const struct waste_telling of_collections = {
	.telling = {
		.least = { [SEVERITY_MEDIUM] = { .permille = 100, .bytes = MEGABYTE },
			   [SEVERITY_LOW] = { .permille = 10, .bytes = BYTES_MIN } },
		.id = "collections:{holder}:{full}",
		.title = "{objects} nearly empty {type} in {holder}",
		.sentence_of_one = "{objects} {type} in {holder} uses {count1} of its {count2} "
				   "slots; {bytes} are empty.",
		.sentence = "{objects} {type} in {holder} use {count1} of their {count2} slots; "
			    "{bytes} are empty.",
		.look_at = "the capacity that {holder} is made with",
		.next = "dumpheap -type {full}",
	},
	.counts = { "collections", "used", "slots" },
};

/* A library that the program brings makes what it needs in advance, such as a cache: nobody can do much about that. */
static const struct waste_telling of_libraries = {
	.telling = {
		.least = { [SEVERITY_LOW] = { .permille = 10, .bytes = BYTES_MIN } },
		.id = "collections:{holder}:{full}",
		.title = "{objects} nearly empty {type} in {holder}",
		.sentence_of_one = "{objects} {type} in {holder} uses {count1} of its {count2} "
				   "slots; {bytes} are empty. A library has made it.",
		.sentence = "{objects} {type} in {holder} use {count1} of their {count2} slots; "
			    "{bytes} are empty. A library has made them.",
		.look_at = "the options of the library that tell how much it prepares",
		.next = "dumpheap -type {full}",
	},
	.counts = { "collections", "used", "slots" },
};

/* A MemoryStream counts its bytes as a list counts its items. */
static bool read_stream(const struct report_facts *facts, uint32_t node, struct waste *ret)
{
	struct member used = facts_fact(facts, node, FACT_MEMORY_STREAM_LENGTH);
	struct member room = facts_fact(facts, node, FACT_MEMORY_STREAM_CAPACITY);
	uint32_t buffer = facts_fact_node(facts, node, FACT_MEMORY_STREAM_BUFFER);
	int64_t bytes = member_signed(&room) - member_signed(&used);
	if (used.state != MEMBER_READ || room.state != MEMBER_READ || buffer == HD_NONE ||
	    member_signed(&used) < 0 || member_signed(&used) * 4 >= member_signed(&room) ||
	    (uint64_t)bytes > graph_size(facts->graph, buffer))
		return false;
	ret->used = (uint64_t)member_signed(&used);
	ret->room = (uint64_t)member_signed(&room);
	ret->bytes = (uint64_t)bytes;
	return true;
}

static bool is_wasteful_stream(struct report *report, uint32_t node, struct waste *ret)
{
	const struct report_facts *facts = &report->facts;
	if (facts->classes[node] != CLASS_PROCESS || waste_is_explained(report, node) ||
	    !read_stream(facts, node, ret))
		return false;
	uint32_t idom = facts_idom(facts, node);
	ret->holder = idom == HD_NONE ? HD_NONE : facts->graph->node_types[idom];
	ret->type = facts->graph->node_types[node];
	ret->sample = node;
	return true;
}

static bool is_nearly_empty(const struct counted *counted)
{
	return counted->has_room &&
	       counted->room > (counted->layout->shape == SHAPE_CHAINS ? CHAINS_MIN : ROOM_MIN) &&
	       counted->count * 4 < counted->room;
}

static bool is_wasteful(struct report *report, const struct counted *read, struct waste *ret)
{
	struct report_facts *facts = &report->facts;
	struct counted counted = *read;
	uint32_t node = counted.node;
	if (!is_nearly_empty(&counted) || counted_turns(&counted) ||
	    waste_is_explained(report, node))
		return false;
	uint32_t idom = facts_idom(facts, node);
	ret->holder = idom == HD_NONE ? HD_NONE : facts->graph->node_types[idom];
	ret->type = facts->graph->node_types[node];
	ret->sample = node;
	ret->used = counted.count;
	ret->room = counted.room;
	ret->bytes = (counted.room - counted.count) * counted.slot;
	/* Hostile counts: not more than the array has. */
	if (counted.array == HD_NONE || ret->bytes > graph_size(facts->graph, counted.array))
		return false;
	return facts->classes[node] == CLASS_PROCESS;
}

/* Has a class of a library the collection? */
static bool is_of_library(const struct report_facts *facts, uint32_t node)
{
	struct object owner;
	uint32_t idom = facts_idom(facts, node);
	return idom != HD_NONE && facts_object(facts, idom, &owner) &&
	       !owner.type->component_size &&
	       code_owner_of_type(facts->heap->runtime, owner.type) == CODE_OF_LIBRARY;
}

/* A few elements, each of which would take a word in a field of a class or an element of an array. */
static bool is_small(const struct report *report, const struct counted *counted, struct waste *ret)
{
	const struct report_facts *facts = &report->facts;
	uint32_t node = counted->node;
	if (bitmap_has(report->wasted, node) || counted->count > SMALL_MAX ||
	    is_nearly_empty(counted) || facts->classes[node] != CLASS_PROCESS ||
	    type_is_array(facts_type(facts, node)))
		return false;
	uint64_t bytes = waste_own_bytes(facts, node), used = counted->count * sizeof(uint64_t);
	*ret = (struct waste){ .holder = HD_NONE,
			       .type = facts->graph->node_types[node],
			       .sample = node,
			       .used = counted->count,
			       .room = counted->room,
			       .bytes = bytes > used ? bytes - used : 0 };
	return true;
}

/* The collections of one type. */
static enum hd_status collect_type(struct report *report, uint32_t type, struct wastes *wastes,
				   struct wastes *smalls, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	struct typed_nodes all = typed_nodes(facts, type);
	size_t begin = wastes->rows_count, small_begin = smalls->rows_count;
	for (uint32_t i = 0; i < all.count; i++) {
		struct counted counted;
		struct waste waste;
		if (i % JOB_STRIDE == 0 && !job_step(facts->job, 0, 0))
			return fail_cancelled(err);
		if (!counted_read(facts, all.nodes[i], &counted) || !counted.has_count)
			continue;
		if (is_wasteful(report, &counted, &waste)) {
			TRY(wastes_add(wastes, begin, &waste, err));
		} else if (is_small(report, &counted, &waste)) {
			TRY(wastes_add(smalls, small_begin, &waste, err));
			/* One from the middle says more of who has them than the first one. */
			if (i <= all.count / 2)
				smalls->rows[small_begin].sample = all.nodes[i];
		}
	}
	if (smalls->rows_count > small_begin && smalls->rows[small_begin].count < SMALLS_MIN)
		smalls->rows_count = small_begin;
	return HD_OK;
}

static enum hd_status collect_wastes(struct report *report, struct wastes *wastes,
				     struct wastes *smalls, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	for (uint32_t type = 0; type < facts->graph->type_count; type++) {
		if (facts_live_count(facts, type) &&
		    counted_type_of(facts, typed_nodes(facts, type).nodes[0]))
			TRY(collect_type(report, type, wastes, smalls, err));
	}
	return HD_OK;
}

static const struct waste_telling of_smalls = {
	.telling = {
		.least = { [SEVERITY_MEDIUM] = { .permille = 200, .bytes = 4 * MEGABYTE },
			   [SEVERITY_LOW] = { .permille = 50, .bytes = MEGABYTE } },
		.id = "collections:small:{holder}:{full}",
		.title = "{objects} small {type} in {holder}",
		.sentence = "{objects} small {type} in {holder} have {count1} elements in all and take "
			    "{bytes} ({share} of the live heap) besides these: one for each row of a table, "
			    "or for each node of a graph.",
		.look_at = "{holder}: fields of a class, an array, or one collection for all rows take less",
		.next = "dumpheap -stat -type {full}",
	},
	.counts = { "collections", "used", "slots" },
};

/* A connection keeps a buffer that is empty while nothing comes: only what is most of a large heap is waste. */
static const struct waste_telling of_streams = {
	.telling = {
		.least = { [SEVERITY_MEDIUM] = { .permille = 250, .bytes = 16 * MEGABYTE },
			   [SEVERITY_LOW] = { .permille = 100, .bytes = 4 * MEGABYTE } },
		.id = "collections:{holder}:{full}",
		.title = "{objects} nearly empty {type} in {holder}",
		.sentence_of_one = "{objects} {type} in {holder} uses {count1} of the {count2} bytes of its "
				   "buffer; {bytes} are empty.",
		.sentence = "{objects} {type} in {holder} use {count1} of the {count2} bytes of their "
			    "buffers; {bytes} are empty.",
		.look_at = "the capacity that {holder} is made with; a stream that is kept can be replaced by ToArray()",
		.next = "dumpheap -type {full}",
	},
	.counts = { "streams", "used", "bytes" },
};

static enum hd_status find_streams(struct report *report, struct hd_error *err)
{
	struct report_facts *facts = &report->facts;
	HD_CLEANUP(wastes) struct wastes wastes = { 0 };
	uint32_t type = typed_next(facts, HD_NONE, STREAM);
	struct waste waste;
	if (type == HD_NONE)
		return HD_OK;
	struct typed_nodes all = typed_nodes(facts, type);
	for (uint32_t i = 0; i < all.count; i++) {
		if (is_wasteful_stream(report, all.nodes[i], &waste))
			TRY(wastes_add(&wastes, 0, &waste, err));
	}
	return wastes_tell(report, &wastes, &of_streams, err);
}

/* Tell those of a library and the others, each in their words. */
static enum hd_status tell_collections(struct report *report, const struct wastes *wastes,
				       struct hd_error *err)
{
	for (size_t i = 0; i < wastes->rows_count; i++) {
		const struct wastes one = { .rows = &wastes->rows[i], .rows_count = 1 };
		bool is_prepared = one.rows->count <= LIBRARY_FEW &&
				   is_of_library(&report->facts, one.rows->sample);
		TRY(wastes_tell(report, &one, is_prepared ? &of_libraries : &of_collections, err));
	}
	return HD_OK;
}

static enum hd_status find_wastes(struct report *report, struct hd_error *err)
{
	HD_CLEANUP(wastes) struct wastes wastes = { 0 };
	HD_CLEANUP(wastes) struct wastes smalls = { 0 };
	TRY(collect_wastes(report, &wastes, &smalls, err));
	TRY(tell_collections(report, &wastes, err));
	TRY(wastes_tell(report, &smalls, &of_smalls, err));
	return find_streams(report, err);
}

const struct report_rule collections_rule = {
	.name = "collections",
	.turn = TURN_WASTE,
	.threshold =
		"collections filled under 25 %, with empty slots of 1 % of the live heap and 64 "
		"KB; medium: of 10 % and 1 MB",
	.needs = RULE_FIELDS,
	.find = find_wastes,
};
