/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/targets/core/core.c core/src/targets/core/core_headers.c core/src/targets/core/core_notes.c
 * core/src/targets/elf_file.c
 * core/src/targets/core/core_ranges.c core/src/targets/module_files.c core/src/targets/modules.c
 * core/src/targets/relocation.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linear.h"
#include "targets/target.h"
#include "targets/target_files.h"
#include "targets/target_modules.h"
#include "targets/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A folder of this process with the input as "/f": the core, and the only file that one can name. */
static char folder[] = "/dev/shm/heapdump-fuzz-XXXXXX";
static char path[64];

static void remove_folder(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void write_input(const uint8_t *data, size_t size)
{
	if (!path[0]) {
		if (!mkdtemp(folder) || atexit(remove_folder))
			abort();
		(void)snprintf(path, sizeof(path), "%s/f", folder);
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
}

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The target's description of the address space holds, and bytes are the same by either way. */
static void check_memory(struct target *target)
{
	uint8_t buf[256];
	for (size_t i = 0; i < target->map.range_count; i++) {
		const struct target_range *range = &target->map.ranges[i];
		require(range->start < range->end && range->captured <= range->end - range->start);
		require(!i || target->map.ranges[i - 1].end <= range->start);
		size_t got = memory_prefix(target->own, range->start, buf, sizeof(buf));
		require(got >= range->captured || got == sizeof(buf));
		uint64_t size = 0;
		const uint8_t *run = memory_run(target->memory, range->start, &size);
		require(!range->captured || (run && size));
		got = memory_prefix(target->memory, range->start, buf, sizeof(buf));
		if (run)
			require(memcmp(run, buf, size < got ? (size_t)size : got) == 0);
		(void)memory_prefix(target->memory, range->end - 1, buf, sizeof(buf));
	}
	for (size_t i = 0; i < target->map.mapping_count; i++) {
		const struct target_mapping *mapping = &target->map.mappings[i];
		require(mapping->start < mapping->end);
		require(!i || target->map.mappings[i - 1].end <= mapping->start);
		require(target_mapping_at(&target->map, mapping->start) == mapping);
		(void)memory_prefix(target->memory, mapping->start, buf, sizeof(buf));
		(void)memory_prefix(target->memory, mapping->end - 1, buf, sizeof(buf));
	}
}

static void use(struct target *target)
{
	check_memory(target);
	for (size_t i = 0; i < target->module_count && i < 32; i++) {
		const struct target_module *module = &target->modules[i];
		uint64_t address, value;
		char id[129];
		(void)target_build_id(target, module, id, sizeof(id));
		if (target_symbol(target, module, "g_dacTable", &address, NULL))
			(void)target_module_pointer(target, module, address, &value);
		(void)target_module_pointer(target, module, module->base + 64, &value);
		(void)target_file_state(target, module->path);
	}
	target_add_file_findings(target);
}

#define MEMORY_MAX ((uint64_t)64 << 20)

/* Any bytes as a core file, and as the module file that it names: no crash, no hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	write_input(data, size);
	bool is_core = false;
	if (target_is_core(path, &is_core, NULL) != HD_OK)
		return 0;
	for (int with_files = 0; with_files < 2; with_files++) {
		const struct target_options options = { .sysroot = folder,
							.no_files = !with_files,
							.max_mem = MEMORY_MAX };
		struct target *target = NULL;
		struct hd_error err;
		bool is_packed = unpack_is_packed(data, size);
		const struct linear linear = linear_begin(is_packed ? MEMORY_MAX : size);
		if (target_open_core(path, &options, NULL, &target, &err) == HD_OK)
			use(target);
		linear_end(&linear, "target_open_core");
		target_destroy(target);
	}
	return 0;
}
