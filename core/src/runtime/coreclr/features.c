/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/features.h"

#include "runtime/coreclr/internal.h"

static const struct {
	uint8_t first, last;
} releases[CORECLR_FEATURE_COUNT] = {
#define X(id, first, last) [CORECLR_##id] = { first, last },
	CORECLR_FEATURES(X)
#undef X
};

const struct coreclr_release coreclr_releases[CORECLR_RELEASES] = {
	{ .major = 8, .dac_count = 157, .sync_table_distance = 60, .gc_info_version = 2 },
	{ .major = 9, .dac_count = 158, .sync_table_distance = 62, .gc_info_version = 3 },
	{ .major = 10, .dac_count = 129, .sync_table_distance = 59, .gc_info_version = 4 },
	{ .major = 11, .dac_count = 131, .sync_table_distance = 61, .gc_info_version = 5 },
};

const struct coreclr_release *coreclr_release_find(unsigned int major)
{
	for (size_t i = 0; i < CORECLR_RELEASES; i++) {
		if (coreclr_releases[i].major == major)
			return &coreclr_releases[i];
	}
	return NULL;
}

bool coreclr_has(const struct runtime *runtime, enum coreclr_feature feature)
{
	unsigned int first = releases[feature].first, last = releases[feature].last;
	return coreclr_of(runtime)->major >= first && (!last || coreclr_of(runtime)->major <= last);
}
