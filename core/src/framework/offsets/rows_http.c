/* SPDX-License-Identifier: MIT */
/* Sockets, and requests of HttpClient: rows of framework/offsets/net_layout.h. */
#include "framework/offsets/net_rows.h"

const struct net_layout_row net_rows_http[] = {
	{ "System.Net.EndPoint", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Http.Http2Connection",
	  "_initialSettingsReceived o;_pool o;_stream o;_incomingBuffer w24,8;"
	  "+_incomingBuffer._usePool z@16;+_incomingBuffer._bytes o@0;"
	  "+_incomingBuffer._activeStart i@8;+_incomingBuffer._availableStart i@12;"
	  "_outgoingBuffer w24,8;+_outgoingBuffer._usePool z@16;"
	  "+_outgoingBuffer._bytes o@0;+_outgoingBuffer._activeStart i@8;"
	  "+_outgoingBuffer._availableStart i@12;_hpackDecoder o;_httpStreams o;"
	  "_connectionWindow o;_rttEstimator v40,8;+_rttEstimator._state i@0;"
	  "+_rttEstimator._pingSentTimestamp l@8;+_rttEstimator._pingCounter l@16;"
	  "+_rttEstimator._initialBurst i@24;+_rttEstimator._minRtt l@32;_nextStream i;"
	  "_receivedSettingsAck z;_initialServerStreamWindowSize i;"
	  "_pendingWindowUpdate i;_maxConcurrentStreams j;_streamsInUse j;"
	  "_availableStreamsWaiter o;_writeChannel o;_lastPendingWriterShouldFlush z;"
	  "_maxHeaderListSize j;_shutdown z;_abortException o;"
	  "_queuedFireAndForgetFrames i;_keepAlivePingDelay l;_keepAlivePingTimeout l;"
	  "_keepAlivePingPolicy i;_keepAlivePingPayload l;_nextPingRequestTimestamp l;"
	  "_keepAlivePingTimeoutTimestamp l;_keepAliveState i;"
	  "<IsConnectEnabled>k__BackingField z",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Http.Http2Connection",
	  "_initialSettingsReceived o;_stream o;_incomingBuffer w24,8;"
	  "+_incomingBuffer._usePool z@16;+_incomingBuffer._bytes o@0;"
	  "+_incomingBuffer._activeStart i@8;+_incomingBuffer._availableStart i@12;"
	  "_outgoingBuffer w24,8;+_outgoingBuffer._usePool z@16;"
	  "+_outgoingBuffer._bytes o@0;+_outgoingBuffer._activeStart i@8;"
	  "+_outgoingBuffer._availableStart i@12;_hpackDecoder o;_httpStreams o;"
	  "_connectionWindow o;_rttEstimator v40,8;+_rttEstimator._state i@0;"
	  "+_rttEstimator._pingSentTimestamp l@8;+_rttEstimator._pingCounter l@16;"
	  "+_rttEstimator._initialBurst i@24;+_rttEstimator._minRtt l@32;_nextStream i;"
	  "_receivedSettingsAck z;_initialServerStreamWindowSize i;"
	  "_pendingWindowUpdate i;_maxConcurrentStreams j;_streamsInUse j;"
	  "_availableStreamsWaiter o;_writeChannel o;_lastPendingWriterShouldFlush z;"
	  "_maxHeaderListSize j;_shutdown z;_abortException o;_goAwayErrorCode v8,4;"
	  "+_goAwayErrorCode.hasValue z@0;+_goAwayErrorCode.value i@4;"
	  "_queuedFireAndForgetFrames i;_keepAlivePingDelay l;_keepAlivePingTimeout l;"
	  "_keepAlivePingPolicy i;_keepAlivePingPayload l;_nextPingRequestTimestamp l;"
	  "_keepAlivePingTimeoutTimestamp l;_keepAliveState i;"
	  "<IsConnectEnabled>k__BackingField z",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Net.Http.Http2Connection",
	  "_initialSettingsReceived o;_stream o;_incomingBuffer w24,8;"
	  "+_incomingBuffer._usePool z@16;+_incomingBuffer._bytes o@0;"
	  "+_incomingBuffer._activeStart i@8;+_incomingBuffer._availableStart i@12;"
	  "_outgoingBuffer w24,8;+_outgoingBuffer._usePool z@16;"
	  "+_outgoingBuffer._bytes o@0;+_outgoingBuffer._activeStart i@8;"
	  "+_outgoingBuffer._availableStart i@12;_hpackDecoder o;_httpStreams o;"
	  "_connectionWindow o;_rttEstimator v40,8;+_rttEstimator._state i@0;"
	  "+_rttEstimator._pingSentTimestamp l@8;+_rttEstimator._pingCounter l@16;"
	  "+_rttEstimator._initialBurst i@24;+_rttEstimator._minRtt l@32;_nextStream i;"
	  "_receivedSettingsAck z;_initialServerStreamWindowSize i;"
	  "_pendingWindowUpdate i;_maxConcurrentStreams j;_streamsInUse j;"
	  "_availableStreamsWaiter o;_writeChannel o;_lastPendingWriterShouldFlush z;"
	  "_maxHeaderListSize j;_shutdown z;_abortException o;_goAwayErrorCode v8,4;"
	  "+_goAwayErrorCode.hasValue z@0;+_goAwayErrorCode.value i@4;"
	  "_queuedFireAndForgetFrames i;_keepAlivePingDelay l;_keepAlivePingTimeout l;"
	  "_keepAlivePingPolicy i;_keepAlivePingPayload l;_nextPingRequestTimestamp l;"
	  "_keepAlivePingTimeoutTimestamp l;_keepAliveState i;_setupComplete z;"
	  "<IsConnectEnabled>k__BackingField z",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Http.Http2Connection+Http2Stream",
	  "_connection o;_request o;_response o;_trailers o;_responseBuffer w24,8;"
	  "+_responseBuffer._blocks o@0;+_responseBuffer._allocatedEnd j@8;"
	  "+_responseBuffer._activeStart j@12;+_responseBuffer._availableStart j@16;"
	  "_windowManager v16,8;+_windowManager._deliveredBytes i@0;"
	  "+_windowManager._streamWindowSize i@4;+_windowManager._lastWindowUpdate l@8;"
	  "_creditWaiter o;_availableCredit i;_creditSyncObject o;"
	  "_requestCompletionState b;_responseCompletionState b;_responseProtocolState b;"
	  "_responseHeadersReceived z;_resetException o;_canRetry z;"
	  "_requestBodyAbandoned z;_waitSource w40,8;+_waitSource._continuation o@0;"
	  "+_waitSource._continuationState o@8;+_waitSource._capturedContext o@16;"
	  "+_waitSource._error o@24;+_waitSource._result z@34;+_waitSource._version s@32;"
	  "+_waitSource._completed z@35;"
	  "+_waitSource._runContinuationsAsynchronously z@36;"
	  "_waitSourceCancellation w16,8;+_waitSourceCancellation._id l@8;"
	  "+_waitSourceCancellation._node o@0;_hasWaiter z;"
	  "_requestBodyCancellationSource o;_expect100ContinueWaiter o;"
	  "_headerBudgetRemaining i;_sendRstOnResponseClose z;"
	  "<StreamId>k__BackingField i;<ConnectProtocolEstablished>k__BackingField z",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Net.Http.Http2Connection+Http2Stream",
	  "_connection o;_request o;_response o;_trailers o;_responseBuffer w24,8;"
	  "+_responseBuffer._blocks o@0;+_responseBuffer._allocatedEnd j@8;"
	  "+_responseBuffer._activeStart j@12;+_responseBuffer._availableStart j@16;"
	  "_windowManager v16,8;+_windowManager._deliveredBytes i@0;"
	  "+_windowManager._streamWindowSize i@4;+_windowManager._lastWindowUpdate l@8;"
	  "_creditWaiter o;_availableCredit i;_creditSyncObject o;"
	  "_requestCompletionState b;_responseCompletionState b;_responseProtocolState b;"
	  "_responseHeadersReceived z;_resetException o;_canRetry z;"
	  "_requestBodyAbandoned z;_waitSource w40,8;+_waitSource._continuation o@0;"
	  "+_waitSource._continuationState o@8;+_waitSource._capturedContext o@16;"
	  "+_waitSource._error o@24;+_waitSource._result z@34;+_waitSource._version s@32;"
	  "+_waitSource._runContinuationsAsynchronously z@35;"
	  "_waitSourceCancellation w16,8;+_waitSourceCancellation._id l@8;"
	  "+_waitSourceCancellation._node o@0;_hasWaiter z;"
	  "_requestBodyCancellationSource o;_expect100ContinueWaiter o;"
	  "_headerBudgetRemaining i;_sendRstOnResponseClose z;"
	  "<StreamId>k__BackingField i;<ConnectProtocolEstablished>k__BackingField z",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpAuthority",
	  "<IdnHost>k__BackingField o;<HostValue>k__BackingField o;"
	  "<Port>k__BackingField i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpClient",
	  "_operationStarted z;_disposed z;_pendingRequestsCts o;"
	  "_defaultRequestHeaders o;_defaultRequestVersion o;_defaultVersionPolicy i;"
	  "_baseAddress o;_timeout v8,8;+_timeout._ticks l@0;"
	  "_maxResponseContentBufferSize i",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnection",
	  "_pool o;_stream o;_transportContext o;_currentRequest o;_writeBuffer w24,8;"
	  "+_writeBuffer._usePool z@16;+_writeBuffer._bytes o@0;"
	  "+_writeBuffer._activeStart i@8;+_writeBuffer._availableStart i@12;"
	  "_allowedReadLineBytes i;_readAheadTaskStatus i;_readAheadTask w16,8;"
	  "+_readAheadTask._obj o@0;+_readAheadTask._result i@8;"
	  "+_readAheadTask._token s@12;+_readAheadTask._continueOnCapturedContext z@14;"
	  "_readBuffer w24,8;+_readBuffer._usePool z@16;+_readBuffer._bytes o@0;"
	  "+_readBuffer._activeStart i@8;+_readBuffer._availableStart i@12;"
	  "_keepAliveTimeoutSeconds i;_inUse z;_detachedFromPool z;_canRetry z;"
	  "_connectionClose z;_disposed i",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnection",
	  "_stream o;_transportContext o;_currentRequest o;_writeBuffer w24,8;"
	  "+_writeBuffer._usePool z@16;+_writeBuffer._bytes o@0;"
	  "+_writeBuffer._activeStart i@8;+_writeBuffer._availableStart i@12;"
	  "_allowedReadLineBytes i;_readAheadTaskStatus i;_readAheadTask w16,8;"
	  "+_readAheadTask._obj o@0;+_readAheadTask._result i@8;"
	  "+_readAheadTask._token s@12;+_readAheadTask._continueOnCapturedContext z@14;"
	  "_readBuffer w24,8;+_readBuffer._usePool z@16;+_readBuffer._bytes o@0;"
	  "+_readBuffer._activeStart i@8;+_readBuffer._availableStart i@12;"
	  "_keepAliveTimeoutSeconds i;_inUse z;_detachedFromPool z;_canRetry z;"
	  "_connectionClose z;_disposed z",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionBase",
	  "_connectionMetrics o;_httpTelemetryMarkedConnectionAsOpened z;"
	  "_creationTickCount l;_idleSinceTickCount l;_lastDateHeaderValue o;"
	  "_lastServerHeaderValue o;<Id>k__BackingField l",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionBase",
	  "_pool o;_connectionMetrics o;_httpTelemetryMarkedConnectionAsOpened z;"
	  "_creationTickCount l;_idleSinceTickCount v16,8;"
	  "+_idleSinceTickCount.hasValue z@0;+_idleSinceTickCount.value l@8;"
	  "_lastDateHeaderValue o;_lastServerHeaderValue o;<Id>k__BackingField l;"
	  "<ConnectionSetupActivity>k__BackingField o",
	  0, 9, 10, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionBase",
	  "_pool o;_connectionMetrics o;_httpTelemetryMarkedConnectionAsOpened z;"
	  "_creationTickCount l;_idleSinceTickCount v16,8;"
	  "+_idleSinceTickCount.hasValue z@0;+_idleSinceTickCount.value l@8;"
	  "_evictionContext o;_connectionDisposalCts o;_lastEvictionGeneration i;"
	  "_evictionCallbackInProgress z;_markedForEviction z;_lastDateHeaderValue o;"
	  "_lastServerHeaderValue o;<Id>k__BackingField l;"
	  "<ConnectionSetupActivity>k__BackingField o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionPool",
	  "_poolManager o;_kind b;_proxyUri o;_originAuthority o;_http3Authority o;"
	  "_authorityExpireTimer o;_persistAuthority z;_connectTunnelUserAgent o;"
	  "_altSvcBlocklist o;_altSvcBlocklistTimerCancellation o;_altSvcEnabled z;"
	  "_availableHttp11Connections o;_maxHttp11Connections i;"
	  "_associatedHttp11ConnectionCount i;_pendingHttp11ConnectionCount i;"
	  "_http11RequestQueue w24,8;+_http11RequestQueue._array o@0;"
	  "+_http11RequestQueue._head i@8;+_http11RequestQueue._tail i@12;"
	  "+_http11RequestQueue._size i@16;"
	  "+_http11RequestQueue._attemptedConnectionsOffset i@20;"
	  "_availableHttp2Connections o;_associatedHttp2ConnectionCount i;"
	  "_pendingHttp2Connection z;_http2RequestQueue w24,8;"
	  "+_http2RequestQueue._array o@0;+_http2RequestQueue._head i@8;"
	  "+_http2RequestQueue._tail i@12;+_http2RequestQueue._size i@16;"
	  "+_http2RequestQueue._attemptedConnectionsOffset i@20;_http2Enabled z;"
	  "_http2AltSvcOriginUri o;_http2EncodedAuthorityHostHeader o;_http3Enabled z;"
	  "_http3Connection o;_http3ConnectionCreateLock o;"
	  "_http3EncodedAuthorityHostHeader o;_lastSeenHttp2MaxHeaderListSize j;"
	  "_lastSeenHttp3MaxHeaderListSize j;_hostHeaderLineBytes o;_sslOptionsHttp11 o;"
	  "_sslOptionsHttp2 o;_sslOptionsHttp2Only o;_sslOptionsHttp3 o;"
	  "_sslOptionsProxy o;_usedSinceLastCleanup z;_disposed z;"
	  "<PreAuthCredentials>k__BackingField o",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionPool",
	  "_poolManager o;_kind b;_proxyUri o;_originAuthority o;"
	  "_connectTunnelUserAgent o;_lastSeenHttp2MaxHeaderListSize j;"
	  "_lastSeenHttp3MaxHeaderListSize j;_sslOptionsHttp11 o;_sslOptionsHttp2 o;"
	  "_sslOptionsHttp2Only o;_sslOptionsHttp3 o;_sslOptionsProxy o;"
	  "_preAuthCredentials o;_usedSinceLastCleanup z;_disposed z;"
	  "_http11Connections o;_http11RequestQueueIsEmptyAndNotDisposed z;"
	  "_maxHttp11Connections i;_associatedHttp11ConnectionCount i;"
	  "_pendingHttp11ConnectionCount i;_http11RequestQueue w24,8;"
	  "+_http11RequestQueue._array o@0;+_http11RequestQueue._head i@8;"
	  "+_http11RequestQueue._tail i@12;+_http11RequestQueue._size i@16;"
	  "+_http11RequestQueue._attemptedConnectionsOffset i@20;_hostHeaderLineBytes o;"
	  "_availableHttp2Connections o;_associatedHttp2ConnectionCount i;"
	  "_pendingHttp2Connection z;_http2RequestQueue w24,8;"
	  "+_http2RequestQueue._array o@0;+_http2RequestQueue._head i@8;"
	  "+_http2RequestQueue._tail i@12;+_http2RequestQueue._size i@16;"
	  "+_http2RequestQueue._attemptedConnectionsOffset i@20;_http2Enabled z;"
	  "_http2AltSvcOriginUri o;_http2EncodedAuthorityHostHeader o;"
	  "_availableHttp3Connections o;_associatedHttp3ConnectionCount i;"
	  "_pendingHttp3Connection z;_http3RequestQueue w24,8;"
	  "+_http3RequestQueue._array o@0;+_http3RequestQueue._head i@8;"
	  "+_http3RequestQueue._tail i@12;+_http3RequestQueue._size i@16;"
	  "+_http3RequestQueue._attemptedConnectionsOffset i@20;_http3Enabled z;"
	  "_http3EncodedAuthorityHostHeader o;_http3Authority o;_authorityExpireTimer o;"
	  "_persistAuthority z;_altSvcBlocklist o;_altSvcBlocklistTimerCancellation o;"
	  "_altSvcEnabled z",
	  0, 9, 9, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionPool",
	  "_poolManager o;_kind b;_proxyUri o;_telemetryServerAddress o;"
	  "_originAuthority o;_connectTunnelUserAgent o;"
	  "_lastSeenHttp2MaxHeaderListSize j;_lastSeenHttp3MaxHeaderListSize j;"
	  "_sslOptionsHttp11 o;_sslOptionsHttp2 o;_sslOptionsHttp2Only o;"
	  "_sslOptionsHttp3 o;_sslOptionsProxy o;_preAuthCredentials o;"
	  "_usedSinceLastCleanup z;_disposed z;_http11Connections o;"
	  "_http11RequestQueueIsEmptyAndNotDisposed z;_maxHttp11Connections i;"
	  "_associatedHttp11ConnectionCount i;_pendingHttp11ConnectionCount i;"
	  "_http11RequestQueue w24,8;+_http11RequestQueue._array o@0;"
	  "+_http11RequestQueue._head i@8;+_http11RequestQueue._tail i@12;"
	  "+_http11RequestQueue._size i@16;"
	  "+_http11RequestQueue._attemptedConnectionsOffset i@20;_hostHeaderLineBytes o;"
	  "_availableHttp2Connections o;_associatedHttp2ConnectionCount i;"
	  "_pendingHttp2Connection z;_http2RequestQueue w24,8;"
	  "+_http2RequestQueue._array o@0;+_http2RequestQueue._head i@8;"
	  "+_http2RequestQueue._tail i@12;+_http2RequestQueue._size i@16;"
	  "+_http2RequestQueue._attemptedConnectionsOffset i@20;_http2Enabled z;"
	  "_http2AltSvcOriginUri o;_http2EncodedAuthorityHostHeader o;"
	  "_availableHttp3Connections o;_associatedHttp3ConnectionCount i;"
	  "_pendingHttp3Connection z;_http3RequestQueue w24,8;"
	  "+_http3RequestQueue._array o@0;+_http3RequestQueue._head i@8;"
	  "+_http3RequestQueue._tail i@12;+_http3RequestQueue._size i@16;"
	  "+_http3RequestQueue._attemptedConnectionsOffset i@20;_http3Enabled z;"
	  "_http3EncodedAuthorityHostHeader o;_http3Authority o;_authorityExpireTimer o;"
	  "_persistAuthority z;_altSvcBlocklist o;_altSvcBlocklistTimerCancellation o;"
	  "_altSvcEnabled z",
	  0, 10, 10, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionPool",
	  "_poolManager o;_kind b;_proxyUri o;_telemetryServerAddress o;"
	  "_originAuthority o;_connectTunnelUserAgent o;"
	  "_lastSeenHttp2MaxHeaderListSize j;_lastSeenHttp3MaxHeaderListSize j;"
	  "_lastSeenHttp2MaxConcurrentStreams j;_sslOptionsHttp11 o;_sslOptionsHttp2 o;"
	  "_sslOptionsHttp2Only o;_sslOptionsHttp3 o;_sslOptionsProxy o;"
	  "_preAuthCredentials o;_usedSinceLastCleanup z;_disposed z;"
	  "<EvictionGeneration>k__BackingField i;_http11Connections o;"
	  "_http11RequestQueueIsEmptyAndNotDisposed z;_maxHttp11Connections i;"
	  "_associatedHttp11ConnectionCount i;_pendingHttp11ConnectionCount i;"
	  "_http11RequestQueue w24,8;+_http11RequestQueue._array o@0;"
	  "+_http11RequestQueue._head i@8;+_http11RequestQueue._tail i@12;"
	  "+_http11RequestQueue._size i@16;"
	  "+_http11RequestQueue._attemptedConnectionsOffset i@20;_hostHeaderLineBytes o;"
	  "_availableHttp2Connections o;_http2ConnectionsForHeartBeat o;"
	  "_associatedHttp2ConnectionCount i;_pendingHttp2Connection z;"
	  "_http2RequestQueue w24,8;+_http2RequestQueue._array o@0;"
	  "+_http2RequestQueue._head i@8;+_http2RequestQueue._tail i@12;"
	  "+_http2RequestQueue._size i@16;"
	  "+_http2RequestQueue._attemptedConnectionsOffset i@20;_http2Enabled z;"
	  "_http2SessionAuthSeen z;_http2AltSvcOriginUri o;"
	  "_http2EncodedAuthorityHostHeader o;_availableHttp3Connections o;"
	  "_associatedHttp3ConnectionCount i;_pendingHttp3Connection z;"
	  "_http3RequestQueue w24,8;+_http3RequestQueue._array o@0;"
	  "+_http3RequestQueue._head i@8;+_http3RequestQueue._tail i@12;"
	  "+_http3RequestQueue._size i@16;"
	  "+_http3RequestQueue._attemptedConnectionsOffset i@20;_http3Enabled z;"
	  "_http3EncodedAuthorityHostHeader o;_http3Authority o;_authorityExpireTimer o;"
	  "_persistAuthority z;_altSvcBlocklist o;_altSvcBlocklistTimerCancellation o;"
	  "_altSvcEnabled z",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionPool+HttpConnectionWaiter`1",
	  "ConnectionCancellationTokenSource o;"
	  "<CancelledByOriginatingRequestCompletion>k__BackingField z",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Http.HttpConnectionPool+RequestQueue`1",
	  "_array o;_head i;_tail i;_size i;_attemptedConnectionsOffset i", 0, 8, 8,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Net.Http.HttpConnectionPool+RequestQueue`1+QueueItem", "Request o;Waiter o", 0, 8,
	  8, NET_STRUCT_IN_ORDER, 0 },
	{ "System.Net.Http.HttpConnectionWaiter`1",
	  "ConnectionCancellationTokenSource o;"
	  "<CancelledByOriginatingRequestCompletion>k__BackingField z",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpMessageHandler", "", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpMessageInvoker", "_disposed z;_disposeHandler z;_handler o", 0, 8,
	  11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpMethod",
	  "_method o;_http3Index v8,4;+_http3Index.hasValue z@0;+_http3Index.value i@4;"
	  "_hashcode i;_http3EncodedBytes o",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Http.HttpMethod",
	  "_method o;_hashcode i;_http1EncodedBytes o;_http2EncodedBytes o;"
	  "_http3EncodedBytes o;_http3Index i;<MustHaveRequestBody>k__BackingField z;"
	  "<IsConnect>k__BackingField z;<IsHead>k__BackingField z",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpRequestException",
	  "<AllowRetry>k__BackingField i;<HttpRequestError>k__BackingField i;"
	  "<StatusCode>k__BackingField v8,4;+<StatusCode>k__BackingField.hasValue z@0;"
	  "+<StatusCode>k__BackingField.value i@4",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpRequestMessage",
	  "_sendStatus i;_method o;_requestUri o;_headers o;_version o;_versionPolicy i;"
	  "_content o;_options o",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Net.Http.HttpRequestMessage",
	  "_flags i;_connectionId l;_method o;_requestUri o;_headers o;_version o;"
	  "_versionPolicy i;_content o;_options o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Http.HttpResponseMessage",
	  "_statusCode i;_headers o;_trailingHeaders o;_reasonPhrase o;_requestMessage o;"
	  "_version o;_content o;_disposed z",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Http.RequestQueue`1",
	  "_array o;_head i;_tail i;_size i;_attemptedConnectionsOffset i", 0, 9, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Net.Http.RequestQueue`1+QueueItem", "Request o;Waiter o", 0, 9, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "System.Net.Http.SocketsHttpHandler",
	  "_settings o;_handler o;_decompressionHandlerFactory o;_disposed z", 0, 8, 9, NET_CLASS,
	  0 },
	{ "System.Net.Http.SocketsHttpHandler",
	  "_settings o;_handler o;_handlerChainSetupTask o;"
	  "_decompressionHandlerFactory o;_disposed z",
	  0, 10, 11, NET_CLASS, 0 },
	{ "System.Net.IPAddress", "_addressOrScopeId j;_numbers o;_toString o;_hashCode i", 0, 8,
	  11, NET_CLASS, 0 },
	{ "System.Net.IPEndPoint", "_address o;_port i", 0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Sockets.Socket",
	  "_handle o;_rightEndPoint o;_remoteEndPoint o;_localEndPoint o;_isConnected z;"
	  "_isDisconnected z;_willBlock z;_willBlockInternal z;_isListening z;"
	  "_nonBlockingConnectInProgress z;_pendingConnectRightEndPoint o;"
	  "_addressFamily i;_socketType i;_protocolType i;_receivingPacketInformation z;"
	  "_closeTimeout i;_disposed i;_singleBufferReceiveEventArgs o;"
	  "_singleBufferSendEventArgs o;_multiBufferReceiveEventArgs o;"
	  "_multiBufferSendEventArgs o",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Sockets.Socket",
	  "_handle o;_rightEndPoint o;_remoteEndPoint o;_localEndPoint o;_isConnected z;"
	  "_isDisconnected z;_willBlock z;_willBlockInternal z;_isListening z;"
	  "_nonBlockingConnectInProgress z;_pendingConnectRightEndPoint o;"
	  "_addressFamily i;_socketType i;_protocolType i;_receivingPacketInformation z;"
	  "_closeTimeout i;_disposed z;_singleBufferReceiveEventArgs o;"
	  "_singleBufferSendEventArgs o;_multiBufferReceiveEventArgs o;"
	  "_multiBufferSendEventArgs o",
	  0, 9, 11, NET_CLASS, 0 },
	{ "System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs",
	  "_owner o;_isReadForCaching z;_mrvtsc w40,8;+_mrvtsc._continuation o@0;"
	  "+_mrvtsc._continuationState o@8;+_mrvtsc._capturedContext o@16;"
	  "+_mrvtsc._error o@24;+_mrvtsc._result z@34;+_mrvtsc._version s@32;"
	  "+_mrvtsc._completed z@35;+_mrvtsc._runContinuationsAsynchronously z@36;"
	  "_cancellationToken w8,8;+_cancellationToken._source o@0;"
	  "<WrapExceptionsForNetworkStream>k__BackingField z",
	  0, 8, 10, NET_CLASS, 0 },
	{ "System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs",
	  "_owner o;_isReadForCaching z;_mrvtsc w40,8;+_mrvtsc._continuation o@0;"
	  "+_mrvtsc._continuationState o@8;+_mrvtsc._capturedContext o@16;"
	  "+_mrvtsc._error o@24;+_mrvtsc._result z@34;+_mrvtsc._version s@32;"
	  "+_mrvtsc._runContinuationsAsynchronously z@35;_cancellationToken w8,8;"
	  "+_cancellationToken._source o@0;"
	  "<WrapExceptionsForNetworkStream>k__BackingField z",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Sockets.SocketAsyncEngine",
	  "_port n;_buffer p;_handleToContextMap o;_eventQueue o;"
	  "_eventQueueProcessingRequested i",
	  0, 8, 8, NET_CLASS, 0 },
	{ "System.Net.Sockets.SocketAsyncEngine",
	  "_port n;_buffer p;_handleToContextMap o;_eventQueue o;"
	  "_hasOutstandingThreadRequest i",
	  0, 9, 9, NET_CLASS, 0 },
	{ "System.Net.Sockets.SocketAsyncEngine",
	  "_port n;_buffer p;_eventQueue o;_hasOutstandingThreadRequest i", 0, 10, 10, NET_CLASS,
	  0 },
	{ "System.Net.Sockets.SocketAsyncEngine", "_port n;_buffer p;_eventPool o;_asyncEvents o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "System.Net.Sockets.SocketAsyncEventArgs",
	  "_acceptSocket o;_connectSocket o;_buffer w16,8;+_buffer._object o@0;"
	  "+_buffer._index i@8;+_buffer._length i@12;_offset i;_count i;"
	  "_bufferIsExplicitArray z;_bufferList o;_bufferListInternal o;"
	  "_bytesTransferred i;_disconnectReuseSocket z;_completedOperation i;"
	  "_receiveMessageFromPacketInfo w16,8;"
	  "+_receiveMessageFromPacketInfo._address o@0;"
	  "+_receiveMessageFromPacketInfo._networkInterface i@8;_remoteEndPoint o;"
	  "_sendPacketsSendSize i;_sendPacketsElements o;_sendPacketsFlags i;"
	  "_socketError i;_connectByNameError o;_socketFlags i;_userToken o;"
	  "_acceptBuffer o;_acceptAddressBufferCount i;_socketAddress o;"
	  "_flowExecutionContext z;_context o;_currentSocket o;_userSocket z;"
	  "_disposeCalled z;_operating i;_multipleConnectCancellation o;Completed o;"
	  "_acceptedFileDescriptor n;_socketAddressSize i;_receivedFlags i;"
	  "_transferCompletionCallback o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "System.Net.Sockets.SocketException", "_errorCode i", 0, 8, 11, NET_CLASS, 0 },
};
const size_t net_rows_http_count = sizeof(net_rows_http) / sizeof(net_rows_http[0]);
