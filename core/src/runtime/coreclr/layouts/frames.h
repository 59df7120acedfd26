/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The runtime's explicit Frames: vm/frames.h and vm/FrameTypes.h of 8.0, 9.0 and 10.0
 * (doc/coreclr.md 12.6).  Offsets are bytes from the Frame on; offsets that a contract descriptor
 * may have are in runtime/coreclr/layout.h.
 */

#include <stdbool.h>
#include <stdint.h>

struct runtime;

/**
 * The kinds of Frames, which a thread leaves on its stack where it leaves managed code; numbered as
 * in 10.0 up to FRAME_EXCEPTION_FILTER.
 */
enum frame_kind {
	FRAME_UNKNOWN,
	FRAME_INLINED_CALL,
	FRAME_RESUMABLE,
	FRAME_REDIRECTED_THREAD,
	FRAME_FAULTING_EXCEPTION,
	FRAME_SOFTWARE_EXCEPTION,
	FRAME_FUNC_EVAL,
	FRAME_PINVOKE_CALLI,
	FRAME_HIJACK,
	FRAME_PRESTUB_METHOD,
	FRAME_CALL_COUNTING_HELPER,
	FRAME_STUB_DISPATCH,
	FRAME_EXTERNAL_METHOD,
	FRAME_DYNAMIC_HELPER,
	FRAME_PROTECT_VALUE_CLASS,
	FRAME_DEBUGGER_CLASS_INIT_MARK,
	FRAME_DEBUGGER_EXIT,
	FRAME_DEBUGGER_U2M_CATCH_HANDLER,
	FRAME_EXCEPTION_FILTER,
	FRAME_INTERPRETER, /**< 11 and later */
	/* 8 and 9 */
	FRAME_HELPER_METHOD,
	FRAME_HELPER_METHOD_1OBJ,
	FRAME_HELPER_METHOD_2OBJ,
	FRAME_HELPER_METHOD_3OBJ,
	FRAME_HELPER_METHOD_PROTECTOBJ,
	FRAME_PROTECT_BY_REFS,
	FRAME_KINDS
};

/** The part of a Frame that leads to the managed code that was left. */
enum frame_gives {
	FRAME_GIVES_NOTHING,
	FRAME_GIVES_CALL,            /**< an InlinedCallFrame: stack pointer, return address, rbp */
	FRAME_GIVES_CONTEXT,         /**< a CONTEXT that is part of it */
	FRAME_GIVES_CONTEXT_POINTER, /**< the address of a CONTEXT */
	FRAME_GIVES_HIJACK,          /**< HijackArgs */
	FRAME_GIVES_BLOCK,           /**< a TransitionBlock */
};

/** The facts about the Frames of one kind. */
struct frame_layout {
	const char *name; /**< "InlinedCallFrame", ...; "Frame" for FRAME_UNKNOWN */
	uint8_t gives;    /**< enum frame_gives, if the Frame's own number tells its kind */
	int16_t context;  /**< FRAME_GIVES_CONTEXT: its enum layout_field */
	uint16_t ref_map; /**< offset of {Module, indirection cell, GCRefMap} for its arguments; 0:
			   * none */
	uint16_t arguments; /**< offset of a u32 that says which of two arguments are objects; 0:
			     * none */
};

const struct frame_layout *frame_kind_layout(enum frame_kind kind);

/**
 * Do the runtime's Frames begin with the number of their kind?  If not, they begin with a vtable,
 * from which not all kinds can be told.
 */
bool coreclr_frames_are_numbered(const struct runtime *runtime);
/**
 * The kind of a Frame whose first word is @p first, a number or vtable; FRAME_UNKNOWN: not known.
 */
enum frame_kind coreclr_frame_kind(const struct runtime *runtime, uint64_t first);

/** Is it a HelperMethodFrame of any kind? */
static inline bool frame_is_helper(uint8_t kind)
{
	return kind >= FRAME_HELPER_METHOD && kind <= FRAME_HELPER_METHOD_PROTECTOBJ;
}

/**
 * A Frame begins with its number or vtable, then the address of the next Frame; FRAME_TOP ends the
 * chain.
 */
#define FRAME_NEXT 8u
#define FRAME_TOP  UINT64_MAX
/** Later runtimes may have more numbers, but not many more. */
#define FRAME_NUMBER_MAX 64u

/**
 * InlinedCallFrame.m_Datum: the MethodDesc of the P/Invoke; with the lowest bit set, the address
 * that a calli calls.  Since 9, the next two bits say to which part of exception handling it
 * belongs (InlinedCallFrameMarker, exceptionhandling.h).
 */
#define CALL_FRAME_DATUM_IS_ADDRESS 1u
#define CALL_FRAME_DATUM_MARKS      7u

/** HijackFrame: the Thread, between the return address and the HijackArgs. */
#define HIJACK_FRAME_THREAD 24u

/** SoftwareExceptionFrame: KNONVOLATILE_CONTEXT_POINTERS. */
#define SOFTWARE_FRAME_POINTERS 24u

/**
 * How many bytes from the start of a FaultingExceptionFrame of 8 and 9 are searched for its
 * CONTEXT.
 */
#define FAULTING_FRAME_CONTEXT_BEGIN 16u
#define FAULTING_FRAME_CONTEXT_END   512u

/** DynamicHelperFrame: the flags that it may have (DynamicHelperFrameFlags). */
#define DYNAMIC_HELPER_FLAGS_ALL 3u

/** HelperMethodFrame (8, 9): attributes (FRAME_ATTR_EXCEPTION: it throws), Thread, the function that made it. */
#define HELPER_FRAME_ATTRIBUTES 24u
#define HELPER_FRAME_THROWS     1u
#define HELPER_FRAME_THREAD     32u
#define HELPER_FRAME_CODE       40u
/** And its machine state (struct machine_state_layout). */
#define HELPER_FRAME_STATE 48u
/**
 * HelperMethodFrame_1OBJ, _2OBJ, _3OBJ (8, 9): after its machine state, the addresses of variables
 * in the function whose variable the Frame itself is; _PROTECTOBJ: the address of the first one,
 * and how many.
 */
#define HELPER_FRAME_POINTERS 232u
#define HELPER_FRAME_OBJECTS  3u

/** ProtectValueClassFrame and ProtectByRefsFrame (8, 9): the first ValueClassInfo or ByRefInfo. */
#define VALUE_FRAME_INFO 16u
/** ValueClassInfo {next, MethodTable, address of the value}; three words. */
#define VALUE_CLASS_TABLE 8u
#define VALUE_CLASS_DATA  16u
/** ByRefInfo (8, 9): {next, index and element type, TypeHandle, the value}. */
#define BY_REF_TYPE 16u
#define BY_REF_DATA 24u
