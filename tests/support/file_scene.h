/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/elf_maker.h"
#include "targets/target_files.h"

/* A core, and the file of a module beside it. */

#define SCENE_PAGE ((uint64_t)4096)
#define SCENE_BASE ((uint64_t)0x7f0000000000)

/** A folder of its own for each suite, and a file in it; made and removed by its two functions. */
extern char scene_folder[64], scene_file[128];
void scene_make_folder(void);
void scene_remove_folder(void);

/** An ELF image of 0x6000 bytes, whose last page is full of 'x'. */
struct text elf_file(const char *build_id);
/** A PE file of nine pages: headers in the first, then bytes that @p seed makes. */
struct text pe_file(uint32_t timestamp, unsigned int seed);
void put32(struct text *text, size_t offset, uint32_t value);

/** The file on disk, and what the core has of the one that was mapped. */
struct scene {
	struct text on_disk;
	struct text mapped;
	uint64_t captured_at, captured; /* bytes of mapped that are in the core */
	uint32_t flags;
	const char *path;
	struct target_options options;
};

/** The core of @p scene, opened; to be given to scene_close(). */
struct target *scene_open(struct scene *scene);
/** NULL is allowed as @p target. */
void scene_close(struct scene *scene, struct target *target);
/**
 * The state of the file, whether a byte that the core lacks can be read, and the finding that there is
 * (NULL: none).  Ends with scene_close().
 */
void assert_state(struct scene *scene, enum target_file_state state, const char *finding);
