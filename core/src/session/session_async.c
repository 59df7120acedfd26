/* SPDX-License-Identifier: MIT */
/* The async methods of what is open, which several commands ask for; and what is done while dominators are found. */
#include "analysis/async/async_graph.h"
#include "framework/member.h"
#include "graph/heap_graph.h"
#include "session/session_state.h"
#include "util/alloc.h"
#include "util/job.h"

struct kept_async {
	struct async_graph graph;
	struct members *members; /* that it reads by */
};

void session_async_drop(struct hd_session *session)
{
	if (!session->async)
		return;
	async_graph_deinit(&session->async->graph);
	members_destroy(session->async->members);
	mem_free(session->async);
	session->async = NULL;
}

static enum hd_status make_async(struct hd_session *session, struct heap *heap, struct job *job,
				 struct hd_error *err)
{
	struct kept_async *async = session->async = mem_calloc(1, sizeof(*async));
	TRY_MEMORY(async, err);
	TRY(members_create(heap, &async->members, err));
	return async_graph_create(heap, async->members, false, job, &async->graph, err);
}

enum hd_status session_async(struct hd_session *session, struct job *job, struct async_graph **ret,
			     struct hd_error *err)
{
	if (!session->async) {
		struct heap *heap;
		TRY(session_heap(session, job, &heap, err));
		enum hd_status status = make_async(session, heap, job, err);
		if (status != HD_OK) {
			session_async_drop(session);
			return status;
		}
	}
	*ret = &session->async->graph;
	return HD_OK;
}

/* Two threads: the caller's does what may ask a debugger, or the user; the other one makes the tree. */
struct making {
	struct hd_session *session;
	struct job *job;
	enum hd_status (*meanwhile)(void *arg);
	void *arg;
	enum hd_status status[2];
	struct hd_error err; /* of the tree */
};

/* The job of the other thread shows nothing, and ends with the one of the caller. */
static int has_stopped(void *arg)
{
	const struct job *job = arg;
	return job->stop;
}

static void make_one(void *arg, unsigned int index)
{
	struct making *making = arg;
	struct job *job = making->job;
	if (index == 0) {
		making->status[0] = making->meanwhile(making->arg);
	} else {
		struct job other = { .cancelled = has_stopped,
				     .arg = job,
				     .max_mem = job->max_mem };
		const struct dominators *dominators;
		making->status[1] =
			session_dominators(making->session, &other, &dominators, &making->err);
	}
	if (making->status[index] != HD_OK)
		job->stop = true;
}

enum hd_status session_dominators_while(struct hd_session *session, struct job *job,
					enum hd_status (*meanwhile)(void *arg), void *arg,
					const struct dominators **ret, struct hd_error *err)
{
	struct making making = {
		.session = session, .job = job, .meanwhile = meanwhile, .arg = arg
	};
	const struct csr *reverse;
	if (session->dominators.idom || job_workers(job) < 2) {
		TRY(meanwhile(arg));
		return session_dominators(session, job, ret, err);
	}
	/* With the references in reverse, nothing of the graph is made while both run. */
	TRY(graph_reverse(session->graph, job, &reverse, err));
	run_parallel(2, job, make_one, &making);
	/* If both have failed, one of them may only have been stopped by the other: the cause is told. */
	if (making.status[1] != HD_OK &&
	    (making.status[0] == HD_OK || making.status[0] == HD_ERR_CANCELLED)) {
		if (err)
			*err = making.err;
		return making.status[1];
	}
	TRY(making.status[0]);
	return session_dominators(session, job, ret, err);
}
