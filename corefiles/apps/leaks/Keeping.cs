// SPDX-License-Identifier: MIT
// Collections and pools that keep too much. Written after the rules of `report`, without a look at them.
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Data;
using System.Globalization;
using System.Linq.Expressions;
using System.Text;
using System.Text.Json;
using System.Threading;
using System.Threading.Channels;

namespace Leaks
{
    /// <summary>A window of a text editor: each edit can be undone, for ever.</summary>
    public sealed class EditorWindow
    {
        public static readonly EditorWindow Main = new();
        private readonly Stack<Action> undo = new();
        private string text = "";
        private int caret;

        public void Type(string word)
        {
            string before = text;
            int position = caret;
            undo.Push(() => Restore(before, position));
            text = (text.Length > 600 ? text.Substring(word.Length) : text) + word;
            caret = text.Length;
        }

        private void Restore(string before, int position)
        {
            text = before;
            caret = position;
        }

        public void Undo()
        {
            if (undo.Count > 0)
                undo.Pop()();
        }
    }

    public sealed class PaymentRequest
    {
        public int Number;
        public string Card, Merchant;
        public byte[] Signature = new byte[256];
    }

    public sealed class PaymentRefusedException : Exception
    {
        public PaymentRequest Request { get; }
        public PaymentRefusedException(PaymentRequest request, Exception inner)
            : base("payment " + request.Number + " was refused", inner) => Request = request;
    }

    /// <summary>What went wrong today: for a page that nobody opens.</summary>
    public static class FailureLog
    {
        private static readonly List<Exception> today = new();
        public static void Add(Exception failure) => today.Add(failure);
    }

    /// <summary>The last price of each share, as the exchange sent it.</summary>
    public static class PriceFeed
    {
        private static readonly Dictionary<string, JsonElement> latest = new();

        public static void Receive(string symbol, string message)
        {
            JsonDocument document = JsonDocument.Parse(Encoding.UTF8.GetBytes(message));
            latest[symbol] = document.RootElement.GetProperty("price");
        }
    }

    /// <summary>Formulas of users, compiled once for each text.</summary>
    public sealed class FormulaCache
    {
        private readonly Dictionary<string, Func<double, double>> compiled = new();

        public double Run(double rate, double input)
        {
            string text = "x * " + rate.ToString(CultureInfo.InvariantCulture);
            if (!compiled.TryGetValue(text, out Func<double, double> formula))
            {
                ParameterExpression x = Expression.Parameter(typeof(double), "x");
                formula = Expression.Lambda<Func<double, double>>(
                    Expression.Multiply(x, Expression.Constant(rate)), x).Compile();
                compiled[text] = formula;
            }
            return formula(input);
        }
    }

    public static class Pricing
    {
        public static readonly FormulaCache Formulas = new();
    }

    public sealed class ReportStore
    {
        private static ReportStore store;
        private readonly List<DataSet> shown = new();
        public static ReportStore Open() => store ??= new ReportStore();

        public DataSet Build(int number)
        {
            var set = new DataSet("report " + number);
            DataTable table = set.Tables.Add("sales");
            table.Columns.Add("region", typeof(string));
            table.Columns.Add("month", typeof(int));
            table.Columns.Add("units", typeof(int));
            table.Columns.Add("revenue", typeof(decimal));
            for (int i = 0; i < 60; i++)
                table.Rows.Add("region " + i % 5, i % 12 + 1, i * number % 1000, i * 12.5m);
            shown.Add(set);
            return set;
        }
    }

    public sealed class MailMessage
    {
        public string To, Subject;
        public byte[] Body = new byte[350];
    }

    /// <summary>Mails go out more slowly than they come in.</summary>
    public sealed class MailPump
    {
        private readonly Channel<MailMessage> outbox = Channel.CreateUnbounded<MailMessage>();
        private int sent;

        public void Post(MailMessage message)
        {
            outbox.Writer.TryWrite(message);
            if (message.Subject.EndsWith("0", StringComparison.Ordinal) && outbox.Reader.TryRead(out _))
                sent++;
        }

        public int Sent => sent;
    }

    public static class Mailing
    {
        public static MailPump Pump { get; } = new();
    }

    public sealed class Invoice
    {
        public int Number;
        public string Customer;
        public decimal Total;
        public byte[] Scan = new byte[160];
    }

    public sealed class Supplier
    {
        public string Name;
    }

    /// <summary>Remembers what was read, to find out later what changed.</summary>
    public static class ChangeTracker<TEntity> where TEntity : class
    {
        private static readonly List<TEntity> tracked = new();

        public static TEntity Track(TEntity entity)
        {
            tracked.Add(entity);
            return entity;
        }
    }

    public static class Thumbnails
    {
        private static readonly ArrayPool<byte> bitmaps = ArrayPool<byte>.Create(1 << 17, 400);

        public static void Draw(int together)
        {
            var rented = new List<byte[]>();
            for (int i = 0; i < together; i++)
            {
                byte[] bitmap = bitmaps.Rent(120_000);
                bitmap[i] = 1;
                rented.Add(bitmap);
            }
            foreach (byte[] bitmap in rented)
                bitmaps.Return(bitmap);
        }
    }

    public static class Keeping
    {
        public static void Undo()
        {
            const int count = 20000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                EditorWindow.Main.Type("word" + i % 100 + " ");
            EditorWindow.Main.Undo();
            Truth.ExpectName("EditorWindow.undo|EditorWindow.Main|EditorWindow.Type", count - 1);
        }

        private static void Pay(PaymentRequest request)
        {
            try
            {
                throw new TimeoutException("the bank did not answer in 30 s");
            }
            catch (TimeoutException late)
            {
                throw new PaymentRefusedException(request, late);
            }
        }

        public static void Failures()
        {
            const int count = 12000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
            {
                try
                {
                    Pay(new PaymentRequest { Number = i, Card = "4000-" + i, Merchant = "shop " + i % 20 });
                }
                catch (PaymentRefusedException refused)
                {
                    FailureLog.Add(refused);
                }
            }
            Truth.ExpectName("FailureLog|PaymentRefusedException", count);
        }

        private static string Quote(int number)
        {
            var text = new StringBuilder("{\"price\":").Append(100 + number % 50).Append(",\"history\":[");
            for (int day = 0; day < 400; day++)
                text.Append(day == 0 ? "" : ",").Append(100 + (day * 7 + number) % 50);
            return text.Append("],\"exchange\":\"XETRA\",\"currency\":\"EUR\"}").ToString();
        }

        public static void Prices()
        {
            const int count = 4000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                PriceFeed.Receive("SYM" + i, Quote(i));
            Truth.ExpectName("PriceFeed|JsonDocument", count);
        }

        public static void FormulaPile()
        {
            const int count = 3000;
            double sum = 0;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                sum += Pricing.Formulas.Run(1 + i / 1000.0, 100);
            Truth.ExpectName("FormulaCache|Pricing.Formulas", count);
        }

        public static void DataSets()
        {
            const int count = 250;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                ReportStore.Open().Build(i);
            Truth.ExpectName("ReportStore", count);
        }

        public static void Interned()
        {
            const int count = 120000;
            long length = 0;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                length += string.Intern("customer-" + i + "@mail.example").Length;
            Truth.ExpectName("nterned|nterning|ntern pool|ntern table", count);
        }

        public static void Outbox()
        {
            const int count = 40000;
            for (int i = 0; i < count; i = Noise.Next(i, count))
                Mailing.Pump.Post(new MailMessage { To = "client" + i + "@mail.example", Subject = "your order " + i });
            Truth.ExpectName("MailPump|outbox|Mailing", count - Mailing.Pump.Sent);
        }

        public static void Tracked()
        {
            const int count = 50000;
            for (int i = 0; i < 40; i++)
                ChangeTracker<Supplier>.Track(new Supplier { Name = "supplier " + i });
            for (int i = 0; i < count; i = Noise.Next(i, count))
                ChangeTracker<Invoice>.Track(new Invoice { Number = i, Customer = "customer " + i % 900, Total = i });
            Truth.ExpectName("ChangeTracker", count);
        }

        public static void Pool()
        {
            Thumbnails.Draw(300);
            GC.Collect();
            for (int i = 0; i < 100; i = Noise.Next(i, 100))
                Thumbnails.Draw(2);
            Thread.Sleep(300);
            Truth.ExpectName("Thumbnails|ArrayPool", 300);
        }
    }
}
