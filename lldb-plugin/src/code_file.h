// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_CODE_FILE_H
#define HEAPDUMP_LLDB_CODE_FILE_H

#include <string>

/// A file in memory for LLDB, which names modules by their paths: while this lives, a link has the right name.  LLDB
/// keeps what it has read.
class CodeFile
{
      public:
	/// @param name the last part of the path
	explicit CodeFile(const char *name);
	~CodeFile();
	CodeFile(const CodeFile &) = delete;
	CodeFile &operator=(const CodeFile &) = delete;

	/// False when there is no memory for it.
	bool is_open() const
	{
		return fd_ >= 0;
	}
	/// The path of the link; when no folder for it can be made, a path of /proc.
	const char *path() const
	{
		return path_.c_str();
	}

	/// A hd_sink's write; @p arg is a CodeFile.
	static int write(void *arg, const char *bytes, size_t size);

      private:
	std::string folder_; ///< of the link; "" = there is none
	std::string path_;
	int fd_;
};

#endif
