// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_DEBUGGER_COMMANDS_H
#define HEAPDUMP_LLDB_DEBUGGER_COMMANDS_H

#include <lldb/API/LLDB.h>
#include <memory>
#include <string>
#include <vector>

#include "lldb_session.h"

/// heapdump run PROGRAM [ARGUMENT...]: start a .NET program as it is debugged best.
class RunCommand : public lldb::SBCommandPluginInterface
{
      public:
	explicit RunCommand(std::shared_ptr<Session> session);
	bool DoExecute(lldb::SBDebugger debugger, char **words,
		       lldb::SBCommandReturnObject &result) override;

	static constexpr const char *name = "run";
	static constexpr const char *help =
		"Start a .NET program, so that breakpoints wait for code from its beginning.";
	static constexpr const char *syntax =
		"heapdump run PROGRAM [ARGUMENT...]\n\n"
		"PROGRAM is a .dll, which dotnet runs, or an executable file.  It is started with\n"
		"DOTNET_EnableWriteXorExecute=0 in its environment, so that nothing in it has to be\n"
		"changed for breakpoints, and with DOTNET_BackpatchEntryPointSlots=0, so that breakpoints\n"
		"follow virtual methods that are compiled again.  Without a word it starts the last\n"
		"program again.";

      private:
	std::shared_ptr<Session> session_;
};

#endif
