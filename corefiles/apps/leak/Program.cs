// SPDX-License-Identifier: MIT
// A web shop with two leaks. Customers come, look at a few products and leave again; when they leave,
// their session is taken out of the table of open sessions, but
//
//   1. every session listens to the price feed, and nobody takes the listener away;
//   2. every answer that was rendered stays in the page cache, which has no limit.
//
// Says what it knows as one line of JSON, then READY, and waits.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace WebShop
{
    public sealed class Product
    {
        public readonly int Number;
        public readonly string Name;
        public decimal Price;

        public Product(int number, decimal price)
        {
            Number = number;
            Name = "product " + number;
            Price = price;
        }
    }

    public sealed class PriceChange : EventArgs
    {
        public Product Product;
        public decimal OldPrice;
    }

    /// <summary>Lives as long as the shop: whoever listens here and does not stop lives as long, too.</summary>
    public sealed class PriceFeed
    {
        public static readonly PriceFeed Instance = new();
        public event EventHandler<PriceChange> Changed;

        public void Publish(Product product, decimal price)
        {
            var change = new PriceChange { Product = product, OldPrice = product.Price };
            product.Price = price;
            Changed?.Invoke(this, change);
        }
    }

    public struct CartLine
    {
        public Product Product;
        public int Quantity;
        public decimal Price;
    }

    public sealed class Customer
    {
        public string Name;
        public string Address;
        public Customer InvitedBy;
    }

    public sealed class Session
    {
        public readonly string Token;
        public readonly Customer Customer;
        public readonly DateTime Started;
        public readonly List<CartLine> Cart = new();
        public byte[] ViewState;
        public int Notices;

        public Session(int number, Customer customer)
        {
            Token = "session-" + number.ToString("d6");
            Customer = customer;
            Started = new DateTime(2024, 1, 1).AddSeconds(number);
            ViewState = new byte[64];
            PriceFeed.Instance.Changed += OnPriceChanged; // leak 1
        }

        private void OnPriceChanged(object sender, PriceChange change)
        {
            foreach (CartLine line in Cart)
                if (line.Product == change.Product)
                    Notices++;
        }
    }

    /// <summary>The open sessions. Closing takes a session out; this part is right.</summary>
    public static class SessionTable
    {
        private static readonly Dictionary<string, Session> open = new();

        public static void Open(Session session) => open.Add(session.Token, session);
        public static void Close(Session session) => open.Remove(session.Token);
        public static int Count => open.Count;
        public static Session Any => open.Values.First();
    }

    public sealed class Page
    {
        public string Url;
        public string Html;
        public int Hits;
    }

    public static class PageCache
    {
        private static readonly Dictionary<string, Page> pages = new();

        public static Page Get(string url, Func<string> render)
        {
            if (!pages.TryGetValue(url, out Page page))
                pages.Add(url, page = new Page { Url = url, Html = render() }); // leak 2: one for each session
            page.Hits++;
            return page;
        }

        public static int Count => pages.Count;
    }

    public static class Program
    {
        private const int Visits = 4000;
        private const int OpenAtOnce = 50;
        private static readonly Product[] products = Enumerable.Range(1, 100).Select(i => new Product(i, i * 1.25m)).ToArray();
        private static Session leaked;

        private static void Visit(int number, Queue<Session> present, Customer friend)
        {
            var customer = new Customer { Name = "customer " + number, Address = number + " Main Street", InvitedBy = friend };
            var session = new Session(number, customer);
            SessionTable.Open(session);
            present.Enqueue(session);
            for (int i = 0; i < 3; i++)
            {
                Product product = products[(number * 7 + i * 13) % products.Length];
                session.Cart.Add(new CartLine { Product = product, Quantity = i + 1, Price = product.Price });
                PageCache.Get($"/product/{product.Number}?session={session.Token}", () => $"<h1>{product.Name}</h1>");
            }
            if (number == Visits / 2)
                leaked = session;
            if (present.Count > OpenAtOnce)
                SessionTable.Close(present.Dequeue());
        }

        private static unsafe string Address(object thing) => "0x" + (*(nint*)Unsafe.AsPointer(ref thing)).ToString("x");

        private static string Truth()
        {
            var text = new StringBuilder("{\"program\":\"leak\",\"schema\":1");
            text.Append($",\"version\":\"{Environment.Version}\",\"pid\":{Environment.ProcessId}");
            text.Append(",\"objects\":[");
            text.Append($"{{\"name\":\"feed\",\"address\":\"{Address(PriceFeed.Instance)}\",\"type\":\"WebShop.PriceFeed\"}}");
            text.Append($",{{\"name\":\"open\",\"address\":\"{Address(SessionTable.Any)}\",\"type\":\"WebShop.Session\"}}");
            text.Append($",{{\"name\":\"leaked\",\"address\":\"{Address(leaked)}\",\"type\":\"WebShop.Session\"}}");
            text.Append("],\"counts\":{");
            text.Append($"\"WebShop.Session\":{Visits},\"WebShop.Customer\":{Visits},\"WebShop.Product\":{products.Length}");
            text.Append($",\"WebShop.Page\":{PageCache.Count}}},\"open_sessions\":{SessionTable.Count}}}\nREADY\n");
            return text.ToString();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Trade()
        {
            var present = new Queue<Session>();
            Customer friend = null;
            for (int i = 0; i < Visits; i++)
            {
                Visit(i, present, friend);
                if (i % 10 == 0)
                    friend = SessionTable.Any.Customer;
                if (i % 1000 == 0)
                    PriceFeed.Instance.Publish(products[i / 1000], 9.99m);
            }
        }

        public static int Main()
        {
            Trade();
            for (int i = 0; i < 2; i++)
                GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            int collections = GC.CollectionCount(0);
            byte[] text = Encoding.ASCII.GetBytes(Truth());
            leaked = null;
            if (GC.CollectionCount(0) != collections)
                return 3;
            Console.OpenStandardOutput().Write(text);
            Thread.Sleep(Timeout.Infinite);
            return 0;
        }
    }
}
