/* SPDX-License-Identifier: MIT */
#include "targets/core/note_copy.h"

#include <string.h>

#include "targets/elf_file.h"
#include "util/alloc.h"

/* Notes are aligned to the place in the copy, and not in the file, where a segment may lie anywhere. */
static uint64_t aligned(uint64_t size)
{
	return (size + 3) & ~(uint64_t)3;
}

void note_copy_turn(struct note_copy *copy, uint64_t size)
{
	copy->begin = copy->next;
	copy->next += (size_t)aligned(size);
}

/* The header of an ELF file that has nothing but what follows. */
static void make_header(uint8_t *bytes)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
	};
	memcpy(bytes, &header, sizeof(header));
}

enum hd_status note_copy_make(struct target *target, const struct mapped_file *file,
			      const struct core_headers *headers, struct note_copy *ret,
			      struct hd_error *err)
{
	*ret = (struct note_copy){ .size = sizeof(Elf64_Ehdr) };
	for (size_t i = 0; i < headers->note_count; i++)
		ret->size += (size_t)aligned(headers->notes[i].size);
	TRY(target_reserve(target, ret->size, 1, err));
	ret->bytes = pages_alloc(ret->size, 1);
	TRY_MEMORY(ret->bytes, err);
	make_header(ret->bytes);
	ret->next = sizeof(Elf64_Ehdr);
	for (size_t i = 0; i < headers->note_count; i++) {
		const struct core_note_segment *segment = &headers->notes[i];
		note_copy_turn(ret, segment->size);
		uint8_t *to = ret->bytes + ret->begin;
		memcpy(to, file->bytes + segment->offset, (size_t)segment->size);
	}
	ret->next = sizeof(Elf64_Ehdr);
	ret->elf = elf_of_bytes(ret->bytes, ret->size);
	ret->data = elf_getdata_rawchunk(ret->elf, 0, ret->size, ELF_T_NHDR);
	return ret->data ? HD_OK : fail_nomem(err);
}

void note_copy_deinit(struct note_copy *copy)
{
	(void)elf_end(copy->elf);
	pages_free(copy->bytes, copy->size, 1);
	*copy = (struct note_copy){ 0 };
}

uint64_t note_copy_read(const struct note_copy *copy, uint64_t size, uint64_t offset,
			struct note_place *ret)
{
	size_t name = 0, bytes = 0;
	if (size - offset < sizeof(GElf_Nhdr))
		return 0;
	size_t next =
		gelf_getnote(copy->data, copy->begin + (size_t)offset, &ret->header, &name, &bytes);
	if (!next || next - copy->begin > size)
		return 0;
	ret->name = copy->bytes + name;
	ret->bytes = copy->bytes + bytes;
	return next - copy->begin;
}
