// SPDX-License-Identifier: MIT
// Registers the core's command table in the debugger that loads the plug-in.
#include <algorithm>
#include <cstdio>

#include "lldb_command.h"
#include "names.h"

namespace lldb
{
__attribute__((visibility("default"))) bool PluginInitialize(SBDebugger debugger);
}

namespace
{

constexpr const char *prefix = "heapdump";

/// Put one line on the debugger's standard error.
void report(lldb::SBDebugger &debugger, const std::string &line)
{
	FILE *stream = debugger.GetErrorFileHandle();
	std::fprintf(stream ? stream : stderr, "heapdump: %s\n", line.c_str());
}

void report_taken(lldb::SBDebugger &debugger, const std::vector<std::string> &taken)
{
	if (taken.empty())
		return;
	std::string line = "taken already: ";
	for (size_t i = 0; i < taken.size(); i++)
		line += (i ? ", " : "") + taken[i];
	report(debugger, line + "; ours: heapdump " + taken[0] + " and so on");
}

/// Which commands need the prefix?  @p free_names: those that do not.
std::string prefixed_names(const std::vector<std::string> &free_names)
{
	std::string list;
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++) {
		for (const char *name : { info.name, info.alias }) {
			if (name && std::find(free_names.begin(), free_names.end(), name) ==
					    free_names.end())
				list += (list.empty() ? "" : ", ") + std::string(name);
		}
	}
	return "Only these need the prefix: " + list + ".";
}

void register_commands(lldb::SBCommandInterpreter interpreter, lldb::SBCommand multiword,
		       const std::shared_ptr<Session> &session,
		       const std::vector<std::string> &free_names)
{
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++) {
		const Help help = command_help(info);
		const char *summary = help.summary.c_str();
		const char *syntax = help.syntax.c_str();
		// The last argument: an empty line does not repeat the command.  LLDB owns each.
		multiword.AddCommand(info.name, new Command(session, info), summary, syntax, "");
		if (info.alias) {
			multiword.AddCommand(info.alias, new Command(session, info), summary,
					     syntax, "");
		}
		for (const char *name : { info.name, info.alias }) {
			if (name && std::find(free_names.begin(), free_names.end(), name) !=
					    free_names.end()) {
				interpreter.AddCommand(name, new Command(session, info), summary,
						       syntax, "");
			}
		}
	}
}

// Commands whose answers depend on code.  The others that LLDB has for them, as bt, up and b, run one of these.
constexpr const char *commands_about_code[] = {
	"breakpoint list",
	"breakpoint set",
	"disassemble",
	"expression",
	"frame info",
	"frame select",
	"frame variable",
	"memory read",
	"process continue",
	"process status",
	"register read",
	"source info",
	"source list",
	"target modules list",
	"target modules lookup",
	"target modules dump line-table",
	"target modules dump symtab",
	"thread backtrace",
	"thread continue",
	"thread info",
	"thread list",
	"thread select",
	"thread step-in",
	"thread step-inst",
	"thread step-inst-over",
	"thread step-out",
	"thread step-over",
	"thread until",
};

/// LLDB is about to run one of them.
bool before_command(void *baton, const char **)
{
	if (std::shared_ptr<Session> session = static_cast<std::weak_ptr<Session> *>(baton)->lock())
		session->look_at_code();
	return false; // LLDB runs it
}

/// LLDB tells no plug-in that it opens a core, so the code is looked for in front of each command that needs it.
void watch_commands(lldb::SBCommandInterpreter &interpreter,
		    const std::shared_ptr<Session> &session)
{
	// As long as LLDB's own commands, which nobody can delete.
	auto *baton = new std::weak_ptr<Session>(session);
	for (const char *name : commands_about_code)
		interpreter.SetCommandOverrideCallback(name, before_command, baton);
}

} // namespace

bool lldb::PluginInitialize(SBDebugger debugger)
{
	hd_error err;
	std::shared_ptr<Session> session = Session::create(debugger.GetID(), err);
	if (!session) {
		if (err.status != HD_OK)
			report(debugger, err.message);
		return err.status == HD_OK; // loaded already
	}
	SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
	if (is_taken(interpreter, prefix)) {
		report(debugger, "there is a command \"heapdump\" already; nothing was registered");
		return false;
	}
	const TopLevelNames names = test_names(interpreter);
	// LLDB shows the first line of it in lists.
	const std::string help =
		"Look at managed heaps: of LLDB's own core or process, or \"heapdump open FILE\" "
		"first.  " +
		prefixed_names(names.free);
	SBCommand multiword = interpreter.AddMultiwordCommand(prefix, help.c_str());
	if (!multiword.IsValid()) {
		report(debugger, "LLDB refused the command \"heapdump\"");
		return false;
	}
	register_commands(interpreter, multiword, session, names.free);
	report_taken(debugger, names.taken);
	watch_commands(interpreter, session);
	session->look_at_code();
	return true;
}
