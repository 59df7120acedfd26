// SPDX-License-Identifier: MIT
#include "managed_code.h"

#include <cstdio>
#include <cstring>

#include <heapdump/answer.h>

#include "code_file.h"
#include "lldb_target.h"

namespace
{

/// The session that reads a core, so that commands still say what they find when they open it.
class OwnSession
{
      public:
	explicit OwnSession(hd_session *settings)
	{
		if (hd_session_create(&handle_, nullptr) != HD_OK)
			return;
		for (const char *name : { "max-mem", "workers", "sysroot", "symbols", "files",
					  "trust-files", "backend" }) {
			char value[HD_SETTING_SIZE];
			if (hd_session_get(settings, name, value, sizeof(value), nullptr) == HD_OK)
				(void)!hd_session_set(handle_, name, value, nullptr);
		}
	}
	~OwnSession()
	{
		hd_session_destroy(handle_);
	}
	OwnSession(const OwnSession &) = delete;
	OwnSession &operator=(const OwnSession &) = delete;

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

int cancelled(void *)
{
	return hd_interrupted();
}

hd_sink quiet_sink()
{
	hd_sink sink = {};
	sink.struct_size = sizeof(sink);
	sink.cancelled = cancelled;
	return sink;
}

bool is_on(hd_session *settings)
{
	char value[HD_SETTING_SIZE];
	return hd_session_get(settings, "code", value, sizeof(value), nullptr) == HD_OK &&
	       std::strcmp(value, "on") == 0;
}

bool has_runtime(lldb::SBTarget &target)
{
	for (uint32_t i = 0; i < target.GetNumModules(); i++) {
		const char *name = target.GetModuleAtIndex(i).GetFileSpec().GetFilename();
		if (name && std::strcmp(name, "libcoreclr.so") == 0)
			return true;
	}
	// A program with a runtime of its own in it exports this.
	return target.GetModuleAtIndex(0).FindSymbol("DotNetRuntimeInfo").IsValid();
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

/// Write the file about what the session has open; false, and @p message, when that is not possible.
bool write_code(hd_session *session, CodeFile &file, std::string &message)
{
	const char *argv[] = { "export", "-", "-format", "elf" };
	hd_sink sink = quiet_sink();
	hd_error err = {};
	sink.arg = &file;
	sink.write = CodeFile::write;
	sink.binary = 1;
	if (file.is_open() && hd_command_run(session, 4, argv, &sink, &err) <= HD_EXIT_FINDINGS)
		return true;
	message = err.message[0] ? err.message : "there is no memory for it";
	return false;
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
		Known &known = known_[i];
		lldb::SBProcess process = known.target.GetProcess();
		if (!all && process.IsValid() && process.GetUniqueID() == known.process)
			continue;
		if (known.module.IsValid() && known.target.IsValid()) {
			// This makes LLDB find the frames of its threads again.
			(void)known.target.ClearModuleLoadAddress(known.module);
			(void)known.target.RemoveModule(known.module);
		}
		known_.erase(known_.begin() + static_cast<ptrdiff_t>(i));
	}
}

void ManagedCode::load(lldb::SBDebugger &debugger, hd_session *settings, Known &known, bool is_sure)
{
	OwnSession session(settings);
	CodeFile file("managed");
	std::string message = "there is no memory for it";
	if (session.handle() &&
	    session.follower().follow(debugger, session.handle(), quiet_sink(), message) &&
	    write_code(session.handle(), file, message)) {
		known.module = add_module(known.target, file);
		message = "LLDB does not take the file";
	}
	if (!known.module.IsValid()) {
		if (!is_sure)
			return;
		say(debugger.GetErrorFileHandle(), stderr,
		    "LLDB does not know the managed code: " + message);
		return;
	}
	say(debugger.GetOutputFileHandle(), stdout,
	    ".NET " + version_of(session.handle()) +
		    ": bt, frame and breakpoint know its methods; also clrstack, hang, report, help heapdump");
}

void ManagedCode::look(lldb::SBDebugger &debugger, hd_session *settings)
{
	const bool is_wanted = is_on(settings);
	forget(!is_wanted);
	lldb::SBTarget target = debugger.GetSelectedTarget();
	lldb::SBProcess process = target.GetProcess();
	if (!is_wanted || !process.IsValid() || !is_core(process))
		return;
	for (const Known &known : known_) {
		if (known.process == process.GetUniqueID())
			return;
	}
	known_.push_back({ target, process.GetUniqueID(), lldb::SBModule() });
	// LLDB does not know the files of a core of another machine: only reading it tells whether it is of .NET.
	hd_interrupt_begin();
	load(debugger, settings, known_.back(), has_runtime(target));
	hd_interrupt_end();
}
