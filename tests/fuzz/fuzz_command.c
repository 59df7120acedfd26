/* SPDX-License-Identifier: MIT */
/* covers: core/src/command/arguments.c core/src/command/complete.c core/src/command/run.c */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <heapdump/command.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char dump[] = "a 2 fuzz 1\nt 1 A<B, C`1>\nt 2 D\no 10 1 18 20 30\no 20 2 20 10\n"
			   "o 30 1 8\nr 10 4 0 2\nr 20 3 2\nc fuzz 2\n";

static int swallow(void *arg, const char *text, size_t size)
{
	(void)arg;
	(void)text;
	(void)size;
	return 0;
}

static void ignore(void *arg, const char *candidate)
{
	(void)arg;
	(void)candidate;
}

static struct hd_session *open_session(void)
{
	char path[] = "/tmp/heapdump-fuzz-XXXXXX";
	int fd = mkstemp(path);
	struct hd_session *session = NULL;
	if (fd < 0 || write(fd, dump, sizeof(dump) - 1) != (ssize_t)sizeof(dump) - 1 ||
	    hd_session_create(&session, NULL) != HD_OK ||
	    hd_session_open(session, path, 0, NULL, NULL) != HD_OK)
		abort();
	(void)close(fd);
	(void)unlink(path);
	return session;
}

/* Does it touch only what is open?  Files are left alone, and other processes are not stopped. */
static bool is_safe(int argc, const char *const *argv)
{
	static const char *const unsafe[] = { "export", "open", "close", "set", "collect" };
	struct hd_command_names names;
	hd_command_name(argc, argv, &names);
	if (argc == 0 || names.output || names.socket)
		return false;
	if (names.input && strncmp(names.input, "/no/", 4) != 0)
		return false;
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++) {
		if (strcasecmp(argv[0], unsafe[i]) == 0)
			return false;
	}
	return true;
}

/* A command line, cut at blanks: no words may crash, hang or leak. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hd_session *session;
	if (!session)
		session = open_session();
	char *line = calloc(size + 1, 1);
	if (!line)
		return 0;
	memcpy(line, data, size);
	const char *argv[64];
	int argc = 0;
	char *rest = line;
	for (char *word; argc < 64 && (word = strsep(&rest, " \n")) != NULL;)
		argv[argc++] = word;
	const struct hd_sink sink = { .struct_size = sizeof(sink), .write = swallow };
	uint8_t expressions[64];
	if (is_safe(argc, argv))
		(void)hd_command_run(session, argc, argv, &sink, NULL);
	hd_command_expressions(argc, argv, expressions);
	(void)hd_command_complete(session, argc, argv, ignore, NULL);
	free(line);
	return 0;
}
