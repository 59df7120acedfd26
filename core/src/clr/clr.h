/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_CLR_CLR_H
#define HEAPDUMP_SRC_CLR_CLR_H

#include "clr/layout.h"
#include "targets/target.h"

struct type_table;
struct module_table;
struct type_lookup;
struct code_cache;

/** What GcDacVars says, dereferenced once where it names a variable (coreclr: gcinterface.dac.h). */
struct gc_vars {
	uint64_t address;
	uint8_t major, minor;
	uint64_t generation_size;  /**< bytes of one generation structure */
	uint32_t generation_count; /**< 5 */
	bool is_server, has_regions;
	uint32_t heap_count;           /**< 1 for workstation */
	uint64_t generation_table;     /**< workstation: address of the inline array */
	uint64_t heaps;                /**< server: address of the array of heap pointers */
	int32_t heap_offsets[19];      /**< server: gc_heap_field_offsets; -1 = none */
	int32_t generation_offsets[3]; /**< allocation_context, start_segment, allocation_start */
	uint64_t ephemeral_segment, alloc_allocated, finalize_queue; /**< workstation: variables */
	uint64_t handle_table_map;
	int32_t structures_invalid;     /**< not 0: a GC is between plan and sweep */
	uint64_t structures_invalid_at; /**< its address */
	int32_t gc_state;               /**< 0 marking, 1 planning, 2 free */
	uint32_t heap_type;             /**< 0: the GC is not initialised */
};

/** Frames of the runtime (FrameTypes.h): what a thread left behind where it left managed code. */
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

/** Is it a HelperMethodFrame, whatever it protects? */
static inline bool frame_is_helper(uint8_t kind)
{
	return kind >= FRAME_HELPER_METHOD && kind <= FRAME_HELPER_METHOD_PROTECTOBJ;
}

/** "InlinedCallFrame", ...; of FRAME_UNKNOWN "Frame". */
extern const char *const frame_kind_names[FRAME_KINDS];

/** A managed thread (ThreadStore). */
struct clr_thread {
	uint64_t address;
	uint32_t id;
	uint64_t os_id; /**< 0 = not started or gone */
	uint32_t state;
	bool is_cooperative;
	uint64_t alloc_pointer, alloc_limit; /**< 0, 0: empty */
	uint64_t alloc_context;              /**< address of {pointer, limit}, 0 = not known */
	uint64_t exception; /**< object that it threw last, 0 = none or not known */
};

/** The runtime in a target. */
struct clr {
	struct target *target;              /**< borrowed */
	struct memory *memory;              /**< of the target */
	const struct target_module *module; /**< libcoreclr, or the single-file executable */
	bool is_single_file;
	unsigned int major; /**< 8, 9, 10, ...; 0 = unknown */
	char version[64];   /**< "10.0.12" when it can be found out, else "10.0"; "" = unknown */
	char build_id[64];  /**< hex; "" = unknown */
	struct layout layout;
	bool has_descriptor;
	uint64_t descriptor_address; /**< of DotNetRuntimeContractDescriptor, 0 = none */
	struct gc_vars gc;
	/* values of globals: addresses of objects of the runtime, 0 = not known */
	uint64_t app_domain, thread_store, free_method_table, object_method_table,
		string_method_table, object_array_method_table, exception_method_table;
	uint64_t sync_table; /**< SyncTableEntry array */
	uint64_t sync_count; /**< the first entry of it that was never used, 0 = unknown */
	uint64_t global_alloc_context; /**< address of g_global_alloc_context {ptr, limit}, or 0 */
	uint64_t dac_table, dac_count; /**< g_dacTable: addresses of globals */
	uint64_t fcall_table;          /**< see clr_fcall_method(); 0 = not known */
	struct clr_thread *threads;    /**< all of the ThreadStore's list */
	size_t thread_count;
	uint32_t *thread_order;       /**< threads by id, then index; NULL: not sorted */
	uint64_t finalizer_thread;    /**< address of the one that runs finalizers, 0 = not known */
	uint64_t gc_thread;           /**< of the one that has suspended all for a GC, 0 = none */
	int64_t pending_threads;      /**< that are being made, -1 = not known */
	uint64_t name_extra;          /**< bytes and steps of long names: clr/types/type_name.h */
	struct type_table *types;     /**< see clr/types/type.h */
	struct module_table *modules; /**< see clr/modules/module.h */
	struct type_lookup
		*lookup;         /**< see clr/types/type_lookup.h; NULL until the first look-up */
	struct code_cache *code; /**< see clr/code/code.h; NULL until the first look-up */
	unsigned int gc_info_version; /**< of the JIT's code: 2 (.NET 8), 3 (9), 4 (10) */
	/** First word of a Frame of each kind; 0: none.  All 0 in 8 and 9, where it is a vtable. */
	uint64_t frame_identifiers[FRAME_KINDS];
	/** The vtables of 8 and 9, of the kinds that have no shape of their own; 0: not known. */
	uint64_t frame_vtables[FRAME_KINDS];
};

/**
 * Find the runtime in @p target and read what does not depend on the heap.
 *
 * @param target Borrowed until clr_destroy(); what is missing or odd goes to its findings.
 * @param[out] ret To be given to clr_destroy(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED "no CoreCLR here: ...", NativeAOT, no managed heap yet
 * @retval HD_ERR_FAULT bytes without which nothing can be read are missing: says which, and what
 * to do
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status clr_open(struct target *target, struct job *job, struct clr **ret,
				     struct hd_error *err);
/** NULL is allowed. */
void clr_destroy(struct clr *clr);

static inline uint64_t clr_offset(const struct clr *clr, enum layout_field field)
{
	return (uint64_t)clr->layout.offsets[field];
}

/** Read the pointer at @p base + offset of @p field; false when the field is not known. */
static inline bool clr_pointer(const struct clr *clr, uint64_t base, enum layout_field field,
			       uint64_t *ret)
{
	return layout_has(&clr->layout, field) &&
	       memory_u64(clr->memory, base + clr_offset(clr, field), ret);
}

/** Thread whose thin-lock id is @p id, or NULL. */
const struct clr_thread *clr_thread_by_id(const struct clr *clr, uint32_t id);

/**
 * The managed LoaderAllocator object of the collectible @p loader_allocator (a runtime's
 * LoaderAllocator), or 0: not collectible, or unloaded.  Where the known offset does not hold the
 * handle to it, it is looked for.  May be called by several threads at once.
 */
uint64_t clr_loader_object(const struct clr *clr, uint64_t loader_allocator);

/** What the header word before an object says (syncblk.h). */
struct sync_info {
	uint32_t word;
	bool has_sync_block, has_hash, has_thin_lock;
	uint32_t index; /**< of the sync block */
	uint64_t owner; /**< object that the table's entry names, 0 = none */
	uint64_t block; /**< address of the SyncBlock */
	uint32_t hash;
	uint32_t lock_thread, lock_recursion; /**< thin lock */
};

/** Decode the header of the object at @p address; false when it cannot be read. */
bool clr_sync_info(const struct clr *clr, uint64_t address, struct sync_info *ret);

/** Name and token of the method of MethodDesc @p address, "Type.Method"; false if unknown. */
bool clr_method_name(struct clr *clr, uint64_t method_desc, char *buf, size_t size,
		     uint32_t *ret_token);

#endif
