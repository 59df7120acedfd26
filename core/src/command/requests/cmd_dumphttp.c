/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "analysis/pool/timers.h"
#include "analysis/requests/http_client.h"
#include "command/table.h"
#include "inspect/value.h"

/* UTF-16 units of a URI that are shown. */
#define URI_MAX 4096u

#define DUMPHTTP_OPTIONS(X)                                                                    \
	X(OPT_ACTIVE, "active", VALUE_NONE, NULL,                                              \
	  "only requests that a connection has, or that wait for one", NULL)                   \
	X(OPT_PENDING, "pending", VALUE_NONE, NULL, "only requests without a response", NULL)  \
	X(OPT_COMPLETED, "completed", VALUE_NONE, NULL, "only requests with a response", NULL) \
	X(OPT_URI, "uri", VALUE_TEXT, "TEXT", "only requests whose URI contains TEXT", NULL)   \
	X(OPT_STATUS_CODE, "statuscode", VALUE_NUMBER, "N",                                    \
	  "only requests whose response has status code N", NULL)                              \
	X(OPT_LIMIT, "limit", VALUE_NUMBER, "N", "show N requests (0: all, as without)", NULL)

OPTIONS(dumphttp, DUMPHTTP_OPTIONS);

static const struct sos_option dumphttp_sos[] = {
	{ " stats ",
	  "sql \"SELECT method, status, count(*) FROM http_requests GROUP BY 1, 2\" counts them" },
	{ NULL, NULL },
};

#define HTTP_LIST(X)                                                                             \
	X(HTTP_ADDRESS, "address", "Address", KIND_ADDRESS, 12, 0, "the HttpRequestMessage")     \
	X(HTTP_MT, "mt", NULL, KIND_ADDRESS, 0, 0, "its MethodTable")                            \
	X(HTTP_METHOD, "method", "Method", KIND_TEXT, 7, LOOK_LEFT, "GET, POST, ...")            \
	X(HTTP_STATUS, "status", "Status", KIND_NUMBER, 6, 0,                                    \
	  "status code of the response; null: there is none")                                    \
	X(HTTP_STATE, "state", "State", KIND_TEXT, 9, LOOK_LEFT,                                 \
	  "\"in flight\", \"queued\" (it waits for a connection), or null: it is over, "         \
	  "or was not sent")                                                                     \
	X(HTTP_VERSION, "version", "Version", KIND_TEXT, 7, LOOK_LEFT,                           \
	  "version of HTTP that was asked for")                                                  \
	X(HTTP_AGE, "age_at_least", "Age", KIND_NUMBER, 12, 0,                                   \
	  "milliseconds since its time-out was set, at least: the exact moment of the "          \
	  "dump is not known; null: it has no time-out")                                         \
	X(HTTP_URI, "uri", "Uri", KIND_TEXT, 0, 0, "its URI")                                    \
	X(HTTP_RESPONSE, "response", NULL, KIND_ADDRESS, 0, 0, "the HttpResponseMessage")        \
	X(HTTP_CONNECTION, "connection", NULL, KIND_ADDRESS, 0, 0, "the connection that has it") \
	X(HTTP_CONNECTION_TYPE, "connection_type", NULL, KIND_TYPE, 0, 0, "type of that")        \
	X(HTTP_POOL, "pool", NULL, KIND_ADDRESS, 0, 0, "the pool of connections that it is in")

COLUMNS(http, HTTP_COLUMNS, HTTP_LIST);

const struct schema http_requests_schema = {
	.name = "requests",
	SCHEMA_COLUMNS(http_columns),
	.is_main = true,
	.heading = "Address      Method  Status State     Version          Age Uri",
	.lines = "{address:012a} {method:-7} {status:6?} {state:-9} {version:-7} "
		 "[{age_at_least:9} ms|            ] {uri}\n",
};

#define POOL_LIST(X)                                                                    \
	X(POOL_ADDRESS, "address", "Pool", KIND_ADDRESS, 12, LOOK_ZEROS | LOOK_ADDRESS, \
	  "the HttpConnectionPool")                                                     \
	X(POOL_HOST, "host", "Host", KIND_TEXT, 20, LOOK_LEFT, "the server")            \
	X(POOL_PORT, "port", "Port", KIND_NUMBER, 5, 0, "its port")                     \
	X(POOL_IN_FLIGHT, "in_flight", "InFlight", KIND_NUMBER, 8, 0,                   \
	  "requests that its connections have")                                         \
	X(POOL_QUEUED, "queued", "Queued", KIND_NUMBER, 6, 0,                           \
	  "requests that wait for a connection of HTTP/1.1")                            \
	X(POOL_QUEUED_2, "queued_http2", "Queued2", KIND_NUMBER, 7, 0,                  \
	  "requests that wait for a connection of HTTP/2")                              \
	X(POOL_CONNECTIONS, "connections", "Conns", KIND_NUMBER, 5, 0,                  \
	  "connections of HTTP/1.1, as the pool counts them")                           \
	X(POOL_PENDING, "connecting", "New", KIND_NUMBER, 4, 0,                         \
	  "those of them that are being made")                                          \
	X(POOL_MAX, "max", "Max", KIND_NUMBER, 5, 0,                                    \
	  "how many it may have; null: there is no limit")                              \
	X(POOL_CONNECTIONS_2, "connections_http2", "Conns2", KIND_NUMBER, 6, 0,         \
	  "connections of HTTP/2")

COLUMNS(pool, POOL_COLUMNS, POOL_LIST);

static const struct schema http_pools_schema = { .name = "pools", SCHEMA_COLUMNS(pool_columns) };

/* Texts of one row. */
struct http_words {
	struct text method, uri, version, host;
};

static void http_words_deinit(struct http_words *words)
{
	text_deinit(&words->method);
	text_deinit(&words->uri);
	text_deinit(&words->version);
	text_deinit(&words->host);
}

/* The text of the string that a path leads to; false: there is none. */
static bool append_member(struct call *call, struct members *members, const struct object *object,
			  enum fact fact, struct text *text)
{
	struct member member = fact_of(members, object, fact);
	text->size = 0;
	if (member.state != MEMBER_READ ||
	    !string_value(call->heap, member.bits, URI_MAX, text, NULL)) {
		text->size = 0;
		return false;
	}
	if (!text->bytes)
		text_puts(text, " ");
	return text->bytes;
}

static void fill_texts(struct call *call, struct members *members,
		       const struct http_request *request, struct http_words *words,
		       struct cell *cells)
{
	const struct object *object = &request->object;
	if (append_member(call, members, object, FACT_HTTP_REQUEST_METHOD, &words->method))
		cells[HTTP_METHOD] = cell_text(words->method.bytes, words->method.size);
	if (append_member(call, members, object, FACT_HTTP_REQUEST_URI, &words->uri))
		cells[HTTP_URI] = cell_text(words->uri.bytes, words->uri.size);
	struct member major = fact_of(members, object, FACT_HTTP_REQUEST_MAJOR);
	struct member minor = fact_of(members, object, FACT_HTTP_REQUEST_MINOR);
	words->version.size = 0;
	if (major.state == MEMBER_READ && minor.state == MEMBER_READ) {
		text_printf(&words->version, "%" PRIu64 ".%" PRIu64, major.bits, minor.bits);
		cells[HTTP_VERSION] = cell_text(words->version.bytes, words->version.size);
	}
}

static void write_http(struct call *call, struct members *members,
		       const struct http_request *request, int64_t latest, struct http_words *words)
{
	struct object connection;
	size_t size;
	struct cell cells[HTTP_COLUMNS] = {
		[HTTP_ADDRESS] = cell_number(request->object.address),
		[HTTP_MT] = cell_number(request->object.type->method_table),
	};
	fill_texts(call, members, request, words, cells);
	if (request->response) {
		cells[HTTP_RESPONSE] = cell_number(request->response);
		cells[HTTP_STATUS] = cell_number(request->status);
	}
	if (request->state != HTTP_OUTSIDE) {
		cells[HTTP_STATE] =
			cell_string(request->state == HTTP_QUEUED ? "queued" : "in flight");
	}
	if (request->begun != INT64_MIN && request->begun >= 0 && latest >= request->begun)
		cells[HTTP_AGE] = cell_number((uint64_t)(latest - request->begun));
	if (request->connection)
		cells[HTTP_CONNECTION] = cell_number(request->connection);
	if (member_object(members, request->connection, &connection)) {
		const char *name = type_name(call->heap->runtime, connection.type, &size);
		cells[HTTP_CONNECTION_TYPE] = cell_type(name, size, connection.type->method_table);
	}
	if (request->pool)
		cells[HTTP_POOL] = cell_number(request->pool);
	answer_row(&call->answer, cells);
}

/* Is the request one of those that the options ask for?  As in SOS, -pending and -completed are both. */
static bool is_asked(struct call *call, struct members *members, const struct http_request *request,
		     struct text *uri)
{
	const struct value *code = &call->options[OPT_STATUS_CODE];
	const struct value *part = &call->options[OPT_URI];
	bool pending = call->options[OPT_PENDING].given;
	bool completed = call->options[OPT_COMPLETED].given;
	if (call->options[OPT_ACTIVE].given && request->state == HTTP_OUTSIDE)
		return false;
	if (code->given && (!request->response || request->status != code->number))
		return false;
	if (part->given &&
	    (!append_member(call, members, &request->object, FACT_HTTP_REQUEST_URI, uri) ||
	     !strcasestr(uri->bytes, part->text)))
		return false;
	return pending == completed || (request->response != 0) == completed;
}

static enum hd_status write_http_requests(struct call *call, struct members *members,
					  const struct http_client *client, int64_t latest,
					  struct http_words *words)
{
	/* Requests in flight come first. */
	static const enum http_state order[] = { HTTP_IN_FLIGHT, HTTP_QUEUED, HTTP_OUTSIDE };
	const struct table_options options = { .limit = call_limit(call, OPT_LIMIT, UINT64_MAX) };
	answer_table(&call->answer, &http_requests_schema, &options);
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		for (size_t i = 0; i < client->rows_count; i++) {
			const struct http_request *request = &client->rows[i];
			if (request->state != order[k] ||
			    !is_asked(call, members, request, &words->uri))
				continue;
			if (answer_wants_row(&call->answer))
				write_http(call, members, request, latest, words);
			TRY(call_check(call));
		}
	}
	if (answer_table_end(&call->answer))
		answer_cut(&call->answer, options.limit);
	return HD_OK;
}

static enum hd_status write_pools(struct call *call, const struct http_client *client,
				  struct http_words *words)
{
	static const struct table_options options = { .limit = UINT64_MAX, .late_heading = true };
	static const enum pool_column columns[HTTP_POOL_NUMBERS] = {
		[HTTP_POOL_PORT] = POOL_PORT,
		[HTTP_POOL_CONNECTIONS] = POOL_CONNECTIONS,
		[HTTP_POOL_MAX] = POOL_MAX,
		[HTTP_POOL_PENDING] = POOL_PENDING,
		[HTTP_POOL_CONNECTIONS_2] = POOL_CONNECTIONS_2,
	};
	answer_remark(&call->answer, client->pools_count ? "\n" : "");
	answer_table(&call->answer, &http_pools_schema, &options);
	for (size_t i = 0; i < client->pools_count; i++) {
		const struct http_pool *pool = &client->pools[i];
		struct cell cells[POOL_COLUMNS] = {
			[POOL_ADDRESS] = cell_number(pool->address),
			[POOL_IN_FLIGHT] = cell_number(pool->in_flight),
			[POOL_QUEUED] = cell_number(pool->queued),
			[POOL_QUEUED_2] = cell_number(pool->queued_2),
		};
		for (size_t k = 0; k < HTTP_POOL_NUMBERS; k++) {
			bool is_none = k == HTTP_POOL_MAX && pool->numbers[k] == INT32_MAX;
			if (pool->known & 1u << k && !is_none)
				cells[columns[k]] = cell_number(pool->numbers[k]);
		}
		words->host.size = 0;
		if (string_value(call->heap, pool->host, URI_MAX, &words->host, NULL))
			cells[POOL_HOST] = cell_text(words->host.bytes, words->host.size);
		if (answer_wants_row(&call->answer))
			answer_row(&call->answer, cells);
		TRY(call_check(call));
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

static const struct column total_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "all requests on the heap" },
	{ "in_flight", NULL, KIND_NUMBER, 0, 0, "those that connections have" },
	{ "queued", NULL, KIND_NUMBER, 0, 0, "those that wait for a connection" },
};
static const struct schema http_total_schema = { .name = "total", SCHEMA_COLUMNS(total_columns) };

static void write_http_total(struct call *call, const struct http_client *client)
{
	struct answer *answer = &call->answer;
	uint64_t in_flight = 0, queued = 0;
	char count[COUNT_SIZE];
	for (size_t i = 0; i < client->rows_count; i++) {
		in_flight += client->rows[i].state == HTTP_IN_FLIGHT;
		queued += client->rows[i].state == HTTP_QUEUED;
	}
	const struct cell total[] = {
		cell_number(client->rows_count),
		cell_number(in_flight),
		cell_number(queued),
	};
	answer_data(answer, &http_total_schema, total);
	call_tell_absent(call);
	if (client->is_broken) {
		answer_remark(answer,
			      "The queue of a pool cannot be read: requests that wait may be shown "
			      "without their state.\n");
	}
	answer_remark(answer, "\n%s, %" PRIu64 " in flight, %" PRIu64 " queued.\n",
		      format_count(client->rows_count, "request", count), in_flight, queued);
}

static enum hd_status write_client(struct call *call, struct members *members,
				   const struct http_client *client)
{
	HD_CLEANUP(set_timers) struct set_timers timers = { 0 };
	HD_CLEANUP(http_words) struct http_words words = { 0 };
	TRY(set_timers_read(call->heap, members, &call->job, &timers, call->err));
	TRY(write_http_requests(call, members, client, timers.latest, &words));
	TRY(write_pools(call, client, &words));
	write_http_total(call, client);
	return HD_OK;
}

static enum hd_status run_dumphttp(struct call *call)
{
	HD_CLEANUP(members) struct members *members = NULL;
	HD_CLEANUP(http_client) struct http_client client = { 0 };
	TRY(members_create(call->heap, &members, call->err));
	TRY(http_client_read(call->heap, members, &call->job, &client, call->err));
	return write_client(call, members, &client);
}

COMMAND(dumphttp, .has_rows = true,
	.summary = "list the requests of HttpClient: those in flight, queued, and over",
	.description =
		"Those that a connection has come first, then those that wait for one, then what is\n"
		"left on the heap. Then come the pools of connections. Age is counted from when\n"
		"HttpClient set the time-out up to the last moment that a timer has noted.\n",
	.example = "dumphttp -active", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_HEAP | NEEDS_FIELDS, .options = dumphttp_options,
	.sos_options = dumphttp_sos);
