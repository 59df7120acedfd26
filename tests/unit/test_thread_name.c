/* SPDX-License-Identifier: MIT */
#include "inspect/thread_name.h"
#include "support/assert_more.h"
#include "support/fake_types.h"
#include "support/suite.h"
#include "util/text.h"

#define OFFSET_HANDLE 304u /* Thread.GCHandle of .NET 10; any place does */

struct fixture {
	struct fake_clr *fake;
	struct fake_types *types;
	uint64_t type, object, handle, native;
	const struct runtime_thread *thread;
};

static void begin(struct fixture *fixture, bool has_names)
{
	const struct fake_field fields[] = {
		{ .name = "_startHelper", .offset = 0, .element = 0x12 },
		{ .name = "_name", .offset = 8, .element = 0x0e },
		{ .name = "_DONT_USE_InternalThread", .offset = 16, .element = 0x18 },
		{ 0 },
	};
	const struct fake_class class = {
		.space = "System.Threading",
		.name = "Thread",
		.fields = fields,
		.type = { .base_size = 40 },
	};
	struct fake_clr *fake = fake_clr_create(NULL);
	*fixture = (struct fixture){ .fake = fake, .types = fake_types_create(fake) };
	fixture->type = fake_class(fixture->types, &class);
	if (has_names)
		fake_types_attach(fixture->types);
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fixture->object = fake_object(fake, fixture->type, 0);
	fixture->thread = fake_thread(fake);
	fixture->native = fixture->thread->address;
	fixture->handle = fake_alloc(&fake->memory, 8);
	fake_poke_u64(&fake->memory, fixture->handle, fixture->object);
	fake_poke_u64(&fake->memory, fixture->native + OFFSET_HANDLE, fixture->handle);
	fake_poke_u64(&fake->memory, fixture->object + 8 + 16, fixture->native);
}

static void end(struct fixture *fixture)
{
	fake_types_destroy(fixture->types);
	fake_clr_destroy(fixture->fake);
}

static void check(struct fixture *fixture, uint64_t object, const char *name)
{
	struct heap *heap = fake_heap(fixture->fake);
	struct text text = { 0 };
	ASSERT_UINT(thread_object(heap, fixture->thread), object);
	CU_ASSERT(thread_name(heap, fixture->thread, &text) == (name != NULL));
	ASSERT_TEXT(text.bytes ? text.bytes : "", name ? name : "");
	text_deinit(&text);
}

TEST(threads_have_the_name_of_their_object)
{
	struct fixture fixture;
	begin(&fixture, true);
	struct fake_memory *memory = &fixture.fake->memory;
	check(&fixture, fixture.object, NULL);
	fake_poke_u64(memory, fixture.object + 16, fake_string(fixture.fake, "worker 1"));
	check(&fixture, fixture.object, "worker 1");
	fake_poke_u64(memory, fixture.object + 16, fixture.object); /* no string */
	check(&fixture, fixture.object, NULL);
	end(&fixture);
}

TEST(other_objects_are_not_the_threads)
{
	struct fixture fixture;
	begin(&fixture, true);
	struct fake_memory *memory = &fixture.fake->memory;
	fake_poke_u64(memory, fixture.object + 24, fixture.native + 8);
	check(&fixture, 0, NULL);
	/* Its address in another field. */
	fake_poke_u64(memory, fixture.object + 8, fixture.native);
	check(&fixture, 0, NULL);
	fake_poke_u64(memory, fixture.object + 24, fixture.native);
	check(&fixture, fixture.object, NULL);
	fake_poke_u64(memory, fixture.handle, 0);
	check(&fixture, 0, NULL);
	fake_poke_u64(memory, fixture.handle, fixture.object + 8);
	check(&fixture, 0, NULL);
	fake_poke_u64(memory, fixture.native + OFFSET_HANDLE, 0x10);
	check(&fixture, 0, NULL);
	fake_unmap(memory, fixture.native);
	check(&fixture, 0, NULL);
	end(&fixture);
}

TEST(without_metadata_its_string_is_the_name)
{
	struct fixture fixture;
	begin(&fixture, false);
	fake_poke_u64(&fixture.fake->memory, fixture.object + 16,
		      fake_string(fixture.fake, "plain"));
	check(&fixture, fixture.object, "plain");
	end(&fixture);
}

SUITE(.name = "thread_name")
