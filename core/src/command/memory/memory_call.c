/* SPDX-License-Identifier: MIT */
#include "command/memory/memory_call.h"

#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "util/sink.h"

enum hd_status make_call_account(struct call *call, struct hd_session *session,
				 struct memory_account **ret)
{
	struct target *target = session->target;
	struct heap *heap = NULL;
	struct hd_error reason = { 0 };
	if (!target) {
		return fail(call->err, HD_ERR_UNSUPPORTED, 0,
			    "a heap dump file does not hold memory: open a core or a process");
	}
	/* A process that a debugger has stopped; it may have run since the last time. */
	if (target->process.server && (target->debugger.route || target->options.no_stop)) {
		process_residency_destroy(target->process.residency);
		target->process.residency = NULL;
		TRY(process_residency_read(target->process.server, &target->process.residency,
					   call->err));
	}
	enum hd_status status = session_heap(session, &call->job, &heap, &reason);
	if (status == HD_ERR_NOMEM || status == HD_ERR_CANCELLED) {
		*call->err = reason;
		return status;
	}
	if (status != HD_OK)
		sink_warn(call->sink, reason.message);
	if (target->process.residency && !target->process.residency->has_pages) {
		sink_warn(call->sink,
			  "the kernel does not tell which pages are in memory: what a "
			  "mapping has there is divided by addresses, which is a guess");
	}
	return memory_account_create(target, heap, &call->job, ret, call->err);
}

bool cgroup_of_session(const struct hd_session *session, struct cgroup_memory *ret)
{
	const struct process_residency *residency = session->target->process.residency;
	if (!residency || !residency->has_group)
		return false;
	*ret = residency->group;
	return true;
}
