/* SPDX-License-Identifier: MIT */
#include "command/call.h"
#include "util/output_place.h"
#include "util/sink.h"

enum hd_status hd_output_open(const char *path, int append, const struct hd_sink *sink, int *ret,
			      struct hd_error *err)
{
	struct job job = { 0 };
	if (!path || !ret)
		return fail(err, HD_ERR_ARGUMENT, 0, "no path to open, or no place for the file");
	if (sink) {
		struct hd_sink own;
		TRY(sink_read(sink, false, &own, err));
		job.cancelled = own.cancelled;
		job.arg = own.arg;
	}
	return output_place_open_stream(path, append != 0, &job, ret, err);
}
