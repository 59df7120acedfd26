/* SPDX-License-Identifier: MIT */
/*
 * Methods whose code is a function of the runtime (ecall.h, ecall.cpp; the same in 8, 9 and 10):
 * gFCallMethods is an array of 127 lists of ECHash {next, implementation, MethodDesc}; the
 * remainder of an implementation's address tells its list.
 */
#include "mem/memory.h"
#include "runtime/coreclr/code/method.h"
#include "runtime/coreclr/internal.h"
#include "targets/target.h"

#define FCALL_LISTS 127u
/* Longer lists are not valid: all lists together have some hundred methods. */
#define FCALL_LENGTH_MAX 1024u
/* This many lists must begin with a valid entry. */
#define FCALL_LISTS_MIN 3u

struct fcall {
	uint64_t next, code, method_desc;
};

static bool is_fcall_table(const struct runtime *runtime, uint64_t address)
{
	uint64_t heads[FCALL_LISTS];
	unsigned int count = 0;
	/* The runtime has filled it, so it is not in the runtime's file. */
	struct memory *own = runtime->target->own ? runtime->target->own : runtime->memory;
	if (address % 8 || !memory_read(own, address, heads, sizeof(heads)))
		return false;
	for (unsigned int i = 0; i < FCALL_LISTS; i++) {
		struct fcall call;
		if (!heads[i])
			continue;
		if (heads[i] % 8 || !memory_read(own, heads[i], &call, sizeof(call)) ||
		    call.code % FCALL_LISTS != i || !call.method_desc || call.method_desc % 8)
			return false;
		count++;
	}
	return count >= FCALL_LISTS_MIN;
}

uint64_t fcall_table_find(const struct runtime *runtime)
{
	for (uint64_t i = 0; i < coreclr_of(runtime)->globals.dac_count; i++) {
		uint64_t address = 0;
		if (memory_u64(runtime->memory, coreclr_of(runtime)->globals.dac_table + 8 * i,
			       &address) &&
		    address && is_fcall_table(runtime, address))
			return address;
	}
	return 0;
}

bool coreclr_fcall_method(const struct runtime *runtime, uint64_t code, uint64_t *ret_method_desc)
{
	uint64_t at = 0;
	if (!code || !coreclr_of(runtime)->globals.fcall_table ||
	    !memory_u64(runtime->memory,
			coreclr_of(runtime)->globals.fcall_table + 8 * (code % FCALL_LISTS), &at))
		return false;
	for (unsigned int i = 0; at && i < FCALL_LENGTH_MAX; i++) {
		struct fcall call;
		if (!memory_read(runtime->memory, at, &call, sizeof(call)))
			return false;
		if (call.code == code) {
			*ret_method_desc = call.method_desc;
			return true;
		}
		at = call.next;
	}
	return false;
}
