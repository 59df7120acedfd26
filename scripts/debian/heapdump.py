# GDB reads this at its start (not with -nx): heapdump's commands are there in every session.
import os

import gdb

if os.path.exists("/usr/share/heapdump/gdb/heapdump.py"):
    gdb.execute("source /usr/share/heapdump/gdb/heapdump.py")
