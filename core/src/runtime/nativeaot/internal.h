/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of runtime/nativeaot share this.  Other folders use runtime/runtime.h. */

#include "mem/memory.h"
#include "runtime/nativeaot/layout.h"
#include "runtime/nativeaot/ready_to_run.h"
#include "runtime/runtime_base.h"

struct aot_symbols;
struct descriptor;
struct target_module;
struct type_map;
struct method_map;
struct cfi;
struct field;
struct method_variables;
struct source_line;
struct variable_home;

/** The addresses that a runtime tells of itself; 0: not known. */
struct aot_globals {
	uint64_t instance;     /**< its RuntimeInstance */
	uint64_t thread_store; /**< its ThreadStore */
	uint64_t gc_vars;      /**< GcDacVars; 11 has a contract descriptor in its place */
	uint64_t crash;        /**< g_CrashInfoBuffer */
	uint64_t continuation; /**< MethodTable of Continuation, by its name */
};

/** A NativeAOT runtime in a target: a program, or a shared library. */
struct nativeaot {
	struct runtime base;
	const struct target_module *module;
	unsigned int major;            /**< 8 to 11 */
	struct descriptor *descriptor; /**< of 11; owned; NULL: it has none */
	struct aot_layout layout;
	struct aot_globals globals;
	/** Where its managed code begins, and how many bytes it has. */
	uint64_t code, code_size;
	struct ready_to_run image; /**< its tables; image.address is 0: not known */
	uint64_t
		type_manager; /**< address of the word that all its MethodTables lead to; 0: not known */
	uint64_t sync_entries;       /**< of SyncTable.s_entries, entry 0; 0: not known */
	uint32_t sync_count;         /**< index of the first entry that was never used */
	struct type_map *types;      /**< MethodTables and their names; NULL: not known */
	struct method_map *methods;  /**< code and its names; NULL: not known */
	struct cfi *cfi;             /**< of the program's code; NULL until the first look-up */
	uint64_t name_extra;         /**< see type_name.h: AOT_NAME_EXTRA_MAX */
	struct aot_symbols *symbols; /**< see aot_symbols(); NULL until then, or there are none */
	bool has_tried_symbols;
};

static inline struct nativeaot *aot_of(const struct runtime *runtime)
{
	uintptr_t at = (uintptr_t)(const void *)runtime;
	return (struct nativeaot *)at; /* NOLINT(performance-no-int-to-ptr) */
}

/** The pointer in a field of the structure at @p base; false: it cannot be read, or there is no such field. */
static inline bool aot_pointer(const struct runtime *runtime, uint64_t base, enum aot_field field,
			       uint64_t *ret)
{
	uint32_t offset = aot_of(runtime)->layout.offsets[field];
	return base && offset != AOT_NO && memory_u64(runtime->memory, base + offset, ret);
}

/** runtime_ops.threads of NativeAOT. */
enum hd_status aot_threads(struct runtime *runtime, struct hd_error *err);
/** runtime_ops.thread_object of NativeAOT: System.Threading.Thread.t_currentThread, a thread static. */
uint64_t aot_thread_object(const struct runtime *runtime, const struct runtime_thread *thread);
/** runtime_ops.describe_type of NativeAOT. */
bool aot_describe_type(const struct runtime *runtime, uint64_t method_table, struct type *ret);
/** runtime_ops.type_interface of NativeAOT. */
uint64_t aot_interface(const struct runtime *runtime, const struct type *type, uint32_t index);
/** runtime_ops.type_name of NativeAOT. */
void aot_type_name(struct runtime *runtime, uint64_t method_table, struct text *text);
/** runtime_ops.code_at of NativeAOT: the method is the address of its code. */
bool aot_code_at(struct runtime *runtime, uint64_t code, struct code_info *ret);
/** function_ops of NativeAOT. */
enum hd_status aot_functions(struct runtime *runtime, struct job *job, struct code_functions *ret,
			     struct hd_error *err);
bool aot_function_rows(struct runtime *runtime, const struct code_function *function,
		       struct text *ret);
/** The call frame information of the program; NULL when memory is exhausted. */
struct cfi *aot_cfi(struct runtime *runtime);
/**
 * Address of the text in which the runtime says why it ended the process (doc/nativeaot.md 5.6); 0: there is none.  Where
 * no global tells it, the program's data is searched, in a core.  Cost: linear in that data.
 */
uint64_t aot_crash_record(const struct runtime *runtime);
/** Free what aot_code_at() has kept. */
void aot_code_destroy(struct runtime *runtime);
/** runtime_ops.method_name and runtime_ops.method_signature of NativeAOT. */
bool aot_name_method(struct runtime *runtime, uint64_t method, char *buf, size_t size,
		     uint32_t *ret_token);
void aot_sign_method(struct runtime *runtime, uint64_t method, struct text *text);
/** Free what aot_symbols() has kept; NULL is allowed. */
void aot_symbols_destroy(struct aot_symbols *symbols);
/** static_ops.address, function_ops.variables and function_ops.line of NativeAOT, by symbols. */
HD_NODISCARD enum hd_status aot_variables(struct runtime *runtime, uint64_t place,
					  struct method_variables *ret,
					  struct variable_home **ret_homes, struct hd_error *err);
uint64_t aot_static_address(struct runtime *runtime, const struct field *field,
			    const struct runtime_thread *thread);
bool aot_source_line(struct runtime *runtime, uint64_t method, uint64_t place,
		     struct source_line *ret);
