/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "mem/file_memory.h"
#include "mem/named_file.h"
#include "targets/file_match.h"
#include "targets/process/process_memory.h"
#include "targets/target_files.h"
#include "util/alloc.h"

/** Most files that are opened, for a core that names very many. */
#define OPENED_MAX 4096u
/** How many files a finding names one by one. */
#define FILES_NAMED_MAX 3u
/** A state that is not public: the file was not needed yet. */
#define STATE_UNTRIED (-1)

#define SYSROOT_ADVICE                                                                            \
	"give a folder with the files of the machine that wrote the core (--sysroot), or take a " \
	"full dump"

struct module_file {
	const char *path;        /**< of a mapping */
	struct file_parts parts; /**< its mappings */
	_Atomic int state;       /**< enum target_file_state or STATE_UNTRIED */
	dev_t device;            /**< with inode: which file it is, once it was opened */
	ino_t inode;             /**< 0 = it was not */
	struct mapped_file file; /**< set before state says that it may be read */
	char reason[320];
};

struct module_files {
	struct memory memory;
	struct target *target;
	struct module_file *files;
	size_t count;
	uint32_t *order;      /**< mappings, those of one file together */
	uint32_t *file_of;    /**< for each mapping */
	pthread_mutex_t lock; /**< of opening */
	unsigned int opened;  /**< files */
};

/*
 * Was the same file already refuted under another name?  A hostile core must not get a guess for
 * each name.
 */
static bool is_refuted(const struct module_files *files, const struct module_file *file)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct module_file *other = &files->files[i];
		if (other == file || other->inode != file->inode || other->device != file->device)
			continue;
		int state = atomic_load_explicit(&other->state, memory_order_acquire);
		if (state == TARGET_FILE_MISMATCH || state == TARGET_FILE_REJECTED)
			return true;
	}
	return false;
}

static void refute(struct module_file *file)
{
	(void)snprintf(file->reason, sizeof(file->reason), "the same file has another name too");
}

static enum target_file_state open_module_file(const struct target_options *options,
					       struct module_file *file)
{
	enum named_file_result result;
	int fd = named_file_open(options->sysroot, file->path,
				 options->trust_files ? NAMED_FILE_ANY : NAMED_FILE_IMAGE, &result);
	if (result == NAMED_FILE_NOT_REGULAR)
		return TARGET_FILE_NOT_REGULAR;
	if (result == NAMED_FILE_NO_IMAGE) {
		(void)snprintf(file->reason, sizeof(file->reason), "not an ELF or PE image");
		return TARGET_FILE_NO_IMAGE;
	}
	int code = errno;
	struct stat info = { 0 };
	if (fd >= 0 && !fstat(fd, &info)) {
		file->device = info.st_dev;
		file->inode = info.st_ino;
	}
	struct hd_error err;
	if (fd < 0 || mapped_file_adopt(fd, file->path, &file->file, &err) != HD_OK) {
		(void)snprintf(file->reason, sizeof(file->reason), "%s",
			       fd < 0 ? strerrordesc_np(code) : "it cannot be mapped");
		return TARGET_FILE_MISSING;
	}
	return TARGET_FILE_UNVERIFIED;
}

static enum target_file_state try_file(struct module_files *files, struct module_file *file)
{
	if (!named_file_is(file->path))
		return TARGET_FILE_NONE;
	if (files->opened == OPENED_MAX) {
		(void)snprintf(file->reason, sizeof(file->reason), "too many files were opened");
		return TARGET_FILE_MISSING;
	}
	enum target_file_state state = open_module_file(&files->target->options, file);
	if (state != TARGET_FILE_UNVERIFIED)
		return state;
	files->opened++;
	if (is_refuted(files, file)) {
		state = TARGET_FILE_MISMATCH;
		refute(file);
	} else {
		state = file_match(files->target, &file->parts, &file->file, file->reason,
				   sizeof(file->reason));
	}
	mapped_file_close_fd(&file->file);
	if (state == TARGET_FILE_MISMATCH)
		mapped_file_close(&file->file);
	return state;
}

static enum target_file_state state_of(struct module_files *files, struct module_file *file)
{
	int state = atomic_load_explicit(&file->state, memory_order_acquire);
	if (state != STATE_UNTRIED)
		return (enum target_file_state)state;
	(void)pthread_mutex_lock(&files->lock);
	state = atomic_load_explicit(&file->state, memory_order_acquire);
	if (state == STATE_UNTRIED) {
		state = (int)try_file(files, file);
		atomic_store_explicit(&file->state, state, memory_order_release);
	}
	(void)pthread_mutex_unlock(&files->lock);
	return (enum target_file_state)state;
}

static const uint8_t *module_files_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	struct module_files *files = (struct module_files *)memory;
	const struct target_mapping *mapping = target_mapping_at(&files->target->map, address);
	if (!mapping)
		return NULL;
	struct module_file *file =
		&files->files[files->file_of[mapping - files->target->map.mappings]];
	enum target_file_state state = state_of(files, file);
	if (state != TARGET_FILE_MATCHED &&
	    (state != TARGET_FILE_UNVERIFIED || !files->target->options.trust_files))
		return NULL;
	/* The kernel maps whole pages: after the end of the file, the last page has zeros. */
	uint64_t size = page_align(files->target->arch->space.page_min, file->file.size);
	uint64_t offset = mapping->offset + (address - mapping->start);
	if (offset >= size)
		return NULL;
	uint64_t room = mapping->end - address;
	*ret_size = size - offset < room ? size - offset : room;
	return file->file.bytes + offset;
}

static void module_files_destroy(struct memory *memory)
{
	HD_FREE struct module_files *files = (struct module_files *)memory;
	for (size_t i = 0; i < files->count; i++)
		mapped_file_close(&files->files[i].file);
	(void)pthread_mutex_destroy(&files->lock);
	mem_free(files->files);
	mem_free(files->order);
	mem_free(files->file_of);
}

static int compare_paths_in_order(const void *a, const void *b, void *arg)
{
	const struct target_mapping *mappings = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = strcmp(mappings[left].path, mappings[right].path);
	return order ? order : (left > right) - (left < right);
}

/* One row per path. */
static void group_mappings(struct module_files *files)
{
	const struct target *target = files->target;
	for (size_t i = 0; i < target->map.mapping_count; i++)
		files->order[i] = (uint32_t)i;
	qsort_r(files->order, target->map.mapping_count, sizeof(*files->order),
		compare_paths_in_order, target->map.mappings);
	for (size_t i = 0; i < target->map.mapping_count; i++) {
		const char *path = target->map.mappings[files->order[i]].path;
		struct module_file *file = files->count ? &files->files[files->count - 1] : NULL;
		if (!file || strcmp(file->path, path) != 0) {
			file = &files->files[files->count++];
			file->path = path;
			file->parts.mappings = &files->order[i];
			file->state = STATE_UNTRIED;
			file->file.fd = -1;
		}
		file->parts.count++;
		files->file_of[files->order[i]] = (uint32_t)(files->count - 1);
	}
}

struct memory *target_module_files(struct target *target)
{
	static const struct memory_ops ops = { .read = memory_read_runs,
					       .run = module_files_run,
					       .destroy = module_files_destroy };
	size_t count = target->map.mapping_count;
	struct module_files *files = mem_calloc(1, sizeof(*files));
	if (!files)
		return NULL;
	files->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	files->target = target;
	(void)pthread_mutex_init(&files->lock, NULL);
	files->files = mem_calloc(count, sizeof(*files->files));
	files->order = mem_calloc(count, sizeof(*files->order));
	files->file_of = mem_calloc(count, sizeof(*files->file_of));
	if (!files->files || !files->order || !files->file_of) {
		module_files_destroy(&files->memory);
		return NULL;
	}
	group_mappings(files);
	target->files.files = files;
	return &files->memory;
}

static struct module_file *find_module_file(const struct target *target, const char *path)
{
	struct module_files *files = target->files.files;
	size_t low = 0, high = files ? files->count : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(files->files[middle].path, path);
		if (!order)
			return &files->files[middle];
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return NULL;
}

enum target_file_state target_file_state(const struct target *target, const char *path)
{
	struct module_file *file = find_module_file(target, path);
	return file ? state_of(target->files.files, file) : TARGET_FILE_NONE;
}

bool target_has_unverified(const struct target *target)
{
	const struct module_files *files = target->files.files;
	for (size_t i = 0; files && i < files->count; i++) {
		if (atomic_load_explicit(&files->files[i].state, memory_order_acquire) ==
		    (int)TARGET_FILE_UNVERIFIED)
			return true;
	}
	return false;
}

void target_reject_file(struct target *target, const char *path, const char *reason)
{
	struct module_file *file = find_module_file(target, path);
	if (!file)
		return;
	(void)state_of(target->files.files, file);
	(void)pthread_mutex_lock(&target->files.files->lock);
	(void)snprintf(file->reason, sizeof(file->reason), "%s", reason);
	atomic_store_explicit(&file->state, (int)TARGET_FILE_REJECTED, memory_order_release);
	(void)pthread_mutex_unlock(&target->files.files->lock);
	target_add_file_findings(target);
}

void target_confirm_file(struct target *target, const char *path)
{
	struct module_file *file = find_module_file(target, path);
	int expected = (int)TARGET_FILE_UNVERIFIED;
	if (file &&
	    atomic_compare_exchange_strong(&file->state, &expected, (int)TARGET_FILE_MATCHED))
		target_add_file_findings(target);
}

void target_prove_file(struct target *target, const char *path, target_prove *prove, void *arg)
{
	struct module_file *file = find_module_file(target, path);
	if (!file || state_of(target->files.files, file) != TARGET_FILE_UNVERIFIED)
		return;
	struct file_memory bytes = file_memory_of(&file->file);
	enum target_proof proof = TARGET_PROOF_OTHER;
	(void)pthread_mutex_lock(&target->files.files->lock);
	if (is_refuted(target->files.files, file)) {
		refute(file);
	} else {
		proof = prove(arg, &bytes.memory);
		if (proof == TARGET_PROOF_OTHER) {
			(void)snprintf(file->reason, sizeof(file->reason),
				       "its tables are not as long as those that the process had");
		}
	}
	if (proof != TARGET_PROOF_NONE) {
		atomic_store_explicit(&file->state,
				      (int)(proof == TARGET_PROOF_SAME ? TARGET_FILE_MATCHED
								       : TARGET_FILE_REJECTED),
				      memory_order_release);
	}
	(void)pthread_mutex_unlock(&target->files.files->lock);
	if (proof != TARGET_PROOF_NONE)
		target_add_file_findings(target);
}

/* Some files with one kind of problem: the first ones by name. */
struct file_trouble {
	enum finding_kind kind;
	const char *what, *advice;
	char names[768];
	unsigned int count, cut_count;
};

static void add_name(struct file_trouble *trouble, const struct target *target,
		     const struct module_file *file)
{
	trouble->cut_count +=
		target_is_cut(target, target->map.mappings[file->parts.mappings[0]].start);
	if (trouble->count++ >= FILES_NAMED_MAX)
		return;
	size_t used = strlen(trouble->names);
	(void)snprintf(trouble->names + used, sizeof(trouble->names) - used, "%s%s%s%s%s",
		       used ? ", " : "", file->path, file->reason[0] ? " (" : "", file->reason,
		       file->reason[0] ? ")" : "");
}

static void remove_findings(struct findings *findings, enum finding_kind kind)
{
	size_t kept = 0;
	for (size_t i = 0; i < findings->count; i++) {
		struct finding row = findings->rows[i];
		if (row.kind == kind) {
			mem_free(row.detail);
			mem_free(row.advice);
		} else {
			findings->rows[kept++] = row;
		}
	}
	findings->count = kept;
}

static void report_trouble(struct target *target, const struct file_trouble *trouble)
{
	bool is_cut = trouble->count && trouble->cut_count == trouble->count;
	const char *advice = is_cut ? target_advice(target, 0, NULL) : trouble->advice;
	remove_findings(&target->findings, trouble->kind);
	if (trouble->count > FILES_NAMED_MAX) {
		findings_add(&target->findings, trouble->kind, advice, "%s: %u files: %s, ...",
			     trouble->what, trouble->count, trouble->names);
	} else if (trouble->count) {
		findings_add(&target->findings, trouble->kind, advice, "%s: %s", trouble->what,
			     trouble->names);
	}
}

/* Files that are not proven: the texts for when they are not used, and for when they are. */
static const struct file_trouble unverified = {
	.kind = FINDING_FILES_UNVERIFIED,
	.what = "bytes that the core lacks are not taken from files that nothing in it proves to be "
		"those that the process had",
	.advice =
		"take a full dump; or, if you trust who wrote the core and know that the files are "
		"the right ones, give --trust-files",
};
static const struct file_trouble trusted = {
	.kind = FINDING_FILES_UNVERIFIED,
	.what = "bytes that the core lacks come from files that nothing in "
		"it could be compared with",
	.advice = "make sure that they are those of the machine that wrote "
		  "the core, or take a full dump",
};

void target_add_file_findings(struct target *target)
{
	struct module_files *files = target->files.files;
	if (target->process.copy)
		process_copy_find_missed(target);
	if (!files)
		return;
	struct file_trouble missing = {
		.kind = FINDING_FILES_MISSING,
		.what = "bytes that the core lacks cannot be read from files "
			"that are not here",
		.advice = SYSROOT_ADVICE
	};
	struct file_trouble other = {
		.kind = FINDING_FILES_DIFFER,
		.what = "bytes that the core lacks are not taken from files that "
			"are not those that the process had",
		.advice = SYSROOT_ADVICE
	};
	struct file_trouble blind = target->options.trust_files ? trusted : unverified;
	for (size_t i = 0; i < files->count; i++) {
		const struct module_file *file = &files->files[i];
		switch (atomic_load_explicit(&file->state, memory_order_acquire)) {
		case TARGET_FILE_MISSING:
		case TARGET_FILE_NOT_REGULAR:
			add_name(&missing, target, file);
			break;
		case TARGET_FILE_MISMATCH:
		case TARGET_FILE_REJECTED:
			add_name(&other, target, file);
			break;
		case TARGET_FILE_UNVERIFIED:
		case TARGET_FILE_NO_IMAGE:
			add_name(&blind, target, file);
			break;
		default:
			break;
		}
	}
	report_trouble(target, &missing);
	report_trouble(target, &other);
	report_trouble(target, &blind);
}
