/* SPDX-License-Identifier: MIT */
/* A sampled profile of https://www.speedscope.app/file-format-schema.json: a sample per branch. */
#include <string.h>

#include "format/stream.h"
#include "format/viewers/dominator_stacks.h"
#include "format/viewers/viewers.h"
#include "util/alloc.h"

struct scope {
	struct stream stream;
	struct dominator_stacks stacks;
	uint32_t *indices; /* number of a frame, and of it as a run, among those in the file; + 1 */
	size_t indices_count;
	uint32_t other; /* index of "(other)" */
	struct hd_error *err;
};

static uint32_t *index_slot(const struct scope *scope, const struct stack_branch *branch)
{
	return &scope->indices[2 * (size_t)branch->frame + branch->is_run];
}

static void put_name(struct scope *scope, uint32_t frame, bool is_run, uint32_t index)
{
	size_t size;
	const char *name = string_table_at(&scope->stacks.frames, frame, &size);
	stream_puts(&scope->stream, index ? ",\n{\"name\":\"" : "\n{\"name\":\"");
	stream_json_escape(&scope->stream, name, size);
	stream_puts(&scope->stream, is_run ? " (run)\"}" : "\"}");
}

static enum hd_status put_frames(struct scope *scope)
{
	const struct dominator_stacks *stacks = &scope->stacks;
	uint32_t count = 0;
	scope->indices_count = 2 * stacks->frames.places_count;
	scope->indices = pages_alloc(scope->indices_count, sizeof(*scope->indices));
	TRY_MEMORY(scope->indices, scope->err);
	stream_puts(&scope->stream, "\"shared\":{\"frames\":[");
	for (size_t i = 1; i < stacks->branches_count; i++) {
		const struct stack_branch *branch = &stacks->branches[i];
		uint32_t *slot = index_slot(scope, branch);
		if (*slot || !branch->total)
			continue;
		put_name(scope, branch->frame, branch->is_run, count);
		*slot = ++count;
	}
	scope->other = count;
	if (stacks->size)
		put_name(scope, stacks->other_frame, false, count);
	stream_puts(&scope->stream, "]},\n");
	return scope->stream.status;
}

static void put_sample(struct scope *scope, uint32_t branch, bool is_other)
{
	struct stream *stream = &scope->stream;
	uint32_t path[STACK_DEPTH_MAX];
	uint32_t count = dominator_stacks_path(&scope->stacks, branch, path);
	stream_char(stream, '[');
	for (uint32_t i = 0; i < count; i++) {
		stream_puts(stream, i ? "," : "");
		stream_number(stream, *index_slot(scope, &scope->stacks.branches[path[i]]) - 1);
	}
	if (is_other) {
		stream_char(stream, ',');
		stream_number(stream, scope->other);
	}
	stream_char(stream, ']');
}

/* One array: of stacks, or of their weights. */
static void put_array(struct scope *scope, bool is_weights)
{
	const struct dominator_stacks *stacks = &scope->stacks;
	const char *comma = "";
	for (uint32_t i = 0; i != HD_NONE && scope->stream.status == HD_OK;
	     i = dominator_stacks_next(stacks, i)) {
		const struct stack_branch *branch = &stacks->branches[i];
		for (unsigned int is_other = 0; is_other < 2; is_other++) {
			uint64_t weight = is_other ? branch->other : branch->self;
			if (!weight)
				continue;
			stream_puts(&scope->stream, comma);
			comma = ",\n";
			if (is_weights) {
				stream_number(&scope->stream, weight);
			} else {
				put_sample(scope, i, is_other);
			}
		}
	}
}

static enum hd_status put_speedscope(struct scope *scope, const struct hd_graph *graph)
{
	struct stream *stream = &scope->stream;
	const char *process = graph->info.process ? graph->info.process : "heap";
	stream_puts(stream, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			    "\"exporter\":\"heapdump\",\n\"name\":");
	stream_json_string(stream, process, strlen(process));
	stream_puts(stream, ",\n\"activeProfileIndex\":0,\n");
	TRY(put_frames(scope));
	stream_puts(stream, "\"profiles\":[{\"type\":\"sampled\",\"name\":\"Retained bytes\","
			    "\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
	stream_number(stream, scope->stacks.size);
	stream_puts(stream, ",\n\"samples\":[");
	put_array(scope, false);
	stream_puts(stream, "],\n\"weights\":[");
	put_array(scope, true);
	stream_puts(stream, "]}]}\n");
	return stream->status;
}

enum hd_status speedscope_write(const struct hd_graph *graph, const struct write_options *options,
				struct job *job, format_write_fn write, void *arg,
				struct hd_error *err)
{
	struct scope scope = { .err = err };
	enum hd_status status = stream_begin(&scope.stream, job, write, arg, err);
	if (status == HD_OK) {
		status = dominator_stacks_init(&scope.stacks, graph, options->dominators, job, err);
	}
	if (status == HD_OK)
		status = put_speedscope(&scope, graph);
	status = stream_end(&scope.stream, status);
	pages_free(scope.indices, scope.indices_count, sizeof(*scope.indices));
	dominator_stacks_deinit(&scope.stacks);
	return status;
}
