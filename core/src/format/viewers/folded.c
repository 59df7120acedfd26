/* SPDX-License-Identifier: MIT */
/* Folded stacks: "frame;frame;frame NUMBER" lines (stackcollapse-*.pl, flamegraph.pl). */
#include "format/stream.h"
#include "format/viewers/dominator_stacks.h"
#include "format/viewers/viewers.h"
#include "util/text.h"

/* A semicolon would end the frame; text_escape() takes care of what would end the line. */
static void put_folded_frame(struct stream *stream, const struct dominator_stacks *stacks,
			     uint32_t frame, struct text *scratch)
{
	size_t size;
	const char *name = string_table_at(&stacks->frames, frame, &size);
	scratch->size = 0;
	text_escape(scratch, name, size);
	for (size_t i = 0; i < scratch->size; i++) {
		if (scratch->bytes[i] == ';')
			scratch->bytes[i] = ',';
	}
	stream_bytes(stream, scratch->bytes, scratch->size);
}

static void put_stack(struct stream *stream, const struct dominator_stacks *stacks, uint32_t branch,
		      bool is_other, struct text *scratch)
{
	uint32_t path[STACK_DEPTH_MAX];
	uint32_t count = dominator_stacks_path(stacks, branch, path);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack_branch *at = &stacks->branches[path[i]];
		stream_puts(stream, i ? ";" : "");
		put_folded_frame(stream, stacks, at->frame, scratch);
		stream_puts(stream, at->is_run ? " (run)" : "");
	}
	if (is_other) {
		stream_char(stream, ';');
		put_folded_frame(stream, stacks, stacks->other_frame, scratch);
	}
	stream_char(stream, ' ');
	stream_number(stream,
		      is_other ? stacks->branches[branch].other : stacks->branches[branch].self);
	stream_char(stream, '\n');
}

enum hd_status folded_write(const struct hd_graph *graph, const struct write_options *options,
			    struct job *job, format_write_fn write, void *arg, struct hd_error *err)
{
	struct stream stream;
	HD_CLEANUP(dominator_stacks) struct dominator_stacks stacks = { 0 };
	HD_CLEANUP(text) struct text scratch = { 0 };
	enum hd_status status = stream_begin(&stream, job, write, arg, err);
	if (status == HD_OK)
		status = dominator_stacks_init(&stacks, graph, options->dominators, job, err);
	for (uint32_t i = 0; status == HD_OK && i != HD_NONE;) {
		if (stacks.branches[i].self)
			put_stack(&stream, &stacks, i, false, &scratch);
		if (stacks.branches[i].other)
			put_stack(&stream, &stacks, i, true, &scratch);
		i = dominator_stacks_next(&stacks, i);
		status = scratch.failed ? fail_nomem(err) : stream.status;
	}
	status = stream_end(&stream, status);
	return status;
}
