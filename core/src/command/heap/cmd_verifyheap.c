/* SPDX-License-Identifier: MIT */
/* verifyheap, verifyobj: SOS's table, then what each finding means. */
#include <inttypes.h>
#include <stdio.h>

#include "answer/answering.h"
#include "command/heap/heap_call.h"
#include "command/objects/object.h"
#include "command/session/crash.h"
#include "command/table.h"
#include "inspect/locate.h"
#include "verify/verify.h"

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

/* Diagnosis of one finding, only for a person: several lines, indented by 4. */
static void verify_text(struct answer *answer, struct heap *heap,
			const struct verify_finding *finding)
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

#define VERIFYHEAP_OPTIONS(X)                                                       \
	X(OPT_HEAP, "heap", VALUE_NUMBER, "N", "only logical heap N", NULL)         \
	X(OPT_SEGMENT, "segment", VALUE_ADDRESS, "ADDR", "only this segment", NULL) \
	X(OPT_IGNORE_GC_STATE, "ignoreGCState", VALUE_NONE, NULL,                   \
	  "accepted for SOS: a heap in a GC is always checked", NULL)               \
	X(OPT_NO_PROGRESS, "noprogress", VALUE_NONE, NULL, "show no progress", NULL)

OPTIONS(verifyheap, VERIFYHEAP_OPTIONS);

#define FINDING_LIST(X)                                                                            \
	X(FINDING_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0,                                    \
	  "the object, or what is in its place")                                                   \
	X(FINDING_KIND, "kind", NULL, KIND_TEXT, 0, 0, "what is wrong, in a word")                 \
	X(FINDING_VERDICT, "verdict", NULL, KIND_TEXT, 0, 0, "is it damage?")                      \
	X(FINDING_SLOT, "slot", NULL, KIND_ADDRESS, 0, 0, "where the bad word is")                 \
	X(FINDING_WORD, "word", NULL, KIND_ADDRESS, 0, 0, "the bad word")                          \
	X(FINDING_SEGMENT, "segment", NULL, KIND_ADDRESS, 0, 0, "the segment that it is in")       \
	X(FINDING_DETAIL, "detail", NULL, KIND_TEXT, 0, 0, "what is wrong, as a sentence")         \
	X(FINDING_LAST, "last_good.address", NULL, KIND_ADDRESS, 0, LOOK_WHOLE,                    \
	  "the last sound object before it")                                                       \
	X(FINDING_LAST_TYPE, "last_good.type", NULL, KIND_TYPE, 0, 0, "name of its type")          \
	X(FINDING_LAST_SIZE, "last_good.size", NULL, KIND_BYTES, 0, 0, "its own bytes")            \
	X(FINDING_SKIPPED, "skipped", NULL, KIND_BYTES, 0, 0, "bytes up to the next sound object") \
	X(FINDING_OFFSET, .heading = "offset", .kind = KIND_TEXT) /**< text of verifyobj only */

COLUMNS(finding, FINDING_COLUMNS, FINDING_LIST);

const struct schema verifyheap_schema = {
	.name = "findings",
	SCHEMA_COLUMNS(finding_columns),
	.is_main = true,
	.heading = "Segment          Object           Failure                          Reason",
	.lines = "\\a{segment:-16x} {address:-16x}\\. {kind:-32} {detail}\n",
};

static const struct schema issue_schema = {
	.name = "findings",
	SCHEMA_COLUMNS(finding_columns),
	.is_main = true,
	.heading = "Offset Issue                            Description",
	.lines = "{offset:-6} {kind:-32} {detail}\n",
};

static const struct column counted_columns[] = {
	{ "count", NULL, KIND_NUMBER, 0, 0, "how many there are" },
};

/* Objects that a finding is about, data only: their number, and the first of them. */
static void write_counted(struct answer *answer, const struct schema *schema, uint64_t count,
			  const uint64_t *addresses)
{
	static const struct column columns[] = {
		{ "object", NULL, KIND_ADDRESS, 0, 0, "an object" },
	};
	static const struct schema first_schema = { .name = "first",
						    SCHEMA_COLUMNS(columns),
						    .is_list = true };
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	answer_record_begin(answer, schema, (const struct cell[]){ cell_number(count) });
	answer_table(answer, &first_schema, &options);
	for (uint64_t i = 0; i < count && i < CONSEQUENCES_KEPT; i++)
		answer_row(answer, (const struct cell[]){ cell_number(addresses[i]) });
	(void)answer_table_end(answer);
	answer_record_end(answer);
}

/* Where the bad word lies in the object at @p address, as text shows it. */
static void format_offset(const struct verify_finding *finding, uint64_t address, char buf[24])
{
	uint64_t offset = finding->slot - address;
	(void)snprintf(buf, 24, "-");
	if (offset < (uint64_t)1 << 40) {
		(void)snprintf(buf, 24, "0x%02" PRIx64, offset);
	} else if (-offset < 16) {
		(void)snprintf(buf, 24, "-0x%02" PRIx64, -offset);
	}
}

/* @p address: the object that was asked for, or 0. */
static void write_finding(struct call *call, const struct verify_finding *finding, uint64_t address)
{
	static const struct schema referrer_schema = { .name = "referrers",
						       SCHEMA_COLUMNS(counted_columns) };
	static const struct schema consequence_schema = { .name = "consequences",
							  SCHEMA_COLUMNS(counted_columns) };
	struct answer *answer = &call->answer;
	const struct object *last = &finding->last_good;
	char offset[24];
	format_offset(finding, address, offset);
	struct cell cells[FINDING_COLUMNS] = {
		[FINDING_ADDRESS] = cell_number(finding->address),
		[FINDING_KIND] = cell_string(finding->kind),
		[FINDING_VERDICT] = cell_string(verdict_name(finding->verdict)),
		[FINDING_SLOT] = cell_number(finding->slot),
		[FINDING_WORD] = cell_number(finding->word),
		[FINDING_SEGMENT] = cell_number(finding->segment),
		[FINDING_DETAIL] = cell_string(finding->detail),
		[FINDING_SKIPPED] = cell_number(finding->skipped),
		[FINDING_OFFSET] = cell_string(offset),
	};
	if (last->type) {
		size_t size;
		const char *name = type_name(call->heap->runtime, last->type, &size);
		cells[FINDING_LAST] = cell_number(last->address);
		cells[FINDING_LAST_TYPE] = cell_type(name, size, last->type->method_table);
		cells[FINDING_LAST_SIZE] = cell_number(last->size);
	}
	answer_row_begin(answer, cells);
	if (!answer_is_text(answer)) {
		write_counted(answer, &referrer_schema, finding->referrer_count,
			      finding->referrers);
		write_counted(answer, &consequence_schema, finding->consequence_count,
			      finding->consequences);
	}
	answer_row_end(answer);
}

static enum hd_status write_verify_findings(struct call *call, const struct schema *schema,
					    const struct verify_result *result, uint64_t address)
{
	static const struct table_options options = { .limit = UINT64_MAX, .late_heading = true };
	answer_table(&call->answer, schema, &options);
	for (size_t i = 0; i < result->count; i++) {
		TRY(call_check(call));
		write_finding(call, &result->findings[i], address);
	}
	(void)answer_table_end(&call->answer);
	return HD_OK;
}

#define VERIFY_LIST(X)                                                                          \
	X(VERIFY_OBJECTS, "objects", NULL, KIND_NUMBER, 0, 0, "how many were verified")         \
	X(VERIFY_COLLECTING, "gc_in_progress", NULL, KIND_FLAG, 0, 0,                           \
	  "was a garbage collection moving objects?")                                           \
	X(VERIFY_DAMAGED, "damaged", NULL, KIND_NUMBER, 0, 0, "findings that are damage")       \
	X(VERIFY_NOT_KEPT, "not_kept", NULL, KIND_NUMBER, 0, 0, "findings that are not listed") \
	X(VERIFY_PLUG_NODES, "plug_nodes", NULL, KIND_NUMBER, 0, 0,                             \
	  "dead objects that the collection had written over")                                  \
	X(VERIFY_FINDINGS, .heading = "findings",                                               \
	  .kind = KIND_NUMBER) /**< text only, as the next */                                   \
	X(VERIFY_HARMLESS, .heading = "harmless", .kind = KIND_FLAG)

COLUMNS(verify, VERIFY_COLUMNS, VERIFY_LIST);

SCHEMA(verify,
       .lines = "[?findings \n]{objects:,} objects verified, {damaged:*error}.\n"
		"[?not_kept {not_kept:,} more findings are not listed.\n]"
		"[?damaged |No heap corruption detected.\n]"
		"[?gc_in_progress A garbage collection was moving objects: only what could be "
		"walked was verified, and\n"
		"references were not.[?plug_nodes  It had written over {plug_nodes:*dead object},\n"
		"which is not a sign of damage.][?harmless  What is listed as gc-in-progress may "
		"be its work.]\n]");

static void verify_cells(const struct heap *heap, const struct verify_result *result,
			 struct cell cells[VERIFY_COLUMNS])
{
	cells[VERIFY_OBJECTS] = cell_number(result->objects);
	cells[VERIFY_COLLECTING] = cell_flag(heap->gc_in_progress);
	cells[VERIFY_DAMAGED] = cell_number(result->damage_count);
	cells[VERIFY_NOT_KEPT] = cell_number(result->not_kept);
	cells[VERIFY_PLUG_NODES] = cell_number(result->plug_nodes);
	cells[VERIFY_FINDINGS] = cell_number(result->count);
	cells[VERIFY_HARMLESS] = cell_flag(result->count > result->damage_count);
}

static enum hd_status write_result(struct call *call, const struct verify_result *result,
				   const struct crash *crash)
{
	struct answer *answer = &call->answer;
	struct cell cells[VERIFY_COLUMNS];
	verify_cells(call->heap, result, cells);
	TRY(crash_write(call, crash, result->marked > 0));
	answer_data(answer, &verify_schema, cells);
	TRY(write_verify_findings(call, &verifyheap_schema, result, 0));
	answer_heading(answer, &verify_schema, cells);
	for (size_t i = 0; answer_is_text(answer) && i < result->count; i++) {
		TRY(call_check(call));
		answer_remark(answer, "\nFinding %zu of %zu\n", i + 1, result->count);
		verify_text(answer, call->heap, &result->findings[i]);
	}
	return HD_OK;
}

static enum hd_status run_verifyheap(struct call *call)
{
	struct heap_range range;
	struct verify_result result;
	const struct range_choice choice = range_choice(
		&call->options[OPT_HEAP], &call->options[OPT_SEGMENT], NULL, call->words);
	TRY(heap_range_init(&range, call->heap, &choice, call->err));
	struct verify_options options = { 0 };
	if (!range.is_whole) {
		options.segments = range.segments;
		options.segment_count = range.count;
		options.begin = range.begin;
		options.end = range.end || !range.begin ? range.end : UINT64_MAX;
	}
	struct crash crash;
	crash_find(call, &crash);
	if (crash.is_in_gc) {
		options.crashed = true;
		options.suspects = crash.addresses;
		options.suspect_count = crash.count;
	}
	if (call->options[OPT_NO_PROGRESS].given)
		call->job.progress = NULL;
	enum hd_status status = verify_heap(call->heap, &options, &call->job, &result, call->err);
	heap_range_deinit(&range);
	if (status != HD_OK)
		return status;
	job_end(&call->job);
	call->findings = result.damage_count != 0;
	status = write_result(call, &result, &crash);
	verify_result_deinit(&result);
	return status;
}

#define VERIFIED_LIST(X)                                                       \
	X(VERIFIED_ADDRESS, "address", NULL, KIND_ADDRESS, 0, 0, "the object") \
	X(VERIFIED_VALID, "valid", NULL, KIND_FLAG, 0, 0, "is nothing wrong with it?")

COLUMNS(verified, VERIFIED_COLUMNS, VERIFIED_LIST);

SCHEMA(verified, .lines = "[?valid object 0x{address:x} is a valid object\n]");

/* Where what is to be verified starts: the object at @p address, or the damage that hides it. */
static enum hd_status find_verify_start(struct call *call, uint64_t address, uint64_t *ret)
{
	struct location location;
	struct object object;
	TRY(object_locate(call->heap, address, &call->job, &location, call->err));
	*ret = location.place == PLACE_SKIPPED ? location.damage.address : address;
	if (location.place == PLACE_SKIPPED && *ret == address)
		return HD_OK;
	return call_located_object(call, address, &location, &object);
}

static enum hd_status run_verifyobj(struct call *call)
{
	HD_CLEANUP(verify_result) struct verify_result result = { 0 };
	uint64_t address = call->words[0].number, start;
	TRY(find_verify_start(call, address, &start));
	TRY(verify_object(call->heap, start, &call->job, &result, call->err));
	call->findings = result.damage_count != 0;
	struct answer *answer = &call->answer;
	const struct cell verified[VERIFIED_COLUMNS] = {
		[VERIFIED_ADDRESS] = cell_number(address),
		[VERIFIED_VALID] = cell_flag(result.count == 0),
	};
	struct cell cells[VERIFY_COLUMNS];
	verify_cells(call->heap, &result, cells);
	answer_record(answer, &verified_schema, verified);
	answer_data(answer, &verify_schema, cells);
	TRY(write_verify_findings(call, &issue_schema, &result, address));
	if (result.count) {
		answer_remark(answer, "\n%zu error%s detected.\n", result.count,
			      result.count == 1 ? "" : "s");
	}
	for (size_t i = 0; answer_is_text(answer) && i < result.count; i++) {
		answer_remark(answer, "\n");
		verify_text(answer, call->heap, &result.findings[i]);
	}
	return HD_OK;
}

COMMAND(verifyheap, .summary = "check the whole heap for damage",
	.description =
		"It checks the method table, size, references, lock and sync block of every object,\n"
		"and the allocation contexts, segments and finalizer queues. Errors that follow from\n"
		"one damaged place are listed with it. Exit status 1 means damage.\n",
	.top_level = TOP_LEVEL_ALWAYS, .has_rows = true, .needs = NEEDS_HEAP,
	.options = verifyheap_options,
	.words = { { "START", VALUE_ADDRESS, true }, { "END", VALUE_ADDRESS, true } },
	.check = check_range);

COMMAND(verifyobj, .summary = "check one object for damage", .example = "verifyobj 7f0fd8068768",
	.top_level = TOP_LEVEL_ALWAYS, .has_rows = true, .needs = NEEDS_HEAP,
	.words = { { "ADDR", VALUE_ADDRESS, false } });
