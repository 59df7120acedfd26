// SPDX-License-Identifier: MIT
#include "write_witness.h"

#include <atomic>
#include <cinttypes>

namespace
{

// LLDB shows the category in "type category list".
constexpr const char *category_name = "heapdump";
// Makes a type that no program has, because the summary is that of all values of the type.
constexpr unsigned pointer_depth = 12;

/// A text that no call has given before.
bool give_new_summary(lldb::SBValue, lldb::SBTypeSummaryOptions, lldb::SBStream &stream)
{
	// Sessions are used with their locks held, but there may be several.
	static std::atomic<uint64_t> count{ 0 };
	stream.Printf("heapdump %" PRIu64, ++count);
	return true;
}

lldb::SBType made_up_type(lldb::SBTarget &target)
{
	lldb::SBType type = target.GetBasicType(lldb::eBasicTypeFloatComplex);
	for (unsigned i = 0; i < pointer_depth; i++)
		type = type.GetPointerType();
	return type;
}

/// Let give_new_summary() make the summaries of @p type, also after the user has disabled it.
void add_summary(lldb::SBDebugger &debugger, lldb::SBType &type)
{
	lldb::SBTypeCategory category = debugger.GetCategory(category_name);
	if (!category.IsValid())
		category = debugger.CreateCategory(category_name);
	const lldb::SBTypeNameSpecifier name(type.GetName(), false);
	if (!category.GetSummaryForType(name).IsValid()) {
		category.AddTypeSummary(name,
					lldb::SBTypeSummary::CreateWithCallback(give_new_summary));
	}
	if (!category.GetEnabled())
		category.SetEnabled(true);
}

std::string summary_of(lldb::SBValue &value)
{
	const char *summary = value.IsValid() ? value.GetSummary() : nullptr;
	return summary ? summary : "";
}

} // namespace

void WriteWitness::begin(lldb::SBDebugger &debugger, lldb::SBTarget &target,
			 lldb::SBProcess &process)
{
	end();
	has_begun_ = true;
	// Only its summary is used, so any address does: that of the stack can be read.
	const lldb::addr_t stack = process.GetSelectedThread().GetFrameAtIndex(0).GetSP();
	lldb::SBType type = made_up_type(target);
	if (stack == LLDB_INVALID_ADDRESS || !type.IsValid() || !type.GetName())
		return;
	add_summary(debugger, type);
	value_ = target.CreateValueFromAddress(category_name, lldb::SBAddress(stack, target), type);
	summary_ = summary_of(value_);
}

bool WriteWitness::may_have_written()
{
	return has_begun_ && (summary_.empty() || summary_of(value_) != summary_);
}

void WriteWitness::end()
{
	has_begun_ = false;
	value_ = lldb::SBValue();
	summary_.clear();
}
