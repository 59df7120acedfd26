/* SPDX-License-Identifier: MIT */
/*
 * The process that reads a target: it runs commands, and asks the other process to open everything
 * that has a name.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <heapdump/broker.h>

#include "channel.h"
#include "misbehave.h"
#include "nothing.h"
#include "sandbox.h"

#define DESCRIPTORS_MAX 256u

/* The channel to the broker; one question at a time. */
static int broker_channel = -1;
static pthread_mutex_t broker_lock = PTHREAD_MUTEX_INITIALIZER;

/* Send @p question and wait for its answer; if none comes, this process ends. */
static struct message ask_broker(struct message *question)
{
	struct message answer;
	(void)pthread_mutex_lock(&broker_lock);
	if (!channel_send(broker_channel, question) || !channel_receive(broker_channel, &answer))
		_exit(HD_EXIT_INPUT);
	(void)pthread_mutex_unlock(&broker_lock);
	message_deinit(question);
	return answer;
}

static int take_fd(struct message *answer)
{
	/* If this process has no free descriptor, the kernel drops the one that was sent. */
	int fd = message_take_fd(answer), code = answer->number ? answer->number : EMFILE;
	message_deinit(answer);
	errno = code;
	return fd;
}

static int ask_open(void *arg, int as, const char *path, const char *below)
{
	(void)arg;
	struct message question = message_of(MESSAGE_OPEN);
	question.number = as;
	if (!message_add(&question, path) || !message_add(&question, below ? below : "")) {
		message_deinit(&question);
		errno = ENOMEM;
		return -1;
	}
	struct message answer = ask_broker(&question);
	return take_fd(&answer);
}

/* Turn an answer into a status with its line of text. */
static enum hd_status take_status(struct message *answer, struct hd_error *err)
{
	const char *text = message_string(answer, 0);
	enum hd_status status = (enum hd_status)answer->number;
	if (err && status != HD_OK) {
		*err = (struct hd_error){ .status = (uint32_t)status,
					  .os_errno = (int32_t)answer->id };
		(void)snprintf(err->message, sizeof(err->message), "%s", text ? text : "");
	}
	return status;
}

/* A question about a path, with an answer that is a status. */
static struct message ask_path(enum message_kind kind, const char *path)
{
	struct message question = message_of(kind);
	if (message_add(&question, path))
		return ask_broker(&question);
	message_deinit(&question);
	struct message answer = message_of(MESSAGE_ANSWER);
	answer.number = HD_ERR_NOMEM;
	(void)message_add(&answer, "out of memory");
	return answer;
}

/* The other process also gets SIGINT, and then stops waiting. */
static int ask_create(void *arg, const char *path, int (*cancelled)(void *arg), void *cancelled_arg,
		      uint64_t *ret_id, struct hd_error *err)
{
	(void)arg;
	(void)cancelled;
	(void)cancelled_arg;
	struct message answer = ask_path(MESSAGE_CREATE, path);
	if (take_status(&answer, err) == HD_OK) {
		*ret_id = answer.id;
		if (!answer.fd_count && err) {
			*err = (struct hd_error){ .status = HD_ERR_OS, .os_errno = EMFILE };
			(void)snprintf(err->message, sizeof(err->message), "%s: cannot write: %s",
				       path, strerrordesc_np(EMFILE));
		}
	}
	return take_fd(&answer);
}

static enum hd_status ask_check(void *arg, const char *path, int *ret_straight,
				struct hd_error *err)
{
	(void)arg;
	struct message answer = ask_path(MESSAGE_CHECK, path);
	enum hd_status status = take_status(&answer, err);
	if (status == HD_OK)
		*ret_straight = answer.id != 0;
	message_deinit(&answer);
	return status;
}

static int ask_commit(void *arg, uint64_t id)
{
	(void)arg;
	struct message question = message_of(MESSAGE_COMMIT);
	question.id = id;
	struct message answer = ask_broker(&question);
	int code = answer.number;
	message_deinit(&answer);
	return code;
}

static void ask_abandon(void *arg, uint64_t id)
{
	(void)arg;
	struct message question = message_of(MESSAGE_ABANDON);
	question.id = id;
	struct message answer = ask_broker(&question);
	message_deinit(&answer);
}

static int ask_user_name(void *arg, uint32_t uid, char *buf, size_t size)
{
	(void)arg;
	struct message question = message_of(MESSAGE_USER_NAME);
	question.id = uid;
	struct message answer = ask_broker(&question);
	const char *name = message_string(&answer, 0);
	int length = name ? snprintf(buf, size, "%s", name) : -1;
	message_deinit(&answer);
	return length >= 0 && (size_t)length < size ? 0 : -1;
}

static int ask_attach(void *arg, int pid, int *ret_fds)
{
	(void)arg;
	struct message question = message_of(MESSAGE_ATTACH);
	question.number = pid;
	struct message answer = ask_broker(&question);
	int code = answer.number;
	if (!code && answer.fd_count != HD_ATTACH_FDS)
		code = EMFILE; /* the kernel has dropped some */
	for (size_t i = 0; !code && i < HD_ATTACH_FDS; i++)
		ret_fds[i] = message_take_fd(&answer);
	message_deinit(&answer);
	errno = code;
	return code ? -1 : 0;
}

static const struct hd_broker broker = { .struct_size = sizeof(broker),
					 .open = ask_open,
					 .create = ask_create,
					 .check = ask_check,
					 .commit = ask_commit,
					 .abandon = ask_abandon,
					 .user_name = ask_user_name,
					 .attach = ask_attach };

static void tell_broker(enum message_kind kind, int32_t number, const char *string)
{
	struct message message = message_of(kind);
	message.number = number;
	if ((string && !message_add(&message, string)) || !channel_send(broker_channel, &message))
		_exit(HD_EXIT_INPUT);
	message_deinit(&message);
}

/* Settings that differ were changed in the other process, by the user. */
static uint32_t take_settings(struct cli *cli, const struct message *message)
{
	const char *name, *value;
	uint32_t count = 0;
	for (; (name = hd_setting_name(count, NULL)); count++) {
		char now[HD_SETTING_SIZE];
		value = message_string(message, count);
		if (value && hd_session_get(cli->session, name, now, sizeof(now), NULL) == HD_OK &&
		    strcmp(now, value) != 0) {
			enum hd_status ignored = hd_session_set(cli->session, name, value, NULL);
			(void)ignored;
		}
	}
	return count;
}

static void run_as_asked(struct cli *cli, const struct message *message)
{
	uint32_t settings = take_settings(cli, message);
	const char **list = message_list(message);
	int status = HD_EXIT_INPUT, output = message->fd_count ? message->fds[0] : -1;
	/* A pipe whose reader leaves ends a program, but not a prompt. */
	(void)signal(SIGPIPE, message->id & RUN_IGNORES_SIGPIPE ? SIG_IGN : SIG_DFL);
	cli->terminal =
		(struct terminal){ .is_there = message->id & RUN_ON_TERMINAL,
				   .takes_color = message->id & RUN_IN_COLOR,
				   .columns = (uint16_t)(message->id >> RUN_COLUMNS_SHIFT) };
	if (!list) {
		(void)fputs("heapdump: there is no memory left to run the command\n", stderr);
	} else if (dup2(output, STDOUT_FILENO) < 0) {
		(void)fprintf(stderr, "heapdump: the command's output cannot be used: %s\n",
			      strerror(errno));
	} else if (message->count > settings) {
		const char *const *argv = list + settings;
		int argc = (int)(message->count - settings);
		if (!misbehave(&broker, argc, argv)) {
			/* Until then SIGINT is ignored: the other process passes on what came. */
			hd_interrupt_begin();
			tell_broker(MESSAGE_STARTED, 0, NULL);
			status = message->id & RUN_IS_QUIET ? cli_open_quietly(cli, argv[argc - 1])
							    : cli_run_here(cli, argc, argv);
			(void)hd_interrupt_end();
		}
	}
	free(list);
	/*
	 * A pipe only ends when no process has it open any more; standard input becomes /dev/null.
	 */
	(void)dup2(STDIN_FILENO, STDOUT_FILENO);
	tell_broker(MESSAGE_DONE, status, hd_session_path(cli->session));
}

static void tell_candidate(const char *candidate)
{
	tell_broker(MESSAGE_CANDIDATE, 0, candidate);
}

/* How much completion has found. */
struct found_candidates {
	uint32_t count;
	uint64_t size;
};

static void pass_candidate_on(void *arg, const char *candidate)
{
	struct found_candidates *found = arg;
	found->count++;
	found->size += strlen(candidate) + 1;
	if (found->count <= CANDIDATES_MAX && found->size <= CANDIDATES_SIZE_MAX)
		tell_candidate(candidate);
}

static void complete(struct cli *cli, const struct message *message)
{
	const char **list = message_list(message);
	struct found_candidates found = { 0 };
	int is_file = 0, argc = (int)message->count;
	if (list && !misbehave_complete(tell_candidate, argc, list)) {
		is_file = hd_command_complete(cli->session, argc, list, pass_candidate_on, &found);
	}
	free(list);
	tell_broker(MESSAGE_DONE, is_file, hd_session_path(cli->session));
}

static void defer_as_asked(struct cli *cli, const struct message *message)
{
	struct hd_error err;
	const char *target = message_string(message, 0);
	if (target && hd_session_defer(cli->session, target, &err) != HD_OK)
		cli_error(&err);
}

/* Few descriptors are used at a time: modules are mapped, and then closed. */
static void limit_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= DESCRIPTORS_MAX)
		return;
	limit.rlim_cur = limit.rlim_max = DESCRIPTORS_MAX;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* The environment of a program may hold passwords: what is not needed is overwritten. */
static void clear_environment(void)
{
	static const char *const needed[] = { "TMPDIR", "TERM", "NO_COLOR", "TZ" };
	char *kept[sizeof(needed) / sizeof(needed[0])];
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const char *value = getenv(needed[i]);
		kept[i] = value ? strdup(value) : NULL;
	}
	for (char **entry = environ; entry && *entry; entry++)
		explicit_bzero(*entry, strlen(*entry));
	(void)clearenv();
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (kept[i])
			(void)setenv(needed[i], kept[i], 1);
		free(kept[i]);
	}
}

/* This process must not keep anything of the other one; returns the channel's new descriptor. */
static int let_go(int channel)
{
	const int first = STDERR_FILENO + 1;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (channel != first && dup3(channel, first, O_CLOEXEC) < 0)
		_exit(HD_EXIT_INPUT);
	closefrom(first + 1); /* by /proc where the kernel has no call for it; else it aborts */
	/* It must not read the user's input; each command brings its own output. */
	__fpurge(stdin);
	if (!lead_to_nothing(STDIN_FILENO, O_RDONLY) || dup2(STDIN_FILENO, STDOUT_FILENO) < 0)
		_exit(HD_EXIT_INPUT);
	/*
	 * Between commands, the other process handles Ctrl-C; a write to the terminal of another
	 * job is not stopped.
	 */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTTOU, SIG_IGN);
	limit_descriptors();
	tzset(); /* reads a file, now */
	clear_environment();
	return first;
}

_Noreturn void worker_main(struct cli *cli, int channel)
{
	struct sandbox sandbox;
	struct message message;
	broker_channel = channel = let_go(channel);
	sandbox_close(&sandbox);
	if (sandbox.filter == SANDBOX_FAILED) {
		(void)fputs(
			"heapdump: the sandbox could not be made (too little memory?), so nothing is read; "
			"try again, or read without it by --no-sandbox if you trust the target\n",
			stderr);
		_exit(WORKER_HAS_SAID_WHY);
	}
	if (sandbox.filter == SANDBOX_UNKNOWN)
		(void)fprintf(stderr, "heapdump: warning: the sandbox is %s\n", sandbox.state);
	hd_session_sandbox(cli->session, sandbox.state);
	hd_broker_set(&broker);
	while (channel_receive(channel, &message)) {
		if (message.kind == MESSAGE_RUN) {
			run_as_asked(cli, &message);
		} else if (message.kind == MESSAGE_COMPLETE) {
			complete(cli, &message);
		} else if (message.kind == MESSAGE_DEFER) {
			defer_as_asked(cli, &message);
		}
		message_deinit(&message);
	}
	hd_session_destroy(cli->session);
	exit(HD_EXIT_OK);
}
