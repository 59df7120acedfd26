/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/dump_text.h"
#include "support/suite.h"
#include "support/turns.h"
#include "util/alloc.h"

/*
 * Every allocation fails once: the first, the second, ... and all after it.  What fails says so,
 * leaves nothing after (the build with sanitizers tells), and works the next time.  The build with
 * sanitizers takes one of three; the seed says which.
 */

#define NTH_MAX 3000u
#define SHARE   share_of(1, 3)

/* Open with the allocation failing from the @p nth on; false once none is left to fail. */
static bool open_fails_well(const struct text *text, const struct dump_reading *how, uint64_t nth,
			    enum hd_status expected_status, const struct hd_graph *expected)
{
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	alloc_fail_at(nth);
	enum hd_status status = dump_open(text->bytes, text->size, how, &graph, &err);
	bool failed = alloc_calls() >= nth;
	alloc_fail_at(0);
	CU_ASSERT(status == expected_status || (failed && status == HD_ERR_NOMEM));
	ASSERT_UINT(err.status, status);
	ASSERT_UINT(graph != NULL, status == HD_OK);
	if (graph && expected)
		ASSERT_GRAPH(graph, expected, failed ? GRAPH_CONTENT : GRAPH_EXACT);
	graph_destroy(graph);
	return failed;
}

static void check_open(const struct text *text, const struct dump_reading *how)
{
	struct hd_graph *expected = NULL;
	enum hd_status status = dump_open(text->bytes, text->size, how, &expected, NULL);
	uint64_t nth = 1 + first_turn(SHARE);
	while (nth < NTH_MAX && open_fails_well(text, how, nth, status, expected))
		nth += turn_step(SHARE);
	CU_ASSERT(nth > 3 && nth < NTH_MAX);
	graph_destroy(expected);
}

static void check_open_string(const char *string, const struct dump_reading *how)
{
	struct text text = { 0 };
	text_puts(&text, string);
	check_open(&text, how);
	text_deinit(&text);
}

#define SORTED                                                                             \
	"a 2 x 1\nt 1 T\no 10 1 8 20 30\no 20 2 8 10 50\no 30 1 123456789a 20\nr 10 3 0\n" \
	"r 60 4 0 1\nc x 2\na 2 y\nt 1 U\no 40 1 8 10\nr 40 1 0\n"

#define UNSORTED                                                                  \
	"a 2 x 1\no 30 1 8 20\no 10 1 ffffffff 20 30\nt 1 T\nc x\na 2 y\nt 5 T\n" \
	"o 30 5 8 20\no 20 5 8 10 50\no 10 5 ffffffff 20 30\nr 10 3 0\nr 10 3 0\nc z\n"

#define DAMAGED                                                                      \
	"o 10 1 8\na 2 x 1\nt 1 T\nt 1 U\no z\no 20 1 8\no 10 1 9\nr 10 9 9\nq\nc\n" \
	"a 3 y\nr 10 4 0\nc y\nc y\n"

TEST_OF(opening, opening_a_sorted_file)
{
	check_open_string(SORTED, &(struct dump_reading){ 0 });
}

TEST_OF(opening, opening_a_file_that_is_not_sorted)
{
	check_open_string(UNSORTED, &(struct dump_reading){ 0 });
}

TEST_OF(opening, opening_a_damaged_file)
{
	check_open_string(DAMAGED, &(struct dump_reading){ .lenient = true });
	check_open_string(DAMAGED, &(struct dump_reading){ 0 });
	check_open_string("a 2 x\nt 1 T\no 20 1 8\no 10 1 8\no 20 1 9\nc x\n",
			  &(struct dump_reading){ 0 });
}

/* Over 2 MiB, so that two workers share it; @p step is odd: ids ascend, or go round. */
static struct text long_text(uint32_t step, const char *end)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x 1\nt 1 T\nt 2 U\n");
	for (uint32_t i = 0; i < 65536; i++) {
		text_printf(&text, "o %08x %x %x %08x %08x\n", (i * step & 65535) * 16, 1 + i % 3,
			    i % 1000 ? 24 : 0xffffffff, i * 3 % 65536 * 16, i * 7 % 65600 * 16);
	}
	text_puts(&text, end);
	return text;
}

TEST_OF(opening, opening_with_two_workers)
{
	static const uint32_t steps[] = { 1, 40503 };
	for (size_t i = 0; i < 2; i++) {
		struct text text = long_text(steps[i], "r 10 3 0\nc x 2\n");
		check_open(&text, &(struct dump_reading){ .workers = 2 });
		text_deinit(&text);
	}
	struct text text = long_text(1, "q\nc x 2\n");
	check_open(&text, &(struct dump_reading){ .workers = 2 });
	check_open(&text, &(struct dump_reading){ .workers = 2, .lenient = true });
	text_deinit(&text);
}

/* A list of 300 objects whose types change, so that long paths fold, with some of everything. */
static struct text sample(void)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x.exe 10\nt 1 A`1[[B, C]]\nt 2 B\nt 3 C\nt 4 D\n");
	for (unsigned int i = 0; i < 300; i++) {
		unsigned int type = i < 20 ? 1 : 1 + i % 4;
		text_printf(&text, "o %x %x %x %x %x\n", 0x100 + i * 16, type, 24 + i,
			    0x100 + (i + 1) * 16, 0x100 + i / 2 * 16);
	}
	text_puts(&text, "o 13c0 9 123456789a 1\nr 100 4 1 2\nr 120 1 0\nr 130 3 2\nr 13c0 3 2\n"
			 "r 13b0 3 0\nr 120 1 0\nr 1 0 0\nc x.exe 20\n"
			 "a 2 y.exe\nt 1 E\no 2000 1 8 100\no 2010 1 8\nr 2000 5 4\nc y.exe\n");
	return text;
}

static struct dump_file dump, other;
static char directory[32];

static void set_up(void)
{
	struct text text = sample();
	dump_file_make(&dump, text.bytes, text.size);
	text_puts(&text, "a 2 z\nt 1 F\no 3000 1 99\nr 3000 3 0\nc z\n");
	dump_file_make(&other, text.bytes, text.size);
	text_deinit(&text);
	(void)snprintf(directory, sizeof(directory), "/tmp/heapdump-test-XXXXXX");
	REQUIRE(mkdtemp(directory));
}

/* Remove what was exported; @return how many files are only half of one. */
static unsigned int clear_exported(void)
{
	unsigned int halves = 0;
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, NULL, NULL);
	CU_ASSERT_FATAL(count >= 2);
	for (int i = 0; i < count; i++) {
		char path[400];
		(void)snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.') {
			halves += strncmp(entries[i]->d_name, "x.h", 3) != 0;
			(void)unlink(path);
		}
		free(entries[i]);
	}
	free(entries);
	return halves;
}

static void tear_down(void)
{
	(void)clear_exported();
	(void)rmdir(directory);
	dump_file_close(&dump);
	dump_file_close(&other);
}

/* OTHER stands for the second dump, EXPORT for a file in the directory. */
static const char *const command_lines[] = {
	"gcroot 13b0",
	"gcroot 13b0 -all -limit 0 -weak -nostacks -full",
	"gcroot 2010",
	"gcroot deadbeef",
	"pathto 100 13b0",
	"pathto 13b0 100 -full",
	"objsize 1000",
	"objsize 1000 -stat",
	"objsize 1000 -short -limit 3",
	"retained 120",
	"retained 2010",
	"dominators",
	"dominators 200 -top 5",
	"dumpheap",
	"dumpheap -stat -bycount",
	"dumpheap -type A1[ -min 20 -max 400 -live -limit 5",
	"dumpheap 120 1000 -mt 2 -short -dead",
	"dumpobj 120 -refs",
	"dumpobj 1",
	"do 100 -refs -limit 1",
	"roots",
	"roots -kind static -flag pinned -container B",
	"types -type B -bycount",
	"info",
	"diff OTHER",
	"diff OTHER -type F -limit 1",
	"export EXPORT --format rpm",
	"export -",
	"report",
	"report -o EXPORT.html",
	"help",
	"help gcroot",
	"set",
	"set workers 2",
	"open OTHER",
	"nonsense",
	"gcroot --nonsense",
	"dumpheap -limit x",
};

static void full_line(char *buf, size_t size, const char *line, bool json)
{
	const char *at = strstr(line, "OTHER"), *name = other.path;
	char exported[64];
	if (!at && (at = strstr(line, "EXPORT")) != NULL) {
		bool has_ending = at[strlen("EXPORT")] == '.';
		(void)snprintf(exported, sizeof(exported), "%s/x%s", directory,
			       has_ending ? "" : ".heap");
		name = exported;
	}
	size_t word = at && name == exported ? strlen("EXPORT") : strlen("OTHER");
	if (at) {
		(void)snprintf(buf, size, "%.*s%s%s%s", (int)(at - line), line, name, at + word,
			       json ? " --json" : "");
	} else {
		(void)snprintf(buf, size, "%s%s", line, json ? " --json" : "");
	}
}

static struct hd_session *deferred_session(void)
{
	struct hd_session *session = NULL;
	CU_ASSERT_FATAL(hd_session_create(&session, NULL) == HD_OK);
	CU_ASSERT_FATAL(hd_session_defer(session, dump.path, NULL) == HD_OK);
	return session;
}

static bool same_answer(const struct answer *a, const struct answer *b)
{
	return a->status == b->status && a->text.size == b->text.size &&
	       strcmp(answer_text(a), answer_text(b)) == 0;
}

/* One run with the @p nth allocation failing, and one after it; false once none failed. */
static bool command_fails_well(const char *line, bool json, uint64_t nth,
			       const struct answer *expected)
{
	struct hd_session *session = deferred_session();
	alloc_fail_at(nth);
	struct answer answer = command_run(session, line);
	bool failed = alloc_calls() >= nth;
	alloc_fail_at(0);
	if (!failed) {
		CU_ASSERT(same_answer(&answer, expected));
	} else if (answer.status != expected->status) {
		ASSERT_UINT((uint64_t)answer.status, HD_EXIT_INPUT);
		ASSERT_UINT(answer.err.status, HD_ERR_NOMEM);
		bool told = strstr(answer_text(&answer), "\"status\": \"nomem\"") != NULL;
		ASSERT_UINT(answer.err.is_told, told);
		CU_ASSERT(json || !told);
		ASSERT_UINT(clear_exported(), 0);
	}
	answer_deinit(&answer);
	answer = command_run(session, line);
	bool opened = strncmp(line, "open ", 5) == 0; /* its target is what was open before */
	CU_ASSERT(opened ? answer.status == HD_EXIT_OK : same_answer(&answer, expected));
	answer_deinit(&answer);
	hd_session_destroy(session);
	return failed;
}

static void check_command(const char *command_line, bool json)
{
	char line[300];
	full_line(line, sizeof(line), command_line, json);
	struct hd_session *session = deferred_session();
	struct answer expected = command_run(session, line);
	CU_ASSERT(expected.status != HD_EXIT_INPUT && expected.status != HD_EXIT_INTERRUPTED);
	hd_session_destroy(session);
	uint64_t nth = 1 + first_turn(SHARE);
	while (nth < NTH_MAX && command_fails_well(line, json, nth, &expected))
		nth += turn_step(SHARE);
	CU_ASSERT(nth < NTH_MAX);
	answer_deinit(&expected);
}

TEST_OF(commands, every_command_in_text)
{
	for (size_t i = 0; i < sizeof(command_lines) / sizeof(command_lines[0]); i++)
		check_command(command_lines[i], false);
}

TEST_OF(commands, every_command_in_json)
{
	for (size_t i = 0; i < sizeof(command_lines) / sizeof(command_lines[0]); i++)
		check_command(command_lines[i], true);
}

TEST_OF(commands, a_kept_answer)
{
	const char *const argv[] = { "gcroot", "13b0" };
	const struct hd_sink sink = { .struct_size = sizeof(sink) };
	size_t whole = 0;
	for (uint64_t nth = 0; nth < NTH_MAX; nth++) {
		struct hd_session *session = deferred_session();
		struct hd_text *text = NULL;
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		int status = hd_text_run(session, 2, argv, &sink, &text, &err);
		bool failed = nth && alloc_calls() >= nth;
		alloc_fail_at(0);
		char buf[20000];
		size_t size = text ? hd_text_read(text, buf, sizeof(buf)) : 0;
		if (!nth)
			whole = size;
		if (status == HD_EXIT_OK) {
			ASSERT_UINT(size, whole);
		} else {
			CU_ASSERT(status == HD_EXIT_INPUT && err.status == HD_ERR_NOMEM);
		}
		hd_text_free(text);
		hd_session_destroy(session);
		if (nth && !failed) {
			CU_ASSERT(status == HD_EXIT_OK && whole > 1000);
			return;
		}
	}
	CU_FAIL("still out of memory");
}

TEST_OF(commands, a_failed_open_keeps_what_is_open)
{
	struct hd_session *session = NULL;
	alloc_fail_at(1);
	ASSERT_UINT(hd_session_create(&session, NULL), HD_ERR_NOMEM);
	alloc_fail_at(0);
	CU_ASSERT_PTR_NULL(session);
	CU_ASSERT_FATAL(hd_session_create(&session, NULL) == HD_OK);
	CU_ASSERT_FATAL(hd_session_open(session, other.path, 0, NULL, NULL) == HD_OK);
	const struct hd_graph *graph = hd_session_graph(session);
	bool failed = true;
	for (uint64_t nth = 1; failed && nth < NTH_MAX; nth++) {
		alloc_fail_at(nth);
		enum hd_status status = hd_session_open(session, dump.path, 0, NULL, NULL);
		failed = alloc_calls() >= nth;
		alloc_fail_at(0);
		if (status == HD_OK)
			break;
		ASSERT_UINT(status, HD_ERR_NOMEM);
		CU_ASSERT_PTR_EQUAL(hd_session_graph(session), graph);
		ASSERT_TEXT(hd_session_path(session), other.path);
	}
	ASSERT_TEXT(hd_session_path(session), dump.path);
	alloc_fail_at(1);
	ASSERT_UINT(hd_session_defer(session, other.path, NULL), HD_ERR_NOMEM);
	alloc_fail_at(0);
	ASSERT_TEXT(hd_session_path(session), dump.path);
	hd_session_destroy(session);
}

SUITES({ .name = "faults: opening", .key = "opening" },
       { .name = "faults: commands", .set_up = set_up, .tear_down = tear_down, .key = "commands" })
