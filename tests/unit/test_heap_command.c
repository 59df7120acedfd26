/* SPDX-License-Identifier: MIT */
/* Commands about the heap of a target, made in code: damage, and what is missing. */
#include <time.h>

#include "command/session/core_kind.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Not in the target. */
#define NO_TYPE 0x7d0000001000u
/* No MethodTable has this address. */
#define GARBAGE 0x4141414141414140u

struct fixture {
	struct fake_clr *fake;
	struct hd_session *session;
	uint64_t segment, first, middle, last; /* objects of 24 bytes, two of the same between */
	uint64_t text;
};

static void begin(struct fixture *fixture)
{
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake };
	(void)fake_thread(fake);
	fixture->segment = fake_segment(fake, 0, GENERATION_0, 0x2000);
	fixture->first = fake_object(fake, fake->object_type, 0);
	fixture->text = fake_string(fake, "eight or more");
	fixture->middle = fake_object(fake, fake->object_type, 0);
	for (int i = 0; i < 8; i++)
		fixture->last = fake_object(fake, fake->object_type, 0);
}

static void open(struct fixture *fixture)
{
	fake_export(fixture->fake, &(struct fake_export){ 0 });
	ASSERT_UINT_FATAL(hd_session_create(&fixture->session, NULL), HD_OK);
	fixture->session->target = &fixture->fake->target;
	fixture->session->path = mem_strndup("a.core", 6);
}

static void end(struct fixture *fixture)
{
	struct hd_session *session = fixture->session;
	struct target *target = session->target;
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&target->findings);
	fake_clr_destroy(fixture->fake);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		count++;
	return count;
}

/* Run it: is this its status, and is @p part in its error, or else in its answer? */
static void check(struct fixture *fixture, const char *line, int status, const char *part)
{
	struct answer answer = command_run(fixture->session, line);
	const char *text = *answer.err.message ? answer.err.message : answer_text(&answer);
	ASSERT_UINT((uint64_t)answer.status, (uint64_t)status);
	if (!strstr(text, part))
		ASSERT_TEXT(text, part);
	answer_deinit(&answer);
}

static void check_object(struct fixture *fixture, uint64_t address, int status, const char *part)
{
	char line[64];
	(void)snprintf(line, sizeof(line), "verifyobj %" PRIx64, address);
	check(fixture, line, status, part);
}

TEST(an_address_that_is_no_object_is_no_damage)
{
	struct fixture fixture;
	char part[160];
	begin(&fixture);
	open(&fixture);
	check_object(&fixture, fixture.text, 0, "is a valid object");
	(void)snprintf(part, sizeof(part),
		       "no object starts at %" PRIx64 ": it is inside object %" PRIx64,
		       fixture.text + 8, fixture.text);
	check_object(&fixture, fixture.text + 8, 2, part);
	(void)snprintf(part, sizeof(part), ") +0x4; try verifyobj %" PRIx64, fixture.text);
	check_object(&fixture, fixture.text + 4, 2, part);
	check_object(&fixture, 0x8000, 2, "it is in no segment of the heap");
	check_object(&fixture, fixture.last + 24, 2, "it is in no segment of the heap");
	end(&fixture);
}

TEST(an_address_where_damage_is_gives_the_finding)
{
	struct fixture fixture;
	char part[64];
	begin(&fixture);
	/* The object after the damage is sound, but too few are up to the next. */
	fake_poke_u64(&fixture.fake->memory, fixture.text, GARBAGE);
	fake_poke_u64(&fixture.fake->memory, fixture.middle + 24, GARBAGE);
	open(&fixture);
	check_object(&fixture, fixture.text, 1, "has an invalid method table 4141414141414140");
	(void)snprintf(part, sizeof(part), "Object %" PRIx64 " has an invalid method table",
		       fixture.text);
	check_object(&fixture, fixture.middle, 1, part);
	check_object(&fixture, fixture.text + 8, 2, "does not have valid MT");
	check_object(&fixture, fixture.last, 0, "is a valid object");
	end(&fixture);
}

TEST(damage_is_listed_as_sos_does)
{
	struct fixture fixture;
	char part[160];
	begin(&fixture);
	fake_poke_u64(&fixture.fake->memory, fixture.text, GARBAGE);
	open(&fixture);
	(void)snprintf(part, sizeof(part),
		       "object %012" PRIx64 ": does not have valid MT\n"
		       "curr_object:      %012" PRIx64 "\nLast good object: %012" PRIx64 "\n",
		       fixture.text, fixture.text, fixture.first);
	check(&fixture, "dumpheap", 1, part);
	/* A word that could be a MethodTable is none, where nothing else is missing. */
	fake_poke_u64(&fixture.fake->memory, fixture.text, NO_TYPE);
	check(&fixture, "dumpheap", 1, part);
	end(&fixture);
}

static void check_warning(struct fixture *fixture, const char *line, const char *part)
{
	struct answer answer = command_run(fixture->session, line);
	const char *text = answer.warnings.bytes ? answer.warnings.bytes : "";
	if (!strstr(text, part))
		ASSERT_TEXT(text, part);
	ASSERT_UINT(count_of(answer_text(&answer), "valid MT"), 0);
	answer_deinit(&answer);
}

TEST(damage_is_told_in_every_format)
{
	struct fixture fixture;
	char part[200];
	begin(&fixture);
	fake_poke_u64(&fixture.fake->memory, fixture.text, GARBAGE);
	open(&fixture);
	(void)snprintf(part, sizeof(part),
		       "object %012" PRIx64
		       ": does not have valid MT; last good object: %012" PRIx64 "\n",
		       fixture.text, fixture.first);
	check_warning(&fixture, "dumpheap -short", part);
	check_warning(&fixture, "dumpheap --format csv", part);
	check_warning(&fixture, "dumpheap --format ndjson", part);
	(void)snprintf(
		part, sizeof(part),
		"\"damage\": [{\"address\": \"0x%" PRIx64
		"\", \"problem\": \"does not have valid MT\", \"last_good_object\": \"0x%" PRIx64
		"\"}]",
		fixture.text, fixture.first);
	check(&fixture, "dumpheap --json", 1, part);
	end(&fixture);
}

TEST(an_export_of_a_process_says_when_it_was_made)
{
	for (unsigned int is_live = 0; is_live < 2; is_live++) {
		struct fixture fixture;
		unsigned int start = 1;
		begin(&fixture);
		open(&fixture);
		fixture.fake->target.kind = is_live ? TARGET_PROCESS : TARGET_CORE;
		(void)clock_gettime(CLOCK_REALTIME, &fixture.fake->target.time);
		struct answer answer = command_run(fixture.session, "export - -format rpm");
		CU_ASSERT_EQUAL(sscanf(answer_text(&answer), "a 2 %*s %x", &start), 1);
		ASSERT_UINT(start != 0, is_live);
		answer_deinit(&answer);
		end(&fixture);
	}
}

TEST(a_type_that_is_missing_is_listed_as_such)
{
	struct fixture fixture;
	char part[160];
	begin(&fixture);
	fake_poke_u64(&fixture.fake->memory, fixture.text, NO_TYPE);
	uint64_t other = fake_segment(fixture.fake, 0, GENERATION_LOH, 0x2000);
	uint64_t gone = fake_object(fixture.fake, fixture.fake->object_type, 0);
	CU_ASSERT(other != 0);
	open(&fixture);
	struct fake_hidden hidden;
	fake_hide(&hidden, &fixture.fake->memory, gone, gone + 24);
	fixture.fake->target.memory = fixture.fake->target.own = &hidden.memory;
	(void)snprintf(part, sizeof(part),
		       "object %012" PRIx64 ": its MethodTable 7d0000001000 is not in the core\n",
		       fixture.text);
	check(&fixture, "dumpheap", 0, part);
	(void)snprintf(part, sizeof(part), "dumpheap %" PRIx64 " %" PRIx64, fixture.first,
		       fixture.middle);
	check(&fixture, part, 0, "its MethodTable 7d0000001000 is not in the core\n");
	struct answer answer = command_run(fixture.session, "dumpheap");
	ASSERT_UINT(count_of(answer_text(&answer), "object "), 1);
	ASSERT_UINT(count_of(answer_text(&answer), "valid MT"), 0);
	answer_deinit(&answer);
	end(&fixture);
}

TEST(a_collection_is_one_finding)
{
	for (unsigned int live = 0; live < 2; live++) {
		struct fixture fixture;
		begin(&fixture);
		fixture.fake->gc.structures_invalid = 1;
		fake_poke_u64(&fixture.fake->memory, fixture.text, GARBAGE);
		open(&fixture);
		fixture.fake->target.kind = live ? TARGET_PROCESS : TARGET_CORE;
		struct answer answer = command_run(fixture.session, "info");
		const char *text = answer_text(&answer);
		ASSERT_UINT((uint64_t)answer.status, 1);
		ASSERT_UINT(count_of(text, "gc-in-progress: "), 1);
		ASSERT_UINT(count_of(text, "-> run the command again"), live);
		ASSERT_UINT(count_of(text, "when the process was stopped"), live);
		ASSERT_UINT(count_of(text, "-> take another dump"), !live);
		ASSERT_UINT(count_of(text, "when the dump was taken"), !live);
		answer_deinit(&answer);
		end(&fixture);
	}
}

TEST(without_a_heap_commands_say_so)
{
	static const char *const refused[] = { "dumpheap -stat", "dumpheap",  "verifyheap",
					       "types",          "strings",   "export x.heap",
					       "dumpobj 10",     "gcwhere 10" };
	struct fixture fixture;
	begin(&fixture);
	open(&fixture);
	/* Its only segment is not in the core. */
	struct fake_hidden hidden;
	fake_hide(&hidden, &fixture.fake->memory, fixture.segment, fixture.segment + 8);
	fixture.fake->target.memory = fixture.fake->target.own = &hidden.memory;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		check(&fixture, refused[i], 3,
		      "no segment of the GC heap can be read; info says what is missing");
	}
	check(&fixture, "eeheap", 0, "Number of GC Heaps: 1");
	check(&fixture, "clrthreads", 0, "ThreadCount:");
	check(&fixture, "info", 1, "no-heap: no segment of the GC heap can be read\n");
	struct target *target = &fixture.fake->target;
	target->core.producer = PRODUCER_CREATEDUMP;
	target->core.content = CONTENT_MINI;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		check(&fixture, refused[i], 3,
		      "this is a triage dump of createdump: the GC heap is not in it; write the "
		      "core again with createdump --withheap or --full, or gcore");
	}
	check(&fixture, "info", 1, "written by createdump (triage)");
	check(&fixture, "info --json", 1, "\"content\": \"triage\"");
	target->core.content = CONTENT_UNKNOWN;
	target->core.is_truncated = true;
	check(&fixture, "dumpheap", 3,
	      "the list of the GC heap's segments is lost; the core is cut");
	end(&fixture);
}

/* A mini dump may have the first page of a segment, for what it threw lies there: that is no heap. */
TEST(a_page_of_the_heap_is_no_heap)
{
	struct fixture fixture;
	begin(&fixture);
	open(&fixture);
	struct target *target = &fixture.fake->target;
	struct fake_hidden hidden;
	fake_hide(&hidden, &fixture.fake->memory, fixture.last, fixture.last + 24);
	target->memory = target->own = &hidden.memory;
	target->core.content = CONTENT_MINI;
	check(&fixture, "dumpheap -stat", 3,
	      "this is a mini dump: the GC heap is not in it; write the core again with "
	      "createdump --withheap or --full, or gcore");
	check(&fixture, "printexception", 0, "No managed thread");
	end(&fixture);
}

TEST(kinds_of_cores_are_told_apart)
{
	struct segment segment = { .generation = GENERATION_0 };
	struct heap heap = { .segments = &segment, .segment_count = 1 }, none = { 0 };
	struct target target = { .arch = &arch_x86_64,
				 .core.producer = PRODUCER_CREATEDUMP,
				 .core.content = CONTENT_MINI };
	ASSERT_TEXT(content_text(&target, NULL), "mini or triage");
	ASSERT_TEXT(content_text(&target, &heap), "mini");
	ASSERT_TEXT(content_text(&target, &none), "triage");
	ASSERT_TEXT(content_name(&target, NULL), "mini");
	ASSERT_TEXT(content_name(&target, &none), "triage");
	target.core.producer = PRODUCER_KERNEL;
	ASSERT_TEXT(content_text(&target, &none), "mini");
	target.core.content = CONTENT_HEAP;
	ASSERT_TEXT(content_text(&target, &heap), "without the pages of module files");
	ASSERT_TEXT(content_name(&target, &none), "heap");
	ASSERT_TEXT(producer_name(PRODUCER_GCORE), "gcore");
}

TEST(what_does_not_go_together_is_said_before_the_heap_is_read)
{
	static const char *const lines[] = {
		"gcroot",
		"gcroot 1000 -type X",
		"gcroot -type X -all",
		"gcroot 1000 -gcgen 3",
		"objsize",
		"objsize 1000 -mt 1",
		"dumpheap -live -dead",
		"dumpheap 2000 1000",
		"eeheap 2 1",
		"verifyheap 2 1",
		"notreachableinrange 2 1",
	};
	struct fixture fixture;
	begin(&fixture);
	open(&fixture);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct answer answer = command_run(fixture.session, lines[i]);
		CU_ASSERT_EQUAL(answer.status, HD_EXIT_USAGE);
		ASSERT_UINT(answer.err.status, HD_ERR_ARGUMENT);
		CU_ASSERT_PTR_NULL(fixture.session->runtime);
		answer_deinit(&answer);
	}
	end(&fixture);
}

/* verify.h: FINDINGS_KEPT; each array has a reference of its own to a place that no object is at. */
TEST(more_damage_than_is_kept_is_said_by_dso)
{
	enum {
		KEPT = 100000,
		MORE = 7
	};
	struct fake_clr *fake = fake_clr_create(NULL);
	struct fixture fixture = { .fake = fake };
	(void)fake_segment(fake, 0, GENERATION_0, 40 * (KEPT + MORE + 1));
	uint64_t sound = fake_object(fake, fake->object_type, 0), damaged = 0;
	for (uint64_t i = 0; i < KEPT + MORE; i++) {
		damaged = fake_object(fake, fake->object_array_type, 1);
		fake_poke_u64(&fake->memory, damaged + 16, NO_TYPE + 8 * i);
	}
	uint64_t words = fake_alloc(&fake->memory, 16);
	fake_poke_u64(&fake->memory, words, sound);
	open(&fixture);
	char line[128];
	(void)snprintf(line, sizeof(line), "dso %llx %llx -verify", (unsigned long long)words,
		       (unsigned long long)words + 16);
	struct answer answer = command_run(fixture.session, line);
	ASSERT_TEXT(answer.err.message, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer),
				      "The heap has more damage than is kept (7 findings more): "
				      "damaged objects may be among those shown"));
	answer_deinit(&answer);
	(void)snprintf(line + strlen(line), sizeof(line) - strlen(line), " --json");
	answer = command_run(fixture.session, line);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), "\"damage_not_kept\": 7"));
	answer_deinit(&answer);
	end(&fixture);
}

SUITE(.name = "heap_command")
