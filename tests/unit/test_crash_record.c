/* SPDX-License-Identifier: MIT */
/* Records of why a runtime has ended its process. */
#include <elf.h>
#include <string.h>

#include "analysis/threads/crash_record.h"
#include "runtime/nativeaot/internal.h"
#include "support/assert_more.h"
#include "support/fake_memory.h"
#include "support/suite.h"
#include "targets/target.h"
#include "util/text.h"

/* As .NET 8.0.34 has written it, with an inner exception. */
static const char whole[] =
	"{\"version\":\"1.0.0\",\"runtime_base\":\"0x55A30BDD1000\",\"runtime_type\":\"4\","
	"\"runtime_version\":\"8.0.34\",\"reason\":\"1\",\"thread\":\"0x7DD\",\"message\":\"no \\u000A one\","
	"\"exception\":{\"address\":\"0x7F9B1340E588\",\"hr\":\"0x80131509\",\"message\":\"outer\","
	"\"type\":\"Shop.Failure\",\"stack\":[{\"ip\":\"0x55A30BE960AA\",\"module\":\"0x55A30BDD1000\","
	"\"offset\":\"0x70A\",\"name\":\"Program.Main(String[] args)\"},{\"ip\":\"0x55A30BEABDDC\",\"offset\":\"0xBC\"}],"
	"\"inner\":[{\"address\":\"0x7F9B1340E500\",\"hr\":\"0x1\",\"message\":\"inner\",\"type\":\"Shop.Cause\"}]}}";

static struct crash_record record;

static void parse(const char *text, size_t size)
{
	struct hd_error err;
	crash_record_deinit(&record);
	ASSERT_UINT_FATAL(crash_record_parse(text, size, &record, &err), HD_OK);
	CU_ASSERT_TRUE(record.is_there);
}

static void tear_down(void)
{
	crash_record_deinit(&record);
}

static bool is(const struct recorded_text *text, const char *expected)
{
	return text->bytes && text->size == strlen(expected) &&
	       memcmp(text->bytes, expected, text->size) == 0;
}

TEST(a_record_has_exceptions_and_their_stacks)
{
	parse(whole, sizeof(whole));
	CU_ASSERT_FALSE(record.is_damaged || record.is_cut);
	ASSERT_UINT(record.reason, CRASH_REASON_EXCEPTION);
	ASSERT_UINT(record.thread.value, 0x7dd);
	CU_ASSERT_TRUE(is(&record.version, "8.0.34") && is(&record.message, "no \n one"));
	ASSERT_UINT_FATAL(record.exceptions_count, 2);
	CU_ASSERT_TRUE(is(&record.exceptions[0].type, "Shop.Failure"));
	ASSERT_UINT(record.exceptions[0].address.value, 0x7f9b1340e588);
	ASSERT_UINT(record.exceptions[0].hresult.value, 0x80131509);
	CU_ASSERT_TRUE(is(&record.exceptions[1].message, "inner"));
	ASSERT_UINT(record.exceptions[1].outer, 0);
	ASSERT_UINT_FATAL(record.frames_count, 2);
	ASSERT_UINT(record.frames[0].ip.value, 0x55a30be960aa);
	CU_ASSERT_TRUE(is(&record.frames[0].method, "Program.Main(String[] args)"));
	CU_ASSERT_PTR_NULL(record.frames[1].method.bytes);
	ASSERT_UINT(record.frames[1].offset.value, 0xbc);
}

TEST(rests_of_a_longer_record_are_left_out)
{
	static const char rest[] =
		"{\"reason\":\"2\",\"thread\":\"0x10\",\"message\":\"short\"}me\":\"Deep()\"}]}}";
	parse(rest, sizeof(rest));
	CU_ASSERT_FALSE(record.is_damaged);
	ASSERT_UINT(record.reason, CRASH_REASON_FAIL_FAST);
	ASSERT_UINT(record.exceptions_count, 0);
}

TEST(anything_else_is_damaged_or_not_known)
{
	static const char odd[] =
		"{\"reason\":\"9\",\"thread\":\"x\",\"message\":7,\"exception\":[1],"
		"\"runtime_version\":null}";
	for (size_t size = 0; size < sizeof(whole) - 1; size++) {
		parse(whole, size);
		CU_ASSERT_TRUE(record.is_damaged && !record.exceptions_count);
	}
	parse("[1]", 3);
	CU_ASSERT_TRUE(record.is_damaged);
	parse(odd, sizeof(odd));
	CU_ASSERT_FALSE(record.is_damaged || record.thread.is_there || record.message.bytes ||
			record.version.bytes || record.exceptions_count);
	ASSERT_UINT(record.reason, CRASH_REASON_UNKNOWN);
	parse("{\"thread\":\"0x11112222333344445\",\"reason\":\"1x\"}", 46);
	CU_ASSERT_FALSE(record.thread.is_there);
	ASSERT_UINT(record.reason, CRASH_REASON_UNKNOWN);
}

TEST(too_many_exceptions_are_told)
{
	struct text text = { 0 };
	text_puts(&text, "{\"exception\":{\"inner\":[");
	for (unsigned int i = 0; i < 80; i++)
		text_puts(&text, i ? ",{}" : "{}");
	text_puts(&text, "]}}");
	parse(text.bytes, text.size);
	ASSERT_UINT(record.exceptions_count, 64);
	CU_ASSERT_TRUE(record.is_cut);
	text_deinit(&text);
}

#define BASE UINT64_C(0x560000000000)
#define DATA (BASE + 0x4000)

TEST(the_record_is_where_the_header_says_or_in_the_data_of_a_core)
{
	static const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
						      ELFDATA2LSB },
					 .e_type = ET_DYN,
					 .e_machine = EM_X86_64,
					 .e_phoff = sizeof(head),
					 .e_phentsize = sizeof(Elf64_Phdr),
					 .e_phnum = 1 };
	static const Elf64_Phdr row = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x4000, .p_memsz = 0x30000
	};
	struct fake_memory memory;
	struct target_module module = { .base = BASE };
	struct target target = { .kind = TARGET_CORE };
	struct nativeaot aot = { .module = &module };
	fake_memory_init(&memory);
	fake_map(&memory, BASE, 0x1000);
	fake_map(&memory, DATA, 0x30000);
	fake_poke(&memory, BASE, &head, sizeof(head));
	fake_poke(&memory, BASE + sizeof(head), &row, sizeof(row));
	aot.base.memory = target.memory = &memory.memory;
	aot.base.target = &target;
	ASSERT_UINT(aot_crash_record(&aot.base), 0);
	fake_poke(&memory, DATA + 0x21110, whole, sizeof(whole));
	ASSERT_UINT(aot_crash_record(&aot.base), DATA + 0x21110);
	target.kind = TARGET_PROCESS;
	ASSERT_UINT(aot_crash_record(&aot.base), 0);
	aot.globals.crash = DATA + 0x21110;
	ASSERT_UINT(aot_crash_record(&aot.base), DATA + 0x21110);
	aot.globals.crash = DATA;
	ASSERT_UINT(aot_crash_record(&aot.base), 0);
	fake_memory_deinit(&memory);
}

SUITE(.name = "crash_record", .tear_down = tear_down)
