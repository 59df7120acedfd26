/* SPDX-License-Identifier: MIT */
/* Where a program says why it ended (doc/nativeaot.md 5.6). */
#include <elf.h>
#include <string.h>

#include "runtime/nativeaot/internal.h"
#include "targets/elf_image.h"
#include "targets/target.h"
#include "util/alloc.h"

/* Its first member (CrashInfo.cs); the text is in a buffer of zeros. */
#define BEGINNING  "{\"version\":\""
#define BEGIN_SIZE (sizeof(BEGINNING) - 1)

/* Most bytes of a segment that are searched, and how many at once. */
#define SEGMENT_MAX ((uint64_t)64 << 20)
#define CHUNK       ((size_t)64 << 10)

/* The buffer is an array of the runtime's, aligned to words. */
#define ALIGN 8u

static bool begins(struct memory *memory, uint64_t address)
{
	char bytes[BEGIN_SIZE];
	return address && memory_read(memory, address, bytes, sizeof(bytes)) &&
	       memcmp(bytes, BEGINNING, BEGIN_SIZE) == 0;
}

static uint64_t search(struct memory *memory, uint64_t begin, uint64_t size)
{
	HD_FREE uint8_t *chunk = mem_alloc(CHUNK, 1);
	for (uint64_t done = 0; chunk && done < size; done += CHUNK) {
		uint64_t left = size - done;
		size_t got = memory_prefix(memory, begin + done, chunk,
					   left < CHUNK ? (size_t)left : CHUNK);
		for (size_t at = 0; at + ALIGN <= got; at += ALIGN) {
			if (memcmp(chunk + at, BEGINNING, ALIGN) == 0 &&
			    begins(memory, begin + done + at))
				return begin + done + at;
		}
	}
	return 0;
}

uint64_t aot_crash_record(const struct runtime *runtime)
{
	const struct nativeaot *aot = aot_of(runtime);
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	uint64_t found = aot->globals.crash;
	if (found || runtime->target->kind != TARGET_CORE)
		return begins(runtime->memory, found) ? found : 0;
	size_t count = elf_image_programs(runtime->memory, aot->module->base, programs);
	for (size_t i = 0; i < count && !found; i++) {
		uint64_t begin = aot->module->base + programs[i].p_vaddr;
		uint64_t skipped = -begin % ALIGN;
		if (programs[i].p_type == PT_LOAD && programs[i].p_flags & PF_W &&
		    programs[i].p_memsz <= SEGMENT_MAX && programs[i].p_memsz > skipped) {
			found = search(runtime->memory, begin + skipped,
				       programs[i].p_memsz - skipped);
		}
	}
	return found;
}
