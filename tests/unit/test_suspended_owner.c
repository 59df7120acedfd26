/* SPDX-License-Identifier: MIT */
/* Finds the instantiation of a suspended method whose code several share. */
#include "analysis/async/async_methods.h"
#include "inspect/suspended.h"
#include "support/assert_more.h"
#include "support/fake_clr.h"
#include "support/fake_module.h"
#include "support/metadata_maker.h"
#include "support/suite.h"
#include "util/text.h"

#define INSTANTIATION 0x10u
#define SHARED        0x20u
#define SAVED         32u /* where what is saved begins: two references */

static struct fake_clr *fake;
static uint64_t store, plain, of_text, of_orders, of_orders_too;
static uint64_t with_shared, with_plain, method_saver;

/* An instantiation that has the code of Store. */
static uint64_t make_instantiation(uint64_t parent, uint32_t token)
{
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = 24,
							     .token = token,
							     .flags = INSTANTIATION,
							     .parent = parent });
	fake_poke_u64(&fake->memory, fake_at(fake, type, L_MT_CLASS), store | 1);
	return type;
}

static void set_up(void)
{
	const struct gc_series two = { .size = 16 - 56, .offset = SAVED };
	struct metadata_maker maker;
	fake = fake_clr_create(&(struct fake_options){ .release = 11 });
	maker_init(&maker);
	maker_type(&maker, "", "<Module>");
	maker_type(&maker, "System", "Object");
	maker_type(&maker, "System", "String");
	uint32_t token = maker_type(&maker, "Shop", "Store");
	uint32_t rid = maker_method(&maker, "With");
	store = fake_type(fake,
			  &(struct fake_type){ .base_size = 24, .token = token, .flags = SHARED });
	with_shared = fake_method_desc(fake, store, rid);
	of_text = make_instantiation(0, token);
	of_orders = make_instantiation(0, token);
	token = maker_type(&maker, "Shop", "Orders");
	rid = maker_method(&maker, "Place");
	plain = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = token });
	with_plain = fake_method_desc(fake, plain, rid);
	(void)fake_segment(fake, 0, GENERATION_0, 0x10000);
	/* A class that derives from an instantiation. */
	of_orders_too = fake_type(
		fake, &(struct fake_type){ .base_size = 24, .token = token, .parent = of_orders });
	method_saver = fake_type(
		fake, &(struct fake_type){ .base_size = 56, .series = &two, .series_count = 1 });
	fake_metadata(fake, fake->module, &maker);
	maker_deinit(&maker);
}

static void tear_down(void)
{
	fake_clr_destroy(fake);
}

/* The owner of a method that has saved objects of two types; 0: none. */
static uint64_t owner_of(uint64_t method_desc, uint64_t first, uint64_t second)
{
	uint64_t address = fake_object(fake, method_saver, 0);
	if (first)
		fake_poke_u64(&fake->memory, address + SAVED, fake_object(fake, first, 0));
	if (second)
		fake_poke_u64(&fake->memory, address + SAVED + 8, fake_object(fake, second, 0));
	struct heap *heap = fake_heap(fake);
	struct suspended continuation = {
		.object = { .address = address,
			    .type = type_find(heap->runtime, method_saver),
			    .size = 56 },
		.data = address + SAVED,
		.method_desc = method_desc,
	};
	const struct type *owner = suspended_owner(heap, &continuation);
	return owner ? owner->method_table : 0;
}

TEST(the_saved_this_tells_the_instantiation)
{
	ASSERT_UINT(owner_of(with_shared, plain, of_text), of_text);
}

TEST(the_saved_this_may_be_of_a_class_that_derives_from_it)
{
	ASSERT_UINT(owner_of(with_shared, of_orders_too, 0), of_orders);
}

TEST(equal_types_are_no_contradiction)
{
	ASSERT_UINT(owner_of(with_shared, of_orders, of_orders_too), of_orders);
}

TEST(objects_of_two_instantiations_tell_nothing)
{
	ASSERT_UINT(owner_of(with_shared, of_text, of_orders), 0);
}

TEST(who_has_saved_no_this_is_of_no_known_instantiation)
{
	ASSERT_UINT(owner_of(with_shared, plain, 0), 0);
}

TEST(a_method_that_no_others_share_is_of_its_own_type)
{
	ASSERT_UINT(owner_of(with_plain, of_text, plain), 0);
}

TEST(methods_of_different_instantiations_are_different)
{
	struct runtime *runtime = fake_runtime(fake);
	struct async_methods methods = { 0 };
	struct async_method_key key = { .method_desc = with_shared };
	uint32_t shared = async_methods_add(&methods, key);
	key.owner = type_find(runtime, plain);
	uint32_t own = async_methods_add(&methods, key);
	CU_ASSERT_NOT_EQUAL(shared, own);
	ASSERT_UINT(async_methods_add(&methods, key), own);
	ASSERT_TEXT(async_methods_name(&methods, runtime, shared), "Shop.Store.With");
	ASSERT_TEXT(async_methods_name(&methods, runtime, own), "Shop.Orders.With");
	ASSERT_TEXT(async_methods_code(&methods, runtime, own), "Shop.Orders.With");
	async_methods_deinit(&methods);
}

SUITE(.name = "suspended_owner", .set_up = set_up, .tear_down = tear_down)
