/* SPDX-License-Identifier: MIT */
#include "analysis/names/word_meaning.h"

#include <stdlib.h>

#include "runtime/code.h"
#include "runtime/coreclr/code/method.h"
#include "stack/span.h"
#include "util/alloc.h"
#include "util/sort.h"

/* The part of a thread's stack that is in use. */
struct word_stack {
	uint64_t begin, end;
	const struct target_thread *thread;
};

ORDER_BY(by_begin, struct word_stack, begin)

void word_reader_deinit(struct word_reader *reader)
{
	starts_destroy(reader->starts);
	window_deinit(&reader->window);
	mem_free(reader->stacks);
}

static enum hd_status read_stacks(struct word_reader *reader, struct hd_error *err)
{
	const struct target *target = runtime_target(reader->heap->runtime);
	const struct target_threads *threads = &target->threads;
	uint64_t red_zone = runtime_arch(reader->heap->runtime)->space.red_zone;
	reader->stacks = mem_alloc(threads->count + 1, sizeof(*reader->stacks));
	TRY_MEMORY(reader->stacks, err);
	for (size_t i = 0; i < threads->count; i++) {
		const struct target_thread *thread = &threads->rows[i];
		uint64_t sp = target_thread_sp(target, thread);
		struct span span = span_at(target, sp);
		if (!span_has(&span, sp))
			continue;
		reader->stacks[reader->stacks_count++] = (struct word_stack){
			.begin = sp - span.start < red_zone ? span.start : sp - red_zone,
			.end = target_stack_end(target, thread, sp, span.end),
			.thread = thread,
		};
	}
	qsort(reader->stacks, reader->stacks_count, sizeof(*reader->stacks), by_begin);
	return HD_OK;
}

static bool is_in_stack(const struct word_reader *reader, uint64_t word, struct word_meaning *ret)
{
	size_t above = ROWS_ABOVE(reader->stacks, reader->stacks_count, begin, word);
	if (!above || word >= reader->stacks[above - 1].end)
		return false;
	ret->kind = WORD_STACK;
	ret->thread = reader->stacks[above - 1].thread;
	return true;
}

static enum hd_status look_into_heap(struct word_reader *reader, uint64_t word, struct job *job,
				     struct word_meaning *ret, struct hd_error *err)
{
	struct heap *heap = reader->heap;
	if (!reader->starts)
		TRY(starts_create(heap, true, job, &reader->starts, err));
	reader->window.memory = heap->memory;
	uint64_t start = starts_at_or_before(reader->starts, word);
	ret->kind = WORD_HEAP;
	if (!start || !object_read(heap, &reader->window, start, &ret->object))
		return HD_OK;
	ret->offset = word - start;
	if (ret->offset < ret->object.size && !ret->object.type->is_free) {
		ret->kind = ret->offset ? WORD_INSIDE : WORD_OBJECT;
		return HD_OK;
	}
	ret->object = (struct object){ 0 };
	ret->offset = 0;
	return HD_OK;
}

/* The runtime's own records, which begin at multiples of 8. */
static bool is_record(struct runtime *runtime, uint64_t word, struct word_meaning *ret)
{
	struct method method;
	if (word % 8)
		return false;
	ret->type = type_find(runtime, word);
	if (ret->type) {
		ret->kind = WORD_TYPE;
		return true;
	}
	if (!method_read(runtime, word, &method))
		return false;
	ret->kind = WORD_METHOD;
	ret->method_desc = word;
	return true;
}

static bool is_method_code(struct runtime *runtime, uint64_t word, struct word_meaning *ret)
{
	struct method method;
	struct code_info code;
	uint64_t method_desc;
	if (!span_is_code(runtime_target(runtime), word) ||
	    !runtime_method_at(runtime, word, &method_desc) ||
	    !method_read(runtime, method_desc, &method))
		return false;
	ret->kind = WORD_CODE;
	ret->method_desc = method_desc;
	if (runtime_code_at(runtime, word, &code)) {
		ret->offset = word - code.start;
	} else {
		/* The other ones are functions of the runtime. */
		ret->is_stub = !coreclr_fcall_method(runtime, word, &method_desc);
	}
	return true;
}

enum hd_status word_meaning(struct word_reader *reader, uint64_t word, struct job *job,
			    struct word_meaning *ret, struct hd_error *err)
{
	struct runtime *runtime = reader->heap->runtime;
	const struct target *target = runtime_target(runtime);
	const struct address_space *space = &runtime_arch(runtime)->space;
	struct word_meaning meaning = { 0 };
	if (word < space->user_begin || word >= space->user_end) {
		*ret = meaning;
		return HD_OK;
	}
	if (!reader->stacks)
		TRY(read_stacks(reader, err));
	if (heap_segment_at(reader->heap, word)) {
		TRY(look_into_heap(reader, word, job, &meaning, err));
	} else if (!is_in_stack(reader, word, &meaning) && !is_record(runtime, word, &meaning) &&
		   !is_method_code(runtime, word, &meaning)) {
		meaning.mapping = target_mapping_at(&target->map, word);
		if (meaning.mapping)
			meaning.kind = WORD_FILE;
	}
	*ret = meaning;
	return HD_OK;
}
