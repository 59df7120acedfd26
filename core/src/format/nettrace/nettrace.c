/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace.h"

#include <string.h>

#include "format/gcdump/gcdump.h"
#include "format/nettrace/nettrace_heap.h"
#include "format/read_mapped.h"
#include "util/alloc.h"

bool nettrace_detect(const char *bytes, size_t size)
{
	return size >= 8 && memcmp(bytes, "Nettrace", 8) == 0;
}

/* A .gcdump that is kept in memory. */
struct buffer {
	char *bytes;
	size_t size, capacity;
};

static void buffer_deinit(struct buffer *buffer)
{
	pages_free(buffer->bytes, buffer->capacity, 1);
}

static bool append_to_buffer(void *arg, const char *bytes, size_t size)
{
	struct buffer *buffer = arg;
	if (size > buffer->capacity - buffer->size) {
		size_t capacity = buffer->capacity + buffer->capacity / 2;
		if (capacity < buffer->size + size)
			capacity = buffer->size + size;
		char *grown = pages_resize(buffer->bytes, buffer->capacity, capacity, 1);
		if (!grown)
			return false;
		buffer->bytes = grown;
		buffer->capacity = capacity;
	}
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
	return true;
}

static enum hd_status read_exact(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
				 const struct format_options *options, struct job *job,
				 struct hd_graph **ret, struct hd_error *err)
{
	HD_CLEANUP(buffer) struct buffer buffer = { 0 };
	enum hd_status status =
		nt_exact_write(trace, snapshot, job, append_to_buffer, &buffer, err);
	/* Only append_to_buffer() can end the writing, when memory is exhausted. */
	if (status == HD_ERR_CANCELLED && !(job && job->stop))
		return fail_nomem(err);
	TRY(status);
	const struct dump_input input = { .path = trace->stream.path,
					  .bytes = (const uint8_t *)buffer.bytes,
					  .size = buffer.size };
	TRY(gcdump_read_bytes(&input, options, job, ret, err));
	TRY(nt_exact_info(trace, snapshot, *ret, err));
	return nt_trace_findings(trace, snapshot, *ret, err);
}

/* Read one of the snapshots of a trace that is open. */
static enum hd_status read_snapshot(struct nt_trace *trace, const struct dump_input *input,
				    const struct format_options *options, struct job *job,
				    struct hd_graph **ret, struct hd_error *err)
{
	const struct nt_snapshot *snapshot = NULL;
	bool is_exact = options && options->exact;
	TRY(nt_trace_read(input->bytes, input->size, input->path, job, trace, err));
	TRY(nt_trace_choose(trace, options ? options->snapshot : 0, is_exact, &snapshot, err));
	return is_exact ? read_exact(trace, snapshot, options, job, ret, err)
			: nt_heap_graph(trace, snapshot, options, job, ret, err);
}

static enum hd_status read_trace(const struct dump_input *input,
				 const struct format_options *options, struct job *job,
				 struct hd_graph **ret, struct hd_error *err)
{
	HD_CLEANUP(nt_trace) struct nt_trace trace = { 0 };
	struct hd_graph *graph = NULL;
	enum hd_status status = read_snapshot(&trace, input, options, job, &graph, err);
	job_end(job);
	return graph_hand_over(graph, status, ret);
}

enum hd_status nettrace_read(const struct dump_input *input, const struct format_options *options,
			     struct job *job, struct hd_graph **ret, struct hd_error *err)
{
	return read_mapped(input, read_trace, options, job, ret, err);
}

enum hd_status nettrace_to_gcdump(const struct dump_input *input,
				  const struct format_options *options, struct job *job,
				  format_write_fn write, void *arg, struct hd_error *err)
{
	HD_CLEANUP(nt_trace) struct nt_trace trace = { 0 };
	JOB_STAGE(job);
	const struct nt_snapshot *snapshot = NULL;
	TRY(nt_trace_read(input->bytes, input->size, input->path, job, &trace, err));
	TRY(nt_trace_choose(&trace, options ? options->snapshot : 0, true, &snapshot, err));
	return nt_exact_write(&trace, snapshot, job, write, arg, err);
}
