/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/code/source.h"

#include <string.h>

#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/code/debug_info.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_pdb.h"
#include "targets/target.h"
#include "util/alloc.h"

/* Most modules whose PDB is looked up, bytes of all PDBs, and bytes that look-ups may decode. */
#define MODULES_MAX   4096u
#define PDB_BYTES_MAX ((uint64_t)512 << 20)
#define DECODED_MAX   ((uint64_t)128 << 20)
#define RECENT_COUNT  512u

/* State machines have three methods: MoveNext, SetStateMachine, a constructor; iterators some more. */
#define MACHINE_METHODS_MAX 64u

/* The PDB of a module that was looked up. */
struct module_symbols {
	const struct module *module;
	struct pdb *pdb; /* NULL: there is none */
};

/* The result of an earlier look-up. */
struct source_recent {
	uint64_t place; /* 0: unused; of code, or the type of a state machine */
	uint64_t key;   /* the MethodDesc, or the state */
	bool is_found;
	struct source_line line;
};

struct source_cache {
	char *symbols; /* NULL: none */
	struct module_symbols modules[MODULES_MAX];
	size_t count, last; /* last: the module that was asked for last */
	uint64_t bytes_left, decoded_left;
	struct source_recent recent[RECENT_COUNT];
};

static void forget(struct source_cache *cache)
{
	for (size_t i = 0; i < cache->count; i++)
		pdb_destroy(cache->modules[i].pdb);
	cache->count = cache->last = 0;
	cache->bytes_left = PDB_BYTES_MAX;
	cache->decoded_left = DECODED_MAX;
	memset(cache->recent, 0, sizeof(cache->recent));
}

void source_cache_destroy(struct source_cache *cache)
{
	if (!cache)
		return;
	forget(cache);
	mem_free(cache->symbols);
	mem_free(cache);
}

static struct source_cache *source_cache(struct runtime *runtime)
{
	struct code_tables *code = code_tables(runtime);
	if (code && !code->sources) {
		code->sources = mem_calloc(1, sizeof(*code->sources));
		if (code->sources)
			forget(code->sources);
	}
	return code ? code->sources : NULL;
}

void runtime_symbols_set(struct runtime *runtime, const char *symbols)
{
	const char *folder = symbols ? symbols : runtime->target->options.symbols;
	struct source_cache *cache = source_cache(runtime);
	if (!cache || (!folder && !cache->symbols) ||
	    (folder && cache->symbols && strcmp(folder, cache->symbols) == 0))
		return;
	forget(cache);
	mem_free(cache->symbols);
	cache->symbols = folder ? mem_strndup(folder, strlen(folder)) : NULL;
}

/* The PDB of a module, looked up once. */
static struct pdb *pdb_of(struct runtime *runtime, struct source_cache *cache,
			  const struct module *module)
{
	for (size_t i = 0; i < cache->count; i++) {
		size_t index = (cache->last + i) % cache->count;
		if (cache->modules[index].module == module) {
			cache->last = index;
			return cache->modules[index].pdb;
		}
	}
	if (cache->count == MODULES_MAX)
		return NULL;
	struct pdb *pdb = module_pdb_open(runtime, module, cache->symbols, &cache->bytes_left);
	cache->last = cache->count;
	cache->modules[cache->count++] = (struct module_symbols){ .module = module, .pdb = pdb };
	return pdb;
}

struct pdb *runtime_pdb(struct runtime *runtime, const struct module *module, uint64_t **ret_budget)
{
	struct source_cache *cache = source_cache(runtime);
	if (!cache)
		return NULL;
	*ret_budget = &cache->decoded_left;
	return pdb_of(runtime, cache, module);
}

uint64_t *coreclr_debug_budget(struct runtime *runtime)
{
	struct source_cache *cache = source_cache(runtime);
	return cache ? &cache->decoded_left : NULL;
}

/* The line of IL @p il of MethodDef @p method. */
static bool line_of_il(struct source_cache *cache, struct pdb *pdb, uint32_t method, uint32_t il,
		       struct source_line *ret)
{
	struct pdb_point point;
	uint32_t size = pdb_method_size(pdb, method);
	cache->decoded_left -= size < cache->decoded_left ? size : cache->decoded_left;
	if (!pdb_point_at(pdb, method, il, &point))
		return false;
	const char *file = pdb_document(pdb, point.document);
	if (!file)
		return false;
	*ret = (struct source_line){ .file = file, .line = point.line, .column = point.column };
	return true;
}

static bool find_line(struct runtime *runtime, struct source_cache *cache, uint64_t method_desc,
		      uint64_t place, struct source_line *ret)
{
	struct method method;
	struct code_info code;
	uint32_t il;
	if (!method_read(runtime, method_desc, &method) || !method.rid || !method.module)
		return false;
	struct pdb *pdb = pdb_of(runtime, cache, method.module);
	uint32_t size = pdb ? pdb_method_size(pdb, method.rid) : 0;
	return size && size <= cache->decoded_left && runtime_code_at(runtime, place, &code) &&
	       code.method_desc == method_desc &&
	       runtime_il_at(runtime, &code, place, &cache->decoded_left, &il) &&
	       line_of_il(cache, pdb, method.rid, il, ret);
}

/* RID of the method MoveNext of a state machine; 0: it has none. */
static uint32_t move_next(const struct metadata *metadata, uint32_t type)
{
	uint32_t end = 0, at = metadata_members(metadata, MD_METHOD, type, &end);
	for (uint32_t i = 0; at < end && i < MACHINE_METHODS_MAX; i++, at++) {
		uint32_t rid = metadata_member(metadata, MD_METHOD, at);
		if (strcmp(metadata_string(metadata, metadata_column(metadata, MD_METHOD, rid, 3)),
			   "MoveNext") == 0)
			return rid;
	}
	return 0;
}

static bool find_await_line(struct runtime *runtime, struct source_cache *cache,
			    const struct type *machine, uint32_t state, struct source_line *ret)
{
	const struct module *module = module_find(runtime, type_home_module(runtime, machine));
	uint32_t il;
	if (!module || !module->metadata)
		return false;
	struct pdb *pdb = pdb_of(runtime, cache, module);
	uint32_t method = pdb ? move_next(module->metadata, machine->token & 0xffffff) : 0;
	uint32_t size = method ? pdb_method_size(pdb, method) : 0;
	return size && size <= cache->decoded_left &&
	       pdb_await_at(pdb, method, state, &cache->decoded_left, &il) &&
	       line_of_il(cache, pdb, method, il, ret);
}

/* The entry for an earlier look-up; *@p ret_is_new: there is none, and it is for this one now. */
static struct source_recent *recent_of(struct source_cache *cache, uint64_t place, uint64_t key,
				       bool *ret_is_new)
{
	uint64_t hash = (place + key) * 0x9e3779b97f4a7c15u >> 32;
	struct source_recent *recent = &cache->recent[hash % RECENT_COUNT];
	*ret_is_new = recent->place != place || recent->key != key;
	if (*ret_is_new)
		*recent = (struct source_recent){ .place = place, .key = key };
	return recent;
}

bool runtime_source_line(struct runtime *runtime, uint64_t method_desc, uint64_t place,
			 struct source_line *ret)
{
	const struct function_ops *functions = runtime_ops(runtime)->functions;
	if (functions && functions->line)
		return place && functions->line(runtime, method_desc, place, ret);
	struct source_cache *cache = source_cache(runtime);
	bool is_new;
	if (!cache || !place)
		return false;
	struct source_recent *recent = recent_of(cache, place, method_desc, &is_new);
	if (is_new)
		recent->is_found = find_line(runtime, cache, method_desc, place, &recent->line);
	if (recent->is_found)
		*ret = recent->line;
	return recent->is_found;
}

bool runtime_await_line(struct runtime *runtime, const struct type *machine, uint32_t state,
			struct source_line *ret)
{
	struct source_cache *cache = source_cache(runtime);
	bool is_new;
	if (!cache || !machine)
		return false;
	struct source_recent *recent = recent_of(cache, machine->method_table, state, &is_new);
	if (is_new)
		recent->is_found = find_await_line(runtime, cache, machine, state, &recent->line);
	if (recent->is_found)
		*ret = recent->line;
	return recent->is_found;
}
