/* SPDX-License-Identifier: MIT */
/* The table modules. */
#include "command/modules/module_rows.h"
#include "command/sql/sql_table.h"
#include "gc/heap.h"
#include "util/alloc.h"

#define MODULES_LIST(X)                                                                            \
	X(MODULES_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "address of the runtime's Module") \
	X(MODULES_NAME, "name", NULL, KIND_TEXT, 0, 0, "name of its assembly; NULL: not known")    \
	X(MODULES_PATH, "path", NULL, KIND_TEXT, 0, 0, "its file; empty: it has none")             \
	X(MODULES_IMAGE, "image", NULL, KIND_ADDRESS, 0, 0,                                        \
	  "where its image begins; 0: it has none")                                                \
	X(MODULES_DYNAMIC, "dynamic", NULL, KIND_FLAG, 0, 0, "was it made by Reflection.Emit?")    \
	X(MODULES_METADATA, "metadata", NULL, KIND_TEXT, 0, 0,                                     \
	  "where its names come from: memory, file, or NULL: nowhere")                             \
	X(MODULES_ASSEMBLY, "assembly", NULL, KIND_ADDRESS, 0, 0,                                  \
	  "address of the runtime's Assembly; NULL: not known")                                    \
	X(MODULES_SIZE, "size", NULL, KIND_BYTES, 0, 0,                                            \
	  "bytes of its image, as it was loaded; NULL: none, or not known")                        \
	X(MODULES_COLLECTIBLE, "collectible", NULL, KIND_FLAG, 0, 0,                               \
	  "can it be unloaded?  NULL: not known")                                                  \
	X(MODULES_COMPILED, "ready_to_run", NULL, KIND_FLAG, 0, 0,                                 \
	  "has its image code of ReadyToRun?  NULL: not known")                                    \
	X(MODULES_VERSION, "version", NULL, KIND_TEXT, 0, 0,                                       \
	  "version of its assembly; NULL: not known")                                              \
	X(MODULES_MVID, "mvid", NULL, KIND_TEXT, 0, 0, "module version id; NULL: not known")

COLUMNS(modules, MODULES_COLUMNS, MODULES_LIST);

struct modules {
	struct module *const *rows;
	size_t count, next;
	struct runtime *runtime;
	struct module_texts texts; /* of the row, as the next */
	struct cell cells[MODULE_COLUMNS];
};

static enum hd_status open_modules(struct sql_source *source, const struct sql_table *table,
				   const struct sql_request *request, void **ret)
{
	(void)table;
	(void)request;
	struct modules *modules = mem_calloc(1, sizeof(*modules));
	TRY_MEMORY(modules, source->call->err);
	modules->runtime = source->heap->runtime;
	enum hd_status status = module_list(source->heap->runtime, &modules->rows, &modules->count,
					    source->call->err);
	if (status != HD_OK) {
		mem_free(modules);
		return status;
	}
	*ret = modules;
	return HD_OK;
}

static enum hd_status next_module(void *cursor, bool *ret)
{
	struct modules *modules = cursor;
	*ret = modules->next < modules->count;
	if (*ret) {
		module_cells(modules->runtime, modules->rows[modules->next], &modules->texts,
			     modules->cells);
		modules->next++;
	}
	return HD_OK;
}

static const char *metadata_place(const struct module *module)
{
	if (!module->metadata)
		return NULL;
	return module->is_from_file ? "file" : "memory";
}

static void module_cell(void *cursor, size_t column, struct cell *ret)
{
	const struct modules *modules = cursor;
	const struct module *module = modules->rows[modules->next - 1];
	*ret = (struct cell){ 0 };
	switch ((enum modules_column)column) {
	case MODULES_ADDRESS:
		*ret = cell_number(module->address);
		break;
	case MODULES_NAME:
		*ret = cell_string(module->name);
		break;
	case MODULES_PATH:
		*ret = cell_string(module->path);
		break;
	case MODULES_IMAGE:
		*ret = cell_number(module->image_base);
		break;
	case MODULES_DYNAMIC:
		*ret = cell_flag(module->is_dynamic);
		break;
	case MODULES_METADATA:
		*ret = cell_string(metadata_place(module));
		break;
	case MODULES_ASSEMBLY:
		*ret = modules->cells[MODULE_COLUMN_ASSEMBLY];
		break;
	case MODULES_SIZE:
		*ret = modules->cells[MODULE_COLUMN_SIZE];
		break;
	case MODULES_COLLECTIBLE:
		*ret = modules->cells[MODULE_COLUMN_COLLECTIBLE];
		break;
	case MODULES_COMPILED:
		*ret = modules->cells[MODULE_COLUMN_COMPILED];
		break;
	case MODULES_VERSION:
		*ret = modules->cells[MODULE_COLUMN_VERSION];
		break;
	case MODULES_MVID:
		*ret = modules->cells[MODULE_COLUMN_MVID];
		break;
	case MODULES_COLUMNS:
		break;
	}
}

static void close_modules(void *cursor)
{
	mem_free(cursor);
}

static double estimate_modules(const struct sql_source *source)
{
	(void)source;
	return 100;
}

const struct sql_table sql_modules_table = {
	.name = "modules",
	.help = "the managed modules that are loaded",
	.columns = modules_columns,
	.count = MODULES_COLUMNS,
	.is_of_heaps = true,
	.estimate = estimate_modules,
	.open = open_modules,
	.next = next_module,
	.cell = module_cell,
	.close = close_modules,
};
