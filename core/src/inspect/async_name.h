/* SPDX-License-Identifier: MIT */
/* Names of async methods. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime;
struct text;

/**
 * The type of the state machine in a box of an async method: the last type argument of
 * "...AsyncStateMachineBox<Shop.Checkout+<Place>d__5>".
 *
 * @param[in] name,size The full name of the box's type.
 * @param[out] ret_size Length of the result, which lies in @p name.
 * @return NULL when it is not such a box
 */
const char *async_box_machine(const char *name, size_t size, size_t *ret_size);

/**
 * Append the name of the method that the compiler made the state machine type @p name of:
 * "Shop.Checkout+<Place>d__5" gives "Shop.Checkout.Place"; of a lambda "Shop.Checkout.Place.lambda",
 * of a local function "Shop.Checkout.Place.Inner" (Roslyn: GeneratedNames); of a task { } of F#
 * "Shop.Orders+place@11" gives "Shop.Orders.place".
 *
 * @return false, and nothing is appended, when the name is not of that kind
 */
bool async_method_append(struct text *text, const char *name, size_t size);

/**
 * Append the same name for a method that the runtime suspends itself, by the names that its type and it have
 * in metadata: "Shop.Checkout+<>c" and "<Place>b__0" give "Shop.Checkout.Place.lambda".
 */
void async_member_append(struct text *text, const char *owner, size_t owner_size,
			 const char *method);

/**
 * Append the same for a lambda or local function by its full name, with or without its signature:
 * "Shop.Checkout+<>c__DisplayClass3_0.<Place>b__0(System.Object)" gives "Shop.Checkout.Place.lambda".
 *
 * @return false, and nothing is appended, when it is neither
 */
bool async_lambda_append(struct text *text, const char *name, size_t size);

/**
 * Append the name that users know the method of a MethodDesc by: "Shop.Checkout.Place", also of MoveNext of the state machine
 * that the compiler makes of it, and of a lambda or local function in it "Shop.Checkout.Place.lambda"; false, and nothing is
 * appended, when there is no method.
 */
bool method_user_append(struct text *text, struct runtime *runtime, uint64_t method_desc);
