/* SPDX-License-Identifier: MIT */
/* Which bytes of a process have to be copied, and where the others stand. */
#include "target/process_plan.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/alloc.h"

#define PAGE ((uint64_t)4096)
/*
 * /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): entries read at a time and their
 * bits; and the call that skips what was never touched, of Linux 6.7, whose header is too new here.
 */
#define PAGEMAP_STEP    8192u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE    (UINT64_C(1) << 61)

#define SCAN_IS_FILE    (UINT64_C(1) << 2)
#define SCAN_IS_PRESENT (UINT64_C(1) << 3)
#define SCAN_IS_SWAPPED (UINT64_C(1) << 4)

struct scan_region {
	uint64_t start, end, categories;
};

struct scan {
	uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_CALL _IOWR('f', 16, struct scan)

#define NO_FILE SIZE_MAX

struct plan {
	struct process_copy *copy;
	struct job *job;
	bool no_files;
	int pagemap_fd; /* -1: every page counts as written to */
	bool no_scan;   /* the kernel is too old */
	bool is_file;   /* the mapping is of a file: pages behind its end cannot be read */
	size_t first;   /* extent of the mapping */
	uint64_t *entries;
	struct scan_region *regions; /* the pages of a batch that were written to */
	size_t region_count;
	struct hd_error *err;
};

/* What stands where a mapping was not written to. */
struct backing {
	size_t source; /* SOURCE_*, or NO_FILE: nothing that can be had */
	uint64_t start, offset;
};

static enum hd_status add_extent(struct plan *plan, uint64_t start, uint64_t end, size_t source,
				 uint64_t offset)
{
	struct process_copy *copy = plan->copy;
	if (start >= end)
		return HD_OK;
	uint64_t size = end - start;
	/* Mappings stay apart: what can be read of one says nothing about the next. */
	struct copy_extent *last =
		copy->extents_count > plan->first ? &copy->extents[copy->extents_count - 1] : NULL;
	bool is_more = last && last->end == start && last->source == source;
	if (source == SOURCE_FILE && is_more)
		is_more = last->offset + (start - last->start) == offset;
	if (source == SOURCE_COPY) {
		offset = copy->size;
		copy->size += size;
		if (is_more) {
			struct copy_piece *piece = &copy->pieces[copy->pieces_count - 1];
			piece->size += size;
			atomic_store(&piece->good, piece->size);
		}
	}
	if (is_more) {
		last->end = end;
		return HD_OK;
	}
	if (!PAGES_RESERVE(copy, extents) || !PAGES_RESERVE(copy, pieces))
		return fail_nomem(plan->err);
	if (source == SOURCE_COPY) {
		struct copy_piece *piece = &copy->pieces[copy->pieces_count++];
		piece->address = start;
		piece->size = size;
		piece->offset = offset;
		piece->extent = copy->extents_count;
		piece->is_file = plan->is_file;
		atomic_store(&piece->good, size);
	}
	copy->extents[copy->extents_count++] = (struct copy_extent){
		.start = start,
		.end = end,
		.offset = offset,
		.source = source,
	};
	return HD_OK;
}

/* The pages [start, end) come from where the mapping does. */
static enum hd_status add_backed(struct plan *plan, uint64_t start, uint64_t end,
				 const struct backing *backing)
{
	if (backing->source == NO_FILE || start >= end)
		return HD_OK;
	if (backing->source < SOURCE_FILE)
		return add_extent(plan, start, end, backing->source, 0);
	/* A file's last page is filled with zeros; behind it there is nothing. */
	uint64_t size = plan->copy->files[backing->source - SOURCE_FILE].file.size;
	uint64_t offset = backing->offset + (start - backing->start);
	if (offset >= size)
		return HD_OK;
	uint64_t have = end - start < size - offset ? end - start : size - offset;
	TRY(add_extent(plan, start, start + have, backing->source, offset));
	uint64_t full = (have + PAGE - 1) & ~(PAGE - 1);
	if (full > end - start)
		full = end - start;
	return add_extent(plan, start + have, start + full, SOURCE_ZERO, 0);
}

/* Find the first of them with one call; *@p ret_end gets up to where that is known. */
static bool scan_pages(struct plan *plan, uint64_t start, uint64_t end, uint64_t *ret_end)
{
	struct scan scan = {
		.size = sizeof(scan),
		.start = start,
		.end = end,
		.regions = (uintptr_t)plan->regions,
		.region_count = PAGEMAP_STEP,
		.category_inverted = SCAN_IS_FILE,
		.category_mask = SCAN_IS_FILE,
		.category_anyof_mask = SCAN_IS_PRESENT | SCAN_IS_SWAPPED,
		.return_mask = SCAN_IS_FILE,
	};
	if (plan->no_scan)
		return false;
	int count = ioctl(plan->pagemap_fd, SCAN_CALL, &scan);
	if (count < 0 || scan.walk_end <= start || scan.walk_end > end) {
		plan->no_scan = true;
		return false;
	}
	plan->region_count = (size_t)count;
	*ret_end = scan.walk_end;
	return true;
}

/* Same, page by page. */
static bool read_pages(struct plan *plan, uint64_t start, uint64_t end, uint64_t *ret_end)
{
	uint64_t count = (end - start) / PAGE;
	if (count > PAGEMAP_STEP)
		count = PAGEMAP_STEP;
	ssize_t got = pread(plan->pagemap_fd, plan->entries, count * sizeof(uint64_t),
			    (off_t)(start / PAGE * sizeof(uint64_t)));
	if (got < (ssize_t)sizeof(uint64_t))
		return false;
	count = (uint64_t)got / sizeof(uint64_t);
	plan->region_count = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t entry = plan->entries[i], at = start + i * PAGE;
		if (!(entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) || entry & PAGEMAP_FILE)
			continue;
		size_t known = plan->region_count;
		if (known && plan->regions[known - 1].end == at) {
			plan->regions[known - 1].end += PAGE;
		} else {
			plan->regions[plan->region_count++] =
				(struct scan_region){ at, at + PAGE, 0 };
		}
	}
	*ret_end = start + count * PAGE;
	return true;
}

/* Split [start, end) of a private mapping into what was written to and the rest. */
static enum hd_status add_private(struct plan *plan, uint64_t start, uint64_t end,
				  const struct backing *backing)
{
	while (start < end) {
		uint64_t known;
		if (plan->pagemap_fd < 0 || (!scan_pages(plan, start, end, &known) &&
					     !read_pages(plan, start, end, &known)))
			return add_extent(plan, start, end, SOURCE_COPY, 0);
		for (size_t i = 0; i < plan->region_count; i++) {
			const struct scan_region *region = &plan->regions[i];
			if (region->start < start || region->end > known)
				break;
			TRY(add_backed(plan, start, region->start, backing));
			TRY(add_extent(plan, region->start, region->end, SOURCE_COPY, 0));
			start = region->end;
		}
		TRY(add_backed(plan, start, known, backing));
		start = known;
		if (!job_step(plan->job, 0, 0))
			return fail_cancelled(plan->err);
	}
	return HD_OK;
}

static bool same_file(const struct copy_file *file, const struct proc_map *map)
{
	return file->inode == map->inode && file->dev_major == map->dev_major &&
	       file->dev_minor == map->dev_minor;
}

/* Open the file that @p map is of, as the process sees it. */
static void open_file(const struct plan *plan, const struct proc_map *map, struct copy_file *file)
{
	struct text path = { 0 };
	text_printf(&path, "/proc/%d/root%s", plan->copy->reader.pid, map->path);
	struct stat info;
	struct mapped_file mapped = { .fd = -1 };
	if (path.bytes && !path.failed && mapped_file_open(path.bytes, &mapped, NULL) == HD_OK) {
		file->is_usable = fstat(mapped.fd, &info) == 0 && info.st_ino == map->inode &&
				  major(info.st_dev) == map->dev_major &&
				  minor(info.st_dev) == map->dev_minor && mapped.bytes;
		if (file->is_usable) {
			file->file = mapped;
		} else {
			mapped_file_close(&mapped);
		}
	}
	text_deinit(&path);
}

/* *@p ret gets the index of the file of @p map, or NO_FILE. */
static enum hd_status find_file(struct plan *plan, const struct proc_map *map, size_t *ret)
{
	struct process_copy *copy = plan->copy;
	*ret = NO_FILE;
	if (plan->no_files)
		return HD_OK;
	size_t i = copy->files_count;
	while (i && !same_file(&copy->files[i - 1], map))
		i--;
	if (!i) {
		if (!PAGES_RESERVE(copy, files))
			return fail_nomem(plan->err);
		i = ++copy->files_count;
		copy->files[i - 1] = (struct copy_file){
			.inode = map->inode,
			.dev_major = map->dev_major,
			.dev_minor = map->dev_minor,
			.file = { .fd = -1 },
		};
		open_file(plan, map, &copy->files[i - 1]);
	}
	if (copy->files[i - 1].is_usable)
		*ret = i - 1;
	return HD_OK;
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t size = strlen(text), length = strlen(suffix);
	return size >= length && strcmp(text + size - length, suffix) == 0;
}

static enum hd_status add_map(struct plan *plan, const struct proc_map *map)
{
	struct backing backing = { SOURCE_ZERO, map->start, map->offset };
	bool is_memfd = strncmp(map->path, "/memfd:", 7) == 0;
	if (!proc_map_is_readable(map))
		return HD_OK;
	plan->first = plan->copy->extents_count;
	plan->is_file = map->path[0] == '/' && !is_memfd;
	if (plan->is_file) {
		size_t file;
		TRY(find_file(plan, map, &file));
		/* Of what cannot be opened, images are wanted, which are private or so named. */
		if (file != NO_FILE) {
			backing.source = SOURCE_FILE + file;
		} else if (!map->is_shared || has_suffix(map->path, ".dll") ||
			   has_suffix(map->path, ".exe")) {
			backing.source = SOURCE_COPY;
		} else {
			backing.source = NO_FILE;
		}
	} else if (map->is_shared) {
		/* The runtime maps what it generates twice; pages may be there in one of both only. */
		backing.source = is_memfd ? SOURCE_COPY : NO_FILE;
	}
	/* The kernel's own code there is no page that the process wrote to. */
	if (strcmp(map->path, "[vdso]") == 0)
		backing.source = SOURCE_COPY;
	if (map->is_shared || backing.source == SOURCE_COPY)
		return add_backed(plan, map->start, map->end, &backing);
	return add_private(plan, map->start, map->end, &backing);
}

enum hd_status process_copy_plan(int pid, const struct proc_maps *maps, bool no_files,
				 struct job *job, struct process_copy **ret, struct hd_error *err)
{
	struct process_copy *copy = mem_calloc(1, sizeof(*copy));
	struct plan plan = { .copy = copy, .job = job, .no_files = no_files, .err = err };
	plan.entries = mem_alloc(PAGEMAP_STEP, sizeof(*plan.entries));
	plan.regions = mem_alloc(PAGEMAP_STEP, sizeof(*plan.regions));
	if (!copy || !plan.entries || !plan.regions) {
		mem_free(copy);
		mem_free(plan.entries);
		mem_free(plan.regions);
		return fail_nomem(err);
	}
	process_reader_open(&copy->reader, pid);
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	plan.pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
	enum hd_status status = HD_OK;
	for (size_t i = 0; i < maps->rows_count && status == HD_OK; i++)
		status = add_map(&plan, &maps->rows[i]);
	if (plan.pagemap_fd >= 0)
		(void)close(plan.pagemap_fd);
	mem_free(plan.entries);
	mem_free(plan.regions);
	if (status != HD_OK) {
		process_copy_destroy(copy);
		return status;
	}
	*ret = copy;
	return HD_OK;
}

uint64_t process_copy_size(const struct process_copy *copy)
{
	return copy->size;
}

void process_copy_destroy(struct process_copy *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; i < copy->files_count; i++)
		mapped_file_close(&copy->files[i].file);
	pages_free(copy->files, copy->files_capacity, sizeof(*copy->files));
	pages_free(copy->pieces, copy->pieces_capacity, sizeof(*copy->pieces));
	pages_free(copy->extents, copy->extents_capacity, sizeof(*copy->extents));
	pages_free(copy->bytes, (size_t)copy->size, 1);
	process_reader_close(&copy->reader);
	mem_free(copy);
}
