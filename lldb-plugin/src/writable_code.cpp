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

struct Mapping {
	uint64_t begin, end;
	std::string permissions, path;
};

std::vector<Mapping> list_mappings(uint64_t pid)
{
	std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
	std::vector<Mapping> mappings;
	std::string line;
	while (std::getline(maps, line)) {
		std::istringstream fields(line);
		std::string addresses, offset, device, inode;
		Mapping row = { 0, 0, "", "" };
		fields >> addresses >> row.permissions >> offset >> device >> inode >> row.path;
		if (std::sscanf(addresses.c_str(), "%" SCNx64 "-%" SCNx64, &row.begin, &row.end) ==
		    2)
			mappings.push_back(row);
	}
	return mappings;
}

/// .NET maps the code that it compiles twice: to be written, and to be run.
bool is_twice(const Mapping &mapping)
{
	return mapping.path.find("doublemapper") != std::string::npos;
}

/// The calls for the pages of code that cannot be written to, a few in each expression.
std::vector<std::string> find_calls(uint64_t pid, size_t &count)
{
	std::vector<std::string> calls;
	count = 0;
	for (const Mapping &row : list_mappings(pid)) {
		if (row.permissions != "r-xs" || !is_twice(row))
			continue;
		char call[96];
		(void)std::snprintf(call, sizeof(call),
				    "(int)mprotect((void *)0x%" PRIx64 ", 0x%" PRIx64 ", 7)",
				    row.begin, row.end - row.begin);
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

bool is_runtime_memory(lldb::SBTarget &target, lldb::SBProcess &process, uint64_t address)
{
	if (!is_local(target, process))
		return false;
	for (const Mapping &row : list_mappings(process.GetProcessID())) {
		if (row.begin <= address && address < row.end)
			return row.permissions.find('x') != std::string::npos &&
			       (row.path.empty() || is_twice(row));
	}
	return false;
}
