/* SPDX-License-Identifier: MIT */
#include "stack/walker.h"
#include "util/alloc.h"

/* Most addresses and slots that are kept; after that, all are dropped. */
#define CODES_KEPT_MAX 65536u
#define CODE_SLOTS_MAX ((size_t)1 << 20)
#define INDEX_SIZE     ((size_t)2 * CODES_KEPT_MAX)

static size_t code_bucket_of(uint64_t ip)
{
	return (size_t)(ip * 0x9e3779b97f4a7c15u >> 47) % INDEX_SIZE;
}

static void forget_all(struct code_table *table)
{
	memset(table->index, 0, INDEX_SIZE * sizeof(*table->index));
	table->rows_count = 0;
	table->slots_count = 0;
}

struct code_entry *code_table_find(struct stack_walker *walker, uint64_t ip)
{
	struct code_table *table = &walker->codes;
	if (!table->index) {
		table->index = mem_calloc(INDEX_SIZE, sizeof(*table->index));
		if (!table->index)
			return NULL;
	}
	size_t bucket = code_bucket_of(ip);
	while (table->index[bucket]) {
		struct code_entry *entry = &table->rows[table->index[bucket] - 1];
		if (entry->ip == ip)
			return entry;
		bucket = (bucket + 1) % INDEX_SIZE;
	}
	if (table->rows_count == CODES_KEPT_MAX || table->slots_count >= CODE_SLOTS_MAX) {
		forget_all(table);
		bucket = code_bucket_of(ip);
	}
	if (!PAGES_RESERVE(table, rows))
		return NULL;
	struct code_entry *entry = &table->rows[table->rows_count++];
	table->index[bucket] = (uint32_t)table->rows_count;
	*entry = (struct code_entry){ .ip = ip };
	entry->is_managed = ip && runtime_code_at(walker->runtime, ip, &entry->code);
	if (runtime_code_failed(walker->runtime)) {
		table->rows_count--;
		table->index[bucket] = 0;
		return NULL;
	}
	entry->follows_call = entry->is_managed &&
			      runtime_arch(walker->runtime)->ops->follows_call(walker->memory, ip);
	return entry;
}

void code_table_deinit(struct code_table *table)
{
	mem_free(table->index);
	pages_free(table->rows, table->rows_capacity, sizeof(*table->rows));
	pages_free(table->slots, table->slots_capacity, sizeof(*table->slots));
	*table = (struct code_table){ 0 };
}
