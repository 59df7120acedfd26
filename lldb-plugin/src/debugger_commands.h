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

/// bpmd of SOS: a breakpoint of LLDB's own in a managed method.
class BpmdCommand : public lldb::SBCommandPluginInterface
{
      public:
	explicit BpmdCommand(std::shared_ptr<Session> session);
	bool DoExecute(lldb::SBDebugger debugger, char **words,
		       lldb::SBCommandReturnObject &result) override;

	static constexpr const char *name = "bpmd";
	static constexpr const char *help = "Set a breakpoint in a managed method, as SOS does.";
	static constexpr const char *syntax =
		"bpmd MODULE METHOD\n"
		"        bpmd FILE.cs:LINE\n"
		"        bpmd -md ADDRESS\n"
		"        bpmd -list, -clear N, -clearall\n\n"
		"METHOD is Namespace.Type.Method, as name2ee takes it; -md takes a MethodDesc.  It is LLDB's own\n"
		"breakpoint: \"breakpoint list\" shows it.  Where there is no code yet it waits, and is set when the\n"
		"runtime publishes the code.";

      private:
	/// LLDB's command that sets the breakpoint; "": @p message tells why there is none.
	std::string command_for(lldb::SBDebugger &debugger, const std::vector<std::string> &words,
				std::string &message);
	/// A name in an answer of a command of the table about the process; false: @p message tells why not.
	bool ask(lldb::SBDebugger &debugger, const std::vector<const char *> &words,
		 std::string &method, std::string &message);

	std::shared_ptr<Session> session_;
};

#endif
