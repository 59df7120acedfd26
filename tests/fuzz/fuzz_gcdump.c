/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/format/gcdump/fast_serialization.c core/src/format/gcdump/gcdump_parse.c
 * core/src/format/gcdump/gcdump_nodes.c core/src/format/gcdump/gcdump_number.c core/src/format/gcdump/gcdump_read.c
 * core/src/format/gcdump/gcdump_roots.c core/src/format/gcdump/gcdump_starts.c
 */
#include <stdlib.h>

#include "format/gcdump/gcdump.h"
#include "format/rpm/rpm_reader.h"
#include "linear.h"
#include "swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as a .gcdump, strict and lenient: no crash, no hang; what is read can be written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		const struct format_options options = { .lenient = lenient };
		struct job job = { .workers = 1, .max_mem = (uint64_t)1 << 30 };
		struct hd_graph *graph = NULL;
		struct hd_error err;
		const struct linear linear = linear_begin(size);
		enum hd_status status = gcdump_read_bytes(
			&(struct dump_input){ .path = "fuzz", .bytes = data, .size = size },
			&options, &job, &graph, &err);
		linear_end(&linear, "gcdump_read_bytes");
		if (status != HD_OK)
			continue;
		if (!csr_is_sound(&graph->forward))
			abort();
		if (rpm_write(graph, NULL, NULL, swallow, NULL, &err) != HD_OK)
			abort();
		if (gcdump_write(graph, NULL, NULL, swallow, NULL, &err) == HD_ERR_FORMAT)
			abort();
		graph_destroy(graph);
	}
	return 0;
}
