/* SPDX-License-Identifier: MIT */
/* Roots, as a list, or each with a path. */
#pragma once

#include "answer/answering.h"
#include "graph/heap_graph.h"

/** Columns of a root. */
enum root_column {
	ROOT_KIND,
	ROOT_HANDLE,
	ROOT_FLAGS,
	ROOT_NAME,
	ROOT_CONTAINER_MT,
	ROOT_CONTAINER_NAME,
	ROOT_ADDRESS,
	ROOT_OBJECT,
	ROOT_THREAD_ID,
	ROOT_THREAD_OS_ID,
	ROOT_THREAD_NAME,
	ROOT_FRAME,
	ROOT_SLOT,
	ROOT_FILE, /**< see source_text_root() */
	ROOT_LINE,
	ROOT_WEAK,
	/* text only */
	ROOT_FORM,    /**< enum root_form */
	ROOT_LABEL,   /**< what it is, such as "pinned handle"; for an older object, where that
		       * is */
	ROOT_HEADING, /**< heading for the roots of its kind; absent: they are under their thread's
		       * heading */
	ROOT_METHOD,  /**< method of its frame; absent: it has no frame */
	ROOT_OFFSET,
	ROOT_SP,
	ROOT_IP,
	ROOT_OS_ID, /**< id of its thread, or of its frame's thread */
	ROOT_CLASS, /**< type of the object */
	ROOT_COLUMNS
};

/** How text shows a root, in the line above its path. */
enum root_form {
	FORM_RECORD, /**< address, name or container, and what it is */
	FORM_SLOT,   /**< the slot, for a root on a heap's stack, which is under its frame's
		      * heading */
	FORM_OLDER,  /**< an object of an older generation, instead of a root */
};

/** Where a frame is in the source; several roots, one after the other, may belong to it. */
struct root_source {
	const struct graph_frame *frame;
	struct cell file, line;
};

/** A root that is being written into a table.  All zeros is empty. */
struct root_row {
	struct cell cells[ROOT_COLUMNS];
	struct root_source source;
	struct text frame; /**< "Namespace.Type.Method(...)+0x1b", which a cell borrows */
};

/**
 * "roots": the main table of a command that lists them; its columns depend on what the graph knows
 * about roots.
 */
const struct schema *root_list_schema(const struct hd_graph *graph);
/** "roots", with a path in each row. */
extern const struct schema root_schema;
/** Headings above such roots: for their kind or thread, and for a frame. */
extern const struct schema root_heading_schema, frame_heading_schema;

/** Fill the row for root number @p index; if memory is exhausted, the answer ends. */
void root_row_fill(struct root_row *row, struct answer *answer, const struct hd_graph *graph,
		   uint32_t index);
/**
 * The same for an older object that refers to a younger one; @p place says where that is and is
 * borrowed.
 */
void root_row_fill_older(struct root_row *row, const struct hd_graph *graph, uint32_t node,
			 const char *place);
void root_row_deinit(struct root_row *row);

/** Thread of a root: its own, or that of its frame; or NULL. */
const struct graph_thread *root_any_thread(const struct hd_graph *graph, uint32_t index);

/** The kind of a root in words, without its flags: "pinned handle", "static variable". */
const char *root_kind_label(const struct hd_graph *graph, uint32_t index);
