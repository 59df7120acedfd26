/* SPDX-License-Identifier: MIT */
/* Frames of native functions that have no call frame information. */
#include "arch/arch.h"
#include "arch/framed_rows.h"
#include "support/assert_more.h"
#include "support/suite.h"
#include "util/text.h"

#define ROWS(code, ret) \
	framed_rows_write(&arch_x86_64, (const uint8_t *)(code), sizeof(code) - 1, ret)

/* push rbp; mov rbp, rsp; push r14; push rbx; mov rbx, rdi: FinalizerStart() of .NET 10 */
static const char finalizer[] = "\x55\x48\x89\xe5\x41\x56\x53\x48\x89\xfb";

TEST(a_prologue_tells_where_registers_are)
{
	static const char expected[] = "\x41\x86\x02\x0e\x10" /* after push rbp: CFA = rsp + 16 */
				       "\x43\x0d\x06"         /* after mov: CFA = rbp + 16 */
				       "\x42\x8e\x03"         /* r14 at CFA - 24 */
				       "\x41\x83\x04";        /* rbx at CFA - 32 */
	struct text rows = { 0 };
	CU_ASSERT_TRUE(ROWS(finalizer, NULL));
	CU_ASSERT_TRUE(ROWS(finalizer, &rows));
	ASSERT_UINT(rows.size, sizeof(expected) - 1);
	CU_ASSERT_EQUAL(memcmp(rows.bytes, expected, rows.size), 0);
	rows.size = 0;
	/* endbr64, and the other form of mov */
	CU_ASSERT_TRUE(ROWS("\xf3\x0f\x1e\xfa\x55\x48\x8b\xec", &rows));
	ASSERT_UINT((uint8_t)rows.bytes[0], 0x45);
	text_deinit(&rows);
}

TEST(other_code_has_no_frame)
{
	struct text rows = { 0 };
	CU_ASSERT_FALSE(ROWS("\x55\x48\x89", &rows));
	CU_ASSERT_FALSE(ROWS("\x53\x48\x89\xe5", &rows));
	CU_ASSERT_FALSE(ROWS("", &rows));
	CU_ASSERT_FALSE(framed_rows_write(&arch_arm64, (const uint8_t *)finalizer,
					  sizeof(finalizer) - 1, &rows));
	ASSERT_UINT(rows.size, 0);
}

#define ENDS(code) framed_function_ends(&arch_x86_64, (const uint8_t *)(code), sizeof(code) - 1)

TEST(functions_end_at_returns_and_at_what_fills_gaps)
{
	CU_ASSERT_TRUE(ENDS("\x5d\xc3"));
	CU_ASSERT_TRUE(ENDS("\xcc"));
	CU_ASSERT_TRUE(ENDS("\xc3\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"));
	CU_ASSERT_TRUE(ENDS("\x0f\x1f\x00"));
	CU_ASSERT_FALSE(ENDS("\x48\x89\xfb"));
	CU_ASSERT_FALSE(ENDS("\xb8\x00\x00\x00\x00"));
}

SUITE(.name = "framed_rows")
