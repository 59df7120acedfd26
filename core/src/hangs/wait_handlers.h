/* SPDX-License-Identifier: MIT */
/* Methods of the program that the framework calls some time. */
#pragma once

#include "hangs/waits.h"

struct static_slots;

/**
 * Tell each handler of the events that the framework has in static variables, or in an object that one leads to, such as
 * Console.CancelKeyPress and AppDomain.ProcessExit, if its method is not the framework's.
 *
 * @param visit Called with the address of a delegate, and the MethodDesc of its method.
 * Cost: linear in static variables, and in handlers.
 */
void wait_handlers_visit(const struct waits *waits, const struct static_slots *slots,
			 void (*visit)(void *arg, uint64_t delegate, uint64_t method_desc),
			 void *arg);
