/* SPDX-License-Identifier: MIT */
/* Requests of Kestrel, and other types of ASP.NET Core: rows of framework/offsets/net_layout.h. */
#include "framework/offsets/net_rows.h"

const struct net_layout_row net_rows_servers[] = {
	{ "Microsoft.AspNetCore.Builder.WebApplication",
	  "_host o;_dataSources o;<Logger>k__BackingField o;"
	  "<ApplicationBuilder>k__BackingField o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "Microsoft.AspNetCore.Http.DefaultHttpContext",
	  "_features w64,8;+_features.<Collection>k__BackingField o@0;"
	  "+_features.<Revision>k__BackingField i@8;+_features.Cache v48@16;"
	  "+_features.Cache.Items o@16;+_features.Cache.ServiceProviders o@24;"
	  "+_features.Cache.Authentication o@32;+_features.Cache.Lifetime o@40;"
	  "+_features.Cache.Session o@48;+_features.Cache.RequestIdentifier o@56;"
	  "_request o;_response o;_connection o;_websockets o;_active z;"
	  "<FormOptions>k__BackingField o;<ServiceScopeFactory>k__BackingField o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "Microsoft.AspNetCore.Http.Features.FeatureReferences`1",
	  "<Collection>k__BackingField o;<Revision>k__BackingField i;Cache !0", 0, 8, 11,
	  NET_STRUCT_IN_ORDER, 0 },
	{ "Microsoft.AspNetCore.Http.HttpContext", "", 0, 8, 11, NET_CLASS, 0 },
	{ "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol",
	  "_bodyControl o;_onStarting o;_onCompleted o;_abortLock o;_connectionAborted z;"
	  "_preventRequestAbortedCancellation z;_abortedCts o;"
	  "_manuallySetRequestAbortToken w16,8;"
	  "+_manuallySetRequestAbortToken.hasValue z@0;"
	  "+_manuallySetRequestAbortToken.value v8@8;"
	  "+_manuallySetRequestAbortToken.value._source o@8;_requestProcessingStatus i;"
	  "_keepAlive z;_canWriteResponseBody z;_hasAdvanced z;_isLeasedMemoryInvalid z;"
	  "_autoChunk z;_applicationException o;_requestRejectedException o;"
	  "_httpVersion a;_httpProtocol o;_requestId o;_requestHeadersParsed i;"
	  "_eagerRequestHeadersParsedLimit i;_responseBytesWritten l;_context o;"
	  "_routeValues o;_endpoint o;_methodText o;_scheme o;_requestStreamInternal o;"
	  "_responseStreamInternal o;<HttpResponseControl>k__BackingField o;"
	  "<Output>k__BackingField o;<ServerOptions>k__BackingField o;"
	  "<ConnectionIdFeature>k__BackingField o;"
	  "<HasStartedConsumingRequestBody>k__BackingField z;"
	  "<MaxRequestBodySize>k__BackingField v16,8;"
	  "+<MaxRequestBodySize>k__BackingField.hasValue z@0;"
	  "+<MaxRequestBodySize>k__BackingField.value l@8;"
	  "<MinRequestBodyDataRate>k__BackingField o;"
	  "<AllowSynchronousIO>k__BackingField z;<IsUpgradableRequest>k__BackingField z;"
	  "<IsUpgraded>k__BackingField z;<IsExtendedConnectRequest>k__BackingField z;"
	  "<IsExtendedConnectAccepted>k__BackingField z;"
	  "<RemoteIpAddress>k__BackingField o;<RemotePort>k__BackingField i;"
	  "<LocalIpAddress>k__BackingField o;<LocalPort>k__BackingField i;"
	  "<ConnectProtocol>k__BackingField o;<Scheme>k__BackingField o;"
	  "<Method>k__BackingField b;<PathBase>k__BackingField o;<Path>k__BackingField o;"
	  "<QueryString>k__BackingField o;<RawTarget>k__BackingField o;"
	  "<RequestHeaders>k__BackingField o;<RequestTrailers>k__BackingField o;"
	  "<RequestTrailersAvailable>k__BackingField z;<RequestBody>k__BackingField o;"
	  "<RequestBodyPipeReader>k__BackingField o;<ResponseTrailers>k__BackingField o;"
	  "_statusCode i;_reasonPhrase o;<ResponseHeaders>k__BackingField o;"
	  "<ResponseBody>k__BackingField o;<ResponseBodyPipeWriter>k__BackingField o;"
	  "<HttpRequestHeaders>k__BackingField o;<HttpResponseHeaders>k__BackingField o;"
	  "<IsWebTransportRequest>k__BackingField z;_currentIHttpRequestFeature o;"
	  "_currentIHttpResponseFeature o;_currentIHttpResponseBodyFeature o;"
	  "_currentIRouteValuesFeature o;_currentIEndpointFeature o;"
	  "_currentIHttpRequestIdentifierFeature o;_currentIHttpRequestTrailersFeature o;"
	  "_currentIHttpExtendedConnectFeature o;_currentIHttpUpgradeFeature o;"
	  "_currentIRequestBodyPipeFeature o;_currentIHttpConnectionFeature o;"
	  "_currentIHttpRequestLifetimeFeature o;_currentIHttpBodyControlFeature o;"
	  "_currentIHttpMaxRequestBodySizeFeature o;"
	  "_currentIHttpRequestBodyDetectionFeature o;_currentIHttpWebTransportFeature o;"
	  "_currentIBadRequestExceptionFeature o;_currentIServiceProvidersFeature o;"
	  "_currentIHttpActivityFeature o;_currentIHttpMetricsTagsFeature o;"
	  "_currentIItemsFeature o;_currentIQueryFeature o;_currentIFormFeature o;"
	  "_currentIHttpAuthenticationFeature o;_currentISessionFeature o;"
	  "_currentIResponseCookiesFeature o;_currentIHttpResponseTrailersFeature o;"
	  "_currentITlsConnectionFeature o;_currentIHttpWebSocketFeature o;"
	  "_currentIHttpRequestTimeoutFeature o;_currentIHttp2StreamIdFeature o;"
	  "_currentIHttpMinRequestBodyDataRateFeature o;"
	  "_currentIHttpMinResponseDataRateFeature o;_currentIHttpResetFeature o;"
	  "_currentIPersistentStateFeature o;_featureRevision i;MaybeExtra o",
	  0, 8, 9, NET_CLASS, 0 },
	{ "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol",
	  "_bodyControl o;_onStarting o;_onCompleted o;_abortLock o;_connectionAborted z;"
	  "_preventRequestAbortedCancellation z;_abortedCts o;"
	  "_manuallySetRequestAbortToken w16,8;"
	  "+_manuallySetRequestAbortToken.hasValue z@0;"
	  "+_manuallySetRequestAbortToken.value v8@8;"
	  "+_manuallySetRequestAbortToken.value._source o@8;_requestProcessingStatus i;"
	  "_keepAlive z;_responseBodyMode i;_hasAdvanced z;_isLeasedMemoryInvalid z;"
	  "_applicationException o;_requestRejectedException o;_httpVersion a;"
	  "_httpProtocol o;_requestId o;_requestHeadersParsed i;"
	  "_eagerRequestHeadersParsedLimit i;_responseBytesWritten l;_context o;"
	  "_routeValues o;_endpoint o;_methodText o;_scheme o;_requestStreamInternal o;"
	  "_responseStreamInternal o;<HttpResponseControl>k__BackingField o;"
	  "<Output>k__BackingField o;<ServerOptions>k__BackingField o;"
	  "<ConnectionIdFeature>k__BackingField o;"
	  "<HasStartedConsumingRequestBody>k__BackingField z;"
	  "<MaxRequestBodySize>k__BackingField v16,8;"
	  "+<MaxRequestBodySize>k__BackingField.hasValue z@0;"
	  "+<MaxRequestBodySize>k__BackingField.value l@8;"
	  "<MinRequestBodyDataRate>k__BackingField o;"
	  "<AllowSynchronousIO>k__BackingField z;<IsUpgradableRequest>k__BackingField z;"
	  "<IsUpgraded>k__BackingField z;<IsExtendedConnectRequest>k__BackingField z;"
	  "<IsExtendedConnectAccepted>k__BackingField z;"
	  "<RemoteIpAddress>k__BackingField o;<RemotePort>k__BackingField i;"
	  "<LocalIpAddress>k__BackingField o;<LocalPort>k__BackingField i;"
	  "<ConnectProtocol>k__BackingField o;<Scheme>k__BackingField o;"
	  "<Method>k__BackingField b;<PathBase>k__BackingField o;<Path>k__BackingField o;"
	  "<QueryString>k__BackingField o;<RawTarget>k__BackingField o;"
	  "<RequestHeaders>k__BackingField o;<RequestTrailers>k__BackingField o;"
	  "<RequestTrailersAvailable>k__BackingField z;<RequestBody>k__BackingField o;"
	  "<RequestBodyPipeReader>k__BackingField o;<ResponseTrailers>k__BackingField o;"
	  "_statusCode i;_reasonPhrase o;<ResponseHeaders>k__BackingField o;"
	  "<ResponseBody>k__BackingField o;<ResponseBodyPipeWriter>k__BackingField o;"
	  "<HttpRequestHeaders>k__BackingField o;<HttpResponseHeaders>k__BackingField o;"
	  "<IsWebTransportRequest>k__BackingField z;_currentIHttpRequestFeature o;"
	  "_currentIHttpResponseFeature o;_currentIHttpResponseBodyFeature o;"
	  "_currentIRouteValuesFeature o;_currentIEndpointFeature o;"
	  "_currentIHttpRequestIdentifierFeature o;_currentIHttpRequestTrailersFeature o;"
	  "_currentIHttpExtendedConnectFeature o;_currentIHttpUpgradeFeature o;"
	  "_currentIRequestBodyPipeFeature o;_currentIHttpConnectionFeature o;"
	  "_currentIHttpRequestLifetimeFeature o;_currentIHttpBodyControlFeature o;"
	  "_currentIHttpMaxRequestBodySizeFeature o;"
	  "_currentIHttpRequestBodyDetectionFeature o;_currentIHttpWebTransportFeature o;"
	  "_currentIBadRequestExceptionFeature o;_currentIServiceProvidersFeature o;"
	  "_currentIHttpActivityFeature o;_currentIHttpMetricsTagsFeature o;"
	  "_currentIItemsFeature o;_currentIQueryFeature o;_currentIFormFeature o;"
	  "_currentIHttpAuthenticationFeature o;_currentISessionFeature o;"
	  "_currentIResponseCookiesFeature o;_currentIHttpResponseTrailersFeature o;"
	  "_currentITlsConnectionFeature o;_currentIHttpWebSocketFeature o;"
	  "_currentIHttpRequestTimeoutFeature o;_currentIHttp2StreamIdFeature o;"
	  "_currentIHttpMinRequestBodyDataRateFeature o;"
	  "_currentIHttpMinResponseDataRateFeature o;_currentIHttpResetFeature o;"
	  "_currentIPersistentStateFeature o;_featureRevision i;MaybeExtra o",
	  0, 10, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.CacheEntry",
	  "_cache o;_tokens o;_absoluteExpirationRelativeToNow v8,8;"
	  "+_absoluteExpirationRelativeToNow._ticks l@0;_slidingExpiration v8,8;"
	  "+_slidingExpiration._ticks l@0;_size l;_previous o;_value o;"
	  "_absoluteExpirationTicks l;_absoluteExpirationOffsetMinutes s;_isDisposed z;"
	  "_isExpired z;_isValueSet z;_evictionReason b;_priority b;"
	  "<Key>k__BackingField o;<LastAccessed>k__BackingField v8,8;"
	  "+<LastAccessed>k__BackingField._dateData m@0",
	  0, 8, 10, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.CacheEntry",
	  "_cache o;_tokens o;_absoluteExpirationRelativeToNow v8,8;"
	  "+_absoluteExpirationRelativeToNow._ticks l@0;_slidingExpiration v8,8;"
	  "+_slidingExpiration._ticks l@0;_size l;_previous o;_value o;"
	  "_absoluteExpirationTicks l;_absoluteExpirationOffsetMinutes s;_isDisposed z;"
	  "_isValueSet z;_evictionReason b;_priority b;<Key>k__BackingField o;"
	  "<LastAccessed>k__BackingField v8,8;"
	  "+<LastAccessed>k__BackingField._dateData m@0",
	  0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache",
	  "_logger o;_options o;_allStats o;_accumulatedStats o;_stats o;"
	  "_coherentState o;_disposed z;_lastExpirationScan v8,8;"
	  "+_lastExpirationScan._dateData m@0;<TrackLinkedCacheEntries>k__BackingField z",
	  0, 8, 8, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache",
	  "_logger o;_options o;_allStats o;_accumulatedStats o;_stats o;"
	  "_coherentState o;_disposed z;_lastExpirationScan v8,8;"
	  "+_lastExpirationScan._dateData m@0;<TrackLinkedCacheEntries>k__BackingField z;"
	  "lockFlag i",
	  0, 9, 9, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache",
	  "_logger o;_options o;_allStats o;_accumulatedHits l;_accumulatedMisses l;"
	  "_stats o;_coherentState o;_disposed z;_lastExpirationScan v8,8;"
	  "+_lastExpirationScan._dateData m@0;<TrackLinkedCacheEntries>k__BackingField z;"
	  "lockFlag i",
	  0, 10, 10, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache",
	  "_logger o;_options o;_allStats o;_accumulatedHits l;_accumulatedMisses l;"
	  "_accumulatedEvictions l;_stats o;_coherentState o;_disposed z;"
	  "_lastExpirationScan v8,8;+_lastExpirationScan._dateData m@0;"
	  "<TrackLinkedCacheEntries>k__BackingField z;lockFlag i",
	  0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState",
	  "_stringEntries o;_nonStringEntries o;_cacheSize l", 0, 8, 9, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState",
	  "_stringEntries o;_nonStringEntries o;_stringAltLookup w8,8;"
	  "+_stringAltLookup.<Dictionary>k__BackingField o@0;_cacheSize l",
	  0, 10, 10, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState",
	  "_stringEntries o;_nonStringEntries o;_stringAltLookup w8,8;"
	  "+_stringAltLookup.<Dictionary>k__BackingField o@0;_cacheSizePadded v128,8;"
	  "+_cacheSizePadded.Value l@64",
	  0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+CoherentState+CacheSizePadded",
	  "Value l@64", 128, 11, 11, NET_STRUCT_EXPLICIT, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+SharedMeter", "", 0, 11, 11, NET_CLASS,
	  0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+Stats", "_memoryCache o;Hits l;Misses l",
	  0, 8, 10, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+Stats",
	  "_memoryCache o;Hits l;Misses l;Index i", 0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCache+StatsHandler",
	  "<Stats>k__BackingField o", 0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCacheOptions",
	  "_sizeLimit l;_compactionPercentage d;<Clock>k__BackingField o;"
	  "<ExpirationScanFrequency>k__BackingField v8,8;"
	  "+<ExpirationScanFrequency>k__BackingField._ticks l@0;"
	  "<CompactOnMemoryPressure>k__BackingField z;"
	  "<TrackLinkedCacheEntries>k__BackingField z;<TrackStatistics>k__BackingField z",
	  0, 8, 10, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Caching.Memory.MemoryCacheOptions",
	  "_sizeLimit l;_compactionPercentage d;<Clock>k__BackingField o;"
	  "<ExpirationScanFrequency>k__BackingField v8,8;"
	  "+<ExpirationScanFrequency>k__BackingField._ticks l@0;"
	  "<CompactOnMemoryPressure>k__BackingField z;"
	  "<TrackLinkedCacheEntries>k__BackingField z;<TrackStatistics>k__BackingField z;"
	  "<Name>k__BackingField o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.DependencyInjection.ServiceLookup.ServiceProviderEngineScope",
	  "_disposed z;_disposables o;<ResolvedServices>k__BackingField o;"
	  "<IsRootScope>k__BackingField z;<RootProvider>k__BackingField o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.DependencyInjection.ServiceProvider",
	  "_callSiteValidator o;_createServiceAccessor o;_engine o;_disposed z;"
	  "_serviceAccessors o;<CallSiteFactory>k__BackingField o;<Root>k__BackingField o",
	  0, 8, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Hosting.Internal.Host",
	  "_logger o;_hostLifetime o;_applicationLifetime o;_options o;"
	  "_hostEnvironment o;_defaultProvider o;_hostedServices o;"
	  "_hostedLifecycleServices o;_hostStarting z;_stopCalled z;_hostStopped z;"
	  "<Services>k__BackingField o",
	  0, 8, 8, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Hosting.Internal.Host",
	  "_logger o;_hostLifetime o;_applicationLifetime o;_options o;"
	  "_hostEnvironment o;_defaultProvider o;_hostedServices o;"
	  "_hostedLifecycleServices o;_hostStarting z;_hostStopped z;"
	  "<Services>k__BackingField o",
	  0, 9, 10, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Hosting.Internal.Host",
	  "_logger o;_hostLifetime o;_applicationLifetime o;_options o;"
	  "_hostEnvironment o;_defaultProvider o;_hostedServices o;"
	  "_hostedLifecycleServices o;_hostStarting z;_hostStopped z;"
	  "_backgroundServiceTasks o;_backgroundServiceExceptions o;"
	  "<Services>k__BackingField o",
	  0, 11, 11, NET_CLASS, 0 },
	{ "Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope",
	  "_provider o;_isDisposed z;<Parent>k__BackingField o;<State>k__BackingField o", 0, 8, 11,
	  NET_CLASS, 0 },
	{ "Microsoft.Win32.SafeHandles.SafeHandleZeroOrMinusOneIsInvalid", "", 0, 8, 11, NET_CLASS,
	  0 },
	{ "Microsoft.Win32.SafeHandles.SafeWaitHandle", "", 0, 8, 11, NET_CLASS, 0 },
};
const size_t net_rows_servers_count = sizeof(net_rows_servers) / sizeof(net_rows_servers[0]);
