/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The parts of a reader share this: server_reader.c, reader_maps.c, reader_pages.c,
 * reader_memory.c.
 */
#include <sys/uio.h>

#include "targets/process/proc.h"
#include "targets/process/server_protocol.h"

/** One line of a maps file may have a path of 4096 bytes, and "\012" for each of them. */
#define MAPS_BYTES ((size_t)32 << 10)

/** Most mappings whose kind a reader knows; pages of others are read in any case. */
#define READER_MAPS_MAX ((size_t)1 << 17)

/** How many files a reader keeps open. */
#define READER_FILES 64u

/** Where the bytes of a page are that is in no page table. */
enum reader_map_kind {
	READER_MAP_OTHER,   /**< only the kernel knows: it is read as any other */
	READER_MAP_PRIVATE, /**< nowhere: they are zero */
	READER_MAP_MEMORY,  /**< in a file that exists only in memory (memfd_create()) */
	READER_MAP_FILE,    /**< in a file */
	READER_MAP_KERNEL,  /**< in code of the kernel's, which every process has ([vdso]) */
};

/** One mapping of the process. */
struct reader_map {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	uint8_t kind; /**< enum reader_map_kind */
	bool is_shared;
};

/** A file that was opened, or could not be opened. */
struct reader_file {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	int fd; /**< -1: it cannot be opened */
};

/** The reader's own [vdso]; begin NULL: not found. */
struct reader_code {
	const uint8_t *begin;
	uint64_t size;
};

struct process_reader {
	const struct server_setup *setup;
	struct server_window *window;
	int channel;
	int tid; /**< the thread through which the process is read */
	int pagemap_fd;
	bool no_scan; /**< the kernel is too old for PAGEMAP_SCAN */
	/** /proc/TID/maps, for REQUEST_OPEN */
	int maps_fd;
	size_t maps_at, maps_end;
	char maps[MAPS_BYTES + 1];
	/** /proc/TID/smaps, of which a part was read: up to smaps_at */
	int smaps_fd;
	uint64_t smaps_at;
	/** copies of what the client can change meanwhile */
	struct server_range ranges[SERVER_RANGES];
	struct iovec vector[SERVER_RANGES];
	/** all mappings, ascending, as they were at server_request.epoch epoch; 0: not read yet */
	struct reader_map rows[READER_MAPS_MAX];
	size_t rows_count;
	uint32_t epoch;
	struct reader_file files[READER_FILES];
	unsigned int files_count;
	struct reader_code kernel_code;
};

void close_reader_fd(int *fd);

/** Open /proc/TID/@p name; -1 and errno. */
int reader_open(const struct process_reader *reader, const char *name);

/** Read the process through another thread if the current one has ended; was it so? */
bool reader_choose_thread(struct process_reader *reader);

/**
 * Open the file whose mapping begins at @p start as the process sees it: exactly this file, and only
 * if it is regular; or -1.
 */
int reader_open_mapped(struct process_reader *reader, uint64_t start);

/** Read the list of mappings again if it is not that of @p epoch. */
void reader_learn_maps(struct process_reader *reader, uint32_t epoch);

/** The mapping that holds @p address, or NULL. */
const struct reader_map *reader_map_at(const struct process_reader *reader, uint64_t address);

/** A descriptor for the file of @p map, which the reader keeps, or -1. */
int reader_file_of(struct process_reader *reader, const struct reader_map *map);

/** Answer REQUEST_PAGES. */
void reader_find_pages(struct process_reader *reader, const struct server_request *request,
		       uint8_t *bytes, struct server_reply *reply);

/** A question about pages. */
struct reader_pages {
	uint32_t kind;             /**< enum server_pages_kind */
	uint64_t start, end;       /**< afterwards end is that of the part for which it is known */
	struct server_pages *rows; /**< ascending */
	size_t most;               /**< how many rows there is room for */
};

/**
 * Find pages without touching them.
 *
 * @return How many rows there are, or -1: the kernel does not tell.
 */
long reader_pages_ask(struct process_reader *reader, struct reader_pages *ask);

/** Answer REQUEST_READ. */
void reader_read_memory(struct process_reader *reader, const struct server_request *request,
			struct server_reply *reply);
