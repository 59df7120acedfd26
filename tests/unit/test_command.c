/* SPDX-License-Identifier: MIT */
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/dump_text.h"
#include "support/suite.h"

#define DUMP                                                                                 \
	"a 2 x.exe 10\nt 1 System.List`1[[System.String]]\nt 2 System.String\nt 3 Program\n" \
	"o 1000 1 18 1010 1020\no 1010 2 20\no 1020 2 400 1010\no 1030 3 0\no 1040 3 7\n"    \
	"r 1000 4 1 3\nr 1000 1 0\nr 1030 3 2\nc x.exe 20\n"

static struct hd_session *session;
static struct dump_file same, other, broken;

static void make(struct dump_file *file, const char *text)
{
	dump_file_make(file, text, strlen(text));
}

static void set_up(void)
{
	session = session_with(DUMP);
	make(&same, DUMP);
	make(&other, "a 2 x\nt 9 System.String\no 5 9 8\nr 5 0 0\n");
	make(&broken, "a 2 x\no z\nc x\n");
}

static void tear_down(void)
{
	hd_session_destroy(session);
	dump_file_close(&same);
	dump_file_close(&other);
	dump_file_close(&broken);
}

/* Run @p line and expect its exit status and, somewhere in the error, @p part. */
static void check_fails(const char *line, int status, const char *part)
{
	struct answer answer = command_run(session, line);
	if (answer.status != status)
		(void)printf("%s:\n", line);
	CU_ASSERT_EQUAL(answer.status, status);
	if (!strstr(answer.err.message, part))
		(void)printf("%s: \"%s\" lacks \"%s\"\n", line, answer.err.message, part);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer.err.message, part));
	CU_ASSERT_PTR_NULL(strchr(answer.err.message, '\n'));
	CU_ASSERT(answer.err.status != HD_OK);
	ASSERT_UINT(answer.err.is_told, strstr(line, "json") != NULL);
	ASSERT_UINT(answer.text.size > 0, strstr(line, "json") != NULL);
	answer_deinit(&answer);
}

static void check_answer(const char *line, int status, const char *text)
{
	struct answer answer = command_run(session, line);
	CU_ASSERT_EQUAL(answer.status, status);
	ASSERT_TEXT(answer.err.message, "");
	ASSERT_UINT(answer.err.status, HD_OK);
	ASSERT_TEXT(answer_text(&answer), text);
	answer_deinit(&answer);
}

static void check_exit(const char *line, int status)
{
	struct answer answer = command_run(session, line);
	if (answer.status != status)
		(void)printf("%s: %s\n", line, answer.err.message);
	CU_ASSERT_EQUAL(answer.status, status);
	answer_deinit(&answer);
}

TEST(options_and_words_in_any_order_and_spelling)
{
	static const char two[] = "1000\n1010\n";
	static const char *const lines[] = {
		"dumpheap -short -limit 2",
		"dumpheap --short --limit 2",
		"dumpheap -limit=2 --short",
		"dumpheap --limit=0x2 -short",
		"DumpHeap -limit 2 -short",
		"dumpheap -short 0 1020",
		"dumpheap 0 -short 1020",
		"dumpheap -Short -LIMIT 2",
		"dumpheap --SHORT --Limit=2 --Color OFF",
		"dumpheap -short -- 0 1020",
		"dumpheap 0 0x1020 -short",
		"dumpheap 0 1000+20 -short",
		"dumpheap fff+1 1030-0x10 -short",
		"dumpheap -short -min 24 -max 0x20",
		"dumpheap -short -max 1023 -min 0x18",
		"dumpheap -limit 2 -short -limit 2",
		"dumpheap -short -limit 2 --workers 2 --width 30 --max-mem 1G --color off --lenient",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_answer(lines[i], HD_EXIT_OK, two);
}

TEST(numbers_take_suffixes_and_zero_is_a_limit)
{
	check_answer("dumpheap -short -min 1K", HD_EXIT_OK, "1020\n");
	check_answer("dumpheap -short -max 0", HD_EXIT_OK, "1030\n");
	check_answer("dumpheap -short -limit 0 -type Program", HD_EXIT_OK, "1030\n1040\n");
	check_answer("dumpheap -short -mt 3", HD_EXIT_OK, "1030\n1040\n");
	check_answer("dumpheap -short -mt=1+1 -min 33", HD_EXIT_OK, "1020\n");
	check_answer("dumpheap -short -type List1[", HD_EXIT_OK, "1000\n");
	check_answer("dumpheap -short -live", HD_EXIT_OK, "1000\n1010\n1020\n");
	check_answer("dumpheap -short -dead", HD_EXIT_OK, "1030\n1040\n");
	check_answer("dumpheap -short 1035", HD_EXIT_OK, "1040\n");
	check_answer("dumpheap -short -type nothing", HD_EXIT_OK, "");
}

TEST(wrong_options_are_told_with_the_right_ones)
{
	static const char *const names[] = { "-stat", "-type",  "-mt",         "-min",
					     "-max",  "-short", "-bycount",    "-live",
					     "-dead", "-limit", "help options" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_fails("dumpheap -sta", HD_EXIT_USAGE, names[i]);
	check_fails("dumpheap -sta", HD_EXIT_USAGE, "\"-sta\"");
	check_fails("retained --top=3 1000", HD_EXIT_USAGE, "\"--top=3\"");
	check_fails("dumpheap -", HD_EXIT_USAGE, "hexadecimal");
	check_fails("dumpheap -limit", HD_EXIT_USAGE, "-limit needs a value");
	check_fails("dumpheap -stat=1", HD_EXIT_USAGE, "-stat takes no value");
	check_fails("dumpheap -limit 1 -short --limit=2", HD_EXIT_USAGE, "twice");
	check_fails("dumpheap -limit ten", HD_EXIT_USAGE, "\"ten\"");
	check_fails("dumpheap -limit=", HD_EXIT_USAGE, "number");
	check_fails("dumpheap -min 1f", HD_EXIT_USAGE, "\"1f\"");
	check_fails("dumpheap -mt xyz", HD_EXIT_USAGE, "hexadecimal");
	check_fails("dumpheap -live -dead", HD_EXIT_USAGE, "not both");
	check_fails("dumpheap 1020 1010", HD_EXIT_USAGE, "END");
	check_fails("dumpheap 10 0", HD_EXIT_USAGE, "END");
	check_fails("roots -kind stat", HD_EXIT_USAGE, "stack");
	check_fails("roots -flag strong", HD_EXIT_USAGE, "pinned, weak, interior");
	check_fails("roots --color blue", HD_EXIT_USAGE, "auto, on, off");
	check_fails("roots --width 5", HD_EXIT_USAGE, "width");
	check_fails("roots --workers 65", HD_EXIT_USAGE, "64");
	check_fails("roots --max-mem lots", HD_EXIT_USAGE, "max-mem");
	check_fails("export x --format xml", HD_EXIT_USAGE, "rpm");
	check_fails("gcroot 1000 -gcgen 0", HD_EXIT_INPUT,
		    "does not say where the generations are");
	check_fails("gcroot 1000 -gcgen 2", HD_EXIT_INPUT,
		    "does not say where the generations are");
	check_fails("roots -thread 1", HD_EXIT_INPUT, "a heap dump file has no threads");
	check_fails("gcroot -type S -conservative", HD_EXIT_INPUT, "dump file has no stacks");
	check_fails("gcroot 1000 -Conservative", HD_EXIT_INPUT, "a heap dump file has no stacks");
	check_fails("roots -conservative --json", HD_EXIT_INPUT, "dump file has no stacks");
	check_fails("retained 1000 -conservative", HD_EXIT_INPUT, "dump file has no stacks");
	check_fails("dominators -conservative", HD_EXIT_INPUT, "dump file has no stacks");
	check_fails("dumpheap -conservative", HD_EXIT_INPUT, "needs a core or a process");
	check_fails("notreachableinrange 0 9 -conservative", HD_EXIT_INPUT, "has no stacks");
}

TEST(wrong_words_are_told_with_the_usage)
{
	check_fails("gcroot", HD_EXIT_USAGE, "usage: gcroot [ID]");
	check_fails("pathto 1000", HD_EXIT_USAGE, "usage: pathto FROM TO");
	check_fails("open", HD_EXIT_USAGE, "usage: open FILE");
	check_fails("diff", HD_EXIT_USAGE, "usage: diff OTHER");
	check_fails("gcroot 1000 1010", HD_EXIT_USAGE, "\"1010\"");
	check_fails("info 1", HD_EXIT_USAGE, "usage: info");
	check_fails("dumpheap 1 2 3", HD_EXIT_USAGE, "\"3\"");
	check_fails("gcroot $rdi", HD_EXIT_USAGE, "hexadecimal");
	check_fails("gcroot 1000+", HD_EXIT_USAGE, "\"1000+\"");
	check_fails("gcroot 10000000000000000", HD_EXIT_USAGE, "hexadecimal");
	check_fails("gcroot -- -all", HD_EXIT_USAGE, "\"-all\"");
	check_fails("gcroto 1000", HD_EXIT_USAGE, "no command \"gcroto\": did you mean gcroot?");
	check_fails("gcroo 1000", HD_EXIT_USAGE, "no command \"gcroo\": did you mean gcroot?");
	check_fails("VERIFY --json", HD_EXIT_USAGE, "did you mean verifyheap or verifyobj?");
	check_fails("gcr", HD_EXIT_USAGE, "did you mean gcroot?");
	check_fails("dumpm", HD_EXIT_USAGE, "did you mean dumpmt, dumpmd or dumpmodule?");
	check_fails("help me", HD_EXIT_USAGE, "\"me\"");
}

TEST(unknown_ids_are_told_with_the_nearest)
{
	check_fails("gcroot deadbeef", HD_EXIT_USAGE,
		    "no object deadbeef in this dump (nearest: 1040)");
	check_fails("gcroot 1", HD_EXIT_USAGE, "no object 1 in this dump (nearest: 1000)");
	check_fails("objsize 1015", HD_EXIT_USAGE, "(nearest: 1010, 1020)");
	check_fails("pathto 1000 1005", HD_EXIT_USAGE, "no object 1005");
	struct answer answer = command_run(session, "dumpobj 1015");
	ASSERT_UINT(answer.err.address, 0x1015);
	ASSERT_UINT(answer.err.status, HD_ERR_NOTFOUND);
	answer_deinit(&answer);
	hd_session_destroy(session);
	session = session_with("a 2 x\nt 1 T\no 10 1 8 99 99\nr 99 3 0\nc x\n");
	check_fails("gcroot 99", HD_EXIT_USAGE, "2 references and 1 root name it");
}

TEST(findings_are_status_1)
{
	char line[100];
	check_exit("gcroot 1010", HD_EXIT_OK);
	check_exit("gcroot 1030", HD_EXIT_FINDINGS);
	check_exit("gcroot 1040", HD_EXIT_FINDINGS);
	check_exit("pathto 1000 1010", HD_EXIT_OK);
	check_exit("pathto 1010 1000", HD_EXIT_FINDINGS);
	check_exit("retained 1000", HD_EXIT_OK);
	check_exit("retained 1040", HD_EXIT_FINDINGS);
	check_exit("info", HD_EXIT_OK);
	(void)snprintf(line, sizeof(line), "diff %s", same.path);
	check_exit(line, HD_EXIT_OK);
	(void)snprintf(line, sizeof(line), "diff %s", other.path);
	check_exit(line, HD_EXIT_FINDINGS);
	(void)snprintf(line, sizeof(line), "open %s", other.path);
	check_exit(line, HD_EXIT_OK);
	check_exit("info", HD_EXIT_FINDINGS); /* no end record */
	check_exit("info --json", HD_EXIT_FINDINGS);
}

TEST(what_cannot_be_read_is_status_3_and_changes_nothing)
{
	char line[100];
	(void)snprintf(line, sizeof(line), "open %s", broken.path);
	check_fails(line, HD_EXIT_INPUT, "line 2, column 3");
	check_fails("open /nonexistent/file", HD_EXIT_INPUT, "/nonexistent/file");
	check_fails("open /", HD_EXIT_INPUT, "directory");
	check_fails("diff /nonexistent/file --json", HD_EXIT_INPUT, "/nonexistent/file");
	check_fails("export /dev/full", HD_EXIT_INPUT, "No space left");
	check_fails("export /nonexistent/file", HD_EXIT_INPUT, "/nonexistent/file");
	check_exit("gcroot 1010", HD_EXIT_OK);
	(void)snprintf(line, sizeof(line), "open %s --lenient", broken.path);
	check_exit(line, HD_EXIT_OK);
	check_fails("gcroot 1010", HD_EXIT_USAGE, "no object 1010");
}

TEST(without_a_file_commands_say_so)
{
	check_exit("close", HD_EXIT_OK);
	check_fails("gcroot 1010", HD_EXIT_USAGE, "nothing is open");
	check_fails("close", HD_EXIT_USAGE, "nothing is open");
	check_exit("help gcroot", HD_EXIT_OK);
	check_exit("help", HD_EXIT_OK);
	check_exit("set", HD_EXIT_OK);
}

TEST(errors_are_documents_with_json)
{
	static const struct {
		const char *line, *command, *status;
	} cases[] = {
		{ "gcroot deadbeef --json", "gcroot", "notfound" },
		{ "gcroot --json", "gcroot", "argument" },
		{ "gcroot -x --json", "gcroot", "argument" },
		{ "nonsense -json", "nonsense", "argument" },
		{ "open /nonexistent --json", "open", "os" },
		{ "do 1 --json", "dumpobj", "notfound" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char begin[100], status[100];
		(void)snprintf(begin, sizeof(begin), "{\"schema\": 1, \"command\": \"%s\", ",
			       cases[i].command);
		(void)snprintf(status, sizeof(status),
			       "\"error\": {\"status\": \"%s\", \"message\": \"", cases[i].status);
		struct answer answer = command_run(session, cases[i].line);
		const char *text = answer_text(&answer);
		CU_ASSERT(answer.status == HD_EXIT_USAGE || answer.status == HD_EXIT_INPUT);
		CU_ASSERT(strncmp(text, begin, strlen(begin)) == 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, status));
		CU_ASSERT(answer.text.size > 4 &&
			  strcmp(text + answer.text.size - 4, "\"}}\n") == 0);
		ASSERT_UINT(answer.err.is_told, 1);
		answer_deinit(&answer);
	}
}

TEST(a_deferred_file_is_opened_by_the_first_command)
{
	CU_ASSERT_FATAL(hd_session_defer(session, broken.path, NULL) == HD_OK);
	CU_ASSERT_PTR_NULL(hd_session_graph(session));
	check_exit("help", HD_EXIT_OK);
	CU_ASSERT_PTR_NULL(hd_session_graph(session));
	check_fails("info", HD_EXIT_INPUT, "line 2");
	check_fails("info --json", HD_EXIT_INPUT, "line 2");
	struct answer answer = command_run(session, "types --lenient");
	CU_ASSERT_EQUAL(answer.status, HD_EXIT_OK);
	CU_ASSERT_PTR_NOT_NULL(answer.warnings.bytes);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(answer.warnings.bytes ? answer.warnings.bytes : "", "bad-hex"));
	answer_deinit(&answer);
	CU_ASSERT_PTR_NOT_NULL(hd_session_graph(session));
	answer = command_run(session, "types");
	CU_ASSERT_PTR_NULL(answer.warnings.bytes);
	answer_deinit(&answer);
}

struct sink_state {
	unsigned int writes_left, polls_left;
	size_t size;
};

static int take(void *arg, const char *text, size_t size)
{
	struct sink_state *state = arg;
	CU_ASSERT(text && size);
	CU_ASSERT_FATAL(state->writes_left > 0); /* not called again once it has refused */
	state->size += size;
	return --state->writes_left == 0;
}

static int poll_cancelled(void *arg)
{
	struct sink_state *state = arg;
	return state->polls_left == 0 || --state->polls_left == 0;
}

static const char *const long_commands[] = { "dumpheap", "gcroot", "info", "dominators", "help" };

static int run_with(const char *command, bool json, struct sink_state *state, struct hd_error *err)
{
	const char *argv[3] = { command };
	int argc = 1;
	if (strcmp(command, "gcroot") == 0)
		argv[argc++] = "1010";
	if (json)
		argv[argc++] = "--json";
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .arg = state,
				      .write = take,
				      .cancelled = poll_cancelled };
	return hd_command_run(session, argc, argv, &sink, err);
}

TEST(a_closed_sink_ends_every_command)
{
	for (size_t i = 0; i < sizeof(long_commands) / sizeof(long_commands[0]); i++) {
		for (int json = 0; json < 2; json++) {
			struct sink_state state = { .writes_left = 1, .polls_left = 1000000 };
			struct hd_error err = { 0 };
			CU_ASSERT_EQUAL(run_with(long_commands[i], json, &state, &err),
					HD_EXIT_INTERRUPTED);
			ASSERT_UINT(err.status, HD_ERR_CANCELLED);
		}
	}
}

TEST(a_command_can_be_cancelled)
{
	for (size_t i = 0; i < 2; i++) {
		struct sink_state state = { .writes_left = 1000, .polls_left = 1 };
		struct hd_error err = { 0 };
		CU_ASSERT_EQUAL(run_with(long_commands[1], i, &state, &err), HD_EXIT_INTERRUPTED);
		ASSERT_TEXT(err.message, "interrupted");
		ASSERT_UINT(state.size > 0, i);
	}
	check_exit("gcroot 1010", HD_EXIT_OK);
}

TEST(words_that_a_debugger_evaluates)
{
	static const struct {
		const char *line;
		const char *expected; /* 1 where the word is an expression */
	} cases[] = {
		{ "gcroot 1ce056", "00" },
		{ "gcroot 0x1ce056", "00" },
		{ "gcroot deadbeef", "00" },
		{ "gcroot a51000+c+44", "00" },
		{ "gcroot $rdi", "01" },
		{ "gcroot obj", "01" },
		{ "gcroot '(abc)'", "01" },
		{ "gcroot A.B", "00" },
		{ "gcroot 'List<int>'", "00" },
		{ "gcroot $a.b", "01" },
		{ "gcroot '(a.b)'", "01" },
		{ "gcroot 'a->b.c'", "01" },
		{ "dumpmt Program", "00" },
		{ "dumpmt $rdi", "01" },
		{ "dumpobj A.B", "01" },
		{ "dumpheap -mt Program", "000" },
		{ "gcroot -all obj -limit 5", "00100" },
		{ "gcroot -limit n obj", "0001" },
		{ "GCROOT obj", "01" },
		{ "do obj", "01" },
		{ "pathto x y", "011" },
		{ "pathto x y z", "0110" },
		{ "dumpheap -mt $rax -type obj x", "001001" },
		{ "dumpheap -mt=$rax", "00" },
		{ "dumpheap -- x -mt", "0011" },
		{ "dumpheap -stat x", "001" },
		{ "dumpheap --width 5 x", "0001" },
		{ "diff obj", "00" },
		{ "types -type obj", "000" },
		{ "export obj", "00" },
		{ "help obj", "00" },
		{ "nonsense obj", "00" },
		{ "gcroot", "0" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[200], got[20] = "";
		const char *argv[12];
		uint8_t marks[12];
		int argc = command_words(cases[i].line, buf, sizeof(buf), argv, 12);
		hd_command_expressions(argc, argv, marks);
		for (int k = 0; k < argc; k++)
			got[k] = marks[k] ? '1' : '0';
		if (strcmp(got, cases[i].expected) != 0)
			(void)printf("%s:\n", cases[i].line);
		ASSERT_TEXT(got, cases[i].expected);
	}
	hd_command_expressions(0, NULL, NULL);
}

/* "input output socket sysroot max-mem", "-" for what is not named, and then n and t for the flags. */
static void check_names(const char *line, const char *expected)
{
	char buf[200], got[200];
	const char *argv[12];
	struct hd_command_names names;
	int argc = command_words(line, buf, sizeof(buf), argv, 12);
	hd_command_name(argc, argv, &names);
	(void)snprintf(got, sizeof(got), "%s %s %s %s %s%s%s", names.input ? names.input : "-",
		       names.output ? names.output : "-", names.socket ? names.socket : "-",
		       names.sysroot ? names.sysroot : "-", names.max_mem ? names.max_mem : "-",
		       names.no_files ? " n" : "", names.trust_files ? " t" : "");
	if (strcmp(got, expected) != 0)
		(void)printf("%s:\n", line);
	ASSERT_TEXT(got, expected);
}

TEST(the_words_that_name_something_are_known)
{
	check_names("open a.core", "a.core - - - -");
	check_names("OPEN -- -a", "-a - - - -");
	check_names("diff 4711 --sysroot /x", "4711 - - /x -");
	check_names("dumpheap 4711 -limit 5 --max-mem=2G", "- - - - 2G");
	check_names("export out -format rpm", "- out - - -");
	check_names("export -format x out", "- out - - -");
	check_names("collect 1 -o a -o=b -port p", "- b p - -");
	check_names("info --no-files -TRUST-FILES", "- - - - - n t");
	check_names("types -type --trust-files", "- - - - -");
	check_names("types -- --trust-files", "- - - - -");
	check_names("open a --sysroot", "a - - - -");
	check_names("open a b -nonsense c", "a - - - -");
	check_names("nonsense a --sysroot x", "- - - - -");
	check_names("help open", "- - - - -");
}

SUITE(.name = "command", .set_up = set_up, .tear_down = tear_down)
