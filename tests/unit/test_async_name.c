/* SPDX-License-Identifier: MIT */
#include "inspect/async_name.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/text.h"

/* The names of the types are those that Roslyn gives (GeneratedNames.cs). */
TEST(methods_are_called_as_in_the_source)
{
	static const struct {
		const char *type, *method;
	} cases[] = {
		{ "Shop.Checkout+<Place>d__5", "Shop.Checkout.Place" },
		{ "Program+<<Main>$>d__0", "Program.<Main>$" },
		{ "Shop.Checkout+<>c+<<Place>b__0_1>d", "Shop.Checkout.Place.lambda" },
		{ "Shop.Checkout+<>c__DisplayClass3_0+<<Place>b__0>d",
		  "Shop.Checkout.Place.lambda" },
		{ "Shop.Checkout+<<Place>g__Inner|3_0>d", "Shop.Checkout.Place.Inner" },
		{ "Chains+<G>d__30<System.Int32>", "Chains.G" },
		{ "Gen<Foo+<X>d__1>+<G>d__2", "Gen<Foo.<X>d__1>.G" },
		{ "Outer+Inner+<Run>d__2", "Outer.Inner.Run" },
		{ "Shop.Orders+PlaceAsync@11", "Shop.Orders.PlaceAsync" },
		{ "Shop.Orders+place@12-3", "Shop.Orders.place" },
		{ "Shop.Orders+place@12<System.Int32>", "Shop.Orders.place" },
		{ "Shop.Orders+place@", NULL },
		{ "Shop.Orders+@12", NULL },
		{ "Shop.Orders+place@x1", NULL },
		{ "place@12", NULL },
		{ "Shop.Checkout+<>c", NULL },
		{ "Shop.Checkout+<Place>g__Inner|3_0", NULL },
		{ "Shop.Checkout", NULL },
		{ "System.Collections.Generic.List<System.Int32>", NULL },
		{ "A+<B", NULL },
		{ "<", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text text = { 0 };
		bool is_made = async_method_append(&text, cases[i].type, strlen(cases[i].type));
		CU_ASSERT_EQUAL(is_made, cases[i].method != NULL);
		ASSERT_TEXT(text.bytes ? text.bytes : "", cases[i].method ? cases[i].method : "");
		text_deinit(&text);
	}
}

/* The runtime suspends methods that have their own names, or those that Roslyn gives to lambdas. */
TEST(methods_that_the_runtime_suspends_are_called_the_same)
{
	static const struct {
		const char *owner, *code, *method;
	} cases[] = {
		{ "Shop.Checkout", "Place", "Shop.Checkout.Place" },
		{ "Program", "<Main>$", "Program.<Main>$" },
		{ "Shop.Checkout+<>c", "<Place>b__0_1", "Shop.Checkout.Place.lambda" },
		{ "Shop.Checkout+<>c__DisplayClass3_0", "<Place>b__0",
		  "Shop.Checkout.Place.lambda" },
		{ "Shop.Checkout", "<Place>g__Inner|3_0", "Shop.Checkout.Place.Inner" },
		{ "Outer+Inner", "Run", "Outer.Inner.Run" },
		{ "Outer<A+B>", "System.IDisposable.Dispose",
		  "Outer<A.B>.System.IDisposable.Dispose" },
		{ "", "<", ".<" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text text = { 0 };
		async_member_append(&text, cases[i].owner, strlen(cases[i].owner), cases[i].code);
		ASSERT_TEXT(text.bytes, cases[i].method);
		text_deinit(&text);
	}
}

#define BUILDER "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Boolean>"

TEST(boxes_hold_the_state_machine_that_is_their_last_argument)
{
	static const struct {
		const char *box, *machine;
	} cases[] = {
		{ BUILDER "+AsyncStateMachineBox<Shop.Checkout+<Place>d__5>",
		  "Shop.Checkout+<Place>d__5" },
		{ BUILDER "+DebugFinalizableAsyncStateMachineBox<A+<B>d__1<C<D>,E>>",
		  "A+<B>d__1<C<D>,E>" },
		{ "P<X>+StateMachineBox<A+<B>d__1>", "A+<B>d__1" },
		{ "System.Collections.Generic.List<A+<B>d__1>", NULL },
		{ BUILDER "+AsyncStateMachineBox<", NULL },
		{ ">", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size = 0;
		const char *found = async_box_machine(cases[i].box, strlen(cases[i].box), &size);
		CU_ASSERT_EQUAL(found != NULL, cases[i].machine != NULL);
		if (found && cases[i].machine) {
			ASSERT_UINT(size, strlen(cases[i].machine));
			CU_ASSERT(memcmp(found, cases[i].machine, size) == 0);
		}
	}
}

TEST(lambdas_are_known_by_their_method)
{
	static const char *const cases[][2] = {
		{ "Shop.Cart+<>c__DisplayClass3_0.<Load>b__0(System.Object)",
		  "Shop.Cart.Load.lambda" },
		{ "Shop.Cart+<>c.<Load>b__3_1", "Shop.Cart.Load.lambda" },
		{ "Shop.Cart.<Load>g__Inner|3_0(Shop.Line)", "Shop.Cart.Load.Inner" },
		{ "Program+<>c.<<Main>$>b__0_0()", "Program.<Main>$.lambda" },
		{ "Shop.Cart.Load(Shop.Line)", NULL },
		{ "Shop.Cart+<>c+<<Load>b__0>d.MoveNext()", NULL },
		{ ">b__", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text text = { 0 };
		bool is_lambda = async_lambda_append(&text, cases[i][0], strlen(cases[i][0]));
		CU_ASSERT_EQUAL(is_lambda, cases[i][1] != NULL);
		ASSERT_TEXT(text.bytes ? text.bytes : "", cases[i][1] ? cases[i][1] : "");
		text_deinit(&text);
	}
}

SUITE(.name = "async_name")
