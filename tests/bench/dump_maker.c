/* SPDX-License-Identifier: MIT */
/*
 * dump_maker OBJECTS [--shuffle] > FILE: a heap dump in the text format, the same for the same
 * arguments.  Long lists, one list deeper than all others, a tree with parent references, a random
 * graph, arrays with very many elements, strings and buffers: about 2 references per object.
 *
 * Standard error names two objects: "sink", which nearly everything that has references reaches,
 * and "few", which only the deepest list reaches.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_ID     UINT64_C(0x7f3c10000000)
#define LIST_LENGTH 20000u /* nodes of each ordinary list */
#define NEAR        65536u /* half of the random references stay this close */
#define SMALL_HUB   500u   /* references of an ordinary array */
#define SINGLETONS  16u    /* objects that very many others refer to */

/** The purpose of an object; its references and its types follow from it. */
enum role {
	ROLE_SINK,
	ROLE_FEW,
	ROLE_SINGLETON,
	ROLE_BIG_HUB,
	ROLE_HUB,
	ROLE_DEEP,
	ROLE_LIST,
	ROLE_TREE,
	ROLE_RANDOM,
	ROLE_LEAF,
	ROLE_COUNT,
};

/** Types of a role: first index, how many, and the range of object sizes. */
struct role_types {
	uint32_t first, count, min_size, max_size;
};

static const struct role_types role_types[ROLE_COUNT] = {
	[ROLE_SINK] = { 0, 1, 0x40, 0x40 },
	[ROLE_FEW] = { 1, 1, 0x28, 0x28 },
	[ROLE_SINGLETON] = { 2, 16, 0x30, 0x60 },
	[ROLE_BIG_HUB] = { 18, 2, 0, 0 },
	[ROLE_HUB] = { 20, 10, 0, 0 },
	[ROLE_DEEP] = { 30, 1, 0x20, 0x20 },
	[ROLE_LIST] = { 31, 19, 0x20, 0x38 },
	[ROLE_TREE] = { 50, 20, 0x28, 0x50 },
	[ROLE_RANDOM] = { 70, 110, 0x20, 0x80 },
	[ROLE_LEAF] = { 180, 20, 0x18, 0x98 },
};
#define TYPE_COUNT 200u

/** All objects.  ids has one more element than there are objects. */
struct heap {
	uint32_t count;
	uint64_t *ids;
	uint8_t *roles;
	uint32_t *ordinals;            /* place of an object among those of its role */
	uint32_t *members[ROLE_COUNT]; /* objects of a role */
	uint32_t member_count[ROLE_COUNT];
	uint64_t reference_count;
};

static void *allocate(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size);
	if (!ptr) {
		(void)fprintf(stderr, "dump_maker: out of memory\n");
		exit(1);
	}
	return ptr;
}

/* splitmix64 of two numbers. */
static uint64_t hash(uint64_t a, uint64_t b)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1342543de82ef95) + 1;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static enum role role_of(uint32_t object, uint32_t count)
{
	if (object == count / 2)
		return ROLE_SINK;
	if (object == count / 3)
		return ROLE_FEW;
	if (object < SINGLETONS)
		return ROLE_SINGLETON;
	if (object == count / 4 || object == count / 5 * 4)
		return ROLE_BIG_HUB;
	uint64_t dice = hash(object, 1) % 10000;
	if (dice < 1)
		return ROLE_HUB;
	if (dice < 601)
		return ROLE_DEEP;
	if (dice < 3000)
		return ROLE_LIST;
	if (dice < 5500)
		return ROLE_TREE;
	return dice < 7800 ? ROLE_RANDOM : ROLE_LEAF;
}

static uint32_t hub_length(const struct heap *heap, uint32_t object)
{
	if (heap->roles[object] == ROLE_BIG_HUB)
		return heap->count / 100;
	return SMALL_HUB < heap->count ? SMALL_HUB : heap->count / 2;
}

static uint32_t type_of(const struct heap *heap, uint32_t object)
{
	const struct role_types *types = &role_types[heap->roles[object]];
	/* Squared: some types have many more objects than others. */
	uint64_t dice = hash(object, 2) % 1024;
	return types->first + (uint32_t)(dice * dice * types->count >> 20);
}

static uint64_t size_of(const struct heap *heap, uint32_t object)
{
	const struct role_types *types = &role_types[heap->roles[object]];
	switch ((enum role)heap->roles[object]) {
	case ROLE_BIG_HUB:
	case ROLE_HUB:
		return 24 + 8 * (uint64_t)hub_length(heap, object);
	case ROLE_LEAF: /* strings have any even size, one in 256 is a large buffer */
		if (hash(object, 3) % 256 == 0)
			return 0x1018;
		return types->min_size +
		       hash(object, 4) % (types->max_size - types->min_size) / 2 * 2;
	case ROLE_SINK:
	case ROLE_FEW:
	case ROLE_SINGLETON:
	case ROLE_DEEP:
	case ROLE_LIST:
	case ROLE_TREE:
	case ROLE_RANDOM:
	case ROLE_COUNT:
		break;
	}
	/* Every object of one type has one size. */
	uint32_t steps = (types->max_size - types->min_size) / 8 + 1;
	return types->min_size + 8 * (hash(type_of(heap, object), 5) % steps);
}

static void heap_init(struct heap *heap, uint32_t count)
{
	*heap = (struct heap){ .count = count };
	heap->ids = allocate((size_t)count + 1, sizeof(*heap->ids));
	heap->roles = allocate(count, sizeof(*heap->roles));
	heap->ordinals = allocate(count, sizeof(*heap->ordinals));
	for (uint32_t i = 0; i < count; i++) {
		heap->roles[i] = (uint8_t)role_of(i, count);
		heap->ordinals[i] = heap->member_count[heap->roles[i]]++;
	}
	for (int role = 0; role < ROLE_COUNT; role++)
		heap->members[role] = allocate(heap->member_count[role], sizeof(uint32_t));
	uint64_t id = BASE_ID;
	for (uint32_t i = 0; i < count; i++) {
		heap->members[heap->roles[i]][heap->ordinals[i]] = i;
		heap->ids[i] = id;
		id += (size_of(heap, i) + 7) / 8 * 8;
	}
	heap->ids[count] = id;
}

static void heap_deinit(struct heap *heap)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		free(heap->members[role]);
	free(heap->ordinals);
	free(heap->roles);
	free(heap->ids);
}

static uint32_t member(const struct heap *heap, enum role role, uint64_t ordinal)
{
	return heap->members[role][ordinal % heap->member_count[role]];
}

/* An object that chance may choose: anything that is not to have few ancestors. */
static uint32_t random_target(const struct heap *heap, uint32_t object, uint64_t nth)
{
	for (uint64_t try = 0;; try++) {
		uint64_t dice = hash(object, 16 + nth * 64 + try);
		uint64_t target = (dice >> 8) % heap->count;
		if ((dice & 1) && heap->count > 2 * NEAR) {
			uint64_t low = object < NEAR ? 0 : object - NEAR;
			target = low + (dice >> 8) % (2 * NEAR);
		}
		if (dice % 64 == 2)
			target = member(heap, ROLE_SINGLETON, dice >> 8);
		if (target >= heap->count || heap->roles[target] == ROLE_DEEP ||
		    heap->roles[target] == ROLE_FEW)
			continue;
		return (uint32_t)target;
	}
}

/* A payload: a leaf near the object's own place among the leaves. */
static uint32_t payload(const struct heap *heap, uint32_t object)
{
	uint64_t leaves = heap->member_count[ROLE_LEAF];
	return member(heap, ROLE_LEAF, (uint64_t)object * leaves / heap->count);
}

static uint32_t tree_references(const struct heap *heap, uint32_t object, uint32_t *ret)
{
	uint64_t ordinal = heap->ordinals[object];
	uint32_t count = 0;
	for (uint64_t child = 2 * ordinal + 1; child <= 2 * ordinal + 2; child++) {
		if (child < heap->member_count[ROLE_TREE])
			ret[count++] = member(heap, ROLE_TREE, child);
	}
	ret[count++] =
		ordinal ? member(heap, ROLE_TREE, (ordinal - 1) / 2) : member(heap, ROLE_SINK, 0);
	if (hash(object, 6) % 4 == 0)
		ret[count++] = payload(heap, object);
	return count;
}

static uint32_t deep_references(const struct heap *heap, uint32_t object, uint32_t *ret)
{
	uint32_t next = heap->ordinals[object] + 1;
	if (next < heap->member_count[ROLE_DEEP]) {
		ret[0] = member(heap, ROLE_DEEP, next);
		ret[1] = payload(heap, object);
		return 2;
	}
	ret[0] = member(heap, ROLE_FEW, 0);
	ret[1] = member(heap, ROLE_SINK, 0);
	return 2;
}

/* @p ret has room for count / 100 + SMALL_HUB references. */
static uint32_t references_of(const struct heap *heap, uint32_t object, uint32_t *ret)
{
	uint32_t count = 0;
	switch ((enum role)heap->roles[object]) {
	case ROLE_SINK:
	case ROLE_FEW:
	case ROLE_LEAF:
	case ROLE_COUNT:
		return 0;
	case ROLE_SINGLETON:
		ret[0] = member(heap, ROLE_SINK, 0);
		return 1;
	case ROLE_BIG_HUB:
	case ROLE_HUB:
		for (; count < hub_length(heap, object); count++)
			ret[count] = random_target(heap, object, count);
		return count;
	case ROLE_DEEP:
		return deep_references(heap, object, ret);
	case ROLE_LIST: {
		uint32_t next = heap->ordinals[object] + 1;
		bool last = next % LIST_LENGTH == 0 || next == heap->member_count[ROLE_LIST];
		ret[0] = last ? member(heap, ROLE_SINK, 0) : member(heap, ROLE_LIST, next);
		ret[1] = payload(heap, object);
		return 2;
	}
	case ROLE_TREE:
		return tree_references(heap, object, ret);
	case ROLE_RANDOM:
		for (uint64_t wanted = 2 + hash(object, 7) % 3; count < wanted; count++)
			ret[count] = random_target(heap, object, count);
		return count;
	}
	return 0;
}

static char *put_hex(char *out, uint64_t value)
{
	char digits[16];
	int count = 0;
	do {
		digits[count++] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	while (count)
		*out++ = digits[--count];
	return out;
}

static void write_object(struct heap *heap, uint32_t object, uint32_t *references, char *line)
{
	char *out = line;
	*out++ = 'o';
	*out++ = ' ';
	out = put_hex(out, heap->ids[object]);
	*out++ = ' ';
	out = put_hex(out, type_of(heap, object) + 1);
	*out++ = ' ';
	out = put_hex(out, size_of(heap, object));
	uint32_t count = references_of(heap, object, references);
	heap->reference_count += count;
	for (uint32_t i = 0; i < count; i++) {
		*out++ = ' ';
		out = put_hex(out, heap->ids[references[i]]);
	}
	*out++ = '\n';
	(void)fwrite(line, 1, (size_t)(out - line), stdout);
}

static void write_root(const struct heap *heap, uint32_t object, unsigned int kind,
		       unsigned int flags)
{
	printf("r %" PRIx64 " %x %x", heap->ids[object], kind, flags);
	if (kind == 4)
		printf(" %x", (unsigned int)(1 + hash(object, 8) % TYPE_COUNT));
	putchar('\n');
}

static void write_roots(const struct heap *heap)
{
	static const unsigned int flags[] = { 0, 1, 2, 4, 5, 0, 0, 0 };
	write_root(heap, member(heap, ROLE_DEEP, 0), 4, 0);
	write_root(heap, member(heap, ROLE_TREE, 0), 4, 0);
	write_root(heap, member(heap, ROLE_BIG_HUB, 0), 3, 1);
	write_root(heap, member(heap, ROLE_SINK, 0), 3, 2);
	for (uint32_t i = 0; i < heap->member_count[ROLE_LIST]; i += LIST_LENGTH)
		write_root(heap, member(heap, ROLE_LIST, i), 1, 0);
	for (uint64_t i = 0; i < heap->count / 5000 + 12; i++) {
		uint64_t dice = hash(i, 9);
		uint32_t object = random_target(heap, (uint32_t)((dice >> 8) % heap->count), i);
		write_root(heap, object, (unsigned int)(i % 6), i % 6 == 4 ? 0 : flags[i / 6 % 8]);
	}
}

static void write_types(void)
{
	static const char *const spaces[] = { "Contoso.Shop",     "Contoso.Shop.Billing",
					      "Fabrikam.Maps",    "Fabrikam.Maps.Rendering",
					      "System.Net.Http",  "System.Threading.Tasks",
					      "Northwind.Data",   "Northwind.Data.Caching",
					      "System.Text.Json", "Microsoft.AspNetCore.Routing" };
	static const char *const names[] = {
		"Customer",
		"OrderLine[]",
		"Node",
		"Cache`2[[System.String, System.Private.CoreLib],[System.Object, "
		"System.Private.CoreLib]]",
		"Entry",
		"Builder+<>c__DisplayClass12_0",
		"Reader",
		"Dictionary`2+Entry[[System.Int64, System.Private.CoreLib]][]",
		"Task`1[[System.Boolean, System.Private.CoreLib]]",
		"Segment",
		"Handler",
		"Key",
		"Options",
		"Factory`1[[System.Guid, System.Private.CoreLib]]",
		"Layer",
		"Event",
		"Connection",
		"List`1[[System.Byte[], System.Private.CoreLib]]",
		"View",
		"Token",
	};
	for (uint32_t i = 0; i < TYPE_COUNT; i++) {
		const char *name = names[i / 10];
		if (i >= 180 && i < 185) /* leaves: squared dice make the first of them frequent */
			printf("t %x %s\n", i + 1,
			       (const char *[]){ "System.String", "System.Byte[]", "System.Int32[]",
						 "System.DateTime", "System.Double" }[i - 180]);
		else
			printf("t %x %s.%s\n", i + 1, spaces[i % 10], name);
	}
}

/* Objects in the order in which they are written; NULL: ascending. */
static uint32_t *shuffled_order(uint32_t count)
{
	uint32_t *order = allocate(count, sizeof(*order));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t i = count - 1; i; i--) {
		uint32_t other = (uint32_t)(hash(i, 10) % (i + 1));
		uint32_t kept = order[i];
		order[i] = order[other];
		order[other] = kept;
	}
	return order;
}

static void write_dump(struct heap *heap, const uint32_t *order)
{
	size_t longest = (size_t)heap->count / 100 + SMALL_HUB;
	uint32_t *references = allocate(longest, sizeof(*references));
	char *line = allocate(longest + 4, 17);
	printf("a 2 bench.exe 763f9d2\n");
	write_types();
	for (uint32_t i = 0; i < heap->count; i++)
		write_object(heap, order ? order[i] : i, references, line);
	write_roots(heap);
	printf("c bench.exe 763fbef\n");
	free(line);
	free(references);
}

int main(int argc, char **argv)
{
	bool shuffle = argc == 3 && strcmp(argv[2], "--shuffle") == 0;
	char *end = NULL;
	unsigned long count = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
	if (argc < 2 || argc > (shuffle ? 3 : 2) || *end || count < 1000 || count > 400000000) {
		(void)fprintf(stderr, "usage: dump_maker OBJECTS [--shuffle] > FILE\n"
				      "OBJECTS: 1000 to 400000000\n");
		return 2;
	}
	struct heap heap;
	heap_init(&heap, (uint32_t)count);
	uint32_t *order = shuffle ? shuffled_order(heap.count) : NULL;
	write_dump(&heap, order);
	(void)fprintf(stderr, "objects %" PRIu32 "\nreferences %" PRIu64 "\n", heap.count,
		      heap.reference_count);
	(void)fprintf(stderr, "sink %" PRIx64 "\nfew %" PRIx64 "\ndeep %" PRIu32 "\n",
		      heap.ids[member(&heap, ROLE_SINK, 0)], heap.ids[member(&heap, ROLE_FEW, 0)],
		      heap.member_count[ROLE_DEEP]);
	free(order);
	heap_deinit(&heap);
	if (fflush(stdout) || ferror(stdout)) {
		perror("dump_maker");
		return 1;
	}
	return 0;
}
