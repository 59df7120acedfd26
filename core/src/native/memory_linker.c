/* SPDX-License-Identifier: MIT */
/*
 * Claims the memory that the dynamic linker has taken before there was a malloc (doc/memory.md
 * 4.1).
 */
#include <elf.h>

#include "native/memory_parts.h"
#include "targets/elf_image.h"
#include "targets/target.h"

/* Its pages are few; a larger mapping has merged with others, or is something else. */
#define LINKER_MAX ((uint64_t)1 << 20)

/* Where struct r_debug has the list of images (link.h). */
#define DEBUG_MAP     8u
#define LINK_MAP_NEXT 24u

/* Programs are linked with few libraries; the records of later ones are pieces of malloc. */
#define LINK_MAPS_MAX 16u

/* The anonymous mapping around an address, if it can be that of the linker. */
static enum hd_status claim_around(struct memory_making *making, uint64_t address,
				   struct hd_error *err)
{
	const struct memory_mapping *mapping = memory_mapping_at(making->account, address);
	if (!address || !mapping || *mapping->path || mapping->is_shared ||
	    mapping->end - mapping->start > LINKER_MAX ||
	    (mapping->flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_W))
		return HD_OK;
	return memory_claim_kind(making, MEMORY_LINKER, mapping->start, mapping->end, err);
}

/* Its records of images: those that it has loaded before the program began come first. */
static enum hd_status claim_link_maps(struct memory_making *making, struct hd_error *err)
{
	const struct target *target = making->target;
	struct elf_dynamic dynamic;
	uint64_t map = 0;
	if (!target->module_count ||
	    !elf_dynamic_read(making->memory, target->modules[0].base, target->modules[0].dynamic,
			      &dynamic) ||
	    !dynamic.debug || !memory_u64(making->memory, dynamic.debug + DEBUG_MAP, &map))
		return HD_OK;
	for (unsigned int i = 0; i < LINK_MAPS_MAX && map; i++) {
		TRY(claim_around(making, map, err));
		if (!memory_u64(making->memory, map + LINK_MAP_NEXT, &map))
			return HD_OK;
	}
	return HD_OK;
}

enum hd_status memory_claim_linker(struct memory_making *making, struct hd_error *err)
{
	const struct target_threads *threads = &making->target->threads;
	/* The variables of the first thread (TLS) are there, others have them on their stacks. */
	for (size_t i = 0; i < threads->count; i++) {
		const struct target_thread *thread = &threads->rows[i];
		if (thread->tid == making->target->pid) {
			TRY(claim_around(making,
					 arch_thread_block(making->target->arch, thread->registers),
					 err));
		}
	}
	return claim_link_maps(making, err);
}
