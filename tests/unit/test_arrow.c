/* SPDX-License-Identifier: MIT */
/* Answers in columns: heapdump/arrow.h as its users have it. */
#include <errno.h>

#include <heapdump/heapdump.h>

#include "answer/columns.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/exported.h"
#include "support/newer.h"
#include "support/suite.h"
#include "util/alloc.h"

#define NTH_MAX 3000u
#define OBJECTS 150000u

static const char dump[] = "a 2 x\nt 1 Node\nt 2 System.String\no 10 1 18 20\no 20 1 18 30\n"
			   "o 30 2 8\nr 10 4 0 2\nc x 2\n";

static struct hd_session *session;

static void set_up(void)
{
	session = session_with(dump);
}

static void tear_down(void)
{
	hd_session_destroy(session);
}

static struct hd_sink silent_sink(void)
{
	return (struct hd_sink){ .struct_size = sizeof(struct hd_sink) };
}

/* Ask for a table of the answer of words that NULL ends, in batches of so many rows. */
static int ask_rows(struct hd_session *of, const char *const *argv, const char *table,
		    uint32_t batch_rows, struct ArrowArrayStream *ret, struct hd_error *err)
{
	const struct hd_sink sink = silent_sink();
	struct hd_arrow_request request = { .struct_size = sizeof(request),
					    .argv = argv,
					    .batch_rows = batch_rows,
					    .table = table };
	while (argv[request.argc])
		request.argc++;
	return hd_arrow_run(of, &request, &sink, ret, err);
}

static int ask(const char *const *argv, const char *table, struct ArrowArrayStream *ret)
{
	return ask_rows(session, argv, table, 0, ret, NULL);
}

static int ask_sql(const char *query, struct ArrowArrayStream *ret)
{
	const char *const argv[] = { "sql", query, NULL };
	return ask(argv, NULL, ret);
}

static void release(struct ArrowArrayStream *stream)
{
	CU_ASSERT_FATAL(stream->release != NULL);
	stream->release(stream);
	CU_ASSERT_PTR_NULL(stream->release);
}

/* The formats of the columns, such as "Lug". */
static const char *formats_of(struct ArrowArrayStream *stream)
{
	static char formats[100];
	struct ArrowSchema schema;
	CU_ASSERT_EQUAL_FATAL(stream->get_schema(stream, &schema), 0);
	ASSERT_TEXT(schema.format, "+s");
	int64_t i = 0;
	for (; i < schema.n_children && i < 99; i++) {
		CU_ASSERT_EQUAL(schema.children[i]->flags, ARROW_FLAG_NULLABLE);
		formats[i] = schema.children[i]->format[0];
	}
	formats[i] = '\0';
	schema.release(&schema);
	CU_ASSERT_PTR_NULL(schema.release);
	return formats;
}

static struct ArrowArray next_batch(struct ArrowArrayStream *stream)
{
	struct ArrowArray batch = { 0 };
	CU_ASSERT_EQUAL(stream->get_next(stream, &batch), 0);
	CU_ASSERT_PTR_NULL(stream->get_last_error(stream));
	return batch;
}

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
	const uint8_t *validity = array->n_buffers ? array->buffers[0] : NULL;
	return !validity || validity[row / 8] >> row % 8 & 1;
}

/* A value of a column of that format as text, "-" for none. */
static const char *value_at(const struct ArrowArray *array, char format, int64_t row)
{
	static char value[200];
	if (!is_valid(array, row) || format == 'n')
		return "-";
	const void *values = array->buffers[1];
	if (format == 'L')
		(void)snprintf(value, sizeof(value), "%" PRIu64, ((const uint64_t *)values)[row]);
	else if (format == 'l')
		(void)snprintf(value, sizeof(value), "%" PRId64, ((const int64_t *)values)[row]);
	else if (format == 'g')
		(void)snprintf(value, sizeof(value), "%g", ((const double *)values)[row]);
	else if (format == 'b')
		(void)snprintf(value, sizeof(value), "%d",
			       ((const uint8_t *)values)[row / 8] >> row % 8 & 1);
	const int32_t *ends = values;
	if (format == 'u')
		(void)snprintf(value, sizeof(value), "%.*s", ends[row + 1] - ends[row],
			       (const char *)array->buffers[2] + ends[row]);
	return value;
}

/* The rows of the answer: "10 Node 24|20 Node 24". */
static const char *rows_of(struct ArrowArrayStream *stream)
{
	static char rows[2000];
	char formats[100];
	size_t size = 0;
	(void)snprintf(formats, sizeof(formats), "%s", formats_of(stream));
	rows[0] = '\0';
	for (;;) {
		struct ArrowArray batch = next_batch(stream);
		if (!batch.release)
			break;
		for (int64_t row = 0; row < batch.length; row++) {
			for (int64_t i = 0; i < batch.n_children && size < sizeof(rows); i++) {
				const char *before = i ? " " : size ? "|" : "";
				size += (size_t)snprintf(
					rows + size, sizeof(rows) - size, "%s%s", before,
					value_at(batch.children[i], formats[i], row));
			}
		}
		batch.release(&batch);
		CU_ASSERT_PTR_NULL(batch.release);
	}
	return rows;
}

static void assert_sql(const char *query, const char *formats, const char *rows)
{
	struct ArrowArrayStream stream;
	CU_ASSERT_EQUAL_FATAL(ask_sql(query, &stream), HD_EXIT_OK);
	ASSERT_TEXT(formats_of(&stream), formats);
	ASSERT_TEXT(rows_of(&stream), rows);
	release(&stream);
}

#define REFUSED(call)                                         \
	do {                                                  \
		struct hd_error err = { 0 };                  \
		CU_ASSERT_EQUAL((call), HD_EXIT_USAGE);       \
		CU_ASSERT_EQUAL(err.status, HD_ERR_ARGUMENT); \
		CU_ASSERT(err.message[0] != '\0');            \
		CU_ASSERT_PTR_NULL(stream.release);           \
	} while (0)

static void try_arrow_run(void)
{
	const char *const argv[] = { "types", NULL };
	const struct hd_sink sink = silent_sink();
	const struct hd_arrow_request whole = { .struct_size = sizeof(whole),
						.argv = argv,
						.argc = 1 };
	struct hd_arrow_request request = whole;
	struct ArrowArrayStream stream = { 0 };
	REFUSED(hd_arrow_run(session, &whole, &sink, NULL, &err));
	REFUSED(hd_arrow_run(NULL, &whole, &sink, &stream, &err));
	REFUSED(hd_arrow_run(session, NULL, &sink, &stream, &err));
	REFUSED(hd_arrow_run(session, &whole, NULL, &stream, &err));
	request.argc = 2;
	REFUSED(hd_arrow_run(session, &request, &sink, &stream, &err));
	request.argc = -1;
	REFUSED(hd_arrow_run(session, &request, &sink, &stream, &err));
	request = whole;
	request.argv = NULL;
	REFUSED(hd_arrow_run(session, &request, &sink, &stream, &err));
	request = whole;
	request.batch_rows = HD_ARROW_BATCH_ROWS_MAX + 1;
	REFUSED(hd_arrow_run(session, &request, &sink, &stream, &err));
	request = whole;
	request.struct_size--;
	REFUSED(hd_arrow_run(session, &request, &sink, &stream, &err));
	NEWER(struct hd_arrow_request) newer = NEWER_OF(whole, 1);
	NEWER_SIZE(newer);
	REFUSED(hd_arrow_run(session, &newer.known, &sink, &stream, &err));
	newer.more = 0;
	CU_ASSERT_EQUAL(hd_arrow_run(session, &newer.known, &sink, &stream, NULL), HD_EXIT_OK);
	release(&stream);
	request = whole;
	request.argc = 0;
	request.argv = NULL;
	request.table = "commands";
	CU_ASSERT_EQUAL(hd_arrow_run(session, &request, &sink, &stream, NULL), HD_EXIT_OK);
	release(&stream);
}

TEST(nothing_crashes_without_its_arguments)
{
	static const struct attempt functions[] = { { "hd_arrow_run", try_arrow_run } };
	functions[0].attempt();
	ASSERT_UINT(exported_check_header("arrow.h", functions, 1), 1);
}

TEST(a_table_comes_as_columns)
{
	const char *const argv[] = { "dumpheap", NULL };
	struct ArrowArrayStream stream;
	CU_ASSERT_EQUAL_FATAL(ask(argv, NULL, &stream), HD_EXIT_OK);
	struct ArrowSchema schema;
	CU_ASSERT_EQUAL_FATAL(stream.get_schema(&stream, &schema), 0);
	ASSERT_TEXT(schema.name, "");
	int32_t pairs;
	memcpy(&pairs, schema.metadata, sizeof(pairs));
	ASSERT_UINT((uint64_t)pairs, 3);
	CU_ASSERT(memcmp(schema.metadata + 8, "heapdump.version", 16) == 0);
	CU_ASSERT(schema.n_children >= 3);
	struct ArrowSchema first = *schema.children[0]; /* a consumer may move a child away */
	schema.children[0]->release = NULL;
	schema.release(&schema);
	ASSERT_TEXT(first.name, "address");
	ASSERT_TEXT(first.format, "L");
	CU_ASSERT(memcmp(first.metadata + 8, "heapdump.kind\7\0\0\0address", 24) == 0);
	first.release(&first);
	struct ArrowArray batch = next_batch(&stream), end = next_batch(&stream);
	CU_ASSERT_PTR_NULL(end.release);
	ASSERT_UINT((uint64_t)batch.length, 3);
	ASSERT_UINT((uint64_t)batch.null_count, 0);
	struct ArrowArray addresses = *batch.children[0];
	batch.children[0]->release = NULL;
	batch.release(&batch);
	release(&stream);
	CU_ASSERT_EQUAL(((const uint64_t *)addresses.buffers[1])[2], 0x30);
	addresses.release(&addresses);
}

TEST(the_type_of_a_column_of_sql_holds_all_of_its_values)
{
	assert_sql("SELECT address, type, size FROM objects ORDER BY 1 LIMIT 2", "LuL",
		   "16 Node 24|32 Node 24");
	assert_sql("SELECT count(*) FROM objects", "l", "3");
	assert_sql("SELECT NULL, 1 UNION ALL SELECT NULL, NULL", "nl", "- 1|- -");
	assert_sql("SELECT 1 UNION ALL SELECT 2.5", "g", "1|2.5");
	assert_sql("SELECT 9007199254740993 AS x UNION ALL SELECT 2.5 ORDER BY 1 DESC", "u",
		   "9007199254740993|2.5");
	assert_sql("SELECT -1 UNION ALL SELECT 'a' UNION ALL SELECT NULL UNION ALL SELECT 1.5", "u",
		   "-1|a|-|1.5");
	assert_sql("SELECT 'x' WHERE 0", "n", "");
	assert_sql("SELECT CAST(x'61ff62c3a9' AS TEXT)", "u",
		   "a\xef\xbf\xbd"
		   "b\xc3\xa9");
}

TEST(types_go_together_or_become_text)
{
	static const struct {
		uint32_t kinds;
		struct column_facts facts;
		enum column_type type;
	} rows[] = {
		{ 1u << HD_KIND_FLAG, { 0 }, COLUMN_BOOL },
		{ 1u << HD_KIND_FLAG | 1u << HD_KIND_NUMBER, { 0 }, COLUMN_TEXT },
		{ 1u << HD_KIND_NUMBER | 1u << HD_KIND_ADDRESS, { 0 }, COLUMN_UNSIGNED },
		{ 1u << HD_KIND_NUMBER | 1u << HD_KIND_SIGNED, { 0 }, COLUMN_SIGNED },
		{ 1u << HD_KIND_NUMBER | 1u << HD_KIND_SIGNED,
		  { .is_large = true },
		  COLUMN_UNSIGNED },
		{ 1u << HD_KIND_NUMBER | 1u << HD_KIND_SIGNED,
		  { .is_large = true, .is_negative = true },
		  COLUMN_TEXT },
		{ 1u << HD_KIND_REAL | 1u << HD_KIND_PERCENT, { 0 }, COLUMN_REAL },
		{ 1u << HD_KIND_REAL | 1u << HD_KIND_BYTES, { .is_inexact = true }, COLUMN_TEXT },
		{ 1u << HD_KIND_TYPE | 1u << HD_KIND_NUMBER, { 0 }, COLUMN_TEXT },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct column_facts facts = rows[i].facts;
		facts.kinds = rows[i].kinds;
		CU_ASSERT_EQUAL(column_type_of(HD_KIND_ANY, &facts), rows[i].type);
	}
}

TEST(values_of_every_kind_become_text)
{
	static const uint32_t any = HD_KIND_ANY;
	const double real = 0.5;
	struct hd_value values[] = {
		{ .kind = HD_KIND_FLAG, .number = 1 },
		{ .kind = HD_KIND_ADDRESS, .number = 0x7f00 },
		{ .kind = HD_KIND_BYTES, .number = UINT64_MAX },
		{ .kind = HD_KIND_TEXT, .text = "", .size = 0 },
		{ .kind = HD_KIND_NULL },
		{ .kind = HD_KIND_REAL, .real = real },
		{ .kind = HD_KIND_SIGNED, .signed_number = INT64_MIN },
	};
	const size_t count = sizeof(values) / sizeof(values[0]);
	struct column_facts facts = { 0 };
	struct chunk *chunk = chunk_create(&any, 1);
	REQUIRE(chunk);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL(chunk_append(chunk, &values[i], &facts, NULL), HD_OK);
	CU_ASSERT(facts.is_negative && facts.is_large && facts.is_inexact);
	CU_ASSERT_EQUAL(column_type_of(any, &facts), COLUMN_TEXT);
	CU_ASSERT_EQUAL(chunk_settle(chunk, 0, COLUMN_TEXT, NULL), HD_OK);
	ASSERT_TEXT(chunk->columns[0].text.bytes,
		    "true0x7f00184467440737095516150.5-9223372036854775808");
	ASSERT_UINT((uint64_t)chunk->columns[0].ends[4], 30);
	ASSERT_UINT((uint64_t)chunk->columns[0].ends[5], 30);
	ASSERT_UINT(chunk->columns[0].validity[0], 0xef);
	chunk_destroy(chunk);
}

TEST(rows_in_rows_say_which)
{
	const char *const argv[] = { "gcroot", "30", NULL };
	struct ArrowArrayStream stream;
	CU_ASSERT_EQUAL_FATAL(ask(argv, "roots.path", &stream), HD_EXIT_OK);
	struct ArrowSchema schema;
	CU_ASSERT_EQUAL_FATAL(stream.get_schema(&stream, &schema), 0);
	ASSERT_TEXT(schema.children[0]->name, "parent_row");
	schema.release(&schema);
	struct ArrowArray path = next_batch(&stream);
	CU_ASSERT_FATAL(path.release != NULL);
	ASSERT_UINT((uint64_t)path.length, 3);
	for (int64_t i = 0; i < 3; i++)
		ASSERT_TEXT(value_at(path.children[0], 'L', i), "0");
	path.release(&path);
	release(&stream);
}

TEST(a_table_that_is_not_there_is_an_error)
{
	const char *const argv[] = { "gcroot", "30", NULL }, *const lines[] = { "threads", NULL };
	struct ArrowArrayStream stream;
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(ask_rows(session, argv, "nonsense", 0, &stream, &err), HD_EXIT_USAGE);
	CU_ASSERT_EQUAL(err.status, HD_ERR_NOTFOUND);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "no table nonsense; its tables: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "roots.path"));
	CU_ASSERT_PTR_NULL(stream.release);
	const char *const info[] = { "info", NULL };
	CU_ASSERT_EQUAL(ask_rows(session, info, NULL, 0, &stream, &err), HD_EXIT_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "no main table"));
	CU_ASSERT_EQUAL(ask_rows(session, lines, NULL, 0, &stream, &err), HD_EXIT_INPUT);
	CU_ASSERT_EQUAL(err.status, HD_ERR_UNSUPPORTED);
	CU_ASSERT_PTR_NULL(stream.release);
}

static struct hd_session *large_session(void)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\n");
	for (unsigned int i = 1; i <= OBJECTS; i++)
		text_printf(&text, "o %x 1 8\n", 16 * i);
	text_puts(&text, "c x\n");
	struct hd_session *large = session_with(text.bytes);
	text_deinit(&text);
	return large;
}

TEST(many_rows_come_in_batches_that_outlive_the_session)
{
	struct hd_session *large = large_session();
	const char *const argv[] = { "dumpheap", NULL };
	struct ArrowArrayStream stream;
	CU_ASSERT_EQUAL_FATAL(ask_rows(large, argv, NULL, 0, &stream, NULL), HD_EXIT_OK);
	hd_session_destroy(large);
	uint64_t sum = 0, rows = 0;
	for (uint64_t left = OBJECTS; left;) {
		struct ArrowArray batch = next_batch(&stream);
		CU_ASSERT_FATAL(batch.release != NULL);
		uint64_t expected = left < HD_ARROW_BATCH_ROWS ? left : HD_ARROW_BATCH_ROWS;
		ASSERT_UINT_FATAL((uint64_t)batch.length, expected);
		const uint64_t *addresses = batch.children[0]->buffers[1];
		for (int64_t i = 0; i < batch.length; i++)
			sum += addresses[i] / 16;
		rows += expected;
		left -= expected;
		batch.release(&batch);
	}
	ASSERT_UINT(rows, OBJECTS);
	ASSERT_UINT(sum, (uint64_t)OBJECTS * (OBJECTS + 1) / 2);
	CU_ASSERT_PTR_NULL(next_batch(&stream).release);
	release(&stream);
}

TEST(a_batch_has_as_many_rows_as_asked_for)
{
	const char *const argv[] = { "dumpheap", NULL };
	struct ArrowArrayStream stream;
	CU_ASSERT_EQUAL_FATAL(ask_rows(session, argv, NULL, 2, &stream, NULL), HD_EXIT_OK);
	struct ArrowArray first = next_batch(&stream), second = next_batch(&stream);
	ASSERT_UINT((uint64_t)first.length, 2);
	ASSERT_UINT((uint64_t)second.length, 1);
	release(&stream); /* batches do not need it */
	first.release(&first);
	second.release(&second);
}

TEST(long_texts_end_a_batch)
{
	static const uint32_t kind = HD_KIND_TEXT;
	struct chunk *chunk = chunk_create(&kind, 1);
	struct column_facts facts = { 0 };
	const size_t size = CHUNK_TEXT_MAX / 2 + 1;
	char *text = mem_alloc(size, 1);
	REQUIRE(chunk);
	REQUIRE(text);
	memset(text, 'x', size);
	const struct hd_value value = { .kind = HD_KIND_TEXT, .text = text, .size = size };
	CU_ASSERT(chunk_has_room(chunk, &value));
	CU_ASSERT_EQUAL(chunk_append(chunk, &value, &facts, NULL), HD_OK);
	CU_ASSERT(!chunk_has_room(chunk, &value));
	const struct hd_value too_long = { .kind = HD_KIND_TEXT,
					   .text = text,
					   .size = (size_t)INT32_MAX + 1 };
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(chunk_append(chunk, &too_long, &facts, &err), HD_ERR_UNSUPPORTED);
	mem_free(text);
	chunk_destroy(chunk);
}

TEST(columns_keep_to_the_limit_of_memory)
{
	struct hd_session *large = large_session();
	const char *const argv[] = { "dumpheap", "--max-mem", "1M", NULL };
	struct ArrowArrayStream stream;
	struct hd_error err = { 0 };
	uint64_t live = alloc_live();
	CU_ASSERT_EQUAL(ask_rows(large, argv, NULL, 0, &stream, &err), HD_EXIT_INPUT);
	CU_ASSERT_EQUAL(err.status, HD_ERR_NOMEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "max-mem"));
	CU_ASSERT_PTR_NULL(stream.release);
	ASSERT_UINT(alloc_live(), live);
	hd_session_destroy(large);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_sink_that_cancels_leaves_no_stream)
{
	const char *const argv[] = { "gcroot", "30" };
	const struct hd_arrow_request request = { .struct_size = sizeof(request),
						  .argv = argv,
						  .argc = 2 };
	struct hd_sink sink = silent_sink();
	struct ArrowArrayStream stream;
	struct hd_error err = { 0 };
	sink.cancelled = always;
	CU_ASSERT_EQUAL(hd_arrow_run(session, &request, &sink, &stream, &err), HD_EXIT_INTERRUPTED);
	CU_ASSERT_EQUAL(err.status, HD_ERR_CANCELLED);
	CU_ASSERT_PTR_NULL(stream.release);
}

/* Take everything that the stream has, while the nth allocation fails; is there an error? */
static bool take_all(struct ArrowArrayStream *stream)
{
	struct ArrowSchema schema;
	int status = stream->get_schema(stream, &schema);
	if (status == 0)
		schema.release(&schema);
	while (status == 0) {
		struct ArrowArray batch;
		status = stream->get_next(stream, &batch);
		if (status == 0 && !batch.release)
			return false;
		if (status == 0)
			batch.release(&batch);
	}
	CU_ASSERT_EQUAL(status, ENOMEM);
	CU_ASSERT_PTR_NOT_NULL(stream->get_last_error(stream));
	return true;
}

TEST(memory_may_run_out_at_any_point)
{
	static const char *const lines[][3] = {
		{ "types", NULL },
		{ "dumpheap", NULL },
		{ "sql", "SELECT 1, 2.5, NULL, 'a' UNION ALL SELECT 'b', 3, 'c', -1", NULL },
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uint64_t nth = 1;
		for (bool failed = true; failed && nth < NTH_MAX; nth++) {
			struct hd_session *own = session_with(dump);
			struct ArrowArrayStream stream;
			struct hd_error err = { 0 };
			alloc_fail_at(nth);
			int status = ask_rows(own, lines[i], NULL, 1, &stream, &err);
			bool has_stream = status == HD_EXIT_OK;
			bool is_lost = has_stream && take_all(&stream);
			failed = alloc_calls() >= nth;
			alloc_fail_at(0);
			CU_ASSERT_EQUAL(stream.release != NULL, has_stream);
			CU_ASSERT(failed || (has_stream && !is_lost));
			if (!has_stream)
				CU_ASSERT_EQUAL(err.status, HD_ERR_NOMEM);
			if (is_lost) /* the same batch comes once there is memory */
				CU_ASSERT(!take_all(&stream));
			if (has_stream)
				release(&stream);
			hd_session_destroy(own);
		}
		CU_ASSERT(nth > 3 && nth < NTH_MAX);
	}
}

SUITE(.name = "arrow", .set_up = set_up, .tear_down = tear_down)
