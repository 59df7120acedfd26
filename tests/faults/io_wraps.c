/* SPDX-License-Identifier: MIT */
/*
 * The linker puts these in place of functions of the C library: real_NAME() is the function itself,
 * wrap_NAME() what is called.  The names __NAME_chk are what _FORTIFY_SOURCE makes of NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "faults/io_faults.h"

#define REAL(result, name, ...) result real_##name(__VA_ARGS__) __asm__("__real_" #name)
#define WRAP(result, name, ...)                                   \
	result wrap_##name(__VA_ARGS__) __asm__("__wrap_" #name); \
	result wrap_##name(__VA_ARGS__)

/* Does this call fail?  Then errno says why. */
static bool fails(enum io_call call)
{
	struct io_fault fault;
	if (!io_goes_wrong(call, &fault))
		return false;
	errno = fault.code;
	return true;
}

/* A call that moves *@p size bytes, or fewer; false: it is over, with *@p ret. */
static bool goes_on(enum io_call call, size_t *size, ssize_t *ret)
{
	struct io_fault fault;
	if (!io_goes_wrong(call, &fault))
		return true;
	switch (fault.how) {
	case IO_HALF:
		*size = (*size + 1) / 2;
		return true;
	case IO_ONE:
		*size = *size ? 1 : 0;
		return true;
	case IO_ENDS:
		*ret = 0;
		return false;
	case IO_FAILS:
	default:
		errno = fault.code;
		*ret = -1;
		return false;
	}
}

/* Variable arguments that are not given are passed on as they are: nobody looks at them. */

REAL(int, open64, const char *path, int flags, mode_t mode);
WRAP(int, open64, const char *path, int flags, mode_t mode)
{
	return fails(IO_OPEN) ? -1 : real_open64(path, flags, mode);
}

WRAP(int, __open64_2, const char *path, int flags)
{
	return wrap_open64(path, flags, 0);
}

REAL(int, openat64, int folder, const char *path, int flags, mode_t mode);
WRAP(int, openat64, int folder, const char *path, int flags, mode_t mode)
{
	return fails(IO_OPEN) ? -1 : real_openat64(folder, path, flags, mode);
}

WRAP(int, __openat64_2, int folder, const char *path, int flags)
{
	return wrap_openat64(folder, path, flags, 0);
}

REAL(long, syscall, long number, long a, long b, long c, long d);
WRAP(long, syscall, long number, long a, long b, long c, long d)
{
	return number == SYS_openat2 && fails(IO_OPEN) ? -1 : real_syscall(number, a, b, c, d);
}

REAL(int, mkostemp64, char *name, int flags);
WRAP(int, mkostemp64, char *name, int flags)
{
	return fails(IO_OPEN) ? -1 : real_mkostemp64(name, flags);
}

REAL(ssize_t, read, int fd, void *buf, size_t size);
WRAP(ssize_t, read, int fd, void *buf, size_t size)
{
	ssize_t ret;
	return goes_on(IO_READ, &size, &ret) ? real_read(fd, buf, size) : ret;
}

WRAP(ssize_t, __read_chk, int fd, void *buf, size_t size, size_t space)
{
	(void)space;
	return wrap_read(fd, buf, size);
}

REAL(ssize_t, pread64, int fd, void *buf, size_t size, off_t offset);
WRAP(ssize_t, pread64, int fd, void *buf, size_t size, off_t offset)
{
	ssize_t ret;
	return goes_on(IO_READ, &size, &ret) ? real_pread64(fd, buf, size, offset) : ret;
}

WRAP(ssize_t, __pread64_chk, int fd, void *buf, size_t size, off_t offset, size_t space)
{
	(void)space;
	return wrap_pread64(fd, buf, size, offset);
}

REAL(ssize_t, write, int fd, const void *buf, size_t size);
WRAP(ssize_t, write, int fd, const void *buf, size_t size)
{
	ssize_t ret;
	return goes_on(IO_WRITE, &size, &ret) ? real_write(fd, buf, size) : ret;
}

REAL(ssize_t, pwrite64, int fd, const void *buf, size_t size, off_t offset);
WRAP(ssize_t, pwrite64, int fd, const void *buf, size_t size, off_t offset)
{
	ssize_t ret;
	return goes_on(IO_WRITE, &size, &ret) ? real_pwrite64(fd, buf, size, offset) : ret;
}

REAL(int, stat64, const char *path, struct stat *ret);
WRAP(int, stat64, const char *path, struct stat *ret)
{
	return fails(IO_STAT) ? -1 : real_stat64(path, ret);
}

REAL(int, lstat64, const char *path, struct stat *ret);
WRAP(int, lstat64, const char *path, struct stat *ret)
{
	return fails(IO_STAT) ? -1 : real_lstat64(path, ret);
}

REAL(int, fstat64, int fd, struct stat *ret);
WRAP(int, fstat64, int fd, struct stat *ret)
{
	return fails(IO_STAT) ? -1 : real_fstat64(fd, ret);
}

REAL(int, access, const char *path, int mode);
WRAP(int, access, const char *path, int mode)
{
	return fails(IO_ACCESS) ? -1 : real_access(path, mode);
}

REAL(ssize_t, readlink, const char *path, char *buf, size_t size);
WRAP(ssize_t, readlink, const char *path, char *buf, size_t size)
{
	return fails(IO_LINK_READ) ? -1 : real_readlink(path, buf, size);
}

WRAP(ssize_t, __readlink_chk, const char *path, char *buf, size_t size, size_t space)
{
	(void)space;
	return wrap_readlink(path, buf, size);
}

REAL(char *, realpath, const char *path, char *buf);
WRAP(char *, realpath, const char *path, char *buf)
{
	return fails(IO_LINK_READ) ? NULL : real_realpath(path, buf);
}

REAL(void *, mmap64, void *at, size_t size, int protection, int flags, int fd, off_t offset);
WRAP(void *, mmap64, void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (fails(fd >= 0 ? IO_MAP : IO_PAGES))
		return MAP_FAILED;
	return real_mmap64(at, size, protection, flags, fd, offset);
}

REAL(int, ftruncate64, int fd, off_t size);
WRAP(int, ftruncate64, int fd, off_t size)
{
	return fails(IO_TRUNCATE) ? -1 : real_ftruncate64(fd, size);
}

REAL(int, fsync, int fd);
WRAP(int, fsync, int fd)
{
	return fails(IO_SYNC) ? -1 : real_fsync(fd);
}

REAL(int, linkat, int from, const char *old, int to, const char *name, int flags);
WRAP(int, linkat, int from, const char *old, int to, const char *name, int flags)
{
	return fails(IO_LINK) ? -1 : real_linkat(from, old, to, name, flags);
}

REAL(int, rename, const char *old, const char *name);
WRAP(int, rename, const char *old, const char *name)
{
	return fails(IO_RENAME) ? -1 : real_rename(old, name);
}

REAL(int, unlink, const char *path);
WRAP(int, unlink, const char *path)
{
	return fails(IO_UNLINK) ? -1 : real_unlink(path);
}

REAL(int, fchmod, int fd, mode_t mode);
WRAP(int, fchmod, int fd, mode_t mode)
{
	return fails(IO_CHMOD) ? -1 : real_fchmod(fd, mode);
}

REAL(int, close, int fd);
WRAP(int, close, int fd)
{
	struct io_fault fault;
	int ret = real_close(fd);
	if (!io_goes_wrong(IO_CLOSE, &fault))
		return ret;
	errno = fault.code;
	return -1;
}

REAL(int, dup, int fd);
WRAP(int, dup, int fd)
{
	return fails(IO_DUP) ? -1 : real_dup(fd);
}

REAL(int, dup2, int fd, int to);
WRAP(int, dup2, int fd, int to)
{
	return fails(IO_DUP) ? -1 : real_dup2(fd, to);
}

REAL(int, fcntl64, int fd, int command, long arg);
WRAP(int, fcntl64, int fd, int command, long arg)
{
	return command == F_DUPFD_CLOEXEC && fails(IO_DUP) ? -1 : real_fcntl64(fd, command, arg);
}

REAL(int, memfd_create, const char *name, unsigned int flags);
WRAP(int, memfd_create, const char *name, unsigned int flags)
{
	return fails(IO_MEMFD) ? -1 : real_memfd_create(name, flags);
}

REAL(DIR *, opendir, const char *path);
WRAP(DIR *, opendir, const char *path)
{
	return fails(IO_OPENDIR) ? NULL : real_opendir(path);
}

REAL(struct dirent *, readdir64, DIR *folder);
WRAP(struct dirent *, readdir64, DIR *folder)
{
	return fails(IO_READDIR) ? NULL : real_readdir64(folder);
}

REAL(int, socket, int domain, int type, int protocol);
WRAP(int, socket, int domain, int type, int protocol)
{
	return fails(IO_SOCKET) ? -1 : real_socket(domain, type, protocol);
}

REAL(int, connect, int fd, const struct sockaddr *address, socklen_t size);
WRAP(int, connect, int fd, const struct sockaddr *address, socklen_t size)
{
	return fails(IO_CONNECT) ? -1 : real_connect(fd, address, size);
}

REAL(int, bind, int fd, const struct sockaddr *address, socklen_t size);
WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t size)
{
	return fails(IO_BIND) ? -1 : real_bind(fd, address, size);
}

REAL(int, listen, int fd, int backlog);
WRAP(int, listen, int fd, int backlog)
{
	return fails(IO_LISTEN) ? -1 : real_listen(fd, backlog);
}

REAL(int, accept4, int fd, struct sockaddr *address, socklen_t *size, int flags);
WRAP(int, accept4, int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	return fails(IO_ACCEPT) ? -1 : real_accept4(fd, address, size, flags);
}

REAL(int, getsockopt, int fd, int level, int name, void *value, socklen_t *size);
WRAP(int, getsockopt, int fd, int level, int name, void *value, socklen_t *size)
{
	return fails(IO_PEER) ? -1 : real_getsockopt(fd, level, name, value, size);
}

REAL(int, poll, struct pollfd *at, nfds_t count, int timeout);
WRAP(int, poll, struct pollfd *at, nfds_t count, int timeout)
{
	return fails(IO_POLL) ? -1 : real_poll(at, count, timeout);
}

WRAP(int, __poll_chk, struct pollfd *at, nfds_t count, int timeout, size_t space)
{
	(void)space;
	return wrap_poll(at, count, timeout);
}

REAL(ssize_t, send, int fd, const void *buf, size_t size, int flags);
WRAP(ssize_t, send, int fd, const void *buf, size_t size, int flags)
{
	ssize_t ret;
	return goes_on(IO_SEND, &size, &ret) ? real_send(fd, buf, size, flags) : ret;
}

REAL(ssize_t, recv, int fd, void *buf, size_t size, int flags);
WRAP(ssize_t, recv, int fd, void *buf, size_t size, int flags)
{
	ssize_t ret;
	return goes_on(IO_RECEIVE, &size, &ret) ? real_recv(fd, buf, size, flags) : ret;
}

WRAP(ssize_t, __recv_chk, int fd, void *buf, size_t size, size_t space, int flags)
{
	(void)space;
	return wrap_recv(fd, buf, size, flags);
}

/* A thread that could not be let go would stay with the test: the kernel refuses that to nobody. */
REAL(long, ptrace, long request, pid_t pid, void *address, void *data);
WRAP(long, ptrace, long request, pid_t pid, void *address, void *data)
{
	if (request != PTRACE_DETACH && fails(IO_PTRACE))
		return -1;
	return real_ptrace(request, pid, address, data);
}

REAL(pid_t, waitpid, pid_t pid, int *status, int options);
WRAP(pid_t, waitpid, pid_t pid, int *status, int options)
{
	return fails(IO_WAIT) ? -1 : real_waitpid(pid, status, options);
}

REAL(ssize_t, process_vm_readv, pid_t pid, const struct iovec *to, unsigned long to_count,
     const struct iovec *from, unsigned long from_count, unsigned long flags);
WRAP(ssize_t, process_vm_readv, pid_t pid, const struct iovec *to, unsigned long to_count,
     const struct iovec *from, unsigned long from_count, unsigned long flags)
{
	/* It is cut between two parts of the other process, or within the only one. */
	ssize_t ret = 0;
	size_t size = from_count > 1 ? from_count : to->iov_len;
	size_t whole = size;
	if (!goes_on(IO_VM_READ, &size, &ret))
		return ret;
	struct iovec one = { to->iov_base, from_count > 1 ? to->iov_len : size };
	if (size < whole && to_count == 1)
		to = &one;
	return real_process_vm_readv(pid, to, to_count, from, from_count > 1 ? size : from_count,
				     flags);
}

REAL(int, ioctl, int fd, unsigned long request, void *arg);
WRAP(int, ioctl, int fd, unsigned long request, void *arg)
{
	return fails(IO_IOCTL) ? -1 : real_ioctl(fd, request, arg);
}

REAL(int, pthread_create, pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
     void *arg);
WRAP(int, pthread_create, pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
     void *arg)
{
	struct io_fault fault;
	if (io_goes_wrong(IO_THREAD, &fault))
		return fault.code;
	return real_pthread_create(ret, attributes, run, arg);
}

REAL(ssize_t, getrandom, void *buf, size_t size, unsigned int flags);
WRAP(ssize_t, getrandom, void *buf, size_t size, unsigned int flags)
{
	return fails(IO_RANDOM) ? -1 : real_getrandom(buf, size, flags);
}
