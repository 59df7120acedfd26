/* SPDX-License-Identifier: MIT */
#include "format/read_mapped.h"

#include "mem/mapped_file.h"

enum hd_status read_mapped(const struct dump_input *input, read_bytes_fn read_bytes,
			   const struct format_options *options, struct job *job,
			   struct hd_graph **ret, struct hd_error *err)
{
	struct mapped_file file = { .fd = -1 };
	TRY(mapped_file_of(input->fd, input->path, &file, err));
	const struct dump_input mapped = { .path = input->path,
					   .bytes = file.bytes,
					   .size = file.size };
	mapped_files_guard_begin();
	struct hd_graph *graph = NULL;
	enum hd_status status = read_bytes(&mapped, options, job, &graph, err);
	bool has_shrunk = mapped_files_shrunk();
	mapped_files_guard_end();
	mapped_file_close(&file);
	if (has_shrunk && status != HD_ERR_NOMEM && status != HD_ERR_CANCELLED) {
		graph_destroy(graph);
		return fail(err, HD_ERR_OS, 0, "%s: the file shrank while it was read",
			    input->path);
	}
	if (status == HD_OK)
		*ret = graph;
	return status;
}
