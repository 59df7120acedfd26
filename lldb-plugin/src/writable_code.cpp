// SPDX-License-Identifier: MIT
#include "writable_code.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "lldb_target.h"

namespace
{

/// Ranges that one expression changes; it is compiled, and its text cannot be long.
constexpr size_t ranges_at_once = 16;
constexpr uint32_t seconds_most = 5;

/// The calls for the pages of code that cannot be written to, a few in each expression.
std::vector<std::string> find_calls(uint64_t pid, size_t &count)
{
	std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
	std::vector<std::string> calls;
	std::string line;
	for (count = 0; std::getline(maps, line);) {
		// address permissions offset device inode path
		std::istringstream fields(line);
		std::string addresses, permissions, path;
		uint64_t begin = 0, end = 0;
		fields >> addresses >> permissions;
		if (permissions != "r-xs" || line.find("doublemapper") == line.npos ||
		    std::sscanf(addresses.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) != 2)
			continue;
		char call[96];
		(void)std::snprintf(call, sizeof(call),
				    "(int)mprotect((void *)0x%" PRIx64 ", 0x%" PRIx64 ", 7)", begin,
				    end - begin);
		if (count++ % ranges_at_once == 0)
			calls.emplace_back(call);
		else
			calls.back() += std::string(" | ") + call;
	}
	return calls;
}

} // namespace

size_t make_code_writable(lldb::SBTarget &target, lldb::SBProcess &process, std::string &message)
{
	size_t count = 0;
	message.clear();
	if (!is_local(target, process))
		return 0;
	lldb::SBExpressionOptions options;
	options.SetIgnoreBreakpoints(true);
	options.SetUnwindOnError(true);
	options.SetTrapExceptions(false);
	options.SetSuppressPersistentResult(true);
	options.SetTimeoutInMicroSeconds(seconds_most * 1000000);
	for (const std::string &call : find_calls(process.GetProcessID(), count)) {
		lldb::SBFrame frame = process.GetSelectedThread().GetFrameAtIndex(0);
		lldb::SBValue value = frame.EvaluateExpression(call.c_str(), options);
		lldb::SBError error = value.GetError();
		if (error.Fail() || value.GetValueAsSigned(-1) != 0) {
			const char *text = error.GetCString();
			message = error.Fail() && text ? text : "mprotect fails";
			return 0;
		}
	}
	return count;
}
