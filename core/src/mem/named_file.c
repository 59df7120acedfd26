/* SPDX-License-Identifier: MIT */
#include "mem/named_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "mem/pe_headers.h"
#include "util/broker_set.h"
#include "util/read_at.h"

/** Most folders in a path, and most links that it may go through. */
#define FOLDER_DEPTH_MAX 64u
#define NAME_LINKS_MAX   40u
/** How much of an image is read: the DOS header of a PE file, and the same size of an ELF file. */
#define IMAGE_HEAD_SIZE 64u
/** "BSJB": metadata (ECMA-335 II.24.2.1), also of a portable PDB. */
#define METADATA_SIGNATURE 0x424a5342u

/** Magic numbers of file systems that <linux/magic.h> of Debian 12 does not have. */
#define MAGIC_CONFIGFS 0x62656570u
#define MAGIC_FUSECTL  0x65735543u
#define MAGIC_MQUEUE   0x19800202u
#define MAGIC_RPC_PIPE 0x67596969u

static const char *const kernel_folders[] = { "dev", "proc", "sys" };

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

/**
 * A path while it is followed: the folders from the root to the current one, and the rest of the
 * path.
 */
struct name_walk {
	int folders[FOLDER_DEPTH_MAX]; /**< descriptors; the root first */
	unsigned int depth;            /**< folders that are open, at least 1 */
	unsigned int links;            /**< that were followed */
	char left[PATH_MAX];
	int place; /**< O_PATH descriptor of what the path leads to, -1: of the folder itself */
	char name[NAME_MAX + 1]; /**< its name in the last folder */
};

static void walk_up_to(struct name_walk *walk, unsigned int depth)
{
	while (walk->depth > depth)
		(void)close(walk->folders[--walk->depth]);
}

/*
 * Take the first part from the rest of the path: false at the end, or when it is too long for a
 * name.
 */
static bool next_part(struct name_walk *walk, int *ret_code)
{
	char *begin = walk->left + strspn(walk->left, "/");
	size_t size = strcspn(begin, "/");
	*ret_code = size > NAME_MAX ? ENAMETOOLONG : 0;
	if (!size || *ret_code)
		return false;
	memcpy(walk->name, begin, size);
	walk->name[size] = '\0';
	memmove(walk->left, begin + size, strlen(begin + size) + 1);
	return true;
}

/* Put the text of the link @p place in front of the rest. */
static int follow_link(struct name_walk *walk, int place)
{
	char joined[PATH_MAX];
	if (walk->links++ == NAME_LINKS_MAX)
		return ELOOP;
	ssize_t got = readlinkat(place, "", joined, sizeof(joined));
	if (got < 0)
		return errno;
	size_t size = (size_t)got, left = strlen(walk->left);
	if (!size)
		return ENOENT;
	if (size + left >= sizeof(joined))
		return ENAMETOOLONG;
	if (joined[0] == '/')
		walk_up_to(walk, 1);
	memcpy(joined + size, walk->left, left + 1); /* "" or a slash and more */
	memcpy(walk->left, joined, size + left + 1);
	return 0;
}

static bool is_kernel_folder(const struct name_walk *walk)
{
	for (size_t i = 0; i < sizeof(kernel_folders) / sizeof(kernel_folders[0]); i++) {
		if (walk->depth == 1 && strcmp(walk->name, kernel_folders[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Enter what walk->name names.  Returns 0 or an errno; walk->place is set when it is not a folder.
 */
static int walk_into(struct name_walk *walk)
{
	if (strcmp(walk->name, ".") == 0)
		return 0;
	if (strcmp(walk->name, "..") == 0) {
		walk_up_to(walk, walk->depth > 1 ? walk->depth - 1 : 1);
		return 0;
	}
	if (is_kernel_folder(walk))
		return EACCES;
	struct stat info = { 0 };
	int place =
		openat(walk->folders[walk->depth - 1], walk->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int code = place < 0 || fstat(place, &info) ? errno : 0;
	if (!code && S_ISDIR(info.st_mode)) {
		if (walk->depth < FOLDER_DEPTH_MAX) {
			walk->folders[walk->depth++] = place;
			return 0;
		}
		code = ENAMETOOLONG;
	} else if (!code && S_ISLNK(info.st_mode)) {
		code = follow_link(walk, place);
	} else if (!code && walk->left[0]) {
		code = ENOTDIR;
	} else if (!code) {
		walk->place = place;
		return 0;
	}
	if (place >= 0)
		(void)close(place);
	return code;
}

static int walk_path(struct name_walk *walk, const char *path)
{
	size_t size = strlen(path);
	int code = size < sizeof(walk->left) ? 0 : ENAMETOOLONG;
	if (code)
		return code;
	memcpy(walk->left, path, size + 1);
	while (!code && walk->place < 0 && next_part(walk, &code))
		code = walk_into(walk);
	return code;
}

/* Does the kernel generate the file's bytes while they are read? */
static bool is_of_kernel(const struct statfs *system)
{
	static const uint32_t kinds[] = {
		PROC_SUPER_MAGIC,    SYSFS_MAGIC,    DEBUGFS_MAGIC,      TRACEFS_MAGIC,
		SECURITYFS_MAGIC,    SELINUX_MAGIC,  SMACK_MAGIC,        CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, PSTOREFS_MAGIC, EFIVARFS_MAGIC,     BPF_FS_MAGIC,
		BINFMTFS_MAGIC,      NSFS_MAGIC,     AUTOFS_SUPER_MAGIC, DEVPTS_SUPER_MAGIC,
		MAGIC_CONFIGFS,      MAGIC_FUSECTL,  MAGIC_MQUEUE,       MAGIC_RPC_PIPE
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((uint32_t)system->f_type == kinds[i])
			return true;
	}
	return false;
}

/* The program behind a FUSE mount can make the reader wait: so the user must have chosen it. */
static bool is_foreign_fuse(const struct name_walk *walk, const struct stat *info,
			    const struct statfs *system, const char *sysroot)
{
	struct stat root;
	return system->f_type == FUSE_SUPER_MAGIC && !sysroot &&
	       (fstat(walk->folders[0], &root) || root.st_dev != info->st_dev);
}

/* Read @p size bytes; 0: the file ends before, -1: it cannot be read, errno. */
static int read_part(int fd, void *buf, size_t size, uint64_t at, const struct stat *info)
{
	if (at > (uint64_t)info->st_size || (uint64_t)info->st_size - at < size)
		return 0;
	ssize_t got = read_at(fd, buf, size, (off_t)at);
	if (got >= 0 && got < (ssize_t)size) {
		errno = EIO;
		got = -1;
	}
	return got < 0 ? -1 : 1;
}

/*
 * Is it a program or a library, and not a core, or a text that only begins in this way?  Returns as
 * read_part() does.
 */
static int is_image(int fd, const struct stat *info)
{
	uint8_t head[IMAGE_HEAD_SIZE], signature[4];
	int got = read_part(fd, head, sizeof(head), 0, info);
	if (got <= 0)
		return got;
	if (memcmp(head, "\177ELF", 4) == 0) {
		uint16_t type = (uint16_t)(head[16] | head[17] << 8);
		return type == ET_EXEC || type == ET_DYN;
	}
	if (load_u16(head) != PE_DOS_SIGNATURE)
		return 0;
	got = read_part(fd, signature, sizeof(signature), load_u32(head + PE_OFFSET_AT), info);
	return got <= 0 ? got : load_u32(signature) == PE_SIGNATURE;
}

/* Does it begin as metadata does?  Returns as read_part() does. */
static int is_metadata(int fd, const struct stat *info)
{
	uint8_t signature[4];
	int got = read_part(fd, signature, sizeof(signature), 0, info);
	return got <= 0 ? got : load_u32(signature) == METADATA_SIGNATURE;
}

/* Is it of that kind?  NAMED_FILE_FAILED: it cannot be read, errno. */
static enum named_file_result look_at_head(int fd, const struct stat *info,
					   enum named_file_kind kind)
{
	int is = kind == NAMED_FILE_PDB ? is_metadata(fd, info) : is_image(fd, info);
	return is < 0 ? NAMED_FILE_FAILED : is ? NAMED_FILE_OPENED : NAMED_FILE_NO_IMAGE;
}

/* Open what was found by its name in its folder, to read: it must still be the same file. */
static int open_found_file(const struct name_walk *walk, const struct stat *found)
{
	struct stat info;
	int fd = openat(walk->folders[walk->depth - 1], walk->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &info) && info.st_dev == found->st_dev && info.st_ino == found->st_ino)
		return fd;
	(void)close(fd);
	errno = ESTALE;
	return -1;
}

static int open_found(const struct name_walk *walk, const char *sysroot, enum named_file_kind kind,
		      enum named_file_result *ret_result)
{
	struct stat info;
	struct statfs system;
	*ret_result = NAMED_FILE_NOT_REGULAR;
	errno = EINVAL;
	if (walk->place >= 0 &&
	    (fstat(walk->place, &info) != 0 || fstatfs(walk->place, &system) != 0)) {
		*ret_result = NAMED_FILE_FAILED;
		return -1;
	}
	if (walk->place < 0 || !S_ISREG(info.st_mode) || is_of_kernel(&system) ||
	    is_foreign_fuse(walk, &info, &system, sysroot)) {
		errno = EINVAL;
		return -1;
	}
	*ret_result = NAMED_FILE_FAILED;
	int fd = open_found_file(walk, &info);
	if (fd < 0)
		return -1;
	*ret_result = kind == NAMED_FILE_ANY ? NAMED_FILE_OPENED : look_at_head(fd, &info, kind);
	if (*ret_result == NAMED_FILE_OPENED)
		return fd;
	int code = *ret_result == NAMED_FILE_NO_IMAGE ? ENOEXEC : errno;
	(void)close(fd);
	errno = code;
	return -1;
}

int named_file_open_directly(const char *sysroot, const char *path, enum named_file_kind kind,
			     enum named_file_result *ret_result)
{
	*ret_result = NAMED_FILE_FAILED;
	struct name_walk walk = { .place = -1 };
	walk.folders[0] = open(sysroot ? sysroot : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (walk.folders[0] < 0)
		return -1;
	walk.depth = 1;
	int fd = -1, code = walk_path(&walk, path);
	if (!code) {
		fd = open_found(&walk, sysroot, kind, ret_result);
		code = errno;
	}
	if (walk.place >= 0)
		(void)close(walk.place);
	walk_up_to(&walk, 0);
	errno = code;
	return fd;
}

/* Translate a broker's errno: see hd_broker.open. */
static enum named_file_result result_of(int code)
{
	return code == EINVAL    ? NAMED_FILE_NOT_REGULAR
	       : code == ENOEXEC ? NAMED_FILE_NO_IMAGE
				 : NAMED_FILE_FAILED;
}

int named_file_open(const char *sysroot, const char *path, enum named_file_kind kind,
		    enum named_file_result *ret_result)
{
	const struct hd_broker *broker = broker_current();
	if (!broker)
		return named_file_open_directly(sysroot, path, kind, ret_result);
	static const enum hd_open_as as[] = { [NAMED_FILE_ANY] = HD_OPEN_ANY_MODULE,
					      [NAMED_FILE_IMAGE] = HD_OPEN_MODULE,
					      [NAMED_FILE_PDB] = HD_OPEN_PDB };
	int fd = broker->open(broker->arg, (int)as[kind], path, sysroot);
	*ret_result = fd < 0 ? result_of(errno) : NAMED_FILE_OPENED;
	return fd;
}
