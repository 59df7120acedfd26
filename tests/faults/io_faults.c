/* SPDX-License-Identifier: MIT */
#include "faults/io_faults.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

static struct io_fault current;
static bool has_fault;
static _Atomic bool is_on;
static _Atomic uint64_t calls[IO_CALL_COUNT];
static _Atomic uint64_t hits;
static pid_t owner; /* who made them go wrong */

void io_faults_begin(const struct io_fault *fault)
{
	is_on = false;
	has_fault = fault;
	if (fault)
		current = *fault;
	for (unsigned int i = 0; i < IO_CALL_COUNT; i++)
		calls[i] = 0;
	hits = 0;
	owner = getpid();
	is_on = true;
}

void io_faults_end(void)
{
	is_on = false;
}

uint64_t io_calls(enum io_call call)
{
	return calls[call];
}

uint64_t io_hits(void)
{
	return hits;
}

bool io_goes_wrong(enum io_call call, struct io_fault *ret)
{
	/* Not in the helpers that are forked to look at a process: there a fault would have another number. */
	if (!is_on || getpid() != owner)
		return false;
	uint64_t nth = ++calls[call];
	if (!has_fault || call != current.call || nth < current.first || nth > current.last)
		return false;
	hits++;
	*ret = current;
	return true;
}

const char *io_call_name(enum io_call call)
{
	static const char *const names[IO_CALL_COUNT] = {
		[IO_OPEN] = "open",
		[IO_READ] = "read",
		[IO_WRITE] = "write",
		[IO_STAT] = "stat",
		[IO_ACCESS] = "access",
		[IO_LINK_READ] = "readlink",
		[IO_MAP] = "mmap",
		[IO_PAGES] = "mmap-memory",
		[IO_TRUNCATE] = "ftruncate",
		[IO_SYNC] = "fsync",
		[IO_LINK] = "linkat",
		[IO_RENAME] = "rename",
		[IO_UNLINK] = "unlink",
		[IO_CHMOD] = "fchmod",
		[IO_CLOSE] = "close",
		[IO_DUP] = "dup",
		[IO_MEMFD] = "memfd_create",
		[IO_OPENDIR] = "opendir",
		[IO_READDIR] = "readdir",
		[IO_SOCKET] = "socket",
		[IO_CONNECT] = "connect",
		[IO_BIND] = "bind",
		[IO_LISTEN] = "listen",
		[IO_ACCEPT] = "accept4",
		[IO_PEER] = "getsockopt",
		[IO_POLL] = "poll",
		[IO_SEND] = "send",
		[IO_RECEIVE] = "recv",
		[IO_PTRACE] = "ptrace",
		[IO_WAIT] = "waitpid",
		[IO_VM_READ] = "process_vm_readv",
		[IO_IOCTL] = "ioctl",
		[IO_THREAD] = "pthread_create",
		[IO_RANDOM] = "getrandom",
		[IO_STREAM] = "fwrite",
		[IO_PIPE] = "popen",
	};
	return names[call];
}
