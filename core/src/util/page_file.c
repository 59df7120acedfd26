/* SPDX-License-Identifier: MIT */
#include "util/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#define EXT4_MAGIC    0xef53u
#define XFS_MAGIC     0x58465342u
#define OVERLAY_MAGIC 0x794c7630u
#define ROOM_LEFT     8u                /* the program has this part of what the disk has free */
#define ADDRESS_MOST  ((size_t)1 << 40) /* how large the file may become */
#define ADDRESS_STEP  ((size_t)2 << 20)

/* The one file.  Without one, base is NULL. */
static struct {
	pthread_mutex_t lock; /* of what follows; base may be read without it */
	_Atomic(char *) base; /* where its pages are mapped, in address space that is reserved */
	size_t size, used;    /* bytes of that */
	int fd;
	uint64_t memory; /* that other arrays may take */
	uint64_t taken;  /* that they take */
} file = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool page_file_suits(uint64_t type)
{
	return type == EXT4_MAGIC || type == XFS_MAGIC || type == OVERLAY_MAGIC;
}

/* How much room the disk has for it; 0: the file system does not suit. */
static size_t room_of(int fd)
{
	struct statfs status;
	if (fstatfs(fd, &status) != 0 || !page_file_suits((uint64_t)status.f_type))
		return 0;
	uint64_t room;
	if (__builtin_mul_overflow((uint64_t)status.f_bavail, (uint64_t)status.f_bsize, &room) ||
	    room > ADDRESS_MOST)
		return ADDRESS_MOST;
	room -= room / ROOM_LEFT;
	return (size_t)room / ADDRESS_STEP * ADDRESS_STEP;
}

/* May a file of this process become so large?  One that becomes larger gives the thread a SIGXFSZ. */
static bool is_allowed(uint64_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/* Room on the disk: what is mapped without it ends the process by SIGBUS when the disk is full. */
static bool reserve_room(int fd, size_t offset, size_t bytes)
{
	int result;
	if (!is_allowed((uint64_t)offset + bytes))
		return false;
	do {
		result = fallocate(fd, 0, (off_t)offset, (off_t)bytes);
	} while (result != 0 && errno == EINTR);
	return result == 0;
}

/* Give room back; what is there again afterwards is zero. */
static void give_back_room(int fd, size_t offset, size_t bytes)
{
	(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			(off_t)bytes);
}

bool page_file_begin(int fd, uint64_t memory)
{
	size_t size = room_of(fd);
	if (!size || !reserve_room(fd, 0, 1))
		return false;
	(void)pthread_mutex_lock(&file.lock);
	char *base = MAP_FAILED;
	if (!atomic_load(&file.base)) {
		base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);
	}
	if (base != MAP_FAILED) {
		file.size = size;
		file.used = 0;
		file.fd = fd;
		file.memory = memory;
		file.taken = 0;
		atomic_store(&file.base, base);
	}
	(void)pthread_mutex_unlock(&file.lock);
	return base != MAP_FAILED;
}

void page_file_end(void)
{
	(void)pthread_mutex_lock(&file.lock);
	char *base = atomic_exchange(&file.base, NULL);
	if (base) {
		(void)munmap(base, file.size);
		/* A child that was forked meanwhile has the file, too, and may live long. */
		int unused = ftruncate(file.fd, 0);
		(void)unused;
	}
	(void)pthread_mutex_unlock(&file.lock);
}

bool page_file_wants(size_t bytes)
{
	if (!atomic_load(&file.base))
		return false;
	(void)pthread_mutex_lock(&file.lock);
	bool is_much = bytes > file.memory || file.taken > file.memory - bytes;
	if (!is_much)
		file.taken += bytes;
	(void)pthread_mutex_unlock(&file.lock);
	return is_much;
}

void page_file_forget(size_t bytes)
{
	if (!atomic_load(&file.base))
		return;
	(void)pthread_mutex_lock(&file.lock);
	/* It may have come before the file. */
	file.taken -= bytes < file.taken ? bytes : file.taken;
	(void)pthread_mutex_unlock(&file.lock);
}

bool page_file_has(const void *ptr)
{
	const char *base = atomic_load(&file.base);
	return base && (uintptr_t)ptr - (uintptr_t)base < file.size;
}

void *page_file_map(size_t bytes)
{
	char *ret = NULL;
	(void)pthread_mutex_lock(&file.lock);
	char *base = atomic_load(&file.base);
	if (base && bytes <= file.size - file.used && reserve_room(file.fd, file.used, bytes)) {
		/*
		 * The kernel writes full pages while the next are filled: pages that wait to be
		 * written cannot be taken.
		 */
		(void)sync_file_range(file.fd, 0, (off_t)file.used, SYNC_FILE_RANGE_WRITE);
		void *mapped = mmap(base + file.used, bytes, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_FIXED, file.fd, (off_t)file.used);
		if (mapped == MAP_FAILED) {
			give_back_room(file.fd, file.used, bytes);
		} else {
			ret = mapped;
			file.used += bytes;
		}
	}
	(void)pthread_mutex_unlock(&file.lock);
	return ret;
}

void page_file_unmap(void *ptr, size_t bytes)
{
	(void)pthread_mutex_lock(&file.lock);
	char *base = atomic_load(&file.base), *at = ptr;
	size_t offset = (size_t)(at - base);
	/* Its place in the address space stays reserved, and is used again if it was the last one. */
	if (mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) != MAP_FAILED) {
		give_back_room(file.fd, offset, bytes);
		file.used = offset + bytes == file.used ? offset : file.used;
	}
	(void)pthread_mutex_unlock(&file.lock);
}
