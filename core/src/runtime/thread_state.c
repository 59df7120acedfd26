/* SPDX-License-Identifier: MIT */
#include "runtime/thread_state.h"

/* X(word, text): bit after bit (doc/coreclr.md 12.1). */
#define STATE_BITS(X)                                           \
	X("abort-requested", "Thread Abort Requested")          \
	X("gc-suspend-pending", "GC Suspend Pending")           \
	X("gc-suspend-redirected", "GC Suspend Redirected")     \
	X("debug-suspend-pending", "Debug Suspend Pending")     \
	X("gc-on-transitions", "GC On Transitions")             \
	X("legal-to-join", "Legal to Join")                     \
	X("on-alternate-stack", "Executing on Alternate Stack") \
	X("hijacked", "Hijacked by the GC")                     \
	X("0x100", "Bit 0x100, which means nothing")            \
	X("background", "Background")                           \
	X("unstarted", "Unstarted")                             \
	X("dead", "Dead")                                       \
	X("owned", "CLR Owns")                                  \
	X("com-initialized", "CoInitialized")                   \
	X("sta", "In Single Threaded Apartment")                \
	X("mta", "In Multi Threaded Apartment")                 \
	X("reported-dead", "Reported Dead")                     \
	X("fully-initialized", "Fully initialized")             \
	X("task-reset", "Task Reset")                           \
	X("sync-suspended", "Sync Suspended")                   \
	X("debug-will-sync", "Debug Will Sync")                 \
	X("stack-crawl-needed", "Stack Crawl Needed")           \
	X("0x400000", "Bit 0x400000, which means nothing")      \
	X("0x800000", "Bit 0x800000, which means nothing")      \
	X("pool-worker", "Thread Pool Worker Thread")           \
	X("interruptible", "Interruptible")                     \
	X("interrupted", "Interrupted")                         \
	X("completion-port", "Completion Port Thread")          \
	X("abort-initiated", "Abort Initiated")                 \
	X("finalized", "Finalized")                             \
	X("failed-to-start", "Failed to Start")                 \
	X("detached", "Detached")

#define STATE_WORD(word, text) word,
#define STATE_TEXT(word, text) text,

const char *const thread_state_words[THREAD_STATE_BITS + 1] = { STATE_BITS(STATE_WORD) NULL };

const char *thread_state_text(unsigned int bit)
{
	static const char *const texts[] = { STATE_BITS(STATE_TEXT) };
	return texts[bit % THREAD_STATE_BITS];
}
