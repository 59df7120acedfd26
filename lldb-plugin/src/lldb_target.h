// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_LLDB_TARGET_H
#define HEAPDUMP_LLDB_LLDB_TARGET_H

#include <lldb/API/LLDB.h>
#include <string>
#include <vector>

#include <heapdump/debugger.h>

#include "write_witness.h"

enum class Presence {
	none,
	running,
	stopped
};

Presence presence(lldb::SBProcess &process);

/// Read memory of a process; @return how many bytes could be read from its beginning on.
size_t read_memory(lldb::SBProcess &process, uint64_t address, void *buf, size_t size);

/// May the process be one of this machine?  That is compared before it is believed.
bool is_local(lldb::SBTarget &target, lldb::SBProcess &process);

/// A core does not change: LLDB refuses to write to one.
bool is_core(lldb::SBProcess &process);

/// Threads of a process.
struct Threads {
	size_t register_count = 0;
	std::vector<std::vector<uint64_t>> registers;
	std::vector<hd_debugger_thread> rows;
};

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

	/// Make @p session be about a process, for questions about its code only: without its threads.
	///
	/// @return false and @p message when that cannot be done
	bool open_code(lldb::SBDebugger &debugger, lldb::SBTarget &target, lldb::SBProcess &process,
		       hd_session *session, std::string &message);
	/// The same for one question at a breakpoint that is reached often: of a process of this machine the kernel is asked,
	/// so the code has LLDB's breakpoints in it.
	bool open_quickly(lldb::SBDebugger &debugger, lldb::SBTarget &target,
			  lldb::SBProcess &process, hd_session *session, std::string &message);

      private:
	bool follow_target(lldb::SBDebugger &debugger, hd_session *session, const hd_sink &sink,
			   std::string &message);
	bool open(lldb::SBDebugger &debugger, lldb::SBTarget &target, const Threads &threads,
		  hd_session *session, const hd_sink &sink, std::string &message);
	static size_t read(void *arg, uint64_t address, void *buf, size_t size);
	static size_t read_directly(void *arg, uint64_t address, void *buf, size_t size);

	lldb::SBProcess process_; ///< that read() asks
	bool is_quick_ = false;   ///< open() lets read_directly() read
	std::string key_;         ///< of what the session is about; "" = not of LLDB's
	WriteWitness writes_;     ///< to that, when it is a live process
	bool is_paused_ = false;
};

#endif
