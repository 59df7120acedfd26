/* SPDX-License-Identifier: MIT */
/* The address space in order of address, with who has each part: what maddress lists. */
#include "native/memory_regions.h"

#include <elf.h>
#include <stdio.h>

#include "util/alloc.h"

/* The pieces of an arena are too many to be listed. */
static enum memory_kind region_kind(enum memory_kind kind)
{
	switch (kind) {
	case MEMORY_MALLOC_FREE:
	case MEMORY_MALLOC_TOP:
	case MEMORY_MALLOC_HEADER:
	case MEMORY_MALLOC_DAMAGED:
		return MEMORY_MALLOC_USED;
	default:
		return kind;
	}
}

/*
 * Addresses for which the kernel gives nothing: without any access, or reserved by the GC.  A core
 * has no bytes of them; gcore writes them as readable zeros.
 */
static bool is_reserved_part(const struct memory_mapping *mapping, enum memory_kind kind)
{
	return kind == MEMORY_GC_RESERVED || kind == MEMORY_RESERVED || !mapping->flags;
}

static enum hd_status add_region(struct memory_regions *regions, const struct memory_region *region,
				 struct hd_error *err)
{
	struct memory_region *last =
		regions->rows_count ? &regions->rows[regions->rows_count - 1] : NULL;
	if (last && last->mapping == region->mapping && last->kind == region->kind &&
	    last->owner == region->owner && last->end == region->start) {
		last->end = region->end;
		return HD_OK;
	}
	TRY_MEMORY(PAGES_RESERVE(regions, rows), err);
	regions->rows[regions->rows_count++] = *region;
	return HD_OK;
}

static enum hd_status read_regions(const struct memory_account *account,
				   struct memory_regions *regions, struct hd_error *err)
{
	size_t next = 0;
	for (size_t i = 0; i < account->mappings_count; i++) {
		const struct memory_mapping *mapping = &account->mappings[i];
		while (next < account->stretches_count &&
		       account->stretches[next].end <= mapping->start)
			next++;
		for (size_t j = next;
		     j < account->stretches_count && account->stretches[j].start < mapping->end;
		     j++) {
			const struct memory_stretch *stretch = &account->stretches[j];
			const struct memory_row *row = &account->rows[stretch->row];
			const struct memory_region region = {
				.start = stretch->start > mapping->start ? stretch->start
									 : mapping->start,
				.end = stretch->end < mapping->end ? stretch->end : mapping->end,
				.mapping = mapping,
				.kind = region_kind(row->kind),
				.owner = row->owner,
				.is_reserved = is_reserved_part(mapping, row->kind),
			};
			TRY(add_region(regions, &region, err));
			next = j;
		}
	}
	return HD_OK;
}

enum hd_status memory_regions_read(const struct memory_account *account, struct memory_regions *ret,
				   struct hd_error *err)
{
	struct memory_regions regions = { 0 };
	enum hd_status status = read_regions(account, &regions, err);
	if (status != HD_OK) {
		memory_regions_deinit(&regions);
		return status;
	}
	*ret = regions;
	return HD_OK;
}

void memory_regions_deinit(struct memory_regions *regions)
{
	pages_free(regions->rows, regions->rows_capacity, sizeof(*regions->rows));
	*regions = (struct memory_regions){ 0 };
}

void memory_regions_blame(struct memory_regions *regions)
{
	for (size_t i = 1; i < regions->rows_count; i++) {
		const struct memory_region *before = &regions->rows[i - 1];
		struct memory_region *region = &regions->rows[i];
		if (region->kind != MEMORY_RESERVED || before->end != region->start ||
		    before->kind == MEMORY_RESERVED)
			continue;
		region->kind = before->kind;
		region->is_blamed = true;
	}
}

const char *memory_region_text(enum memory_kind kind, bool is_blamed, char buf[MEMORY_REGION_TEXT])
{
	(void)snprintf(buf, MEMORY_REGION_TEXT, "%s%s: %s%s", is_blamed ? "[" : "",
		       memory_group_text(memory_kind_group(kind)),
		       kind == MEMORY_MALLOC_USED ? "malloc" : memory_kind_text(kind),
		       is_blamed ? ", reserve]" : "");
	return buf;
}

const char *memory_region_word(enum memory_kind kind, bool is_blamed, char buf[MEMORY_REGION_TEXT])
{
	(void)snprintf(buf, MEMORY_REGION_TEXT, "%s%s", memory_kind_word(kind),
		       is_blamed ? "-reserve" : "");
	return buf;
}

const char *memory_region_sos_name(const struct memory_region *region)
{
	if (region->is_blamed || region->kind == MEMORY_RESERVED)
		return "RESERVED";
	switch (memory_kind_group(region->kind)) {
	case MEMORY_GROUP_STACKS:
		return "Stack";
	case MEMORY_GROUP_IMAGES:
		return region->kind == MEMORY_LINKER ? NULL : "Image";
	case MEMORY_GROUP_GC:
		if (region->kind == MEMORY_GC_RESERVED)
			return "GCHeapReserve";
		if (region->kind == MEMORY_HANDLES)
			return "HandleTable";
		return region->kind < MEMORY_GC_RESERVED ? "GCHeap" : NULL;
	default:
		return region->kind == MEMORY_CODE_HEAP ? "LoaderCodeHeap" : NULL;
	}
}

const char *memory_protection_name(uint32_t flags)
{
	static const char *const names[] = {
		"PAGE_NOACCESS", "PAGE_EXECUTE",      "PAGE_READWRITE", "PAGE_EXECUTE_READWRITE",
		"PAGE_READONLY", "PAGE_EXECUTE_READ", "PAGE_READWRITE", "PAGE_EXECUTE_READWRITE",
	};
	return names[flags & (PF_R | PF_W | PF_X)];
}
