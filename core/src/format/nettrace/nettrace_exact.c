/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_exact.h"

#include "format/nettrace/nettrace_heap.h"
#include "util/arena.h"

enum hd_status exact_fail_incomplete(const struct exact_dump *exact, const char *what)
{
	return fail(
		exact->err, HD_ERR_FORMAT, exact->trace->stream.outcome.stopped_at,
		"%s: %s: dotnet-gcdump makes nothing of such a snapshot; read it without --exact",
		exact->trace->stream.path, what);
}

/* Type 0, for what is mentioned but never comes. */
static enum hd_status add_undefined(struct exact_types *types)
{
	struct gcdump_text undefined;
	uint32_t type;
	exact_set_text(types->names, "UNDEFINED");
	TRY(exact_copy_text(types->names, &undefined));
	TRY(exact_add_type(types, &undefined, NULL, &type));
	types->types[type].size = 0;
	return HD_OK;
}

static enum hd_status convert_exact(struct exact_dump *exact, format_write_fn write, void *arg)
{
	exact->names.arena = arena_create();
	TRY_MEMORY(exact->names.arena, exact->err);
	if (!exact->snapshot->has_end)
		return exact_fail_incomplete(exact, "the end of the heap snapshot is missing");
	TRY(add_undefined(&exact->types));
	job_begin(exact->job, "Converting objects", 0);
	TRY(exact_root(&exact->tree));
	TRY(exact_early_roots(exact));
	TRY(exact_types_collect(&exact->types, exact->trace, exact->snapshot));
	TRY(exact_late_roots(exact));
	TRY(exact_objects_read(exact));
	TRY(exact_finish_pseudos(&exact->tree, &exact->types));
	/* Encoding needs no more than the arrays. */
	exact_nodes_forget(&exact->nodes);
	return exact_encode(exact, write, arg);
}

enum hd_status nt_exact_write(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			      struct job *job, format_write_fn write, void *arg,
			      struct hd_error *err)
{
	struct exact_dump exact = {
		.trace = trace,
		.snapshot = snapshot,
		.job = job,
		.err = err,
		.pointer_size = trace->stream.about.pointer_size == 4 ? 4 : 8,
		.nodes = { .job = job, .err = err },
		.names = { .err = err },
		.types = { .names = &exact.names, .err = err },
		.tree = { .nodes = &exact.nodes, .names = &exact.names, .err = err },
		.objects = { .nodes = &exact.nodes, .err = err },
	};
	enum hd_status status = convert_exact(&exact, write, arg);
	exact_objects_deinit(&exact.objects);
	exact_tree_deinit(&exact.tree);
	exact_types_deinit(&exact.types);
	exact_names_deinit(&exact.names);
	exact_nodes_deinit(&exact.nodes);
	return status;
}
