/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>

#include "output/fit.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/dump_text.h"
#include "support/suite.h"

/* Threads that the library has made: its calls come here first. */
static unsigned int threads_made;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	void *symbol = dlsym(RTLD_NEXT, "pthread_create");
	memcpy(&real, &symbol, sizeof(real));
	threads_made++;
	return real(thread, attr, start, arg);
}

static struct hd_session *session;
static struct dump_file large; /* over 4 MiB */

static void set_up(void)
{
	CU_ASSERT_FATAL(hd_session_create(&session, NULL) == HD_OK);
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\n");
	for (uint64_t i = 1; text.size < (size_t)9 << 19; i++)
		text_printf(&text, "o %llx 1 18 10 20 30\n", (unsigned long long)i * 16);
	text_puts(&text, "c x\n");
	dump_file_make(&large, text.bytes, text.size);
	text_deinit(&text);
}

static void tear_down(void)
{
	hd_session_destroy(session);
	dump_file_close(&large);
}

static const char *get(const char *name)
{
	static char value[64];
	ASSERT_UINT(hd_session_get(session, name, value, sizeof(value), NULL), HD_OK);
	return value;
}

static void set(const char *name, const char *value)
{
	struct hd_error err = { 0 };
	ASSERT_UINT(hd_session_set(session, name, value, &err), HD_OK);
	ASSERT_TEXT(err.message, "");
}

TEST(every_setting_has_a_default_and_help)
{
	static const char *const expected[][2] = {
		{ "max-mem", "0" },    { "max-stop", "10" }, { "workers", "0" },
		{ "width", "auto" },   { "color", "auto" },  { "format", "text" },
		{ "raw-csv", "off" },  { "sysroot", "" },    { "symbols", "" },
		{ "runtime", "" },     { "files", "on" },    { "trust-files", "off" },
		{ "copy-all", "off" }, { "exact", "off" },   { "snapshot", "0" },
		{ "pager", "on" },     { "code", "on" },     { "backend", "auto" },
	};
	const char *help = NULL;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ASSERT_TEXT(hd_setting_name(i, &help), expected[i][0]);
		CU_ASSERT(help && strlen(help) > 10);
		ASSERT_TEXT(get(expected[i][0]), expected[i][1]);
	}
	CU_ASSERT_PTR_NULL(hd_setting_name(18, &help));
	CU_ASSERT_PTR_NULL(hd_setting_name(SIZE_MAX, NULL));
}

TEST(what_is_set_is_read_back)
{
	static const char *const cases[][3] = {
		{ "max-mem", "64K", "65536" },
		{ "max-mem", "2G", "2147483648" },
		{ "max-mem", "0x100", "256" },
		{ "max-mem", "0", "0" },
		{ "max-stop", "1", "1" },
		{ "max-stop", "3600", "3600" },
		{ "workers", "1", "1" },
		{ "workers", "64", "64" },
		{ "workers", "0", "0" },
		{ "width", "20", "20" },
		{ "width", "65535", "65535" },
		{ "width", "0", "0" },
		{ "width", "auto", "auto" },
		{ "color", "on", "on" },
		{ "color", "ON", "on" },
		{ "color", "off", "off" },
		{ "color", "auto", "auto" },
		{ "format", "csv", "csv" },
		{ "format", "JSON", "json" },
		{ "format", "text", "text" },
		{ "raw-csv", "on", "on" },
		{ "raw-csv", "off", "off" },
		{ "sysroot", "/", "/" },
		{ "sysroot", "", "" },
		{ "symbols", "/", "/" },
		{ "symbols", "", "" },
		{ "runtime", "libone.so", "libone.so" },
		{ "runtime", "", "" },
		{ "files", "off", "off" },
		{ "files", "on", "on" },
		{ "trust-files", "on", "on" },
		{ "trust-files", "off", "off" },
		{ "copy-all", "on", "on" },
		{ "copy-all", "OFF", "off" },
		{ "exact", "on", "on" },
		{ "exact", "off", "off" },
		{ "snapshot", "3", "3" },
		{ "snapshot", "0", "0" },
		{ "backend", "file", "file" },
		{ "backend", "process", "process" },
		{ "backend", "debugger", "debugger" },
		{ "backend", "auto", "auto" },
		{ "code", "off", "off" },
		{ "code", "on", "on" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(cases[i][0], cases[i][1]);
		ASSERT_TEXT(get(cases[i][0]), cases[i][2]);
		char copy[64];
		(void)snprintf(copy, sizeof(copy), "%s", get(cases[i][0]));
		set(cases[i][0], copy);
		ASSERT_TEXT(get(cases[i][0]), cases[i][2]);
	}
}

TEST(a_bad_value_changes_nothing)
{
	static const char *const cases[][2] = {
		{ "max-mem", "" },         { "max-mem", "much" },
		{ "max-mem", "-1" },       { "max-mem", "1Y" },
		{ "max-stop", "0" },       { "max-stop", "3601" },
		{ "max-stop", "soon" },    { "max-stop", "4294967297" },
		{ "workers", "65" },       { "workers", "-1" },
		{ "workers", "two" },      { "workers", "" },
		{ "width", "19" },         { "width", "65536" },
		{ "width", "wide" },       { "color", "yes" },
		{ "color", "one" },        { "color", "" },
		{ "colour", "on" },        { "", "1" },
		{ "max-me", "1" },         { "sysroot", "/nowhere" },
		{ "symbols", "/nowhere" }, { "format", "xml" },
		{ "format", "" },          { "files", "yes" },
		{ "files", "" },           { "backend", "gdb" },
		{ "trust-files", "yes" },  { "exact", "1" },
		{ "copy-all", "yes" },     { "snapshot", "last" },
		{ "raw-csv", "yes" },
	};
	set("max-mem", "1G");
	set("workers", "3");
	set("width", "50");
	set("color", "on");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hd_error err = { 0 };
		ASSERT_UINT(hd_session_set(session, cases[i][0], cases[i][1], &err),
			    HD_ERR_ARGUMENT);
		ASSERT_UINT(err.status, HD_ERR_ARGUMENT);
		CU_ASSERT(err.message[0] != '\0');
		ASSERT_TEXT(get("max-mem"), "1073741824");
		ASSERT_TEXT(get("workers"), "3");
		ASSERT_TEXT(get("width"), "50");
		ASSERT_TEXT(get("color"), "on");
	}
	ASSERT_UINT(hd_session_set(session, NULL, "1", NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_session_set(session, "width", NULL, NULL), HD_ERR_ARGUMENT);
	char buf[10];
	ASSERT_UINT(hd_session_get(session, "none", buf, sizeof(buf), NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_session_get(session, "max-mem", buf, sizeof(buf), NULL), HD_ERR_ARGUMENT);
}

TEST(max_mem_limits_what_opening_may_take)
{
	set("max-mem", "1M");
	struct hd_error err = { 0 };
	ASSERT_UINT(hd_session_open(session, large.path, 0, NULL, &err), HD_ERR_NOMEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "max-mem"));
	CU_ASSERT_PTR_NULL(hd_session_graph(session));
	set("max-mem", "1G");
	ASSERT_UINT(hd_session_open(session, large.path, 0, NULL, &err), HD_OK);
	CU_ASSERT_PTR_NOT_NULL(hd_session_graph(session));
}

TEST(an_option_limits_one_command_alone)
{
	char line[100];
	(void)snprintf(line, sizeof(line), "open %s --max-mem 1M", large.path);
	struct answer answer = command_run(session, line);
	CU_ASSERT_EQUAL(answer.status, HD_EXIT_INPUT);
	ASSERT_UINT(answer.err.status, HD_ERR_NOMEM);
	answer_deinit(&answer);
	ASSERT_TEXT(get("max-mem"), "0");
	line[strlen(line) - strlen(" --max-mem 1M")] = '\0';
	answer = command_run(session, line);
	CU_ASSERT_EQUAL(answer.status, HD_EXIT_OK);
	answer_deinit(&answer);
}

static unsigned int threads_of_open(const char *workers)
{
	set("workers", workers);
	threads_made = 0;
	ASSERT_UINT(hd_session_open(session, large.path, 0, NULL, NULL), HD_OK);
	return threads_made;
}

TEST(workers_are_threads)
{
	ASSERT_UINT(threads_of_open("1"), 0);
	unsigned int two = threads_of_open("2"), four = threads_of_open("4");
	CU_ASSERT(two > 0);
	CU_ASSERT(four > two);
	char line[100];
	(void)snprintf(line, sizeof(line), "open %s --workers=1", large.path);
	threads_made = 0;
	struct answer answer = command_run(session, line);
	CU_ASSERT_EQUAL(answer.status, HD_EXIT_OK);
	ASSERT_UINT(threads_made, 0);
	ASSERT_TEXT(get("workers"), "4");
	answer_deinit(&answer);
}

#define WIDE                                                                                          \
	"a 2 x\nt 1 A.Name+That+Is+Rather+Long+For+A+Line\n"                                          \
	"t 2 \xd0\x9a\xd0\xbb\xd0\xb0\xd1\x81\xd1\x81.\xe2\x82\xac.\xd0\x98\xd0\xbc\xd1\x8f.\xd0\x98" \
	"\xd0\xbc\xd1\x8f\no 10 1 18\no 20 2 20\no 30 2 20\nr 10 4 1 2\nc x\n"

static void open_text(const char *text)
{
	struct dump_file file;
	dump_file_make(&file, text, strlen(text));
	CU_ASSERT_FATAL(hd_session_open(session, file.path, 0, NULL, NULL) == HD_OK);
	dump_file_close(&file);
}

/* Lines of @p cut are those of @p whole: none is longer, and those that fit are the same. */
static void check_lines(const char *whole, const char *cut, size_t width)
{
	while (*whole && *cut) {
		size_t size = strcspn(whole, "\n"), left = strcspn(cut, "\n");
		size_t columns = fit_columns(whole, size), fitting = fit_columns(cut, left);
		CU_ASSERT(fitting <= columns);
		if (columns <= width)
			CU_ASSERT(left == size && memcmp(whole, cut, size) == 0);
		whole += size + 1;
		cut += left + 1;
	}
	CU_ASSERT(*whole == *cut);
}

static void check_width(const char *line, size_t width)
{
	char value[16];
	struct answer whole = command_run(session, line);
	(void)snprintf(value, sizeof(value), "%zu", width);
	set("width", value);
	struct answer cut = command_run(session, line);
	check_lines(answer_text(&whole), answer_text(&cut), width);
	set("width", "auto");
	answer_deinit(&cut);
	answer_deinit(&whole);
}

TEST(width_shortens_names)
{
	open_text(WIDE);
	for (size_t width = 20; width < 90; width++) {
		check_width("dumpheap -stat", width);
		check_width("gcroot 10", width);
	}
	struct answer answer = command_run(session, "types --width 25");
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), "\xe2\x80\xa6"));
	answer_deinit(&answer);
	answer = command_run(session, "types --width 25 --full");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(answer_text(&answer), "A.Name+That+Is+Rather+Long+For+A+Line"));
	answer_deinit(&answer);
	answer = command_run(session, "types --json --width 20");
	CU_ASSERT_PTR_NULL(strstr(answer_text(&answer), "\xe2\x80\xa6"));
	answer_deinit(&answer);
}

/* Take the colour codes out, in place. */
static void strip(char *text)
{
	char *out = text;
	for (bool code = false; *text; text++) {
		code = code || *text == '\033';
		if (!code)
			*out++ = *text;
		code = code && *text != 'm';
	}
	*out = '\0';
}

static void check_color(const char *line, bool sink_has_color, bool expected)
{
	struct answer plain = command_run(session, "gcroot 10 --color off");
	struct answer answer = command_run_on(session, line, sink_has_color);
	ASSERT_UINT(strchr(answer_text(&answer), '\033') != NULL, expected);
	REQUIRE(answer.text.bytes);
	strip(answer.text.bytes);
	ASSERT_TEXT(answer_text(&answer), answer_text(&plain));
	answer_deinit(&answer);
	answer_deinit(&plain);
}

TEST(color_follows_the_setting_or_the_sink)
{
	open_text(WIDE);
	check_color("gcroot 10", true, true);
	check_color("gcroot 10", false, false);
	set("color", "on");
	check_color("gcroot 10", false, true);
	check_color("gcroot 10 --color auto", false, false);
	set("color", "off");
	check_color("gcroot 10", true, false);
	check_color("gcroot 10 --color=on", false, true);
	set("color", "on");
	struct answer answer = command_run_on(session, "gcroot 10 --json", true);
	CU_ASSERT_PTR_NULL(strchr(answer_text(&answer), '\033'));
	answer_deinit(&answer);
}

TEST(a_cut_name_ends_its_colour)
{
	open_text(WIDE);
	set("color", "on");
	set("width", "20");
	struct answer answer = command_run(session, "types");
	const char *cut = strstr(answer_text(&answer), "\xe2\x80\xa6");
	REQUIRE(cut);
	const char *end = strstr(cut, "\033[0m");
	CU_ASSERT(end && end < strchr(cut, '\n'));
	answer_deinit(&answer);
}

TEST(the_set_command_shows_and_changes)
{
	struct answer answer = command_run(session, "set");
	static const char *const names[] = { "max-mem ", "workers ", "width ", "color " };
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), names[i]));
	answer_deinit(&answer);
	answer = command_run(session, "set width 44");
	CU_ASSERT_EQUAL(answer.status, HD_EXIT_OK);
	ASSERT_TEXT(get("width"), "44");
	answer_deinit(&answer);
	answer = command_run(session, "set width --json");
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_text(&answer), "\"settings\": {\"width\": \"44\"}"));
	answer_deinit(&answer);
	static const char *const wrong[] = { "set width 7", "set wide 7", "set wide",
					     "set width 1 2" };
	for (size_t i = 0; i < 4; i++) {
		answer = command_run(session, wrong[i]);
		CU_ASSERT_EQUAL(answer.status, HD_EXIT_USAGE);
		ASSERT_TEXT(get("width"), "44");
		answer_deinit(&answer);
	}
}

SUITE(.name = "settings", .set_up = set_up, .tear_down = tear_down)
