/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CODE_H
#define HEAPDUMP_CODE_H

#include <heapdump/debugger.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The managed code of a process that a debugger has stopped again and again, as far as the debugger
 * knows it: by ELF files (doc/managed-elf.md), which come and go.
 */
struct hd_code;

/**
 * Make one that knows nothing.
 *
 * @param[out] ret To be given to hd_code_destroy().  Untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_ARGUMENT @p ret is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_code_create(struct hd_code **ret, struct hd_error *err);

/** NULL is allowed. */
HD_API void hd_code_destroy(struct hd_code *code);

/** A change that hd_code_update() has found. */
struct hd_code_change {
	size_t struct_size; /**< sizeof(struct hd_code_change) at the caller's build */
	uint32_t
		file; /**< number of the file that was written, from 1 on; 0: there is nothing new */
	uint32_t reserved; /**< 0 */
	/**
	 * Numbers of files that are of no use any more, ascending: to be taken out once the debugger
	 * knows the new one.  Borrowed until the next call with the same @c code.
	 */
	const uint32_t *gone;
	size_t gone_count;
	uint64_t functions; /**< in the new file */
};

/**
 * Write an ELF file with the functions that are new since the last call: of methods that were
 * compiled since, of those at the place of others, and of precompiled methods that were called for the
 * first time.  A file with a function that is gone is out, and its other functions are in the new one.
 *
 * @param session It must be about the process as it is now: hd_session_debugger() was called since the
 * process ran.
 * @param sink Its write takes the file.
 * @param[out] ret Its struct_size is set; the rest is untouched on failure, after which @p code is as
 * before.
 * @retval HD_OK
 * @retval HD_ERR_UNSUPPORTED no CoreCLR there, or code of a processor that is not known
 * @retval HD_ERR_ARGUMENT a NULL pointer, a struct_size or a sink of another version
 * @retval others as hd_session_open()
 */
HD_API HD_NODISCARD enum hd_status hd_code_update(struct hd_code *code, struct hd_session *session,
						  const struct hd_sink *sink,
						  struct hd_code_change *ret, struct hd_error *err);

/**
 * Is the code still what the last hd_code_update() has seen?  This reads the runtime's tables of code
 * alone, some bytes for each KB of code, and needs no session.
 *
 * @param read,arg As in struct hd_debugger.
 * @return non-zero: nothing is new, and nothing is gone
 */
HD_API int hd_code_is_current(const struct hd_code *code,
			      size_t (*read)(void *arg, uint64_t address, void *buf, size_t size),
			      void *arg);

/** A number that is the same for all code of one method, at an address that the files have; 0: none. */
HD_API uint64_t hd_code_method(const struct hd_code *code, uint64_t address);

/**
 * Tell where an async method without a state machine (.NET 11) goes on, when it has just come back to its
 * caller: is that because it waits in an await?
 *
 * @param debugger Its struct_size, read and arg are used, and the registers of its first thread, which is at the
 * return address.
 * @return an address in its code; 0: it does not wait, or this is another method
 */
HD_API uint64_t hd_code_awaits(const struct hd_code *code, const struct hd_debugger *debugger);

/** Most bytes of the texts of struct hd_code_place, each with a NUL. */
#define HD_CODE_NAME_SIZE 1024
#define HD_CODE_FILE_SIZE 4096

/** Managed code at an address. */
struct hd_code_place {
	size_t struct_size;             /**< sizeof(struct hd_code_place) at the caller's build */
	uint64_t method;                /**< see hd_code_method() */
	uint32_t first_line, last_line; /**< of the method's source; 0: not known */
	char name[HD_CODE_NAME_SIZE]; /**< of the method, without arguments, as debuggers have it */
	char file[HD_CODE_FILE_SIZE]; /**< of its source, as the compiler saw it; "": not known */
	uint32_t suspends; /**< non-zero: an async method that the runtime suspends (.NET 11) */
	uint32_t reserved; /**< 0 */
};

/**
 * Tell which method has the code at @p address, and where its source is.
 *
 * @param session As in hd_code_update(); it may have been made before that code.
 * @param[out] ret Its struct_size is set; the rest is untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND no method has code there
 * @retval others as hd_code_update()
 */
HD_API HD_NODISCARD enum hd_status hd_code_at(struct hd_session *session, uint64_t address,
					      struct hd_code_place *ret, struct hd_error *err);

/** A line at which a breakpoint is wanted, and where it belongs. */
struct hd_code_line {
	size_t struct_size; /**< sizeof(struct hd_code_line) at the caller's build */
	const char *
		file; /**< the end of the path of a source file, "Program.cs" or "Shop/Program.cs" */
	uint32_t line; /**< from 1 */
	uint32_t
		found; /**< set: the first line from there on at which a statement begins; 0: none */
	uint64_t address; /**< of code that the debugger has chosen for the line; 0: none */
	uint32_t
		is_there; /**< set: non-zero if the method of that code has a statement in the line that was found */
	uint32_t reserved; /**< 0 */
};

/**
 * Find the line in the PDBs of all loaded modules, whether it has code or not.
 *
 * @param session As in hd_code_update().
 * @param[in,out] line Untouched on failure.
 * @retval HD_OK
 * @retval others as hd_code_update()
 */
HD_API HD_NODISCARD enum hd_status hd_code_line(struct hd_session *session,
						struct hd_code_line *line, struct hd_error *err);

#ifdef __cplusplus
}
#endif
#endif
