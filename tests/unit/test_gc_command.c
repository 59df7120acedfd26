/* SPDX-License-Identifier: MIT */
/* Commands about handles, finalizers and generations, on heaps made in code. */
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/fake_handles.h"
#include "support/suite.h"
#include "util/alloc.h"

/* Types of handles (gcinterface.h, HandleType). */
#define HANDLE_NAMES 12u

/* A heap with segments: generations 2, 1 and 0 lie in one. */
struct fixture {
	struct fake_clr *fake;
	struct hd_session *session;
	uint64_t node;                   /* a type with one reference at 8 */
	uint64_t old, middle, young;     /* nodes of generation 2, 1, 0 */
	uint64_t dead, free, large;      /* after young; a large node */
	uint64_t frozen, table, segment; /* of handles */
};

static void begin(struct fixture *fixture)
{
	static const struct gc_series series = { .size = 8 - 24, .offset = 8 };
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .has_segments = true });
	*fixture = (struct fixture){ .fake = fake };
	fixture->node = fake_type(
		fake, &(struct fake_type){
			      .base_size = 24, .series = &series, .series_count = 1, .token = 9 });
	(void)fake_segment(fake, 0, GENERATION_LOH, 0x1000);
	fixture->large = fake_object(fake, fixture->node, 0);
	(void)fake_segment(fake, 0, GENERATION_POH, 0x1000);
	(void)fake_segment(fake, 0, GENERATION_NONGC, 0x1000);
	fixture->frozen = fake_object(fake, fake->object_type, 0);
	(void)fake_segment(fake, 0, GENERATION_EPHEMERAL, 0x2000);
	fixture->old = fake_object(fake, fixture->node, 0);
	fake_begin_generation(fake, 0, GENERATION_1);
	fixture->middle = fake_object(fake, fixture->node, 0);
	fake_begin_generation(fake, 0, GENERATION_0);
	fixture->young = fake_object(fake, fixture->node, 0);
	fixture->dead = fake_object(fake, fixture->node, 0);
	fixture->free = fake_free(fake, 40);
	(void)fake_object(fake, fake->object_type, 0);
	fixture->table = fake_handle_table(fake, 13);
	fixture->segment = fake_handle_segment(fake, fixture->table, 13);
	(void)fake_handle_bucket(fake, &fixture->table, 1);
}

static void refer(struct fixture *fixture, uint64_t from, uint64_t to)
{
	fake_poke_u64(&fixture->fake->memory, from + 8, to);
}

static uint64_t handle(struct fixture *fixture, uint32_t block, uint8_t type, uint64_t object)
{
	fake_handle_block(fixture->fake, fixture->segment, block, type);
	return fake_handle(fixture->fake, fixture->segment, block, 0, object);
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

/* Run it: do its answer (its error) and its warnings hold these? */
static void check(struct fixture *fixture, const char *line, int status, const char *part,
		  const char *warning)
{
	struct answer answer = command_run(fixture->session, line);
	const char *text = *answer.err.message ? answer.err.message : answer_text(&answer);
	ASSERT_UINT((uint64_t)answer.status, (uint64_t)status);
	if (!strstr(text, part))
		ASSERT_TEXT(text, part);
	const char *warnings = answer.warnings.bytes ? answer.warnings.bytes : "";
	if (warning && !strstr(warnings, warning))
		ASSERT_TEXT(warnings, warning);
	answer_deinit(&answer);
}

TEST(handles_of_every_kind)
{
	static const char *const names[HANDLE_NAMES] = {
		"WeakShort",           "WeakLong",      "Strong",      "Pinned",   "Variable",
		"RefCounted",          "Dependent",     "AsyncPinned", "SizedRef", "WeakNativeCom",
		"WeakInteriorPointer", "CrossReference"
	};
	static const char *const json[HANDLE_NAMES] = {
		"weak-short", "weak-long",       "strong",        "pinned",
		"variable",   "ref-counted",     "dependent",     "async-pinned",
		"sized-ref",  "weak-native-com", "weak-interior", "cross-reference"
	};
	struct fixture fixture;
	uint64_t addresses[HANDLE_NAMES];
	begin(&fixture);
	for (uint8_t i = 0; i < HANDLE_NAMES; i++)
		addresses[i] = handle(&fixture, i, i, fixture.old);
	fake_handle_user_data(fixture.fake, fixture.segment, 6, 100, 13);
	(void)fake_handle(fixture.fake, fixture.segment, 100, 0, fixture.young);
	open(&fixture);
	for (uint8_t i = 0; i < HANDLE_NAMES; i++) {
		char line[64], part[256], data[32] = "";
		bool has_data = i == 6 || i == 10;
		if (has_data)
			(void)snprintf(data, sizeof(data), "%016" PRIX64,
				       i == 6 ? fixture.young : 0);
		(void)snprintf(line, sizeof(line), "gchandles -type %s", names[i]);
		(void)snprintf(part, sizeof(part),
			       "\n%016" PRIX64 " %-11s %016" PRIX64 "       24 %16s ", addresses[i],
			       names[i], fixture.old, data);
		check(&fixture, line, 0, part, NULL);
		check(&fixture, line, 0, "Total 1 objects\n", NULL);
		(void)snprintf(line, sizeof(line), "gchandles -type %s --json", json[i]);
		(void)snprintf(part, sizeof(part),
			       "{\"address\": \"0x%" PRIx64
			       "\", \"kind\": \"%s\", \"object\": \"0x%" PRIx64 "\"",
			       addresses[i], json[i], fixture.old);
		check(&fixture, line, 0, part, NULL);
	}
	check(&fixture, "gchandles -stat", 0,
	      "Total 12 objects\n\nHandles:\n    Strong Handles:       1\n", NULL);
	end(&fixture);
}

TEST(a_handle_to_no_object)
{
	struct fixture fixture;
	begin(&fixture);
	(void)handle(&fixture, 0, 2, fixture.old + 4);
	(void)handle(&fixture, 1, 3, 0x12345678);
	open(&fixture);
	check(&fixture, "gchandles", 0, "        0                  <no object>\n", "handle-table");
	check(&fixture, "gchandles", 0, "Total 0 objects\n", NULL);
	check(&fixture, "info", 1, "handles lead to where no segment of the heap is (1, ", NULL);
	end(&fixture);
}

TEST(finalizer_queues)
{
	struct fixture fixture;
	begin(&fixture);
	const size_t counts[7] = { 0, 1, 1, 1, 1, 1, 1 };
	const uint64_t objects[6] = { fixture.large, fixture.old,  fixture.middle,
				      fixture.young, fixture.dead, 0x1234 };
	uint64_t queue = fake_finalizer_queue(fixture.fake, 0, counts, objects);
	uint64_t array = fake_peek_u64(&fixture.fake->memory, queue + 56);
	open(&fixture);
	char part[512];
	(void)snprintf(part, sizeof(part),
		       "Heap 0\n"
		       "generation 0 has 1 objects (%" PRIx64 "->%" PRIx64 ")\n"
		       "generation 1 has 1 objects (%" PRIx64 "->%" PRIx64 ")\n"
		       "generation 2 has 1 objects (%" PRIx64 "->%" PRIx64 ")\n"
		       "large object heap has 1 objects (%" PRIx64 "->%" PRIx64 ")\n"
		       "Ready for finalization 2 objects (%" PRIx64 "->%" PRIx64 ")\n",
		       array + 24, array + 32, array + 16, array + 24, array + 8, array + 16, array,
		       array + 8, array + 32, array + 48);
	check(&fixture, "finalizequeue -stat", 0, part, NULL);
	check(&fixture, "fq", 0, "            1234 <no object>\n", NULL);
	check(&fixture, "fq --json", 0, "\"part\": \"critical\", \"ready\": true", NULL);
	check(&fixture, "fq -allReady", 0, "no longer rooted", NULL);
	/* Objects that are ready are alive, and nothing else is here. */
	(void)snprintf(part, sizeof(part), "%012" PRIx64 "\n%012" PRIx64 "\n%012" PRIx64 "\n",
		       fixture.large, fixture.old, fixture.middle);
	check(&fixture, "fq -allReady -short", 0, part, NULL);
	(void)snprintf(part, sizeof(part), "%012" PRIx64 "\n", fixture.dead);
	check(&fixture, "dumpheap -live -short", 0, part, NULL);
	char line[96];
	(void)snprintf(line, sizeof(line), "notreachableinrange %" PRIx64 " %" PRIx64 " -short",
		       array + 32, array + 48);
	check(&fixture, line, 0, "", "1 word of the range points to no object");
	(void)snprintf(line, sizeof(line),
		       "notreachableinrange %" PRIx64 " %" PRIx64 " -short -nofinalizer",
		       array + 32, array + 48);
	check(&fixture, line, 0, part, NULL);
	(void)snprintf(line, sizeof(line), "notreachableinrange 10 100");
	check(&fixture, line, 0, "Total 0 objects", "the last 240 bytes of the range");
	end(&fixture);
}

TEST(a_damaged_queue)
{
	static const size_t counts[7] = { 0 };
	struct fixture fixture;
	begin(&fixture);
	uint64_t queue = fake_finalizer_queue(fixture.fake, 0, counts, NULL);
	fake_poke_u64(&fixture.fake->memory, queue + 16, 8);
	open(&fixture);
	check(&fixture, "finalizequeue", 0, "Total 0 objects, 0 bytes\n", "finalizer-queue");
	check(&fixture, "info", 1, "which is out of order: objects that only it keeps alive look",
	      NULL);
	end(&fixture);
}

TEST(generations_of_a_segment)
{
	struct fixture fixture;
	char part[256];
	begin(&fixture);
	refer(&fixture, fixture.young, fixture.large);
	(void)handle(&fixture, 0, 2, fixture.young);
	open(&fixture);
	/* Sizes of what begin() made: gen0 has two nodes, a Free block of 40, an object. */
	check(&fixture, "gcheapstat", 0,
	      "Heap0    112        24         24         24         0          24        \n", NULL);
	check(&fixture, "gcheapstat", 0,
	      "Heap0    40         0          0          0          0          0          SOH:25%  "
	      "LOH:0%           \n",
	      NULL);
	check(&fixture, "gcheapstat -iu", 0,
	      "Unrooted objects:\n"
	      "Heap     Gen0       Gen1       Gen2       LOH        POH        FRZ       \n"
	      "Heap0    48         24         24         0          0          0          SOH:60%",
	      NULL);
	check(&fixture, "dumpgen gen1", 0, "Total 1 objects\n", NULL);
	check(&fixture, "dumpgen gen0", 0, "Total 4 objects\n", NULL);
	(void)snprintf(part, sizeof(part),
		       "%016" PRIx64 " %016" PRIx64 "       24\nTotal 1 objects\n", fixture.middle,
		       fixture.node);
	char line[64];
	(void)snprintf(line, sizeof(line), "dumpgen gen1 -mt %" PRIx64, fixture.node);
	check(&fixture, line, 0, part, NULL);
	(void)snprintf(part, sizeof(part),
		       "Calculating live objects complete: 3 objects from 2 roots\n");
	check(&fixture, "dumpheap -live -stat", 0, part, NULL);
	(void)snprintf(part, sizeof(part), "%012" PRIx64 "\n", fixture.middle);
	check(&fixture, "dumpheap -dead -short -gen gen1", 0, part, NULL);
	end(&fixture);
}

TEST(references_between_generations)
{
	struct fixture fixture;
	char part[512];
	begin(&fixture);
	refer(&fixture, fixture.old, fixture.middle);
	refer(&fixture, fixture.middle, fixture.young);
	refer(&fixture, fixture.young, fixture.large);
	refer(&fixture, fixture.large, fixture.young);
	/* not from young ones, to Free blocks, into objects */
	refer(&fixture, fixture.dead, fixture.old);
	open(&fixture);
	(void)snprintf(part, sizeof(part),
		       "    %012" PRIx64 " %16" PRIx64
		       "             24 Generation2 Generation1              1             24 ",
		       fixture.old, fixture.node);
	check(&fixture, "ephrefs", 0, part, NULL);
	check(&fixture, "ephrefs", 0, "References from generation1 to generation0:\n", NULL);
	check(&fixture, "ephrefs", 0, "References from large to generation0:\n", NULL);
	check(&fixture, "ephrefs", 0,
	      "\n3 older generation objects referenced 2 younger objects (48 bytes)\n", NULL);
	check(&fixture, "ephtoloh", 0,
	      "Ephemeral objects which point to Large objects which point to Ephemeral objects:\n",
	      NULL);
	(void)snprintf(part, sizeof(part),
		       "\"from_large\": [{\"from\": {\"address\": \"0x%" PRIx64 "\"",
		       fixture.large);
	check(&fixture, "ephtoloh --json", 0, part, NULL);
	end(&fixture);
}

TEST(nothing_between_generations)
{
	struct fixture fixture;
	begin(&fixture);
	refer(&fixture, fixture.old, fixture.free);
	refer(&fixture, fixture.middle, fixture.young + 8);
	refer(&fixture, fixture.large, 0x1234);
	open(&fixture);
	check(&fixture, "ephrefs", 0,
	      "\n0 older generation objects referenced 0 younger objects (0 bytes)\n", NULL);
	check(&fixture, "ephtoloh", 0, "No Large objects pointing to Ephemeral objects.\n", NULL);
	end(&fixture);
}

/* The GC notes that it had no room for @p needed bytes in generation 0, and that its heap has a limit. */
static void note_failure(struct fixture *fixture, uint32_t reason, uint64_t needed, uint64_t limit)
{
	struct fake_memory *memory = &fixture->fake->memory;
	const uint32_t percents[] = { 90, 95, 97, 85 };
	uint64_t limits = FAKE_MODULE_BASE + FAKE_PLACE_DATA + 0x1800, machine = 2000000;
	uint64_t failure = fake_alloc(memory, 72);
	fake_poke_u32(memory, failure, reason);
	fake_poke_u64(memory, failure + 8, needed);
	fake_poke_u64(memory, failure + 32, 12);
	uint64_t vars = fake_peek_u64(memory, fake_global(FAKE_GC_VARS));
	fake_poke_u64(memory, vars + 136, failure);
	/* The variables of the GC are in its module. */
	fake_poke_u64(memory, vars + 192, limits + 128);
	fake_poke_u64(memory, limits, machine / 200);
	fake_poke_u64(memory, limits + 8, machine / 200);
	fake_poke(memory, limits + 16, percents, sizeof(percents));
	fake_poke_u64(memory, limits + 40, machine);
	fake_poke_u64(memory, limits + 56, limit);
}

/* An ordinary limit is no bug of the GC, and the size in its note is not what the program asked for. */
TEST(a_heap_at_its_limit)
{
	struct fixture fixture;
	begin(&fixture);
	open(&fixture);
	note_failure(&fixture, 1, 5242880, 1048576);
	check(&fixture, "analyzeoom", 0,
	      "After the last collection there was no room for new objects\n"
	      "Heap 0, collection 12: how much the program asked for is not noted\n"
	      "The GC has committed ",
	      NULL);
	check(&fixture, "analyzeoom", 0, " bytes; the limit of its heap is 1,048,576 bytes\n",
	      NULL);
	check(&fixture, "analyzeoom --json", 0, "\"allocation\": null", NULL);
	check(&fixture, "analyzeoom --json", 0, "\"at_limit\": true", NULL);
	check(&fixture, "crashinfo", 1,
	      "The GC had no memory for an object in collection 12: ", NULL);
	check(&fixture, "crashinfo", 1, " are committed, and the limit is 1 MB\n", NULL);
	check(&fixture, "triage", 1, "no signal that ends a process is known; the GC had no memory",
	      NULL);
	check(&fixture, "report", 1, "the GC had no memory for an object in collection 12", NULL);
	end(&fixture);
}

TEST(a_heap_without_a_limit)
{
	struct fixture fixture;
	begin(&fixture);
	open(&fixture);
	note_failure(&fixture, 4, 5242880, 0);
	check(&fixture, "analyzeoom", 0, "12: the program asked for 5,242,880 bytes\n", NULL);
	check(&fixture, "analyzeoom", 0, " bytes; its heap has no limit\n", NULL);
	check(&fixture, "analyzeoom --json", 0, "\"at_limit\": false", NULL);
	check(&fixture, "crashinfo", 1,
	      "The GC had no memory for an object of 5 MB in collection 12: ", NULL);
	check(&fixture, "crashinfo --json", 1, "\"out_of_memory\": {\"reason\": \"loh\"", NULL);
	end(&fixture);
}

/* Whatever allocation fails, the command says so, and the next one works. */
TEST(no_memory)
{
	static const char *const lines[] = { "gchandles",          "finalizequeue", "dumpgen gen0",
					     "gcheapstat",         "ephrefs",       "ephtoloh",
					     "dumpgen gen1 -mt 1", "dumpheap -stat" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct fixture fixture;
		begin(&fixture);
		refer(&fixture, fixture.old, fixture.young);
		(void)handle(&fixture, 0, 2, fixture.young);
		open(&fixture);
		check(&fixture, lines[i], 0, "", NULL);
		uint64_t nth = 1;
		for (bool failed = true; failed && nth < 200; nth++) {
			alloc_fail_at(nth);
			struct answer answer = command_run(fixture.session, lines[i]);
			failed = alloc_calls() >= nth;
			alloc_fail_at(0);
			CU_ASSERT(failed || answer.status == 0);
			answer_deinit(&answer);
		}
		CU_ASSERT(nth > 2 && nth < 200);
		check(&fixture, lines[i], 0, "", NULL);
		end(&fixture);
	}
}

SUITE(.name = "gc_command")
