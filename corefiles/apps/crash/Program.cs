// SPDX-License-Identifier: MIT
// crash MODE: dies in one of the ways in which a program can, and says before what lives and what stands on its
// stack, as one line of JSON (the last one counts). Modes that say READY wait for a signal.
using System;
using System.Collections.Generic;
using System.Threading;
using static Crash.Truth;

namespace Crash
{
    public static class Program
    {
        private static readonly Dictionary<string, Action<Tag>> modes = new()
        {
            ["throw"] = Exceptions.Direct,
            ["rethrow"] = Exceptions.Rethrow,
            ["deep"] = tag => Exceptions.Deep(4, tag),
            ["inner"] = _ => Exceptions.Inner(3),
            ["cctor"] = Exceptions.StaticConstructor,
            ["async"] = tag => Asynchronous.Run(tag).GetAwaiter().GetResult(),
            ["async-void"] = Asynchronous.RunVoid,
            ["pool"] = Concurrent.Pool,
            ["threads"] = Concurrent.Threads,
            ["callback"] = tag => Native.Callback(tag, false),
            ["callback-delegate"] = tag => Native.Callback(tag, true),
            ["nullref"] = tag => Faults.NullReference(tag),
            ["nullref-try"] = tag => Faults.NullReferenceInTry(tag),
            ["marshal"] = Faults.NullInMarshal,
            ["segv"] = Native.Segv,
            ["abort"] = Native.Abort,
            ["sleep"] = Native.Sleeping,
            ["spin"] = Native.Spinning,
            ["failfast"] = tag => Faults.FailFast(tag, 3),
            ["overflow"] = tag => Faults.Overflow(tag, 0),
            ["oom"] = Faults.OutOfMemory,
            ["catch-abort"] = tag => Handlers.InCatch(tag, "abort"),
            ["catch-throw"] = tag => Handlers.InCatch(tag, "throw"),
            ["finally-abort"] = tag => Handlers.InFinally(tag, "abort"),
            ["finally-throw"] = tag => Handlers.InFinally(tag, "throw"),
            ["filter-abort"] = tag => Handlers.InFilter(tag, "abort"),
            ["filter-failfast"] = tag => Handlers.InFilter(tag, "failfast"),
            ["nested"] = Handlers.Nested,
        };

        private static void UnhandledException(object sender, UnhandledExceptionEventArgs arguments) => Report("unhandled");

        private static void Run(string mode)
        {
            Tag tag = Make("Run.tag");
            modes[mode](tag);
            Keep(tag);
        }

        public static int Main(string[] arguments)
        {
            if (arguments.Length != 1 || !modes.ContainsKey(arguments[0]))
            {
                Console.Error.WriteLine("usage: crash " + string.Join('|', modes.Keys));
                return 2;
            }
            mode = arguments[0];
            AppDomain.CurrentDomain.UnhandledException += UnhandledException;
            Run(mode);
            return 0;
        }
    }
}
