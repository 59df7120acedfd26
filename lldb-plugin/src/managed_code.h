// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_MANAGED_CODE_H
#define HEAPDUMP_LLDB_MANAGED_CODE_H

#include <cstdint>
#include <lldb/API/LLDB.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

// A function has the name of its struct, as stat() has in C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <heapdump/code.h>
#pragma GCC diagnostic pop
#include <heapdump/command.h>

#include "code_breakpoints.h"
#include "code_file.h"
#include "lldb_target.h"
#include "publication.h"
#include "steps.h"

/// The reason for which LLDB has to know managed code now.
enum class Purpose {
	answer, ///< its answer depends on it
	breaks, ///< it is about to write breakpoints
	enters, ///< the same, and a thread makes a step, also into what it calls
	passes, ///< a thread makes a step over what it calls
	steps,  ///< it is about to write breakpoints, and the process goes on otherwise
	runs,   ///< the process goes on
	leaves  ///< it lets the process go
};

/// Gives LLDB the managed code of cores and processes: symbol files in memory (doc/managed-elf.md 6).
class ManagedCode
{
      public:
	/// Make sure that LLDB knows the code of what @p debugger has selected, as it is now.
	///
	/// @param settings the session whose settings count
	/// @param told LLDB calls it with @p baton at the plug-in's own breakpoints
	/// @return LLDB knows other code than before: frames that it had are of no use any more
	bool look(lldb::SBDebugger &debugger, hd_session *settings, Purpose purpose,
		  lldb::SBBreakpointHitCallback told, void *baton);

	/// A thread has come to one of the plug-in's own breakpoints: let LLDB know the code to which calls will go, if a
	/// breakpoint belongs into it.
	///
	/// @return the process has to stop, and the user was told why
	bool reached(lldb::SBDebugger &debugger, hd_session *settings, lldb::SBThread &thread,
		     lldb::SBBreakpointLocation &place, lldb::SBBreakpointHitCallback told,
		     void *baton);

      private:
	/// A file that LLDB has.
	struct File {
		uint32_t number; ///< of hd_code_update()
		lldb::SBModule module;
	};

	/// A process of LLDB's, or a core.
	struct Known {
		Known() = default;
		~Known()
		{
			hd_code_destroy(code);
		}
		Known(const Known &) = delete;
		Known &operator=(const Known &) = delete;

		lldb::SBTarget target;
		lldb::SBProcess process;
		uint32_t id = 0;         ///< of the process
		uint32_t stop = 0;       ///< 1 + the number of the stop at which it was looked at
		hd_code *code = nullptr; ///< that LLDB knows
		std::vector<File> files;
		bool has_failed = false;    ///< and that was said
		bool has_own_names = false; ///< the program has symbols, and that was said
		bool is_writable = false;   ///< its code, for breakpoints
		bool has_signals = false;   ///< that pass without a stop
		std::map<uint64_t, bool>
			suspends; ///< by the numbers of methods: does the runtime suspend it?
		CodeBreakpoints breakpoints;
		Publication publication;
		Steps steps;
	};

	/// Take out the code of processes that are gone; @p all: of the others, too.
	void forget(bool all);
	Known &known_of(lldb::SBTarget &target, lldb::SBProcess &process);
	/// Let LLDB know what is new, and forget what is gone; was there anything?
	bool update(lldb::SBDebugger &debugger, hd_session *settings, Known &known);
	/// Take over a change whose new file is @p file; false: LLDB does not take it.
	static bool take(Known &known, const CodeFile &file, const hd_code_change &change);
	/// false: breakpoints cannot be written, which was said.
	static bool make_writable(lldb::SBDebugger &debugger, Known &known);
	/// The process goes on: are breakpoints where they belong, and does one wait for code?
	static void prepare(lldb::SBDebugger &debugger, hd_session *settings, Known &known,
			    Purpose purpose, lldb::SBBreakpointHitCallback told, void *baton);
	/// Does the runtime suspend the async method at that address (.NET 11)?
	static bool suspends(lldb::SBDebugger &debugger, hd_session *settings, Known &known,
			     uint64_t address);
	static void check(lldb::SBDebugger &debugger, hd_session *settings, Known &known);

	std::vector<std::unique_ptr<Known>> known_;
};

#endif
