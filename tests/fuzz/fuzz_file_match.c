/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/targets/file_match.c core/src/targets/elf_file.c core/src/targets/elf_image.c core/src/mem/pe_headers.c
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input_memory.h"
#include "targets/file_match.h"
#include "targets/target_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A core and a file of which it says that it is mapped: the first bytes of the input say where
 * (make_file_pairs.py writes such inputs), then come the bytes of the file, then what the core
 * holds, from BASE on.
 */
#define BASE  ((uint64_t)0x7f0000000000)
#define PAGE  ((uint64_t)4096)
#define PARTS 3u

struct head {
	uint16_t file_size, unused;
	struct part {
		uint8_t gap, pages; /* after the part before; in pages */
		uint8_t offset;     /* in the file, in pages */
		uint8_t flags;      /* PF_R, PF_W, PF_X; 8: offset is enormous */
	} parts[PARTS];
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static size_t make_parts(const struct head *head, struct target_mapping *mappings,
			 struct target_range *ranges)
{
	static char path[] = "/f";
	uint64_t at = BASE;
	size_t count = 0;
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *part = &head->parts[i];
		at += PAGE * (part->gap % 8u);
		uint64_t end = at + PAGE * part->pages;
		if (end == at)
			continue;
		uint64_t far = part->flags & 8 ? UINT64_MAX & ~(PAGE * 1024 - 1) : 0;
		mappings[count] = (struct target_mapping){
			.start = at, .end = end, .offset = far + PAGE * part->offset, .path = path
		};
		ranges[count++] = (struct target_range){
			.start = at, .end = end, .captured = end - at, .flags = part->flags & 7
		};
		at = end;
	}
	return count;
}

/* A file with these bytes, the same descriptor each time. */
static int write_input(const uint8_t *bytes, size_t size)
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("file", MFD_CLOEXEC);
	require(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
	return fd;
}

/* Any file, any core: a state, and a reason if and only if it is another file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t all[PARTS] = { 0, 1, 2 };
	struct head head;
	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	size -= sizeof(head);
	struct target_mapping mappings[PARTS];
	struct target_range ranges[PARTS];
	size_t count = make_parts(&head, mappings, ranges);
	size_t file_size = head.file_size < size ? head.file_size : size;
	const struct mapped_file file = { .bytes = data,
					  .size = file_size,
					  .fd = write_input(data, file_size) };
	struct input_memory memory =
		input_memory_at(BASE, data + file.size, size - file.size, false);
	const struct target target = { .arch = &arch_x86_64,
				       .kind = TARGET_CORE,
				       .memory = &memory.memory,
				       .own = &memory.memory,
				       .map.mappings = mappings,
				       .map.mapping_count = count,
				       .map.ranges = ranges,
				       .map.range_count = count };
	const struct file_parts parts = { .mappings = all, .count = count };
	char reason[256];
	enum target_file_state state = file_match(&target, &parts, &file, reason, sizeof(reason));
	require(state == TARGET_FILE_MATCHED || state == TARGET_FILE_UNVERIFIED ||
		state == TARGET_FILE_MISMATCH);
	require((state == TARGET_FILE_MISMATCH) == (reason[0] != '\0'));
	/* A file that nobody has seen proves nothing. */
	require(state != TARGET_FILE_MATCHED || (file.size && size > file.size));
	/* Nor does it hang on how long the text of the reason may be. */
	char brief[8];
	require(file_match(&target, &parts, &file, brief, sizeof(brief)) == state);
	return 0;
}
