/* SPDX-License-Identifier: MIT */
#include "analysis/names/name_lookup.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "runtime/coreclr/types/method_table.h"
#include "runtime/coreclr/types/type_name.h"
#include "util/alloc.h"
#include "util/job.h"

#define TOKEN_TYPE   0x02000000u
#define TOKEN_METHOD 0x06000000u
#define TOKEN_TABLE  0xff000000u
#define TOKEN_ROW    0x00ffffffu

/* Columns of TypeDef and MethodDef (ECMA-335 II.22.26, II.22.37). */
#define METHOD_NAME 3u

void named_entities_deinit(struct named_entities *entities)
{
	pages_free(entities->rows, entities->rows_capacity, sizeof(*entities->rows));
}

static bool equals(const char *text, size_t size, const char *name)
{
	return strlen(name) == size && strncasecmp(text, name, size) == 0;
}

bool module_is_named(const struct module *module, const char *name)
{
	if (strcmp(name, "*") == 0)
		return true;
	if (module->name && strcasecmp(module->name, name) == 0)
		return true;
	const char *slash = module->path ? strrchr(module->path, '/') : NULL;
	const char *file = slash ? slash + 1 : module->path;
	if (!file || !*file)
		return false;
	size_t size = strlen(file);
	bool has_suffix = size > 4 && (strcasecmp(file + size - 4, ".dll") == 0 ||
				       strcasecmp(file + size - 4, ".exe") == 0);
	return equals(file, size, name) || (has_suffix && equals(file, size - 4, name)) ||
	       strcmp(module->path, name) == 0;
}

static bool add_entity(struct named_entities *entities, const struct module *module, uint32_t token)
{
	if (!PAGES_RESERVE(entities, rows))
		return false;
	entities->rows[entities->rows_count++] = (struct named_entity){ module, token };
	return true;
}

/*
 * How many characters of @p name the type's whole name takes, where `N may be left out in @p name;
 * 0: it does not begin with it.
 */
static size_t type_prefix(const char *type, size_t size, const char *name)
{
	size_t used = 0;
	for (size_t i = 0; i < size;) {
		if (name[used] == type[i]) {
			used++;
			i++;
		} else if (type[i] == '`') {
			for (i++; i < size && isdigit((unsigned char)type[i]);)
				i++;
		} else {
			return 0;
		}
	}
	return used;
}

static bool add_methods(struct named_entities *entities, const struct module *module, uint32_t type,
			const char *name)
{
	const struct metadata *metadata = module->metadata;
	uint32_t end, at = metadata_members(metadata, MD_METHOD, type, &end);
	for (; at < end; at++) {
		uint32_t rid = metadata_member(metadata, MD_METHOD, at);
		if (rid &&
		    strcmp(metadata_string(metadata,
					   metadata_column(metadata, MD_METHOD, rid, METHOD_NAME)),
			   name) == 0 &&
		    !add_entity(entities, module, TOKEN_METHOD | rid))
			return false;
	}
	return true;
}

static enum hd_status find_in_module(const struct module *module, const char *name, struct job *job,
				     struct named_entities *ret, struct hd_error *err)
{
	HD_CLEANUP(text) struct text text = { 0 };
	uint32_t count = module->metadata->tables[MD_TYPE_DEF].rows;
	bool good = true, is_stopped = false;
	for (uint32_t rid = 1; good && !is_stopped && rid <= count; rid++) {
		text.size = 0;
		typedef_name(module->metadata, rid, &text);
		size_t used = text.failed ? 0 : type_prefix(text.bytes, text.size, name);
		good = !text.failed;
		if (used && !name[used]) {
			good = add_entity(ret, module, TOKEN_TYPE | rid);
		} else if (used && name[used] == '.') {
			good = add_methods(ret, module, rid, name + used + 1);
		}
		is_stopped = rid % 4096 == 0 && !job_step(job, 0, 4096);
	}
	if (is_stopped)
		return fail_cancelled(err);
	return good ? HD_OK : fail_nomem(err);
}

/* The next module with that name and metadata, or NULL. */
static const struct module *next_named(struct module *const *modules, size_t count, size_t *index,
				       const char *name, struct named_entities *ret)
{
	while (*index < count) {
		const struct module *module = modules[(*index)++];
		if (!module_is_named(module, name))
			continue;
		ret->modules++;
		if (module->metadata)
			return module;
		ret->unnamed++;
	}
	return NULL;
}

enum hd_status names_find(struct runtime *runtime, const char *module, const char *name,
			  struct job *job, struct named_entities *ret, struct hd_error *err)
{
	struct module *const *modules;
	const struct module *found;
	size_t count, index = 0;
	*ret = (struct named_entities){ 0 };
	TRY(module_list(runtime, &modules, &count, err));
	job_begin(job, "types", 0);
	JOB_STAGE(job);
	while ((found = next_named(modules, count, &index, module, ret)))
		TRY(find_in_module(found, name, job, ret, err));
	return HD_OK;
}

enum hd_status tokens_find(struct runtime *runtime, const char *module, uint32_t token,
			   struct named_entities *ret, struct hd_error *err)
{
	struct module *const *modules;
	const struct module *found;
	size_t count, index = 0;
	enum md_table table = (token & TOKEN_TABLE) == TOKEN_TYPE ? MD_TYPE_DEF : MD_METHOD;
	*ret = (struct named_entities){ 0 };
	TRY(module_list(runtime, &modules, &count, err));
	while ((found = next_named(modules, count, &index, module, ret))) {
		uint32_t rid = token & TOKEN_ROW;
		if (rid && rid <= found->metadata->tables[table].rows &&
		    !add_entity(ret, found, token))
			return fail_nomem(err);
	}
	return HD_OK;
}

struct loaded_entity entity_load(struct runtime *runtime, const struct named_entity *entity)
{
	struct loaded_entity loaded = { 0 };
	const struct metadata *metadata = entity->module->metadata;
	struct method method;
	bool is_type = (entity->token & TOKEN_TABLE) == TOKEN_TYPE;
	uint32_t rid = entity->token & TOKEN_ROW,
		 owner = is_type ? rid : metadata_owner(metadata, MD_METHOD, rid);
	uint64_t table = owner ? module_type_def(runtime, entity->module, owner) : 0;
	loaded.type = table ? type_find(runtime, table) : NULL;
	if (!loaded.type || is_type)
		return loaded;
	loaded.method_desc = method_of_token(runtime, loaded.type, entity->token);
	loaded.is_generic =
		(loaded.type->flags & MT_GENERICS_MASK) != 0 ||
		(loaded.method_desc && method_read(runtime, loaded.method_desc, &method) &&
		 (method.flags & METHOD_CLASSIFICATION_MASK) == METHOD_INSTANTIATED);
	return loaded;
}

void entity_name(const struct named_entity *entity, struct text *text)
{
	const struct metadata *metadata = entity->module->metadata;
	uint32_t rid = entity->token & TOKEN_ROW;
	if ((entity->token & TOKEN_TABLE) == TOKEN_TYPE) {
		typedef_name(metadata, rid, text);
		return;
	}
	uint32_t owner = metadata_owner(metadata, MD_METHOD, rid);
	if (owner) {
		typedef_name(metadata, owner, text);
		text_puts(text, ".");
	}
	text_puts(text, metadata_string(metadata,
					metadata_column(metadata, MD_METHOD, rid, METHOD_NAME)));
}

bool entity_is_method(struct runtime *runtime, const struct named_entity *entity,
		      uint64_t method_desc)
{
	struct method method;
	return method_read(runtime, method_desc, &method) && method.module == entity->module &&
	       method.rid == (entity->token & TOKEN_ROW);
}
