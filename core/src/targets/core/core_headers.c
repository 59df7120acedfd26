/* SPDX-License-Identifier: MIT */
#include "targets/core/core_headers.h"

#include <inttypes.h>

#include "targets/elf_file.h"
#include "util/alloc.h"

#define WRITE_AGAIN                                                                               \
	"write it again where it fits: the disk was full, or a limit (ulimit -c, a container's) " \
	"cut it"

static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_386:
		return "x86 (32 bits)";
	case EM_ARM:
		return "ARM (32 bits)";
	case EM_AARCH64:
		return "arm64";
	case EM_RISCV:
		return "RISC-V";
	case EM_S390:
		return "S/390";
	case EM_PPC64:
		return "POWER";
	case EM_LOONGARCH:
		return "LoongArch";
	default:
		return "another machine";
	}
}

/* Read the ELF header; what is not an ELF core of a known processor is refused by its name. */
static enum hd_status read_header(const struct mapped_file *file, const char *path, GElf_Ehdr *ret,
				  struct hd_error *err)
{
	if (!file->size)
		return fail(err, HD_ERR_FORMAT, 0, "%s: is empty: %s", path, WRITE_AGAIN);
	if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "%s: is not an ELF core file", path);
	if (!elf_header_read(file->bytes, file->size, ret)) {
		if (file->size >= sizeof(Elf64_Ehdr)) {
			return fail(err, HD_ERR_FORMAT, EI_CLASS,
				    "%s: is damaged: its ELF header names a class, a byte order or "
				    "a version that does not exist",
				    path);
		}
		return fail(err, HD_ERR_FORMAT, file->size,
			    "%s: ends within its ELF header (%" PRIu64 " bytes): %s", path,
			    file->size, WRITE_AGAIN);
	}
	if (ret->e_type == ET_EXEC || ret->e_type == ET_DYN) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "%s: is a program or library, not a core: give its process id or its "
			    "core file",
			    path);
	}
	if (ret->e_type != ET_CORE)
		return fail(err, HD_ERR_UNSUPPORTED, 0, "%s: is an ELF file, but not a core", path);
	bool is_big = ret->e_ident[EI_DATA] == ELFDATA2MSB;
	if (is_big || !arch_of_machine(ret->e_machine)) {
		char names[64];
		arch_names(names, sizeof(names));
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "%s: is a core of %s%s: only %s cores are read", path,
			    machine_name(ret->e_machine), is_big ? ", big-endian" : "", names);
	}
	if (ret->e_ident[EI_CLASS] != ELFCLASS64) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "%s: is a core of a 32-bit process: only 64-bit ones are read", path);
	}
	return HD_OK;
}

/*
 * Copy @p count structures of @p type out of the file, which may change while it is read; false: not
 * all of them are in it.
 */
static bool copy_rows(const struct mapped_file *file, uint64_t offset, Elf_Type type, size_t count,
		      void *ret)
{
	size_t size = count * elf64_fsize(type, 1, EV_CURRENT);
	if (offset > file->size || file->size - offset < size)
		return false;
	/* libelf only reads the bytes of a source, but has no const. */
	const union {
		const uint8_t *bytes;
		void *address;
	} source = { .bytes = file->bytes + offset };
	const Elf_Data from = { .d_buf = source.address, .d_type = type, .d_size = size };
	Elf_Data to = { .d_buf = ret, .d_size = size };
	return elf64_xlatetom(&to, &from, ELFDATA2LSB) != NULL;
}

/*
 * With PN_XNUM the number is in section header 0, which the kernel writes at the very end of the
 * file: it is lost when the file is cut.  The notes follow the program headers directly, so the
 * begin of the first segment also gives the number.
 */
static size_t count_to_first_segment(const struct mapped_file *file, const GElf_Ehdr *header)
{
	Elf64_Phdr first;
	if (!copy_rows(file, header->e_phoff, ELF_T_PHDR, 1, &first) ||
	    first.p_offset < header->e_phoff)
		return 0;
	return (size_t)((first.p_offset - header->e_phoff) / sizeof(first));
}

/* The number of program headers as section header 0 has it; 0: that header is missing. */
static size_t count_of_section(const struct mapped_file *file, const GElf_Ehdr *header)
{
	Elf64_Shdr zero;
	return header->e_shoff && header->e_shentsize == sizeof(zero) &&
			       copy_rows(file, header->e_shoff, ELF_T_SHDR, 1, &zero)
		       ? zero.sh_info
		       : 0;
}

/* How many program headers there are; all of them are in the file. */
static enum hd_status count_headers(const struct mapped_file *file, const char *path,
				    const GElf_Ehdr *header, size_t *ret, struct hd_error *err)
{
	size_t count = header->e_phnum;
	if (count && header->e_phentsize != sizeof(Elf64_Phdr)) {
		return fail(err, HD_ERR_FORMAT, 0,
			    "%s: program headers of %u bytes each instead of %zu", path,
			    (unsigned int)header->e_phentsize, sizeof(Elf64_Phdr));
	}
	if (count == PN_XNUM) {
		size_t counted = count_of_section(file, header);
		count = counted ? counted : count_to_first_segment(file, header);
	}
	uint64_t room = header->e_phoff <= file->size ? file->size - header->e_phoff : 0;
	if (count > room / sizeof(Elf64_Phdr)) {
		return fail(err, HD_ERR_FORMAT, file->size,
			    "%s: ends within its program headers (%" PRIu64 " bytes): none of the "
			    "process's memory is in it: %s",
			    path, file->size, WRITE_AGAIN);
	}
	if (!count) {
		return fail(err, HD_ERR_FORMAT, 0, "%s: is an empty core: it has no segments: %s",
			    path, WRITE_AGAIN);
	}
	*ret = count;
	return HD_OK;
}

/* How many bytes of [offset, offset + size) are in the file; the rest is counted as missing. */
static uint64_t clamp_segment(struct core_headers *headers, const struct mapped_file *file,
			      uint64_t offset, uint64_t size)
{
	uint64_t room = offset < file->size ? file->size - offset : 0;
	uint64_t there = size < room ? size : room;
	if (__builtin_add_overflow(headers->segment_bytes, size, &headers->segment_bytes))
		headers->segment_bytes = UINT64_MAX;
	if (__builtin_add_overflow(headers->missing_bytes, size - there, &headers->missing_bytes))
		headers->missing_bytes = UINT64_MAX;
	return there;
}

/*
 * The bytes of a load that are taken from the file: none if the loads before it have already taken
 * more than the limit, because then they share bytes.
 */
static uint64_t give_bytes(struct core_headers *headers, const struct mapped_file *file,
			   const Elf64_Phdr *header, uint64_t captured)
{
	if (captured > GIVEN_MAX * file->size - headers->given_bytes) {
		if (!headers->shared_count++)
			headers->first_shared = header->p_vaddr;
		return 0;
	}
	headers->given_bytes += captured;
	return captured;
}

static void add_load(struct target *target, struct core_headers *headers,
		     const struct mapped_file *file, const Elf64_Phdr *header)
{
	struct findings *findings = &target->findings;
	uint64_t size = header->p_memsz;
	if (size < header->p_filesz) {
		findings_add(findings, FINDING_ODD_SEGMENT, NULL,
			     "the segment at 0x%" PRIx64 " says that %" PRIu64
			     " bytes of the file are %" PRIu64 " of memory",
			     header->p_vaddr, header->p_filesz, header->p_memsz);
		size = header->p_filesz;
	}
	if (size > UINT64_MAX - header->p_vaddr) {
		findings_add(findings, FINDING_ODD_SEGMENT, NULL,
			     "the segment at 0x%" PRIx64 " says that it is %" PRIu64
			     " bytes: more than there are addresses",
			     header->p_vaddr, size);
		size = UINT64_MAX - header->p_vaddr;
	}
	if (!size)
		return;
	uint64_t captured = header->p_filesz < size ? header->p_filesz : size;
	uint64_t promised = captured;
	captured = clamp_segment(headers, file, header->p_offset, captured);
	if (captured && !give_bytes(headers, file, header, captured))
		captured = promised = 0;
	headers->loads[headers->load_count++] = (struct core_load){
		.start = header->p_vaddr,
		.end = header->p_vaddr + size,
		.captured = captured,
		.promised = promised,
		.offset = header->p_offset,
		.flags = header->p_flags,
	};
	headers->is_unaligned |= captured && header->p_offset % target->arch->space.page_min;
}

static void add_note(struct core_headers *headers, const struct mapped_file *file,
		     const Elf64_Phdr *header)
{
	uint64_t missing = headers->missing_bytes;
	uint64_t there = clamp_segment(headers, file, header->p_offset, header->p_filesz);
	bool is_cut = headers->missing_bytes != missing;
	headers->notes_cut |= is_cut;
	headers->notes[headers->note_count++] = (struct core_note_segment){
		.offset = header->p_offset,
		.size = there,
		.is_cut = is_cut,
	};
}

/* Memory for the lists of what @p table has. */
static enum hd_status make_lists(struct target *target, struct core_headers *headers,
				 const Elf64_Phdr *table, size_t count, struct hd_error *err)
{
	size_t loads = 0, notes = 0;
	for (size_t i = 0; i < count; i++) {
		loads += table[i].p_type == PT_LOAD;
		notes += table[i].p_type == PT_NOTE;
	}
	TRY(target_reserve(target, loads, sizeof(*headers->loads), err));
	TRY(target_reserve(target, notes, sizeof(*headers->notes), err));
	headers->loads = mem_alloc(loads, sizeof(*headers->loads));
	headers->notes = mem_alloc(notes, sizeof(*headers->notes));
	return headers->loads && headers->notes ? HD_OK : fail_nomem(err);
}

static void report_shared(struct findings *findings, const struct core_headers *headers)
{
	if (!headers->shared_count)
		return;
	findings_add(findings, FINDING_ODD_SEGMENT, NULL,
		     "%" PRIu64 " segments, the first at 0x%" PRIx64
		     ", say that they have bytes of the file that others have already: they are "
		     "taken as not captured",
		     headers->shared_count, headers->first_shared);
}

/* Fill the lists from the program headers. */
static enum hd_status read_table(struct target *target, const struct mapped_file *file,
				 const Elf64_Phdr *table, size_t count,
				 struct core_headers *headers, struct hd_error *err)
{
	TRY(make_lists(target, headers, table, count, err));
	for (size_t i = 0; i < count; i++) {
		if (table[i].p_type == PT_LOAD) {
			add_load(target, headers, file, &table[i]);
		} else if (table[i].p_type == PT_NOTE) {
			add_note(headers, file, &table[i]);
		}
	}
	report_shared(&target->findings, headers);
	return HD_OK;
}

enum hd_status core_headers_read(struct target *target, const struct mapped_file *file,
				 const char *path, struct core_headers *ret, struct hd_error *err)
{
	GElf_Ehdr header = { 0 };
	size_t count = 0;
	*ret = (struct core_headers){ 0 };
	TRY(read_header(file, path, &header, err));
	target->arch = arch_of_machine(header.e_machine);
	TRY(count_headers(file, path, &header, &count, err));
	TRY(target_reserve(target, count, sizeof(Elf64_Phdr), err));
	Elf64_Phdr *table = pages_alloc(count, sizeof(*table));
	if (!table || !copy_rows(file, header.e_phoff, ELF_T_PHDR, count, table)) {
		pages_free(table, count, sizeof(*table));
		return fail_nomem(err);
	}
	enum hd_status status = read_table(target, file, table, count, ret, err);
	pages_free(table, count, sizeof(*table));
	TRY(status);
	if (!ret->load_count) {
		return fail(err, HD_ERR_FORMAT, 0,
			    "%s: is an empty core: it has no memory segments: %s", path,
			    WRITE_AGAIN);
	}
	return HD_OK;
}

void core_headers_deinit(struct core_headers *headers)
{
	mem_free(headers->loads);
	mem_free(headers->notes);
	*headers = (struct core_headers){ 0 };
}
