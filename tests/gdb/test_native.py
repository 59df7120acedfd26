# SPDX-License-Identifier: MIT
"""native.py and words.py without GDB, so that they also run on a sanitized library."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import unittest
from pathlib import Path
from unittest import mock

import support

sys.path[:0] = [str(support.SOURCE / name) for name in ("python", "gdb-plugin")]
sys.dont_write_bytecode = True

from heapdump import library, native  # noqa: E402
from heapdump_gdb.words import Line  # noqa: E402


class NativeTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = support.temporary_folder()
        self.addCleanup(folder.cleanup)
        self.dump = support.write_dump(folder.name)
        self.lib = native.load(str(support.LIBRARY))
        self.session = ctypes.c_void_p()
        native.check(self.lib.hd_session_create, ctypes.byref(self.session))
        self.addCleanup(self.lib.hd_session_destroy, self.session)

    def run_words(self, *argv: str) -> tuple[int, str, str]:
        sink = native.Sink(
            struct_size=ctypes.sizeof(native.Sink),
            cancelled=native.address(self.lib.hd_interrupted),
        )
        text = native.Text(self.lib)
        try:
            status = text.run(self.session, list(argv), sink)
            answer = b"".join(iter(text.read, b""))
            return status, native.decode(answer), native.decode(text.error.message)
        finally:
            text.close()

    def test_table_has_the_main_commands(self) -> None:
        names = {native.decode(info.name): info for info in native.commands(self.lib)}
        for name in ("gcroot", "pathto", "dumpheap", "dumpobj", "objsize"):
            self.assertTrue(names[name].is_top_level, name)
        for name in ("open", "close", "help", "info"):
            self.assertFalse(names[name].is_top_level, name)

    def test_command_answers(self) -> None:
        self.assertEqual(self.run_words("open", self.dump)[0], native.EXIT_OK)
        status, answer, _ = self.run_words("gcroot", "10")
        self.assertEqual(status, native.EXIT_OK)
        self.assertIn("A.Dict<System.String, System.Object>", answer)

    def test_failure_has_a_message(self) -> None:
        status, answer, message = self.run_words("open", self.dump + ".none")
        self.assertEqual((status, answer), (native.EXIT_INPUT, ""))
        self.assertIn(".none", message)
        self.assertEqual(self.run_words("gcroot", "10")[0], native.EXIT_USAGE)

    def test_help_of_each_command(self) -> None:
        for info in native.commands(self.lib):
            self.assertIn("Usage", native.command_help(self.lib, native.decode(info.name)))
        self.assertIn("gcroot", native.command_help(self.lib, None))
        with self.assertRaises(native.HeapdumpError):
            native.command_help(self.lib, "nosuch")

    def test_settings_read_back(self) -> None:
        buf = ctypes.create_string_buffer(64)
        for name, text in native.settings(self.lib):
            self.assertTrue(text, name)
            native.check(self.lib.hd_session_get, self.session, name.encode(), buf, len(buf))
            native.check(self.lib.hd_session_set, self.session, name.encode(), buf.value)
        with self.assertRaises(native.HeapdumpError):
            native.check(self.lib.hd_session_set, self.session, b"color", b"red")

    def test_completion(self) -> None:
        self.run_words("open", self.dump)
        types = native.complete(self.lib, self.session, ["dumpheap", "-type", "System.Str"])
        self.assertIn("System.String[]", types or [])
        self.assertIsNone(native.complete(self.lib, self.session, ["open", "/tm"]))
        self.assertIn("-all", native.complete(self.lib, self.session, ["gcroot", "-"]) or [])

    def test_only_expressions_are_marked(self) -> None:
        line = ["gcroot", "1e5", "-limit", "3"]
        self.assertEqual(native.expressions(self.lib, line), [False] * 4)
        self.assertEqual(native.expressions(self.lib, ["gcroot", "$rdi"]), [False, True])
        self.assertEqual(native.expressions(self.lib, []), [])

    def test_interrupt_is_taken_and_given_back(self) -> None:
        def interrupted() -> int:
            os.kill(os.getpid(), signal.SIGINT)
            return int(self.lib.hd_interrupted())

        self.assertTrue(native.guarded(self.lib, interrupted))
        self.assertEqual(self.lib.hd_interrupt_end(), 0)  # without a begin: harmless
        self.assertFalse(self.lib.hd_interrupted())
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass

    def test_structures_have_the_sizes_of_the_headers(self) -> None:
        self.assertEqual(ctypes.sizeof(native.Error), 512)
        self.assertEqual(ctypes.sizeof(native.Sink), 72)
        self.assertEqual(ctypes.sizeof(native.Object), 32)
        self.assertEqual(ctypes.sizeof(native.Type), 40)
        self.assertEqual(ctypes.sizeof(native.CommandInfo), 48)
        self.assertEqual(ctypes.sizeof(native.Module), 16)
        self.assertEqual(ctypes.sizeof(native.Thread), 16)
        self.assertEqual(native.Thread.registers.offset, 8)
        self.assertEqual(ctypes.sizeof(native.Debugger), 104)
        self.assertEqual(native.Debugger.threads.offset, 64)

    def test_missing_library_says_what_to_do(self) -> None:
        with mock.patch.dict(os.environ):
            os.environ.pop("HEAPDUMP_LIBRARY", None)
            with self.assertRaisesRegex(native.HeapdumpError, "HEAPDUMP_LIBRARY"):
                native.find("/nonexistent/share/heapdump/gdb")
        for path in ("/nonexistent/libheapdump.so", __file__):
            with self.assertRaisesRegex(native.HeapdumpError, "HEAPDUMP_LIBRARY"):
                native.load(path)


class LibraryTest(unittest.TestCase):
    """Which library may be loaded: code of another user must not run as this one."""

    def setUp(self) -> None:
        folder = support.temporary_folder()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name)) / "lib"
        self.folder.mkdir(mode=0o755)
        self.path = self.folder / "libheapdump.so"
        self.path.write_bytes(b"")
        self.path.chmod(0o644)
        environment = {
            name: value for name, value in os.environ.items() if name not in library.RAISED_BY
        }
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        os.environ["HEAPDUMP_LIBRARY"] = str(self.path)

    def refused(self, why: str) -> None:
        with self.assertRaisesRegex(native.HeapdumpError, "HEAPDUMP_LIBRARY is refused: .*" + why):
            native.find("/nonexistent")

    def test_a_library_of_the_users_own_is_taken(self) -> None:
        self.assertEqual(native.find("/nonexistent"), str(self.path))
        link = self.folder / "link.so"
        link.symlink_to(self.path)
        os.environ["HEAPDUMP_LIBRARY"] = str(link)
        self.assertEqual(native.find("/nonexistent"), str(self.path))

    def test_not_after_sudo(self) -> None:
        for name in library.RAISED_BY:
            with mock.patch.dict(os.environ, {name: "1000"}):
                self.refused("another user has started this process")
        for name in ("getuid", "getgid"):
            with mock.patch("os." + name, return_value=4711):
                self.refused("another user has started this process")

    def test_what_others_may_write_is_refused(self) -> None:
        for changed in (self.path, self.folder, self.folder.parent):
            mode = changed.stat().st_mode & 0o7777
            changed.chmod(mode | 0o002)
            self.refused(f"other users may write to {changed}$")
            changed.chmod(mode)
        # Where each may remove only what is his own it may lie, but not be directly in it.
        self.folder.parent.chmod(0o1777)
        self.assertEqual(native.find("/nonexistent"), str(self.path))
        self.folder.chmod(0o1777)
        self.refused("other users may write to")
        self.folder.chmod(0o755)
        self.path.unlink()
        self.path.mkdir()
        self.refused("is not a file")

    @unittest.skipIf(os.geteuid(), "only root may give a file away")
    def test_what_others_own_is_refused(self) -> None:
        for changed in (self.path, self.folder):
            os.chown(changed, 4711, 0)
            self.refused(f"{changed} belongs to another user")
            os.chown(changed, 0, 0)
        os.chown(self.path, 0, 4711)
        self.path.chmod(0o664)
        self.refused("other users may write to")

    def test_one_that_is_found_is_looked_at_too(self) -> None:
        # From a source tree that is not built, PREFIX is two folders above it.
        del os.environ["HEAPDUMP_LIBRARY"]
        here = self.folder.parent / "share" / "heapdump" / "gdb"
        here.mkdir(parents=True)
        self.assertEqual(native.find(str(here)), str(self.path))
        self.path.chmod(0o666)
        with self.assertRaisesRegex(native.HeapdumpError, "is refused: other users may write to"):
            native.find(str(here))


class WordsTest(unittest.TestCase):
    def test_line_is_split_as_gdb_does(self) -> None:
        cases = [
            ("", [], "", ""),
            ("-type ", ["-type"], "", ""),
            ("a 'b c", ["a"], "b c", "'"),
            ("a\\ b", [], "a b", ""),
            ("'a'\"b c\"d", [], "ab cd", ""),
            ("'a\\'b", [], "a'b", "'"),
        ]
        for text, words, last, quote in cases:
            line = Line(text)
            self.assertEqual((line.words, line.last, line.quote), (words, last, quote), text)

    def test_candidates_continue_what_was_typed(self) -> None:
        name = "A.Dict<X, Y>"
        self.assertEqual(Line("-type A").candidates([name], "A"), ["'A.Dict<X, Y>'"])
        self.assertEqual(Line("-type A.D").candidates([name], "D"), ["Dict<X,\\ Y>"])
        self.assertEqual(Line("-type 'A.D").candidates([name], "A.D"), ["A.Dict<X, Y>"])
        self.assertEqual(Line("-type ").candidates(["It's"], ""), ["'It\\'s'"])
        self.assertEqual(Line("-type B").candidates([name], "B"), [])
        self.assertEqual(Line("-").candidates(["-all", "-limit"], "-"), ["-all", "-limit"])


if __name__ == "__main__":
    unittest.main()
