// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_PUBLICATION_H
#define HEAPDUMP_LLDB_PUBLICATION_H

#include <lldb/API/LLDB.h>
#include <string>
#include <utility>
#include <vector>

/// Breakpoints of the plug-in's own at the instructions by which the runtime lets calls of a method go to other code
/// (doc/managed-elf.md 10).  "breakpoint list" does not show them.
class Publication
{
      public:
	/// Let LLDB call @p told with @p baton at each of them, before the code is called.
	///
	/// @return false when they are not there exactly once: the next stop has to do
	bool begin(lldb::SBTarget &target, lldb::SBBreakpointHitCallback told, void *baton);
	/// Nobody waits for code any more.
	void end(lldb::SBTarget &target);

	bool has_begun() const
	{
		return !stores_.empty();
	}
	/// The address of the code to which calls will go, when a thread is at a breakpoint of these; 0: it is at another.
	uint64_t address(lldb::SBThread &thread, lldb::SBBreakpointLocation &place) const;

      private:
	struct Store {
		lldb::SBBreakpoint breakpoint;
		std::string stored; ///< the register that has the address
	};
	std::vector<Store> stores_;
	lldb::SBModule module_; ///< in which places_ were found: it is large
	std::vector<std::pair<lldb::SBAddress, unsigned>>
		places_; ///< with the number of the register; none unless both are there exactly once
};

/// The file of @p target that has the runtime in it; an invalid one when it is not loaded.
lldb::SBModule runtime_module(lldb::SBTarget &target);
/// Is it a NativeAOT program whose symbols LLDB has, and so names and lines?
bool has_own_names(lldb::SBTarget &target);

/// Make a breakpoint one of the plug-in's: nobody sees it, and the process stops there only for @p told.
void make_own(lldb::SBTarget &target, lldb::SBBreakpoint &breakpoint,
	      lldb::SBBreakpointHitCallback told, void *baton);
bool is_own(lldb::SBBreakpoint &breakpoint);

#endif
