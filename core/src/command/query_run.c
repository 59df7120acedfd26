/* SPDX-License-Identifier: MIT */
/* Commands whose answer is data, for programs (heapdump/answer.h). */
#include "answer/rows.h"
#include "command/call.h"
#include "util/alloc.h"
#include "util/caller_struct.h"
#include "util/sink.h"

int hd_query(struct hd_session *session, int argc, const char *const *argv,
	     const struct hd_visitor *visitor, const struct hd_sink *sink, struct hd_error *err)
{
	struct hd_visitor own;
	if (!caller_struct_read(&own, sizeof(own), SIZE_TO(struct hd_visitor, end), visitor) ||
	    !own.row) {
		(void)fail(err, HD_ERR_ARGUMENT, 0,
			   "the visitor is NULL, lacks row, or is of another version");
		return HD_EXIT_USAGE;
	}
	HD_CLEANUP(visit) struct visit visit = { .visitor = &own };
	int status = command_visit(session, argc, argv, sink, &visit, err);
	return status;
}

/* The rows, and the sink of the caller around them. */
struct keeping {
	struct hd_rows *rows;
	const struct hd_sink *sink;
};

static void keep_query_warning(void *arg, const char *line)
{
	const struct keeping *keeping = arg;
	rows_warn(keeping->rows, line);
}

static void pass_query_note(void *arg, const char *line)
{
	const struct keeping *keeping = arg;
	keeping->sink->note(keeping->sink->arg, line);
}

static int ask_query_cancelled(void *arg)
{
	const struct keeping *keeping = arg;
	const struct hd_sink *sink = keeping->sink;
	return sink->cancelled ? sink->cancelled(sink->arg) : 0;
}

static void pass_query_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	const struct keeping *keeping = arg;
	keeping->sink->progress(keeping->sink->arg, what, done, total);
}

int hd_rows_run(struct hd_session *session, int argc, const char *const *argv,
		const struct hd_sink *sink, struct hd_rows **ret, struct hd_error *err)
{
	if (!ret) {
		(void)fail(err, HD_ERR_ARGUMENT, 0, "there is no place for the answer");
		return HD_EXIT_USAGE;
	}
	*ret = NULL;
	struct hd_sink given;
	if (sink_read(sink, false, &given, err) != HD_OK)
		return HD_EXIT_USAGE;
	if (!session) {
		(void)fail(err, HD_ERR_ARGUMENT, 0, "no session was given");
		return HD_EXIT_USAGE;
	}
	struct keeping keeping = { .rows = rows_create(), .sink = &given };
	if (!keeping.rows) {
		(void)fail_nomem(err);
		return HD_EXIT_INPUT;
	}
	*ret = keeping.rows;
	struct hd_sink own = given;
	own.arg = &keeping;
	own.write = NULL;
	own.warn = keep_query_warning;
	own.note = given.note ? pass_query_note : NULL;
	own.cancelled = ask_query_cancelled;
	own.progress = given.progress ? pass_query_progress : NULL;
	int status = command_visit(session, argc, argv, &own, rows_visit(keeping.rows), err);
	return rows_check(keeping.rows, err) == HD_OK ? status : HD_EXIT_INPUT;
}
