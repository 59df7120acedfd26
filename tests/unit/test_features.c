/* SPDX-License-Identifier: MIT */
/* The table of runtime/coreclr/features against what doc/coreclr.md says. */
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/suite.h"

/* doc/coreclr.md 14, and the sections that it names. */
TEST(what_each_release_has)
{
	static const struct {
		enum coreclr_feature feature;
		bool of[7]; /* unknown, 7, 8, 9, 10, 11, 12 */
	} rows[] = {
		{ CORECLR_SHORT_TOKENS, { 0, 0, 1, 0, 0, 0, 0 } },
		{ CORECLR_COLLECTIBLE_BIT_28, { 0, 0, 1, 0, 0, 0, 0 } },
		{ CORECLR_DOMAIN_STATICS, { 0, 0, 1, 0, 0, 0, 0 } },
		{ CORECLR_PACKED_FIELD_COUNTS, { 0, 0, 1, 0, 0, 0, 0 } },
		{ CORECLR_SMALL_METHOD_DESCS, { 0, 0, 1, 0, 0, 0, 0 } },
		{ CORECLR_FRAME_VTABLES, { 0, 0, 1, 1, 0, 0, 0 } },
		{ CORECLR_FRAME_NUMBERS, { 0, 0, 0, 0, 1, 1, 0 } },
		{ CORECLR_CROSS_REFERENCES, { 0, 0, 0, 0, 1, 1, 1 } },
		{ CORECLR_HIJACK_CONTINUATION, { 0, 0, 0, 0, 1, 1, 1 } },
		{ CORECLR_DIRECT_EXCEPTION, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_EMPTY_ABORTED_FRAMES, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_DEBUG_FLAGS, { 0, 0, 1, 1, 1, 0, 0 } },
		{ CORECLR_DEBUG_SIZES, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_NIBBLE_STARTS, { 0, 0, 0, 0, 1, 1, 1 } },
		{ CORECLR_ASSEMBLY_POINTERS, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_THREAD_POINTERS, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_MANAGED_MONITORS, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_MANAGED_WAITS, { 0, 0, 0, 0, 0, 1, 1 } },
		{ CORECLR_MANAGED_LOCK_IDS, { 0, 0, 0, 0, 0, 1, 1 } },
	};
	static const unsigned int majors[] = { 0, 7, 8, 9, 10, 11, 12 };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; k < sizeof(majors) / sizeof(majors[0]); k++) {
			const struct coreclr runtime = { .base.ops = &coreclr_ops,
							 .major = majors[k] };
			ASSERT_UINT(coreclr_has(&runtime.base, rows[i].feature), rows[i].of[k]);
		}
	}
}

/* doc/coreclr.md 4 (the sync table is 60, 62, 59 or 61 after GcDacVars) and 14 (GCInfo of the JIT). */
TEST(what_a_release_has_one_of)
{
	static const unsigned int rows[][3] = {
		{ 8, 60, 2 }, { 9, 62, 3 }, { 10, 59, 4 }, { 11, 61, 5 }
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct coreclr_release *release = coreclr_release_find(rows[i][0]);
		REQUIRE(release);
		ASSERT_UINT(release->sync_table_distance, rows[i][1]);
		ASSERT_UINT(release->gc_info_version, rows[i][2]);
	}
	CU_ASSERT_PTR_NULL(coreclr_release_find(0));
	CU_ASSERT_PTR_NULL(coreclr_release_find(12));
}

SUITE(.name = "features")
