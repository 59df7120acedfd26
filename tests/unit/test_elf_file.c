/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/elf_file_maker.h"
#include "support/elf_maker.h"
#include "support/suite.h"
#include "targets/elf_file.h"

#define ID "an id of twenty byte"

static char path[] = "/dev/shm/heapdump-elf-file-XXXXXX";

static int make_path(void)
{
	int fd = mkstemp(path);
	return fd >= 0 ? close(fd) : -1;
}

static int remove_path(void)
{
	return unlink(path);
}

/* The build-id of the file; "": it has none; NULL: it is not an ELF file. */
static const char *id_of_file(void)
{
	static char id[BUILD_ID_MAX + 1];
	struct elf_file file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	if (!elf_file_open(fd, &file)) {
		(void)close(fd);
		return NULL;
	}
	size_t size = elf_file_build_id(&file, (uint8_t *)id);
	CU_ASSERT_FATAL(size <= BUILD_ID_MAX);
	id[size] = '\0';
	elf_file_close(&file);
	(void)close(fd);
	return id;
}

static struct text bytes_of_file(void)
{
	struct text text = { 0 };
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0 && fstat(fd, &info) == 0);
	char *bytes = text_extend(&text, (size_t)info.st_size);
	CU_ASSERT_FATAL(bytes && read(fd, bytes, (size_t)info.st_size) == info.st_size);
	(void)close(fd);
	return text;
}

TEST(build_ids_are_read_in_each_class_and_byte_order)
{
	for (int kind = 0; kind < 8; kind++) {
		const struct file_spec spec = { .build_id = ID,
						.is_32 = kind & 1,
						.is_big = kind & 2,
						.has_segment = kind & 4 };
		elf_file_make(path, &spec);
		ASSERT_TEXT(id_of_file(), ID);
	}
	elf_file_make(path, &(struct file_spec){ 0 });
	ASSERT_TEXT(id_of_file(), "");
}

TEST(what_is_not_elf_is_refused)
{
	CU_ASSERT(write_file(path, "", 0));
	CU_ASSERT_PTR_NULL(id_of_file());
	CU_ASSERT(write_file(
		path, "MZ and more, so that there are 64 bytes: a program of DOS days..", 64));
	CU_ASSERT_PTR_NULL(id_of_file());
	CU_ASSERT(write_file(path, "!<arch>\n", 8));
	CU_ASSERT_PTR_NULL(id_of_file());
}

TEST(headers_are_read_in_each_class_and_byte_order)
{
	for (int kind = 0; kind < 4; kind++) {
		const struct file_spec spec = { .is_32 = kind & 1, .is_big = kind & 2 };
		GElf_Ehdr header = { .e_type = ET_NONE };
		elf_file_make(path, &spec);
		struct text file = bytes_of_file();
		const uint8_t *bytes = (const uint8_t *)file.bytes;
		size_t size = spec.is_32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
		CU_ASSERT(elf_header_read(bytes, size, &header));
		ASSERT_UINT(header.e_type, ET_DYN);
		ASSERT_UINT(header.e_machine, spec.is_32 ? EM_PPC : EM_X86_64);
		ASSERT_UINT(header.e_shnum, 2);
		for (size_t cut = 0; cut < size; cut++)
			CU_ASSERT(!elf_header_read(bytes, cut, &header));
		text_deinit(&file);
	}
}

/* A cut file has its id or none, never another one. */
TEST(a_cut_file_has_the_right_id_or_none)
{
	for (int kind = 0; kind < 2; kind++) {
		const struct file_spec spec = { .build_id = ID, .has_segment = kind };
		elf_file_make(path, &spec);
		struct text file = bytes_of_file();
		for (size_t size = 0; size < file.size; size++) {
			CU_ASSERT_FATAL(write_file(path, file.bytes, size));
			const char *id = id_of_file();
			CU_ASSERT(!id || !*id || strcmp(id, ID) == 0);
		}
		text_deinit(&file);
	}
}

TEST(fields_that_lie_do_no_harm)
{
	const struct file_spec spec = { .build_id = ID, .has_segment = true };
	static const uint8_t lies[] = { 0, 1, 0x7f, 0x80, 0xff };
	elf_file_make(path, &spec);
	struct text file = bytes_of_file();
	for (size_t i = 0; i < file.size; i++) {
		char old = file.bytes[i];
		for (size_t k = 0; k < sizeof(lies); k++) {
			file.bytes[i] = (char)lies[k];
			CU_ASSERT_FATAL(write_file(path, file.bytes, file.size));
			(void)id_of_file();
		}
		file.bytes[i] = old;
	}
	text_deinit(&file);
}

/* libelf makes room for each section that section 0 promises, if the file is large enough for it. */
TEST(a_number_of_sections_in_section_0_is_refused)
{
	elf_file_make(path, &(struct file_spec){ .build_id = ID });
	struct text file = bytes_of_file();
	Elf64_Ehdr header;
	memcpy(&header, file.bytes, sizeof(header));
	Elf64_Shdr zero = { .sh_size = UINT64_C(1) << 30 };
	memcpy(file.bytes + header.e_shoff, &zero, sizeof(zero));
	header.e_shnum = 0;
	memcpy(file.bytes, &header, sizeof(header));
	CU_ASSERT_FATAL(write_file(path, file.bytes, file.size) &&
			truncate(path, (off_t)1 << 37) == 0);
	CU_ASSERT_PTR_NULL(id_of_file());
	text_deinit(&file);
}

SUITE(.name = "elf_file", .init = make_path, .cleanup = remove_path)
