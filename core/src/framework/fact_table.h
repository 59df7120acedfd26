/* SPDX-License-Identifier: MIT */
/*
 * Every type and field of the framework that answers use, once: doc/coreclr.md 20.
 * tests/oracle/check_framework.py compares each row with the metadata of the newest pack of each
 * release.
 *
 * "first" and "last" are the releases of .NET that have it (last 0: the newest one has it, too);
 * of an assembly that comes in a NuGet package, its major versions.  A row that ends needs an
 * alternative that goes on.
 */
#pragma once

#include "framework/library_table.h"

/** X(id, name, where it comes from: see enum assembly_origin) */
#define FRAMEWORK_ASSEMBLIES(X)                                                  \
	X(ASPNETCORE, "Microsoft.AspNetCore", FROM_PACK)                         \
	X(ASPNETCORE_HTTP, "Microsoft.AspNetCore.Http", FROM_PACK)               \
	X(CACHING, "Microsoft.Extensions.Caching.Memory", FROM_PACK_AND_PACKAGE) \
	X(CHANNELS, "System.Threading.Channels", FROM_PACK)                      \
	X(COMPONENTS, "System.ComponentModel.TypeConverter", FROM_PACK)          \
	X(CONCURRENT, "System.Collections.Concurrent", FROM_PACK)                \
	X(CORELIB, "System.Private.CoreLib", FROM_PACK)                          \
	X(DATA, "System.Data.Common", FROM_PACK)                                 \
	X(DATAFLOW, "System.Threading.Tasks.Dataflow", FROM_PACK)                \
	X(DIAGNOSTICS, "System.Diagnostics.DiagnosticSource", FROM_PACK)         \
	X(ENTITIES, "Microsoft.EntityFrameworkCore", FROM_PACKAGE)               \
	X(FSHARP, "FSharp.Core", FROM_PACKAGE)                                   \
	X(HOSTING, "Microsoft.Extensions.Hosting", FROM_PACK)                    \
	X(HTTP, "System.Net.Http", FROM_PACK)                                    \
	X(INJECTION, "Microsoft.Extensions.DependencyInjection", FROM_PACK)      \
	X(JSON, "System.Text.Json", FROM_PACK)                                   \
	X(KESTREL, "Microsoft.AspNetCore.Server.Kestrel.Core", FROM_PACK)        \
	X(LOGGING, "Microsoft.Extensions.Logging", FROM_PACK)                    \
	X(MEMORY, "System.Memory", FROM_PACK)                                    \
	X(ORLEANS, "Orleans.Core", FROM_PACKAGE)                                 \
	X(ORLEANS_RUNTIME, "Orleans.Runtime", FROM_PACKAGE)                      \
	X(PIPELINES, "System.IO.Pipelines", FROM_PACK)                           \
	X(RATE_LIMITING, "System.Threading.RateLimiting", FROM_PACK)             \
	X(REGEX, "System.Text.RegularExpressions", FROM_PACK)                    \
	X(NET_PRIMITIVES, "System.Net.Primitives", FROM_PACK)                    \
	X(PROCESSES, "System.Diagnostics.Process", FROM_PACK)                    \
	X(SOCKETS, "System.Net.Sockets", FROM_PACK)                              \
	X(SQLITE, "Microsoft.Data.Sqlite", FROM_PACKAGE)                         \
	X(THREADING, "System.Threading", FROM_PACK)                              \
	X(WATCHER, "System.IO.FileSystem.Watcher", FROM_PACK)

/** X(id, full name as in metadata, assembly, first, last) */
#define FRAMEWORK_TYPES(X)                                                                         \
	/* Delegates and exceptions */                                                             \
	X(DELEGATE, "System.Delegate", CORELIB, 8, 0)                                              \
	X(MULTICAST, "System.MulticastDelegate", CORELIB, 8, 0)                                    \
	X(WRAPPER, "System.Delegate+Wrapper", CORELIB, 11, 0)                                      \
	X(EXCEPTION, "System.Exception", CORELIB, 8, 0)                                            \
	X(AGGREGATE_EXCEPTION, "System.AggregateException", CORELIB, 8, 0)                         \
	X(TYPE_INIT_EXCEPTION, "System.TypeInitializationException", CORELIB, 8, 0)                \
	/* Objects that every program has */                                                       \
	X(OBJECT, "System.Object", CORELIB, 8, 0)                                                  \
	X(STRING, "System.String", CORELIB, 8, 0)                                                  \
	X(ARRAY, "System.Array", CORELIB, 8, 0)                                                    \
	X(ENUM, "System.Enum", CORELIB, 8, 0)                                                      \
	X(VALUE_TYPE, "System.ValueType", CORELIB, 8, 0)                                           \
	X(DATE_TIME, "System.DateTime", CORELIB, 8, 0)                                             \
	X(DATE_TIME_OFFSET, "System.DateTimeOffset", CORELIB, 8, 0)                                \
	X(TIME_SPAN, "System.TimeSpan", CORELIB, 8, 0)                                             \
	X(GUID, "System.Guid", CORELIB, 8, 0)                                                      \
	X(DECIMAL, "System.Decimal", CORELIB, 8, 0)                                                \
	X(NULLABLE, "System.Nullable`1", CORELIB, 8, 0)                                            \
	X(DATE_ONLY, "System.DateOnly", CORELIB, 8, 0)                                             \
	X(TIME_ONLY, "System.TimeOnly", CORELIB, 8, 0)                                             \
	X(HALF, "System.Half", CORELIB, 8, 0)                                                      \
	X(INT128, "System.Int128", CORELIB, 8, 0)                                                  \
	X(UINT128, "System.UInt128", CORELIB, 8, 0)                                                \
	X(RUNE, "System.Text.Rune", CORELIB, 8, 0)                                                 \
	X(INDEX, "System.Index", CORELIB, 8, 0)                                                    \
	X(RANGE, "System.Range", CORELIB, 8, 0)                                                    \
	X(INLINE_ARRAY, "System.Runtime.CompilerServices.InlineArrayAttribute", CORELIB, 8, 0)     \
	X(LIST, "System.Collections.Generic.List`1", CORELIB, 8, 0)                                \
	X(WEAK_REFERENCE, "System.WeakReference", CORELIB, 8, 0)                                   \
	X(WEAK_REFERENCE_OF, "System.WeakReference`1", CORELIB, 8, 0)                              \
	X(RUNTIME_TYPE, "System.RuntimeType", CORELIB, 8, 0)                                       \
	X(APP_CONTEXT, "System.AppContext", CORELIB, 8, 0)                                         \
	/* Threads */                                                                              \
	X(THREAD, "System.Threading.Thread", CORELIB, 8, 0)                                        \
	X(SYNC_CONTEXT, "System.Threading.SynchronizationContext", CORELIB, 8, 0)                  \
	X(EXECUTION_CONTEXT, "System.Threading.ExecutionContext", CORELIB, 8, 0)                   \
	/* Tasks */                                                                                \
	X(TASK, "System.Threading.Tasks.Task", CORELIB, 8, 0)                                      \
	X(TASK_OF, "System.Threading.Tasks.Task`1", CORELIB, 8, 0)                                 \
	X(DISPATCH_INFO, "System.Runtime.ExceptionServices.ExceptionDispatchInfo", CORELIB, 8, 0)  \
	X(DELAY, "System.Threading.Tasks.Task+DelayPromise", CORELIB, 8, 0)                        \
	X(DELAY_CANCELLED, "System.Threading.Tasks.Task+DelayPromiseWithCancellation", CORELIB, 8, \
	  0)                                                                                       \
	X(CANCELLATION_PROMISE, "System.Threading.Tasks.Task+CancellationPromise`1", CORELIB, 8,   \
	  0)                                                                                       \
	X(SOURCE_AS_TASK, "System.Threading.Tasks.ValueTask+ValueTaskSourceAsTask", CORELIB, 8, 0) \
	X(SOURCE_AS_TASK_OF, "System.Threading.Tasks.ValueTask`1+ValueTaskSourceAsTask", CORELIB,  \
	  8, 0)                                                                                    \
	X(WHEN_ALL, "System.Threading.Tasks.Task+WhenAllPromise", CORELIB, 8, 0)                   \
	X(WHEN_ALL_OF, "System.Threading.Tasks.Task+WhenAllPromise`1", CORELIB, 8, 0)              \
	X(WHEN_ANY_TWO, "System.Threading.Tasks.Task+TwoTaskWhenAnyPromise`1", CORELIB, 8, 0)      \
	X(WHEN_ANY, "System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise`1", CORELIB, 8, 0) \
	X(WAIT_ONE, "System.Threading.Tasks.Task+SetOnInvokeMres", CORELIB, 8, 0)                  \
	X(WAIT_ALL, "System.Threading.Tasks.Task+SetOnCountdownMres", CORELIB, 8, 0)               \
	X(CONTINUE_TASK, "System.Threading.Tasks.ContinuationTaskFromTask", CORELIB, 8, 0)         \
	X(CONTINUE_RESULT, "System.Threading.Tasks.ContinuationTaskFromResultTask`1", CORELIB, 8,  \
	  0)                                                                                       \
	X(RESULT_OF_TASK, "System.Threading.Tasks.ContinuationResultTaskFromTask`1", CORELIB, 8,   \
	  0)                                                                                       \
	X(RESULT_OF_RESULT, "System.Threading.Tasks.ContinuationResultTaskFromResultTask`2",       \
	  CORELIB, 8, 0)                                                                           \
	X(UNWRAP, "System.Threading.Tasks.UnwrapPromise`1", CORELIB, 8, 0)                         \
	X(STANDARD_CONTINUATION, "System.Threading.Tasks.ContinueWithTaskContinuation", CORELIB,   \
	  8, 0)                                                                                    \
	X(AWAIT_CONTINUATION, "System.Threading.Tasks.AwaitTaskContinuation", CORELIB, 8, 0)       \
	X(CONTEXT_CONTINUATION,                                                                    \
	  "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation", CORELIB, 8, 0)     \
	X(SCHEDULER_CONTINUATION, "System.Threading.Tasks.TaskSchedulerAwaitTaskContinuation",     \
	  CORELIB, 8, 0)                                                                           \
	X(PAIR_SCHEDULER,                                                                          \
	  "System.Threading.Tasks.ConcurrentExclusiveSchedulerPair+"                               \
	  "ConcurrentExclusiveTaskScheduler",                                                      \
	  CORELIB, 8, 0)                                                                           \
	X(COMPLETION_SOURCE, "System.Threading.Tasks.TaskCompletionSource", CORELIB, 8, 0)         \
	X(COMPLETION_SOURCE_OF, "System.Threading.Tasks.TaskCompletionSource`1", CORELIB, 8, 0)    \
	X(TASK_AWAITER, "System.Runtime.CompilerServices.TaskAwaiter", CORELIB, 8, 0)              \
	X(VALUE_TASK_AWAITER, "System.Runtime.CompilerServices.ValueTaskAwaiter", CORELIB, 8, 0)   \
	X(BUILDER_BOX,                                                                             \
	  "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1",       \
	  CORELIB, 8, 0)                                                                           \
	X(CONTINUATION, "System.Runtime.CompilerServices.Continuation", CORELIB, 10, 0)            \
	X(RUNTIME_TASK, "System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask`1",         \
	  CORELIB, 11, 0)                                                                          \
	X(TASK_HEAD, "System.Runtime.CompilerServices.RuntimeAsyncTaskContinuation", CORELIB, 11,  \
	  0)                                                                                       \
	X(SOURCE_HEAD, "System.Runtime.CompilerServices.AsyncHelpers+ValueTaskSourceContinuation", \
	  CORELIB, 11, 0)                                                                          \
	X(DISPATCHER, "System.Runtime.CompilerServices.AsyncDispatcherInfo", CORELIB, 11, 0)       \
	/* Locks and signals */                                                                    \
	X(LOCK, "System.Threading.Lock", CORELIB, 9, 0)                                            \
	X(CONDITION, "System.Threading.Condition", CORELIB, 11, 0)                                 \
	X(CONDITION_WAITER, "System.Threading.Condition+Waiter", CORELIB, 11, 0)                   \
	X(WAIT_INFO, "System.Threading.WaitSubsystem+ThreadWaitInfo", CORELIB, 11, 0)              \
	X(WAITABLE, "System.Threading.WaitSubsystem+WaitableObject", CORELIB, 11, 0)               \
	X(SEMAPHORE_SLIM, "System.Threading.SemaphoreSlim", CORELIB, 8, 0)                         \
	X(SEMAPHORE_NODE, "System.Threading.SemaphoreSlim+TaskNode", CORELIB, 8, 0)                \
	X(EVENT_SLIM, "System.Threading.ManualResetEventSlim", CORELIB, 8, 0)                      \
	X(COUNTDOWN, "System.Threading.CountdownEvent", THREADING, 8, 0)                           \
	X(BARRIER, "System.Threading.Barrier", THREADING, 8, 0)                                    \
	X(LOCK_SLIM, "System.Threading.ReaderWriterLockSlim", CORELIB, 8, 0)                       \
	X(LOCK_SLIM_COUNT, "System.Threading.ReaderWriterCount", CORELIB, 8, 0)                    \
	X(SPIN_LOCK, "System.Threading.SpinLock", CORELIB, 8, 0)                                   \
	X(WAIT_HANDLE, "System.Threading.WaitHandle", CORELIB, 8, 0)                               \
	X(MUTEX, "System.Threading.Mutex", CORELIB, 8, 0)                                          \
	X(SAFE_WAIT_HANDLE, "Microsoft.Win32.SafeHandles.SafeWaitHandle", CORELIB, 8, 0)           \
	X(SAFE_HANDLE, "System.Runtime.InteropServices.SafeHandle", CORELIB, 8, 0)                 \
	X(LAZY, "System.Lazy`1", CORELIB, 8, 0)                                                    \
	X(BLOCKING, "System.Collections.Concurrent.BlockingCollection`1", CONCURRENT, 8, 0)        \
	/* Channels, pipes, sockets */                                                             \
	X(ASYNC_OPERATION, "System.Threading.Channels.AsyncOperation`1", CHANNELS, 8, 0)           \
	X(ASYNC_OPERATION_DATA, "System.Threading.Channels.VoidAsyncOperationWithData`1",          \
	  CHANNELS, 8, 9)                                                                          \
	X(BLOCKED_READ, "System.Threading.Channels.BlockedReadAsyncOperation`1", CHANNELS, 10, 0)  \
	X(BLOCKED_WRITE, "System.Threading.Channels.BlockedWriteAsyncOperation`1", CHANNELS, 10,   \
	  0)                                                                                       \
	X(WAITING_READ, "System.Threading.Channels.WaitingReadAsyncOperation", CHANNELS, 10, 0)    \
	X(WAITING_WRITE, "System.Threading.Channels.WaitingWriteAsyncOperation", CHANNELS, 10, 0)  \
	X(CHANNEL_UNBOUNDED, "System.Threading.Channels.UnboundedChannel`1", CHANNELS, 8, 0)       \
	X(CHANNEL_BOUNDED, "System.Threading.Channels.BoundedChannel`1", CHANNELS, 8, 0)           \
	X(CHANNEL_RENDEZVOUS, "System.Threading.Channels.RendezvousChannel`1", CHANNELS, 10, 0)    \
	X(CHANNEL_SINGLE, "System.Threading.Channels.SingleConsumerUnboundedChannel`1", CHANNELS,  \
	  8, 0)                                                                                    \
	X(CHANNEL_PRIORITY, "System.Threading.Channels.UnboundedPrioritizedChannel`1", CHANNELS,   \
	  9, 0)                                                                                    \
	X(DEQUE, "System.Collections.Generic.Deque`1", CHANNELS, 8, 0)                             \
	X(SOCKET, "System.Net.Sockets.Socket", SOCKETS, 8, 0)                                      \
	X(IP_END_POINT, "System.Net.IPEndPoint", NET_PRIMITIVES, 8, 0)                             \
	X(IP_ADDRESS, "System.Net.IPAddress", NET_PRIMITIVES, 8, 0)                                \
	X(SOCKET_ARGS, "System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs", SOCKETS, 8, 0)   \
	X(PIPE_READER, "System.IO.Pipelines.Pipe+DefaultPipeReader", PIPELINES, 8, 0)              \
	X(PIPE_WRITER, "System.IO.Pipelines.Pipe+DefaultPipeWriter", PIPELINES, 8, 0)              \
	X(SOCKET_ENGINE, "System.Net.Sockets.SocketAsyncEngine", SOCKETS, 8, 0)                    \
	/* The thread pool and timers */                                                           \
	X(POOL, "System.Threading.ThreadPool", CORELIB, 8, 0)                                      \
	X(PORTABLE_POOL, "System.Threading.PortableThreadPool", CORELIB, 8, 0)                     \
	X(WORK_QUEUE, "System.Threading.ThreadPoolWorkQueue", CORELIB, 8, 0)                       \
	X(LOCAL_QUEUES, "System.Threading.ThreadPoolWorkQueue+WorkStealingQueueList", CORELIB, 8,  \
	  0)                                                                                       \
	X(LOCAL_QUEUE, "System.Threading.ThreadPoolWorkQueue+WorkStealingQueue", CORELIB, 8, 0)    \
	X(CONCURRENT_QUEUE, "System.Collections.Concurrent.ConcurrentQueue`1", CORELIB, 8, 0)      \
	X(WORK_CALLBACK, "System.Threading.QueueUserWorkItemCallback", CORELIB, 8, 0)              \
	X(HILL_CLIMBING, "System.Threading.PortableThreadPool+HillClimbing", CORELIB, 8, 0)        \
	X(HILL_ENTRY, "System.Threading.PortableThreadPool+HillClimbing+LogEntry", CORELIB, 8, 0)  \
	X(TIMER_QUEUE, "System.Threading.TimerQueue", CORELIB, 8, 0)                               \
	X(TIMER_IN_QUEUE, "System.Threading.TimerQueueTimer", CORELIB, 8, 0)                       \
	X(REGISTERED, "System.Threading.RegisteredWaitHandle", CORELIB, 8, 0)                      \
	X(TIMER, "System.Threading.Timer", CORELIB, 8, 0)                                          \
	X(TIMER_HOLDER, "System.Threading.TimerHolder", CORELIB, 8, 0)                             \
	X(TIMERS_TIMER, "System.Timers.Timer", COMPONENTS, 8, 0)                                   \
	X(PERIODIC_TIMER, "System.Threading.PeriodicTimer", CORELIB, 8, 0)                         \
	X(PERIODIC_STATE, "System.Threading.PeriodicTimer+State", CORELIB, 8, 0)                   \
	X(CANCELLATION, "System.Threading.CancellationTokenSource", CORELIB, 8, 0)                 \
	X(REGISTRATIONS, "System.Threading.CancellationTokenSource+Registrations", CORELIB, 8, 0)  \
	X(PROCESS, "System.Diagnostics.Process", PROCESSES, 8, 0)                                  \
	X(PROCESS_START, "System.Diagnostics.ProcessStartInfo", PROCESSES, 8, 0)                   \
	X(CALLBACK_NODE, "System.Threading.CancellationTokenSource+CallbackNode", CORELIB, 8, 0)   \
	/* Assemblies and load contexts */                                                         \
	X(LOAD_CONTEXT, "System.Runtime.Loader.AssemblyLoadContext", CORELIB, 8, 0)                \
	X(LOADER_ALLOCATOR, "System.Reflection.LoaderAllocator", CORELIB, 8, 0)                    \
	X(RUNTIME_ASSEMBLY, "System.Reflection.RuntimeAssembly", CORELIB, 8, 0)                    \
	X(RUNTIME_MODULE, "System.Reflection.RuntimeModule", CORELIB, 8, 0)                        \
	X(ASSEMBLY_BUILDER, "System.Reflection.Emit.RuntimeAssemblyBuilder", CORELIB, 8, 0)        \
	X(DYNAMIC_METHOD, "System.Reflection.Emit.DynamicMethod", CORELIB, 8, 0)                   \
	/* Requests of HttpClient */                                                               \
	X(HTTP_REQUEST, "System.Net.Http.HttpRequestMessage", HTTP, 8, 0)                          \
	X(HTTP_RESPONSE, "System.Net.Http.HttpResponseMessage", HTTP, 8, 0)                        \
	X(HTTP_CLIENT, "System.Net.Http.HttpClient", HTTP, 8, 0)                                   \
	X(HTTP_CONNECTION, "System.Net.Http.HttpConnection", HTTP, 8, 0)                           \
	X(HTTP2_CONNECTION, "System.Net.Http.Http2Connection", HTTP, 8, 0)                         \
	X(HTTP2_STREAM, "System.Net.Http.Http2Connection+Http2Stream", HTTP, 8, 0)                 \
	X(HTTP_POOL, "System.Net.Http.HttpConnectionPool", HTTP, 8, 0)                             \
	X(HTTP_QUEUE_ITEM, "System.Net.Http.RequestQueue`1+QueueItem", HTTP, 9, 0)                 \
	X(HTTP_QUEUE_ITEM_8, "System.Net.Http.HttpConnectionPool+RequestQueue`1+QueueItem", HTTP,  \
	  8, 8)                                                                                    \
	X(HTTP_WAITER, "System.Net.Http.HttpConnectionWaiter`1", HTTP, 9, 0)                       \
	X(HTTP_WAITER_8, "System.Net.Http.HttpConnectionPool+HttpConnectionWaiter`1", HTTP, 8, 8)  \
	X(HTTP_HANDLER, "System.Net.Http.SocketsHttpHandler", HTTP, 8, 0)                          \
	/* Requests of Kestrel */                                                                  \
	X(SERVER_CONTEXT, "Microsoft.AspNetCore.Http.DefaultHttpContext", ASPNETCORE_HTTP, 8, 0)   \
	X(SERVER_PROTOCOL, "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol",  \
	  KESTREL, 8, 0)                                                                           \
	X(WEB_APPLICATION, "Microsoft.AspNetCore.Builder.WebApplication", ASPNETCORE, 8, 0)        \
	X(GENERIC_HOST, "Microsoft.Extensions.Hosting.Internal.Host", HOSTING, 8, 0)               \
	X(SERVICE_PROVIDER, "Microsoft.Extensions.DependencyInjection.ServiceProvider", INJECTION, \
	  8, 0)                                                                                    \
	X(SERVICE_SCOPE,                                                                           \
	  "Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope",     \
	  INJECTION, 8, 0)                                                                         \
	X(MEMORY_CACHE, "Microsoft.Extensions.Caching.Memory.MemoryCache", CACHING, 7, 0)          \
	X(CACHE_ENTRY, "Microsoft.Extensions.Caching.Memory.CacheEntry", CACHING, 7, 0)            \
	X(LOGGER_SCOPE, "Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope", LOGGING,  \
	  8, 0)                                                                                    \
	/* Objects that pile up */                                                                 \
	X(DATA_ROW, "System.Data.DataRow", DATA, 8, 0)                                             \
	X(DB_CONNECTION, "System.Data.Common.DbConnection", DATA, 8, 0)                            \
	X(REGEX, "System.Text.RegularExpressions.Regex", REGEX, 8, 0)                              \
	X(FILE_WATCHER, "System.IO.FileSystemWatcher", WATCHER, 8, 0)                              \
	X(ACTIVITY, "System.Diagnostics.Activity", DIAGNOSTICS, 8, 0)                              \
	X(JSON_DOCUMENT, "System.Text.Json.JsonDocument", JSON, 8, 0)                              \
	X(ENTITY_ENTRY,                                                                            \
	  "Microsoft.EntityFrameworkCore.ChangeTracking.Internal.InternalEntityEntry", ENTITIES,   \
	  8, 0)                                                                                    \
	X(MEMORY_STREAM, "System.IO.MemoryStream", CORELIB, 8, 0)                                  \
	X(MEMORY, "System.Memory`1", CORELIB, 8, 0)                                                \
	X(READ_ONLY_MEMORY, "System.ReadOnlyMemory`1", CORELIB, 8, 0)                              \
	X(ARRAY_SEGMENT, "System.ArraySegment`1", CORELIB, 8, 0)                                   \
	X(READ_ONLY_SEQUENCE, "System.Buffers.ReadOnlySequence`1", MEMORY, 8, 0)                   \
	X(CONFIGURABLE_POOL, "System.Buffers.ConfigurableArrayPool`1", CORELIB, 8, 0)              \
	X(SHARED_POOL, "System.Buffers.SharedArrayPool`1", CORELIB, 8, 0)                          \
	X(SHARED_POOL_THREAD, "System.Buffers.SharedArrayPoolThreadLocalArray", CORELIB, 9, 0)     \
	X(SHARED_POOL_PARTS, "System.Buffers.SharedArrayPoolPartitions", CORELIB, 9, 0)            \
	X(EVENT_METADATA, "System.Diagnostics.Tracing.EventSource+EventMetadata", CORELIB, 8, 0)   \
	/* Segments and entries of concurrent collections */                                       \
	X(QUEUE_SEGMENT, "System.Collections.Concurrent.ConcurrentQueueSegment`1", CORELIB, 8, 0)  \
	X(SEGMENT_SLOT, "System.Collections.Concurrent.ConcurrentQueueSegment`1+Slot", CORELIB, 8, \
	  0)                                                                                       \
	X(RING_SEGMENT,                                                                            \
	  "System.Collections.Concurrent.SingleProducerSingleConsumerQueue`1+Segment", CHANNELS,   \
	  8, 0)                                                                                    \
	X(BAG_QUEUE, "System.Collections.Concurrent.ConcurrentBag`1+WorkStealingQueue",            \
	  CONCURRENT, 8, 0)                                                                        \
	X(WEAK_ENTRY, "System.Runtime.CompilerServices.ConditionalWeakTable`2+Entry", CORELIB, 8,  \
	  0)                                                                                       \
	LIBRARY_TYPES(X)

/** X(id, type, path as member_of() takes it, first, last) */
#define FRAMEWORK_FIELDS(X)                                                                       \
	/* Delegates and exceptions */                                                            \
	X(DELEGATE_TARGET, DELEGATE, "_target", 8, 0)                                             \
	X(DELEGATE_CODE, DELEGATE, "_methodPtr", 8, 0)                                            \
	X(DELEGATE_CODE_AUX, DELEGATE, "_methodPtrAux", 8, 0)                                     \
	X(DELEGATE_LIST, MULTICAST, "_invocationList", 8, 10)                                     \
	X(DELEGATE_COUNT, MULTICAST, "_invocationCount", 8, 10)                                   \
	X(DELEGATE_HELPER, DELEGATE, "_helperObject", 11, 0)                                      \
	X(DELEGATE_EXTRA, DELEGATE, "_extraData", 11, 0)                                          \
	X(EXCEPTION_HRESULT, EXCEPTION, "_HResult", 8, 0)                                         \
	X(EXCEPTION_INNER, EXCEPTION, "_innerException", 8, 0)                                    \
	X(EXCEPTION_MESSAGE, EXCEPTION, "_message", 8, 0)                                         \
	X(EXCEPTION_REMOTE_TRACE, EXCEPTION, "_remoteStackTraceString", 8, 0)                     \
	X(EXCEPTION_TRACE, EXCEPTION, "_stackTrace", 8, 0)                                        \
	X(EXCEPTION_TRACE_TEXT, EXCEPTION, "_stackTraceString", 8, 0)                             \
	X(AGGREGATE_INNERS, AGGREGATE_EXCEPTION, "_innerExceptions", 8, 0)                        \
	/* Objects that every program has */                                                      \
	X(DATE_TIME_DATA, DATE_TIME, "_dateData", 8, 0)                                           \
	X(DATE_OFFSET_TIME, DATE_TIME_OFFSET, "_dateTime", 8, 0)                                  \
	X(DATE_OFFSET_MINUTES, DATE_TIME_OFFSET, "_offsetMinutes", 8, 0)                          \
	X(TIME_SPAN_TICKS, TIME_SPAN, "_ticks", 8, 0)                                             \
	X(DECIMAL_FLAGS, DECIMAL, "_flags", 8, 0)                                                 \
	X(DECIMAL_HIGH, DECIMAL, "_hi32", 8, 0)                                                   \
	X(DECIMAL_LOW, DECIMAL, "_lo64", 8, 0)                                                    \
	X(NULLABLE_VALUE, NULLABLE, "value", 8, 0)                                                \
	X(NULLABLE_HAS_VALUE, NULLABLE, "hasValue", 8, 0)                                         \
	X(DATE_ONLY_DAYS, DATE_ONLY, "_dayNumber", 8, 0)                                          \
	X(TIME_ONLY_TICKS, TIME_ONLY, "_ticks", 8, 0)                                             \
	X(HALF_VALUE, HALF, "_value", 8, 0)                                                       \
	X(INT128_LOW, INT128, "_lower", 8, 0)                                                     \
	X(INT128_HIGH, INT128, "_upper", 8, 0)                                                    \
	X(UINT128_LOW, UINT128, "_lower", 8, 0)                                                   \
	X(UINT128_HIGH, UINT128, "_upper", 8, 0)                                                  \
	X(RUNE_VALUE, RUNE, "_value", 8, 0)                                                       \
	X(INDEX_VALUE, INDEX, "_value", 8, 0)                                                     \
	X(RANGE_START, RANGE, "<Start>k__BackingField", 8, 0)                                     \
	X(RANGE_END, RANGE, "<End>k__BackingField", 8, 0)                                         \
	X(LIST_ITEMS, LIST, "_items", 8, 0)                                                       \
	X(LIST_SIZE, LIST, "_size", 8, 0)                                                         \
	X(WEAK_REFERENCE_HANDLE, WEAK_REFERENCE, "_taggedHandle", 8, 0)                           \
	X(APP_CONTEXT_DATA, APP_CONTEXT, "s_dataStore", 8, 0)                                     \
	/* Threads */                                                                             \
	X(THREAD_NATIVE, THREAD, "_DONT_USE_InternalThread", 8, 0)                                \
	X(THREAD_NAME, THREAD, "_name", 8, 0)                                                     \
	X(THREAD_ID, THREAD, "_managedThreadId", 8, 0)                                            \
	X(THREAD_CONTEXT, THREAD, "_synchronizationContext", 8, 0)                                \
	X(THREAD_WAIT_INFO, THREAD, "_waitInfo", 11, 0)                                           \
	X(THREAD_JOIN_EVENT, THREAD, "_joinEvent", 11, 0)                                         \
	/* Tasks */                                                                               \
	X(TASK_FLAGS, TASK, "m_stateFlags", 8, 0)                                                 \
	X(TASK_NEXT, TASK, "m_continuationObject", 8, 0)                                          \
	X(TASK_ACTION, TASK, "m_action", 8, 0)                                                    \
	X(TASK_STATE_OBJECT, TASK, "m_stateObject", 8, 0)                                         \
	X(TASK_SCHEDULER, TASK, "m_taskScheduler", 8, 0)                                          \
	X(TASK_EXCEPTIONS, TASK,                                                                  \
	  "m_contingentProperties.m_exceptionsHolder.m_faultExceptions._items", 8, 0)             \
	X(DISPATCH_INFO_EXCEPTION, DISPATCH_INFO, "_exception", 8, 0)                             \
	X(TASK_ACTIVE, TASK, "s_currentActiveTasks", 8, 0)                                        \
	X(TASK_IS_DEBUGGED, TASK, "s_asyncDebuggingEnabled", 8, 0)                                \
	X(DELAY_TIMER, DELAY, "_timer", 8, 0)                                                     \
	X(CANCELLATION_PROMISE_TASK, CANCELLATION_PROMISE, "_task", 8, 0)                         \
	X(SOURCE_AS_TASK_SOURCE, SOURCE_AS_TASK, "_source", 8, 0)                                 \
	X(WHEN_ALL_LEFT, WHEN_ALL, "_remainingToComplete", 8, 0)                                  \
	X(WHEN_ALL_OF_LEFT, WHEN_ALL_OF, "m_count", 8, 0)                                         \
	X(WHEN_ANY_FIRST, WHEN_ANY_TWO, "_task1", 8, 0)                                           \
	X(WHEN_ANY_SECOND, WHEN_ANY_TWO, "_task2", 8, 0)                                          \
	X(WHEN_ANY_TASKS, WHEN_ANY, "_tasks", 8, 0)                                               \
	X(WAIT_ALL_LEFT, WAIT_ALL, "_count", 8, 0)                                                \
	X(CONTINUE_TASK_OF, CONTINUE_TASK, "m_antecedent", 8, 0)                                  \
	X(CONTINUATION_TASK, STANDARD_CONTINUATION, "m_task", 8, 0)                               \
	X(CONTINUATION_ACTION, AWAIT_CONTINUATION, "m_action", 8, 0)                              \
	X(CONTINUATION_TARGET, AWAIT_CONTINUATION, "m_action._target", 8, 0)                      \
	X(CONTEXT_CONTINUATION_OF, CONTEXT_CONTINUATION, "m_syncContext", 8, 0)                   \
	X(SCHEDULER_CONTINUATION_OF, SCHEDULER_CONTINUATION, "m_scheduler", 8, 0)                 \
	X(PAIR_SCHEDULER_MOST, PAIR_SCHEDULER, "m_maxConcurrencyLevel", 8, 0)                     \
	X(COMPLETION_SOURCE_TASK, COMPLETION_SOURCE_OF, "_task", 8, 0)                            \
	X(AWAITER_TASK, TASK_AWAITER, "m_task", 8, 0)                                             \
	X(VALUE_AWAITER_OBJECT, VALUE_TASK_AWAITER, "_value._obj", 8, 0)                          \
	X(BOX_MACHINE, BUILDER_BOX, "StateMachine", 8, 0)                                         \
	X(TASK_HEAD_TASK, TASK_HEAD, "Task", 11, 0)                                               \
	X(TASK_HEAD_CONTEXT, TASK_HEAD, "ContinuationContext", 11, 0)                             \
	X(SOURCE_HEAD_SOURCE, SOURCE_HEAD, "Source", 11, 0)                                       \
	X(DISPATCHER_CURRENT, DISPATCHER, "t_current", 11, 0)                                     \
	X(DISPATCHER_OUTER, DISPATCHER, "Next", 11, 0)                                            \
	X(DISPATCHER_AWAITS, DISPATCHER, "NextContinuation", 11, 0)                               \
	X(DISPATCHER_TASK, DISPATCHER, "CurrentTask", 11, 0)                                      \
	/* Locks and signals */                                                                   \
	X(LOCK_OWNER, LOCK, "_owningThreadId", 9, 0)                                              \
	X(LOCK_STATE, LOCK, "_state", 9, 0)                                                       \
	X(LOCK_RECURSION, LOCK, "_recursionCount", 9, 0)                                          \
	X(LOCK_EVENT, LOCK, "_waitEventOrCondition", 11, 0)                                       \
	X(CONDITION_EVENT, CONDITION, "_waitEvent", 11, 0)                                        \
	X(CONDITION_FIRST, CONDITION, "_waitersHead", 11, 0)                                      \
	X(WAITER_NEXT, CONDITION_WAITER, "next", 11, 0)                                           \
	X(WAITER_EVENT, CONDITION_WAITER, "ev", 11, 0)                                            \
	X(WAIT_STATE, WAIT_INFO, "_waitSignalState", 11, 0)                                       \
	X(WAIT_COUNT, WAIT_INFO, "_waitedCount", 11, 0)                                           \
	X(WAIT_FOR_ALL, WAIT_INFO, "_isWaitForAll", 11, 0)                                        \
	X(WAIT_OBJECTS, WAIT_INFO, "_waitedObjects", 11, 0)                                       \
	X(WAITABLE_TYPE, WAITABLE, "_type", 11, 0)                                                \
	X(WAITABLE_SIGNALS, WAITABLE, "_signalCount", 11, 0)                                      \
	X(WAITABLE_LIMIT, WAITABLE, "_maximumSignalCount", 11, 0)                                 \
	X(WAITABLE_OWNER, WAITABLE, "_ownershipInfo._thread", 11, 0)                              \
	X(SEMAPHORE_FREE, SEMAPHORE_SLIM, "m_currentCount", 8, 0)                                 \
	X(SEMAPHORE_MAX, SEMAPHORE_SLIM, "m_maxCount", 8, 0)                                      \
	X(SEMAPHORE_WAITERS, SEMAPHORE_SLIM, "m_asyncHead", 8, 0)                                 \
	X(SEMAPHORE_NODE_NEXT, SEMAPHORE_NODE, "Next", 8, 0)                                      \
	X(EVENT_STATE, EVENT_SLIM, "m_combinedState", 8, 0)                                       \
	X(COUNTDOWN_LEFT, COUNTDOWN, "_currentCount", 8, 0)                                       \
	X(COUNTDOWN_INITIAL, COUNTDOWN, "_initialCount", 8, 0)                                    \
	X(COUNTDOWN_EVENT, COUNTDOWN, "_event", 8, 0)                                             \
	X(BARRIER_TOTAL, BARRIER, "_currentTotalCount", 8, 0)                                     \
	X(LOCK_SLIM_WRITER, LOCK_SLIM, "_writeLockOwnerId", 8, 0)                                 \
	X(LOCK_SLIM_UPGRADER, LOCK_SLIM, "_upgradeLockOwnerId", 8, 0)                             \
	X(LOCK_SLIM_OWNERS, LOCK_SLIM, "_owners", 8, 0)                                           \
	X(LOCK_SLIM_ID, LOCK_SLIM, "_lockID", 8, 0)                                               \
	X(LOCK_SLIM_READERS, LOCK_SLIM, "t_rwc", 8, 0)                                            \
	X(LOCK_COUNT_LOCK, LOCK_SLIM_COUNT, "lockID", 8, 0)                                       \
	X(LOCK_COUNT_READERS, LOCK_SLIM_COUNT, "readercount", 8, 0)                               \
	X(LOCK_COUNT_NEXT, LOCK_SLIM_COUNT, "next", 8, 0)                                         \
	X(SPIN_LOCK_OWNER, SPIN_LOCK, "_owner", 8, 0)                                             \
	X(WAIT_HANDLE_SAFE, WAIT_HANDLE, "_waitHandle", 8, 0)                                     \
	X(SAFE_HANDLE_VALUE, SAFE_HANDLE, "handle", 8, 0)                                         \
	X(BLOCKING_CAPACITY, BLOCKING, "_boundedCapacity", 8, 0)                                  \
	X(BLOCKING_FREE, BLOCKING, "_freeNodes.m_currentCount", 8, 0)                             \
	/* Channels, pipes, sockets */                                                            \
	X(OPERATION_NEXT, ASYNC_OPERATION, "<Next>k__BackingField", 8, 0)                         \
	X(CHANNEL_CAPACITY, CHANNEL_BOUNDED, "_bufferedCapacity", 8, 0)                           \
	X(CHANNEL_COMPLETION, CHANNEL_BOUNDED, "_completion._task", 8, 0)                         \
	X(CHANNEL_COMPLETED, CHANNEL_BOUNDED, "_doneWriting", 8, 0)                               \
	X(CHANNEL_READERS, CHANNEL_BOUNDED, "_blockedReadersHead", 10, 0)                         \
	X(CHANNEL_WAITING_READERS, CHANNEL_BOUNDED, "_waitingReadersHead", 10, 0)                 \
	X(CHANNEL_WRITERS, CHANNEL_BOUNDED, "_blockedWritersHead", 10, 0)                         \
	X(CHANNEL_WAITING_WRITERS, CHANNEL_BOUNDED, "_waitingWritersHead", 10, 0)                 \
	X(CHANNEL_WAITING_READERS_8, CHANNEL_BOUNDED, "_waitingReadersTail", 8, 9)                \
	X(CHANNEL_WAITING_WRITERS_8, CHANNEL_BOUNDED, "_waitingWritersTail", 8, 9)                \
	X(CHANNEL_READERS_8, CHANNEL_BOUNDED, "_blockedReaders", 8, 9)                            \
	X(CHANNEL_WRITERS_8, CHANNEL_BOUNDED, "_blockedWriters", 8, 9)                            \
	X(CHANNEL_READER, CHANNEL_SINGLE, "_blockedReader", 8, 0)                                 \
	X(CHANNEL_WAITING_READER, CHANNEL_SINGLE, "_waitingReader", 8, 0)                         \
	X(DEQUE_ARRAY, DEQUE, "_array", 8, 0)                                                     \
	X(DEQUE_HEAD, DEQUE, "_head", 8, 0)                                                       \
	X(DEQUE_SIZE, DEQUE, "_size", 8, 0)                                                       \
	X(SOCKET_DISPOSED, SOCKET, "_disposed", 8, 0)                                             \
	X(SOCKET_LOCAL, SOCKET, "_localEndPoint", 8, 0)                                           \
	X(SOCKET_BOUND, SOCKET, "_rightEndPoint", 8, 0)                                           \
	X(SOCKET_REMOTE, SOCKET, "_remoteEndPoint", 8, 0)                                         \
	X(END_POINT_ADDRESS, IP_END_POINT, "_address", 8, 0)                                      \
	X(END_POINT_PORT, IP_END_POINT, "_port", 8, 0)                                            \
	X(IP_ADDRESS_4, IP_ADDRESS, "_addressOrScopeId", 8, 0)                                    \
	X(IP_ADDRESS_6, IP_ADDRESS, "_numbers", 8, 0)                                             \
	X(SOCKET_ARGS_OWNER, SOCKET_ARGS, "_owner", 8, 0)                                         \
	/* The thread pool and timers */                                                          \
	X(POOL_WORK, POOL, "s_workQueue", 8, 0)                                                   \
	X(PORTABLE_POOL_ONE, PORTABLE_POOL, "ThreadPoolInstance", 8, 0)                           \
	X(POOL_MIN_THREADS, PORTABLE_POOL, "_minThreads", 8, 0)                                   \
	X(POOL_MAX_THREADS, PORTABLE_POOL, "_maxThreads", 8, 0)                                   \
	X(POOL_BLOCKED_THREADS, PORTABLE_POOL, "_numBlockedThreads", 8, 0)                        \
	X(POOL_ADDED_THREADS, PORTABLE_POOL, "_numThreadsAddedDueToBlocking", 8, 0)               \
	X(POOL_CPU_USE, PORTABLE_POOL, "_cpuUtilization", 8, 0)                                   \
	X(POOL_REQUESTED_WORKERS, PORTABLE_POOL, "_separated.numRequestedWorkers", 8, 10)         \
	X(POOL_LAST_TAKEN, PORTABLE_POOL, "_separated.lastDequeueTime", 8, 10)                    \
	X(POOL_HAS_REQUEST, PORTABLE_POOL, "_separated._hasOutstandingThreadRequest", 11, 0)      \
	X(POOL_LAST_DISPATCH, PORTABLE_POOL, "_separated.lastDispatchTime", 11, 0)                \
	X(POOL_COUNTS, PORTABLE_POOL, "_separated.counts._data", 8, 0)                            \
	X(WORK_HIGH, WORK_QUEUE, "highPriorityWorkItems", 8, 0)                                   \
	X(WORK_GLOBAL, WORK_QUEUE, "workItems", 8, 0)                                             \
	X(WORK_LOW, WORK_QUEUE, "lowPriorityWorkItems", 8, 0)                                     \
	X(WORK_ASSIGNED, WORK_QUEUE, "_assignableWorkItemQueues", 8, 0)                           \
	X(LOCAL_QUEUES_ALL, LOCAL_QUEUES, "s_queues", 9, 0)                                       \
	X(LOCAL_QUEUES_ALL_8, LOCAL_QUEUES, "_queues", 8, 8)                                      \
	X(LOCAL_QUEUE_HEAD, LOCAL_QUEUE, "m_headIndex", 8, 0)                                     \
	X(LOCAL_QUEUE_TAIL, LOCAL_QUEUE, "m_tailIndex", 8, 0)                                     \
	X(LOCAL_QUEUE_ARRAY, LOCAL_QUEUE, "m_array", 8, 0)                                        \
	X(CONCURRENT_QUEUE_HEAD, CONCURRENT_QUEUE, "_head", 8, 0)                                 \
	X(WORK_CALLBACK_CALL, WORK_CALLBACK, "_callback", 8, 0)                                   \
	X(WORK_CALLBACK_STATE, WORK_CALLBACK, "_state", 8, 0)                                     \
	X(HILL_CLIMBER, HILL_CLIMBING, "ThreadPoolHillClimber", 8, 0)                             \
	X(HILL_LOG, HILL_CLIMBING, "_log", 8, 0)                                                  \
	X(HILL_LOG_START, HILL_CLIMBING, "_logStart", 8, 0)                                       \
	X(HILL_LOG_SIZE, HILL_CLIMBING, "_logSize", 8, 0)                                         \
	X(HILL_SAMPLES, HILL_CLIMBING, "_totalSamples", 8, 0)                                     \
	X(HILL_ENTRY_TICKS, HILL_ENTRY, "tickCount", 8, 0)                                        \
	X(HILL_ENTRY_TRANSITION, HILL_ENTRY, "stateOrTransition", 8, 0)                           \
	X(HILL_ENTRY_THREADS, HILL_ENTRY, "newControlSetting", 8, 0)                              \
	X(HILL_ENTRY_SAMPLES, HILL_ENTRY, "lastHistoryCount", 8, 0)                               \
	X(HILL_ENTRY_MEAN, HILL_ENTRY, "lastHistoryMean", 8, 0)                                   \
	X(TIMER_QUEUES, TIMER_QUEUE, "<Instances>k__BackingField", 8, 0)                          \
	X(TIMER_QUEUE_SHORT, TIMER_QUEUE, "_shortTimers", 8, 0)                                   \
	X(TIMER_QUEUE_LONG, TIMER_QUEUE, "_longTimers", 8, 0)                                     \
	X(TIMER_START, TIMER_IN_QUEUE, "_startTicks", 8, 0)                                       \
	X(TIMER_DUE, TIMER_IN_QUEUE, "_dueTime", 8, 0)                                            \
	X(TIMER_PERIOD, TIMER_IN_QUEUE, "_period", 8, 0)                                          \
	X(TIMER_STATE, TIMER_IN_QUEUE, "_state", 8, 0)                                            \
	X(TIMER_NEXT, TIMER_IN_QUEUE, "_next", 8, 0)                                              \
	X(TIMER_CANCELED, TIMER_IN_QUEUE, "_canceled", 8, 0)                                      \
	X(TIMER_CALLBACK, TIMER_IN_QUEUE, "_timerCallback", 8, 0)                                 \
	X(TIMER_END, TIMER_IN_QUEUE, "_notifyWhenNoCallbacksRunning", 8, 0)                       \
	X(REGISTERED_END, REGISTERED, "<UserUnregisterWaitHandle>k__BackingField", 8, 0)          \
	X(TIMERS_TIMER_HANDLER, TIMERS_TIMER, "_onIntervalElapsed", 8, 0)                         \
	X(PERIODIC_OWNER, PERIODIC_STATE, "_owner", 8, 0)                                         \
	X(CANCELLATION_TIMER, CANCELLATION, "_timer", 8, 0)                                       \
	X(CANCELLATION_STATE, CANCELLATION, "_state", 8, 0)                                       \
	X(REGISTRATIONS_THREAD, REGISTRATIONS, "ThreadIDExecutingCallbacks", 8, 0)                \
	X(PROCESS_ID, PROCESS, "_processId", 8, 0)                                                \
	X(PROCESS_STARTED_WITH, PROCESS, "_startInfo", 8, 0)                                      \
	X(PROCESS_FILE, PROCESS_START, "_fileName", 8, 0)                                         \
	X(PROCESS_OUTPUT, PROCESS, "_standardOutput", 8, 0)                                       \
	X(PROCESS_OUTPUT_MODE, PROCESS, "_outputStreamReadMode", 8, 0)                            \
	X(PROCESS_ERROR, PROCESS, "_standardError", 8, 0)                                         \
	X(PROCESS_ERROR_MODE, PROCESS, "_errorStreamReadMode", 8, 0)                              \
	X(ENTITY_ENTRY_ENTITY, ENTITY_ENTRY, "<Entity>k__BackingField", 8, 0)                     \
	X(MEMORY_STREAM_BUFFER, MEMORY_STREAM, "_buffer", 8, 0)                                   \
	X(MEMORY_STREAM_LENGTH, MEMORY_STREAM, "_length", 8, 0)                                   \
	X(MEMORY_STREAM_CAPACITY, MEMORY_STREAM, "_capacity", 8, 0)                               \
	X(CALLBACK_NODE_ID, CALLBACK_NODE, "Id", 8, 0)                                            \
	X(CALLBACK_NODE_CALL, CALLBACK_NODE, "Callback", 8, 0)                                    \
	X(CALLBACK_NODE_STATE, CALLBACK_NODE, "CallbackState", 8, 0)                              \
	X(CALLBACK_NODE_SOURCE, CALLBACK_NODE, "Registrations.Source", 8, 0)                      \
	/* Assemblies and load contexts */                                                        \
	X(LOAD_CONTEXT_NATIVE, LOAD_CONTEXT, "_nativeAssemblyLoadContext", 8, 0)                  \
	X(LOAD_CONTEXT_NAME, LOAD_CONTEXT, "_name", 8, 0)                                         \
	X(LOAD_CONTEXT_COLLECTIBLE, LOAD_CONTEXT, "_isCollectible", 8, 0)                         \
	X(LOAD_CONTEXT_STATE, LOAD_CONTEXT, "_state", 8, 0)                                       \
	X(LOADER_ALLOCATOR_NATIVE, LOADER_ALLOCATOR, "m_scout.m_nativeLoaderAllocator", 8, 0)     \
	/* Requests of HttpClient */                                                              \
	X(HTTP_REQUEST_METHOD, HTTP_REQUEST, "_method._method", 8, 0)                             \
	X(HTTP_REQUEST_URI, HTTP_REQUEST, "_requestUri._string", 8, 0)                            \
	X(HTTP_REQUEST_MAJOR, HTTP_REQUEST, "_version._Major", 8, 0)                              \
	X(HTTP_REQUEST_MINOR, HTTP_REQUEST, "_version._Minor", 8, 0)                              \
	X(HTTP_RESPONSE_REQUEST, HTTP_RESPONSE, "_requestMessage", 8, 0)                          \
	X(HTTP_RESPONSE_STATUS, HTTP_RESPONSE, "_statusCode", 8, 0)                               \
	X(HTTP_CONNECTION_REQUEST, HTTP_CONNECTION, "_currentRequest", 8, 0)                      \
	X(HTTP_CONNECTION_POOL, HTTP_CONNECTION, "_pool", 8, 0)                                   \
	X(HTTP_CONNECTION_DISPOSED, HTTP_CONNECTION, "_disposed", 8, 0)                           \
	X(HTTP2_CONNECTION_POOL, HTTP2_CONNECTION, "_pool", 8, 0)                                 \
	X(HTTP2_STREAM_RESPONSE_STATE, HTTP2_STREAM, "_responseCompletionState", 8, 0)            \
	X(HTTP2_STREAM_REQUEST_STATE, HTTP2_STREAM, "_requestCompletionState", 8, 0)              \
	X(HTTP2_STREAM_HAS_HEAD, HTTP2_STREAM, "_responseHeadersReceived", 8, 0)                  \
	X(HTTP2_STREAM_REQUEST, HTTP2_STREAM, "_request", 8, 0)                                   \
	X(HTTP2_STREAM_CONNECTION, HTTP2_STREAM, "_connection", 8, 0)                             \
	X(HTTP_POOL_PORT, HTTP_POOL, "_originAuthority.<Port>k__BackingField", 8, 0)              \
	X(HTTP_POOL_HOST, HTTP_POOL, "_originAuthority.<IdnHost>k__BackingField", 8, 0)           \
	X(HTTP_POOL_CONNECTIONS, HTTP_POOL, "_associatedHttp11ConnectionCount", 8, 0)             \
	X(HTTP_POOL_MAX, HTTP_POOL, "_maxHttp11Connections", 8, 0)                                \
	X(HTTP_POOL_PENDING, HTTP_POOL, "_pendingHttp11ConnectionCount", 8, 0)                    \
	X(HTTP_POOL_CONNECTIONS_2, HTTP_POOL, "_associatedHttp2ConnectionCount", 8, 0)            \
	X(HTTP_POOL_PENDING_2, HTTP_POOL, "_pendingHttp2Connection", 8, 0)                        \
	X(HTTP_QUEUE_ARRAY, HTTP_POOL, "_http11RequestQueue._array", 8, 0)                        \
	X(HTTP_QUEUE_HEAD, HTTP_POOL, "_http11RequestQueue._head", 8, 0)                          \
	X(HTTP_QUEUE_SIZE, HTTP_POOL, "_http11RequestQueue._size", 8, 0)                          \
	X(HTTP_QUEUE_ARRAY_2, HTTP_POOL, "_http2RequestQueue._array", 8, 0)                       \
	X(HTTP_QUEUE_HEAD_2, HTTP_POOL, "_http2RequestQueue._head", 8, 0)                         \
	X(HTTP_QUEUE_SIZE_2, HTTP_POOL, "_http2RequestQueue._size", 8, 0)                         \
	X(HTTP_QUEUED_REQUEST, HTTP_QUEUE_ITEM, "Request", 9, 0)                                  \
	X(HTTP_QUEUED_REQUEST_8, HTTP_QUEUE_ITEM_8, "Request", 8, 8)                              \
	X(HTTP_QUEUED_WAITER, HTTP_QUEUE_ITEM, "Waiter", 9, 0)                                    \
	X(HTTP_QUEUED_WAITER_8, HTTP_QUEUE_ITEM_8, "Waiter", 8, 8)                                \
	X(HTTP_HANDLER_DISPOSED, HTTP_HANDLER, "_disposed", 8, 0)                                 \
	/* Requests of Kestrel */                                                                 \
	X(SERVER_CONTEXT_FEATURES, SERVER_CONTEXT, "_features.<Collection>k__BackingField", 8, 0) \
	X(SERVER_METHOD_TEXT, SERVER_PROTOCOL, "_methodText", 8, 0)                               \
	X(SERVER_SCHEME, SERVER_PROTOCOL, "_scheme", 8, 0)                                        \
	X(SERVER_PATH, SERVER_PROTOCOL, "<Path>k__BackingField", 8, 0)                            \
	X(SERVER_QUERY, SERVER_PROTOCOL, "<QueryString>k__BackingField", 8, 0)                    \
	X(SERVER_CONNECTION, SERVER_PROTOCOL, "<ConnectionIdFeature>k__BackingField", 8, 0)       \
	X(SERVER_PROGRESS, SERVER_PROTOCOL, "_requestProcessingStatus", 8, 0)                     \
	X(SERVER_METHOD, SERVER_PROTOCOL, "<Method>k__BackingField", 8, 0)                        \
	X(SERVER_VERSION, SERVER_PROTOCOL, "_httpVersion", 8, 0)                                  \
	X(SERVER_STATUS, SERVER_PROTOCOL, "_statusCode", 8, 0)                                    \
	X(SERVICE_SCOPE_ITEMS, SERVICE_SCOPE, "_disposables._items", 8, 0)                        \
	X(SERVICE_SCOPE_DISPOSED, SERVICE_SCOPE, "_disposed", 8, 0)                               \
	X(SERVICE_SCOPE_IS_ROOT, SERVICE_SCOPE, "<IsRootScope>k__BackingField", 8, 0)             \
	X(MEMORY_CACHE_STRINGS, MEMORY_CACHE, "_coherentState._stringEntries", 8, 0)              \
	X(MEMORY_CACHE_OTHERS, MEMORY_CACHE, "_coherentState._nonStringEntries", 8, 0)            \
	X(MEMORY_CACHE_ENTRIES, MEMORY_CACHE, "_coherentState._entries", 7, 7)                    \
	X(MEMORY_CACHE_LIMIT, MEMORY_CACHE, "_options._sizeLimit", 7, 0)                          \
	X(CACHE_ENTRY_CACHE, CACHE_ENTRY, "_cache", 7, 0)                                         \
	X(CACHE_ENTRY_VALUE, CACHE_ENTRY, "_value", 7, 0)                                         \
	X(CACHE_ENTRY_EXPIRES, CACHE_ENTRY, "_absoluteExpirationTicks", 7, 0)                     \
	X(CACHE_ENTRY_SLIDING, CACHE_ENTRY, "_slidingExpiration._ticks", 7, 0)                    \
	/* Objects that pile up */                                                                \
	X(FILE_WATCHER_DISPOSED, FILE_WATCHER, "_disposed", 8, 0)                                 \
	X(MEMORY_OBJECT, MEMORY, "_object", 8, 0)                                                 \
	X(MEMORY_BEGIN, MEMORY, "_index", 8, 0)                                                   \
	X(MEMORY_COUNT, MEMORY, "_length", 8, 0)                                                  \
	X(READ_ONLY_MEMORY_OBJECT, READ_ONLY_MEMORY, "_object", 8, 0)                             \
	X(READ_ONLY_MEMORY_BEGIN, READ_ONLY_MEMORY, "_index", 8, 0)                               \
	X(READ_ONLY_MEMORY_COUNT, READ_ONLY_MEMORY, "_length", 8, 0)                              \
	X(ARRAY_SEGMENT_ARRAY, ARRAY_SEGMENT, "_array", 8, 0)                                     \
	X(ARRAY_SEGMENT_BEGIN, ARRAY_SEGMENT, "_offset", 8, 0)                                    \
	X(ARRAY_SEGMENT_COUNT, ARRAY_SEGMENT, "_count", 8, 0)                                     \
	X(SEQUENCE_FIRST, READ_ONLY_SEQUENCE, "_startObject", 8, 0)                               \
	X(SEQUENCE_BEGIN, READ_ONLY_SEQUENCE, "_startInteger", 8, 0)                              \
	X(SEQUENCE_END, READ_ONLY_SEQUENCE, "_endInteger", 8, 0)                                  \
	X(SEQUENCE_LAST, READ_ONLY_SEQUENCE, "_endObject", 8, 0)                                  \
	/* Segments and entries of concurrent collections */                                      \
	X(SEGMENT_HEAD, QUEUE_SEGMENT, "_headAndTail.Head", 8, 0)                                 \
	X(SEGMENT_TAIL, QUEUE_SEGMENT, "_headAndTail.Tail", 8, 0)                                 \
	X(SEGMENT_MASK, QUEUE_SEGMENT, "_slotsMask", 8, 0)                                        \
	X(SEGMENT_FROZEN, QUEUE_SEGMENT, "_frozenForEnqueues", 8, 0)                              \
	X(SEGMENT_SLOTS, QUEUE_SEGMENT, "_slots", 8, 0)                                           \
	X(SEGMENT_NEXT, QUEUE_SEGMENT, "_nextSegment", 8, 0)                                      \
	X(SLOT_NUMBER, SEGMENT_SLOT, "SequenceNumber", 8, 0)                                      \
	X(SLOT_ITEM, SEGMENT_SLOT, "Item", 8, 0)                                                  \
	X(RING_ARRAY, RING_SEGMENT, "_array", 8, 0)                                               \
	X(RING_FIRST, RING_SEGMENT, "_state._first", 8, 0)                                        \
	X(RING_LAST, RING_SEGMENT, "_state._last", 8, 0)                                          \
	X(RING_NEXT, RING_SEGMENT, "_next", 8, 0)                                                 \
	X(BAG_HEAD, BAG_QUEUE, "_headIndex", 8, 0)                                                \
	X(BAG_TAIL, BAG_QUEUE, "_tailIndex", 8, 0)                                                \
	X(BAG_ADDED, BAG_QUEUE, "_addTakeCount", 8, 0)                                            \
	X(BAG_STOLEN, BAG_QUEUE, "_stealCount", 8, 0)                                             \
	X(BAG_ARRAY, BAG_QUEUE, "_array", 8, 0)                                                   \
	X(BAG_NEXT, BAG_QUEUE, "_nextQueue", 8, 0)                                                \
	X(WEAK_ENTRY_HASH, WEAK_ENTRY, "HashCode", 8, 0)                                          \
	X(WEAK_ENTRY_HANDLE, WEAK_ENTRY, "depHnd._handle", 8, 0)                                  \
	LIBRARY_FIELDS(X)

/** X(id, main): types that stand for the same thing as another one, in other releases */
#define FRAMEWORK_TYPE_ALTERNATIVES(X)        \
	X(ASYNC_OPERATION_DATA, WAITING_READ) \
	X(HTTP_QUEUE_ITEM_8, HTTP_QUEUE_ITEM) \
	X(HTTP_WAITER_8, HTTP_WAITER)

/** X(id, main): the same for fields */
#define FRAMEWORK_FIELD_ALTERNATIVES(X)                       \
	X(DELEGATE_HELPER, DELEGATE_LIST)                     \
	X(DELEGATE_EXTRA, DELEGATE_COUNT)                     \
	X(CHANNEL_WAITING_READERS_8, CHANNEL_WAITING_READERS) \
	X(CHANNEL_WAITING_WRITERS_8, CHANNEL_WAITING_WRITERS) \
	X(CHANNEL_READERS_8, CHANNEL_READERS)                 \
	X(CHANNEL_WRITERS_8, CHANNEL_WRITERS)                 \
	X(POOL_HAS_REQUEST, POOL_REQUESTED_WORKERS)           \
	X(POOL_LAST_DISPATCH, POOL_LAST_TAKEN)                \
	X(LOCAL_QUEUES_ALL_8, LOCAL_QUEUES_ALL)               \
	X(HTTP_QUEUED_REQUEST_8, HTTP_QUEUED_REQUEST)         \
	X(HTTP_QUEUED_WAITER_8, HTTP_QUEUED_WAITER)           \
	X(MEMORY_CACHE_ENTRIES, MEMORY_CACHE_STRINGS)
