/* SPDX-License-Identifier: MIT */
/*
 * Commands for another program, which reads their answers (--serve): nothing of what it sends means anything but itself,
 * so there is no quoting, no pipe and no redirection.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <heapdump/command.h>

#include "cli.h"
#include "nothing.h"

/* The first line says it; another number when one that knows only this would not understand. */
#define SERVE_VERSION 1
/* Most words of a command, and bytes of one: no command takes so many. */
#define WORDS_MAX 4096
#define WORD_MAX  (16 << 20)

/* The words of a command that are being read. */
struct request {
	char *words[WORDS_MAX];
	int count;
};

static void request_clear(struct request *request)
{
	for (int i = 0; i < request->count; i++)
		free(request->words[i]);
	request->count = 0;
}

/* Read up to the next NUL; NULL at the end of input, or if it is too long or was cut. */
static char *read_word(FILE *from)
{
	char *word = NULL;
	size_t capacity = 0;
	ssize_t length = getdelim(&word, &capacity, '\0', from);
	if (length > 0 && length <= WORD_MAX && word[length - 1] == '\0')
		return word;
	free(word);
	return NULL;
}

/* Read a number of words, and these; false at the end of input. */
static bool request_read(struct request *request, FILE *from)
{
	char *number = read_word(from), *end = NULL;
	long count = number ? strtol(number, &end, 10) : 0;
	bool is_good = number && *number && !*end && count > 0 && count <= WORDS_MAX;
	free(number);
	while (is_good && request->count < count) {
		char *word = read_word(from);
		is_good = word != NULL;
		if (word)
			request->words[request->count++] = word;
	}
	return is_good;
}

/* The other program reads up to this line.  A process that ends while it writes an answer may leave half of a line. */
static void tell_status(int status)
{
	(void)fflush(stdout);
	(void)printf("%s[\"s\",%d]\n", status > HD_EXIT_FINDINGS ? "\n" : "", status);
	(void)fflush(stdout);
}

/* Ctrl-C is for the command that runs. */
static void on_idle_interrupt(int signal)
{
	(void)signal;
}

bool cli_serve_begin(struct cli *cli)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	cli->requests = fd < 0 ? NULL : fdopen(fd, "r");
	if (cli->requests && lead_to_nothing(STDIN_FILENO, O_RDONLY)) {
		(void)printf("[\"v\",%d]\n", SERVE_VERSION);
		(void)fflush(stdout);
		return true;
	}
	cli_say("cannot read commands: %s", strerrordesc_np(errno));
	return false;
}

int cli_serve(struct cli *cli, int opened)
{
	struct request *request = calloc(1, sizeof(*request));
	if (!request) {
		cli_say("out of memory");
		return HD_EXIT_INPUT;
	}
	const struct sigaction action = { .sa_handler = on_idle_interrupt, .sa_flags = SA_RESTART };
	(void)sigaction(SIGINT, &action, NULL);
	tell_status(opened);
	while (opened <= HD_EXIT_FINDINGS && request_read(request, cli->requests)) {
		tell_status(cli_run(cli, request->count, (const char *const *)request->words));
		request_clear(request);
	}
	request_clear(request);
	free(request);
	return opened;
}
