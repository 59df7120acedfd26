/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/threads/in_flight.h"

#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/exinfo.h"

static void go_to(struct in_flight *flight, uint64_t next)
{
	const struct runtime *runtime = flight->runtime;
	uint64_t owner = 0;
	if (!layout_has(&coreclr_of(runtime)->layout, L_EXCEPTION_THREAD)) {
		/*
		 * The exception thrown before is above it on the stack, so there cannot be a ring.
		 */
		flight->is_broken = next && next <= flight->at;
	} else if (next) {
		/* Two threads never share a record, and a free record has no thread. */
		flight->is_broken = next == flight->mark ||
				    !coreclr_pointer(runtime, next, L_EXCEPTION_THREAD, &owner) ||
				    owner != flight->thread;
	}
	if (next % 8 != 0)
		flight->is_broken = true;
	flight->at = flight->is_broken ? 0 : next;
	if (++flight->steps == flight->power) {
		flight->power *= 2;
		flight->steps = 0;
		flight->mark = flight->at;
	}
}

void in_flight_begin(struct in_flight *flight, const struct runtime *runtime, uint64_t thread)
{
	uint64_t first = 0;
	*flight = (struct in_flight){ .runtime = runtime, .thread = thread, .power = 1 };
	if (!layout_has(&coreclr_of(runtime)->layout, L_THREAD_EXCEPTION_TRACKER))
		return;
	flight->is_broken = !coreclr_pointer(runtime, thread, L_THREAD_EXCEPTION_TRACKER, &first);
	if (!flight->is_broken)
		go_to(flight, first);
}

void in_flight_next(struct in_flight *flight)
{
	uint64_t previous = 0;
	if (!coreclr_pointer(flight->runtime, flight->at, L_EXCEPTION_PREVIOUS, &previous)) {
		flight->is_broken = true;
		flight->at = 0;
		return;
	}
	go_to(flight, previous);
}

bool in_flight_handle(const struct in_flight *flight, uint64_t *ret)
{
	return exinfo_thrown(flight->runtime, flight->at, ret);
}

bool in_flight_is_known(const struct runtime *runtime)
{
	return coreclr_has_field(runtime, L_THREAD_EXCEPTION_TRACKER);
}
