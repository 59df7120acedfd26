/* SPDX-License-Identifier: MIT */
#include "command/other_session.h"

#include "command/session/core_kind.h"

enum hd_status other_session_open(struct call *call, const char *name, struct hd_session **ret)
{
	struct hd_session *other;
	TRY(session_create_like(call->session, &other, call->err));
	enum hd_status status = session_open(other, name, &call->settings, &call->job, call->err);
	if (status != HD_OK) {
		hd_session_destroy(other);
		return status;
	}
	call_tell_stop(call, other);
	*ret = other;
	return HD_OK;
}

enum hd_status other_session_heap(struct call *call, struct hd_session *other, struct heap **ret)
{
	struct heap *heap;
	TRY(session_heap(other, &call->job, &heap, call->err));
	if (!heap->is_walkable) {
		const char *advice, *reason = no_heap_reason(heap, &advice);
		return fail(call->err, HD_ERR_FAULT, 0, "%.100s: %s; %s", other->path, reason,
			    advice ? advice : "info says what is missing");
	}
	*ret = heap;
	return HD_OK;
}
