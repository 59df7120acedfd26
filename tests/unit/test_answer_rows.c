/* SPDX-License-Identifier: MIT */
#include "answer/rows.h"
#include "support/answer_samples.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"

/* The visitor of these tests writes a line for each call. */
static void log_value(struct text *log, const struct hd_value *value)
{
	switch (value->kind) {
	case HD_KIND_NULL:
		text_puts(log, "-");
		break;
	case HD_KIND_SIGNED:
		text_printf(log, "%" PRId64, value->signed_number);
		break;
	case HD_KIND_ADDRESS:
		text_printf(log, "0x%" PRIx64, value->number);
		break;
	case HD_KIND_REAL:
	case HD_KIND_PERCENT:
		text_printf(log, "%.17g", value->real);
		break;
	case HD_KIND_TEXT:
	case HD_KIND_TYPE:
	case HD_KIND_SET:
		REQUIRE(value->text);
		text_puts(log, "'");
		text_append(log, value->text, value->size);
		text_puts(log, "'");
		CU_ASSERT_EQUAL(value->number, 0);
		break;
	default:
		text_printf(log, "%" PRIu64, value->number);
		break;
	}
}

static int log_row(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	struct text *log = arg;
	text_printf(log, " %s:", table->name);
	for (uint32_t i = 0; i < table->column_count; i++) {
		text_puts(log, i ? "|" : "");
		log_value(log, &values[i]);
	}
	text_puts(log, "\n");
	return 0;
}

static void log_begin(void *arg, const struct hd_table *table)
{
	static const char *const shapes[] = { "table", "record", "members", "list" };
	text_printf(arg, "+%s %s%s%s%s\n", shapes[table->shape], table->name,
		    table->is_main ? " (main)" : "", table->parent ? " in " : "",
		    table->parent ? table->parent->name : "");
	CU_ASSERT_EQUAL(table->struct_size, sizeof(*table));
}

static void log_end(void *arg, const struct hd_table *table)
{
	text_printf(arg, "-%s\n", table->name);
}

static struct hd_visitor log_visitor(struct text *log)
{
	return (struct hd_visitor){
		.struct_size = sizeof(struct hd_visitor),
		.arg = log,
		.row = log_row,
		.begin = log_begin,
		.end = log_end,
	};
}

/* Hand what @p write answers to @p visit; was it stopped? */
static bool visit_of(void (*write)(struct answer *), struct visit *visit)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	struct out out;
	struct answer answer;
	out_init(&out, &sink, 0, false);
	answer_init(&answer, FORMAT_ROWS, &out, NULL);
	answer.visit = visit;
	CU_ASSERT(answer_is_data(&answer));
	CU_ASSERT_FALSE(answer_is_text(&answer));
	write(&answer);
	CU_ASSERT_EQUAL(answer.depth, 0);
	CU_ASSERT_EQUAL(out.text.size, 0);
	CU_ASSERT_EQUAL(answer_is_stopped(&answer), out.stopped);
	bool stopped = out.stopped;
	if (!stopped)
		CU_ASSERT_PTR_NULL(visit->open);
	out_deinit(&out);
	return stopped;
}

static void check_visit(void (*write)(struct answer *), const char *expected)
{
	struct text log = { 0 };
	const struct hd_visitor visitor = log_visitor(&log);
	struct visit visit = { .visitor = &visitor };
	CU_ASSERT_FALSE(visit_of(write, &visit));
	ASSERT_TEXT(log.bytes, expected);
	visit_deinit(&visit);
	text_deinit(&log);
}

TEST(a_visitor_gets_tables_rows_and_ends)
{
	check_visit(sample_pets,
		    "+table pets (main)\n"
		    " pets:0xbeef|'Tom, \"T\"'|'Cat'|1234|-5|'Elm'|3|'Jo'|9|'loud old'|-\n"
		    "+table pets.toys in pets\n pets.toys:'ball'\n-pets.toys\n"
		    "+list pets.nicknames in pets\n pets.nicknames:'Tommy'\n"
		    " pets.nicknames:'T'\n-pets.nicknames\n"
		    " pets:0x10|-|-|0|-|-|-|-|-|''|-\n-pets\n"
		    "+members \n :1\n-\n"
		    "+record sum\n sum:3|1|33.299999999999997|-\n-sum\n"
		    "+record sum\n sum:3|1|33.299999999999997|-\n-sum\n"
		    "+list words\n words:'a'\n words:'b'\n-words\n");
}

TEST(a_visitor_gets_objects_and_records_in_rows)
{
	check_visit(sample_shapes,
		    "+record around\n around:\n"
		    "+table around.pets (main) in around\n"
		    " around.pets:0x7|-|-|-|-|-|-|-|-|-|-\n"
		    "+record around.pets.inside in around.pets\n around.pets.inside:\n"
		    "-around.pets.inside\n"
		    "+list around.pets.words in around.pets\n"
		    " around.pets.words:'a'\n around.pets.words:-\n"
		    "-around.pets.words\n-around.pets\n-around\n");
	check_visit(sample_list, "+list things (main)\n things:1|-|-|-\n things:-3|-|-|-\n"
				 " things:0.10000000149011612|-|-|-\n"
				 " things:0.10000000000000001|-|-|-\n things:-|-|-|-\n"
				 " things:-|-|-|1\n"
				 "+record things.sum in things\n things.sum:1|1|50|-\n"
				 "+list things.sum.words in things.sum\n things.sum.words:'a'\n"
				 "-things.sum.words\n-things.sum\n things:-|-|7|-\n-things\n");
}

/* Schemas that are made for one record, all in the same place, with names that go. */
static void write_made(struct answer *answer)
{
	static const char *const names[] = { "one", "two", "one" };
	for (uint64_t i = 0; i < 3; i++) {
		char name[8], help[8];
		(void)snprintf(name, sizeof(name), "%s", names[i]);
		(void)snprintf(help, sizeof(help), "help %u", (unsigned int)i);
		const struct column columns[] = { { name, NULL, KIND_NUMBER, 0, 0, help } };
		const struct schema schema = { .name = "made", SCHEMA_COLUMNS(columns) };
		answer_record(answer, &schema, (const struct cell[]){ cell_number(i) });
		memset(name, 'x', sizeof(name) - 1);
		memset(help, 'x', sizeof(help) - 1);
	}
}

TEST(schemas_may_go_before_their_tables)
{
	struct hd_rows *rows = rows_create();
	REQUIRE(rows);
	CU_ASSERT_FALSE(visit_of(write_made, rows_visit(rows)));
	const struct hd_table *one = hd_rows_table(rows, 0), *two = hd_rows_table(rows, 1);
	REQUIRE(one);
	REQUIRE(two);
	CU_ASSERT_PTR_NULL(hd_rows_table(rows, 2));
	ASSERT_TEXT(one->columns[0].name, "one");
	ASSERT_TEXT(one->columns[0].help, "help 0");
	ASSERT_TEXT(two->columns[0].name, "two");
	CU_ASSERT_EQUAL(hd_rows_count(rows, one), 2);
	CU_ASSERT_EQUAL(hd_rows_at(rows, one, 1)->number, 2);
	CU_ASSERT_EQUAL(hd_rows_member(rows, "made.two")->number, 1);
	hd_rows_free(rows);
}

#define WIDE_COUNT 100

/* More columns than any command has, as a statement may select them; and a row whose texts are all empty. */
static void write_wide(struct answer *answer)
{
	static struct column columns[WIDE_COUNT];
	static const char *const none[] = { NULL };
	struct cell cells[WIDE_COUNT];
	for (size_t i = 0; i < WIDE_COUNT; i++) {
		columns[i] =
			(struct column){ .name = "wide", .kind = i % 2 ? KIND_TEXT : KIND_SET };
		cells[i] = i % 2 ? cell_text("", 0) : cell_set(none, 0);
	}
	const struct schema schema = { .name = "wide", SCHEMA_COLUMNS(columns), .is_main = true };
	answer_table(answer, &schema, NULL);
	answer_row(answer, cells);
	(void)answer_table_end(answer);
}

TEST(rows_may_be_wide_and_empty)
{
	struct hd_rows *rows = rows_create();
	REQUIRE(rows);
	CU_ASSERT_FALSE(visit_of(write_wide, rows_visit(rows)));
	const struct hd_table *table = hd_rows_find(rows, NULL);
	REQUIRE(table);
	CU_ASSERT_EQUAL(table->column_count, WIDE_COUNT);
	const struct hd_value *values = hd_rows_at(rows, table, 0);
	REQUIRE(values);
	for (size_t i = 0; i < WIDE_COUNT; i++) {
		CU_ASSERT_EQUAL(values[i].kind, i % 2 ? HD_KIND_TEXT : HD_KIND_SET);
		CU_ASSERT_EQUAL(values[i].size, 0);
		CU_ASSERT_PTR_NOT_NULL(values[i].text);
	}
	hd_rows_free(rows);
}

TEST(rows_know_what_they_belong_to)
{
	struct hd_rows *rows = rows_create();
	REQUIRE(rows);
	CU_ASSERT_FALSE(visit_of(sample_pets, rows_visit(rows)));
	const struct hd_table *pets = hd_rows_find(rows, "pets");
	const struct hd_table *names = hd_rows_find(rows, "pets.nicknames");
	uint64_t first = 9, count = 9;
	CU_ASSERT_PTR_EQUAL(hd_rows_find(rows, NULL), pets);
	CU_ASSERT_EQUAL(hd_rows_count(rows, pets), 2);
	CU_ASSERT_EQUAL(hd_rows_parent(rows, names, 1), 0);
	CU_ASSERT(hd_rows_in(rows, names, 0, &first, &count));
	CU_ASSERT_EQUAL(first, 0);
	CU_ASSERT_EQUAL(count, 2);
	CU_ASSERT_FALSE(hd_rows_in(rows, names, 1, &first, &count));
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_FALSE(hd_rows_in(rows, names, UINT64_MAX, NULL, NULL));
	CU_ASSERT(hd_rows_in(rows, pets, 0, NULL, &count));
	CU_ASSERT_EQUAL(count, 2);
	CU_ASSERT_FALSE(hd_rows_in(rows, pets, 1, NULL, NULL));
	CU_ASSERT_EQUAL(hd_rows_member(rows, "truncated")->number, 1);
	CU_ASSERT_EQUAL(hd_rows_member(rows, "sum.count")->number, 3);
	CU_ASSERT_EQUAL(hd_rows_member(rows, "sum.absent")->kind, HD_KIND_NULL);
	CU_ASSERT_PTR_NULL(hd_rows_member(rows, "sum"));
	CU_ASSERT_PTR_NULL(hd_rows_member(rows, "sum.nothing"));
	CU_ASSERT_PTR_NULL(hd_rows_member(rows, "pets.legs"));
	CU_ASSERT_EQUAL(hd_table_column(pets, "home.number"), PET_HOME_NUMBER);
	CU_ASSERT_EQUAL(hd_table_column(pets, "home"), -1);
	CU_ASSERT_PTR_NULL(hd_rows_at(rows, pets, 2));
	hd_rows_free(rows);
}

/* In the rows of one table: a table without rows, none, and one with a row. */
static void write_empty(struct answer *answer)
{
	answer_table(answer, &sample_toy_schema, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		answer_row_begin(answer, (const struct cell[]){ cell_string("ball") });
		if (i != 1) {
			answer_table(answer, &sample_nickname_schema, NULL);
			if (i == 2)
				answer_row(answer, (const struct cell[]){ cell_string("T") });
			(void)answer_table_end(answer);
		}
		answer_row_end(answer);
	}
	(void)answer_table_end(answer);
}

TEST(a_table_without_rows_is_not_an_absent_one)
{
	struct hd_rows *rows = rows_create();
	REQUIRE(rows);
	CU_ASSERT_FALSE(visit_of(write_empty, rows_visit(rows)));
	const struct hd_table *names = hd_rows_find(rows, "toys.nicknames");
	uint64_t first = 9, count = 9;
	CU_ASSERT(hd_rows_in(rows, names, 0, &first, &count));
	CU_ASSERT_EQUAL(first + count, 0);
	CU_ASSERT_FALSE(hd_rows_in(rows, names, 1, NULL, NULL));
	CU_ASSERT(hd_rows_in(rows, names, 2, &first, &count));
	CU_ASSERT_EQUAL(first, 0);
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_EQUAL(hd_rows_parent(rows, names, 0), 2);
	CU_ASSERT_FALSE(hd_rows_in(rows, names, 3, NULL, NULL));
	hd_rows_free(rows);
}

/* Takes as many calls of row() as it says, then no more of any. */
struct patience {
	unsigned int rows, calls;
};

static int wait_row(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	struct patience *patience = arg;
	(void)table;
	(void)values;
	CU_ASSERT(patience->rows > 0);
	patience->calls++;
	return --patience->rows == 0;
}

static void wait_table(void *arg, const struct hd_table *table)
{
	struct patience *patience = arg;
	(void)table;
	CU_ASSERT(patience->rows > 0);
}

TEST(nothing_is_told_after_a_visitor_has_stopped)
{
	void (*const writers[])(struct answer *) = { sample_pets, sample_shapes, sample_list };
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		bool stopped = true;
		for (unsigned int rows = 1; stopped; rows++) {
			struct patience patience = { .rows = rows };
			const struct hd_visitor visitor = {
				.struct_size = sizeof(visitor),
				.arg = &patience,
				.row = wait_row,
				.begin = wait_table,
				.end = wait_table,
			};
			struct visit visit = { .visitor = &visitor };
			stopped = visit_of(writers[i], &visit);
			CU_ASSERT_EQUAL(stopped, patience.rows == 0);
			CU_ASSERT(patience.calls > 0);
			visit_deinit(&visit);
		}
	}
}

/* The answer tells of any allocation that fails, and all is given back. */
TEST(memory_may_run_out_at_any_point)
{
	void (*const writers[])(struct answer *) = { sample_pets, sample_shapes, sample_list,
						     write_made,  write_wide,    write_empty };
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		bool failed = true;
		for (uint64_t nth = 1; failed; nth++) {
			struct hd_error err = { 0 };
			uint64_t live = alloc_live();
			alloc_fail_at(nth);
			struct hd_rows *rows = rows_create();
			bool stopped = rows && visit_of(writers[i], rows_visit(rows));
			alloc_fail_at(0);
			failed = stopped || !rows;
			if (rows && rows_check(rows, &err) != HD_OK) {
				failed = true;
				CU_ASSERT_EQUAL(err.status, HD_ERR_NOMEM);
			}
			hd_rows_free(rows);
			CU_ASSERT_EQUAL(alloc_live(), live);
		}
	}
}

SUITE(.name = "answer_rows")
