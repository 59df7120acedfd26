// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_VALUES_H
#define HEAPDUMP_LLDB_VALUES_H

#include <lldb/API/LLDB.h>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "own_session.h"

/// Says what objects and structs of .NET are: summaries for LLDB (doc/managed-elf.md 12).
class Values
{
      public:
	/// Let LLDB ask for the summaries of managed types; the category is "dotnet".
	static void watch(lldb::SBDebugger &debugger);

	/// The summary of a value; false when nothing is known of it.
	///
	/// @param settings the session whose settings count
	bool describe(lldb::SBValue &value, hd_session *settings, std::string &ret);

      private:
	bool open(lldb::SBTarget target, hd_session *settings);
	bool describe_object(uint64_t object, const std::string &type, std::string &ret);
	bool describe_nullable(lldb::SBValue &value, std::string &ret);
	bool describe_struct(lldb::SBValue &value, const std::string &type, std::string &ret);

	std::unique_ptr<OwnSession> session_; ///< about the process at that stop
	uint32_t process_ = 0, stop_ = 0;
	std::map<std::string, std::string>
		tables_;              ///< MethodTables of structs, by name; "" = not known
	std::set<std::string> plain_; ///< MethodTables of objects of which nothing more is known
};

#endif
