// SPDX-License-Identifier: MIT
// Collections that only grow.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Leaks
{
    public sealed class ShopSession : IDisposable
    {
        public string Token;
        public List<string> Cart = new();
        public byte[] State = new byte[120];
        private bool _disposed;
        public void Dispose() => _disposed = true;
        public bool IsDisposed => _disposed;
    }

    public static class SessionRegistry
    {
        public static readonly Dictionary<string, ShopSession> Sessions = new();
    }

    public sealed class Client
    {
        public int Number;
        public string Mail, Address;
    }

    public sealed class ClientDirectory
    {
        public static readonly ClientDirectory Current = new();
        public readonly Dictionary<int, Client> ById = new();
        public readonly Dictionary<string, Client> ByMail = new();
    }

    public sealed class AuditRecord
    {
        public string User, Action;
        public long When;
    }

    public sealed class AuditTrail
    {
        private static readonly AuditTrail instance = new();
        private readonly ConcurrentQueue<AuditRecord> pending = new();
        public static void Add(AuditRecord record) => instance.pending.Enqueue(record);
    }

    public sealed class Job
    {
        public Job Next;
        public int Number;
        public byte[] Payload;
    }

    public static class JobQueue
    {
        public static Job Head;
    }

    public sealed class Observer
    {
        public int Number;
        public byte[] State = new byte[32];
    }

    public static class ObserverList
    {
        public static readonly List<WeakReference<Observer>> All = new();
    }

    public sealed class Reply
    {
        public int Code;
    }

    public static class CallTable
    {
        public static readonly List<TaskCompletionSource<Reply>> Waiting = new();
    }

    public static class Holding
    {
        private static readonly Dictionary<int, LinkedListNode<Client>> recent = new();
        private static readonly LinkedList<Client> order = new();

        private static void Touch(int number)
        {
            var node = order.AddFirst(new Client { Number = number, Mail = "client" + number + "@shop.example" });
            recent[number] = node;
            if (order.Count > 2000)
            {
                recent.Remove(order.Last.Value.Number);
                order.RemoveLast();
            }
        }

        public static void Sessions()
        {
            const int count = 40000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                var session = new ShopSession { Token = "session-" + i };
                session.Cart.Add("product " + i % 500);
                SessionRegistry.Sessions[session.Token] = session;
                session.Dispose();
                Touch(i);
            }
            Truth.Expect("accumulation finished", "SessionRegistry.Sessions", count);
        }

        public static void Indexes()
        {
            const int count = 60000;
            ClientDirectory directory = ClientDirectory.Current;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                var client = new Client { Number = i, Mail = "c" + i + "@example.org", Address = i + " High Street" };
                directory.ById[i] = client;
                directory.ByMail[client.Mail] = client;
                if (i >= 1000)
                    directory.ById.Remove(i - 1000);
                Touch(i);
            }
            Truth.Expect("accumulation", "ByMail", count);
        }

        public static void Audit()
        {
            const int count = 120000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                AuditTrail.Add(new AuditRecord { User = "user" + i % 50, Action = "opened " + i, When = i });
                if (i % 10 == 0)
                    Touch(i);
            }
            Truth.Expect("accumulation", "AuditTrail.pending", count);
        }

        public static void Chain()
        {
            const int count = 100000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                JobQueue.Head = new Job { Next = JobQueue.Head, Number = i, Payload = new byte[40] };
                if (i % 10 == 0)
                    Touch(i);
            }
            Truth.Expect("accumulation", "JobQueue.Head", count);
        }

        public static void WeakObservers()
        {
            const int count = 150000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                ObserverList.All.Add(new WeakReference<Observer>(new Observer { Number = i }));
            GC.Collect(0);
            for (int i = 0; i < 2000; i++)
                ObserverList.All.Add(new WeakReference<Observer>(new Observer { Number = i }));
            Truth.Expect("weak-references accumulation", "ObserverList.All|WeakReference<Leaks.Observer>", count);
        }

        private static async Task<int> CallBackend(int number)
        {
            var source = new TaskCompletionSource<Reply>();
            CallTable.Waiting.Add(source);
            Reply reply = await source.Task;
            return reply.Code + number;
        }

        public static void PendingCalls()
        {
            const int count = 40000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                _ = CallBackend(i);
                Touch(i);
            }
            Truth.Expect("async accumulation", "CallBackend|CallTable.Waiting", count);
        }
    }
}
