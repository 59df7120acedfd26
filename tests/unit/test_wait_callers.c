/* SPDX-License-Identifier: MIT */
/* Which methods of the program have called the one that waits? */
#include "hangs/wait_callers.h"
#include "hangs/waits.h"
#include "support/assert_more.h"
#include "support/fake_module.h"
#include "support/suite.h"
#include "util/text.h"

static const char *const names[][3] = {
	{ "System.Threading", "ExecutionContext", "RunInternal" },
	{ "Shop", "Cache", "Get" },
	{ "Shop", "Till", "Price" },
	{ "Shop", "Till", "Sell" },
	{ "Shop", "Door", "Open" },
	{ "Shop", "<Sell>d__3", "MoveNext" },
};
enum {
	RUN,
	GET,
	PRICE,
	SELL,
	OPEN,
	SELL_BODY,
	METHODS
};

#define FRAMES_MAX 8u

static struct fake_clr *fake;
static uint64_t methods[METHODS];
static struct stack_frame frames[2][FRAMES_MAX];

static void set_up(void)
{
	struct metadata_maker maker;
	fake = fake_clr_create(NULL);
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	for (uint32_t i = 0; i < METHODS; i++) {
		uint32_t token = maker_type(&maker, names[i][0], names[i][1]);
		uint32_t rid = maker_method(&maker, names[i][2]);
		uint64_t type =
			fake_type(fake, &(struct fake_type){ .base_size = 24, .token = token });
		methods[i] = fake_method_desc(fake, type, rid);
	}
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

/* A thread with these frames, innermost first, whose first one is the program's; METHODS ends them. */
static struct thread_wait make_thread(struct stack_frame *stack, const unsigned int *calls)
{
	struct thread_wait wait = { .stack = { .frames = stack } };
	for (; *calls != METHODS; calls++)
		stack[wait.stack.frames_count++] =
			(struct stack_frame){ .kind = STACK_MANAGED,
					      .method_desc = methods[*calls] };
	return wait;
}

#define THREAD(index, ...) \
	make_thread(frames[index], (const unsigned int[]){ __VA_ARGS__, METHODS })

/* The callers that two threads have in common; of one alone, where both are the same. */
static const char *common(struct thread_wait a, struct thread_wait b, struct text *text)
{
	struct heap heap = { .runtime = fake_runtime(fake) };
	struct thread_wait rows[] = { a, b };
	const struct waits waits = { .heap = &heap, .rows = rows, .count = 2 };
	struct wait_callers callers, other;
	wait_callers_find(&waits, 0, &callers);
	wait_callers_find(&waits, 1, &other);
	wait_callers_keep(&waits, &callers, &other);
	text->size = 0;
	text_puts(text, "");
	wait_callers_append(text, &waits, &callers);
	return text->size ? text->bytes : "";
}

TEST(the_programs_methods_outside_of_the_one_that_waits_are_callers)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct thread_wait wait = THREAD(0, GET, RUN, PRICE, SELL, OPEN);
	ASSERT_TEXT(common(wait, wait, &text), "Shop.Till.Price <- Shop.Till.Sell");
	wait = THREAD(0, GET, RUN);
	ASSERT_TEXT(common(wait, wait, &text), "");
	wait.user_frame = WAIT_NO_FRAME;
	ASSERT_TEXT(common(wait, wait, &text), "");
}

TEST(a_method_that_calls_itself_is_one_caller)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct thread_wait wait = THREAD(0, GET, GET, PRICE, PRICE, OPEN);
	ASSERT_TEXT(common(wait, wait, &text), "Shop.Till.Price <- Shop.Door.Open");
}

TEST(the_body_of_an_async_method_is_called_as_the_method)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct thread_wait wait = THREAD(0, GET, SELL_BODY, OPEN);
	ASSERT_TEXT(common(wait, wait, &text), "Shop.Sell <- Shop.Door.Open");
}

TEST(a_dead_frame_calls_nobody)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct thread_wait wait = THREAD(0, GET, PRICE, SELL);
	frames[0][1].is_dead = true;
	ASSERT_TEXT(common(wait, wait, &text), "Shop.Till.Sell");
}

TEST(several_threads_have_the_callers_that_all_of_them_have)
{
	HD_CLEANUP(text) struct text text = { 0 };
	struct thread_wait one = THREAD(0, GET, PRICE, SELL), other = THREAD(1, GET, PRICE, OPEN);
	ASSERT_TEXT(common(one, other, &text), "Shop.Till.Price");
	other = THREAD(1, GET, SELL, OPEN);
	ASSERT_TEXT(common(one, other, &text), "");
}

SUITE(.name = "wait_callers", .set_up = set_up, .tear_down = tear_down)
