/* SPDX-License-Identifier: MIT */
#include "hangs/wait_kind.h"

#include <string.h>

static const struct {
	const char *name, *type;
} kinds[WAIT_KINDS] = {
	[WAIT_NONE] = { "none", NULL },
	[WAIT_IDLE] = { "idle", NULL },
	[WAIT_MONITOR] = { "Monitor.Enter", NULL },
	[WAIT_PULSE] = { "Monitor.Wait", NULL },
	[WAIT_LOCK] = { "Lock", "System.Threading.Lock" },
	[WAIT_READ] = { "EnterReadLock", "System.Threading.ReaderWriterLockSlim" },
	[WAIT_WRITE] = { "EnterWriteLock", "System.Threading.ReaderWriterLockSlim" },
	[WAIT_UPGRADE] = { "EnterUpgradeableReadLock", "System.Threading.ReaderWriterLockSlim" },
	[WAIT_SEMAPHORE] = { "SemaphoreSlim", "System.Threading.SemaphoreSlim" },
	[WAIT_EVENT] = { "ManualResetEventSlim", "System.Threading.ManualResetEventSlim" },
	[WAIT_COUNTDOWN] = { "CountdownEvent", "System.Threading.CountdownEvent" },
	[WAIT_BARRIER] = { "Barrier", "System.Threading.Barrier" },
	[WAIT_TASK] = { "Task", "System.Threading.Tasks.Task" },
	[WAIT_ALL_TASKS] = { "Task.WaitAll", NULL },
	[WAIT_ANY_TASK] = { "Task.WaitAny", NULL },
	[WAIT_JOIN] = { "Thread.Join", "System.Threading.Thread" },
	[WAIT_HANDLE] = { "WaitHandle", "System.Threading.WaitHandle" },
	[WAIT_ANY_HANDLE] = { "WaitHandle.WaitAny", NULL },
	[WAIT_ALL_HANDLES] = { "WaitHandle.WaitAll", NULL },
	[WAIT_SOME_HANDLES] = { "WaitHandle.WaitMultiple", NULL },
	[WAIT_COLLECTION] = { "BlockingCollection",
			      "System.Collections.Concurrent.BlockingCollection<" },
	[WAIT_LAZY] = { "Lazy", "System.Lazy<" },
	[WAIT_INITIALIZER] = { "type initializer", NULL },
	[WAIT_SLEEP] = { "Thread.Sleep", NULL },
	[WAIT_SPIN_LOCK] = { "SpinLock", NULL },
	[WAIT_SPIN] = { "SpinWait", NULL },
	[WAIT_SOCKET] = { "socket", "System.Net.Sockets.Socket" },
	[WAIT_PROCESS] = { "Process.WaitForExit", "System.Diagnostics.Process" },
	[WAIT_DATABASE] = { "SQLite", "Microsoft.Data.Sqlite.SqliteDataReader" },
	[WAIT_CALLBACK] = { "callback of a token",
			    "System.Threading.CancellationTokenSource+Registrations" },
	[WAIT_CALL] = { "native code", NULL },
	[WAIT_SUSPENSION] = { "GC", NULL },
};

/* Beginnings of methods, the longer ones first where one begins like another. */
static const struct {
	const char *begin;
	enum wait_kind kind;
} methods[] = {
	{ "System.Threading.LowLevelLifoSemaphore.", WAIT_IDLE },
	{ "System.Threading.PortableThreadPool+GateThread.", WAIT_IDLE },
	{ "System.Threading.PortableThreadPool+WaitThread.", WAIT_IDLE },
	{ "System.Threading.TimerQueue.TimerThread", WAIT_IDLE },
	{ "System.Net.Sockets.SocketAsyncEngine.EventLoop", WAIT_IDLE },
	/* of NativeAOT; on CoreCLR no .NET code is on its stack then */
	{ "System.Runtime.__Finalizer.ProcessFinalizers", WAIT_IDLE },
	{ "System.Threading.Monitor.Enter", WAIT_MONITOR },
	{ "System.Threading.Monitor.TryEnter", WAIT_MONITOR },
	{ "System.Threading.Monitor.ReliableEnter", WAIT_MONITOR },
	{ "System.Threading.Monitor.Wait", WAIT_PULSE },
	{ "System.Threading.Monitor.ObjWait", WAIT_PULSE },
	{ "System.Threading.Condition.Wait", WAIT_PULSE }, /* since 11, in place of Monitor.Wait */
	{ "System.Threading.Lock.", WAIT_LOCK },
	{ "System.Threading.CancellationTokenSource+Registrations.WaitForCallbackToComplete",
	  WAIT_CALLBACK },
	{ "System.Threading.SpinLock.", WAIT_SPIN_LOCK },
	{ "System.Threading.SpinWait.", WAIT_SPIN },
	{ "System.Threading.Thread.SpinWait", WAIT_SPIN },
	{ "System.Threading.Thread.LongSpinWait", WAIT_SPIN },
	{ "System.Threading.ReaderWriterLockSlim+SpinLock.", WAIT_SPIN },
	{ "System.Threading.ReaderWriterLockSlim.TryEnterRead", WAIT_READ },
	{ "System.Threading.ReaderWriterLockSlim.TryEnterWrite", WAIT_WRITE },
	{ "System.Threading.ReaderWriterLockSlim.TryEnterUpgradeable", WAIT_UPGRADE },
	{ "System.Threading.SemaphoreSlim.Wait", WAIT_SEMAPHORE },
	{ "System.Threading.ManualResetEventSlim.Wait", WAIT_EVENT },
	{ "System.Threading.CountdownEvent.Wait", WAIT_COUNTDOWN },
	{ "System.Threading.Barrier.SignalAndWait", WAIT_BARRIER },
	{ "System.Threading.Barrier.DiscontinuousWait", WAIT_BARRIER },
	{ "System.Threading.Tasks.Task.WaitAll", WAIT_ALL_TASKS },
	{ "System.Threading.Tasks.Task.WaitAny", WAIT_ANY_TASK },
	{ "System.Threading.Tasks.Task.Wait", WAIT_TASK },
	{ "System.Threading.Tasks.Task.InternalWait", WAIT_TASK },
	{ "System.Threading.Tasks.Task.SpinThenBlockingWait", WAIT_TASK },
	{ "System.Threading.Tasks.Task<", WAIT_TASK },
	{ "System.Threading.Tasks.Task`1.", WAIT_TASK },
	{ "System.Runtime.CompilerServices.TaskAwaiter", WAIT_TASK },
	{ "System.Runtime.CompilerServices.ConfiguredTaskAwaitable", WAIT_TASK },
	{ "System.Runtime.CompilerServices.ValueTaskAwaiter", WAIT_TASK },
	{ "System.Threading.Thread.Join", WAIT_JOIN },
	{ "System.Threading.Thread.Sleep", WAIT_SLEEP },
	{ "System.Threading.Thread.UninterruptibleSleep", WAIT_SLEEP },
	{ "System.Threading.WaitHandle.WaitAny", WAIT_ANY_HANDLE },
	{ "System.Threading.WaitHandle.WaitAll", WAIT_ALL_HANDLES },
	{ "System.Threading.WaitHandle.WaitMultiple", WAIT_SOME_HANDLES },
	{ "System.Threading.WaitHandle.", WAIT_HANDLE },
	{ "System.Collections.Concurrent.BlockingCollection", WAIT_COLLECTION },
	{ "System.Lazy", WAIT_LAZY },
	{ "System.Runtime.CompilerServices.InitHelpers.", WAIT_INITIALIZER },
	{ "System.Diagnostics.Process.WaitForExit", WAIT_PROCESS },
	{ "System.Diagnostics.ProcessWaitState.WaitForExit", WAIT_PROCESS },
	/* outside of Thread.Sleep; a statement that runs is native code */
	{ "Microsoft.Data.Sqlite.SqliteDataReader.NextResult", WAIT_DATABASE },
	{ "System.Net.Sockets.Socket.", WAIT_SOCKET },
	{ "System.Net.Sockets.SocketPal.", WAIT_SOCKET },
	{ "System.Net.Sockets.NetworkStream.", WAIT_SOCKET },
};

/* Other code that lies between the frames of a wait. */
static const char *const passed[] = {
	"System.Threading.",
	"System.Runtime.CompilerServices.",
	"System.Runtime.InteropServices.",
	"System.Collections.Concurrent.",
	"System.Diagnostics.Process",
	"System.Net.Sockets.",
	"System.LazyHelper",
	"Interop+",
	"Interop.",
	"ILStubClass",
	"DynamicClass",
};

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

const char *wait_kind_name(enum wait_kind kind)
{
	return kinds[kind].name;
}

const char *wait_kind_type(enum wait_kind kind)
{
	return kinds[kind].type;
}

/* The name of the method itself, with the dot in front of it; "" if it has no type. */
static const char *last_part(const char *method)
{
	const char *dot = strrchr(method, '.');
	return dot ? dot : "";
}

/* Does it only arrange what goes on later: WaitAsync, UnsafeOnCompleted? */
static bool is_only_begun(const char *method)
{
	const char *part = last_part(method);
	return strstr(part, "Async") || begins_with(part, ".OnCompleted") ||
	       begins_with(part, ".UnsafeOnCompleted");
}

bool method_calls_back(const char *method)
{
	const char *part = last_part(method);
	if (begins_with(method, "System.Threading.Tasks."))
		return strcmp(part, ".InnerInvoke") == 0;
	if (begins_with(method, "System.Lazy<"))
		return strcmp(part, ".ViaFactory") == 0;
	return begins_with(method, "System.Threading.ExecutionContext.Run");
}

enum wait_kind wait_kind_of_method(const char *method)
{
	if (is_only_begun(method) || method_calls_back(method))
		return WAIT_NONE;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (begins_with(method, methods[i].begin))
			return methods[i].kind;
	}
	return WAIT_NONE;
}

static bool begins_with_any(const char *method, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (begins_with(method, list[i]))
			return true;
	}
	return false;
}

bool wait_passes_method(const char *method)
{
	return begins_with_any(method, passed, sizeof(passed) / sizeof(passed[0]));
}
