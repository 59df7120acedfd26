/* SPDX-License-Identifier: MIT */
/* covers: core/src/runtime/descriptor.c core/src/analysis/threads/crash_record.c */
#include <stdlib.h>

#include "analysis/threads/crash_record.h"
#include "runtime/coreclr/layout.h"
#include "runtime/coreclr/layout_fill.h"
#include "runtime/descriptor.h"

#define HEADER_AT   ((uint64_t)0x10000)
#define POINTERS_AT ((uint64_t)0x10100)
#define DATA_AT     ((uint64_t)0x20000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The header and pointer data that the target makes, and the input at DATA_AT. */
struct image {
	struct memory memory;
	uint8_t head[0x200];
	const uint8_t *data;
	size_t size;
};

static size_t read_image(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct image *image = (const struct image *)memory;
	const uint8_t *bytes = image->head;
	uint64_t begin = HEADER_AT, have = sizeof(image->head);
	if (address >= DATA_AT) {
		bytes = image->data;
		begin = DATA_AT;
		have = image->size;
	}
	if (address < begin || address - begin >= have)
		return 0;
	uint64_t left = have - (address - begin);
	if (size > left)
		size = (size_t)left;
	memcpy(buf, bytes + (address - begin), size);
	return size;
}

static void destroy(struct memory *memory)
{
	(void)memory;
}

static void put(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/*
 * The first byte: how many pointers of 8 bytes follow; after them the JSON of a descriptor.
 * Pointers into the input (DATA_AT + offset) may lead to sub-descriptors.
 */
/* The same bytes as what a runtime has noted when it ended. */
static void use_record(const uint8_t *data, size_t size)
{
	struct crash_record record;
	struct hd_error err;
	if (crash_record_parse((const char *)data, size, &record, &err) != HD_OK)
		abort();
	for (size_t i = 0; i < record.frames_count; i++) {
		if (record.frames[i].exception >= record.exceptions_count)
			abort();
	}
	for (size_t i = 1; i < record.exceptions_count; i++) {
		if (record.exceptions[i].outer >= i)
			abort();
	}
	crash_record_deinit(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	use_record(data, size);
	static const struct memory_ops ops = { .read = read_image, .destroy = destroy };
	if (size == 0)
		return 0;
	size_t count = data[0] % 16;
	size_t skip = 1 + 8 * count;
	if (size < skip)
		return 0;
	struct image image = { .memory = { &ops, true }, .data = data, .size = size };
	put(image.head, 0x0043414443434e44u);
	put(image.head + 8, 1 | (uint64_t)(uint32_t)(size - skip) << 32);
	put(image.head + 16, DATA_AT + skip);
	put(image.head + 24, count);
	put(image.head + 32, POINTERS_AT);
	memcpy(image.head + (POINTERS_AT - HEADER_AT), data + 1, 8 * count);
	struct target target = { .arch = &arch_x86_64,
				 .memory = &image.memory,
				 .own = &image.memory };
	struct descriptor *descriptor = NULL;
	struct hd_error err;
	if (descriptor_read(&target, NULL, HEADER_AT, &descriptor, &err) != HD_OK)
		return 0;
	struct layout layout;
	layout_init(&layout);
	layout_take_descriptor(&layout, descriptor);
	for (size_t i = 0; i < L_COUNT; i++) {
		if (layout_has(&layout, (enum layout_field)i) &&
		    (layout.offsets[i] < 0 || layout.offsets[i] >= LAYOUT_OFFSET_LIMIT))
			abort();
	}
	uint64_t value = 0;
	(void)descriptor_global(descriptor, "AppDomain", &value);
	(void)descriptor_global(descriptor, "ThreadStore", &value);
	(void)descriptor_text(descriptor, "RID");
	(void)descriptor_has_type(descriptor, "EEAllocContext");
	(void)descriptor_has_parts(descriptor);
	descriptor_destroy(descriptor);
	return 0;
}
