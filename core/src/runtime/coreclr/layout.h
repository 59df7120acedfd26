/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;

/** Where an offset was taken from. */
enum layout_origin {
	ORIGIN_NONE,       /**< not known for this runtime */
	ORIGIN_DESCRIPTOR, /**< the runtime's contract descriptor */
	ORIGIN_BUILD,      /**< the table of exactly this build (build-id) */
	ORIGIN_SERIES,     /**< the table of the same major version */
	ORIGIN_CALIBRATED, /**< found by its shape in the target */
};

/*
 * The offsets in the runtime's structures; doc/coreclr.md 1 says where they come from.
 *
 * Every offset that is read from the runtime's structures: X(id, descriptor type, descriptor field,
 * value in 8.0, 9.0, 10.0, 11.0); NO: it does not exist, or is not known.  The field "!" is the
 * structure's size.  Sources: src/coreclr/vm/{methodtable,class,ceeload,threads,appdomain,...}.h of
 * each release, and debug/runtimeinfo/datadescriptor.h (.inc).
 */
#define NO (-1)
#define LAYOUT_FIELDS(X)                                                                        \
	X(MT_FLAGS, "MethodTable", "MTFlags", 0, 0, 0, 0)                                       \
	X(MT_BASE_SIZE, "MethodTable", "BaseSize", 4, 4, 4, 4)                                  \
	X(MT_FLAGS2, "MethodTable", "MTFlags2", 8, 8, 8, 8)                                     \
	X(MT_NUM_VIRTUALS, "MethodTable", "NumVirtuals", 12, 12, 12, 12)                        \
	X(MT_NUM_INTERFACES, "MethodTable", "NumInterfaces", 14, 14, 14, 14)                    \
	X(MT_PARENT, "MethodTable", "ParentMethodTable", 16, 16, 16, 16)                        \
	X(MT_MODULE, "MethodTable", "Module", 24, 24, 24, 24)                                   \
	X(MT_AUXILIARY, "MethodTable", "AuxiliaryData", 32, 32, 32, 32)                         \
	X(MT_CLASS, "MethodTable", "EEClassOrCanonMT", 40, 40, 40, 40)                          \
	X(MT_PER_INST, "MethodTable", "PerInstInfo", 48, 48, 48, 48)                            \
	X(MT_INTERFACES, "MethodTable", "InterfaceMap", 56, 56, 56, 56)                         \
	X(AUX_LOADER_MODULE, "MethodTableAuxiliaryData", "LoaderModule", NO, 8, 8, 8)           \
	X(AUX_FLAGS, "MethodTableAuxiliaryData", "Flags", NO, 0, 0, 0)                          \
	X(CLASS_METHOD_TABLE, "EEClass", "MethodTable", 16, 16, 16, 16)                         \
	X(CLASS_FIELDS, "EEClass", "FieldDescList", 24, 24, 24, 24)                             \
	X(CLASS_NUM_METHODS, "EEClass", "NumMethods", NO, 52, 52, 52)                           \
	X(CLASS_CHUNKS, "EEClass", "MethodDescChunk", 32, 32, 32, 32)                           \
	X(CLASS_NUM_INSTANCE, "EEClass", "NumInstanceFields", NO, 50, 50, 50)                   \
	X(CLASS_NUM_STATIC, "EEClass", "NumStaticFields", NO, 54, 54, 54)                       \
	X(CLASS_NUM_THREAD_STATIC, "EEClass", "NumThreadStaticFields", NO, 58, 58, 58)          \
	X(CONTINUATION_SIZE, "ContinuationObject", "!", NO, NO, NO, 32)                         \
	X(CONTINUATION_NEXT, "ContinuationObject", "Next", NO, NO, NO, 8)                       \
	X(CONTINUATION_RESUME, "ContinuationObject", "ResumeInfo", NO, NO, NO, 16)              \
	X(CONTINUATION_STATE, "ContinuationObject", "State", NO, NO, NO, 28)                    \
	X(RESUME_IP, "AsyncResumeInfo", "DiagnosticIP", NO, NO, NO, 8)                          \
	X(PARAM_TYPE_ARG, "ParamTypeDesc", "TypeArg", 8, 16, 16, 16)                            \
	X(TYPE_VAR_MODULE, "TypeVarTypeDesc", "Module", 8, 16, 16, 16)                          \
	X(TYPE_VAR_TOKEN, "TypeVarTypeDesc", "Token", 40, 40, 40, 40)                           \
	X(MODULE_ASSEMBLY, "Module", "Assembly", 296, 312, 248, 248)                            \
	X(MODULE_PE_ASSEMBLY, "Module", "PEAssembly", 272, 280, 216, 216)                       \
	X(MODULE_BASE, "Module", "Base", NO, 288, 224, 224)                                     \
	X(MODULE_FLAGS, "Module", "Flags", NO, 296, 232, 232)                                   \
	X(MODULE_PATH, "Module", "Path", NO, 272, 200, 200)                                     \
	X(MODULE_FILE_NAME, "Module", "FileName", NO, NO, 208, 208)                             \
	X(MODULE_LOADER_ALLOCATOR, "Module", "LoaderAllocator", 248, 248, 176, 176)             \
	X(MODULE_DYNAMIC_METADATA, "Module", "DynamicMetadata", NO, 1120, 840, 840)             \
	X(MODULE_EMITTED_METADATA, "Module", "EmittedMetadata", 1688, NO, NO, NO)               \
	X(MODULE_TYPE_DEF_MAP, "Module", "TypeDefToMethodTableMap", 752, 624, 416, 416)         \
	X(MODULE_METHOD_MAP, "Module", "MethodDefToDescMap", 784, 656, 448, 448)                \
	X(MODULE_FIELD_MAP, "Module", "FieldDefToDescMap", NO, 720, 512, 480)                   \
	X(MODULE_TYPE_PARAMS, "Module", "AvailableTypeParams", 968, 808, 600, 600)              \
	X(MODULE_STATICS, "Module", "DomainLocalModule", 1224, NO, NO, NO)                      \
	X(PE_ASSEMBLY_IMAGE, "PEAssembly", "PEImage", 8, 8, 8, 8)                               \
	X(PE_ASSEMBLY_HOST, "PEAssembly", "HostAssembly", 56, 56, NO, NO)                       \
	X(PE_ASSEMBLY_BINDER, "PEAssembly", "AssemblyBinder", 64, 64, 64, 64)                   \
	X(HOST_ASSEMBLY_BINDER, "BINDER_SPACE::Assembly", "Binder", 32, 32, NO, NO)             \
	X(BINDER_CONTEXT, "AssemblyBinder", "ManagedContext", 224, 224, 224, 200)               \
	X(PE_IMAGE_LAYOUT, "PEImage", "LoadedImageLayout", 120, 120, 128, 128)                  \
	X(IMAGE_LAYOUT_BASE, "PEImageLayout", "Base", 8, 8, 8, 16)                              \
	X(IMAGE_LAYOUT_SIZE, "PEImageLayout", "Size", 16, 16, 16, 24)                           \
	X(IMAGE_LAYOUT_FLAGS, "PEImageLayout", "Flags", 20, 20, 20, 28)                         \
	X(LOADER_EXPOSED, "LoaderAllocator", "ExposedObject", 976, 1128, 752, 664)              \
	X(LOADER_LOW_FREQUENCY, "LoaderAllocator", "LowFrequencyHeap", 912, 1056, 688, 608)     \
	X(LOADER_HIGH_FREQUENCY, "LoaderAllocator", "HighFrequencyHeap", 920, 1064, 696, 616)   \
	X(LOADER_STATICS, "LoaderAllocator", "StaticsHeap", NO, 1072, 704, 624)                 \
	X(LOADER_STUBS, "LoaderAllocator", "StubHeap", 928, 1080, 712, NO)                      \
	X(LOADER_EXECUTABLE, "LoaderAllocator", "ExecutableHeap", 944, 1096, 720, 632)          \
	X(LOADER_DYNAMIC_HELPERS, "LoaderAllocator", "DynamicHelpersStubHeap", 952, 1104, 728,  \
	  640)                                                                                  \
	X(LOADER_FIXUP_PRECODE, "LoaderAllocator", "FixupPrecodeHeap", 960, 1112, 736, 648)     \
	X(LOADER_STUB_PRECODE, "LoaderAllocator", "NewStubPrecodeHeap", 968, 1120, 744, 656)    \
	X(STUBS_INDIRECTION, "VirtualCallStubManager", "IndcellHeap", 488, 488, 408, 408)       \
	X(STUBS_CACHE, "VirtualCallStubManager", "CacheEntryHeap", 496, 496, 416, 416)          \
	X(HOST_CODE_BASE, "HostCodeHeap", "BaseAddress", 24, 24, 24, 32)                        \
	X(DOMAIN_ASSEMBLIES, "AppDomain", "DomainAssemblyList", 2544, 1824, 576, 576)           \
	X(DOMAIN_NAME, "AppDomain", "FriendlyName", 2928, 2208, 1080, 1080)                     \
	X(ASSEMBLY_MODULE, "Assembly", "Module", 24, 16, 16, 16)                                \
	X(STATICS_INFO_SIZE, "DynamicStaticsInfo", "!", NO, 24, 24, 24)                         \
	X(STATICS_GC, "DynamicStaticsInfo", "GCStatics", NO, 0, 0, 0)                           \
	X(STATICS_NON_GC, "DynamicStaticsInfo", "NonGCStatics", NO, 8, 8, 8)                    \
	X(SYNC_BLOCK_INDEX, "SyncBlock", "Index", 28, 28, 28, 12)                               \
	X(SYNC_BLOCK_LOCK, "SyncBlock", "Lock", NO, NO, NO, 0)                                  \
	X(SYNC_BLOCK_THIN_LOCK, "SyncBlock", "ThinLock", NO, NO, NO, 8)                         \
	X(SYNC_CACHE_INDEX, "SyncBlockCache", "FreeSyncTableIndex", 180, 180, 108, 108)         \
	X(THREAD_STORE_FIRST, "ThreadStore", "FirstThreadLink", 160, 160, 88, 88)               \
	X(THREAD_STORE_COUNT, "ThreadStore", "ThreadCount", 184, 184, 112, 96)                  \
	X(THREAD_STORE_PENDING, "ThreadStore", "PendingCount", NO, 196, 124, 108)               \
	X(THREAD_LINK, "Thread", "LinkNext", 232, 112, 112, 112)                                \
	X(THREAD_ID, "Thread", "Id", 32, 16, 16, 16)                                            \
	X(THREAD_OS_ID, "Thread", "OSId", 424, 296, 296, 224)                                   \
	X(THREAD_STACK_BASE, "Thread", "CachedStackBase", 248, 120, 120, 120)                   \
	X(THREAD_STACK_LIMIT, "Thread", "CachedStackLimit", 256, 128, 128, 128)                 \
	X(THREAD_STATE, "Thread", "State", 8, 0, 0, 0)                                          \
	X(THREAD_COOPERATIVE, "Thread", "PreemptiveGCDisabled", 12, 4, 4, 4)                    \
	X(THREAD_LOCALS, "Thread", "RuntimeThreadLocals", NO, 32, 32, 32)                       \
	X(THREAD_ALLOC_CONTEXT, "Thread", "AllocContext", 88, NO, NO, NO)                       \
	X(THREAD_EXCEPTION, "Thread", "LastThrownObject", 464, 336, 336, 264)                   \
	X(LOCALS_ALLOC_CONTEXT, "RuntimeThreadLocals", "AllocContext", NO, 0, 0, 0)             \
	X(EE_ALLOC_CONTEXT, "EEAllocContext", "GCAllocationContext", NO, 0, 8, 8)               \
	X(ALLOC_POINTER, "GCAllocContext", "Pointer", 0, 0, 0, 0)                               \
	X(ALLOC_LIMIT, "GCAllocContext", "Limit", 8, 8, 8, 8)                                   \
	X(TYPE_DESC_FLAGS, "TypeDesc", "TypeAndFlags", 0, 0, 0, 0)                              \
	X(METHOD_TOKEN, "MethodDesc", "Flags3AndTokenRemainder", 0, 0, 0, 0)                    \
	X(METHOD_CHUNK_TABLE, "MethodDescChunk", "MethodTable", 0, 0, 0, 0)                     \
	X(METHOD_CHUNK_TOKEN, "MethodDescChunk", "FlagsAndTokenRange", 18, 18, 18, 18)          \
	X(METHOD_CHUNK_NEXT, "MethodDescChunk", "Next", 8, 8, 8, 8)                             \
	X(METHOD_CHUNK_UNITS, "MethodDescChunk", "Size", 16, 16, 16, 16)                        \
	X(METHOD_CHUNK_COUNT, "MethodDescChunk", "Count", 17, 17, 17, 17)                       \
	X(METHOD_SLOT, "MethodDesc", "Slot", 4, 4, 4, 4)                                        \
	X(METHOD_CHUNK_INDEX, "MethodDesc", "ChunkIndex", 2, 2, 2, 2)                           \
	X(METHOD_CHUNK_SIZE, "MethodDescChunk", "!", 24, 24, 24, 24)                            \
	X(METHOD_CODE_DATA, "MethodDesc", "CodeData", NO, 8, 8, 8)                              \
	X(CODE_DATA_VERSIONS, "MethodDescCodeData", "VersioningState", NO, 0, 0, 0)             \
	X(CODE_DATA_TIER, "MethodDescCodeData", "OptimizationTier", NO, NO, NO, 8)              \
	X(VERSIONS_FIRST, "MethodDescVersioningState", "NativeCodeVersionNode", NO, 16, 16, 16) \
	X(VERSION_CODE, "NativeCodeVersionNode", "NativeCode", NO, 0, 0, 0)                     \
	X(VERSION_METHOD, "NativeCodeVersionNode", "MethodDesc", NO, 8, 8, 8)                   \
	X(VERSION_NEXT, "NativeCodeVersionNode", "Next", NO, 24, 24, 24)                        \
	X(VERSION_TIER, "NativeCodeVersionNode", "OptimizationTier", NO, 36, 36, 36)            \
	X(THREAD_FRAME, "Thread", "Frame", 16, 8, 8, 8)                                         \
	X(THREAD_EXCEPTION_TRACKER, "Thread", "ExceptionTracker", 480, 352, 352, 280)           \
	X(THREAD_LOCAL_DATA, "Thread", "ThreadLocalDataPtr", NO, 928, 568, 496)                 \
	X(TLS_COUNT, "ThreadLocalData", "NonCollectibleTlsDataCount", NO, 0, 0, 0)              \
	X(TLS_COLLECTIBLE_COUNT, "ThreadLocalData", "CollectibleTlsDataCount", NO, 4, 4, 4)     \
	X(TLS_ARRAY, "ThreadLocalData", "NonCollectibleTlsArrayData", NO, 8, 8, 8)              \
	X(TLS_COLLECTIBLE_ARRAY, "ThreadLocalData", "CollectibleTlsArrayData", NO, 16, 16, 16)  \
	X(TLS_IN_FLIGHT, "ThreadLocalData", "InFlightData", NO, 32, 32, 40)                     \
	X(THREAD_STATICS_SIZE, "ThreadStaticsInfo", "!", NO, 40, 40, 40)                        \
	X(THREAD_STATICS_NON_GC, "ThreadStaticsInfo", "NonGCTlsIndex", NO, 0, 0, 0)             \
	X(THREAD_STATICS_GC, "ThreadStaticsInfo", "GCTlsIndex", NO, 4, 4, 4)                    \
	X(MODULE_R2R, "Module", "ReadyToRunInfo", 1152, 984, 704, 704)                          \
	X(R2R_HEADER, "ReadyToRunInfo", "ReadyToRunHeader", 16, 16, 16, 16)                     \
	X(R2R_COMPOSITE, "ReadyToRunInfo", "CompositeInfo", 40, 40, 40, 40)                     \
	X(R2R_FUNCTIONS, "ReadyToRunInfo", "RuntimeFunctions", 80, 80, 80, 80)                  \
	X(R2R_FUNCTION_COUNT, "ReadyToRunInfo", "NumRuntimeFunctions", 88, 88, 88, 88)          \
	X(R2R_ENTRY_POINTS, "ReadyToRunInfo", "EntryPointToMethodDescMap", 432, 432, 360, 376)  \
	X(HASH_MAP_BUCKETS, "HashMap", "Buckets", 16, 16, 16, 16)                               \
	X(CODE_HEAP_END, "CodeHeapListNode", "EndAddress", 24, 24, 24, 24)                      \
	X(CODE_HEAP_MAP_BASE, "CodeHeapListNode", "MapBase", 32, 32, 32, 32)                    \
	X(CODE_HEAP_HEADER_MAP, "CodeHeapListNode", "HeaderMap", 40, 40, 40, 40)                \
	X(CODE_HEADER_DEBUG_INFO, "RealCodeHeader", "DebugInfo", 0, 0, 0, 0)                    \
	X(CODE_HEADER_CLAUSES, "RealCodeHeader", "EHInfo", 8, 8, 8, 8)                          \
	X(CODE_HEADER_GC_INFO, "RealCodeHeader", "GCInfo", 16, 16, 16, 16)                      \
	X(CODE_HEADER_METHOD, "RealCodeHeader", "MethodDesc", 24, 24, 24, 24)                   \
	X(CODE_HEADER_UNWIND_COUNT, "RealCodeHeader", "NumUnwindInfos", 32, 32, 32, 32)         \
	X(CODE_HEADER_UNWIND, "RealCodeHeader", "UnwindInfos", 36, 36, 36, 36)                  \
	X(CALL_FRAME_SP, "InlinedCallFrame", "CallSiteSP", 32, 24, 24, 24)                      \
	X(CALL_FRAME_RETURN, "InlinedCallFrame", "CallerReturnAddress", 40, 32, 32, 32)         \
	X(CALL_FRAME_FP, "InlinedCallFrame", "CalleeSavedFP", 48, 40, 40, 40)                   \
	X(CALL_FRAME_DATUM, "InlinedCallFrame", "Datum", 16, 16, 16, 16)                        \
	X(METHOD_FRAME_METHOD, "FramedMethodFrame", "MethodDescPtr", 24, 24, 24, 24)            \
	X(DISPATCH_FRAME_TABLE, "StubDispatchFrame", "RepresentativeMTPtr", 32, 32, 32, 32)     \
	X(DISPATCH_FRAME_SLOT, "StubDispatchFrame", "RepresentativeSlot", 40, 40, 40, 40)       \
	X(METHOD_FRAME_BLOCK, "FramedMethodFrame", "TransitionBlockPtr", 16, 16, 16, 16)        \
	X(SOFTWARE_FRAME_CONTEXT, "SoftwareExceptionFrame", "TargetContext", NO, NO, 288, 288)  \
	X(FAULTING_FRAME_CONTEXT, "FaultingExceptionFrame", "TargetContext", NO, NO, 32, 32)    \
	X(RESUMABLE_FRAME_CONTEXT, "ResumableFrame", "TargetContextPtr", 16, 16, 16, 16)        \
	X(HIJACK_FRAME_RETURN, "HijackFrame", "ReturnAddress", 16, 16, 16, 16)                  \
	X(HIJACK_FRAME_ARGS, "HijackFrame", "HijackArgsPtr", 32, 32, 32, 32)                    \
	X(EXCEPTION_PREVIOUS, "ExceptionInfo", "PreviousNestedInfo", 8, 0, 0, 0)                \
	X(EXCEPTION_THREAD, "ExceptionInfo", "Thread", 16, NO, NO, NO)                          \
	X(EXCEPTION_THROWN, "ExceptionInfo", "ThrownObject", 64, 8, 8, 168)                     \
	X(EXCEPTION_REFERENCE, "ExceptionInfo", "Exception", NO, NO, 176, NO)                   \
	X(EXCEPTION_HANDLER, "ExceptionInfo", "IPForEHClause", NO, NO, 32, 24)                  \
	X(EXCEPTION_CLAUSE, "ExceptionInfo", "ClauseType", NO, NO, 56, 48)                      \
	X(EXCEPTION_FLAGS, "ExceptionInfo", "ExceptionFlags", NO, NO, 64, 56)                   \
	X(EXCEPTION_LOW, "ExceptionInfo", "StackLowBound", NO, NO, 128, 120)                    \
	X(EXCEPTION_HIGH, "ExceptionInfo", "StackHighBound", NO, NO, 136, 128)                  \
	X(EXCEPTION_PASS, "ExceptionInfo", "PassNumber", NO, NO, 185, 177)

/** Index of an offset in struct layout. */
enum layout_field {
#define X(id, type, field, v8, v9, v10, v11) L_##id,
	LAYOUT_FIELDS(X)
#undef X
	L_COUNT
};

/** The offsets of one runtime. */
struct layout {
	int32_t offsets[L_COUNT]; /**< bytes; NO when origin is ORIGIN_NONE */
	uint8_t origins[L_COUNT]; /**< enum layout_origin */
};

/**
 * Names that the descriptors of later releases have for a field of LAYOUT_FIELDS: X(id, descriptor
 * field, release that renamed it).
 */
#define LAYOUT_RENAMED(X)                      \
	X(DOMAIN_ASSEMBLIES, AssemblyList, 11) \
	X(LOADER_EXPOSED, ObjectHandle, 11)

/** "MethodTable.MTFlags" of a field: type and field name. */
void layout_name(enum layout_field field, const char **ret_type, const char **ret_field);
/**
 * The name at @p index of LAYOUT_RENAMED, and the field that it is a name of; NULL after the last
 * one.
 */
const char *layout_renamed(size_t index, enum layout_field *ret);
/** "descriptor", "build", "series", "calibrated", "none". */
const char *layout_origin_name(enum layout_origin origin);

static inline bool layout_has(const struct layout *layout, enum layout_field field)
{
	return layout->origins[field] != ORIGIN_NONE;
}

/** All offsets are smaller than this. */
#define LAYOUT_OFFSET_LIMIT 65536

/** A layout in which nothing is known yet. */
void layout_init(struct layout *layout);
/** Fill what is still ORIGIN_NONE from the table of @p major (8 to 11), which is that of x86-64, as @p origin. */
void layout_fill(struct layout *layout, unsigned int major, enum layout_origin origin);

/** Another value than that of LAYOUT_FIELDS, on another processor; NO: it is not known there. */
struct layout_difference {
	enum layout_field field;
	int32_t v9, v10, v11;
};
/** The same for a processor that has the same offsets but for @p count of them; 9 to 11. */
void layout_fill_but(struct layout *layout, unsigned int major,
		     const struct layout_difference *differences, size_t count);
/** Set one offset; a value that cannot be an offset is ignored. */
void layout_set(struct layout *layout, enum layout_field field, int64_t offset,
		enum layout_origin origin);

/** A build of libcoreclr.so whose offsets were compared with the table of its series. */
struct layout_build {
	const char *build_id; /**< lower-case hex */
	const char *version;  /**< "10.0.12" */
	unsigned int major;
	const struct arch *arch; /**< the processor and the C library that it is made for */
	bool is_musl;
};

/** The build with that build-id, or NULL when it is not known. */
const struct layout_build *layout_build_find(const char *build_id);
/** The versions of the known builds for a platform, ascending, each once: "8.0.31, 9.0.20"; cut to @p size. */
void layout_build_versions(const struct arch *arch, bool is_musl, char *buf, size_t size);
