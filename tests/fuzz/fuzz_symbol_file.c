/* SPDX-License-Identifier: MIT */
/* covers: core/src/targets/elf_file.c core/src/targets/function_names.c */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linear.h"
#include "targets/function_names.h"
#include "targets/target_modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY_MAX ((uint64_t)64 << 20)

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A file with these bytes, the same descriptor each time. */
static int write_input(const uint8_t *data, size_t size)
{
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("symbols", MFD_CLOEXEC);
	require(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

static bool has_name(const struct function_names *names, const struct function_row *row)
{
	size_t size = row->name < names->names_size ? strlen(names->names + row->name) : 0;
	return size && size <= SYMBOL_NAME_MAX;
}

/* The rows ascend, and the last byte of each function has it or one that begins later. */
static void check_names(const struct function_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct function_row *row = &names->rows[i];
		require(row->begin < row->end && (!i || names->rows[i - 1].begin <= row->begin));
		uint64_t budget = 1 << 16, place = row->end - 1;
		const struct function_row *found = function_names_at(names, place, &budget);
		require(!found ||
			(found->begin <= place && place < found->end && has_name(names, found)));
		require(!found || !has_name(names, row) || found->begin >= row->begin);
	}
}

/* Any bytes as the symbol file of a module: no crash, no hang. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = { .kind = TARGET_CORE, .options = { .max_mem = MEMORY_MAX } };
	struct function_names names = { 0 };
	struct elf_file file;
	uint8_t id[BUILD_ID_MAX];
	uint64_t budget = MEMORY_MAX;
	int fd = write_input(data, size);
	const struct linear linear = linear_begin(size);
	if (elf_file_open(fd, &file)) {
		const Elf_Data *link = elf_file_section(&file, ".gnu_debuglink", 64);
		require(!link || (link->d_buf && link->d_size <= 64));
		require(elf_file_build_id(&file, id) <= sizeof(id));
		if (function_names_read(&target, &file, &budget, &names) == HD_OK)
			require(names.count && names.names_size <= size);
		elf_file_close(&file);
		linear_end(&linear, "function_names_read");
		check_names(&names);
	}
	function_names_deinit(&names);
	return 0;
}
