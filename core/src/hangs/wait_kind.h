/* SPDX-License-Identifier: MIT */
/* The ways in which a thread of .NET waits, and the methods by which they are recognised. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum wait_kind {
	WAIT_NONE,         /**< it runs, or its frames do not tell that it waits */
	WAIT_IDLE,         /**< a thread of the runtime that has nothing to do */
	WAIT_MONITOR,      /**< Monitor.Enter: the lock statement */
	WAIT_PULSE,        /**< Monitor.Wait */
	WAIT_LOCK,         /**< System.Threading.Lock */
	WAIT_READ,         /**< ReaderWriterLockSlim */
	WAIT_WRITE,        /**< likewise */
	WAIT_UPGRADE,      /**< likewise */
	WAIT_SEMAPHORE,    /**< SemaphoreSlim */
	WAIT_EVENT,        /**< ManualResetEventSlim */
	WAIT_COUNTDOWN,    /**< CountdownEvent */
	WAIT_BARRIER,      /**< Barrier */
	WAIT_TASK,         /**< Task.Wait, Task.Result, GetAwaiter().GetResult() */
	WAIT_ALL_TASKS,    /**< Task.WaitAll */
	WAIT_ANY_TASK,     /**< Task.WaitAny */
	WAIT_JOIN,         /**< Thread.Join */
	WAIT_HANDLE,       /**< a WaitHandle: an event, a mutex, a semaphore of the system */
	WAIT_ANY_HANDLE,   /**< WaitHandle.WaitAny */
	WAIT_ALL_HANDLES,  /**< WaitHandle.WaitAll */
	WAIT_SOME_HANDLES, /**< one of these two; which is not known */
	WAIT_COLLECTION,   /**< BlockingCollection */
	WAIT_LAZY,         /**< Lazy: another thread makes the value */
	WAIT_INITIALIZER,  /**< a type initialiser that another thread runs */
	WAIT_SLEEP,        /**< Thread.Sleep */
	WAIT_SPIN_LOCK,    /**< System.Threading.SpinLock */
	WAIT_SPIN, /**< SpinWait, or a spin lock inside a ReaderWriterLockSlim: a short time, mostly */
	WAIT_SOCKET,  /**< a socket that is read or written synchronously */
	WAIT_PROCESS, /**< Process.WaitForExit */
	WAIT_DATABASE, /**< a database of SQLite that is locked: Microsoft.Data.Sqlite tries every 150 ms */
	WAIT_CALLBACK, /**< CancellationTokenRegistration.Dispose: its callback runs on another thread */
	WAIT_CALL,       /**< native code, through P/Invoke */
	WAIT_SUSPENSION, /**< it collects, and waits until all threads have stopped */
	WAIT_KINDS
};

/** Does a thread that waits in that way run a loop, so that it may do so in .NET code? */
static inline bool wait_spins(enum wait_kind kind)
{
	return kind == WAIT_SPIN_LOCK || kind == WAIT_SPIN || kind == WAIT_CALLBACK;
}

/** The name of a kind: "Monitor.Enter"; static. */
const char *wait_kind_name(enum wait_kind kind);

/**
 * The type of the objects that a thread waits for in that way, "System.Threading.Lock"; NULL: none,
 * or it is found in another way.
 */
const char *wait_kind_type(enum wait_kind kind);

/**
 * The wait that a frame of @p method ("Namespace.Type.Method") belongs to, WAIT_NONE if to none.
 * The outermost frame of a wait decides its kind: Task.Wait calls ManualResetEventSlim.Wait, which
 * calls Monitor.Wait.
 */
enum wait_kind wait_kind_of_method(const char *method);

/** May a frame of @p method lie between the frames of a wait? */
bool wait_passes_method(const char *method);

/**
 * Is @p method one that calls a delegate which it was given: that of a task or of a Lazy?  A wait
 * inside of that is not one for the task or the Lazy.
 */
bool method_calls_back(const char *method);
