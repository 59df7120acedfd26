/* SPDX-License-Identifier: MIT */
#include "findings/typed.h"

#include <ctype.h>

#include "framework/member.h"
#include "inspect/async_name.h"

uint32_t typed_next(const struct report_facts *facts, uint32_t type, const char *name)
{
	const struct hd_graph *graph = facts->graph;
	for (type = type == HD_NONE ? 0 : type + 1; type < graph->type_count; type++) {
		if (facts_live_count(facts, type) && type_is_class(&graph->types[type], name))
			return type;
	}
	return HD_NONE;
}

size_t typed_sample(const struct typed_nodes *from, uint32_t *ret, size_t limit)
{
	size_t count = 0, stride = from->count / limit + 1;
	for (size_t i = 0; i < from->count && count < limit; i += stride)
		ret[count++] = from->nodes[i];
	return count;
}

struct member_ages typed_ages(const struct report_facts *facts, const uint32_t *nodes, size_t count)
{
	struct member_ages ages = { .all = 0 };
	for (size_t i = 0; i < count; i++)
		ages_add(&ages, facts, nodes[i]);
	return ages;
}

const struct type *typed_class(const struct report_facts *facts, uint32_t type)
{
	struct object object;
	if (!facts_live_count(facts, type) ||
	    !facts_object(facts, facts->type_nodes[facts->type_begin[type]], &object))
		return NULL;
	return object.type;
}

/* Is it @p class or a class inside of it; or, if that ends with a dot, in this namespace? */
static bool is_of_class(const struct graph_type *type, const char *class)
{
	size_t size = strlen(class);
	return type_begins(type, class) && !type_is_array(type) &&
	       (class[size - 1] == '.' || type->name_size == size ||
		!isalnum((unsigned char)type->name[size]));
}

uint32_t typed_claim_up(struct report_facts *facts, uint32_t node, const char *const *classes,
			unsigned int levels)
{
	facts_claim(facts, node);
	for (unsigned int i = 0; i < levels; i++) {
		uint32_t idom = facts_idom(facts, node);
		const struct graph_type *type = facts_type(facts, idom);
		bool is_one = false;
		for (size_t j = 0; classes[j] && idom != HD_NONE; j++)
			is_one |= is_of_class(type, classes[j]);
		if (!is_one)
			break;
		node = idom;
		facts_claim(facts, node);
	}
	return node;
}

size_t tally_add(struct tally *tally, uint64_t key, uint32_t node, uint64_t bytes)
{
	size_t i = 0;
	while (i < tally->count && tally->keys[i] != key)
		i++;
	if (i == TALLY_MAX) {
		tally->is_full = true;
		return TALLY_MAX;
	}
	if (i == tally->count) {
		tally->keys[i] = key;
		tally->first[i] = node;
		tally->counts[i] = tally->bytes[i] = 0;
		tally->count++;
	}
	tally->counts[i]++;
	tally->bytes[i] += bytes;
	return i;
}

size_t tally_top(const struct tally *tally)
{
	size_t best = tally->count;
	for (size_t i = 0; i < tally->count; i++) {
		if (best == tally->count || tally->counts[i] > tally->counts[best])
			best = i;
	}
	return best;
}

bool typed_is_own(const struct report_facts *facts, const struct graph_type *type)
{
	size_t size;
	const char *machine =
		type->name ? async_box_machine(type->name, type->name_size, &size) : NULL;
	return machine ? facts_name_is_own(facts, machine, size)
		       : type_is_own(type) && !type_is_array(type);
}
