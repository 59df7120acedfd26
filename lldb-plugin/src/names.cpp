// SPDX-License-Identifier: MIT
#include "names.h"

namespace
{

int append(void *arg, const char *text, size_t size)
{
	static_cast<std::string *>(arg)->append(text, size);
	return 0;
}

} // namespace

bool is_taken(lldb::SBCommandInterpreter interpreter, const std::string &name)
{
	// CommandExists() sees built-in commands only (doc/debuggers.md 3).
	lldb::SBCommandReturnObject result;
	interpreter.HandleCommand(("help " + name).c_str(), result, false);
	return result.Succeeded();
}

TopLevelNames test_names(lldb::SBCommandInterpreter interpreter)
{
	TopLevelNames names;
	struct hd_command_info info;
	for (size_t i = 0; hd_command_at(i, &info) == 0; i++) {
		if (!info.is_top_level)
			continue;
		(is_taken(interpreter, info.name) ? names.taken : names.free).push_back(info.name);
		// A second name that LLDB has is a short word that its users mean.
		if (info.alias && !is_taken(interpreter, info.alias))
			names.free.push_back(info.alias);
	}
	return names;
}

Help command_help(const struct hd_command_info &info)
{
	std::string text;
	hd_sink sink = {};
	sink.struct_size = sizeof(sink);
	sink.arg = &text;
	sink.write = append;
	Help help = { std::string(info.summary) + ".", info.name };
	if (hd_command_help(info.name, &sink, nullptr) != HD_OK)
		return help;
	const size_t end = text.find("\n\n");
	if (end == std::string::npos)
		return help;
	// LLDB prints "Syntax: " itself, where the text says "Usage: ".
	const std::string usage = "Usage: ";
	help.summary = text.substr(0, end);
	help.syntax = text.substr(end + 2);
	if (help.syntax.compare(0, usage.size(), usage) == 0)
		help.syntax.erase(0, usage.size());
	return help;
}
