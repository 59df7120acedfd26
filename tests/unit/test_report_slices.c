/* SPDX-License-Identifier: MIT */
/* Arrays that only slices of them keep alive, and healthy neighbours: buffers that something uses as a whole. */
#include "runtime/coreclr/types/field.h"
#include "support/assert_more.h"
#include "support/report_scene.h"
#include "support/suite.h"

#define KILO         1024u
#define STRUCT_FLAGS 0x00040000u
#define MAILS        60u
#define TEXT_SIZE    (100 * KILO)
#define SUBJECT      8u  /* where the slice is in a Mail */
#define NAMED        24u /* and where its part Place, which has a slice in it */
#define BODY         48u /* and a reference to the array itself */
#define SEQUENCE     56u

static struct report_scene *scene;
static uint64_t memory_type, mail_type, bytes_type, box_type;

/* A struct whose first field refers to an array. */
static uint64_t make_struct(const char *space, const char *name, uint32_t references, uint32_t size,
			    const struct fake_field *fields)
{
	const struct gc_series series = { .size = (int64_t)8 * references - (int64_t)size - 16,
					  .offset = 8 };
	return fake_class(scene->types, &(struct fake_class){ .space = space,
							      .name = name,
							      .fields = fields,
							      .type = { .base_size = size + 16,
									.flags = STRUCT_FLAGS,
									.series = &series,
									.series_count = 1 } });
}

static void make_types(const char *index_name)
{
	const struct fake_field memory[] = {
		{ .name = "_object", .element = ELEMENT_CLASS },
		{ .name = index_name, .element = ELEMENT_I4, .offset = 8 },
		{ .name = "_length", .element = ELEMENT_I4, .offset = 12 },
		{ .name = NULL },
	};
	memory_type = make_struct("System", "ReadOnlyMemory`1", 1, 16, memory);
	const struct fake_field place[] = {
		{ .name = "Line", .element = ELEMENT_VALUE, .type = memory_type },
		{ .name = "Column", .element = ELEMENT_I8, .offset = 16 },
		{ .name = NULL },
	};
	uint64_t place_type = make_struct("Shop", "Place", 1, 24, place);
	const struct fake_field sequence[] = {
		{ .name = "_startObject", .element = ELEMENT_CLASS },
		{ .name = "_endObject", .element = ELEMENT_CLASS, .offset = 8 },
		{ .name = "_startInteger", .element = ELEMENT_I4, .offset = 16 },
		{ .name = "_endInteger", .element = ELEMENT_I4, .offset = 20 },
		{ .name = NULL },
	};
	uint64_t sequence_type =
		make_struct("System.Buffers", "ReadOnlySequence`1", 2, 24, sequence);
	const struct fake_field mail[] = {
		{ .name = "Subject", .element = ELEMENT_VALUE, .type = memory_type },
		{ .name = "Named",
		  .element = ELEMENT_VALUE,
		  .type = place_type,
		  .offset = NAMED - SUBJECT },
		{ .name = "Body", .element = ELEMENT_CLASS, .offset = BODY - SUBJECT },
		{ .name = "Whole",
		  .element = ELEMENT_VALUE,
		  .type = sequence_type,
		  .offset = SEQUENCE - SUBJECT },
		{ .name = NULL },
	};
	const struct gc_series series[] = {
		{ .size = (int64_t)8 - 88, .offset = SUBJECT },
		{ .size = (int64_t)8 - 88, .offset = NAMED },
		{ .size = (int64_t)24 - 88, .offset = BODY },
	};
	mail_type = fake_class(scene->types, &(struct fake_class){ .space = "Shop",
								   .name = "Mail",
								   .fields = mail,
								   .type = { .base_size = 88,
									     .series = series,
									     .series_count = 3 } });
}

static void set_up(void)
{
	scene = scene_create();
	bytes_type = scene_bytes_type(scene);
	box_type = scene_class(scene, "Shop", "Box", 1, 16, NULL);
}

static void tear_down(void)
{
	scene_destroy(scene);
}

/* Write a slice to @p at. */
static void set_slice(uint64_t at, uint64_t array, uint32_t begin, uint32_t count)
{
	fake_poke_u64(&scene->fake->memory, at, array);
	fake_poke_u32(&scene->fake->memory, at + 8, begin);
	fake_poke_u32(&scene->fake->memory, at + 12, count);
}

static void set_sequence(uint64_t at, uint64_t array, uint32_t begin, uint32_t end)
{
	fake_poke_u64(&scene->fake->memory, at, array);
	fake_poke_u64(&scene->fake->memory, at + 8, array);
	fake_poke_u32(&scene->fake->memory, at + 16, begin);
	fake_poke_u32(&scene->fake->memory, at + 20, end | 0x80000000u);
}

/* A static array of mails, each with a text of its own: @p texts gets their addresses. */
static void hold_mails(uint64_t mails[MAILS], uint64_t texts[MAILS])
{
	make_types("_index");
	scene_segment(scene, GENERATION_2, (uint64_t)MAILS * (TEXT_SIZE + 200) + 8 * KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, MAILS);
	for (uint32_t i = 0; i < MAILS; i++) {
		mails[i] = fake_object(scene->fake, mail_type, 0);
		texts[i] = fake_object(scene->fake, bytes_type, TEXT_SIZE);
		scene_set_element(scene, all, i, mails[i]);
	}
	scene_hold(scene, SCENE_STATIC, all);
}

/* The same, each with a slice of @p count bytes. */
static void hold_sliced_mails(uint64_t mails[MAILS], uint64_t texts[MAILS], uint32_t count)
{
	hold_mails(mails, texts);
	for (uint32_t i = 0; i < MAILS; i++)
		set_slice(mails[i] + SUBJECT, texts[i], 100, count);
}

static void expect_silence(void)
{
	CU_ASSERT_PTR_NULL(scene_finding(scene, "slices"));
}

static void expect_texts(uint64_t used)
{
	const struct report_finding *finding = scene_finding(scene, "slices");
	REQUIRE(finding);
	ASSERT_UINT(finding->severity, SEVERITY_MEDIUM);
	ASSERT_UINT(finding->objects, MAILS);
	ASSERT_UINT(finding->bytes, (uint64_t)MAILS * (TEXT_SIZE + 24) - used);
}

TEST(arrays_that_small_slices_keep_alive_are_found)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, 200);
	expect_texts((uint64_t)MAILS * 200);
	const struct report_finding *finding = scene_finding(scene, "slices");
	ASSERT_TEXT(finding->holder.name, "Shop.Mail.Subject");
}

TEST(one_large_array_is_written_of_in_the_singular)
{
	make_types("_index");
	scene_segment(scene, GENERATION_2, (uint64_t)5 * KILO * KILO + 8 * KILO);
	uint64_t mail = fake_object(scene->fake, mail_type, 0);
	uint64_t text = fake_object(scene->fake, bytes_type, 5 * KILO * KILO);
	set_slice(mail + SUBJECT, text, 100, 200);
	scene_hold(scene, SCENE_STATIC, mail);
	const struct report_finding *finding = scene_finding(scene, "slices");
	REQUIRE(finding);
	CU_ASSERT(strstr(finding->sentence, "1 Byte[] with 5 MB is alive only because of slices of "
					    "it in Shop.Mail.Subject") != NULL);
}

TEST(arrays_of_two_types_are_two_findings)
{
	make_types("_index");
	uint64_t halves =
		fake_array_type(scene->fake, scene_class(scene, "System", "Int16", 0, 8, NULL));
	uint64_t types[] = { bytes_type, halves };
	scene_segment(scene, GENERATION_2, (uint64_t)50 * KILO * KILO + 8 * KILO);
	uint64_t all = fake_object(scene->fake, scene->fake->object_array_type, 2);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t mail = fake_object(scene->fake, mail_type, 0);
		set_slice(mail + SUBJECT, fake_object(scene->fake, types[i], 5 * KILO * KILO), 100,
			  200);
		scene_set_element(scene, all, i, mail);
	}
	scene_hold(scene, SCENE_STATIC, all);
	const struct report *report = scene_report(scene);
	unsigned int count = 0;
	for (size_t i = 0; i < report->findings_count; i++)
		count += strncmp(report->findings[i].id, "slices:", 7) == 0;
	ASSERT_UINT(count, 2);
}

TEST(slices_of_a_tenth_of_their_array_use_it)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, TEXT_SIZE / 9);
	expect_silence();
}

TEST(all_slices_of_an_array_count)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, TEXT_SIZE / 12);
	for (uint32_t i = 0; i < MAILS; i++)
		set_slice(mails[i] + NAMED, texts[i], 0, TEXT_SIZE / 12);
	expect_silence();
}

TEST(slices_in_structs_in_objects_are_found)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_mails(mails, texts);
	for (uint32_t i = 0; i < MAILS; i++)
		set_slice(mails[i] + NAMED, texts[i], 0, 10);
	expect_texts((uint64_t)MAILS * 10);
}

TEST(a_buffer_that_its_owner_refers_to_is_used_as_a_whole)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, 200);
	for (uint32_t i = 0; i < MAILS; i++)
		fake_poke_u64(&scene->fake->memory, mails[i] + BODY, texts[i]);
	expect_silence();
}

TEST(a_buffer_of_a_pool_is_used_as_a_whole)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, 200);
	scene_segment(scene, GENERATION_2, 8 * KILO);
	uint64_t pool = fake_object(scene->fake, scene->fake->object_array_type, MAILS);
	for (uint32_t i = 0; i < MAILS; i++)
		scene_set_element(scene, pool, i, texts[i]);
	scene_hold(scene, SCENE_FRAMEWORK, pool);
	expect_silence();
}

TEST(what_a_root_refers_to_is_used_as_a_whole)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, 200);
	for (uint32_t i = 0; i < MAILS; i++)
		scene_hold(scene, SCENE_HANDLE, texts[i]);
	expect_silence();
}

TEST(what_dead_objects_refer_to_is_not_used)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_sliced_mails(mails, texts, 200);
	scene_segment(scene, GENERATION_2, 8 * KILO);
	for (uint32_t i = 0; i < MAILS; i++)
		scene_set(scene, fake_object(scene->fake, box_type, 0), 0, texts[i]);
	expect_texts((uint64_t)MAILS * 200);
}

TEST(sequences_of_one_array_are_slices)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_mails(mails, texts);
	for (uint32_t i = 0; i < MAILS; i++)
		set_sequence(mails[i] + SEQUENCE, texts[i], 50, 80);
	expect_texts((uint64_t)MAILS * 30);
}

TEST(sequences_that_use_their_array_are_healthy)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_mails(mails, texts);
	for (uint32_t i = 0; i < MAILS; i++)
		set_sequence(mails[i] + SEQUENCE, texts[i], 0, TEXT_SIZE);
	expect_silence();
}

TEST(slices_that_are_not_inside_of_their_array_say_nothing)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_mails(mails, texts);
	for (uint32_t i = 0; i < MAILS; i++)
		set_slice(mails[i] + SUBJECT, texts[i], TEXT_SIZE, 1 + i);
	expect_silence();
}

TEST(the_flag_in_an_index_is_not_a_part_of_it)
{
	uint64_t mails[MAILS], texts[MAILS];
	hold_mails(mails, texts);
	for (uint32_t i = 0; i < MAILS; i++)
		set_slice(mails[i] + SUBJECT, texts[i], 0x80000000u, 10);
	expect_texts((uint64_t)MAILS * 10);
}

/* An array of @p count structs, each a slice of @p size bytes of one text of its own. */
static void hold_array_of_slices(uint32_t count, uint32_t size)
{
	make_types("_index");
	const struct gc_run run = { .pointers = 1, .skip = 8 };
	uint64_t type = fake_type(scene->fake, &(struct fake_type){ .base_size = 24,
								    .component_size = 16,
								    .flags = 0x000a0000u,
								    .per_inst = memory_type,
								    .runs = &run,
								    .run_count = 1,
								    .runs_offset = 16 });
	scene_segment(scene, GENERATION_2, (uint64_t)count * (TEXT_SIZE + 100) + 8 * KILO);
	uint64_t box = fake_object(scene->fake, box_type, 0);
	uint64_t all = fake_object(scene->fake, type, count);
	scene_set(scene, box, 0, all);
	for (uint32_t i = 0; i < count; i++)
		set_slice(all + 16 + 16 * (uint64_t)i,
			  fake_object(scene->fake, bytes_type, TEXT_SIZE), 10, size);
	scene_hold(scene, SCENE_STATIC, box);
}

TEST(slices_in_elements_of_arrays_are_found)
{
	hold_array_of_slices(MAILS, 20);
	expect_texts((uint64_t)MAILS * 20);
}

TEST(less_than_four_megabytes_are_not_told)
{
	hold_array_of_slices(35, 20);
	expect_silence();
}

TEST(another_name_of_a_field_is_silence)
{
	make_types("_start");
	scene_segment(scene, GENERATION_2, (uint64_t)5000 * KILO);
	uint64_t mail = fake_object(scene->fake, mail_type, 0);
	set_slice(mail + SUBJECT, fake_object(scene->fake, bytes_type, 4900 * KILO), 0, 10);
	scene_hold(scene, SCENE_STATIC, mail);
	expect_silence();
}

/* More places of slices than are looked at. */
TEST(a_class_with_very_many_slices_meets_the_limit_and_says_so)
{
	char names[20][8];
	struct fake_field fields[21] = { { .name = NULL } };
	make_types("_index");
	for (uint32_t i = 0; i < 20; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "Part%u", i);
		fields[i] = (struct fake_field){ .name = names[i],
						 .element = ELEMENT_VALUE,
						 .type = memory_type,
						 .offset = 16 * i };
	}
	uint64_t type = scene_class(scene, "Shop", "Parts", 1, 320, fields);
	scene_segment(scene, GENERATION_2, KILO);
	scene_hold(scene, SCENE_STATIC, fake_object(scene->fake, type, 0));
	const struct report *report = scene_report(scene);
	for (size_t i = 0; i < report_rule_count(); i++) {
		bool is_slices = strcmp(report_rule_at(i)->name, "slices") == 0;
		ASSERT_UINT(report->results[i].is_limited, is_slices);
	}
	expect_silence();
}

TEST(what_only_a_stack_holds_is_in_use)
{
	make_types("_index");
	scene_segment(scene, GENERATION_2, (uint64_t)5000 * KILO);
	uint64_t mail = fake_object(scene->fake, mail_type, 0);
	set_slice(mail + SUBJECT, fake_object(scene->fake, bytes_type, 4900 * KILO), 0, 10);
	scene_hold(scene, SCENE_STACK, mail);
	expect_silence();
}

SUITE(.name = "report_slices", .set_up = set_up, .tear_down = tear_down)
