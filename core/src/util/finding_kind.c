/* SPDX-License-Identifier: MIT */
#include "util/finding_kind.h"

/* The effect of --lenient. */
#define LINE  "1 line of the file was left out"
#define LINES "lines of the file were left out"

#define ANYTHING (LOSS_ROOTS | LOSS_REFERENCES | LOSS_OBJECTS)

static const struct finding_traits traits[FINDING_KINDS] = {
	[FINDING_GC_IN_PROGRESS] = {
		.name = "gc-in-progress",
		.lost_one = "a garbage collection was moving objects",
		.losses = ANYTHING,
		.is_of_heap = true,
	},
	[FINDING_HEAP_BYTES_MISSING] = {
		.name = "heap-bytes-missing",
		.lost_one = "bytes of the heap are missing",
		.lost_many = "bytes of the heap are missing",
		.losses = LOSS_OBJECTS,
		.is_gap = true,
		.is_of_heap = true,
	},
	[FINDING_MISSING_STACK] = {
		.name = "missing-stack",
		.lost_one = "1 stack could not be read",
		.lost_many = "stacks could not be read",
		.losses = LOSS_ROOTS,
		.advice = "take a dump with stacks: createdump --withheap or --full, gcore",
		.is_gap = true,
	},
	[FINDING_NO_REGISTERS] = {
		.name = "no-registers",
		.lost_one = "1 thread has no registers",
		.lost_many = "threads have no registers",
		.losses = LOSS_ROOTS,
	},
	[FINDING_NO_THREADS] = {
		.name = "no-threads",
		.lost_one = "the threads, and so their stacks, are not known",
		.losses = LOSS_ROOTS,
	},
	[FINDING_THREAD_LIST] = {
		.name = "thread-list",
		.lost_one = "stacks of some threads are not known",
		.losses = LOSS_ROOTS,
	},
	[FINDING_MISSING_FIELDS] = {
		.name = "missing-fields",
		.lost_one = "this release does not say where some fields are",
		.losses = LOSS_ROOTS | LOSS_REFERENCES,
	},
	[FINDING_HANDLE_TABLE] = {
		.name = "handle-table",
		.lost_one = "a part of the handle table could not be read",
		.losses = LOSS_ROOTS | LOSS_REFERENCES,
		.is_of_heap = true,
	},
	[FINDING_FINALIZER_QUEUE] = {
		.name = "finalizer-queue",
		.lost_one = "a part of a finalizer queue could not be read",
		.losses = LOSS_ROOTS,
		.is_of_heap = true,
	},
	[FINDING_NO_ROOTS] = {
		.name = "no-roots",
		.lost_one = "the roots could not be read",
		.losses = LOSS_ROOTS | LOSS_REFERENCES,
		.is_of_heap = true,
	},
	[FINDING_UNWALKABLE] = {
		.name = "unwalkable",
		.lost_one = "1 stretch of the heap could not be walked",
		.lost_many = "stretches of the heap could not be walked",
		.losses = LOSS_OBJECTS,
		.advice = "verifyheap lists them, each with a verdict",
		.is_of_heap = true,
	},
	[FINDING_BAD_ROOT] = {
		.name = "bad-root",
		.lost_one = "1 root points outside the heap",
		.lost_many = "roots point outside the heap",
		.losses = LOSS_ROOTS,
		.is_of_heap = true,
	},
	[FINDING_ROOT_TO_NO_OBJECT] = {
		.name = "root-to-no-object",
		.lost_one = "1 root leads to no object",
		.lost_many = "roots lead to no object",
		.losses = LOSS_ROOTS,
		.advice = "verifyheap says where the heap is damaged",
		.is_of_heap = true,
	},
	[FINDING_HANDLE_TO_NO_OBJECT] = {
		.name = "handle-to-no-object",
		.lost_one = "1 dependent handle leads to no object",
		.lost_many = "dependent handles lead to no object",
		.losses = LOSS_REFERENCES,
		.is_of_heap = true,
	},
	[FINDING_REFERENCE_TO_NO_OBJECT] = {
		.name = "reference-to-no-object",
		.lost_one = "1 reference leads to no object",
		.lost_many = "references lead to no object",
		.losses = LOSS_REFERENCES,
		.advice = "verifyheap shows them",
		.is_of_heap = true,
	},
	[FINDING_SEGMENT_LIST] = {
		.name = "segment-list",
		.lost_one = "a part of the heap's segments is not known",
		.losses = LOSS_OBJECTS,
		.is_of_heap = true,
	},
	[FINDING_GC_HEAP] = {
		.name = "gc-heap",
		.lost_one = "a part of the GC's heap is not known",
		.losses = LOSS_OBJECTS,
		.is_of_heap = true,
	},
	[FINDING_PARTIAL_HEAP] = {
		.name = "partial-heap",
		.lost_one = "a part of the heap is not in the file",
		.losses = ANYTHING,
	},
	[FINDING_MISSING_END_RECORD] = {
		.name = "missing-end-record",
		.lost_one = "the end of a section is not in the file",
		.losses = ANYTHING,
	},
	[FINDING_CUT_FILE] = {
		.name = "cut-file",
		.lost_one = "the end of the file is missing",
		.losses = ANYTHING,
	},
	[FINDING_UNDEFINED_NODE] = {
		.name = "undefined-node",
		.lost_one = "1 object is not in the file",
		.lost_many = "objects are not in the file",
		.losses = LOSS_OBJECTS,
	},
	[FINDING_REPEATED_ID] = {
		.name = "repeated-id",
		.lost_one = "1 object has the id of another one and was left out",
		.lost_many = "objects have the id of another one and were left out",
		.losses = LOSS_OBJECTS,
	},
	[FINDING_UNRESOLVED_REFERENCE] = {
		.name = "unresolved-reference",
		.lost_one = "1 reference leads to an object that is not in the file",
		.lost_many = "references lead to objects that are not in the file",
		.losses = LOSS_REFERENCES,
	},
	[FINDING_UNRESOLVED_ROOT] = {
		.name = "unresolved-root",
		.lost_one = "1 root leads to an object that is not in the file",
		.lost_many = "roots lead to objects that are not in the file",
		.losses = LOSS_ROOTS,
	},
	[FINDING_FROZEN_ROOTS] = {
		.name = "frozen-roots",
		.lost_one = "frozen objects (literals, types) have no roots in this file",
		.losses = LOSS_ROOTS,
	},
	[FINDING_BAD_RECORD] = {
		.name = "bad-record",
		.lost_one = "1 record was left out",
		.lost_many = "records were left out",
		.losses = ANYTHING,
	},
	[FINDING_BAD_HEX] = {
		.name = "bad-hex",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = ANYTHING,
	},
	[FINDING_OVERFLOW] = {
		.name = "overflow",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = ANYTHING,
	},
	[FINDING_MISSING_ELEMENT] = {
		.name = "missing-element",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = ANYTHING,
	},
	[FINDING_BAD_ROOT_KIND] = {
		.name = "bad-root-kind",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = LOSS_ROOTS,
	},
	[FINDING_BAD_ROOT_FLAGS] = {
		.name = "bad-root-flags",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = LOSS_ROOTS,
	},
	[FINDING_OUTSIDE_SECTION] = {
		.name = "outside-section",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = ANYTHING,
	},
	[FINDING_LONG_LINE] = {
		.name = "long-line",
		.lost_one = LINE,
		.lost_many = LINES,
		.losses = ANYTHING,
	},
	[FINDING_TRUNCATED] = { .name = "truncated" },
	[FINDING_ODD_SEGMENT] = { .name = "odd-segment" },
	[FINDING_OVERLAPPING_SEGMENTS] = { .name = "overlapping-segments" },
	[FINDING_ODD_NOTE] = { .name = "odd-note" },
	[FINDING_CORE_NOT_USED] = {
		.name = "core-not-used",
		.advice = "every byte comes from the debugger, which is slower",
	},
	[FINDING_HELD] = {
		.name = "held",
		.advice = "give it more with --max-mem, or write a core (createdump --full) and open that",
	},
	[FINDING_UNREADABLE] = { .name = "unreadable" },
	[FINDING_MISSING_NATIVE] = {
		.name = "missing-native",
		.advice = "open it with --copy-all",
		.is_gap = true,
	},
	[FINDING_LINK_MAP] = { .name = "link-map" },
	[FINDING_FILES_UNVERIFIED] = { .name = "files-unverified" },
	[FINDING_FILES_MISSING] = {
		.name = "files-missing",
		.is_gap = true,
	},
	[FINDING_FILES_DIFFER] = { .name = "files-differ" },
	[FINDING_NO_RUNTIME] = { .name = "no-runtime" },
	[FINDING_NO_DESCRIPTOR] = {
		.name = "no-descriptor",
		.is_harmless = true,
	},
	[FINDING_BAD_DESCRIPTOR] = { .name = "bad-descriptor" },
	[FINDING_UNKNOWN_BUILD] = { .name = "unknown-build" },
	[FINDING_NEWER_RUNTIME] = { .name = "newer-runtime" },
	[FINDING_OTHER_RUNTIME] = { .name = "other-runtime" },
	[FINDING_MISSING_SYMBOLS] = {
		.name = "missing-symbols",
		.is_gap = true,
	},
	[FINDING_NO_HEAP] = { .name = "no-heap" },
	[FINDING_GC_CRASH] = {
		.name = "gc-crash",
		.advice = "verifyheap shows what is damaged",
	},
	[FINDING_THREAD_IDS] = { .name = "thread-ids" },
	[FINDING_PARTIAL_STACK] = { .name = "partial-stack" },
	[FINDING_STATICS] = { .name = "statics", .is_of_heap = true },
	[FINDING_FRAMEWORK] = {
		.name = "framework",
		.advice = "use a newer heapdump: an answer that needs one of them says so",
	},
	[FINDING_TYPE_TABLES] = { .name = "type-tables", .is_of_heap = true },
	[FINDING_MODULES_MISSING] = {
		.name = "modules-missing",
		.is_gap = true,
	},
	[FINDING_MODULE_LIST] = { .name = "module-list" },
	[FINDING_MODULE_METADATA] = { .name = "module-metadata" },
	[FINDING_MODULE_METADATA_MORE] = { .name = "module-metadata-more" },
	[FINDING_ASYNC_METHODS] = { .name = "async-methods" },
	[FINDING_ASYNC_LIST] = { .name = "async-list" },
	[FINDING_SYMBOL_FILE] = { .name = "symbol-file" },
	[FINDING_PDB] = { .name = "pdb" },
	[FINDING_NO_END] = {
		.name = "no-end",
		.advice = "collect again",
	},
	[FINDING_PARTIAL] = { .name = "partial" },
	[FINDING_LOST_EVENTS] = {
		.name = "lost-events",
		.advice = "collect again",
	},
	[FINDING_UNRESOLVED_TYPE] = {
		.name = "unresolved-type",
		.advice = "end other traces of the process and collect again",
	},
	[FINDING_SNAPSHOTS] = {
		.name = "snapshots",
		.is_elsewhere = true,
	},
	[FINDING_OTHER_LOSSES] = {
		.name = "other-losses",
		.is_elsewhere = true,
	},
	[FINDING_DAMAGED] = { .name = "damaged" },
	[FINDING_OTHER_MODULE] = { .name = "other-module", .is_of_names = true },
	[FINDING_UNPROVEN_MODULE] = { .name = "unproven-module", .is_of_names = true },
	[FINDING_UNREAD_MODULE] = { .name = "unread-module", .is_of_names = true },
	[FINDING_SAMPLED] = { .name = "sampled" },
	[FINDING_CUT_SIZE] = { .name = "cut-size" },
	[FINDING_TOTAL_SIZE] = { .name = "total-size" },
	[FINDING_SYNTHETIC_ID] = { .name = "synthetic-id" },
	[FINDING_SECTION_NAME_MISMATCH] = { .name = "section-name-mismatch" },
	[FINDING_SURPLUS_ELEMENT] = { .name = "surplus-element" },
	[FINDING_BAD_VERSION] = { .name = "bad-version" },
	[FINDING_UNKNOWN_RECORD] = { .name = "unknown-record" },
	[FINDING_DUPLICATE_TYPE] = { .name = "duplicate-type" },
	[FINDING_DUPLICATE_OBJECT] = { .name = "duplicate-object" },
};

const struct finding_traits *finding_traits(enum finding_kind kind)
{
	return &traits[kind];
}

const char *finding_name(enum finding_kind kind)
{
	return traits[kind].name;
}
