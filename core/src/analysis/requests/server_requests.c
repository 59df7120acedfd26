/* SPDX-License-Identifier: MIT */
#include "analysis/requests/server_requests.h"

#include <string.h>

#include "analysis/heap/object_pass.h"
#include "analysis/heap/type_kinds.h"
#include "framework/absent.h"
#include "inspect/value.h"
#include "util/alloc.h"

/* Characters of a method that are shown. */
#define METHOD_MAX 64u

enum server_kind {
	SERVER_NOT_ASKED,
	SERVER_OTHER,
	SERVER_CONTEXT,
	SERVER_PROTOCOL
};

struct server_finder {
	struct heap *heap;
	struct members *members;
	struct server_requests *requests;
	struct type_kinds kinds;
};

/* By enum server_string. */
static const enum fact string_fields[SERVER_STRINGS] = {
	FACT_SERVER_METHOD_TEXT, FACT_SERVER_SCHEME,     FACT_SERVER_PATH,
	FACT_SERVER_QUERY,       FACT_SERVER_CONNECTION,
};

/* Kestrel notes how far it is; the application answers a request of HTTP/2 in "RequestPending". */
static const struct {
	const char *name;
	enum server_state state;
} states[] = {
	{ "ParsingRequestLine", SERVER_READING },
	{ "ParsingHeaders", SERVER_READING },
	{ "HeadersCommitted", SERVER_RESPONDING },
	{ "HeadersFlushed", SERVER_RESPONDING },
};

/* The name of an enum's value, or "". */
static void value_name(struct heap *heap, const struct member *member, struct value_out *value)
{
	value->note[0] = 0;
	if (member->state == MEMBER_READ)
		value_read(heap, member->element_type, member->type, member->address, value);
}

static enum server_state state_of_request(struct server_finder *finder,
					  const struct object *features)
{
	struct value_out value;
	struct member status = fact_of(finder->members, features, FACT_SERVER_PROGRESS);
	value_name(finder->heap, &status, &value);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(value.note, states[i].name) == 0)
			return states[i].state;
	}
	return SERVER_RUNNING;
}

static enum hd_status add_request(struct server_finder *finder, uint64_t context,
				  const struct object *features, struct hd_error *err)
{
	struct members *members = finder->members;
	struct served_request row = {
		.context = context,
		.features = *features,
		.method = fact_of(members, features, FACT_SERVER_METHOD),
		.version = fact_of(members, features, FACT_SERVER_VERSION),
		.state = state_of_request(finder, features),
	};
	bool is_known = false;
	for (size_t i = 0; i < SERVER_STRINGS; i++) {
		struct member string = fact_of(members, features, string_fields[i]);
		if (string.state != MEMBER_READ)
			continue;
		row.strings[i] = string.bits;
		is_known = true;
	}
	struct member status = fact_of(members, features, FACT_SERVER_STATUS);
	row.has_status = status.state == MEMBER_READ;
	row.status = status.bits;
	finder->requests->unknown += !is_known;
	TRY_MEMORY(PAGES_RESERVE(finder->requests, rows), err);
	finder->requests->rows[finder->requests->rows_count++] = row;
	return HD_OK;
}

/* A context without features is kept for the next request. */
static enum hd_status meet_context(struct server_finder *finder, const struct object *context,
				   struct hd_error *err)
{
	struct object features;
	if (!member_object(finder->members,
			   fact_of(finder->members, context, FACT_SERVER_CONTEXT_FEATURES).bits,
			   &features))
		return HD_OK;
	return add_request(finder, context->address, &features, err);
}

static enum server_kind find_server_kind(struct runtime *runtime, const struct type *type)
{
	if (strcmp(type_name(runtime, type, NULL), net_type_name(NET_SERVER_CONTEXT)) == 0)
		return SERVER_CONTEXT;
	return type_is_a(runtime, type, NET_SERVER_PROTOCOL) ? SERVER_PROTOCOL : SERVER_OTHER;
}

static enum hd_status meet_server(void *arg, const struct object *object, struct hd_error *err)
{
	struct server_finder *finder = arg;
	uint8_t *kind = type_kinds_at(&finder->kinds, object->type);
	TRY_MEMORY(kind, err);
	if (*kind == SERVER_NOT_ASKED)
		*kind = (uint8_t)find_server_kind(finder->heap->runtime, object->type);
	if (*kind == SERVER_CONTEXT)
		return meet_context(finder, object, err);
	/* The application has a context of the others. */
	if (*kind == SERVER_PROTOCOL && state_of_request(finder, object) == SERVER_READING)
		return add_request(finder, 0, object, err);
	return HD_OK;
}

enum hd_status server_requests_read(struct heap *heap, struct members *members, struct job *job,
				    struct server_requests *ret, struct hd_error *err)
{
	struct server_finder finder = { .heap = heap, .members = members, .requests = ret };
	static const enum net_type looked_for[] = { NET_SERVER_CONTEXT, NET_SERVER_PROTOCOL,
						    NET_TYPES };
	net_types_look(heap, looked_for);
	*ret = (struct server_requests){ 0 };
	enum hd_status status = object_pass_all(heap, meet_server, &finder, job, err);
	type_kinds_deinit(&finder.kinds);
	return status;
}

void server_requests_deinit(struct server_requests *requests)
{
	pages_free(requests->rows, requests->rows_capacity, sizeof(*requests->rows));
	*requests = (struct server_requests){ 0 };
}

/* The name of an enum's value in capital letters, "Get": "GET". */
static void append_upper(struct text *text, const char *name)
{
	for (; *name; name++) {
		bool is_small = *name >= 'a' && *name <= 'z';
		const char upper = (char)(is_small ? *name - 'a' + 'A' : *name);
		text_append(text, &upper, 1);
	}
}

bool server_method_append(struct text *text, struct heap *heap,
			  const struct served_request *request)
{
	struct value_out value;
	size_t before = text->size;
	if (request->strings[SERVER_METHOD] &&
	    string_value(heap, request->strings[SERVER_METHOD], METHOD_MAX, text, NULL))
		return true;
	text->size = before;
	/* The text is made when it is asked for: before, there is only the enum. */
	value_name(heap, &request->method, &value);
	if (!value.note[0] || strcmp(value.note, "Custom") == 0 || strcmp(value.note, "None") == 0)
		return false;
	append_upper(text, value.note);
	return true;
}

const char *server_protocol(struct heap *heap, const struct served_request *request)
{
	static const struct {
		const char *name, *protocol;
	} versions[] = {
		{ "Http10", "HTTP/1.0" },
		{ "Http11", "HTTP/1.1" },
		{ "Http2", "HTTP/2" },
		{ "Http3", "HTTP/3" },
	};
	struct value_out value;
	value_name(heap, &request->version, &value);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (strcmp(value.note, versions[i].name) == 0)
			return versions[i].protocol;
	}
	return NULL;
}
