// SPDX-License-Identifier: MIT
// packages: Parlot 2.2.1, Stateless 5.20.1, Superpower 3.2.1
// Orders that go from state to state, by rules that are parsed.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Parlot.Fluent;
using Stateless;
using Superpower;
using Superpower.Model;
using Superpower.Parsers;
using Superpower.Tokenizers;
using static Parlot.Fluent.Parsers;

namespace Orders
{
    public enum State { New, Paid, Sent, Back } public enum Event { Pay, Send, Return } public enum Kind { Number, Plus, Times, Open, Close }
    public abstract class Rule { public abstract long Value(Order of); }
    public sealed class Number : Rule { public decimal N; public override long Value(Order of) => (long)N; }
    public sealed class Both : Rule { public char Sign; public Rule Left, Right; public override long Value(Order of) => Sign == '+' ? Left.Value(of) + Right.Value(of) : Left.Value(of) * Right.Value(of); }
    public class Order { public int Id; public State State; public StateMachine<State, Event> Machine; public Rule Price; public long Total; public List<State> Past = new(); }
    public class RuleException : Exception { public readonly Order Of; public RuleException(Order of, string message, Exception inner) : base(message, inner) { Of = of; } }
    public static class Book<T> { public static readonly SortedDictionary<int, T> All = new(); public static T Last; }

    public static class Program
    {
        static Parser<Rule> s_parser; static Tokenizer<Kind> s_tokens; static TokenList<Kind> s_list; static RuleException s_failed; static readonly ReaderWriterLockSlim s_lock = new(); static readonly Order[,] s_board = new Order[4, 5];

        static Parser<Rule> MakeParser()
        {
            var rule = Deferred<Rule>();
            var number = Terms.Decimal().Then<Rule>(n => new Number { N = n });
            var factor = number.Or(Between(Terms.Char('('), rule, Terms.Char(')')));
            var product = factor.And(ZeroOrMany(Terms.Char('*').And(factor))).Then<Rule>(Join);
            rule.Parser = product.And(ZeroOrMany(Terms.Char('+').And(product))).Then<Rule>(Join);
            return rule;
        }
        static Rule Join((Rule first, IReadOnlyList<(char sign, Rule rule)> more) parts) => parts.more.Aggregate(parts.first, (left, part) => new Both { Sign = part.sign, Left = left, Right = part.rule });

        static void Advance(Order order)
        {
            var machine = order.Machine = new StateMachine<State, Event>(() => order.State, s => { order.Past.Add(order.State); order.State = s; });
            machine.Configure(State.New).Permit(Event.Pay, State.Paid);
            machine.Configure(State.Paid).Permit(Event.Send, State.Sent).OnEntry(() => order.Total = order.Price.Value(order));
            machine.Configure(State.Sent).Permit(Event.Return, State.Back);
            machine.Fire(Event.Pay);
            if (order.Id % 2 == 0) machine.Fire(Event.Send);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Fail(Order order)
        {
            try { order.Machine.Fire(Event.Return); }
            catch (InvalidOperationException e) { throw new RuleException(order, "no way back for " + order.Id, e); }
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Judge(ManualResetEventSlim ready)
        {
            var order = Tell.OnlyHere(new Order { Id = 1001, Price = new Number { N = 3 } });
            Advance(order);
            try { Fail(order); }
            catch (RuleException e) when (e.Of == order) { Wait(e, ready); GC.KeepAlive(order); }
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Wait(RuleException e, ManualResetEventSlim ready) { s_failed = e; ready.Set(); s_lock.EnterReadLock(); GC.KeepAlive(e); }

        public static int Main(string[] args)
        {
            s_parser = MakeParser();
            s_tokens = new TokenizerBuilder<Kind>().Match(Numerics.Natural, Kind.Number).Match(Character.EqualTo('+'), Kind.Plus).Match(Character.EqualTo('*'), Kind.Times).Match(Character.EqualTo('('), Kind.Open).Match(Character.EqualTo(')'), Kind.Close).Ignore(Superpower.Parsers.Span.WhiteSpace).Build();
            for (int i = 0; i < 200; i++) {
                string text = $"{i} + 2 * ({i % 3} + 4)";
                s_list = s_tokens.Tokenize(text);
                var order = new Order { Id = i, Price = s_parser.Parse(text) };
                Advance(order);
                Book<Order>.All[i] = order;
                Book<State>.All[i] = order.State;
                Book<Order>.Last = order;
                if (i < 20) s_board[i / 5, i % 5] = order;
            }
            s_lock.EnterWriteLock();
            Tell.Start("judge", Judge);
            Thread.Sleep(300);
            Tell.Begin();
            Tell.Say("own", "Orders.Program.");
            Tell.Count("Orders.Order", 201); Tell.Count("Orders.Number", 200 * 4 + 1); Tell.Count("Orders.Both", 200 * 3); Tell.Count("Orders.RuleException", 1); Tell.Count("Stateless.StateMachine<Orders.State, Orders.Event>", 201);
            Order first = Book<Order>.All[0], last = Book<Order>.Last;
            Tell.Obj("parser", s_parser); Tell.Obj("tokens", s_tokens); Tell.Obj("machine", last.Machine); Tell.Obj("rule", last.Price); Tell.Obj("board", s_board); Tell.Obj("book", Book<Order>.All); Tell.Obj("states", Book<State>.All); Tell.Obj("last", last); Tell.Obj("past", last.Past); Tell.Obj("failed", s_failed);
            foreach (Order order in s_board) { Tell.Field(order, "Id", order.Id); Tell.Field(order, "State", (int)order.State); Tell.Field(order, "Total", order.Total); Tell.Field(order, "Price", order.Price); Tell.Refers(order, order.Machine); Tell.Refers(order, order.Price); Tell.Known(order.Past, "_size", order.Past.Count); }
            var both = (Both)last.Price; Tell.Field(both, "Sign", both.Sign); Tell.Field(both, "Left", both.Left); Tell.Field(s_failed, "Of", s_failed.Of); Tell.Known(s_failed, "_message", s_failed.Message);
            Tell.Static("Orders.Program", "s_parser", ref s_parser); Tell.Static("Orders.Program", "s_tokens", ref s_tokens); Tell.Static("Orders.Program", "s_failed", ref s_failed); Tell.Static("Orders.Program", "s_board", ref Unsafe.AsRef(in s_board)); Tell.Static("Orders.Program", "s_lock", ref Unsafe.AsRef(in s_lock)); Tell.Static("Orders.Book<Orders.Order>", "All", ref Unsafe.AsRef(in Book<Order>.All)); Tell.Static("Orders.Book<Orders.Order>", "Last", ref Book<Order>.Last); Tell.Static("Orders.Book<Orders.State>", "All", ref Unsafe.AsRef(in Book<State>.All));
            Tell.Text("no way back for 1001");
            Tell.Frames("judge", "Program.Wait", "Program.Judge", "Program.Fail", "Program.Fail", "Program.Judge"); Tell.Frames("main", "Program.Main");
            Tell.Handling("judge", s_failed);
            Tell.End(args[0]);
            return 0;
        }
    }
}
