/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/layout.h"

#include <string.h>

#include "runtime/descriptor.h"

static const struct {
	const char *header, *type, *field;
	uint32_t values[AOT_MAJOR_LAST - AOT_MAJOR_FIRST + 1];
} aot_fields[AOT_FIELD_COUNT] = {
#define X(id, header, type, field, v8, v9, v10, v11) { header, type, field, { v8, v9, v10, v11 } },
	AOT_FIELDS(X)
#undef X
};

void aot_layout_init(struct aot_layout *layout, unsigned int major)
{
	for (size_t i = 0; i < AOT_FIELD_COUNT; i++)
		layout->offsets[i] = aot_fields[i].values[major - AOT_MAJOR_FIRST];
}

void aot_layout_take(struct aot_layout *layout, const char *name, uint64_t offset)
{
	for (size_t i = 0; i < AOT_FIELD_COUNT; i++) {
		const char *header = aot_fields[i].header;
		if (header && strcmp(header, name) == 0 && offset < DESCRIPTOR_OFFSET_LIMIT)
			layout->offsets[i] = (uint32_t)offset;
	}
}

void aot_layout_take_descriptor(struct aot_layout *layout, const struct descriptor *descriptor)
{
	/* Fields of Thread that no descriptor has; a processor may have another field in front of them. */
	static const enum aot_field untold[] = { AOT_THREAD_STATICS, AOT_THREAD_INLINED_STATICS,
						 AOT_THREAD_INTERRUPTED };
	uint32_t known = layout->offsets[AOT_THREAD_OS_ID];
	for (size_t i = 0; i < AOT_FIELD_COUNT; i++) {
		int64_t offset = 0;
		if (aot_fields[i].type &&
		    descriptor_offset(descriptor, aot_fields[i].type, aot_fields[i].field, &offset))
			layout->offsets[i] = (uint32_t)offset;
	}
	for (size_t i = 0; i < sizeof(untold) / sizeof(untold[0]); i++)
		layout->offsets[untold[i]] += layout->offsets[AOT_THREAD_OS_ID] - known;
}
