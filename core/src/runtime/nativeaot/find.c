/* SPDX-License-Identifier: MIT */
#include "runtime/nativeaot/find.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/descriptor.h"
#include "runtime/nativeaot/debug_lists.h"
#include "runtime/several.h"
#include "targets/elf_image.h"
#include "targets/target.h"
#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/text.h"

/* Most modules whose symbols are looked at: each look-up may take milliseconds. */
#define MODULES_TRIED_MAX 512u

/* Most bytes of the program's data that are searched for a header, and how many at once. */
#define DATA_SCAN_MAX ((uint64_t)64 << 20)
#define DATA_CHUNK    ((size_t)64 << 10)
#define HEADER_MARK   "DNDH"
/* A contract descriptor begins with it (doc/coreclr.md 3). */
#define DESCRIPTOR_MARK "DNCCDAC"

static bool is_coreclr(const char *path)
{
	static const char file[] = "libcoreclr.so";
	const char *name = strrchr(path, '/');
	return strncmp(name ? name + 1 : path, file, sizeof(file) - 1) == 0;
}

/* Is there a CoreCLR, which comes first? */
static bool has_coreclr(const struct target *target)
{
	uint64_t address = 0;
	for (size_t i = 0; i < target->module_count; i++) {
		if (is_coreclr(target->modules[i].path) &&
		    runtime_is_meant(target, &target->modules[i]))
			return true;
	}
	return target->module_count > 0 && runtime_is_meant(target, &target->modules[0]) &&
	       target_symbol(target, &target->modules[0], "g_dacTable", &address, NULL);
}

/* The exported header is zero until the runtime has started. */
static enum hd_status take_header(const struct target *target, const struct target_module *module,
				  uint64_t address, struct aot_place *ret, struct hd_error *err)
{
	struct aot_place place = { .module = module };
	if (!debug_header_read(target->memory, address, &place.header) &&
	    !debug_lists_find(target, module, &place.header)) {
		return fail(
			err, HD_ERR_FAULT, address,
			"%s is a NativeAOT program, but its DotNetRuntimeDebugHeader at 0x%" PRIx64
			" cannot be read, or the runtime has not started yet: %s",
			module->path, address,
			target_advice(target, address,
				      "take a full dump, or give the folder with the program by "
				      "--sysroot"));
	}
	if (!debug_header_release(place.header.major)) {
		return fail(
			err, HD_ERR_FAULT, address,
			"%s is a NativeAOT program whose debug header has version %u.%u: those of "
			".NET %u to %u are read; take a newer heapdump",
			module->path, place.header.major, place.header.minor, AOT_MAJOR_FIRST,
			AOT_MAJOR_LAST);
	}
	*ret = place;
	return HD_OK;
}

/* A descriptor of CoreCLR, and one that cannot be read, is left to CoreCLR. */
static enum hd_status take_descriptor(const struct target *target,
				      const struct target_module *module, uint64_t address,
				      struct aot_place *ret, struct hd_error *err)
{
	struct descriptor *descriptor = NULL;
	enum hd_status status = descriptor_read(target, module, address, &descriptor, err);
	if (status == HD_ERR_NOMEM)
		return status;
	const char *flavor = descriptor ? descriptor_text(descriptor, "RuntimeFlavor") : NULL;
	if (flavor && strcmp(flavor, "NativeAot") == 0) {
		*ret = (struct aot_place){ .module = module, .descriptor = descriptor };
		return HD_OK;
	}
	descriptor_destroy(descriptor);
	return HD_ERR_UNSUPPORTED;
}

static enum hd_status find_exported(const struct target *target, struct aot_place *ret,
				    struct hd_error *err)
{
	enum hd_status status = HD_ERR_UNSUPPORTED;
	for (size_t i = 0; i < target->module_count && i < MODULES_TRIED_MAX; i++) {
		const struct target_module *module = &target->modules[i];
		uint64_t address = 0;
		if (!runtime_is_meant(target, module))
			continue;
		if (target_symbol(target, module, "DotNetRuntimeDebugHeader", &address, NULL)) {
			status = take_header(target, module, address, ret, err);
		} else if (target_symbol(target, module, "DotNetRuntimeContractDescriptor",
					 &address, NULL)) {
			status = take_descriptor(target, module, address, ret, err);
		}
		if (status != HD_ERR_UNSUPPORTED)
			return status;
	}
	return status;
}

/*
 * A header in [begin, begin + size): programs may hide the symbol.  *ret_described is set when there
 * is a descriptor, which programs of 11 have instead.
 */
static bool find_header_in(const struct target *target, uint64_t begin, uint64_t size,
			   struct debug_header *ret, bool *ret_described)
{
	HD_FREE uint8_t *chunk = mem_alloc(DATA_CHUNK, 1);
	for (uint64_t done = 0; chunk && done < size; done += DATA_CHUNK) {
		uint64_t left = size - done;
		size_t want = left < DATA_CHUNK ? (size_t)left : DATA_CHUNK;
		size_t got = memory_prefix(target->memory, begin + done, chunk, want);
		for (size_t at = 0; at + 8 <= got; at += 8) {
			*ret_described |=
				memcmp(chunk + at, DESCRIPTOR_MARK, sizeof(DESCRIPTOR_MARK)) == 0;
			if (memcmp(chunk + at, HEADER_MARK, sizeof(HEADER_MARK) - 1) == 0 &&
			    debug_header_read(target->memory, begin + done + at, ret) &&
			    debug_header_release(ret->major))
				return true;
		}
	}
	return false;
}

/* Search the writable data of a module; what it has is taken off @p budget. */
static bool find_hidden_in(const struct target *target, const struct target_module *module,
			   uint64_t *budget, struct aot_place *ret, bool *ret_described)
{
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	size_t count = elf_image_programs(target->memory, module->base, programs);
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *program = &programs[i];
		struct aot_place place = { .module = module };
		if (program->p_type != PT_LOAD || !(program->p_flags & PF_W) ||
		    program->p_memsz > *budget)
			continue;
		*budget -= program->p_memsz;
		if (find_header_in(target, module->base + (program->p_vaddr + 7) / 8 * 8,
				   program->p_memsz, &place.header, ret_described)) {
			*ret = place;
			return true;
		}
	}
	return false;
}

/* The program's own data comes first, then that of its libraries. */
static bool find_hidden(const struct target *target, struct aot_place *ret,
			const struct target_module **ret_described)
{
	uint64_t budget = DATA_SCAN_MAX;
	for (size_t i = 0; i < target->module_count && i < MODULES_TRIED_MAX; i++) {
		const struct target_module *module = &target->modules[i];
		bool is_described = false;
		if (!runtime_is_meant(target, module))
			continue;
		if (find_hidden_in(target, module, &budget, ret, &is_described))
			return true;
		if (is_described && !*ret_described)
			*ret_described = module;
	}
	return false;
}

/* A dump without the header itself (doc/nativeaot.md 1.1). */
static bool find_lists(const struct target *target, struct aot_place *ret)
{
	struct aot_place place = { .module = &target->modules[0] };
	if (target->module_count == 0 || !runtime_is_meant(target, place.module) ||
	    !debug_lists_find(target, place.module, &place.header) ||
	    !debug_header_release(place.header.major))
		return false;
	*ret = place;
	return true;
}

enum hd_status aot_find(const struct target *target, struct aot_place *ret, struct hd_error *err)
{
	if (has_coreclr(target))
		return fail(err, HD_ERR_UNSUPPORTED, 0, "CoreCLR comes first");
	enum hd_status status = find_exported(target, ret, err);
	if (status != HD_ERR_UNSUPPORTED)
		return status;
	const struct target_module *described = NULL;
	if (find_hidden(target, ret, &described) || find_lists(target, ret))
		return HD_OK;
	if (described) {
		return fail(err, HD_ERR_FAULT, described->base,
			    "%s seems to be a NativeAOT program of .NET 11 that was compiled with "
			    "DebuggerSupport=false: it does not say where its heap is; compile it "
			    "without that",
			    described->path);
	}
	return fail(err, HD_ERR_UNSUPPORTED, 0, "no NativeAOT runtime here");
}
