// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_NAMES_H
#define HEAPDUMP_LLDB_NAMES_H

#include <lldb/API/LLDB.h>
#include <string>
#include <vector>

#include <heapdump/command.h>

/// Names, and second names, that are offered without the prefix.
struct TopLevelNames {
	std::vector<std::string> free;
	std::vector<std::string> taken; ///< by another plug-in, a script or an alias
};

/// Whether LLDB knows a command @p name, or takes it as the abbreviation of one.
bool is_taken(lldb::SBCommandInterpreter interpreter, const std::string &name);

/// Test all names; to be called before the first is registered.
TopLevelNames test_names(lldb::SBCommandInterpreter interpreter);

/// Help of a command in LLDB's two parts: the first line, and the rest.
struct Help {
	std::string summary;
	std::string syntax;
};

Help command_help(const struct hd_command_info &info);

#endif
