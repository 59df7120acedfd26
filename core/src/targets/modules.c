/* SPDX-License-Identifier: MIT */
#include "targets/elf_image.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

#define TARGET_MODULES_MAX 8192u
/** Most ELF images that are read, in ranges or mapped files: each may have many headers. */
#define IMAGES_LOOKED_AT_MAX 8192u

/* Modules being collected. */
struct module_collector {
	struct target *target;
	struct job *job;
	size_t capacity;
	uint64_t *known; /**< .dynamic of all modules, ascending: for add_images() */
	size_t known_count;
};

static enum hd_status add_target_module(struct module_collector *collector, uint64_t base,
					uint64_t dynamic, const char *path, struct hd_error *err)
{
	struct target *target = collector->target;
	if (target->module_count == collector->capacity) {
		size_t capacity = grown_capacity(collector->capacity, sizeof(*target->modules));
		TRY(target_reserve(target, capacity, sizeof(*target->modules), err));
		struct target_module *modules =
			mem_realloc(target->modules, capacity, sizeof(*modules));
		TRY_MEMORY(capacity && modules, err);
		target->modules = modules;
		collector->capacity = capacity;
	}
	struct target_module module = { .base = base, .dynamic = dynamic };
	TRY(target_reserve(target, 1, strlen(path) + 1, err));
	module.path = mem_strndup(path, strlen(path));
	TRY_MEMORY(module.path, err);
	target->modules[target->module_count++] = module;
	return HD_OK;
}

static void add_broken_link_map(struct target *target, uint64_t entry, const char *how)
{
	findings_add(
		&target->findings, FINDING_LINK_MAP, target_advice_written(target, entry),
		"the dynamic linker's list of modules %s after %zu: the rest come from the names "
		"of mapped files",
		how, target->module_count);
}

/* If the list has a cycle, some were taken twice. */
static void remove_repeated(struct target *target)
{
	size_t kept = 0;
	for (size_t i = 0; i < target->module_count; i++) {
		struct target_module module = target->modules[i];
		size_t j = 0;
		while (j < kept && (target->modules[j].base != module.base ||
				    target->modules[j].dynamic != module.dynamic))
			j++;
		if (j < kept) {
			mem_free(module.path);
		} else {
			target->modules[kept++] = module;
		}
	}
	target->module_count = kept;
}

/*
 * struct link_map (link.h): l_addr, l_name, l_ld, l_next.  Brent's algorithm finds a cycle: the
 * tortoise jumps to where the hare is at each power of two.  *@p ret_complete: it ended with NULL.
 */
static enum hd_status walk_link_map(struct module_collector *collector, uint64_t entry,
				    bool *ret_complete, struct hd_error *err)
{
	struct target *target = collector->target;
	uint64_t tortoise = 0, steps = 0, limit = 1;
	*ret_complete = false;
	while (entry) {
		uint64_t fields[4];
		TRY(job_check(collector->job, 0, err));
		if (!memory_read(target->memory, entry, fields, sizeof(fields))) {
			add_broken_link_map(target, entry, "cannot be read");
			return HD_OK;
		}
		if (entry == tortoise || target->module_count == TARGET_MODULES_MAX) {
			remove_repeated(target);
			add_broken_link_map(target, entry,
					    entry == tortoise ? "runs in a circle"
							      : "does not end");
			return HD_OK;
		}
		if (++steps == limit) {
			tortoise = entry;
			limit *= 2;
		}
		char path[4096];
		if (memory_string(target->memory, fields[1], path, sizeof(path)) < 0)
			path[0] = '\0';
		TRY(add_target_module(collector, fields[0], fields[2], path, err));
		entry = fields[3];
	}
	*ret_complete = target->module_count > 0;
	return HD_OK;
}

/* r_debug.r_map of the executable with .dynamic at @p dynamic; 0 = none. */
static uint64_t link_map_of(const struct target *target, const struct elf_image *image)
{
	struct elf_dynamic dynamic;
	uint64_t map = 0;
	if (!image->dynamic ||
	    !elf_dynamic_read(target->memory, image->bias, image->dynamic, &dynamic) ||
	    !dynamic.debug || !memory_u64(target->memory, dynamic.debug + 8, &map))
		return 0;
	return map;
}

/*
 * Find the images by the names of mapped files, or, without names (a core whose notes are cut), at
 * the begin of captured ranges.
 */
static bool image_at(const struct target *target, size_t index, struct elf_image *ret,
		     const char **ret_path)
{
	uint64_t start;
	if (target->map.mapping_count) {
		if (target->map.mappings[index].offset)
			return false;
		start = target->map.mappings[index].start;
		*ret_path = target->map.mappings[index].path;
	} else {
		if (!target->map.ranges[index].captured)
			return false;
		start = target->map.ranges[index].start;
		*ret_path = NULL;
	}
	return elf_image_read(target->memory, start, ret);
}

static size_t image_places(const struct target *target)
{
	return target->map.mapping_count ? target->map.mapping_count : target->map.range_count;
}

/* The first known .dynamic whose address is at least @p dynamic. */
static size_t known_place(const struct module_collector *collector, uint64_t dynamic)
{
	return lower_bound_u64(collector->known, collector->known_count, dynamic);
}

/* Is there a module with that .dynamic?  Afterwards there is. */
static bool is_known_module(struct module_collector *collector, uint64_t dynamic)
{
	size_t place = known_place(collector, dynamic);
	if (place < collector->known_count && collector->known[place] == dynamic)
		return true;
	memmove(collector->known + place + 1, collector->known + place,
		(collector->known_count - place) * sizeof(*collector->known));
	collector->known[place] = dynamic;
	collector->known_count++;
	return false;
}

static void read_soname(const struct target *target, const struct elf_image *image, char *buf,
			size_t size)
{
	struct elf_dynamic dynamic;
	buf[0] = '\0';
	if (!elf_dynamic_read(target->memory, image->bias, image->dynamic, &dynamic) ||
	    !dynamic.soname || !dynamic.strings ||
	    memory_string(target->memory, dynamic.strings + dynamic.soname, buf, size) < 0)
		buf[0] = '\0';
}

/* The modules of the images; @p collector knows those of the link map. */
static enum hd_status add_new_images(struct module_collector *collector, struct hd_error *err)
{
	struct target *target = collector->target;
	for (size_t i = 0, images = 0; i < image_places(target) && images < IMAGES_LOOKED_AT_MAX;
	     i++) {
		struct elf_image image;
		const char *path;
		if (target->module_count == TARGET_MODULES_MAX)
			break;
		TRY(job_check(collector->job, 0, err));
		if (!image_at(target, i, &image, &path))
			continue;
		images++;
		if (!image.dynamic || is_known_module(collector, image.dynamic))
			continue;
		char soname[256];
		if (!path) {
			read_soname(target, &image, soname, sizeof(soname));
			path = soname;
		}
		TRY(add_target_module(collector, image.bias, image.dynamic, path, err));
	}
	return HD_OK;
}

static enum hd_status add_images(struct module_collector *collector, struct hd_error *err)
{
	const struct target *target = collector->target;
	collector->known = mem_alloc(TARGET_MODULES_MAX, sizeof(*collector->known));
	TRY_MEMORY(collector->known, err);
	for (size_t i = 0; i < target->module_count; i++)
		(void)is_known_module(collector, target->modules[i].dynamic);
	enum hd_status status = add_new_images(collector, err);
	mem_free(collector->known);
	return status;
}

/* Without a link map the executable is the image that holds its entry point. */
static void put_executable_first(struct target *target)
{
	const struct target_mapping *entry = target_mapping_at(&target->map, target->auxv.entry);
	for (size_t i = 1; entry && i < target->module_count; i++) {
		if (strcmp(target->modules[i].path, entry->path) != 0)
			continue;
		struct target_module executable = target->modules[i];
		memmove(&target->modules[1], &target->modules[0], i * sizeof(*target->modules));
		target->modules[0] = executable;
		break;
	}
}

/*
 * The link map has the name "" for the executable: find the file from which its entry point is
 * mapped.
 */
static enum hd_status name_executable(struct target *target, struct hd_error *err)
{
	if (!target->module_count || target->modules[0].path[0])
		return HD_OK;
	const struct target_mapping *mapping = target_mapping_at(&target->map, target->auxv.entry);
	if (!mapping)
		mapping = target_mapping_at(&target->map, target->modules[0].dynamic);
	if (!mapping)
		return HD_OK;
	char *path = mem_strndup(mapping->path, strlen(mapping->path));
	TRY_MEMORY(path, err);
	mem_free(target->modules[0].path);
	target->modules[0].path = path;
	return HD_OK;
}

/* r_debug.r_map by the executable's headers, else by the first image that has one. */
static enum hd_status find_link_map(const struct module_collector *collector, uint64_t *ret,
				    struct hd_error *err)
{
	const struct target *target = collector->target;
	struct elf_image image;
	const char *path;
	if (target->auxv.phdr && elf_image_read_program(target->memory, target->auxv.phdr,
							target->auxv.phnum, 0, &image))
		*ret = link_map_of(target, &image);
	for (size_t i = 0, images = 0;
	     !*ret && i < image_places(target) && images < IMAGES_LOOKED_AT_MAX; i++) {
		TRY(job_check(collector->job, 0, err));
		if (!image_at(target, i, &image, &path))
			continue;
		images++;
		*ret = link_map_of(target, &image);
	}
	return HD_OK;
}

enum hd_status target_load_modules(struct target *target, struct job *job, struct hd_error *err)
{
	struct module_collector collector = { .target = target, .job = job };
	uint64_t map = 0;
	bool complete = false;
	TRY(find_link_map(&collector, &map, err));
	TRY(walk_link_map(&collector, map, &complete, err));
	if (!complete) {
		size_t listed = target->module_count;
		TRY(add_images(&collector, err));
		if (!listed)
			put_executable_first(target);
	}
	return name_executable(target, err);
}
