/* SPDX-License-Identifier: MIT */
#include "command/verify_text.h"

#include <inttypes.h>

#define TAIL_SIZE 24u

/* Bytes as a person reads them: every one outside of printable ASCII is a dot. */
static void put_ascii(struct out *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		out_printf(out, "%c", bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '.');
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

static void put_wide(struct out *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 1 < size; i += 2) {
		bool plain = bytes[i] >= ' ' && bytes[i] <= '~' && !bytes[i + 1];
		out_printf(out, "%c", plain ? bytes[i] : '.');
	}
}

static void put_word(struct out *out, const struct verify_finding *finding)
{
	uint8_t bytes[8];
	memcpy(bytes, &finding->word, sizeof(bytes));
	out_printf(out, "    bad word     %016" PRIx64, finding->word);
	if (finding->slot)
		out_printf(out, " at %" PRIx64, finding->slot);
	out_puts(out, "  ASCII \"");
	put_ascii(out, bytes, sizeof(bytes));
	out_puts(out, "\"  UTF-16 \"");
	put_wide(out, bytes, sizeof(bytes));
	out_puts(out, "\"\n");
}

/* Where the content of an array or string ends: behind that only padding may be written. */
static uint64_t content_end(const struct object *object)
{
	uint64_t end = object->address + object->size - 8;
	return object->type->is_string ? end - 2 : end;
}

/*
 * Does the bad word look as if what the object before holds ran on into it?  Says so, and what a
 * write past that object's end would look like.
 */
static void put_overrun(struct call *call, const struct verify_finding *finding)
{
	struct out *out = &call->out;
	const struct object *last = &finding->last_good;
	uint64_t end = content_end(last), start = last->address + 16;
	uint8_t tail[TAIL_SIZE], bad[16];
	size_t size = end > start ? (size_t)(end - start) : 0;
	if (size > TAIL_SIZE)
		size = TAIL_SIZE;
	size &= ~(size_t)1;
	if (!size || !memory_read(call->heap->memory, end - size, tail, size))
		return;
	size_t after = memory_prefix(call->heap->memory, finding->slot, bad, sizeof(bad));
	bool wide = is_wide(tail, size), plain = !wide && is_ascii(tail, size);
	out_puts(out, "                 its last bytes are");
	for (size_t i = 0; i < size; i++)
		out_printf(out, "%s%02x", i % 8 ? "" : " ", tail[i]);
	if (wide || plain) {
		out_puts(out, " \"");
		if (wide) {
			put_wide(out, tail, size);
		} else {
			put_ascii(out, tail, size);
		}
		out_puts(out, "\"");
	}
	out_puts(out, "\n");
	if (after >= 8 && ((wide && is_wide(bad, 8)) || (plain && is_ascii(bad, 8)))) {
		out_puts(out, "                 the text runs on into the bad word (\"");
		if (wide) {
			put_wide(out, bad, after);
		} else {
			put_ascii(out, bad, after);
		}
		out_puts(out, "\"): a write past its end\n");
	} else if (after >= 8 && size >= 8 && memcmp(tail + size - 8, bad, 8) == 0) {
		out_puts(out, "                 the bad word repeats them: a write past its end\n");
	}
}

static void put_last(struct call *call, const struct verify_finding *finding)
{
	struct out *out = &call->out;
	const struct object *last = &finding->last_good;
	if (!last->type)
		return;
	size_t size;
	const char *name = type_name(call->heap->clr, last->type, &size);
	out_puts(out, "    last good    ");
	out_styled(out, STYLE_ADDRESS, "%" PRIx64, last->address);
	out_puts(out, " ");
	out_type(out, name, size, last->type->method_table);
	out_printf(out, ", %" PRIu64 " bytes, up to %" PRIx64, last->size,
		   last->address + last->step);
	if (last->type->component_size)
		out_printf(out, ", length %" PRIu32, last->length);
	out_puts(out, "\n");
	if (last->type->component_size && !last->type->is_free && !last->type->has_pointers &&
	    finding->slot)
		put_overrun(call, finding);
}

static void put_objects(struct call *call, const char *label, uint64_t count,
			const uint64_t *addresses)
{
	struct out *out = &call->out;
	char number[27];
	if (!count)
		return;
	out_printf(out, "    %-12s %s:", label, format_thousands(count, number));
	for (uint64_t i = 0; i < count && i < CONSEQUENCES_KEPT; i++)
		out_styled(out, STYLE_ADDRESS, " %" PRIx64, addresses[i]);
	out_puts(out, count > CONSEQUENCES_KEPT ? " ...\n" : "\n");
}

void verify_text(struct call *call, const struct verify_finding *finding)
{
	static const char *const meanings[] = {
		[VERDICT_DAMAGE] = "heap damage",
		[VERDICT_GC_IN_PROGRESS] =
			"a garbage collection was in progress; no sign of damage",
		[VERDICT_MISSING_BYTES] = "bytes are missing from the file; no sign of damage",
		[VERDICT_UNOWNED_CONTEXT] =
			"an allocation was under way, or its context has no owner; no sign of damage",
	};
	struct out *out = &call->out;
	char number[27];
	const struct segment *segment = heap_segment_at(call->heap, finding->address);
	out_printf(out, "    %s\n    verdict      %s\n", finding->detail ? finding->detail : "",
		   meanings[finding->verdict]);
	if (segment) {
		out_printf(out, "    lies in      segment %" PRIx64 ", heap %u, generation %s\n",
			   segment->address, segment->heap,
			   generation_name(segment_generation_at(segment, finding->address)));
	}
	put_word(out, finding);
	put_last(call, finding);
	if (finding->skipped) {
		out_printf(out, "    skipped      %s bytes to the next sound object\n",
			   format_thousands(finding->skipped, number));
	}
	put_objects(call, "referred by", finding->referrer_count, finding->referrers);
	put_objects(call, "consequences", finding->consequence_count, finding->consequences);
}
