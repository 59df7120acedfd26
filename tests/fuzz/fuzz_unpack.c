/* SPDX-License-Identifier: MIT */
/* covers: core/src/targets/unpack.c */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "targets/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD_WANTED ((size_t)4096)

static struct mapped_file file_of(const uint8_t *data, size_t size)
{
	struct mapped_file file;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    mapped_file_adopt(fd, "fuzz", &file, NULL) != HD_OK)
		abort();
	return file;
}

/* unpack_head() gives the first bytes of the whole. */
static void check_head(const struct mapped_file *unpacked, const uint8_t *data, size_t size)
{
	static uint8_t head[HEAD_WANTED];
	size_t want = unpacked->size < HEAD_WANTED ? (size_t)unpacked->size : HEAD_WANTED;
	if (size > UNPACK_HEAD_SIZE)
		size = UNPACK_HEAD_SIZE;
	if (want && unpack_head(data, size, head, want) && memcmp(head, unpacked->bytes, want) != 0)
		abort();
}

/* The first byte: how much it may take, 2 KiB to 4 MiB; then any bytes as a packed file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	uint64_t max_mem = (uint64_t)2048 << data[0] % 12u;
	data++;
	size--;
	static uint8_t head[64];
	(void)unpack_head(data, size, head, sizeof(head));
	if (!size)
		return 0;
	struct mapped_file file = file_of(data, size);
	struct findings findings = { 0 };
	struct hd_error err = { 0 };
	enum hd_status status = unpack_file(&file, "fuzz", max_mem, NULL, &findings, &err);
	if (status != HD_OK && !err.message[0])
		abort();
	if (status == HD_OK) {
		if (file.size > max_mem)
			abort();
		check_head(&file, data, size);
	} else if (file.size != size || memcmp(file.bytes, data, size) != 0) {
		abort();
	}
	findings_deinit(&findings);
	mapped_file_close(&file);
	return 0;
}
