/* SPDX-License-Identifier: MIT */
/* Settings of malloc and of the GC, by what the process was given at its begin (doc/memory.md 8.2). */
#include "native/memory_settings.h"

#include <string.h>

#include "analysis/collections/collection.h"
#include "inspect/value.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/text.h"

/* Most bytes of the end of the stack that are searched. */
#define ENVIRONMENT_MAX ((uint64_t)1 << 17)

/* Longest name and value that are read. */
#define WORD_UNITS 256u

static const struct {
	const char *variables[2]; /* the first one counts; the second may be NULL */
	const char *config;       /* in runtimeconfig.json; NULL: it is not of the runtime */
} names[MEMORY_SETTINGS] = {
	[MEMORY_SETTING_ARENAS] = { { "MALLOC_ARENA_MAX", NULL }, NULL },
	[MEMORY_SETTING_CONSERVE] = { { "DOTNET_GCConserveMemory", "COMPlus_GCConserveMemory" },
				      "System.GC.ConserveMemory" },
	[MEMORY_SETTING_DATAS] = { { "DOTNET_GCDynamicAdaptationMode",
				     "COMPlus_GCDynamicAdaptationMode" },
				   "System.GC.DynamicAdaptationMode" },
	[MEMORY_SETTING_LIMIT] = { { "DOTNET_GCHeapHardLimit", "COMPlus_GCHeapHardLimit" },
				   "System.GC.HeapHardLimit" },
	[MEMORY_SETTING_LIMIT_PERCENT] = { { "DOTNET_GCHeapHardLimitPercent",
					     "COMPlus_GCHeapHardLimitPercent" },
					   "System.GC.HeapHardLimitPercent" },
};

static const struct target_thread *first_thread(const struct target *target)
{
	for (size_t i = 0; i < target->threads.count; i++) {
		if (target->threads.rows[i].tid == target->pid)
			return &target->threads.rows[i];
	}
	return NULL;
}

/* Characters of numbers, words and lists. */
static bool is_plain(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c != '\0' && strchr("._-,:", c));
}

static void take_value(struct memory_setting *setting, enum memory_setting_source source,
		       const uint8_t *bytes, size_t size)
{
	size_t length = 0;
	while (length < size && length + 1 < sizeof(setting->value) && is_plain(bytes[length])) {
		setting->value[length] = (char)bytes[length];
		length++;
	}
	setting->value[length] = '\0';
	setting->source = source;
}

/* One string of the block. */
static void look_at_string(struct memory_settings *settings, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < (size_t)2 * MEMORY_SETTINGS; i++) {
		struct memory_setting *setting = &settings->rows[i / 2];
		const char *name = names[i / 2].variables[i % 2];
		size_t length = name ? strlen(name) : 0;
		if (!length || size <= length || bytes[length] != '=' ||
		    memcmp(bytes, name, length) != 0)
			continue;
		settings->has_environment = true;
		/* The older name counts only without the newer one. */
		if (setting->source == MEMORY_SET_NOWHERE || i % 2 == 0) {
			setting->name = name;
			take_value(setting, MEMORY_SET_IN_ENVIRONMENT, bytes + length + 1,
				   size - length - 1);
		}
	}
	/* Each process that has a shell or a service manager as its parent has it. */
	settings->has_environment |= size > 5 && memcmp(bytes, "PATH=", 5) == 0;
}

void memory_settings_take(struct memory_settings *settings, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(bytes + at, '\0', size - at);
		size_t length = end ? (size_t)(end - bytes) - at : size - at;
		if (length)
			look_at_string(settings, bytes + at, length);
		at += length + 1;
	}
}

/* The kernel puts the environment at the end of the first thread's stack. */
static enum hd_status read_environment(struct target *target, struct memory_settings *settings,
				       struct hd_error *err)
{
	const struct target_thread *thread = first_thread(target);
	const struct target_range *range =
		thread ? target_range_at(&target->map, target_thread_sp(target, thread)) : NULL;
	if (!range)
		return HD_OK;
	uint64_t size = range->end - range->start;
	size = size < ENVIRONMENT_MAX ? size : ENVIRONMENT_MAX;
	HD_FREE uint8_t *bytes = mem_alloc((size_t)size, 1);
	TRY_MEMORY(bytes, err);
	if (memory_read(target->memory, range->end - size, bytes, (size_t)size))
		memory_settings_take(settings, bytes, (size_t)size);
	return HD_OK;
}

struct config_reader {
	struct heap *heap;
	struct memory_settings *settings;
	bool failed; /* memory was exhausted */
};

/* The visitor finds references to strings. */
static bool read_word(struct config_reader *reader, const struct item_value *value,
		      struct text *text)
{
	uint64_t reference = value->reference;
	uint32_t length;
	if (value->address && !memory_u64(reader->heap->memory, value->address, &reference))
		return false;
	bool is_read =
		reference && string_value(reader->heap, reference, WORD_UNITS, text, &length);
	reader->failed |= text->failed;
	return is_read && text->bytes;
}

static bool look_at_item(void *arg, const struct collection_item *item)
{
	struct config_reader *reader = arg;
	HD_CLEANUP(text) struct text key = { 0 }, value = { 0 };
	if (read_word(reader, &item->key, &key)) {
		for (size_t i = 0; i < MEMORY_SETTINGS; i++) {
			struct memory_setting *setting = &reader->settings->rows[i];
			if (!names[i].config || strcmp(names[i].config, key.bytes) != 0 ||
			    setting->source != MEMORY_SET_NOWHERE ||
			    !read_word(reader, &item->value, &value))
				continue;
			setting->name = names[i].config;
			take_value(setting, MEMORY_SET_IN_CONFIG, (const uint8_t *)value.bytes,
				   value.size);
		}
	}
	return !reader->failed;
}

/* The runtime gives all properties of runtimeconfig.json to AppContext.Setup() as strings. */
static enum hd_status read_config(struct heap *heap, struct members *members, struct job *job,
				  struct memory_settings *settings, struct hd_error *err)
{
	struct member store = fact_static(members, FACT_APP_CONTEXT_DATA);
	struct config_reader reader = { .heap = heap, .settings = settings };
	const struct item_visitor visitor = { look_at_item, &reader };
	struct collection collection;
	struct collection_facts facts;
	struct object object;
	if (!member_object(members, store.bits, &object) ||
	    collection_open(heap, members, &object, &collection) != COLLECTION_KNOWN)
		return HD_OK;
	TRY(collection_visit(&collection, job, &visitor, &facts, err));
	settings->has_config = !facts.is_broken;
	return reader.failed ? fail_nomem(err) : HD_OK;
}

enum hd_status memory_settings_read(struct target *target, struct heap *heap, struct job *job,
				    struct memory_settings *ret, struct hd_error *err)
{
	struct memory_settings settings = { 0 };
	HD_CLEANUP(members) struct members *members = NULL;
	for (size_t i = 0; i < MEMORY_SETTINGS; i++)
		settings.rows[i].name = names[i].variables[0];
	TRY(read_environment(target, &settings, err));
	if (heap) {
		gc_limits_read(heap->runtime, &settings.limits);
		TRY(members_create(heap, &members, err));
		TRY(read_config(heap, members, job, &settings, err));
	}
	*ret = settings;
	return HD_OK;
}
