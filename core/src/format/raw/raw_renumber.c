/* SPDX-License-Identifier: MIT */
/* Objects without an id, or with the id of another object. */
#include "format/raw/raw_graph.h"
#include "util/alloc.h"

/* Ids and order of all objects, those with good ids first. */
struct parted {
	uint64_t *ids;
	uint32_t *order;
	uint32_t good, count;
};

/* First those with good ids, then the others, both in their old order. */
static void part(const struct raw_graph *raw, struct parted *parted)
{
	uint32_t others = parted->count;
	for (uint32_t i = 0; i < parted->count; i++) {
		uint32_t good = parted->good;
		bool is_good = raw->ids[i] && (!good || parted->ids[good - 1] != raw->ids[i]);
		uint32_t to = is_good ? parted->good++ : --others;
		parted->ids[to] = raw->ids[i];
		parted->order[to] = raw->order[i];
	}
}

/* Merge them again; the others get the lowest numbers that are not ids. */
static void merge_parted(struct raw_graph *raw, const struct parted *parted)
{
	uint32_t next = 0, good = 0, other = parted->count;
	for (uint64_t id = 1; other > parted->good; id++, next++) {
		if (good < parted->good && parted->ids[good] == id) {
			raw->ids[next] = id;
			raw->order[next] = parted->order[good++];
		} else {
			raw->ids[next] = id;
			raw->order[next] = parted->order[--other];
		}
	}
	for (; good < parted->good; good++, next++) {
		raw->ids[next] = parted->ids[good];
		raw->order[next] = parted->order[good];
	}
}

static bool has_bad_id(const struct raw_graph *raw)
{
	if (raw->object_count && !raw->ids[0])
		return true;
	for (uint32_t i = 1; i < raw->object_count; i++) {
		if (raw->ids[i - 1] == raw->ids[i])
			return true;
	}
	return false;
}

enum hd_status raw_graph_renumber(struct raw_graph *raw, struct hd_graph *graph,
				  struct hd_error *err)
{
	if (!has_bad_id(raw))
		return HD_OK;
	uint32_t count = raw->object_count;
	struct parted parted = { .ids = pages_alloc(count, sizeof(*parted.ids)),
				 .order = pages_alloc(count, sizeof(*parted.order)),
				 .count = count };
	bool done = parted.ids && parted.order;
	if (done) {
		part(raw, &parted);
		merge_parted(raw, &parted);
	}
	pages_free(parted.ids, count, sizeof(*parted.ids));
	pages_free(parted.order, count, sizeof(*parted.order));
	TRY_MEMORY(done, err);
	return raw_graph_finding(graph, FINDING_SYNTHETIC_ID, count - parted.good,
				 "objects without an address, or with that of another one, have "
				 "numbers in place of it",
				 err);
}
