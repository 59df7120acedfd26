/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace.h"

#include <string.h>

#include "format/gcdump/gcdump.h"
#include "format/nettrace/nettrace_heap.h"
#include "format/read_mapped.h"
#include "mem/mapped_file.h"
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
	struct buffer buffer = { 0 };
	enum hd_status status =
		nt_exact_write(trace, snapshot, job, append_to_buffer, &buffer, err);
	/* Only append_to_buffer() can end the writing, when memory is exhausted. */
	if (status == HD_ERR_CANCELLED && !(job && job->stop))
		status = fail_nomem(err);
	if (status == HD_OK) {
		status = gcdump_read_bytes((const uint8_t *)buffer.bytes, buffer.size,
					   trace->stream.path, options, job, ret, err);
	}
	pages_free(buffer.bytes, buffer.capacity, 1);
	return status;
}

/* Read a snapshot, or write it as a .gcdump. */
static enum hd_status read_trace(const uint8_t *bytes, uint64_t size, const char *path,
				 const struct format_options *options, struct job *job,
				 struct hd_graph **ret, struct hd_error *err)
{
	struct nt_trace trace;
	const struct nt_snapshot *snapshot = NULL;
	struct hd_graph *graph = NULL;
	enum hd_status status = nt_trace_read(bytes, size, path, job, &trace, err);
	if (status == HD_OK) {
		status = nt_trace_choose(&trace, options ? options->snapshot : 0,
					 options && options->exact, &snapshot, err);
	}
	if (status == HD_OK && options && options->exact) {
		status = read_exact(&trace, snapshot, options, job, &graph, err);
		if (status == HD_OK)
			status = nt_exact_info(&trace, snapshot, graph, err);
		if (status == HD_OK)
			status = nt_trace_findings(&trace, snapshot, graph, err);
	} else if (status == HD_OK) {
		status = nt_heap_graph(&trace, snapshot, options, job, &graph, err);
	}
	nt_trace_deinit(&trace);
	job_end(job);
	if (status == HD_OK) {
		*ret = graph;
	} else {
		graph_destroy(graph);
	}
	return status;
}

enum hd_status nettrace_read(int fd, uint64_t size, const char *path,
			     const struct format_options *options, struct job *job,
			     struct hd_graph **ret, struct hd_error *err)
{
	(void)size; /* the mapping's counts */
	return read_mapped(fd, path, read_trace, options, job, ret, err);
}

enum hd_status nettrace_to_gcdump(const struct mapped_file *file, const char *path,
				  const struct format_options *options, struct job *job,
				  format_write_fn write, void *arg, struct hd_error *err)
{
	struct nt_trace trace;
	const struct nt_snapshot *snapshot = NULL;
	enum hd_status status = nt_trace_read(file->bytes, file->size, path, job, &trace, err);
	if (status == HD_OK) {
		status = nt_trace_choose(&trace, options ? options->snapshot : 0, true, &snapshot,
					 err);
	}
	if (status == HD_OK)
		status = nt_exact_write(&trace, snapshot, job, write, arg, err);
	nt_trace_deinit(&trace);
	job_end(job);
	return status;
}
