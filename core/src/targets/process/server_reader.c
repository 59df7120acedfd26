/* SPDX-License-Identifier: MIT */
/*
 * A reader: the only process that touches what may never answer, the memory and the files of the
 * target process.  It is ended and started again when it does not answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/address_space.h"
#include "targets/process/proc.h"
#include "targets/process/server_protocol.h"

/*
 * /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): entries read at a time and their
 * bits; and the call that skips pages that were never used, of Linux 6.7, whose header is too new
 * here.
 */
#define PAGEMAP_STEP    2048u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE    (UINT64_C(1) << 61)

#define SCAN_IS_FILE    (UINT64_C(1) << 2)
#define SCAN_IS_PRESENT (UINT64_C(1) << 3)
#define SCAN_IS_SWAPPED (UINT64_C(1) << 4)

struct page_scan {
	uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_CALL _IOWR('f', 16, struct page_scan)

/* One line of a maps file may have a path of 4096 bytes, and "\012" for each of them. */
#define MAPS_BYTES ((size_t)32 << 10)

struct process_reader {
	const struct server_setup *setup;
	struct server_window *window;
	int channel;
	int tid; /* the thread through which the process is read */
	int pagemap_fd;
	bool no_scan; /* the kernel is too old for it */
	/* /proc/TID/maps, for REQUEST_OPEN */
	int maps_fd;
	size_t maps_at, maps_end;
	char maps[MAPS_BYTES + 1];
	/* copies of what the client can change meanwhile */
	struct server_range ranges[SERVER_RANGES];
	struct iovec vector[SERVER_RANGES];
};

static void close_reader_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static int open_task_file(const struct process_reader *reader, const char *name)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", reader->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Read the process through another thread if the current one has ended. */
static bool choose_thread(struct process_reader *reader)
{
	int tid = proc_live_task(reader->setup->pid);
	if (!tid || tid == reader->tid)
		return false;
	reader->tid = tid;
	close_reader_fd(&reader->pagemap_fd);
	close_reader_fd(&reader->maps_fd);
	return true;
}

static void read_file(struct process_reader *reader, const struct server_request *request,
		      uint8_t *bytes, struct server_reply *reply)
{
	static const char *const names[SERVER_FILE_COUNT] = {
		[SERVER_FILE_MAPS] = "maps",
		[SERVER_FILE_AUXV] = "auxv",
		[SERVER_FILE_MOUNTS] = "mountinfo",
		[SERVER_FILE_EXE] = "exe",
	};
	if (request->number >= SERVER_FILE_COUNT || request->address > INT64_MAX) {
		reply->error = EINVAL;
		return;
	}
	int fd = open_task_file(reader, names[request->number]);
	if (fd < 0 || lseek(fd, (off_t)request->address, SEEK_SET) < 0) {
		reply->error = errno;
		close_reader_fd(&fd);
		return;
	}
	size_t most = request->number == SERVER_FILE_EXE ? 64 : SERVER_BYTES;
	ssize_t got = 1;
	while (reply->size < most && got > 0) {
		got = read(fd, bytes + reply->size, most - reply->size);
		if (got > 0)
			reply->size += (uint64_t)got;
	}
	if (got < 0)
		reply->error = errno;
	(void)close(fd);
}

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

static void read_slowly(struct process_reader *reader, uint32_t count, uint8_t *bytes,
			struct server_reply *reply)
{
	for (uint32_t i = 0; i < count; i++) {
		struct server_range *range = &reader->ranges[i];
		size_t size = (size_t)range->size;
		range->size = 0;
		if (reply->error != ESRCH) {
			range->size = read_remote_range(reader, range->address, bytes, size,
							&reply->error);
		}
		bytes += size;
	}
}

/* The ranges one after the other, each at the place that it has if all before it can be read. */
static void read_memory(struct process_reader *reader, const struct server_request *request,
			struct server_reply *reply)
{
	struct server_range *shared = reader->window->halves[request->half].ranges;
	uint8_t *bytes = reader->window->halves[request->half].bytes;
	uint64_t size = 0;
	uint32_t count = request->number;
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
	struct iovec local = { bytes, (size_t)size };
	ssize_t got = process_vm_readv(reader->tid, &local, 1, reader->vector, count, 0);
	if (got < 0 && errno == ESRCH && choose_thread(reader))
		got = process_vm_readv(reader->tid, &local, 1, reader->vector, count, 0);
	if (got < 0 || (uint64_t)got != size) {
		read_slowly(reader, count, bytes, reply);
		size = 0;
		for (uint32_t i = 0; i < count; i++) {
			shared[i].size = reader->ranges[i].size;
			size += reader->ranges[i].size;
		}
	}
	reply->size = size;
}

/* Find the pages that were written to with one call. */
static bool scan_pages(struct process_reader *reader, const struct server_request *request,
		       struct server_pages *pages, struct server_reply *reply)
{
	struct page_scan scan = {
		.size = sizeof(scan),
		.start = request->address,
		.end = request->address + request->size,
		.regions = (uintptr_t)pages,
		.region_count = SERVER_PAGES_MAX,
		.category_inverted = SCAN_IS_FILE,
		.category_mask = SCAN_IS_FILE,
		.category_anyof_mask = SCAN_IS_PRESENT | SCAN_IS_SWAPPED,
		.return_mask = SCAN_IS_FILE,
	};
	if (reader->no_scan)
		return false;
	int count = ioctl(reader->pagemap_fd, SCAN_CALL, &scan);
	if (count < 0 || scan.walk_end <= scan.start || scan.walk_end > scan.end) {
		reader->no_scan = true;
		return false;
	}
	reply->size = (uint64_t)count;
	reply->end = scan.walk_end;
	return true;
}

/* Same, page by page. */
static bool read_pages(const struct process_reader *reader, const struct server_request *request,
		       struct server_pages *pages, struct server_reply *reply)
{
	uint64_t entries[PAGEMAP_STEP], start = request->address, count = request->size / ARCH_PAGE;
	if (count > PAGEMAP_STEP)
		count = PAGEMAP_STEP;
	ssize_t got = pread(reader->pagemap_fd, entries, count * sizeof(uint64_t),
			    (off_t)(start / ARCH_PAGE * sizeof(uint64_t)));
	if (got < (ssize_t)sizeof(uint64_t))
		return false;
	count = (uint64_t)got / sizeof(uint64_t);
	size_t known = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = start + i * ARCH_PAGE;
		if (!(entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) ||
		    entries[i] & PAGEMAP_FILE)
			continue;
		if (known && pages[known - 1].end == at) {
			pages[known - 1].end += ARCH_PAGE;
		} else {
			pages[known++] = (struct server_pages){ at, at + ARCH_PAGE, 0 };
		}
	}
	reply->size = known;
	reply->end = start + count * ARCH_PAGE;
	return true;
}

static void find_pages(struct process_reader *reader, const struct server_request *request,
		       uint8_t *bytes, struct server_reply *reply)
{
	struct server_pages *pages = (struct server_pages *)(void *)bytes;
	if (request->size % ARCH_PAGE || request->address % ARCH_PAGE ||
	    request->address + request->size < request->address) {
		reply->error = EINVAL;
		return;
	}
	if (reader->pagemap_fd < 0)
		reader->pagemap_fd = open_task_file(reader, "pagemap");
	if (reader->pagemap_fd < 0 || (!scan_pages(reader, request, pages, reply) &&
				       !read_pages(reader, request, pages, reply)))
		reply->error = ENODATA;
}

/* The next line of the maps file, or NULL; it stays until the next call. */
static char *next_line(struct process_reader *reader)
{
	for (;;) {
		char *line = reader->maps + reader->maps_at;
		size_t left = reader->maps_end - reader->maps_at;
		char *end = memchr(line, '\n', left);
		if (end) {
			*end = '\0';
			reader->maps_at = (size_t)(end - reader->maps) + 1;
			return line;
		}
		memmove(reader->maps, line, left);
		reader->maps_at = 0;
		reader->maps_end = left;
		ssize_t got = left < MAPS_BYTES ? read(reader->maps_fd, reader->maps + left,
						       MAPS_BYTES - left)
						: 0;
		if (got <= 0)
			return NULL;
		reader->maps_end += (size_t)got;
	}
}

/* The line of the mapping that begins at @p start; mostly it is asked for in ascending order. */
static bool find_mapping_line(struct process_reader *reader, uint64_t start, struct proc_map *ret)
{
	for (unsigned int turn = 0; turn < 2; turn++) {
		char *line;
		if (reader->maps_fd < 0) {
			reader->maps_fd = open_task_file(reader, "maps");
			reader->maps_at = reader->maps_end = 0;
		}
		while (reader->maps_fd >= 0 && (line = next_line(reader)) != NULL) {
			if (proc_map_parse(line, ret) && ret->start == start)
				return true;
		}
		close_reader_fd(&reader->maps_fd);
	}
	return false;
}

/*
 * Open the file of a mapping as the process sees it: exactly this file, and only if it is regular.
 */
static int open_mapped(struct process_reader *reader, uint64_t start)
{
	static char path[MAPS_BYTES];
	struct proc_map map;
	struct stat info;
	if (!find_mapping_line(reader, start, &map) || map.path[0] != '/')
		return -1;
	int size = snprintf(path, sizeof(path), "/proc/%d/root%s", reader->tid, map.path);
	if (size < 0 || (size_t)size >= sizeof(path))
		return -1;
	int fd = open(path, O_PATH | O_CLOEXEC);
	bool is_it = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		     info.st_ino == map.inode && major(info.st_dev) == map.dev_major &&
		     minor(info.st_dev) == map.dev_minor;
	int opened = -1;
	if (is_it) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	close_reader_fd(&fd);
	return opened;
}

static void send_reply(const struct process_reader *reader, const struct server_reply *reply,
		       int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct server_reply copy = *reply;
	struct iovec vector = { &copy, sizeof(copy) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(int));
	}
	ssize_t sent;
	do {
		sent = sendmsg(reader->channel, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		server_exit();
}

static void answer_once(struct process_reader *reader, const struct server_request *request,
			struct server_reply *reply)
{
	uint8_t *bytes = reader->window->halves[request->half].bytes;
	reply->error = 0;
	reply->size = reply->end = 0;
	switch (request->kind) {
	case REQUEST_FILE:
		read_file(reader, request, bytes, reply);
		break;
	case REQUEST_READ:
		read_memory(reader, request, reply);
		break;
	case REQUEST_PAGES:
		find_pages(reader, request, bytes, reply);
		break;
	default:
		reply->error = EINVAL;
	}
}

static void answer_read_request(struct process_reader *reader, const struct server_request *request)
{
	struct server_reply reply = { .sequence = request->sequence };
	int fd = -1;
	if (request->half > 1) {
		reply.error = EINVAL;
	} else if (request->kind == REQUEST_OPEN) {
		fd = open_mapped(reader, request->address);
		reply.error = fd < 0 ? ENOENT : 0;
	} else {
		answer_once(reader, request, &reply);
		/* A thread that has ended has no memory, and an empty list of mappings. */
		bool is_gone = request->kind == REQUEST_FILE
				       ? !reply.size && !request->address
				       : request->kind == REQUEST_PAGES && reply.error;
		if (is_gone && choose_thread(reader))
			answer_once(reader, request, &reply);
	}
	send_reply(reader, &reply, fd);
	close_reader_fd(&fd);
}

_Noreturn void server_reader(const struct server_setup *setup, unsigned int index)
{
	static struct process_reader reader;
	reader.setup = setup;
	reader.window = setup->windows[index];
	reader.channel = setup->channels[index];
	reader.pagemap_fd = reader.maps_fd = -1;
	reader.tid = setup->pid;
	(void)choose_thread(&reader);
	struct server_request request;
	for (;;) {
		ssize_t got = recv(reader.channel, &request, sizeof(request), 0);
		if (got == (ssize_t)sizeof(request)) {
			answer_read_request(&reader, &request);
		} else if (got >= 0 || errno != EINTR) {
			server_exit();
		}
	}
}
