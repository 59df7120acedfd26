/* SPDX-License-Identifier: MIT */
/*
 * Print the rows of framework/fact_table.h for check_framework.py, a line each:
 *
 *	type TAB name TAB assembly TAB origin TAB first TAB last TAB id TAB id of the main row
 *	field TAB type name TAB assembly TAB origin TAB first TAB last TAB id TAB main TAB path
 */
#include <stdio.h>

#include "framework/facts.h"

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
	return 0;
}
