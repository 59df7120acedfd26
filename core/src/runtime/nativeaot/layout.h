/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Every offset that is read from the structures of a NativeAOT runtime (doc/nativeaot.md 1.3):
 * X(id, field of the debug header, type and field of the contract descriptor, value in 8, 9, 10, 11).
 * NULL: it does not have it.  AOT_NO: there is no such field.  Sources: src/coreclr/nativeaot/Runtime/
 * {thread,threadstore,RuntimeInstance,DebugHeader}.{h,cpp} and datadescriptor.inc of each release.
 */
#define AOT_NO UINT32_MAX
#define AOT_FIELDS(X)                                                                           \
	X(THREAD_NEXT, "m_pNext", "Thread", "LinkNext", 88, 88, 96, 96)                         \
	X(THREAD_OS_ID, "m_threadId", "Thread", "OSId", 184, 184, 184, 176)                     \
	X(THREAD_CONTEXT, "m_eeAllocContext", "Thread", "AllocContext", 0, 0, 0, 0)             \
	X(THREAD_EXCEPTIONS, "m_pExInfoStackHead", "Thread", "ExceptionTracker", 128, 128, 120, \
	  120)                                                                                  \
	X(THREAD_STATE, NULL, "Thread", "State", 56, 56, 64, 64)                                \
	X(THREAD_FRAME, NULL, "Thread", "TransitionFrame", 64, 64, 72, 72)                      \
	X(THREAD_DEFERRED_FRAME, NULL, NULL, NULL, 72, 72, 80, 80)                              \
	X(THREAD_HIJACKED, NULL, NULL, NULL, 96, 96, 104, 104)                                  \
	X(THREAD_STATICS, NULL, NULL, NULL, 144, 144, 144, 136)                                 \
	X(THREAD_INLINED_STATICS, NULL, NULL, NULL, 152, 152, 152, 144)                         \
	X(THREAD_STACK_LOW, NULL, "Thread", "CachedStackLimit", 168, 168, 168, 160)             \
	X(THREAD_STACK_HIGH, NULL, "Thread", "CachedStackBase", 176, 176, 176, 168)             \
	X(THREAD_INTERRUPTED, NULL, NULL, NULL, 200, 200, 200, 192)                             \
	X(CONTEXT_POINTERS, NULL, "EEAllocContext", "GCAllocationContext", 0, 0, 8, 8)          \
	X(STORE_FIRST, "m_ThreadList", "ThreadStore", "FirstThreadLink", 0, 0, 0, 0)            \
	X(INSTANCE_STORE, "m_pThreadStore", NULL, NULL, 0, 0, 0, AOT_NO)                        \
	X(INSTANCE_CODE, NULL, "RuntimeInstance", "ManagedCodeStartRange", 32, 32, 32, 24)      \
	X(INSTANCE_CODE_SIZE, NULL, "RuntimeInstance", "ManagedCodeRangeSize", 40, 40, 40, 32)  \
	X(INSTANCE_MANAGERS, NULL, "RuntimeInstance", "TypeManagerList", 48, 48, 48, 40)        \
	X(MANAGER_OF_ENTRY, NULL, "TypeManagerEntry", "TypeManager", 8, 8, 8, 8)                \
	X(MANAGER_HEADER, NULL, "TypeManager", "Header", 8, 8, 8, 8)                            \
	X(EXINFO_PREVIOUS, "m_pPrevExInfo", "ExInfo", "PreviousNestedInfo", 0, 0, 0, 0)         \
	X(EXINFO_OBJECT, "m_exception", "ExInfo", "ThrownObject", 16, 16, 16, 16)

enum aot_field {
#define X(id, header, type, field, v8, v9, v10, v11) AOT_##id,
	AOT_FIELDS(X)
#undef X
	AOT_FIELD_COUNT
};

/** The releases that are read. */
#define AOT_MAJOR_FIRST 8u
#define AOT_MAJOR_LAST  11u

/** The offset of each field, in bytes; AOT_NO: there is none. */
struct aot_layout {
	uint32_t offsets[AOT_FIELD_COUNT];
};

/** Fill @p layout with the values of release @p major, which is one of those that are read. */
void aot_layout_init(struct aot_layout *layout, unsigned int major);
/**
 * Take @p offset of the field that a debug header calls @p name, unless it is none of these, or too
 * large to be one.
 */
void aot_layout_take(struct aot_layout *layout, const char *name, uint64_t offset);

struct descriptor;
/** Take all offsets that a contract descriptor has; fields of Thread that it does not tell move with those. */
void aot_layout_take_descriptor(struct aot_layout *layout, const struct descriptor *descriptor);
