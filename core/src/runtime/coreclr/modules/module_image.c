/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/modules/module_image.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/modules/module_proof.h"
#include "targets/target.h"
#include "targets/target_files.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/text.h"

#define PATH_UNITS_MAX   2048u
#define FINDING_MODULES  8u /* modules without metadata that findings name one by one */
#define LAYOUT_IS_MAPPED 1u /* PEImageLayout.Flags (peimagelayout.h): FLAG_MAPPED */
/* "BSJB", the beginning of a metadata root (ECMA-335 II.24.2.1). */
#define METADATA_MAGIC 0x424a5342u

#define ADVICE_FILES                                                                           \
	"give the folder with the files of the machine it ran on as --sysroot DIR, or take a " \
	"full dump (createdump --full)"
#define ADVICE_HEAP "take a dump with the heap in it (createdump --withheap or --full, gcore)"

/* Convert UTF-16 to UTF-8; invalid units become U+FFFD. */
static void append_utf16(struct text *text, const uint8_t *bytes, size_t units)
{
	for (size_t i = 0; i < units; i++) {
		uint32_t c = load_u16(bytes + 2 * i);
		if (c >= 0xd800 && c < 0xdc00 && i + 1 < units &&
		    (load_u16(bytes + 2 * i + 2) & 0xfc00) == 0xdc00) {
			c = 0x10000 + ((c & 0x3ff) << 10) + (load_u16(bytes + 2 * i + 2) & 0x3ff);
			i++;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		char out[4];
		size_t size = 0;
		if (c < 0x80) {
			out[size++] = (char)c;
		} else if (c < 0x800) {
			out[size++] = (char)(0xc0 | c >> 6);
			out[size++] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			out[size++] = (char)(0xe0 | c >> 12);
			out[size++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[size++] = (char)(0x80 | (c & 0x3f));
		} else {
			out[size++] = (char)(0xf0 | c >> 18);
			out[size++] = (char)(0x80 | (c >> 12 & 0x3f));
			out[size++] = (char)(0x80 | (c >> 6 & 0x3f));
			out[size++] = (char)(0x80 | (c & 0x3f));
		}
		text_append(text, out, size);
	}
}

char *runtime_read_utf16(struct runtime *runtime, uint64_t address)
{
	uint8_t bytes[2 * PATH_UNITS_MAX];
	size_t units = memory_prefix(runtime->memory, address, bytes, sizeof(bytes)) / 2,
	       length = 0;
	while (length < units && load_u16(bytes + 2 * length))
		length++;
	struct text text = { 0 };
	if (!length || length == units)
		return NULL;
	append_utf16(&text, bytes, length);
	if (text.failed)
		text_deinit(&text);
	return text.bytes;
}

/* The file from which the image is mapped, as the target names it; NULL = none. */
static const char *mapped_path(const struct runtime *runtime, const struct module *module)
{
	const struct target_mapping *mapping =
		module->image_base ? target_mapping_at(&runtime->target->map, module->image_base)
				   : NULL;
	return mapping && mapping->path && *mapping->path ? mapping->path : NULL;
}

static void read_path(struct runtime *runtime, struct module *module)
{
	static const enum layout_field fields[] = { L_MODULE_PATH, L_MODULE_FILE_NAME };
	uint64_t string;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !module->path; i++) {
		if (coreclr_pointer(runtime, module->address, fields[i], &string) && string)
			module->path = runtime_read_utf16(runtime, string);
	}
	if (module->path || !module->image_base)
		return;
	const char *path = mapped_path(runtime, module);
	if (path)
		module->path = mem_strndup(path, strlen(path));
}

static void set_missing(struct module *module, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_missing(struct module *module, const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	int size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (size > 0 && !module->missing)
		module->missing = mem_strndup(line, strlen(line));
}

/* Module -> PEAssembly -> PEImage -> LoadedImageLayout -> base (8, 10). */
static bool find_layout(struct runtime *runtime, uint64_t module, uint64_t *ret_base,
			bool *ret_is_mapped)
{
	uint64_t assembly, image, layout;
	uint32_t flags;
	if (!coreclr_pointer(runtime, module, L_MODULE_PE_ASSEMBLY, &assembly) || !assembly ||
	    !coreclr_pointer(runtime, assembly, L_PE_ASSEMBLY_IMAGE, &image) || !image ||
	    !coreclr_pointer(runtime, image, L_PE_IMAGE_LAYOUT, &layout) || !layout ||
	    !coreclr_pointer(runtime, layout, L_IMAGE_LAYOUT_BASE, ret_base) || !*ret_base ||
	    !layout_has(&coreclr_of(runtime)->layout, L_IMAGE_LAYOUT_FLAGS) ||
	    !memory_u32(runtime->memory, layout + coreclr_offset(runtime, L_IMAGE_LAYOUT_FLAGS),
			&flags))
		return false;
	*ret_is_mapped = flags & LAYOUT_IS_MAPPED;
	return true;
}

bool module_base(struct runtime *runtime, uint64_t module, uint64_t *ret_base, bool *ret_is_mapped)
{
	*ret_is_mapped = true;
	return find_layout(runtime, module, ret_base, ret_is_mapped) ||
	       (coreclr_pointer(runtime, module, L_MODULE_BASE, ret_base) && *ret_base);
}

static bool has_metadata_root(struct runtime *runtime, const struct image *image)
{
	uint32_t magic;
	return memory_u32(runtime->memory, image->metadata, &magic) && magic == METADATA_MAGIC;
}

/* Find the image and its metadata; the base is remembered even if its bytes are missing. */
static bool find_module_image(struct runtime *runtime, struct module *module, struct image *ret)
{
	uint64_t base;
	bool is_mapped;
	if (find_layout(runtime, module->address, &base, &is_mapped)) {
		module_prove_image(runtime, module->address, base);
		module->image_base = base;
		module->is_mapped = is_mapped;
		if (image_find_metadata(runtime->memory, base, is_mapped, ret))
			return true;
	}
	if (!coreclr_pointer(runtime, module->address, L_MODULE_BASE, &base) || !base)
		return false;
	module_prove_image(runtime, module->address, base);
	module->image_base = base;
	module->is_mapped = true;
	bool found = image_find_metadata(runtime->memory, base, true, ret);
	if (found && has_metadata_root(runtime, ret))
		return true;
	/* Anything after a file that is mapped flat may have been taken for a part of it. */
	struct image flat;
	if (!image_find_metadata(runtime->memory, base, false, &flat) ||
	    (found && !has_metadata_root(runtime, &flat)))
		return found;
	module->is_mapped = false;
	*ret = flat;
	return true;
}

/* Read all of [address, address + size) into new memory; are the bytes only in a file? */
static uint8_t *copy_metadata(struct runtime *runtime, uint64_t address, uint32_t size,
			      uint64_t *budget, bool *ret_is_from_file)
{
	uint8_t last;
	if (size < 20 || size > MODULE_METADATA_MAX || size > *budget ||
	    !memory_u8(runtime->memory, address + size - 1, &last))
		return NULL;
	uint8_t *bytes = mem_alloc(size, 1);
	if (!bytes)
		return NULL;
	struct memory *own = runtime->target->own;
	*ret_is_from_file = own && !memory_read(own, address, bytes, size);
	if ((!own || *ret_is_from_file) && !memory_read(runtime->memory, address, bytes, size)) {
		mem_free(bytes);
		return NULL;
	}
	*budget -= size;
	return bytes;
}

/* For how many rows a lookup map of the module has room; false when it cannot be read. */
static bool map_rows(struct runtime *runtime, uint64_t map, uint64_t *ret)
{
	struct lookup_segment segment;
	uint64_t rows = 0;
	for (unsigned int i = 0; map && i < LOOKUP_SEGMENTS_MAX; i++) {
		if (!lookup_segment_read(runtime, map, &segment))
			return false;
		rows += segment.count;
		map = segment.next;
	}
	*ret = rows;
	return true;
}

/*
 * The runtime makes its maps of types, methods and fields as long as the tables of the file it
 * loaded: does @p metadata have those lengths?  Unreadable maps do not count against it.
 */
static bool fits_maps(struct runtime *runtime, const struct module *module,
		      const struct metadata *metadata)
{
	static const struct {
		enum layout_field map;
		enum md_table table;
	} maps[] = { { L_MODULE_TYPE_DEF_MAP, MD_TYPE_DEF },
		     { L_MODULE_METHOD_MAP, MD_METHOD },
		     { L_MODULE_FIELD_MAP, MD_FIELD } };
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		uint64_t rows;
		if (layout_has(&coreclr_of(runtime)->layout, maps[i].map) &&
		    map_rows(runtime, module->address + coreclr_offset(runtime, maps[i].map),
			     &rows) &&
		    rows != (uint64_t)metadata->tables[maps[i].table].rows + 1)
			return false;
	}
	return true;
}

static const char *display_path(const struct module *module)
{
	return module->path && *module->path ? module->path : "a module without a file";
}

/* Why the bytes of the image's file are not available. */
static void explain_missing(struct runtime *runtime, struct module *module, bool found)
{
	const char *path = mapped_path(runtime, module), *name = display_path(module);
	enum target_file_state state =
		path ? target_file_state(runtime->target, path) : TARGET_FILE_NONE;
	bool is_trusted = runtime->target->options.trust_files;
	if (!found && state == TARGET_FILE_UNVERIFIED && is_trusted) {
		target_reject_file(runtime->target, path,
				   "it has no metadata where the process had it");
		state = TARGET_FILE_REJECTED;
	}
	if (!module->image_base) {
		set_missing(module,
			    "module 0x%" PRIx64 " has no image: it is dynamic, or not loaded",
			    module->address);
	} else if (state == TARGET_FILE_MISMATCH || state == TARGET_FILE_REJECTED) {
		set_missing(
			module,
			"metadata of %s is not in the target, and the file here is a different one",
			name);
	} else if (state == TARGET_FILE_UNVERIFIED || state == TARGET_FILE_NO_IMAGE) {
		set_missing(
			module,
			"metadata of %s is not in the target, and nothing proves that the file here is the one",
			name);
	} else if (state == TARGET_FILE_MISSING || state == TARGET_FILE_NOT_REGULAR) {
		set_missing(module,
			    "metadata of %s is not in the target, and there is no such file", name);
	} else {
		set_missing(module, "metadata of %s is not in the target", name);
	}
}

/* Advice about missing metadata; NULL: nothing can be done. */
static const char *metadata_advice(const struct runtime *runtime, const struct module *module)
{
	const struct target *target = runtime->target;
	if (module->image_base && !module->is_dynamic)
		return target_advice(target, module->image_base, ADVICE_FILES);
	/* No file contains them. */
	if (target_is_cut(target, module->address))
		return target_advice(target, module->address, NULL);
	return target->kind == TARGET_CORE && target->core.content == CONTENT_MINI ? ADVICE_HEAP
										   : NULL;
}

static void report_missing_metadata(struct runtime *runtime, const struct module *module)
{
	const char *advice = metadata_advice(runtime, module);
	struct findings *findings = &runtime->target->findings;
	unsigned int named = 0;
	for (size_t i = 0; i < findings->count; i++)
		named += findings->rows[i].kind == FINDING_MODULE_METADATA;
	if (named < FINDING_MODULES) {
		findings_add(findings, FINDING_MODULE_METADATA, advice,
			     "%s: type and field names of that module are missing",
			     module->missing ? module->missing : display_path(module));
	} else {
		findings_add(findings, FINDING_MODULE_METADATA_MORE, advice,
			     "type and field names of more modules are missing");
	}
}

static void reject_file(struct runtime *runtime, struct module *module)
{
	const char *path = mapped_path(runtime, module);
	metadata_destroy(module->metadata);
	module->metadata = NULL;
	set_missing(module, "%s is not the file that the process had loaded", display_path(module));
	if (path) {
		target_reject_file(runtime->target, path,
				   "its tables are not as long as the runtime's maps of them");
	}
	report_missing_metadata(runtime, module);
}

/* The runtime's maps are as long as the file's tables: that is proof enough. */
static void confirm_file(struct runtime *runtime, const struct module *module)
{
	const char *path = mapped_path(runtime, module);
	if (path)
		target_confirm_file(runtime->target, path);
}

/* Take @p bytes as metadata, or say why they are not. */
static void take_module_metadata(struct runtime *runtime, struct module *module, uint8_t *bytes,
				 uint32_t size)
{
	struct hd_error err = { 0 };
	if (metadata_create(bytes, size, &module->metadata, &err) != HD_OK) {
		set_missing(module, "metadata of %s is damaged: %s", display_path(module),
			    err.message);
		report_missing_metadata(runtime, module);
	} else if (module->is_from_file && !fits_maps(runtime, module, module->metadata)) {
		reject_file(runtime, module);
	} else if (module->is_from_file) {
		confirm_file(runtime, module);
	}
	if (!module->metadata)
		return;
	const char *name = metadata_string(module->metadata,
					   metadata_column(module->metadata, MD_ASSEMBLY, 1, 7));
	if (*name)
		module->name = mem_strndup(name, strlen(name));
}

/* Module.DynamicMetadata: u32 size and the bytes (9, 10: ceeload.h). */
static bool load_dynamic(struct runtime *runtime, struct module *module, uint64_t *budget)
{
	uint64_t saved;
	uint32_t size;
	uint8_t *bytes = NULL;
	if (!coreclr_pointer(runtime, module->address, L_MODULE_DYNAMIC_METADATA, &saved) || !saved)
		return false;
	module->is_dynamic = true;
	if (memory_u32(runtime->memory, saved, &size))
		bytes = copy_metadata(runtime, saved + 4, size, budget, &module->is_from_file);
	if (bytes) {
		take_module_metadata(runtime, module, bytes, size);
	} else {
		set_missing(module, "the metadata of a dynamic module is not in the target");
		report_missing_metadata(runtime, module);
	}
	return true;
}

/* Is @p module known to come from Reflection.Emit, so that it has no image? */
static bool has_no_image(struct runtime *runtime, const struct module *module)
{
	uint64_t base, assembly, image;
	if (module->image_base)
		return false;
	if (coreclr_pointer(runtime, module->address, L_MODULE_BASE, &base))
		return !base;
	return coreclr_pointer(runtime, module->address, L_MODULE_PE_ASSEMBLY, &assembly) &&
	       assembly && coreclr_pointer(runtime, assembly, L_PE_ASSEMBLY_IMAGE, &image) &&
	       !image;
}

/* 8: the module has a pointer to an SBuffer (sbuffer.h): u32 size, ..., pointer at +16. */
static bool load_emitted(struct runtime *runtime, struct module *module, uint64_t *budget)
{
	uint64_t buffer, at;
	uint32_t size, magic;
	if (!coreclr_pointer(runtime, module->address, L_MODULE_EMITTED_METADATA, &buffer) ||
	    !memory_u32(runtime->memory, buffer, &size) ||
	    !memory_u64(runtime->memory, buffer + 16, &at) ||
	    !memory_u32(runtime->memory, at, &magic) || magic != METADATA_MAGIC)
		return false;
	uint8_t *bytes = copy_metadata(runtime, at, size, budget, &module->is_from_file);
	if (!bytes)
		return false;
	take_module_metadata(runtime, module, bytes, size);
	return true;
}

void module_load(struct runtime *runtime, struct module *module, uint64_t *budget)
{
	struct image image;
	uint8_t *bytes = NULL;
	if (load_dynamic(runtime, module, budget)) {
		read_path(runtime, module);
		return;
	}
	bool found = find_module_image(runtime, module, &image);
	read_path(runtime, module);
	if (found) {
		bytes = copy_metadata(runtime, image.metadata, image.metadata_size, budget,
				      &module->is_from_file);
	}
	if (bytes) {
		take_module_metadata(runtime, module, bytes, image.metadata_size);
		return;
	}
	if (has_no_image(runtime, module)) {
		module->is_dynamic = true;
		if (load_emitted(runtime, module, budget))
			return;
		set_missing(module, "a dynamic module whose metadata this runtime does not keep");
		return;
	}
	uint8_t last;
	found = found && image.metadata_size &&
		memory_u8(runtime->memory, image.metadata + image.metadata_size - 1, &last);
	explain_missing(runtime, module, found);
	report_missing_metadata(runtime, module);
}
