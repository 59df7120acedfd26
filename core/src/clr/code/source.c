/* SPDX-License-Identifier: MIT */
#include "clr/code/source.h"

#include <string.h>

#include "clr/code/code_parts.h"
#include "clr/code/debug_info.h"
#include "clr/code/method.h"
#include "clr/internal.h"
#include "clr/modules/module_pdb.h"
#include "targets/target.h"
#include "util/alloc.h"

/* Most modules whose PDB is looked up, bytes of all PDBs, and bytes that look-ups may decode. */
#define MODULES_MAX   4096u
#define PDB_BYTES_MAX ((uint64_t)512 << 20)
#define DECODED_MAX   ((uint64_t)128 << 20)
#define RECENT_COUNT  512u

/* The PDB of a module that was looked up. */
struct module_symbols {
	const struct module *module;
	struct pdb *pdb; /* NULL: there is none */
};

/* The result of an earlier look-up. */
struct source_recent {
	uint64_t place; /* 0: unused */
	uint64_t method_desc;
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

static struct source_cache *source_cache(struct clr *clr)
{
	struct code_cache *code = code_cache(clr);
	if (code && !code->sources) {
		code->sources = mem_calloc(1, sizeof(*code->sources));
		if (code->sources)
			forget(code->sources);
	}
	return code ? code->sources : NULL;
}

void clr_symbols_set(struct clr *clr, const char *symbols)
{
	const char *folder = symbols ? symbols : clr->target->options.symbols;
	struct source_cache *cache = source_cache(clr);
	if (!cache || (!folder && !cache->symbols) ||
	    (folder && cache->symbols && strcmp(folder, cache->symbols) == 0))
		return;
	forget(cache);
	mem_free(cache->symbols);
	cache->symbols = folder ? mem_strndup(folder, strlen(folder)) : NULL;
}

/* The PDB of a module, looked up once. */
static struct pdb *pdb_of(struct clr *clr, struct source_cache *cache, const struct module *module)
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
	struct pdb *pdb = module_pdb_open(clr, module, cache->symbols, &cache->bytes_left);
	cache->last = cache->count;
	cache->modules[cache->count++] = (struct module_symbols){ .module = module, .pdb = pdb };
	return pdb;
}

static bool find_line(struct clr *clr, struct source_cache *cache, uint64_t method_desc,
		      uint64_t place, struct source_line *ret)
{
	struct method method;
	struct code_info code;
	struct pdb_point point;
	uint32_t il;
	if (!method_read(clr, method_desc, &method) || !method.rid || !method.module)
		return false;
	struct pdb *pdb = pdb_of(clr, cache, method.module);
	uint32_t size = pdb ? pdb_method_size(pdb, method.rid) : 0;
	if (!size || size > cache->decoded_left || !clr_code_at(clr, place, &code) ||
	    code.method_desc != method_desc ||
	    !clr_il_at(clr, &code, place, &cache->decoded_left, &il))
		return false;
	cache->decoded_left -= size < cache->decoded_left ? size : cache->decoded_left;
	if (!pdb_point_at(pdb, method.rid, il, &point))
		return false;
	const char *file = pdb_document(pdb, point.document);
	if (!file)
		return false;
	*ret = (struct source_line){ .file = file, .line = point.line, .column = point.column };
	return true;
}

bool clr_source_line(struct clr *clr, uint64_t method_desc, uint64_t place, struct source_line *ret)
{
	struct source_cache *cache = source_cache(clr);
	if (!cache || !place)
		return false;
	struct source_recent *recent =
		&cache->recent[(place * 0x9e3779b97f4a7c15u >> 32) % RECENT_COUNT];
	if (recent->place != place || recent->method_desc != method_desc) {
		struct source_line line = { 0 };
		bool is_found = find_line(clr, cache, method_desc, place, &line);
		*recent = (struct source_recent){ place, method_desc, is_found, line };
	}
	if (recent->is_found)
		*ret = recent->line;
	return recent->is_found;
}
