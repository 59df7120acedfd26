// SPDX-License-Identifier: MIT
#include "debugger_commands.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

#include <heapdump/answer.h>

#include "own_session.h"
#include "publication.h"

namespace
{

/// Pages of code that a debugger can write, and new code of virtual methods that is published as that of others.
const char *settings[] = { "DOTNET_EnableWriteXorExecute=0", "DOTNET_BackpatchEntryPointSlots=0",
			   nullptr };

std::vector<std::string> list_of(char **words)
{
	std::vector<std::string> list;
	for (; words && *words; words++)
		list.emplace_back(*words);
	return list;
}

bool ends_with(const std::string &text, const std::string &end)
{
	return text.size() >= end.size() &&
	       text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The file without links; "" when there is none.
std::string real_path(const std::string &path)
{
	char buf[PATH_MAX];
	return realpath(path.c_str(), buf) ? buf : "";
}

std::string find_in_path(const std::string &name)
{
	const char *text = std::getenv("PATH");
	const std::string folders = text ? text : "";
	for (size_t begin = 0; begin <= folders.size();) {
		const size_t end = std::min(folders.find(':', begin), folders.size());
		const std::string path = folders.substr(begin, end - begin) + "/" + name;
		if (end > begin && access(path.c_str(), X_OK) == 0)
			return real_path(path);
		begin = end + 1;
	}
	return "";
}

/// The target of that program: the selected one, which has the user's breakpoints, or a new one.
lldb::SBTarget target_of(lldb::SBDebugger &debugger, const std::string &program)
{
	lldb::SBTarget target = debugger.GetSelectedTarget();
	char path[PATH_MAX] = "";
	if (target.IsValid() && target.GetExecutable().GetPath(path, sizeof(path)) &&
	    program == path)
		return target;
	target = debugger.CreateTarget(program.c_str());
	if (target.IsValid())
		debugger.SetSelectedTarget(target);
	return target;
}

/// Where the plug-in can look for the places at which code is published: the runtime's file is loaded, and has not begun.
lldb::SBBreakpoint break_at_start(lldb::SBTarget &target)
{
	if (!runtime_module(target).IsValid())
		return target.BreakpointCreateByName("coreclr_initialize", "libcoreclr.so");
	lldb::SBAddress entry = target.GetModuleAtIndex(0).GetObjectFileEntryPointAddress();
	return target.BreakpointCreateBySBAddress(entry);
}

bool has_own_breakpoint(lldb::SBTarget &target)
{
	for (uint32_t i = 0; i < target.GetNumBreakpoints(); i++) {
		lldb::SBBreakpoint breakpoint = target.GetBreakpointAtIndex(i);
		if (is_own(breakpoint))
			return true;
	}
	return false;
}

/// Give LLDB the program of @p words; "" or why it cannot be started.
std::string choose(lldb::SBDebugger &debugger, std::vector<std::string> words)
{
	std::string program = real_path(words[0]);
	if (program.empty())
		return "there is no file " + words[0];
	words[0] = program;
	if (ends_with(program, ".dll"))
		program = find_in_path("dotnet");
	else
		words.erase(words.begin());
	if (program.empty())
		return "there is no dotnet in PATH, which runs a .dll";
	lldb::SBTarget target = target_of(debugger, program);
	if (!target.IsValid())
		return "LLDB does not take " + program;
	std::vector<const char *> argv;
	for (const std::string &word : words)
		argv.push_back(word.c_str());
	argv.push_back(nullptr);
	lldb::SBLaunchInfo info = target.GetLaunchInfo();
	info.SetArguments(argv.data(), false);
	info.SetEnvironmentEntries(settings, true);
	target.SetLaunchInfo(info);
	return "";
}

} // namespace

RunCommand::RunCommand(std::shared_ptr<Session> session) : session_(std::move(session))
{
}

bool RunCommand::DoExecute(lldb::SBDebugger debugger, char **words,
			   lldb::SBCommandReturnObject &result)
{
	const std::vector<std::string> list = list_of(words);
	std::string message = list.empty() ? "" : choose(debugger, list);
	lldb::SBTarget target = debugger.GetSelectedTarget();
	if (message.empty() && !target.IsValid())
		message = "no program was started before";
	if (!message.empty()) {
		result.SetError(message.c_str());
		return false;
	}
	session_->look_at_code(Purpose::leaves); // of a process before this one
	if (!has_own_breakpoint(target)) {
		lldb::SBBreakpoint start = break_at_start(target);
		session_->watch(target, start);
	}
	// The words of LLDB about the start take the place of those that the result had before.
	FILE *output = debugger.GetOutputFileHandle();
	std::fprintf(output ? output : stdout, "heapdump: starts it with %s %s\n", settings[0],
		     settings[1]);
	lldb::SBExecutionContext context(target); // this command began without it
	debugger.GetCommandInterpreter().HandleCommand("process launch", context, result);
	return result.Succeeded();
}

BpmdCommand::BpmdCommand(std::shared_ptr<Session> session) : session_(std::move(session))
{
}

bool BpmdCommand::ask(lldb::SBDebugger &debugger, const std::vector<const char *> &words,
		      std::string &method, std::string &message)
{
	const std::unique_lock<std::mutex> lock = session_->lock();
	const hd_sink sink = quiet_sink();
	if (!session_->follower().follow(debugger, session_->handle(), sink, message))
		return false;
	hd_rows *rows = nullptr;
	hd_error err = {};
	const int status = hd_rows_run(session_->handle(), static_cast<int>(words.size()),
				       words.data(), &sink, &rows, &err);
	const hd_value *value = status <= HD_EXIT_FINDINGS ? hd_rows_member(rows, "name") : nullptr;
	if (value && value->text)
		method.assign(value->text, value->size);
	message = err.message;
	hd_rows_free(rows);
	return status <= HD_EXIT_FINDINGS;
}

std::string BpmdCommand::command_for(lldb::SBDebugger &debugger,
				     const std::vector<std::string> &words, std::string &message)
{
	lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
	const bool is_stopped = presence(process) == Presence::stopped;
	std::string method;
	message = "usage: bpmd MODULE METHOD, bpmd FILE.cs:LINE, bpmd -md ADDRESS";
	if (words.size() == 2 && words[0] == "-md") {
		if (!ask(debugger, { "dumpmd", words[1].c_str() }, method, message))
			return "";
		return "breakpoint set -n \"" + method.substr(0, method.find('(')) + "\"";
	}
	if (words.size() == 2) {
		// A method that the module does not have would wait for ever.  A NativeAOT program has no modules.
		const std::vector<const char *> question = { "name2ee", words[0].c_str(),
							     words[1].c_str() };
		if (is_stopped && !ask(debugger, question, method, message) &&
		    message.find("no module") == message.npos &&
		    message.find("does not keep") == message.npos)
			return "";
		return "breakpoint set -n \"" + words[1] + "\"";
	}
	const size_t colon = words.size() == 1 ? words[0].rfind(':') : std::string::npos;
	if (colon == std::string::npos || colon + 1 == words[0].size() ||
	    words[0].find_first_not_of("0123456789", colon + 1) != std::string::npos)
		return "";
	return "breakpoint set -f \"" + words[0].substr(0, colon) + "\" -l " +
	       words[0].substr(colon + 1);
}

bool BpmdCommand::DoExecute(lldb::SBDebugger debugger, char **words,
			    lldb::SBCommandReturnObject &result)
{
	std::vector<std::string> list = list_of(words);
	list.erase(std::remove(list.begin(), list.end(), "-nofuturemodule"), list.end());
	std::string command, message;
	lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
	if (list.size() == 1 && list[0] == "-list")
		command = "breakpoint list";
	else if (list.size() == 1 && list[0] == "-clearall")
		command = "breakpoint delete -f";
	else if (list.size() == 2 && list[0] == "-clear" &&
		 list[1].find_first_not_of("0123456789") == std::string::npos)
		command = "breakpoint delete " + list[1];
	else if (process.IsValid() && is_core(process))
		message = "a core does not run on: a breakpoint needs a process";
	else if (std::any_of(list.begin(), list.end(), [](const std::string &word) {
			 return word.find_first_of("\"\\`") != word.npos;
		 }))
		message = "quotes and backslashes are in no name of a method or a file";
	else
		command = command_for(debugger, list, message);
	if (command.empty()) {
		result.SetError(message.c_str());
		return false;
	}
	debugger.GetCommandInterpreter().HandleCommand(command.c_str(), result);
	return result.Succeeded();
}
