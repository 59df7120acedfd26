/* SPDX-License-Identifier: MIT */
#include "support/elf_file_maker.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

/* A file while it is made. */
struct making {
	const struct file_spec *spec;
	Elf *elf;
	struct text names;                  /* of sections */
	struct text note, strings, symbols; /* contents, until the file is written */
	struct text link;
	size_t strings_index, note_index;
};

/* Add a section; @return its index. */
static size_t add_section(struct making *making, const char *name, GElf_Word type,
			  Elf_Type data_type, const struct text *content)
{
	Elf_Scn *section = elf_newscn(making->elf);
	CU_ASSERT_PTR_NOT_NULL_FATAL(section);
	GElf_Shdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getshdr(section, &header));
	header.sh_name = (GElf_Word)making->names.size;
	header.sh_type = type;
	text_append(&making->names, name, strlen(name) + 1);
	Elf_Data *data = elf_newdata(section);
	CU_ASSERT_PTR_NOT_NULL_FATAL(data);
	data->d_buf = content->bytes;
	data->d_size = content->size;
	data->d_type = data_type;
	data->d_align = 4;
	data->d_version = EV_CURRENT;
	CU_ASSERT_FATAL(gelf_update_shdr(section, &header) != 0);
	return elf_ndxscn(section);
}

/* A note is in the memory's byte order: libelf translates its header. */
static void add_build_id(struct making *making)
{
	const char *id = making->spec->build_id;
	const GElf_Nhdr header = { .n_namesz = 4,
				   .n_descsz = (GElf_Word)strlen(id),
				   .n_type = NT_GNU_BUILD_ID };
	text_append(&making->note, (const char *)&header, sizeof(header));
	text_append(&making->note, "GNU", 4);
	text_append(&making->note, id, strlen(id));
	making->note_index =
		add_section(making, ".note.gnu.build-id", SHT_NOTE, ELF_T_NHDR, &making->note);
}

static void add_symbol(struct making *making, Elf_Data *data, int index)
{
	const struct file_symbol *symbol = &making->spec->symbols[index];
	GElf_Sym row = { .st_name = (GElf_Word)making->strings.size,
			 .st_value = symbol->value,
			 .st_size = symbol->size,
			 .st_info =
				 GELF_ST_INFO(STB_LOCAL, symbol->is_object ? STT_OBJECT : STT_FUNC),
			 .st_shndx = 1 };
	text_append(&making->strings, symbol->name, strlen(symbol->name) + 1);
	CU_ASSERT_FATAL(gelf_update_sym(data, index + 1, &row) != 0);
}

static void add_symbols(struct making *making)
{
	const struct file_spec *spec = making->spec;
	size_t size = gelf_fsize(making->elf, ELF_T_SYM, spec->symbol_count + 1, EV_CURRENT);
	for (size_t i = 0; i < size; i++)
		text_append(&making->symbols, "", 1);
	text_append(&making->strings, "", 1);
	size_t index = add_section(making, spec->are_dynamic ? ".dynsym" : ".symtab",
				   spec->are_dynamic ? SHT_DYNSYM : SHT_SYMTAB, ELF_T_SYM,
				   &making->symbols);
	Elf_Scn *section = elf_getscn(making->elf, index);
	Elf_Data *data = elf_getdata(section, NULL);
	for (size_t i = 0; i < spec->symbol_count; i++)
		add_symbol(making, data, (int)i);
	making->strings_index =
		add_section(making, ".strtab", SHT_STRTAB, ELF_T_BYTE, &making->strings);
	GElf_Shdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getshdr(section, &header));
	header.sh_link = (GElf_Word)making->strings_index;
	header.sh_entsize = gelf_fsize(making->elf, ELF_T_SYM, 1, EV_CURRENT);
	CU_ASSERT_FATAL(gelf_update_shdr(section, &header) != 0);
}

/* The name, zeros up to a multiple of 4 bytes, the CRC. */
static void add_link(struct making *making)
{
	const struct file_spec *spec = making->spec;
	text_append(&making->link, spec->debuglink, strlen(spec->debuglink) + 1);
	while (making->link.size % 4)
		text_append(&making->link, "", 1);
	uint32_t crc = spec->is_big ? __builtin_bswap32(spec->crc) : spec->crc;
	text_append(&making->link, (const char *)&crc, sizeof(crc));
	(void)add_section(making, ".gnu_debuglink", SHT_PROGBITS, ELF_T_BYTE, &making->link);
}

static void fill_header(struct making *making, size_t names_index)
{
	GElf_Ehdr header;
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getehdr(making->elf, &header));
	header.e_ident[EI_DATA] = making->spec->is_big ? ELFDATA2MSB : ELFDATA2LSB;
	header.e_type = ET_DYN;
	header.e_machine = making->spec->is_32 ? EM_PPC : EM_X86_64;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = (GElf_Half)names_index;
	CU_ASSERT_FATAL(gelf_update_ehdr(making->elf, &header) != 0);
}

/* Where the note is in the file is known after libelf has placed all sections. */
static void fill_segment(struct making *making)
{
	GElf_Shdr section;
	GElf_Phdr segment;
	CU_ASSERT_FATAL(elf_update(making->elf, ELF_C_NULL) > 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(
		gelf_getshdr(elf_getscn(making->elf, making->note_index), &section));
	CU_ASSERT_PTR_NOT_NULL_FATAL(gelf_getphdr(making->elf, 0, &segment));
	segment.p_type = PT_NOTE;
	segment.p_offset = segment.p_vaddr = section.sh_offset;
	segment.p_filesz = segment.p_memsz = section.sh_size;
	segment.p_align = 4;
	CU_ASSERT_FATAL(gelf_update_phdr(making->elf, 0, &segment) != 0);
}

void elf_file_make(const char *path, const struct file_spec *spec)
{
	struct making making = { .spec = spec };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CU_ASSERT_FATAL(fd >= 0 && elf_version(EV_CURRENT) != EV_NONE);
	making.elf = elf_begin(fd, ELF_C_WRITE, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(making.elf);
	CU_ASSERT_FATAL(gelf_newehdr(making.elf, spec->is_32 ? ELFCLASS32 : ELFCLASS64) != NULL);
	fill_header(&making, 0);
	if (spec->has_segment)
		CU_ASSERT_FATAL(gelf_newphdr(making.elf, 1) != NULL);
	text_append(&making.names, "", 1);
	if (spec->build_id)
		add_build_id(&making);
	if (spec->symbol_count)
		add_symbols(&making);
	if (spec->debuglink)
		add_link(&making);
	if (spec->has_debug)
		(void)add_section(&making, ".debug_info", SHT_PROGBITS, ELF_T_BYTE, &making.names);
	/* Its own name is in it, for which the text may have moved. */
	size_t names_index =
		add_section(&making, ".shstrtab", SHT_STRTAB, ELF_T_BYTE, &making.names);
	Elf_Data *data = elf_getdata(elf_getscn(making.elf, names_index), NULL);
	data->d_buf = making.names.bytes;
	data->d_size = making.names.size;
	fill_header(&making, names_index);
	if (spec->has_segment)
		fill_segment(&making);
	CU_ASSERT_FATAL(elf_update(making.elf, ELF_C_WRITE) > 0);
	(void)elf_end(making.elf);
	(void)close(fd);
	text_deinit(&making.names);
	text_deinit(&making.note);
	text_deinit(&making.strings);
	text_deinit(&making.symbols);
	text_deinit(&making.link);
}
