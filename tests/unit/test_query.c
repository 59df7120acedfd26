/* SPDX-License-Identifier: MIT */
/* Commands whose answer is data: heapdump/answer.h as its users have it. */
#include <heapdump/heapdump.h>

#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/exported.h"
#include "support/newer.h"
#include "support/suite.h"
#include "util/alloc.h"

#define NTH_MAX 3000u
#define OBJECTS 100000u

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

/* Run a command line, words parted by blanks, and keep its answer. */
static int ask(struct hd_session *of, const char *line, struct hd_rows **ret, struct hd_error *err)
{
	char buf[256];
	const char *argv[8];
	const struct hd_sink sink = silent_sink();
	int argc = command_words(line, buf, sizeof(buf), argv, 8);
	return hd_rows_run(of, argc, argv, &sink, ret, err);
}

/* How many rows a visitor has had, and after how many it stops (0: never). */
struct counter {
	unsigned int rows, stop;
};

static int count_row(void *arg, const struct hd_table *table, const struct hd_value *values)
{
	struct counter *counter = arg;
	CU_ASSERT(!table->column_count || values);
	return ++counter->rows == counter->stop;
}

static struct hd_visitor counting(struct counter *counter)
{
	return (struct hd_visitor){ .struct_size = sizeof(struct hd_visitor),
				    .arg = counter,
				    .row = count_row };
}

#define REFUSED(call)                                         \
	do {                                                  \
		struct hd_error err = { 0 };                  \
		CU_ASSERT_EQUAL((call), HD_EXIT_USAGE);       \
		CU_ASSERT_EQUAL(err.status, HD_ERR_ARGUMENT); \
		CU_ASSERT(err.message[0] != '\0');            \
	} while (0)

static void try_query(void)
{
	const char *const argv[] = { "types", NULL };
	struct counter counter = { 0 };
	const struct hd_visitor whole = counting(&counter);
	const struct hd_sink sink = silent_sink();
	struct hd_visitor visitor = whole;
	struct hd_sink other = sink;
	REFUSED(hd_query(NULL, 1, argv, &whole, &sink, &err));
	REFUSED(hd_query(session, 1, NULL, &whole, &sink, &err));
	REFUSED(hd_query(session, 2, argv, &whole, &sink, &err));
	REFUSED(hd_query(session, -1, argv, &whole, &sink, &err));
	REFUSED(hd_query(session, 1, argv, NULL, &sink, &err));
	REFUSED(hd_query(session, 1, argv, &whole, NULL, &err));
	other.struct_size--;
	REFUSED(hd_query(session, 1, argv, &whole, &other, &err));
	NEWER(struct hd_visitor) newer = NEWER_OF(whole, 1);
	NEWER_SIZE(newer);
	REFUSED(hd_query(session, 1, argv, &newer.known, &sink, &err));
	visitor.row = NULL;
	REFUSED(hd_query(session, 1, argv, &visitor, &sink, &err));
	visitor = whole;
	visitor.struct_size--;
	REFUSED(hd_query(session, 1, argv, &visitor, &sink, &err));
	CU_ASSERT_EQUAL(hd_query(session, 1, argv, NULL, &sink, NULL), HD_EXIT_USAGE);
	CU_ASSERT_EQUAL(counter.rows, 0);
	CU_ASSERT_EQUAL(hd_query(session, 1, argv, &whole, &sink, NULL), HD_EXIT_OK);
	CU_ASSERT(counter.rows >= 2);
	const uint64_t rows = counter.rows;
	newer.more = 0;
	CU_ASSERT_EQUAL(hd_query(session, 1, argv, &newer.known, &sink, NULL), HD_EXIT_OK);
	CU_ASSERT_EQUAL(counter.rows, 2 * rows);
	CU_ASSERT_EQUAL(hd_query(session, 0, NULL, &whole, &sink, NULL), HD_EXIT_OK);
}

static void try_rows_run(void)
{
	const char *const argv[] = { "types", NULL };
	const struct hd_sink sink = silent_sink();
	struct hd_sink other = sink;
	struct hd_rows *rows = NULL;
	REFUSED(hd_rows_run(session, 1, argv, &sink, NULL, &err));
	REFUSED(hd_rows_run(NULL, 1, argv, &sink, &rows, &err));
	CU_ASSERT_PTR_NULL(rows);
	REFUSED(hd_rows_run(session, 1, argv, NULL, &rows, &err));
	CU_ASSERT_PTR_NULL(rows);
	other.struct_size--;
	REFUSED(hd_rows_run(session, 1, argv, &other, &rows, &err));
	CU_ASSERT_PTR_NULL(rows);
	REFUSED(hd_rows_run(session, 1, NULL, &sink, &rows, &err));
	hd_rows_free(rows);
	REFUSED(hd_rows_run(session, 2, argv, &sink, &rows, &err));
	hd_rows_free(rows);
	CU_ASSERT_EQUAL(hd_rows_run(session, 1, argv, &sink, &rows, NULL), HD_EXIT_OK);
	CU_ASSERT_PTR_NOT_NULL(hd_rows_find(rows, NULL));
	hd_rows_free(rows);
}

static void try_rows(void)
{
	struct hd_rows *rows = NULL, *others = NULL;
	CU_ASSERT_EQUAL(ask(session, "types", &rows, NULL), HD_EXIT_OK);
	CU_ASSERT_EQUAL(ask(session, "dumpheap", &others, NULL), HD_EXIT_OK);
	const struct hd_table *types = hd_rows_find(rows, "types");
	const struct hd_table *strange = hd_rows_find(others, "objects");
	REQUIRE(types);
	REQUIRE(strange);
	CU_ASSERT_PTR_NULL(hd_rows_find(rows, "objects"));
	CU_ASSERT_PTR_NULL(hd_rows_find(NULL, "types"));
	CU_ASSERT_PTR_NULL(hd_rows_table(NULL, 0));
	CU_ASSERT_PTR_NULL(hd_rows_table(rows, 1000));
	CU_ASSERT_EQUAL(hd_rows_count(NULL, types), 0);
	CU_ASSERT_EQUAL(hd_rows_count(rows, NULL), 0);
	CU_ASSERT_EQUAL(hd_rows_count(rows, strange), 0);
	CU_ASSERT_PTR_NULL(hd_rows_at(NULL, types, 0));
	CU_ASSERT_PTR_NULL(hd_rows_at(rows, NULL, 0));
	CU_ASSERT_PTR_NULL(hd_rows_at(rows, strange, 0));
	CU_ASSERT_PTR_NULL(hd_rows_at(rows, types, UINT64_MAX));
	CU_ASSERT_EQUAL(hd_rows_parent(NULL, types, 0), 0);
	CU_ASSERT_EQUAL(hd_rows_parent(rows, NULL, 0), 0);
	CU_ASSERT_EQUAL(hd_rows_parent(rows, types, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(hd_rows_in(NULL, types, 0, NULL, NULL), 0);
	CU_ASSERT_EQUAL(hd_rows_in(rows, NULL, 0, NULL, NULL), 0);
	CU_ASSERT_EQUAL(hd_rows_in(rows, strange, 0, NULL, NULL), 0);
	CU_ASSERT_PTR_NULL(hd_rows_member(NULL, "types"));
	CU_ASSERT_PTR_NULL(hd_rows_member(rows, NULL));
	CU_ASSERT_PTR_NULL(hd_rows_member(rows, ""));
	ASSERT_TEXT(hd_rows_warnings(NULL), "");
	CU_ASSERT_EQUAL(hd_table_column(NULL, "name"), -1);
	CU_ASSERT_EQUAL(hd_table_column(types, NULL), -1);
	CU_ASSERT_EQUAL(hd_table_column(types, "none"), -1);
	CU_ASSERT(hd_table_column(types, "name") >= 0);
	hd_rows_free(rows);
	hd_rows_free(others);
	hd_rows_free(NULL);
}

TEST(nothing_crashes_without_its_arguments)
{
	static const struct attempt functions[] = {
		{ "hd_query", try_query },        { "hd_rows_at", try_rows },
		{ "hd_rows_count", try_rows },    { "hd_rows_find", try_rows },
		{ "hd_rows_free", try_rows },     { "hd_rows_in", try_rows },
		{ "hd_rows_member", try_rows },   { "hd_rows_parent", try_rows },
		{ "hd_rows_run", try_rows_run },  { "hd_rows_table", try_rows },
		{ "hd_rows_warnings", try_rows }, { "hd_table_column", try_rows },
	};
	const size_t count = sizeof(functions) / sizeof(functions[0]);
	for (size_t i = 0; i < count; i++)
		functions[i].attempt();
	ASSERT_UINT(exported_check_header("answer.h", functions, count), count);
}

TEST(options_for_other_formats_change_nothing)
{
	static const char *const lines[] = { "types", "types --json", "types --format csv",
					     "types --color on" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct hd_rows *rows = NULL;
		CU_ASSERT_EQUAL(ask(session, lines[i], &rows, NULL), HD_EXIT_OK);
		const struct hd_table *types = hd_rows_find(rows, NULL);
		REQUIRE(types);
		ASSERT_TEXT(types->name, "types");
		ASSERT_UINT(hd_rows_count(rows, types), 2);
		hd_rows_free(rows);
	}
}

TEST(rows_outlive_their_session)
{
	struct hd_session *other = session_with(dump);
	struct hd_rows *rows = NULL;
	CU_ASSERT_EQUAL(ask(other, "gcroot 30", &rows, NULL), HD_EXIT_OK);
	hd_session_destroy(other);
	const struct hd_table *path = hd_rows_find(rows, "roots.path");
	REQUIRE(path);
	ASSERT_TEXT(path->parent->name, "roots");
	CU_ASSERT_EQUAL(path->parent->is_main, 1);
	ASSERT_UINT(hd_rows_count(rows, path), 3);
	int type = hd_table_column(path, "type");
	REQUIRE(type >= 0 ? rows : NULL);
	const struct hd_value *last = &hd_rows_at(rows, path, 2)[type];
	ASSERT_UINT(last->kind, HD_KIND_TYPE);
	CU_ASSERT(last->size == 13 && memcmp(last->text, "System.String", 13) == 0);
	hd_rows_free(rows);
}

TEST(errors_come_with_what_was_found)
{
	struct hd_rows *rows = NULL;
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(ask(session, "nonsense", &rows, &err), HD_EXIT_USAGE);
	CU_ASSERT_EQUAL(err.status, HD_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(err.is_told, 0);
	CU_ASSERT_PTR_NOT_NULL(rows);
	CU_ASSERT_PTR_NULL(hd_rows_table(rows, 0));
	hd_rows_free(rows);
	CU_ASSERT_EQUAL(ask(session, "gcroot 99 --json", &rows, &err), HD_EXIT_USAGE);
	CU_ASSERT_EQUAL(err.status, HD_ERR_NOTFOUND);
	CU_ASSERT_EQUAL(err.is_told, 0);
	hd_rows_free(rows);
}

/* A dump that is written to where the answer goes would have to be taken by a sink that takes none. */
TEST(a_dump_has_no_rows)
{
	struct hd_rows *rows = NULL;
	struct hd_error err = { 0 };
	CU_ASSERT_EQUAL(ask(session, "export -", &rows, &err), HD_EXIT_USAGE);
	CU_ASSERT_EQUAL(err.status, HD_ERR_ARGUMENT);
	hd_rows_free(rows);
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

TEST(a_visitor_that_stops_ends_the_command)
{
	struct hd_session *large = large_session();
	const char *const argv[] = { "dumpheap" };
	const struct hd_sink sink = silent_sink();
	for (unsigned int stop = 1; stop < 1000; stop *= 10) {
		struct counter counter = { .stop = stop };
		const struct hd_visitor visitor = counting(&counter);
		struct hd_error err = { 0 };
		CU_ASSERT_EQUAL(hd_query(large, 1, argv, &visitor, &sink, &err),
				HD_EXIT_INTERRUPTED);
		CU_ASSERT_EQUAL(err.status, HD_ERR_CANCELLED);
		ASSERT_UINT(counter.rows, stop);
	}
	struct counter counter = { 0 };
	const struct hd_visitor visitor = counting(&counter);
	CU_ASSERT_EQUAL(hd_query(large, 1, argv, &visitor, &sink, NULL), HD_EXIT_OK);
	CU_ASSERT(counter.rows > OBJECTS);
	hd_session_destroy(large);
}

static int always(void *arg)
{
	(void)arg;
	return 1;
}

TEST(a_sink_that_cancels_ends_the_command)
{
	const char *const argv[] = { "gcroot", "30" };
	struct hd_sink sink = silent_sink();
	struct hd_rows *rows = NULL;
	struct hd_error err = { 0 };
	sink.cancelled = always;
	CU_ASSERT_EQUAL(hd_rows_run(session, 2, argv, &sink, &rows, &err), HD_EXIT_INTERRUPTED);
	CU_ASSERT_EQUAL(err.status, HD_ERR_CANCELLED);
	hd_rows_free(rows);
}

TEST(rows_keep_to_the_limit_of_memory)
{
	struct hd_session *large = large_session();
	struct hd_rows *rows = NULL;
	struct hd_error err = { 0 };
	uint64_t live = alloc_live();
	CU_ASSERT_EQUAL(ask(large, "dumpheap --max-mem 1M", &rows, &err), HD_EXIT_INPUT);
	CU_ASSERT_EQUAL(err.status, HD_ERR_NOMEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "max-mem"));
	uint64_t count = hd_rows_count(rows, hd_rows_find(rows, "objects"));
	CU_ASSERT(count > 1000 && count < OBJECTS);
	CU_ASSERT(alloc_live() - live < (2 << 20));
	hd_rows_free(rows);
	CU_ASSERT_EQUAL(ask(large, "dumpheap", &rows, &err), HD_EXIT_OK);
	ASSERT_UINT(hd_rows_count(rows, hd_rows_find(rows, "objects")), OBJECTS);
	hd_rows_free(rows);
	hd_session_destroy(large);
}

TEST(warnings_are_kept)
{
	struct hd_session *other = NULL;
	struct hd_rows *rows = NULL;
	CU_ASSERT_FATAL(hd_session_create(&other, NULL) == HD_OK);
	const char path[] = HD_SOURCE_DIR "/tests/data/bad.heap";
	CU_ASSERT_FATAL(hd_session_defer(other, path, NULL) == HD_OK);
	CU_ASSERT_EQUAL(ask(other, "types --lenient", &rows, NULL), HD_EXIT_OK);
	hd_session_destroy(other);
	const char *warnings = hd_rows_warnings(rows);
	size_t size = strlen(warnings);
	CU_ASSERT(size > 10 && warnings[size - 1] == '\n');
	hd_rows_free(rows);
}

TEST(memory_may_run_out_at_any_point)
{
	static const char *const lines[] = { "gcroot 30", "types", "info", "set", "help" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uint64_t nth = 1;
		for (bool failed = true; failed && nth < NTH_MAX; nth++) {
			struct hd_session *own = session_with(dump);
			struct hd_rows *rows = NULL;
			struct hd_error err = { 0 };
			alloc_fail_at(nth);
			int status = ask(own, lines[i], &rows, &err);
			failed = alloc_calls() >= nth;
			alloc_fail_at(0);
			if (failed && status != HD_EXIT_OK) {
				CU_ASSERT_EQUAL(status, HD_EXIT_INPUT);
				CU_ASSERT_EQUAL(err.status, HD_ERR_NOMEM);
			} else {
				CU_ASSERT_EQUAL(status, HD_EXIT_OK);
				CU_ASSERT_PTR_NOT_NULL(hd_rows_table(rows, 0));
			}
			hd_rows_free(rows);
			hd_session_destroy(own);
		}
		CU_ASSERT(nth > 3 && nth < NTH_MAX);
	}
}

SUITE(.name = "query", .set_up = set_up, .tear_down = tear_down)
