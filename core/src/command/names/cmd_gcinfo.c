/* SPDX-License-Identifier: MIT */
/* gcinfo: where the code of a method keeps references, and at which of its instructions. */
#include <inttypes.h>
#include <stdio.h>

#include "arch/gc_info_encoding.h"
#include "command/names/shown_code.h"
#include "command/table.h"
#include "gc/heap.h"
#include "unwind/gc_info.h"
#include "util/alloc.h"

/* Most slots that are decoded for one answer: each point has its own. */
#define WORK_MAX ((uint64_t)64 << 20)

#define PLACE_SIZE 32u

#define HEAD_LIST(X)                                                                         \
	X(HEAD_ADDRESS, "gc_info", NULL, KIND_ADDRESS, 0, 0, "where the GCInfo lies")        \
	X(HEAD_VERSION, "version", NULL, KIND_NUMBER, 0, 0,                                  \
	  "of its encoding: 2 (.NET 8), 3 (9), 4 (10), 5 (11)")                              \
	X(HEAD_PROLOGUE, "prologue", NULL, KIND_BYTES, 0, 0,                                 \
	  "after so many bytes of code the cookie and the generic context are there; null: " \
	  "there is neither")                                                                \
	X(HEAD_COOKIE, "gs_cookie", NULL, KIND_TEXT, 0, 0,                                   \
	  "where the number lies that a buffer overrun destroys; null: there is none")       \
	X(HEAD_PSP, "psp_symbol", NULL, KIND_TEXT, 0, 0,                                     \
	  "where funclets find the frame of their method; null: not told")                   \
	X(HEAD_CONTEXT, "generics_context", NULL, KIND_TEXT, 0, 0,                           \
	  "where the generic arguments of shared code come from; null: it needs none")       \
	X(HEAD_CONTEXT_KIND, "generics_context_kind", NULL, KIND_TEXT, 0, 0,                 \
	  "that is a MethodTable, a MethodDesc, or this")                                    \
	X(HEAD_FRAME, "frame_register", NULL, KIND_TEXT, 0, 0,                               \
	  "relative to which its slots are; null: none")                                     \
	X(HEAD_ONLY_LEAF, "wants_only_leaf", NULL, KIND_FLAG, 0, 0,                          \
	  "reports only the innermost of its funclets the slots of all?")                    \
	X(HEAD_ARGUMENTS, "argument_bytes", NULL, KIND_BYTES, 0, 0,                          \
	  "bytes at the stack pointer for arguments of calls")                               \
	X(HEAD_UNTRACKED, "untracked", NULL, KIND_TEXT, 0, 0,                                \
	  "slots that hold a reference or null at any time, separated by blanks; null: none")

COLUMNS(head, HEAD_COLUMNS, HEAD_LIST);

SCHEMA(head,
       .lines = "GC info {gc_info:016} (version {version})\n[Prolog size: {prologue}\n]"
		"GS cookie: {gs_cookie?<none>}\nPSPSym: {psp_symbol?<none>}\n"
		"Generics inst context: {generics_context?<none>}[ ({generics_context_kind})]\n"
		"Frame pointer: {frame_register?<none>}\n"
		"Wants Report Only Leaf: {wants_only_leaf}\n"
		"Size of parameter area: {argument_bytes}\n[Untracked: {untracked}\n]");

#define POINT_LIST(X)                                                                        \
	X(POINT_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "place in the code")              \
	X(POINT_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the same as an address")      \
	X(POINT_KIND, "kind", NULL, KIND_TEXT, 0, 0,                                         \
	  "safepoint (the return address of a call), interruptible (from here on each "      \
	  "instruction is one), not interruptible (from here on none is), change (of slots " \
	  "where code is interruptible)")                                                    \
	X(POINT_SLOTS, "slots", NULL, KIND_TEXT, 0, 0,                                       \
	  "+: slots that hold references from here on, or at this safepoint; -: that do no " \
	  "longer; null: none")                                                              \
	X(POINT_IL, "il", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                              \
	  "offset in the IL; no member: not known")                                          \
	X(POINT_FILE, "source_file", NULL, KIND_TEXT, 0, LOOK_LEAVE_OUT,                     \
	  "path of the source file, as the compiler saw it; no member: no PDB tells it")     \
	X(POINT_LINE, "line", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT, "line in that file")     \
	X(POINT_SAFE, .heading = "is_safe", .kind = KIND_FLAG)     /**< text only */         \
	X(POINT_CHANGE, .heading = "is_change", .kind = KIND_FLAG) /**< text only */

COLUMNS(point, POINT_COLUMNS, POINT_LIST);

SCHEMA(point, .name = "points", .is_main = true,
       .lines = "{offset:08}[?is_change |[?is_safe  is a safepoint:| {kind}]][ {slots}]"
		"[=il   IL_{il:04}]{source_file:s}\n");

#define HERE_LIST(X)                                                                       \
	X(HERE_ADDRESS, "at.address", NULL, KIND_ADDRESS, 0, LOOK_WHOLE,                   \
	  "the address that was given, unless it is where the code begins")                \
	X(HERE_KIND, "at.kind", NULL, KIND_TEXT, 0, 0,                                     \
	  "safepoint, interruptible, or neither: there only the untracked slots are told") \
	X(HERE_SLOTS, "at.slots", NULL, KIND_TEXT, 0, 0, "slots that hold references there")

COLUMNS(here, HERE_COLUMNS, HERE_LIST);

SCHEMA(here, .lines = "[=at.address At {at.address:016}: {at.kind}[ {at.slots}]\n]");

static const struct table_options bare = { .limit = UINT64_MAX, .no_heading = true };

struct listing {
	struct call *call;
	const struct shown_code *shown;
	struct gc_info_query query;
	struct gc_info info, before; /* before: the slots of the instruction before */
	struct gc_info_points points;
	struct text slots;
	uint64_t work; /* slots that may still be decoded */
	bool is_cut;
};

static void listing_deinit(struct listing *listing)
{
	gc_info_deinit(&listing->info);
	gc_info_deinit(&listing->before);
	gc_info_points_deinit(&listing->points);
	text_deinit(&listing->slots);
}

static enum hd_status bad_info(struct call *call, const struct shown_code *shown,
			       enum gc_info_result result)
{
	if (result == GC_INFO_NOMEM)
		return fail_nomem(call->err);
	return fail(call->err, HD_ERR_FORMAT, shown->code.gc_info,
		    "the GCInfo at %" PRIx64 " cannot be read, or contradicts itself",
		    shown->code.gc_info);
}

/* Decode what is live at @p offset; a call that is running there has its arguments unless it @p is_active. */
static enum hd_status decode(struct listing *listing, uint32_t offset, bool is_active)
{
	listing->query.offset = offset;
	listing->query.is_active = is_active;
	enum gc_info_result result =
		gc_info_decode(listing->call->heap->memory, listing->shown->code.gc_info,
			       &listing->query, &listing->info);
	if (result != GC_INFO_OK)
		return bad_info(listing->call, listing->shown, result);
	uint64_t cost = listing->info.slots_capacity + 16;
	listing->is_cut |= cost > listing->work;
	listing->work -= cost < listing->work ? cost : listing->work;
	return call_check(listing->call);
}

static const char *register_name(const struct listing *listing, unsigned int number)
{
	return number < listing->query.arch->register_count
		       ? listing->query.arch->register_names[number]
		       : "?";
}

/* " +rbp-18(interior)", as SOS writes it. */
static void put_slot(struct listing *listing, const struct gc_slot *slot, char sign)
{
	struct text *text = &listing->slots;
	int32_t offset = slot->offset;
	text_printf(text, "%s%c", text->size ? " " : "", sign);
	if (slot->base == GC_SLOT_REGISTER) {
		text_puts(text, register_name(listing, slot->number));
	} else {
		text_printf(text, "%s%c%" PRIx32,
			    slot->base == GC_SLOT_CALLER_SP ? "caller.sp"
			    : slot->base == GC_SLOT_SP
				    ? "sp"
				    : register_name(listing, listing->info.frame_register),
			    offset < 0 ? '-' : '+', (uint32_t)(offset < 0 ? -offset : offset));
	}
	text_printf(text, "%s%s", slot->flags & GC_SLOT_PINNED ? "(pinned)" : "",
		    slot->flags & GC_SLOT_INTERIOR ? "(interior)" : "");
}

/* All slots that were decoded and are untracked, or all others. */
static void put_slots(struct listing *listing, bool are_untracked)
{
	listing->slots.size = 0;
	for (size_t i = 0; i < listing->info.slots_count; i++) {
		if (listing->info.slots[i].is_untracked == are_untracked)
			put_slot(listing, &listing->info.slots[i], '+');
	}
}

/* How the slots differ from those before. */
static void put_changes(struct listing *listing)
{
	const struct gc_info *before = &listing->before, *now = &listing->info;
	listing->slots.size = 0;
	for (size_t b = 0, n = 0; b < before->slots_count || n < now->slots_count;) {
		bool has_old = b < before->slots_count, has_new = n < now->slots_count;
		uint32_t old = has_old ? before->slots[b].index : UINT32_MAX,
			 new = has_new ? now->slots[n].index : UINT32_MAX;
		if (old < new)
			put_slot(listing, &before->slots[b], '-');
		if (new < old)
			put_slot(listing, &now->slots[n], '+');
		b += old <= new;
		n += new <= old;
	}
}

static void write_point(struct listing *listing, uint32_t offset, const char *kind, bool is_safe,
			bool is_change)
{
	struct call *call = listing->call;
	struct cell cells[POINT_COLUMNS] = {
		[POINT_OFFSET] = cell_number(offset),
		[POINT_ADDRESS] = cell_number(listing->shown->code.start + offset),
		[POINT_KIND] = cell_string(kind),
		[POINT_SAFE] = cell_flag(is_safe),
		[POINT_CHANGE] = cell_flag(is_change),
	};
	if (listing->slots.size)
		cells[POINT_SLOTS] = cell_text(listing->slots.bytes, listing->slots.size);
	/* The call is the instruction before its return address. */
	shown_code_place(listing->shown, offset - is_safe, &cells[POINT_IL], &cells[POINT_FILE],
			 &cells[POINT_LINE]);
	if (answer_wants_row(&call->answer))
		answer_row(&call->answer, cells);
}

static enum hd_status write_safe_point(struct listing *listing, uint32_t offset)
{
	TRY(decode(listing, offset, false));
	put_slots(listing, false);
	write_point(listing, offset, "safepoint", true, false);
	return HD_OK;
}

/* A range: what is live where it begins, then each change. */
static enum hd_status write_range(struct listing *listing, const struct gc_info_range *range)
{
	unsigned int step = 1u << listing->query.arch->gc_info->code_shift;
	for (uint32_t offset = range->begin; offset < range->end && !listing->is_cut;
	     offset += step) {
		bool is_first = offset == range->begin;
		TRY(decode(listing, offset, true));
		if (is_first) {
			put_slots(listing, false);
		} else {
			put_changes(listing);
		}
		if (is_first || listing->slots.size) {
			write_point(listing, offset, is_first ? "interruptible" : "change", false,
				    !is_first);
		}
		const struct gc_info now = listing->info;
		listing->info = listing->before;
		listing->before = now;
	}
	listing->slots.size = 0;
	write_point(listing, range->end, "not interruptible", false, false);
	return HD_OK;
}

/* Safe points and ranges, in the order of their offsets. */
static enum hd_status write_points(struct listing *listing)
{
	const struct gc_info_points *points = &listing->points;
	size_t safe = 0;
	answer_table(&listing->call->answer, &point_schema, &bare);
	for (size_t i = 0; i <= points->ranges_count; i++) {
		uint32_t until = i < points->ranges_count ? points->ranges[i].begin : UINT32_MAX;
		for (; safe < points->safe_points_count && points->safe_points[safe] <= until &&
		       !listing->is_cut;
		     safe++)
			TRY(write_safe_point(listing, points->safe_points[safe]));
		if (i < points->ranges_count && !listing->is_cut)
			TRY(write_range(listing, &points->ranges[i]));
	}
	(void)answer_table_end(&listing->call->answer);
	return listing->slots.failed ? fail_nomem(listing->call->err) : HD_OK;
}

static struct cell place_cell(int32_t place, const char *base, char *buf)
{
	if (place == GC_INFO_NO_PLACE)
		return (struct cell){ 0 };
	(void)snprintf(buf, PLACE_SIZE, "%s%c%" PRIx32, base, place < 0 ? '-' : '+',
		       (uint32_t)(place < 0 ? -place : place));
	return cell_string(buf);
}

static enum hd_status write_head(struct listing *listing)
{
	static const char *const contexts[] = { NULL, "MethodTable", "MethodDesc", "this" };
	const struct gc_info *info = &listing->info;
	const struct gc_info_places *places = &info->places;
	char cookie[PLACE_SIZE], psp[PLACE_SIZE], context[PLACE_SIZE];
	TRY(decode(listing, 0, false));
	put_slots(listing, true);
	struct cell cells[HEAD_COLUMNS] = {
		[HEAD_ADDRESS] = cell_number(listing->shown->code.gc_info),
		[HEAD_VERSION] = cell_number(listing->query.version),
		[HEAD_COOKIE] = place_cell(places->cookie, "caller.sp", cookie),
		[HEAD_PSP] = place_cell(places->psp_symbol, "initial.sp", psp),
		[HEAD_CONTEXT] = place_cell(places->context, "caller.sp", context),
		[HEAD_CONTEXT_KIND] = cell_string(contexts[places->context_kind]),
		[HEAD_ONLY_LEAF] = cell_flag(info->wants_only_leaf),
		[HEAD_ARGUMENTS] = cell_number(places->argument_bytes),
	};
	if (places->prologue)
		cells[HEAD_PROLOGUE] = cell_number(places->prologue);
	if (info->frame_register != ARCH_NONE)
		cells[HEAD_FRAME] = cell_string(register_name(listing, info->frame_register));
	if (listing->slots.size)
		cells[HEAD_UNTRACKED] = cell_text(listing->slots.bytes, listing->slots.size);
	answer_record(&listing->call->answer, &head_schema, cells);
	return listing->slots.failed ? fail_nomem(listing->call->err) : HD_OK;
}

/* The place that was given, if it is not the beginning. */
static enum hd_status write_here(struct listing *listing)
{
	static const char neither[] = "neither a safepoint nor interruptible";
	const struct shown_code *shown = listing->shown;
	struct cell cells[HERE_COLUMNS] = { 0 };
	if (shown->address != shown->code.start) {
		TRY(decode(listing, (uint32_t)(shown->address - shown->code.start), false));
		const struct gc_info *info = &listing->info;
		put_slots(listing, false);
		cells[HERE_ADDRESS] = cell_number(shown->address);
		cells[HERE_KIND] = info->is_unknown
					   ? cell_shown(cell_string("neither"), neither)
					   : cell_string(info->is_interruptible ? "interruptible"
										: "safepoint");
		if (listing->slots.size)
			cells[HERE_SLOTS] = cell_text(listing->slots.bytes, listing->slots.size);
	}
	answer_record(&listing->call->answer, &here_schema, cells);
	return HD_OK;
}

static const struct column end_columns[] = {
	{ "complete", NULL, KIND_FLAG, 0, 0,
	  "are all points here?  If not, there were too many slots" },
};
static const struct schema end_schema = { SCHEMA_COLUMNS(end_columns) };

static enum hd_status write_info(struct listing *listing)
{
	struct call *call = listing->call;
	enum gc_info_result result =
		gc_info_points_read(call->heap->memory, listing->shown->code.gc_info,
				    &listing->query, &listing->points);
	if (result != GC_INFO_OK)
		return bad_info(call, listing->shown, result);
	shown_code_write(call, listing->shown);
	TRY(write_head(listing));
	TRY(write_points(listing));
	TRY(write_here(listing));
	const struct cell cells[] = { cell_flag(!listing->is_cut) };
	answer_data(&call->answer, &end_schema, cells);
	if (listing->is_cut)
		answer_remark(&call->answer, "There are too many slots: points are missing.\n");
	return HD_OK;
}

static enum hd_status run_gcinfo(struct call *call)
{
	HD_CLEANUP(shown_code) struct shown_code shown = { 0 };
	HD_CLEANUP(listing)
	struct listing listing = { .call = call, .shown = &shown, .work = WORK_MAX };
	TRY(shown_code_find(call, &shown));
	listing.query = (struct gc_info_query){ .arch = runtime_arch(call->heap->runtime),
						.version = shown.code.gc_info_version };
	return write_info(&listing);
}

COMMAND(gcinfo, .has_rows = true,
	.summary = "show where a method's code keeps references, and at which instructions",
	.description =
		"METHOD is the address of a MethodDesc, or one in the code of a method: then the slots\n"
		"that hold references there are shown, too. A garbage collection finds a frame at a\n"
		"safepoint, which is the return address of a call, or anywhere in code that is\n"
		"interruptible. Registers that a call does not preserve are not shown at safepoints.\n",
	.example = "gcinfo 7f0f794a1ba0", .top_level = TOP_LEVEL_ALWAYS,
	.needs = NEEDS_RUNTIME | NEEDS_METADATA, .words = { { "METHOD", VALUE_ADDRESS, false } });
