/* SPDX-License-Identifier: MIT */
/* Objects that every program has, and others: rows of framework/offsets/net_layout.h. */
#include "framework/offsets/net_rows.h"

const struct net_layout_row net_rows_others[] = {
	{ "System.Action", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.AggregateException", "_innerExceptions o;_rocView o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.AppContext", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.ArgumentException", "_paramName o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.ArgumentNullException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.ArgumentOutOfRangeException", "_actualValue o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Array", "_numComponents i", 0, 8, 11, NET_CLASS, 0 },
	{ "System.ArraySegment`1", "_array o;_offset i;_count i", 0, 8, 11, NET_STRUCT_IN_ORDER,
	  0 },
	{ "System.Attribute", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Boolean", "m_value z", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Buffers.ArrayPool`1", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Buffers.ConfigurableArrayPool`1", "_buckets o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Buffers.ReadOnlySequence`1",
	  "_startObject o;_endObject o;_startInteger i;_endInteger i", 0, 8, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Buffers.SharedArrayPoolPartitions", "_partitions o", 0, 9, 11, NET_CLASS, 0 },
	{ "System.Buffers.SharedArrayPoolThreadLocalArray", "Array o;MillisecondsTimeStamp i", 0, 9,
	  11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Buffers.SharedArrayPool`1", "_allTlsBuckets o;_buckets o;_trimCallbackCreated i",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Buffers.SharedArrayPool`1", "_allTlsBuckets o;_buckets o;_trimCallbackCreated z",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Byte", "m_value b", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Char", "m_value c", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.ComponentModel.Component", "_site o;_events o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.ComponentModel.Win32Exception", "<NativeErrorCode>k__BackingField i", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Data.Common.DbConnection", "_suppressStateChangeForReconnection z;StateChange o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Data.DataRow",
	  "_table o;_columns o;_oldRecord i;_newRecord i;_tempRecord i;_rowID l;"
	  "_action i;_inChangingEvent z;_inDeletingEvent z;_inCascade z;"
	  "_lastChangedColumn o;_countColumnChange i;_error o;_element o;_rbTreeNodeId i;"
	  "_objectID i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.DateOnly", "_dayNumber i", 0, 8, 9, NET_STRUCT_IN_ORDER, 0 },
	{ "System.DateOnly", "_dayNumber j", 0, 10, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.DateTime", "_dateData m", 0, 8, 11, NET_STRUCT, 0 },
	{ "System.DateTimeOffset", "_dateTime v8,8;+_dateTime._dateData m@0;_offsetMinutes s", 0, 8,
	  9, NET_STRUCT, 0 },
	{ "System.DateTimeOffset", "_dateTime v8,8;+_dateTime._dateData m@0;_offsetMinutes i", 0,
	  10, 11, NET_STRUCT, 0 },
	{ "System.Decimal", "_flags i;_hi32 j;_lo64 m", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Delegate",
	  "m_firstParameter o;m_helperObject o;m_extraFunctionPointerOrData n;"
	  "m_functionPointer n",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Delegate",
	  "_firstParameter o;_helperObject o;_extraFunctionPointerOrData n;"
	  "_functionPointer n",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Delegate", "_helperObject o;_target o;_methodPtr n;_extraFunctionPointerOrData n",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Delegate+Wrapper", "Value o", 0, 9, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Diagnostics.Activity",
	  "_traceState o;_state b;_currentChildId i;_id o;_rootId o;_parentId o;"
	  "_parentSpanId o;_traceId o;_spanId o;_w3CIdFlags b;_parentTraceFlags b;"
	  "_tags o;_baggage o;_links o;_events o;_customProperties o;_displayName o;"
	  "_statusCode i;_statusDescription o;_previousActiveActivity o;"
	  "<HasRemoteParent>k__BackingField z;<Kind>k__BackingField i;"
	  "<OperationName>k__BackingField o;<Source>k__BackingField o;"
	  "<Parent>k__BackingField o;<Duration>k__BackingField v8,8;"
	  "+<Duration>k__BackingField._ticks l@0;<StartTimeUtc>k__BackingField v8,8;"
	  "+<StartTimeUtc>k__BackingField._dateData m@0;"
	  "<IsAllDataRequested>k__BackingField z",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Diagnostics.Metrics.Meter",
	  "_instruments o;_nonObservableInstrumentsCache o;<Disposed>k__BackingField z;"
	  "<Name>k__BackingField o;<Version>k__BackingField o;<Tags>k__BackingField o;"
	  "<Scope>k__BackingField o",
	  0, 8, 9, NET_CLASS, 0 },
	{ "System.Diagnostics.Metrics.Meter",
	  "_instruments o;_nonObservableInstrumentsCache o;<Disposed>k__BackingField z;"
	  "<Name>k__BackingField o;<Version>k__BackingField o;<Tags>k__BackingField o;"
	  "<Scope>k__BackingField o;<TelemetrySchemaUrl>k__BackingField o",
	  0, 10, 11, NET_CLASS, 0 },
	{ "System.Diagnostics.Process",
	  "_haveProcessId z;_processId i;_haveProcessHandle z;_processHandle o;"
	  "_isRemoteMachine z;_machineName o;_processInfo o;_threads o;_modules o;"
	  "_haveWorkingSetLimits z;_minWorkingSet n;_maxWorkingSet n;"
	  "_haveProcessorAffinity z;_processorAffinity n;_havePriorityClass z;"
	  "_priorityClass i;_startInfo o;_watchForExit z;_watchingForExit z;_onExited o;"
	  "_exited z;_exitCode i;_startTime v16,8;+_startTime.hasValue z@0;"
	  "+_startTime.value v8@8;+_startTime.value._dateData m@8;_exitTime v8,8;"
	  "+_exitTime._dateData m@0;_haveExitTime z;_priorityBoostEnabled z;"
	  "_havePriorityBoostEnabled z;_raisedOnExited z;_registeredWaitHandle o;"
	  "_waitHandle o;_standardOutput o;_standardInput o;_standardError o;_disposed z;"
	  "_standardInputAccessed z;_outputStreamReadMode i;_errorStreamReadMode i;"
	  "OutputDataReceived o;ErrorDataReceived o;_output o;_error o;"
	  "_pendingOutputRead z;_pendingErrorRead z;"
	  "<SynchronizingObject>k__BackingField o;_waitStateHolder o",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Diagnostics.Process",
	  "_haveProcessId z;_processId i;_haveProcessHandle z;_processHandle o;"
	  "_isRemoteMachine z;_machineName o;_processInfo o;_processName o;_threads o;"
	  "_modules o;_haveWorkingSetLimits z;_minWorkingSet n;_maxWorkingSet n;"
	  "_haveProcessorAffinity z;_processorAffinity n;_havePriorityClass z;"
	  "_priorityClass i;_startInfo o;_watchForExit z;_watchingForExit z;_onExited o;"
	  "_exited z;_exitCode i;_startTime v16,8;+_startTime.hasValue z@0;"
	  "+_startTime.value v8@8;+_startTime.value._dateData m@8;_exitTime v8,8;"
	  "+_exitTime._dateData m@0;_haveExitTime z;_priorityBoostEnabled z;"
	  "_havePriorityBoostEnabled z;_raisedOnExited z;_registeredWaitHandle o;"
	  "_waitHandle o;_standardOutput o;_standardInput o;_standardError o;_disposed z;"
	  "_standardInputAccessed z;_outputStreamReadMode i;_errorStreamReadMode i;"
	  "OutputDataReceived o;ErrorDataReceived o;_output o;_error o;"
	  "_pendingOutputRead z;_pendingErrorRead z;"
	  "<SynchronizingObject>k__BackingField o;_waitStateHolder o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Diagnostics.ProcessStartInfo",
	  "_fileName o;_arguments o;_directory o;_userName o;_verb o;_argumentList o;"
	  "_windowStyle i;_environmentVariables o;<CreateNoWindow>k__BackingField z;"
	  "<RedirectStandardInput>k__BackingField z;"
	  "<RedirectStandardOutput>k__BackingField z;"
	  "<RedirectStandardError>k__BackingField z;"
	  "<StandardInputEncoding>k__BackingField o;"
	  "<StandardErrorEncoding>k__BackingField o;"
	  "<StandardOutputEncoding>k__BackingField o;<ErrorDialog>k__BackingField z;"
	  "<ErrorDialogParentHandle>k__BackingField n;<UseShellExecute>k__BackingField z",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Diagnostics.ProcessStartInfo",
	  "_fileName o;_arguments o;_directory o;_userName o;_verb o;_argumentList o;"
	  "_windowStyle i;_environmentVariables o;<CreateNoWindow>k__BackingField z;"
	  "<RedirectStandardInput>k__BackingField z;"
	  "<RedirectStandardOutput>k__BackingField z;"
	  "<RedirectStandardError>k__BackingField z;<StartDetached>k__BackingField z;"
	  "<StartSuspended>k__BackingField z;<StandardInputHandle>k__BackingField o;"
	  "<StandardOutputHandle>k__BackingField o;"
	  "<StandardErrorHandle>k__BackingField o;<InheritedHandles>k__BackingField o;"
	  "<KillOnParentExit>k__BackingField z;<StandardInputEncoding>k__BackingField o;"
	  "<StandardErrorEncoding>k__BackingField o;"
	  "<StandardOutputEncoding>k__BackingField o;<ErrorDialog>k__BackingField z;"
	  "<ErrorDialogParentHandle>k__BackingField n;<UseShellExecute>k__BackingField z",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Diagnostics.Tracing.EventSource+EventMetadata",
	  "Descriptor v16,8;+Descriptor.m_traceloggingId i@0;+Descriptor.m_id t@0;"
	  "+Descriptor.m_version b@2;+Descriptor.m_channel b@3;+Descriptor.m_level b@4;"
	  "+Descriptor.m_opcode b@5;+Descriptor.m_task t@6;+Descriptor.m_keywords l@8;"
	  "EventHandle n;Tags i;EnabledForAnyListener z;EnabledForETW z;"
	  "EnabledForEventPipe z;HasRelatedActivityID z;Name o;Message o;Parameters o;"
	  "EventListenerParameterCount i;AllParametersAreString z;"
	  "AllParametersAreInt32 z;ActivityOptions i;_traceLoggingEventTypes o;"
	  "_parameterNames o;_parameterTypes o",
	  0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Double", "m_value d", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Enum", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.EventArgs", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Exception",
	  "_message o;_data o;_innerException o;_helpURL o;_source o;_HResult i;"
	  "_stackTraceString o;_remoteStackTraceString o;_corDbgStackTrace o;"
	  "_idxFirstFreeStackTraceEntry i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.FormatException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Guid", "_a i;_b s;_c s;_d b;_e b;_f b;_g b;_h b;_i b;_j b;_k b", 0, 8, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Half", "_value t", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.IO.FileNotFoundException",
	  "<FileName>k__BackingField o;<FusionLog>k__BackingField o", 0, 8, 10, NET_CLASS, 0 },
	{ "System.IO.FileNotFoundException",
	  "<FileName>k__BackingField o;<FusionLog>k__BackingField o;"
	  "_requestingAssemblyChain o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.IO.FileStream", "_strategy o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.FileSystemWatcher",
	  "_filters o;_directory o;_notifyFilters i;_includeSubdirectories z;_enabled z;"
	  "_initializing z;_internalBufferSize j;_disposed z;_onChangedHandler o;"
	  "_onCreatedHandler o;_onDeletedHandler o;_onRenamedHandler o;_onErrorHandler o;"
	  "<SynchronizingObject>k__BackingField o;_cancellation o",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.IO.FileSystemWatcher",
	  "_filters o;_directory o;_notifyFilters i;_includeSubdirectories z;_enabled z;"
	  "_initializing z;_internalBufferSize j;_disposed z;_onChangedHandler o;"
	  "_onCreatedHandler o;_onDeletedHandler o;_onRenamedHandler o;_onErrorHandler o;"
	  "<SynchronizingObject>k__BackingField o;_watcher o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.IO.IOException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.MemoryStream",
	  "_buffer o;_origin i;_position i;_length i;_capacity i;_expandable z;"
	  "_writable z;_exposable z;_isOpen z;_lastReadTask w8,8;+_lastReadTask._task o@0",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.Pipelines.Pipe+DefaultPipeReader", "_pipe o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.Pipelines.Pipe+DefaultPipeWriter", "_pipe o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.Pipelines.PipeReader", "_stream o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.Pipelines.PipeWriter", "_stream o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.Stream", "_asyncActiveSemaphore o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.IO.StreamReader",
	  "_stream o;_encoding o;_decoder o;_byteBuffer o;_charBuffer o;_charPos i;"
	  "_charLen i;_byteLen i;_bytePos i;_maxCharsPerBuffer i;_disposed z;"
	  "_detectEncoding z;_checkPreamble z;_isBlocked z;_closable z;_asyncReadTask o",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.IO.StreamReader",
	  "_stream o;_encoding o;_decoder o;_byteBuffer o;_charBuffer o;_charPos i;"
	  "_charLen i;_byteLen i;_bytePos i;_maxCharsPerBuffer i;_disposed z;"
	  "_detectEncoding z;_checkPreamble z;_isBlocked z;_closable z;"
	  "_asyncIOInProgress z;_asyncReadTask o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.IO.TextReader", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Index", "_value i", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.IndexOutOfRangeException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Int128", "_lower m;_upper m", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Int16", "m_value s", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Int32", "m_value i", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Int64", "m_value l", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.IntPtr", "_value n", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.InvalidOperationException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.LazyHelper", "<State>k__BackingField i;_exceptionDispatch o", 0, 8, 11, NET_CLASS,
	  0 },
	{ "System.Lazy`1", "_state o;_factory o;_value !0", 0, 8, 11, NET_CLASS, 0 },
	{ "System.MarshalByRefObject", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Memory`1", "_object o;_index i;_length i", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.MulticastDelegate", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.NotSupportedException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.NullReferenceException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Nullable`1", "hasValue z;value !0", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Object", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.ObjectDisposedException", "_objectName o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.OperationCanceledException",
	  "_cancellationToken w8,8;+_cancellationToken._source o@0", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Range",
	  "<Start>k__BackingField v4,4;+<Start>k__BackingField._value i@0;"
	  "<End>k__BackingField v4,4;+<End>k__BackingField._value i@0",
	  0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.ReadOnlyMemory`1", "_object o;_index i;_length i", 0, 8, 11, NET_STRUCT_IN_ORDER,
	  0 },
	{ "System.Reflection.Assembly", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Reflection.Emit.DynamicMethod", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Reflection.MemberInfo", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Reflection.MethodBase", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Reflection.MethodInfo", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Reflection.RuntimeAssembly", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Reflection.TypeInfo", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.SByte", "m_value a", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Single", "m_value f", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.String", "_stringLength i;_firstChar c", 0, 8, 11, NET_CLASS, 0 },
	{ "System.SystemException", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Text.Json.JsonDocument",
	  "_utf8Json w16,8;+_utf8Json._object o@0;+_utf8Json._index i@8;"
	  "+_utf8Json._length i@12;_parsedData w16,8;"
	  "+_parsedData.<Length>k__BackingField i@8;+_parsedData._data o@0;"
	  "+_parsedData._convertToAlloc z@12;+_parsedData._isLocked z@13;"
	  "_extraRentedArrayPoolBytes o;_extraPooledByteBufferWriter o;"
	  "<IsDisposable>k__BackingField z",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Text.RegularExpressions.Regex",
	  "pattern o;roptions i;factory o;caps o;capnames o;capslist o;capsize i;"
	  "_replref o;_runner o;internalMatchTimeout v8,8;"
	  "+internalMatchTimeout._ticks l@0",
	  0, 8, 9, NET_CLASS, 0 },
	{ "System.Text.RegularExpressions.Regex",
	  "pattern o;roptions i;factory o;caps o;capnames o;capslist o;capsize i;"
	  "_runner o;<RegexReplacementWeakReference>k__BackingField o;"
	  "internalMatchTimeout v8,8;+internalMatchTimeout._ticks l@0",
	  0, 10, 11, NET_CLASS, 0 },
	{ "System.Text.Rune", "_value j", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Text.StringBuilder",
	  "m_ChunkChars o;m_ChunkPrevious o;m_ChunkLength i;m_ChunkOffset i;"
	  "m_MaxCapacity i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.TimeOnly", "_ticks l", 0, 8, 9, NET_STRUCT_IN_ORDER, 0 },
	{ "System.TimeOnly", "_ticks m", 0, 10, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.TimeSpan", "_ticks l", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Timers.ElapsedEventHandler", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Timers.Timer",
	  "_interval d;_enabled z;_initializing z;_delayedEnable z;_onIntervalElapsed o;"
	  "_autoReset z;_synchronizingObject o;_disposed z;_timer o;_callback o;_cookie o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Tuple`1", "m_Item1 !0", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Tuple`2", "m_Item1 !0;m_Item2 !1", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Tuple`3", "m_Item1 !0;m_Item2 !1;m_Item3 !2", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Tuple`4", "m_Item1 !0;m_Item2 !1;m_Item3 !2;m_Item4 !3", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Tuple`5", "m_Item1 !0;m_Item2 !1;m_Item3 !2;m_Item4 !3;m_Item5 !4", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Tuple`6", "m_Item1 !0;m_Item2 !1;m_Item3 !2;m_Item4 !3;m_Item5 !4;m_Item6 !5", 0,
	  8, 11, NET_CLASS, 0 },
	{ "System.Tuple`7",
	  "m_Item1 !0;m_Item2 !1;m_Item3 !2;m_Item4 !3;m_Item5 !4;m_Item6 !5;m_Item7 !6", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Type", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.TypeInitializationException", "_typeName o", 0, 8, 11, NET_CLASS, 0 },
	{ "System.UInt128", "_lower m;_upper m", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.UInt16", "m_value t", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.UInt32", "m_value j", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.UInt64", "m_value m", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.UIntPtr", "_value u", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Uri", "_string o;_originalUnicodeString o;_syntax o;_flags m;_info o", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "System.Uri+UriInfo",
	  "Offset v16,1;+Offset.Scheme t@0;+Offset.User t@2;+Offset.Host t@4;"
	  "+Offset.PortValue t@6;+Offset.Path t@8;+Offset.Query t@10;"
	  "+Offset.Fragment t@12;+Offset.End t@14;String o;Host o;IdnHost o;"
	  "PathAndQuery o;ScopeId o;_moreInfo o",
	  0, 8, 9, NET_CLASS, 0 },
	{ "System.Uri+UriInfo",
	  "Offset v32,4;+Offset.Scheme i@0;+Offset.User i@4;+Offset.Host i@8;"
	  "+Offset.PortValue t@12;+Offset.Path i@16;+Offset.Query i@20;"
	  "+Offset.Fragment i@24;+Offset.End i@28;String o;Host o;IdnHost o;"
	  "PathAndQuery o;_moreInfo o",
	  0, 10, 11, NET_CLASS, 0 },
	{ "System.ValueTuple`1", "Item1 !0", 0, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.ValueTuple`2", "Item1 !0;Item2 !1", 0, 8, 11, NET_STRUCT, 0 },
	{ "System.ValueTuple`3", "Item1 !0;Item2 !1;Item3 !2", 0, 8, 11, NET_STRUCT, 0 },
	{ "System.ValueTuple`4", "Item1 !0;Item2 !1;Item3 !2;Item4 !3", 0, 8, 11, NET_STRUCT, 0 },
	{ "System.ValueTuple`5", "Item1 !0;Item2 !1;Item3 !2;Item4 !3;Item5 !4", 0, 8, 11,
	  NET_STRUCT, 0 },
	{ "System.ValueTuple`6", "Item1 !0;Item2 !1;Item3 !2;Item4 !3;Item5 !4;Item6 !5", 0, 8, 11,
	  NET_STRUCT, 0 },
	{ "System.ValueTuple`7", "Item1 !0;Item2 !1;Item3 !2;Item4 !3;Item5 !4;Item6 !5;Item7 !6",
	  0, 8, 11, NET_STRUCT, 0 },
	{ "System.ValueType", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Version", "_Major i;_Minor i;_Build i;_Revision i", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Void", "", 1, 8, 11, NET_STRUCT_IN_ORDER, 0 },
	{ "System.WeakReference", "_taggedHandle n", 0, 8, 11, NET_CLASS, 0 },
	{ "System.WeakReference`1", "_taggedHandle n", 0, 8, 11, NET_CLASS, 0 },
};
const size_t net_rows_others_count = sizeof(net_rows_others) / sizeof(net_rows_others[0]);
