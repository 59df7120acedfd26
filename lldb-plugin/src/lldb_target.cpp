// SPDX-License-Identifier: MIT
#include "lldb_target.h"

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sys/uio.h>

#include "core_file.h"

namespace
{

// No processor has a smaller page.
constexpr uint64_t smallest_page = 4096;

std::string path_of(const lldb::SBFileSpec &file)
{
	char buf[PATH_MAX];
	return file.IsValid() && file.GetPath(buf, sizeof(buf)) ? buf : "";
}

bool is_plugin(lldb::SBProcess &process, const char *name)
{
	const char *plugin = process.GetPluginName();
	return plugin && std::strcmp(plugin, name) == 0;
}

/// The path after -c or --core in the command line of this LLDB.
std::string core_of_command_line()
{
	std::ifstream file("/proc/self/cmdline", std::ios::binary);
	std::string word, before;
	const std::string option = "--core=";
	while (std::getline(file, word, '\0')) {
		if (before == "-c" || before == "--core")
			return word;
		if (word.compare(0, option.size(), option) == 0)
			return word.substr(option.size());
		before = word;
	}
	return "";
}

/// Path of the core file of @p process, or "" when LLDB does not tell (doc/debuggers.md 3).
std::string core_path(lldb::SBDebugger &debugger, lldb::SBTarget &target, lldb::SBProcess &process)
{
	// Not in LLDB 14: found by name where there is one, as the C++ ABI mangles it.
	using CoreFile = lldb::SBFileSpec (*)(lldb::SBProcess *);
	void *symbol = dlsym(RTLD_DEFAULT, "_ZN4lldb9SBProcess11GetCoreFileEv");
	if (symbol)
		return path_of(reinterpret_cast<CoreFile>(symbol)(&process));
	// However it was opened: by "target create --core", a debug adapter, or the command line.
	const std::string mapped = mapped_core(process);
	if (!mapped.empty())
		return mapped;
	return debugger.GetIndexOfTarget(target) == 0 ? core_of_command_line() : "";
}

} // namespace

bool is_local(lldb::SBTarget &target, lldb::SBProcess &process)
{
	const char *platform = target.GetPlatform().GetName();
	return is_plugin(process, "gdb-remote") && platform && std::strcmp(platform, "host") == 0;
}

bool is_core(lldb::SBProcess &process)
{
	return is_plugin(process, "elf-core");
}

Presence presence(lldb::SBProcess &process)
{
	if (!process.IsValid())
		return Presence::none;
	switch (process.GetState()) {
	case lldb::eStateStopped:
	case lldb::eStateCrashed:
	case lldb::eStateSuspended:
		return Presence::stopped;
	case lldb::eStateRunning:
	case lldb::eStateStepping:
	case lldb::eStateAttaching:
	case lldb::eStateLaunching:
		return Presence::running;
	default:
		return Presence::none;
	}
}

size_t read_memory(lldb::SBProcess &process, uint64_t address, void *buf, size_t size)
{
	lldb::SBError error;
	size_t done = process.ReadMemory(address, buf, size, error);
	if (done > size)
		return 0;
	// It may be all or nothing: page by page, what comes before a hole.
	while (done < size) {
		const uint64_t at = address + done;
		const size_t to_page = static_cast<size_t>(smallest_page - at % smallest_page);
		const size_t piece = to_page < size - done ? to_page : size - done;
		const size_t got =
			process.ReadMemory(at, static_cast<char *>(buf) + done, piece, error);
		if (!got || got > piece)
			break;
		done += got;
	}
	return done;
}

namespace
{

struct Modules {
	std::vector<std::string> paths;
	std::vector<hd_debugger_module> rows;
};

Modules list_modules(lldb::SBTarget &target)
{
	Modules modules;
	for (uint32_t i = 0; i < target.GetNumModules(); i++) {
		lldb::SBModule module = target.GetModuleAtIndex(i);
		const uint64_t base = module.GetObjectFileHeaderAddress().GetLoadAddress(target);
		if (base == LLDB_INVALID_ADDRESS)
			continue;
		modules.paths.push_back(path_of(module.GetFileSpec()));
		modules.rows.push_back({ nullptr, base });
	}
	for (size_t i = 0; i < modules.rows.size(); i++)
		modules.rows[i].path = modules.paths[i].c_str();
	return modules;
}

/// The processor of @p target, as LLDB names it.
std::string processor_of(lldb::SBTarget &target)
{
	const char *triple = target.GetTriple();
	const std::string name = triple ? triple : "";
	return name.substr(0, name.find('-'));
}

/// The registers with these names; none when one of them is not known.
std::vector<uint64_t> read_registers(lldb::SBFrame &frame, const char *const *names, size_t count)
{
	std::vector<uint64_t> values;
	for (size_t i = 0; frame.IsValid() && i < count; i++) {
		lldb::SBError error;
		lldb::SBValue value = frame.FindRegister(names[i]);
		const uint64_t number = value.GetValueAsUnsigned(error);
		if (!value.IsValid() || !error.Success())
			return {};
		values.push_back(number);
	}
	return values;
}

/// Each thread, with the registers of its innermost frame if LLDB knows them.
Threads list_threads(lldb::SBProcess &process, const std::string &processor)
{
	Threads threads;
	const char *const *names =
		hd_debugger_registers(processor.c_str(), &threads.register_count);
	for (uint32_t i = 0; i < process.GetNumThreads(); i++) {
		lldb::SBThread thread = process.GetThreadAtIndex(i);
		lldb::SBFrame frame = thread.GetFrameAtIndex(0);
		hd_debugger_thread row = {};
		row.tid = static_cast<int32_t>(thread.GetThreadID());
		row.number = thread.GetIndexID();
		threads.rows.push_back(row);
		threads.registers.push_back(read_registers(frame, names, threads.register_count));
	}
	for (size_t i = 0; i < threads.rows.size(); i++) {
		if (!threads.registers[i].empty())
			threads.rows[i].registers = threads.registers[i].data();
	}
	return threads;
}

/// A text that differs between two states of a target, and between two targets, but for what
/// WriteWitness knows.
std::string key_of(lldb::SBTarget &target, lldb::SBProcess &process, hd_session *session)
{
	std::string key = std::to_string(process.GetUniqueID()) + " " +
			  std::to_string(process.GetProcessID()) + " " +
			  std::to_string(process.GetStopID(true));
	for (const char *name : { "backend", "files", "trust-files", "sysroot", "runtime" }) {
		char value[HD_SETTING_SIZE];
		key += "\n";
		if (hd_session_get(session, name, value, sizeof(value), nullptr) == HD_OK)
			key += value;
	}
	if (is_core(process))
		return key;
	// LLDB tells nobody that it has written to one.
	for (const std::vector<uint64_t> &row :
	     list_threads(process, processor_of(target)).registers) {
		key += "\n";
		for (uint64_t value : row)
			key += " " + std::to_string(value);
	}
	return key;
}

} // namespace

size_t Follower::read(void *arg, uint64_t address, void *buf, size_t size)
{
	return read_memory(static_cast<Follower *>(arg)->process_, address, buf, size);
}

size_t Follower::read_directly(void *arg, uint64_t address, void *buf, size_t size)
{
	auto *follower = static_cast<Follower *>(arg);
	const iovec here = { buf, size };
	const iovec there = { reinterpret_cast<void *>(address), size };
	const auto pid = static_cast<pid_t>(follower->process_.GetProcessID());
	const ssize_t done = process_vm_readv(pid, &here, 1, &there, 1, 0);
	if (done < 0 && errno != EFAULT) // it is forbidden
		return read_memory(follower->process_, address, buf, size);
	return done < 0 ? 0 : static_cast<size_t>(done);
}

bool Follower::open_quickly(lldb::SBDebugger &debugger, lldb::SBTarget &target,
			    lldb::SBProcess &process, hd_session *session, std::string &message)
{
	if (hd_session_set(session, "backend", "debugger", nullptr) != HD_OK)
		return false;
	is_quick_ = is_local(target, process);
	const bool is_open = open_code(debugger, target, process, session, message);
	is_quick_ = false;
	return is_open;
}

bool Follower::open_code(lldb::SBDebugger &debugger, lldb::SBTarget &target,
			 lldb::SBProcess &process, hd_session *session, std::string &message)
{
	hd_sink sink = {};
	sink.struct_size = sizeof(sink);
	process_ = process;
	return open(debugger, target, Threads(), session, sink, message);
}

bool Follower::open(lldb::SBDebugger &debugger, lldb::SBTarget &target, const Threads &threads,
		    hd_session *session, const hd_sink &sink, std::string &message)
{
	const bool has_core = is_core(process_);
	const std::string core = has_core ? core_path(debugger, target, process_) : "";
	const Modules modules = list_modules(target);
	const std::string processor = processor_of(target);
	lldb::SBThread thread = process_.GetSelectedThread();
	if (!thread.IsValid())
		thread = process_.GetThreadAtIndex(0);
	const uint64_t stack = thread.IsValid() ? thread.GetFrameAtIndex(0).GetSP() : 0;
	hd_debugger with = {};
	with.struct_size = sizeof(with);
	with.arg = this;
	with.read = is_quick_ ? read_directly : read;
	with.core = core.empty() ? nullptr : core.c_str();
	with.pid = static_cast<int32_t>(process_.GetProcessID());
	with.is_local = is_local(target, process_);
	with.stack_pointer = stack == LLDB_INVALID_ADDRESS ? 0 : stack;
	with.modules = modules.rows.data();
	with.module_count = modules.rows.size();
	with.threads = threads.rows.data();
	with.thread_count = threads.rows.size();
	with.processor = processor.c_str();
	with.register_count = threads.register_count;
	with.is_core = has_core;
	hd_error err = {};
	if (hd_session_debugger(session, &with, &sink, &err) == HD_OK)
		return true;
	message = err.message;
	return false;
}

bool Follower::follow(lldb::SBDebugger &debugger, hd_session *session, const hd_sink &sink,
		      std::string &message)
{
	if (is_paused_)
		return true;
	if (!follow_target(debugger, session, sink, message))
		return false;
	// Selecting another thread changes nothing else.
	lldb::SBThread thread = process_.GetSelectedThread();
	const bool has_one = !key_.empty() && thread.IsValid();
	hd_session_thread(session, has_one ? static_cast<int32_t>(thread.GetThreadID()) : 0);
	return true;
}

bool Follower::follow_target(lldb::SBDebugger &debugger, hd_session *session, const hd_sink &sink,
			     std::string &message)
{
	lldb::SBTarget target = debugger.GetSelectedTarget();
	lldb::SBProcess process = target.GetProcess();
	const Presence state = presence(process);
	std::string key;
	if (state == Presence::stopped)
		key = key_of(target, process, session);
	if (key == key_ && state != Presence::running && !writes_.may_have_written())
		return true;
	if (!key_.empty())
		hd_session_close(session);
	key_.clear();
	writes_.end();
	process_ = process;
	if (state == Presence::none)
		return true;
	if (state == Presence::running) {
		message = "the process is running: stop it first (process interrupt)";
		return false;
	}
	if (!is_core(process))
		writes_.begin(debugger, target, process);
	const Threads threads = list_threads(process, processor_of(target));
	if (!open(debugger, target, threads, session, sink, message))
		return false;
	key_ = key;
	return true;
}

void Follower::pause()
{
	is_paused_ = true;
	key_.clear();
}

void Follower::resume()
{
	is_paused_ = false;
	key_.clear();
}
