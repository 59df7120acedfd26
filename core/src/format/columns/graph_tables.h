/* SPDX-License-Identifier: MIT */
/* The tables of a graph in columns: its types, objects and references, as sql calls them. */
#pragma once

#include "format/columns/field_writer.h"
#include "util/text.h"

enum graph_table {
	GRAPH_OBJECTS,
	GRAPH_REFS,
	GRAPH_TYPES,
	GRAPH_TABLES,
};

/** The tables of a graph have this in common. */
struct graph_tables {
	const struct hd_graph *graph; /**< with references */
	const uint64_t *live;         /**< a bit for each live node */
	const char *lacks;            /**< one line, or NULL */
	struct job *job;
	struct hd_error *err;
	uint64_t *ids;              /**< of all nodes; owned if the graph has none */
	struct text names;          /**< of types, as UTF-8 */
	struct field_text *types;   /**< in it, by type */
	uint64_t *type_ids;         /**< by type */
	struct text domain_text;    /**< names of AppDomains, likewise */
	struct field_text *domains; /**< in it */
	struct field_dictionary type_names, type_numbers, domain_names;
};

/**
 * Prepare them: 8 bytes for each node of a heap, and the names of types.  The first members, up to err,
 * are set.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status graph_tables_prepare(struct graph_tables *tables);
void graph_tables_deinit(struct graph_tables *tables);

/** "objects", "refs", "types". */
const char *graph_table_name(enum graph_table which);

/** Write one of them; statuses as struct format's write. */
HD_NODISCARD enum hd_status graph_tables_write(const struct graph_tables *tables,
					       enum graph_table which, enum field_format format,
					       const struct field_target *target);
