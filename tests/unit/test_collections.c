/* SPDX-License-Identifier: MIT */
#include "analysis/collections/collection.h"
#include "framework/absent.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"

#define STRUCT_FLAGS 0x00040000u
#define STRUCT_ARRAY 0x000a0000u
#define GENERIC      "System.Collections.Generic"
#define CONCURRENT   "System.Collections.Concurrent"
#define ITEMS_MAX    16u

static struct fake_clr *fake;
static struct fake_types *types;
static struct members *members;
static uint64_t list_type, own_list_type, hollow_type, dictionary_type, entries_type;
static uint64_t linked_type, node_type, tree_type, tree_node_type, table_type, tables_type,
	buckets_type, chain_type, counts_type, blocking_type;

static uint64_t make_class(const char *space, const char *name, uint32_t size, uint64_t parent,
			   const struct fake_field *fields)
{
	return fake_class(types, &(struct fake_class){
					 .space = space,
					 .name = name,
					 .fields = fields,
					 .type = { .base_size = size + 16, .parent = parent } });
}

static uint64_t make_struct(const char *name, uint32_t size, const struct fake_field *fields)
{
	return fake_class(types, &(struct fake_class){ .name = name,
						       .fields = fields,
						       .type = { .base_size = size + 16,
								 .flags = STRUCT_FLAGS } });
}

static uint64_t make_struct_array(uint64_t element, uint16_t size)
{
	return fake_type(fake, &(struct fake_type){ .base_size = 24,
						    .component_size = size,
						    .flags = STRUCT_ARRAY,
						    .per_inst = element });
}

static void make_list_types(void)
{
	const struct fake_field list[] = { { .name = "_items", .element = ELEMENT_CLASS },
					   { .name = "_size", .element = ELEMENT_I4, .offset = 8 },
					   { .name = NULL } };
	const struct fake_field own[] = { { .name = "_size", .element = ELEMENT_I4, .offset = 16 },
					  { .name = NULL } };
	const struct fake_field hollow[] = { { .name = "_other", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	const struct fake_field blocking[] = {
		{ .name = "_collection", .element = ELEMENT_CLASS },
		{ .name = "_boundedCapacity", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL }
	};
	list_type = make_class(GENERIC, "List", 16, 0, list);
	own_list_type = fake_class(
		types, &(struct fake_class){ .space = "Shop",
					     .name = "Basket",
					     .fields = own,
					     .inherited = 2,
					     .type = { .base_size = 40, .parent = list_type } });
	hollow_type = make_class(GENERIC, "Stack", 8, 0, hollow);
	blocking_type = make_class(CONCURRENT, "BlockingCollection", 16, 0, blocking);
}

static void make_dictionary_types(void)
{
	const struct fake_field entry[] = {
		{ .name = "key", .element = ELEMENT_CLASS },
		{ .name = "value", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "next", .element = ELEMENT_I4, .offset = 16 },
		{ .name = NULL }
	};
	const struct fake_field dictionary[] = {
		{ .name = "_entries", .element = ELEMENT_CLASS },
		{ .name = "_count", .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_freeCount", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL }
	};
	entries_type = make_struct_array(make_struct("Entry", 24, entry), 24);
	dictionary_type = make_class(GENERIC, "Dictionary", 16, 0, dictionary);
}

static void make_node_types(void)
{
	const struct fake_field linked[] = {
		{ .name = "head", .element = ELEMENT_CLASS },
		{ .name = "count", .element = ELEMENT_I4, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field node[] = {
		{ .name = "next", .element = ELEMENT_CLASS },
		{ .name = "item", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field tree[] = { { .name = "root", .element = ELEMENT_CLASS },
					   { .name = "count", .element = ELEMENT_I4, .offset = 8 },
					   { .name = NULL } };
	const struct fake_field tree_node[] = {
		{ .name = "<Left>k__BackingField", .element = ELEMENT_CLASS },
		{ .name = "<Right>k__BackingField", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "<Item>k__BackingField", .element = ELEMENT_I4, .offset = 16 },
		{ .name = NULL }
	};
	linked_type = make_class(GENERIC, "LinkedList", 16, 0, linked);
	node_type = make_class(GENERIC, "LinkedListNode", 16, 0, node);
	tree_type = make_class(GENERIC, "SortedSet", 16, 0, tree);
	tree_node_type = make_class(GENERIC, "Node", 24, 0, tree_node);
}

static void make_table_types(void)
{
	const struct fake_field table[] = { { .name = "_tables", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	const struct fake_field tables[] = {
		{ .name = "_buckets", .element = ELEMENT_CLASS },
		{ .name = "_countPerLock", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	const struct fake_field bucket[] = { { .name = "_node", .element = ELEMENT_CLASS },
					     { .name = NULL } };
	const struct fake_field count[] = { { .name = "m_value", .element = ELEMENT_I4 },
					    { .name = NULL } };
	const struct fake_field chain[] = {
		{ .name = "_key", .element = ELEMENT_CLASS },
		{ .name = "_value", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_next", .element = ELEMENT_CLASS, .offset = 16 },
		{ .name = NULL }
	};
	table_type = make_class(CONCURRENT, "ConcurrentDictionary", 8, 0, table);
	tables_type = make_class(NULL, "Tables", 16, 0, tables);
	buckets_type = make_struct_array(make_struct("VolatileNode", 8, bucket), 8);
	counts_type = make_struct_array(make_struct("Number", 4, count), 4);
	chain_type = make_class(NULL, "Chain", 24, 0, chain);
}

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	make_list_types();
	make_dictionary_types();
	make_node_types();
	make_table_types();
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
}

static void tear_down(void)
{
	members_destroy(members);
	members = NULL;
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static struct heap *attach(void)
{
	fake_types_attach(types);
	struct heap *heap = fake_heap(fake);
	ASSERT_UINT(members_create(heap, &members, NULL), HD_OK);
	return heap;
}

static void poke(uint64_t object, uint32_t offset, uint64_t word)
{
	fake_poke_u64(&fake->memory, object + 8 + offset, word);
}

static void poke_int(uint64_t object, uint32_t offset, int32_t number)
{
	fake_poke_u32(&fake->memory, object + 8 + offset, (uint32_t)number);
}

/* The words at the first values of a collection. */
struct seen {
	struct heap *heap;
	uint64_t words[ITEMS_MAX];
	size_t count, most;
};

static bool see(void *arg, const struct collection_item *item)
{
	struct seen *seen = arg;
	if (seen->count < ITEMS_MAX)
		CU_ASSERT(memory_u64(seen->heap->memory, item->value.address,
				     &seen->words[seen->count]));
	return ++seen->count < seen->most;
}

static enum collection_state open_at(struct heap *heap, uint64_t address, struct collection *ret)
{
	struct object object;
	CU_ASSERT_FATAL(member_object(members, address, &object));
	return collection_open(heap, members, &object, ret);
}

static struct collection_facts visit(struct heap *heap, uint64_t address, struct seen *seen)
{
	struct collection collection;
	struct collection_facts facts = { 0 };
	*seen = (struct seen){ .heap = heap, .most = SIZE_MAX };
	const struct item_visitor visitor = { see, seen };
	ASSERT_UINT(open_at(heap, address, &collection), COLLECTION_KNOWN);
	ASSERT_UINT(collection_visit(&collection, NULL, &visitor, &facts, NULL), HD_OK);
	ASSERT_UINT(facts.found, seen->count);
	return facts;
}

/* A list of @p type whose array has room for 4, with the objects 0x10, 0x20, ... in it. */
static uint64_t make_list(uint64_t type, int32_t size)
{
	uint64_t array = fake_object(fake, fake->object_array_type, 4);
	uint64_t list = fake_object(fake, type, 0);
	for (uint32_t i = 0; i < 4; i++)
		poke(array, 8 + 8 * i, 0x10 * (i + 1));
	poke(list, 0, array);
	poke_int(list, 8, size);
	return list;
}

TEST(a_list_has_as_many_items_as_it_says)
{
	uint64_t three = make_list(list_type, 3), none = make_list(list_type, 0);
	uint64_t null = fake_object(fake, list_type, 0);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, three, &seen);
	ASSERT_UINT(facts.found, 3);
	ASSERT_UINT(facts.count, 3);
	ASSERT_UINT(facts.capacity, 4);
	ASSERT_UINT(seen.words[2], 0x30);
	CU_ASSERT_FALSE(facts.is_broken);
	CU_ASSERT_FALSE(facts.has_keys);
	ASSERT_UINT(visit(heap, none, &seen).found, 0);
	facts = visit(heap, null, &seen);
	ASSERT_UINT(facts.found, 0);
	CU_ASSERT_FALSE(facts.is_broken);
}

TEST(a_count_that_is_larger_than_the_array_is_not_believed)
{
	uint64_t many = make_list(list_type, 0x7fffffff), negative = make_list(list_type, -5);
	uint64_t wild = make_list(list_type, 2);
	poke(wild, 0, 0x123450);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, many, &seen);
	ASSERT_UINT(facts.found, 4);
	ASSERT_UINT(facts.count, 0x7fffffff);
	CU_ASSERT_TRUE(facts.is_broken);
	facts = visit(heap, negative, &seen);
	ASSERT_UINT(facts.found, 0);
	CU_ASSERT_TRUE(facts.is_broken);
	CU_ASSERT_TRUE(visit(heap, wild, &seen).is_broken);
}

TEST(a_class_that_derives_from_one_has_the_fields_of_the_base)
{
	uint64_t basket = make_list(own_list_type, 2);
	poke_int(basket, 16, 77); /* its own _size */
	struct heap *heap = attach();
	struct seen seen;
	ASSERT_UINT(visit(heap, basket, &seen).found, 2);
	ASSERT_UINT(seen.words[1], 0x20);
}

TEST(what_is_not_known_is_said)
{
	uint64_t plain = fake_object(fake, fake->object_type, 0);
	uint64_t hollow = fake_object(fake, hollow_type, 0);
	uint64_t around = fake_object(fake, blocking_type, 0);
	uint64_t circle = fake_object(fake, blocking_type, 0);
	uint64_t outer = fake_object(fake, blocking_type, 0), inner = make_list(list_type, 2);
	poke(around, 0, plain);
	poke(circle, 0, circle);
	poke(outer, 0, inner);
	poke_int(outer, 8, 50);
	struct heap *heap = attach();
	struct collection collection;
	struct seen seen;
	ASSERT_UINT(open_at(heap, plain, &collection), COLLECTION_NONE);
	ASSERT_UINT(open_at(heap, hollow, &collection), COLLECTION_UNKNOWN);
	ASSERT_UINT(open_at(heap, around, &collection), COLLECTION_INNER_UNKNOWN);
	ASSERT_UINT(collection.unknown, plain);
	ASSERT_UINT(open_at(heap, circle, &collection), COLLECTION_UNKNOWN);
	struct collection_facts facts = visit(heap, outer, &seen);
	ASSERT_UINT(facts.found, 2);
	ASSERT_UINT(facts.capacity, 50);
}

TEST(free_entries_are_not_items)
{
	uint64_t entries = fake_object(fake, entries_type, 4);
	uint64_t dictionary = fake_object(fake, dictionary_type, 0);
	static const int32_t next[] = { -1, -3, 0, -2 };
	for (uint32_t i = 0; i < 4; i++) {
		poke(entries, 8 + 24 * i, 0x100 + i);
		poke(entries, 8 + 24 * i + 8, 0x200 + i);
		poke_int(entries, 8 + 24 * i + 16, next[i]);
	}
	poke(dictionary, 0, entries);
	poke_int(dictionary, 8, 4);
	poke_int(dictionary, 12, 2);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, dictionary, &seen);
	ASSERT_UINT(facts.found, 2);
	ASSERT_UINT(facts.count, 2);
	ASSERT_UINT(seen.words[1], 0x202);
	CU_ASSERT_TRUE(facts.has_keys);
	/* Caught in a write: an entry is free already, and not counted as such yet. */
	poke_int(dictionary, 12, 1);
	facts = visit(heap, dictionary, &seen);
	ASSERT_UINT(facts.found, 2);
	ASSERT_UINT(facts.count, 3);
	CU_ASSERT_FALSE(facts.is_broken);
	poke_int(dictionary, 12, 9);
	CU_ASSERT_TRUE(visit(heap, dictionary, &seen).is_broken);
}

/* Nodes [0, count) one after the other, the last of which leads to @p back (count: to null). */
static uint64_t make_linked(uint32_t count, uint32_t back)
{
	uint64_t nodes[8], list = fake_object(fake, linked_type, 0);
	for (uint32_t i = 0; i < count; i++)
		nodes[i] = fake_object(fake, node_type, 0);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = i + 1 < count ? i + 1 : back;
		poke(nodes[i], 0, next < count ? nodes[next] : 0);
		poke(nodes[i], 8, 0x10 + i);
	}
	poke(list, 0, nodes[0]);
	poke_int(list, 8, (int32_t)count);
	return list;
}

TEST(a_linked_list_ends_where_it_began)
{
	uint64_t lists[6];
	for (uint32_t i = 1; i < 6; i++)
		lists[i] = make_linked(i, 0);
	uint64_t empty = fake_object(fake, linked_type, 0);
	struct heap *heap = attach();
	struct seen seen;
	for (uint32_t i = 1; i < 6; i++) {
		struct collection_facts facts = visit(heap, lists[i], &seen);
		ASSERT_UINT(facts.found, i);
		ASSERT_UINT(seen.words[i - 1], 0x10 + i - 1);
		CU_ASSERT_FALSE(facts.is_broken);
	}
	CU_ASSERT_FALSE(visit(heap, empty, &seen).is_broken);
}

TEST(other_circles_and_broken_nodes_end_too)
{
	uint64_t late = make_linked(5, 2), self = make_linked(3, 2), wild = make_linked(3, 0);
	struct heap *heap = attach();
	struct seen seen;
	uint64_t head = 0;
	struct collection_facts facts = visit(heap, late, &seen);
	CU_ASSERT_TRUE(facts.is_broken);
	CU_ASSERT(facts.found >= 5 && facts.found <= 15);
	CU_ASSERT_TRUE(visit(heap, self, &seen).is_broken);
	CU_ASSERT(memory_u64(heap->memory, wild + 8, &head));
	poke(head, 0, 0x123450);
	facts = visit(heap, wild, &seen);
	ASSERT_UINT(facts.found, 1);
	CU_ASSERT_TRUE(facts.is_broken);
}

static uint64_t make_tree_node(uint64_t left, uint64_t right, int32_t item)
{
	uint64_t node = fake_object(fake, tree_node_type, 0);
	poke(node, 0, left);
	poke(node, 8, right);
	poke_int(node, 16, item);
	return node;
}

static uint64_t make_tree(uint64_t root, int32_t count)
{
	uint64_t tree = fake_object(fake, tree_type, 0);
	poke(tree, 0, root);
	poke_int(tree, 8, count);
	return tree;
}

TEST(a_tree_is_in_its_order)
{
	uint64_t one = make_tree_node(0, 0, 1), three = make_tree_node(0, 0, 3);
	uint64_t two = make_tree_node(one, three, 2), five = make_tree_node(0, 0, 5);
	uint64_t tree = make_tree(make_tree_node(two, five, 4), 5), empty = make_tree(0, 0);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, tree, &seen);
	ASSERT_UINT(facts.found, 5);
	for (uint32_t i = 0; i < 5; i++)
		ASSERT_UINT((uint32_t)seen.words[i], i + 1);
	CU_ASSERT_FALSE(facts.is_broken);
	CU_ASSERT_FALSE(visit(heap, empty, &seen).is_broken);
}

TEST(what_only_looks_like_a_tree_ends)
{
	uint64_t left = make_tree_node(0, 0, 1), right = make_tree_node(0, 0, 1);
	poke(left, 0, left);
	poke(right, 8, right);
	/* Each level has the one below it on both sides: 2^60 items. */
	uint64_t shared = 0;
	for (uint32_t i = 0; i < 60; i++)
		shared = make_tree_node(shared, shared, 7);
	uint64_t down = make_tree(left, 1), up = make_tree(right, 1);
	uint64_t twice = make_tree(shared, 60), wild = make_tree(0x123450, 1);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, down, &seen);
	ASSERT_UINT(facts.found, 0);
	CU_ASSERT_TRUE(facts.is_broken);
	facts = visit(heap, up, &seen);
	CU_ASSERT_TRUE(facts.is_broken);
	CU_ASSERT(facts.found <= 0x4000 / 16);
	facts = visit(heap, twice, &seen);
	CU_ASSERT_TRUE(facts.is_broken);
	CU_ASSERT(facts.found > 60 && facts.found <= 0x4000 / 16);
	CU_ASSERT_TRUE(visit(heap, wild, &seen).is_broken);
}

/* A dictionary of @p length buckets, all of which lead to one chain of @p nodes nodes. */
static uint64_t make_table(uint32_t length, uint32_t nodes, int32_t count)
{
	uint64_t table = fake_object(fake, table_type, 0);
	uint64_t tables = fake_object(fake, tables_type, 0);
	uint64_t buckets = fake_object(fake, buckets_type, length);
	uint64_t counts = fake_object(fake, counts_type, 2), next = 0;
	for (uint32_t i = 0; i < nodes; i++) {
		uint64_t node = fake_object(fake, chain_type, 0);
		poke(node, 8, i);
		poke(node, 16, next);
		next = node;
	}
	for (uint32_t i = 0; i < length; i++)
		poke(buckets, 8 + 8 * i, next);
	poke_int(counts, 8, count + 2);
	poke_int(counts, 12, -2);
	poke(table, 0, tables);
	poke(tables, 0, buckets);
	poke(tables, 8, counts);
	return table;
}

TEST(a_table_has_the_items_of_its_chains)
{
	uint64_t table = make_table(1, 3, 3), behind = make_table(1, 3, 4);
	uint64_t negative = make_table(1, 3, -7);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, table, &seen);
	ASSERT_UINT(facts.found, 3);
	ASSERT_UINT(facts.count, 3);
	CU_ASSERT_FALSE(facts.is_broken);
	ASSERT_UINT(seen.words[0], 2);
	facts = visit(heap, behind, &seen);
	ASSERT_UINT(facts.found, 3);
	ASSERT_UINT(facts.count, 4);
	CU_ASSERT_FALSE(facts.is_broken);
	CU_ASSERT_TRUE(visit(heap, negative, &seen).is_broken);
}

TEST(chains_that_are_met_again_are_bounded_by_the_heap)
{
	uint64_t table = make_table(200, 100, 100);
	struct heap *heap = attach();
	struct seen seen;
	struct collection_facts facts = visit(heap, table, &seen);
	CU_ASSERT_TRUE(facts.is_broken);
	CU_ASSERT(facts.found <= 0x4000 / 16);
}

TEST(a_visitor_can_stop)
{
	uint64_t list = make_list(list_type, 4);
	struct heap *heap = attach();
	struct collection collection;
	struct collection_facts facts;
	struct seen seen = { .heap = heap, .most = 2 };
	const struct item_visitor visitor = { see, &seen };
	ASSERT_UINT(open_at(heap, list, &collection), COLLECTION_KNOWN);
	ASSERT_UINT(collection_visit(&collection, NULL, &visitor, &facts, NULL), HD_OK);
	ASSERT_UINT(seen.count, 2);
	CU_ASSERT_TRUE(facts.is_stopped);
	ASSERT_UINT(collection_visit(&collection, NULL, NULL, &facts, NULL), HD_OK);
	ASSERT_UINT(facts.found, 4);
}

TEST(a_segment_without_its_fields_is_noted)
{
	const struct fake_field queue[] = { { .name = "_head", .element = ELEMENT_CLASS },
					    { .name = NULL } };
	const struct fake_field segment[] = {
		{ .name = "_slots", .element = ELEMENT_CLASS },
		{ .name = "_nextSegment", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = NULL }
	};
	uint64_t queue_type = make_class(CONCURRENT, "ConcurrentQueue", 8, 0, queue);
	uint64_t segment_type = make_class(CONCURRENT, "ConcurrentQueueSegment`1", 16, 0, segment);
	uint64_t object = fake_object(fake, queue_type, 0);
	poke(object, 0, fake_object(fake, segment_type, 0));
	struct heap *heap = attach();
	struct seen seen;
	enum fact absent[FACTS];
	CU_ASSERT_TRUE(visit(heap, object, &seen).is_broken);
	ASSERT_UINT_FATAL(facts_absent(heap, absent), 4);
	ASSERT_UINT(absent[0], FACT_SEGMENT_HEAD);
	ASSERT_UINT(absent[3], FACT_SEGMENT_FROZEN);
}

SUITE(.name = "collections", .set_up = set_up, .tear_down = tear_down)
