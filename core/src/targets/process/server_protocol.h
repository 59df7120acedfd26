/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The messages between process_server.c and the processes that it forks.  A request comes from code
 * that parses hostile bytes, so nothing in it is trusted.  All requests are about one process, and
 * they can only change whether that process is stopped.
 */
#include <stdatomic.h>

#include "targets/target.h"

/** Most readers of one server. */
#define SERVER_READERS_MAX 8u
/** Most bytes of one request, and most ranges of memory in it. */
#define SERVER_BYTES  ((size_t)1 << 20)
#define SERVER_RANGES 512u
/** Most threads of one process. */
#define SERVER_THREADS_MAX ((size_t)1 << 17)
/** The helpers' name in /proc/PID/comm. */
#define SERVER_NAME "heapdump-helper"

enum server_request_kind {
	/* to the server */
	REQUEST_STOP, /**< request.size: for how many milliseconds at most it may be stopped, letting it
			 * go included; reply.size: number of threads, whose registers are in the
			 * shared array; reply.end: when the server lets it go and ends unless it is
			 * asked before, in nanoseconds of CLOCK_MONOTONIC */
	REQUEST_HOLD,   /**< forget that moment: it stays stopped until it is let go */
	REQUEST_RESUME, /**< reply.size: nanoseconds for which it was stopped */
	REQUEST_READER, /**< end reader request.number, if it exists, and start it again */
	/* to a reader */
	REQUEST_FILE,  /**< bytes of /proc/PID/NAME, beginning at .address; .number: enum
		        * server_file */
	REQUEST_READ,  /**< read the first .number ranges of the window's half, one after the
		        * other; .size: 0 or SERVER_READ_KNOWN */
	REQUEST_PAGES, /**< pages of [.address, .address + .size); .number: enum
		        * server_pages_kind */
	REQUEST_OPEN,  /**< the reply carries the file whose mapping begins at .address */
};

/** The files of /proc/PID that a reader reads. */
enum server_file {
	SERVER_FILE_MAPS,
	SERVER_FILE_AUXV,
	SERVER_FILE_MOUNTS, /**< mountinfo */
	SERVER_FILE_EXE,    /**< only its first bytes */
	SERVER_FILE_SMAPS,  /**< maps, and how much of each mapping is in memory */
	SERVER_FILE_COUNT
};

/**
 * The pages of private mappings are known to be there, or may be touched: they are read without
 * asking the page table first.
 */
#define SERVER_READ_KNOWN UINT64_C(1)

/** Which pages are asked for. */
enum server_pages_kind {
	SERVER_PAGES_WRITTEN, /**< in memory or swapped, and not those of a file; nor the page of zeros
			        * that all processes share, where the kernel tells it */
	SERVER_PAGES_PRESENT,  /**< in memory or swapped */
	SERVER_PAGES_RESIDENT, /**< the same with categories, but not the page of zeros that all
			        * processes share, where the kernel tells it */
	SERVER_PAGES_KINDS
};

/** The categories of struct server_pages that are told; as the kernel numbers them. */
#define PAGES_FILE    (UINT64_C(1) << 2)
#define PAGES_PRESENT (UINT64_C(1) << 3)
#define PAGES_SWAPPED (UINT64_C(1) << 4)
#define PAGES_ZERO    (UINT64_C(1) << 5)

struct server_request {
	uint32_t sequence; /**< is repeated in the reply */
	uint32_t kind;
	uint32_t number;
	uint32_t half;  /**< of the reader's window: 0 or 1 */
	uint32_t epoch; /**< a reader reads the list of mappings again when it is another one; not 0
			 */
	uint64_t address, size;
};

struct server_reply {
	uint32_t sequence;
	int32_t error; /**< an errno, or 0 */
	int32_t tid;   /**< the thread that error is about, or 0 */
	uint32_t stop_failure;
	uint64_t size; /**< number of bytes, page regions or threads */
	uint64_t end;  /**< REQUEST_PAGES: the end of the part for which they are known;
			* REQUEST_STOP: a time */
};

/** A range of the process's memory; afterwards .size is how much of it was read, from its start. */
struct server_range {
	uint64_t address, size;
};

/** Pages [start, end), as PAGEMAP_SCAN has them (Documentation/admin-guide/mm/pagemap.rst). */
struct server_pages {
	uint64_t start, end, categories;
};

#define SERVER_PAGES_MAX (SERVER_BYTES / sizeof(struct server_pages))

/** Memory that a reader and its client share; two halves, so that one is filled while the other is used. */
struct server_window {
	struct {
		struct server_range ranges[SERVER_RANGES];
		uint8_t bytes[SERVER_BYTES];
	} halves[2];
};

/** Everything that a server needs; made before the fork, so that the server allocates nothing. */
struct server_setup {
	int pid;
	int control;                      /**< its end of a socket */
	int channels[SERVER_READERS_MAX]; /**< the same for each reader */
	int mem_fd; /**< /proc/PID/mem, used if process_vm_readv() is refused; or -1 */
	struct server_window *windows[SERVER_READERS_MAX];
	struct target_thread *threads; /**< shared, SERVER_THREADS_MAX */
	struct stopper_room *room;     /**< the server's own */
};

/** Run the server until the other end of setup->control is closed.  Never returns. */
_Noreturn void server_main(struct server_setup *setup);

/** Run a reader.  Never returns. */
_Noreturn void server_reader(const struct server_setup *setup, unsigned int index);

/** End this process at once: exit handlers that it has inherited must not run. */
_Noreturn void server_exit(void);
