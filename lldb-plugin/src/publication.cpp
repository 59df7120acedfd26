// SPDX-License-Identifier: MIT
#include "publication.h"

#include <cstring>

#include <heapdump/debugger.h>

namespace
{

/// Nobody else names a breakpoint so.
constexpr const char *own_name = "heapdump";

/// A store that was found: lock cmpxchg REGISTER, 0x4000(REGISTER), or 0x4008.
struct Found {
	lldb::SBSection section;
	size_t offset = 0, count = 0;
	unsigned stored = 0; ///< number of the register
};

/// Precode::SetTargetInterlocked() of a FixupPrecode, and of a StubPrecode.
constexpr unsigned char displacements[] = { 0x00, 0x08 };
constexpr size_t store_size = 9;

/// Is the store of the stub with that displacement at @p code?
bool is_store(const unsigned char *code, unsigned char displacement)
{
	const bool is_cmpxchg =
		code[0] == 0xf0 && (code[1] & 0xf8) == 0x48 && code[2] == 0x0f && code[3] == 0xb1;
	const bool has_displacement = (code[4] & 0xc0) == 0x80 && (code[4] & 7) != 4;
	return is_cmpxchg && has_displacement && code[5] == displacement && code[6] == 0x40 &&
	       code[7] == 0 && code[8] == 0;
}

/// Look in a section that has no sections in it.
void find_in_section(lldb::SBSection section, Found (&found)[2])
{
	lldb::SBData data = section.GetSectionData();
	std::vector<unsigned char> bytes(data.GetByteSize());
	lldb::SBError error;
	bytes.resize(data.ReadRawData(error, 0, bytes.data(), bytes.size()));
	for (size_t at = 0; at + store_size <= bytes.size(); at++) {
		const void *next =
			std::memchr(&bytes[at], 0xf0, bytes.size() - at - store_size + 1);
		if (!next)
			return;
		at = static_cast<size_t>(static_cast<const unsigned char *>(next) - bytes.data());
		for (size_t i = 0; i < 2; i++) {
			if (!is_store(&bytes[at], displacements[i]))
				continue;
			found[i].count++;
			found[i].section = section;
			found[i].offset = at;
			found[i].stored = (bytes[at + 4] >> 3 & 7u) | (bytes[at + 1] & 4u) << 1;
		}
	}
}

void find_in(lldb::SBSection section, Found (&found)[2])
{
	// Segments have the sections of a file.
	for (size_t i = 0; i < section.GetNumSubSections(); i++)
		find_in(section.GetSubSectionAtIndex(i), found);
	if (!section.GetNumSubSections() && section.GetSectionType() == lldb::eSectionTypeCode)
		find_in_section(section, found);
}

} // namespace

lldb::SBModule runtime_module(lldb::SBTarget &target)
{
	for (uint32_t i = 0; i < target.GetNumModules(); i++) {
		lldb::SBModule module = target.GetModuleAtIndex(i);
		const char *name = module.GetFileSpec().GetFilename();
		if (name && std::strcmp(name, "libcoreclr.so") == 0)
			return module;
	}
	// A program with a runtime of its own in it exports one of these: a single-file one, and one compiled ahead of time
	// (NativeAOT).
	lldb::SBModule program = target.GetModuleAtIndex(0);
	for (const char *name : { "DotNetRuntimeInfo", "DotNetRuntimeDebugHeader",
				  "DotNetRuntimeContractDescriptor" }) {
		if (program.FindSymbol(name).IsValid())
			return program;
	}
	return lldb::SBModule();
}

bool has_own_names(lldb::SBTarget &target)
{
	return runtime_module(target).FindSymbol("RhpReversePInvoke").IsValid();
}

void make_own(lldb::SBTarget &target, lldb::SBBreakpoint &breakpoint,
	      lldb::SBBreakpointHitCallback told, void *baton)
{
	lldb::SBBreakpointName name(target, own_name);
	name.SetAllowList(false);
	name.SetAllowDelete(false);
	name.SetAllowDisable(false);
	breakpoint.AddName(own_name);
	breakpoint.SetCallback(told, baton);
}

bool is_own(lldb::SBBreakpoint &breakpoint)
{
	return breakpoint.MatchesName(own_name);
}

bool Publication::begin(lldb::SBTarget &target, lldb::SBBreakpointHitCallback told, void *baton)
{
	const std::string triple = target.GetTriple() ? target.GetTriple() : "";
	if (triple.compare(0, 7, "x86_64-") != 0)
		return false;
	lldb::SBModule module = runtime_module(target);
	if (!(module_ == module)) {
		Found found[2];
		for (size_t i = 0; i < module.GetNumSections(); i++)
			find_in(module.GetSectionAtIndex(i), found);
		module_ = module;
		places_.clear();
		for (const Found &store : found) {
			if (found[0].count == 1 && found[1].count == 1)
				places_.emplace_back(lldb::SBAddress(store.section, store.offset),
						     store.stored);
		}
	}
	if (places_.empty())
		return false;
	size_t count = 0;
	const char *const *names = hd_debugger_registers("x86_64", &count);
	for (std::pair<lldb::SBAddress, unsigned> &place : places_) {
		lldb::SBBreakpoint breakpoint = target.BreakpointCreateBySBAddress(place.first);
		make_own(target, breakpoint, told, baton);
		stores_.push_back({ breakpoint, place.second < count ? names[place.second] : "" });
	}
	return true;
}

void Publication::end(lldb::SBTarget &target)
{
	for (Store &store : stores_)
		target.BreakpointDelete(store.breakpoint.GetID());
	stores_.clear();
}

uint64_t Publication::address(lldb::SBThread &thread, lldb::SBBreakpointLocation &place) const
{
	const lldb::break_id_t number = place.GetBreakpoint().GetID();
	for (const Store &store : stores_) {
		if (store.breakpoint.GetID() == number)
			return thread.GetFrameAtIndex(0)
				.FindRegister(store.stored.c_str())
				.GetValueAsUnsigned(0);
	}
	return 0;
}
