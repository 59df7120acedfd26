/* SPDX-License-Identifier: MIT */
/* An HPROF file that is becoming a graph. */
#pragma once

#include "format/hprof/hprof_files.h"
#include "format/hprof/hprof_parse.h"
#include "format/raw/raw_graph.h"
#include "format/type_table.h"

/** A class of the file; its number is that of its type in the graph. */
struct hprof_loaded {
	uint64_t id, name, super;       /**< ids */
	uint64_t data, statics, fields; /**< offsets, as in struct hprof_item */
	uint16_t static_count, field_count;
	bool is_dumped, is_root;
	uint8_t state;          /**< of resolving: 0 no, 1 begun, 2 done */
	uint32_t instance_size; /**< as the file has it */
	uint32_t parent;        /**< row of the super class, or HD_NONE */
	uint32_t next;          /**< the nearest super class that has fields, or HD_NONE */
	uint64_t own, total;    /**< bytes of its fields; with those of its super classes */
};

/** Where a text is, or a trace's frames. */
struct hprof_place {
	uint64_t at, size;
	uint32_t type; /**< of a name: the first type that has it, from 1 */
};

/** A frame: its method's name, and the serial of the class. */
struct hprof_method {
	uint64_t name;
	uint32_t serial;
};

/** A root record. */
struct hprof_root {
	uint64_t id;
	uint32_t serial, number; /**< of its thread; of the frame or trace */
	uint8_t tag;
};

/** The names, classes, frames and roots of a file, and the rows of their ids. */
struct hprof_tables {
	struct type_table ids; /**< maps the ids of each kind to rows */
	struct hprof_place *strings;
	size_t strings_count, strings_capacity;
	struct hprof_loaded *classes;
	size_t classes_count, classes_capacity;
	struct hprof_method *methods;
	size_t methods_count, methods_capacity;
	struct hprof_place *traces;
	size_t traces_count, traces_capacity;
	struct hprof_root *roots;
	size_t roots_count, roots_capacity;
};

/** Types of the graph for objects that name no class. */
struct hprof_types {
	uint32_t of_classes, unknown;
	uint32_t numbers[12]; /**< of arrays, by enum hprof_type */
};

struct hprof_reading {
	struct hprof_file file;
	const char *path;
	struct job *job;
	struct hd_error *err;
	bool lenient;
	struct hd_graph *graph;
	struct hprof_tables tables;
	struct hprof_types types;
	struct raw_root *raw_roots;
	size_t raw_roots_count, raw_roots_capacity;
	struct raw_graph raw;
	uint64_t *targets; /**< ids that references lead to */
	size_t targets_count, targets_capacity;
	uint64_t objects, bad;
	bool is_cut;
	uint64_t object_size; /**< of java.lang.Object, if sizes are whole; else 0 */
};

/** The kinds of ids in the table. */
enum hprof_ids {
	IDS_STRINGS,
	IDS_CLASSES,
	IDS_FRAMES,
	IDS_TRACES,
	IDS_SERIALS, /**< of classes */
	IDS_THREADS, /**< serials of threads: the row is the serial of the trace */
};

/** Fill the tables of names, classes, frames and roots, and count objects. */
HD_NODISCARD enum hd_status hprof_scan(struct hprof_reading *reading);
/** The row of a class by its id, or HD_NONE. */
uint32_t hprof_class_row(const struct hprof_reading *reading, uint64_t id);
/** The place of a string by its id, or NULL. */
struct hprof_place *hprof_string_place(const struct hprof_reading *reading, uint64_t id);
/** The bytes of a string by its id; "" when there is none. */
const char *hprof_string_at(const struct hprof_reading *reading, uint64_t id, size_t *size);
/** Make the graph's types, whose numbers are those of the classes. */
HD_NODISCARD enum hd_status hprof_make_types(struct hprof_reading *reading);
/** Make the roots, in raw_roots. */
HD_NODISCARD enum hd_status hprof_make_roots(struct hprof_reading *reading);
