// SPDX-License-Identifier: MIT
// Programs that leak or waste, each in a way of its own, and healthy ones: the argument says which. Each has a thread
// that allocates and drops, and other large holders that are right. Says what it knows as one line of JSON, then
// READY, and waits.
using System;
using System.Threading;

namespace Leaks
{
    public static class Program
    {
        private static Action Find(string mode) => mode switch
        {
            "sessions" => Holding.Sessions,
            "indexes" => Holding.Indexes,
            "audit" => Holding.Audit,
            "chain" => Holding.Chain,
            "weak" => Holding.WeakObservers,
            "tasks" => Holding.PendingCalls,
            "events" => Subscribing.Events,
            "linked" => Subscribing.Linked,
            "timers" => Subscribing.Timers,
            "plugin" => Subscribing.Plugins,
            "container" => Hosting.Container,
            "cache" => Hosting.Cache,
            "cachelimit" => Hosting.CacheWithLimit,
            "finalizer" => Wasting.Finalizer,
            "baskets" => Wasting.Baskets,
            "currencies" => Wasting.Currencies,
            "buffers" => Wasting.Buffers,
            "burst" => Wasting.Burst,
            "undo" => Keeping.Undo,
            "failures" => Keeping.Failures,
            "prices" => Keeping.Prices,
            "formulas" => Keeping.FormulaPile,
            "datasets" => Keeping.DataSets,
            "interned" => Keeping.Interned,
            "outbox" => Keeping.Outbox,
            "tracked" => Keeping.Tracked,
            "pool" => Keeping.Pool,
            "callbacks" => Serving.Callbacks,
            "pollers" => Serving.Pollers,
            "scripts" => Serving.Scripts,
            "throttle" => Serving.Throttle,
            "viewmodels" => Serving.ViewModels,
            "slices" => Slicing.Slices,
            "connections" => Slicing.Connections,
            "webshop" => Webshop.Run,
            "worker" => Worker.Run,
            "reference" => Healthy.Reference,
            "lru" => Healthy.Lru,
            "channel" => Healthy.BoundedChannel,
            "parser" => Healthy.Parser,
            "grid" => Healthy.Grid,
            "game" => Healthy.Game,
            "quotes" => Healthy.Quotes,
            "options" => Wrapping.Options,
            "reload" => Wrapping.Reload,
            "gauges" => Wrapping.Gauges,
            "hours" => Repeating.Hours,
            "symbols" => Repeating.Symbols,
            "rows" => Repeating.Rows,
            "neighbours" => Repeating.Neighbours,
            "owners" => Repeating.Owners,
            "visits" => Spreading.Visits,
            "tickets" => Spreading.Tickets,
            "pictures" => Outside.Pictures,
            "peak" => Outside.Peak,
            "watchers" => Outside.Watchers,
            "streams" => OpenConnections.Streams,
            "chats" => OpenConnections.Chats,
            "sockets" => OpenConnections.Sockets,
            "statements" => Database.Statements,
            "compacting" => Database.Compacting,
            "deadlines" => Deadlines.Wait,
            "studio" => Studio.Record,
            _ => null,
        };

        public static int Main(string[] arguments)
        {
            string mode = arguments.Length > 0 ? arguments[0] : "sessions";
            Action run = Find(mode);
            if (run == null)
            {
                Console.Error.WriteLine("leaks: there is no mode " + mode);
                return 2;
            }
            Noise.Begin();
            run();
            Noise.Settle();
            Truth.Write(mode);
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
