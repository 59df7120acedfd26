// SPDX-License-Identifier: MIT
#ifndef HEAPDUMP_LLDB_STEPS_H
#define HEAPDUMP_LLDB_STEPS_H

#include <cstdint>
#include <lldb/API/LLDB.h>
#include <string>
#include <vector>

// A function has the name of its struct, as stat() has in C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <heapdump/code.h>
#pragma GCC diagnostic pop

/// The step that a thread makes in managed code: into a method that has no code before it is called, and over an await
/// that has to wait (doc/managed-elf.md 10).
class Steps
{
      public:
	/// A thread is about to step by a line.
	///
	/// @param code the code that LLDB knows
	/// @param enters into what the line calls, too
	void begin(lldb::SBThread &thread, const hd_code *code, bool enters);
	/// The same, in an async method that the runtime suspends: be told when it comes back to its caller.
	void watch_return(lldb::SBTarget &target, lldb::SBThread &thread,
			  lldb::SBBreakpointHitCallback told, void *baton);
	/// The process is at a breakpoint; is it that of watch_return()?
	bool has_come_back(lldb::SBThread &thread, lldb::SBBreakpointLocation &place,
			   const hd_code *code);
	/// The process goes on otherwise.
	void clear();

	bool is_entering() const
	{
		return enters_;
	}
	/// Is the thread in a call that its step has made, with nothing managed in between?
	bool is_call(lldb::SBThread &thread, const hd_code *code) const;
	/// Let the step end in the method whose code is at @p address, which is about to be called.
	void enter(lldb::SBTarget &target, lldb::SBThread &thread, uint64_t address,
		   lldb::SBBreakpointHitCallback told, void *baton);

	/// The process is at a breakpoint; is it one of these?
	bool has_reached(lldb::SBBreakpointLocation &place);
	/// The process has stopped.
	///
	/// @return the method that waits in an await, where the step has left it; "": none does
	std::string stopped(lldb::SBTarget &target, lldb::SBProcess &process,
			    lldb::SBBreakpointHitCallback told, void *baton);
	/// Nobody waits for anything any more.
	void end(lldb::SBTarget &target);

      private:
	/// If the frame is one of an async method with a state machine: remember where its statements are, and its state.
	void read_await(lldb::SBFrame &frame);
	/// Remember where statements of other lines begin.
	void read_lines(lldb::SBFrame &frame);
	/// Has the step left the frame for an await?
	bool waits(lldb::SBProcess &process, lldb::SBThread &thread) const;
	bool is_inside(lldb::SBThread &thread) const;

	lldb::tid_t thread_ = 0;
	uint64_t frame_ = 0; ///< the CFA of the frame in which the step began; 0: there is no step
	bool enters_ = false;
	std::string method_;              ///< the async method; "": it is another one
	uint64_t state_ = 0;              ///< where its state is; 0: the runtime suspends it
	uint64_t caller_ = 0;             ///< the CFA of its caller then
	bool has_suspended_ = false;      ///< it has come back to that, and waits
	std::vector<uint64_t> addresses_; ///< where statements of its other lines begin
	std::vector<lldb::SBBreakpoint> entries_, places_, returns_;
	bool has_gone_on_ = false; ///< a thread is at one of places_
};

#endif
