/* SPDX-License-Identifier: MIT */
#include "command/heap/verify_text.h"

#include <inttypes.h>

#define TAIL_SIZE 24u

/* Bytes as a person reads them: every one outside of printable ASCII is a dot. */
static void put_ascii(struct text *text, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text_printf(text, "%c", bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '.');
}

static bool is_ascii(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			return false;
	}
	return size > 0;
}

/* UTF-16 of which every unit is printable ASCII: what strings and char[] mostly hold. */
static bool is_wide(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 1 < size; i += 2) {
		if (bytes[i] < ' ' || bytes[i] > '~' || bytes[i + 1])
			return false;
	}
	return size > 1;
}

static void put_wide(struct text *text, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 1 < size; i += 2) {
		bool plain = bytes[i] >= ' ' && bytes[i] <= '~' && !bytes[i + 1];
		text_printf(text, "%c", plain ? bytes[i] : '.');
	}
}

/* Text only: data have a row of the finding. */
#define DIAGNOSIS_LIST(X)                                     \
	X(DIAGNOSIS_DETAIL, .kind = KIND_TEXT)                \
	X(DIAGNOSIS_VERDICT, .kind = KIND_TEXT)               \
	X(DIAGNOSIS_SEGMENT, .kind = KIND_ADDRESS)            \
	X(DIAGNOSIS_HEAP, .kind = KIND_NUMBER)                \
	X(DIAGNOSIS_GENERATION, .kind = KIND_TEXT)            \
	X(DIAGNOSIS_WORD, .kind = KIND_ADDRESS)               \
	X(DIAGNOSIS_SLOT, .kind = KIND_ADDRESS)               \
	X(DIAGNOSIS_LAST, .kind = KIND_ADDRESS)               \
	X(DIAGNOSIS_LAST_TYPE, .kind = KIND_TYPE)             \
	X(DIAGNOSIS_LAST_SIZE, .kind = KIND_BYTES)            \
	X(DIAGNOSIS_LAST_END, .kind = KIND_ADDRESS)           \
	X(DIAGNOSIS_LAST_LENGTH, .kind = KIND_NUMBER)         \
	X(DIAGNOSIS_OVERRUN, .kind = KIND_TEXT) /**< lines */ \
	X(DIAGNOSIS_SKIPPED, .kind = KIND_BYTES)

COLUMNS(diagnosis, DIAGNOSIS_COLUMNS, DIAGNOSIS_LIST);

static void word_line(struct out *out, const struct cell *word, const struct cell *slot)
{
	uint8_t bytes[8];
	struct text *text = &out->text;
	memcpy(bytes, &word->number, sizeof(bytes));
	out_printf(out, "    bad word     %016" PRIx64, word->number);
	if (slot->number)
		out_printf(out, " at %" PRIx64, slot->number);
	out_puts(out, "  ASCII \"");
	put_ascii(text, bytes, sizeof(bytes));
	out_puts(out, "\"  UTF-16 \"");
	put_wide(text, bytes, sizeof(bytes));
	out_puts(out, "\"\n");
}

static void last_line(struct out *out, const struct cell *cells)
{
	const struct cell *type = &cells[DIAGNOSIS_LAST_TYPE];
	out_puts(out, "    last good    ");
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, cells[DIAGNOSIS_LAST].number);
	out_puts(out, " ");
	out_type(out, type->text.bytes, type->text.size, type->text.id);
	out_printf(out, ", %" PRIu64 " bytes, up to %" PRIx64, cells[DIAGNOSIS_LAST_SIZE].number,
		   cells[DIAGNOSIS_LAST_END].number);
	if (cells[DIAGNOSIS_LAST_LENGTH].is_there)
		out_printf(out, ", length %" PRIu64, cells[DIAGNOSIS_LAST_LENGTH].number);
	out_puts(out, "\n");
}

static void diagnosis_layout(struct out *out, const struct cell *cells)
{
	const struct cell *overrun = &cells[DIAGNOSIS_OVERRUN];
	char number[NUMBER_SIZE];
	out_printf(out, "    %s\n    verdict      %s\n", cells[DIAGNOSIS_DETAIL].text.bytes,
		   cells[DIAGNOSIS_VERDICT].text.bytes);
	if (cells[DIAGNOSIS_SEGMENT].is_there) {
		out_printf(out,
			   "    lies in      segment %" PRIx64 ", heap %" PRIu64
			   ", generation %s\n",
			   cells[DIAGNOSIS_SEGMENT].number, cells[DIAGNOSIS_HEAP].number,
			   cells[DIAGNOSIS_GENERATION].text.bytes);
	}
	word_line(out, &cells[DIAGNOSIS_WORD], &cells[DIAGNOSIS_SLOT]);
	if (cells[DIAGNOSIS_LAST].is_there)
		last_line(out, cells);
	if (overrun->is_there)
		text_append(&out->text, overrun->text.bytes, overrun->text.size);
	if (cells[DIAGNOSIS_SKIPPED].number) {
		out_printf(out, "    skipped      %s bytes to the next sound object\n",
			   format_thousands(cells[DIAGNOSIS_SKIPPED].number, number));
	}
}

SCHEMA(diagnosis, .layout = diagnosis_layout);

/* Where the content of an array or string ends: only padding may be written after it. */
static uint64_t content_end(const struct object *object)
{
	uint64_t end = object->address + object->size - 8;
	return object->type->is_string ? end - 2 : end;
}

/*
 * Does the bad word look as if what the object before holds ran on into it?  Says so, and what a
 * write past that object's end would look like.
 */
static void find_overrun(struct heap *heap, const struct verify_finding *finding, struct text *ret)
{
	const struct object *last = &finding->last_good;
	uint64_t end = content_end(last), start = last->address + 16;
	uint8_t tail[TAIL_SIZE], bad[16];
	size_t size = end > start ? (size_t)(end - start) : 0;
	if (size > TAIL_SIZE)
		size = TAIL_SIZE;
	size &= ~(size_t)1;
	if (!size || !memory_read(heap->memory, end - size, tail, size))
		return;
	size_t after = memory_prefix(heap->memory, finding->slot, bad, sizeof(bad));
	bool wide = is_wide(tail, size), plain = !wide && is_ascii(tail, size);
	void (*put)(struct text *, const uint8_t *, size_t) = wide ? put_wide : put_ascii;
	text_puts(ret, "                 its last bytes are");
	for (size_t i = 0; i < size; i++)
		text_printf(ret, "%s%02x", i % 8 ? "" : " ", tail[i]);
	if (wide || plain) {
		text_puts(ret, " \"");
		put(ret, tail, size);
		text_puts(ret, "\"");
	}
	text_puts(ret, "\n");
	if (after >= 8 && ((wide && is_wide(bad, 8)) || (plain && is_ascii(bad, 8)))) {
		text_puts(ret, "                 the text runs on into the bad word (\"");
		put(ret, bad, after);
		text_puts(ret, "\"): a write past its end\n");
	} else if (after >= 8 && size >= 8 && memcmp(tail + size - 8, bad, 8) == 0) {
		text_puts(ret,
			  "                 the bad word repeats them: a write past its end\n");
	}
}

static void last_cells(struct heap *heap, const struct verify_finding *finding,
		       struct text *overrun, struct cell *cells)
{
	const struct object *last = &finding->last_good;
	if (!last->type)
		return;
	size_t size;
	const char *name = type_name(heap->runtime, last->type, &size);
	cells[DIAGNOSIS_LAST] = cell_number(last->address);
	cells[DIAGNOSIS_LAST_TYPE] = cell_type(name, size, last->type->method_table);
	cells[DIAGNOSIS_LAST_SIZE] = cell_number(last->size);
	cells[DIAGNOSIS_LAST_END] = cell_number(last->address + last->step);
	if (!last->type->component_size)
		return;
	cells[DIAGNOSIS_LAST_LENGTH] = cell_number(last->length);
	if (!last->type->is_free && !last->type->has_pointers && finding->slot)
		find_overrun(heap, finding, overrun);
	cells[DIAGNOSIS_OVERRUN] = cell_text(overrun->bytes, overrun->size);
}

#define LISTED_LIST(X)                                         \
	X(LISTED_LABEL, .heading = "label", .kind = KIND_TEXT) \
	X(LISTED_COUNT, .heading = "count", .kind = KIND_NUMBER)

COLUMNS(listed, LISTED_COLUMNS, LISTED_LIST);

static const struct column listed_object_columns[] = { { .heading = "object",
							 .kind = KIND_ADDRESS } };

static void write_listed_objects(struct answer *answer, const char *label, uint64_t count,
				 const uint64_t *addresses)
{
	static const struct schema head_schema = { SCHEMA_COLUMNS(listed_columns),
						   .lines = "    {label:-12} {count:,}:" };
	static const struct schema object_schema = { SCHEMA_COLUMNS(listed_object_columns),
						     .lines = " {object:a}" };
	if (!count)
		return;
	answer_heading(answer, &head_schema,
		       (const struct cell[]){ cell_string(label), cell_number(count) });
	for (uint64_t i = 0; i < count && i < CONSEQUENCES_KEPT; i++) {
		answer_heading(answer, &object_schema,
			       (const struct cell[]){ cell_number(addresses[i]) });
	}
	answer_remark(answer, count > CONSEQUENCES_KEPT ? " ...\n" : "\n");
}

void verify_text(struct answer *answer, struct heap *heap, const struct verify_finding *finding)
{
	static const char *const meanings[] = {
		[VERDICT_DAMAGE] = "heap damage",
		[VERDICT_GC_IN_PROGRESS] =
			"a garbage collection was in progress; no sign of damage",
		[VERDICT_MISSING_BYTES] = "bytes are missing from the file; no sign of damage",
		[VERDICT_UNOWNED_CONTEXT] =
			"an allocation was under way, or its context has no owner; no sign of damage",
	};
	HD_CLEANUP(text) struct text overrun = { 0 };
	const struct segment *segment = heap_segment_at(heap, finding->address);
	struct cell cells[DIAGNOSIS_COLUMNS] = {
		[DIAGNOSIS_DETAIL] = cell_string(finding->detail ? finding->detail : ""),
		[DIAGNOSIS_VERDICT] = cell_string(meanings[finding->verdict]),
		[DIAGNOSIS_WORD] = cell_number(finding->word),
		[DIAGNOSIS_SLOT] = cell_number(finding->slot),
		[DIAGNOSIS_SKIPPED] = cell_number(finding->skipped),
	};
	if (segment) {
		cells[DIAGNOSIS_SEGMENT] = cell_number(segment->address);
		cells[DIAGNOSIS_HEAP] = cell_number(segment->heap);
		cells[DIAGNOSIS_GENERATION] = cell_string(
			generation_name(segment_generation_at(segment, finding->address)));
	}
	last_cells(heap, finding, &overrun, cells);
	answer_heading(answer, &diagnosis_schema, cells);
	write_listed_objects(answer, "referred by", finding->referrer_count, finding->referrers);
	write_listed_objects(answer, "consequences", finding->consequence_count,
			     finding->consequences);
}
