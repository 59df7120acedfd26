/* SPDX-License-Identifier: MIT */
/* The record that the runtime of a NativeAOT program writes before it ends the process (doc/nativeaot.md 5.6). */
#include "analysis/threads/crash_record.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/runtime.h"
#include "util/alloc.h"
#include "util/guard.h"

/* Most exceptions of a record. */
#define EXCEPTIONS_MAX 64u

void crash_record_deinit(struct crash_record *record)
{
	pages_free(record->exceptions, record->exceptions_capacity, sizeof(*record->exceptions));
	pages_free(record->frames, record->frames_capacity, sizeof(*record->frames));
	json_decref(record->root);
	*record = (struct crash_record){ 0 };
}

static struct recorded_text text_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	return (struct recorded_text){ json_string_value(value), json_string_length(value) };
}

/* Numbers are texts in it, "0x7F01" or "1". */
static struct recorded_number number_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	char *end = NULL;
	if (!text || *text < '0' || *text > '9')
		return (struct recorded_number){ 0 };
	errno = 0;
	uint64_t value = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
	return (struct recorded_number){ !*end && !errno, value };
}

static bool add_frames(struct crash_record *record, const json_t *stack)
{
	for (size_t i = 0; i < json_array_size(stack); i++) {
		const json_t *frame = json_array_get(stack, i);
		if (!PAGES_RESERVE(record, frames))
			return false;
		record->frames[record->frames_count++] = (struct recorded_frame){
			.exception = record->exceptions_count - 1,
			.ip = number_of(frame, "ip"),
			.offset = number_of(frame, "offset"),
			.method = text_of(frame, "name"),
		};
	}
	return true;
}

/* An exception that is still to be looked at, and the one that it is inside of. */
struct waiting {
	const json_t *rows[EXCEPTIONS_MAX];
	size_t outer[EXCEPTIONS_MAX];
	size_t count;
};

static void await(struct crash_record *record, struct waiting *waiting, const json_t *exception,
		  size_t outer)
{
	if (!json_is_object(exception))
		return;
	if (waiting->count == EXCEPTIONS_MAX) {
		record->is_cut = true;
		return;
	}
	waiting->rows[waiting->count] = exception;
	waiting->outer[waiting->count++] = outer;
}

/* All of them, each before those inside of it. */
static bool add_exceptions(struct crash_record *record, const json_t *first)
{
	struct waiting waiting = { .count = 0 };
	await(record, &waiting, first, 0);
	for (size_t i = 0; i < waiting.count; i++) {
		const json_t *exception = waiting.rows[i];
		const json_t *inner = json_object_get(exception, "inner");
		if (!PAGES_RESERVE(record, exceptions))
			return false;
		record->exceptions[record->exceptions_count++] = (struct recorded_exception){
			.outer = waiting.outer[i],
			.address = number_of(exception, "address"),
			.hresult = number_of(exception, "hr"),
			.type = text_of(exception, "type"),
			.message = text_of(exception, "message"),
		};
		if (!add_frames(record, json_object_get(exception, "stack")))
			return false;
		for (size_t k = 0; k < json_array_size(inner); k++)
			await(record, &waiting, json_array_get(inner, k), i);
	}
	return true;
}

enum hd_status crash_record_parse(const char *text, size_t size, struct crash_record *ret,
				  struct hd_error *err)
{
	json_error_t error;
	*ret = (struct crash_record){ .is_there = true };
	/* Behind its end there may be the rest of a longer one, which had no room. */
	ret->root = json_loadb(text, strnlen(text, size), JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL,
			       &error);
	ret->is_damaged = !json_is_object(ret->root);
	if (ret->is_damaged)
		return HD_OK;
	struct recorded_number reason = number_of(ret->root, "reason");
	if (reason.is_there && reason.value < CRASH_REASONS)
		ret->reason = (enum crash_reason)reason.value;
	ret->thread = number_of(ret->root, "thread");
	ret->version = text_of(ret->root, "runtime_version");
	ret->message = text_of(ret->root, "message");
	TRY_MEMORY(add_exceptions(ret, json_object_get(ret->root, "exception")), err);
	return HD_OK;
}

enum hd_status crash_record_read(struct runtime *runtime, struct crash_record *ret,
				 struct hd_error *err)
{
	uint64_t address = runtime_crash_record(runtime);
	*ret = (struct crash_record){ 0 };
	if (!address)
		return HD_OK;
	HD_FREE char *text = mem_alloc(RUNTIME_CRASH_RECORD_MAX, 1);
	TRY_MEMORY(text, err);
	size_t size =
		memory_prefix(runtime_memory(runtime), address, text, RUNTIME_CRASH_RECORD_MAX);
	return crash_record_parse(text, size, ret, err);
}
