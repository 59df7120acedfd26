/* SPDX-License-Identifier: MIT */
/* The map of perf (tools/perf/Documentation/jit-interface.txt of Linux): the names of code that has no file. */
#include <inttypes.h>

#include "managed_elf/making.h"
#include "managed_elf/managed_elf.h"

#define PART_SIZE ((size_t)64 << 10)

static enum hd_status cancelled(struct hd_error *err)
{
	return fail(err, HD_ERR_CANCELLED, 0, "cancelled");
}

static enum hd_status write_lines(struct making *making, managed_elf_write_fn write, void *arg)
{
	HD_CLEANUP(text) struct text lines = { 0 };
	const struct code_functions *functions = making->functions;
	for (size_t i = 0; i < functions->rows_count; i++) {
		const struct code_function *function = &functions->rows[i];
		TRY(job_check(making->job, 1, making->err));
		if (!function->method_desc)
			continue;
		text_printf(&lines, "%" PRIx64 " %" PRIx64 " ", function->begin,
			    function->end - function->begin);
		function_name_append(making->runtime, function, &lines);
		text_puts(&lines, "\n");
		TRY_MEMORY(!lines.failed, making->err);
		making->counts.functions++;
		making->counts.methods += function->part == CODE_METHOD;
		if (lines.size < PART_SIZE)
			continue;
		if (!write(arg, lines.bytes, lines.size))
			return cancelled(making->err);
		lines.size = 0;
	}
	return !lines.size || write(arg, lines.bytes, lines.size) ? HD_OK : cancelled(making->err);
}

enum hd_status perf_map_write(struct runtime *runtime, struct job *job, managed_elf_write_fn write,
			      void *arg, struct managed_elf_counts *ret, struct hd_error *err)
{
	HD_CLEANUP(code_functions) struct code_functions functions = { 0 };
	TRY(code_functions_read(runtime, job, &functions, err));
	struct making making = {
		.runtime = runtime, .job = job, .functions = &functions, .err = err
	};
	job_begin(job, "names", functions.rows_count);
	enum hd_status status = write_lines(&making, write, arg);
	job_end(job);
	TRY(status);
	*ret = making.counts;
	ret->left_out = functions.left_out;
	ret->is_partial = functions.is_partial;
	return HD_OK;
}
