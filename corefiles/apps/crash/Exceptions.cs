// SPDX-License-Identifier: MIT
// Exceptions that nobody catches.
using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using static Crash.Truth;

namespace Crash
{
    public static class Exceptions
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;
        public static volatile bool yes = true;

        [MethodImpl(Apart)]
        public static void Throw(string message)
        {
            Tag local = Make("Throw.local " + message);
            if (yes)
                throw new TagException(message);
            Keep(local);
        }

        [MethodImpl(Apart)]
        public static void Direct(Tag argument)
        {
            Tag local = Make("Direct.local");
            Drop("Direct");
            Throw("direct");
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        private static void Between()
        {
            Tag local = Make("Between.local");
            Throw("rethrow");
            Keep(local);
        }

        [MethodImpl(Apart)]
        public static void Rethrow(Tag argument)
        {
            Tag outer = Make("Rethrow.outer");
            try
            {
                Tag inner = Make("Rethrow.inner");
                Between();
                Keep(inner);
            }
            catch (TagException e)
            {
                Tag caught = Make("Rethrow.caught");
                Drop("Rethrow");
                if (e.tag != null)
                    throw;
                Keep(caught);
            }
            Keep(argument, outer);
        }

        [MethodImpl(Apart)]
        private static bool Refuse(Tag tag)
        {
            Keep(tag);
            return false;
        }

        [MethodImpl(Apart)]
        public static void Deep(int depth, Tag argument)
        {
            Tag local = Make("Deep.local " + depth);
            try
            {
                Tag inner = Make("Deep.inner " + depth);
                if (depth > 0)
                    Deep(depth - 1, local);
                else
                    Throw("deep");
                Keep(inner);
            }
            catch (TagException) when (Refuse(argument)) { Keep(local); }
            catch (ArgumentException) { Drop("Deep"); }
            finally { Keep(local, argument); }
        }

        [MethodImpl(Apart)]
        public static void Inner(int depth)
        {
            Tag local = Make("Inner.local " + depth);
            try
            {
                if (depth == 0)
                    Throw("inner 0");
                else
                    Inner(depth - 1);
                Keep(local);
            }
            catch (Exception e)
            {
                Tag caught = Make("Inner.caught " + depth);
                Keep(caught);
                if (yes)
                    throw new TagException("inner " + (depth + 1), e);
            }
            Keep(local);
        }

        private static class Bad
        {
            public static readonly object value = Value();

            [MethodImpl(Apart)]
            private static object Value()
            {
                Tag local = Make("Bad.local");
                Throw("cctor");
                Keep(local);
                return null;
            }
        }

        [MethodImpl(Apart)]
        public static void StaticConstructor(Tag argument)
        {
            Tag local = Make("StaticConstructor.local");
            Keep(Bad.value);
            Keep(argument, local);
        }
    }

    // Their locals live in state machines.
    public static class Asynchronous
    {
        private static async Task Inner()
        {
            Tag local = Make("Inner.local");
            await Task.Delay(20);
            Exceptions.Throw("async");
            Keep(local);
        }

        public static async Task Run(Tag argument)
        {
            Tag local = Make("Run.local");
            await Task.Delay(20);
            await Inner();
            Keep(argument, local);
        }

        private static async void Void(Tag argument)
        {
            Tag local = Make("Void.local");
            await Task.Delay(20);
            Exceptions.Throw("async void");
            Keep(argument, local);
        }

        public static void RunVoid(Tag argument)
        {
            Void(argument);
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
