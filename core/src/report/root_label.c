/* SPDX-License-Identifier: MIT */
#include "report/root_label.h"

#include <inttypes.h>
#include <string.h>

const char *const root_kind_names[] = {
	[HD_ROOT_INTERNAL] = "internal",
	[HD_ROOT_STACK] = "stack",
	[HD_ROOT_FINALIZER] = "finalizer",
	[HD_ROOT_HANDLE] = "handle",
	[HD_ROOT_STATIC] = "static",
	[HD_ROOT_GC] = "gc",
	[HD_ROOT_THREAD_STATIC] = "thread-static",
	NULL,
};

const char *const root_flag_names[] = { "pinned", "weak", "interior", "conservative", NULL };

static const struct {
	const char *heading, *label;
} kinds[] = {
	[HD_ROOT_INTERNAL] = { "Runtime", "runtime internal" },
	[HD_ROOT_STACK] = { "Stack", "local variable" },
	[HD_ROOT_FINALIZER] = { "Finalizer queue", "finalizer root" },
	[HD_ROOT_HANDLE] = { "HandleTable", "handle" },
	[HD_ROOT_STATIC] = { "Static variables", "static variable" },
	[HD_ROOT_GC] = { "Garbage collector", "gc internal" },
	[HD_ROOT_THREAD_STATIC] = { "Thread static variables", "thread static variable" },
};

const char *root_kind_name(uint8_t kind)
{
	return root_kind_names[kind];
}

const char *root_kind_heading(const struct hd_graph *graph, uint8_t kind)
{
	return graph->details && kind == HD_ROOT_GC ? "Frozen objects" : kinds[kind].heading;
}

static const char *kind_label(const struct hd_graph *graph, uint8_t kind)
{
	return graph->details && kind == HD_ROOT_GC ? "frozen object" : kinds[kind].label;
}

const struct graph_frame *root_frame(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = root_detail(graph, index);
	return detail && detail->frame < graph->frame_count ? &graph->frames[detail->frame] : NULL;
}

const struct graph_thread *root_thread(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = root_detail(graph, index);
	return detail && detail->thread < graph->thread_count ? &graph->threads[detail->thread]
							      : NULL;
}

static void put_text(struct out *out, const char *text)
{
	text_escape(&out->text, text, strlen(text));
}

void thread_label(struct out *out, const struct graph_thread *thread)
{
	out_puts(out, "Thread");
	if (thread->os_id)
		out_printf(out, " %" PRIx64, thread->os_id);
	out_printf(out, " (managed %" PRIu32 ")", thread->id);
	if (thread->name) {
		out_puts(out, " \"");
		put_text(out, thread->name);
		out_puts(out, "\"");
	}
}

void frame_label(struct out *out, const struct graph_frame *frame)
{
	const char *name = frame->method ? frame->method : "<unknown method>";
	/* Methods have arguments; without there is a Frame of the runtime, of that class. */
	bool is_explicit = frame->method && !strchr(frame->method, '(');
	out_puts(out, is_explicit ? "[" : "");
	put_text(out, name);
	out_puts(out, is_explicit ? "]" : "");
	if (frame->offset)
		out_printf(out, "+0x%" PRIx32, frame->offset);
}

/* Blank-separated names of the flags in @p mask that @p flags has. */
static void put_flags(struct out *out, uint8_t flags, uint8_t mask, const char *before,
		      const char *after)
{
	for (size_t i = 0; root_flag_names[i]; i++) {
		if ((flags & mask) >> i & 1)
			out_printf(out, "%s%s%s", before, root_flag_names[i], after);
	}
}

void slot_label(struct out *out, const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = root_detail(graph, index);
	uint8_t flags = graph->roots[index].flags;
	const char *blank = "";
	if (detail && detail->slot && *detail->slot) {
		out_printf(out, "%s:", detail->slot);
		blank = " ";
	}
	if (detail && detail->address) {
		out_puts(out, blank);
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, detail->address);
		blank = " ";
	}
	if (!*blank)
		out_puts(out, "(local variable)");
	put_flags(out, flags, UINT8_MAX, " (", ")");
}

static void put_container(struct out *out, const struct hd_graph *graph,
			  const struct graph_root *root)
{
	const struct graph_type *type = &graph->types[root->container];
	out_type(out, type->name, type->name_size, type->id);
	out_puts(out, " ");
}

/* Of a heap: address, name, "(kind, thread)". */
static void detailed_label(struct out *out, const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = &graph->details[index];
	const struct graph_thread *thread = root_thread(graph, index);
	if (detail->address) {
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, detail->address);
		out_puts(out, " ");
	}
	if (detail->name) {
		put_text(out, detail->name);
		out_puts(out, " ");
	} else if (root->container != HD_NONE) {
		put_container(out, graph, root);
	}
	out_puts(out, "(");
	if (detail->handle) {
		out_puts(out, graph_handle_label(detail->handle));
	} else {
		put_flags(out, root->flags, UINT8_MAX, "", " ");
		out_puts(out, kind_label(graph, root->kind));
	}
	if (thread) {
		out_puts(out, ", ");
		thread_label(out, thread);
	}
	out_puts(out, ")");
}

void root_label(struct out *out, const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root *root = &graph->roots[index];
	if (graph->details) {
		detailed_label(out, graph, index);
		return;
	}
	if (root->container != HD_NONE)
		put_container(out, graph, root);
	out_puts(out, "(");
	put_flags(out, root->flags, UINT8_MAX, "", " ");
	out_printf(out, "%s)", kind_label(graph, root->kind));
}

void root_group_label(struct out *out, const struct hd_graph *graph, uint32_t index,
		      const char *name)
{
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = root_detail(graph, index);
	/* As gcroot's headings: such a root is no variable of a method. */
	if (root->kind == HD_ROOT_STACK && graph_is_heap(graph) && !root_frame(graph, index)) {
		out_puts(out, "(");
		put_text(out, *name ? name : "no frame");
		out_puts(out, ")");
		return;
	}
	if (*name) {
		put_text(out, name);
		out_puts(out, " ");
	} else if (root->container != HD_NONE) {
		put_container(out, graph, root);
	}
	out_printf(out, "(%s)",
		   detail && detail->handle ? graph_handle_label(detail->handle)
					    : kind_label(graph, root->kind));
}

static void json_thread(struct json *json, const struct graph_thread *thread)
{
	if (!thread) {
		json_null(json, "thread");
		return;
	}
	json_object(json, "thread");
	json_number(json, "id", thread->id);
	json_number(json, "os_id", thread->os_id);
	json_string(json, "name", thread->name);
	json_end(json);
}

static void json_frame(struct json *json, const struct graph_frame *frame)
{
	struct text text = { 0 };
	if (frame && frame->method)
		text_puts(&text, frame->method);
	if (frame && frame->method && frame->offset)
		text_printf(&text, "+0x%" PRIx32, frame->offset);
	json_text(json, "frame", text.bytes, text.size);
	json->out->text.failed |= text.failed;
	text_deinit(&text);
}

static void json_container(struct json *json, const struct hd_graph *graph, uint32_t container)
{
	if (container == HD_NONE) {
		json_null(json, "container");
		return;
	}
	const struct graph_type *type = &graph->types[container];
	json_object(json, "container");
	json_address(json, "mt", type->id);
	json_text(json, "name", type->name, type->name_size);
	json_end(json);
}

void root_json(struct json *json, const struct hd_graph *graph, uint32_t index)
{
	static const struct graph_root_detail none = { .thread = HD_NONE, .frame = HD_NONE };
	const struct graph_root *root = &graph->roots[index];
	const struct graph_root_detail *detail = graph->details ? &graph->details[index] : &none;
	json_string(json, "kind", root_kind_name(root->kind));
	json_string(json, "handle", graph_handle_name(detail->handle));
	json_array(json, "flags");
	for (size_t i = 0; root_flag_names[i]; i++) {
		if (root->flags >> i & 1)
			json_string(json, NULL, root_flag_names[i]);
	}
	json_end(json);
	json_string(json, "name", detail->name);
	json_container(json, graph, root->container);
	if (detail->address) {
		json_address(json, "address", detail->address);
	} else {
		json_null(json, "address");
	}
	json_address(json, "object", graph_id(graph, root->node));
	json_thread(json, root_thread(graph, index));
	json_frame(json, root_frame(graph, index));
	json_string(json, "slot", detail->slot && *detail->slot ? detail->slot : NULL);
	json_bool(json, "weak", root_is_weak(root));
}
