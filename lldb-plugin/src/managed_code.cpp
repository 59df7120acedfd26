// SPDX-License-Identifier: MIT
#include "managed_code.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include <heapdump/answer.h>

#include "code_file.h"
#include "own_session.h"
#include "writable_code.h"

namespace
{

size_t read_now(void *process, uint64_t address, void *buf, size_t size)
{
	return read_memory(*static_cast<lldb::SBProcess *>(process), address, buf, size);
}

/// The version of .NET; "" if it is not known.
std::string version_of(hd_session *session)
{
	const char *argv[] = { "eeversion" };
	const hd_sink sink = quiet_sink();
	hd_rows *rows = nullptr;
	std::string version;
	if (hd_rows_run(session, 1, argv, &sink, &rows, nullptr) <= HD_EXIT_FINDINGS) {
		const hd_value *value = hd_rows_member(rows, "runtime");
		char text[256];
		if (value && value->text)
			version.assign(text,
				       hd_escape(value->text, value->size, text, sizeof(text)));
	}
	hd_rows_free(rows);
	return version;
}

void remove_module(lldb::SBTarget &target, lldb::SBModule &module)
{
	if (!module.IsValid() || !target.IsValid())
		return;
	// This makes LLDB find the frames of its threads again.
	(void)target.ClearModuleLoadAddress(module);
	(void)target.RemoveModule(module);
}

/// Let @p target have the file; an invalid module when it does not take it.
lldb::SBModule add_module(lldb::SBTarget &target, const CodeFile &file)
{
	lldb::SBModule module = target.AddModule(file.path(), nullptr, nullptr);
	if (!module.IsValid() || target.SetModuleLoadAddress(module, 0).Success())
		return module;
	(void)target.RemoveModule(module);
	return lldb::SBModule();
}

void say(FILE *stream, FILE *otherwise, const std::string &line)
{
	stream = stream ? stream : otherwise;
	std::fprintf(stream, "heapdump: %s\n", line.c_str());
	std::fflush(stream);
}

} // namespace

void ManagedCode::forget(bool all)
{
	for (size_t i = known_.size(); i-- > 0;) {
		Known &known = *known_[i];
		lldb::SBProcess process = known.target.GetProcess();
		if (!all && process.GetUniqueID() == known.id &&
		    presence(process) != Presence::none)
			continue;
		if (known.target.IsValid()) {
			known.publication.end(known.target);
			known.steps.end(known.target);
		}
		for (File &file : known.files)
			remove_module(known.target, file.module);
		known_.erase(known_.begin() + static_cast<ptrdiff_t>(i));
	}
}

ManagedCode::Known &ManagedCode::known_of(lldb::SBTarget &target, lldb::SBProcess &process)
{
	for (const std::unique_ptr<Known> &known : known_) {
		if (known->id == process.GetUniqueID())
			return *known;
	}
	known_.push_back(std::make_unique<Known>());
	Known &known = *known_.back();
	known.target = target;
	known.process = process;
	known.id = process.GetUniqueID();
	return known;
}

bool ManagedCode::take(Known &known, const CodeFile &file, const hd_code_change &change)
{
	// First: LLDB 14 forgets what is loaded at an address when it unloads what was there before.
	for (size_t i = known.files.size(); i-- > 0;) {
		const uint32_t *end = change.gone + change.gone_count;
		if (!std::binary_search(change.gone, end, known.files[i].number))
			continue;
		remove_module(known.target, known.files[i].module);
		known.files.erase(known.files.begin() + static_cast<ptrdiff_t>(i));
	}
	if (!change.file)
		return true;
	known.files.push_back({ change.file, add_module(known.target, file) });
	return known.files.back().module.IsValid();
}

bool ManagedCode::update(lldb::SBDebugger &debugger, hd_session *settings, Known &known)
{
	const bool is_first = known.files.empty();
	if (has_own_names(known.target)) {
		if (!known.has_own_names)
			say(debugger.GetOutputFileHandle(), stdout,
			    ".NET compiled ahead of time: bt, frame and breakpoint know its methods by the program's own "
			    "symbols; also clrstack, hang, report, help heapdump");
		known.has_own_names = true;
		return false;
	}
	OwnSession session(settings);
	CodeFile file("managed");
	hd_error err = {};
	hd_sink sink = quiet_sink();
	sink.arg = &file;
	sink.write = CodeFile::write;
	sink.binary = 1;
	hd_code_change change = {};
	change.struct_size = sizeof(change);
	std::string message = "there is no memory for it";
	bool is_done = session.handle() && file.is_open() &&
		       (known.code || hd_code_create(&known.code, &err) == HD_OK) &&
		       session.follower().open_code(debugger, known.target, known.process,
						    session.handle(), message);
	if (is_done) {
		is_done =
			hd_code_update(known.code, session.handle(), &sink, &change, &err) == HD_OK;
		message = err.message;
	}
	if (is_done) {
		is_done = take(known, file, change);
		message = "LLDB does not take the file";
	}
	// The runtime of a process may not have begun yet.  LLDB does not know the files of a core of another machine: only
	// reading it tells whether it is of .NET.
	const bool is_sure = is_core(known.process) ? runtime_module(known.target).IsValid()
						    : err.status != HD_ERR_UNSUPPORTED;
	if (!is_done && is_sure && !known.has_failed) {
		known.has_failed = true;
		say(debugger.GetErrorFileHandle(), stderr,
		    "LLDB does not know the managed code: " + message);
	}
	if (is_first && !known.files.empty() && known.files[0].module.IsValid())
		say(debugger.GetOutputFileHandle(), stdout,
		    ".NET " + version_of(session.handle()) +
			    ": bt, frame and breakpoint know its methods; also clrstack, hang, report, help heapdump");
	return is_done && (change.file || change.gone_count);
}

bool ManagedCode::make_writable(lldb::SBDebugger &debugger, Known &known)
{
	std::string message;
	const bool is_first = !known.is_writable;
	const size_t count = make_code_writable(known.target, known.process, message);
	known.is_writable = true;
	if (!message.empty())
		say(debugger.GetErrorFileHandle(), stderr,
		    "breakpoints in managed code do not work: " + message);
	else if (count && is_first)
		say(debugger.GetOutputFileHandle(), stdout,
		    "code pages were made writable so that breakpoints work (W^X); they stay so until the process ends");
	return message.empty();
}

void ManagedCode::check(lldb::SBDebugger &debugger, hd_session *settings, Known &known)
{
	std::unique_ptr<OwnSession> session;
	const auto open = [&]() -> hd_session * {
		std::string message;
		if (session)
			return session->handle();
		session = std::make_unique<OwnSession>(settings);
		return session->handle() && session->follower().open_code(
						    debugger, known.target, known.process,
						    session->handle(), message)
			       ? session->handle()
			       : nullptr;
	};
	std::vector<std::string> lines;
	known.breakpoints.check(known.target, known.code, open, known.publication.has_begun(),
				lines);
	for (const std::string &line : lines)
		say(debugger.GetOutputFileHandle(), stdout, line);
}

bool ManagedCode::suspends(lldb::SBDebugger &debugger, hd_session *settings, Known &known,
			   uint64_t address)
{
	const uint64_t method = hd_code_method(known.code, address);
	const auto found = known.suspends.find(method);
	if (!method || found != known.suspends.end())
		return method && found->second;
	OwnSession session(settings);
	std::string message;
	hd_code_place place = {};
	place.struct_size = sizeof(place);
	const bool is_so = session.handle() &&
			   session.follower().open_quickly(debugger, known.target, known.process,
							   session.handle(), message) &&
			   hd_code_at(session.handle(), address, &place, nullptr) == HD_OK &&
			   place.suspends;
	known.suspends[method] = is_so;
	return is_so;
}

void ManagedCode::prepare(lldb::SBDebugger &debugger, hd_session *settings, Known &known,
			  Purpose purpose, lldb::SBBreakpointHitCallback told, void *baton)
{
	known.breakpoints.read(known.target, known.code);
	lldb::SBThread thread = known.process.GetSelectedThread();
	if (purpose == Purpose::enters || purpose == Purpose::passes) {
		known.steps.begin(thread, known.code, purpose == Purpose::enters);
		if (suspends(debugger, settings, known, thread.GetFrameAtIndex(0).GetPC()))
			known.steps.watch_return(known.target, thread, told, baton);
	} else {
		known.steps.clear();
	}
	if (!known.breakpoints.is_needed() && !known.steps.is_entering())
		known.publication.end(known.target);
	else if (!known.publication.has_begun())
		known.publication.begin(known.target, told, baton);
	check(debugger, settings, known);
}

/// The runtime's own signals are no reason to stop.
static void let_signals_pass(lldb::SBDebugger &debugger, lldb::SBProcess &process)
{
	lldb::SBUnixSignals signals = process.GetUnixSignals();
	for (const int number : { SIGUSR1, SIGUSR2, SIGPIPE }) {
		signals.SetShouldStop(number, false);
		signals.SetShouldNotify(number, false);
		signals.SetShouldSuppress(number, false);
	}
	say(debugger.GetOutputFileHandle(), stdout,
	    "signals of .NET pass without a stop: SIGUSR1 SIGUSR2 SIGPIPE");
}

bool ManagedCode::reached(lldb::SBDebugger &debugger, hd_session *settings, lldb::SBThread &thread,
			  lldb::SBBreakpointLocation &place, lldb::SBBreakpointHitCallback told,
			  void *baton)
{
	lldb::SBProcess process = thread.GetProcess();
	lldb::SBTarget target = process.GetTarget();
	if (!is_code_wanted(settings))
		return false;
	Known &known = known_of(target, process);
	if (known.steps.has_come_back(thread, place, known.code))
		return false;
	if (known.steps.has_reached(place))
		return true;
	const uint64_t address = known.publication.address(thread, place);
	if (!address) {
		// The runtime begins.
		prepare(debugger, settings, known, Purpose::runs, told, baton);
		return false;
	}
	const bool is_entered = known.steps.is_call(thread, known.code);
	if (known.code && hd_code_method(known.code, address)) {
		if (is_entered)
			known.steps.enter(target, thread, address, told, baton);
		return false;
	}
	known.breakpoints.read(target, known.code);
	if (!known.breakpoints.is_needed() && !is_entered)
		return false;
	OwnSession session(settings);
	std::string message;
	hd_code_place method = {};
	method.struct_size = sizeof(method);
	if (!session.handle() ||
	    !session.follower().open_quickly(debugger, target, process, session.handle(),
					     message) ||
	    hd_code_at(session.handle(), address, &method, nullptr) != HD_OK)
		return false;
	// Who steps sees lines.
	const bool is_step = is_entered && method.first_line;
	if (!is_step && !known.breakpoints.wants(session.handle(), method))
		return false;
	if (!make_writable(debugger, known))
		return true;
	update(debugger, settings, known);
	check(debugger, settings, known);
	if (is_step)
		known.steps.enter(target, thread, address, told, baton);
	return false;
}

bool ManagedCode::look(lldb::SBDebugger &debugger, hd_session *settings, Purpose purpose,
		       lldb::SBBreakpointHitCallback told, void *baton)
{
	const bool is_wanted = is_code_wanted(settings);
	forget(!is_wanted);
	lldb::SBTarget target = debugger.GetSelectedTarget();
	lldb::SBProcess process = target.GetProcess();
	if (!is_wanted || presence(process) != Presence::stopped)
		return false;
	Known &known = known_of(target, process);
	const uint32_t stop = process.GetStopID() + 1;
	const bool is_new = known.stop != stop;
	known.stop = stop;
	if (purpose == Purpose::leaves) {
		known.publication.end(target);
		known.steps.end(target);
		return false;
	}
	bool is_changed = false;
	hd_interrupt_begin();
	if (is_new && (is_core(process) || runtime_module(target).IsValid()) &&
	    (known.files.empty() || !hd_code_is_current(known.code, read_now, &known.process)))
		is_changed = update(debugger, settings, known);
	if (is_new) {
		const std::string method = known.steps.stopped(target, process, told, baton);
		if (!method.empty())
			say(debugger.GetOutputFileHandle(), stdout,
			    method +
				    " waits in its await: continue stops where it, or another call of it, goes on");
	}
	const bool steps = purpose == Purpose::enters || purpose == Purpose::passes ||
			   purpose == Purpose::steps;
	const bool runs = steps || purpose == Purpose::runs;
	const bool will_break = steps || purpose == Purpose::breaks;
	if (!is_core(process) && !known.files.empty()) {
		if (!known.has_signals)
			let_signals_pass(debugger, process);
		known.has_signals = true;
		if (known.is_writable ? is_new : will_break)
			make_writable(debugger, known);
		if (runs)
			prepare(debugger, settings, known, purpose, told, baton);
	}
	hd_interrupt_end();
	return is_changed;
}
