/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_DEBUGGER_H
#define HEAPDUMP_DEBUGGER_H

#include <heapdump/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An ELF image as a debugger lists it. */
struct hd_debugger_module {
	const char *path; /**< UTF-8, NUL-terminated */
	uint64_t base;    /**< load address */
};

/**
 * Names of the registers that are wanted of a thread, as debuggers know them.
 *
 * @param processor As the debugger names it: "i386:x86-64" (GDB), "x86_64" (LLDB); NULL: that of
 * this machine.
 * @param[out] count How many there are; untouched on failure.
 * @return static; NULL: programs for that processor are not read
 */
HD_API const char *const *hd_debugger_registers(const char *processor, size_t *count);

/** A thread as a debugger lists it, with the registers of its innermost frame. */
struct hd_debugger_thread {
	int32_t tid;     /**< the kernel's id of the thread */
	uint32_t number; /**< the debugger's own number, by which its user names the thread; 0 =
			  * unknown */
	/**
	 * Their values, in the order of hd_debugger_registers(); borrowed for the call; NULL, or all
	 * 0: unknown.
	 */
	const uint64_t *registers;
};

/** All that a debugger knows about the process or core that it debugs. */
struct hd_debugger {
	size_t struct_size; /**< sizeof(struct hd_debugger) at the caller's build */
	void *arg;          /**< given to read */
	/**
	 * Copy the longest readable prefix of @p size bytes at @p address into @p buf.  Called only
	 * while a call into the library with this session runs, on its thread.  May be NULL when
	 * core is set.
	 *
	 * @return bytes copied
	 */
	size_t (*read)(void *arg, uint64_t address, void *buf, size_t size);
	const char *core; /**< path of the core file that it has open, or NULL */
	int32_t pid;      /**< id of the process, on any machine; 0 = unknown */
	/**
	 * Non-zero: the process's memory may be read directly, without the debugger, if both ways
	 * give the same bytes.
	 */
	uint32_t is_local;
	uint64_t stack_pointer; /**< stack pointer of any thread: the two ways are compared there; 0
				 * = unknown */
	const struct hd_debugger_module *modules; /**< borrowed for the call; may be NULL */
	size_t module_count;
	/** Registers are used where the target itself has none; borrowed for the call; may be NULL. */
	const struct hd_debugger_thread *threads;
	size_t thread_count;
	uint32_t is_core;      /**< non-zero: it is a core, even if its path is not known */
	uint32_t reserved;     /**< 0 */
	const char *processor; /**< as in hd_debugger_registers(); borrowed for the call */
	size_t register_count; /**< values in each list of registers, as hd_debugger_registers() says */
};

/**
 * Make the debugger's own core or process the target of @p session, instead of what is open.
 *
 * Route (setting "backend": auto, or one of these): the core file itself, with the debugger asked
 * only for bytes that it lacks ("file"); the process by process_vm_readv and /proc/PID/mem, when
 * 64 bytes at the stack pointer are the same both ways ("process"); the callback, with a cache in front
 * ("debugger").
 *
 * @param debugger Borrowed for the call, except read and arg: these until the session is closed.
 * @param sink For progress and cancellation; may be NULL, and its write may be NULL.
 * @retval HD_OK also when the target has no CLR: the first command says so
 * @retval HD_ERR_ARGUMENT NULL for @p session or @p debugger, one of another version, neither read nor core,
 * a module without a path, another number of registers
 * @retval others as hd_session_open(); what was open before stays open
 */
HD_API HD_NODISCARD enum hd_status hd_session_debugger(struct hd_session *session,
						       const struct hd_debugger *debugger,
						       const struct hd_sink *sink,
						       struct hd_error *err);

/**
 * Tell which thread is selected in the debugger: commands about one thread use it when no thread is
 * named.  To be called again before each command; closing the session forgets it.
 *
 * @param session NULL is allowed, and nothing is done.
 * @param tid The kernel's id of the thread; 0: none is selected, and of a target that is not the
 * debugger's, what the command setthread has chosen stays.
 */
HD_API void hd_session_thread(struct hd_session *session, int32_t tid);

#ifdef __cplusplus
}
#endif
#endif
