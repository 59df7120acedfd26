/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * System calls that fail when a test says so.  The linker (--wrap, see tests/CMakeLists.txt) puts the
 * functions of io_wraps.c in place of those of the C library; as long as no fault is set they only
 * pass on.
 */

/** The kind of call; functions that do the same count as one. */
enum io_call {
	IO_OPEN,      /**< open, openat, openat2 */
	IO_READ,      /**< read, pread */
	IO_WRITE,     /**< write, pwrite */
	IO_STAT,      /**< stat, lstat, fstat */
	IO_ACCESS,    /**< access */
	IO_LINK_READ, /**< readlink, realpath */
	IO_MAP,       /**< mmap of a file */
	IO_PAGES,     /**< mmap of memory */
	IO_TRUNCATE,  /**< ftruncate */
	IO_SYNC,      /**< fsync */
	IO_LINK,      /**< linkat */
	IO_RENAME,    /**< rename */
	IO_UNLINK,    /**< unlink */
	IO_CHMOD,     /**< fchmod */
	IO_CLOSE,     /**< close: it is closed all the same */
	IO_DUP,       /**< dup, dup2, fcntl(F_DUPFD_CLOEXEC) */
	IO_MEMFD,     /**< memfd_create */
	IO_OPENDIR,   /**< opendir */
	IO_READDIR,   /**< readdir */
	IO_SOCKET,    /**< socket */
	IO_CONNECT,   /**< connect */
	IO_BIND,      /**< bind */
	IO_LISTEN,    /**< listen */
	IO_ACCEPT,    /**< accept4 */
	IO_PEER,      /**< getsockopt */
	IO_POLL,      /**< poll */
	IO_SEND,      /**< send */
	IO_RECEIVE,   /**< recv */
	IO_PTRACE,    /**< ptrace, but for detaching */
	IO_WAIT,      /**< waitpid */
	IO_VM_READ,   /**< process_vm_readv */
	IO_IOCTL,     /**< ioctl */
	IO_THREAD,    /**< pthread_create */
	IO_RANDOM,    /**< getrandom */
	IO_STREAM,    /**< fwrite, fflush, getline: of the shell program */
	IO_PIPE,      /**< popen */
	IO_CALL_COUNT,
};

/** How a call goes wrong. */
enum io_how {
	IO_FAILS, /**< with an errno */
	IO_HALF,  /**< reads or writes half of the bytes */
	IO_ONE,   /**< reads or writes one byte */
	IO_ENDS,  /**< gives 0 bytes */
};

/** One fault: the calls @c first to @c last of a kind, 1 being the next, go wrong. */
struct io_fault {
	enum io_call call;
	enum io_how how;
	int code; /**< errno of IO_FAILS */
	uint64_t first, last;
};

/** Count calls from now on, with @p fault, or without any (NULL). */
void io_faults_begin(const struct io_fault *fault);
/** Pass on only, and stop counting. */
void io_faults_end(void);
/** Calls of a kind since io_faults_begin(). */
uint64_t io_calls(enum io_call call);
/** The number of calls that went wrong since io_faults_begin(). */
uint64_t io_hits(void);

/** "open": the first of the functions of a kind. */
const char *io_call_name(enum io_call call);

/** For io_wraps.c: count a call; is it one that goes wrong?  Then *@p ret gets how. */
bool io_goes_wrong(enum io_call call, struct io_fault *ret);
