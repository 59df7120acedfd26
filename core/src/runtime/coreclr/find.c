/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/find.h"

#include <elf.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/unread.h"
#include "runtime/several.h"
#include "targets/elf_image.h"
#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/text.h"

#define RUNTIME_DYNAMIC_MAX 256u

/*
 * Most modules with the runtime's name that are tried: each look-up of a symbol may take
 * milliseconds.
 */
#define RUNTIME_TRIES_MAX 16u

/* Most bytes of the module's data that are searched for the version string. */
#define VERSION_SCAN_MAX ((uint64_t)16 << 20)
#define VERSION_CHUNK    ((size_t)64 << 10)
#define VERSION_MARK     "@(#)Version "
/* Longest version string, with its commit. */
#define VERSION_TEXT_MAX 256u

/* Takes a text that follows VERSION_MARK; false: it is not a version. */
typedef bool version_take(void *arg, const char *text);

static bool is_libcoreclr(const char *path)
{
	return string_ends_with(path, "/libcoreclr.so") || strcmp(path, "libcoreclr.so") == 0 ||
	       string_ends_with(path, "/libcoreclr.so (deleted)");
}

/* Can the hash table that a look-up of symbols begins with be read? */
static bool symbols_readable(const struct target *target, const struct target_module *module)
{
	for (uint64_t i = 0; i < RUNTIME_DYNAMIC_MAX; i++) {
		uint64_t tag = DT_NULL, value = 0;
		uint8_t header[16];
		if (!memory_u64(target->memory, module->dynamic + 16 * i, &tag) ||
		    !memory_u64(target->memory, module->dynamic + 16 * i + 8, &value) ||
		    tag == DT_NULL)
			return false;
		if (tag != DT_GNU_HASH)
			continue;
		/* glibc relocates these values, musl does not. */
		uint64_t address = value < module->base ? value + module->base : value;
		return memory_read(target->memory, address, header, sizeof(header));
	}
	return false;
}

static bool has_runtime(struct runtime *runtime, const struct target_module *module)
{
	uint64_t size = 0;
	bool has_table = target_symbol(runtime->target, module, "g_dacTable",
				       &coreclr_of(runtime)->globals.dac_table, &size);
	bool has_descriptor =
		target_symbol(runtime->target, module, "DotNetRuntimeContractDescriptor",
			      &coreclr_of(runtime)->descriptor.address, NULL);
	if (!has_table && !has_descriptor)
		return false;
	coreclr_of(runtime)->globals.dac_count =
		size / 8 < DAC_TABLE_MAX ? size / 8 : DAC_TABLE_MAX;
	coreclr_of(runtime)->module = module;
	return true;
}

/* .../Microsoft.NETCore.App/10.0.12/libcoreclr.so; its length is 0 where the path has none. */
static const char *path_version(const char *path, size_t *ret_length)
{
	static const char mark[] = "Microsoft.NETCore.App/";
	const char *at = strstr(path, mark);
	const char *version = at ? at + sizeof(mark) - 1 : "";
	*ret_length = strcspn(version, "/");
	return version;
}

static enum hd_status fail_symbols(const struct runtime *runtime,
				   const struct target_module *module, struct hd_error *err)
{
	const struct target_module *mono = find_mono(runtime->target, module);
	if (mono)
		return fail_mono(mono, err);
	/* A table of symbols without those of CoreCLR: they came with .NET 5. */
	if (symbols_readable(runtime->target, module)) {
		size_t length = 0;
		const char *version = path_version(module->path, &length);
		return fail_old_release(runtime->target, version, length, err);
	}
	char build_id[sizeof(runtime->build_id)] = "unknown";
	(void)target_build_id(runtime->target, module, build_id, sizeof(build_id));
	return fail(err, HD_ERR_FAULT, module->base,
		    "the symbols of %s (build-id %s) are not in the target: %s", module->path,
		    build_id,
		    target_advice(runtime->target, module->dynamic,
				  "put that file at its path, or below a folder for --sysroot"));
}

static enum hd_status fail_no_runtime(const struct runtime *runtime, struct hd_error *err)
{
	const struct target *target = runtime->target;
	const char *advice = target->kind == TARGET_CORE ? "a core" : "a process";
	if (target->module_count == 0) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "no CoreCLR here: the list of loaded modules cannot be read; %s",
			    target_advice(target, 0,
					  "give the folder with the program's files by "
					  "--sysroot"));
	}
	const struct target_module *mono = find_mono(target, NULL);
	if (mono)
		return fail_mono(mono, err);
	const struct target_module *exe = &target->modules[0];
	const char *name = *exe->path ? exe->path : "the executable";
	if (!symbols_readable(target, exe)) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "no CoreCLR here: no libcoreclr.so among %zu modules, and the symbols "
			    "of %s are not in the target; %s",
			    target->module_count, name,
			    target_advice(target, exe->dynamic,
					  "give the folder with that file by --sysroot if it is a "
					  "single-file or NativeAOT program"));
	}
	if (target_is_cut(target, 0)) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "no CoreCLR here: no libcoreclr.so among %zu modules, and %s exports "
			    "no runtime; %s",
			    target->module_count, name, target_advice(target, 0, ""));
	}
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "no CoreCLR here: no libcoreclr.so among %zu modules, and %s exports no "
		    "runtime; give %s of a .NET program",
		    target->module_count, name, advice);
}

/* A core may say that it is of another processor, whose tables would be taken for this runtime then. */
static enum hd_status check_processor(const struct runtime *runtime, struct hd_error *err)
{
	const struct arch *arch = runtime->target->arch;
	const struct target_module *module = coreclr_of(runtime)->module;
	const struct layout_build *build = layout_build_find(runtime->build_id);
	unsigned char mark[SELFMAG];
	uint16_t machine = build ? build->arch->machine : arch->machine;
	if (memory_read(runtime->memory, module->base, mark, sizeof(mark)) &&
	    memcmp(mark, ELFMAG, SELFMAG) == 0) {
		(void)memory_u16(runtime->memory, module->base + offsetof(Elf64_Ehdr, e_machine),
				 &machine);
	}
	if (machine == arch->machine)
		return HD_OK;
	return fail(err, HD_ERR_UNSUPPORTED, 0,
		    "%s is for ELF machine %u, but the target says that it is of %s (%u)",
		    module->path, machine, arch->name, arch->machine);
}

enum hd_status coreclr_find(struct runtime *runtime, struct hd_error *err)
{
	const struct target *target = runtime->target;
	const struct target_module *unreadable = NULL;
	unsigned int tries = 0;
	for (size_t i = 0;
	     i < target->module_count && !coreclr_of(runtime)->module && tries < RUNTIME_TRIES_MAX;
	     i++) {
		const struct target_module *module = &target->modules[i];
		if (!is_libcoreclr(module->path) || !runtime_is_meant(target, module))
			continue;
		tries++;
		if (!has_runtime(runtime, module))
			unreadable = module;
	}
	if (!coreclr_of(runtime)->module && unreadable)
		return fail_symbols(runtime, unreadable, err);
	if (!coreclr_of(runtime)->module && target->module_count > 0 &&
	    runtime_is_meant(target, &target->modules[0]))
		runtime->is_single_file = has_runtime(runtime, &target->modules[0]);
	if (!coreclr_of(runtime)->module)
		return fail_no_runtime(runtime, err);
	runtime->path = coreclr_of(runtime)->module->path;
	if (!target_build_id(target, coreclr_of(runtime)->module, runtime->build_id,
			     sizeof(runtime->build_id)))
		runtime->build_id[0] = '\0';
	return check_processor(runtime, err);
}

static bool take_version(struct runtime *runtime, const char *text, size_t length)
{
	if (length == 0 || length >= sizeof(runtime->version) || text[0] < '1' || text[0] > '9' ||
	    printable_run(text, length) != length)
		return false;
	memcpy(runtime->version, text, length);
	runtime->version[length] = '\0';
	return true;
}

static bool version_of_path(struct runtime *runtime)
{
	size_t length = 0;
	const char *version = path_version(coreclr_of(runtime)->module->path, &length);
	return take_version(runtime, version, length);
}

/* The contract descriptor of 11 has it as a text. */
static bool version_of_descriptor(struct runtime *runtime, const struct descriptor *descriptor)
{
	const char *text =
		descriptor ? descriptor_text(descriptor, "RuntimeProductVersionString") : NULL;
	return text && take_version(runtime, text, strlen(text));
}

/* "10.0.1226.42308": the build is the patch (12) and the year (26) of a servicing release. */
static bool version_of_text(void *arg, const char *text)
{
	struct runtime *runtime = arg;
	unsigned int numbers[3] = { 0 };
	for (size_t i = 0; i < 3; i++) {
		char *end = NULL;
		unsigned long number = strtoul(text, &end, 10);
		if (end == text || *end != '.' || number > 99999)
			return false;
		numbers[i] = (unsigned int)number;
		text = end + 1;
	}
	if (numbers[0] == 0)
		return false;
	(void)snprintf(runtime->version, sizeof(runtime->version), "%u.%u.%u", numbers[0],
		       numbers[1], numbers[2] / 100);
	return true;
}

static bool version_in_range(struct runtime *runtime, uint64_t begin, uint64_t size,
			     version_take *take, void *arg)
{
	static const size_t mark_size = sizeof(VERSION_MARK) - 1;
	HD_FREE char *chunk = mem_alloc(VERSION_CHUNK + 1, 1);
	bool found = false;
	/* Chunks overlap by the length of a version string. */
	for (uint64_t done = 0; chunk && !found && done < size;
	     done += VERSION_CHUNK - VERSION_TEXT_MAX) {
		uint64_t left = size - done;
		size_t want = left < VERSION_CHUNK ? (size_t)left : VERSION_CHUNK;
		size_t got = memory_prefix(runtime->memory, begin + done, chunk, want);
		chunk[got] = '\0';
		const char *at = memmem(chunk, got, VERSION_MARK, mark_size);
		/* The next chunk has all of what is cut here. */
		bool is_cut = at && got < left && at + strlen(at) == chunk + got;
		found = at && !is_cut && take(arg, at + mark_size);
	}
	return found;
}

/*
 * Read the version from sccsid, a variable of the module (in the version file that the build
 * makes).
 */
static bool version_of_data(struct runtime *runtime, version_take *take, void *arg)
{
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	uint64_t base = coreclr_of(runtime)->module->base;
	size_t count = elf_image_programs(runtime->memory, base, programs);
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *program = &programs[i];
		if (program->p_type != PT_LOAD || !(program->p_flags & PF_W) ||
		    program->p_filesz > VERSION_SCAN_MAX)
			continue;
		if (version_in_range(runtime, base + program->p_vaddr, program->p_filesz, take,
				     arg))
			return true;
	}
	return false;
}

struct version_text {
	char *buf;
	size_t size;
};

static bool copy_version(void *arg, const char *text)
{
	struct version_text *version = arg;
	size_t length = strnlen(text, VERSION_TEXT_MAX);
	if (length >= version->size || *text < '1' || *text > '9' ||
	    printable_run(text, length) != length)
		return false;
	memcpy(version->buf, text, length + 1);
	return true;
}

/* It is written through the struct.  NOLINTNEXTLINE(readability-non-const-parameter) */
bool runtime_file_version(struct runtime *runtime, char *buf, size_t size)
{
	struct version_text version = { buf, size };
	return coreclr_of(runtime)->module && version_of_data(runtime, copy_version, &version);
}

/* Find the release by what changed between releases; 0 = unknown. */
static unsigned int major_of_shape(const struct runtime *runtime,
				   const struct descriptor *descriptor)
{
	if (descriptor) {
		if (descriptor_has_parts(descriptor))
			return 11;
		return descriptor_has_type(descriptor, "EEAllocContext") ? 10 : 9;
	}
	for (size_t i = 0; i < CORECLR_RELEASES; i++) {
		if (coreclr_releases[i].dac_count == coreclr_of(runtime)->globals.dac_count)
			return coreclr_releases[i].major;
	}
	return 0;
}

enum hd_status coreclr_read_version(struct runtime *runtime, const struct descriptor *descriptor,
				    struct hd_error *err)
{
	const struct layout_build *build = layout_build_find(runtime->build_id);
	if (build) {
		(void)snprintf(runtime->version, sizeof(runtime->version), "%s", build->version);
	} else if (!version_of_descriptor(runtime, descriptor) && !version_of_path(runtime)) {
		(void)version_of_data(runtime, version_of_text, runtime);
	}
	unsigned long major = strtoul(runtime->version, NULL, 10);
	coreclr_of(runtime)->major = major < 1000 ? (unsigned int)major : 0;
	bool is_told = coreclr_of(runtime)->major != 0;
	if (!is_told)
		coreclr_of(runtime)->major = major_of_shape(runtime, descriptor);
	if (coreclr_of(runtime)->major && !is_told) {
		(void)snprintf(runtime->version, sizeof(runtime->version), "%u.0",
			       coreclr_of(runtime)->major);
	}
	if (coreclr_of(runtime)->major && coreclr_of(runtime)->major < coreclr_releases[0].major) {
		return fail_old_release(runtime->target, runtime->version, strlen(runtime->version),
					err);
	}
	return HD_OK;
}
