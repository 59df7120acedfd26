/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/*
 * Everything that differs between releases of the runtime and is not an offset of runtime/coreclr/layout.h:
 * X(id, first release, last release or 0), with the section of doc/coreclr.md and the runtime's
 * file as source.  A runtime of unknown release has none of these features.  A new release is added
 * here and in runtime/coreclr/layout.h.
 */
#define CORECLR_FEATURES(X)                                                                            \
	/* MTFlags: a collectible type has bit 28, not 21 (7.2; methodtable.h) */                      \
	X(COLLECTIBLE_BIT_28, 8, 8)                                                                    \
	/* MTFlags2: the TypeDef's RID has 16 bits, not 24 (7.2; methodtable.h) */                     \
	X(SHORT_TOKENS, 8, 8)                                                                          \
	/* MethodTable.Module of instantiations is the loader's (7.2, 9.4; methodtable.h) */           \
	X(GENERIC_MODULE_SLOTS, 8, 8)                                                                  \
	/* elements of the list of assemblies lead to the Module (9.1; domainassembly.h) */            \
	X(DOMAIN_ASSEMBLIES, 8, 8)                                                                     \
	/* its elements are the Assemblies themselves (9.1; appdomain.hpp) */                          \
	X(ASSEMBLY_POINTERS, 11, 0)                                                                    \
	/* the list of threads has Threads, not their links (12.1; threads.h) */                       \
	X(THREAD_POINTERS, 11, 0)                                                                      \
	/* the numbers of fields are packed after an EEClass (10.1; class.h) */                        \
	X(PACKED_FIELD_COUNTS, 8, 8)                                                                   \
	/* statics, also of threads, by DomainLocalModules (10.3, 10.4; appdomain.hpp) */              \
	X(DOMAIN_STATICS, 8, 8)                                                                        \
	/* locks of the runtime take 72 bytes less (10.5; stringliteralmap.h, syncblk.h) */            \
	X(SMALL_LOCKS, 10, 0)                                                                          \
	/* the JIT makes types for what suspended methods keep (7.3; asynccontinuations.cpp) */        \
	X(CONTINUATION_TYPES, 11, 0)                                                                   \
	/* a SyncBlock refers to a System.Threading.Lock, and has none itself (7.4; syncblk.h) */      \
	X(MANAGED_MONITORS, 11, 0)                                                                     \
	/* Thread._waitInfo says what it waits for (12.15; WaitSubsystem.ThreadWaitInfo.Unix.cs) */    \
	X(MANAGED_WAITS, 11, 0)                                                                        \
	/* Lock._owningThreadId is a managed id, not one of the system (12.11; Lock.cs) */             \
	X(MANAGED_LOCK_IDS, 11, 0)                                                                     \
	/* an AppDomain points to the table of arrays of statics (10.5; appdomain.hpp) */              \
	X(STATIC_ARRAY_TABLE, 10, 0)                                                                   \
	/* handles of cross references: N is 13, not 12 (11.1; gcinterface.h) */                       \
	X(CROSS_REFERENCES, 10, 0)                                                                     \
	/* a unit of the nibble map may hold a method's start itself (12.3; nibblemapmacros.h) */      \
	X(NIBBLE_STARTS, 10, 0)                                                                        \
	/* HijackArgs have a continuation's register (12.6; cgencpu.h) */                              \
	X(HIJACK_CONTINUATION, 10, 0)                                                                  \
	/* HijackArgs are longer on arm64 (12.6; cgencpu.h) */                                         \
	X(LARGE_HIJACK, 11, 0)                                                                         \
	/* GCInfo says what a hijacked call returns, the Frame does not (12.5, 12.6; frames.h) */      \
	X(RESULTS_IN_GC_INFO, 10, 0)                                                                   \
	/* Frames begin with their vtables, some of which g_dacTable ends in (4, 12.6; vptr_list.h) */ \
	X(FRAME_VTABLES, 8, 9)                                                                         \
	/* a MethodDesc of an async method has AsyncMethodData behind its slots (12.12; method.hpp) */ \
	X(ASYNC_METHODS, 11, 0)                                                                        \
	/* Frames begin with the numbers of enum frame_kind (12.6; FrameTypes.h) */                    \
	X(FRAME_NUMBERS, 10, 11)                                                                       \
	/* an ExInfo has the reference to its exception, not a handle of it (12.7; exinfo.h) */        \
	X(DIRECT_EXCEPTION, 11, 0)                                                                     \
	/* a frame that an exception has ended has no live slots outside of ranges (12.5) */           \
	X(EMPTY_ABORTED_FRAMES, 11, 0)                                                                 \
	/* the JIT's debug info begins with a byte of flags (12.13; debuginfostore.cpp) */             \
	X(DEBUG_FLAGS, 8, 10)                                                                          \
	/* debug info begins with its sizes, SLIM or FAT (12.13; debuginfostore.cpp) */                \
	X(DEBUG_SIZES, 11, 0)                                                                          \
	/* its bounds are packed, PatchpointInfo has an entry point (12.13; debuginfostore.cpp) */     \
	X(PACKED_BOUNDS, 10, 0)                                                                        \
	/* the JIT's numbers of xmm registers begin with 32, not 16 (12.13; targetamd64.h) */          \
	X(LATE_FLOATS, 10, 10)                                                                         \
	/* MethodDesc is without m_codeData: 8 bytes less (12.10; method.hpp) */                       \
	X(SMALL_METHOD_DESCS, 8, 8)

/** CORECLR_COLLECTIBLE_BIT_28, ... */
enum coreclr_feature {
#define X(id, first, last) CORECLR_##id,
	CORECLR_FEATURES(X)
#undef X
	CORECLR_FEATURE_COUNT
};

/** All that differs between releases, one row for each. */
struct coreclr_release {
	unsigned int major;
	uint32_t dac_count; /**< entries of g_dacTable (4; inc/dacvars.h, inc/vptr_list.h) */
	uint8_t sync_table_distance; /**< entries of g_dacTable from GcDacVars to the sync table
				      * (4) */
	uint8_t gc_info_version;     /**< version of GCInfo in JIT code (12.3; GCInfoVersion,
				      * gcinfo.h) */
};

/** Releases that heapdump was tested with, ascending. */
#define CORECLR_RELEASES 4u
extern const struct coreclr_release coreclr_releases[CORECLR_RELEASES];

/** The release with that major version, or NULL. */
const struct coreclr_release *coreclr_release_find(unsigned int major);

/** Does the release of the runtime in @p runtime have it? */
bool coreclr_has(const struct runtime *runtime, enum coreclr_feature feature);
