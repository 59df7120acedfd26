/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/features.h"

#include "runtime/coreclr/internal.h"

static const struct {
	uint8_t first, last;
} releases[CLR_FEATURE_COUNT] = {
#define X(id, first, last) [CLR_##id] = { first, last },
	CLR_FEATURES(X)
#undef X
};

const struct clr_release clr_releases[CLR_RELEASES] = {
	{ .major = 8, .dac_count = 157, .sync_table_distance = 60, .gc_info_version = 2 },
	{ .major = 9, .dac_count = 158, .sync_table_distance = 62, .gc_info_version = 3 },
	{ .major = 10, .dac_count = 129, .sync_table_distance = 59, .gc_info_version = 4 },
	{ .major = 11, .dac_count = 131, .sync_table_distance = 61, .gc_info_version = 5 },
};

const struct clr_release *clr_release_find(unsigned int major)
{
	for (size_t i = 0; i < CLR_RELEASES; i++) {
		if (clr_releases[i].major == major)
			return &clr_releases[i];
	}
	return NULL;
}

bool clr_has(const struct runtime *runtime, enum clr_feature feature)
{
	unsigned int first = releases[feature].first, last = releases[feature].last;
	return runtime->major >= first && (!last || runtime->major <= last);
}
