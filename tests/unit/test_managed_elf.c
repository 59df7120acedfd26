/* SPDX-License-Identifier: MIT */
/* The managed code of a fake runtime as an ELF file, which libelf reads. */
#include <gelf.h>
#include <inttypes.h>

#include "managed_elf/managed_elf.h"
#include "runtime/coreclr/code/function_list.h"
#include "runtime/coreclr/internal.h"
#include "support/assert_more.h"
#include "support/fake_stack.h"
#include "support/suite.h"
#include "targets/elf_file.h"
#include "util/text.h"

/* In the CodeHeapListNode: the end of what is used (doc/coreclr.md 12.12). */
#define NODE_END 24u

/* Any address, which nobody asks for a name. */
#define METHOD_DESC UINT64_C(0x1000)

static struct fake_clr *fake;
static struct fake_stack *stack;
static struct text file;

static void set_up(void)
{
	fake = fake_clr_create(NULL);
	stack = fake_stack_create(fake);
	file = (struct text){ 0 };
	fake_poke_u64(stack->memory, stack->node + NODE_END, FAKE_CODE + FAKE_CODE_SIZE);
}

static void tear_down(void)
{
	text_deinit(&file);
	fake_stack_destroy(stack);
	fake_clr_destroy(fake);
}

static uint64_t make_method(bool has_funclet, bool filter)
{
	uint64_t code = fake_method(
		stack,
		&(struct fake_method){ .slots = 0, .has_funclet = has_funclet, .filter = filter });
	fake_poke_u64(stack->memory,
		      fake_at(fake, fake_peek_u64(stack->memory, code - 8), L_CODE_HEADER_METHOD),
		      METHOD_DESC);
	return code;
}

static struct code_functions read_functions(void)
{
	struct code_functions functions;
	ASSERT_UINT_FATAL(code_functions_read(stack->runtime, NULL, &functions, NULL), HD_OK);
	return functions;
}

static bool write_file(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return true;
}

static struct managed_elf_counts make_file(void)
{
	struct managed_elf_counts counts = { 0 };
	ASSERT_UINT_FATAL(managed_elf_write(stack->runtime, NULL, write_file, &file, &counts, NULL),
			  HD_OK);
	return counts;
}

/* The section with that name; NULL: there is none. */
static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
	size_t names;
	CU_ASSERT_FATAL(elf_getshdrstrndx(elf, &names) == 0);
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getshdr(section, ret));
		const char *found = elf_strptr(elf, names, ret->sh_name);
		CU_ASSERT_PTR_NOT_NULL_FATAL(found);
		if (strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

TEST(functions_and_funclets_are_listed_by_address)
{
	uint64_t first = make_method(true, false), second = make_method(false, false);
	uint64_t third = make_method(true, true);
	struct code_functions functions = read_functions();
	const struct {
		uint64_t begin;
		enum code_part part;
	} expected[] = {
		{ first, CODE_METHOD },
		{ first + FAKE_FUNCLET, CODE_HANDLER },
		{ second, CODE_METHOD },
		{ third, CODE_METHOD },
		{ third + FAKE_FUNCLET, CODE_FILTER },
	};
	ASSERT_UINT_FATAL(functions.rows_count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < functions.rows_count; i++) {
		ASSERT_UINT(functions.rows[i].begin, expected[i].begin);
		ASSERT_UINT(functions.rows[i].part, expected[i].part);
		ASSERT_UINT(functions.rows[i].method_desc, METHOD_DESC);
	}
	code_functions_deinit(&functions);
}

TEST(a_function_that_overlaps_another_is_left_out)
{
	uint64_t first = make_method(false, false), second = make_method(false, false);
	uint64_t header = fake_peek_u64(stack->memory, first - 8);
	/* Its end is in the second one. */
	fake_poke_u32(stack->memory, fake_at(fake, header, L_CODE_HEADER_UNWIND) + 4,
		      (uint32_t)(second + 16 - FAKE_CODE));
	struct code_functions functions = read_functions();
	ASSERT_UINT(functions.rows_count, 1);
	ASSERT_UINT(functions.left_out, 1);
	code_functions_deinit(&functions);
	/* Its end is before its begin. */
	fake_poke_u32(stack->memory, fake_at(fake, header, L_CODE_HEADER_UNWIND) + 4, 0);
	functions = read_functions();
	ASSERT_UINT_FATAL(functions.rows_count, 1);
	ASSERT_UINT(functions.rows[0].begin, second);
	ASSERT_UINT(functions.left_out, 1);
	code_functions_deinit(&functions);
}

TEST(impossible_numbers_of_functions_are_not_read)
{
	uint64_t code = make_method(false, false);
	uint64_t header = fake_peek_u64(stack->memory, code - 8);
	fake_poke_u32(stack->memory, fake_at(fake, header, L_CODE_HEADER_UNWIND_COUNT), UINT32_MAX);
	struct code_functions functions = read_functions();
	ASSERT_UINT(functions.rows_count, 0);
	CU_ASSERT_TRUE(functions.is_partial);
	code_functions_deinit(&functions);
}

TEST(the_file_has_code_names_and_frames)
{
	uint64_t code = make_method(true, true);
	struct managed_elf_counts counts = make_file();
	ASSERT_UINT(counts.methods, 1);
	ASSERT_UINT(counts.functions, 2);
	ASSERT_UINT(counts.frames, 2);
	ASSERT_UINT(counts.left_out, 0);
	Elf *elf = elf_of_bytes((uint8_t *)file.bytes, file.size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(elf);
	ASSERT_UINT(elf64_getehdr(elf)->e_type, ET_DYN);
	GElf_Shdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_section(elf, ".text", &header));
	ASSERT_UINT(header.sh_addr, code);
	ASSERT_UINT(header.sh_size, FAKE_METHOD_SIZE);
	ASSERT_UINT(header.sh_type, SHT_NOBITS);
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_section(elf, ".eh_frame", &header));
	Elf_Scn *section = find_section(elf, ".symtab", &header);
	CU_ASSERT_PTR_NOT_NULL_FATAL(section);
	ASSERT_UINT_FATAL(header.sh_size, 3 * sizeof(Elf64_Sym));
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getsym(data, 1, &symbol));
	ASSERT_UINT(symbol.st_value, code);
	ASSERT_UINT(symbol.st_size, FAKE_FUNCLET);
	ASSERT_TEXT(elf_strptr(elf, header.sh_link, symbol.st_name), "<unknown method 1000>");
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getsym(data, 2, &symbol));
	ASSERT_UINT(symbol.st_value, code + FAKE_FUNCLET);
	ASSERT_TEXT(elf_strptr(elf, header.sh_link, symbol.st_name),
		    "<unknown method 1000> [filter]");
	(void)elf_end(elf);
}

/* elfutils finds code by segments, and the unit by .debug_aranges. */
TEST(each_section_with_an_address_is_a_segment)
{
	uint64_t code = make_method(false, false);
	(void)make_file();
	Elf *elf = elf_of_bytes((uint8_t *)file.bytes, file.size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(elf);
	ASSERT_UINT_FATAL(elf64_getehdr(elf)->e_phnum, 2);
	GElf_Phdr frames, text;
	GElf_Shdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getphdr(elf, 0, &frames));
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getphdr(elf, 1, &text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_section(elf, ".eh_frame", &header));
	ASSERT_UINT(frames.p_vaddr, header.sh_addr);
	ASSERT_UINT(frames.p_offset, header.sh_offset);
	ASSERT_UINT(frames.p_filesz, header.sh_size);
	ASSERT_UINT(text.p_type, PT_LOAD);
	ASSERT_UINT(text.p_vaddr, code);
	ASSERT_UINT(text.p_memsz, FAKE_METHOD_SIZE);
	ASSERT_UINT(text.p_filesz, 0);
	Elf_Scn *section = find_section(elf, ".debug_aranges", &header);
	CU_ASSERT_PTR_NOT_NULL_FATAL(section);
	Elf_Data *data = elf_getdata(section, NULL);
	ASSERT_UINT_FATAL(data->d_size, 16 + 32);
	const uint8_t *bytes = data->d_buf;
	ASSERT_UINT(load_u32(bytes), data->d_size - 4);
	ASSERT_UINT(load_u64(bytes + 16), code);
	ASSERT_UINT(load_u64(bytes + 24), FAKE_METHOD_SIZE);
	ASSERT_UINT(load_u64(bytes + 32), 0);
	ASSERT_UINT(load_u64(bytes + 40), 0);
	(void)elf_end(elf);
}

TEST(files_that_debuggers_load_have_no_segments)
{
	const struct managed_elf_output output = { write_file, &file, false };
	struct managed_elf_counts counts = { 0 };
	(void)make_method(false, false);
	struct code_functions functions = read_functions();
	ASSERT_UINT(managed_elf_write_functions(stack->runtime, NULL, &functions, &output, &counts,
						NULL),
		    HD_OK);
	Elf *elf = elf_of_bytes((uint8_t *)file.bytes, file.size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(elf);
	GElf_Shdr header;
	ASSERT_UINT(elf64_getehdr(elf)->e_phnum, 0);
	CU_ASSERT_PTR_NULL(find_section(elf, ".debug_aranges", &header));
	(void)elf_end(elf);
	code_functions_deinit(&functions);
}

/* All records of .eh_frame follow each other, and the last is the end. */
TEST(records_of_frames_end_where_the_next_begins)
{
	(void)make_method(false, false);
	(void)make_method(true, false);
	(void)make_file();
	Elf *elf = elf_of_bytes((uint8_t *)file.bytes, file.size);
	GElf_Shdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_section(elf, ".eh_frame", &header));
	const uint8_t *at = (const uint8_t *)file.bytes + header.sh_offset,
		      *end = at + header.sh_size;
	size_t count = 0;
	uint32_t size;
	for (; at < end; at += 4 + size, count++) {
		memcpy(&size, at, sizeof(size));
		if (!size)
			break;
		CU_ASSERT_TRUE_FATAL(size <= (size_t)(end - at) - 4);
	}
	ASSERT_UINT((size_t)(at - (const uint8_t *)file.bytes),
		    header.sh_offset + header.sh_size - 4);
	ASSERT_UINT(count, 4);
	(void)elf_end(elf);
}

TEST(without_code_it_is_a_file_without_names)
{
	struct managed_elf_counts counts = make_file();
	ASSERT_UINT(counts.functions, 0);
	Elf *elf = elf_of_bytes((uint8_t *)file.bytes, file.size);
	GElf_Shdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_section(elf, ".symtab", &header));
	ASSERT_UINT(header.sh_size, sizeof(Elf64_Sym));
	CU_ASSERT_PTR_NULL(find_section(elf, ".text", &header));
	(void)elf_end(elf);
}

TEST(stubs_are_a_section_that_debuggers_step_through)
{
	GElf_Shdr header;
	/* The section of code has no heap: its range is one of stubs. */
	fake_poke_u64(stack->memory, stack->section + 40, 0);
	struct managed_elf_counts counts = make_file();
	ASSERT_UINT(counts.functions, 0);
	ASSERT_UINT(counts.frames, 0);
	ASSERT_UINT(counts.left_out, 0);
	(void)elf_version(EV_CURRENT);
	Elf *elf = elf_memory(file.bytes, file.size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(elf);
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_section(elf, ".plt", &header));
	ASSERT_UINT(header.sh_addr, FAKE_CODE);
	ASSERT_UINT(header.sh_type, SHT_NOBITS);
	(void)elf_end(elf);
}

static bool refuse(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	(void)bytes;
	(void)size;
	return false;
}

TEST(who_takes_no_bytes_ends_the_writing)
{
	struct managed_elf_counts counts;
	(void)make_method(false, false);
	ASSERT_UINT(managed_elf_write(stack->runtime, NULL, refuse, NULL, &counts, NULL),
		    HD_ERR_CANCELLED);
}

TEST(a_file_that_needs_more_memory_than_is_allowed_is_refused)
{
	struct managed_elf_counts counts;
	struct job job = { .workers = 1, .max_mem = 64 };
	struct hd_error err;
	(void)make_method(false, false);
	ASSERT_UINT(managed_elf_write(stack->runtime, &job, write_file, &file, &counts, &err),
		    HD_ERR_NOMEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "max-mem allows 64"));
	ASSERT_UINT(file.size, 0);
	job.max_mem = (uint64_t)1 << 20;
	ASSERT_UINT(managed_elf_write(stack->runtime, &job, write_file, &file, &counts, &err),
		    HD_OK);
}

/* Its lines are what the symbols of the file are. */
TEST(the_map_of_perf_has_the_functions_of_the_file)
{
	struct managed_elf_counts counts;
	HD_CLEANUP(text) struct text expected = { 0 };
	(void)make_method(false, false);
	(void)make_method(true, true);
	(void)make_file();
	Elf *elf = elf_of_bytes((uint8_t *)file.bytes, file.size);
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Scn *section = find_section(elf, ".symtab", &header);
	CU_ASSERT_PTR_NOT_NULL_FATAL(section);
	Elf_Data *data = elf_getdata(section, NULL);
	for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
		text_printf(&expected, "%" PRIx64 " %" PRIx64 " %s\n", symbol.st_value,
			    symbol.st_size, elf_strptr(elf, header.sh_link, symbol.st_name));
	}
	(void)elf_end(elf);
	file.size = 0;
	ASSERT_UINT(perf_map_write(stack->runtime, NULL, write_file, &file, &counts, NULL), HD_OK);
	ASSERT_UINT(counts.methods, 2);
	ASSERT_UINT(counts.functions, 3);
	ASSERT_UINT(file.size, expected.size);
	CU_ASSERT(file.size == expected.size && memcmp(file.bytes, expected.bytes, file.size) == 0);
	ASSERT_UINT(perf_map_write(stack->runtime, NULL, refuse, NULL, &counts, NULL),
		    HD_ERR_CANCELLED);
}

SUITE(.name = "managed_elf", .set_up = set_up, .tear_down = tear_down)
