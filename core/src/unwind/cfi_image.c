/* SPDX-License-Identifier: MIT */
#include "unwind/cfi_image.h"

#include <elf.h>

#include "arch/arch.h"
#include "unwind/dwarf_reader.h"
#include "util/alloc.h"

#define PROGRAM_HEADERS_MAX 512u
#define CFI_IMAGES_MAX      65536u
/* Most mappings of one file before that of an address. */
#define MAPPINGS_MAX 64u
/*
 * How many pages before an address are searched for the header of an image without a file (the
 * vdso).
 */
#define PAGES_MAX 16u
/* .eh_frame_hdr before its table: four bytes, two pointers. */
#define HEADER_MAX ((size_t)32)

void cfi_images_deinit(struct cfi_images *images)
{
	pages_free(images->rows, images->rows_capacity, sizeof(*images->rows));
	*images = (struct cfi_images){ 0 };
}

static uint8_t pointer_width(unsigned int encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_UDATA2:
	case PE_SDATA2:
		return 2;
	case PE_UDATA4:
	case PE_SDATA4:
		return 4;
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return 8;
	default:
		return 0;
	}
}

/* Read .eh_frame_hdr; without a table that can be searched the image stays without rows. */
static void read_eh_frame_header(struct memory *memory, uint64_t address, uint64_t size,
				 struct cfi_image *image)
{
	uint8_t bytes[HEADER_MAX];
	size_t got = memory_prefix(memory, address, bytes,
				   size < sizeof(bytes) ? (size_t)size : sizeof(bytes));
	struct dwarf_reader reader = dwarf_reader(bytes, got, address);
	unsigned int version = (unsigned int)dwarf_number(&reader, 1);
	unsigned int frame_encoding = (unsigned int)dwarf_number(&reader, 1);
	unsigned int count_encoding = (unsigned int)dwarf_number(&reader, 1);
	unsigned int table_encoding = (unsigned int)dwarf_number(&reader, 1);
	uint8_t width = pointer_width(table_encoding);
	unsigned int application = table_encoding & ~PE_FORMAT;
	if (version != 1 || count_encoding == PE_OMIT || !width ||
	    (application && application != PE_PCREL && application != PE_DATAREL))
		return;
	if (frame_encoding != PE_OMIT)
		(void)dwarf_pointer(&reader, frame_encoding, address);
	uint64_t count = dwarf_pointer(&reader, count_encoding, address);
	uint64_t head = dwarf_address(&reader) - address;
	if (reader.is_bad || count > (size - head) / (2 * (uint64_t)width))
		return;
	image->header = address;
	image->table = address + head;
	image->count = count;
	image->encoding = (uint8_t)table_encoding;
	image->width = width;
}

/* The program headers, as far as they are used here; addresses are not relocated. */
struct segments {
	uint64_t begin, end; /* of all PT_LOADs */
	uint64_t first;      /* of the byte with offset 0 in the file */
	bool has_first;
	uint64_t frames, frames_size; /* PT_GNU_EH_FRAME */
};

static void add_elf_segment(const Elf64_Phdr *row, struct segments *ret)
{
	uint64_t end;
	if (row->p_type == PT_GNU_EH_FRAME) {
		ret->frames = row->p_vaddr;
		ret->frames_size = row->p_memsz;
	} else if (row->p_type == PT_LOAD &&
		   !__builtin_add_overflow(row->p_vaddr, row->p_memsz, &end)) {
		ret->begin = row->p_vaddr < ret->begin ? row->p_vaddr : ret->begin;
		ret->end = end > ret->end ? end : ret->end;
		/* The first in the file: its page has the header, also where its offset is not 0. */
		if (!ret->has_first)
			ret->first = row->p_vaddr - row->p_offset;
		ret->has_first = true;
	}
}

static bool read_segments(struct memory *memory, uint16_t machine, uint64_t address,
			  struct segments *ret)
{
	Elf64_Ehdr head;
	if (!memory_read(memory, address, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != machine ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > PROGRAM_HEADERS_MAX)
		return false;
	*ret = (struct segments){ .begin = UINT64_MAX };
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr row;
		if (!memory_read(memory, address + head.e_phoff + i * sizeof(row), &row,
				 sizeof(row)))
			return false;
		add_elf_segment(&row, ret);
	}
	return ret->has_first;
}

/* Read the image whose ELF header is at @p address; false when there is none. */
static bool read_cfi_image(const struct target *target, uint64_t address, struct cfi_image *ret)
{
	struct memory *memory = target->memory;
	struct segments segments;
	if (!read_segments(memory, target->arch->machine, address, &segments))
		return false;
	uint64_t bias = address - segments.first;
	struct cfi_image image = { .begin = bias + segments.begin, .end = bias + segments.end };
	if (image.begin >= image.end)
		return false;
	if (segments.frames_size)
		read_eh_frame_header(memory, bias + segments.frames, segments.frames_size, &image);
	*ret = image;
	return true;
}

static bool try_header(const struct target *target, uint64_t header, uint64_t address,
		       struct cfi_image *ret)
{
	return read_cfi_image(target, header, ret) && address >= ret->begin && address < ret->end;
}

/* The image of the file mapped at @p address, which may be mapped more than once. */
static bool find_mapped(const struct target *target, const struct target_mapping *mapping,
			uint64_t address, struct cfi_image *ret)
{
	for (unsigned int i = 0; i < MAPPINGS_MAX; i++) {
		const struct target_mapping *row = mapping - i;
		if (!row->offset && strcmp(row->path, mapping->path) == 0 &&
		    try_header(target, row->start, address, ret))
			return true;
		if (row == target->map.mappings)
			break;
	}
	return false;
}

/* The image of the list of modules; base is its header's address in all but ET_EXEC. */
static bool find_module(const struct target *target, uint64_t address, struct cfi_image *ret)
{
	uint64_t best = 0;
	for (size_t i = 0; i < target->module_count; i++) {
		uint64_t base = target->modules[i].base;
		if (base <= address && base > best)
			best = base;
	}
	return (best && try_header(target, best, address, ret)) ||
	       (target->auxv.phdr &&
		try_header(target, page_of(target->arch->space.page_min, target->auxv.phdr),
			   address, ret));
}

static bool find_cfi_image(const struct target *target, uint64_t address, struct cfi_image *ret)
{
	const struct target_mapping *mapping = target_mapping_at(&target->map, address);
	if (mapping)
		return find_mapped(target, mapping, address, ret);
	if (find_module(target, address, ret))
		return true;
	uint64_t size = target->arch->space.page_min, page = page_of(size, address);
	for (unsigned int i = 0; i < PAGES_MAX && page; i++, page -= size) {
		if (try_header(target, page, address, ret))
			return true;
	}
	return false;
}

static bool holds(const struct cfi_image *image, uint64_t address)
{
	return address >= image->begin && address < image->end;
}

const struct cfi_image *cfi_images_find(struct cfi_images *images, const struct target *target,
					uint64_t address)
{
	if (images->last < images->rows_count && holds(&images->rows[images->last], address))
		return &images->rows[images->last];
	for (size_t i = 0; i < images->rows_count; i++) {
		if (holds(&images->rows[i], address)) {
			images->last = i;
			return &images->rows[i];
		}
	}
	struct cfi_image image;
	if (images->rows_count == CFI_IMAGES_MAX || !find_cfi_image(target, address, &image) ||
	    !PAGES_RESERVE(images, rows))
		return NULL;
	images->last = images->rows_count++;
	images->rows[images->last] = image;
	return &images->rows[images->last];
}

/* The pointer number @p index of the table. */
static bool read_pointer(struct memory *memory, const struct cfi_image *image, uint64_t index,
			 uint64_t *ret)
{
	uint8_t bytes[8];
	uint64_t address = image->table + index * image->width;
	if (!memory_read(memory, address, bytes, image->width))
		return false;
	struct dwarf_reader reader = dwarf_reader(bytes, image->width, address);
	*ret = dwarf_pointer(&reader, image->encoding, image->header);
	return !reader.is_bad;
}

bool cfi_image_begin(struct memory *memory, const struct cfi_image *image, uint64_t index,
		     uint64_t *ret)
{
	return index < image->count && read_pointer(memory, image, 2 * index, ret);
}

bool cfi_image_fde(struct memory *memory, const struct cfi_image *image, uint64_t pc, uint64_t *ret)
{
	uint64_t low = 0, high = image->count, begin;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (!read_pointer(memory, image, 2 * middle, &begin))
			return false;
		if (begin <= pc) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low && read_pointer(memory, image, 2 * low - 1, ret);
}
