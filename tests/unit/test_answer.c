/* SPDX-License-Identifier: MIT */
#include "output/json.h"
#include "support/answer_samples.h"
#include "support/assert_more.h"
#include "support/suite.h"

static int keep(void *arg, const char *text, size_t size)
{
	text_append(arg, text, size);
	return 0;
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
	check_of(sample_pets, format, is_brief, expected);
}

TEST(text_has_headings_and_columns)
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

TEST(brief_text_is_the_first_column_of_the_main_table)
{
	check(FORMAT_TEXT, true, "beef\n10\n");
}

TEST(json_has_records_and_arrays)
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

TEST(ndjson_is_a_line_for_each_row_of_the_main_table)
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
TEST(csv_is_the_main_table_alone)
{
	check(FORMAT_CSV, false,
	      "address,name,kind,legs,debt,home.street,home.number,owner.name,owner.age,traits,chip"
	      "\r\n"
	      "0xbeef,\"Tom, \"\"T\"\"\",Cat,1234,-5,Elm,3,Jo,9,loud old,\r\n"
	      "0x10,,,0,,,,,,,\r\n");
}

TEST(a_table_without_a_name_is_for_text_alone)
{
	check_of(sample_shapes, FORMAT_TEXT, false,
		 " Address\n       7\n       7              <unknown type 0>          \n");
	check_of(sample_shapes, FORMAT_TEXT, true, "7\n");
	check_of(sample_shapes, FORMAT_CSV, false,
		 "address,name,kind,legs,debt,home.street,home.number,owner.name,owner.age,traits,"
		 "chip\r\n0x7,,,,,,,,,,\r\n");
}

TEST(objects_are_around_what_they_hold)
{
	check_of(
		sample_shapes, FORMAT_JSON, false,
		"{\"around\": {\"owner\": null, \"pets\": ["
		"{\"address\": \"0x7\", \"name\": null, \"kind\": null, \"legs\": null, \"debt\": null, "
		"\"home\": {\"street\": null, \"number\": null}, "
		"\"owner\": null, \"traits\": null, \"inside\": {\"friend\": null}, \"words\": [\"a\", null]}]}}\n");
	check_of(
		sample_shapes, FORMAT_NDJSON, false,
		"{\"address\": \"0x7\", \"name\": null, \"kind\": null, \"legs\": null, \"debt\": null, "
		"\"home\": {\"street\": null, \"number\": null}, "
		"\"owner\": null, \"traits\": null, \"inside\": {\"friend\": null}, \"words\": [\"a\", null]}\n");
}

TEST(a_list_has_values_of_any_kind_and_objects)
{
	check_of(sample_list, FORMAT_JSON, false,
		 "{\"things\": [true, -3, 0.1, 0.1, null, {\"last\": null, \"after\": 1, "
		 "\"sum\": {\"count\": 1, \"tame\": true, \"share\": 50, \"absent\": null, "
		 "\"words\": [\"a\"]}}, {\"last\": {\"name\": null, \"size\": 7}, "
		 "\"after\": null}]}\n");
	check_of(sample_list, FORMAT_NDJSON, false,
		 "true\n-3\n0.1\n0.1\nnull\n{\"last\": null, \"after\": 1, "
		 "\"sum\": {\"count\": 1, \"tame\": true, \"share\": 50, \"absent\": null, "
		 "\"words\": [\"a\"]}}\n{\"last\": {\"name\": null, \"size\": 7}, "
		 "\"after\": null}\n");
	check_of(sample_list, FORMAT_CSV, false,
		 "value,last.name,last.size,after\r\ntrue,,,\r\n-3,,,\r\n0.1,,,\r\n"
		 "0.1,,,\r\n,,,\r\n,,,1\r\n,,7,\r\n");
	check_of(sample_list, FORMAT_TEXT, false,
		 "Value\nyes\n-3\n0.1\n0.1\n\n\n"
		 "Pets:   1\nTame:   yes\nShare:  50.0%\n\n");
}

static void write_none(struct answer *answer)
{
	const struct table_options options = { .limit = UINT64_MAX, .late_heading = true };
	answer_table(answer, &sample_toy_schema, &options);
	(void)answer_table_end(answer);
	answer_table(answer, &sample_pet_schema, &options);
	answer_row(answer, (const struct cell[PET_COLUMNS]){ [PET_ADDRESS] = cell_number(1) });
	answer_row(answer, (const struct cell[PET_COLUMNS]){ [PET_ADDRESS] = cell_number(2) });
	(void)answer_table_end(answer);
}

TEST(a_late_heading_comes_with_the_first_row)
{
	check_of(write_none, FORMAT_TEXT, false,
		 " Address Name    Legs Kind Traits   \n"
		 "       1              <unknown type 0>          \n"
		 "       2              <unknown type 0>          \n");
}

static void write_formulas(struct answer *answer)
{
	static const char *const names[] = { "=1+1", "-5", "+1.5e-3", "-1+2", "-", "a;\"=1" };
	const struct table_options options = { .limit = UINT64_MAX };
	answer_table(answer, &sample_pet_schema, &options);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		answer_row(answer,
			   (const struct cell[PET_COLUMNS]){ [PET_ADDRESS] = cell_number(i),
							     [PET_NAME] = cell_string(names[i]),
							     [PET_DEBT] = cell_signed(-5) });
	}
	(void)answer_table_end(answer);
}

static void write_formulas_raw(struct answer *answer)
{
	answer->is_raw_csv = true;
	write_formulas(answer);
}

TEST(no_text_of_csv_is_a_formula_and_numbers_stay_numbers)
{
	static const char head[] =
		"address,name,kind,legs,debt,home.street,home.number,owner.name,owner.age,"
		"traits,chip\r\n";
	struct text expected = { 0 };
	text_printf(&expected,
		    "%s0x0,'=1+1,,,-5,,,,,,\r\n0x1,-5,,,-5,,,,,,\r\n0x2,+1.5e-3,,,-5,,,,,,\r\n"
		    "0x3,'-1+2,,,-5,,,,,,\r\n0x4,'-,,,-5,,,,,,\r\n0x5,\"a;\"\"'=1\",,,-5,,,,,,\r\n",
		    head);
	check_of(write_formulas, FORMAT_CSV, false, expected.bytes);
	expected.size = 0;
	text_printf(&expected,
		    "%s0x0,=1+1,,,-5,,,,,,\r\n0x1,-5,,,-5,,,,,,\r\n0x2,+1.5e-3,,,-5,,,,,,\r\n"
		    "0x3,-1+2,,,-5,,,,,,\r\n0x4,-,,,-5,,,,,,\r\n0x5,\"a;\"\"=1\",,,-5,,,,,,\r\n",
		    head);
	check_of(write_formulas_raw, FORMAT_CSV, false, expected.bytes);
	text_deinit(&expected);
}

static void write_lines(struct answer *answer)
{
	static const struct column columns[] = {
		{ "address", NULL, KIND_ADDRESS, 0, 0, NULL },
		{ "name", NULL, KIND_TEXT, 0, 0, NULL },
		{ "legs", NULL, KIND_NUMBER, 0, 0, NULL },
		{ NULL, "tame", KIND_FLAG, 0, 0, NULL },
		{ "file", NULL, KIND_TEXT, 0, 0, NULL },
		{ "line", NULL, KIND_NUMBER, 0, 0, NULL },
	};
	static const struct schema schema = {
		.name = "pets",
		SCHEMA_COLUMNS(columns),
		.lines =
			"{address:06}\\|{address:8X}\\|{name:-5?none}\\|"
			"[?tame tame|[=name wild|[?legs none|unknown]]]\\|[{legs:*leg}, {legs:+leg}, "
			"{legs:x}|no legs]\\|{legs:7,}\\|{line:_}\\[{tame}\\]{file:s}\n",
	};
	answer_table(answer, &schema, NULL);
	answer_row(answer, (const struct cell[]){ cell_number(0xbeef), cell_string("Tom"),
						  cell_number(1234), cell_flag(true),
						  cell_string("/src/tom"), cell_number(3) });
	answer_row(answer,
		   (const struct cell[6]){ cell_number(0), cell_string("Jim\n"), cell_number(1) });
	answer_row(answer, (const struct cell[6]){ { 0 } });
	(void)answer_table_end(answer);
}

TEST(lines_have_placeholders_and_optional_parts)
{
	check_of(write_lines, FORMAT_TEXT, false,
		 "00beef|    BEEF|Tom  |tame|1,234 legs, 1234 legs, 4d2|  1,234|   [yes] "
		 "[/src/tom @ 3]\n"
		 "000000|       0|Jim\\u000a|wild|1 leg, 1 leg, 1|      1|[no]\n"
		 "000000|       0|none |unknown|no legs|      0|[no]\n");
}

SUITE(.name = "answer")
