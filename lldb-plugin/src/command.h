// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_COMMAND_H
#define HEAPDUMP_LLDB_COMMAND_H

#include <memory>
#include <string>

#include "session.h"

/// One command of the core's table: takes LLDB's words, answers through LLDB's result.
class Command : public lldb::SBCommandPluginInterface
{
      public:
	Command(std::shared_ptr<Session> session, const char *name);
	bool DoExecute(lldb::SBDebugger debugger, char **words,
		       lldb::SBCommandReturnObject &result) override;

      private:
	std::shared_ptr<Session> session_;
	std::string name_;
};

#endif
