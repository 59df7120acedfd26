/* SPDX-License-Identifier: MIT */
/* A graph that is being written as an HPROF file, with or without the contents of its objects. */
#pragma once

#include "format/hprof/hprof_classes.h"
#include "format/hprof/hprof_files.h"

/** A thread, and where its frames are. */
struct hprof_thread {
	uint64_t object;  /**< the object that stands for it */
	const char *name; /**< borrowed; NULL: it has none */
	uint32_t id;
	uint64_t os_id;
	size_t first, count; /**< of its frames */
};

/** A frame; of one thread the innermost comes first. */
struct hprof_frame {
	uint64_t sp, ip;
	const char *method; /**< borrowed; NULL: not known */
	uint32_t thread;
};

/** Threads, first those of the graph in its order; and frames, which hprof_stacks_sort() sorts. */
struct hprof_stacks {
	struct hprof_thread *threads;
	size_t threads_count, threads_capacity;
	struct hprof_frame *frames;
	size_t frames_count, frames_capacity;
	struct arena *arena; /**< for texts of who adds them */
};

struct hprof_writer;

/** Functions of somebody who can read the objects of a graph. */
struct hprof_contents {
	void *arg;
	/**
	 * Add the classes of the graph's types, and set writer->type_classes; types that keep HD_NONE
	 * have no class of their own.
	 */
	enum hd_status (*add_classes)(void *arg, struct hprof_writer *writer);
	/** Add threads and frames to those of the graph. */
	enum hd_status (*add_stacks)(void *arg, struct hprof_writer *writer);
	/** Write the object of a node; ids ascend. */
	enum hd_status (*write_object)(void *arg, struct hprof_writer *writer, uint32_t node,
				       uint64_t id);
	/** Lowest id of a class that add_classes() will give. */
	uint64_t lowest_class;
	const char *version; /**< of the runtime: "10.0.12" */
	const char *flavor;  /**< ".NET CoreCLR" */
};

/** Sizes and references that a type's objects have in common, for those whose contents are not known. */
struct hprof_plain {
	uint64_t size;
	uint32_t degree; /**< the largest */
	bool is_met, varies;
};

struct hprof_writer {
	const struct hd_graph *graph;
	const struct write_options *options;
	const struct hprof_contents *contents; /**< NULL: there are none */
	struct job *job;
	struct hd_error *err;
	struct hprof_out out;
	struct hprof_classes classes;
	uint32_t *type_classes; /**< row of each type's class, or HD_NONE */
	struct hprof_plain *plain;
	struct hprof_stacks stacks;
	uint64_t cut; /**< arrays that were too long, and are cut */
};

/** hprof_write() by @p writer, whose first members, up to err, are set. */
HD_NODISCARD enum hd_status hprof_write_with(struct hprof_writer *writer, format_write_fn write,
					     void *arg);

/** Write a string of Java: @p id, and its characters as @p id + 4. */
void hprof_write_text(struct hprof_writer *writer, uint64_t id, const char *text);

/** Begin an instance of a class (a row), whose fields take @p size bytes. */
void hprof_begin_instance(struct hprof_writer *writer, uint64_t id, uint32_t row, uint32_t size);

/** How many of @p length elements of @p size bytes a record can hold; counts those that are cut. */
uint32_t hprof_array_length(struct hprof_writer *writer, uint64_t length, unsigned int size);

/** Begin an array of references, whose class is a row. */
void hprof_begin_array(struct hprof_writer *writer, uint64_t id, uint32_t row, uint32_t length);

/** Begin an array of a primitive type (enum hprof_type). */
void hprof_begin_primitives(struct hprof_writer *writer, uint64_t id, unsigned int type,
			    uint32_t length);

/** Take threads and frames from the graph. */
HD_NODISCARD enum hd_status hprof_stacks_of_graph(struct hprof_writer *writer);
/** Sort the frames of each thread, and give each thread its frames. */
void hprof_stacks_sort(struct hprof_stacks *stacks);
void hprof_stacks_deinit(struct hprof_stacks *stacks);
/** Add the classes of the frames' methods and the names, then write the traces. */
HD_NODISCARD enum hd_status hprof_add_frame_classes(struct hprof_writer *writer,
						    uint32_t **ret_rows);
HD_NODISCARD enum hd_status hprof_write_traces(struct hprof_writer *writer, const uint32_t *rows);
/** Give classes their statics, before they are written. */
HD_NODISCARD enum hd_status hprof_add_statics(struct hprof_writer *writer);
/** Write the objects of threads that have none, and all roots. */
HD_NODISCARD enum hd_status hprof_write_roots(struct hprof_writer *writer);
