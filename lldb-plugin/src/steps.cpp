// SPDX-License-Identifier: MIT
#include "steps.h"

#include <algorithm>
#include <map>

#include "lldb_target.h"
#include "publication.h"

namespace
{

/// The body of an async method, and its field that is from 0 on while it waits in the await of that number.
const std::string body = ".MoveNext";
constexpr const char *state_name = "<>1__state";
/// An iterator, which has a state, too, has no such field: it comes back with each value.
constexpr const char *builder_name = "<>t__builder";

/// Frames of the runtime between a call and the publication of what is called; and those of a body, below where a step ended.
constexpr uint32_t inner_frames = 64;

/// As the library reads memory.
size_t read_now(void *process, uint64_t address, void *buf, size_t size)
{
	return read_memory(*static_cast<lldb::SBProcess *>(process), address, buf, size);
}

bool ends_with(const std::string &text, const std::string &end)
{
	return text.size() >= end.size() &&
	       text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string name_of(lldb::SBFrame &frame)
{
	const char *name = frame.GetFunctionName();
	return name ? name : "";
}

/// The first address of each line of a function.
std::map<uint32_t, uint64_t> lines_of(lldb::SBFrame &frame)
{
	std::map<uint32_t, uint64_t> lines;
	lldb::SBTarget target = frame.GetThread().GetProcess().GetTarget();
	lldb::SBFunction function = frame.GetFunction();
	const uint64_t begin = function.GetStartAddress().GetLoadAddress(target);
	const uint64_t end = function.GetEndAddress().GetLoadAddress(target);
	lldb::SBCompileUnit unit = frame.GetCompileUnit();
	for (uint32_t i = 0; i < unit.GetNumLineEntries(); i++) {
		lldb::SBLineEntry row = unit.GetLineEntryAtIndex(i);
		const uint64_t address = row.GetStartAddress().GetLoadAddress(target);
		if (!row.GetLine() || address < begin || address >= end)
			continue;
		const auto known = lines.emplace(row.GetLine(), address).first;
		known->second = std::min(known->second, address);
	}
	return lines;
}

void delete_all(lldb::SBTarget &target, std::vector<lldb::SBBreakpoint> &breakpoints)
{
	for (lldb::SBBreakpoint &breakpoint : breakpoints)
		target.BreakpointDelete(breakpoint.GetID());
	breakpoints.clear();
}

bool has(const std::vector<lldb::SBBreakpoint> &breakpoints, lldb::break_id_t number)
{
	return std::any_of(breakpoints.begin(), breakpoints.end(),
			   [&](const lldb::SBBreakpoint &row) { return row.GetID() == number; });
}

} // namespace

void Steps::clear()
{
	frame_ = 0;
	enters_ = false;
	has_suspended_ = false;
	method_.clear();
}

void Steps::begin(lldb::SBThread &thread, const hd_code *code, bool enters)
{
	clear();
	lldb::SBFrame frame = thread.GetFrameAtIndex(0);
	if (!hd_code_method(code, frame.GetPC()))
		return;
	thread_ = thread.GetThreadID();
	frame_ = frame.GetCFA();
	enters_ = enters;
	read_await(frame);
}

void Steps::read_await(lldb::SBFrame &frame)
{
	const std::string name = name_of(frame);
	if (!ends_with(name, body))
		return;
	lldb::SBValue machine = frame.FindVariable("this");
	lldb::SBValue state = machine.GetChildMemberWithName(state_name);
	const bool is_async = machine.GetChildMemberWithName(builder_name).IsValid();
	state_ = is_async && state.IsValid() ? state.GetLoadAddress() : LLDB_INVALID_ADDRESS;
	if (state_ == LLDB_INVALID_ADDRESS)
		return;
	method_ = name.substr(0, name.size() - body.size());
	read_lines(frame);
}

void Steps::read_lines(lldb::SBFrame &frame)
{
	addresses_.clear();
	const std::map<uint32_t, uint64_t> lines = lines_of(frame);
	for (const auto &line : lines) {
		if (line.first != frame.GetLineEntry().GetLine() &&
		    line.first != lines.begin()->first)
			addresses_.push_back(line.second);
	}
}

void Steps::watch_return(lldb::SBTarget &target, lldb::SBThread &thread,
			 lldb::SBBreakpointHitCallback told, void *baton)
{
	lldb::SBFrame frame = thread.GetFrameAtIndex(0);
	lldb::SBFrame caller = thread.GetFrameAtIndex(1);
	if (!frame_ || !caller.IsValid() || !frame.GetLineEntry().GetLine())
		return;
	method_ = name_of(frame);
	state_ = 0;
	caller_ = caller.GetCFA();
	read_lines(frame);
	lldb::SBBreakpoint back = target.BreakpointCreateByAddress(caller.GetPC());
	back.SetThreadID(thread.GetThreadID());
	make_own(target, back, told, baton);
	returns_.push_back(back);
}

bool Steps::has_come_back(lldb::SBThread &thread, lldb::SBBreakpointLocation &place,
			  const hd_code *code)
{
	if (!has(returns_, place.GetBreakpoint().GetID()))
		return false;
	lldb::SBFrame frame = thread.GetFrameAtIndex(0);
	size_t count = 0;
	const char *const *names = hd_debugger_registers("x86_64", &count);
	std::vector<uint64_t> registers;
	for (size_t i = 0; names && i < count; i++)
		registers.push_back(frame.FindRegister(names[i]).GetValueAsUnsigned(0));
	lldb::SBProcess process = thread.GetProcess();
	hd_debugger_thread row = {};
	row.registers = registers.data();
	hd_debugger with = {};
	with.struct_size = sizeof(with);
	with.read = read_now;
	with.arg = &process;
	with.threads = &row;
	with.thread_count = 1;
	with.register_count = registers.size();
	if (frame.GetCFA() == caller_)
		has_suspended_ = hd_code_awaits(code, &with) != 0;
	return true;
}

bool Steps::is_call(lldb::SBThread &thread, const hd_code *code) const
{
	if (!enters_ || thread.GetThreadID() != thread_)
		return false;
	for (uint32_t i = 1; i < inner_frames; i++) {
		lldb::SBFrame frame = thread.GetFrameAtIndex(i);
		if (!frame.IsValid())
			break;
		if (hd_code_method(code, frame.GetPC()))
			return frame.GetCFA() == frame_;
	}
	return false;
}

void Steps::enter(lldb::SBTarget &target, lldb::SBThread &thread, uint64_t address,
		  lldb::SBBreakpointHitCallback told, void *baton)
{
	lldb::SBFunction function = target.ResolveLoadAddress(address).GetFunction();
	if (!function.IsValid())
		return;
	lldb::SBBreakpoint entry =
		target.BreakpointCreateByAddress(address + function.GetPrologueByteSize());
	entry.SetThreadID(thread.GetThreadID());
	make_own(target, entry, told, baton);
	entries_.push_back(entry);
}

bool Steps::has_reached(lldb::SBBreakpointLocation &place)
{
	const lldb::break_id_t number = place.GetBreakpoint().GetID();
	has_gone_on_ |= has(places_, number);
	return has(places_, number) || has(entries_, number);
}

bool Steps::is_inside(lldb::SBThread &thread) const
{
	for (uint32_t i = 0; i < inner_frames; i++) {
		lldb::SBFrame frame = thread.GetFrameAtIndex(i);
		if (!frame.IsValid())
			break;
		if (name_of(frame) == method_ + body)
			return true;
	}
	return false;
}

bool Steps::waits(lldb::SBProcess &process, lldb::SBThread &thread) const
{
	if (!state_)
		return has_suspended_;
	lldb::SBError error;
	const uint64_t state = process.ReadUnsignedFromMemory(state_, 4, error);
	return error.Success() && static_cast<int32_t>(state) >= 0 && !is_inside(thread);
}

std::string Steps::stopped(lldb::SBTarget &target, lldb::SBProcess &process,
			   lldb::SBBreakpointHitCallback told, void *baton)
{
	delete_all(target, entries_);
	delete_all(target, returns_);
	if (has_gone_on_)
		delete_all(target, places_);
	has_gone_on_ = false;
	lldb::SBThread thread = process.GetThreadByID(thread_);
	const std::string method = frame_ ? method_ : "";
	const bool has_left = !method.empty() &&
			      thread.GetStopReason() == lldb::eStopReasonPlanComplete &&
			      waits(process, thread);
	clear();
	if (!has_left || addresses_.empty())
		return "";
	delete_all(target, places_);
	for (const uint64_t address : addresses_) {
		lldb::SBBreakpoint place = target.BreakpointCreateByAddress(address);
		make_own(target, place, told, baton);
		places_.push_back(place);
	}
	return method;
}

void Steps::end(lldb::SBTarget &target)
{
	clear();
	delete_all(target, entries_);
	delete_all(target, places_);
	delete_all(target, returns_);
}
