/* SPDX-License-Identifier: MIT */
/*
 * Aggregates over rows that stand for many: in a query that groups all objects by type and only counts
 * and sums, sql_sizes hands on one row for all objects of a type and size, and says how many they are.
 *
 * That is right only where nothing else looks at the rows.  The query is compiled twice: what the
 * authorizer was asked the first time tells whether it may be done (sql_weight_allows()).
 */
#include <string.h>
#include <strings.h>

#include "command/sql/sql_database.h"

/* sum(), total() and avg() keep this; zeros at first. */
struct weighted_sum {
	int64_t whole;
	double real;
	uint64_t count;
	bool is_real, is_too_large;
};

/* count() keeps this. */
struct weighted_count {
	int64_t count;
};

static uint64_t weight_of(sqlite3_context *context)
{
	const struct sql_source *source = sqlite3_user_data(context);
	return source->weight;
}

static void count_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct weighted_count *state = sqlite3_aggregate_context(context, sizeof(*state));
	if (state && (argc == 0 || sqlite3_value_type(argv[0]) != SQLITE_NULL))
		state->count += (int64_t)weight_of(context);
}

static void count_final(sqlite3_context *context)
{
	const struct weighted_count *state = sqlite3_aggregate_context(context, 0);
	sqlite3_result_int64(context, state ? state->count : 0);
}

static void add_whole(struct weighted_sum *state, int64_t value, uint64_t weight)
{
	int64_t product;
	state->real += (double)value * (double)weight;
	if (__builtin_mul_overflow(value, (int64_t)weight, &product) ||
	    __builtin_add_overflow(state->whole, product, &state->whole))
		state->is_too_large = true;
}

static void sum_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct weighted_sum *state = sqlite3_aggregate_context(context, sizeof(*state));
	uint64_t weight = weight_of(context);
	(void)argc;
	int kind = sqlite3_value_numeric_type(argv[0]);
	if (!state || kind == SQLITE_NULL)
		return;
	state->count += weight;
	if (kind == SQLITE_INTEGER) {
		add_whole(state, sqlite3_value_int64(argv[0]), weight);
	} else {
		state->is_real = true;
		state->real += sqlite3_value_double(argv[0]) * (double)weight;
	}
}

/* As SQLite's own: NULL of nothing, an error where whole numbers do not fit. */
static void sum_final(sqlite3_context *context)
{
	const struct weighted_sum *state = sqlite3_aggregate_context(context, 0);
	if (!state || !state->count) {
		sqlite3_result_null(context);
	} else if (state->is_real) {
		sqlite3_result_double(context, state->real);
	} else if (state->is_too_large) {
		sqlite3_result_error(context, "integer overflow", -1);
	} else {
		sqlite3_result_int64(context, state->whole);
	}
}

static void total_final(sqlite3_context *context)
{
	const struct weighted_sum *state = sqlite3_aggregate_context(context, 0);
	sqlite3_result_double(context, state ? state->real : 0);
}

static void average_final(sqlite3_context *context)
{
	const struct weighted_sum *state = sqlite3_aggregate_context(context, 0);
	if (state && state->count) {
		sqlite3_result_double(context, state->real / (double)state->count);
	} else {
		sqlite3_result_null(context);
	}
}

static const struct {
	const char *name;
	int arguments;
	void (*step)(sqlite3_context *context, int argc, sqlite3_value **argv);
	void (*final)(sqlite3_context *context);
} functions[] = {
	{ "count", 0, count_step, count_final }, { "count", 1, count_step, count_final },
	{ "sum", 1, sum_step, sum_final },       { "total", 1, sum_step, total_final },
	{ "avg", 1, sum_step, average_final },
};

int sql_weight_use(struct sql_database *database)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		int result = sqlite3_create_function_v2(
			database->handle, functions[i].name, functions[i].arguments, SQLITE_UTF8,
			&database->source, NULL, functions[i].step, functions[i].final, NULL);
		if (result != SQLITE_OK)
			return result;
	}
	database->source.is_weighted = true;
	return SQLITE_OK;
}

void sql_weight_function(struct sql_asked *asked, const char *name)
{
	/* The greatest of equal values is the same, however many they are. */
	static const char *const known[] = { "count", "sum", "total", "avg", "min", "max" };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcasecmp(name, known[i]) == 0)
			return;
	}
	asked->has_others = true;
}

bool sql_weight_allows(const struct sql_asked *asked, const char *query)
{
	/* count(DISTINCT x) and sum(x) OVER (...) are not asked about. */
	return asked->selects == 1 && asked->reads_objects && !asked->has_others &&
	       !strcasestr(query, "distinct") && !strcasestr(query, "over");
}
