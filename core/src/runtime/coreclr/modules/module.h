/* SPDX-License-Identifier: MIT */
#pragma once

#include "metadata/metadata.h"
#include "runtime/runtime.h"

/** A managed module of the target.  Lives as long as the runtime, at a fixed address. */
struct module {
	uint64_t address; /**< address of the runtime's Module */
	char *path;       /**< path of its file; "" for dynamic and in-memory modules; may be NULL =
		     * unknown */
	char *name;       /**< assembly name of its metadata, or NULL */
	bool is_dynamic;  /**< Reflection.Emit */
	bool is_from_file;         /**< the metadata came from the module's file, not from the
				    * target */
	bool has_tried;            /**< metadata was looked for */
	bool is_listed;            /**< it is in the AppDomain's list */
	bool is_mapped;            /**< the image's sections lie at their RVAs */
	uint64_t image_base;       /**< 0 = none */
	struct metadata *metadata; /**< NULL: not available */
	char *missing;             /**< why there is no metadata, one line; NULL when there is */
};

struct module_table;
HD_NODISCARD enum hd_status module_table_create(struct runtime *runtime, struct module_table **ret,
						struct hd_error *err);
void module_table_destroy(struct module_table *modules);

/**
 * The module at @p address, its metadata read if it can be; NULL when memory is exhausted, and where the runtime has no
 * modules.
 */
struct module *module_find(struct runtime *runtime, uint64_t address);

/**
 * Address of @p rva in the image of @p module, which may be mapped or flat; 0 when the image does
 * not have it.
 */
uint64_t module_rva(struct runtime *runtime, const struct module *module, uint32_t rva);

struct type;
/**
 * The module whose metadata has the token of @p type.  Since 9 that is type->module; in 8,
 * type->module is the module that an instantiation was loaded for.
 */
uint64_t type_home_module(struct runtime *runtime, const struct type *type);

/**
 * MethodTable of row @p rid of TypeDef in @p module, found by the module's TypeDef map; 0: not
 * loaded.
 */
uint64_t module_type_def(struct runtime *runtime, const struct module *module, uint32_t rid);

/** One segment of a LookupMap (ceeload.h): pointers by RID, the next segment after them. */
struct lookup_segment {
	uint64_t next, table, mask;
	uint32_t count;
};
bool lookup_segment_read(struct runtime *runtime, uint64_t address, struct lookup_segment *ret);

/**
 * Address of the Module to which an element of the AppDomain's list of assemblies leads, and which
 * refers back; 0: none.
 */
uint64_t assembly_list_module(const struct runtime *runtime, uint64_t element);

/** All modules of the AppDomain (doc/coreclr.md 9.1), CoreLib first.  Read once. */
HD_NODISCARD enum hd_status module_list(struct runtime *runtime, struct module *const **ret,
					size_t *ret_count, struct hd_error *err);
/** The module that the program began with: the first of the list that is not a library; NULL: not known. */
struct module *module_program(struct runtime *runtime);
/** runtime_ops.modules of CoreCLR. */
HD_NODISCARD enum hd_status coreclr_modules(struct runtime *runtime, struct module *const **ret,
					    size_t *ret_count, struct hd_error *err);
