/* SPDX-License-Identifier: MIT */
#include "targets/core/core_notes.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "targets/core/core_headers.h"
#include "targets/elf_file.h"
#include "util/alloc.h"
#include "util/sort.h"

/*
 * The notes of a core, copied out of the file one segment after the other, for libelf: one piece,
 * because libelf keeps a list of all pieces that it was asked for, and searches it each time.
 */
struct note_copy {
	uint8_t *bytes; /* an ELF header, then the segments */
	size_t size;
	Elf *elf;
	Elf_Data *data; /* all of bytes */
	size_t begin;   /* of the segment that is read, in bytes */
	size_t next;    /* where the segment after it begins */
};

/* One note of a copy. */
struct note_place {
	GElf_Nhdr header;
	const uint8_t *name, *bytes; /* header.n_namesz and header.n_descsz bytes */
};

/* Notes are aligned to the place in the copy, and not in the file, where a segment may lie anywhere. */
static uint64_t aligned(uint64_t size)
{
	return (size + 3) & ~(uint64_t)3;
}

/* Go on to the next segment, which has @p size bytes: they come in the order of the list. */
static void note_copy_turn(struct note_copy *copy, uint64_t size)
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

/*
 * Copy the segments of @p headers, which do not overlap.
 *
 * @param target The memory counts against its options.max_mem.
 * @param[out] ret To be given to note_copy_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 */
static enum hd_status note_copy_make(struct target *target, const struct mapped_file *file,
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

static void note_copy_deinit(struct note_copy *copy)
{
	(void)elf_end(copy->elf);
	pages_free(copy->bytes, copy->size, 1);
	*copy = (struct note_copy){ 0 };
}

/*
 * Read the note at @p offset of the segment, which has @p size bytes.
 *
 * @return where the next one begins; 0: the note is larger than the rest of the segment
 */
static uint64_t note_copy_read(const struct note_copy *copy, uint64_t size, uint64_t offset,
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

/* struct elf_prpsinfo of 64 bits (doc/debuggers.md 4; sys/procfs.h), whatever machine this is. */
#define PRPSINFO_SIZE      136u
#define PRPSINFO_PID       24u
#define PRPSINFO_NAME      40u
#define PRPSINFO_NAME_SIZE 16u
#define PRPSINFO_ARGUMENTS 56u
#define NT_GDB_TDESC       0xff000000u

/* The state of reading notes. */
struct note {
	struct target *target;
	struct core_notes *notes;
	const uint8_t *bytes;
	uint64_t size;
};

/** Most bytes that malloc() adds to a small piece of memory. */
#define PIECE_EXTRA 32u

static void add_short_note(const struct note *note, const char *name, uint64_t expected)
{
	findings_add(&note->target->findings, FINDING_ODD_NOTE, NULL,
		     "a note %s of %" PRIu64 " bytes instead of %" PRIu64 ": it is ignored", name,
		     note->size, expected);
}

static enum hd_status read_prstatus(const struct note *note, struct hd_error *err)
{
	struct target *target = note->target;
	const struct prstatus_layout *layout = &target->arch->prstatus;
	if (note->size < layout->size) {
		add_short_note(note, "NT_PRSTATUS", layout->size);
		return HD_OK;
	}
	if (target->threads.count == note->notes->thread_capacity) {
		size_t capacity =
			grown_capacity(note->notes->thread_capacity, sizeof(*target->threads.rows));
		TRY(target_reserve(target, capacity, sizeof(*target->threads.rows), err));
		struct target_thread *threads =
			mem_realloc(target->threads.rows, capacity, sizeof(*threads));
		TRY_MEMORY(capacity && threads, err);
		target->threads.rows = threads;
		note->notes->thread_capacity = capacity;
	}
	struct target_thread *thread = &target->threads.rows[target->threads.count];
	thread->tid = (int32_t)load_u32(note->bytes + layout->pid);
	thread->number = 0;
	thread->inner_tid = 0;
	thread->signal = load_u16(note->bytes + layout->signal);
	memset(thread->registers, 0, sizeof(thread->registers));
	for (size_t i = 0; i < layout->count; i++)
		thread->registers[i] = load_u64(note->bytes + layout->registers + 8 * i);
	if (!target->threads.count++)
		target->core.signal = thread->signal;
	return HD_OK;
}

static void read_prpsinfo(const struct note *note)
{
	struct target *target = note->target;
	if (note->size < PRPSINFO_SIZE) {
		add_short_note(note, "NT_PRPSINFO", PRPSINFO_SIZE);
		return;
	}
	target->pid = (int)load_u32(note->bytes + PRPSINFO_PID);
	memcpy(target->name, note->bytes + PRPSINFO_NAME, PRPSINFO_NAME_SIZE);
	note->notes->has_arguments = note->bytes[PRPSINFO_ARGUMENTS] != 0;
}

static enum hd_status add_mapping(const struct note *note, const uint8_t *row, uint64_t unit,
				  const char *path, size_t path_size, struct hd_error *err)
{
	struct target *target = note->target;
	struct target_mapping mapping = { .start = load_u64(row), .end = load_u64(row + 8) };
	if (mapping.start >= mapping.end ||
	    __builtin_mul_overflow(load_u64(row + 16), unit, &mapping.offset) ||
	    mapping.offset > (uint64_t)INT64_MAX - (mapping.end - mapping.start)) {
		findings_add(&target->findings, FINDING_ODD_NOTE, NULL,
			     "the note NT_FILE has a mapping that cannot be (0x%" PRIx64
			     " to 0x%" PRIx64 "): it is ignored",
			     mapping.start, mapping.end);
		return HD_OK;
	}
	TRY(target_reserve(target, 1, path_size + PIECE_EXTRA, err));
	mapping.path = mem_strndup(path, path_size);
	TRY_MEMORY(mapping.path, err);
	target->map.mappings[target->map.mapping_count++] = mapping;
	return HD_OK;
}

/* Room for @p count more mappings. */
static enum hd_status reserve_mappings(const struct note *note, uint64_t count,
				       struct hd_error *err)
{
	struct target *target = note->target;
	size_t capacity = note->notes->mapping_capacity;
	if (count <= capacity - target->map.mapping_count)
		return HD_OK;
	size_t grown = grown_capacity(capacity, sizeof(*target->map.mappings));
	if (grown < target->map.mapping_count + (size_t)count)
		grown = target->map.mapping_count + (size_t)count;
	TRY(target_reserve(target, grown, sizeof(*target->map.mappings), err));
	struct target_mapping *mappings =
		mem_realloc(target->map.mappings, grown, sizeof(*target->map.mappings));
	TRY_MEMORY(mappings, err);
	target->map.mappings = mappings;
	note->notes->mapping_capacity = grown;
	return HD_OK;
}

/* u64 count, u64 unit of offsets, count rows of start, end, offset, then as many paths. */
static enum hd_status read_files(const struct note *note, struct job *job, struct hd_error *err)
{
	struct target *target = note->target;
	if (note->size < 16) {
		add_short_note(note, "NT_FILE", 16);
		return HD_OK;
	}
	uint64_t count = load_u64(note->bytes), unit = load_u64(note->bytes + 8);
	/* A row and the NUL of its path. */
	uint64_t possible = (note->size - 16) / 25;
	if (count > possible) {
		findings_add(&target->findings, FINDING_ODD_NOTE, NULL,
			     "the note NT_FILE says %" PRIu64 " mapped files, but has room for only"
			     " %" PRIu64,
			     count, possible);
		count = possible;
	}
	TRY(reserve_mappings(note, count, err));
	const char *path = (const char *)note->bytes + 16 + count * 24;
	uint64_t left = note->size - 16 - count * 24;
	for (uint64_t i = 0; i < count; i++) {
		TRY(job_check(job, 0, err));
		size_t size = strnlen(path, left);
		if (size == left) {
			findings_add(&target->findings, FINDING_ODD_NOTE, NULL,
				     "the note NT_FILE has %" PRIu64 " paths for %" PRIu64
				     " mapped files",
				     i, count);
			break;
		}
		TRY(add_mapping(note, note->bytes + 16 + i * 24, unit, path, size, err));
		path += size + 1;
		left -= size + 1;
	}
	return HD_OK;
}

static enum hd_status read_note(const struct note *note, const struct note_place *place,
				struct job *job, struct hd_error *err)
{
	struct core_notes *notes = note->notes;
	const GElf_Nhdr *header = &place->header;
	bool is_core = header->n_namesz >= 4 && memcmp(place->name, "CORE", 4) == 0;
	if (header->n_type == NT_GDB_TDESC && header->n_namesz >= 3 &&
	    memcmp(place->name, "GDB", 3) == 0)
		notes->has_gdb_description = true;
	if (header->n_type == NT_X86_XSTATE)
		notes->has_xstate = true;
	if (!notes->count++)
		notes->prpsinfo_first = is_core && header->n_type == NT_PRPSINFO;
	if (!is_core)
		return HD_OK;
	switch (header->n_type) {
	case NT_PRSTATUS:
		return read_prstatus(note, err);
	case NT_FILE:
		return read_files(note, job, err);
	case NT_PRPSINFO:
		read_prpsinfo(note);
		return HD_OK;
	case NT_AUXV:
		target_auxv_read(&note->target->auxv, note->bytes, (size_t)note->size);
		return HD_OK;
	case NT_SIGINFO:
		notes->has_siginfo = true;
		return HD_OK;
	default:
		return HD_OK;
	}
}

/* Read the notes of one segment. */
static enum hd_status read_note_segment(struct target *target, const struct note_copy *copy,
					const struct core_note_segment *segment,
					struct core_notes *ret, struct job *job,
					struct hd_error *err)
{
	for (uint64_t offset = 0, next; offset < segment->size; offset = next) {
		struct note_place place;
		TRY(job_check(job, 0, err));
		next = note_copy_read(copy, segment->size, offset, &place);
		if (!next && segment->is_cut)
			break;
		if (!next) {
			findings_add(&target->findings, FINDING_ODD_NOTE, NULL,
				     "the note at offset 0x%" PRIx64
				     " of the file is larger than its segment: what follows it is"
				     " ignored",
				     segment->offset + offset);
			break;
		}
		const struct note note = { .target = target,
					   .notes = ret,
					   .bytes = place.bytes,
					   .size = place.header.n_descsz };
		TRY(read_note(&note, &place, job, err));
	}
	return HD_OK;
}

ORDER_BY(compare_note_segments, struct core_note_segment, offset)

/*
 * Sort the segments in the order of the file, and merge those that share bytes: so each byte is
 * read once, however often the headers name it.
 */
static void merge_segments(struct target *target, struct core_headers *headers)
{
	struct core_note_segment *notes = headers->notes;
	size_t kept = 0, merged = 0;
	uint64_t first = 0;
	if (headers->note_count)
		qsort(notes, headers->note_count, sizeof(*notes), compare_note_segments);
	for (size_t i = 0; i < headers->note_count; i++) {
		struct core_note_segment *last = kept ? &notes[kept - 1] : NULL;
		if (!notes[i].size)
			continue;
		if (!last || notes[i].offset >= last->offset + last->size) {
			notes[kept++] = notes[i];
			continue;
		}
		if (!merged++)
			first = notes[i].offset;
		uint64_t end = notes[i].offset + notes[i].size;
		if (end > last->offset + last->size)
			last->size = end - last->offset;
		last->is_cut = last->is_cut || notes[i].is_cut;
	}
	headers->note_count = kept;
	if (merged) {
		findings_add(&target->findings, FINDING_ODD_NOTE, NULL,
			     "%zu segments of notes, the first at offset 0x%" PRIx64
			     " of the file, have bytes of others: these are read once",
			     merged, first);
	}
}

ORDER_BY(compare_mappings, struct target_mapping, start)

/* Make them ascending and not overlapping. */
static void sort_mappings(struct target *target)
{
	if (!target->map.mapping_count)
		return;
	qsort(target->map.mappings, target->map.mapping_count, sizeof(*target->map.mappings),
	      compare_mappings);
	size_t kept = 0;
	for (size_t i = 0; i < target->map.mapping_count; i++) {
		struct target_mapping *mapping = &target->map.mappings[i];
		uint64_t end = kept ? target->map.mappings[kept - 1].end : 0;
		if (mapping->start < end) {
			findings_add(&target->findings, FINDING_ODD_NOTE, NULL,
				     "the note NT_FILE has two files at 0x%" PRIx64,
				     mapping->start);
			if (mapping->end <= end) {
				mem_free(mapping->path);
				continue;
			}
			mapping->offset += end - mapping->start;
			mapping->start = end;
		}
		target->map.mappings[kept++] = *mapping;
	}
	target->map.mapping_count = kept;
}

enum hd_status core_notes_read(struct target *target, const struct mapped_file *file,
			       struct core_headers *headers, struct core_notes *ret,
			       struct job *job, struct hd_error *err)
{
	*ret = (struct core_notes){ 0 };
	merge_segments(target, headers);
	HD_CLEANUP(note_copy) struct note_copy copy = { 0 };
	TRY(note_copy_make(target, file, headers, &copy, err));
	for (size_t i = 0; i < headers->note_count; i++) {
		const struct core_note_segment *segment = &headers->notes[i];
		note_copy_turn(&copy, segment->size);
		TRY(read_note_segment(target, &copy, segment, ret, job, err));
	}
	sort_mappings(target);
	return target_sort_threads(target, err);
}

enum core_producer core_guess_producer(const struct core_notes *notes,
				       const struct core_headers *headers)
{
	if (notes->has_gdb_description || headers->is_unaligned)
		return PRODUCER_GCORE;
	if (!notes->count)
		return PRODUCER_UNKNOWN;
	/* DumpWriter::WriteDump of createdump: NT_PRPSINFO, AUXV, FILE, then the threads. */
	if (notes->prpsinfo_first && !notes->has_xstate && !notes->has_arguments)
		return PRODUCER_CREATEDUMP;
	return !notes->prpsinfo_first && notes->has_siginfo ? PRODUCER_KERNEL : PRODUCER_UNKNOWN;
}

/* Captured bytes that are mapped from files; both lists ascend. */
static uint64_t captured_of_files(const struct target *target)
{
	uint64_t sum = 0;
	size_t next = 0;
	for (size_t i = 0; i < target->map.mapping_count; i++) {
		const struct target_mapping *mapping = &target->map.mappings[i];
		while (next < target->map.range_count &&
		       target->map.ranges[next].end <= mapping->start)
			next++;
		for (size_t j = next; j < target->map.range_count; j++) {
			const struct target_range *range = &target->map.ranges[j];
			if (range->start >= mapping->end)
				break;
			uint64_t start =
				range->start > mapping->start ? range->start : mapping->start;
			uint64_t end = range->start + range->captured;
			end = end < mapping->end ? end : mapping->end;
			sum += end > start ? end - start : 0;
		}
	}
	return sum;
}

/*
 * The stack pointers of all threads, ascending; NULL: memory is exhausted, or there are no threads.
 */
static uint64_t *sorted_stacks(struct target *target, struct hd_error *err)
{
	if (target_reserve(target, target->threads.count, sizeof(uint64_t), err) != HD_OK)
		return NULL;
	uint64_t *stacks = mem_alloc(target->threads.count, sizeof(*stacks));
	for (size_t i = 0; stacks && i < target->threads.count; i++)
		stacks[i] = target_thread_sp(target, &target->threads.rows[i]);
	if (stacks) {
		sort_u64(stacks, target->threads.count);
	} else {
		(void)fail_nomem(err);
	}
	return stacks;
}

/* Is there a range like that of a heap?  Ranges and stacks ascend. */
static bool has_heap_range(const struct target *target, const uint64_t *stacks)
{
	size_t next = 0;
	for (size_t i = 0; i < target->map.range_count; i++) {
		const struct target_range *range = &target->map.ranges[i];
		while (next < target->threads.count && stacks[next] < range->start)
			next++;
		bool is_stack = next < target->threads.count && stacks[next] < range->end;
		if (range->captured >= HEAP_RUN && range->flags & PF_W && !is_stack &&
		    !target_mapping_at(&target->map, range->start))
			return true;
	}
	return false;
}

enum hd_status core_guess_content(struct target *target, struct hd_error *err)
{
	uint64_t mapped = 0;
	for (size_t i = 0; i < target->map.mapping_count; i++)
		mapped += target->map.mappings[i].end - target->map.mappings[i].start;
	if (target->core.is_truncated || !mapped) {
		target->core.content = CONTENT_UNKNOWN;
		return HD_OK;
	}
	if (captured_of_files(target) >= mapped / 10 * 9) {
		target->core.content = CONTENT_FULL;
		return HD_OK;
	}
	HD_FREE uint64_t *stacks = sorted_stacks(target, err);
	if (!stacks)
		return HD_ERR_NOMEM;
	target->core.content = has_heap_range(target, stacks) ? CONTENT_HEAP : CONTENT_MINI;
	return HD_OK;
}
