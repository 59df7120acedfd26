// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_LLDB_TARGET_H
#define HEAPDUMP_LLDB_LLDB_TARGET_H

#include <lldb/API/LLDB.h>
#include <string>
#include <vector>

#include <heapdump/debugger.h>

#include "write_witness.h"

/// A core does not change: LLDB refuses to write to one.
bool is_core(lldb::SBProcess &process);

/// LLDB's own core or process: what a session is about unless the user opened a file.
class Follower
{
      public:
	/// Make @p session be about what @p debugger has selected now.
	///
	/// @return false and @p message when that cannot be done
	bool follow(lldb::SBDebugger &debugger, hd_session *session, const hd_sink &sink,
		    std::string &message);

	/// A file was opened: what LLDB debugs does not matter until it is closed.
	void pause();
	/// Nothing is open.
	void resume();

      private:
	bool follow_target(lldb::SBDebugger &debugger, hd_session *session, const hd_sink &sink,
			   std::string &message);
	bool open(lldb::SBDebugger &debugger, lldb::SBTarget &target, hd_session *session,
		  const hd_sink &sink, std::string &message);
	static size_t read(void *arg, uint64_t address, void *buf, size_t size);

	lldb::SBProcess process_; ///< that read() asks
	std::string key_;         ///< of what the session is about; "" = not of LLDB's
	WriteWitness writes_;     ///< to that, when it is a live process
	bool is_paused_ = false;
};

#endif
