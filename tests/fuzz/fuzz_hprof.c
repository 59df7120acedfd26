/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/format/hprof/hprof_parse.c core/src/format/hprof/hprof_scan.c core/src/format/hprof/hprof_types.c
 * core/src/format/hprof/hprof_read.c core/src/format/hprof/hprof_read_roots.c
 */
#include <stdlib.h>

#include "format/hprof/hprof_reading.h"
#include "format/hprof/hprof_writer.h"
#include "format/rpm/rpm_reader.h"
#include "linear.h"
#include "swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as a .hprof, strict and lenient: no crash, no hang; what is read can be written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		const struct format_options options = { .lenient = lenient };
		struct job job = { .workers = 1, .max_mem = (uint64_t)1 << 30 };
		struct hd_graph *graph = NULL;
		struct hd_error err;
		const struct linear linear = linear_begin(size);
		enum hd_status status = hprof_read_bytes(
			&(struct dump_input){ .path = "fuzz", .bytes = data, .size = size },
			&options, &job, &graph, &err);
		linear_end(&linear, "hprof_read_bytes");
		if (status != HD_OK)
			continue;
		if (!csr_is_sound(&graph->forward))
			abort();
		if (rpm_write(graph, NULL, NULL, swallow, NULL, &err) != HD_OK)
			abort();
		/* A length is not bytes: an array without its elements may be of any size. */
		if (graph->total_size < (uint64_t)1 << 24 &&
		    hprof_write(graph, NULL, NULL, swallow, NULL, &err) == HD_ERR_FORMAT)
			abort();
		graph_destroy(graph);
	}
	return 0;
}
