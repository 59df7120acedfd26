/* SPDX-License-Identifier: MIT */
#include "format/viewers/heapsnapshot_ids.h"

/*
 * No process has objects in more parts of the address space than this: then ids are not addresses.
 */
#define ADDRESS_RUNS_MAX 16u

/* Objects whose ids ascend: those with addresses that have the same high bits. */
struct address_run {
	uint32_t first, end; /* nodes */
};

/* The runs; 0 if there are too many, or if two objects in one have the same id. */
static uint32_t find_address_runs(const struct heapsnapshot_ids *ids, struct address_run *runs)
{
	uint32_t count = 0;
	uint64_t last = 0;
	for (uint32_t node = 0; node < ids->graph->object_count; node++) {
		uint64_t address = graph_id(ids->graph, node);
		uint64_t number = address >> ids->shift;
		if (address != number << ids->shift || (node && number == last))
			return 0;
		if (!node || number >> 31 != last >> 31) {
			if (count == ADDRESS_RUNS_MAX)
				return 0;
			runs[count++] = (struct address_run){ .first = node };
		}
		runs[count - 1].end = node + 1;
		last = number;
	}
	return count;
}

/*
 * Do two runs have an id in common?  Ends at the first one, or when one run is completely below the
 * other.
 */
static bool have_common(const struct heapsnapshot_ids *ids, struct address_run a,
			struct address_run b)
{
	if (heapsnapshot_id(ids, a.end - 1) < heapsnapshot_id(ids, b.first) ||
	    heapsnapshot_id(ids, b.end - 1) < heapsnapshot_id(ids, a.first))
		return false;
	uint32_t x = heapsnapshot_id(ids, a.first), y = heapsnapshot_id(ids, b.first);
	while (x != y) {
		if (x < y) {
			if (++a.first == a.end)
				return false;
			x = heapsnapshot_id(ids, a.first);
		} else {
			if (++b.first == b.end)
				return false;
			y = heapsnapshot_id(ids, b.first);
		}
	}
	return true;
}

void heapsnapshot_ids_init(struct heapsnapshot_ids *ids, const struct hd_graph *graph)
{
	*ids = (struct heapsnapshot_ids){ .graph = graph, .by_address = true };
	ids->shift = graph->info.is_32bit ? 2 : 3;
	struct address_run runs[ADDRESS_RUNS_MAX];
	uint32_t count = find_address_runs(ids, runs);
	ids->by_address = count > 0;
	for (uint32_t i = 1; i < count; i++) {
		for (uint32_t k = 0; ids->by_address && k < i; k++)
			ids->by_address = !have_common(ids, runs[k], runs[i]);
	}
}
