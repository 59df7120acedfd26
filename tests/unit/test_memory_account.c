/* SPDX-License-Identifier: MIT */
/* The account of cores that lie about what they have. */
#include <elf.h>

#include "arch/x86_64/register_table.h"
#include "native/memory_account.h"
#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/job.h"

static struct memory_account *account_of(struct elf_maker *maker, struct target **target)
{
	struct memory_account *account = NULL;
	struct job job = { 0 };
	*target = elf_maker_open(maker, NULL);
	CU_ASSERT_FATAL(*target != NULL);
	ASSERT_UINT_FATAL(memory_account_create(*target, NULL, &job, &account, NULL), HD_OK);
	return account;
}

/* Its addresses are not gone through page by page: there are 16 thousand million of them. */
TEST(addresses_without_bytes_are_only_reserved)
{
	struct elf_maker maker;
	struct target *target;
	uint8_t bytes[8192] = { 0 };
	elf_maker_init(&maker);
	elf_maker_load(&maker, 0x100000, bytes, sizeof(bytes), (uint64_t)1 << 46, PF_R);
	bytes[5000] = 1;
	elf_maker_load(&maker, ((uint64_t)1 << 46) + 0x200000, bytes, sizeof(bytes),
		       sizeof(bytes) + 4096, PF_R);
	struct memory_account *account = account_of(&maker, &target);
	struct memory_bytes reserved = memory_account_of_kind(account, MEMORY_RESERVED);
	struct memory_bytes unknown = memory_account_of_kind(account, MEMORY_UNKNOWN);
	ASSERT_UINT(reserved.addresses, (uint64_t)1 << 46);
	ASSERT_UINT(reserved.captured, 8192);
	ASSERT_UINT(unknown.addresses, 12288);
	ASSERT_UINT(unknown.zeros, 4096);
	ASSERT_UINT(account->total.captured, 16384);
	memory_account_destroy(account);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

/* A mapping of four pages: the first one is below the stack pointer; two are in memory, and one is swapped. */
static void check_divided(struct process_residency *residency, const int64_t resident[2])
{
	static const char smaps[] = "10000-14000 rw-p 00000000 00:00 0 \n"
				    "Rss:                   8 kB\n"
				    "Pss:                   4 kB\n"
				    "Swap:                  4 kB\n";
	uint64_t registers[REGISTER_COUNT] = { [REGISTER_RSP] = 0x11000 };
	struct elf_maker maker;
	struct target *target;
	CU_ASSERT_FATAL(process_residency_parse(smaps, sizeof(smaps) - 1, residency));
	elf_maker_init(&maker);
	elf_maker_load(&maker, 0x10000, "x", 1, 0x4000, PF_R | PF_W);
	elf_maker_thread(&maker, 42, registers, 11);
	target = elf_maker_open(&maker, NULL);
	CU_ASSERT_FATAL(target != NULL);
	target->process.residency = residency;
	struct memory_account *account = NULL;
	struct job job = { 0 };
	ASSERT_UINT_FATAL(memory_account_create(target, NULL, &job, &account, NULL), HD_OK);
	struct memory_bytes used = memory_account_of_kind(account, MEMORY_STACK_USED);
	struct memory_bytes below = memory_account_of_kind(account, MEMORY_STACK_BELOW);
	CU_ASSERT_EQUAL(below.resident, resident[0]);
	CU_ASSERT_EQUAL(used.resident, resident[1]);
	CU_ASSERT_EQUAL(below.pss, resident[0] / 2);
	CU_ASSERT_EQUAL(used.pss, resident[1] / 2);
	CU_ASSERT_EQUAL(below.swap + used.swap, 4096);
	CU_ASSERT_EQUAL(account->total.resident, 8192);
	CU_ASSERT(!account->kind_rows[MEMORY_CHANGED]);
	memory_account_destroy(account);
	target_destroy(target);
	elf_maker_deinit(&maker);
}

static struct process_residency *make_residency(const struct server_pages *pages, size_t count)
{
	struct process_residency *residency = mem_calloc(1, sizeof(*residency));
	REQUIRE(residency);
	residency->has_pages = count != 0;
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_FATAL(PAGES_RESERVE(residency, pages));
		residency->pages[residency->pages_count++] = pages[i];
	}
	return residency;
}

TEST(without_its_pages_a_mapping_is_divided_by_addresses)
{
	check_divided(make_residency(NULL, 0), (const int64_t[]){ 2048, 6144 });
}

TEST(with_its_pages_a_mapping_is_divided_by_them)
{
	static const struct server_pages pages[] = { { 0x10000, 0x12000, PAGES_PRESENT },
						     { 0x13000, 0x14000, PAGES_SWAPPED } };
	check_divided(make_residency(pages, 2), (const int64_t[]){ 4096, 4096 });
}

/* Before Linux 6.7 the kernel does not tell pages of zeros from others; they are not in Rss. */
TEST(pages_of_zeros_have_not_changed)
{
	static const struct server_pages pages[] = { { 0x10000, 0x14000, PAGES_PRESENT } };
	check_divided(make_residency(pages, 1), (const int64_t[]){ 2048, 6144 });
}

SUITE(.name = "memory_account")
