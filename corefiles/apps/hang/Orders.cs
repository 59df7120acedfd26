// SPDX-License-Identifier: MIT
// A service that hangs. Two threads book transfers between the same two ledgers, each in its own order: a deadlock. An
// audit wants one of the ledgers. Requests wait, on workers of the pool, for tasks that need the ledger: no worker is
// left, and more requests are queued.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Shop
{
    public sealed class Ledger
    {
        public readonly string Name;
        public decimal Balance;
        public Ledger(string name) => Name = name;
    }

    public static class Bank
    {
        public static readonly Ledger Cash = new("cash"), Stock = new("stock");

        public static void Transfer(Ledger from, Ledger to, decimal amount, Barrier barrier)
        {
            lock (from)
            {
                barrier.SignalAndWait(); // both have begun
                lock (to)
                {
                    from.Balance -= amount;
                    to.Balance += amount;
                }
            }
        }

        public static decimal Audit(Ledger ledger)
        {
            lock (ledger)
                return ledger.Balance;
        }
    }

    public sealed class Order
    {
        public int Number;
        public string Customer;
    }

    public sealed class Inventory
    {
        private readonly SemaphoreSlim shelf = new(0, 4);
        private readonly TaskCompletionSource<bool> delivery = new();

        public async Task<bool> Reserve(Order order)
        {
            await shelf.WaitAsync();
            return order.Number > 0;
        }

        public async Task<bool> Deliver(Order order) => await delivery.Task && order.Number > 0;
    }

    public sealed class Checkout
    {
        public static readonly ConcurrentDictionary<int, Order> Open = new();
        public static readonly ConcurrentQueue<string> Log = new();
        public static readonly Channel<Order> Mails = Channel.CreateUnbounded<Order>();
        public static readonly Channel<string> Receipts = Channel.CreateBounded<string>(8);
        public static readonly Dictionary<string, int> Discounts = new() { ["customer 1"] = 5, ["customer 4"] = 10 };
        private readonly Inventory inventory = new();
        public static int Waiting;

        public async Task<bool> Place(Order order)
        {
            Open[order.Number] = order;
            Log.Enqueue("order " + order.Number);
            return await inventory.Reserve(order);
        }

        public async Task Ship(Order order)
        {
            await inventory.Deliver(order);
            await Mails.Writer.WriteAsync(order);
        }

        public async Task SendMails()
        {
            await foreach (Order order in Mails.Reader.ReadAllAsync())
                Log.Enqueue("mail " + order.Number);
        }

        /// <summary>A request handler that waits for a task.</summary>
        public void Handle(object state)
        {
            Interlocked.Increment(ref Waiting);
            if (Place((Order)state).Result)
                Log.Enqueue("done");
        }
    }
}

namespace Hang
{
    public static class Orders
    {
        private static readonly List<object> kept = new();

        public static void Begin()
        {
            const int workers = 8, queued = 12, shipped = 25;
            var barrier = new Barrier(2);
            Truth.Start("transfer-1", "Monitor.Enter", Shop.Bank.Stock, "transfer-2",
                () => Shop.Bank.Transfer(Shop.Bank.Cash, Shop.Bank.Stock, 10, barrier));
            Truth.Start("transfer-2", "Monitor.Enter", Shop.Bank.Cash, "transfer-1",
                () => Shop.Bank.Transfer(Shop.Bank.Stock, Shop.Bank.Cash, 20, barrier));
            Truth.Deadlock("transfer-1", "transfer-2");
            Truth.Start("audit", "Monitor.Enter", Shop.Bank.Cash, "transfer-1", () => Shop.Bank.Audit(Shop.Bank.Cash));
            var checkout = new Shop.Checkout();
            ThreadPool.SetMinThreads(workers, 1);
            ThreadPool.SetMaxThreads(workers, 1);
            for (int i = 1; i <= workers + queued; i++)
            {
                ThreadPool.QueueUserWorkItem(checkout.Handle, new Shop.Order { Number = i, Customer = "customer " + i % 7 }, false);
                while (i == workers && Volatile.Read(ref Shop.Checkout.Waiting) < workers)
                    Thread.Sleep(10);
            }
            for (int i = 1; i <= shipped; i++)
                kept.Add(checkout.Ship(new Shop.Order { Number = 1000 + i, Customer = "customer " + i % 7 }));
            kept.Add(checkout.SendMails());
            for (int i = 1; i <= 3; i++)
                Shop.Checkout.Receipts.Writer.TryWrite("receipt " + i);
            kept.Add(new Timer(_ => Shop.Checkout.Log.Enqueue("tick"), "report", 3600_000, 60_000));
            Thread.Sleep(300);
            Truth.Say("pool", $"{{\"threads\":{ThreadPool.ThreadCount},\"queued\":{ThreadPool.PendingWorkItemCount}" +
                $",\"min\":{workers},\"max\":{workers},\"blocked\":{workers}}}");
            Truth.Say("collections", () => $"{{\"Open\":[{Truth.AddressOf(Shop.Checkout.Open)},{Shop.Checkout.Open.Count}]" +
                $",\"Log\":[{Truth.AddressOf(Shop.Checkout.Log)},{Shop.Checkout.Log.Count}]" +
                $",\"Receipts\":[{Truth.AddressOf(Shop.Checkout.Receipts)},{Shop.Checkout.Receipts.Reader.Count}]" +
                $",\"Discounts\":[{Truth.AddressOf(Shop.Checkout.Discounts)},{Shop.Checkout.Discounts.Count}]}}");
            Truth.Say("chains", $"{{\"Shop.Checkout.Ship\":{shipped},\"Shop.Checkout.Place\":{workers},\"Shop.Checkout.SendMails\":1}}");
        }
    }
}
