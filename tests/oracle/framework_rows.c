/* SPDX-License-Identifier: MIT */
/*
 * Print the rows of framework/fact_table.h for check_framework.py, a line each:
 *
 *	type TAB name TAB assembly TAB origin TAB first TAB last TAB id TAB id of the main row
 *	field TAB type name TAB assembly TAB origin TAB first TAB last TAB id TAB main TAB path
 *
 * And those of framework/collection_layout.c, a line for each path of fields, where [] is an element of an array:
 *
 *	layout TAB class TAB row TAB 1 if classes that derive from it have the fields TAB path
 */
#include <stdio.h>

#include "framework/collection_layout.h"
#include "framework/facts.h"

#define PATH_MAX_SIZE 256u

static const char *const origins[] = {
	[FROM_PACK] = "pack",
	[FROM_PACKAGE] = "package",
	[FROM_PACK_AND_PACKAGE] = "both",
};

static void print_place(const char *kind, enum net_type type, struct net_releases releases,
			unsigned int id, unsigned int main_id)
{
	const struct net_type_row *row = net_type_row(type);
	const struct net_assembly_row *assembly = net_assembly_row(row->assembly);
	printf("%s\t%s\t%s\t%s\t%u\t%u\t%u\t%u", kind, row->name, assembly->name,
	       origins[assembly->origin], releases.first, releases.last, id, main_id);
}

/* A row of the table of collections. */
struct printed {
	const struct collection_layout *layout;
	unsigned int index;
};

static void print_path(const struct printed *row, const char *before, const char *path)
{
	if (path) {
		printf("layout\t%s\t%u\t%d\t%s%s%s\n", row->layout->name, row->index,
		       row->layout->is_own, before, *before ? "." : "", path);
	}
}

static void print_item(const struct printed *row, const char *before,
		       const struct item_fields *item)
{
	print_path(row, before, item->key);
	print_path(row, before, item->value);
}

static void print_fields(const struct printed *row)
{
	const struct collection_layout *layout = row->layout;
	const char *const paths[] = { layout->items,      layout->other,       layout->count,
				      layout->slots.used, layout->slots.spare, layout->version,
				      layout->capacity };
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		print_path(row, "", paths[i]);
}

/* The fields of its slots or nodes; those of other shapes are facts. */
static void print_nodes(const struct printed *row)
{
	const struct collection_layout *layout = row->layout;
	const char *items = layout->items ? layout->items : "";
	char node[PATH_MAX_SIZE], more[2 * PATH_MAX_SIZE];
	bool has_chains = layout->shape == SHAPE_CHAINS;
	bool has_slots = has_chains || layout->shape == SHAPE_ARRAY;
	(void)snprintf(node, sizeof(node), "%s%s%s%s", items, has_slots ? ".[]" : "",
		       has_chains ? "." : "", has_chains ? layout->start : "");
	if (!has_chains)
		print_path(row, "", layout->start);
	/* MemoryCache: the entries of the collections inside. */
	if (layout->shape != SHAPE_PARTS)
		print_item(row, node, &layout->item);
	print_path(row, node, layout->slots.live);
	print_path(row, node, layout->next);
	print_path(row, node, layout->tree.left);
	print_path(row, node, layout->tree.right);
	print_path(row, node, layout->tree.height);
	print_path(row, node, layout->more);
	(void)snprintf(more, sizeof(more), "%s.%s", node, layout->more ? layout->more : "");
	if (layout->more)
		print_item(row, more, &layout->more_item);
}

static void print_layouts(void)
{
	struct printed row = { 0 };
	for (; (row.layout = collection_layout_at(row.index)); row.index++) {
		print_path(&row, "", "");
		print_fields(&row);
		print_nodes(&row);
	}
}

int main(void)
{
	for (enum net_type type = 0; type < NET_TYPES; type++) {
		print_place("type", type, net_type_row(type)->releases, type, net_type_main(type));
		puts("");
	}
	for (enum fact fact = 0; fact < FACTS; fact++) {
		const struct fact_row *row = fact_row(fact);
		print_place("field", row->type, row->releases, fact, fact_main(fact));
		printf("\t%s\n", row->path);
	}
	print_layouts();
	return 0;
}
