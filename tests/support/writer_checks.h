/* SPDX-License-Identifier: MIT */
#pragma once

#include "format/format.h"

/* Checks that every writer must bear: nobody takes more, the job is cancelled, memory runs out. */

/** Something that is written in pieces: @p what is the test's. */
struct writing {
	enum hd_status (*write)(const void *what, struct job *job, format_write_fn write, void *arg,
				struct hd_error *err);
	const void *what;
};

/** The writer of a format, as format.write. */
typedef enum hd_status (*graph_write_fn)(const struct hd_graph *graph,
					 const struct write_options *options, struct job *job,
					 format_write_fn write, void *arg, struct hd_error *err);

/** A graph that it writes: what write_graph() takes. */
struct graph_writing {
	graph_write_fn write;
	const struct hd_graph *graph;
	const struct write_options *options;
};

enum hd_status write_graph(const void *what, struct job *job, format_write_fn write, void *arg,
			   struct hd_error *err);

/** Takes so many pieces, then no more. */
struct taker {
	size_t pieces; /**< that were offered */
	size_t left;
};

/** A format_write_fn for a struct taker; fails the test when it is called after it has refused. */
bool take_some(void *arg, const char *bytes, size_t size);

/** For job.cancelled: cancels at call number *@p arg, an unsigned int, and at all later ones. */
int cancel_countdown(void *arg);

/** Writing ends with the piece that is refused, whichever; there are @p least pieces or more. */
void check_refused_pieces(const struct writing *writing, size_t least);

/** Writing ends at whatever poll it is cancelled; there are @p least polls or more. */
void check_cancelling(const struct writing *writing, unsigned int least);

/** Both of a list of @p count objects. */
void check_refused_pieces_of_list(graph_write_fn write, uint32_t count, size_t least);
void check_cancelling_of_list(graph_write_fn write, uint32_t count, unsigned int least);

/** Whatever allocation fails is reported; there are @p least allocations or more. */
void check_failed_allocations(const struct writing *writing, uint64_t least);
