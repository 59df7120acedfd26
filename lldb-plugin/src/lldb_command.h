// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_LLDB_COMMAND_H
#define HEAPDUMP_LLDB_LLDB_COMMAND_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lldb_session.h"

/// One command of the core's table: takes LLDB's words, answers through LLDB's result.
class Command : public lldb::SBCommandPluginInterface
{
      public:
	Command(std::shared_ptr<Session> session, const struct hd_command_info &info);
	bool DoExecute(lldb::SBDebugger debugger, char **words,
		       lldb::SBCommandReturnObject &result) override;

      private:
	/// The exit status; @p message tells why it failed.  With the session's lock held.
	int run(lldb::SBDebugger &debugger, const std::vector<const char *> &argv,
		const hd_sink &sink, std::string &message);

	std::shared_ptr<Session> session_;
	std::string name_;
	bool needs_open_;
	bool follows_;
	std::uint32_t role_;
};

#endif
