/* SPDX-License-Identifier: MIT */
/* The columns of a managed module, which several commands show. */
#pragma once

#include "command/call.h"
#include "metadata/image.h"
#include "runtime/coreclr/modules/module_facts.h"

enum module_column {
	MODULE_COLUMN_ADDRESS,
	MODULE_COLUMN_ASSEMBLY,
	MODULE_COLUMN_NAME,
	MODULE_COLUMN_PATH,
	MODULE_COLUMN_BASE,
	MODULE_COLUMN_SIZE,
	MODULE_COLUMN_LAYOUT,
	MODULE_COLUMN_DYNAMIC,
	MODULE_COLUMN_IN_MEMORY,
	MODULE_COLUMN_COLLECTIBLE,
	MODULE_COLUMN_COMPILED,
	MODULE_COLUMN_VERSION,
	MODULE_COLUMN_MVID,
	MODULE_COLUMN_PDB,
	MODULE_COLUMN_PDB_ID,
	MODULE_COLUMN_METADATA,
	MODULE_COLUMN_METADATA_SIZE,
	MODULE_COLUMN_METADATA_FROM,
	MODULE_COLUMN_PE_ASSEMBLY,
	MODULE_COLUMN_FLAGS,
	MODULE_COLUMN_TYPE_MAP,
	MODULE_COLUMN_METHOD_MAP, /**< text only */
	MODULE_COLUMNS
};

extern const struct column module_columns[MODULE_COLUMNS];

/** The texts that the cells of a module borrow. */
struct module_texts {
	char version[4 * 6];
	char mvid[37];
	char pdb_id[37];
	struct image_pdb pdb;
};

/** Fill all cells of @p module. */
void module_cells(struct runtime *runtime, const struct module *module, struct module_texts *texts,
		  struct cell *ret);

/** For schema.lines: the module's path; of one without a file its assembly's name, and "(Dynamic)". */
#define MODULE_NAME_LINE \
	"[?path {path}|{name?<not known>}][?dynamic (Dynamic)][?in_memory (in memory)]"

/**
 * The module whose Module, or whose Assembly if @p is_assembly, is at @p address.
 *
 * @retval HD_ERR_NOTFOUND says what is there instead, and what to try
 */
HD_NODISCARD enum hd_status call_module(struct call *call, uint64_t address, bool is_assembly,
					const struct module **ret);
