/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "com.h"

/* Calls the runtime's ICorProfilerInfo to ICorProfilerInfo12 (doc/coreclr.md 19). */

#define LISTEN_DOMAINS     0x10u /* COR_PRF_MONITOR_APPDOMAIN_LOADS */
#define LISTEN_EXCEPTIONS  0x40u /* COR_PRF_MONITOR_EXCEPTIONS */
#define LISTEN_GC          0x80u /* COR_PRF_MONITOR_GC */
#define LISTEN_EVENTS_HIGH 0x80u /* COR_PRF_HIGH_MONITOR_EVENT_PIPE */

/** COR_PRF_EVENTPIPE_PROVIDER_CONFIG. */
struct event_provider {
	const uint16_t *name;
	uint64_t keywords;
	uint32_t level;
	const uint16_t *filter;
};

/** An array type. */
struct runtime_array {
	uint32_t element_type; /**< CorElementType */
	uintptr_t element;     /**< 0: not known */
	uint32_t rank;
};

/** The provider of the runtime's own events. */
#define RUNTIME_PROVIDER "Microsoft-Windows-DotNETRuntime"

/** How many type arguments are looked at. */
#define RUNTIME_ARGUMENTS 32u

/** A class. */
struct runtime_class {
	uintptr_t module;
	uint32_t token;
	uint32_t count;
	uintptr_t arguments[RUNTIME_ARGUMENTS];
};

/**
 * Take the runtime's object, until runtime_forget(), if it is one that the profiler is made for: CoreCLR 8 to 11.  Else says so
 * in one line on standard error.
 *
 * @param[in] unknown An IUnknown; borrowed.
 */
bool runtime_open(void *unknown);

bool runtime_is_open(void);

/** The runtime does not know this library any more, or is not going to. */
void runtime_forget(void);

/**
 * Ask the runtime to detach this profiler: when all callbacks have returned, it calls ProfilerDetachSucceeded.  Nothing
 * else here may be called afterwards.
 *
 * @param milliseconds After how long the runtime looks for the first time.
 */
hresult runtime_detach(uint32_t milliseconds);

/** Set the masks of events, which callbacks the runtime calls, beside those of runtime_listen_always(). */
hresult runtime_listen(uint32_t low, uint32_t high);

/** Add to those that stay when the others change; in no callback but Initialize.  On failure all is as before. */
hresult runtime_listen_always(uint32_t low, uint32_t high);

/** Set no mask at all. */
void runtime_listen_no_more(void);

/** Let the program's threads stand still, and run again; not in a callback.  @return false: they do not */
bool runtime_suspend(void);
void runtime_resume(void);

/** Collect all garbage now; not in a callback of a thread of the program. */
hresult runtime_force_gc(void);

/** Start a session with one provider, which sends the events to this profiler. */
hresult runtime_start_session(const struct event_provider *provider, uint64_t *ret);
hresult runtime_stop_session(uint64_t session);
hresult runtime_provider_name(uintptr_t provider, uint16_t *ret, uint32_t capacity);

/** A stretch of frozen objects: COR_PRF_NONGC_HEAP_RANGE. */
struct frozen_range {
	uintptr_t start;
	size_t size, reserved;
};

/**
 * All stretches of frozen objects.  Not while the runtime is suspended.
 *
 * @param capacity How many @p ret has room for.
 * @param[out] ret_count How many there are; none beyond @p capacity is in @p ret.
 * @return false: not known
 */
bool runtime_frozen(struct frozen_range *ret, uint32_t capacity, uint32_t *ret_count);

/** The class of an object; 0: not known. */
uintptr_t runtime_object_class(uintptr_t object);
bool runtime_object_size(uintptr_t object, uint64_t *ret);

/** Is it an array type, and of what? */
bool runtime_array(uintptr_t type, struct runtime_array *ret);
bool runtime_class(uintptr_t type, struct runtime_class *ret);

/**
 * The name of a class with its namespace, those of the classes that it is nested in first ("Outer+Inner"); UTF-16,
 * cut at @p capacity, which is at least 4.  @return false: not known
 */
bool runtime_type_name(uintptr_t module, uint32_t token, uint16_t *ret, uint32_t capacity);
