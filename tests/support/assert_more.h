/* SPDX-License-Identifier: MIT */
#pragma once

#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * CUnit's assertions without their gap: a mismatch prints both sides.  Unlike CUnit's, the message
 * is made only on a mismatch, so millions of them cost little.
 */

static inline void assert_uint_at(uint64_t got, uint64_t expected, const char *what,
				  const char *file, unsigned int line, CU_BOOL fatal)
{
	if (got == expected)
		return;
	char text[512];
	(void)snprintf(text, sizeof(text), "%s: got %" PRIu64 ", expected %" PRIu64, what, got,
		       expected);
	(void)CU_assertImplementation(CU_FALSE, line, text, file, "", fatal);
}

static inline void assert_text_at(const char *got, const char *expected, const char *what,
				  const char *file, unsigned int line)
{
	got = got ? got : "(null)";
	expected = expected ? expected : "(null)";
	if (strcmp(got, expected) == 0)
		return;
	char text[2048];
	(void)snprintf(text, sizeof(text), "%s: got \"%s\", expected \"%s\"", what, got, expected);
	(void)CU_assertImplementation(CU_FALSE, line, text, file, "", CU_FALSE);
}

static inline void require_at(const void *ptr, const char *what, const char *file,
			      unsigned int line)
{
	if (ptr)
		return;
	(void)CU_assertImplementation(CU_FALSE, line, what, file, "", CU_TRUE);
	abort(); /* CUnit has left by longjmp() */
}

/** Two unsigned numbers of any width. */
#define ASSERT_UINT(got, expected) \
	assert_uint_at((got), (expected), #got, __FILE__, __LINE__, CU_FALSE)
/** Same, and leave the test on a mismatch. */
#define ASSERT_UINT_FATAL(got, expected) \
	assert_uint_at((got), (expected), #got, __FILE__, __LINE__, CU_TRUE)
/** Two texts that end with NUL. */
#define ASSERT_TEXT(got, expected) assert_text_at((got), (expected), #got, __FILE__, __LINE__)

/** Leave the test if @p ptr is NULL.  Analysers see that, as they do not with CUnit's own. */
#define REQUIRE(ptr) require_at((ptr), #ptr " is not NULL", __FILE__, __LINE__)
