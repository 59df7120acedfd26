/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <heapdump/graph.h>

/** One root record: 16 bytes. */
struct graph_root {
	uint32_t node;
	uint32_t container; /**< type, or HD_NONE */
	uint32_t domain;
	uint8_t kind;  /**< enum hd_root_kind */
	uint8_t flags; /**< of enum hd_root_flag */
	bool repeated; /**< an earlier record says the same */
};

/** Kinds of handles; the first one means that it is not a handle. */
enum graph_handle {
	GRAPH_HANDLE_NONE,
	GRAPH_HANDLE_STRONG,
	GRAPH_HANDLE_PINNED,
	GRAPH_HANDLE_WEAK_SHORT,
	GRAPH_HANDLE_WEAK_LONG,
	GRAPH_HANDLE_DEPENDENT,
	GRAPH_HANDLE_REF_COUNTED,
	GRAPH_HANDLE_SIZED_REF,
	GRAPH_HANDLE_VARIABLE,
	GRAPH_HANDLE_ASYNC_PINNED,
	GRAPH_HANDLE_CROSS_REFERENCE,
	GRAPH_HANDLE_WEAK_INTERIOR,
	GRAPH_HANDLE_WEAK_NATIVE_COM,
	GRAPH_HANDLES
};

/** "strong", "weak-short", ... as JSON has it; NULL for GRAPH_HANDLE_NONE. */
const char *graph_handle_name(uint8_t handle);
/** "strong handle", "weak short handle", ...: SOS's words; "handle" for GRAPH_HANDLE_NONE. */
const char *graph_handle_label(uint8_t handle);

/**
 * More about a root; texts are in the graph's arena.  For dump files only name or handle may be
 * set.
 */
struct graph_root_detail {
	uint64_t address; /**< address of the slot: a handle, a static, a word of a stack; 0 =
			   * none */
	const char *name; /**< "Namespace.Type.field"; for internal roots, what they are; or NULL */
	const char *slot; /**< for stack roots, "rbp-20" or a register; or NULL */
	uint32_t thread;  /**< index in threads, or HD_NONE */
	uint32_t frame;   /**< index in frames, or HD_NONE */
	uint8_t handle;   /**< enum graph_handle */
};

/** A managed thread that has roots. */
struct graph_thread {
	uint64_t os_id;
	uint32_t id;      /**< managed thread id */
	const char *name; /**< name in the Thread object, or NULL */
};

/** A frame that has roots. */
struct graph_frame {
	uint64_t sp, ip;
	const char *method; /**< "Namespace.Type.Method(...)", or the class of an explicit Frame */
	uint32_t offset : 31;   /**< offset of ip in the method's code */
	uint32_t is_active : 1; /**< ip is of the next instruction, and not a return address */
	uint32_t thread;        /**< index in threads */
};

/** Is it a frame of a method, and not an explicit Frame?  Only methods have arguments. */
static inline bool graph_frame_is_method(const struct graph_frame *frame)
{
	return frame->method && strchr(frame->method, '(');
}

static inline bool root_is_weak(const struct graph_root *root)
{
	return root->flags & HD_ROOT_WEAK;
}
