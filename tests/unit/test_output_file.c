/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/alloc.h"
#include "util/output_file.h"

static char directory[32], path[64];

static void set_up(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/heapdump-test-XXXXXX");
	REQUIRE(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/x.heap", directory);
}

static unsigned int entries(bool remove)
{
	unsigned int files = 0;
	struct dirent **list = NULL;
	int count = scandir(directory, &list, NULL, NULL);
	CU_ASSERT_FATAL(count >= 2);
	for (int i = 0; i < count; i++) {
		char name[400];
		(void)snprintf(name, sizeof(name), "%s/%s", directory, list[i]->d_name);
		bool is_file = list[i]->d_name[0] != '.';
		files += is_file;
		if (is_file && remove)
			(void)unlink(name);
		free(list[i]);
	}
	free(list);
	return files;
}

static void tear_down(void)
{
	(void)entries(true);
	(void)rmdir(directory);
}

static void put_file(const char *name, const char *content, mode_t mode)
{
	FILE *file = fopen(name, "w");
	REQUIRE(file);
	(void)fputs(content, file);
	(void)fclose(file);
	CU_ASSERT_FATAL(chmod(name, mode) == 0);
}

static const char *content_of(const char *name)
{
	static char text[100];
	FILE *file = fopen(name, "r");
	if (!file)
		return "(none)";
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	return text;
}

static void write_whole(const char *name, const char *content)
{
	struct output_file file;
	ASSERT_UINT_FATAL(output_file_open(&file, name, NULL, NULL), HD_OK);
	CU_ASSERT(output_file_write(&file, content, strlen(content)));
	ASSERT_UINT(output_file_commit(&file, NULL), HD_OK);
}

TEST(a_file_appears_when_it_is_complete)
{
	struct output_file file;
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
	CU_ASSERT(output_file_write(&file, "one ", 4));
	CU_ASSERT(access(path, F_OK) != 0);
	/* Nor anything else: it has no name yet, or one that lists do not show. */
	ASSERT_UINT(entries(false), 0);
	CU_ASSERT(output_file_write(&file, "two", 3));
	CU_ASSERT(output_file_write(&file, "", 0));
	CU_ASSERT(access(path, F_OK) != 0);
	ASSERT_UINT(output_file_commit(&file, NULL), HD_OK);
	ASSERT_TEXT(content_of(path), "one two");
	ASSERT_UINT(entries(false), 1);
}

TEST(what_is_abandoned_leaves_nothing)
{
	struct output_file file;
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
	CU_ASSERT(output_file_write(&file, "one", 3));
	output_file_abandon(&file);
	ASSERT_UINT(entries(false), 0);
	put_file(path, "old", 0640);
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
	CU_ASSERT(output_file_write(&file, "new", 3));
	ASSERT_TEXT(content_of(path), "old");
	output_file_abandon(&file);
	ASSERT_TEXT(content_of(path), "old");
	ASSERT_UINT(entries(false), 1);
}

static mode_t mode_of(const char *name)
{
	struct stat stat_of;
	CU_ASSERT_FATAL(stat(name, &stat_of) == 0);
	return stat_of.st_mode & 07777;
}

TEST(a_replaced_file_keeps_its_permissions)
{
	put_file(path, "old", 0640);
	write_whole(path, "new");
	ASSERT_TEXT(content_of(path), "new");
	ASSERT_UINT(mode_of(path), 0640);
	ASSERT_UINT(entries(false), 1);
}

TEST(a_new_file_is_its_owners_only)
{
	mode_t mask = umask(0);
	write_whole(path, "new");
	(void)umask(mask);
	ASSERT_UINT(mode_of(path), 0600);
}

TEST(a_symbolic_link_keeps_pointing)
{
	char target[80];
	(void)snprintf(target, sizeof(target), "%s/target", directory);
	put_file(target, "old", 0600);
	CU_ASSERT_FATAL(symlink("target", path) == 0);
	write_whole(path, "new");
	struct stat stat_of;
	CU_ASSERT(lstat(path, &stat_of) == 0 && S_ISLNK(stat_of.st_mode));
	ASSERT_TEXT(content_of(target), "new");
	ASSERT_UINT(mode_of(target), 0600);
	ASSERT_UINT(entries(false), 2);
}

static bool is_link(const char *name)
{
	struct stat stat_of;
	return lstat(name, &stat_of) == 0 && S_ISLNK(stat_of.st_mode);
}

/* As a shell's > does: over links to links, by names from where each link stands. */
TEST(a_dangling_link_gets_its_file)
{
	char folder[80], second[96], target[96];
	(void)snprintf(folder, sizeof(folder), "%s/folder", directory);
	(void)snprintf(second, sizeof(second), "%s/second", folder);
	(void)snprintf(target, sizeof(target), "%s/target", folder);
	CU_ASSERT_FATAL(mkdir(folder, 0700) == 0);
	CU_ASSERT_FATAL(symlink("folder/second", path) == 0);
	CU_ASSERT_FATAL(symlink("target", second) == 0);
	write_whole(path, "new");
	CU_ASSERT(is_link(path) && is_link(second) && !is_link(target));
	ASSERT_TEXT(content_of(target), "new");
	write_whole(path, "newer");
	CU_ASSERT(is_link(path) && is_link(second) && !is_link(target));
	ASSERT_TEXT(content_of(target), "newer");
	CU_ASSERT(unlink(target) == 0 && unlink(second) == 0);
	CU_ASSERT(symlink(target, second) == 0);
	write_whole(path, "absolute");
	ASSERT_TEXT(content_of(target), "absolute");
	CU_ASSERT(unlink(target) == 0 && unlink(second) == 0 && rmdir(folder) == 0);
}

TEST(a_link_to_nowhere_is_told)
{
	struct output_file file;
	struct hd_error err = { 0 };
	CU_ASSERT_FATAL(symlink("none/target", path) == 0);
	ASSERT_UINT(output_file_open(&file, path, NULL, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOENT);
	CU_ASSERT(unlink(path) == 0 && symlink("x.heap", path) == 0);
	ASSERT_UINT(output_file_open(&file, path, NULL, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ELOOP);
	CU_ASSERT(is_link(path));
	ASSERT_UINT(entries(false), 1);
}

TEST(a_full_device_is_told)
{
	struct output_file file;
	struct hd_error err = { 0 };
	ASSERT_UINT_FATAL(output_file_open(&file, "/dev/full", NULL, NULL), HD_OK);
	CU_ASSERT(!output_file_write(&file, "one", 3));
	CU_ASSERT(!output_file_write(&file, "two", 3));
	ASSERT_UINT(output_file_commit(&file, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOSPC);
	ASSERT_TEXT(err.message, "/dev/full: cannot write: No space left on device");
	struct stat stat_of;
	CU_ASSERT(stat("/dev/full", &stat_of) == 0 && S_ISCHR(stat_of.st_mode));
}

TEST(devices_are_written_straight)
{
	write_whole("/dev/null", "one");
	struct stat stat_of;
	CU_ASSERT(stat("/dev/null", &stat_of) == 0 && S_ISCHR(stat_of.st_mode));
}

TEST(a_fifo_is_written_straight)
{
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CU_ASSERT_FATAL(reader >= 0);
	write_whole(path, "through");
	char text[16] = "";
	CU_ASSERT_EQUAL(read(reader, text, sizeof(text) - 1), 7);
	ASSERT_TEXT(text, "through");
	(void)close(reader);
	struct stat stat_of;
	CU_ASSERT(stat(path, &stat_of) == 0 && S_ISFIFO(stat_of.st_mode));
	ASSERT_UINT(entries(false), 1);
}

/* An error in the middle: what is written after the first bytes goes to a full device. */
TEST(a_failed_write_leaves_nothing)
{
	put_file(path, "old", 0600);
	struct output_file file;
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
	CU_ASSERT(output_file_write(&file, "one", 3));
	int real = file.fd;
	file.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	CU_ASSERT(!output_file_write(&file, "two", 3));
	(void)close(real);
	struct hd_error err = { 0 };
	ASSERT_UINT(output_file_commit(&file, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOSPC);
	ASSERT_TEXT(content_of(path), "old");
	ASSERT_UINT(entries(false), 1);
}

TEST(what_cannot_be_opened_is_told)
{
	struct output_file file;
	struct hd_error err = { 0 };
	ASSERT_UINT(output_file_open(&file, directory, NULL, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, EISDIR);
	char name[100];
	(void)snprintf(name, sizeof(name), "%s/none/x.heap", directory);
	ASSERT_UINT(output_file_open(&file, name, NULL, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOENT);
	ASSERT_UINT(output_file_open(&file, "", NULL, &err), HD_ERR_OS);
	ASSERT_UINT(entries(false), 0);
}

TEST(what_is_written_in_the_background_is_all_there)
{
	enum {
		COUNT = 700000
	};
	struct output_file file;
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
	CU_ASSERT(output_file_write(&file, "begin\n", 6));
	output_file_write_in_background(&file);
	char line[16];
	for (unsigned int i = 0; i < COUNT; i++) {
		(void)snprintf(line, sizeof(line), "%09u\n", i);
		CU_ASSERT(output_file_write(&file, line, 10));
	}
	ASSERT_UINT(output_file_commit(&file, NULL), HD_OK);
	FILE *written = fopen(path, "r");
	REQUIRE(written);
	CU_ASSERT(fread(line, 1, 6, written) == 6 && memcmp(line, "begin\n", 6) == 0);
	for (unsigned int i = 0; i < COUNT; i++) {
		char expected[16];
		(void)snprintf(expected, sizeof(expected), "%09u\n", i);
		CU_ASSERT_FATAL(fread(line, 1, 10, written) == 10);
		CU_ASSERT_FATAL(memcmp(line, expected, 10) == 0);
	}
	CU_ASSERT(fgetc(written) == EOF);
	(void)fclose(written);
	(void)unlink(path);
}

TEST(what_is_written_in_the_background_may_be_abandoned)
{
	struct output_file file;
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
	output_file_write_in_background(&file);
	CU_ASSERT(output_file_write(&file, "one", 3));
	output_file_abandon(&file);
	ASSERT_UINT(entries(false), 0);
}

/* It is told at the latest when the file is to be committed, and no more is taken then. */
TEST(a_background_writer_that_fails_leaves_nothing)
{
	static char bytes[1 << 20];
	struct output_file file;
	struct hd_error err = { 0 };
	for (unsigned int count = 1; count < 20; count += 9) {
		ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
		int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
		CU_ASSERT_FATAL(full >= 0 && dup2(full, file.fd) == file.fd);
		(void)close(full);
		output_file_write_in_background(&file);
		bool goes_on = true;
		for (unsigned int i = 0; i < count; i++)
			goes_on = output_file_write(&file, bytes, sizeof(bytes));
		CU_ASSERT(count == 1 || !goes_on);
		ASSERT_UINT(output_file_commit(&file, &err), HD_ERR_OS);
		CU_ASSERT(strstr(err.message, "No space left on device") != NULL);
		ASSERT_UINT(entries(false), 0);
	}
}

/* The largest name that there is leaves no room for a longer one beside it. */
TEST(a_long_name_is_no_problem)
{
	char name[300], last[256];
	memset(last, 'x', sizeof(last) - 1);
	last[sizeof(last) - 1] = '\0';
	(void)snprintf(name, sizeof(name), "%s/%s", directory, last);
	write_whole(name, "new");
	ASSERT_TEXT(content_of(name), "new");
	ASSERT_UINT(entries(false), 1);
}

/* A signal would end the program that runs this. */
TEST(a_limit_on_files_is_an_error)
{
	static char bytes[1 << 20];
	struct rlimit old, small;
	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &old) == 0);
	for (unsigned int is_background = 0; is_background < 2; is_background++) {
		struct output_file file;
		struct hd_error err = { 0 };
		ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, NULL), HD_OK);
		if (is_background)
			output_file_write_in_background(&file);
		small = (struct rlimit){ .rlim_cur = 1000, .rlim_max = old.rlim_max };
		CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &small) == 0);
		(void)output_file_write(&file, bytes, sizeof(bytes));
		enum hd_status status = output_file_commit(&file, &err);
		CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &old) == 0);
		ASSERT_UINT(status, HD_ERR_OS);
		CU_ASSERT(strstr(err.message, "cannot write: File too large") != NULL);
		ASSERT_UINT(entries(false), 0);
	}
	sigset_t pending;
	CU_ASSERT(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
}

static int stops_at_third(void *arg)
{
	unsigned int *asked = arg;
	return ++*asked >= 3;
}

TEST(nobody_reads_a_fifo)
{
	struct output_file file;
	struct hd_error err = { 0 };
	unsigned int asked = 0;
	struct job job = { .cancelled = stops_at_third, .arg = &asked };
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	ASSERT_UINT(output_file_open(&file, path, &job, &err), HD_ERR_CANCELLED);
	ASSERT_UINT(asked, 3);
	ASSERT_UINT(entries(false), 1);
}

TEST(a_reader_of_a_fifo_that_stops_reading)
{
	static char bytes[1 << 20]; /* more than a pipe takes */
	struct output_file file;
	struct hd_error err = { 0 };
	unsigned int asked = 0;
	struct job job = { .cancelled = stops_at_third, .arg = &asked };
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CU_ASSERT_FATAL(reader >= 0);
	ASSERT_UINT_FATAL(output_file_open(&file, path, &job, &err), HD_OK);
	CU_ASSERT(!output_file_write(&file, bytes, sizeof(bytes)));
	ASSERT_UINT(output_file_commit(&file, &err), HD_ERR_CANCELLED);
	(void)close(reader);
}

/* Neither a signal nor a wait. */
TEST(a_reader_of_a_fifo_that_leaves)
{
	struct output_file file;
	struct hd_error err = { 0 };
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CU_ASSERT_FATAL(reader >= 0);
	ASSERT_UINT_FATAL(output_file_open(&file, path, NULL, &err), HD_OK);
	(void)close(reader);
	CU_ASSERT(!output_file_write(&file, "one", 3));
	ASSERT_UINT(output_file_commit(&file, &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, EPIPE);
}

TEST(each_failed_allocation_is_reported)
{
	struct output_file file;
	for (uint64_t nth = 1; nth < 10; nth++) {
		struct hd_error err = { 0 };
		alloc_fail_at(nth);
		enum hd_status status = output_file_open(&file, path, NULL, &err);
		alloc_fail_at(0);
		if (status == HD_OK) {
			CU_ASSERT(nth > 2);
			output_file_abandon(&file);
			return;
		}
		ASSERT_UINT(status, HD_ERR_NOMEM);
		ASSERT_UINT(entries(false), 0);
	}
	CU_FAIL("still out of memory");
}

SUITE(.name = "output file", .set_up = set_up, .tear_down = tear_down)
