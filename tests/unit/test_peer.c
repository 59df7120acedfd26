/* SPDX-License-Identifier: MIT */
/* Who listens at a diagnostics socket: the process that its name tells, at a name of its own. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <heapdump/broker.h>

#include "support/assert_more.h"
#include "support/suite.h"
#include "util/opening.h"

static char folder[] = "/tmp/heapdump-peer-XXXXXX";
static char own_name[64];

static int set_up(void)
{
	(void)snprintf(own_name, sizeof(own_name), "dotnet-diagnostic-%d-1-socket", (int)getpid());
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void)
{
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

/* A socket of this process that listens at @p name. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", name);
	CU_ASSERT_FATAL(bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
			listen(fd, 8) == 0);
	return fd;
}

/* errno of a connection to @p path, 0: it is there. */
static uint64_t connect_to(const char *path)
{
	int fd = open_directly(HD_OPEN_CONNECT, path);
	uint64_t code = fd < 0 ? (uint64_t)errno : 0;
	if (fd >= 0)
		(void)close(fd);
	return code;
}

TEST(the_process_of_the_name_is_connected_to)
{
	char path[128];
	int fd = listen_at(own_name);
	ASSERT_UINT(connect_to(own_name), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, own_name);
	ASSERT_UINT(connect_to(path), 0);
	(void)close(fd);
	ASSERT_UINT(connect_to(own_name), ECONNREFUSED);
	CU_ASSERT(unlink(own_name) == 0);
	ASSERT_UINT(connect_to(own_name), ENOENT);
}

TEST(no_link_leads_to_another_socket)
{
	int fd = listen_at("docker.sock");
	CU_ASSERT_FATAL(symlink("docker.sock", own_name) == 0);
	ASSERT_UINT(connect_to(own_name), ECONNREFUSED);
	CU_ASSERT(unlink(own_name) == 0);
	/* A hard link, or a mount: it is a socket, and the right process, but not by this name. */
	CU_ASSERT_FATAL(link("docker.sock", own_name) == 0);
	ASSERT_UINT(connect_to(own_name), EREMCHG);
	CU_ASSERT(unlink(own_name) == 0 && unlink("docker.sock") == 0);
	(void)close(fd);
}

TEST(another_process_is_refused)
{
	static const char *const names[] = { "dotnet-diagnostic-1-1-socket", "other.sock",
					     "dotnet-diagnostic--1-socket",
					     "dotnet-diagnostic-socket" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int fd = listen_at(names[i]);
		ASSERT_UINT(connect_to(names[i]), EREMCHG);
		CU_ASSERT(unlink(names[i]) == 0);
		(void)close(fd);
	}
}

TEST(what_is_no_socket_is_refused)
{
	CU_ASSERT_FATAL(mkfifo(own_name, 0600) == 0);
	ASSERT_UINT(connect_to(own_name), ECONNREFUSED);
	CU_ASSERT(unlink(own_name) == 0);
}

SUITE(.name = "peer", .init = set_up, .cleanup = tear_down)
