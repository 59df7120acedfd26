/* SPDX-License-Identifier: MIT */
/* Every exported function with NULL for each pointer in turn, and with what is out of range. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <heapdump/heapdump.h>

#include "arch/arch.h"
#include "support/assert_more.h"
#include "support/command_run.h"
#include "support/exported.h"
#include "support/newer.h"
#include "support/suite.h"

#define DUMP "a 2 x\nt 1 System.String\no 10 1 8 10\nr 10 1 0\nc x\n"

static struct hd_session *session;
static const struct hd_graph *graph;
static struct text answer;

static int take(void *arg, const char *bytes, size_t size)
{
	text_append(arg, bytes, size);
	return 0;
}

static struct hd_sink whole_sink(void)
{
	return (struct hd_sink){ .struct_size = sizeof(struct hd_sink),
				 .arg = &answer,
				 .write = take };
}

static void set_up(void)
{
	session = session_with(DUMP);
	graph = hd_session_graph(session);
	REQUIRE(graph);
}

static void tear_down(void)
{
	hd_session_destroy(session);
	text_deinit(&answer);
}

/* Was @p status the refusal of an argument, with a message? */
static bool is_refused(enum hd_status status, const struct hd_error *err)
{
	return status == HD_ERR_ARGUMENT && err->status == HD_ERR_ARGUMENT && err->message[0];
}

#define REFUSED(call)                                 \
	do {                                          \
		struct hd_error err = { 0 };          \
		enum hd_status status_ = (call);      \
		CU_ASSERT(is_refused(status_, &err)); \
	} while (0)

static void try_session_create(void)
{
	struct hd_session *made = NULL;
	REFUSED(hd_session_create(NULL, &err));
	ASSERT_UINT(hd_session_create(NULL, NULL), HD_ERR_ARGUMENT);
	ASSERT_UINT(hd_session_create(&made, NULL), HD_OK);
	hd_session_destroy(made);
}

static void try_session_destroy(void)
{
	hd_session_destroy(NULL);
}

static void try_session_set(void)
{
	REFUSED(hd_session_set(NULL, "width", "9", &err));
	REFUSED(hd_session_set(session, NULL, "9", &err));
	REFUSED(hd_session_set(session, "width", NULL, &err));
	ASSERT_UINT(hd_session_set(session, "nosuch", "9", NULL), HD_ERR_ARGUMENT);
	char value[HD_SETTING_SIZE + 10];
	memset(value, 'x', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	for (size_t i = 0; hd_setting_name(i, NULL); i++)
		REFUSED(hd_session_set(session, hd_setting_name(i, NULL), value, &err));
	REFUSED(hd_session_set(session, value, "1", &err));
}

static void try_session_get(void)
{
	char buf[HD_SETTING_SIZE];
	REFUSED(hd_session_get(NULL, "width", buf, sizeof(buf), &err));
	REFUSED(hd_session_get(session, NULL, buf, sizeof(buf), &err));
	REFUSED(hd_session_get(session, "width", NULL, sizeof(buf), &err));
	REFUSED(hd_session_get(session, "width", NULL, 0, &err));
	REFUSED(hd_session_get(session, "width", buf, 0, &err));
	REFUSED(hd_session_get(session, "color", buf, 4, &err));
	ASSERT_UINT(hd_session_get(session, "width", buf, sizeof(buf), NULL), HD_OK);
}

static void try_setting_name(void)
{
	CU_ASSERT_PTR_NOT_NULL(hd_setting_name(0, NULL));
	CU_ASSERT_PTR_NULL(hd_setting_name(SIZE_MAX, NULL));
}

static void try_session_open(void)
{
	const struct hd_sink whole = whole_sink();
	struct hd_sink sink = whole;
	REFUSED(hd_session_open(NULL, "/dev/null", 0, &whole, &err));
	REFUSED(hd_session_open(session, NULL, 0, &whole, &err));
	sink.struct_size--;
	REFUSED(hd_session_open(session, "/dev/null", 0, &sink, &err));
	NEWER(struct hd_sink) newer = NEWER_OF(whole, 1);
	NEWER_SIZE(newer);
	REFUSED(hd_session_open(session, "/dev/null", 0, &newer.known, &err));
	sink = whole;
	sink.write = NULL;
	CU_ASSERT(hd_session_open(session, "/dev/null", 0, &sink, NULL) != HD_OK);
	CU_ASSERT(hd_session_open(session, "/dev/null", 0, NULL, NULL) != HD_OK);
	CU_ASSERT(hd_session_open(session, "", 0, NULL, NULL) != HD_OK);
	CU_ASSERT_PTR_EQUAL(hd_session_graph(session), graph);
}

static void try_session_defer(void)
{
	REFUSED(hd_session_defer(NULL, "/dev/null", &err));
	REFUSED(hd_session_defer(session, NULL, &err));
	CU_ASSERT_PTR_EQUAL(hd_session_graph(session), graph);
}

static void try_session_close(void)
{
	hd_session_close(NULL);
}

static void try_session_path(void)
{
	CU_ASSERT_PTR_NULL(hd_session_path(NULL));
}

static void try_session_graph(void)
{
	CU_ASSERT_PTR_NULL(hd_session_graph(NULL));
}

static void try_debugger_registers(void)
{
	size_t count = 7;
	CU_ASSERT_PTR_NULL(hd_debugger_registers("", &count));
	ASSERT_UINT(count, 7);
	CU_ASSERT_PTR_NOT_NULL(hd_debugger_registers(NULL, &count));
	ASSERT_UINT(count, arch_of_host()->register_count);
}

static void try_session_thread(void)
{
	hd_session_thread(NULL, 1);
}

static size_t read_none(void *arg, uint64_t address, void *buf, size_t size)
{
	(void)arg, (void)address, (void)buf, (void)size;
	return 0;
}

static void try_session_debugger(void)
{
	const struct hd_debugger whole = { .struct_size = sizeof(whole),
					   .read = read_none,
					   .core = "/dev/null",
					   .pid = 1,
					   .module_count = 3,
					   .thread_count = 3 };
	const struct hd_sink whole_of_sink = whole_sink();
	struct hd_sink sink = whole_of_sink;
	REFUSED(hd_session_debugger(NULL, &whole, &sink, &err));
	REFUSED(hd_session_debugger(session, NULL, &sink, &err));
	struct hd_debugger with = whole;
	NEWER(struct hd_debugger) newer = NEWER_OF(whole, 1);
	NEWER(struct hd_sink) newer_sink = NEWER_OF(whole_of_sink, 1);
	NEWER_SIZE(newer);
	NEWER_SIZE(newer_sink);
	REFUSED(hd_session_debugger(session, &newer.known, &sink, &err));
	REFUSED(hd_session_debugger(session, &whole, &newer_sink.known, &err));
	with.struct_size--;
	REFUSED(hd_session_debugger(session, &with, &sink, &err));
	sink.struct_size--;
	REFUSED(hd_session_debugger(session, &whole, &sink, &err));
	sink = whole_of_sink;
	with = whole;
	with.read = NULL;
	with.core = NULL;
	REFUSED(hd_session_debugger(session, &with, &sink, &err));
	const struct hd_debugger_module module = { 0 };
	with = whole;
	with.modules = &module;
	with.module_count = 1;
	REFUSED(hd_session_debugger(session, &with, &sink, &err));
	/* The lists may be missing, whatever their counts; so may read where there is a core. */
	struct hd_session *other = session_with(DUMP);
	sink.write = NULL;
	enum hd_status status = hd_session_debugger(other, &whole, &sink, NULL);
	with = whole;
	with.read = NULL;
	CU_ASSERT_EQUAL(hd_session_debugger(other, &with, NULL, NULL), status);
	newer.more = 0;
	CU_ASSERT_EQUAL(hd_session_debugger(other, &newer.known, NULL, NULL), status);
	with = whole;
	with.core = NULL;
	status = hd_session_debugger(other, &with, NULL, NULL);
	CU_ASSERT(status == HD_OK || status == HD_ERR_UNSUPPORTED || status == HD_ERR_FAULT);
	const struct hd_sink collects = whole_sink();
	const char *const argv[] = { "dumpheap" };
	CU_ASSERT(hd_command_run(other, 1, argv, &collects, NULL) != HD_EXIT_OK);
	hd_session_destroy(other);
}

static size_t read_zeros(void *arg, uint64_t address, void *buf, size_t size)
{
	(void)arg;
	(void)address;
	memset(buf, 0, size);
	return size;
}

static void try_code(void)
{
	struct hd_code *code = NULL;
	struct hd_code_change change = { .struct_size = sizeof(change), .file = 77 };
	const struct hd_sink whole_of_sink = whole_sink();
	struct hd_sink sink = whole_of_sink;
	REFUSED(hd_code_create(NULL, &err));
	ASSERT_UINT_FATAL(hd_code_create(&code, NULL), HD_OK);
	CU_ASSERT(!hd_code_is_current(NULL, read_zeros, NULL));
	CU_ASSERT(!hd_code_is_current(code, NULL, NULL));
	CU_ASSERT(!hd_code_is_current(code, read_zeros, NULL)); /* it was never read */
	ASSERT_UINT(hd_code_method(NULL, 1), 0);
	ASSERT_UINT(hd_code_method(code, 1), 0);
	const uint64_t registers[] = { 1, 2, 3 };
	struct hd_debugger_thread thread = { .registers = registers };
	struct hd_debugger now = { .struct_size = sizeof(now),
				   .read = read_zeros,
				   .threads = &thread,
				   .thread_count = 1,
				   .register_count = 3 };
	ASSERT_UINT(hd_code_awaits(NULL, &now), 0);
	ASSERT_UINT(hd_code_awaits(code, NULL), 0);
	ASSERT_UINT(hd_code_awaits(code, &now), 0);
	now.threads = NULL;
	ASSERT_UINT(hd_code_awaits(code, &now), 0);
	now.threads = &thread;
	now.read = NULL;
	ASSERT_UINT(hd_code_awaits(code, &now), 0);
	REFUSED(hd_code_update(NULL, session, &sink, &change, &err));
	REFUSED(hd_code_update(code, NULL, &sink, &change, &err));
	REFUSED(hd_code_update(code, session, NULL, &change, &err));
	REFUSED(hd_code_update(code, session, &sink, NULL, &err));
	change.struct_size--;
	REFUSED(hd_code_update(code, session, &sink, &change, &err));
	change.struct_size++;
	sink.write = NULL;
	REFUSED(hd_code_update(code, session, &sink, &change, &err));
	sink = whole_of_sink;
	/* A dump file has no code. */
	ASSERT_UINT(hd_code_update(code, session, &sink, &change, NULL), HD_ERR_UNSUPPORTED);
	ASSERT_UINT(change.file, 77);
	hd_code_destroy(code);
	hd_code_destroy(NULL);
}

static void try_code_places(void)
{
	static struct hd_code_place place = { .struct_size = sizeof(place) };
	struct hd_code_line line = {
		.struct_size = sizeof(line), .file = "a.cs", .line = 1, .found = 77
	};
	REFUSED(hd_code_at(NULL, 1, &place, &err));
	REFUSED(hd_code_at(session, 1, NULL, &err));
	place.struct_size--;
	REFUSED(hd_code_at(session, 1, &place, &err));
	place.struct_size++;
	ASSERT_UINT(hd_code_at(session, 1, &place, NULL), HD_ERR_UNSUPPORTED);
	REFUSED(hd_code_line(NULL, &line, &err));
	REFUSED(hd_code_line(session, NULL, &err));
	line.struct_size--;
	REFUSED(hd_code_line(session, &line, &err));
	line.struct_size++;
	line.file = NULL;
	REFUSED(hd_code_line(session, &line, &err));
	line.file = "a.cs";
	ASSERT_UINT(hd_code_line(session, &line, NULL), HD_ERR_UNSUPPORTED);
	ASSERT_UINT(line.found, 77);
}

static void try_graph_counts(void)
{
	ASSERT_UINT(hd_graph_object_count(NULL), 0);
	ASSERT_UINT(hd_graph_node_count(NULL), 0);
	ASSERT_UINT(hd_graph_type_count(NULL), 0);
	ASSERT_UINT(hd_graph_root_count(NULL), 0);
	ASSERT_UINT(hd_graph_reference_count(NULL), 0);
}

static void try_graph_find(void)
{
	ASSERT_UINT(hd_graph_find(NULL, 0x10), HD_NONE);
	ASSERT_UINT(hd_graph_find(graph, UINT64_MAX), HD_NONE);
}

static void try_graph_rows(void)
{
	struct hd_object object;
	struct hd_type type;
	struct hd_root root;
	CU_ASSERT_EQUAL(hd_graph_object(NULL, 0, &object), -1);
	CU_ASSERT_EQUAL(hd_graph_object(graph, 0, NULL), -1);
	CU_ASSERT_EQUAL(hd_graph_object(graph, HD_NONE, &object), -1);
	CU_ASSERT_EQUAL(hd_graph_object(graph, 1, &object), -1);
	CU_ASSERT_EQUAL(hd_graph_type(NULL, 0, &type), -1);
	CU_ASSERT_EQUAL(hd_graph_type(graph, 0, NULL), -1);
	CU_ASSERT_EQUAL(hd_graph_type(graph, HD_NONE, &type), -1);
	CU_ASSERT_EQUAL(hd_graph_root(NULL, 0, &root), -1);
	CU_ASSERT_EQUAL(hd_graph_root(graph, 0, NULL), -1);
	CU_ASSERT_EQUAL(hd_graph_root(graph, HD_NONE, &root), -1);
}

static void try_graph_references(void)
{
	uint32_t buf[2];
	ASSERT_UINT(hd_graph_references(NULL, 0, 0, buf, 2), 0);
	ASSERT_UINT(hd_graph_references(graph, 0, 0, NULL, 2), 0);
	ASSERT_UINT(hd_graph_references(graph, HD_NONE, 0, buf, 2), 0);
	ASSERT_UINT(hd_graph_references(graph, 0, UINT64_MAX, buf, 2), 0);
	ASSERT_UINT(hd_graph_references(graph, 0, 0, buf, 0), 0);
	ASSERT_UINT(hd_graph_references(graph, 0, 0, buf, 2), 1);
}

static void try_command_at(void)
{
	struct hd_command_info info;
	CU_ASSERT_EQUAL(hd_command_at(0, NULL), -1);
	CU_ASSERT_EQUAL(hd_command_at(SIZE_MAX, &info), -1);
}

static void try_command_help(void)
{
	const struct hd_sink whole = whole_sink();
	struct hd_sink sink = whole;
	REFUSED(hd_command_help("info", NULL, &err));
	sink.write = NULL;
	REFUSED(hd_command_help("info", &sink, &err));
	sink = whole;
	sink.struct_size--;
	REFUSED(hd_command_help("info", &sink, &err));
	ASSERT_UINT(hd_command_help(NULL, &whole, NULL), HD_OK);
	ASSERT_UINT(hd_command_help("nosuch", &whole, NULL), HD_ERR_NOTFOUND);
}

static void try_command_raw(void)
{
	size_t begin = 7;
	CU_ASSERT_EQUAL(hd_command_raw(NULL, "x", &begin), 0);
	CU_ASSERT_EQUAL(hd_command_raw("gcroot", NULL, &begin), 0);
	CU_ASSERT_EQUAL(hd_command_raw("gcroot", "x", NULL), 0);
	CU_ASSERT_EQUAL(hd_command_raw("gcroot", "x", &begin), 0);
	CU_ASSERT_EQUAL(hd_command_raw("nosuch", "x", &begin), 0);
	ASSERT_UINT(begin, 7);
}

#define WRONG(call)                                           \
	do {                                                  \
		struct hd_error err = { 0 };                  \
		CU_ASSERT_EQUAL((call), HD_EXIT_USAGE);       \
		CU_ASSERT(is_refused(HD_ERR_ARGUMENT, &err)); \
	} while (0)

static void try_command_run(void)
{
	const struct hd_sink whole = whole_sink();
	struct hd_sink sink = whole;
	const char *const argv[] = { "gcroot", NULL, "10" };
	const char *const info[] = { "info" };
	WRONG(hd_command_run(NULL, 1, info, &whole, &err));
	WRONG(hd_command_run(session, 1, NULL, &whole, &err));
	WRONG(hd_command_run(session, 3, argv, &whole, &err));
	WRONG(hd_command_run(session, -1, info, &whole, &err));
	WRONG(hd_command_run(session, 1, info, NULL, &err));
	sink.write = NULL;
	WRONG(hd_command_run(session, 1, info, &sink, &err));
	sink = whole;
	sink.struct_size--;
	WRONG(hd_command_run(session, 1, info, &sink, &err));
	NEWER(struct hd_sink) newer = NEWER_OF(whole, 1);
	NEWER_SIZE(newer);
	WRONG(hd_command_run(session, 1, info, &newer.known, &err));
	newer.more = 0;
	CU_ASSERT_EQUAL(hd_command_run(session, 1, info, &newer.known, NULL), HD_EXIT_OK);
	CU_ASSERT_EQUAL(hd_command_run(NULL, 1, info, &whole, NULL), HD_EXIT_USAGE);
	CU_ASSERT_EQUAL(hd_command_run(session, 0, NULL, &whole, NULL), HD_EXIT_OK);
	CU_ASSERT_EQUAL(hd_command_run(session, 1, info, &whole, NULL), HD_EXIT_OK);
	char word[100000];
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	for (size_t i = 0; i < 3; i++) {
		const char *longer[] = { "gcroot", "-type", "10" };
		longer[i] = word;
		CU_ASSERT(hd_command_run(session, 3, longer, &whole, NULL) != HD_EXIT_OK);
	}
}

static void try_command_expressions(void)
{
	const char *const argv[] = { "gcroot", "$x", NULL };
	uint8_t marks[3] = { 7, 7, 7 };
	hd_command_expressions(2, argv, NULL);
	hd_command_expressions(2, NULL, marks);
	hd_command_expressions(3, argv, marks);
	hd_command_expressions(-1, argv, marks);
	hd_command_expressions(0, NULL, NULL);
	CU_ASSERT_EQUAL(marks[1], 7);
	hd_command_expressions(2, argv, marks);
	CU_ASSERT_EQUAL(marks[1], 1);
}

static void try_command_name(void)
{
	const char *const argv[] = { "open", NULL, "a" };
	struct hd_command_names names = { .input = "x" };
	hd_command_name(3, argv, NULL);
	hd_command_name(3, argv, &names);
	CU_ASSERT_PTR_NULL(names.input);
	hd_command_name(2, NULL, &names);
	hd_command_name(-1, argv, &names);
	hd_command_name(0, NULL, &names);
	CU_ASSERT_PTR_NULL(names.input);
}

static void add_nothing(void *arg, const char *candidate)
{
	(void)candidate;
	++*(int *)arg;
}

static void try_command_complete(void)
{
	const char *const argv[] = { "dumpheap", "-type", "" };
	const char *const missing[] = { "dumpheap", NULL, "" };
	int count = 0;
	CU_ASSERT_EQUAL(hd_command_complete(NULL, 3, argv, add_nothing, &count), 0);
	CU_ASSERT_EQUAL(hd_command_complete(session, 3, NULL, add_nothing, &count), 0);
	CU_ASSERT_EQUAL(hd_command_complete(session, 3, missing, add_nothing, &count), 0);
	CU_ASSERT_EQUAL(hd_command_complete(session, -1, argv, add_nothing, &count), 0);
	CU_ASSERT_EQUAL(hd_command_complete(session, 3, argv, NULL, NULL), 0);
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_EQUAL(hd_command_complete(session, 3, argv, add_nothing, &count), 0);
	CU_ASSERT_EQUAL(count, 1);
}

static void try_text_run(void)
{
	const struct hd_sink whole = whole_sink();
	struct hd_sink sink = whole;
	const char *const argv[] = { "info", NULL };
	struct hd_text *text = NULL;
	WRONG(hd_text_run(session, 1, argv, &whole, NULL, &err));
	WRONG(hd_text_run(session, 1, argv, NULL, &text, &err));
	CU_ASSERT_PTR_NULL(text);
	WRONG(hd_text_run(NULL, 1, argv, &whole, &text, &err));
	hd_text_free(text);
	WRONG(hd_text_run(session, 1, NULL, &whole, &text, &err));
	hd_text_free(text);
	WRONG(hd_text_run(session, 2, argv, &whole, &text, &err));
	hd_text_free(text);
	sink.write = NULL;
	CU_ASSERT_EQUAL(hd_text_run(session, 1, argv, &sink, &text, NULL), HD_EXIT_OK);
	char buf[16];
	ASSERT_UINT(hd_text_read(text, NULL, sizeof(buf)), 0);
	ASSERT_UINT(hd_text_read(text, buf, sizeof(buf)), sizeof(buf));
	hd_text_free(text);
}

static void try_text_read(void)
{
	char buf[16];
	ASSERT_UINT(hd_text_read(NULL, buf, sizeof(buf)), 0);
	ASSERT_TEXT(hd_text_warnings(NULL), "");
	hd_text_free(NULL);
}

static void try_interrupts(void)
{
	CU_ASSERT_EQUAL(hd_interrupt_end(), 0);
	hd_interrupt_begin();
	CU_ASSERT_EQUAL(hd_interrupted(), 0);
	CU_ASSERT_EQUAL(hd_interrupt_end(), 0);
}

static void try_names(void)
{
	CU_ASSERT_STRING_EQUAL(hd_status_name((enum hd_status)4711), "unknown");
	CU_ASSERT_PTR_NOT_NULL(hd_version());
	ASSERT_UINT(hd_escape(NULL, 9, NULL, 9), 0);
}

static void try_command_find(void)
{
	struct hd_command_info info;
	CU_ASSERT_EQUAL(hd_command_find(NULL, &info), -1);
	CU_ASSERT_EQUAL(hd_command_find("gcroot", NULL), -1);
	CU_ASSERT_EQUAL(hd_command_find("", &info), -1);
	CU_ASSERT_EQUAL(hd_command_find("GCROOT", &info), 0);
	ASSERT_TEXT(info.name, "gcroot");
}

static void try_output_open(void)
{
	int fd = -1;
	struct hd_sink sink = whole_sink();
	REFUSED(hd_output_open(NULL, 0, NULL, &fd, &err));
	REFUSED(hd_output_open("/dev/null", 0, NULL, NULL, &err));
	sink.struct_size--;
	REFUSED(hd_output_open("/dev/null", 0, &sink, &fd, &err));
	CU_ASSERT_EQUAL(fd, -1);
	CU_ASSERT(hd_output_open("", 0, NULL, &fd, NULL) != HD_OK);
}

static void try_text_check(void)
{
	REFUSED(hd_text_check(NULL, &err));
	ASSERT_UINT(hd_text_check(NULL, NULL), HD_ERR_ARGUMENT);
}

static void try_session_label(void)
{
	REFUSED(hd_session_label(NULL, "x", &err));
	ASSERT_UINT(hd_session_label(session, "x", NULL), HD_OK);
	ASSERT_UINT(hd_session_label(session, NULL, NULL), HD_OK);
	hd_session_sandbox(NULL, "on");
	hd_session_sandbox(session, NULL);
}

static unsigned int broker_asked;

static int refuse_to_open(void *arg, int as, const char *path, const char *below)
{
	(void)arg, (void)as, (void)path, (void)below;
	broker_asked++;
	errno = EACCES;
	return -1;
}

/* A broker with one more member than the library knows is used if that is 0. */
static void try_newer_broker(void)
{
	NEWER(struct hd_broker) newer = NEWER_OF(*hd_broker_direct(), 0);
	NEWER_SIZE(newer);
	newer.known.open = refuse_to_open;
	hd_broker_set(&newer.known);
	CU_ASSERT_EQUAL(hd_session_open(session, "/dev/null", 0, NULL, NULL), HD_ERR_OS);
	CU_ASSERT(broker_asked > 0);
	newer.more = 1;
	hd_broker_set(&newer.known);
	broker_asked = 0;
	CU_ASSERT(hd_session_open(session, "/dev/null", 0, NULL, NULL) != HD_OK);
	ASSERT_UINT(broker_asked, 0);
	hd_broker_set(NULL);
}

static void try_broker(void)
{
	const struct hd_broker *direct = hd_broker_direct();
	uint64_t id;
	int straight, fds[HD_ATTACH_FDS];
	char name[8];
	CU_ASSERT_EQUAL(direct->open(direct->arg, HD_OPEN_INPUT, NULL, NULL), -1);
	CU_ASSERT_EQUAL(direct->open(direct->arg, 4711, "/dev/null", NULL), -1);
	CU_ASSERT_EQUAL(direct->create(direct->arg, NULL, NULL, NULL, &id, NULL), -1);
	CU_ASSERT_EQUAL(direct->create(direct->arg, "/dev/null", NULL, NULL, NULL, NULL), -1);
	CU_ASSERT(direct->check(direct->arg, NULL, &straight, NULL) != HD_OK);
	CU_ASSERT(direct->check(direct->arg, "/dev/null", NULL, NULL) != HD_OK);
	CU_ASSERT(direct->commit(direct->arg, 0) != 0);
	direct->abandon(direct->arg, 0);
	CU_ASSERT_EQUAL(direct->user_name(direct->arg, 0, NULL, 0), -1);
	CU_ASSERT_EQUAL(direct->user_name(direct->arg, 0, name, 0), -1);
	CU_ASSERT_EQUAL(direct->attach(direct->arg, 0, NULL), -1);
	CU_ASSERT_EQUAL(direct->attach(direct->arg, -1, fds), -1);
	struct hd_broker other = *direct;
	other.struct_size--;
	hd_broker_set(&other); /* of another version: none */
	try_newer_broker();
	hd_broker_set(NULL);
	CU_ASSERT(hd_session_open(session, "/dev/null", 0, NULL, NULL) != HD_OK);
}

/* The trial of each function that the library exports. */
static const struct attempt functions[] = {
	{ "hd_broker_direct", try_broker },
	{ "hd_broker_set", try_broker },
	{ "hd_code_at", try_code_places },
	{ "hd_code_awaits", try_code },
	{ "hd_code_create", try_code },
	{ "hd_code_destroy", try_code },
	{ "hd_code_is_current", try_code },
	{ "hd_code_line", try_code_places },
	{ "hd_code_method", try_code },
	{ "hd_code_update", try_code },
	{ "hd_command_at", try_command_at },
	{ "hd_command_complete", try_command_complete },
	{ "hd_command_expressions", try_command_expressions },
	{ "hd_command_find", try_command_find },
	{ "hd_command_help", try_command_help },
	{ "hd_command_name", try_command_name },
	{ "hd_command_raw", try_command_raw },
	{ "hd_command_run", try_command_run },
	{ "hd_debugger_registers", try_debugger_registers },
	{ "hd_escape", try_names },
	{ "hd_graph_find", try_graph_find },
	{ "hd_graph_node_count", try_graph_counts },
	{ "hd_graph_object", try_graph_rows },
	{ "hd_graph_object_count", try_graph_counts },
	{ "hd_graph_reference_count", try_graph_counts },
	{ "hd_graph_references", try_graph_references },
	{ "hd_graph_root", try_graph_rows },
	{ "hd_graph_root_count", try_graph_counts },
	{ "hd_graph_type", try_graph_rows },
	{ "hd_graph_type_count", try_graph_counts },
	{ "hd_interrupt_begin", try_interrupts },
	{ "hd_interrupt_end", try_interrupts },
	{ "hd_interrupted", try_interrupts },
	{ "hd_output_open", try_output_open },
	{ "hd_session_close", try_session_close },
	{ "hd_session_create", try_session_create },
	{ "hd_session_debugger", try_session_debugger },
	{ "hd_session_defer", try_session_defer },
	{ "hd_session_destroy", try_session_destroy },
	{ "hd_session_get", try_session_get },
	{ "hd_session_graph", try_session_graph },
	{ "hd_session_label", try_session_label },
	{ "hd_session_open", try_session_open },
	{ "hd_session_path", try_session_path },
	{ "hd_session_sandbox", try_session_label },
	{ "hd_session_set", try_session_set },
	{ "hd_session_thread", try_session_thread },
	{ "hd_setting_name", try_setting_name },
	{ "hd_status_name", try_names },
	{ "hd_text_check", try_text_check },
	{ "hd_text_free", try_text_read },
	{ "hd_text_read", try_text_read },
	{ "hd_text_run", try_text_run },
	{ "hd_text_warnings", try_text_read },
	{ "hd_version", try_names },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

TEST(nothing_crashes_without_its_arguments)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		functions[i].attempt();
}

TEST(every_exported_function_is_tried)
{
	static const char *const headers[] = { "broker.h",   "command.h", "code.h",    "debugger.h",
					       "error.h",    "graph.h",   "session.h", "answer.h",
					       "snapshot.h", "arrow.h",   NULL };
	size_t declared = 0, last = sizeof(headers) / sizeof(headers[0]) - 4;
	for (size_t i = 0; i < last; i++)
		declared += exported_check_header(headers[i], functions, FUNCTIONS);
	ASSERT_UINT(declared, FUNCTIONS);
	/* test_query.c has those of answer.h, test_event_snapshot.c and test_arrow.c those of the last two. */
	CU_ASSERT(exported_check_map(headers) > declared);
}

SUITE(.name = "api", .set_up = set_up, .tear_down = tear_down)
