/* SPDX-License-Identifier: MIT */
#include "targets/elf_file.h"

#include <pthread.h>
#include <string.h>

#include "util/read_at.h"

/** Most bytes of one segment or section of notes that are searched for a build-id. */
#define NOTES_SIZE_MAX 65536u
/** Most bytes of the names of all sections. */
#define SECTION_NAMES_MAX ((uint64_t)1 << 20)

static void choose_version(void)
{
	(void)elf_version(EV_CURRENT);
}

/* libelf refuses everything until its caller has named the version of ELF. */
static void begin_libelf(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, choose_version);
}

Elf *elf_of_bytes(uint8_t *bytes, size_t size)
{
	begin_libelf();
	return elf_memory((char *)bytes, size);
}

bool elf_header_read(const uint8_t *bytes, uint64_t size, GElf_Ehdr *ret)
{
	union {
		Elf64_Ehdr header; /* for its alignment; it is larger than that of 32 bits */
		uint8_t bytes[sizeof(Elf64_Ehdr)];
	} copy = { 0 };
	size_t used = size < sizeof(copy) ? (size_t)size : sizeof(copy);
	if (!used)
		return false;
	memcpy(copy.bytes, bytes, used);
	Elf *elf = elf_of_bytes(copy.bytes, used);
	bool is_read = elf && gelf_getehdr(elf, ret);
	(void)elf_end(elf);
	return is_read;
}

bool elf_file_open(int fd, struct elf_file *ret)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	GElf_Ehdr header;
	ssize_t got = read_at(fd, head, sizeof(head), 0);
	/*
	 * Without a number in the header, section 0 has it.  Linkers do that from 65,280 sections
	 * on, which no program has, and libelf would allocate memory for 4 billion of them.
	 */
	if (got <= 0 || !elf_header_read(head, (uint64_t)got, &header) ||
	    (!header.e_shnum && header.e_shoff))
		return false;
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return false;
	*ret = (struct elf_file){ .elf = elf, .fd = fd };
	return true;
}

void elf_file_close(struct elf_file *file)
{
	(void)elf_end(file->elf);
	*file = (struct elf_file){ .fd = -1 };
}

unsigned int elf_file_notes(const struct elf_file *file, struct elf_image_note ret[ELF_IMAGE_NOTES])
{
	size_t count = 0;
	unsigned int used = 0;
	if (elf_getphdrnum(file->elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count && used < ELF_IMAGE_NOTES; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(file->elf, (int)i, &segment))
			break;
		if (segment.p_type == PT_NOTE) {
			ret[used++] = (struct elf_image_note){ .address = segment.p_vaddr,
							       .offset = segment.p_offset,
							       .size = segment.p_filesz };
		}
	}
	return used;
}

/* NT_GNU_BUILD_ID among notes; 0: it is not there. */
static size_t build_id_in(Elf_Data *notes, uint8_t *buf)
{
	GElf_Nhdr note;
	size_t name = 0, id = 0;
	for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &id)) > 0;) {
		const uint8_t *bytes = notes->d_buf;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
			continue;
		if (note.n_descsz > BUILD_ID_MAX)
			return 0;
		memcpy(buf, bytes + id, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

/* A file with the symbols of another one has its sections of notes, but not always its segments. */
static size_t build_id_in_sections(const struct elf_file *file, uint8_t *buf)
{
	unsigned int left = ELF_IMAGE_NOTES;
	size_t size = 0;
	for (Elf_Scn *section = NULL;
	     !size && left && (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		left--;
		Elf_Data *notes =
			header.sh_size <= NOTES_SIZE_MAX ? elf_getdata(section, NULL) : NULL;
		size = notes && notes->d_buf ? build_id_in(notes, buf) : 0;
	}
	return size;
}

size_t elf_file_build_id(const struct elf_file *file, uint8_t *buf)
{
	struct elf_image_note notes[ELF_IMAGE_NOTES];
	unsigned int count = elf_file_notes(file, notes);
	size_t size = 0;
	for (unsigned int i = 0; i < count && !size; i++) {
		if (notes[i].size > NOTES_SIZE_MAX || notes[i].offset > INT64_MAX)
			continue;
		Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)notes[i].offset,
						      (size_t)notes[i].size, ELF_T_NHDR);
		size = data && data->d_buf ? build_id_in(data, buf) : 0;
	}
	return size ? size : build_id_in_sections(file, buf);
}

/* The bytes of @p section, if it is in the file as it is; NULL: it is too large, packed or cut. */
static const Elf_Data *content_of(Elf_Scn *section, uint64_t most)
{
	GElf_Shdr header;
	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_flags & SHF_COMPRESSED || header.sh_size > most)
		return NULL;
	const Elf_Data *data = elf_getdata(section, NULL);
	return data && data->d_buf ? data : NULL;
}

/* The first section with that name; NULL: there is none. */
static Elf_Scn *find_named(const struct elf_file *file, const char *name)
{
	size_t index = 0, size = strlen(name) + 1;
	if (elf_getshdrstrndx(file->elf, &index) != 0)
		return NULL;
	/* elf_strptr() would look for the end of the whole table each time. */
	const Elf_Data *names = content_of(elf_getscn(file->elf, index), SECTION_NAMES_MAX);
	if (!names)
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			return NULL;
		if (header.sh_name <= names->d_size && names->d_size - header.sh_name >= size &&
		    memcmp((const char *)names->d_buf + header.sh_name, name, size) == 0)
			return section;
	}
	return NULL;
}

const Elf_Data *elf_file_section(const struct elf_file *file, const char *name, uint64_t most)
{
	return content_of(find_named(file, name), most);
}

bool elf_file_has_section(const struct elf_file *file, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = find_named(file, name);
	return section && gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS;
}
