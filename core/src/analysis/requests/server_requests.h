/* SPDX-License-Identifier: MIT */
/* Requests that ASP.NET Core works on. */
#pragma once

#include "framework/member.h"
#include "util/text.h"

/** How far a request is. */
enum server_state {
	SERVER_READING,   /**< its first line or its headers are not complete */
	SERVER_RUNNING,   /**< the application works on it, and has sent nothing */
	SERVER_RESPONDING /**< the head of the answer is made */
};

/** Strings of a request. */
enum server_string {
	SERVER_METHOD,
	SERVER_SCHEME,
	SERVER_PATH,
	SERVER_QUERY,
	SERVER_CONNECTION, /**< id of the connection */
	SERVER_STRINGS
};

struct served_request {
	uint64_t context; /**< DefaultHttpContext, or 0: the application has not got it yet */
	/** The object with its features: of Kestrel the HttpProtocol; of other servers, what they have. */
	struct object features;
	uint64_t strings[SERVER_STRINGS]; /**< addresses; 0: null, or not known */
	struct member method, version;    /**< enums of Kestrel; state: are they known? */
	uint64_t status;                  /**< status code of the answer as it is now */
	bool has_status;
	enum server_state state;
};

struct server_requests {
	struct served_request *rows;
	size_t rows_count, rows_capacity;
	/** Requests whose features have no fields that are known: another server or version. */
	uint64_t unknown;
};

/**
 * Find the requests that are in progress (fields: doc/requests.md 2): those that the application has, and
 * those of HTTP/1 of which the server has not got the whole head.
 *
 * @param[out] ret To be given to server_requests_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * Cost: a walk over the heap.
 */
HD_NODISCARD enum hd_status server_requests_read(struct heap *heap, struct members *members,
						 struct job *job, struct server_requests *ret,
						 struct hd_error *err);
void server_requests_deinit(struct server_requests *requests);

/** Append the method, "GET"; false when it is not known. */
bool server_method_append(struct text *text, struct heap *heap,
			  const struct served_request *request);
/** "HTTP/1.1"; NULL when it is not known. */
const char *server_protocol(struct heap *heap, const struct served_request *request);
