/* SPDX-License-Identifier: MIT */
/* A command's answer in columns, for programs (heapdump/arrow.h). */
#include "answer/arrow_stream.h"
#include "command/call.h"
#include "util/alloc.h"
#include "util/caller_struct.h"

static enum hd_status read_request(const struct hd_arrow_request *from,
				   struct hd_arrow_request *ret, struct hd_error *err)
{
	if (!caller_struct_read(ret, sizeof(*ret), SIZE_TO(struct hd_arrow_request, table), from)) {
		return fail(err, HD_ERR_ARGUMENT, 0, "the request is NULL, or of another version");
	}
	if (ret->batch_rows > HD_ARROW_BATCH_ROWS_MAX) {
		return fail(err, HD_ERR_ARGUMENT, 0, "a batch has at most %d rows",
			    HD_ARROW_BATCH_ROWS_MAX);
	}
	if (!ret->batch_rows)
		ret->batch_rows = HD_ARROW_BATCH_ROWS;
	return HD_OK;
}

/* Run the command; an exit status. */
static int run_for_columns(struct hd_session *session, const struct hd_arrow_request *request,
			   const struct hd_sink *sink, struct arrow_table *table,
			   struct hd_error *err)
{
	int status = command_visit(session, request->argc, request->argv, sink,
				   arrow_table_visit(table), err);
	if (arrow_table_check_rows(table, err) != HD_OK)
		return HD_EXIT_INPUT;
	if (status > HD_EXIT_FINDINGS)
		return status;
	return arrow_table_check(table, err) == HD_OK ? status : HD_EXIT_USAGE;
}

int hd_arrow_run(struct hd_session *session, const struct hd_arrow_request *request,
		 const struct hd_sink *sink, struct ArrowArrayStream *ret, struct hd_error *err)
{
	struct hd_arrow_request own;
	if (!ret) {
		(void)fail(err, HD_ERR_ARGUMENT, 0, "there is no place for the stream");
		return HD_EXIT_USAGE;
	}
	*ret = (struct ArrowArrayStream){ 0 };
	if (read_request(request, &own, err) != HD_OK)
		return HD_EXIT_USAGE;
	struct arrow_table *table = arrow_table_create(own.table, own.batch_rows);
	if (!table) {
		(void)fail_nomem(err);
		return HD_EXIT_INPUT;
	}
	int status = run_for_columns(session, &own, sink, table, err);
	if (status <= HD_EXIT_FINDINGS) {
		arrow_table_stream(table, own.argc > 0 ? own.argv[0] : "help", ret);
	} else {
		arrow_table_destroy(table);
	}
	return status;
}
