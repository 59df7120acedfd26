/* SPDX-License-Identifier: MIT */
#include "support/answer_samples.h"

#include "support/assert_more.h"

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

const struct schema sample_pet_schema = {
	.name = "pets",
	SCHEMA_COLUMNS(pet_columns),
	.is_main = true,
};

static const struct column toy_columns[] = { { "toy", NULL, KIND_TEXT, 0, 0, NULL } };
const struct schema sample_toy_schema = { .name = "toys", SCHEMA_COLUMNS(toy_columns) };
const struct schema sample_nickname_schema = {
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
void sample_pets(struct answer *answer)
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
	answer_table(answer, &sample_pet_schema, &options);
	CU_ASSERT(answer_wants_row(answer));
	answer_row_begin(answer, cat);
	answer_table(answer, &sample_toy_schema,
		     &(const struct table_options){ .limit = UINT64_MAX, .no_heading = true });
	answer_row(answer, (const struct cell[]){ cell_string("ball") });
	CU_ASSERT_FALSE(answer_table_end(answer));
	answer_table(answer, &sample_nickname_schema,
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
void sample_shapes(struct answer *answer)
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
	answer_table(answer, &sample_toy_schema, &bare);
	answer_row(answer, (const struct cell[]){ cell_string("unseen") });
	(void)answer_table_end(answer);
	answer_row_end(answer);
	(void)answer_table_end(answer);
	answer_object(answer, "around");
	answer_none(answer, "owner");
	answer_table(answer, &sample_pet_schema, &bare);
	answer_row_begin(answer, cells);
	answer_object(answer, "inside");
	answer_none(answer, "friend");
	answer_object_end(answer);
	answer_list(answer, "words", (const char *const[]){ "a", NULL }, 2);
	answer_row_end(answer);
	(void)answer_table_end(answer);
	answer_object_end(answer);
}

static const struct column thing_columns[] = {
	{ "value", "Value", KIND_ANY, 0, LOOK_LEAVE_OUT, NULL },
	{ "last.name", NULL, KIND_TEXT, 0, LOOK_WHOLE, NULL },
	{ "last.size", NULL, KIND_NUMBER, 0, 0, NULL },
	{ "after", NULL, KIND_NUMBER, 0, 0, NULL },
};
#define THINGS 4

/* A list whose values are of several kinds, of which one is absent; a row of it that holds a record. */
void sample_list(struct answer *answer)
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
