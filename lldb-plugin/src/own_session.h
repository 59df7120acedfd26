// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_OWN_SESSION_H
#define HEAPDUMP_LLDB_OWN_SESSION_H

#include <heapdump/command.h>

#include "lldb_target.h"

/// A session besides that of the commands, so that commands still say what they find when they open the target.
class OwnSession
{
      public:
	/// @param settings the session whose settings count
	explicit OwnSession(hd_session *settings);
	~OwnSession();
	OwnSession(const OwnSession &) = delete;
	OwnSession &operator=(const OwnSession &) = delete;

	/// nullptr when there was no memory for it.
	hd_session *handle() const
	{
		return handle_;
	}
	Follower &follower()
	{
		return follower_;
	}

      private:
	Follower follower_; // it reads for the session
	hd_session *handle_ = nullptr;
};

/// Tells nothing, and ends what runs by Ctrl-C.
hd_sink quiet_sink();

/// Is LLDB to know managed code?
bool is_code_wanted(hd_session *settings);

#endif
