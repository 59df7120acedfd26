/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem/named_file.h"
#include "support/assert_more.h"
#include "support/elf_maker.h"
#include "support/suite.h"

#define HEAD_SIZE 64

/* ROOT is the sysroot, and beside it is what must not be reached out of it. */
static char folder[64], root[96];

static const char *at(const char *name)
{
	static char paths[4][256];
	static unsigned int turn;
	char *path = paths[turn++ % 4];
	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	CU_ASSERT_FATAL(write_file(at(name), text, strlen(text)));
}

/* An ELF file of @p type: bytes of a header, and a text after it. */
static void put_elf(const char *name, uint8_t type, const char *text)
{
	char bytes[HEAD_SIZE + 64] = "\177ELF\2\1\1";
	bytes[16] = (char)type;
	CU_ASSERT_FATAL(strlen(text) < 64);
	memcpy(bytes + HEAD_SIZE, text, strlen(text));
	CU_ASSERT_FATAL(write_file(at(name), bytes, HEAD_SIZE + strlen(text)));
}

static void put_image(const char *name, const char *text)
{
	put_elf(name, ET_DYN, text);
}

/* Write a file that begins as a PE file, with @p signature at @p offset, which its header names. */
static void put_pe(const char *name, uint8_t offset, const char *signature)
{
	char bytes[128] = "MZ";
	bytes[60] = (char)offset;
	memcpy(bytes + 100, signature, 2);
	CU_ASSERT_FATAL(write_file(at(name), bytes, sizeof(bytes)));
}

static void link_to(const char *target, const char *name)
{
	CU_ASSERT_FATAL(symlink(target, at(name)) == 0);
}

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/heapdump-named-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	(void)snprintf(root, sizeof(root), "%s/root", folder);
	CU_ASSERT_FATAL(mkdir(root, 0700) == 0 && mkdir(at("root/lib"), 0700) == 0 &&
			mkdir(at("root/proc"), 0700) == 0 && mkdir(at("root/a"), 0700) == 0);
	put_image("secret", "secret");
	put_image("lib", "a file where the root has a folder");
	put_image("root/lib/m.so", "inside");
	put("root/lib/text", "hello");
	put_image("root/proc/kcore", "in a folder of that name");
	link_to(at("secret"), "root/absolute");
	link_to("../secret", "root/up");
	link_to("../../../../../../../../../../etc/passwd", "root/lib/far-up");
	link_to("..", "root/parent");
	link_to("/lib/m.so", "root/a/inside");
	link_to("../../../lib/./m.so", "root/a/inside-too");
	link_to("/proc/kcore", "root/a/kcore");
	link_to("loop-2", "root/loop");
	link_to("loop", "root/loop-2");
	link_to("self/x", "root/self");
}

static void remove_folder(void)
{
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	CU_ASSERT(system(command) == 0); /* NOLINT: a path of our own */
}

/* The text that a name gives below @p sysroot: after the head, or NULL. */
static const char *text_of(const char *sysroot, const char *path,
			   enum named_file_result *ret_result)
{
	static char buf[HEAD_SIZE + 64];
	int fd = named_file_open(sysroot, path, NAMED_FILE_IMAGE, ret_result);
	CU_ASSERT((fd >= 0) == (*ret_result == NAMED_FILE_OPENED));
	if (fd < 0)
		return NULL;
	ssize_t got = read(fd, buf, sizeof(buf) - 1);
	CU_ASSERT(got > HEAD_SIZE && close(fd) == 0);
	buf[got > 0 ? got : 0] = '\0';
	return buf + HEAD_SIZE;
}

static void check(const char *path, enum named_file_result expected, const char *text)
{
	enum named_file_result result;
	const char *got = text_of(root, path, &result);
	if (result != expected || (text && (!got || strcmp(got, text) != 0))) {
		printf("%s: %d %s\n", path, (int)result, got ? got : "");
		CU_ASSERT(false);
	}
}

static void below_a_sysroot(void)
{
	static const char *const inside[] = { "/lib/m.so",        "//lib/./m.so",
					      "/lib/../lib/m.so", "/../../lib/m.so",
					      "/a/inside",        "/a/inside-too",
					      "/parent/lib/m.so", "/parent/../parent/../lib/m.so" };
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		check(inside[i], NAMED_FILE_OPENED, "inside");
	static const char *const outside[] = {
		"/absolute",   "/up",          "/lib/far-up",       "/../secret",
		"/loop",       "/self",        "/no/such",          "/a/../../secret",
		"/lib/m.so/",  "/a/kcore",     "/lib/m.so/../m.so", "/parent/secret",
		"/proc/kcore", "//proc/kcore", "/a/../proc/kcore",
	};
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		check(outside[i], NAMED_FILE_FAILED, NULL);
	check("", NAMED_FILE_NOT_REGULAR, NULL);
	check("/", NAMED_FILE_NOT_REGULAR, NULL);
	check("/lib", NAMED_FILE_NOT_REGULAR, NULL);
	check("/lib/text", NAMED_FILE_NO_IMAGE, NULL);
}

TEST(nothing_leads_out_of_a_sysroot)
{
	below_a_sysroot();
}

/* A core names other cores, and texts, as its modules: nothing of them may be read. */
TEST(only_programs_and_libraries_are_images)
{
	put_elf("root/exec", ET_EXEC, "a program");
	put_elf("root/core", ET_CORE, "of another process");
	put_elf("root/object", ET_REL, "of a compiler");
	put("root/short", "\177ELF");
	put("root/letter",
	    "MZ begins this letter, which goes on for more than the bytes of a header.");
	put_pe("root/image.dll", 100, "PE");
	put_pe("root/dos.exe", 100, "NE");
	put_pe("root/cut.dll", 126, "PE");
	check("/exec", NAMED_FILE_OPENED, "a program");
	check("/core", NAMED_FILE_NO_IMAGE, NULL);
	check("/object", NAMED_FILE_NO_IMAGE, NULL);
	check("/short", NAMED_FILE_NO_IMAGE, NULL);
	check("/letter", NAMED_FILE_NO_IMAGE, NULL);
	check("/image.dll", NAMED_FILE_OPENED, NULL);
	check("/dos.exe", NAMED_FILE_NO_IMAGE, NULL);
	check("/cut.dll", NAMED_FILE_NO_IMAGE, NULL);
}

/* As in a container that forbids the call, or on a kernel before 5.6. */
TEST(nor_without_openat2)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 4, .filter = filter };
	pid_t child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ||
		    syscall(SYS_openat2, AT_FDCWD, "/", NULL, (size_t)0) != -1 || errno != ENOSYS)
			_exit(2);
		unsigned int before = CU_get_number_of_failures();
		below_a_sysroot();
		_exit(CU_get_number_of_failures() != before);
	}
	int status = -1;
	CU_ASSERT(waitpid(child, &status, 0) == child);
	CU_ASSERT(status == 0);
}

/* FIFOs would wait, devices do things; none of them is opened. */
TEST(only_regular_files_are_opened)
{
	CU_ASSERT_FATAL(mkfifo(at("root/fifo"), 0600) == 0);
	check("/fifo", NAMED_FILE_NOT_REGULAR, NULL);
	link_to("fifo", "root/to-fifo");
	check("/to-fifo", NAMED_FILE_NOT_REGULAR, NULL);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", root);
	CU_ASSERT(fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	check("/socket", NAMED_FILE_NOT_REGULAR, NULL);
	(void)close(fd);
	/* A device that anybody may make only as root. */
	if (mknod(at("root/zero"), S_IFCHR | 0600, makedev(1, 5)) == 0)
		check("/zero", NAMED_FILE_NOT_REGULAR, NULL);
}

/* A file that the kernel makes up is not a file of a program, however it is named. */
TEST(no_file_of_the_kernel_is_opened)
{
	static const char *const names[] = { "/proc/self/exe",
					     "//proc/self/environ",
					     "/./proc/self/maps",
					     "/tmp/../proc/self/status",
					     "/proc/self/root/bin/sh",
					     "/sys/kernel/notes",
					     "/dev/zero",
					     "/dev/fd/0" };
	enum named_file_result result;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = named_file_open(NULL, names[i], NAMED_FILE_ANY, &result);
		if (fd >= 0) {
			printf("%s was opened\n", names[i]);
			CU_ASSERT(false);
			(void)close(fd);
		}
	}
	/* By a link of somebody's own, and where the user's own choice is that file system. */
	link_to("/proc/self/exe", "exe");
	CU_ASSERT(named_file_open(NULL, at("exe"), NAMED_FILE_IMAGE, &result) < 0);
	ASSERT_UINT(result, NAMED_FILE_FAILED);
	CU_ASSERT(named_file_open("/proc/self", "/status", NAMED_FILE_ANY, &result) < 0);
	ASSERT_UINT(result, NAMED_FILE_NOT_REGULAR);
	CU_ASSERT(named_file_open("/proc/self", "/exe", NAMED_FILE_ANY, &result) < 0);
}

TEST(without_a_sysroot_links_are_followed)
{
	enum named_file_result result;
	link_to("root/lib/m.so", "to-inside");
	const char *text = text_of(NULL, at("to-inside"), &result);
	CU_ASSERT(text && strcmp(text, "inside") == 0);
	int fd = named_file_open(NULL, at("root/lib/text"), NAMED_FILE_ANY, &result);
	CU_ASSERT(fd >= 0 && result == NAMED_FILE_OPENED);
	CU_ASSERT(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CU_ASSERT(close(fd) == 0);
	CU_ASSERT(named_file_open(at("nowhere"), "/x", NAMED_FILE_IMAGE, &result) < 0 &&
		  errno == ENOENT);
}

TEST(a_pdb_begins_as_metadata)
{
	enum named_file_result result;
	FILE *file = fopen(at("root/lib/a.pdb"), "w");
	REQUIRE(file);
	CU_ASSERT(fwrite("BSJB and more", 1, 13, file) == 13 && fclose(file) == 0);
	int fd = named_file_open(at("root"), "/lib/a.pdb", NAMED_FILE_PDB, &result);
	CU_ASSERT(fd >= 0 && result == NAMED_FILE_OPENED && close(fd) == 0);
	CU_ASSERT(named_file_open(at("root"), "/lib/a.pdb", NAMED_FILE_IMAGE, &result) < 0);
	ASSERT_UINT(result, NAMED_FILE_NO_IMAGE);
	CU_ASSERT(named_file_open(at("root"), "/lib/m.so", NAMED_FILE_PDB, &result) < 0);
	ASSERT_UINT(result, NAMED_FILE_NO_IMAGE);
	CU_ASSERT(named_file_open(at("root"), "/lib", NAMED_FILE_PDB, &result) < 0);
	ASSERT_UINT(result, NAMED_FILE_NOT_REGULAR);
	CU_ASSERT(unlink(at("root/lib/a.pdb")) == 0);
}

/* Deep folders, long names, long chains of links: one error each, and no descriptor is left open. */
TEST(bounds_hold)
{
	enum named_file_result result;
	char path[9000];
	int before = dup(0);
	memset(path, 'n', sizeof(path));
	path[0] = '/';
	path[300] = '\0';
	CU_ASSERT(named_file_open(root, path, NAMED_FILE_IMAGE, &result) < 0 &&
		  errno == ENAMETOOLONG);
	path[300] = 'n';
	path[sizeof(path) - 1] = '\0';
	CU_ASSERT(named_file_open(root, path, NAMED_FILE_IMAGE, &result) < 0 &&
		  errno == ENAMETOOLONG);
	CU_ASSERT(named_file_open(root, "/loop", NAMED_FILE_IMAGE, &result) < 0 && errno == ELOOP);
	CU_ASSERT(named_file_open(root, "/self", NAMED_FILE_IMAGE, &result) < 0 && errno == ELOOP);
	size_t used = 0;
	for (unsigned int i = 0; i < 80; i++) {
		used += (size_t)snprintf(path + used, sizeof(path) - used, "/d");
		char name[512];
		(void)snprintf(name, sizeof(name), "%s%s", root, path);
		CU_ASSERT_FATAL(mkdir(name, 0700) == 0);
	}
	CU_ASSERT(named_file_open(root, path, NAMED_FILE_IMAGE, &result) < 0 &&
		  errno == ENAMETOOLONG);
	int after = dup(0);
	CU_ASSERT(after == before + 1);
	(void)close(before);
	(void)close(after);
}

SUITE(.name = "named_file", .set_up = make_folder, .tear_down = remove_folder)
