/* SPDX-License-Identifier: MIT */
#include "targets/image_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mem/memory.h"
#include "util/alloc.h"
#include "util/sort.h"

#define MZ               0x5a4du /* the first bytes of a PE image */
#define PE_HEADERS_AT    0x3cu   /* e_lfanew: where its headers are */
#define PE_IMAGE_SIZE_AT 80u     /* SizeOfImage, from the headers on */

/* Mappings of one file together, ascending. */
static int compare_image_mappings(const void *a, const void *b)
{
	const struct target_mapping *x = *(const struct target_mapping *const *)a,
				    *y = *(const struct target_mapping *const *)b;
	int order = strcmp(x->path, y->path);
	if (order)
		return order;
	return (x->start > y->start) - (x->start < y->start);
}

ORDER_BY(compare_images, struct mapped_image, begin)

static bool has_image_suffix(const char *path, const char *suffix)
{
	size_t length = strlen(path), size = strlen(suffix);
	return length > size && strcasecmp(path + length - size, suffix) == 0;
}

static bool is_pe(const struct target *target, const struct target_mapping *mapping)
{
	uint16_t magic;
	if (target->own && !mapping->offset && memory_u16(target->own, mapping->start, &magic))
		return magic == MZ;
	return has_image_suffix(mapping->path, ".dll") || has_image_suffix(mapping->path, ".exe");
}

static bool add_image(struct image_list *list, const struct mapped_image *image)
{
	if (!PAGES_RESERVE(list, rows))
		return false;
	list->rows[list->rows_count++] = *image;
	return true;
}

/* SizeOfImage in the headers of the PE image at @p begin (PE/COFF 3.4.2); 0: they are not there. */
static uint64_t pe_image_size(const struct target *target, uint64_t begin)
{
	uint32_t headers, size;
	uint16_t magic;
	if (!target->own || !memory_u16(target->own, begin, &magic) || magic != MZ ||
	    !memory_u32(target->own, begin + PE_HEADERS_AT, &headers) ||
	    !memory_u32(target->own, begin + headers + PE_IMAGE_SIZE_AT, &size))
		return 0;
	return size;
}

/*
 * The last mapping of the image that begins with the first one, and one more.  Sections of an image may be mapped from
 * offset 0 again, where their bytes begin in the file's first page.
 */
static size_t pe_image_end(const struct target *target,
			   const struct target_mapping *const *mappings, size_t count)
{
	uint64_t begin = mappings[0]->start, size = pe_image_size(target, begin);
	size_t last = 1;
	while (last < count && (mappings[last]->offset || mappings[last]->start - begin < size))
		last++;
	return last;
}

/* The images of one file: the largest of them, as a row. */
static bool add_pe_image(const struct target *target, struct image_list *list,
			 const struct target_mapping *const *mappings, size_t count)
{
	struct mapped_image largest = { 0 };
	uint32_t times = 0;
	for (size_t i = 0; i < count;) {
		size_t end = i + pe_image_end(target, mappings + i, count - i);
		const struct mapped_image image = {
			.begin = mappings[i]->start,
			.end = mappings[end - 1]->end,
			.path = mappings[i]->path,
			.is_managed = true,
		};
		if (is_pe(target, mappings[i])) {
			times++;
			if (image.end - image.begin > largest.end - largest.begin)
				largest = image;
		}
		i = end;
	}
	largest.times = times;
	return !times || add_image(list, &largest);
}

struct sorted {
	const struct target *target;
	const struct target_mapping **mappings; /* compare_image_mappings() */
	const char **paths;                     /* of modules, ascending */
	size_t mapping_count, path_count;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_of_module(const struct sorted *sorted, const char *path)
{
	return sorted->path_count && bsearch(&path, sorted->paths, sorted->path_count,
					     sizeof(*sorted->paths), compare_paths);
}

static bool add_image_files(const struct sorted *sorted, struct image_list *list)
{
	for (size_t i = 0; i < sorted->mapping_count;) {
		size_t last = i + 1;
		const char *path = sorted->mappings[i]->path;
		while (last < sorted->mapping_count &&
		       strcmp(sorted->mappings[last]->path, path) == 0)
			last++;
		if (*path && !is_of_module(sorted, path) &&
		    !add_pe_image(sorted->target, list, sorted->mappings + i, last - i))
			return false;
		i = last;
	}
	return true;
}

/*
 * The range of an ELF image: the mappings of its file from its base on, up to those of another image
 * of the same file.
 */
static struct mapped_image image_of_module(const struct sorted *sorted,
					   const struct target_module *module)
{
	struct mapped_image image = { .begin = module->base,
				      .end = module->base,
				      .path = module->path ? module->path : "",
				      .module = module,
				      .times = 1 };
	uint64_t known = module->dynamic ? module->dynamic : module->base;
	const struct target_mapping *inside = target_mapping_at(&sorted->target->map, known);
	if (!inside || !inside->path)
		return image;
	const struct target_mapping key = { .path = inside->path, .start = module->base };
	size_t low = 0, high = sorted->mapping_count;
	while (low < high) {
		const struct target_mapping *at, *wanted = &key;
		size_t middle = low + (high - low) / 2;
		at = sorted->mappings[middle];
		if (compare_image_mappings(&at, &wanted) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (size_t i = low; i < sorted->mapping_count; i++) {
		const struct target_mapping *mapping = sorted->mappings[i];
		if (strcmp(mapping->path, inside->path) != 0 ||
		    (mapping->start > known && !mapping->offset))
			break;
		if (i == low)
			image.begin = mapping->start;
		image.end = mapping->end;
	}
	if (!*image.path)
		image.path = inside->path;
	return image;
}

static bool sort_all(const struct target *target, struct sorted *ret)
{
	*ret = (struct sorted){ .target = target };
	ret->mappings = mem_calloc(target->map.mapping_count + 1, sizeof(struct target_mapping *));
	ret->paths = mem_calloc(target->module_count + 1, sizeof(*ret->paths));
	if (!ret->mappings || !ret->paths)
		return false;
	for (size_t i = 0; i < target->map.mapping_count; i++) {
		if (target->map.mappings[i].path)
			ret->mappings[ret->mapping_count++] = &target->map.mappings[i];
	}
	for (size_t i = 0; i < target->module_count; i++) {
		if (target->modules[i].path)
			ret->paths[ret->path_count++] = target->modules[i].path;
	}
	qsort(ret->mappings, ret->mapping_count, sizeof(struct target_mapping *),
	      compare_image_mappings);
	qsort(ret->paths, ret->path_count, sizeof(*ret->paths), compare_paths);
	return true;
}

enum hd_status image_list_read(const struct target *target, struct image_list *ret,
			       struct hd_error *err)
{
	struct sorted sorted;
	*ret = (struct image_list){ 0 };
	bool good = sort_all(target, &sorted) && add_image_files(&sorted, ret);
	for (size_t i = 0; good && i < target->module_count; i++) {
		const struct mapped_image image = image_of_module(&sorted, &target->modules[i]);
		good = add_image(ret, &image);
	}
	mem_free(sorted.mappings);
	mem_free(sorted.paths);
	TRY_MEMORY(good, err);
	if (ret->rows_count)
		qsort(ret->rows, ret->rows_count, sizeof(*ret->rows), compare_images);
	return HD_OK;
}

void image_list_deinit(struct image_list *list)
{
	pages_free(list->rows, list->rows_capacity, sizeof(*list->rows));
	*list = (struct image_list){ 0 };
}
