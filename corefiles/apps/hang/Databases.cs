// SPDX-License-Identifier: MIT
// Threads that want a database of SQLite which somebody else has locked. The classes of Microsoft.Data.Sqlite are made up here,
// with the fields that heapdump reads, for the package brings a native library; check_framework.py compares them with it.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Microsoft.Data.Sqlite
{
    public sealed class SqliteConnectionStringBuilder
    {
        private readonly string _dataSource;
        public SqliteConnectionStringBuilder(string source) => _dataSource = source;
        public string DataSource => _dataSource;
    }

    public sealed class SqliteConnectionPoolGroup
    {
        public SqliteConnectionPoolGroup(SqliteConnectionStringBuilder options) => ConnectionOptions = options;
        public SqliteConnectionStringBuilder ConnectionOptions { get; }
    }

    public sealed class SqliteConnection
    {
        public SqliteConnection(string source) => PoolGroup = new SqliteConnectionPoolGroup(new SqliteConnectionStringBuilder(source));
        private SqliteConnectionPoolGroup PoolGroup { get; }
        public string DataSource => PoolGroup.ConnectionOptions.DataSource;
        public SqliteTransaction BeginTransaction() => new SqliteTransaction(this);
    }

    public sealed class SqliteTransaction
    {
        private SqliteConnection _connection;
        private bool _completed;
        public SqliteTransaction(SqliteConnection connection) => _connection = connection;
        public string Source => _completed ? null : _connection.DataSource;

        public void Commit()
        {
            _completed = true;
            _connection = null;
        }
    }

    public sealed class SqliteCommand
    {
        private readonly SqliteConnection _connection;
        public SqliteCommand(SqliteConnection connection) => _connection = connection;
        public string Source => _connection.DataSource;

        /// <summary>Tries until the database is free; it says with which object.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Execute(Action<object> told)
        {
            var reader = new SqliteDataReader(this);
            told(reader);
            while (reader.NextResult())
                continue;
        }
    }

    public sealed class SqliteDataReader
    {
        private readonly SqliteCommand _command;
        public SqliteDataReader(SqliteCommand command) => _command = command;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public bool NextResult()
        {
            Thread.Sleep(1000 * 3600);
            return _command.Source.Length > 0;
        }
    }
}

namespace Hang
{
    using Microsoft.Data.Sqlite;

    public static class Databases
    {
        private static readonly List<object> kept = new();

        /// <summary>Has a transaction, and waits for what nobody of this program gives.</summary>
        private static void Import(SqliteConnection connection, object gate)
        {
            SqliteTransaction transaction = connection.BeginTransaction();
            lock (gate)
                Monitor.Wait(gate);
            transaction.Commit();
        }

        private static async Task ImportLater(SqliteConnection connection, Task answer)
        {
            SqliteTransaction transaction = connection.BeginTransaction();
            await Task.Yield();
            await answer;
            transaction.Commit();
        }

        private static void Audit(SqliteConnection connection, int number, string name)
        {
            // One that has begun a transaction of its own, and one whose transaction has ended.
            SqliteTransaction own = number == 0 ? connection.BeginTransaction() : null;
            SqliteTransaction ended = number == 1 ? new SqliteConnection(connection.DataSource).BeginTransaction() : null;
            ended?.Commit();
            var command = new SqliteCommand(connection);
            command.Execute(reader => Truth.Here(name, "SQLite", reader, null));
            GC.KeepAlive(own);
            GC.KeepAlive(ended);
        }

        /// <summary>Has locked the database by one connection, and wants it by another.</summary>
        private static void Nest(string source)
        {
            SqliteTransaction outer = new SqliteConnection(source).BeginTransaction();
            new SqliteCommand(new SqliteConnection(source)).Execute(reader => Truth.Here("nested", "SQLite", reader, null));
            outer.Commit();
        }

        private static void Run(string name, Action body)
        {
            new Thread(() => body()) { IsBackground = true, Name = name }.Start();
            Thread.Sleep(50);
        }

        public static void Begin()
        {
            var gate = new object();
            var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            Truth.Start("importer", "Monitor.Wait", gate, null, () => Import(new SqliteConnection("stock.db"), gate));
            for (int i = 0; i < 3; i++)
            {
                int number = i;
                Run("auditor-" + i, () => Audit(new SqliteConnection("stock.db"), number, "auditor-" + number));
            }
            kept.Add(ImportLater(new SqliteConnection("orders.db"), answer.Task));
            Run("clerk", () => Audit(new SqliteConnection("orders.db"), 2, "clerk"));
            Run("reader", () => Audit(new SqliteConnection("empty.db"), 2, "reader"));
            Run("nested", () => Nest("nested.db"));
            kept.Add(answer);
            Truth.Possible("nested");
        }
    }
}
