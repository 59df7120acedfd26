/* SPDX-License-Identifier: MIT */
#include "mem/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/opening.h"

/*
 * The mapped files, for the signal handler.  It may run on any thread at any time, so the table
 * consists of chunks of atomics that are never freed.  A process has one handler per signal, so
 * this is process-wide, as the header says.
 */
#define SLOTS_PER_CHUNK 256u

struct mapping_slot {
	_Atomic uintptr_t begin; /**< 0 = free, 1 = being filled */
	_Atomic uintptr_t end;   /**< of the last page */
	_Atomic uint64_t size;
	_Atomic int fd;
	_Atomic bool shrunk;
	_Atomic bool is_watched;
	_Atomic int64_t written[2], changed[2]; /**< st_mtim, st_ctim when the watch began */
};

struct slot_chunk {
	struct mapping_slot slots[SLOTS_PER_CHUNK];
	struct slot_chunk *_Atomic next;
};

static struct slot_chunk first_chunk;
static _Atomic bool shrunk_since_begin;
static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int guard_depth;
static struct sigaction previous_action;

static uintptr_t page_size(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static struct mapping_slot *slot_of_address(uintptr_t address)
{
	for (struct slot_chunk *chunk = &first_chunk; chunk; chunk = atomic_load(&chunk->next)) {
		for (unsigned int i = 0; i < SLOTS_PER_CHUNK; i++) {
			struct mapping_slot *slot = &chunk->slots[i];
			uintptr_t begin = atomic_load(&slot->begin);
			if (begin > 1 && address >= begin && address < atomic_load(&slot->end))
				return slot;
		}
	}
	return NULL;
}

/* Take a free slot, at most one thread each; NULL when memory is exhausted. */
static struct mapping_slot *slot_take(void)
{
	struct slot_chunk *chunk = &first_chunk;
	for (;;) {
		for (unsigned int i = 0; i < SLOTS_PER_CHUNK; i++) {
			uintptr_t free_mark = 0;
			if (atomic_compare_exchange_strong(&chunk->slots[i].begin, &free_mark, 1))
				return &chunk->slots[i];
		}
		struct slot_chunk *next = atomic_load(&chunk->next);
		if (!next) {
			struct slot_chunk *fresh = mem_calloc(1, sizeof(*fresh));
			if (!fresh)
				return NULL;
			if (atomic_compare_exchange_strong(&chunk->next, &next, fresh)) {
				next = fresh;
			} else {
				mem_free(fresh);
			}
		}
		chunk = next;
	}
}

/* munmap() is also older than const. */
static void unmap(const struct mapped_file *file)
{
	const union {
		const uint8_t *bytes;
		void *address;
	} view = { .bytes = file->bytes };
	(void)munmap(view.address, (size_t)file->size);
}

static bool slot_fill(const struct mapped_file *file)
{
	struct mapping_slot *slot = slot_take();
	if (!slot)
		return false;
	uintptr_t begin = (uintptr_t)file->bytes, page = page_size();
	atomic_store(&slot->end, begin + (((uintptr_t)file->size + page - 1) & ~(page - 1)));
	atomic_store(&slot->size, file->size);
	atomic_store(&slot->fd, file->fd);
	atomic_store(&slot->shrunk, false);
	atomic_store(&slot->is_watched, false);
	atomic_store(&slot->begin, begin);
	return true;
}

enum hd_status mapped_file_adopt(int fd, const char *path, struct mapped_file *ret,
				 struct hd_error *err)
{
	struct mapped_file file = { .fd = fd };
	struct stat info;
	const char *why = NULL;
	if (fstat(fd, &info)) {
		why = strerrordesc_np(errno);
	} else if (!S_ISREG(info.st_mode)) {
		errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
		why = "not a regular file";
	} else if (info.st_size) {
		void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (bytes == MAP_FAILED) {
			why = strerrordesc_np(errno);
		} else {
			file.bytes = bytes;
			file.size = (uint64_t)info.st_size;
		}
	}
	if (why) {
		int code = errno;
		(void)close(fd);
		errno = code;
		return fail(err, HD_ERR_OS, 0, "%s: cannot map: %s", path, why);
	}
	if (file.bytes && !slot_fill(&file)) {
		unmap(&file);
		(void)close(fd);
		return fail_nomem(err);
	}
	*ret = file;
	return HD_OK;
}

enum hd_status mapped_file_of(int fd, const char *path, struct mapped_file *ret,
			      struct hd_error *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0) {
		return fail(err, HD_ERR_OS, 0, "%s: cannot open once more: %s", path,
			    strerrordesc_np(errno));
	}
	return mapped_file_adopt(own, path, ret, err);
}

enum hd_status mapped_file_open(const char *path, struct mapped_file *ret, struct hd_error *err)
{
	int fd = open_as(HD_OPEN_INPUT, path);
	if (fd < 0 && (errno == EISDIR || errno == EINVAL))
		return fail(err, HD_ERR_OS, 0, "%s: cannot open: not a regular file", path);
	if (fd < 0)
		return fail(err, HD_ERR_OS, 0, "%s: cannot open: %s", path, strerrordesc_np(errno));
	return mapped_file_adopt(fd, path, ret, err);
}

void mapped_file_close_fd(struct mapped_file *file)
{
	struct mapping_slot *slot = file->bytes ? slot_of_address((uintptr_t)file->bytes) : NULL;
	if (slot)
		atomic_store(&slot->fd, -1);
	if (file->fd >= 0)
		(void)close(file->fd);
	file->fd = -1;
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool file_was_written(int fd, const struct stat *as_of)
{
	struct stat info;
	return !fstat(fd, &info) && !(is_same_time(&info.st_mtim, &as_of->st_mtim) &&
				      is_same_time(&info.st_ctim, &as_of->st_ctim));
}

static void keep_time(_Atomic int64_t *slot, const struct timespec *time)
{
	atomic_store(&slot[0], (int64_t)time->tv_sec);
	atomic_store(&slot[1], (int64_t)time->tv_nsec);
}

static struct timespec kept_time(const _Atomic int64_t *slot)
{
	return (struct timespec){ .tv_sec = atomic_load(&slot[0]),
				  .tv_nsec = atomic_load(&slot[1]) };
}

void mapped_file_watch(const struct mapped_file *file, const struct stat *as_of)
{
	struct mapping_slot *slot = file->bytes ? slot_of_address((uintptr_t)file->bytes) : NULL;
	if (!slot)
		return;
	keep_time(slot->written, &as_of->st_mtim);
	keep_time(slot->changed, &as_of->st_ctim);
	atomic_store(&slot->is_watched, true);
}

void mapped_file_close(struct mapped_file *file)
{
	if (file->bytes) {
		struct mapping_slot *slot = slot_of_address((uintptr_t)file->bytes);
		if (slot)
			atomic_store(&slot->begin, 0);
		unmap(file);
	}
	if (file->fd >= 0)
		(void)close(file->fd);
	*file = (struct mapped_file){ .fd = -1 };
}

/* Give the signal to the handler that was set before; without one, the fault ends the process. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	if (previous_action.sa_flags & SA_SIGINFO) {
		previous_action.sa_sigaction(number, info, context);
	} else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
		previous_action.sa_handler(number);
	} else {
		(void)signal(number, SIG_DFL);
	}
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	uintptr_t address = (uintptr_t)info->si_addr;
	/* A signal that somebody sent (si_code <= 0) has no fault address. */
	struct mapping_slot *slot = info->si_code > 0 ? slot_of_address(address) : NULL;
	size_t within = address & (page_size() - 1);
	if (slot && mmap((char *)info->si_addr - within, atomic_load(&slot->end) - address + within,
			 PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			 0) != MAP_FAILED) {
		atomic_store(&slot->shrunk, true);
		atomic_store(&shrunk_since_begin, true);
	} else {
		pass_on(number, info, context);
	}
	errno = saved;
}

void mapped_files_guard_begin(void)
{
	(void)pthread_mutex_lock(&guard_lock);
	if (guard_depth++ == 0) {
		struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
		action.sa_sigaction = on_bus_error;
		(void)sigemptyset(&action.sa_mask);
		atomic_store(&shrunk_since_begin, false);
		(void)sigaction(SIGBUS, &action, &previous_action);
	}
	(void)pthread_mutex_unlock(&guard_lock);
}

void mapped_files_guard_end(void)
{
	(void)pthread_mutex_lock(&guard_lock);
	if (guard_depth && --guard_depth == 0) {
		struct sigaction current;
		/* If another handler was set meanwhile, it stays. */
		if (!sigaction(SIGBUS, NULL, &current) && (current.sa_flags & SA_SIGINFO) &&
		    current.sa_sigaction == on_bus_error)
			(void)sigaction(SIGBUS, &previous_action, NULL);
	}
	(void)pthread_mutex_unlock(&guard_lock);
}

/* Reading what was cut off within the last page raises no signal, so the file's size is checked. */
static bool slot_has_shrunk(const struct mapping_slot *slot)
{
	struct stat info;
	return atomic_load(&slot->shrunk) ||
	       (!fstat(atomic_load(&slot->fd), &info) && info.st_size >= 0 &&
		(uint64_t)info.st_size < atomic_load(&slot->size));
}

static bool slot_was_written(const struct mapping_slot *slot)
{
	const struct stat as_of = { .st_mtim = kept_time(slot->written),
				    .st_ctim = kept_time(slot->changed) };
	return atomic_load(&slot->is_watched) && file_was_written(atomic_load(&slot->fd), &as_of);
}

static bool any_slot(bool (*is)(const struct mapping_slot *slot))
{
	bool found = false;
	for (struct slot_chunk *chunk = &first_chunk; chunk; chunk = atomic_load(&chunk->next)) {
		for (unsigned int i = 0; i < SLOTS_PER_CHUNK; i++) {
			const struct mapping_slot *slot = &chunk->slots[i];
			if (atomic_load(&slot->begin) > 1 && is(slot))
				found = true;
		}
	}
	return found;
}

bool mapped_files_shrunk(void)
{
	return any_slot(slot_has_shrunk) || atomic_load(&shrunk_since_begin);
}

bool mapped_files_written(void)
{
	return any_slot(slot_was_written);
}
