// SPDX-License-Identifier: MIT
// Memory that the runtime has for the program: objects, code, contexts, stacks.
using System;
using System.Collections.Generic;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;

namespace Planted
{
    public static unsafe class Managed
    {
        private static readonly List<object> kept = new();
        private static readonly ManualResetEventSlim never = new();
        // An array: its length, and the word in front of it.
        private const int ArrayBytes = 24;

        private static byte[] Written(byte[] bytes)
        {
            Array.Fill(bytes, (byte)0x5a);
            return bytes;
        }

        /// <summary>Arrays of SIZE bytes of payload that are BYTES together; the bytes of the objects.</summary>
        public static long Arrays(long bytes, int size, Func<int, byte[]> make, bool isPinned)
        {
            var list = new List<byte[]>();
            for (long done = 0; done < bytes; done += size)
            {
                byte[] array = Written(make(size));
                if (isPinned)
                    GCHandle.Alloc(array, GCHandleType.Pinned);
                list.Add(array);
            }
            kept.Add(list);
            return list.Count * (long)(size + ArrayBytes);
        }

        private static List<byte[]> condemned = new();

        /// <summary>Arrays that nothing keeps after Condemn(); the bytes of the objects.</summary>
        public static long Doomed(long bytes, int size)
        {
            for (long done = 0; done < bytes; done += size)
                condemned.Add(Written(new byte[size]));
            return condemned.Count * (long)(size + ArrayBytes);
        }

        /// <summary>From now on no collection may happen.</summary>
        public static void Condemn() => condemned = null;

        /// <summary>Large arrays, of which only small ones between them are kept: the gaps.</summary>
        public static long Gaps(long bytes, int size)
        {
            var between = new List<byte[]>();
            var dropped = new List<byte[]>();
            for (long done = 0; done < bytes; done += size)
            {
                dropped.Add(Written(new byte[size]));
                between.Add(Written(new byte[100_000]));
            }
            kept.Add(between);
            return dropped.Count * (long)(size + ArrayBytes);
        }

        /// <summary>Contexts that are kept although they were unloaded.</summary>
        public static void Unload()
        {
            foreach (object item in kept)
                (item as AssemblyLoadContext)?.Unload();
        }

        /// <summary>Methods without a type, each of which is called once.</summary>
        public static void Methods(int count)
        {
            for (int i = 0; i < count; i++)
            {
                var method = new DynamicMethod("planted" + i, typeof(long), new[] { typeof(long) });
                ILGenerator code = method.GetILGenerator();
                code.Emit(OpCodes.Ldarg_0);
                for (int j = 0; j < 200; j++)
                {
                    code.Emit(OpCodes.Ldc_I8, 0x123456789abcdefL * (j + 1));
                    code.Emit(j % 2 == 0 ? OpCodes.Xor : OpCodes.Mul);
                }
                code.Emit(OpCodes.Ret);
                var call = method.CreateDelegate<Func<long, long>>();
                call(i);
                kept.Add(call);
            }
        }

        /// <summary>Contexts that can be unloaded, each with this program, of which a part has run there.</summary>
        public static void Contexts(int count, string name)
        {
            for (int i = 0; i < count; i++)
            {
                var context = new AssemblyLoadContext(name + i, isCollectible: true);
                Assembly assembly = context.LoadFromAssemblyPath(typeof(Managed).Assembly.Location);
                Type type = assembly.GetType(typeof(Work).FullName);
                kept.Add(type.GetMethod("Run").Invoke(null, null));
                kept.Add(context);
            }
        }

        /// <summary>Threads that wait, each with BYTES of its stack in use.</summary>
        public static void Users(int count, int bytes, string name) =>
            Threads(count, name, () => Use(bytes, () => never.Wait()));

        /// <summary>Threads that wait, each of which has used BYTES of its stack once.</summary>
        public static void Idle(int count, int bytes, string name) => Threads(count, name, () =>
        {
            Use(bytes, () => { });
            never.Wait();
        });

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Use(int bytes, Action then)
        {
            byte* memory = stackalloc byte[bytes];
            Native.Touch(memory, bytes);
            then();
        }

        private static void Threads(int count, string name, Action body)
        {
            for (int i = 0; i < count; i++)
            {
                using var ready = new ManualResetEventSlim();
                var thread = new Thread(() =>
                {
                    ready.Set();
                    body();
                }, 8 << 20)
                { IsBackground = true, Name = name + i };
                thread.Start();
                ready.Wait();
            }
        }

        /// <summary>A file that is mapped, all of whose pages are looked at.</summary>
        public static void MappedFile(string path, long bytes)
        {
            if (bytes == 0)
                return;
            using (FileStream stream = File.Create(path))
            {
                byte[] part = Written(new byte[4096]);
                for (long done = 0; done < bytes; done += part.Length)
                    stream.Write(part);
            }
            var file = MemoryMappedFile.CreateFromFile(path);
            MemoryMappedViewAccessor view = file.CreateViewAccessor();
            long sum = 0;
            for (long at = 0; at < bytes; at += 4096)
                sum += view.ReadByte(at);
            kept.Add(sum);
            kept.Add(view);
        }
    }

    /// <summary>What runs in each context.</summary>
    public static class Work
    {
        public static object Run()
        {
            var words = new Dictionary<string, List<Item>>();
            for (int i = 0; i < 100; i++)
            {
                words["word" + i] = new List<Item> { new Item { Number = i }, new Item { Number = 2 * i } };
                words["word" + i].Sort((left, right) => right.Number.CompareTo(left.Number));
            }
            return words;
        }

        public sealed class Item
        {
            public int Number;
        }
    }
}
