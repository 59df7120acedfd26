/* SPDX-License-Identifier: MIT */
/* Types and methods by their names in the metadata of the loaded modules. */
#pragma once

#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/modules/module.h"

struct text;

/** A type or method of a module, by its token. */
struct named_entity {
	const struct module *module;
	uint32_t token; /**< 0x02......: a TypeDef; 0x06......: a MethodDef */
};

/** The entities that were found, in the order of the modules and their metadata. */
struct named_entities {
	struct named_entity *rows;
	size_t rows_count, rows_capacity;
	size_t modules; /**< how many modules have the name that was asked for */
	size_t unnamed; /**< how many of these have no metadata: nothing is found there */
};

/**
 * Does @p module have that name: of its assembly, or of its file with or without .dll or .exe, case
 * ignored; "*" is the name of all.
 */
bool module_is_named(const struct module *module, const char *name);

/**
 * The types and methods with the full name @p name in the modules named @p module: "Ns.Outer+Inner",
 * "Ns.Type.Method", "Ns.Type..ctor".  `N after a name may be left out.
 *
 * @param[out] ret To be given to named_entities_deinit(), also on failure.
 * @retval HD_OK also when nothing was found
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * @return also what module_list() fails with
 * Cost: linear in the TypeDefs of these modules.
 */
HD_NODISCARD enum hd_status names_find(struct runtime *runtime, const char *module,
				       const char *name, struct job *job,
				       struct named_entities *ret, struct hd_error *err);

/** The same for the TypeDef or MethodDef @p token; found if the table has that row. */
HD_NODISCARD enum hd_status tokens_find(struct runtime *runtime, const char *module, uint32_t token,
					struct named_entities *ret, struct hd_error *err);

void named_entities_deinit(struct named_entities *entities);

/** The loaded form of a type or method; 0 and NULL: the runtime has not loaded it. */
struct loaded_entity {
	const struct type *type; /**< the type, or that which declares the method; of a generic one
				  * its definition */
	uint64_t method_desc;
	bool is_generic; /**< it may have code under other MethodDescs: its instantiations */
};
struct loaded_entity entity_load(struct runtime *runtime, const struct named_entity *entity);

/** Append its name as the metadata has it: "Ns.Outer+Inner", "Ns.Type.Method". */
void entity_name(const struct named_entity *entity, struct text *text);

/** Is @p method_desc the method @p entity, or an instantiation of it? */
bool entity_is_method(struct runtime *runtime, const struct named_entity *entity,
		      uint64_t method_desc);
