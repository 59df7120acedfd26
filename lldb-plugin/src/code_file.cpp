// SPDX-License-Identifier: MIT
#include "code_file.h"

#include <cerrno>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

CodeFile::CodeFile(const char *name) : fd_(memfd_create("managed code", MFD_CLOEXEC))
{
	const char *place = std::getenv("TMPDIR");
	const std::string memory = "/proc/self/fd/" + std::to_string(fd_);
	std::string folder = place && place[0] == '/' ? place : "/tmp";
	folder += "/heapdump-XXXXXX";
	path_ = memory;
	if (!is_open() || !mkdtemp(&folder[0]))
		return;
	folder_ = folder;
	path_ = folder + "/" + name;
	if (symlink(memory.c_str(), path_.c_str()) != 0)
		path_ = memory;
}

CodeFile::~CodeFile()
{
	if (!folder_.empty()) {
		if (path_.compare(0, folder_.size(), folder_) == 0)
			(void)unlink(path_.c_str());
		(void)rmdir(folder_.c_str());
	}
	if (is_open())
		(void)close(fd_);
}

int CodeFile::write(void *arg, const char *bytes, size_t size)
{
	const int fd = static_cast<CodeFile *>(arg)->fd_;
	while (size) {
		const ssize_t done = ::write(fd, bytes, size);
		if (done <= 0) {
			if (done < 0 && errno == EINTR)
				continue;
			return 1;
		}
		bytes += done;
		size -= static_cast<size_t>(done);
	}
	return 0;
}
