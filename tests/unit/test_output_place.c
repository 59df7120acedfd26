/* SPDX-License-Identifier: MIT */
/* Who may replace what, and what a new file may be read by: output_place.h has the rules. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/output_file.h"

#define SOMEBODY 65534u /* who is neither the caller nor root */

static char directory[40], path[64], other[64];

static void remove_all(void)
{
	struct dirent **list = NULL;
	int count = scandir(directory, &list, NULL, NULL);
	CU_ASSERT_FATAL(count >= 2);
	for (int i = 0; i < count; i++) {
		char name[400];
		(void)snprintf(name, sizeof(name), "%s/%s", directory, list[i]->d_name);
		if (strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0)
			(void)remove(name);
		free(list[i]);
	}
	free(list);
}

static void set_up(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/heapdump-test-XXXXXX");
	REQUIRE(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/x.heap", directory);
	(void)snprintf(other, sizeof(other), "%s/other", directory);
}

static void tear_down(void)
{
	remove_all();
	(void)rmdir(directory);
}

/* Only root can play somebody else. */
static bool is_root(const char *test)
{
	if (geteuid() == 0)
		return true;
	(void)printf("\n    skipped: %s needs to be root ", test);
	return false;
}

static void put_file(const char *name, const char *content, mode_t mode, uid_t owner)
{
	FILE *file = fopen(name, "w");
	REQUIRE(file);
	(void)fputs(content, file);
	(void)fclose(file);
	CU_ASSERT_FATAL(owner == geteuid() || chown(name, owner, owner) == 0);
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

static struct stat stat_of(const char *name)
{
	struct stat file = { 0 };
	CU_ASSERT_FATAL(lstat(name, &file) == 0);
	return file;
}

static enum hd_status write_whole(const char *name, const char *content, struct hd_error *err)
{
	struct output_file file;
	TRY(output_file_open(&file, name, NULL, err));
	CU_ASSERT(output_file_write(&file, content, strlen(content)));
	return output_file_commit(&file, err);
}

static void is_refused(const char *name, const char *reason)
{
	struct hd_error err = { 0 };
	bool is_straight;
	ASSERT_UINT(output_place_check(name, &is_straight, &err), HD_ERR_OS);
	ASSERT_UINT(write_whole(name, "new", &err), HD_ERR_OS);
	CU_ASSERT(strstr(err.message, name) == err.message);
	CU_ASSERT_FATAL(strstr(err.message, reason) != NULL);
}

/* The file is the caller's, with @p mode. */
static void is_written(const char *name, mode_t mode)
{
	ASSERT_UINT(write_whole(name, "new", NULL), HD_OK);
	ASSERT_TEXT(content_of(name), "new");
	struct stat file = stat_of(name);
	ASSERT_UINT(file.st_mode & 07777, mode);
	ASSERT_UINT(file.st_uid, geteuid());
}

TEST(set_bits_are_never_kept)
{
	put_file(path, "old", 06755, geteuid());
	is_written(path, 0755);
}

TEST(a_file_of_somebody_else_gives_no_permissions)
{
	if (!is_root(__func__))
		return;
	put_file(path, "old", 04777, SOMEBODY);
	is_written(path, 0600);
}

/* The new file gets another group, and its bytes were not meant for that one. */
TEST(another_group_gets_nothing)
{
	if (!is_root(__func__))
		return;
	put_file(path, "old", 0654, 0);
	CU_ASSERT_FATAL(chown(path, 0, SOMEBODY) == 0);
	is_written(path, 0604);
}

/* In such a folder anybody could have put a file of the caller's that all may read under the name. */
TEST(where_others_may_write_no_permissions_are_kept)
{
	const mode_t modes[] = { 01777, 0777, 0770 };
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_FATAL(chmod(directory, modes[i]) == 0);
		put_file(path, "old", 0644, geteuid());
		is_written(path, 0600);
	}
	if (!is_root(__func__))
		return;
	CU_ASSERT_FATAL(chown(directory, SOMEBODY, SOMEBODY) == 0 && chmod(directory, 0755) == 0);
	put_file(path, "old", 0644, 0);
	is_written(path, 0600);
}

TEST(a_file_of_somebody_else_in_a_sticky_folder)
{
	if (!is_root(__func__))
		return;
	put_file(path, "old", 0666, SOMEBODY);
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	is_refused(path, "it belongs to user 65534");
	ASSERT_TEXT(content_of(path), "old");
	ASSERT_UINT(stat_of(path).st_uid, SOMEBODY);
	/* Without the bit anybody may replace it anyway. */
	CU_ASSERT_FATAL(chmod(directory, 0777) == 0);
	is_written(path, 0600);
}

/* The same for an ordinary user, where the file is root's; the kernel would say so only at the end. */
TEST(an_ordinary_user_in_a_sticky_folder)
{
	if (!is_root(__func__))
		return;
	put_file(path, "old", 0666, 0);
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	CU_ASSERT_FATAL(seteuid(SOMEBODY) == 0);
	is_refused(path, "it belongs to user 0");
	is_written(other, 0600);
	CU_ASSERT_FATAL(seteuid(0) == 0);
	ASSERT_TEXT(content_of(path), "old");
}

TEST(links_of_somebody_else_are_not_followed)
{
	if (!is_root(__func__))
		return;
	put_file(other, "old", 0600, 0);
	const mode_t modes[] = { 01777, 0777, 0775 };
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_FATAL(chmod(directory, modes[i]) == 0);
		for (unsigned int dangling = 0; dangling < 2; dangling++) {
			CU_ASSERT_FATAL(symlink(dangling ? "none" : "other", path) == 0);
			CU_ASSERT_FATAL(lchown(path, SOMEBODY, SOMEBODY) == 0);
			is_refused(path, "the link x.heap on the way belongs to user 65534");
			CU_ASSERT_FATAL(unlink(path) == 0);
		}
	}
	ASSERT_TEXT(content_of(other), "old");
	/* In their own folder too, and in ours they are what we have let be there. */
	CU_ASSERT_FATAL(symlink("other", path) == 0 && lchown(path, SOMEBODY, SOMEBODY) == 0);
	CU_ASSERT_FATAL(chown(directory, SOMEBODY, SOMEBODY) == 0 && chmod(directory, 0755) == 0);
	is_refused(path, "the link x.heap on the way belongs to user 65534");
	CU_ASSERT_FATAL(chown(directory, 0, 0) == 0);
	ASSERT_UINT(write_whole(path, "new", NULL), HD_OK);
	ASSERT_TEXT(content_of(other), "new");
}

/* Who owns a folder may have moved one of our links there. */
TEST(our_links_are_followed_in_sticky_folders_alone)
{
	put_file(other, "old", 0600, geteuid());
	CU_ASSERT_FATAL(symlink("other", path) == 0 && chmod(directory, 0777) == 0);
	is_refused(path, "the link x.heap on the way");
	CU_ASSERT_FATAL(chmod(directory, 0770) == 0);
	is_refused(path, "the link x.heap on the way");
	ASSERT_TEXT(content_of(other), "old");
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	ASSERT_UINT(write_whole(path, "new", NULL), HD_OK);
	ASSERT_TEXT(content_of(other), "new");
}

TEST(links_to_folders_likewise)
{
	char folder[80], link[80], name[96], real[96];
	if (!is_root(__func__))
		return;
	(void)snprintf(folder, sizeof(folder), "%s/folder", directory);
	(void)snprintf(link, sizeof(link), "%s/link", directory);
	(void)snprintf(name, sizeof(name), "%s/x.heap", link);
	(void)snprintf(real, sizeof(real), "%s/x.heap", folder);
	CU_ASSERT_FATAL(mkdir(folder, 0700) == 0 && symlink("folder", link) == 0);
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	ASSERT_UINT(write_whole(name, "new", NULL), HD_OK);
	ASSERT_TEXT(content_of(real), "new");
	CU_ASSERT_FATAL(unlink(real) == 0 && lchown(link, SOMEBODY, SOMEBODY) == 0);
	is_refused(name, "the link link on the way belongs to user 65534");
	ASSERT_TEXT(content_of(real), "(none)");
	CU_ASSERT(unlink(link) == 0 && rmdir(folder) == 0);
}

/* Somebody may have given one of our links a second name. */
TEST(links_with_two_names_are_not_followed)
{
	char second[80];
	(void)snprintf(second, sizeof(second), "%s/second", directory);
	CU_ASSERT_FATAL(symlink("other", path) == 0);
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	ASSERT_UINT(write_whole(path, "new", NULL), HD_OK);
	CU_ASSERT_FATAL(link(path, second) == 0);
	is_refused(path, "the link x.heap on the way");
}

TEST(fifos_of_somebody_else_get_nothing)
{
	if (!is_root(__func__))
		return;
	CU_ASSERT_FATAL(mkfifo(path, 0666) == 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CU_ASSERT_FATAL(reader >= 0 && chown(path, SOMEBODY, SOMEBODY) == 0);
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	is_refused(path, "it belongs to user 65534");
	char byte;
	CU_ASSERT_EQUAL(read(reader, &byte, 1), 0);
	/* One of our own is well, unless it has a second name. */
	CU_ASSERT_FATAL(chown(path, 0, 0) == 0);
	ASSERT_UINT(write_whole(path, "x", NULL), HD_OK);
	CU_ASSERT_EQUAL(read(reader, &byte, 1), 1);
	CU_ASSERT_FATAL(link(path, other) == 0);
	is_refused(path, "it belongs to user 0, or may have been put there by others");
	(void)close(reader);
}

/* /dev/fd/N of a pipe, as a shell gives for >(command): its link has no path. */
TEST(pipes_by_their_descriptor)
{
	int ends[2];
	char name[40], text[8] = "";
	CU_ASSERT_FATAL(pipe(ends) == 0);
	(void)snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	ASSERT_UINT(write_whole(name, "new", NULL), HD_OK);
	CU_ASSERT_EQUAL(read(ends[0], text, sizeof(text) - 1), 3);
	ASSERT_TEXT(text, "new");
	(void)close(ends[0]);
	(void)close(ends[1]);
	/* A file is that file, unless it has no name any more. */
	put_file(path, "old", 0600, geteuid());
	int fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_FATAL(fd >= 0);
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ASSERT_UINT(write_whole(name, "new", NULL), HD_OK);
	ASSERT_TEXT(content_of(path), "new");
	struct hd_error err = { 0 };
	ASSERT_UINT(write_whole(name, "newer", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOENT);
	(void)close(fd);
}

TEST(folders_are_no_files)
{
	const char *const names[] = { "/", ".", "..", "/tmp/", "/tmp/.", "/proc/self/cwd" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hd_error err = { 0 };
		ASSERT_UINT(write_whole(names[i], "new", &err), HD_ERR_OS);
		CU_ASSERT_EQUAL(err.os_errno, EISDIR);
	}
	char name[80];
	struct hd_error err = { 0 };
	put_file(path, "old", 0600, geteuid());
	(void)snprintf(name, sizeof(name), "%s/", path);
	ASSERT_UINT(write_whole(name, "new", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOTDIR);
	(void)snprintf(name, sizeof(name), "%s/none/", directory);
	ASSERT_UINT(write_whole(name, "new", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOENT);
}

/* System calls that this process may not make any more. */
static void forbid(int nr, unsigned int flags, int code)
{
	const unsigned int at_flags = offsetof(struct seccomp_data, args) + 2 * sizeof(uint64_t);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at_flags),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, flags),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
					    .filter = filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(99);
}

/* As where the file system, or a rule of the machine, has no files without a name. */
static void without_a_system_call(int nr, unsigned int flags, int code)
{
	pid_t child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		struct output_file file;
		forbid(nr, flags, code);
		if (output_file_open(&file, path, NULL, NULL) != HD_OK)
			_exit(1);
		if (!output_file_write(&file, "new", 3))
			_exit(2);
		_exit(output_file_commit(&file, NULL) == HD_OK ? 0 : 3);
	}
	int status;
	CU_ASSERT_FATAL(waitpid(child, &status, 0) == child && WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
	ASSERT_TEXT(content_of(path), "new");
	ASSERT_UINT(stat_of(path).st_mode & 07777, 0600);
	CU_ASSERT(unlink(path) == 0 && rmdir(directory) == 0 && mkdir(directory, 0700) == 0);
}

TEST(a_file_that_could_get_no_name_is_not_lost)
{
	without_a_system_call(SYS_linkat, 0, EPERM);
	without_a_system_call(SYS_linkat, 0, EXDEV);
}

TEST(file_systems_without_nameless_files)
{
	without_a_system_call(SYS_openat, O_TMPFILE, EOPNOTSUPP);
	without_a_system_call(SYS_openat, O_TMPFILE, EISDIR);
}

static enum hd_status stream(const char *name, bool append, const char *content,
			     struct hd_error *err)
{
	int fd;
	TRY(output_place_open_stream(name, append, NULL, &fd, err));
	CU_ASSERT_EQUAL(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	CU_ASSERT(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	CU_ASSERT(close(fd) == 0);
	return HD_OK;
}

TEST(a_stream_is_cut_or_appended_to)
{
	ASSERT_UINT(stream(path, false, "first", NULL), HD_OK);
	ASSERT_UINT(stat_of(path).st_mode & 07777, 0600);
	ASSERT_UINT(stream(path, true, " second", NULL), HD_OK);
	ASSERT_TEXT(content_of(path), "first second");
	CU_ASSERT_FATAL(chmod(path, 0640) == 0);
	ASSERT_UINT(stream(path, false, "new", NULL), HD_OK);
	ASSERT_TEXT(content_of(path), "new");
	ASSERT_UINT(stat_of(path).st_mode & 07777, 0640);
	CU_ASSERT_FATAL(symlink("x.heap", other) == 0);
	ASSERT_UINT(stream(other, true, "er", NULL), HD_OK);
	ASSERT_TEXT(content_of(path), "newer");
	CU_ASSERT(unlink(other) == 0 && symlink("dangling", other) == 0 && unlink(path) == 0);
	ASSERT_UINT(stream(other, false, "there", NULL), HD_OK);
	ASSERT_TEXT(content_of(other), "there");
	struct hd_error err = { 0 };
	ASSERT_UINT(stream(directory, false, "", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, EISDIR);
}

TEST(a_stream_does_not_go_into_what_is_somebody_elses)
{
	struct hd_error err = { 0 };
	if (!is_root(__func__))
		return;
	CU_ASSERT_FATAL(chmod(directory, 01777) == 0);
	for (unsigned int append = 0; append < 2; append++) {
		put_file(path, "old", 0666, SOMEBODY);
		ASSERT_UINT(stream(path, append, "new", &err), HD_ERR_OS);
		ASSERT_TEXT(content_of(path), "old");
		/* One of our own that has got a second name there. */
		CU_ASSERT_FATAL(unlink(path) == 0);
		put_file(path, "old", 0644, 0);
		CU_ASSERT_FATAL(link(path, other) == 0);
		ASSERT_UINT(stream(path, append, "new", &err), HD_ERR_OS);
		ASSERT_TEXT(content_of(path), "old");
		CU_ASSERT_FATAL(unlink(path) == 0);
		CU_ASSERT_FATAL(symlink("other", path) == 0 &&
				lchown(path, SOMEBODY, SOMEBODY) == 0);
		ASSERT_UINT(stream(path, append, "new", &err), HD_ERR_OS);
		ASSERT_TEXT(content_of(other), "old");
		CU_ASSERT_FATAL(unlink(path) == 0 && unlink(other) == 0);
	}
	/* A file that is ours and has one name is replaced. */
	put_file(path, "old", 0644, 0);
	ASSERT_UINT(stream(path, false, "new", &err), HD_OK);
	ASSERT_TEXT(content_of(path), "new");
}

/* Begin the folder "x.heap/", and make two files in it. */
static struct output_place *begin_folder(void)
{
	struct output_place *place = NULL;
	char name[80];
	int fd = -1;
	(void)snprintf(name, sizeof(name), "%s//", path);
	CU_ASSERT_FATAL(output_place_open(name, NULL, &place, &fd, NULL) == HD_OK);
	(void)close(fd);
	(void)snprintf(name, sizeof(name), "%s/first", path);
	ASSERT_UINT(write_whole(name, "one", NULL), HD_OK);
	(void)snprintf(name, sizeof(name), "%s/second", path);
	ASSERT_UINT(write_whole(name, "two", NULL), HD_OK);
	CU_ASSERT(access(path, F_OK) != 0);
	return place;
}

/* How many names there are in the folder of the test. */
static int count_names(void)
{
	struct dirent **list = NULL;
	int count = scandir(directory, &list, NULL, NULL);
	for (int i = 0; i < count; i++)
		free(list[i]);
	free(list);
	return count - 2;
}

TEST(a_folder_gets_its_name_when_all_is_written)
{
	char name[80];
	struct output_place *place = begin_folder();
	CU_ASSERT_EQUAL(count_names(), 1);
	CU_ASSERT_EQUAL(output_place_commit(place, -1), 0);
	(void)snprintf(name, sizeof(name), "%s/second", path);
	ASSERT_TEXT(content_of(name), "two");
	ASSERT_UINT(stat_of(path).st_mode & 0777, 0700 & ~umask(umask(0)));
	CU_ASSERT_EQUAL(count_names(), 1);
	CU_ASSERT(unlink(name) == 0);
	(void)snprintf(name, sizeof(name), "%s/first", path);
	CU_ASSERT(unlink(name) == 0 && rmdir(path) == 0);
}

TEST(nothing_is_left_of_a_folder_that_is_given_up)
{
	char name[80];
	struct hd_error err = { 0 };
	output_place_abandon(begin_folder());
	CU_ASSERT_EQUAL(count_names(), 0);
	/* It is over: the name is not of a folder that was begun. */
	(void)snprintf(name, sizeof(name), "%s/first", path);
	ASSERT_UINT(write_whole(name, "x", &err), HD_ERR_OS);
}

TEST(a_folder_does_not_take_the_name_of_something)
{
	struct output_place *place = NULL;
	struct hd_error err = { 0 };
	char name[80];
	int fd = -1;
	(void)snprintf(name, sizeof(name), "%s/", path);
	put_file(path, "old", 0600, geteuid());
	ASSERT_UINT(output_place_open(name, NULL, &place, &fd, &err), HD_ERR_OS);
	CU_ASSERT(strstr(err.message, "it is there already") != NULL);
	CU_ASSERT_EQUAL(err.os_errno, EEXIST);
	ASSERT_TEXT(content_of(path), "old");
	CU_ASSERT_FATAL(unlink(path) == 0);
	/* Or of what has come meanwhile. */
	place = begin_folder();
	put_file(path, "new", 0600, geteuid());
	CU_ASSERT_EQUAL(output_place_commit(place, -1), ENOTDIR);
	ASSERT_TEXT(content_of(path), "new");
	CU_ASSERT_EQUAL(count_names(), 1);
	/* A file is no folder. */
	ASSERT_UINT(write_whole(name, "x", &err), HD_ERR_OS);
	CU_ASSERT_EQUAL(err.os_errno, ENOTDIR);
}

TEST(a_killed_writer_leaves_nothing_under_the_name)
{
	pid_t child = fork();
	if (child == 0) {
		(void)begin_folder();
		(void)kill(getpid(), SIGKILL);
	}
	int status = 0;
	CU_ASSERT_FATAL(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	CU_ASSERT(access(path, F_OK) != 0);
	struct dirent **list = NULL;
	int count = scandir(directory, &list, NULL, NULL);
	for (int i = 0; i < count; i++) {
		char name[400], file[420];
		(void)snprintf(name, sizeof(name), "%s/%s", directory, list[i]->d_name);
		CU_ASSERT(list[i]->d_name[0] == '.');
		if (strncmp(list[i]->d_name, ".heapdump-", 10) == 0) {
			(void)snprintf(file, sizeof(file), "%s/first", name);
			CU_ASSERT(unlink(file) == 0);
			(void)snprintf(file, sizeof(file), "%s/second", name);
			CU_ASSERT(unlink(file) == 0);
		}
		free(list[i]);
	}
	free(list);
}

SUITE(.name = "output place", .set_up = set_up, .tear_down = tear_down)
