// SPDX-License-Identifier: MIT
// Reads files of columns with DuckDB, hyparquet and apache-arrow for check_columns.py: a JSON document of requests on standard
// input, one of answers on standard output. argv: the folder that has node_modules.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.argv[2], "package.json"));
const load = async (name) => import(pathToFileURL(require.resolve(name)));

// A value as check_columns.py has it: numbers of 64 bits as text, so that none is rounded.
const plain = (value) => {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return `${value}`;
  return value;
};

const { DuckDBInstance } = require("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
const duckdb = async (query, folder) => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    const reader = await connection.runAndReadAll(query);
    return { names: reader.columnNames(), rows: reader.getRows().map((row) => row.map(plain)) };
  } finally {
    process.chdir(before);
  }
};
const { parquetReadObjects, asyncBufferFromFile, parquetMetadataAsync } = await load("hyparquet");
const { compressors } = await load("hyparquet-compressors");
const hyparquet = async (file) => {
  const buffer = await asyncBufferFromFile(file);
  const metadata = await parquetMetadataAsync(buffer);
  const names = metadata.schema.slice(1).map((element) => element.name);
  const rows = await parquetReadObjects({ file: buffer, compressors });
  return { names, rows: rows.map((row) => names.map((name) => plain(row[name]))) };
};
const { tableFromIPC } = require("apache-arrow");
const arrow = async (file) => {
  const table = tableFromIPC(fs.readFileSync(file));
  const names = table.schema.fields.map((field) => field.name);
  const columns = names.map((name) => table.getChild(name));
  const rows = [];
  for (let i = 0; i < table.numRows; i++) rows.push(columns.map((column) => plain(column.get(i))));
  return { names, rows };
};

const readers = { duckdb, hyparquet, arrow };
for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [reader, ...words] = JSON.parse(line);
  let answer;
  try {
    answer = await readers[reader](...words);
  } catch (error) {
    answer = { error: `${error}` };
  }
  console.log(JSON.stringify(answer));
}
