/* SPDX-License-Identifier: MIT */
/*
 * The process that has the terminal: a worker reads targets for it, and it opens what the worker
 * may have.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <heapdump/broker.h>

#include "channel.h"
#include "signals.h"
#include "worker.h"
#include "worker_limits.h"
#include "write_only.h"

/* How many files a worker may write at the same time. */
#define FILES_MAX 4u
/* How many processes a command may open: more than any does. */
#define ATTACHES_MAX 16u
/* How long to wait until a stopped process goes on. */
#define SERVER_END_MS 2000u
/* How long a worker may take to free what it has. */
#define WORKER_END_MS 10000u

/* One command while a worker runs it. */
struct service {
	struct worker *worker;
	struct permit permit;
	bool is_opening;         /* the command is open */
	char *listener;          /* the path of a socket that was made for it; or NULL */
	struct stat listener_is; /* that socket */
	void (*add)(void *arg, const char *candidate);
	void *arg;
	const char *word;          /* the word that is to be completed */
	uint32_t candidates;       /* number of candidates that came */
	uint64_t candidate_size;   /* bytes of all candidates */
	uint64_t files[FILES_MAX]; /* of hd_broker_direct(); 0 = none */
	unsigned int attaches;     /* number of helpers that were made for it */
};

/* A descriptor for a worker to write to: -1: @p fd itself. */
static int output_of(int fd)
{
	static bool is_told;
	int own;
	if (!write_only(fd, &own) && !is_told) {
		is_told = true;
		cli_say("warning: the process that reads the target could read what you type: "
			"the terminal (or socket) cannot be opened for writing only");
	}
	return own;
}

bool worker_start(struct cli *cli, struct worker *worker)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	int own_stderr = output_of(STDERR_FILENO);
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(pair[0]);
		if (own_stderr >= 0)
			(void)dup2(own_stderr, STDERR_FILENO);
		worker_main(cli, pair[1]);
	}
	int code = errno;
	(void)close(pair[1]);
	if (own_stderr >= 0)
		(void)close(own_stderr);
	if (pid < 0) {
		(void)close(pair[0]);
		errno = code;
		return false;
	}
	*worker = (struct worker){ .pid = pid, .channel = pair[0] };
	worker_limits_begin(worker);
	return true;
}

/* Wait until a child has ended; false: there is none, or not within @p ms. */
static bool await_child(pid_t pid, int flags, unsigned int ms)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	for (unsigned int i = 0; i < ms * 5; i++) {
		pid_t ended = waitpid(pid, NULL, flags | WNOHANG);
		if (ended > 0)
			return true;
		if (ended < 0 && errno != EINTR)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

static void forget(struct worker *worker)
{
	free(worker->target);
	free(worker->sysroot);
	free(worker->symbols);
	free(worker->handed_files);
	*worker = (struct worker){ 0 };
}

void worker_end(struct worker *worker)
{
	if (!worker->pid)
		return;
	/* It sees the end of its channel; it has little to free. */
	(void)close(worker->channel);
	if (!await_child(worker->pid, 0, WORKER_END_MS)) {
		(void)kill(worker->pid, SIGKILL);
		(void)await_child(worker->pid, 0, WORKER_END_MS);
	}
	/*
	 * A helper that was forked to stop a process ends when nobody is connected to it; then the
	 * process goes on.
	 */
	while (await_child(-1, (int)__WCLONE, SERVER_END_MS))
		continue;
	forget(worker);
}

bool worker_defer(struct worker *worker, const char *target)
{
	struct message message = message_of(MESSAGE_DEFER);
	char *copy = strdup(target);
	bool is_made = copy && message_add(&message, target);
	/* One that has ended already is found when it is to run the command: then it is said why. */
	if (is_made)
		(void)channel_send(worker->channel, &message);
	message_deinit(&message);
	if (!is_made) {
		free(copy);
		return false;
	}
	free(worker->target);
	worker->target = copy;
	return true;
}

static bool send_answer(const struct service *service, int number, int fd)
{
	struct message message = message_of(MESSAGE_ANSWER);
	message.number = number;
	message.fds[0] = fd;
	message.fd_count = fd >= 0;
	return channel_send(service->worker->channel, &message);
}

static bool send_status(const struct service *service, enum hd_status status, uint64_t id, int fd,
			const struct hd_error *err)
{
	struct message message = message_of(MESSAGE_ANSWER);
	message.number = (int32_t)status;
	message.id = status == HD_OK ? id : (uint64_t)(uint32_t)err->os_errno;
	message.fds[0] = fd;
	message.fd_count = fd >= 0;
	if (status != HD_OK)
		(void)message_add(&message, err->message);
	bool sent = channel_send(service->worker->channel, &message);
	message.fd_count = 0; /* it is the caller's */
	message_deinit(&message);
	return sent;
}

static void keep_target(struct service *service, const char *path)
{
	char *copy = strdup(path);
	if (!copy)
		return;
	free(service->worker->target);
	service->worker->target = copy;
	service->permit.target = copy;
}

static bool serve_open(struct cli *cli, struct service *service, const struct message *message)
{
	const struct hd_broker *direct = hd_broker_direct();
	const char *path = message_string(message, 0), *below = message_string(message, 1);
	if (!path || !below || !permit_open(&service->permit, message->number, path, below))
		return send_answer(service, EACCES, -1);
	int fd = direct->open(direct->arg, message->number, path, *below ? below : NULL);
	int code = errno;
	if (fd >= 0)
		worker_limits_count(cli, service->worker, message->number, fd);
	if (fd >= 0 && message->number == HD_OPEN_LISTEN && *path != '@') {
		free(service->listener);
		service->listener = lstat(path, &service->listener_is) == 0 ? strdup(path) : NULL;
	}
	/* Later commands may read again what the user has opened. */
	if (fd >= 0 && service->is_opening && message->number == HD_OPEN_INPUT)
		keep_target(service, path);
	bool sent = send_answer(service, fd < 0 ? code : 0, fd);
	if (fd >= 0)
		(void)close(fd);
	return sent;
}

/* Unless something else has its name now. */
static void remove_listener(struct service *service)
{
	struct stat info;
	if (service->listener && lstat(service->listener, &info) == 0 &&
	    info.st_dev == service->listener_is.st_dev &&
	    info.st_ino == service->listener_is.st_ino)
		(void)unlink(service->listener);
	free(service->listener);
	service->listener = NULL;
}

/* A place in the list of files, counted from 1; 0: there is none. */
static uint64_t free_place(const struct service *service)
{
	for (uint64_t i = 0; i < FILES_MAX; i++) {
		if (!service->files[i])
			return i + 1;
	}
	return 0;
}

/* The status for something that must not be written. */
static bool refuse_unnamed_file(const struct service *service)
{
	const struct hd_error err = {
		.status = HD_ERR_OS,
		.os_errno = EACCES,
		.message =
			"the process that reads the target asked for a file that the command does not "
			"name"
	};
	return send_status(service, HD_ERR_OS, 0, -1, &err);
}

static bool serve_create(struct service *service, const struct message *message)
{
	const struct hd_broker *direct = hd_broker_direct();
	const char *path = message_string(message, 0);
	struct hd_error err = { .status = HD_ERR_OS };
	uint64_t place = free_place(service), file = 0;
	if (!path || !place || !permit_create(&service->permit, path))
		return refuse_unnamed_file(service);
	int fd = direct->create(direct->arg, path, signals_came, NULL, &file, &err);
	if (fd < 0)
		return send_status(service, (enum hd_status)err.status, 0, -1, &err);
	permit_created(&service->permit, path);
	service->files[place - 1] = file;
	bool sent = send_status(service, HD_OK, file ? place : 0, fd, &err);
	(void)close(fd);
	return sent;
}

static bool serve_check(struct service *service, const struct message *message)
{
	const struct hd_broker *direct = hd_broker_direct();
	const char *path = message_string(message, 0);
	struct hd_error err = { .status = HD_ERR_OS };
	int is_straight = 0;
	if (!path || !permit_create(&service->permit, path))
		return refuse_unnamed_file(service);
	enum hd_status status = direct->check(direct->arg, path, &is_straight, &err);
	return send_status(service, status, (uint64_t)is_straight, -1, &err);
}

static bool serve_end_of_file(struct service *service, const struct message *message)
{
	const struct hd_broker *direct = hd_broker_direct();
	int code = EBADF;
	if (message->id && message->id <= FILES_MAX && service->files[message->id - 1]) {
		uint64_t file = service->files[message->id - 1];
		service->files[message->id - 1] = 0;
		code = 0;
		if (message->kind == MESSAGE_COMMIT) {
			code = direct->commit(direct->arg, file);
		} else {
			direct->abandon(direct->arg, file);
		}
	}
	return send_answer(service, code, -1);
}

static bool serve_user_name(const struct service *service, const struct message *message)
{
	const struct hd_broker *direct = hd_broker_direct();
	struct message reply = message_of(MESSAGE_ANSWER);
	char name[256];
	if (message->id <= UINT32_MAX &&
	    direct->user_name(direct->arg, (uint32_t)message->id, name, sizeof(name)) == 0)
		(void)message_add(&reply, name);
	bool sent = channel_send(service->worker->channel, &reply);
	message_deinit(&reply);
	return sent;
}

static bool serve_attach(struct service *service, const struct message *message)
{
	const struct hd_broker *direct = hd_broker_direct();
	struct message reply = message_of(MESSAGE_ANSWER);
	/* Helpers of earlier commands that have ended. */
	while (waitpid(-1, NULL, (int)__WCLONE | WNOHANG) > 0)
		continue;
	if (service->attaches >= ATTACHES_MAX || !permit_attach(&service->permit, message->number))
		return send_answer(service, EACCES, -1);
	service->attaches++;
	if (direct->attach(direct->arg, message->number, reply.fds) != 0)
		return send_answer(service, errno, -1);
	reply.fd_count = HD_ATTACH_FDS;
	bool sent = channel_send(service->worker->channel, &reply);
	message_deinit(&reply);
	return sent;
}

/* The worker says which target is open there; the name is only shown. */
static void name_target(struct cli *cli, const char *path)
{
	enum hd_status ignored = hd_session_label(cli->session, path, NULL);
	(void)ignored;
}

/* A candidate must begin with the word; false: there are more than any completion finds. */
static bool take_candidate(struct service *service, const struct message *message)
{
	service->candidates++;
	service->candidate_size += message->size;
	if (service->candidates > CANDIDATES_MAX || service->candidate_size > CANDIDATES_SIZE_MAX)
		return false;
	if (service->add && message->count &&
	    strncmp(message->bytes, service->word, strlen(service->word)) == 0)
		service->add(service->arg, message->bytes);
	return true;
}

/* Serve the worker until it is done; returns its status, or -1 if it has died. */
static int serve_worker(struct cli *cli, struct service *service)
{
	struct message message;
	int status = -1;
	bool goes_on = true;
	while (goes_on && channel_receive(service->worker->channel, &message)) {
		switch (message.kind) {
		case MESSAGE_STARTED:
			signals_pass_on();
			break;
		case MESSAGE_CANDIDATE:
			goes_on = take_candidate(service, &message);
			break;
		case MESSAGE_OPEN:
			goes_on = serve_open(cli, service, &message);
			break;
		case MESSAGE_CREATE:
			goes_on = serve_create(service, &message);
			break;
		case MESSAGE_CHECK:
			goes_on = serve_check(service, &message);
			break;
		case MESSAGE_COMMIT:
		case MESSAGE_ABANDON:
			goes_on = serve_end_of_file(service, &message);
			break;
		case MESSAGE_USER_NAME:
			goes_on = serve_user_name(service, &message);
			break;
		case MESSAGE_ATTACH:
			goes_on = serve_attach(service, &message);
			break;
		case MESSAGE_DONE:
			status = message.number;
			if (message.count)
				name_target(cli, message.bytes);
			goes_on = false;
			break;
		default:
			goes_on = false;
			break;
		}
		message_deinit(&message);
	}
	remove_listener(service);
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (service->files[i])
			hd_broker_direct()->abandon(hd_broker_direct()->arg, service->files[i]);
	}
	return status;
}

/* Has the reader of what is written there left? */
static bool is_broken_pipe(int fd)
{
	struct pollfd at = { .fd = fd };
	return poll(&at, 1, 0) > 0 && at.revents & (POLLERR | POLLHUP);
}

/* The worker has died: why? */
static int tell_death(struct cli *cli, struct worker *worker)
{
	int how = 0;
	(void)close(worker->channel);
	(void)kill(worker->pid, SIGKILL); /* a worker that broke the rules of the channel is
					   * ended */
	while (waitpid(worker->pid, &how, 0) < 0 && errno == EINTR)
		continue;
	forget(worker);
	name_target(cli, NULL);
	int number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
	if (number == SIGPIPE && is_broken_pipe(STDOUT_FILENO)) {
		/* A program without a worker also ends when nobody reads what it writes. */
		(void)signal(SIGPIPE, SIG_DFL);
		(void)raise(SIGPIPE);
	}
	if (number == SIGKILL && signals_insisted()) {
		(void)fputs("heapdump: interrupted; what was open is closed\n", stderr);
		return HD_EXIT_INTERRUPTED;
	}
	if (number == SIGSYS) {
		(void)fputs(
			"heapdump: the sandbox has ended the process that reads the target: it "
			"tried to do what it may not do; either the target attacks heapdump, or "
			"this is a bug in heapdump: please report it (--no-sandbox reads without "
			"a sandbox)\n",
			stderr);
	} else if (number) {
		(void)fprintf(stderr,
			      "heapdump: the process that reads the target was ended by signal %d "
			      "(%s): this is a bug in heapdump, or memory ran out; please report "
			      "it\n",
			      number, strsignal(number)); /* NOLINT(concurrency-mt-unsafe) */
	} else if (!WIFEXITED(how) || WEXITSTATUS(how) != WORKER_HAS_SAID_WHY) {
		(void)fputs("heapdump: the process that reads the target has ended\n", stderr);
	}
	return HD_EXIT_INPUT;
}

static bool add_settings(const struct cli *cli, struct message *message)
{
	const char *name;
	for (size_t i = 0; (name = hd_setting_name(i, NULL)); i++) {
		char value[HD_SETTING_SIZE];
		if (hd_session_get(cli->session, name, value, sizeof(value), NULL) != HD_OK ||
		    !message_add(message, value))
			return false;
	}
	return true;
}

static bool add_words(struct message *message, int argc, const char *const *argv)
{
	for (int i = 0; i < argc; i++) {
		if (!message_add(message, argv[i]))
			return false;
	}
	return true;
}

static bool is_setting(const struct cli *cli, const char *name, const char *value)
{
	char now[HD_SETTING_SIZE];
	return hd_session_get(cli->session, name, now, sizeof(now), NULL) == HD_OK &&
	       strcmp(now, value) == 0;
}

/* For later commands, remember which module files the target that is opened now may have. */
static void keep_files(struct worker *worker, const struct permit_files *files)
{
	char *sysroot = strdup(files->sysroot), *symbols = strdup(files->symbols);
	worker->has_files = sysroot && symbols;
	if (!worker->has_files) {
		free(sysroot);
		free(symbols);
		return;
	}
	free(worker->sysroot);
	free(worker->symbols);
	worker->sysroot = sysroot;
	worker->symbols = symbols;
	worker->files = (struct permit_files){ .sysroot = sysroot,
					       .symbols = symbols,
					       .are_off = files->are_off,
					       .are_trusted = files->are_trusted };
}

/* The settings that name folders. */
struct folders {
	char sysroot[HD_SETTING_SIZE], symbols[HD_SETTING_SIZE];
};

static void get_folder(const struct cli *cli, const char *name, char *buf)
{
	if (hd_session_get(cli->session, name, buf, HD_SETTING_SIZE, NULL) != HD_OK)
		*buf = '\0';
}

static void init_service(struct service *service, const struct cli *cli, struct worker *worker,
			 int argc, const char *const *argv, struct folders *folders)
{
	struct hd_command_info info;
	if (!argc || hd_command_find(argv[0], &info) != 0)
		info = (struct hd_command_info){ .role = HD_ROLE_QUERY };
	get_folder(cli, "sysroot", folders->sysroot);
	get_folder(cli, "symbols", folders->symbols);
	struct permit *permit = &service->permit;
	*permit = (struct permit){ .target = worker->target,
				   .sysroot = folders->sysroot,
				   .symbols = folders->symbols,
				   .is_collecting = info.role == HD_ROLE_SYSTEM,
				   .may_make_name = info.role == HD_ROLE_SYSTEM && info.writes };
	hd_command_name(argc, argv, &permit->names);
	permit->argc = argc;
	permit->argv = argv;
	permit->now = (struct permit_files){
		.sysroot = permit->names.sysroot ? permit->names.sysroot : folders->sysroot,
		.symbols = permit->names.symbols ? permit->names.symbols : folders->symbols,
		.are_off = permit->names.no_files || is_setting(cli, "files", "off"),
		.are_trusted = permit->names.trust_files || is_setting(cli, "trust-files", "on")
	};
	service->worker = worker;
	service->is_opening = info.role == HD_ROLE_OPEN;
	if (service->is_opening || !worker->has_files)
		keep_files(worker, &permit->now);
	permit->then = worker->has_files ? worker->files : permit->now;
}

int worker_run(struct cli *cli, struct worker *worker, int argc, const char *const *argv,
	       bool is_quiet)
{
	struct folders folders;
	struct service service = { 0 };
	struct message message = message_of(MESSAGE_RUN);
	init_service(&service, cli, worker, argc, argv, &folders);
	worker_limits_set(cli, worker, &service.permit.names);
	(void)fflush(stdout);
	struct taken_signals old;
	struct sigaction on_pipe;
	bool ignores = sigaction(SIGPIPE, NULL, &on_pipe) == 0 && on_pipe.sa_handler == SIG_IGN;
	message.id = (is_quiet ? RUN_IS_QUIET : 0) | (ignores ? RUN_IGNORES_SIGPIPE : 0) |
		     (cli->terminal.is_there ? RUN_ON_TERMINAL : 0) |
		     (cli->terminal.takes_color ? RUN_IN_COLOR : 0) |
		     (uint64_t)cli->terminal.columns << RUN_COLUMNS_SHIFT;
	int own_stdout = output_of(STDOUT_FILENO);
	message.fds[0] = own_stdout < 0 ? STDOUT_FILENO : own_stdout;
	message.fd_count = 1;
	signals_take(&old, worker->pid);
	bool sent = add_settings(cli, &message) && add_words(&message, argc, argv) &&
		    channel_send(worker->channel, &message);
	int status = sent ? serve_worker(cli, &service) : -1;
	signals_give_back(&old);
	if (own_stdout >= 0)
		(void)close(own_stdout);
	message.fd_count = 0;
	message_deinit(&message);
	return status < 0 ? tell_death(cli, worker) : status;
}

int worker_complete(struct cli *cli, int argc, const char *const *argv,
		    void (*add)(void *arg, const char *candidate), void *arg)
{
	struct worker *worker = cli->worker;
	struct folders folders;
	struct service service = { .add = add, .arg = arg, .word = argv[argc - 1] };
	struct message message = message_of(MESSAGE_COMPLETE);
	init_service(&service, cli, worker, 0, NULL, &folders);
	struct taken_signals old;
	signals_take(&old, worker->pid);
	bool sent = add_words(&message, argc, argv) && channel_send(worker->channel, &message);
	int status = sent ? serve_worker(cli, &service) : -1;
	signals_give_back(&old);
	message_deinit(&message);
	if (status < 0)
		(void)tell_death(cli, worker);
	return status > 0;
}
