/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * The kinds of things that may be missing or wrong in a target or a dump file.  Kinds for which
 * roots, references or objects are missing come first, the worst before the others: warnings tell
 * them in this order.
 */
enum finding_kind {
	/* of targets */
	FINDING_GC_IN_PROGRESS,     /**< a GC was between plan and sweep: not everything can be
				     * walked */
	FINDING_HEAP_BYTES_MISSING, /**< memory of the heap is not in the target */
	FINDING_MISSING_STACK,      /**< the stack of a thread is not in the target */
	FINDING_NO_REGISTERS,       /**< a thread has no registers, so its stack is not walked */
	FINDING_NO_THREADS,         /**< the ThreadStore was not found: no stack is known */
	FINDING_THREAD_LIST,        /**< the list of threads ends too early, or does not fit the
				     * process */
	FINDING_MISSING_FIELDS,     /**< a newer runtime does not say where fields are */
	FINDING_HANDLE_TABLE,       /**< a part of the handle tables could not be read */
	FINDING_FINALIZER_QUEUE,    /**< a finalizer queue is missing or out of order */
	FINDING_NO_ROOTS,           /**< the roots could not be read at all */
	FINDING_UNWALKABLE,         /**< parts of the heap could not be walked */
	FINDING_BAD_ROOT,           /**< a root points outside the heap */
	FINDING_ROOT_TO_NO_OBJECT,
	FINDING_HANDLE_TO_NO_OBJECT, /**< a dependent handle, which is a reference, points to no
				      * object */
	FINDING_REFERENCE_TO_NO_OBJECT,
	FINDING_SEGMENT_LIST, /**< a list ends too early, or a segment is out of bounds, or overlaps
			       * another */
	FINDING_GC_HEAP,      /**< a heap of the GC, or a generation of one, could not be read */
	/* of dump files */
	FINDING_PARTIAL_HEAP,         /**< objects are not in the file */
	FINDING_MISSING_END_RECORD,   /**< a section of a text log does not end */
	FINDING_CUT_FILE,             /**< the end of the file is missing */
	FINDING_UNDEFINED_NODE,       /**< an object is referred to, but not defined */
	FINDING_REPEATED_ID,          /**< two objects have one id */
	FINDING_UNRESOLVED_REFERENCE, /**< it refers to an object that is not in the file */
	FINDING_UNRESOLVED_ROOT,      /**< it refers to an object that is not in the file */
	FINDING_FROZEN_ROOTS, /**< frozen objects have no roots; only matters for what is dead */
	FINDING_BAD_RECORD,
	FINDING_BAD_HEX, /**< this and the following: a line of a text log that --lenient leaves
			  * out */
	FINDING_OVERFLOW,
	FINDING_MISSING_ELEMENT,
	FINDING_BAD_ROOT_KIND,
	FINDING_BAD_ROOT_FLAGS,
	FINDING_OUTSIDE_SECTION,
	FINDING_LONG_LINE,
	/* From here, no roots, references or objects are missing; of targets: */
	FINDING_TRUNCATED,            /**< a core or a trace is cut off */
	FINDING_ODD_SEGMENT,          /**< the header of a core's segment is impossible */
	FINDING_OVERLAPPING_SEGMENTS, /**< segments of a core overlap */
	FINDING_ODD_NOTE,             /**< a note of a core is impossible */
	FINDING_CORE_NOT_USED,        /**< a debugger's core cannot be mapped */
	FINDING_HELD,                 /**< a process stays stopped: it is too large for a copy */
	FINDING_UNREADABLE,           /**< bytes of a process cannot be read */
	FINDING_MISSING_NATIVE,       /**< native memory that was not copied */
	FINDING_LINK_MAP,             /**< the dynamic linker's list of modules ends too early */
	FINDING_FILES_UNVERIFIED,     /**< module files are not proven to be the right ones */
	FINDING_FILES_MISSING,        /**< module files are not here */
	FINDING_FILES_DIFFER,         /**< module files differ from those that the process had */
	/* of the runtime */
	FINDING_NO_RUNTIME,
	FINDING_NO_DESCRIPTOR,   /**< the contract descriptor of the runtime cannot be found */
	FINDING_BAD_DESCRIPTOR,  /**< the contract descriptor is broken */
	FINDING_UNKNOWN_BUILD,   /**< offsets are those of the release's series, or not known */
	FINDING_NEWER_RUNTIME,   /**< a major version after the last one that was tested */
	FINDING_OTHER_RUNTIME,   /**< another .NET runtime, of which nothing is shown */
	FINDING_MISSING_SYMBOLS, /**< a global of the runtime was not found */
	FINDING_NO_HEAP,         /**< the heap cannot be read */
	FINDING_GC_CRASH,        /**< the process ended while it collected garbage */
	FINDING_THREAD_IDS,      /**< core and runtime know threads by different ids */
	FINDING_PARTIAL_STACK,   /**< above some frame, each word counts as a root */
	FINDING_STATICS,         /**< some static fields are not known */
	FINDING_FRAMEWORK,       /**< types or fields that answers use are not in this framework */
	FINDING_TYPE_TABLES,     /**< parts of the runtime's tables of types cannot be read */
	FINDING_MODULES_MISSING, /**< the list of modules cannot be read */
	FINDING_MODULE_LIST,     /**< a part of the list of modules cannot be read */
	FINDING_MODULE_METADATA, /**< the metadata of a module cannot be read: names are missing */
	FINDING_MODULE_METADATA_MORE, /**< the same for more modules, which are not named */
	FINDING_ASYNC_METHODS,        /**< which methods are suspended is not in the target */
	FINDING_ASYNC_LIST,           /**< a list of suspended methods cannot be read to its end */
	FINDING_SYMBOL_FILE, /**< a symbol file cannot be used: names of native functions are
			      * missing */
	FINDING_PDB, /**< the PDB of a module cannot be used: lines of source code are missing */
	/* of a collection */
	FINDING_NO_END,      /**< the snapshot has no end */
	FINDING_PARTIAL,     /**< the process did not send all objects */
	FINDING_LOST_EVENTS, /**< events of the snapshot were dropped */
	/* of dump files */
	FINDING_UNRESOLVED_TYPE, /**< a type has no name */
	FINDING_SNAPSHOTS,       /**< the trace has more snapshots */
	FINDING_OTHER_LOSSES,    /**< events were dropped that do not belong to this snapshot */
	FINDING_DAMAGED,         /**< blocks of a trace are damaged */
	FINDING_OTHER_MODULE,    /**< a module's file differs from the one that the process had */
	FINDING_UNPROVEN_MODULE, /**< a module's file may be another one */
	FINDING_UNREAD_MODULE,   /**< a module's file could not be read */
	FINDING_SAMPLED,         /**< the file has only some of the objects */
	FINDING_CUT_SIZE,        /**< a size was too large for its format */
	FINDING_TOTAL_SIZE,      /**< the sum of the sizes is not the one in the file */
	FINDING_SYNTHETIC_ID,    /**< an object has no address, so its id is made up */
	FINDING_SECTION_NAME_MISMATCH,
	FINDING_SURPLUS_ELEMENT, /**< this and the following: lines of a text log */
	FINDING_BAD_VERSION,
	FINDING_UNKNOWN_RECORD,
	FINDING_DUPLICATE_TYPE,
	FINDING_DUPLICATE_OBJECT,
	FINDING_KINDS
};

/**
 * The parts that may be missing from the graph of a heap; an object is missing together with what
 * it refers to.
 */
enum finding_loss {
	LOSS_NONE = 0,
	LOSS_ROOTS = 1,
	LOSS_REFERENCES = 2,
	LOSS_OBJECTS = 4
};

/** The properties that all findings of one kind have in common. */
struct finding_traits {
	const char *name;      /**< as it is printed: "gc-in-progress" */
	const char *lost_one;  /**< what is lost, for one or for any number; NULL: nothing is
			        * lost */
	const char *lost_many; /**< the same after a number; NULL: they are not counted */
	const char *advice;    /**< what to do, if it is the same for all of them; or NULL */
	uint8_t losses;        /**< enum finding_loss, or'ed */
	bool is_harmless;      /**< nothing is missing because of it: no warning */
	bool is_gap;           /**< bytes or structures of the target are missing */
	bool is_of_heap;       /**< only answers about objects, roots and segments lack something */
	bool is_of_names; /**< only answers with one of hd_graph.findings.short_names lack something */
	bool is_elsewhere; /**< it is about other things in the file, not about what was read */
};

/** The row of @p kind, which must be less than FINDING_KINDS. */
const struct finding_traits *finding_traits(enum finding_kind kind);

/** The name of @p kind, as it is printed. */
const char *finding_name(enum finding_kind kind);
