/* SPDX-License-Identifier: MIT */
#include "support/stack_fixture.h"

void stack_begin(struct stack_fixture *fixture)
{
	stack_begin_release(fixture, 10);
}

void stack_begin_release(struct stack_fixture *fixture, unsigned int release)
{
	struct fake_clr *fake = fake_clr_create(&(struct fake_options){ .release = release });
	*fixture = (struct stack_fixture){ .fake = fake, .memory = &fake->memory };
	fake_segment(fake, 0, GENERATION_0, 0x1000);
	fixture->object = fake_object(fake, fake->object_type, 0);
	fixture->stack = fake_stack_create(fake);
	fixture->main = fake_method(fixture->stack, &(struct fake_method){ .slots = 2 });
	fixture->work = fake_method(fixture->stack, &(struct fake_method){ .slots = 1 });
}

void stack_end(struct stack_fixture *fixture)
{
	thread_stack_deinit(&fixture->result);
	fake_stack_destroy(fixture->stack);
	fake_clr_destroy(fixture->fake);
}

void stack_again(struct stack_fixture *fixture)
{
	thread_stack_deinit(&fixture->result);
	fake_walk(fixture->stack, NULL, &fixture->result);
}

uint64_t stack_frames(struct stack_fixture *fixture, uint64_t method, uint64_t sp,
		      unsigned int callers)
{
	for (unsigned int i = 1; i <= callers; i++) {
		bool is_last = i == callers;
		sp = fake_frame(fixture->stack, sp, is_last ? 0 : fake_rbp(sp + FAKE_FRAME_SIZE),
				is_last ? FAKE_NATIVE : fake_call(method, 3));
	}
	return sp;
}

uint64_t stack_in_native_code(struct stack_fixture *fixture)
{
	fake_stop_at(fixture->stack, FAKE_NATIVE, STACK_TOP, 0);
	return STACK_TOP + 0x1000;
}

const struct stack_frame *stack_frame_at(const struct stack_fixture *fixture, size_t index)
{
	static const struct stack_frame none = { .kind = 255 };
	return index < fixture->result.frames_count ? &fixture->result.frames[index] : &none;
}

size_t stack_roots_at(const struct stack_fixture *fixture, uint64_t address, uint64_t value)
{
	size_t count = 0;
	for (size_t i = 0; i < fixture->result.roots_count; i++) {
		const struct stack_root *root = &fixture->result.roots[i];
		count += root->address == address && root->value == value;
	}
	return count;
}

const struct stack_root *stack_root_at(const struct stack_fixture *fixture, uint64_t address)
{
	static const struct stack_root none = { .kind = 255 };
	for (size_t i = 0; i < fixture->result.roots_count; i++) {
		if (fixture->result.roots[i].address == address)
			return &fixture->result.roots[i];
	}
	return &none;
}
