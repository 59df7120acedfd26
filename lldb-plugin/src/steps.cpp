// SPDX-License-Identifier: MIT
#include "steps.h"

#include <algorithm>
#include <map>

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
	method_ = name;
	addresses_.clear();
	const std::map<uint32_t, uint64_t> lines = lines_of(frame);
	for (const auto &line : lines) {
		if (line.first != frame.GetLineEntry().GetLine() &&
		    line.first != lines.begin()->first)
			addresses_.push_back(line.second);
	}
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
		if (name_of(frame) == method_)
			return true;
	}
	return false;
}

std::string Steps::stopped(lldb::SBTarget &target, lldb::SBProcess &process,
			   lldb::SBBreakpointHitCallback told, void *baton)
{
	delete_all(target, entries_);
	if (has_gone_on_)
		delete_all(target, places_);
	has_gone_on_ = false;
	lldb::SBThread thread = process.GetThreadByID(thread_);
	const std::string method = frame_ ? method_ : "";
	clear();
	if (method.empty() || thread.GetStopReason() != lldb::eStopReasonPlanComplete)
		return "";
	lldb::SBError error;
	const uint64_t state = process.ReadUnsignedFromMemory(state_, 4, error);
	method_ = method;
	const bool waits =
		error.Success() && static_cast<int32_t>(state) >= 0 && !is_inside(thread);
	method_.clear();
	if (!waits || addresses_.empty())
		return "";
	delete_all(target, places_);
	for (const uint64_t address : addresses_) {
		lldb::SBBreakpoint place = target.BreakpointCreateByAddress(address);
		make_own(target, place, told, baton);
		places_.push_back(place);
	}
	return method.substr(0, method.size() - body.size());
}

void Steps::end(lldb::SBTarget &target)
{
	clear();
	delete_all(target, entries_);
	delete_all(target, places_);
}
