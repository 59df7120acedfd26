/* SPDX-License-Identifier: MIT */
/* Finds which bytes of a process have to be copied, and where the others are. */
#include "targets/process/process_plan.h"

#include <elf.h>

#include "targets/process/host_page.h"
#include "util/alloc.h"
#include "util/text.h"

#define NO_FILE SIZE_MAX

struct plan {
	struct process_copy *copy;
	struct job *job;
	bool is_file; /* the mapping is that of a file: pages after its end cannot be read */
	bool is_native;
	size_t first; /* extent of the mapping */
	/* the pages of [known_from, known_to) that were written to; those before page have been used */
	const struct server_pages *pages;
	size_t page_count, page;
	uint64_t known_from, known_to;
	uint64_t last; /* end of the last mapping that may be asked about */
	struct hd_error *err;
};

/* The content of a mapping where the process has not written to it. */
struct backing {
	size_t source; /* SOURCE_*, or NO_FILE: it cannot be read */
	uint64_t start, offset;
};

static enum hd_status add_extent(struct plan *plan, uint64_t start, uint64_t end, size_t source,
				 uint64_t offset)
{
	struct process_copy *copy = plan->copy;
	if (start >= end)
		return HD_OK;
	uint64_t size = end - start;
	/* Mappings are not merged: if one can be read, the next one may still be unreadable. */
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
	TRY_MEMORY(PAGES_RESERVE(copy, extents) && PAGES_RESERVE(copy, pieces), plan->err);
	if (source == SOURCE_COPY) {
		struct copy_piece *piece = &copy->pieces[copy->pieces_count++];
		piece->address = start;
		piece->size = size;
		piece->offset = offset;
		piece->extent = copy->extents_count;
		piece->is_file = plan->is_file;
		piece->is_native = plan->is_native;
		atomic_store(&piece->good, size);
	}
	/* A capacity comes with an array. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	copy->extents[copy->extents_count++] = (struct copy_extent){
		.start = start,
		.end = end,
		.offset = offset,
		.source = source,
	};
	return HD_OK;
}

/* Take the pages [start, end) from the mapping's own source. */
static enum hd_status add_backed(struct plan *plan, uint64_t start, uint64_t end,
				 const struct backing *backing)
{
	if (backing->source == NO_FILE || start >= end)
		return HD_OK;
	if (backing->source < SOURCE_FILE)
		return add_extent(plan, start, end, backing->source, 0);
	/* A file's last page is filled with zeros; after it there is nothing. */
	uint64_t size = plan->copy->files[backing->source - SOURCE_FILE].file.size;
	uint64_t offset = backing->offset + (start - backing->start);
	if (offset >= size)
		return HD_OK;
	uint64_t have = end - start < size - offset ? end - start : size - offset;
	TRY(add_extent(plan, start, start + have, backing->source, offset));
	uint64_t full = page_align(host_page(), have);
	if (full > end - start)
		full = end - start;
	return add_extent(plan, start + have, start + full, SOURCE_ZERO, 0);
}

/* Ask about the pages from @p start, in this mapping and as many later ones as one answer has. */
static enum hd_status learn_pages(struct plan *plan, uint64_t start)
{
	plan->known_from = plan->known_to = start;
	plan->page = 0;
	struct server_pages_found found;
	TRY(process_server_pages(plan->copy->server, SERVER_PAGES_WRITTEN, start, plan->last,
				 &found, plan->err));
	plan->pages = found.rows;
	plan->page_count = found.count;
	plan->known_to = found.end;
	return HD_OK;
}

/* Split [start, end), whose pages are all known, into what was written to and the rest. */
static enum hd_status add_known(struct plan *plan, uint64_t start, uint64_t end,
				const struct backing *backing)
{
	for (; plan->page < plan->page_count; plan->page++) {
		const struct server_pages *pages = &plan->pages[plan->page];
		uint64_t from = pages->start > start ? pages->start : start;
		uint64_t to = pages->end < end ? pages->end : end;
		if (from < to) {
			TRY(add_backed(plan, start, from, backing));
			TRY(add_extent(plan, from, to, SOURCE_COPY, 0));
			start = to;
		}
		/* The rest of them belongs to the next mapping. */
		if (pages->end > end)
			break;
	}
	return add_backed(plan, start, end, backing);
}

/* The same of a private mapping. */
static enum hd_status add_private(struct plan *plan, uint64_t start, uint64_t end,
				  const struct backing *backing)
{
	while (start < end) {
		if (start < plan->known_from || start >= plan->known_to) {
			enum hd_status status = learn_pages(plan, start);
			if (status == HD_ERR_NOTFOUND)
				return add_extent(plan, start, end, SOURCE_COPY, 0);
			TRY(status);
		}
		uint64_t known = end < plan->known_to ? end : plan->known_to;
		TRY(add_known(plan, start, known, backing));
		start = known;
		TRY(job_check(plan->job, 0, plan->err));
	}
	return HD_OK;
}

static bool same_file(const struct copy_file *file, const struct proc_map *map)
{
	return file->inode == map->inode && file->dev_major == map->dev_major &&
	       file->dev_minor == map->dev_minor;
}

/* Index of the file of @p map, or NO_FILE. */
static size_t find_copied_file(const struct process_copy *copy, const struct proc_map *map)
{
	for (size_t i = copy->files_count; i > 0; i--) {
		if (same_file(&copy->files[i - 1], map))
			return i - 1;
	}
	return NO_FILE;
}

/* Memory that malloc() and similar functions get from the kernel; also the GC and the runtime. */
static bool is_native_map(const struct proc_map *map)
{
	bool is_anonymous = map->path[0] == '\0' || strcmp(map->path, "[heap]") == 0 ||
			    strncmp(map->path, "[anon:", 6) == 0;
	return is_anonymous && !map->is_shared && !(map->flags & PF_X);
}

static enum hd_status plan_map(struct plan *plan, const struct proc_map *map)
{
	struct backing backing = { SOURCE_ZERO, map->start, map->offset };
	bool is_memfd = strncmp(map->path, "/memfd:", 7) == 0;
	if (!proc_map_is_readable(map))
		return HD_OK;
	plan->first = plan->copy->extents_count;
	plan->is_file = map->path[0] == '/' && !is_memfd;
	plan->is_native = is_native_map(map);
	if (plan->is_file) {
		size_t file = find_copied_file(plan->copy, map);
		/*
		 * Only images are copied of the files that cannot be opened: those that are mapped
		 * privately, and those with an image's name.
		 */
		if (file != NO_FILE && plan->copy->files[file].is_usable) {
			backing.source = SOURCE_FILE + file;
		} else if (!map->is_shared || string_ends_with(map->path, ".dll") ||
			   string_ends_with(map->path, ".exe")) {
			backing.source = SOURCE_COPY;
		} else {
			backing.source = NO_FILE;
		}
	} else if (map->is_shared || is_memfd) {
		/*
		 * The runtime maps generated code twice; some pages may only exist in one of the
		 * two mappings.  What a private mapping was not written to is in the file, too.
		 */
		backing.source = is_memfd ? SOURCE_COPY : NO_FILE;
	}
	/* The kernel's own code there is not a page that the process wrote to. */
	if (strcmp(map->path, "[vdso]") == 0)
		backing.source = SOURCE_COPY;
	if (map->is_shared || backing.source == SOURCE_COPY)
		return add_backed(plan, map->start, map->end, &backing);
	return add_private(plan, map->start, map->end, &backing);
}

enum hd_status process_copy_plan(struct process_copy *copy, const struct proc_maps *maps,
				 struct job *job, struct hd_error *err)
{
	struct plan plan = { .copy = copy, .job = job, .err = err };
	for (size_t i = 0; i < maps->rows_count; i++) {
		if (proc_map_is_readable(&maps->rows[i]))
			plan.last = maps->rows[i].end;
	}
	for (size_t i = 0; i < maps->rows_count; i++)
		TRY(plan_map(&plan, &maps->rows[i]));
	return HD_OK;
}

/* Map the file of @p map, unless it is gone or another one. */
static enum hd_status open_copied_file(struct process_copy *copy, const struct proc_map *map,
				       struct copy_file *file, struct hd_error *err)
{
	int fd;
	TRY(process_server_open(copy->server, map->start, &fd, err));
	if (fd >= 0 && mapped_file_adopt(fd, map->path, &file->file, NULL) == HD_OK)
		file->is_usable = file->file.bytes != NULL;
	return HD_OK;
}

static enum hd_status add_file(struct process_copy *copy, const struct proc_map *map,
			       const struct text *mounts, bool *silent, struct hd_error *err)
{
	TRY_MEMORY(PAGES_RESERVE(copy, files), err);
	struct copy_file *file = &copy->files[copy->files_count++];
	*file = (struct copy_file){
		.inode = map->inode,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor,
		.file = { .fd = -1 },
	};
	if (*silent || proc_mount_may_hang(mounts->bytes, map->dev_major, map->dev_minor))
		return HD_OK;
	enum hd_status status = open_copied_file(copy, map, file, err);
	/* The others may be where this one is. */
	*silent = status == HD_ERR_NOTFOUND;
	return *silent ? HD_OK : status;
}

static enum hd_status open_files(struct process_copy *copy, const struct proc_maps *maps,
				 struct hd_error *err)
{
	HD_CLEANUP(text) struct text mounts = { 0 };
	bool silent = false;
	TRY(process_server_file(copy->server, SERVER_FILE_MOUNTS, &mounts, err));
	for (size_t i = 0; i < maps->rows_count; i++) {
		const struct proc_map *map = &maps->rows[i];
		bool is_file = map->path[0] == '/' && strncmp(map->path, "/memfd:", 7) != 0;
		if (is_file && proc_map_is_readable(map) && find_copied_file(copy, map) == NO_FILE)
			TRY(add_file(copy, map, &mounts, &silent, err));
	}
	return HD_OK;
}

enum hd_status process_copy_create(struct process_server *server, const struct proc_maps *maps,
				   bool no_files, struct process_copy **ret, struct hd_error *err)
{
	struct process_copy *copy = mem_calloc(1, sizeof(*copy));
	TRY_MEMORY(copy, err);
	copy->server = server;
	(void)pthread_mutex_init(&copy->lock, NULL);
	enum hd_status status = no_files ? HD_OK : open_files(copy, maps, err);
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
	pages_free(copy->bytes, copy->bytes ? (size_t)copy->size : 0, 1);
	page_list_deinit(&copy->missed);
	(void)pthread_mutex_destroy(&copy->lock);
	mem_free(copy);
}
