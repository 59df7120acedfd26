/* SPDX-License-Identifier: MIT */
/* Commands on a framework that lacks fields, as a release that nobody has seen. */
#include <inttypes.h>

#include "runtime/coreclr/types/field.h"
#include "session/session_state.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/fake_export.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/alloc.h"

static struct fake_clr *fake;
static struct fake_types *types;
static struct hd_session *session;
static uint64_t delegate;

/* Delegates whose handlers are in a field with another name, or in that of .NET 10. */
static void make_delegate(const char *list, const char *count)
{
	const struct fake_field fields[] = {
		{ .name = "_target", .element = ELEMENT_CLASS, .offset = 0 },
		{ .name = "_methodPtr", .element = ELEMENT_I, .offset = 8 },
		{ .name = "_methodPtrAux", .element = ELEMENT_I, .offset = 16 },
		{ .name = list, .element = ELEMENT_CLASS, .offset = 24 },
		{ .name = count, .element = ELEMENT_I, .offset = 32 },
		{ .name = NULL },
	};
	fake = fake_clr_create(NULL);
	types = fake_types_create(fake);
	uint64_t parent = fake_class(types, &(struct fake_class){ .space = "System",
								  .name = "Delegate",
								  .fields = fields,
								  .type = { .base_size = 56 } });
	parent = fake_class(types,
			    &(struct fake_class){ .space = "System",
						  .name = "MulticastDelegate",
						  .inherited = 5,
						  .type = { .base_size = 56, .parent = parent } });
	uint64_t handler = fake_class(
		types, &(struct fake_class){ .space = "Shop",
					     .name = "Handler",
					     .inherited = 5,
					     .type = { .base_size = 56, .parent = parent } });
	(void)fake_segment(fake, 0, GENERATION_0, 0x4000);
	delegate = fake_object(fake, handler, 0);
	for (unsigned int i = 0; i < 4; i++)
		(void)fake_object(fake, fake->object_type, 0);
	fake_poke_u64(&fake->memory, delegate + 8, delegate);
	fake_types_export(types);
	fake_export(fake, &(struct fake_export){ 0 });
	ASSERT_UINT_FATAL(hd_session_create(&session, NULL), HD_OK);
	session->target = &fake->target;
	session->path = mem_strndup("a.core", 6);
}

static void tear_down(void)
{
	struct target *target = session->target;
	session->target = NULL;
	hd_session_destroy(session);
	findings_deinit(&target->findings);
	fake_types_destroy(types);
	fake_clr_destroy(fake);
}

static struct answer ask(const char *command, const char *options)
{
	char line[128];
	(void)snprintf(line, sizeof(line), "%s %" PRIx64 "%s", command, delegate, options);
	return command_run(session, line);
}

static void expect(const char *command, const char *options, int status, const char *part,
		   bool is_there)
{
	struct answer answer = ask(command, options);
	ASSERT_UINT((uint64_t)answer.status, (uint64_t)status);
	CU_ASSERT(!strstr(answer_text(&answer), part) == !is_there);
	if (!strstr(answer_text(&answer), part) == is_there)
		ASSERT_TEXT(answer_text(&answer), part);
	answer_deinit(&answer);
}

TEST(a_command_says_which_field_it_does_not_know)
{
	make_delegate("_handlersOf12", "_countOf12");
	for (unsigned int i = 0; i < 2; i++) {
		expect("dumpdelegate", "", HD_EXIT_FINDINGS,
		       "does not know System.MulticastDelegate._invocationList of this framework",
		       true);
	}
	expect("dumpdelegate", " --format json", HD_EXIT_FINDINGS,
	       "\"absent_fields\": [\"System.MulticastDelegate._invocationList\", "
	       "\"System.MulticastDelegate._invocationCount\"]",
	       true);
	/* A command that does not need it says nothing of it. */
	expect("dumpobj", "", HD_EXIT_OK, "does not know", false);
}

TEST(a_command_that_finds_all_fields_says_nothing)
{
	make_delegate("_invocationList", "_invocationCount");
	expect("dumpdelegate", "", HD_EXIT_OK, "does not know", false);
	expect("dumpdelegate", " --format json", HD_EXIT_OK, "absent_fields", false);
}

TEST(rows_come_with_a_warning)
{
	make_delegate("_handlersOf12", "_countOf12");
	struct answer answer = ask("dumpdelegate", " --format csv");
	ASSERT_UINT((uint64_t)answer.status, HD_EXIT_FINDINGS);
	CU_ASSERT(answer.warnings.bytes &&
		  strstr(answer.warnings.bytes, "does not know System.MulticastDelegate."));
	CU_ASSERT(!strstr(answer_text(&answer), "does not know"));
	answer_deinit(&answer);
}

SUITE(.name = "absent_facts", .tear_down = tear_down)
