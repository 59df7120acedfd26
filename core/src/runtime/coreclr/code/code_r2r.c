/* SPDX-License-Identifier: MIT */
/* Code that was compiled ahead of time (readytoruninfo.h, codeman.cpp: ReadyToRunJitManager). */
#include "arch/arch.h"
#include "mem/memory.h"
#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/code/method_list.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/ready_to_run.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "util/alloc.h"
#include "util/sort.h"

/*
 * HashMap (hash.h): buckets of 4 keys and 4 values; bucket 0 has only the number of buckets, in its
 * first u32.
 */
#define MAP_BUCKET_SIZE 64u
#define BUCKET_SLOTS    4u
#define KEY_LAST        1u /* 0: empty, 1: deleted */
#define MAP_BUCKETS_MAX 4194304u
#define BUCKETS_READ    1024u /* at a time */
/*
 * The top bit of slot 0's value, set when a key of this bucket was put into another one; and how
 * far away (hash.h: HashFunction, IsCollision, in 8, 9 and 10).
 */
#define COLLISION  0x8000000000000000u
#define SEED_SHIFT 2u
#define STEP_SHIFT 5u
#define PROBES_MAX 4194304u /* most buckets that are read in this way, for all images */
/* How many functions before an address are checked for their method if the map has gaps. */
#define FUNCLETS_MAX   256u
#define R2R_IMAGES_MAX 4096u

/* The first major versions of images whose GCInfo has version 3, and 4. */
#define FIRST_GC_INFO_3 10u
#define FIRST_GC_INFO_4 11u

void r2r_image_deinit(struct r2r_image *image)
{
	pages_free(image->entries, image->entries_capacity, sizeof(*image->entries));
	pages_free(image->method_descs, image->method_descs_capacity, sizeof(*image->method_descs));
	mem_free(image->order);
	mem_free(image->rids);
}

/* The GCInfo's version depends on that of the image, because old images run on new runtimes. */
static unsigned int gc_info_version(struct runtime *runtime, uint64_t info)
{
	uint64_t header;
	uint32_t signature;
	uint16_t major;
	if (!coreclr_pointer(runtime, info, L_R2R_HEADER, &header) ||
	    !memory_u32(runtime->memory, header, &signature) || signature != R2R_SIGNATURE ||
	    !memory_u16(runtime->memory, header + R2R_MAJOR, &major))
		return coreclr_of(runtime)->gc_info_version;
	return major >= FIRST_GC_INFO_4 ? 4 : major >= FIRST_GC_INFO_3 ? 3 : 2;
}

static bool add_entry(struct r2r_image *image, uint64_t code, uint64_t value)
{
	if (!PAGES_RESERVE(image, entries) || !PAGES_RESERVE(image, method_descs))
		return false;
	image->entries[image->entries_count++] = code;
	image->method_descs[image->method_descs_count++] = value << 1; /* drops the flag on top */
	return true;
}

/* The entries of the map at @p buckets that lie in the section; false when memory is exhausted. */
static bool read_r2r_entries(struct runtime *runtime, const struct code_section *section,
			     uint64_t buckets, uint32_t count, struct r2r_image *image)
{
	HD_FREE uint64_t *rows = mem_alloc(BUCKETS_READ, MAP_BUCKET_SIZE);
	bool done = rows != NULL;
	for (uint32_t i = 0; done && i < count;) {
		uint32_t part = count - i < BUCKETS_READ ? count - i : BUCKETS_READ;
		size_t size = memory_prefix(runtime->memory,
					    buckets + MAP_BUCKET_SIZE * ((uint64_t)i + 1), rows,
					    (size_t)part * MAP_BUCKET_SIZE);
		for (size_t k = 0; done && k < size / MAP_BUCKET_SIZE * BUCKET_SLOTS; k++) {
			const uint64_t *row = rows + k / BUCKET_SLOTS * 2 * BUCKET_SLOTS;
			uint64_t key = row[k % BUCKET_SLOTS];
			if (key > KEY_LAST && key >= section->begin && key < section->end) {
				done = add_entry(image, key, row[BUCKET_SLOTS + k % BUCKET_SLOTS]);
			}
		}
		if (size < (size_t)part * MAP_BUCKET_SIZE) {
			image->is_partial = true;
			break;
		}
		i += part;
	}
	return done;
}

/* Sort the entries; false when memory is exhausted. */
static bool sort_entries(struct r2r_image *image)
{
	if (!image->entries_count)
		return true;
	image->order = mem_alloc(image->entries_count, sizeof(*image->order));
	return image->order &&
	       sort_keys(image->entries, image->order, (uint32_t)image->entries_count);
}

/*
 * Read what the runtime knows about an image; if it cannot be read, functions stays 0.  The
 * components of a composite image share one map.
 *
 * @return false when memory is exhausted
 */
static bool read_r2r_image(struct runtime *runtime, const struct code_section *section,
			   struct r2r_image *image)
{
	struct code_tables *tables = coreclr_of(runtime)->code;
	uint64_t info, owner, functions, buckets;
	uint32_t function_count, count;
	const struct layout *layout = &coreclr_of(runtime)->layout;
	if (!coreclr_pointer(runtime, section->module, L_MODULE_R2R, &info) || !info ||
	    !layout_has(layout, L_R2R_FUNCTION_COUNT) || !layout_has(layout, L_R2R_ENTRY_POINTS) ||
	    !coreclr_pointer(runtime, info, L_R2R_FUNCTIONS, &functions) ||
	    !memory_u32(runtime->memory, info + coreclr_offset(runtime, L_R2R_FUNCTION_COUNT),
			&function_count))
		return true;
	if (!coreclr_pointer(runtime, info, L_R2R_COMPOSITE, &owner) || !owner)
		owner = info;
	if (!coreclr_pointer(runtime, owner + coreclr_offset(runtime, L_R2R_ENTRY_POINTS),
			     L_HASH_MAP_BUCKETS, &buckets) ||
	    !memory_u32(runtime->memory, buckets, &count) ||
	    count > MAP_BUCKETS_MAX - tables->buckets_read)
		return true;
	tables->buckets_read += count;
	/* Its code is in the file, which is needed for cores of gcore and of the kernel. */
	module_prove(runtime, section->module);
	image->function_count = function_count;
	image->gc_info_version = gc_info_version(runtime, info);
	if (!read_r2r_entries(runtime, section, buckets, count, image) || !sort_entries(image))
		return false;
	image->functions = functions;
	image->buckets_at = owner + coreclr_offset(runtime, L_R2R_ENTRY_POINTS) +
			    coreclr_offset(runtime, L_HASH_MAP_BUCKETS);
	image->buckets = buckets;
	image->bucket_count = count;
	return true;
}

void precompiled_places(const struct r2r_image *image, struct code_places *places)
{
	code_places_add(places, image->buckets_at, sizeof(image->buckets));
	code_places_add(places, image->buckets,
			MAP_BUCKET_SIZE * ((uint64_t)image->bucket_count + 1));
}

const struct r2r_image *find_r2r_image(struct runtime *runtime, const struct code_section *section)
{
	struct code_tables *tables = coreclr_of(runtime)->code;
	size_t count = tables->images_count;
	for (size_t i = 0; i < count; i++) {
		size_t index = (tables->last_image + i) % count;
		const struct r2r_image *image = &tables->images[index];
		if (image->module == section->module && image->begin == section->begin) {
			tables->last_image = index;
			return image;
		}
	}
	if (count >= R2R_IMAGES_MAX)
		return NULL;
	struct r2r_image image = { .module = section->module, .begin = section->begin };
	if (!PAGES_RESERVE(tables, images) || !read_r2r_image(runtime, section, &image)) {
		r2r_image_deinit(&image);
		runtime_code_fail(runtime);
		return NULL;
	}
	tables->last_image = tables->images_count++;
	tables->images[tables->last_image] = image;
	return &tables->images[tables->last_image];
}

/*
 * The last entry point at or before @p code: the functions after a method's own one are its
 * funclets.
 */
static bool find_entry(const struct r2r_image *image, uint64_t code, uint64_t *ret_start,
		       uint64_t *ret_method_desc)
{
	size_t low = NUMBERS_ABOVE(image->entries, image->entries_count, code);
	if (!low)
		return false;
	*ret_start = image->entries[low - 1];
	*ret_method_desc = image->method_descs[image->order[low - 1]];
	return true;
}

enum entry_state {
	ENTRY_FOUND,
	ENTRY_NONE,
	ENTRY_UNKNOWN
};

/* Look up @p code as the runtime does: ENTRY_UNKNOWN if a bucket is missing. */
static enum entry_state look_up_entry(struct runtime *runtime, const struct r2r_image *image,
				      uint64_t code, uint64_t *ret_method_desc)
{
	uint32_t count = image->bucket_count, at = (uint32_t)(code >> SEED_SHIFT);
	if (count < 2)
		return ENTRY_UNKNOWN;
	uint32_t step = 1 + ((uint32_t)(code >> STEP_SHIFT) + 1) % (count - 1);
	for (uint32_t i = 0; i < count; i++, at += step) {
		uint64_t row[2 * BUCKET_SLOTS];
		if (coreclr_of(runtime)->code->probes >= PROBES_MAX ||
		    !memory_read(runtime->memory,
				 image->buckets + MAP_BUCKET_SIZE * ((uint64_t)(at % count) + 1),
				 row, sizeof(row)))
			return ENTRY_UNKNOWN;
		coreclr_of(runtime)->code->probes++;
		for (unsigned int k = 0; k < BUCKET_SLOTS; k++) {
			if (row[k] == code) {
				*ret_method_desc = row[BUCKET_SLOTS + k] << 1;
				return ENTRY_FOUND;
			}
		}
		if (!(row[BUCKET_SLOTS] & COLLISION))
			break;
	}
	return ENTRY_NONE;
}

/*
 * Used instead of find_entry() if the map has gaps, as in small cores, which only have what their
 * writer's walk has read: a separate method must not be taken for a funclet of another one.
 */
static bool find_entry_in_part(struct runtime *runtime, const struct r2r_image *image,
			       uint32_t index, uint64_t *ret_start, uint64_t *ret_method_desc)
{
	enum entry_state state = ENTRY_NONE;
	for (uint32_t i = 0; i < FUNCLETS_MAX && i <= index && state == ENTRY_NONE; i++) {
		struct runtime_function function;
		if (!runtime_function_read(runtime, image->functions, index - i, &function))
			return false;
		uint64_t begin = image->begin + function.begin;
		if (find_entry(image, begin, ret_start, ret_method_desc) && *ret_start == begin)
			return true;
		*ret_start = begin;
		state = look_up_entry(runtime, image, begin, ret_method_desc);
	}
	return state == ENTRY_FOUND;
}

bool precompiled_code(struct runtime *runtime, const struct code_section *section, uint64_t code,
		      struct code_info *ret)
{
	const struct r2r_image *image = find_r2r_image(runtime, section);
	struct code_info info = { .image_base = section->begin, .is_precompiled = true };
	struct runtime_function function, first;
	uint32_t index, first_index;
	uint64_t rva = code - section->begin;
	uint64_t size, length;
	if (!image || !image->functions ||
	    !runtime_function_find(runtime, image->functions, image->function_count, rva, &index) ||
	    !runtime_function_read(runtime, image->functions, index, &function) ||
	    (runtime_function_end(runtime, section->begin, &function) &&
	     rva >= runtime_function_end(runtime, section->begin, &function)) ||
	    !(image->is_partial
		      ? find_entry_in_part(runtime, image, index, &info.start, &info.method_desc)
		      : find_entry(image, section->begin + function.begin, &info.start,
				   &info.method_desc)))
		return false;
	first_index = index;
	first = function;
	uint64_t first_rva = info.start - section->begin;
	if (first_rva != function.begin &&
	    (!runtime_function_find(runtime, image->functions, image->function_count, first_rva,
				    &first_index) ||
	     !runtime_function_read(runtime, image->functions, first_index, &first) ||
	     first.begin != first_rva))
		return false;
	uint64_t unwind_info = section->begin + first.unwind_info;
	if (!runtime_arch(runtime)->ops->unwind_extent(runtime->memory, unwind_info, &size,
						       &length))
		return false;
	info.gc_info = unwind_info + size;
	info.gc_info_version = image->gc_info_version;
	info.function = section->begin + function.begin;
	info.unwind_info = section->begin + function.unwind_info;
	info.is_funclet = index != first_index;
	info.module = section->module;
	info.function_index = first_index;
	*ret = info;
	return true;
}

bool precompiled_bodies(struct runtime *runtime, const struct code_section *section,
			struct method_bodies *bodies)
{
	const struct r2r_image *image = find_r2r_image(runtime, section);
	if (!image) {
		bodies->is_partial = true;
		return !runtime_code_failed(runtime);
	}
	bodies->is_partial |= !image->functions || image->is_partial;
	for (size_t i = 0; i < image->entries_count; i++) {
		if (!method_bodies_add(bodies, image->method_descs[image->order[i]],
				       image->entries[i], true))
			return false;
	}
	return true;
}

bool coreclr_r2r_section(const struct runtime *runtime, uint64_t header, uint32_t type,
			 uint32_t *ret_rva, uint32_t *ret_size)
{
	uint32_t signature = 0, count = 0;
	if (!memory_u32(runtime->memory, header, &signature) || signature != R2R_SIGNATURE ||
	    !memory_u32(runtime->memory, header + R2R_SECTIONS, &count) || count > R2R_SECTIONS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t section[R2R_SECTION_SIZE];
		if (!memory_read(runtime->memory,
				 header + R2R_SECTION_FIRST + R2R_SECTION_SIZE * (uint64_t)i,
				 section, sizeof(section)))
			return false;
		if (load_u32(section) == type) {
			*ret_rva = load_u32(section + 4);
			*ret_size = load_u32(section + 8);
			return true;
		}
	}
	return false;
}
