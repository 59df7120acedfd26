// SPDX-License-Identifier: MIT
// Registers the core's command table in the debugger that loads the plug-in.
#include <algorithm>
#include <cstdio>

#include "debugger_commands.h"
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

/// A command whose answer depends on code.  The others that LLDB has for them, as bt, up and b, run one of these.
struct CommandAboutCode {
	const char *name;
	Purpose purpose;
	bool has_frame; ///< LLDB has looked for the frame already when the command is about to run
};

constexpr CommandAboutCode commands_about_code[] = {
	{ "breakpoint list", Purpose::answer, false },
	{ "breakpoint set", Purpose::breaks, false },
	{ "disassemble", Purpose::answer, true },
	{ "expression", Purpose::answer, true },
	{ "frame info", Purpose::answer, true },
	{ "frame select", Purpose::answer, false },
	{ "frame variable", Purpose::answer, true },
	{ "memory read", Purpose::answer, false },
	{ "process continue", Purpose::runs, false },
	{ "process detach", Purpose::leaves, false },
	{ "process status", Purpose::answer, false },
	{ "register read", Purpose::answer, true },
	{ "source info", Purpose::answer, true },
	{ "source list", Purpose::answer, true },
	{ "target modules dump line-table", Purpose::answer, false },
	{ "target modules dump symtab", Purpose::answer, false },
	{ "target modules list", Purpose::answer, false },
	{ "target modules lookup", Purpose::answer, false },
	{ "thread backtrace", Purpose::answer, false },
	{ "thread continue", Purpose::runs, false },
	{ "thread info", Purpose::answer, false },
	{ "thread list", Purpose::answer, false },
	{ "thread select", Purpose::answer, false },
	{ "thread step-in", Purpose::enters, false },
	{ "thread step-inst", Purpose::runs, false },
	{ "thread step-inst-over", Purpose::steps, false },
	{ "thread step-out", Purpose::steps, false },
	{ "thread step-over", Purpose::passes, false },
	{ "thread until", Purpose::steps, false },
};

/// LLDB hands it to before_command().
struct Watch {
	std::weak_ptr<Session> session;
	CommandAboutCode command;
};

/// A command line of words, of which the first is the name; that of a command without words is one word.
std::string line_of(const char **words)
{
	std::string line = *words;
	while (*++words) {
		line += " \"";
		for (const char *at = *words; *at; at++) {
			if (*at == '"' || *at == '\\' || *at == '`')
				line += '\\';
			line += *at;
		}
		line += '"';
	}
	return line;
}

/// LLDB is about to run one of them.
bool before_command(void *baton, const char **words)
{
	const auto *watch = static_cast<const Watch *>(baton);
	std::shared_ptr<Session> session = watch->session.lock();
	if (!session || !session->look_at_code(watch->command.purpose) ||
	    !watch->command.has_frame || !words || !*words)
		return false; // LLDB runs it
	// The frame that it was about is gone: it has to find it again.
	session->run(line_of(words));
	return true;
}

/// LLDB tells no plug-in in time that it opens a core, so the code is looked for in front of each command that needs it.
void watch_commands(lldb::SBCommandInterpreter &interpreter,
		    const std::shared_ptr<Session> &session)
{
	// These live as long as LLDB's own commands, which nobody can delete.
	for (const CommandAboutCode &command : commands_about_code)
		interpreter.SetCommandOverrideCallback(command.name, before_command,
						       new Watch{ session, command });
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
	multiword.AddCommand(RunCommand::name, new RunCommand(session), RunCommand::help,
			     RunCommand::syntax, "");
	multiword.AddCommand(BpmdCommand::name, new BpmdCommand(session), BpmdCommand::help,
			     BpmdCommand::syntax, "");
	if (!is_taken(interpreter, BpmdCommand::name))
		interpreter.AddCommand(BpmdCommand::name, new BpmdCommand(session),
				       BpmdCommand::help, BpmdCommand::syntax, "");
	watch_commands(interpreter, session);
	Values::watch(debugger);
	session->look_at_code(Purpose::answer);
	return true;
}
