/* SPDX-License-Identifier: MIT */
#include "analysis/requests/server_requests.h"
#include "command/table.h"
#include "inspect/value.h"

/* UTF-16 units of a path or a query that are shown. */
#define REQUEST_TEXT_MAX 4096u

#define DUMPREQUESTS_OPTIONS(X) \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N requests (0: all, as without)", NULL)

OPTIONS(dumprequests, DUMPREQUESTS_OPTIONS);

#define REQUEST_LIST(X)                                                                       \
	X(REQUEST_ADDRESS, "address", "Address", KIND_ADDRESS, 12, 0,                         \
	  "its HttpContext; null: the application has not got it yet")                        \
	X(REQUEST_METHOD, "method", "Method", KIND_TEXT, 7, LOOK_LEFT, "GET, POST, ...")      \
	X(REQUEST_SCHEME, "scheme", NULL, KIND_TEXT, 0, 0, "http or https")                   \
	X(REQUEST_PROTOCOL, "protocol", "Protocol", KIND_TEXT, 8, LOOK_LEFT,                  \
	  "HTTP/1.1, HTTP/2, ...")                                                            \
	X(REQUEST_STATUS, "status", "Status", KIND_NUMBER, 6, 0,                              \
	  "status code of the answer, as the application has set it so far")                  \
	X(REQUEST_STATE, "state", "State", KIND_TEXT, 10, LOOK_LEFT,                          \
	  "reading (its head is not complete), running, or responding (the head "             \
	  "of the answer is made)")                                                           \
	X(REQUEST_CONNECTION, "connection", "Connection", KIND_TEXT, 13, LOOK_LEFT,           \
	  "id of the connection, as in the log")                                              \
	X(REQUEST_PATH, "path", "Url", KIND_TEXT, 0, 0, "the path")                           \
	X(REQUEST_QUERY, "query", NULL, KIND_TEXT, 0, 0, "the query, with its question mark") \
	X(REQUEST_FEATURES, "features", NULL, KIND_ADDRESS, 0, 0,                             \
	  "the server's object of the request")                                               \
	X(REQUEST_FEATURES_TYPE, "features_type", NULL, KIND_TYPE, 0, 0, "type of that")

COLUMNS(request, REQUEST_COLUMNS, REQUEST_LIST);

const struct schema requests_schema = {
	.name = "requests",
	SCHEMA_COLUMNS(request_columns),
	.is_main = true,
	.heading = "Address      Method  Protocol Status State      Connection    Url",
	.lines = "{address:012a?            } {method:-7} {protocol:-8} {status:6?} {state:-10} "
		 "{connection:-13} {path}{query}\n",
};

static const char *state_name(enum server_state state)
{
	static const char *const names[] = {
		[SERVER_READING] = "reading",
		[SERVER_RUNNING] = "running",
		[SERVER_RESPONDING] = "responding",
	};
	return names[state];
}

static void write_request(struct call *call, const struct served_request *request,
			  struct text *method, struct text *strings)
{
	struct heap *heap = call->heap;
	size_t size;
	const char *type = type_name(heap->runtime, request->features.type, &size);
	struct cell cells[REQUEST_COLUMNS] = {
		[REQUEST_PROTOCOL] = cell_string(server_protocol(heap, request)),
		[REQUEST_STATE] = cell_string(state_name(request->state)),
		[REQUEST_FEATURES] = cell_number(request->features.address),
		[REQUEST_FEATURES_TYPE] =
			cell_type(type, size, request->features.type->method_table),
	};
	static const enum request_column columns[SERVER_STRINGS] = {
		[SERVER_METHOD] = REQUEST_COLUMNS,
		[SERVER_SCHEME] = REQUEST_SCHEME,
		[SERVER_PATH] = REQUEST_PATH,
		[SERVER_QUERY] = REQUEST_QUERY,
		[SERVER_CONNECTION] = REQUEST_CONNECTION,
	};
	for (size_t i = 0; i < SERVER_STRINGS; i++) {
		strings[i].size = 0;
		if (columns[i] != REQUEST_COLUMNS &&
		    string_value(heap, request->strings[i], REQUEST_TEXT_MAX, &strings[i], NULL)) {
			cells[columns[i]] = cell_text(strings[i].bytes ? strings[i].bytes : "",
						      strings[i].size);
		}
	}
	method->size = 0;
	if (server_method_append(method, heap, request))
		cells[REQUEST_METHOD] = cell_text(method->bytes, method->size);
	if (request->context)
		cells[REQUEST_ADDRESS] = cell_number(request->context);
	if (request->has_status)
		cells[REQUEST_STATUS] = cell_number(request->status);
	answer_row(&call->answer, cells);
}

static const struct column total_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "requests in progress" },
	{ "not_known", NULL, KIND_NUMBER, 0, 0,
	  "of how many the server's object has none of the fields that are known" },
};
static const struct schema requests_total_schema = { .name = "total",
						     SCHEMA_COLUMNS(total_columns) };

static void write_requests_total(struct call *call, const struct server_requests *requests)
{
	char count[COUNT_SIZE];
	const struct cell total[] = {
		cell_number(requests->rows_count),
		cell_number(requests->unknown),
	};
	answer_data(&call->answer, &requests_total_schema, total);
	if (requests->unknown) {
		answer_remark(&call->answer,
			      "Of %s nothing is known: another server, or another version of "
			      "Kestrel.\n",
			      format_count(requests->unknown, "request", count));
	}
	answer_remark(&call->answer, "\n%s in progress.\n",
		      format_count(requests->rows_count, "request", count));
}

static enum hd_status write_requests(struct call *call, const struct server_requests *requests)
{
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	HD_CLEANUP(text) struct text method = { 0 };
	struct text strings[SERVER_STRINGS] = { 0 };
	enum hd_status status = HD_OK;
	answer_table(&call->answer, &requests_schema, &options);
	for (size_t i = 0; i < requests->rows_count && status == HD_OK; i++) {
		if (answer_wants_row(&call->answer))
			write_request(call, &requests->rows[i], &method, strings);
		status = call_check(call);
	}
	call->out.text.failed |= method.failed;
	for (size_t i = 0; i < SERVER_STRINGS; i++)
		text_deinit(&strings[i]);
	TRY(status);
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	write_requests_total(call, requests);
	return HD_OK;
}

static enum hd_status run_dumprequests(struct call *call)
{
	HD_CLEANUP(members) struct members *members = NULL;
	HD_CLEANUP(server_requests) struct server_requests requests = { 0 };
	TRY(members_create(call->heap, &members, call->err));
	TRY(server_requests_read(call->heap, members, &call->job, &requests, call->err));
	return write_requests(call, &requests);
}

COMMAND(dumprequests, .has_rows = true, .summary = "list the requests that ASP.NET Core works on",
	.description =
		"Those that the application has, and those of HTTP/1 whose head Kestrel has not got as\n"
		"a whole. dumpasync shows what the methods that serve them wait for.\n",
	.top_level = TOP_LEVEL_ALWAYS, .needs = NEEDS_HEAP | NEEDS_FIELDS,
	.options = dumprequests_options);
