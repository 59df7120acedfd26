/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A runtime, as the rest of the program asks it.  CONTRIBUTING.md ("Adding a runtime") has the list.
 */

#include "runtime/runtime.h"

struct code_function;
struct code_functions;
struct code_info;
struct field;
struct field_list;
struct job;
struct method_variables;
struct module;
struct source_line;
struct stack_ops;
struct static_slot;
struct static_slots;
struct sync_block;
struct text;
struct thread_local_data;
struct type;
struct variable_home;

/** The things that a runtime may have or not: the row of a command says which of them it needs. */
enum runtime_capability {
	RUNTIME_METADATA = 1u << 0, /**< tokens, IL, and MethodDescs that lead to them */
	RUNTIME_MODULES = 1u << 1,  /**< modules, assemblies, domains, load contexts: ops.modules */
	RUNTIME_LOADER = 1u << 2,   /**< loader heaps, and code that the JIT has made */
	RUNTIME_FIELDS =
		1u
		<< 3, /**< fields of types, by which the framework's objects are known: ops.fields */
	RUNTIME_THREADS = 1u << 4, /**< managed threads: ops.threads */
};

/** A table of {sync block, object}, whose entries are counted from 1 on. */
struct sync_table {
	uint64_t address; /**< 0: not known */
	uint64_t count;   /**< index of its first entry that was never used; 0: not known */
	bool is_managed;  /**< an array of other entries, which only sync_block reads */
};

/** Sync blocks. */
struct sync_ops {
	/** Their table. */
	struct sync_table (*table)(const struct runtime *runtime);
	/** See runtime_sync_block(). */
	bool (*block)(const struct runtime *runtime, uint32_t index, struct sync_block *ret);
};

/** Static fields. */
struct static_ops {
	/** See static_slots_read(). */
	enum hd_status (*read)(struct runtime *runtime, struct job *job, struct static_slots *ret,
			       struct hd_error *err);
	/** See static_slot_name().  NULL: they have no names. */
	void (*name)(struct runtime *runtime, const struct static_slot *slot, struct text *text);
	/**
	 * The address of a static field that ops.fields lists, of a thread static in @p thread; NULL: no
	 * thread static.  0: it has none, or it is not known.  NULL: by the structures of CoreCLR.
	 */
	uint64_t (*address)(struct runtime *runtime, const struct field *field,
			    const struct runtime_thread *thread);
};

/** All functions of managed code. */
struct function_ops {
	/**
	 * Append them in any order, and where the tables are that tell them; see code_functions_read().
	 */
	enum hd_status (*read)(struct runtime *runtime, struct job *job, struct code_functions *ret,
			       struct hd_error *err);
	/** See code_function_rows(); NULL: each has unwind codes, which the processor's arch reads. */
	bool (*rows)(struct runtime *runtime, const struct code_function *function,
		     struct text *ret);
	/**
	 * The variables of the method that runs at @p place, to be given to method_variables_deinit(), and
	 * where each of them is then, to be given to mem_free(); nothing is known: no rows.  NULL: by the
	 * metadata, PDBs and debug info of CoreCLR.
	 */
	enum hd_status (*variables)(struct runtime *runtime, uint64_t place,
				    struct method_variables *ret, struct variable_home **ret_homes,
				    struct hd_error *err);
	/** See runtime_source_line(); NULL: by the PDBs of modules. */
	bool (*line)(struct runtime *runtime, uint64_t method, uint64_t place,
		     struct source_line *ret);
};

/** The functions of a runtime.  NULL: it has nothing of that kind, or that is not known. */
struct runtime_ops {
	const char *name;      /**< as messages write it */
	uint32_t capabilities; /**< bits of enum runtime_capability that no function tells */
	/**
	 * Find it in @p target, and read the variables of its GC.
	 *
	 * @param[out] ret untouched on failure; its ops are these
	 * @retval HD_OK
	 * @retval HD_ERR_UNSUPPORTED it is not there, or of a kind that is not read
	 * @retval HD_ERR_FAULT bytes that everything depends on are missing
	 * @retval HD_ERR_NOMEM
	 * @retval HD_ERR_CANCELLED
	 */
	enum hd_status (*open)(struct target *target, struct job *job, struct runtime **ret,
			       struct hd_error *err);
	void (*close)(struct runtime *runtime);
	/** See runtime_read_gc(); NULL: they do not change. */
	enum hd_status (*read_gc)(struct runtime *runtime, struct hd_error *err);
	/** Read its threads into runtime->threads, in any order.  @retval HD_ERR_NOMEM */
	enum hd_status (*threads)(struct runtime *runtime, struct hd_error *err);
	/**
	 * Fill all of @p ret but its GCDesc, which all runtimes with this GC have alike.  Called once
	 * for each address, by several threads.  @return false: there is no MethodTable
	 */
	bool (*describe_type)(const struct runtime *runtime, uint64_t method_table,
			      struct type *ret);
	/** Append the name of the type with that MethodTable; called once for each. */
	void (*type_name)(struct runtime *runtime, uint64_t method_table, struct text *text);
	/** See type_interface(). */
	uint64_t (*type_interface)(const struct runtime *runtime, const struct type *type,
				   uint32_t index);
	/** See field_list_read(). */
	enum hd_status (*fields)(struct runtime *runtime, const struct type *type,
				 struct field_list *ret, struct hd_error *err);
	/**
	 * See runtime_function_at(), which keeps the answer.  If memory is exhausted, it calls
	 * runtime_code_fail().
	 */
	bool (*code_at)(struct runtime *runtime, uint64_t code, struct code_info *ret);
	/** NULL: it has no list of its functions. */
	const struct function_ops *functions;
	/** See runtime_method_name(). */
	bool (*method_name)(struct runtime *runtime, uint64_t method_desc, char *buf, size_t size,
			    uint32_t *ret_token);
	/** See runtime_method_signature(); NULL: the name is all that there is. */
	void (*method_signature)(struct runtime *runtime, uint64_t method_desc, struct text *text);
	/** NULL: who has a monitor is not known. */
	const struct sync_ops *sync;
	const struct static_ops *statics;
	/** See thread_local_data_read(); NULL: no thread has one. */
	bool (*thread_locals)(struct runtime *runtime, const struct runtime_thread *thread,
			      unsigned int index, struct thread_local_data *ret);
	/**
	 * Address of the managed object of a thread; 0: it has none, or it is not known.  NULL: the
	 * thread's own words lead to it.
	 */
	uint64_t (*thread_object)(const struct runtime *runtime,
				  const struct runtime_thread *thread);
	/** See module_list(). */
	enum hd_status (*modules)(struct runtime *runtime, struct module *const **ret,
				  size_t *ret_count, struct hd_error *err);
	const struct stack_ops *stack;
};

/** CoreCLR 8 and later. */
extern const struct runtime_ops coreclr_ops;
/** The part of it that is about stacks; in runtime/coreclr/stack. */
extern const struct stack_ops coreclr_stack_ops;
/** NativeAOT 8 to 11, and the part of it that is about stacks; in runtime/nativeaot. */
extern const struct runtime_ops nativeaot_ops;
extern const struct stack_ops nativeaot_stack_ops;

/** The functions of the runtime that was found. */
const struct runtime_ops *runtime_ops(const struct runtime *runtime);
/** All that it has: bits of enum runtime_capability. */
uint32_t runtime_capabilities(const struct runtime *runtime);

/**
 * Look for a runtime that is made up, too, before all others: tests show with it that nothing else
 * depends on a runtime.  NULL: no longer.  Not while another thread opens a target.
 */
void runtime_set_made_up(const struct runtime_ops *ops);
