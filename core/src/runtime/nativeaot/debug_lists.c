/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/debug_lists.h"

#include <elf.h>
#include <string.h>

#include "targets/elf_image.h"
#include "targets/target.h"
#include "util/alloc.h"

/* Most bytes of a segment that are searched, and how many at once. */
#define SEGMENT_MAX ((uint64_t)256 << 20)
#define CHUNK       ((size_t)64 << 10)

/* Rows of the two lists; real ones have 105 and 6. */
#define TYPE_ROW   24u
#define GLOBAL_ROW 16u
#define ROWS_MAX   4096u
#define TEXT_MAX   64u
/* Most places of a text that are tried. */
#define TEXTS_MAX 4u

/* A row of each list, by its text. */
#define TYPE_TEXT   "GcDacVars"
#define GLOBAL_TEXT "g_gcDacGlobals"

struct image {
	struct memory *memory;
	uint64_t base;
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	size_t count;
};

/* Find @p size bytes from @p from on, at a multiple of @p align in a segment; 0: they are not there. */
static uint64_t find_bytes(const struct image *image, const Elf64_Phdr *segment, uint64_t from,
			   const void *bytes, size_t size, unsigned int align)
{
	HD_FREE uint8_t *chunk = mem_alloc(CHUNK, 1);
	uint64_t begin = image->base + segment->p_vaddr, end = begin + segment->p_memsz;
	/* Chunks overlap by what may be cut. */
	for (uint64_t next = from > begin ? from : begin; chunk && next < end;
	     next += CHUNK - TEXT_MAX) {
		size_t want = end - next < CHUNK ? (size_t)(end - next) : CHUNK;
		size_t got = memory_prefix(image->memory, next, chunk, want);
		const uint8_t *at = chunk;
		while ((at = memmem(at, (size_t)(chunk + got - at), bytes, size)) != NULL) {
			uint64_t address = next + (uint64_t)(at - chunk);
			if (address % align == 0)
				return address;
			at++;
		}
	}
	return 0;
}

/* The same in all segments that can be written, or in all that cannot. */
static uint64_t find_in_image(const struct image *image, bool is_writable, uint64_t from,
			      const void *bytes, size_t size, unsigned int align)
{
	uint64_t found = 0;
	for (size_t i = 0; i < image->count && !found; i++) {
		const Elf64_Phdr *segment = &image->programs[i];
		if (segment->p_type == PT_LOAD && segment->p_memsz <= SEGMENT_MAX &&
		    ((segment->p_flags & PF_W) != 0) == is_writable)
			found = find_bytes(image, segment, from, bytes, size, align);
	}
	return found;
}

/* Does a row begin with the address of a text? */
static bool is_row(const struct image *image, uint64_t address)
{
	uint64_t text = 0;
	char buf[TEXT_MAX];
	return memory_u64(image->memory, address, &text) && text > image->base &&
	       memory_string(image->memory, text, buf, sizeof(buf)) > 0;
}

/* The first row of the list that has a row with @p text, of which there may be copies; 0: there is none. */
static uint64_t find_list(const struct image *image, const char *text, uint64_t row_size)
{
	uint64_t row = 0, word = image->base;
	for (unsigned int i = 0; i < TEXTS_MAX && word && !row; i++) {
		word = find_in_image(image, false, word + 1, text, strlen(text) + 1, 1);
		if (word)
			row = find_in_image(image, true, 0, &word, sizeof(word), 8);
	}
	for (unsigned int i = 0; row && i < ROWS_MAX && is_row(image, row - row_size); i++)
		row -= row_size;
	return row;
}

/* The releases differ in the fields of threads. */
static unsigned int release_of(struct memory *memory, uint64_t types)
{
	unsigned int release = 0;
	for (unsigned int i = 0; i < ROWS_MAX; i++) {
		uint8_t row[TYPE_ROW];
		char type[TEXT_MAX], field[TEXT_MAX];
		if (!memory_read(memory, types + (uint64_t)i * TYPE_ROW, row, sizeof(row)) ||
		    memory_string(memory, load_u64(row), type, sizeof(type)) <= 0 ||
		    memory_string(memory, load_u64(row + 8), field, sizeof(field)) <= 0)
			break;
		if (strcmp(type, "ThreadBuffer") == 0)
			return 8;
		if (strcmp(type, "RuntimeThreadLocals") == 0 && release == 0)
			release = 9;
		if (strcmp(type, "ee_alloc_context") == 0)
			release = 10;
	}
	return release;
}

bool debug_lists_find(const struct target *target, const struct target_module *module,
		      struct debug_header *ret)
{
	struct image image = { .memory = target->memory, .base = module->base };
	image.count = elf_image_programs(target->memory, module->base, image.programs);
	uint64_t types = find_list(&image, TYPE_TEXT, TYPE_ROW);
	uint64_t globals = types ? find_list(&image, GLOBAL_TEXT, GLOBAL_ROW) : 0;
	unsigned int release = globals ? release_of(target->memory, types) : 0;
	if (!release)
		return false;
	*ret = (struct debug_header){ .major = debug_header_major(release),
				      .types = types,
				      .globals = globals };
	return true;
}
