# SPDX-License-Identifier: MIT
"""
A virtual machine of arm64: Debian's kernel under qemu-system-aarch64, with programs that were unpacked into a folder.

It has ptrace, /proc, seccomp and cores of the kernel, which qemu-user has not. The folders that it shares with this machine have
the same paths in it, so that words mean the same in both. One processor, without hardware help: some 20 times slower.

    machine.py JOBS PROGRAM [WORD...]

runs a program in it, from outside of the script that holds it.
"""
from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# In the order in which they are loaded.
MODULES = (
    "virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_mmio virtio_blk crc16 crc32c_generic libcrc32c mbcache"
    " jbd2 ext4 netfs fscache 9pnet 9pnet_virtio 9p"
).split()
# Nobody needs these there.
LEFT_OUT = (
    "boot lib/modules usr/include usr/share/doc usr/share/locale usr/share/man usr/share/zoneinfo"
).split()

INIT = """#!/bin/sh
/bin/busybox --install -s /bin
mount -t proc p /proc
mount -t sysfs s /sys
mount -t devtmpfs d /dev
while read m; do insmod /m/$m; done </order
mount -t ext4 /dev/vda /n || exec sh
mount --move /dev /n/dev
mount --move /proc /n/proc
mount --move /sys /n/sys
exec switch_root /n /bin/bash /agent
"""

# Scripts come as files in the folder of jobs, one after the other.
AGENT = """export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/busybox HOME=/root LC_ALL=C.UTF-8
busybox mkdir -p /busybox && busybox --install -s /busybox
busybox mount -t tmpfs -o size=1500M t /tmp
mkdir -p /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
busybox mount -t devpts d /dev/pts
busybox mount -t tmpfs t /dev/shm
busybox ifconfig lo 127.0.0.1 up
{mounts}
busybox hostname arm64
ulimit -c unlimited
cd {jobs}
touch up
while :; do
    for job in *.sh; do
        [ -e "$job" ] || continue
        bash "$job" >"$job.out" 2>"$job.err" </dev/null
        echo $? >"$job.rc"
        mv "$job" "$job.done"
    done
    [ ! -e halt ] || busybox poweroff -f
    busybox usleep 50000
done
"""


def run(*words: str | Path, **options: object) -> None:
    """A command that must not fail."""
    subprocess.run([str(word) for word in words], check=True, **options)  # type: ignore[call-overload]


def under(root: Path, path: Path) -> Path:
    """The place of an absolute path below another root."""
    return root / path.relative_to("/")


class Machine:
    """One machine. Folders of `shares` have the same paths in it, and `copies` are copied into its disk once."""

    def __init__(self, root: Path, folder: Path, shares: list[Path], copies: list[Path]) -> None:
        self.folder = folder
        self.jobs = folder / "jobs"
        # A folder that is mounted later hides those below it.
        self.shares = sorted([self.jobs, *shares])
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.jobs, ignore_errors=True)
        self.jobs.mkdir()
        self.make_initrd(root)
        self.make_disk(root, copies)

    def make_initrd(self, root: Path) -> None:
        """The first programs, which find the disk."""
        tree = self.folder / "initrd"
        shutil.rmtree(tree, ignore_errors=True)
        for part in ("bin", "m", "proc", "sys", "dev", "n"):
            (tree / part).mkdir(parents=True)
        kernel = sorted((root / "lib" / "modules").iterdir())[-1]
        shutil.copy(root / "boot" / f"vmlinuz-{kernel.name}", self.folder / "vmlinuz")
        files = {file.name.split(".ko")[0]: file for file in kernel.rglob("*.ko*")}
        order = [files[name] for name in MODULES if name in files]
        for file in order:
            shutil.copy(file, tree / "m")
        (tree / "order").write_text("".join(f"{file.name}\n" for file in order), encoding="ascii")
        shutil.copy(root / "bin" / "busybox", tree / "bin")
        (tree / "bin" / "sh").symlink_to("busybox")
        (tree / "init").write_text(INIT, encoding="ascii")
        (tree / "init").chmod(0o755)
        words = f"find . | cpio -o -H newc --quiet | gzip -1 >{shlex.quote(str(self.folder / 'initrd.gz'))}"
        run("sh", "-c", words, cwd=tree)

    def make_disk(self, root: Path, copies: list[Path]) -> None:
        """An ext4 image, without mounting it. It is made once: what changes belongs into a folder that is shared."""
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        run("cp", "-al", root, tree)
        for name in LEFT_OUT:
            shutil.rmtree(tree / name, ignore_errors=True)
        for part in ("proc", "sys", "dev", "tmp", "run", "root", "etc", "var/tmp", "usr/bin"):
            (tree / part).mkdir(parents=True, exist_ok=True)
        for path in copies:
            under(tree, path).parent.mkdir(parents=True, exist_ok=True)
            run("cp", "-a", path, under(tree, path))
        for path in self.shares:
            under(tree, path).mkdir(parents=True, exist_ok=True)
        if not (tree / "bin" / "sh").exists():
            (tree / "bin" / "sh").symlink_to("bash")
        mounts = [
            f"busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache={'none' if path == self.jobs else 'mmap'}"
            f" s{number} {shlex.quote(str(path))}"
            for number, path in enumerate(self.shares)
        ]
        agent = AGENT.format(mounts="\n".join(mounts), jobs=shlex.quote(str(self.jobs)))
        (tree / "agent").write_text(agent, encoding="utf-8")
        (tree / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n", encoding="ascii")
        (tree / "etc" / "group").write_text("root:x:0:\n", encoding="ascii")
        image = self.folder / "disk.img"
        image.unlink(missing_ok=True)
        with image.open("wb") as file:
            file.truncate(6 << 30)
        env = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        run("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", tree, image, env=env)
        shutil.rmtree(tree)

    def __enter__(self) -> Machine:
        words = ["nice", "-n", "10", "qemu-system-aarch64", "-M", "virt,gic-version=3", "-snapshot"]
        # .NET 11 takes no ReadyToRun code without the atomic instructions of a newer processor.
        words += ["-cpu", "max,pauth-impdef=on", "-smp", "1", "-m", "3G"]
        words += ["-display", "none", "-serial", f"file:{self.folder / 'console'}"]
        words += ["-no-reboot", "-nic", "none", "-kernel", str(self.folder / "vmlinuz")]
        words += ["-initrd", str(self.folder / "initrd.gz")]
        words += ["-append", "console=ttyAMA0 quiet panic=-1"]
        words += ["-drive", f"if=none,id=d,file={self.folder / 'disk.img'},format=raw,cache=unsafe"]
        words += ["-device", "virtio-blk-pci,drive=d"]
        for number, path in enumerate(self.shares):
            words += ["-fsdev", f"local,id=f{number},path={path},security_model=none"]
            words += ["-device", f"virtio-9p-pci,fsdev=f{number},mount_tag=s{number}"]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        try:
            self.wait(self.jobs / "up", 300)
        except TimeoutError:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        (self.jobs / "halt").touch()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def wait(self, path: Path, seconds: float) -> None:
        """Until a file is there."""
        end = time.monotonic() + seconds
        while not path.exists():
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"{path} did not come in {seconds} s")
            time.sleep(0.05)

    def script(self, text: str, seconds: float = 600) -> str:
        """Run lines of bash in it, which must not fail; their standard output."""
        done = hand_over(self.jobs, text, "", seconds)
        if done.returncode:
            raise RuntimeError(f"{text}: {done.returncode}: {(done.stderr or done.stdout)[-800:]}")
        return done.stdout

    def stand_in(self, path: Path, program: Path) -> None:
        """Make a program that runs another one in the machine."""
        words = shlex.join([sys.executable, str(Path(__file__).resolve()), str(self.jobs)])
        text = f'#!/bin/sh\nexec {words} {shlex.quote(str(program))} "$@"\n'
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)


def hand_over(
    jobs: Path, text: str, given: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run lines of bash in the machine of that folder, and wait for their end."""
    job = jobs / f"{time.monotonic_ns()}-{os.getpid()}.sh"
    given_file = jobs / f"{job.name}.in"
    given_file.write_text(given, encoding="utf-8")
    text = f"exec <{shlex.quote(str(given_file))}\n{text}"
    job.with_suffix(".new").write_text(text, encoding="utf-8")
    job.with_suffix(".new").rename(job)
    end = time.monotonic() + seconds
    while not (jobs / f"{job.name}.done").exists():
        if time.monotonic() > end:
            raise TimeoutError(f"{text} has not ended in {seconds} s")
        time.sleep(0.03)
    out, err, status = (
        (jobs / f"{job.name}.{part}").read_text(encoding="utf-8", errors="replace")
        for part in ("out", "err", "rc")
    )
    for file in jobs.glob(f"{job.name}*"):
        file.unlink()
    return subprocess.CompletedProcess(text, int(status), out, err)


def main() -> int:
    """Exit status of the program."""
    given = "" if sys.stdin.isatty() else sys.stdin.read()
    done = hand_over(Path(sys.argv[1]), shlex.join(sys.argv[2:]), given, 900)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
