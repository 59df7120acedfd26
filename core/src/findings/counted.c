/* SPDX-License-Identifier: MIT */
#include "findings/counted.h"

#include "analysis/collections/collection.h"
#include "framework/collection_layout.h"
#include "framework/member.h"
#include "inspect/value.h"
#include "util/alloc.h"

#define LEVELS_TO_LIMIT 6u
/* Slots of the first segment of a ConcurrentQueue; each further one has twice as many (ConcurrentQueue.cs, .NET 8 to 11). */
#define FIRST_SEGMENT 32u

/* Is it the class itself, with any type arguments, and no class inside of it? */
static bool is_whole_class(const struct graph_type *type, const char *class)
{
	size_t i = strlen(class), depth = 0;
	if (!type_is_class(type, class))
		return false;
	for (; i < type->name_size; i++) {
		depth += type->name[i] == '<';
		if (type->name[i] == '>' && !--depth)
			return i + 1 == type->name_size;
	}
	return type->name_size == strlen(class);
}

/* A dump file has no fields: the name of a class says which collection it is. */
static const struct collection_layout *layout_by_name(const struct graph_type *type)
{
	const struct collection_layout *layout;
	for (unsigned int row = 0; (layout = collection_layout_at(row)); row++) {
		if (layout->shape != SHAPE_UNKNOWN && is_whole_class(type, layout->name))
			return layout;
	}
	return NULL;
}

const struct counted_type *counted_type_of(struct report_facts *facts, uint32_t node)
{
	const struct hd_graph *graph = facts->graph;
	if (node >= graph->object_count)
		return NULL;
	uint32_t type = graph->node_types[node];
	if (!facts->counted)
		facts->counted = mem_calloc((size_t)graph->type_count + 1, sizeof(*facts->counted));
	if (!facts->counted || type >= graph->type_count)
		return NULL;
	struct counted_type *ret = &facts->counted[type];
	if (ret->is_asked)
		return ret->layout ? ret : NULL;
	struct object object;
	struct collection collection;
	ret->is_asked = true;
	if (!facts->members) {
		ret->layout = layout_by_name(&graph->types[type]);
		return ret->layout ? ret : NULL;
	}
	if (!facts_object(facts, node, &object) || object.type->component_size ||
	    object.type->category == CATEGORY_SZ_ARRAY)
		return NULL;
	enum collection_state state =
		collection_open(facts->heap, facts->members, &object, &collection);
	if (state != COLLECTION_NONE && state != COLLECTION_UNKNOWN) {
		ret->layout = collection.layout;
		ret->holder = collection.holder.type;
	}
	return ret->layout ? ret : NULL;
}

static struct member counted_member(const struct report_facts *facts,
				    const struct counted_type *type, uint64_t address,
				    const char *path)
{
	if (!path)
		return (struct member){ .state = MEMBER_ABSENT };
	return member_of_struct(facts->members, type->holder, address + OBJECT_FIELDS, path);
}

/* A number that is not negative, and of a plausible size. */
static bool read_count_member(const struct member *member, uint64_t *ret)
{
	if (member->state != MEMBER_READ || element_is_reference(member->element_type) ||
	    member_signed(member) < 0)
		return false;
	*ret = member->bits;
	return true;
}

/* The counts of a ConcurrentDictionary are in an array, one for each lock. */
static bool sum_counts(const struct report_facts *facts, const struct member *member, uint64_t *ret)
{
	struct array_info array;
	uint64_t sum = 0;
	if (member->state != MEMBER_READ || !element_is_reference(member->element_type) ||
	    !array_at(facts->heap, facts->members, member->bits, &array) ||
	    array.element_size != 4 || array.length > 65536)
		return false;
	for (uint32_t i = 0; i < array.length; i++) {
		int32_t count;
		if (!memory_i32(facts->heap->memory, array.data + (uint64_t)4 * i, &count) ||
		    count < 0)
			return false;
		sum += (uint64_t)count;
	}
	*ret = sum;
	return true;
}

static void read_room(const struct report_facts *facts, const struct counted_type *type,
		      uint64_t address, struct counted *ret)
{
	struct member items = counted_member(facts, type, address, type->layout->items);
	struct object object;
	if (!type->layout->has_room || items.state != MEMBER_READ ||
	    !element_is_reference(items.element_type) ||
	    !member_object(facts->members, items.bits, &object) || !object.type->component_size)
		return;
	ret->array = facts_node(facts, object.address);
	ret->has_room = true;
	ret->room = object.length;
	ret->slot = object.type->component_size;
}

/*
 * A ConcurrentQueue counts nothing, but its first segment knows how many it has given away, and the very first one of all has a
 * length that no later one has.
 */
static void read_segments(const struct report_facts *facts, uint32_t node, struct counted *ret)
{
	uint32_t segment = facts_fact_node(facts, node, FACT_CONCURRENT_QUEUE_HEAD);
	if (ret->layout->shape != SHAPE_SEGMENTS || segment == HD_NONE)
		return;
	struct member head = facts_fact(facts, segment, FACT_SEGMENT_HEAD);
	struct member mask = facts_fact(facts, segment, FACT_SEGMENT_MASK);
	if (head.state != MEMBER_READ || mask.state != MEMBER_READ)
		return;
	ret->took_out = head.bits;
	ret->took_nothing = !head.bits && mask.bits == FIRST_SEGMENT - 1;
}

bool counted_read(struct report_facts *facts, uint32_t node, struct counted *ret)
{
	const struct counted_type *type = counted_type_of(facts, node);
	if (!type)
		return false;
	uint64_t address = graph_id(facts->graph, node), spare = 0;
	struct counted counted = { .node = node, .layout = type->layout, .array = HD_NONE };
	*ret = counted;
	if (!facts->members)
		return true;
	struct member count = counted_member(facts, type, address, type->layout->count);
	counted.has_count = read_count_member(&count, &counted.count) ||
			    sum_counts(facts, &count, &counted.count);
	struct member free = counted_member(facts, type, address, type->layout->slots.spare);
	if (counted.has_count && read_count_member(&free, &spare))
		counted.count = spare <= counted.count ? counted.count - spare : 0;
	read_room(facts, type, address, &counted);
	read_segments(facts, node, &counted);
	if (counted.has_room && counted.count > counted.room) {
		/* Chains may have more items than there are slots. */
		bool has_chains = type->layout->shape == SHAPE_CHAINS;
		counted.has_room = !has_chains;
		counted.has_count = has_chains;
	}
	/* The counter wraps: only trusted if it is not below the count. */
	struct member version = counted_member(facts, type, address, type->layout->version);
	counted.has_version = counted.has_count && read_count_member(&version, &counted.version);
	*ret = counted;
	return true;
}

bool counted_limit(struct report_facts *facts, uint32_t node, uint64_t *ret)
{
	for (unsigned int i = 0; node != HD_NONE && i < LEVELS_TO_LIMIT; i++) {
		const struct graph_type *type = facts_type(facts, node);
		enum fact limit_of = FACTS;
		if (type_is_class(type, "System.Threading.Channels.BoundedChannel")) {
			limit_of = FACT_CHANNEL_CAPACITY;
		} else if (type_is_class(type,
					 "System.Collections.Concurrent.BlockingCollection")) {
			limit_of = FACT_BLOCKING_CAPACITY;
		} else if (type_is_class(type, "Microsoft.Extensions.Caching.Memory.MemoryCache")) {
			limit_of = FACT_MEMORY_CACHE_LIMIT;
		}
		if (limit_of != FACTS) {
			struct member limit = facts_fact(facts, node, limit_of);
			if (limit.state == MEMBER_READ && member_signed(&limit) > 0) {
				*ret = (uint64_t)member_signed(&limit);
				return true;
			}
		}
		node = facts_idom(facts, node);
	}
	return false;
}

bool counted_turns(const struct counted *counted)
{
	return counted->has_version && counted->version > counted->count + counted->count / 10 + 16;
}

bool counted_only_grew(const struct counted *counted)
{
	return counted->has_version && counted->version >= counted->count &&
	       !counted_turns(counted);
}
