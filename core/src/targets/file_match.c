/* SPDX-License-Identifier: MIT */
#include "targets/file_match.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

#include "mem/file_memory.h"
#include "mem/pe_headers.h"
#include "targets/elf_file.h"
#include "targets/target_files.h"
#include "util/sort.h"

/** Most captured pages that are compared. */
#define COMPARED_MAX 1024u

/** Most bytes of the headers of a PE image. */
#define PE_HEADERS_MAX 4096u

static const struct target_mapping *file_part_at(const struct target *target,
						 const struct file_parts *parts, size_t index)
{
	return &target->map.mappings[parts->mappings[index]];
}

/*
 * The build-id in the core: found by the image's own headers, else at the place where the file has
 * its build-id.
 */
static size_t build_id_in_core(const struct target *target, const struct file_parts *parts,
			       const struct elf_image_note *notes, unsigned int note_count,
			       uint8_t *buf)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct target_mapping *part = file_part_at(target, parts, i);
		struct elf_image image;
		size_t size = 0;
		if (!part->offset && elf_image_read(target->own, part->start, &image))
			size = elf_image_build_id(target->own, &image, buf);
		if (size)
			return size;
	}
	for (size_t i = 0; i < parts->count; i++) {
		const struct target_mapping *part = file_part_at(target, parts, i);
		struct elf_image image = { 0 };
		size_t size = 0;
		for (unsigned int j = 0; j < note_count; j++) {
			struct elf_image_note note = notes[j];
			if (note.offset < part->offset ||
			    note.offset - part->offset >= part->end - part->start)
				continue;
			note.address = part->start + (note.offset - part->offset);
			image.notes[image.note_count++] = note;
		}
		size = elf_image_build_id(target->own, &image, buf);
		if (size)
			return size;
	}
	return 0;
}

static void print_id(char *buf, size_t size, const uint8_t *id, size_t count)
{
	size_t used = 0;
	buf[0] = '\0';
	for (size_t i = 0; i < count && used + 3 <= size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%02x", (unsigned int)id[i]);
}

/* TARGET_FILE_NONE: there is nothing to compare. */
static enum target_file_state match_elf(const struct target *target, const struct file_parts *parts,
					const struct mapped_file *file, char *reason,
					size_t reason_size)
{
	struct elf_file elf;
	struct elf_image_note notes[ELF_IMAGE_NOTES];
	unsigned int note_count = 0;
	uint8_t in_file[BUILD_ID_MAX], in_core[BUILD_ID_MAX];
	size_t file_size = 0;
	if (elf_file_open(file->fd, &elf)) {
		note_count = elf_file_notes(&elf, notes);
		file_size = elf_file_build_id(&elf, in_file);
		elf_file_close(&elf);
	}
	size_t core_size = build_id_in_core(target, parts, notes, note_count, in_core);
	if (!core_size)
		return TARGET_FILE_NONE;
	if (core_size == file_size && memcmp(in_core, in_file, core_size) == 0)
		return core_size < BUILD_ID_MIN ? TARGET_FILE_NONE : TARGET_FILE_MATCHED;
	char text[BUILD_ID_MAX * 2 + 1];
	print_id(text, sizeof(text), in_core, core_size);
	(void)snprintf(reason, reason_size, "the core has build-id %s, the file %s", text,
		       file_size ? "another" : "none");
	return TARGET_FILE_MISMATCH;
}

/*
 * The size of the PE headers at @p base with the table of sections (OptionalHeader.SizeOfHeaders),
 * whose bytes go to @p buf; 0: there are none, or not all of them.
 */
static uint32_t read_pe(struct memory *memory, uint64_t base, uint8_t *buf)
{
	struct pe_headers headers;
	if (!pe_headers_read(memory, base, &headers))
		return 0;
	uint32_t size = headers.headers_size;
	bool is_whole = size >= headers.end && size <= PE_HEADERS_MAX;
	return is_whole && memory_read(memory, base, buf, size) ? size : 0;
}

/*
 * All headers are compared, not only the time stamp and the size of the image: an attacker may
 * guess a number, but not the sizes of all sections and directories.
 */
static enum target_file_state match_pe(const struct target *target, const struct file_parts *parts,
				       const struct mapped_file *file, char *reason,
				       size_t reason_size)
{
	struct file_memory bytes = file_memory_of(file);
	uint8_t in_file[PE_HEADERS_MAX], in_core[PE_HEADERS_MAX];
	for (size_t i = 0; i < parts->count; i++) {
		const struct target_mapping *part = file_part_at(target, parts, i);
		uint32_t size = part->offset ? 0 : read_pe(target->own, part->start, in_core);
		if (!size)
			continue;
		if (read_pe(&bytes.memory, 0, in_file) == size &&
		    memcmp(in_file, in_core, size) == 0)
			return TARGET_FILE_MATCHED;
		(void)snprintf(reason, reason_size, "the core has other PE headers");
		return TARGET_FILE_MISMATCH;
	}
	return TARGET_FILE_NONE;
}

static uint32_t flags_at(const struct target *target, uint64_t address)
{
	size_t low = ROWS_ABOVE(target->map.ranges, target->map.range_count, start, address);
	return low && address < target->map.ranges[low - 1].end ? target->map.ranges[low - 1].flags
								: PF_W;
}

/** Pages are compared in pieces: no page is smaller. */
#define COMPARED_BYTES ((uint64_t)4096)

/** Words of captured pages, and how many of them are equal in the file; zeros are ignored. */
struct comparison {
	uint64_t words, equal;
	unsigned int pages;
};

static void compare_page(const struct target *target, const struct mapped_file *file,
			 uint64_t address, uint64_t offset, struct comparison *comparison)
{
	uint64_t words[COMPARED_BYTES / 8];
	if (offset > file->size || file->size - offset < sizeof(words) ||
	    !memory_read(target->own, address, words, sizeof(words)))
		return;
	for (size_t i = 0; i < COMPARED_BYTES / 8; i++) {
		uint64_t in_file = load_u64(file->bytes + offset + i * 8);
		comparison->words += words[i] || in_file;
		comparison->equal += words[i] == in_file && in_file;
	}
	comparison->pages++;
}

/* Compare captured pages of segments with one of the flags @p with and none of @p without. */
static struct comparison compare_pages(const struct target *target, const struct file_parts *parts,
				       const struct mapped_file *file, uint32_t with,
				       uint32_t without)
{
	struct comparison comparison = { 0 };
	for (size_t i = 0; i < parts->count; i++) {
		const struct target_mapping *part = file_part_at(target, parts, i);
		uint64_t address = memory_next(target->own, part->start);
		while (address < part->end && comparison.pages < COMPARED_MAX) {
			uint64_t page = page_of(COMPARED_BYTES, address);
			uint32_t flags = flags_at(target, address);
			if (page >= part->start && flags & with && !(flags & without)) {
				compare_page(target, file, page,
					     part->offset + (page - part->start), &comparison);
			}
			if (page > UINT64_MAX - COMPARED_BYTES)
				break;
			address = memory_next(target->own, page + COMPARED_BYTES);
		}
	}
	return comparison;
}

/*
 * Compare what the process cannot have written, where most words must be equal: segments without
 * PF_W, for ELF with PF_X (RELRO pages were relocated).  If there are none, compare what it can
 * have written, for PE: this is mostly R2R code, but also import cells, so many equal words are
 * evidence (.NET 10: 78 to 95 % of a file's), but few are not (12 % of the first 64 pages of
 * CoreLib).
 */
static enum target_file_state match_pages(const struct target *target,
					  const struct file_parts *parts,
					  const struct mapped_file *file, char *reason,
					  size_t reason_size)
{
	bool is_elf = file->size >= SELFMAG && memcmp(file->bytes, ELFMAG, SELFMAG) == 0;
	bool is_pe = file->size >= 2 && memcmp(file->bytes, "MZ", 2) == 0;
	struct comparison comparison =
		compare_pages(target, parts, file, is_elf ? PF_X : PF_R | PF_X, PF_W);
	if (comparison.words && comparison.equal * 2 < comparison.words) {
		(void)snprintf(reason, reason_size,
			       "most words of %u pages that the core holds are others",
			       comparison.pages);
		return TARGET_FILE_MISMATCH;
	}
	if (!comparison.words && is_pe)
		comparison = compare_pages(target, parts, file, PF_W, 0);
	return comparison.words && comparison.equal * 2 >= comparison.words ? TARGET_FILE_MATCHED
									    : TARGET_FILE_NONE;
}

/* There is nothing to compare: the file must at least be as long as what was mapped. */
static enum target_file_state match_size(const struct target *target,
					 const struct file_parts *parts,
					 const struct mapped_file *file, char *reason,
					 size_t reason_size)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct target_mapping *part = file_part_at(target, parts, i);
		uint64_t end = part->offset + (part->end - part->start);
		if (end <= file->size + (target->arch->space.page_max - 1))
			continue;
		(void)snprintf(reason, reason_size,
			       "%" PRIu64 " bytes of it were mapped, the file has fewer", end);
		return TARGET_FILE_MISMATCH;
	}
	return TARGET_FILE_UNVERIFIED;
}

enum target_file_state file_match(const struct target *target, const struct file_parts *parts,
				  const struct mapped_file *file, char *reason, size_t reason_size)
{
	reason[0] = '\0';
	/* The core's own bytes decide which kind of file it must be, whatever the file is now. */
	enum target_file_state state = match_elf(target, parts, file, reason, reason_size);
	if (state == TARGET_FILE_NONE)
		state = match_pe(target, parts, file, reason, reason_size);
	/*
	 * This is not a proof, because the core's pages can be guessed, but it is enough for users
	 * who trust the files.
	 */
	if (state == TARGET_FILE_NONE && target->options.trust_files)
		state = match_pages(target, parts, file, reason, reason_size);
	if (state == TARGET_FILE_NONE)
		state = match_size(target, parts, file, reason, reason_size);
	return state;
}
