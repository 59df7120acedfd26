/* SPDX-License-Identifier: MIT */
#include "graph/short_names.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/sort.h"

/* FNV-1a. */
static uint64_t hash_of(const char *name, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
	return hash;
}

struct hash {
	uint64_t value;
};

ORDER_BY(compare_hashes, struct hash, value)

void short_names_deinit(struct short_names *names)
{
	pages_free(names->hashes, names->hashes_capacity, sizeof(*names->hashes));
	*names = (struct short_names){ 0 };
}

bool short_names_add(struct short_names *names, const char *name, size_t size)
{
	if (!PAGES_RESERVE(names, hashes))
		return false;
	names->hashes[names->hashes_count++] = hash_of(name, size);
	return true;
}

void short_names_sort(struct short_names *names)
{
	if (names->hashes_count)
		qsort(names->hashes, names->hashes_count, sizeof(struct hash), compare_hashes);
}

bool short_names_has(const struct short_names *names, const char *name, size_t size)
{
	if (!names->hashes_count)
		return false;
	uint64_t hash = hash_of(name, size);
	size_t at = lower_bound_u64(names->hashes, names->hashes_count, hash);
	return at < names->hashes_count && names->hashes[at] == hash;
}
