/* SPDX-License-Identifier: MIT */
/*
 * covers: core/src/format/rpm/rpm_merge.c core/src/format/rpm/rpm_name.c core/src/format/rpm/rpm_parse.c
 * core/src/format/rpm/rpm_objects.c core/src/format/rpm/rpm_reader.c core/src/format/rpm/rpm_scan.c
 * core/src/format/rpm/rpm_sort.c
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/rpm/rpm_reader.h"
#include "linear.h"
#include "swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as a text log, strict and lenient: no crash, no hang; what is read can be written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	for (int lenient = 0; lenient < 2; lenient++) {
		const struct format_options options = { .lenient = lenient };
		struct job job = { .workers = 1, .max_mem = (uint64_t)1 << 30 };
		struct hd_graph *graph = NULL;
		struct hd_error err;
		const struct linear linear = linear_begin(size);
		enum hd_status status =
			rpm_read(&(struct dump_input){ .path = "fuzz", .fd = fd, .size = size },
				 &options, &job, &graph, &err);
		linear_end(&linear, "rpm_read");
		if (status != HD_OK)
			continue;
		if (rpm_write(graph, NULL, NULL, swallow, NULL, &err) != HD_OK)
			abort();
		graph_destroy(graph);
	}
	(void)close(fd);
	return 0;
}
