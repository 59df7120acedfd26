/* SPDX-License-Identifier: MIT */
#include "managed_elf/method_place.h"

#include <string.h>

#include "managed_elf/managed_elf.h"
#include "metadata/pdb.h"
#include "runtime/code.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/code/source.h"
#include "runtime/runtime.h"
#include "util/job.h"

/* II.22.26, ImplFlags: MethodImplAttributes.Async of 11. */
#define METHOD_IMPL_FLAGS 1u
#define IMPL_ASYNC        0x2000u

void method_place_deinit(struct method_place *place)
{
	text_deinit(&place->name);
	text_deinit(&place->file);
}

/* The lines of a method, and its file. */
static void find_lines(struct runtime *runtime, struct method_place *place)
{
	struct pdb_points points = { 0 };
	struct method method;
	uint64_t *budget;
	if (!method_read(runtime, place->method_desc, &method) || !method.rid || !method.module)
		return;
	if (method.module->metadata) {
		place->suspends = metadata_column(method.module->metadata, MD_METHOD, method.rid,
						  METHOD_IMPL_FLAGS) &
				  IMPL_ASYNC;
	}
	struct pdb *pdb = runtime_pdb(runtime, method.module, &budget);
	uint32_t size = pdb ? pdb_method_size(pdb, method.rid) : 0;
	if (size && pdb_points_read(pdb, method.rid, &points)) {
		const char *path = pdb_document(pdb, points.rows[0].document);
		text_puts(&place->file, path ? path : "");
		place->first_line = UINT32_MAX;
		for (size_t i = 0; i < points.rows_count; i++) {
			uint32_t line = points.rows[i].line;
			if (line < place->first_line)
				place->first_line = line;
			if (line > place->last_line)
				place->last_line = line;
		}
	}
	pdb_points_deinit(&points);
}

enum hd_status method_place_find(struct runtime *runtime, uint64_t address,
				 struct method_place *ret, struct hd_error *err)
{
	HD_CLEANUP(text) struct text name = { 0 };
	struct code_info code;
	if (!runtime_code_at(runtime, address, &code) || !code.method_desc)
		return fail(err, HD_ERR_NOTFOUND, address, "no method has code there");
	ret->method_desc = code.method_desc;
	runtime_method_signature(runtime, code.method_desc, &name);
	TRY_MEMORY(!name.failed, err);
	text_escape(&ret->name, name.bytes, managed_elf_name_size(name.bytes, name.size));
	find_lines(runtime, ret);
	TRY_MEMORY(!ret->name.failed && !ret->file.failed, err);
	return HD_OK;
}

/* Does the path end with the file? */
static bool ends_with(const char *path, const char *file)
{
	size_t size = strlen(path), end = strlen(file);
	if (!end || end > size || strcmp(path + size - end, file) != 0)
		return false;
	return end == size || file[0] == '/' || path[size - end - 1] == '/' ||
	       path[size - end - 1] == '\\';
}

/* Look for the line in one method. */
static void find_in_points(struct pdb *pdb, const struct pdb_points *points, bool is_of_address,
			   struct code_line *line)
{
	for (size_t i = 0; i < points->rows_count; i++) {
		const struct pdb_point *point = &points->rows[i];
		bool is_nearer = !line->found || point->line < line->found;
		if (point->line < line->line || (!is_nearer && point->line != line->found))
			continue;
		const char *path = pdb_document(pdb, point->document);
		if (!path || !ends_with(path, line->file))
			continue;
		line->is_there = is_of_address || (!is_nearer && line->is_there);
		line->found = point->line;
	}
}

/* The method whose code is at @p address; its module is NULL if it is not known. */
static void find_method(struct runtime *runtime, uint64_t address, struct method *ret)
{
	struct code_info code;
	if (!address || !runtime_code_at(runtime, address, &code) ||
	    !method_read(runtime, code.method_desc, ret))
		*ret = (struct method){ 0 };
}

enum hd_status code_line_find(struct runtime *runtime, struct job *job, struct code_line *line,
			      struct hd_error *err)
{
	HD_CLEANUP(pdb_points) struct pdb_points points = { 0 };
	struct code_line own = { .file = line->file, .line = line->line };
	struct module *const *modules;
	struct method method;
	size_t count;
	TRY(module_list(runtime, &modules, &count, err));
	find_method(runtime, line->address, &method);
	for (size_t i = 0; i < count; i++) {
		uint64_t *budget;
		struct pdb *pdb = runtime_pdb(runtime, modules[i], &budget);
		const struct metadata *metadata = modules[i]->metadata;
		uint32_t methods = pdb && metadata ? metadata->tables[MD_METHOD].rows : 0;
		for (uint32_t rid = 1; rid <= methods; rid++) {
			TRY(job_check(job, 1, err));
			if (pdb_method_size(pdb, rid) && pdb_points_read(pdb, rid, &points)) {
				find_in_points(pdb, &points,
					       modules[i] == method.module && rid == method.rid,
					       &own);
			}
			TRY_MEMORY(!points.failed, err);
		}
	}
	line->found = own.found;
	line->is_there = own.is_there;
	return HD_OK;
}
