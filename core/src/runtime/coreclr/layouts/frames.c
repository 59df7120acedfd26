/* SPDX-License-Identifier: MIT */
#include "runtime/coreclr/layouts/frames.h"

#include "runtime/coreclr/internal.h"

/* Size of a FramedMethodFrame; what derived kinds add comes after it (frames.h). */
#define METHOD_FRAME_SIZE 32u

#define NOTHING(name)                               \
	{                                           \
		name, FRAME_GIVES_NOTHING, NO, 0, 0 \
	}
#define BLOCK(name)                               \
	{                                         \
		name, FRAME_GIVES_BLOCK, NO, 0, 0 \
	}

static const struct frame_layout layouts[FRAME_KINDS] = {
	[FRAME_UNKNOWN] = NOTHING("Frame"),
	[FRAME_INLINED_CALL] = { "InlinedCallFrame", FRAME_GIVES_CALL, NO, 0, 0 },
	[FRAME_RESUMABLE] = { "ResumableFrame", FRAME_GIVES_CONTEXT_POINTER, NO, 0, 0 },
	[FRAME_REDIRECTED_THREAD] = { "RedirectedThreadFrame", FRAME_GIVES_CONTEXT_POINTER, NO, 0,
				      0 },
	[FRAME_FAULTING_EXCEPTION] = { "FaultingExceptionFrame", FRAME_GIVES_CONTEXT,
				       L_FAULTING_FRAME_CONTEXT, 0, 0 },
	[FRAME_SOFTWARE_EXCEPTION] = { "SoftwareExceptionFrame", FRAME_GIVES_CONTEXT,
				       L_SOFTWARE_FRAME_CONTEXT, 0, 0 },
	[FRAME_FUNC_EVAL] = NOTHING("FuncEvalFrame"),
	[FRAME_PINVOKE_CALLI] = BLOCK("PInvokeCalliFrame"),
	[FRAME_HIJACK] = { "HijackFrame", FRAME_GIVES_HIJACK, NO, 0, 0 },
	[FRAME_PRESTUB_METHOD] = BLOCK("PrestubMethodFrame"),
	[FRAME_CALL_COUNTING_HELPER] = BLOCK("CallCountingHelperFrame"),
	[FRAME_STUB_DISPATCH] = { "StubDispatchFrame", FRAME_GIVES_BLOCK, NO,
				  METHOD_FRAME_SIZE + 16, 0 },
	[FRAME_EXTERNAL_METHOD] = { "ExternalMethodFrame", FRAME_GIVES_BLOCK, NO, METHOD_FRAME_SIZE,
				    0 },
	[FRAME_DYNAMIC_HELPER] = { "DynamicHelperFrame", FRAME_GIVES_BLOCK, NO, 0,
				   METHOD_FRAME_SIZE },
	[FRAME_PROTECT_VALUE_CLASS] = NOTHING("ProtectValueClassFrame"),
	[FRAME_DEBUGGER_CLASS_INIT_MARK] = NOTHING("DebuggerClassInitMarkFrame"),
	[FRAME_DEBUGGER_EXIT] = NOTHING("DebuggerExitFrame"),
	[FRAME_DEBUGGER_U2M_CATCH_HANDLER] = NOTHING("DebuggerU2MCatchHandlerFrame"),
	[FRAME_EXCEPTION_FILTER] = NOTHING("ExceptionFilterFrame"),
	[FRAME_INTERPRETER] = NOTHING("InterpreterFrame"),
	[FRAME_HELPER_METHOD] = NOTHING("HelperMethodFrame"),
	[FRAME_HELPER_METHOD_1OBJ] = NOTHING("HelperMethodFrame_1OBJ"),
	[FRAME_HELPER_METHOD_2OBJ] = NOTHING("HelperMethodFrame_2OBJ"),
	[FRAME_HELPER_METHOD_3OBJ] = NOTHING("HelperMethodFrame_3OBJ"),
	[FRAME_HELPER_METHOD_PROTECTOBJ] = NOTHING("HelperMethodFrame_PROTECTOBJ"),
	[FRAME_PROTECT_BY_REFS] = NOTHING("ProtectByRefsFrame"),
};

const struct frame_layout *frame_kind_layout(enum frame_kind kind)
{
	return &layouts[kind];
}

bool coreclr_frames_are_numbered(const struct runtime *runtime)
{
	return coreclr_of(runtime)->frames.identifiers[FRAME_INLINED_CALL] != 0;
}

enum frame_kind coreclr_frame_kind(const struct runtime *runtime, uint64_t first)
{
	const uint64_t *words = coreclr_frames_are_numbered(runtime)
					? coreclr_of(runtime)->frames.identifiers
					: coreclr_of(runtime)->frames.vtables;
	for (unsigned int kind = 1; kind < FRAME_KINDS; kind++) {
		if (words[kind] && words[kind] == first)
			return (enum frame_kind)kind;
	}
	return FRAME_UNKNOWN;
}
