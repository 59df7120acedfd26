// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_LLDB_SESSION_H
#define HEAPDUMP_LLDB_LLDB_SESSION_H

#include <lldb/API/LLDB.h>
#include <memory>
#include <mutex>

#include <heapdump/command.h>

#include "lldb_target.h"
#include "managed_code.h"
#include "values.h"

/// The core's session of one debugger; the debugger's commands keep it alive.
class Session
{
      public:
	/// Make a session for the debugger @p id.
	///
	/// @return nullptr when the debugger has one already, or on failure, which @p err tells
	/// (its status is HD_OK in the first case).
	static std::shared_ptr<Session> create(lldb::user_id_t id, hd_error &err);

	/// Find the session of the debugger @p id; nullptr: there is none.
	static std::shared_ptr<Session> find(lldb::user_id_t id);

	Session(lldb::user_id_t id, hd_session *handle);
	~Session();
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

	/// To be used with the lock() held: LLDB may run commands on several threads.
	hd_session *handle() const;
	Follower &follower();
	std::unique_lock<std::mutex> lock();

	/// Let LLDB know the managed code of its selected target.  The lock must not be held; while another thread holds it,
	/// nothing is done.
	///
	/// @return LLDB knows other code than before
	bool look_at_code(Purpose purpose);
	/// Let LLDB run a command about the selected frame, as it is now, and write its answer to where LLDB's own go.
	void run(const std::string &command);
	/// Let LLDB stop at @p breakpoint for the plug-in alone, which looks at new code there.
	void watch(lldb::SBTarget &target, lldb::SBBreakpoint &breakpoint);
	/// The summary of a value; false when nothing is known of it.  As for look_at_code(), without the lock.
	bool describe(lldb::SBValue &value, std::string &ret);

      private:
	/// LLDB calls it at each breakpoint of the plug-in's own; @p baton is the id of the debugger.
	static bool told(void *baton, lldb::SBProcess &process, lldb::SBThread &thread,
			 lldb::SBBreakpointLocation &place);

	lldb::user_id_t id_; ///< of the debugger
	hd_session *handle_;
	Follower follower_;
	ManagedCode code_;
	Values values_;
	std::mutex mutex_;
};

#endif
