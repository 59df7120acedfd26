/* SPDX-License-Identifier: MIT */
/* The code of a runtime by its address, and a cache of it: stacks are full of the same few addresses. */
#include "runtime/code.h"

#include <inttypes.h>

#include "runtime/runtime_base.h"
#include "util/alloc.h"
#include "util/text.h"

/* The result of an earlier look-up. */
struct code_recent {
	uint64_t code; /* 0: unused */
	bool is_found;
	struct code_info info;
};
#define CODE_RECENT_COUNT 512u

struct code_cache {
	bool failed; /* memory was exhausted */
	struct code_recent recent[CODE_RECENT_COUNT];
};

/* Made the first time; NULL when memory is exhausted. */
static struct code_cache *code_cache(struct runtime *runtime)
{
	if (!runtime->code)
		runtime->code = mem_calloc(1, sizeof(*runtime->code));
	return runtime->code;
}

void code_cache_destroy(struct code_cache *cache)
{
	mem_free(cache);
}

void runtime_code_fail(struct runtime *runtime)
{
	struct code_cache *cache = code_cache(runtime);
	if (cache)
		cache->failed = true;
}

bool runtime_code_failed(struct runtime *runtime)
{
	struct code_cache *cache = code_cache(runtime);
	bool failed = !cache || cache->failed;
	if (cache)
		cache->failed = false;
	return failed;
}

bool runtime_function_at(struct runtime *runtime, uint64_t code, struct code_info *ret)
{
	struct code_cache *cache = code_cache(runtime);
	if (!cache || !code || !runtime->ops->code_at)
		return false;
	struct code_recent *recent =
		&cache->recent[(code * 0x9e3779b97f4a7c15u >> 32) % CODE_RECENT_COUNT];
	if (recent->code != code) {
		struct code_info info = { 0 };
		bool had_failed = cache->failed, is_found;
		cache->failed = false;
		is_found = runtime->ops->code_at(runtime, code, &info);
		if (cache->failed)
			return false; /* it may be found another time */
		cache->failed = had_failed;
		*recent = (struct code_recent){ code, is_found, info };
	}
	if (recent->is_found)
		*ret = recent->info;
	return recent->is_found;
}

bool runtime_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret)
{
	struct code_info info;
	if (!runtime_function_at(runtime, code, &info) || !info.unwind_info)
		return false;
	*ret = info;
	return true;
}

bool runtime_method_name(struct runtime *runtime, uint64_t method_desc, char *buf, size_t size,
			 uint32_t *ret_token)
{
	return runtime->ops->method_name &&
	       runtime->ops->method_name(runtime, method_desc, buf, size, ret_token);
}

/* Longer names of methods are cut. */
#define METHOD_NAME_SIZE 1024u

void runtime_method_signature(struct runtime *runtime, uint64_t method_desc, struct text *text)
{
	char name[METHOD_NAME_SIZE];
	if (runtime->ops->method_signature) {
		runtime->ops->method_signature(runtime, method_desc, text);
	} else if (runtime_method_name(runtime, method_desc, name, sizeof(name), NULL)) {
		text_puts(text, name);
	} else {
		text_printf(text, "<unknown method %" PRIx64 ">", method_desc);
	}
}
