/* SPDX-License-Identifier: MIT */
/* Items in objects that refer to each other: one chain, or an array of chains. */
#include "analysis/collections/collection_walk.h"
#include "util/alloc.h"

/* Addresses of nodes whose items come in the other order. */
struct node_list {
	uint64_t *rows;
	size_t rows_count, rows_capacity;
};

static bool keep_node(struct collection_walk *walk, struct node_list *list, uint64_t address)
{
	if (!PAGES_RESERVE(list, rows)) {
		walk->status = fail_nomem(walk->err);
		return false;
	}
	list->rows[list->rows_count++] = address;
	return true;
}

/* The nodes that were kept, the last one first; also those before damage. */
static void emit_reversed(struct collection_walk *walk, const struct node_list *list,
			  const struct item_fields *fields)
{
	bool is_broken = walk->facts.is_broken;
	struct holder node;
	walk->facts.is_broken = false;
	for (size_t i = list->rows_count; i-- > 0;) {
		if (!holder_at(walk, list->rows[i], &node) || !walk_node(walk, &node, fields))
			break;
	}
	walk->facts.is_broken |= is_broken;
}

static bool links_begin(struct collection_walk *walk, const struct collection_part *part,
			uint64_t *ret)
{
	const struct collection_layout *layout = part->layout;
	uint64_t count;
	if (layout->count) {
		if (!holder_count(walk, &part->holder, layout->count, &count))
			return false;
		walk_add_count(walk, count);
	}
	*ret = part->holder.address;
	if (!layout->items)
		return true;
	struct member first = holder_member(walk->members, &part->holder, layout->items);
	*ret = first.bits;
	return first.state == MEMBER_READ || first.state == MEMBER_NULL;
}

void walk_links(struct collection_walk *walk, const struct collection_part *part)
{
	const struct collection_layout *layout = part->layout;
	struct node_list list = { 0 };
	struct link_chain chain;
	struct holder node;
	uint64_t first;
	if (!links_begin(walk, part, &first)) {
		walk_broken(walk);
		return;
	}
	link_chain_init(&chain, first, layout->next);
	while (link_chain_next(walk, &chain, &node)) {
		if (layout->end == ENDS_WITH_NONE && !chain.at)
			break;
		bool is_last = layout->end == ENDS_WITH_FIRST && chain.at == first;
		bool goes_on = part->is_reversed ? keep_node(walk, &list, node.address)
						 : walk_node(walk, &node, &layout->item);
		if (!goes_on || is_last)
			break;
	}
	if (walk->status == HD_OK)
		emit_reversed(walk, &list, &layout->item);
	pages_free(list.rows, list.rows_capacity, sizeof(*list.rows));
}

/* The counts of all locks together. */
static bool add_lock_counts(struct collection_walk *walk, const struct collection_part *part)
{
	struct array_info counts;
	int64_t sum = 0;
	if (!holder_array(walk, &part->holder, part->layout->count, &counts) ||
	    (counts.length && counts.element_size != 4))
		return false;
	for (uint64_t i = 0; i < counts.length; i++) {
		int32_t count;
		if (!memory_i32(walk->heap->memory, counts.data + 4 * i, &count))
			return false;
		sum += count;
	}
	/* An item may be counted by one lock and taken away under another one. */
	walk_add_count(walk, sum > 0 ? (uint64_t)sum : 0);
	return sum >= 0;
}

void walk_chains(struct collection_walk *walk, const struct collection_part *part)
{
	const struct collection_layout *layout = part->layout;
	struct array_info buckets;
	struct link_chain chain;
	struct holder node;
	if (!add_lock_counts(walk, part) ||
	    !holder_array(walk, &part->holder, layout->items, &buckets)) {
		walk_broken(walk);
		return;
	}
	for (uint64_t i = 0; i < buckets.length; i++) {
		uint64_t first;
		struct item_value bucket = element_value(walk, &buckets, i, layout->start);
		if (!bucket.element_type ||
		    !memory_u64(walk->heap->memory, bucket.address, &first)) {
			walk_broken(walk);
			return;
		}
		link_chain_init(&chain, first, layout->next);
		while (link_chain_next(walk, &chain, &node) &&
		       walk_node(walk, &node, &layout->item))
			;
		if (!walk_step(walk, buckets.element_size))
			return;
	}
}
