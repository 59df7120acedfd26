/* SPDX-License-Identifier: MIT */
#include "util/sink.h"

#include <string.h>

#include "util/caller_struct.h"
#include "util/text.h"

enum hd_status sink_read(const struct hd_sink *sink, bool writes, struct hd_sink *ret,
			 struct hd_error *err)
{
	struct hd_sink own;
	if (!caller_struct_read(&own, sizeof(own), SIZE_TO(struct hd_sink, note), sink)) {
		return fail(err, HD_ERR_ARGUMENT, 0,
			    "the front end was built for another version of the library than %s",
			    hd_version());
	}
	if (writes && !own.write)
		return fail(err, HD_ERR_ARGUMENT, 0, "the front end takes no answer");
	*ret = own;
	return HD_OK;
}

static void tell_sink(void (*take)(void *arg, const char *line), void *arg, const char *line)
{
	HD_CLEANUP(text) struct text text = { 0 };
	text_escape(&text, line, strlen(line));
	if (text.failed) {
		/* The beginning is better than nothing. */
		char start[256];
		(void)hd_escape(line, strlen(line), start, sizeof(start));
		take(arg, start);
	} else {
		take(arg, text.bytes ? text.bytes : "");
	}
}

void sink_warn(const struct hd_sink *sink, const char *line)
{
	if (sink && sink->warn)
		tell_sink(sink->warn, sink->arg, line);
}

void sink_note(const struct hd_sink *sink, const char *line)
{
	if (sink && sink->note) {
		tell_sink(sink->note, sink->arg, line);
	} else {
		sink_warn(sink, line);
	}
}
