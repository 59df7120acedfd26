// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_MANAGED_CODE_H
#define HEAPDUMP_LLDB_MANAGED_CODE_H

#include <cstdint>
#include <lldb/API/LLDB.h>
#include <string>
#include <vector>

#include <heapdump/command.h>

/// Gives LLDB the managed code of cores: a symbol file in memory (doc/managed-elf.md 6).
class ManagedCode
{
      public:
	/// Make sure that LLDB knows the code of the core that @p debugger has selected.
	///
	/// @param settings the session whose settings count
	void look(lldb::SBDebugger &debugger, hd_session *settings);

      private:
	/// A process of LLDB's that was looked at.
	struct Known {
		lldb::SBTarget target;
		uint32_t process;
		lldb::SBModule module; ///< not valid: it has no managed code
	};

	/// Take out the code of processes that are gone; @p all: of the others, too.
	void forget(bool all);
	void load(lldb::SBDebugger &debugger, hd_session *settings, Known &known, bool is_sure);

	std::vector<Known> known_;
};

#endif
