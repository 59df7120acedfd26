/* SPDX-License-Identifier: MIT */
#include "support/writer_checks.h"

#include "support/assert_more.h"
#include "support/graph_maker.h"
#include "util/alloc.h"
#include "util/job.h"

/* No test has so many polls or allocations. */
#define TRIES_MAX 1000u

enum hd_status write_graph(const void *what, struct job *job, format_write_fn write, void *arg,
			   struct hd_error *err)
{
	const struct graph_writing *writing = what;
	return writing->write(writing->graph, writing->options, job, write, arg, err);
}

bool take_some(void *arg, const char *bytes, size_t size)
{
	struct taker *taker = arg;
	CU_ASSERT(bytes && size);
	CU_ASSERT(taker->left > 0);
	taker->pieces++;
	return --taker->left > 0;
}

int cancel_countdown(void *arg)
{
	unsigned int *left = arg;
	return *left == 0 || --*left == 0;
}

void check_refused_pieces(const struct writing *writing, size_t least)
{
	struct taker all = { .left = SIZE_MAX };
	ASSERT_UINT_FATAL(writing->write(writing->what, NULL, take_some, &all, NULL), HD_OK);
	CU_ASSERT(all.pieces >= least);
	for (size_t left = 1; left <= all.pieces; left++) {
		struct taker taker = { .left = left };
		struct hd_error err = { 0 };
		ASSERT_UINT(writing->write(writing->what, NULL, take_some, &taker, &err),
			    HD_ERR_CANCELLED);
		ASSERT_UINT(err.status, HD_ERR_CANCELLED);
		ASSERT_UINT(taker.pieces, left);
	}
}

void check_cancelling(const struct writing *writing, unsigned int least)
{
	for (unsigned int poll = 1; poll < TRIES_MAX; poll++) {
		unsigned int left = poll;
		struct job job = { .cancelled = cancel_countdown, .arg = &left };
		struct taker taker = { .left = SIZE_MAX };
		struct hd_error err = { 0 };
		enum hd_status status =
			writing->write(writing->what, &job, take_some, &taker, &err);
		ASSERT_UINT(err.status, status);
		if (status == HD_OK) {
			CU_ASSERT(poll > least);
			return;
		}
		ASSERT_UINT_FATAL(status, HD_ERR_CANCELLED);
	}
	CU_FAIL("still cancelled");
}

void check_refused_pieces_of_list(graph_write_fn write, uint32_t count, size_t least)
{
	struct hd_graph *graph = graph_make_list(count);
	REQUIRE(graph);
	const struct graph_writing what = { .write = write, .graph = graph };
	check_refused_pieces(&(struct writing){ write_graph, &what }, least);
	graph_destroy(graph);
}

void check_cancelling_of_list(graph_write_fn write, uint32_t count, unsigned int least)
{
	struct hd_graph *graph = graph_make_list(count);
	REQUIRE(graph);
	const struct graph_writing what = { .write = write, .graph = graph };
	check_cancelling(&(struct writing){ write_graph, &what }, least);
	graph_destroy(graph);
}

void check_failed_allocations(const struct writing *writing, uint64_t least)
{
	for (uint64_t nth = 1; nth < TRIES_MAX; nth++) {
		struct taker taker = { .left = SIZE_MAX };
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status =
			writing->write(writing->what, NULL, take_some, &taker, &err);
		alloc_fail_at(0);
		ASSERT_UINT(err.status, status);
		if (status == HD_OK) {
			CU_ASSERT(nth > least);
			return;
		}
		ASSERT_UINT_FATAL(status, HD_ERR_NOMEM);
	}
	CU_FAIL("still out of memory");
}
