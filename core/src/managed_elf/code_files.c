/* SPDX-License-Identifier: MIT */
#include "managed_elf/code_files.h"

#include <stdlib.h>

#include "mem/memory.h"
#include "runtime/runtime.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

#define READ_SIZE ((size_t)64 << 10)

static void known_free(struct known_function *rows, size_t capacity)
{
	pages_free(rows, capacity, sizeof(*rows));
}

static void places_free(struct code_places *places)
{
	pages_free(places->rows, places->rows_capacity, sizeof(*places->rows));
	*places = (struct code_places){ 0 };
}

void code_files_deinit(struct code_files *files)
{
	known_free(files->known, files->known_capacity);
	pages_free(files->gone, files->gone_capacity, sizeof(*files->gone));
	places_free(&files->places);
	*files = (struct code_files){ 0 };
}

/* A checksum of the bytes of all places; what cannot be read is as if it ended there. */
static bool places_checksum(const struct code_places *places, struct memory *memory, uint64_t *ret)
{
	HD_FREE uint8_t *bytes = mem_alloc(READ_SIZE, 1);
	uint64_t sum = UINT64_C(14695981039346656037);
	for (size_t i = 0; bytes && i < places->rows_count; i++) {
		const struct code_place *place = &places->rows[i];
		uint64_t done = 0;
		while (done < place->size) {
			size_t wanted = place->size - done < READ_SIZE
						? (size_t)(place->size - done)
						: READ_SIZE;
			size_t got = memory_prefix(memory, place->address + done, bytes, wanted);
			size_t k = 0;
			for (; k + 8 <= got; k += 8) {
				sum = (sum ^ load_u64(bytes + k)) * UINT64_C(1099511628211);
				sum ^= sum >> 29;
			}
			for (; k < got; k++)
				sum = (sum ^ bytes[k]) * UINT64_C(1099511628211);
			sum ^= got;
			if (got < wanted)
				break;
			done += got;
		}
	}
	*ret = sum;
	return bytes != NULL;
}

bool code_files_are_current(const struct code_files *files, struct memory *memory)
{
	uint64_t sum;
	return files->is_read && places_checksum(&files->places, memory, &sum) &&
	       sum == files->checksum;
}

/* The update while it is made. */
struct update {
	const struct code_files *files;
	struct code_functions functions;
	uint32_t *in_file; /* of each function the file that has it; 0: the new one */
	bool *is_out;      /* of each file, by its number */
	struct known_function *known;
	size_t known_count, known_capacity;
	uint32_t *gone;
	size_t gone_count, gone_capacity;
};

static void update_deinit(struct update *update)
{
	code_functions_deinit(&update->functions);
	mem_free(update->in_file);
	mem_free(update->is_out);
	known_free(update->known, update->known_capacity);
	pages_free(update->gone, update->gone_capacity, sizeof(*update->gone));
}

static bool is_same(const struct known_function *known, const struct code_function *function)
{
	return known->begin == function->begin && known->end == function->end &&
	       known->method_desc == function->method_desc &&
	       known->unwind_info == function->unwind_info && known->mark == function->mark;
}

/* Which functions are known; files that have others are out. */
static void compare(struct update *update)
{
	const struct code_files *files = update->files;
	const struct code_functions *functions = &update->functions;
	size_t k = 0;
	for (size_t i = 0; i < functions->rows_count; i++) {
		const struct code_function *function = &functions->rows[i];
		for (; k < files->known_count && files->known[k].begin < function->begin; k++)
			update->is_out[files->known[k].file] = true;
		if (k == files->known_count || files->known[k].begin != function->begin)
			continue;
		if (is_same(&files->known[k], function)) {
			update->in_file[i] = files->known[k].file;
		} else {
			update->is_out[files->known[k].file] = true;
		}
		k++;
	}
	for (; k < files->known_count; k++)
		update->is_out[files->known[k].file] = true;
}

/* Where there are many files, those of the JIT become one. */
static void merge(struct update *update)
{
	const struct code_functions *functions = &update->functions;
	uint32_t count = 0;
	HD_FREE bool *is_needed = mem_calloc((size_t)update->files->last + 1, sizeof(*is_needed));
	HD_FREE bool *is_large = mem_calloc((size_t)update->files->last + 1, sizeof(*is_large));
	if (!is_needed || !is_large)
		return;
	for (size_t i = 0; i < functions->rows_count; i++) {
		is_needed[update->in_file[i]] = true;
		is_large[update->in_file[i]] |= functions->rows[i].is_precompiled;
	}
	for (uint32_t file = 1; file <= update->files->last; file++)
		count += is_needed[file] && !update->is_out[file];
	for (uint32_t file = 1; count >= CODE_FILES_MAX && file <= update->files->last; file++)
		update->is_out[file] |= !is_large[file];
}

/* The functions that are known afterwards; those of the new file are left in the list. */
static enum hd_status sort_out(struct update *update, struct hd_error *err)
{
	struct code_functions *functions = &update->functions;
	size_t kept = 0;
	bool is_apart = false;
	for (size_t i = 0; i < functions->rows_count; i++) {
		struct code_function function = functions->rows[i];
		uint32_t file = update->in_file[i];
		if (update->is_out[file])
			file = 0;
		TRY_MEMORY(PAGES_RESERVE(update, known), err);
		update->known[update->known_count++] = (struct known_function){
			.begin = function.begin,
			.end = function.end,
			.method_desc = function.method_desc,
			.unwind_info = function.unwind_info,
			.mark = function.mark,
			.file = file ? file : update->files->last + 1,
		};
		function.is_apart = is_apart;
		is_apart = file != 0;
		if (!file)
			functions->rows[kept++] = function;
	}
	functions->rows_count = kept;
	return HD_OK;
}

static void forget_uncalled(struct update *update)
{
	for (size_t i = 0; i < update->functions.rows_count; i++)
		update->functions.rows[i].rid = 0;
}

static enum hd_status list_gone(struct update *update, struct hd_error *err)
{
	const struct code_files *files = update->files;
	uint32_t last = files->last;
	HD_FREE bool *is_there = mem_calloc((size_t)last + 1, sizeof(*is_there));
	TRY_MEMORY(is_there, err);
	for (size_t i = 0; i < files->known_count; i++)
		is_there[files->known[i].file] = true;
	for (uint32_t file = 1; file <= last; file++) {
		if (!is_there[file] || !update->is_out[file])
			continue;
		TRY_MEMORY(PAGES_RESERVE(update, gone), err);
		update->gone[update->gone_count++] = file;
	}
	return HD_OK;
}

/* The facts as they are after the update. */
static void take_over(struct update *update, struct code_files *ret)
{
	*ret = (struct code_files){
		.known = update->known,
		.known_count = update->known_count,
		.known_capacity = update->known_capacity,
		.last = update->files->last,
		.gone = update->gone,
		.gone_count = update->gone_count,
		.gone_capacity = update->gone_capacity,
		.places = update->functions.places,
		.is_read = true,
		.has_uncalled = update->files->has_uncalled,
	};
	update->known = NULL;
	update->gone = NULL;
	update->functions.places = (struct code_places){ 0 };
}

enum hd_status code_files_update(const struct code_files *files, struct runtime *runtime,
				 struct job *job, const struct managed_elf_output *output,
				 struct code_files *ret, struct hd_error *err)
{
	HD_CLEANUP(update) struct update update = { .files = files };
	struct managed_elf_counts counts = { 0 };
	uint64_t checksum;
	TRY(code_functions_read(runtime, job, &update.functions, err));
	update.in_file = mem_calloc(update.functions.rows_count + 1, sizeof(*update.in_file));
	update.is_out = mem_calloc((size_t)files->last + 1, sizeof(*update.is_out));
	TRY_MEMORY(update.in_file && update.is_out &&
			   places_checksum(&update.functions.places, runtime_memory(runtime),
					   &checksum),
		   err);
	compare(&update);
	merge(&update);
	TRY(sort_out(&update, err));
	TRY(list_gone(&update, err));
	if (!files->has_uncalled)
		forget_uncalled(&update);
	bool has_file = update.functions.rows_count > 0;
	if (has_file) {
		TRY(managed_elf_write_functions(runtime, job, &update.functions, output, &counts,
						err));
	}
	take_over(&update, ret);
	continuation_return_read(runtime, &ret->awaits);
	ret->checksum = checksum;
	ret->last += has_file;
	ret->file = has_file ? ret->last : 0;
	ret->functions = counts.functions;
	return HD_OK;
}

uint64_t code_files_method(const struct code_files *files, uint64_t address)
{
	size_t above = ROWS_ABOVE(files->known, files->known_count, begin, address);
	return above && address < files->known[above - 1].end ? files->known[above - 1].method_desc
							      : 0;
}

uint64_t code_files_awaits(const struct code_files *files, struct memory *memory,
			   const uint64_t *registers, size_t count)
{
	const struct continuation_return *awaits = &files->awaits;
	uint64_t resume_info, address;
	if (!awaits->is_known || awaits->number >= count || !registers[awaits->number] ||
	    !memory_u64(memory, registers[awaits->number] + awaits->resume_info, &resume_info) ||
	    !resume_info || !memory_u64(memory, resume_info + awaits->place, &address))
		return 0;
	return code_files_method(files, address) ? address : 0;
}
