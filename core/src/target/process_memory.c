/* SPDX-License-Identifier: MIT */
#include "target/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "target/stopper.h"
#include "util/alloc.h"

void process_reader_open(struct process_reader *reader, int pid)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	reader->pid = pid;
	reader->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
}

void process_reader_close(struct process_reader *reader)
{
	if (reader->mem_fd >= 0)
		(void)close(reader->mem_fd);
	reader->mem_fd = -1;
}

static size_t read_by_file(const struct process_reader *reader, uint64_t address, uint8_t *buf,
			   size_t size)
{
	size_t done = 0;
	while (reader->mem_fd >= 0 && done < size && address + done <= (uint64_t)INT64_MAX) {
		ssize_t got =
			pread(reader->mem_fd, buf + done, size - done, (off_t)(address + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

size_t process_read(const struct process_reader *reader, uint64_t address, void *buf, size_t size)
{
	size_t done = 0;
	while (done < size) {
		size_t left = size - done;
		struct iovec to = { (uint8_t *)buf + done, left };
		/* An address of the other process. NOLINTNEXTLINE(performance-no-int-to-ptr) */
		struct iovec from = { (void *)(uintptr_t)(address + done), left };
		ssize_t got = process_vm_readv(reader->pid, &to, 1, &from, 1, 0);
		/* Refused (a seccomp filter, ...) rather than not there: a file may do. */
		if (got < 0 && errno != EFAULT && errno != ESRCH)
			return done + read_by_file(reader, address + done, to.iov_base, left);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

struct live {
	struct memory memory;
	struct process_reader reader;
	struct stopper *stopper;
};

static size_t live_read(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	return process_read(&((struct live *)memory)->reader, address, buf, size);
}

static void live_destroy(struct memory *memory)
{
	struct live *live = (struct live *)memory;
	process_reader_close(&live->reader);
	(void)stopper_release(live->stopper);
	mem_free(live);
}

struct memory *process_memory(int pid, struct stopper *stopper)
{
	static const struct memory_ops ops = { .read = live_read, .destroy = live_destroy };
	struct live *live = mem_calloc(1, sizeof(*live));
	if (!live) {
		(void)stopper_release(stopper);
		return NULL;
	}
	live->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	process_reader_open(&live->reader, pid);
	live->stopper = stopper;
	return &live->memory;
}
