/* SPDX-License-Identifier: MIT */
/* The record that the runtime of a NativeAOT program writes before it ends the process (doc/nativeaot.md 5.6). */
#include "command/session/crash_record.h"

#include "analysis/threads/crash_record.h"
#include "gc/heap.h"

#define RECORD_LIST(X)                                                                           \
	X(RECORD_REASON, "reason", NULL, KIND_TEXT, 0, 0,                                        \
	  "why: unhandled-exception, fail-fast (Environment.FailFast), internal-error, unknown") \
	X(RECORD_THREAD, "thread", NULL, KIND_NUMBER, 0, 0, "the thread's id in the system")     \
	X(RECORD_VERSION, "runtime_version", NULL, KIND_TEXT, 0, 0, "the release of .NET")       \
	X(RECORD_MESSAGE, "message", NULL, KIND_TEXT, 0, 0, "the text that it wrote")            \
	X(RECORD_WORDS, .heading = "words", .kind = KIND_TEXT) /**< text only: the reason */

COLUMNS(record, RECORD_COLUMNS, RECORD_LIST);

static const struct schema record_schema = {
	.name = "recorded",
	SCHEMA_COLUMNS(record_columns),
	.lines =
		"The runtime noted why it ended the process: {words}[ in thread 0x{thread:x}][: {message}]\n"
};

static const struct column no_columns[] = {
	{ "recorded", NULL, KIND_TEXT, 0, 0, "what the runtime noted: why it ended the process" },
};
static const struct schema no_record = { SCHEMA_COLUMNS(no_columns) };

#define RECORDED_LIST(X)                                                                       \
	X(RECORDED_INDEX, "index", NULL, KIND_NUMBER, 0, 0, "number of the exception, from 0") \
	X(RECORDED_OUTER, "inner_of", NULL, KIND_NUMBER, 0, LOOK_LEAVE_OUT,                    \
	  "the one whose inner exception it is")                                               \
	X(RECORDED_ADDRESS, "exception", NULL, KIND_ADDRESS, 0, 0,                             \
	  "its address then: a collection may have moved it since")                            \
	X(RECORDED_TYPE, "type", NULL, KIND_TEXT, 0, 0, "its type")                            \
	X(RECORDED_RESULT, "hresult", NULL, KIND_ADDRESS, 0, 0, "its HResult")                 \
	X(RECORDED_MESSAGE, "message", NULL, KIND_TEXT, 0, 0, "its message")

COLUMNS(recorded, RECORDED_COLUMNS, RECORDED_LIST);

SCHEMA(recorded, .name = "exceptions",
       .lines =
	       "  [=inner_of inner exception: ]{type?an exception}[ {exception:x}][ (HRESULT {hresult:x})][: {message}]\n");

#define PLACE_LIST(X)                                                                              \
	X(PLACE_EXCEPTION, "index", NULL, KIND_NUMBER, 0, 0, "number of the exception")            \
	X(PLACE_IP, "ip", NULL, KIND_ADDRESS, 0, 0, "where the frame was")                         \
	X(PLACE_OFFSET, "offset", NULL, KIND_NUMBER, 0, 0, "bytes from the beginning of its code") \
	X(PLACE_METHOD, "method", NULL, KIND_TEXT, 0, 0,                                           \
	  "its method, as the runtime wrote it; null: it had no name")

COLUMNS(place, PLACE_COLUMNS, PLACE_LIST);

SCHEMA(place, .name = "frames", .lines = "    at [{method}|{ip:x}][+0x{offset:x}]\n");

static struct cell text_cell(const struct recorded_text *text)
{
	return text->bytes ? cell_text(text->bytes, text->size) : cell_null();
}

static struct cell number_cell(const struct recorded_number *number)
{
	return number->is_there ? cell_number(number->value) : cell_null();
}

static void write_head(struct call *call, const struct crash_record *record)
{
	static const struct {
		const char *name, *words;
	} reasons[CRASH_REASONS] = {
		[CRASH_REASON_UNKNOWN] = { "unknown", "for a reason that it did not know" },
		[CRASH_REASON_EXCEPTION] = { "unhandled-exception", "an unhandled exception" },
		[CRASH_REASON_FAIL_FAST] = { "fail-fast", "Environment.FailFast" },
		[CRASH_REASON_INTERNAL] = { "internal-error", "an error of its own" },
	};
	const struct cell cells[RECORD_COLUMNS] = {
		[RECORD_REASON] = cell_string(reasons[record->reason].name),
		[RECORD_WORDS] = cell_string(reasons[record->reason].words),
		[RECORD_THREAD] = number_cell(&record->thread),
		[RECORD_VERSION] = text_cell(&record->version),
		[RECORD_MESSAGE] = text_cell(&record->message),
	};
	answer_record_begin(&call->answer, &record_schema, cells);
}

static void write_exception(struct call *call, const struct crash_record *record, size_t index)
{
	const struct recorded_exception *row = &record->exceptions[index];
	struct cell cells[RECORDED_COLUMNS] = {
		[RECORDED_INDEX] = cell_number(index),
		[RECORDED_ADDRESS] = number_cell(&row->address),
		[RECORDED_TYPE] = text_cell(&row->type),
		[RECORDED_RESULT] = number_cell(&row->hresult),
		[RECORDED_MESSAGE] = text_cell(&row->message),
	};
	if (index)
		cells[RECORDED_OUTER] = cell_number(row->outer);
	answer_row(&call->answer, cells);
}

static void write_frame(struct call *call, const struct recorded_frame *frame)
{
	const struct cell cells[PLACE_COLUMNS] = {
		[PLACE_EXCEPTION] = cell_number(frame->exception),
		[PLACE_IP] = number_cell(&frame->ip),
		[PLACE_OFFSET] = number_cell(&frame->offset),
		[PLACE_METHOD] = text_cell(&frame->method),
	};
	answer_row(&call->answer, cells);
}

static void write_record(struct call *call, const struct crash_record *record)
{
	static const struct table_options options = { .limit = UINT64_MAX, .no_heading = true };
	write_head(call, record);
	answer_table(&call->answer, &recorded_schema, &options);
	for (size_t i = 0; i < record->exceptions_count; i++)
		write_exception(call, record, i);
	(void)answer_table_end(&call->answer);
	answer_table(&call->answer, &place_schema, &options);
	for (size_t i = 0; i < record->frames_count; i++)
		write_frame(call, &record->frames[i]);
	(void)answer_table_end(&call->answer);
	answer_record_end(&call->answer);
	if (record->is_cut)
		answer_remark(&call->answer, "  and more exceptions inside of these\n");
	answer_remark(&call->answer, "\n");
}

enum hd_status crash_record_write(struct call *call)
{
	HD_CLEANUP(crash_record) struct crash_record record = { 0 };
	struct cell none = { 0 };
	TRY(crash_record_read(call->heap->runtime, &record, call->err));
	if (record.is_there && !record.is_damaged) {
		write_record(call, &record);
		return HD_OK;
	}
	answer_record(&call->answer, &no_record, &none);
	if (record.is_there) {
		answer_remark(&call->answer, "The runtime noted why it ended the process, but "
					     "what it wrote is damaged.\n\n");
		call->findings = true;
	}
	return HD_OK;
}
