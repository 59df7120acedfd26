/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/coreclr/modules/module.h"

/** The facts about a module that the runtime and the metadata tell (doc/coreclr.md 9.2, 9.5). */
struct module_facts {
	uint64_t assembly;    /**< the runtime's Assembly; 0: not known */
	uint64_t pe_assembly; /**< its PEAssembly; 0: not known */
	uint64_t binder;      /**< the AssemblyBinder that loaded it; 0: not known */
	uint64_t context;     /**< the AssemblyLoadContext object of that, unproven; 0: none yet */
	bool knows_context;   /**< could that be read? */
	uint64_t allocator;   /**< its LoaderAllocator; 0: not known */
	uint64_t metadata;    /**< where its metadata begin; 0: not known */
	uint32_t metadata_size; /**< bytes */
	uint32_t image_size;    /**< bytes of the image as it was loaded; 0: not known, or none */
	uint32_t flags;         /**< Module::m_dwTransientFlags */
	uint16_t version[4];    /**< of its assembly */
	uint64_t type_map;   /**< address of its map from TypeDefs to MethodTables; 0: not known */
	const uint8_t *mvid; /**< 16 bytes, borrowed from the metadata; NULL: not known */
	bool has_flags, has_version;
	bool knows_collectible, is_collectible; /**< can it be unloaded? */
	bool knows_compiled, is_compiled;       /**< has it code of ReadyToRun? */
};

void module_facts_read(struct runtime *runtime, const struct module *module,
		       struct module_facts *ret);

/** Where the blob at @p blob of the module's metadata lies in the target; 0: not known. */
uint64_t module_blob_address(struct runtime *runtime, const struct module *module,
			     const uint8_t *blob);

/** The module of @p count with the runtime's Module, or Assembly, at @p address; NULL: none. */
const struct module *module_at(struct module *const *modules, size_t count, uint64_t address);
const struct module *module_of_assembly(struct runtime *runtime, struct module *const *modules,
					size_t count, uint64_t address);

/**
 * The friendly name of the AppDomain at @p domain, to be given to mem_free(); NULL: not known, or
 * memory is exhausted.
 */
char *domain_name(struct runtime *runtime, uint64_t domain);
