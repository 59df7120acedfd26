/* SPDX-License-Identifier: MIT */
#include "command/modules/module_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "gc/heap.h"

#define MAP_METHODS_DISTANCE 32u

const struct column module_columns[MODULE_COLUMNS] = {
	[MODULE_COLUMN_ADDRESS] = { "address", NULL, KIND_ADDRESS, 0, 0,
				    "address of the runtime's Module" },
	[MODULE_COLUMN_ASSEMBLY] = { "assembly", NULL, KIND_ADDRESS, 0, 0,
				     "address of the runtime's Assembly; null: not known" },
	[MODULE_COLUMN_NAME] = { "name", NULL, KIND_TEXT, 0, 0,
				 "name of its assembly; null: not known" },
	[MODULE_COLUMN_PATH] = { "path", NULL, KIND_TEXT, 0, 0,
				 "its file; empty: it has none; null: not known" },
	[MODULE_COLUMN_BASE] = { "image", NULL, KIND_ADDRESS, 0, 0,
				 "where its image begins; null: it has none" },
	[MODULE_COLUMN_SIZE] = { "size", NULL, KIND_BYTES, 0, 0,
				 "bytes of its image, as it was loaded; null: not known" },
	[MODULE_COLUMN_LAYOUT] = { "layout", NULL, KIND_TEXT, 0, 0,
				   "mapped: sections lie at their RVAs; flat: as in the file" },
	[MODULE_COLUMN_DYNAMIC] = { "dynamic", NULL, KIND_FLAG, 0, 0,
				    "was it made by Reflection.Emit?" },
	[MODULE_COLUMN_IN_MEMORY] = { "in_memory", NULL, KIND_FLAG, 0, 0,
				      "was its image loaded from bytes, so that it has no file?" },
	[MODULE_COLUMN_COLLECTIBLE] = { "collectible", NULL, KIND_FLAG, 0, 0,
					"can it be unloaded?  null: not known" },
	[MODULE_COLUMN_COMPILED] = { "ready_to_run", NULL, KIND_FLAG, 0, 0,
				     "has its image code of ReadyToRun?  null: not known" },
	[MODULE_COLUMN_VERSION] = { "version", NULL, KIND_TEXT, 0, 0,
				    "version of its assembly; null: not known" },
	[MODULE_COLUMN_MVID] = { "mvid", NULL, KIND_TEXT, 0, 0,
				 "module version id: a GUID, another one for each build" },
	[MODULE_COLUMN_PDB] = { "pdb", NULL, KIND_TEXT, 0, 0,
				"name of its portable PDB; null: it names none, or not known" },
	[MODULE_COLUMN_PDB_ID] = { "pdb_id", NULL, KIND_TEXT, 0, 0,
				   "the GUID that the PDB has, too" },
	[MODULE_COLUMN_METADATA] = { "metadata", NULL, KIND_ADDRESS, 0, 0,
				     "where its metadata begin; null: not known" },
	[MODULE_COLUMN_METADATA_SIZE] = { "metadata_size", NULL, KIND_BYTES, 0, 0,
					  "bytes of them" },
	[MODULE_COLUMN_METADATA_FROM] = { "metadata_from", NULL, KIND_TEXT, 0, 0,
					  "where names come from: memory, file; null: nowhere" },
	[MODULE_COLUMN_PE_ASSEMBLY] = { "pe_assembly", NULL, KIND_ADDRESS, 0, 0,
					"address of the runtime's PEAssembly; null: not known" },
	[MODULE_COLUMN_FLAGS] = { "flags", NULL, KIND_ADDRESS, 0, 0,
				  "Module::m_dwTransientFlags; null: not known" },
	[MODULE_COLUMN_TYPE_MAP] = { "type_map", NULL, KIND_ADDRESS, 0, 0,
				     "its map from TypeDefs to MethodTables; null: not known" },
	[MODULE_COLUMN_METHOD_MAP] = { .heading = "method_map", .kind = KIND_ADDRESS },
};

/* Bytes of a GUID in the order in which it is written. */
static void write_guid(const uint8_t *guid, char *ret)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	for (unsigned int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*ret++ = '-';
		(void)snprintf(ret, 3, "%02x", guid[order[i]]);
		ret += 2;
	}
}

static struct cell known_number(uint64_t number)
{
	return number ? cell_number(number) : (struct cell){ 0 };
}

static void describe_image(const struct module *module, const struct module_facts *facts,
			   struct cell *cells)
{
	bool has_path = module->path && *module->path;
	cells[MODULE_COLUMN_BASE] = known_number(module->image_base);
	if (module->image_base) {
		cells[MODULE_COLUMN_SIZE] = known_number(facts->image_size);
		cells[MODULE_COLUMN_LAYOUT] = cell_string(module->is_mapped ? "mapped" : "flat");
	}
	cells[MODULE_COLUMN_DYNAMIC] = cell_flag(module->is_dynamic);
	cells[MODULE_COLUMN_IN_MEMORY] = cell_flag(module->image_base && !has_path);
	if (module->metadata) {
		cells[MODULE_COLUMN_METADATA_FROM] =
			cell_string(module->is_from_file ? "file" : "memory");
	}
	cells[MODULE_COLUMN_METADATA] = known_number(facts->metadata);
	if (facts->metadata)
		cells[MODULE_COLUMN_METADATA_SIZE] = cell_number(facts->metadata_size);
}

void module_cells(struct runtime *runtime, const struct module *module, struct module_texts *texts,
		  struct cell *ret)
{
	struct module_facts facts;
	module_facts_read(runtime, module, &facts);
	for (unsigned int i = 0; i < MODULE_COLUMNS; i++)
		ret[i] = (struct cell){ 0 };
	ret[MODULE_COLUMN_ADDRESS] = cell_number(module->address);
	ret[MODULE_COLUMN_ASSEMBLY] = known_number(facts.assembly);
	ret[MODULE_COLUMN_NAME] = cell_string(module->name);
	ret[MODULE_COLUMN_PATH] = cell_string(
		!module->path && (module->is_dynamic || module->image_base) ? "" : module->path);
	describe_image(module, &facts, ret);
	if (facts.knows_collectible)
		ret[MODULE_COLUMN_COLLECTIBLE] = cell_flag(facts.is_collectible);
	if (facts.knows_compiled)
		ret[MODULE_COLUMN_COMPILED] = cell_flag(facts.is_compiled);
	if (facts.has_version) {
		(void)snprintf(texts->version, sizeof(texts->version), "%u.%u.%u.%u",
			       facts.version[0], facts.version[1], facts.version[2],
			       facts.version[3]);
		ret[MODULE_COLUMN_VERSION] = cell_string(texts->version);
	}
	if (facts.mvid) {
		write_guid(facts.mvid, texts->mvid);
		ret[MODULE_COLUMN_MVID] = cell_string(texts->mvid);
	}
	if (module->image_base &&
	    image_find_pdb(runtime_memory(runtime), module->image_base, module->is_mapped,
			   &texts->pdb) &&
	    texts->pdb.is_portable) {
		write_guid(texts->pdb.id, texts->pdb_id);
		ret[MODULE_COLUMN_PDB] = cell_string(texts->pdb.name);
		ret[MODULE_COLUMN_PDB_ID] = cell_string(texts->pdb_id);
	}
	ret[MODULE_COLUMN_PE_ASSEMBLY] = known_number(facts.pe_assembly);
	if (facts.has_flags)
		ret[MODULE_COLUMN_FLAGS] = cell_number(facts.flags);
	ret[MODULE_COLUMN_TYPE_MAP] = known_number(facts.type_map);
	ret[MODULE_COLUMN_METHOD_MAP] = cell_number(facts.type_map + MAP_METHODS_DISTANCE);
}

static enum hd_status no_module(struct call *call, uint64_t address, bool is_assembly,
				const struct module *other)
{
	if (other) {
		return fail(call->err, HD_ERR_NOTFOUND, address, "%" PRIx64 " is %s; try %s",
			    address, is_assembly ? "a Module" : "an Assembly",
			    is_assembly ? "dumpmodule" : "dumpassembly");
	}
	return fail(call->err, HD_ERR_NOTFOUND, address,
		    "no %s at %" PRIx64 "; clrmodules -verbose lists them",
		    is_assembly ? "Assembly" : "Module", address);
}

enum hd_status call_module(struct call *call, uint64_t address, bool is_assembly,
			   const struct module **ret)
{
	struct runtime *runtime = call->heap->runtime;
	struct module *const *modules;
	size_t count;
	TRY(module_list(runtime, &modules, &count, call->err));
	const struct module *by_module = module_at(modules, count, address);
	const struct module *by_assembly = module_of_assembly(runtime, modules, count, address);
	const struct module *found = is_assembly ? by_assembly : by_module;
	if (!found) {
		return no_module(call, address, is_assembly, is_assembly ? by_module : by_assembly);
	}
	*ret = found;
	return HD_OK;
}
