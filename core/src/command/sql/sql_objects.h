/* SPDX-License-Identifier: MIT */
/* A cursor over objects, of a heap or of a dump file: what several tables are made of. */
#pragma once

#include "command/sql/sql_table.h"
#include "gc/walk.h"

/** Which objects a cursor meets. */
struct sql_choice {
	/**
	 * For a heap: does the table have objects of that type?  Asked once for each type; NULL: of
	 * all.
	 */
	bool (*accepts)(struct runtime *runtime, const struct type *type);
	const char *type_name; /**< of a dump file: the only type that is; NULL: all are */
	enum sql_match match;  /**< of the name of the type with @c text */
	const char *text;
	uint64_t method_table; /**< only of this one; 0: any */
	bool has_address;      /**< only the one there */
	uint64_t address;
};

/** An object of either. */
struct sql_object {
	uint64_t address, size, type_id;
	const char *type_name;
	size_t type_size;
	bool is_free;
	uint32_t node;                 /**< of a dump file */
	struct object object;          /**< of a heap */
	const struct segment *segment; /**< of a heap */
};

struct sql_objects;

/**
 * Begin.
 *
 * @param[out] ret To be given to sql_objects_close().
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status sql_objects_open(struct sql_source *source,
					     const struct sql_choice *choice,
					     struct sql_objects **ret);
/** The next object; *@p ret is NULL at the end.  HD_ERR_CANCELLED, HD_ERR_NOMEM. */
HD_NODISCARD enum hd_status sql_objects_next(struct sql_objects *objects,
					     const struct sql_object **ret);
/** NULL is allowed. */
void sql_objects_close(struct sql_objects *objects);

/** Roughly how many there are. */
double sql_objects_estimate(const struct sql_source *source);

/** "2", "loh", ... of an object, or an absent cell. */
struct cell sql_generation(const struct sql_source *source, const struct sql_object *object);
