/* SPDX-License-Identifier: MIT */
/* Writes the help of sql: the tables with their columns, and queries to begin with. */
#include <string.h>

#include "command/call.h"
#include "command/sql/sql_columns.h"

/* A query, and what it is for. */
static const struct {
	const char *what, *query;
} examples[] = {
	{ "Types by the bytes of their objects",
	  "SELECT type, count(*), sum(size) FROM objects GROUP BY type ORDER BY 3 DESC LIMIT 10" },
	{ "Strings that come often",
	  "SELECT value, count(*), sum(size) FROM strings GROUP BY value ORDER BY 3 DESC LIMIT 10" },
	{ "Who refers to an object, and by which field",
	  "SELECT \"from\", field FROM refs WHERE \"to\" = 0x7f0fd5c0b2f8" },
	{ "The types that hold objects of a type",
	  "SELECT h.type, r.field, count(*) FROM objects o JOIN refs r ON r.\"to\" = o.address JOIN "
	  "objects h ON h.address = r.\"from\" WHERE o.type = 'Shop.Order' GROUP BY 1, 2 ORDER BY 3 "
	  "DESC" },
	{ "Dead objects by type",
	  "SELECT type, count(*), sum(size) FROM objects WHERE NOT live AND NOT free GROUP BY type "
	  "ORDER BY 3 DESC LIMIT 10" },
	{ "Objects of a type by the value of a field",
	  "SELECT value, count(*) FROM fields WHERE type = 'Shop.Order' AND name = 'State' GROUP BY "
	  "value" },
	{ "Fill of the generations",
	  "SELECT generation, count(*), sum(size), sum(size * free) AS free FROM objects GROUP BY "
	  "generation" },
	{ "Handles by kind and type",
	  "SELECT kind, type, count(*) FROM handles GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20" },
	{ "Where the threads are",
	  "SELECT method, count(*) AS threads FROM frames WHERE kind = 'managed' GROUP BY method ORDER "
	  "BY 2 DESC LIMIT 20" },
	{ "What the threads wait for",
	  "SELECT waits_for, count(*) FROM waits GROUP BY 1 ORDER BY 2 DESC" },
	{ "Tasks by status and method",
	  "SELECT status, method, count(*) FROM tasks GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20" },
	{ "Exceptions by type and message",
	  "SELECT type, message, count(*) FROM exceptions GROUP BY 1, 2 ORDER BY 3 DESC" },
};

static void append_table(struct text *text, const struct sql_table *table)
{
	struct sql_column columns[SQL_COLUMNS_MAX];
	size_t count = sql_columns(table, columns);
	size_t column = 2 + strlen(table->name) + 1;
	text_printf(text, "\n  %s:", table->name);
	help_wrap(text, table->help, strlen(table->help), 4, &column);
	text_puts(text, ".\n");
	if (table->is_of_heaps)
		text_puts(text, "    Only of a core or a process.\n");
	if (table->needs)
		text_printf(text, "    It needs one of: %s\n", table->needs);
	for (size_t i = 0; i < count; i++) {
		const char *help = columns[i].column->help;
		size_t at = 28;
		text_printf(text, "    %-15s %-8s", columns[i].name,
			    sql_declared_type(columns[i].column));
		if (help)
			help_wrap(text, help, strlen(help), 28, &at);
		text_puts(text, "\n");
	}
}

void append_sql_help(struct text *text)
{
	const struct sql_table *table;
	text_puts(text, "\nTables:\n");
	for (size_t i = 0; (table = sql_table_at(i)); i++)
		append_table(text, table);
	text_puts(text, "\nQueries to begin with:\n");
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		size_t at = 4;
		text_printf(text, "\n  %s:\n    ", examples[i].what);
		help_wrap(text, examples[i].query, strlen(examples[i].query), 4, &at);
		text_puts(text, "\n");
	}
}
