/* SPDX-License-Identifier: MIT */
#include "answer/answer.h"
#include "support/assert_more.h"
#include "support/suite.h"

static int keep(void *arg, const char *text, size_t size)
{
	text_append(arg, text, size);
	return 0;
}

enum {
	PET_ADDRESS,
	PET_NAME,
	PET_KIND,
	PET_LEGS,
	PET_DEBT,
	PET_HOME_STREET,
	PET_HOME_NUMBER,
	PET_NOTE,
	PET_OWNER_NAME,
	PET_OWNER_AGE,
	PET_TRAITS,
	PET_CHIP,
	PET_COLUMNS
};

static const struct column pet_columns[PET_COLUMNS] = {
	[PET_ADDRESS] = { "address", "Address", KIND_ADDRESS, 8, LOOK_ADDRESS, NULL },
	[PET_NAME] = { "name", "Name", KIND_TEXT, 5, LOOK_LEFT, NULL },
	[PET_KIND] = { "kind", NULL, KIND_TYPE, 0, 0, NULL },
	[PET_LEGS] = { "legs", "Legs", KIND_NUMBER, 6, LOOK_THOUSANDS, NULL },
	[PET_DEBT] = { "debt", NULL, KIND_SIGNED, 0, LOOK_LEAVE_OUT, NULL },
	[PET_HOME_STREET] = { "home.street", NULL, KIND_TEXT, 0, 0, NULL },
	[PET_HOME_NUMBER] = { "home.number", NULL, KIND_NUMBER, 0, 0, NULL },
	[PET_NOTE] = { NULL, "Kind", KIND_TYPE, 0, 0, NULL },
	[PET_OWNER_NAME] = { "owner.name", NULL, KIND_TEXT, 0, LOOK_WHOLE, NULL },
	[PET_OWNER_AGE] = { "owner.age", NULL, KIND_NUMBER, 0, 0, NULL },
	[PET_TRAITS] = { "traits", "Traits", KIND_SET, 9, LOOK_LEFT, NULL },
	[PET_CHIP] = { "chip", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, NULL },
};

static const char *const traits[] = { "loud", "shy", "old", NULL };

static const struct schema pet_schema = {
	.name = "pets",
	SCHEMA_COLUMNS(pet_columns),
	.is_main = true,
};

static const struct column toy_columns[] = { { "toy", NULL, KIND_TEXT, 0, 0, NULL } };
static const struct schema toy_schema = { .name = "toys", SCHEMA_COLUMNS(toy_columns) };
static const struct schema nickname_schema = {
	.name = "nicknames",
	SCHEMA_COLUMNS(toy_columns),
	.is_list = true,
};

static const struct column sum_columns[] = {
	{ "count", "Pets:", KIND_NUMBER, 8, 0, NULL },
	{ "tame", "Tame:", KIND_FLAG, 8, 0, NULL },
	{ "share", "Share:", KIND_PERCENT, 8, 0, NULL },
	{ "absent", "Absent:", KIND_NUMBER, 8, 0, NULL },
};
static const struct schema sum_schema = { .name = "sum", SCHEMA_COLUMNS(sum_columns) };

/* One pet with a table and a list in its row, one without a name, and one too many. */
static void write_pets(struct answer *answer)
{
	static const struct table_options options = { .limit = 2 };
	const struct cell cat[PET_COLUMNS] = {
		[PET_ADDRESS] = cell_number(0xbeef),  [PET_NAME] = cell_string("Tom, \"T\""),
		[PET_KIND] = cell_type("Cat", 3, 7),  [PET_LEGS] = cell_number(1234),
		[PET_DEBT] = cell_signed(-5),         [PET_HOME_STREET] = cell_string("Elm"),
		[PET_HOME_NUMBER] = cell_number(3),   [PET_NOTE] = cell_type("Cat", 3, 7),
		[PET_OWNER_NAME] = cell_string("Jo"), [PET_OWNER_AGE] = cell_number(9),
		[PET_TRAITS] = cell_set(traits, 5),   [PET_CHIP] = cell_or_null((struct cell){ 0 }),
	};
	const struct cell unknown[PET_COLUMNS] = {
		[PET_ADDRESS] = cell_number(0x10),  [PET_LEGS] = cell_shown(cell_number(0), "none"),
		[PET_KIND] = cell_type(NULL, 0, 9), [PET_NOTE] = cell_type(NULL, 0, 9),
		[PET_TRAITS] = cell_set(traits, 0),
	};
	answer_remark_styled(answer, STYLE_HEAD, "All %s", "pets");
	answer_remark(answer, answer_is_text(answer) ? ":\n" : "");
	answer_table(answer, &pet_schema, &options);
	CU_ASSERT(answer_wants_row(answer));
	answer_row_begin(answer, cat);
	answer_table(answer, &toy_schema,
		     &(const struct table_options){ .limit = UINT64_MAX, .no_heading = true });
	answer_row(answer, (const struct cell[]){ cell_string("ball") });
	CU_ASSERT_FALSE(answer_table_end(answer));
	answer_table(answer, &nickname_schema,
		     &(const struct table_options){ .limit = UINT64_MAX, .no_heading = true });
	answer_row(answer, (const struct cell[]){ cell_string("Tommy") });
	answer_row(answer, (const struct cell[]){ cell_string("T") });
	CU_ASSERT_FALSE(answer_table_end(answer));
	answer_row_end(answer);
	CU_ASSERT(answer_wants_row(answer));
	answer_row(answer, unknown);
	CU_ASSERT_FALSE(answer_wants_row(answer));
	CU_ASSERT_EQUAL(answer_rows(answer), 3);
	CU_ASSERT(answer_table_end(answer));
	answer_cut(answer, 2);
	const struct cell sum[] = {
		cell_number(3), cell_flag(true), cell_percent(1, 3), { .is_there = false }
	};
	answer_record(answer, &sum_schema, sum);
	answer_data(answer, &sum_schema, sum);
	answer_heading(answer, &sum_schema, sum);
	answer_list(answer, "words", (const char *const[]){ "a", "b" }, 2);
}

/* A view of text alone, with a table in it; an object around a record and a table; and no record. */
static void write_shapes(struct answer *answer)
{
	static const struct schema view_schema = { SCHEMA_COLUMNS(pet_columns) };
	const struct cell cells[PET_COLUMNS] = {
		[PET_ADDRESS] = cell_number(7), [PET_DEBT] = cell_null()
	};
	const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };
	answer_table(answer, &view_schema,
		     &(const struct table_options){ .limit = UINT64_MAX,
						    .hidden = ~(1u << PET_ADDRESS) });
	answer_row_begin(answer, cells);
	answer_table(answer, &toy_schema, &bare);
	answer_row(answer, (const struct cell[]){ cell_string("unseen") });
	(void)answer_table_end(answer);
	answer_row_end(answer);
	(void)answer_table_end(answer);
	answer_object(answer, "around");
	answer_none(answer, "owner");
	answer_table(answer, &pet_schema, &bare);
	answer_row_begin(answer, cells);
	answer_object(answer, "inside");
	answer_none(answer, "friend");
	answer_object_end(answer);
	answer_list(answer, "words", (const char *const[]){ "a", NULL }, 2);
	answer_row_end(answer);
	(void)answer_table_end(answer);
	answer_object_end(answer);
}

static void check_of(void (*write)(struct answer *), enum answer_format format, bool is_brief,
		     const char *expected)
{
	struct text got = { 0 };
	const struct hd_sink sink = { .struct_size = sizeof(sink), .arg = &got, .write = keep };
	struct out out;
	struct answer answer;
	out_init(&out, &sink, 0, false);
	out.ends_crlf = format == FORMAT_CSV;
	struct json json = { .out = &out };
	answer_init(&answer, format, &out, &json);
	if (is_brief)
		answer_be_brief(&answer);
	if (format == FORMAT_JSON)
		json_object(&json, NULL);
	write(&answer);
	if (format == FORMAT_JSON)
		json_end(&json);
	out_flush(&out);
	ASSERT_TEXT(got.bytes, expected);
	CU_ASSERT_EQUAL(answer.depth, 0);
	out_deinit(&out);
	text_deinit(&got);
}

static void check(enum answer_format format, bool is_brief, const char *expected)
{
	check_of(write_pets, format, is_brief, expected);
}

static void text_has_headings_and_columns(void)
{
	check(FORMAT_TEXT, false,
	      "All pets:\n"
	      " Address Name    Legs Kind Traits   \n"
	      "    beef Tom, \"T\"  1,234 Cat loud,old \n"
	      "      10         none <unknown type 9>          \n"
	      "(the first 2; -limit 0 lists all)\n"
	      "Pets:   3\nTame:   yes\nShare:  33.3%\n"
	      "Pets:   3\nTame:   yes\nShare:  33.3%\n");
}

static void brief_text_is_the_first_column_of_the_main_table(void)
{
	check(FORMAT_TEXT, true, "beef\n10\n");
}

static void json_has_records_and_arrays(void)
{
	check(FORMAT_JSON, false,
	      "{\"pets\": [{\"address\": \"0xbeef\", \"name\": \"Tom, \\\"T\\\"\", \"kind\": \"Cat\", "
	      "\"legs\": 1234, \"debt\": -5, \"home\": {\"street\": \"Elm\", \"number\": 3}, "
	      "\"owner\": {\"name\": \"Jo\", \"age\": 9}, \"traits\": [\"loud\", \"old\"], \"chip\": null, "
	      "\"toys\": [{\"toy\": \"ball\"}], \"nicknames\": [\"Tommy\", \"T\"]}, "
	      "{\"address\": \"0x10\", \"name\": null, \"kind\": null, \"legs\": 0, "
	      "\"home\": {\"street\": null, \"number\": null}, "
	      "\"owner\": null, \"traits\": []}], \"truncated\": true, "
	      "\"sum\": {\"count\": 3, \"tame\": true, \"share\": 33.3, \"absent\": null}, "
	      "\"sum\": {\"count\": 3, \"tame\": true, \"share\": 33.3, \"absent\": null}, "
	      "\"words\": [\"a\", \"b\"]}\n");
}

static void ndjson_is_a_line_for_each_row_of_the_main_table(void)
{
	check(FORMAT_NDJSON, false,
	      "{\"address\": \"0xbeef\", \"name\": \"Tom, \\\"T\\\"\", \"kind\": \"Cat\", "
	      "\"legs\": 1234, \"debt\": -5, \"home\": {\"street\": \"Elm\", \"number\": 3}, "
	      "\"owner\": {\"name\": \"Jo\", \"age\": 9}, \"traits\": [\"loud\", \"old\"], \"chip\": null, "
	      "\"toys\": [{\"toy\": \"ball\"}], \"nicknames\": [\"Tommy\", \"T\"]}\n"
	      "{\"address\": \"0x10\", \"name\": null, \"kind\": null, \"legs\": 0, "
	      "\"home\": {\"street\": null, \"number\": null}, "
	      "\"owner\": null, \"traits\": []}\n");
}

/* RFC 4180: quotes around what holds a comma or a quote, which is doubled; CR LF after each line. */
static void csv_is_the_main_table_alone(void)
{
	check(FORMAT_CSV, false,
	      "address,name,kind,legs,debt,home.street,home.number,owner.name,owner.age,traits,chip"
	      "\r\n"
	      "0xbeef,\"Tom, \"\"T\"\"\",Cat,1234,-5,Elm,3,Jo,9,loud old,\r\n"
	      "0x10,,,0,,,,,,,\r\n");
}

static void a_table_without_a_name_is_for_text_alone(void)
{
	check_of(write_shapes, FORMAT_TEXT, false,
		 " Address\n       7\n       7              <unknown type 0>          \n");
	check_of(write_shapes, FORMAT_TEXT, true, "7\n");
	check_of(write_shapes, FORMAT_CSV, false,
		 "address,name,kind,legs,debt,home.street,home.number,owner.name,owner.age,traits,"
		 "chip\r\n0x7,,,,,,,,,,\r\n");
}

static void objects_are_around_what_they_hold(void)
{
	check_of(
		write_shapes, FORMAT_JSON, false,
		"{\"around\": {\"owner\": null, \"pets\": ["
		"{\"address\": \"0x7\", \"name\": null, \"kind\": null, \"legs\": null, \"debt\": null, "
		"\"home\": {\"street\": null, \"number\": null}, "
		"\"owner\": null, \"traits\": null, \"inside\": {\"friend\": null}, \"words\": [\"a\", null]}]}}\n");
	check_of(
		write_shapes, FORMAT_NDJSON, false,
		"{\"address\": \"0x7\", \"name\": null, \"kind\": null, \"legs\": null, \"debt\": null, "
		"\"home\": {\"street\": null, \"number\": null}, "
		"\"owner\": null, \"traits\": null, \"inside\": {\"friend\": null}, \"words\": [\"a\", null]}\n");
}

static const struct column thing_columns[] = {
	{ "value", "Value", KIND_ANY, 0, LOOK_LEAVE_OUT, NULL },
	{ "last.name", NULL, KIND_TEXT, 0, LOOK_WHOLE, NULL },
	{ "last.size", NULL, KIND_NUMBER, 0, 0, NULL },
	{ "after", NULL, KIND_NUMBER, 0, 0, NULL },
};
#define THINGS 4

/* A list whose values are of several kinds, of which one is absent; a row of it that holds a record. */
static void write_list(struct answer *answer)
{
	static const struct schema things = {
		.name = "things",
		SCHEMA_COLUMNS(thing_columns),
		.is_main = true,
		.is_list = true,
	};
	const struct cell values[] = { cell_of(KIND_FLAG, cell_flag(true)),
				       cell_of(KIND_SIGNED, cell_signed(-3)),
				       cell_of(KIND_SINGLE, cell_real((double)0.1f)),
				       cell_of(KIND_REAL, cell_real(0.1)),
				       { .is_there = false } };
	answer_table(answer, &things, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		answer_row(answer, (const struct cell[THINGS]){ values[i] });
	answer_row_begin(answer, (const struct cell[THINGS]){ [3] = cell_number(1) });
	answer_record_begin(answer, &sum_schema,
			    (const struct cell[]){ cell_number(1),
						   cell_flag(true),
						   cell_percent(1, 2),
						   { .is_there = false } });
	answer_list(answer, "words", (const char *const[]){ "a" }, 1);
	answer_record_end(answer);
	answer_row_end(answer);
	answer_row_begin(answer, (const struct cell[THINGS]){ [2] = cell_number(7) });
	answer_row_end(answer);
	(void)answer_table_end(answer);
}

static void a_list_has_values_of_any_kind_and_objects(void)
{
	check_of(write_list, FORMAT_JSON, false,
		 "{\"things\": [true, -3, 0.1, 0.1, null, {\"last\": null, \"after\": 1, "
		 "\"sum\": {\"count\": 1, \"tame\": true, \"share\": 50, \"absent\": null, "
		 "\"words\": [\"a\"]}}, {\"last\": {\"name\": null, \"size\": 7}, "
		 "\"after\": null}]}\n");
	check_of(write_list, FORMAT_NDJSON, false,
		 "true\n-3\n0.1\n0.1\nnull\n{\"last\": null, \"after\": 1, "
		 "\"sum\": {\"count\": 1, \"tame\": true, \"share\": 50, \"absent\": null, "
		 "\"words\": [\"a\"]}}\n{\"last\": {\"name\": null, \"size\": 7}, "
		 "\"after\": null}\n");
	check_of(write_list, FORMAT_CSV, false,
		 "value,last.name,last.size,after\r\ntrue,,,\r\n-3,,,\r\n0.1,,,\r\n"
		 "0.1,,,\r\n,,,\r\n,,,1\r\n,,7,\r\n");
	check_of(write_list, FORMAT_TEXT, false,
		 "Value\nyes\n-3\n0.1\n0.1\n\n\n"
		 "Pets:   1\nTame:   yes\nShare:  50.0%\n\n");
}

static void write_none(struct answer *answer)
{
	const struct table_options options = { .limit = UINT64_MAX, .late_heading = true };
	answer_table(answer, &toy_schema, &options);
	(void)answer_table_end(answer);
	answer_table(answer, &pet_schema, &options);
	answer_row(answer, (const struct cell[PET_COLUMNS]){ [PET_ADDRESS] = cell_number(1) });
	answer_row(answer, (const struct cell[PET_COLUMNS]){ [PET_ADDRESS] = cell_number(2) });
	(void)answer_table_end(answer);
}

static void a_late_heading_comes_with_the_first_row(void)
{
	check_of(write_none, FORMAT_TEXT, false,
		 " Address Name    Legs Kind Traits   \n"
		 "       1              <unknown type 0>          \n"
		 "       2              <unknown type 0>          \n");
}

static CU_TestInfo tests[] = {
	{ "text_has_headings_and_columns", text_has_headings_and_columns },
	{ "brief_text_is_the_first_column_of_the_main_table",
	  brief_text_is_the_first_column_of_the_main_table },
	{ "json_has_records_and_arrays", json_has_records_and_arrays },
	{ "ndjson_is_a_line_for_each_row_of_the_main_table",
	  ndjson_is_a_line_for_each_row_of_the_main_table },
	{ "csv_is_the_main_table_alone", csv_is_the_main_table_alone },
	{ "a_table_without_a_name_is_for_text_alone", a_table_without_a_name_is_for_text_alone },
	{ "objects_are_around_what_they_hold", objects_are_around_what_they_hold },
	{ "a_list_has_values_of_any_kind_and_objects", a_list_has_values_of_any_kind_and_objects },
	{ "a_late_heading_comes_with_the_first_row", a_late_heading_comes_with_the_first_row },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = { { "answer", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };
	return suite_main(suites);
}
