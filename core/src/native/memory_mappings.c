/* SPDX-License-Identifier: MIT */
/* The mappings, and who has them when nobody knows more: files, shared memory, nobody. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "native/memory_parts.h"
#include "targets/elf_image.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"
#include "util/text.h"

/* The memory after the data of an image is claimed late: it may have merged with others. */
#define BSS_PRIORITY 800u

/* How much of a range that may be zero an outline looks at. */
#define OUTLINE_BYTES ((uint64_t)64 << 10)

#define DOUBLE_MAPPED "/memfd:doublemapper"

/* A part of a file that is mapped. */
struct file_piece {
	uint64_t start, end, offset;
	const char *path;
	uint32_t flags;
};

struct file_pieces {
	struct file_piece *rows;
	size_t rows_count, rows_capacity;
};

static enum hd_status account_mapping(struct memory_account *account,
				      const struct memory_mapping *mapping, struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(account, mappings), err);
	account->mappings[account->mappings_count++] = *mapping;
	return HD_OK;
}

static enum hd_status mappings_of_process(struct memory_making *making,
					  const struct process_residency *residency,
					  struct hd_error *err)
{
	making->account->is_live = true;
	for (size_t i = 0; i < residency->rows_count; i++) {
		const struct residency_row *row = &residency->rows[i];
		const struct memory_mapping mapping = {
			.start = row->map.start,
			.end = row->map.end,
			.offset = row->map.offset,
			.flags = row->map.flags,
			.is_shared = row->map.is_shared,
			.path = row->map.path,
			.rss = row->rss,
			.pss = row->pss,
			.swap = row->swap,
			.dirty = row->dirty,
		};
		/* The kernel has it once for all. */
		if (strcmp(mapping.path, "[vsyscall]") != 0)
			TRY(account_mapping(making->account, &mapping, err));
	}
	return HD_OK;
}

static enum hd_status mappings_of_core(struct memory_making *making, struct hd_error *err)
{
	const struct target_map *map = &making->target->map;
	for (size_t i = 0; i < map->range_count; i++) {
		const struct target_range *range = &map->ranges[i];
		const struct target_mapping *file = target_mapping_at(map, range->start);
		const struct memory_mapping mapping = {
			.start = range->start,
			.end = range->end,
			.offset = file ? file->offset + (range->start - file->start) : 0,
			.captured = range->captured,
			.flags = range->flags,
			.is_named = file != NULL,
			.path = file ? file->path : "",
		};
		TRY(account_mapping(making->account, &mapping, err));
	}
	return HD_OK;
}

enum hd_status memory_read_mappings(struct memory_making *making, struct hd_error *err)
{
	const struct target *target = making->target;
	if (making->residency)
		return mappings_of_process(making, making->residency, err);
	if (target->kind == TARGET_CORE)
		return mappings_of_core(making, err);
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "the kernel does not tell what of this process is in memory");
}

/* Does the name show that it is not a file on a disk? */
static bool is_shared_path(const char *path)
{
	return string_begins_with(path, "/dev/shm/") || string_begins_with(path, "/SYSV") ||
	       string_begins_with(path, "/dev/zero") || string_begins_with(path, "/anon_hugepage");
}

/* An image of either sort, or another file, by its first bytes, or else by its name. */
static enum memory_kind kind_of_file(struct memory_making *making, const struct file_piece *pieces,
				     size_t count)
{
	const char *path = pieces->path;
	uint8_t bytes[4];
	if (string_begins_with(path, "/memfd:"))
		return MEMORY_MEMFD;
	if (is_shared_path(path))
		return MEMORY_SHARED;
	bool is_code = false;
	for (size_t i = 0; i < count; i++) {
		is_code |= pieces[i].flags & PF_X;
		if (making->is_outline || pieces[i].offset ||
		    !memory_read(making->memory, pieces[i].start, bytes, sizeof(bytes)))
			continue;
		if (memcmp(bytes, ELFMAG, SELFMAG) == 0)
			return MEMORY_IMAGE_NATIVE;
		if (bytes[0] == 'M' && bytes[1] == 'Z')
			return MEMORY_IMAGE_MANAGED;
		return MEMORY_FILE;
	}
	if (string_ends_with(path, ".dll") || string_ends_with(path, ".exe"))
		return MEMORY_IMAGE_MANAGED;
	return is_code || strstr(path, ".so") ? MEMORY_IMAGE_NATIVE : MEMORY_FILE;
}

/* Claim the memory that an image has after its data: zeros at first, in no file. */
static enum hd_status claim_bss(struct memory_making *making, uint64_t base, uint32_t row,
				struct hd_error *err)
{
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	uint64_t bias = base;
	size_t count = elf_image_programs(making->memory, base, programs);
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *program = &programs[i];
		if (program->p_type != PT_LOAD)
			continue;
		if (!program->p_offset)
			bias = base - page_of(making->space->page_min, program->p_vaddr);
		uint64_t start = page_align(making->space->page_min,
					    bias + program->p_vaddr + program->p_filesz);
		uint64_t end = page_align(making->space->page_min,
					  bias + program->p_vaddr + program->p_memsz);
		if (program->p_memsz > making->space->user_end || start < base ||
		    end > making->space->user_end)
			continue;
		const struct memory_claim claim = { start, end, BSS_PRIORITY, row };
		TRY(memory_claim_late(making, &claim, err));
	}
	return HD_OK;
}

/* All pieces of one file. */
static enum hd_status claim_file(struct memory_making *making, const struct file_piece *pieces,
				 size_t count, struct hd_error *err)
{
	uint32_t row;
	enum memory_kind kind = kind_of_file(making, pieces, count);
	if (string_begins_with(pieces->path, DOUBLE_MAPPED)) {
		TRY(memory_row_of(making, MEMORY_CODE_REST, NULL, &row, err));
	} else {
		TRY(memory_row_of(making, kind, pieces->path, &row, err));
	}
	for (size_t i = 0; i < count; i++) {
		TRY(memory_claim_for(making, row, pieces[i].start, pieces[i].end, err));
		if (kind == MEMORY_IMAGE_NATIVE && !pieces[i].offset)
			TRY(claim_bss(making, pieces[i].start, row, err));
	}
	return HD_OK;
}

ORDER_BY(compare_piece_offsets, struct file_piece, offset)

/* Pieces that are mapped a second time, to be written: doc/memory.md 3.4. */
static enum hd_status claim_views(struct memory_making *making, struct file_piece *pieces,
				  size_t count, struct hd_error *err)
{
	qsort(pieces, count, sizeof(*pieces), compare_piece_offsets);
	const struct file_piece *last = NULL; /* the one that reaches furthest */
	for (size_t i = 0; i < count; i++) {
		const struct file_piece *piece = &pieces[i];
		uint64_t end = last ? last->offset + (last->end - last->start) : 0;
		if (last && piece->offset < end && ((piece->flags ^ last->flags) & PF_W)) {
			const struct file_piece *view = piece->flags & PF_W ? piece : last;
			TRY(memory_claim_kind(making, MEMORY_CODE_VIEW, view->start, view->end,
					      err));
		}
		if (!last || piece->offset + (piece->end - piece->start) > end)
			last = piece;
	}
	return HD_OK;
}

static int compare_file_pieces(const void *a, const void *b)
{
	const struct file_piece *left = a, *right = b;
	int order = strcmp(left->path, right->path);
	return order ? order : (left->start > right->start) - (left->start < right->start);
}

static enum hd_status claim_files(struct memory_making *making, struct file_pieces *pieces,
				  struct hd_error *err)
{
	if (!pieces->rows_count)
		return HD_OK;
	qsort(pieces->rows, pieces->rows_count, sizeof(*pieces->rows), compare_file_pieces);
	for (size_t i = 0, next; i < pieces->rows_count; i = next) {
		struct file_piece *first = &pieces->rows[i];
		for (next = i + 1; next < pieces->rows_count &&
				   strcmp(pieces->rows[next].path, first->path) == 0;)
			next++;
		TRY(claim_file(making, first, next - i, err));
		if (string_begins_with(first->path, DOUBLE_MAPPED))
			TRY(claim_views(making, first, next - i, err));
	}
	return HD_OK;
}

static enum hd_status add_piece(struct file_pieces *pieces, const struct file_piece *piece,
				struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(pieces, rows), err);
	pieces->rows[pieces->rows_count++] = *piece;
	return HD_OK;
}

/* A mapping of no file. */
static enum hd_status claim_anonymous(struct memory_making *making,
				      const struct memory_mapping *mapping, struct hd_error *err)
{
	enum memory_kind kind = MEMORY_UNKNOWN;
	const char *path = mapping->path, *owner = NULL;
	uint32_t row;
	if (strcmp(path, "[heap]") == 0) {
		kind = MEMORY_NATIVE_HEAP;
	} else if (string_begins_with(path, "[anon:")) {
		kind = MEMORY_NAMED;
		owner = path;
	} else if (string_begins_with(path, "[anon_shmem:")) {
		kind = MEMORY_SHARED;
		owner = path;
	} else if (string_begins_with(path, "[v")) {
		kind = MEMORY_KERNEL;
	} else if (*path && strcmp(path, "[stack]") != 0) {
		owner = path;
	} else if (!mapping->flags) {
		kind = MEMORY_RESERVED;
	}
	TRY(memory_row_of(making, kind, owner, &row, err));
	return memory_claim_for(making, row, mapping->start, mapping->end, err);
}

/* A core names files apart from its ranges. */
static enum hd_status add_core_pieces(struct memory_making *making, struct file_pieces *pieces,
				      struct hd_error *err)
{
	const struct target_map *map = &making->target->map;
	for (size_t i = 0; i < map->mapping_count; i++) {
		const struct target_mapping *file = &map->mappings[i];
		const struct memory_mapping *mapping =
			memory_mapping_at(making->account, file->start);
		const struct file_piece piece = { file->start, file->end, file->offset, file->path,
						  mapping ? mapping->flags : 0 };
		TRY(add_piece(pieces, &piece, err));
	}
	return HD_OK;
}

/* A range of a core that nobody else may claim: a core names files apart from them. */
static enum hd_status claim_range(struct memory_making *making,
				  const struct memory_mapping *mapping, struct hd_error *err)
{
	bool is_reserved = !mapping->flags;
	uint8_t magic[SELFMAG];
	if (mapping->start >= making->space->user_end)
		return memory_claim_kind(making, MEMORY_KERNEL, mapping->start, mapping->end, err);
	/* The kernel's vDSO: an image that no file has. */
	if (mapping->flags == (PF_R | PF_X) && !mapping->is_named &&
	    memory_read(making->target->own, mapping->start, magic, sizeof(magic)) &&
	    memcmp(magic, ELFMAG, sizeof(magic)) == 0) {
		return memory_claim_kind(making, MEMORY_KERNEL, mapping->start, mapping->end, err);
	}
	/* gcore writes zeros for what the program cannot read, and says that it could. */
	uint64_t end = mapping->start + mapping->captured;
	if (making->is_outline && end - mapping->start > OUTLINE_BYTES)
		end = mapping->start + OUTLINE_BYTES;
	if (mapping->flags == PF_R && !mapping->is_named)
		TRY(memory_is_zero(making, mapping->start, end, &is_reserved, err));
	return memory_claim_kind(making, is_reserved ? MEMORY_RESERVED : MEMORY_UNKNOWN,
				 mapping->start, mapping->end, err);
}

static enum hd_status claim_all(struct memory_making *making, struct file_pieces *pieces,
				struct hd_error *err)
{
	const struct memory_account *account = making->account;
	if (!account->is_live)
		TRY(add_core_pieces(making, pieces, err));
	for (size_t i = 0; i < account->mappings_count; i++) {
		const struct memory_mapping *mapping = &account->mappings[i];
		const struct file_piece piece = { mapping->start, mapping->end, mapping->offset,
						  mapping->path, mapping->flags };
		if (!account->is_live) {
			TRY(claim_range(making, mapping, err));
		} else if (*mapping->path == '/') {
			TRY(add_piece(pieces, &piece, err));
		} else {
			TRY(claim_anonymous(making, mapping, err));
		}
	}
	return claim_files(making, pieces, err);
}

enum hd_status memory_claim_mappings(struct memory_making *making, struct hd_error *err)
{
	struct file_pieces pieces = { 0 };
	enum hd_status status = claim_all(making, &pieces, err);
	pages_free(pieces.rows, pieces.rows_capacity, sizeof(*pieces.rows));
	return status;
}
