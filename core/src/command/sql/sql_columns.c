/* SPDX-License-Identifier: MIT */
#include "command/sql/sql_columns.h"

#include <stdio.h>

static const struct sql_table *const own_tables[] = {
	&sql_objects_table, &sql_references_table, &sql_strings_table, &sql_fields_table,
	&sql_arrays_table,  &sql_exceptions_table, &sql_modules_table, &sql_methods_table,
};

#define OWN_TABLES (sizeof(own_tables) / sizeof(own_tables[0]))

const struct sql_table *sql_table_at(size_t index)
{
	if (index < OWN_TABLES)
		return own_tables[index];
	index -= OWN_TABLES;
	return index < sql_kept_count() ? sql_kept_at(index) : NULL;
}

static size_t add_columns(struct sql_column *ret, size_t count, const struct column *columns,
			  size_t column_count, const char *prefix)
{
	for (size_t i = 0; i < column_count && count < SQL_COLUMNS_MAX; i++) {
		struct sql_column *column = &ret[count];
		if (!columns[i].name)
			continue;
		(void)snprintf(column->name, sizeof(column->name), "%s%s", prefix ? prefix : "",
			       columns[i].name);
		for (char *point = column->name; (point = strchr(point, '.'));)
			*point = '_';
		column->column = &columns[i];
		column->is_outer = prefix != NULL;
		count++;
	}
	return count;
}

size_t sql_columns(const struct sql_table *table, struct sql_column *ret)
{
	if (table->columns)
		return add_columns(ret, 0, table->columns, table->count, NULL);
	const struct schema *outer, *own;
	const char *prefix;
	size_t count = 0;
	sql_kept_schemas(table, &outer, &own, &prefix);
	if (outer)
		count = add_columns(ret, count, outer->columns, outer->count, prefix);
	return add_columns(ret, count, own->columns, own->count, NULL);
}

const char *sql_declared_type(const struct column *column)
{
	static const char *const types[] = {
		[KIND_FLAG] = "INTEGER", [KIND_NUMBER] = "INTEGER",  [KIND_SIGNED] = "INTEGER",
		[KIND_BYTES] = "BYTES",  [KIND_ADDRESS] = "ADDRESS", [KIND_PERCENT] = "REAL",
		[KIND_REAL] = "REAL",    [KIND_SINGLE] = "REAL",     [KIND_TEXT] = "TEXT",
		[KIND_TYPE] = "TEXT",    [KIND_SET] = "TEXT",        [KIND_ANY] = "",
	};
	return types[column->kind];
}
