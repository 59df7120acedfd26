// SPDX-License-Identifier: MIT
// The end comes in a catch, a finally, a filter.
using System;
using System.Runtime.CompilerServices;
using static Crash.Truth;

namespace Crash
{
    public static class Handlers
    {
        private const MethodImplOptions Apart = MethodImplOptions.NoInlining;

        [MethodImpl(Apart)]
        private static void End(Tag argument, string how)
        {
            Tag local = Make("End.local");
            Report("end");
            if (how == "abort")
                Native.abort();
            else if (how == "failfast")
                Environment.FailFast("the end");
            else
                throw new InvalidOperationException("end", new TagException("end"));
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        private static void Thrower()
        {
            Tag local = Make("Thrower.local");
            Exceptions.Throw("thrower");
            Keep(local);
        }

        [MethodImpl(Apart)]
        private static void Between()
        {
            Tag local = Make("Between.local");
            try { Thrower(); }
            finally { Keep(local); }
            Keep(local);
        }

        [MethodImpl(Apart)]
        public static void InCatch(Tag argument, string how)
        {
            Tag local = Make("InCatch.local");
            try
            {
                Tag inner = Make("InCatch.inner");
                Between();
                Keep(inner);
            }
            catch (TagException e)
            {
                Tag caught = Make("InCatch.caught");
                End(caught, how);
                Keep(caught, local, e.tag);
            }
            Keep(argument, local);
        }

        // Entered at the end of its try, too, but here by an exception.
        [MethodImpl(Apart)]
        private static void Finally(string how)
        {
            Tag local = Make("Finally.local");
            try { Thrower(); }
            finally
            {
                Tag inner = Make("Finally.inner");
                End(inner, how);
                Keep(local, inner);
            }
        }

        [MethodImpl(Apart)]
        public static void InFinally(Tag argument, string how)
        {
            Tag local = Make("InFinally.local");
            try { Finally(how); }
            catch (TagException) { Keep(local, argument); }
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        private static bool Filter(Tag argument, string how)
        {
            Tag local = Make("Filter.local");
            End(local, how);
            Keep(argument, local);
            return false;
        }

        [MethodImpl(Apart)]
        public static void InFilter(Tag argument, string how)
        {
            Tag local = Make("InFilter.local");
            try { Between(); }
            catch (TagException e) when (Filter(local, how)) { Keep(argument, local, e.tag); }
            Keep(argument, local);
        }

        [MethodImpl(Apart)]
        private static void NestedInner(Tag argument)
        {
            Tag local = Make("NestedInner.local");
            try { Thrower(); }
            finally
            {
                Tag inner = Make("NestedInner.inner");
                Exceptions.Throw("nested");
                Keep(local, inner, argument);
            }
        }

        // An exception out of a finally, while another one is on its way, in a catch.
        [MethodImpl(Apart)]
        public static void Nested(Tag argument)
        {
            Tag local = Make("Nested.local");
            try { Between(); }
            catch (TagException e)
            {
                Tag caught = Make("Nested.caught");
                try
                {
                    Tag inner = Make("Nested.inner");
                    NestedInner(caught);
                    Keep(inner);
                }
                catch (ArgumentException) { Keep(caught); }
                finally { Keep(caught, e.tag); }
                Keep(caught);
            }
            Keep(argument, local);
        }
    }
}
