/* SPDX-License-Identifier: MIT */
#include "managed_elf/managed_elf.h"

#include "arch/arch.h"
#include "managed_elf/making.h"
#include "runtime/runtime.h"
#include "util/alloc.h"

static void making_deinit(struct making *making)
{
	pages_free(making->stretches, making->stretches_capacity, sizeof(*making->stretches));
	mem_free(making->names);
	mem_free(making->sources);
	elf_sections_deinit(&making->sections);
}

enum hd_status making_check_memory(const struct making *making, uint64_t more)
{
	for (size_t i = 0; i < making->sections.rows_count; i++)
		more += making->sections.rows[i].data.size;
	return job_check_memory(making->job, more, making->err);
}

static enum hd_status make(struct making *making)
{
	TRY(making_stretches(making));
	TRY(making_frames(making));
	TRY(making_symbols(making));
	TRY(making_lines(making));
	TRY(making_units(making));
	making->counts.left_out += making->functions->left_out;
	making->counts.is_partial = making->functions->is_partial;
	return HD_OK;
}

enum hd_status managed_elf_write_functions(struct runtime *runtime, struct job *job,
					   struct code_functions *functions,
					   const struct managed_elf_output *output,
					   struct managed_elf_counts *ret, struct hd_error *err)
{
	const struct arch *arch = runtime_arch(runtime);
	HD_CLEANUP(making)
	struct making making = {
		.runtime = runtime,
		.job = job,
		.functions = functions,
		.has_ranges = output->has_segments,
		.err = err,
	};
	if (!arch->ops->managed_rows) {
		return fail(err, HD_ERR_UNSUPPORTED, 0,
			    "the frames of managed code on %s cannot be described", arch->name);
	}
	TRY(make(&making));
	TRY(elf_sections_write(&making.sections, arch->machine, output, err));
	*ret = making.counts;
	return HD_OK;
}

enum hd_status managed_elf_write(struct runtime *runtime, struct job *job,
				 managed_elf_write_fn write, void *arg,
				 struct managed_elf_counts *ret, struct hd_error *err)
{
	HD_CLEANUP(code_functions) struct code_functions functions = { 0 };
	TRY(code_functions_read(runtime, job, &functions, err));
	const struct managed_elf_output output = { write, arg, true };
	return managed_elf_write_functions(runtime, job, &functions, &output, ret, err);
}
