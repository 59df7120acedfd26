/* SPDX-License-Identifier: MIT */
/* Structures of callers that were built with another version of the headers (doc/abi.md 3). */
#include <string.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/caller_struct.h"

/* One structure as three releases have it; the library here is of the second. */
struct of_first {
	size_t struct_size;
	uint64_t a;
};
struct of_second {
	size_t struct_size;
	uint64_t a, b;
};
struct of_third {
	size_t struct_size;
	uint64_t a, b, c;
};

#define FIRST SIZE_TO(struct of_second, a)

static bool is_read(const void *from, struct of_second *ret)
{
	*ret = (struct of_second){ 7, 8, 9 };
	return caller_struct_read(ret, sizeof(*ret), FIRST, from);
}

TEST(the_first_size_ends_with_a_member)
{
	ASSERT_UINT(FIRST, sizeof(struct of_first));
	ASSERT_UINT(SIZE_TO(struct of_second, b), sizeof(struct of_second));
}

TEST(an_equal_structure_is_copied)
{
	const struct of_second from = { sizeof(from), 1, 2 };
	struct of_second to;
	CU_ASSERT(is_read(&from, &to));
	CU_ASSERT(to.struct_size == sizeof(to) && to.a == 1 && to.b == 2);
}

TEST(members_that_a_smaller_one_lacks_are_zero)
{
	/* The bytes after it are not the structure's. */
	const struct of_second from = { sizeof(struct of_first), 1, UINT64_MAX };
	struct of_second to;
	CU_ASSERT(is_read(&from, &to));
	CU_ASSERT(to.struct_size == sizeof(to) && to.a == 1 && to.b == 0);
}

TEST(a_larger_one_is_taken_if_the_rest_is_zero)
{
	struct of_third from = { sizeof(from), 1, 2, 0 };
	struct of_second to;
	CU_ASSERT(is_read(&from, &to));
	CU_ASSERT(to.struct_size == sizeof(to) && to.a == 1 && to.b == 2);
	/* Any byte of the rest: the library would not do what the caller asks for. */
	for (size_t i = 0; i < sizeof(from.c); i++) {
		from.c = UINT64_C(1) << (8 * i);
		CU_ASSERT_FALSE(is_read(&from, &to));
		CU_ASSERT(to.struct_size == 7 && to.a == 8 && to.b == 9);
	}
}

TEST(impossible_sizes_are_refused)
{
	static const size_t sizes[] = { 0, 1, FIRST - 1, CALLER_STRUCT_MAX + 1, SIZE_MAX };
	struct of_second to;
	CU_ASSERT_FALSE(is_read(NULL, &to));
	CU_ASSERT_FALSE(caller_struct_write(NULL, &to, sizeof(to), FIRST));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct of_second from = { sizes[i], 1, 2 };
		CU_ASSERT_FALSE(is_read(&from, &to));
		CU_ASSERT(to.struct_size == 7 && to.a == 8 && to.b == 9);
		CU_ASSERT_FALSE(caller_struct_write(&from, &to, sizeof(to), FIRST));
		CU_ASSERT(from.struct_size == sizes[i] && from.a == 1 && from.b == 2);
	}
}

TEST(the_largest_size_is_read_to_its_end)
{
	static char from[CALLER_STRUCT_MAX];
	const size_t size = sizeof(from);
	struct of_second to;
	memcpy(from, &size, sizeof(size));
	CU_ASSERT(is_read(from, &to));
	from[sizeof(from) - 1] = 1;
	CU_ASSERT_FALSE(is_read(from, &to));
}

TEST(an_answer_has_what_the_caller_knows)
{
	const struct of_second from = { sizeof(from), 1, 2 };
	struct of_second equal = { sizeof(equal), 8, 9 };
	struct of_second smaller = { sizeof(struct of_first), 8, 9 };
	struct of_third larger = { sizeof(larger), 8, 9, 10 };
	CU_ASSERT(caller_struct_write(&equal, &from, sizeof(from), FIRST));
	CU_ASSERT(equal.struct_size == sizeof(equal) && equal.a == 1 && equal.b == 2);
	CU_ASSERT(caller_struct_write(&smaller, &from, sizeof(from), FIRST));
	CU_ASSERT(smaller.struct_size == FIRST && smaller.a == 1 && smaller.b == 9);
	CU_ASSERT(caller_struct_write(&larger, &from, sizeof(from), FIRST));
	CU_ASSERT(larger.struct_size == sizeof(larger) && larger.a == 1 && larger.b == 2);
	ASSERT_UINT(larger.c, 0);
}

SUITE(.name = "caller_struct")
