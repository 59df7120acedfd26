/* SPDX-License-Identifier: MIT */
#include "answer/root_row.h"

#include <inttypes.h>

#include "answer/cell_lines.h"
#include "output/root_label.h"

static const struct column columns[ROOT_COLUMNS] = {
	[ROOT_KIND] = { "kind", NULL, KIND_TEXT, 0, 0,
			"stack, handle, static, thread-static, finalizer, gc, internal or older" },
	[ROOT_HANDLE] = { "handle", NULL, KIND_TEXT, 0, 0, "kind of the handle" },
	[ROOT_FLAGS] = { "flags", NULL, KIND_SET, 0, 0, "pinned, weak, interior, conservative" },
	[ROOT_NAME] = { "name", NULL, KIND_TEXT, 0, 0,
			"for a static: its field; for others: what it is" },
	[ROOT_CONTAINER_MT] = { "container.mt", NULL, KIND_ADDRESS, 0, LOOK_WHOLE,
				"for a static: the type that declares it" },
	[ROOT_CONTAINER_NAME] = { "container.name", NULL, KIND_TYPE, 0, 0, "name of that type" },
	[ROOT_ADDRESS] = { "address", NULL, KIND_ADDRESS, 0, 0, "where the root itself is" },
	[ROOT_OBJECT] = { "object", NULL, KIND_ADDRESS, 0, 0, "what it refers to" },
	[ROOT_THREAD_ID] = { "thread.id", NULL, KIND_NUMBER, 0, LOOK_WHOLE,
			     "managed id of its thread" },
	[ROOT_THREAD_OS_ID] = { "thread.os_id", NULL, KIND_NUMBER, 0, 0, "its id in the system" },
	[ROOT_THREAD_NAME] = { "thread.name", NULL, KIND_TEXT, 0, 0, "its name" },
	[ROOT_FRAME] = { "frame", NULL, KIND_TEXT, 0, 0, "method on the stack, and where in it" },
	[ROOT_SLOT] = { "slot", NULL, KIND_TEXT, 0, 0, "register, or place in the frame" },
	[ROOT_FILE] = { "file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,
			"path of the frame's source file, as the compiler saw it" },
	[ROOT_LINE] = { "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file" },
	[ROOT_WEAK] = { "weak", NULL, KIND_FLAG, 0, 0, "does it keep nothing alive?" },
	[ROOT_FORM] = { NULL, NULL, KIND_NUMBER, 0, 0, NULL },
	[ROOT_LABEL] = { NULL, NULL, KIND_TEXT, 0, 0, NULL },
	[ROOT_HEADING] = { NULL, NULL, KIND_TEXT, 0, 0, NULL },
	[ROOT_METHOD] = { NULL, NULL, KIND_TEXT, 0, 0, NULL },
	[ROOT_OFFSET] = { NULL, NULL, KIND_NUMBER, 0, 0, NULL },
	[ROOT_SP] = { NULL, NULL, KIND_ADDRESS, 0, 0, NULL },
	[ROOT_IP] = { NULL, NULL, KIND_ADDRESS, 0, 0, NULL },
	[ROOT_OS_ID] = { NULL, NULL, KIND_NUMBER, 0, 0, NULL },
	[ROOT_CLASS] = { NULL, NULL, KIND_TYPE, 0, 0, NULL },
};

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

const struct graph_thread *root_any_thread(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_thread *thread = root_thread(graph, index);
	const struct graph_frame *frame = thread ? NULL : root_frame(graph, index);
	return frame && frame->thread < graph->origins.thread_count
		       ? &graph->origins.threads[frame->thread]
		       : thread;
}

const char *root_kind_label(const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = root_detail(graph, index);
	uint8_t kind = graph->roots[index].kind;
	if (detail && detail->handle)
		return graph_handle_label(detail->handle);
	return detail && kind == HD_ROOT_GC ? "frozen object" : kinds[kind].label;
}

static const char *kind_heading(const struct hd_graph *graph, uint8_t kind)
{
	return graph->origins.details && kind == HD_ROOT_GC ? "Frozen objects"
							    : kinds[kind].heading;
}

static void put_root_cell(struct out *out, const struct cell *cell)
{
	text_escape(&out->text, cell->text.bytes, cell->text.size);
}

/* The name of a method, or of a static field. */
static void put_root_name(struct out *out, const struct cell *cell)
{
	out_begin_name(out, FIT_METHOD);
	put_root_cell(out, cell);
	out_end_name(out);
}

/* The names of the flags, each between @p before and @p after. */
static void put_flags(struct out *out, const struct cell *flags, const char *before,
		      const char *after)
{
	for (size_t i = 0; flags->set.names[i]; i++) {
		if (flags->set.bits >> i & 1)
			out_printf(out, "%s%s%s", before, flags->set.names[i], after);
	}
}

/* "Namespace.Type.Method(...)+0x1b". */
static void put_root_frame(struct out *out, const struct cell *cells)
{
	const struct cell *method = &cells[ROOT_METHOD];
	/*
	 * Methods have arguments; a name without arguments is the class of a Frame of the runtime.
	 */
	bool is_explicit =
		cells[ROOT_FRAME].is_there && !memchr(method->text.bytes, '(', method->text.size);
	out_puts(out, is_explicit ? "[" : "");
	put_root_name(out, method);
	out_puts(out, is_explicit ? "]" : "");
	if (cells[ROOT_OFFSET].number)
		out_printf(out, "+0x%" PRIx64, cells[ROOT_OFFSET].number);
}

/* 'Thread 4b94 (managed 5) "name"'. */
static void put_thread(struct out *out, const struct cell *cells)
{
	const struct graph_thread thread = { .os_id = cells[ROOT_THREAD_OS_ID].number,
					     .id = (uint32_t)cells[ROOT_THREAD_ID].number,
					     .name = cells[ROOT_THREAD_NAME].text.bytes };
	thread_label(out, &thread);
}

/* Begin one part of the note after a class name. */
static void begin_part(struct out *out, bool *any, const char *between)
{
	out_puts(out, *any ? between : " (");
	*any = true;
}

/* After the class name: a static's container; for a heap, the name of the slot. */
static void put_note(struct out *out, const struct cell *cells)
{
	bool any = false;
	if (cells[ROOT_SLOT].is_there) {
		begin_part(out, &any, "");
		put_root_cell(out, &cells[ROOT_SLOT]);
	}
	if (cells[ROOT_METHOD].is_there) {
		begin_part(out, &any, " of ");
		put_root_frame(out, cells);
	}
	if (cells[ROOT_NAME].is_there) {
		begin_part(out, &any, ", ");
		(cells[ROOT_CONTAINER_MT].is_there ? put_root_name
						   : put_root_cell)(out, &cells[ROOT_NAME]);
	} else if (cells[ROOT_CONTAINER_MT].is_there) {
		begin_part(out, &any, ", ");
		out_puts(out, "static of ");
		out_type_cell(out, &cells[ROOT_CONTAINER_NAME]);
	}
	if (cells[ROOT_HANDLE].is_there) {
		begin_part(out, &any, ", ");
		put_root_cell(out, &cells[ROOT_LABEL]);
	}
	out_puts(out, any ? ")" : "");
}

/* Append spaces, so that what began at @p begin has @p width columns. */
static void pad_to(struct out *out, size_t begin, size_t width)
{
	size_t size = out->text.size - begin;
	out_pad(out, size < width ? width - size : 0);
}

/* Object, kind and flags in columns of those widths. */
static void put_columns(struct out *out, const struct cell *cells, size_t kind, size_t flags)
{
	size_t begin;
	out_styled(out, STYLE_ADDRESS, "%*" PRIx64, out_address_digits(out),
		   cells[ROOT_OBJECT].number);
	out_puts(out, " ");
	begin = out->text.size;
	put_root_cell(out, &cells[ROOT_KIND]);
	pad_to(out, begin, kind);
	text_puts(&out->text, " ");
	begin = out->text.size;
	text_set(&out->text, &cells[ROOT_FLAGS], ",");
	pad_to(out, begin, flags);
	out_puts(out, " ");
}

static void put_class(struct out *out, const struct cell *cells)
{
	out_type_cell(out, &cells[ROOT_CLASS]);
	put_note(out, cells);
	out_puts(out, "\n");
}

static void list_layout(struct out *out, const struct cell *cells)
{
	put_columns(out, cells, 9, 20);
	put_class(out, cells);
}

static void slot_list_layout(struct out *out, const struct cell *cells)
{
	const int os_id = out_is_narrow(out) ? 6 : 8;
	put_columns(out, cells, 13, out_is_narrow(out) ? 8 : 12);
	if (cells[ROOT_ADDRESS].is_there) {
		out_printf(out, "%0*" PRIx64 " ", out_address_digits(out),
			   cells[ROOT_ADDRESS].number);
	} else {
		out_pad(out, (size_t)out_address_digits(out) + 1);
	}
	if (cells[ROOT_OS_ID].is_there) {
		out_printf(out, "%*" PRIx64 " ", os_id, cells[ROOT_OS_ID].number);
	} else {
		out_pad(out, (size_t)os_id + 1);
	}
	put_class(out, cells);
}

const struct schema *root_list_schema(const struct hd_graph *graph)
{
	static const struct schema schema = {
		.name = "roots",
		SCHEMA_COLUMNS(columns),
		.is_main = true,
		.heading = "          Object Kind      Flags                Class Name",
		.narrow_heading = "      Object Kind      Flags                Class Name",
		.layout = list_layout,
	};
	static const struct schema with_slots = {
		.name = "roots",
		SCHEMA_COLUMNS(columns),
		.is_main = true,
		.heading = "          Object Kind          Flags                    Slot     OSID "
			   "Class Name",
		.narrow_heading =
			"      Object Kind          Flags            Slot   OSID Class Name",
		.layout = slot_list_layout,
	};
	return graph_is_heap(graph) || graph->origins.has_slots ? &with_slots : &schema;
}

/* "rbp-30: 00007f0fb59fcbc0 (interior)". */
static void put_slot(struct out *out, const struct cell *cells)
{
	const char *blank = "";
	out_puts(out, "        ");
	if (cells[ROOT_SLOT].is_there) {
		put_root_cell(out, &cells[ROOT_SLOT]);
		out_puts(out, ":");
		blank = " ";
	}
	if (cells[ROOT_ADDRESS].is_there) {
		out_puts(out, blank);
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, cells[ROOT_ADDRESS].number);
		blank = " ";
	}
	if (!*blank)
		out_puts(out, "(local variable)");
	put_flags(out, &cells[ROOT_FLAGS], " (", ")");
}

/* Address, name, "(kind, thread)". */
static void put_root_record(struct out *out, const struct cell *cells)
{
	out_puts(out, "    ");
	if (cells[ROOT_ADDRESS].is_there) {
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, cells[ROOT_ADDRESS].number);
		out_puts(out, " ");
	}
	if (cells[ROOT_NAME].is_there) {
		put_root_name(out, &cells[ROOT_NAME]);
		out_puts(out, " ");
	} else if (cells[ROOT_CONTAINER_MT].is_there) {
		out_type_cell(out, &cells[ROOT_CONTAINER_NAME]);
		out_puts(out, " ");
	}
	out_puts(out, "(");
	if (!cells[ROOT_HANDLE].is_there)
		put_flags(out, &cells[ROOT_FLAGS], "", " ");
	put_root_cell(out, &cells[ROOT_LABEL]);
	if (cells[ROOT_THREAD_ID].is_there) {
		out_puts(out, ", ");
		put_thread(out, cells);
	}
	out_puts(out, ")");
}

static void root_row_layout(struct out *out, const struct cell *cells)
{
	if (cells[ROOT_FORM].number == FORM_SLOT) {
		put_slot(out, cells);
	} else if (cells[ROOT_FORM].number == FORM_RECORD) {
		put_root_record(out, cells);
	} else {
		out_puts(out, "    ");
		out_styled(out, STYLE_ADDRESS, "%016" PRIx64, cells[ROOT_OBJECT].number);
		out_puts(out, " (");
		put_root_cell(out, &cells[ROOT_LABEL]);
		out_puts(out, ")");
	}
	out_puts(out, "\n");
}

const struct schema root_schema = {
	.name = "roots",
	SCHEMA_COLUMNS(columns),
	.is_main = true,
	.layout = root_row_layout,
};

static void heading_layout(struct out *out, const struct cell *cells)
{
	if (cells[ROOT_HEADING].is_there) {
		out_begin_style(out, STYLE_HEAD);
		put_root_cell(out, &cells[ROOT_HEADING]);
		out_end_style(out);
	} else {
		put_thread(out, cells);
	}
	out_puts(out, ":\n");
}

const struct schema root_heading_schema = { SCHEMA_COLUMNS(columns), .layout = heading_layout };

static void root_frame_layout(struct out *out, const struct cell *cells)
{
	out_puts(out, "    ");
	if (!cells[ROOT_METHOD].is_there) {
		out_puts(out, "(");
		if (cells[ROOT_NAME].is_there) {
			put_root_name(out, &cells[ROOT_NAME]);
		} else {
			out_puts(out, "no frame");
		}
		out_puts(out, ")\n");
		return;
	}
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, cells[ROOT_SP].number);
	if (cells[ROOT_IP].number)
		out_printf(out, " %" PRIx64, cells[ROOT_IP].number);
	out_puts(out, " ");
	put_root_frame(out, cells);
	source_line_put(out, &cells[ROOT_FILE], &cells[ROOT_LINE]);
	out_puts(out, "\n");
}

const struct schema frame_heading_schema = { SCHEMA_COLUMNS(columns), .layout = root_frame_layout };

static void fill_frame(struct root_row *row, const struct graph_frame *frame)
{
	row->frame.size = 0;
	if (!frame)
		return;
	row->cells[ROOT_METHOD] = cell_string(frame->method ? frame->method : "<unknown method>");
	row->cells[ROOT_OFFSET] = cell_number(frame->offset);
	row->cells[ROOT_SP] = cell_number(frame->sp);
	row->cells[ROOT_IP] = cell_number(frame->ip);
	if (!frame->method)
		return;
	text_puts(&row->frame, frame->method);
	if (frame->offset) {
		text_puts(&row->frame, "+0x");
		text_hex(&row->frame, frame->offset, 1, false);
	}
	row->cells[ROOT_FRAME] = cell_text(row->frame.bytes, row->frame.size);
}

static void fill_thread(struct cell *cells, const struct graph_thread *thread)
{
	if (!thread)
		return;
	cells[ROOT_THREAD_ID] = cell_number(thread->id);
	cells[ROOT_THREAD_OS_ID] = cell_number(thread->os_id);
	cells[ROOT_THREAD_NAME] = cell_string(thread->name);
}

static void fill_detail(struct root_row *row, const struct hd_graph *graph, uint32_t index)
{
	const struct graph_root_detail *detail = &graph->origins.details[index];
	const struct graph_thread *thread = root_any_thread(graph, index);
	struct cell *cells = row->cells;
	cells[ROOT_HANDLE] = cell_string(graph_handle_name(detail->handle));
	cells[ROOT_NAME] = cell_string(detail->name);
	if (detail->address)
		cells[ROOT_ADDRESS] = cell_number(detail->address);
	if (detail->slot && *detail->slot)
		cells[ROOT_SLOT] = cell_string(detail->slot);
	if (thread)
		cells[ROOT_OS_ID] = cell_number(thread->os_id);
	fill_thread(cells, root_thread(graph, index));
	fill_frame(row, root_frame(graph, index));
}

static struct cell class_cell(const struct hd_graph *graph, uint32_t node)
{
	if (graph_is_missing(graph, node))
		return (struct cell){ .shown = "<not in this dump>" };
	const struct graph_type *type = &graph->types[graph->node_types[node]];
	return cell_type(type->name, type->name_size, type->id);
}

void root_row_fill(struct root_row *row, struct answer *answer, const struct hd_graph *graph,
		   uint32_t index)
{
	const struct graph_root *root = &graph->roots[index];
	bool is_on_stack = root->kind == HD_ROOT_STACK;
	struct cell *cells = row->cells;
	memset(cells, 0, sizeof(row->cells));
	if (graph->origins.details)
		fill_detail(row, graph, index);
	if (root->container != HD_NONE) {
		const struct graph_type *type = &graph->types[root->container];
		cells[ROOT_CONTAINER_MT] = cell_number(type->id);
		cells[ROOT_CONTAINER_NAME] = cell_type(type->name, type->name_size, type->id);
	}
	cells[ROOT_KIND] = cell_string(root_kind_name(root->kind));
	cells[ROOT_FLAGS] = cell_set(root_flag_names, root->flags);
	cells[ROOT_OBJECT] = cell_number(graph_id(graph, root->node));
	cells[ROOT_WEAK] = cell_flag(root_is_weak(root));
	cells[ROOT_FORM] =
		cell_number(is_on_stack && graph_is_heap(graph) ? FORM_SLOT : FORM_RECORD);
	cells[ROOT_LABEL] = cell_string(root_kind_label(graph, index));
	if (!is_on_stack || !cells[ROOT_THREAD_ID].is_there)
		cells[ROOT_HEADING] = cell_string(kind_heading(graph, root->kind));
	cells[ROOT_CLASS] = class_cell(graph, root->node);
	answer->out->text.failed |= row->frame.failed;
}

void root_row_fill_older(struct root_row *row, const struct hd_graph *graph, uint32_t node,
			 const char *place)
{
	struct cell *cells = row->cells;
	memset(cells, 0, sizeof(row->cells));
	cells[ROOT_KIND] = cell_string("older");
	cells[ROOT_FLAGS] = cell_set(root_flag_names, 0);
	cells[ROOT_OBJECT] = cell_number(graph_id(graph, node));
	cells[ROOT_WEAK] = cell_flag(false);
	cells[ROOT_FORM] = cell_number(FORM_OLDER);
	cells[ROOT_LABEL] = cell_string(place);
	cells[ROOT_HEADING] = cell_string("Older generations");
}

void root_row_deinit(struct root_row *row)
{
	text_deinit(&row->frame);
	*row = (struct root_row){ 0 };
}
