/* SPDX-License-Identifier: MIT */
#include "collect/inside.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/other_traces.h"
#include "targets/process/proc.h"
#include "util/opening.h"
#include "util/own_folders.h"

#define LIBRARY   "libheapdump_profiler.so"
#define DATA_HEAD "HEAPDUMP-INSIDE-1"
#define ATTACH_MS 20000u /* for the runtime to load the library */
#define AGAIN_MS  5000u  /* for an earlier one to be detached */
#define PAUSE_MS  100u

/* Its class, as CORECLR_PROFILER would name it. */
static const uint8_t class_id[16] = { 0x52, 0x9a, 0x1d, 0x8f, 0x3e, 0x6c, 0x7a, 0x4b,
				      0x9d, 0x04, 0x5e, 0x2b, 0x7c, 0x61, 0xa8, 0xf3 };

static bool look_at(const char *path, struct stat *ret)
{
	int fd = open_as(HD_OPEN_PLACE, path);
	if (fd < 0)
		return false;
	bool is_known = fstat(fd, ret) == 0;
	int code = errno;
	(void)close(fd);
	errno = code;
	return is_known;
}

/* Append "FOLDER/PLACE/libheapdump_profiler.so"; "../" goes up in the text. */
static void append_library(struct text *text, const char *folder, const char *place)
{
	size_t size = strlen(folder);
	if (strncmp(place, "../", 3) == 0) {
		place += 3;
		while (size && folder[size - 1] != '/')
			size--;
		size -= size ? 1 : 0;
	}
	text_append(text, folder, size);
	text_printf(text, "/%s%s%s", place, *place ? "/" : "", LIBRARY);
}

/* Installed next to the library that this is, or to the program; or where both were built. */
static bool find_installed(struct text *ret, struct stat *status)
{
	static const char *const places[] = { "../" HD_LIBDIR "/heapdump", "heapdump", "" };
	const char *folders[OWN_FOLDERS_MAX];
	const size_t before = ret->size;
	for (int i = own_folders(folders); i-- > 0;) {
		for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
			append_library(ret, folders[i], places[j]);
			if (ret->failed || look_at(ret->bytes + before, status))
				return true;
			ret->bytes[ret->size = before] = '\0';
		}
	}
	return false;
}

/* Would it be somebody else's code that is loaded? */
static const char *distrust_library(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return "it is not a regular file";
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return "it belongs to another user";
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write it";
	return NULL;
}

/* Does the process see the same file at the same place? */
static enum hd_status check_same(int pid, const char *path, const struct stat *own,
				 struct hd_error *err)
{
	struct stat seen = { 0 };
	HD_CLEANUP(text) struct text text = { 0 };
	text_printf(&text, "/proc/%d/root%s", pid, path);
	if (text.failed)
		return fail_nomem(err);
	bool is_seen = look_at(text.bytes, &seen);
	int code = errno;
	if (is_seen && seen.st_dev == own->st_dev && seen.st_ino == own->st_ino)
		return HD_OK;
	errno = is_seen ? 0 : code;
	return fail(
		err, HD_ERR_OS, 0,
		"process %d does not see our library at %s (%s): run heapdump where the process "
		"runs, such as in its container, or collect without -inside",
		pid, path, is_seen ? "it sees another file" : strerrordesc_np(code));
}

/* The runtime itself only looks at this for profilers that variables name, but it says what somebody wants. */
static enum hd_status check_wish(int pid, struct hd_error *err)
{
	static const char *const names[] = { "DOTNET_EnableDiagnostics_Profiler=0",
					     "COMPlus_EnableDiagnostics_Profiler=0" };
	HD_CLEANUP(text) struct text variables = { 0 };
	enum hd_status status = HD_OK;
	(void)proc_read_file(pid, "environ", &variables);
	for (size_t at = 0; status == HD_OK && at < variables.size;) {
		const char *variable = variables.bytes + at;
		size_t size = strnlen(variable, variables.size - at);
		at += size + 1;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (strlen(names[i]) == size && memcmp(variable, names[i], size) == 0) {
				errno = EPERM;
				status = fail(
					err, HD_ERR_OS, 0,
					"process %d has the variable %s, which forbids profilers: "
					"collect without -inside",
					pid, names[i]);
			}
		}
	}
	return status;
}

enum hd_status inside_find_library(int pid, struct text *ret, struct hd_error *err)
{
	struct stat status;
	const size_t before = ret->size;
	TRY(check_wish(pid, err));
	if (!find_installed(ret, &status)) {
		return fail(err, HD_ERR_NOTFOUND, 0,
			    "" LIBRARY " is not installed with this heapdump (../" HD_LIBDIR
			    "/heapdump)");
	}
	if (ret->failed)
		return fail_nomem(err);
	const char *path = ret->bytes + before, *why = distrust_library(&status);
	if (why) {
		errno = EPERM;
		return fail(err, HD_ERR_OS, 0, "%s is not sent to a process: %s", path, why);
	}
	return check_same(pid, path, &status, err);
}

/* The socket of the library: next to the runtime's, with the process's id in its own namespace. */
static void append_socket(struct text *text, const char *socket)
{
	const char *slash = strrchr(socket, '/'), *name = slash ? slash + 1 : socket;
	size_t prefix = strlen("dotnet-diagnostic-");
	const char *digits = strlen(name) > prefix ? name + prefix : "";
	text_append(text, socket, (size_t)(name - socket));
	text_printf(text, "heapdump-inside-%.*s-socket", (int)strspn(digits, "0123456789"), digits);
}

/* A path through the process's folders in /proc, as the process itself sees it. */
static const char *inner_path(const char *path)
{
	static const char proc[] = "/proc/", root[] = "/root/", folder[] = "/cwd/";
	if (strncmp(path, proc, sizeof(proc) - 1) != 0)
		return path;
	const char *at = path + sizeof(proc) - 1;
	at += strspn(at, "0123456789");
	if (strncmp(at, root, sizeof(root) - 1) == 0)
		return at + sizeof(root) - 2;
	return strncmp(at, folder, sizeof(folder) - 1) == 0 ? at + sizeof(folder) - 1 : path;
}

static void append_string(struct text *text, const char *string)
{
	text_append(text, string, strlen(string) + 1);
}

static enum hd_status refused(const struct endpoint *endpoint, const char *library, uint32_t code,
			      struct hd_error *err)
{
	const char *why = ipc_error_text(code);
	errno = 0;
	switch (code) {
	case IPC_PROFILER_ACTIVE:
		why = "another heapdump's is in it, or too many profilers are: try again, or collect "
		      "without -inside";
		break;
	case 0x80131375:
		why = "it has loaded it itself and takes snapshots when HEAPDUMP_WHEN says so: collect "
		      "without -inside";
		break;
	case 0x80131515:
		why = "its version is not .NET 8, 9 or 10";
		break;
	case 0x80070005:
		why = "it may not make a socket in its folder for temporary files";
		break;
	default:
		break;
	}
	if (why) {
		return fail(err, HD_ERR_OS, 0, "process %d does not take the library: %s",
			    endpoint->pid, why);
	}
	return fail(
		err, HD_ERR_OS, 0,
		"process %d does not take the library %s (error %08x): it may not be able to read "
		"it, or run on musl (Alpine), or DOTNET_EnableDiagnostics_Profiler=0 is set: collect "
		"without -inside",
		endpoint->pid, library, code);
}

/* Wait a moment; false: the user has had enough. */
static bool pause_inside(struct job *job)
{
	const struct timespec pause = { .tv_nsec = (long)PAUSE_MS * 1000000 };
	(void)nanosleep(&pause, NULL);
	return job_step(job, 0, 0);
}

/* Let the runtime load the library. */
static enum hd_status send_library(struct endpoint *endpoint, const char *library,
				   const struct text *message, const struct patience *patience,
				   struct hd_error *err)
{
	uint64_t end = collect_now_ms() + AGAIN_MS;
	for (;;) {
		struct text reply = { 0 };
		uint32_t code;
		enum hd_status status =
			connection_call(endpoint, message, patience, &reply, &code, err);
		text_deinit(&reply);
		if (status != HD_OK || !code)
			return status;
		uint64_t now = collect_now_ms();
		if (code != IPC_PROFILER_ACTIVE || now >= end || now >= patience->deadline)
			return refused(endpoint, library, code, err);
		if (!pause_inside(patience->job))
			return fail_cancelled(err);
	}
}

static enum hd_status make_message(const struct endpoint *endpoint, const char *library,
				   const char *path, const char *socket, struct text *ret,
				   struct hd_error *err)
{
	HD_CLEANUP(text) struct text data = { 0 };
	append_string(&data, DATA_HEAD);
	append_string(&data, path);
	append_string(&data, inner_path(socket));
	struct ipc_profiler profiler = { .timeout_ms = ATTACH_MS, .path = library, .data = &data };
	memcpy(profiler.class_id, class_id, sizeof(class_id));
	bool fits = !data.failed && ipc_profiler_message(ret, &profiler);
	bool has_failed = data.failed || ret->failed;
	if (has_failed)
		return fail_nomem(err);
	errno = ENAMETOOLONG;
	return fits ? HD_OK
		    : fail(err, HD_ERR_OS, 0, "a path is too long to be sent to process %d",
			   endpoint->pid);
}

/* Wait for the library to say that the file is there. */
static enum hd_status await_file(const struct endpoint *endpoint, const char *socket,
				 const struct patience *patience, struct inside_answer *ret,
				 struct hd_error *err)
{
	struct endpoint library = *endpoint;
	HD_CLEANUP(text) struct text message = { 0 }, reply = { 0 };
	uint32_t code;
	library.socket = socket;
	ipc_message(&message, IPC_PROCESS_INFO, NULL, 0);
	enum hd_status status = connection_call(&library, &message, patience, &reply, &code, err);
	errno = 0;
	if (status == HD_OK && code) {
		const char *why = reply.bytes + sizeof(code);
		size_t size = reply.size - sizeof(code);
		if (!size)
			why = "it does not say why";
		status = fail(err, HD_ERR_OS, 0, "process %d has taken no snapshot: %.*s",
			      endpoint->pid, (int)(size ? size : strlen(why)), why);
	} else if (status == HD_OK && reply.size != sizeof(*ret)) {
		status = fail(err, HD_ERR_FORMAT, 0,
			      "the library in process %d is not of this version of heapdump",
			      endpoint->pid);
	} else if (status == HD_OK) {
		memcpy(ret, reply.bytes, sizeof(*ret));
	}
	return status;
}

enum hd_status inside_collect(struct endpoint *endpoint, const char *library, const char *path,
			      const struct patience *patience, struct inside_answer *ret,
			      struct hd_error *err)
{
	HD_CLEANUP(text) struct text socket = { 0 }, message = { 0 };
	int turn;
	TRY(others_exclude(endpoint, patience, NULL, NULL, &turn, err));
	append_socket(&socket, endpoint->socket);
	enum hd_status status =
		socket.failed ? fail_nomem(err)
			      : make_message(endpoint, library, path, socket.bytes, &message, err);
	if (status == HD_OK)
		status = send_library(endpoint, library, &message, patience, err);
	if (status == HD_OK)
		status = await_file(endpoint, socket.bytes, patience, ret, err);
	if (turn >= 0)
		(void)close(turn);
	return status;
}
