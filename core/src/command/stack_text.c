/* SPDX-License-Identifier: MIT */
#include "command/stack_text.h"

#include <inttypes.h>

#include "clr/code.h"
#include "command/object.h"
#include "inspect/thread_name.h"
#include "util/alloc.h"

/* Frames after which calls repeat, at most; how often and for how many frames to be folded. */
#define PERIOD_MAX  8u
#define REPEATS_MIN 4u
#define FOLD_MIN    16u

/* Roots of a stack, by frame: one frame's are neither together nor in order where it is partial. */
struct frame_roots {
	uint32_t *order; /* of the roots */
	uint32_t *begin; /* by frame, the last for those of no frame; one more behind it */
};

static void roots_deinit(struct frame_roots *roots)
{
	mem_free(roots->order);
	mem_free(roots->begin);
}

static size_t bucket_of(const struct thread_stack *stack, const struct stack_root *root)
{
	return root->frame < stack->frames_count ? root->frame : stack->frames_count;
}

static enum hd_status roots_init(struct frame_roots *roots, const struct thread_stack *stack,
				 struct hd_error *err)
{
	size_t buckets = stack->frames_count + 1;
	roots->order = mem_alloc(stack->roots_count + 1, sizeof(*roots->order));
	roots->begin = mem_calloc(buckets + 1, sizeof(*roots->begin));
	if (!roots->order || !roots->begin) {
		roots_deinit(roots);
		return fail_nomem(err);
	}
	for (size_t i = 0; i < stack->roots_count; i++)
		roots->begin[bucket_of(stack, &stack->roots[i])]++;
	uint32_t sum = 0;
	for (size_t i = 0; i <= buckets; i++) {
		uint32_t count = roots->begin[i];
		roots->begin[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < stack->roots_count; i++)
		roots->order[roots->begin[bucket_of(stack, &stack->roots[i])]++] = (uint32_t)i;
	/* Each is now where the next begins. */
	for (size_t i = buckets; i; i--)
		roots->begin[i] = roots->begin[i - 1];
	roots->begin[0] = 0;
	return HD_OK;
}

/* The object that a root refers to; type NULL: none. */
static enum hd_status root_object(struct stack_text *text, const struct stack_root *root,
				  struct object *ret)
{
	struct heap *heap = text->call->heap;
	struct window window = { .memory = heap->memory };
	*ret = (struct object){ 0 };
	bool is_inside = root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE);
	uint64_t address = root->value;
	if (is_inside && heap_segment_at(heap, address) && !text->has_tried) {
		text->has_tried = true;
		TRY(starts_create(heap, false, &text->call->job, &text->starts, text->call->err));
	}
	if (is_inside)
		address = text->starts ? starts_at_or_before(text->starts, address) : 0;
	struct object object;
	if (address && address % 8 == 0 && object_read(heap, &window, address, &object) &&
	    root->value - address < object.step && !object.type->is_free)
		*ret = object;
	window_deinit(&window);
	return HD_OK;
}

static const char *const flag_names[] = { "interior", "pinned", "conservative" };

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[STACK_ROOT_FRAME] = "local",
		[STACK_ROOT_ARGUMENT] = "argument",
		[STACK_ROOT_GC_FRAME] = "gc-frame",
		[STACK_ROOT_EXCEPTION] = "exception",
	};
	return names[kind];
}

/* What stands for the slot of a root that has none: as gcroot and roots call it. */
static const char *kind_label(uint8_t kind)
{
	static const char *const labels[] = {
		[STACK_ROOT_FRAME] = "stack",
		[STACK_ROOT_ARGUMENT] = "argument",
		[STACK_ROOT_GC_FRAME] = "GC frame of the runtime",
		[STACK_ROOT_EXCEPTION] = "exception in flight",
	};
	return labels[kind];
}

/* "    rbp-210: 00007fff51aa9730 -> 7fa0bb8069278 Type (pinned)" */
static void root_text(struct out *out, struct heap *heap, const struct stack_root *root,
		      const struct object *object)
{
	bool is_heap = heap_segment_at(heap, root->value) != NULL;
	char slot[STACK_SLOT_SIZE];
	stack_root_slot(root, slot);
	out_printf(out, "    %s: ", slot[0] ? slot : kind_label(root->kind));
	if (root->address)
		out_printf(out, "%016" PRIx64 " ", root->address);
	out_puts(out, "-> ");
	if (object->type) {
		size_t size;
		const char *name = type_name(heap->clr, object->type, &size);
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, object->address);
		if (root->value != object->address)
			out_printf(out, "+%" PRIx64, root->value - object->address);
		out_puts(out, " ");
		out_type(out, name, size, object->type->method_table);
	} else {
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, root->value);
		out_styled(out, STYLE_NOTE, is_heap ? " <no object>" : " <not in the heap>");
	}
	for (unsigned int i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++) {
		if (root->flags & (1u << i))
			out_printf(out, " (%s)", flag_names[i]);
	}
	out_puts(out, "\n");
}

static void root_json(struct json *json, struct clr *clr, const struct stack_root *root,
		      const struct object *object)
{
	char slot[STACK_SLOT_SIZE];
	stack_root_slot(root, slot);
	json_object(json, NULL);
	json_string(json, "kind", kind_name(root->kind));
	json_string(json, "slot", slot[0] ? slot : NULL);
	json_address(json, "address", root->address);
	json_address(json, "value", root->value);
	if (object->type) {
		size_t size;
		const char *name = type_name(clr, object->type, &size);
		json_address(json, "object", object->address);
		json_text(json, "type", name, size);
	} else {
		json_null(json, "object");
		json_null(json, "type");
	}
	json_array(json, "flags");
	for (unsigned int i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++) {
		if (root->flags & (1u << i))
			json_string(json, NULL, flag_names[i]);
	}
	json_end(json);
	json_end(json);
}

/* Roots of frame @p index; of no frame, when that is frames_count. */
static enum hd_status write_roots(struct stack_text *text, const struct thread_stack *stack,
				  const struct frame_roots *roots, size_t index)
{
	struct call *call = text->call;
	if (!text->roots)
		return HD_OK;
	if (call->as_json)
		json_array(&call->json, "roots");
	for (uint32_t i = roots->begin[index]; i < roots->begin[index + 1]; i++) {
		const struct stack_root *root = &stack->roots[roots->order[i]];
		struct object object;
		TRY(root_object(text, root, &object));
		/* A word that only looks like a reference. */
		if (!object.type && root->flags & STACK_ROOT_CONSERVATIVE)
			continue;
		if (call->as_json) {
			root_json(&call->json, call->heap->clr, root, &object);
		} else {
			root_text(&call->out, call->heap, root, &object);
		}
		TRY(call_check(call));
	}
	if (call->as_json)
		json_end(&call->json);
	return HD_OK;
}

static void method_text(struct call *call, const struct stack_frame *frame)
{
	struct out *out = &call->out;
	struct text name = { 0 };
	if (!frame->method_desc)
		return;
	clr_method_signature(call->heap->clr, frame->method_desc, &name);
	text_escape(&out->text, name.bytes, name.size);
	out->text.failed |= name.failed;
	text_deinit(&name);
}

static void frame_text(struct call *call, const struct stack_frame *frame)
{
	struct out *out = &call->out;
	out_printf(out, "%016" PRIX64 " ", frame->sp);
	if (frame->ip) {
		out_printf(out, "%016" PRIX64 " ", frame->ip);
	} else {
		out_pad(out, 17);
	}
	if (frame->kind == STACK_EXPLICIT) {
		out_printf(out, "[%s: %016" PRIx64 "]", frame->name, frame->frame);
		if (frame->method_desc)
			out_puts(out, " ");
	}
	method_text(call, frame);
	if (frame->kind == STACK_MANAGED)
		out_printf(out, "+0x%" PRIx32, frame->offset);
	if (frame->is_funclet)
		out_styled(out, STYLE_NOTE, " (handler)");
	if (frame->is_dead)
		out_styled(out, STYLE_NOTE, " (unwound)");
	out_puts(out, "\n");
}

static void method_json(struct call *call, const char *key, const struct stack_frame *frame)
{
	struct text name = { 0 };
	if (!frame->method_desc) {
		json_null(&call->json, key);
		return;
	}
	clr_method_signature(call->heap->clr, frame->method_desc, &name);
	json_text(&call->json, key, name.bytes, name.size);
	call->out.text.failed |= name.failed;
	text_deinit(&name);
}

static void frame_json(struct call *call, const struct stack_frame *frame)
{
	struct json *json = &call->json;
	json_object(json, NULL);
	json_string(json, "kind", frame->kind == STACK_MANAGED ? "managed" : "explicit");
	json_address(json, "sp", frame->sp);
	json_address(json, "ip", frame->ip);
	if (frame->kind == STACK_EXPLICIT) {
		json_string(json, "method", frame->name);
		json_address(json, "frame", frame->frame);
		method_json(call, "callee", frame);
	} else {
		method_json(call, "method", frame);
		json_address(json, "method_desc", frame->method_desc);
		json_number(json, "offset", frame->offset);
		json_bool(json, "funclet", frame->is_funclet);
		json_bool(json, "active", frame->is_active);
	}
	json_bool(json, "unwound", frame->is_dead);
}

static bool is_same(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->kind == b->kind && a->method_desc == b->method_desc && a->ip == b->ip &&
	       a->name == b->name && a->is_dead == b->is_dead;
}

/* How many frames from @p index on repeat those @p period before; the shortest period, or 0. */
static size_t repeated(const struct thread_stack *stack, size_t index, size_t *ret_period)
{
	for (size_t period = 1; period <= PERIOD_MAX && period <= index; period++) {
		size_t count = 0;
		while (index + count < stack->frames_count &&
		       is_same(&stack->frames[index + count],
			       &stack->frames[index + count - period]))
			count++;
		if (count >= FOLD_MIN && count >= period * REPEATS_MIN) {
			*ret_period = period;
			return count / period * period - period;
		}
	}
	return 0;
}

/* "... 174,560 more frames of P.A() and P.B() ..." */
static void write_fold(struct call *call, const struct stack_frame *frames, size_t count,
		       size_t period)
{
	char number[COUNT_SIZE];
	if (call->as_json) {
		json_object(&call->json, NULL);
		json_number(&call->json, "folded", count);
		json_array(&call->json, "methods");
		for (size_t i = 0; i < period; i++) {
			if (frames[i].kind == STACK_EXPLICIT) {
				json_string(&call->json, NULL, frames[i].name);
			} else {
				method_json(call, NULL, &frames[i]);
			}
		}
		json_end(&call->json);
		json_end(&call->json);
		return;
	}
	struct out *out = &call->out;
	out_printf(out, "%34s... %s of ", "", format_count(count, "more frame", number));
	for (size_t i = 0; i < period; i++) {
		if (i)
			out_puts(out, i + 1 == period ? " and " : ", ");
		if (frames[i].kind == STACK_EXPLICIT) {
			out_puts(out, frames[i].name);
		} else {
			method_text(call, &frames[i]);
		}
	}
	out_puts(out, " ...\n");
}

static enum hd_status write_frames(struct stack_text *text, const struct thread_stack *stack,
				   const struct frame_roots *roots)
{
	struct call *call = text->call;
	uint64_t shown = 0;
	size_t i = 0;
	if (call->as_json)
		json_array(&call->json, "frames");
	while (i < stack->frames_count && shown < text->limit) {
		size_t period = 0, count = text->full ? 0 : repeated(stack, i, &period);
		if (count) {
			write_fold(call, &stack->frames[i], count, period);
			i += count;
			continue;
		}
		if (call->as_json) {
			frame_json(call, &stack->frames[i]);
		} else {
			frame_text(call, &stack->frames[i]);
		}
		TRY(write_roots(text, stack, roots, i));
		if (call->as_json)
			json_end(&call->json);
		TRY(call_check(call));
		shown++;
		i++;
	}
	if (call->as_json) {
		json_end(&call->json);
		json_bool(&call->json, "truncated", i < stack->frames_count);
	} else if (i < stack->frames_count) {
		char number[COUNT_SIZE];
		out_printf(&call->out, "%34s... %s (-limit 0 shows all)\n", "",
			   format_count(stack->frames_count - i, "more frame", number));
	}
	return HD_OK;
}

static void head_text(struct call *call, const struct thread_stack *stack, const struct text *name)
{
	struct out *out = &call->out;
	const struct clr_thread *thread = stack->thread;
	out_printf(out, "OS Thread Id: 0x%" PRIx64 " (managed %" PRIu32 ")", thread->os_id,
		   thread->id);
	if (name->size) {
		out_puts(out, " \"");
		text_escape(&out->text, name->bytes, name->size);
		out_puts(out, "\"");
	}
	out_puts(out, "\n");
	if (!stack->frames_count && !stack->is_partial && !stack->is_missing) {
		out_puts(out, thread->os_id ? "    no managed frames\n"
					    : "    not started yet, or ended\n");
	}
	if (stack->frames_count) {
		out_styled(out, STYLE_HEAD, "%16s %16s %s", "Child SP", "IP", "Call Site");
		out_puts(out, "\n");
	}
}

static void head_json(struct json *json, const struct thread_stack *stack, const struct text *name)
{
	json_object(json, NULL);
	json_number(json, "id", stack->thread->id);
	json_number(json, "os_id", stack->thread->os_id);
	json_text(json, "name", name->size ? name->bytes : NULL, name->size);
	json_bool(json, "partial", stack->is_partial);
	json_bool(json, "missing", stack->is_missing);
	json_string(json, "why", stack->is_partial || stack->is_missing ? stack->why : NULL);
}

static void write_why(struct call *call, const struct thread_stack *stack, bool roots)
{
	struct out *out = &call->out;
	if (stack->is_missing) {
		out_styled(out, STYLE_NOTE, "    stack missing: %s", stack->why);
	} else if (stack->is_partial) {
		out_styled(out, STYLE_NOTE, "    stack incomplete: %s%s", stack->why,
			   roots ? "; each word of the rest that may be a reference is shown as "
				   "conservative"
				 : "");
	}
	if (stack->is_missing || stack->is_partial)
		out_puts(out, "\n");
}

enum hd_status stack_text_write(struct stack_text *text, const struct thread_stack *stack)
{
	struct call *call = text->call;
	struct frame_roots roots;
	struct text name = { 0 };
	TRY(roots_init(&roots, stack, call->err));
	(void)thread_name(call->heap, stack->thread, &name);
	if (call->as_json) {
		head_json(&call->json, stack, &name);
	} else {
		head_text(call, stack, &name);
	}
	text_deinit(&name);
	enum hd_status status = write_frames(text, stack, &roots);
	if (status == HD_OK && !call->as_json)
		write_why(call, stack, text->roots);
	if (status == HD_OK)
		status = write_roots(text, stack, &roots, stack->frames_count);
	if (status == HD_OK && call->as_json)
		json_end(&call->json);
	roots_deinit(&roots);
	return status;
}

void stack_text_deinit(struct stack_text *text)
{
	starts_destroy(text->starts);
	text->starts = NULL;
}
