/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "support/assert_more.h"
#include "support/dump_text.h"
#include "support/graph_maker.h"
#include "support/suite.h"
#include "support/turns.h"
#include "util/alloc.h"

/*
 * The same file read by any number of workers is the same graph, or the same error.  Workers get
 * ranges of whole lines; here every line has 32 bytes, so that any record can be put on either
 * side of the borders.
 */

#define WIDTH     ((size_t)32)
#define LINES     ((size_t)7 * (1 << 15) + 100) /* 7 workers get 1 MiB each, and a bit */
#define FEW_LINES ((size_t)2 * (1 << 15) + 100) /* 2 workers do */
/* So many random files; the seed says which. */
#define ROUNDS (turns_all() ? 30u : share_of(5, 2))

static const unsigned int worker_counts[] = { 2, 3, 7 };

struct lines {
	char *bytes;
	size_t size;
};

static size_t line_count(const struct lines *lines)
{
	return lines->size / WIDTH;
}

/* Write @p record on a line, blanks after it. */
static void put(struct lines *lines, size_t line, const char *record)
{
	size_t size = strlen(record);
	CU_ASSERT_FATAL(size < WIDTH && line < line_count(lines));
	char *at = lines->bytes + line * WIDTH;
	memset(at, ' ', WIDTH - 1);
	for (size_t i = 0; i < size; i++)
		at[i] = record[i];
	at[WIDTH - 1] = '\n';
}

/* Objects of one section, in the form that is read fastest. */
static void make_lines(struct lines *lines, size_t count)
{
	lines->size = count * WIDTH;
	lines->bytes = malloc(lines->size + 1);
	REQUIRE(lines->bytes);
	struct random random = { .state = 77 };
	for (size_t i = 0; i < count; i++) {
		char line[WIDTH + 1];
		(void)snprintf(line, sizeof(line), "o %08zx %u 18 %08zx %06" PRIx64 "\n",
			       (i + 1) * 16, (unsigned int)(1 + i % 3),
			       (size_t)(random_below(&random, count + 9) + 1) * 16,
			       (random_below(&random, count / 2) + 1) * 16);
		memcpy(lines->bytes + i * WIDTH, line, WIDTH);
	}
	put(lines, 0, "a 2 first.exe 10");
	put(lines, 1, "t 1 One");
	put(lines, 2, "t 2 Two");
	put(lines, 3, "t 3 Three");
	put(lines, count - 2, "r 100 4 0 2");
	put(lines, count - 1, "c first.exe 20");
}

static struct lines copy_lines(const struct lines *lines)
{
	struct lines copy = { .bytes = malloc(lines->size + 1), .size = lines->size };
	REQUIRE(copy.bytes);
	memcpy(copy.bytes, lines->bytes, lines->size);
	return copy;
}

/* The first line that worker @p index of @p count reads. */
static size_t border(const struct lines *lines, unsigned int index, unsigned int count)
{
	return (lines->size / count * index + WIDTH - 1) / WIDTH;
}

/* Read by one worker, then by the first @p count of the others; @return the first one's status. */
static enum hd_status check_some(const struct lines *lines, bool lenient, size_t count)
{
	struct hd_graph *expected = NULL;
	struct hd_error expected_err = { 0 };
	enum hd_status status =
		dump_open(lines->bytes, lines->size,
			  &(struct dump_reading){ .lenient = lenient, .workers = 1 }, &expected,
			  &expected_err);
	for (size_t i = 0; i < count; i++) {
		struct hd_graph *graph = NULL;
		struct hd_error err = { 0 };
		struct dump_reading how = { .lenient = lenient, .workers = worker_counts[i] };
		ASSERT_UINT(dump_open(lines->bytes, lines->size, &how, &graph, &err), status);
		ASSERT_UINT(err.address, expected_err.address);
		const char *text = strstr(err.message, "line ");
		const char *expected_text = strstr(expected_err.message, "line ");
		ASSERT_TEXT(text ? text : "", expected_text ? expected_text : "");
		if (graph && expected)
			ASSERT_GRAPH(graph, expected, GRAPH_EXACT);
		graph_destroy(graph);
	}
	graph_destroy(expected);
	return status;
}

static enum hd_status check_workers(const struct lines *lines, bool lenient)
{
	return check_some(lines, lenient, sizeof(worker_counts) / sizeof(worker_counts[0]));
}

static struct lines plain, few;

static void set_up(void)
{
	make_lines(&plain, LINES);
	make_lines(&few, FEW_LINES);
}

static void tear_down(void)
{
	free(plain.bytes);
	free(few.bytes);
	plain.bytes = few.bytes = NULL;
}

TEST(a_plain_file_is_the_same_graph)
{
	ASSERT_UINT(check_workers(&plain, false), HD_OK);
	struct hd_graph *graph = NULL;
	ASSERT_UINT(dump_open(plain.bytes, plain.size, &(struct dump_reading){ .workers = 7 },
			      &graph, NULL),
		    HD_OK);
	REQUIRE(graph);
	ASSERT_UINT(graph->object_count, LINES - 6);
	ASSERT_UINT(graph->forward.edge_count, 2 * (LINES - 6));
	graph_destroy(graph);
	plain.size -= WIDTH / 2;
	ASSERT_UINT(check_workers(&plain, false), HD_OK);
	plain.size += WIDTH / 2;
}

/* The records that are put around a border: one, or several. */
static const struct {
	const char *records[3];
	bool valid;
} changes[] = {
	{ { "c first.exe 20", "a 2 second.exe 30", "t 1 Other" }, true },
	{ { "c first.exe 20", "", "a 2 second.exe 30" }, true },
	{ { "a 2 second.exe 30", "t 2 Other", "r 100 3 0" }, true },
	{ { "", "", "" }, true },
	{ { "t 1 One", "t 5 Five", "r 200 4 1 5" }, true },
	{ { "r 300 3 2", "r 300 3 2", "o 100000000001 9 123456789ab" }, true },
	{ { "c first.exe 20", "t 1 One", "a 2 third.exe 30" }, false },
	{ { "c first.exe 20", "c first.exe 20", "" }, false },
	{ { "c first.exe 20", "c", "a 2 x" }, false },
	{ { "c first.exe 20", "  r 100 3 0", "o z" }, false },
	{ { "c first.exe 20", "o", "c" }, false },
	{ { "t 1 Two", "t 1 Two", "t 1 One" }, false },
	{ { "t 1 One", "t 1 Two", "o zz 1 1" }, false },
	{ { "o 20 zz 1", "t 2 One", "q" }, false },
	{ { "r 100 9 9", "r 100 9 9", "c" }, false },
	{ { "o 100 1 19", "o 200 1 123456789a", "o 200 1 123456789b" }, false },
};

#define CHANGES (sizeof(changes) / sizeof(changes[0]))

static void put_change(struct lines *lines, size_t line, size_t change)
{
	for (size_t i = 0; i < 3; i++)
		put(lines, line + i, changes[change].records[i]);
}

/* Each change with each of its lines as the first after the middle, where 2 workers meet. */
TEST(any_record_may_begin_a_range)
{
	for (size_t change = 0; change < CHANGES; change++) {
		for (size_t before = 0; before < 4; before++) {
			struct lines lines = copy_lines(&few);
			put_change(&lines, border(&lines, 1, 2) - before, change);
			enum hd_status status = check_some(&lines, false, 1);
			ASSERT_UINT(status, changes[change].valid ? HD_OK : HD_ERR_FORMAT);
			if (before < 3 || !changes[change].valid)
				ASSERT_UINT(check_some(&lines, true, 1), HD_OK);
			free(lines.bytes);
		}
	}
}

TEST(random_changes_are_read_alike)
{
	for (uint64_t seed = turns_seed() * ROUNDS; seed < (turns_seed() + 1) * ROUNDS; seed++) {
		struct random random = { .state = seed + 1 };
		struct lines lines = copy_lines(&plain);
		for (uint64_t count = 1 + random_below(&random, 12); count; count--) {
			unsigned int workers = worker_counts[random_below(&random, 3)];
			unsigned int index = 1 + (unsigned int)random_below(&random, workers - 1);
			size_t line = border(&lines, index, workers) - random_below(&random, 4);
			if (random_below(&random, 3) == 0)
				line = 10 + random_below(&random, LINES - 20);
			size_t limit = seed % 4 ? CHANGES : 6; /* only valid ones, now and then */
			put_change(&lines, line, random_below(&random, limit));
		}
		(void)check_workers(&lines, false);
		ASSERT_UINT(check_workers(&lines, true), HD_OK);
		free(lines.bytes);
	}
}

TEST(the_first_of_many_errors_is_reported)
{
	struct random random = { .state = 5 };
	for (unsigned int round = 0; round < 6; round++) {
		struct lines lines = copy_lines(&plain);
		size_t first = LINES;
		for (unsigned int i = 0; i < 5; i++) {
			size_t line = 10 + random_below(&random, LINES - 20);
			put(&lines, line, "o 12345 g 1");
			first = line < first ? line : first;
		}
		for (unsigned int workers = 1; workers <= 7; workers++) {
			struct hd_graph *graph = NULL;
			struct hd_error err = { 0 };
			ASSERT_UINT(dump_open(lines.bytes, lines.size,
					      &(struct dump_reading){ .workers = workers }, &graph,
					      &err),
				    HD_ERR_FORMAT);
			ASSERT_UINT(err.address, first + 1);
			CU_ASSERT_PTR_NOT_NULL(strstr(err.message, "column 9: "));
		}
		free(lines.bytes);
	}
}

/* A line much longer than a worker's share: those after have nothing, or its end, to read. */
TEST(a_line_may_span_several_ranges)
{
	struct text text = { 0 };
	text_puts(&text, "a 2 x\nt 1 T\no 10 1 8");
	while (text.size < (size_t)9 << 20)
		text_puts(&text, " 10 20");
	text_puts(&text, "\no 20 1 8\n");
	struct lines lines = { .bytes = text.bytes, .size = text.size };
	ASSERT_UINT(check_workers(&lines, false), HD_OK);
	lines.size--;
	ASSERT_UINT(check_workers(&lines, false), HD_OK);
	text_puts(&text, "c x\nc x\n");
	lines = (struct lines){ .bytes = text.bytes, .size = text.size };
	ASSERT_UINT(check_workers(&lines, false), HD_ERR_FORMAT);
	ASSERT_UINT(check_workers(&lines, true), HD_OK);
	text_deinit(&text);
}

static int stop_after(void *arg)
{
	unsigned int *left = arg;
	return *left == 0 || --*left == 0;
}

static void check_cancelled(const struct dump_file *file, unsigned int workers, unsigned int polls)
{
	unsigned int left = polls;
	struct job job = { .cancelled = stop_after, .arg = &left, .workers = workers };
	struct hd_graph *graph = NULL;
	struct hd_error err = { 0 };
	enum hd_status status =
		format_open(file->path, &(struct format_options){ 0 }, &job, &graph, NULL, &err);
	CU_ASSERT(left == 0 || status == HD_OK);
	if (status != HD_OK) {
		ASSERT_UINT(status, HD_ERR_CANCELLED);
		ASSERT_TEXT(err.message, "interrupted");
		CU_ASSERT_PTR_NULL(graph);
	}
	graph_destroy(graph);
}

TEST(reading_can_be_cancelled_at_any_time)
{
	struct dump_file file;
	struct lines lines = copy_lines(&plain);
	put(&lines, 100, "o 1 1 1"); /* not ascending: the sorting is part of it */
	dump_file_make(&file, lines.bytes, lines.size);
	free(lines.bytes);
	for (unsigned int workers = 1; workers <= 2; workers++) {
		for (unsigned int polls = 1; polls < 80; polls += polls / 3 + 1)
			check_cancelled(&file, workers, polls);
	}
	dump_file_close(&file);
}

SUITE(.name = "rpm workers", .set_up = set_up, .tear_down = tear_down)
