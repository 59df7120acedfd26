/* SPDX-License-Identifier: MIT */
#pragma once

#include "command/call.h"

/** The objects that a command is about: one object, or all of a type. */
struct chosen_objects {
	const struct value *of_type; /**< the id of a type; NULL: one object, or part */
	const char *part;            /**< of the names of types, as -type has it; or NULL */
	uint32_t type;               /**< of the first, index in call->graph->types */
	uint32_t *nodes;             /**< ascending */
	size_t nodes_count, nodes_capacity;
};

/**
 * The objects that the first word of @p call names, by an id or as those of a type, or when no word was given
 * those of the type @p mt, or of types whose names contain @p part, of which one is given.  A dump file may have a type in several sections: all of them.
 *
 * @param[out] ret To be given to chosen_objects_deinit(); untouched on failure.
 * @retval HD_OK there is one object at least
 * @retval HD_ERR_NOTFOUND says what is there instead
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status chosen_objects_init(struct call *call, const struct value *mt,
						const struct value *part,
						struct chosen_objects *ret);
void chosen_objects_deinit(struct chosen_objects *objects);
