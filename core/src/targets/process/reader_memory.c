/* SPDX-License-Identifier: MIT */
/*
 * Reads the memory of the process without a trace: a page that is in no page table is not touched,
 * because the kernel would make one for it (doc/memory.md 1.1).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "targets/process/host_page.h"
#include "targets/process/server_reader.h"

/* Ranges of pages that are asked for at a time. */
#define ASKED_PAGES 64u

static size_t read_by_file(const struct process_reader *reader, uint64_t address, uint8_t *buf,
			   size_t size)
{
	int fd = reader->setup->mem_fd;
	size_t done = 0;
	while (fd >= 0 && done < size && address + done <= (uint64_t)INT64_MAX) {
		ssize_t got = pread(fd, buf + done, size - done, (off_t)(address + done));
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static struct iovec remote(uint64_t address, uint64_t size)
{
	/* An address of the other process. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (struct iovec){ (void *)(uintptr_t)address, (size_t)size };
}

/* The longest prefix that can be read; *@p error gets the reason if that is not all. */
static size_t read_remote_range(const struct process_reader *reader, uint64_t address, uint8_t *buf,
				size_t size, int *error)
{
	size_t done = 0;
	while (done < size) {
		struct iovec to = { buf + done, size - done };
		struct iovec from = remote(address + done, size - done);
		ssize_t got = process_vm_readv(reader->tid, &to, 1, &from, 1, 0);
		if (got <= 0) {
			*error = got < 0 ? errno : EFAULT;
			/*
			 * It is refused (a seccomp filter, ...) and not missing: reading the file
			 * may work.
			 */
			if (*error != EFAULT && *error != ESRCH) {
				done += read_by_file(reader, address + done, buf + done,
						     size - done);
			}
			break;
		}
		done += (size_t)got;
	}
	return done;
}

/* Bytes of a mapping that are in its file; behind the end of the file its last page has zeros. */
static size_t read_mapped(int fd, const struct reader_map *map, uint64_t address, uint8_t *buf,
			  size_t size, int *error)
{
	uint64_t offset = map->offset + (address - map->start);
	size_t done = 0;
	ssize_t got = 1;
	while (done < size && got > 0 && offset + done <= (uint64_t)INT64_MAX) {
		got = pread(fd, buf + done, size - done, (off_t)(offset + done));
		done += got > 0 ? (size_t)got : 0;
	}
	uint64_t rest = -(offset + done) % host_page();
	if (done < size && got == 0 && (done || rest)) {
		size_t zeros = rest < size - done ? (size_t)rest : size - done;
		memset(buf + done, 0, zeros);
		done += zeros;
	}
	if (done < size)
		*error = EFAULT;
	return done;
}

/* A part of a mapping that is not in the page table. */
static size_t read_absent(struct process_reader *reader, const struct reader_map *map,
			  uint64_t address, uint8_t *buf, size_t size, int *error)
{
	bool has_file = map->kind == READER_MAP_MEMORY || map->kind == READER_MAP_FILE;
	int fd = has_file ? reader_file_of(reader, map) : -1;
	if (fd >= 0)
		return read_mapped(fd, map, address, buf, size, error);
	if (map->kind == READER_MAP_FILE)
		return read_remote_range(reader, address, buf, size, error);
	if (map->kind == READER_MAP_KERNEL) {
		memcpy(buf, reader->kernel_code.begin + (address - map->start), size);
	} else {
		memset(buf, 0, size);
	}
	return size;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

/* A part of a mapping, and the ranges of it that are in the page table. */
struct known_part {
	const struct reader_map *map;
	uint64_t start, end;
	struct server_pages pages[ASKED_PAGES];
	long count;
};

/* How much of it could be read, from its start. */
static size_t read_known_pages(struct process_reader *reader, const struct known_part *part,
			       uint8_t *buf, int *error)
{
	uint64_t at = part->start;
	/* The gap in front of each range, and the range; then the gap after the last one. */
	for (long i = 0; i <= 2 * part->count; i++) {
		const struct server_pages *pages = &part->pages[i / 2];
		bool is_there = i % 2;
		uint64_t to = i == 2 * part->count ? part->end
			      : is_there           ? pages->end
						   : pages->start;
		size_t size = (size_t)(clamp(to, at, part->end) - at), got = 0;
		uint8_t *place = buf + (at - part->start);
		if (is_there && size) {
			got = read_remote_range(reader, at, place, size, error);
		} else if (size) {
			got = read_absent(reader, part->map, at, place, size, error);
		}
		at += got;
		if (got < size)
			break;
	}
	return (size_t)(at - part->start);
}

/* A part of a mapping, page by page, as the page table says where each is. */
static size_t read_by_pages(struct process_reader *reader, const struct reader_map *map,
			    uint64_t address, uint8_t *buf, size_t size, int *error)
{
	uint64_t end = address + size, at = address;
	/* A private mapping of a file can have pages of its own, which are not in the file. */
	bool has_own =
		!map->is_shared && (map->kind == READER_MAP_FILE || map->kind == READER_MAP_MEMORY);
	uint32_t kind = has_own ? SERVER_PAGES_WRITTEN : SERVER_PAGES_PRESENT;
	while (at < end) {
		struct known_part part = { .map = map, .start = at, .end = at };
		struct reader_pages ask = { kind, page_of(host_page(), at),
					    page_align(host_page(), end), part.pages, ASKED_PAGES };
		part.count = reader_pages_ask(reader, &ask);
		part.end = ask.end < end ? ask.end : end;
		uint8_t *place = buf + (at - address);
		if (part.count < 0 || part.end <= at) {
			at += read_remote_range(reader, at, place, (size_t)(end - at), error);
			break;
		}
		at += read_known_pages(reader, &part, place, error);
		if (at < part.end)
			break;
	}
	return (size_t)(at - address);
}

/* Are its pages copied whether they are there or not? */
static bool is_never_touched(const struct reader_map *map)
{
	return map->kind == READER_MAP_MEMORY || map->kind == READER_MAP_KERNEL;
}

/* One range; @p is_known: pages that only this process has are known to be there. */
static size_t read_range(struct process_reader *reader, uint64_t address, uint8_t *buf, size_t size,
			 bool is_known, int *error)
{
	size_t done = 0;
	while (done < size) {
		uint64_t at = address + done;
		const struct reader_map *map = reader_map_at(reader, at);
		size_t part = size - done, got;
		if (map && map->end - at < part)
			part = (size_t)(map->end - at);
		uint8_t *to = buf + done;
		bool is_direct = !map || map->kind == READER_MAP_OTHER ||
				 (is_known && !is_never_touched(map));
		if (is_direct) {
			got = read_remote_range(reader, at, to, part, error);
		} else if (map->kind == READER_MAP_MEMORY && map->is_shared &&
			   reader_file_of(reader, map) >= 0) {
			got = read_absent(reader, map, at, to, part, error);
		} else {
			got = read_by_pages(reader, map, at, to, part, error);
		}
		done += got;
		if (got < part)
			break;
	}
	return done;
}

static void read_slowly(struct process_reader *reader, uint32_t count, bool is_known,
			uint8_t *bytes, struct server_reply *reply)
{
	for (uint32_t i = 0; i < count; i++) {
		struct server_range *range = &reader->ranges[i];
		size_t size = (size_t)range->size;
		range->size = 0;
		if (reply->error != ESRCH) {
			range->size = read_range(reader, range->address, bytes, size, is_known,
						 &reply->error);
		}
		bytes += size;
	}
}

/* Can the ranges be read in any case? */
static bool is_safe(const struct process_reader *reader, uint32_t count, bool is_known)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct server_range *range = &reader->ranges[i];
		const struct reader_map *map = reader_map_at(reader, range->address);
		if (map && map->kind != READER_MAP_OTHER &&
		    (!is_known || is_never_touched(map) || range->size > map->end - range->address))
			return false;
	}
	return true;
}

/* The ranges one after the other, each at the place that it has if all before it can be read. */
void reader_read_memory(struct process_reader *reader, const struct server_request *request,
			struct server_reply *reply)
{
	struct server_range *shared = reader->window->halves[request->half].ranges;
	uint8_t *bytes = reader->window->halves[request->half].bytes;
	uint64_t size = 0;
	uint32_t count = request->number;
	bool is_known = request->size == SERVER_READ_KNOWN;
	for (uint32_t i = 0; i < count && count <= SERVER_RANGES; i++) {
		reader->ranges[i] = shared[i];
		reader->vector[i] = remote(reader->ranges[i].address, reader->ranges[i].size);
		if (reader->ranges[i].size > SERVER_BYTES - size) {
			count = UINT32_MAX;
		} else {
			size += reader->ranges[i].size;
		}
	}
	if (count > SERVER_RANGES) {
		reply->error = EINVAL;
		return;
	}
	reader_learn_maps(reader, request->epoch);
	struct iovec local = { bytes, (size_t)size };
	ssize_t got = -1;
	if (is_safe(reader, count, is_known)) {
		got = process_vm_readv(reader->tid, &local, 1, reader->vector, count, 0);
		if (got < 0 && errno == ESRCH && reader_choose_thread(reader)) {
			got = process_vm_readv(reader->tid, &local, 1, reader->vector, count, 0);
		}
	}
	if (got < 0 || (uint64_t)got != size) {
		read_slowly(reader, count, is_known, bytes, reply);
		size = 0;
		for (uint32_t i = 0; i < count; i++) {
			shared[i].size = reader->ranges[i].size;
			size += reader->ranges[i].size;
		}
	}
	reply->size = size;
}
