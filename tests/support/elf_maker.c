/* SPDX-License-Identifier: MIT */
#include "support/elf_maker.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/x86_64/register_table.h"
#include "support/assert_more.h"
#include "util/alloc.h"

#define PAGE 4096u

void elf_maker_init(struct elf_maker *maker)
{
	*maker = (struct elf_maker){ .type = ET_CORE,
				     .arch = &arch_x86_64,
				     .class = ELFCLASS64,
				     .data = ELFDATA2LSB,
				     .align = PAGE,
				     .file_unit = 1 };
}

void elf_maker_deinit(struct elf_maker *maker)
{
	for (size_t i = 0; i < maker->load_count; i++)
		mem_free(maker->loads[i].bytes);
	for (size_t i = 0; i < maker->file_count; i++)
		mem_free(maker->files[i].path);
	mem_free(maker->loads);
	mem_free(maker->files);
	text_deinit(&maker->notes);
	*maker = (struct elf_maker){ 0 };
}

/* Room for one row more than @p count: twice as many at each power of two. */
static void *grown(void *rows, size_t count, size_t size)
{
	if (count & (count - 1))
		return rows;
	void *more = mem_realloc(rows, count ? count * 2 : 1, size);
	REQUIRE(more);
	return more;
}

void elf_maker_load(struct elf_maker *maker, uint64_t vaddr, const void *bytes, uint64_t filesz,
		    uint64_t memsz, uint32_t flags)
{
	maker->loads = grown(maker->loads, maker->load_count, sizeof(*maker->loads));
	struct maker_load load = {
		.vaddr = vaddr, .filesz = filesz, .memsz = memsz, .flags = flags
	};
	if (bytes) {
		load.bytes = mem_alloc(filesz, 1);
		REQUIRE(load.bytes);
		memcpy(load.bytes, bytes, filesz);
	}
	maker->loads[maker->load_count++] = load;
}

static void append_zeros(struct text *text, uint64_t count)
{
	static const char zeros[256];
	for (; count > sizeof(zeros); count -= sizeof(zeros))
		text_append(text, zeros, sizeof(zeros));
	text_append(text, zeros, count);
}

static void append_note(struct text *text, const char *name, uint32_t type, const void *desc,
			size_t size)
{
	Elf64_Nhdr header = { .n_namesz = (Elf64_Word)strlen(name) + 1,
			      .n_descsz = (Elf64_Word)size,
			      .n_type = type };
	text_append(text, (const char *)&header, sizeof(header));
	text_append(text, name, header.n_namesz);
	append_zeros(text, (4 - header.n_namesz % 4) % 4);
	text_append(text, desc, size);
	append_zeros(text, (4 - size % 4) % 4);
}

void elf_maker_note(struct elf_maker *maker, const char *name, uint32_t type, const void *desc,
		    size_t size)
{
	append_note(&maker->notes, name, type, desc, size);
}

#define PRSTATUS_MAX 512u

void elf_maker_thread(struct elf_maker *maker, int32_t tid, const uint64_t *registers, int signal)
{
	const struct prstatus_layout *layout = &maker->arch->prstatus;
	uint8_t status[PRSTATUS_MAX] = { 0 };
	uint16_t number = (uint16_t)signal;
	memcpy(status + layout->signal, &number, sizeof(number));
	memcpy(status + layout->pid, &tid, sizeof(tid));
	if (registers)
		memcpy(status + layout->registers, registers, layout->count * sizeof(*registers));
	elf_maker_note(maker, "CORE", NT_PRSTATUS, status, layout->size);
}

void elf_maker_process(struct elf_maker *maker, int32_t pid, const char *name,
		       const char *arguments)
{
	char info[136] = { 0 };
	memcpy(info + 24, &pid, sizeof(pid));
	(void)snprintf(info + 40, 16, "%s", name);
	(void)snprintf(info + 56, 80, "%s", arguments);
	elf_maker_note(maker, "CORE", NT_PRPSINFO, info, sizeof(info));
}

void elf_maker_auxv(struct elf_maker *maker, const uint64_t (*pairs)[2], size_t count)
{
	elf_maker_note(maker, "CORE", NT_AUXV, pairs, count * sizeof(*pairs));
}

void elf_maker_file(struct elf_maker *maker, uint64_t start, uint64_t end, uint64_t offset,
		    const char *path)
{
	maker->files = grown(maker->files, maker->file_count, sizeof(*maker->files));
	maker->files[maker->file_count++] =
		(struct maker_file){ .start = start,
				     .end = end,
				     .offset = offset,
				     .path = mem_strndup(path, strlen(path)) };
}

static struct text all_notes(const struct elf_maker *maker)
{
	struct text notes = { 0 }, files = { 0 };
	text_append(&notes, maker->notes.bytes ? maker->notes.bytes : "", maker->notes.size);
	if (!maker->file_count)
		return notes;
	uint64_t head[2] = { maker->file_count, maker->file_unit };
	text_append(&files, (const char *)head, sizeof(head));
	for (size_t i = 0; i < maker->file_count; i++)
		text_append(&files, (const char *)&maker->files[i], 24);
	for (size_t i = 0; i < maker->file_count; i++)
		text_append(&files, maker->files[i].path, strlen(maker->files[i].path) + 1);
	append_note(&notes, "CORE", NT_FILE, files.bytes, files.size);
	text_deinit(&files);
	return notes;
}

static void pad_to(struct text *text, uint64_t offset)
{
	if (text->size < offset)
		append_zeros(text, offset - text->size);
}

static void append_notes(struct elf_maker *maker, struct text *core, const struct text *notes)
{
	maker->notes_offset = core->size;
	maker->notes_size = notes->size;
	text_append(core, notes->bytes ? notes->bytes : "", notes->size);
}

struct text elf_maker_build(struct elf_maker *maker)
{
	struct text core = { 0 }, notes = all_notes(maker);
	size_t first = notes.size > 0, count = first + maker->load_count;
	pad_to(&core, MAKER_PHDR(count));
	if (!maker->notes_last)
		append_notes(maker, &core, &notes);
	for (size_t i = 0; i < maker->load_count; i++) {
		struct maker_load *load = &maker->loads[i];
		if (load->bytes) {
			pad_to(&core, (core.size + maker->align - 1) / maker->align * maker->align);
			if (core.size % maker->align == 0)
				append_zeros(&core, maker->skew);
		}
		load->offset = core.size;
		if (load->bytes)
			text_append(&core, (const char *)load->bytes, load->filesz);
	}
	if (maker->notes_last)
		append_notes(maker, &core, &notes);
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', maker->class, maker->data, 1 },
			      .e_type = maker->type,
			      .e_machine = maker->machine ? maker->machine : maker->arch->machine,
			      .e_version = 1,
			      .e_phoff = MAKER_EHDR,
			      .e_ehsize = MAKER_EHDR,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = (Elf64_Half)count };
	if (maker->with_xnum) {
		Elf64_Shdr section = { .sh_size = 1, .sh_info = (Elf64_Word)count };
		pad_to(&core, (core.size + 7) & ~(size_t)7);
		header.e_phnum = PN_XNUM;
		header.e_shoff = core.size;
		header.e_shnum = 1;
		header.e_shentsize = sizeof(section);
		text_append(&core, (const char *)&section, sizeof(section));
	}
	REQUIRE(core.bytes);
	memcpy(core.bytes, &header, sizeof(header));
	if (first) {
		Elf64_Phdr segment = { .p_type = PT_NOTE,
				       .p_offset = maker->notes_offset,
				       .p_filesz = notes.size };
		memcpy(core.bytes + MAKER_PHDR(0), &segment, sizeof(segment));
	}
	for (size_t i = 0; i < maker->load_count; i++) {
		const struct maker_load *load = &maker->loads[i];
		Elf64_Phdr segment = { .p_type = PT_LOAD,
				       .p_flags = load->flags,
				       .p_offset = load->offset,
				       .p_vaddr = load->vaddr,
				       .p_filesz = load->filesz,
				       .p_memsz = load->memsz };
		memcpy(core.bytes + MAKER_PHDR(first + i), &segment, sizeof(segment));
	}
	text_deinit(&notes);
	return core;
}

enum hd_status core_open_bytes(const void *bytes, size_t size, const struct target_options *options,
			       struct target **ret, struct hd_error *err)
{
	char path[64];
	int fd = memfd_create("core", MFD_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, bytes, size) == (ssize_t)size);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	enum hd_status status = target_open_core(path, options, NULL, ret, err);
	(void)close(fd);
	return status;
}

struct target *elf_maker_open(struct elf_maker *maker, const struct target_options *options)
{
	struct text core = elf_maker_build(maker);
	struct target *target = NULL;
	struct hd_error err = { 0 };
	if (core_open_bytes(core.bytes, core.size, options, &target, &err) != HD_OK)
		(void)printf("elf_maker_open: %s\n", err.message);
	text_deinit(&core);
	REQUIRE(target);
	return target;
}

bool write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wbe");
	bool is_written = file && (!size || fwrite(bytes, size, 1, file) == 1);
	return file && fclose(file) == 0 && is_written;
}

/* Images */

struct image {
	const struct image_spec *spec;
	struct text text;
	bool is_loaded;
	Elf64_Dyn dynamic[24];
	size_t dynamic_count;
};

static void put(struct image *image, uint64_t offset, const void *bytes, size_t size)
{
	pad_to(&image->text, offset + size);
	REQUIRE(image->text.bytes);
	memcpy(image->text.bytes + offset, bytes, size);
}

static uint64_t append(struct image *image, const void *bytes, size_t size)
{
	uint64_t offset = (image->text.size + 7) & ~(uint64_t)7;
	put(image, offset, bytes, size);
	return offset;
}

static void tag(struct image *image, int64_t name, uint64_t value, bool is_address)
{
	if (is_address && image->is_loaded)
		value += image->spec->base;
	image->dynamic[image->dynamic_count++] = (Elf64_Dyn){ .d_tag = name, .d_un.d_val = value };
}

static uint32_t hash_gnu(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* One bucket and a bloom filter of one word that lets everything pass. */
static void put_gnu_hash(struct image *image)
{
	const struct image_spec *spec = image->spec;
	uint32_t header[] = { 1, 1, 1, 6 }, bucket = spec->symbol_count ? 1 : 0;
	uint64_t bloom = UINT64_MAX, offset = append(image, header, sizeof(header));
	(void)append(image, &bloom, sizeof(bloom));
	put(image, image->text.size, &bucket, sizeof(bucket));
	for (size_t i = 0; i < spec->symbol_count; i++) {
		uint32_t hash = hash_gnu(spec->symbols[i].name) & ~1u;
		hash |= i + 1 == spec->symbol_count;
		put(image, image->text.size, &hash, sizeof(hash));
	}
	tag(image, DT_GNU_HASH, offset, true);
}

/* One bucket: a chain of all symbols. */
static void put_sysv_hash(struct image *image)
{
	uint32_t count = (uint32_t)image->spec->symbol_count;
	uint32_t header[] = { 1, count + 1, count ? 1 : 0, 0 };
	uint64_t offset = append(image, header, sizeof(header));
	for (uint32_t i = 1; i <= count; i++) {
		uint32_t next = i < count ? i + 1 : 0;
		put(image, image->text.size, &next, sizeof(next));
	}
	tag(image, DT_HASH, offset, true);
}

static void put_symbols(struct image *image)
{
	const struct image_spec *spec = image->spec;
	struct text strings = { 0 };
	append_zeros(&strings, 1);
	if (spec->soname) {
		tag(image, DT_SONAME, strings.size, false);
		text_append(&strings, spec->soname, strlen(spec->soname) + 1);
	}
	Elf64_Sym symbol = { 0 };
	uint64_t table = append(image, &symbol, sizeof(symbol));
	for (size_t i = 0; i < spec->symbol_count; i++) {
		symbol = (Elf64_Sym){ .st_name = (Elf64_Word)strings.size,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, spec->are_functions
										   ? STT_FUNC
										   : STT_OBJECT),
				      .st_shndx = 1,
				      .st_value = spec->symbols[i].value,
				      .st_size = spec->symbols[i].size };
		(void)append(image, &symbol, sizeof(symbol));
		text_append(&strings, spec->symbols[i].name, strlen(spec->symbols[i].name) + 1);
	}
	tag(image, DT_SYMTAB, table, true);
	tag(image, DT_STRTAB, append(image, strings.bytes, strings.size), true);
	tag(image, DT_STRSZ, strings.size, false);
	text_deinit(&strings);
	if (spec->with_sysv_hash)
		put_sysv_hash(image);
	else
		put_gnu_hash(image);
}

static void add_base(struct image *image, uint64_t offset, uint64_t base)
{
	uint64_t value;
	if (offset + sizeof(value) > image->text.size)
		return;
	memcpy(&value, image->text.bytes + offset, sizeof(value));
	value += base;
	memcpy(image->text.bytes + offset, &value, sizeof(value));
}

/* Do what ld.so does for DT_RELR. */
static void relocate_relr(struct image *image)
{
	const struct image_spec *spec = image->spec;
	uint64_t place = 0;
	for (size_t i = 0; i < spec->relr_count; i++) {
		if (spec->relr[i] & 1) {
			for (uint64_t bit = 1; bit < 64; bit++) {
				if (spec->relr[i] >> bit & 1)
					add_base(image, place + (bit - 1) * 8, spec->base);
			}
			place += UINT64_C(63) * 8;
		} else {
			add_base(image, spec->relr[i], spec->base);
			place = spec->relr[i] + 8;
		}
	}
}

static void put_relocations(struct image *image)
{
	const struct image_spec *spec = image->spec;
	if (spec->rela_count) {
		uint64_t first = 0;
		for (size_t i = 0; i < spec->rela_count; i++) {
			Elf64_Rela row = { .r_offset = spec->rela[i].offset,
					   .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
					   .r_addend = (Elf64_Sxword)spec->rela[i].addend };
			uint64_t offset = append(image, &row, sizeof(row));
			first = i ? first : offset;
		}
		tag(image, DT_RELA, first, true);
		tag(image, DT_RELASZ, spec->rela_count * sizeof(Elf64_Rela), false);
	}
	if (spec->relr_count) {
		tag(image, DT_RELR, append(image, spec->relr, spec->relr_count * 8), true);
		tag(image, DT_RELRSZ, spec->relr_count * 8, false);
	}
}

static void put_headers(struct image *image)
{
	uint64_t size = image->text.size;
	Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = size, .p_memsz = size },
		{ .p_type = PT_DYNAMIC,
		  .p_offset = IMAGE_DYNAMIC,
		  .p_vaddr = IMAGE_DYNAMIC,
		  .p_filesz = sizeof(image->dynamic),
		  .p_memsz = sizeof(image->dynamic) },
		{ .p_type = PT_NOTE, .p_offset = IMAGE_NOTE, .p_vaddr = IMAGE_NOTE },
	};
	if (image->spec->build_id) {
		struct text note = { 0 };
		append_note(&note, "GNU", NT_GNU_BUILD_ID, image->spec->build_id,
			    strlen(image->spec->build_id));
		segments[2].p_filesz = segments[2].p_memsz = note.size;
		put(image, IMAGE_NOTE, note.bytes, note.size);
		text_deinit(&note);
	}
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = 1,
			      .e_phoff = sizeof(header),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = sizeof(segments) / sizeof(segments[0]) };
	put(image, 0, &header, sizeof(header));
	put(image, sizeof(header), segments, sizeof(segments));
}

struct text image_make(const struct image_spec *spec, bool is_loaded)
{
	struct image image = { .spec = spec, .is_loaded = is_loaded };
	pad_to(&image.text, IMAGE_DYNAMIC + sizeof(image.dynamic));
	put_symbols(&image);
	put_relocations(&image);
	if (spec->debug)
		image.dynamic[image.dynamic_count++] =
			(Elf64_Dyn){ .d_tag = DT_DEBUG, .d_un.d_val = is_loaded ? spec->debug : 0 };
	put(&image, IMAGE_DYNAMIC, image.dynamic, sizeof(image.dynamic));
	if (spec->data_size)
		put(&image, spec->data_at, spec->data, spec->data_size);
	pad_to(&image.text, (image.text.size + PAGE - 1) / PAGE * PAGE);
	put_headers(&image);
	for (size_t i = 0; is_loaded && i < spec->rela_count; i++) {
		uint64_t value = spec->base + spec->rela[i].addend;
		put(&image, spec->rela[i].offset, &value, sizeof(value));
	}
	if (is_loaded)
		relocate_relr(&image);
	return image.text;
}

#define LINK_ROW_SIZE 64u

uint64_t link_row_address(uint64_t address, size_t index)
{
	return address + LINK_ROW_SIZE * (index + 1);
}

void elf_maker_link_map(struct elf_maker *maker, uint64_t address, const struct link_row *rows,
			size_t count, uint64_t last_next)
{
	struct text text = { 0 };
	uint64_t debug[] = { 1, count ? link_row_address(address, 0) : 0 };
	text_append(&text, (const char *)debug, sizeof(debug));
	pad_to(&text, LINK_ROW_SIZE * (count + 1));
	REQUIRE(text.bytes);
	for (size_t i = 0; i < count; i++) {
		uint64_t fields[] = { rows[i].base, address + text.size, rows[i].dynamic,
				      i + 1 < count ? link_row_address(address, i + 1)
						    : last_next };
		memcpy(text.bytes + LINK_ROW_SIZE * (i + 1), fields, sizeof(fields));
		text_append(&text, rows[i].path, strlen(rows[i].path) + 1);
	}
	pad_to(&text, (text.size + PAGE - 1) / PAGE * PAGE);
	elf_maker_load(maker, address, text.bytes, text.size, text.size, PF_R | PF_W);
	text_deinit(&text);
}
