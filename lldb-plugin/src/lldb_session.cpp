// SPDX-License-Identifier: MIT
#include "lldb_session.h"

#include <map>

namespace
{

/// Several debuggers may live in one process.  The ids are never used again.
struct Sessions {
	std::mutex mutex;
	std::map<lldb::user_id_t, std::weak_ptr<Session>> rows;
};

Sessions &all_sessions()
{
	static Sessions sessions;
	return sessions;
}

} // namespace

std::shared_ptr<Session> Session::find(lldb::user_id_t id)
{
	Sessions &sessions = all_sessions();
	std::lock_guard<std::mutex> guard(sessions.mutex);
	const auto found = sessions.rows.find(id);
	return found == sessions.rows.end() ? nullptr : found->second.lock();
}

std::shared_ptr<Session> Session::create(lldb::user_id_t id, hd_error &err)
{
	Sessions &sessions = all_sessions();
	std::lock_guard<std::mutex> guard(sessions.mutex);
	err.status = HD_OK;
	std::weak_ptr<Session> &known = sessions.rows[id];
	if (!known.expired())
		return nullptr;
	hd_session *handle = nullptr;
	if (hd_session_create(&handle, &err) != HD_OK)
		return nullptr;
	auto session = std::make_shared<Session>(id, handle);
	known = session;
	return session;
}

Session::Session(lldb::user_id_t id, hd_session *handle) : id_(id), handle_(handle)
{
}

Session::~Session()
{
	hd_session_destroy(handle_);
}

hd_session *Session::handle() const
{
	return handle_;
}

Follower &Session::follower()
{
	return follower_;
}

std::unique_lock<std::mutex> Session::lock()
{
	return std::unique_lock<std::mutex>(mutex_);
}

void Session::look_at_code(bool will_break)
{
	const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
	if (!lock.owns_lock())
		return;
	lldb::SBDebugger debugger = lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(id_));
	if (debugger.IsValid())
		code_.look(debugger, handle_, will_break);
}

bool Session::describe(lldb::SBValue &value, std::string &ret)
{
	const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
	return lock.owns_lock() && values_.describe(value, handle_, ret);
}
