// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_WRITE_WITNESS_H
#define HEAPDUMP_LLDB_WRITE_WITNESS_H

#include <lldb/API/LLDB.h>
#include <string>

/// Knows whether LLDB has written to the memory of a process (doc/debuggers.md 1.3).
class WriteWitness
{
      public:
	/// From now on writes to the memory of @p process are noticed.
	void begin(lldb::SBDebugger &debugger, lldb::SBTarget &target, lldb::SBProcess &process);

	/// May something have been written since begin()?  True also when that is not known; false
	/// after end().
	bool may_have_written();

	void end();

      private:
	bool has_begun_ = false;
	lldb::SBValue value_;
	std::string summary_; ///< that LLDB keeps for the value; "" = not known
};

#endif
