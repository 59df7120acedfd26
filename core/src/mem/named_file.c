/* SPDX-License-Identifier: MIT */
#include "mem/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool named_file_is(const char *path)
{
	static const char *const others[] = {
		"/dev/", "/proc/", "/sys/", "/memfd:", "/SYSV", "/["
	};
	static const char deleted[] = " (deleted)";
	if (path[0] != '/')
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strncmp(path, others[i], strlen(others[i])) == 0)
			return false;
	}
	size_t size = strlen(path);
	return size < sizeof(deleted) - 1 ||
	       strcmp(path + size - (sizeof(deleted) - 1), deleted) != 0;
}

static int open_below(const char *sysroot, const char *path, int flags)
{
	int root = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	const struct open_how how = { .flags = (uint64_t)(unsigned int)flags,
				      .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	int code = errno;
	if (fd < 0 && (code == ENOSYS || code == EPERM) && !strstr(path, "/../")) {
		/* A kernel before 5.6, or a container that forbids the call. */
		fd = openat(root, path + strspn(path, "/"), flags);
		code = errno;
	}
	(void)close(root);
	errno = code;
	return fd;
}

int named_file_open(const char *sysroot, const char *path, bool *ret_is_other)
{
	const int flags = O_PATH | O_CLOEXEC;
	*ret_is_other = false;
	int place = sysroot ? open_below(sysroot, path, flags) : open(path, flags);
	if (place < 0)
		return -1;
	struct stat info;
	*ret_is_other = fstat(place, &info) || !S_ISREG(info.st_mode);
	int fd = -1, code = EINVAL;
	if (!*ret_is_other) {
		char name[64];
		(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		code = errno;
	}
	(void)close(place);
	errno = code;
	return fd;
}
