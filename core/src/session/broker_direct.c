/* SPDX-License-Identifier: MIT */
/* A broker does this for another process: the same as the library does for its own. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <heapdump/broker.h>

#include "mem/named_file.h"
#include "targets/process/server_channel.h"
#include "util/alloc.h"
#include "util/opening.h"
#include "util/output_place.h"

static int direct_open_named(const char *path, const char *below, enum named_file_kind kind)
{
	enum named_file_result result;
	int fd = named_file_open_directly(below, path, kind, &result);
	if (fd < 0 && result == NAMED_FILE_NOT_REGULAR)
		errno = EINVAL;
	if (fd < 0 && result == NAMED_FILE_NO_IMAGE)
		errno = ENOEXEC;
	return fd;
}

static int direct_open(void *arg, int as, const char *path, const char *below)
{
	(void)arg;
	if (!path) {
		errno = EINVAL;
		return -1;
	}
	if (as == HD_OPEN_MODULE || as == HD_OPEN_ANY_MODULE || as == HD_OPEN_PDB) {
		return direct_open_named(path, below,
					 as == HD_OPEN_PDB      ? NAMED_FILE_PDB
					 : as == HD_OPEN_MODULE ? NAMED_FILE_IMAGE
								: NAMED_FILE_ANY);
	}
	return open_directly((enum hd_open_as)as, path);
}

/* A file that another process writes. */
struct written {
	struct output_place *place;
	int fd;
};

static struct written *written_of(uint64_t id)
{
	/* Our own pointer. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (struct written *)(uintptr_t)id;
}

static int direct_create(void *arg, const char *path, int (*cancelled)(void *arg),
			 void *cancelled_arg, uint64_t *ret_id, struct hd_error *err)
{
	(void)arg;
	struct job job = { .cancelled = cancelled, .arg = cancelled_arg };
	struct output_place *place = NULL;
	int fd = -1;
	if (!path || !ret_id) {
		(void)fail(err, HD_ERR_ARGUMENT, 0, "no path to write to, or no place for its id");
		return -1;
	}
	if (output_place_open(path, &job, &place, &fd, err) != HD_OK)
		return -1;
	*ret_id = 0;
	if (!place)
		return fd;
	struct written *written = mem_calloc(1, sizeof(*written));
	int own = written ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (own < 0) {
		(void)fail(err, HD_ERR_OS, 0, "%s: cannot write: %s", path,
			   strerrordesc_np(written ? errno : ENOMEM));
		output_place_abandon(place);
		(void)close(fd);
		mem_free(written);
		return -1;
	}
	*written = (struct written){ .place = place, .fd = own };
	*ret_id = (uint64_t)(uintptr_t)written;
	return fd;
}

static enum hd_status direct_check(void *arg, const char *path, int *ret_straight,
				   struct hd_error *err)
{
	(void)arg;
	bool is_straight = false;
	if (!path || !ret_straight)
		return fail(err, HD_ERR_ARGUMENT, 0, "no path to write to");
	TRY(output_place_check(path, &is_straight, err));
	*ret_straight = is_straight;
	return HD_OK;
}

static int direct_commit(void *arg, uint64_t id)
{
	(void)arg;
	HD_FREE struct written *written = written_of(id);
	if (!written)
		return EBADF;
	int code = output_place_commit(written->place, written->fd);
	(void)close(written->fd);
	return code;
}

static void direct_abandon(void *arg, uint64_t id)
{
	(void)arg;
	HD_FREE struct written *written = written_of(id);
	if (!written)
		return;
	output_place_abandon(written->place);
	(void)close(written->fd);
}

static int direct_user_name(void *arg, uint32_t uid, char *buf, size_t size)
{
	(void)arg;
	return buf && user_name_directly(uid, buf, size) ? 0 : -1;
}

static int direct_attach(void *arg, int pid, int *ret_fds)
{
	(void)arg;
	if (pid <= 0 || !ret_fds) {
		errno = EINVAL;
		return -1;
	}
	return server_fork(pid, ret_fds) < 0 ? -1 : 0;
}

const struct hd_broker *hd_broker_direct(void)
{
	static const struct hd_broker broker = { .struct_size = sizeof(broker),
						 .open = direct_open,
						 .create = direct_create,
						 .check = direct_check,
						 .commit = direct_commit,
						 .abandon = direct_abandon,
						 .user_name = direct_user_name,
						 .attach = direct_attach };
	return &broker;
}
