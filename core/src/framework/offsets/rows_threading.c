/* SPDX-License-Identifier: MIT */
/* Threads, locks, timers and the thread pool: rows of framework/offsets/net_layout.h. */
#include "framework/offsets/net_rows.h"

const struct net_layout_row net_rows_threading[] = {
	{ "System.Threading.AsyncLocal`1", "_valueChangedHandler o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.AutoResetEvent", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.Barrier",
	  "_currentTotalCount i;_currentPhase l;_disposed z;_oddEvent o;_evenEvent o;"
	  "_ownerThreadContext o;_postPhaseAction o;_exception o;_actionCallerID i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.CancellationToken", "_source o", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Threading.CancellationTokenRegistration", "_id l;_node o", 0, 8, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Threading.CancellationTokenSource",
	  "_state i;_disposed z;_timer o;_kernelEvent o;_registrations o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.CancellationTokenSource+CallbackNode",
	  "Registrations o;Prev o;Next o;Id l;Callback o;CallbackState o;"
	  "ExecutionContext o;SynchronizationContext o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.CancellationTokenSource+Linked1CancellationTokenSource",
	  "_reg1 w16,8;+_reg1._id l@8;+_reg1._node o@0", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.CancellationTokenSource+Registrations",
	  "Source o;Callbacks o;FreeNodeList o;NextAvailableId l;ExecutingCallbackId l;"
	  "ThreadIDExecutingCallbacks i;_lock i",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.CancellationTokenSource+Registrations",
	  "Source o;Callbacks o;FreeNodeList o;NextAvailableId l;ExecutingCallbackId l;"
	  "ThreadIDExecutingCallbacks i;_locked z",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Threading.Condition", "_lock o;_waitersHead o;_waitersTail o", 0, 8, 10,
	  NET_CLASS, 0 },
	{ "System.Threading.Condition", "_lock o;_waitEvent o;_waitersHead o;_waitersTail o", 0, 11,
	  11, NET_CLASS, 0 },
	{ "System.Threading.Condition+Waiter", "next o;prev o;ev o;signalled z", 0, 8, 10,
	  NET_CLASS, 0 },
	{ "System.Threading.Condition+Waiter", "next o;prev o;ev o", 0, 11, 11, NET_CLASS, 0 },
	{ "System.Threading.CountdownEvent", "_initialCount i;_currentCount i;_event o;_disposed z",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.EventWaitHandle", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ExecutionContext",
	  "m_localValues o;m_localChangeNotifications o;m_isFlowSuppressed z;"
	  "m_isDefault z",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.Lock",
	  "_lazyEvent o;_owningThreadId i;_recursionCount j;_state i;_spinLimit t;"
	  "_wakeWatchDog s",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.Lock",
	  "_owningThreadId j;_state j;_recursionCount j;_spinCount s;"
	  "_waiterStartTimeMs t;_waitEvent o",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Threading.Lock",
	  "_owningThreadId i;_state j;_recursionCount j;_spinCount s;"
	  "_waiterStartTimeMs t;_waitEventOrCondition o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Threading.LowLevelLock",
	  "_state i;_isAnyWaitingThreadSignaled z;_spinWaiter v4,4;"
	  "+_spinWaiter._spinningThreadCount i@0;_monitor v8,8;"
	  "+_monitor._nativeMonitor n@0",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Threading.LowLevelLock", "_state j;_blocker v8,8;+_blocker._pState p@0", 0, 11,
	  11, NET_CLASS, 0 },
	{ "System.Threading.LowLevelMonitor", "_nativeMonitor n", 0, 8, 11, NET_STRUCT, 0 },
	{ "System.Threading.ManagedThreadId", "_managedThreadId i", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ManualResetEvent", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ManualResetEventSlim", "m_lock o;m_eventObj o;m_combinedState i", 0, 8,
	  11, NET_CLASS, 0 },
	{ "System.Threading.Mutex", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.PeriodicTimer", "_timer o;_state o;_period v8,8;+_period._ticks l@0", 0,
	  8, 11, NET_CLASS, 0 },
	{ "System.Threading.PeriodicTimer+State",
	  "_owner o;_mrvtsc w40,8;+_mrvtsc._continuation o@0;"
	  "+_mrvtsc._continuationState o@8;+_mrvtsc._capturedContext o@16;"
	  "+_mrvtsc._error o@24;+_mrvtsc._result z@34;+_mrvtsc._version s@32;"
	  "+_mrvtsc._completed z@35;+_mrvtsc._runContinuationsAsynchronously z@36;"
	  "_ctr w16,8;+_ctr._id l@8;+_ctr._node o@0;_stopped z;_signaled z;_activeWait z",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Threading.PeriodicTimer+State",
	  "_owner o;_mrvtsc w40,8;+_mrvtsc._continuation o@0;"
	  "+_mrvtsc._continuationState o@8;+_mrvtsc._capturedContext o@16;"
	  "+_mrvtsc._error o@24;+_mrvtsc._result z@34;+_mrvtsc._version s@32;"
	  "+_mrvtsc._runContinuationsAsynchronously z@35;_ctr w16,8;+_ctr._id l@8;"
	  "+_ctr._node o@0;_stopped z;_signaled z;_activeWait z",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Threading.PortableThreadPool",
	  "_cpuUtilization i;_minThreads s;_maxThreads s;"
	  "_legacy_minIOCompletionThreads s;_legacy_maxIOCompletionThreads s;"
	  "_currentSampleStartTime l;_completionCounter o;_threadAdjustmentIntervalMs i;"
	  "_numBlockedThreads s;_numThreadsAddedDueToBlocking s;"
	  "_pendingBlockingAdjustment b;_memoryUsageBytes l;_memoryLimitBytes l;"
	  "_threadAdjustmentLock o;_separated v384,8;+_separated.counts v8@64;"
	  "+_separated.counts._data m@64;+_separated.lastDequeueTime i@128;"
	  "+_separated.priorCompletionCount i@192;"
	  "+_separated.priorCompletedWorkRequestsTime i@196;"
	  "+_separated.nextCompletedWorkRequestsTime i@200;"
	  "+_separated.numRequestedWorkers i@256;"
	  "+_separated.gateThreadRunningState i@260;_waitThreadsHead o;_waitThreadLock o;"
	  "_numThreadsBeingKeptAlive i;_countsOfThreadsProcessingUserCallbacks v4,4;"
	  "+_countsOfThreadsProcessingUserCallbacks._data j@0",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.PortableThreadPool",
	  "_cpuUtilization i;_minThreads s;_maxThreads s;"
	  "_legacy_minIOCompletionThreads s;_legacy_maxIOCompletionThreads s;"
	  "_numThreadsBeingKeptAlive i;_currentSampleStartTime l;_completionCounter o;"
	  "_threadAdjustmentIntervalMs i;_numBlockedThreads s;"
	  "_numThreadsAddedDueToBlocking s;_pendingBlockingAdjustment b;"
	  "_memoryUsageBytes l;_memoryLimitBytes l;_threadAdjustmentLock o;"
	  "_separated v384,8;+_separated.counts v8@64;+_separated.counts._data m@64;"
	  "+_separated.lastDequeueTime i@128;+_separated.priorCompletionCount i@192;"
	  "+_separated.priorCompletedWorkRequestsTime i@196;"
	  "+_separated.nextCompletedWorkRequestsTime i@200;"
	  "+_separated.numRequestedWorkers i@256;"
	  "+_separated.gateThreadRunningState i@260;_waitThreadsHead o;_waitThreadLock o;"
	  "_countsOfThreadsProcessingUserCallbacks v4,4;"
	  "+_countsOfThreadsProcessingUserCallbacks._data j@0",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Threading.PortableThreadPool",
	  "_cpuUtilization i;_minThreads s;_maxThreads s;"
	  "_legacy_minIOCompletionThreads s;_legacy_maxIOCompletionThreads s;"
	  "_numThreadsBeingKeptAlive i;_currentSampleStartTime l;_completionCounter o;"
	  "_threadAdjustmentIntervalMs i;_numBlockedThreads s;"
	  "_numThreadsAddedDueToBlocking s;_pendingBlockingAdjustment b;"
	  "_memoryUsageBytes l;_memoryLimitBytes l;_threadAdjustmentLock o;"
	  "_separated v384,8;+_separated.counts v8@64;+_separated.counts._data m@64;"
	  "+_separated.lastDispatchTime i@128;+_separated.priorCompletionCount i@192;"
	  "+_separated.priorCompletedWorkRequestsTime i@196;"
	  "+_separated.nextCompletedWorkRequestsTime i@200;"
	  "+_separated._hasOutstandingThreadRequest i@256;"
	  "+_separated.gateThreadRunningState i@260;_waitThreadsHead o;_waitThreadLock o;"
	  "_countsOfThreadsProcessingUserCallbacks v4,4;"
	  "+_countsOfThreadsProcessingUserCallbacks._data j@0",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Threading.PortableThreadPool+CacheLineSeparated",
	  "counts v8,8@64;+counts._data m@0;lastDequeueTime i@128;"
	  "priorCompletionCount i@192;priorCompletedWorkRequestsTime i@196;"
	  "nextCompletedWorkRequestsTime i@200;numRequestedWorkers i@256;"
	  "gateThreadRunningState i@260",
	  384, 8, 10, NET_STRUCT_EXPLICIT, 0 },
	{ "System.Threading.PortableThreadPool+CacheLineSeparated",
	  "counts v8,8@64;+counts._data m@0;lastDispatchTime i@128;"
	  "priorCompletionCount i@192;priorCompletedWorkRequestsTime i@196;"
	  "nextCompletedWorkRequestsTime i@200;_hasOutstandingThreadRequest i@256;"
	  "gateThreadRunningState i@260",
	  384, 11, 11, NET_STRUCT_EXPLICIT, 0 },
	{ "System.Threading.PortableThreadPool+HillClimbing",
	  "_wavePeriod i;_samplesToMeasure i;_targetThroughputRatio d;"
	  "_targetSignalToNoiseRatio d;_maxChangePerSecond d;_maxChangePerSample d;"
	  "_maxThreadWaveMagnitude i;_sampleIntervalMsLow i;_threadMagnitudeMultiplier d;"
	  "_sampleIntervalMsHigh i;_throughputErrorSmoothingFactor d;_gainExponent d;"
	  "_maxSampleError d;_currentControlSetting d;_totalSamples l;_lastThreadCount i;"
	  "_averageThroughputNoise d;_secondsElapsedSinceLastChange d;"
	  "_completionsSinceLastChange d;_accumulatedCompletionCount i;"
	  "_accumulatedSampleDurationSeconds d;_samples o;_threadCounts o;"
	  "_currentSampleMs i;_randomIntervalGenerator o;_log o;_logStart i;_logSize i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.PortableThreadPool+HillClimbing+LogEntry",
	  "tickCount i;stateOrTransition i;newControlSetting i;lastHistoryCount i;"
	  "lastHistoryMean f",
	  0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Threading.PortableThreadPool+ThreadCounts", "_data m", 0, 8, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Threading.QueueUserWorkItemCallback", "_callback o;_state o;_context o", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Threading.QueueUserWorkItemCallbackBase", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.RateLimiting.ConcurrencyLimiter",
	  "_permitCount i;_queueCount i;_idleSince v16,8;+_idleSince.hasValue z@0;"
	  "+_idleSince.value l@8;_disposed z;_failedLeasesCount l;"
	  "_successfulLeasesCount l;_options o;_queue o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.RateLimiting.ConcurrencyLimiter+ConcurrencyLease",
	  "_disposed z;_limiter o;_count i;_reason o;<IsAcquired>k__BackingField z", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Threading.RateLimiting.ConcurrencyLimiterOptions",
	  "<PermitLimit>k__BackingField i;<QueueProcessingOrder>k__BackingField i;"
	  "<QueueLimit>k__BackingField i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.RateLimiting.RateLimitLease", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.RateLimiting.RateLimiter", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ReaderWriterCount",
	  "lockID l;readercount i;writercount i;upgradecount i;next o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ReaderWriterLockSlim",
	  "_fIsReentrant z;_spinLock v8,4;+_spinLock._isLocked i@0;"
	  "+_spinLock._enterDeprioritizationState i@4;_numWriteWaiters j;"
	  "_numReadWaiters j;_numWriteUpgradeWaiters j;_numUpgradeWaiters j;"
	  "_waiterStates b;_upgradeLockOwnerId i;_writeLockOwnerId i;_writeEvent o;"
	  "_readEvent o;_upgradeEvent o;_waitUpgradeEvent o;_lockID l;"
	  "_fUpgradeThreadHoldingRead z;_owners j;_fDisposed z",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.ReaderWriterLockSlim",
	  "_fIsReentrant z;_spinLock v8,4;+_spinLock._isLocked z@0;"
	  "+_spinLock._enterDeprioritizationState i@4;_numWriteWaiters j;"
	  "_numReadWaiters j;_numWriteUpgradeWaiters j;_numUpgradeWaiters j;"
	  "_waiterStates b;_upgradeLockOwnerId i;_writeLockOwnerId i;_writeEvent o;"
	  "_readEvent o;_upgradeEvent o;_waitUpgradeEvent o;_lockID l;"
	  "_fUpgradeThreadHoldingRead z;_owners j;_fDisposed z",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Threading.RegisteredWaitHandle",
	  "_waitHandle o;_callbackHelper o;_signedMillisecondsTimeout i;_repeating z;"
	  "<TimeoutTimeMs>k__BackingField i;<UserUnregisterWaitHandle>k__BackingField o;"
	  "<UserUnregisterWaitHandleValue>k__BackingField n;_numRequestedCallbacks i;"
	  "_signalAfterCallbacksComplete z;_unregisterCalled z;_unregistered z;"
	  "_callbacksComplete o;_removed o;<WaitThread>k__BackingField o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.Semaphore", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.SemaphoreSlim",
	  "m_currentCount i;m_maxCount i;m_waitCount i;m_countOfWaitersPulsedToWake i;"
	  "m_lockObjAndDisposed o;m_waitHandle o;m_asyncHead o;m_asyncTail o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.SemaphoreSlim+TaskNode", "Prev o;Next o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.SpinLock", "_owner i", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Threading.SyncTable+Entry",
	  "Lock o;_hashOrNext i;Owner v8,8;+Owner._handle n@0;_unusedPadding n", 0, 8, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Threading.SynchronizationContext", "_requireWaitNotification z", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Threading.Thread",
	  "_executionContext o;_synchronizationContext o;_threadState i;_priority i;"
	  "_managedThreadId o;_name o;_startHelper o;_startException o;_lock o;"
	  "_mayNeedResetForThreadPool z;_stopped o;_waitInfo o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ThreadPool", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ThreadPoolWorkQueue",
	  "_loggingEnabled z;_dispatchNormalPriorityWorkFirst z;"
	  "_mayHaveHighPriorityWorkItems i;workItems o;highPriorityWorkItems o;"
	  "_assignableWorkItemQueues o;_queueAssignmentLock o;"
	  "_assignedWorkItemQueueThreadCounts o;_separated v124,4;+_separated.pad1 v60@0;"
	  "+_separated.hasOutstandingThreadRequest i@60;+_separated.pad2 v60@64",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.ThreadPoolWorkQueue",
	  "_loggingEnabled z;_dispatchNormalPriorityWorkFirst z;"
	  "_mayHaveHighPriorityWorkItems z;workItems o;highPriorityWorkItems o;"
	  "_assignableWorkItemQueues o;_queueAssignmentLock o;"
	  "_assignedWorkItemQueueThreadCounts o;_separated v124,4;+_separated.pad1 v60@0;"
	  "+_separated._hasOutstandingThreadRequest i@60;+_separated.pad2 v60@64",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Threading.ThreadPoolWorkQueue",
	  "_loggingEnabled z;workItems o;highPriorityWorkItems o;"
	  "_assignableWorkItemQueues o;_queueAssignmentLock o;"
	  "_assignedWorkItemQueueThreadCounts o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Threading.ThreadPoolWorkQueue+WorkStealingQueue",
	  "m_array o;m_mask i;m_headIndex i;m_tailIndex i;m_foreignLock v4,4;"
	  "+m_foreignLock._owner i@0",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.ThreadPoolWorkQueue+WorkStealingQueueList", "", 0, 8, 11, NET_CLASS,
	  0 },
	{ "System.Threading.Timer", "_timer o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.TimerCallback", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.TimerHolder", "_timer o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.TimerQueue",
	  "_isTimerScheduled z;_currentTimerStartTicks l;_currentTimerDuration j;"
	  "_shortTimers o;_longTimers o;_currentAbsoluteThreshold l;"
	  "<ActiveCount>k__BackingField l;_isScheduled z;_scheduledDueTimeMs l",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.TimerQueue",
	  "_isTimerScheduled z;_currentTimerStartTicks l;_currentTimerDuration j;"
	  "_shortTimers o;_longTimers o;_currentAbsoluteThreshold l;"
	  "<SharedLock>k__BackingField o;<ActiveCount>k__BackingField l;_isScheduled z;"
	  "_scheduledDueTimeMs l",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Threading.TimerQueueTimer",
	  "_associatedTimerQueue o;_next o;_prev o;_short z;_startTicks l;_dueTime j;"
	  "_period j;_timerCallback o;_state o;_executionContext o;_callbacksRunning i;"
	  "_canceled z;_everQueued z;_notifyWhenNoCallbacksRunning o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.WaitCallback", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.WaitHandle", "_waitHandle o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.WaitSubsystem+ThreadWaitInfo",
	  "_thread o;_waitMonitor v8,8;+_waitMonitor._nativeMonitor n@0;"
	  "_waitSignalState b;_waitedObjectIndexThatSatisfiedWait i;_isWaitForAll z;"
	  "_waitedCount i;_waitedObjects o;_waitedListNodes o;_isPendingInterrupt i;"
	  "_lockedMutexesHead o",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Threading.WaitSubsystem+ThreadWaitInfo",
	  "_thread o;_waitMonitor v8,8;+_waitMonitor._nativeMonitor n@0;"
	  "_waitSignalState b;_waitedObjectIndexThatSatisfiedWait i;_isWaitForAll z;"
	  "_waitedCount i;_waitedObjects o;_waitedListNodes o;_isPendingInterrupt z;"
	  "_lockedMutexesHead o",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Threading.WaitSubsystem+ThreadWaitInfo",
	  "_thread o;_waitMonitor v8,8;+_waitMonitor._nativeMonitor n@0;"
	  "_waitSignalState b;_waitedObjectIndexThatSatisfiedWait i;_isWaitForAll z;"
	  "_waitedCount i;_waitedObjects o;_waitedListNodes o;_isPendingInterrupt z;"
	  "_lockedMutexesHead o;_namedMutexOwnershipChain o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Threading.WaitSubsystem+ThreadWaitInfo+WaitedListNode",
	  "_waitInfo o;_waitedObjectIndex i;_previous o;_next o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.WaitSubsystem+WaitableObject",
	  "_type b;_signalCount i;_maximumSignalCount i;_referenceCount i;_name o;"
	  "_ownershipInfo o;_waitersHead o;_waitersTail o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Threading.WaitSubsystem+WaitableObject+OwnershipInfo",
	  "_thread o;_reacquireCount i;_isAbandoned z;_previous o;_next o", 0, 8, 11, NET_CLASS,
	  0 },
};
const size_t net_rows_threading_count = sizeof(net_rows_threading) / sizeof(net_rows_threading[0]);
