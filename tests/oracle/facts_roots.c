/* SPDX-License-Identifier: MIT */
/*
 * The lines of facts about roots: those of clrmd/Program.cs, and some that nothing is compared with:
 *
 *   u  MT TOKEN WHAT              a static field; WHAT: "uninitialised" (the constructor of the class has
 *                                 not run to its end), "collectible"
 *   g  OSTHREAD KIND SLOT OBJECT  root on a stack that is not a frame's: KIND 1 argument, 2 GCFrame,
 *                                 3 exception; 4 word of a frame that may be one
 *   i  OBJECT                     array that a thread's statics lie in
 *   j  OSTHREAD SP                frame whose return address is not what stands on the stack: the runtime
 *                                 has put its own there, to stop the thread (hijacked)
 *   k  OSTHREAD                   thread that was interrupted where the frame is not made, or not there
 *                                 any more, or no GC info is: it reports no variables
 *   o  OSTHREAD SLOT              interior root on a stack that points out of the heap
 *   v  MAJOR                      of the runtime
 *
 * and one that is only there when something is wrong:
 *
 *   p  OSTHREAD TEXT              stack whose walk went wrong
 */
#include <inttypes.h>
#include <string.h>

#include "facts.h"
#include "gc/starts.h"
#include "graph/reach.h"
#include "runtime/coreclr/internal.h"
#include "snapshot/snapshot.h"
#include "util/bitmap.h"
#include "util/text.h"

static void write_handles(struct facts *facts, const struct handle_list *handles)
{
	for (size_t i = 0; i < handles->rows_count; i++) {
		const struct handle *h = &handles->rows[i];
		uint64_t secondary = h->type == HANDLE_DEPENDENT ? h->secondary : 0;
		fprintf(facts->out, "h\t%" PRIx64 "\t%" PRIx64 "\t%u\t%" PRIx64 "\n", h->address,
			h->object, h->type, secondary);
	}
}

static void write_finalizers(struct facts *facts, const struct finalizer_list *list)
{
	for (size_t i = 0; i < list->rows_count; i++) {
		const struct finalizer_entry *entry = &list->rows[i];
		fprintf(facts->out, "y\t%" PRIx64 "\n", entry->object);
		if (entry->part >= FINALIZER_CRITICAL)
			fprintf(facts->out, "z\t%" PRIx64 "\n", entry->object);
	}
}

/* The field's own name: what follows the type's. */
static const char *field_name(const struct text *full, const char *type)
{
	size_t size = strlen(type);
	if (!full->bytes)
		return "-";
	if (full->size > size && memcmp(full->bytes, type, size) == 0 && full->bytes[size] == '.')
		return full->bytes + size + 1;
	return full->bytes;
}

static void write_static(struct facts *facts, const struct static_slot *slot)
{
	FILE *out = facts->out;
	struct text name = { 0 };
	const char *type = type_name(facts->runtime, slot->type, NULL);
	uint64_t table = slot->type->method_table;
	static_slot_name(facts->runtime, slot, &name);
	fprintf(out, "n\t%" PRIx64 "\t%s\n", table, type);
	fprintf(out, "%c\t%" PRIx64 "\t%" PRIx32 "\t%s", slot->thread == UINT32_MAX ? 'q' : 't',
		table, slot->token, field_name(&name, type));
	if (slot->thread != UINT32_MAX)
		fprintf(out, "\t%" PRIu64, facts->runtime->threads.rows[slot->thread].os_id);
	fprintf(out, "\t%" PRIx64 "\n", slot->address);
	if (!slot->is_initialised)
		fprintf(out, "u\t%" PRIx64 "\t%" PRIx32 "\tuninitialised\n", table, slot->token);
	if (slot->type->is_collectible)
		fprintf(out, "u\t%" PRIx64 "\t%" PRIx32 "\tcollectible\n", table, slot->token);
	text_deinit(&name);
}

/* The return address from a method to its caller lies right below the caller's frame. */
static bool is_hijacked(struct facts *facts, const struct stack_frame *frame,
			const struct stack_frame *caller)
{
	uint64_t word = 0;
	return frame->kind == STACK_MANAGED && caller->kind == STACK_MANAGED &&
	       memory_u64(facts->runtime->memory, caller->sp - 8, &word) && word != caller->ip;
}

static void write_frames(struct facts *facts, const struct thread_stack *stack)
{
	uint64_t id = stack->thread->os_id;
	for (size_t i = 0; i < stack->frames_count; i++) {
		const struct stack_frame *frame = &stack->frames[i];
		if (frame->kind != STACK_MANAGED)
			continue;
		struct text name = { 0 };
		runtime_method_signature(facts->runtime, frame->method_desc, &name);
		fprintf(facts->out, "c\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx64 "\n", id, frame->sp,
			frame->ip);
		fprintf(facts->out, "m\t%" PRIu64 "\t%" PRIx64 "\t%s\n", id, frame->sp,
			name.bytes ? name.bytes : "-");
		text_deinit(&name);
		if (i + 1 < stack->frames_count && is_hijacked(facts, frame, frame + 1))
			fprintf(facts->out, "j\t%" PRIu64 "\t%" PRIx64 "\n", id, frame->sp);
	}
	if (stack->is_partial || stack->is_missing)
		fprintf(facts->out, "p\t%" PRIu64 "\t%s\n", id, stack->why);
}

/* The object at or around an address, or 0. */
static uint64_t container(struct facts *facts, const struct starts *starts, uint64_t address)
{
	struct object object;
	uint64_t start = starts_at_or_before(starts, address);
	if (!start || !object_read(facts->heap, &facts->window, start, &object))
		return 0;
	return address - start < object.step && !object.type->is_free ? start : 0;
}

/* Was the thread interrupted where its frame has words alone that may be references? */
static bool is_unmade(const struct thread_stack *stack)
{
	bool has_words = false;
	if (!stack->frames_count || !stack->frames[0].is_active)
		return false;
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		if (root->frame)
			continue;
		if (!(root->flags & STACK_ROOT_CONSERVATIVE))
			return false;
		has_words = true;
	}
	return has_words;
}

static void write_stack_roots(struct facts *facts, const struct thread_stack *stack,
			      const struct starts *starts)
{
	uint64_t id = stack->thread->os_id;
	if (is_unmade(stack))
		fprintf(facts->out, "k\t%" PRIu64 "\n", id);
	for (size_t i = 0; i < stack->roots_count; i++) {
		const struct stack_root *root = &stack->roots[i];
		uint64_t object = root->value;
		if (root->flags & (STACK_ROOT_INTERIOR | STACK_ROOT_CONSERVATIVE))
			object = container(facts, starts, object);
		if (!object) {
			fprintf(facts->out, "o\t%" PRIu64 "\t%" PRIx64 "\n", id, root->address);
			continue;
		}
		if (root->kind == STACK_ROOT_FRAME && !(root->flags & STACK_ROOT_CONSERVATIVE))
			fprintf(facts->out, "s\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx64 "\t%u\n", id,
				root->address, object, root->flags);
		else
			fprintf(facts->out, "g\t%" PRIu64 "\t%u\t%" PRIx64 "\t%" PRIx64 "\n", id,
				root->kind == STACK_ROOT_FRAME ? 4u : root->kind, root->address,
				object);
	}
}

static enum hd_status write_stacks(struct facts *facts, const struct root_set *roots,
				   struct job *job, struct hd_error *err)
{
	struct starts *starts = NULL;
	enum hd_status status = starts_create(facts->heap, true, job, &starts, err);
	if (status != HD_OK)
		return status;
	for (size_t i = 0; i < roots->stack_count; i++) {
		write_frames(facts, &roots->stacks[i]);
		write_stack_roots(facts, &roots->stacks[i], starts);
	}
	starts_destroy(starts);
	return HD_OK;
}

static enum hd_status write_live(struct facts *facts, const struct root_set *roots, struct job *job,
				 struct hd_error *err)
{
	struct hd_graph *graph = NULL;
	struct reach reach = { 0 };
	enum hd_status status = snapshot_create(facts->heap, roots, job, &graph, err);
	if (status == HD_OK)
		status = reach_from_roots(graph, job, &reach, err);
	for (uint32_t i = 0; status == HD_OK && i < graph->object_count; i++) {
		if (bitmap_has(reach.bitmap, i))
			fprintf(facts->out, "w\t%" PRIx64 "\n", graph_id(graph, i));
	}
	reach_deinit(&reach);
	graph_destroy(graph);
	return status;
}

enum hd_status write_roots(struct facts *facts, struct job *job, struct hd_error *err)
{
	struct root_set *roots = NULL;
	enum hd_status status = root_set_create(facts->heap, false, job, &roots, err);
	if (status != HD_OK)
		return status;
	fprintf(facts->out, "v\t%u\n", coreclr_of(facts->runtime)->major);
	write_handles(facts, &roots->handles);
	write_finalizers(facts, &roots->finalizers);
	for (size_t i = 0; i < roots->statics.rows_count; i++)
		write_static(facts, &roots->statics.rows[i]);
	for (size_t i = 0; i < roots->rows_count; i++) {
		if (roots->rows[i].source == ROOT_THREAD_LOCALS)
			fprintf(facts->out, "i\t%" PRIx64 "\n", roots->rows[i].value);
	}
	status = write_stacks(facts, roots, job, err);
	if (status == HD_OK && !facts->no_live)
		status = write_live(facts, roots, job, err);
	root_set_destroy(roots);
	return status;
}
