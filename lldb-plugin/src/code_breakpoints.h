// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_CODE_BREAKPOINTS_H
#define HEAPDUMP_LLDB_CODE_BREAKPOINTS_H

#include <functional>
#include <lldb/API/LLDB.h>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

// A function has the name of its struct, as stat() has in C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <heapdump/code.h>
#pragma GCC diagnostic pop

/// The user's breakpoints in one process, as far as they are in managed code or wait for it.
class CodeBreakpoints
{
      public:
	/// Look at them: they may have changed.
	///
	/// @param code the code that LLDB knows
	void read(lldb::SBTarget &target, const hd_code *code);

	/// Must new code be looked at?
	bool is_needed() const
	{
		return !methods_.empty() || is_waiting_;
	}
	/// Does one wait for code?
	bool is_waiting() const
	{
		return is_waiting_;
	}
	/// Does one wait for this code, or is it of a method with a breakpoint?
	bool wants(hd_session *session, const hd_code_place &place);
	bool has_method(uint64_t method) const
	{
		return methods_.count(method) != 0;
	}

	/// LLDB takes the next line that has code: disable what it has set in a method that does not have the line, and what
	/// is on a stub of the runtime, where a breakpoint ends the process.
	///
	/// @param session opens one about the process as it is now, or gives nullptr
	/// @param is_told the plug-in is told of new code
	/// @param say is told what the user must know, a line each
	void check(lldb::SBTarget &target, const hd_code *code,
		   const std::function<hd_session *()> &session, bool is_told,
		   std::vector<std::string> &say);

      private:
	/// A breakpoint, and the code that it is about.
	struct Wish {
		lldb::SBBreakpoint breakpoint;
		std::string file; ///< "": it is about functions
		uint32_t line = 0;
		std::vector<std::string> functions;
		bool is_open = false; ///< neither: any code may be wanted
		bool waits = false;   ///< it has no place that is enabled
	};
	static Wish wish_of(lldb::SBBreakpoint &breakpoint);
	/// The line at which it belongs: the next one with a statement.
	uint32_t line_of(hd_session *session, const Wish &wish);
	bool is_right(const std::function<hd_session *()> &session, const Wish &wish,
		      lldb::SBBreakpointLocation &place, uint64_t address, uint64_t method);
	void check_place(const Wish &wish, lldb::SBBreakpointLocation &place,
			 lldb::SBTarget &target, const hd_code *code,
			 const std::function<hd_session *()> &session,
			 std::vector<std::string> &say);

	std::vector<Wish> wishes_;
	std::set<uint64_t> methods_;    ///< those with a breakpoint
	std::set<std::string> generic_; ///< bare names of those that may have more instances
	bool is_waiting_ = false;
	std::set<lldb::break_id_t> told_; ///< that wait, of which the user knows
	std::map<std::tuple<std::string, uint32_t, uint64_t>, bool>
		rights_; ///< is that line in that method?
	std::map<std::pair<std::string, uint32_t>, uint32_t> lines_;
};

#endif
