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

/// The plug-in is at work on this thread, and lets the process call a function.
static thread_local bool is_at_work;

bool Session::look_at_code(Purpose purpose)
{
	const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
	if (!lock.owns_lock())
		return false;
	lldb::SBDebugger debugger = lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(id_));
	is_at_work = true;
	const bool is_changed = debugger.IsValid() && code_.look(debugger, handle_, purpose, told,
								 reinterpret_cast<void *>(id_));
	is_at_work = false;
	return is_changed;
}

void Session::run(const std::string &command)
{
	lldb::SBDebugger debugger = lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(id_));
	lldb::SBCommandReturnObject result;
	lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
	lldb::SBExecutionContext context(process.GetSelectedThread().GetSelectedFrame());
	debugger.GetCommandInterpreter().HandleCommand(command.c_str(), context, result);
	FILE *output = debugger.GetOutputFileHandle(), *error = debugger.GetErrorFileHandle();
	result.PutOutput(output ? output : stdout);
	result.PutError(error ? error : stderr);
}

bool Session::told(void *baton, lldb::SBProcess &process, lldb::SBThread &thread,
		   lldb::SBBreakpointLocation &place)
{
	const auto id = reinterpret_cast<lldb::user_id_t>(baton);
	std::shared_ptr<Session> session = find(id);
	lldb::SBDebugger debugger = process.GetTarget().GetDebugger();
	if (!session || is_at_work || !debugger.IsValid())
		return false;
	const std::unique_lock<std::mutex> lock(session->mutex_);
	is_at_work = true;
	const bool must_stop =
		session->code_.reached(debugger, session->handle_, thread, place, told, baton);
	is_at_work = false;
	return must_stop;
}

void Session::watch(lldb::SBTarget &target, lldb::SBBreakpoint &breakpoint)
{
	make_own(target, breakpoint, told, reinterpret_cast<void *>(id_));
}

bool Session::describe(lldb::SBValue &value, std::string &ret)
{
	const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
	return lock.owns_lock() && values_.describe(value, handle_, ret);
}
