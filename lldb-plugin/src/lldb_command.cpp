// SPDX-License-Identifier: MIT
#include "lldb_command.h"

#include <algorithm>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <unistd.h>
#include <utility>
#include <vector>

namespace
{

int write_text(void *arg, const char *text, size_t size)
{
	auto *result = static_cast<lldb::SBCommandReturnObject *>(arg);
	// PutCString() would add a newline.
	for (; size > INT_MAX; text += INT_MAX, size -= INT_MAX)
		result->Printf("%.*s", INT_MAX, text);
	result->Printf("%.*s", static_cast<int>(size), text);
	return 0;
}

void warn(void *arg, const char *line)
{
	static_cast<lldb::SBCommandReturnObject *>(arg)->AppendWarning(line);
}

void note(void *arg, const char *line)
{
	static_cast<lldb::SBCommandReturnObject *>(arg)->AppendMessage(line);
}

int cancelled(void *)
{
	return hd_interrupted();
}

void show_progress(void *, const char *what, uint64_t done, uint64_t total)
{
	if (!what) {
		std::fputs("\r\033[K", stderr);
	} else if (total) {
		std::fprintf(stderr, "\r%s %" PRIu64 "%%\033[K", what,
			     done < total ? 100 * done / total : 100);
	} else if (!done) {
		std::fprintf(stderr, "\r%s\033[K", what);
	} else {
		std::fprintf(stderr, "\r%s %" PRIu64 "\033[K", what, done);
	}
	std::fflush(stderr);
}

hd_sink make_sink(lldb::SBDebugger &debugger, lldb::SBCommandReturnObject &result)
{
	hd_sink sink = {};
	sink.struct_size = sizeof(sink);
	sink.arg = &result;
	sink.write = write_text;
	sink.warn = warn;
	sink.note = note;
	sink.cancelled = cancelled;
	sink.progress = isatty(STDERR_FILENO) ? show_progress : nullptr;
	if (isatty(STDOUT_FILENO)) {
		sink.color = debugger.GetUseColor();
		const uint32_t width = debugger.GetTerminalWidth();
		sink.width = width >= 20 && width <= 65535 ? width : 0;
	}
	return sink;
}

/// The mistake that LLDB finds in an expression: its first error, without where in the expression.
std::string first_line(const char *text)
{
	const std::string before = "error: ", where = "<user expression ";
	std::string line = text ? text : "";
	const size_t begin = line.find("\n" + before);
	if (begin != line.npos)
		line.erase(0, begin + 1);
	line.erase(std::min(line.find('\n'), line.size()));
	if (line.compare(0, before.size(), before) == 0)
		line.erase(0, before.size());
	const size_t end = line.compare(0, where.size(), where) == 0 ? line.find(": ") : line.npos;
	if (end != line.npos)
		line.erase(0, end + 2);
	return line.empty() ? "it has no value" : line;
}

/// @p text, typed or told by LLDB, with what a terminal would act on as escapes.
std::string printable(const std::string &text)
{
	std::vector<char> copy(6 * text.size() + 1);
	return std::string(copy.data(),
			   hd_escape(text.data(), text.size(), copy.data(), copy.size()));
}

/// Replace @p word by the value of the expression that it is, or tell why not.
bool evaluate(lldb::SBTarget target, std::string &word, std::string &why)
{
	if (!target.IsValid()) {
		why = "no target";
		return false;
	}
	lldb::SBFrame frame = target.GetProcess().GetSelectedThread().GetSelectedFrame();
	lldb::SBValue value = frame.IsValid() ? frame.EvaluateExpression(word.c_str())
					      : target.EvaluateExpression(word.c_str());
	lldb::SBError error = value.GetError();
	uint64_t number = 0;
	if (error.Success())
		number = value.GetValueAsUnsigned(error);
	if (error.Fail()) {
		why = first_line(error.GetCString());
		return false;
	}
	char digits[19];
	(void)std::snprintf(digits, sizeof(digits), "0x%" PRIx64, number);
	word = digits;
	return true;
}

std::vector<const char *> pointers(const std::vector<std::string> &words)
{
	std::vector<const char *> result;
	result.reserve(words.size());
	for (const std::string &word : words)
		result.push_back(word.c_str());
	return result;
}

bool evaluate_marked(Session &session, lldb::SBDebugger &debugger, std::vector<std::string> &words,
		     std::string &message)
{
	std::vector<const char *> argv = pointers(words);
	std::vector<uint8_t> marks(words.size());
	hd_command_expressions(static_cast<int>(argv.size()), argv.data(), marks.data());
	// An expression may name what only managed code has.
	if (std::count(marks.begin(), marks.end(), 0) < static_cast<ptrdiff_t>(marks.size()))
		session.look_at_code(Purpose::answer);
	for (size_t i = 0; i < words.size(); i++) {
		std::string why;
		if (!marks[i] || evaluate(debugger.GetSelectedTarget(), words[i], why))
			continue;
		message = printable("cannot evaluate '" + words[i] + "': " + why);
		return false;
	}
	return true;
}

} // namespace

Command::Command(std::shared_ptr<Session> session, const struct hd_command_info &info)
    : session_(std::move(session)), name_(info.name), needs_open_(info.needs_open != 0),
      follows_(info.follows != 0), role_(info.role)
{
}

int Command::run(lldb::SBDebugger &debugger, const std::vector<const char *> &argv,
		 const hd_sink &sink, std::string &message)
{
	hd_session *handle = session_->handle();
	Follower &follower = session_->follower();
	if (needs_open_ && !follower.follow(debugger, handle, sink, message))
		return hd_interrupted() ? HD_EXIT_INTERRUPTED : HD_EXIT_INPUT;
	// It takes the process that is stopped here when it is given none, and says that it is.
	std::string unused;
	if (follows_ && !follower.follow(debugger, handle, sink, unused) && hd_interrupted())
		return HD_EXIT_INTERRUPTED;
	hd_error err = {};
	int status =
		hd_command_run(handle, static_cast<int>(argv.size()), argv.data(), &sink, &err);
	message = err.message;
	if (status == HD_EXIT_OK || status == HD_EXIT_FINDINGS) {
		if (role_ == HD_ROLE_OPEN)
			follower.pause();
		else if (role_ == HD_ROLE_CLOSE)
			follower.resume();
	}
	return status;
}

bool Command::DoExecute(lldb::SBDebugger debugger, char **words,
			lldb::SBCommandReturnObject &result)
{
	std::vector<std::string> line = { name_ };
	for (; words && *words; words++)
		line.emplace_back(*words);
	std::string message;
	if (!evaluate_marked(*session_, debugger, line, message)) {
		result.SetError(message.c_str());
		return false;
	}
	const hd_sink sink = make_sink(debugger, result);
	std::unique_lock<std::mutex> lock = session_->lock();
	hd_interrupt_begin();
	const int status = run(debugger, pointers(line), sink, message);
	hd_interrupt_end();
	lock.unlock();
	if (status == HD_EXIT_OK || status == HD_EXIT_FINDINGS) {
		// Without it Succeeded() is false for callers of the API.
		result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
		return true;
	}
	result.SetError(message.empty() ? "the command failed" : message.c_str());
	return false;
}
