/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/rpm/rpm_reader.h"
#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/suite.h"

#define LINE_MAX_BYTES ((size_t)16 << 20) /* the longest line that the format's readers accept */

static enum hd_status open_text(const struct text *text, bool lenient, struct hd_graph **ret,
				struct hd_error *err)
{
	CU_ASSERT_FATAL(!text->failed);
	return dump_open(text->bytes, text->size, &(struct dump_reading){ .lenient = lenient }, ret,
			 err);
}

static void fill(struct text *text, size_t count, const char *piece)
{
	size_t size = strlen(piece);
	char *at = text_extend(text, count * size);
	REQUIRE(at);
	for (size_t i = 0; i < count * size; i++)
		at[i] = piece[i % size];
}

#define HEAD "a 2 x\nt 2 U\no 20 2 8\n"
#define TAIL "r 10 3 0\nc x\n"

/* A section whose fourth line has @p size bytes: a type name, or references. */
static struct text long_line(size_t size, bool is_object, const char *line_end)
{
	struct text text = { 0 };
	text_puts(&text, HEAD);
	size_t begin = text.size;
	if (is_object) {
		text_puts(&text, "o 10 2 8");
		size_t left = size - strlen("o 10 2 8");
		while (left % 3) {
			text_puts(&text, " 100");
			left -= 4;
		}
		fill(&text, left / 3, " 10");
	} else {
		text_puts(&text, "t 3 ");
		fill(&text, size - 4, "n");
	}
	ASSERT_UINT_FATAL(text.size - begin, size);
	text_puts(&text, line_end);
	text_puts(&text, TAIL);
	return text;
}

static void check_longest(size_t size, bool is_object, bool fits, uint64_t max_mem)
{
	struct text text = long_line(size, is_object, "\n");
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	enum hd_status status = dump_open(
		text.bytes, text.size, &(struct dump_reading){ .max_mem = max_mem }, &graph, &err);
	ASSERT_UINT(status, fits ? HD_OK : HD_ERR_FORMAT);
	if (fits && graph && is_object)
		ASSERT_UINT(graph->forward.edge_count, (size - 8) / 3);
	if (fits && graph && !is_object)
		ASSERT_UINT(graph->types[1].name_size, size - 4);
	if (!fits) {
		ASSERT_UINT(err.address, 4);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "line 4, column 16777217: "));
	}
	graph_destroy(graph);
	text_deinit(&text);
}

TEST(a_line_of_16_mib_is_read)
{
	check_longest(LINE_MAX_BYTES, false, true, 0);
	check_longest(LINE_MAX_BYTES, true, true, 0);
}

TEST(a_longer_line_is_not)
{
	check_longest(LINE_MAX_BYTES + 1, false, false, 0);
	check_longest(LINE_MAX_BYTES + 300000, false, false, 0);
}

TEST(the_line_of_a_large_array_is_read)
{
	check_longest(3 * LINE_MAX_BYTES, true, true, 0);
	check_longest(LINE_MAX_BYTES + 1, true, true, (uint64_t)1 << 30);
}

TEST(a_lenient_reader_passes_over_lines_of_any_length)
{
	static const size_t sizes[] = { LINE_MAX_BYTES + 1, LINE_MAX_BYTES + 100000,
					(size_t)64 << 20 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct text text = long_line(sizes[i], false, i == 1 ? "\r\n" : "\n");
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(open_text(&text, true, &graph, &err), HD_OK);
		REQUIRE(graph);
		const struct graph_finding *finding = dump_finding(graph, "long-line");
		REQUIRE(finding);
		ASSERT_UINT(finding->count, 1);
		ASSERT_UINT(finding->line, 4);
		ASSERT_SAME_DUMP(graph, HEAD TAIL);
		graph_destroy(graph);
		text_deinit(&text);
	}
}

TEST(a_line_of_64_mib_is_an_error)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\no ");
	fill(&text, (size_t)64 << 20, "1");
	for (int newline = 0; newline < 2; newline++) {
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(open_text(&text, false, &graph, &err), HD_ERR_FORMAT);
		ASSERT_UINT(err.address, 3);
		text_puts(&text, "\n");
	}
	text_deinit(&text);
}

static void check_unsupported(const char *bytes, size_t size, const char *part)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(dump_open(bytes, size, &(struct dump_reading){ .lenient = lenient },
				      &graph, &err),
			    HD_ERR_UNSUPPORTED);
		CU_ASSERT_PTR_NULL(graph);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.message, part));
		CU_ASSERT_PTR_NULL(strchr(err.message, '\n'));
	}
}

TEST(what_is_no_dump_is_refused)
{
	check_unsupported("", 0, "empty");
	check_unsupported("\x7f"
			  "ELF\2\1\1",
			  7, "ELF");
	check_unsupported("\x1f\x8b\x08\x00", 4, "gzip -d");
	check_unsupported("\x28\xb5\x2f\xfd....", 8, "zstd -d");
	check_unsupported("PK\x03\x04....", 8, "unzip");
	check_unsupported("\xff\xfe"
			  "a\0 \0002\0",
			  8, "UTF-16");
	check_unsupported("\0\0\0\0\0\0\0\0", 8, "not a heap dump");
	check_unsupported("<html>\n", 7, "<html>");
	check_unsupported("\n \n\t\n", 5, "not a heap dump");
	check_unsupported("a", 1, "not a heap dump");
	char garbage[5000];
	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (char)(i * i * 31 + i * 7 + 3);
	check_unsupported(garbage, sizeof(garbage), "not a heap dump");
}

static enum hd_status open_path(const char *path, struct hd_error *err)
{
	struct hd_graph *graph = NULL;
	*err = (struct hd_error){ 0 };
	enum hd_status status =
		format_open(path, &(struct format_options){ 0 }, NULL, &graph, NULL, err);
	CU_ASSERT_PTR_NULL(graph);
	graph_destroy(graph);
	return status;
}

TEST(a_directory_is_refused)
{
	struct hd_error err;
	ASSERT_UINT(open_path("/proc", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, EISDIR);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "/proc: is a directory"));
}

TEST(a_missing_file_is_told)
{
	struct hd_error err;
	ASSERT_UINT(open_path("/nonexistent/x.heap", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "/nonexistent/x.heap: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "No such file"));
	ASSERT_UINT(open_path("", &err), HD_ERR_OS);
}

TEST(a_path_of_any_length_is_no_harm)
{
	char path[6000];
	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	struct hd_error err;
	ASSERT_UINT(open_path(path, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENAMETOOLONG);
	CU_ASSERT(memchr(err.message, '\0', sizeof(err.message)) != NULL);
}

/* A fresh directory, and a path in it. */
static void make_place(char *directory, char *path, size_t size)
{
	(void)snprintf(directory, size, "/tmp/heapdump-test-XXXXXX");
	REQUIRE(mkdtemp(directory));
	(void)snprintf(path, 2 * size, "%s/x.heap", directory);
}

TEST(a_fifo_is_refused_without_waiting)
{
	char directory[32], path[64];
	make_place(directory, path, sizeof(directory));
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	struct hd_error err;
	(void)alarm(300);
	ASSERT_UINT(open_path(path, &err), HD_ERR_OS);
	(void)alarm(0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "not a regular file"));
	ASSERT_UINT(open_path("/dev/null", &err), HD_ERR_OS);
	(void)unlink(path);
	(void)rmdir(directory);
}

TEST(a_file_without_permission_is_refused)
{
	char directory[32], path[64];
	make_place(directory, path, sizeof(directory));
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0);
	CU_ASSERT_FATAL(fd >= 0);
	(void)close(fd);
	bool root = geteuid() == 0;
	/* The superuser reads everything: be somebody else for a moment. */
	if (!root || (chmod(directory, 0711) == 0 && seteuid(65534) == 0)) {
		struct hd_error err;
		ASSERT_UINT(open_path(path, &err), HD_ERR_OS);
		CU_ASSERT_EQUAL(err.os_errno, EACCES);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "Permission denied"));
	} else {
		(void)puts("skipped: root that may not become another user");
	}
	if (root)
		CU_ASSERT_FATAL(seteuid(0) == 0);
	(void)unlink(path);
	(void)rmdir(directory);
}

TEST(a_size_that_lies_is_noticed)
{
	static const char text[] = "a 2 x\nt 1 T\nc x\n";
	struct dump_file file;
	dump_file_make(&file, text, sizeof(text) - 1);
	for (unsigned int workers = 1; workers <= 3; workers++) {
		struct job job = { .workers = workers };
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		ASSERT_UINT(rpm_read(&(struct dump_input){ .path = "x",
							   .fd = file.fd,
							   .size = (uint64_t)5 << 20 },
				     &(struct format_options){ 0 }, &job, &graph, &err),
			    HD_ERR_OS);
		CU_ASSERT_PTR_NULL(graph);
		ASSERT_TEXT(err.message, "x: the file shrank while it was read");
	}
	dump_file_close(&file);
}

static int cut_file(void *arg)
{
	const struct dump_file *file = arg;
	CU_ASSERT_FATAL(ftruncate(file->fd, 20) == 0);
	return 0;
}

/* The same byte again: only the time is another. */
static int write_file_again(void *arg)
{
	const struct dump_file *file = arg;
	const struct timespec pause = { .tv_nsec = 20000000 };
	(void)nanosleep(&pause, NULL); /* the clock of the file system is no finer */
	CU_ASSERT_FATAL(pwrite(file->fd, "a", 1, 0) == 1);
	return 0;
}

/* Read a large file whose reader is interrupted by @p meddle. */
static void check_meddled(int (*meddle)(void *arg), const char *what)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\n");
	for (unsigned int i = 0; i < 100000; i++)
		text_printf(&text, "o %x 1 18 10 20\n", i);
	struct dump_file file;
	dump_file_make(&file, text.bytes, text.size);
	text_deinit(&text);
	struct job job = { .cancelled = meddle, .arg = &file };
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	ASSERT_UINT(format_open(file.path, &(struct format_options){ 0 }, &job, &graph, NULL, &err),
		    HD_ERR_OS);
	CU_ASSERT_PTR_NULL(graph);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.message, what));
	dump_file_close(&file);
}

TEST(a_file_that_shrinks_while_it_is_read_is_an_error)
{
	check_meddled(cut_file, "shrank");
}

TEST(a_file_that_is_written_while_it_is_read_is_an_error)
{
	check_meddled(write_file_again, "the file was changed while it was read");
}

SUITE(.name = "rpm files")
