"""Attempts to use what is not theirs: keys, files, network, processes, time and memory without end."""

from hostile.case import HARMLESS, case

LOOP = "while True:\n    pass"

case(
    "key_of_the_environment",
    "reads a key from the environment",
    "import",
    HARMLESS,
    imports="import os",
    opening='return os.environ.get("<VARIABLE>", "no key")',
)
case(
    "key_of_a_parent",
    "reads the environments of all processes",
    "import",
    HARMLESS,
    imports="import glob",
    opening="""
found = ["no key"]
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        found.append(open(path).read())
    except OSError:
        pass
return " ".join(found)[-90000:]
""",
)
case(
    "file_outside",
    "writes a file outside of its folder",
    "builtin",
    HARMLESS,
    opening='open("<OUTSIDE>/written", "w").write("x")',
)
case(
    "file_by_a_process",
    "writes a file outside by a shell",
    "import",
    HARMLESS,
    imports="import subprocess",
    opening='subprocess.run("echo x > <OUTSIDE>/written", shell=True)',
)
case(
    "file_by_a_link",
    "writes a file outside by a link",
    "import",
    HARMLESS,
    imports="import os",
    opening="""
os.symlink("<OUTSIDE>", "link")
open("link/written", "w").write("x")
""",
)
case(
    "removed_files",
    "removes what lies outside",
    "import",
    HARMLESS,
    imports="import shutil",
    opening='shutil.rmtree("<OUTSIDE>", ignore_errors=True)',
)
case(
    "own_file",
    "rewrites its own file while it is checked",
    "import",
    HARMLESS,
    imports="import os",
    generate="""
path = vars(sys.modules[cls.__module__])["__file__"] if False else "<OUTSIDE>/hostile.py"
open(path, "w").write("x")
""",
)
case(
    "connection",
    "connects to a server",
    "import",
    HARMLESS,
    imports="import socket",
    opening='socket.create_connection(("127.0.0.1", <PORT>), 1).send(b"x")',
)
case(
    "datagram",
    "sends a datagram",
    "import",
    HARMLESS,
    imports="import socket",
    opening='socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", <PORT>))',
)
case(
    "server",
    "listens for others",
    "import",
    HARMLESS,
    imports="import socket",
    opening='socket.create_server(("127.0.0.1", 0))',
)
case(
    "request",
    "asks a server by a library",
    "import",
    HARMLESS,
    imports="import urllib.request as r",
    opening='r.urlopen("http://127.0.0.1:<PORT>/", timeout=1).read()',
)
case(
    "fork_bomb",
    "forks without end",
    "import",
    "processes|memory|temporarily unavailable",
    imports="import os",
    opening="while True:\n    os.fork()",
)
case(
    "thread_bomb",
    "starts threads without end",
    "import",
    "processes|processor time",
    imports="import threading, time",
    opening="""
while True:
    try:
        threading.Thread(target=time.sleep, args=(60,)).start()
    except RuntimeError:
        pass
""",
)
case(
    "daemon",
    "forks twice, leaves its session, and writes later",
    "import",
    HARMLESS,
    imports="import os, time",
    opening="""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(40):
            time.sleep(0.05)
            try:
                open("<OUTSIDE>/written", "w").write("x")
            except OSError:
                pass
    os._exit(0)
""",
)
case(
    "deaf_daemon",
    "ignores every signal that can be ignored, and loops",
    "import",
    "processor time",
    imports="import os, signal",
    opening="""
for n in range(1, 64):
    try:
        signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
os.setsid() if os.getpid() != os.getsid(0) else None
while True:
    pass
""",
)
case(
    "killed_parent",
    "kills the processes above it",
    "import",
    HARMLESS,
    imports="import os, signal",
    opening="""
for pid in (os.getppid(), -1, os.getpgid(0), *range(2, 60)):
    try:
        if pid != os.getpid():
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
""",
)
case(
    "traced_parent",
    "looks into its parent's memory",
    "import",
    HARMLESS,
    imports="import ctypes, os",
    opening="""
libc = ctypes.CDLL(None)
return str([libc.ptrace(16, os.getppid(), 0, 0), libc.unshare(0x10000000), libc.mount(b"/", b"/", b"", 4096, b"")])
""",
)
case(
    "memory_bomb",
    "takes memory without end",
    "",
    "Memory|memory",
    opening="""
kept = []
while True:
    kept.append("x" * 100_000 + str(len(kept)))
""",
)
case(
    "memory_in_processes",
    "takes memory in many processes, each within its limit",
    "import",
    "memory|processes",
    imports="import os, time",
    opening="""
for n in range(8):
    if os.fork() == 0:
        kept = bytearray(40_000_000)
        time.sleep(30)
time.sleep(30)
""",
)
case(
    "output_flood",
    "writes to its output without end",
    "import",
    "wrote",
    imports="import os",
    opening='while True:\n    os.write(1, b"x" * 100_000)',
)
case(
    "disk_flood",
    "fills the disk",
    "import",
    HARMLESS,
    imports="import os",
    opening="""
for n in range(10_000):
    try:
        open(f"file{n}", "wb").write(b"x" * 1_000_000)
    except OSError:
        break
""",
)
case(
    "descriptor_flood",
    "opens files without end",
    "import",
    HARMLESS,
    imports="import os",
    opening="""
try:
    while True:
        os.dup(1)
except OSError:
    pass
""",
)
case(
    "stack_overflow",
    "calls itself until the process dies",
    "import",
    "SIG|memory|Recursion",
    imports="import sys",
    top="def deeper(n): return deeper(n + 1) + 1",
    opening="sys.setrecursionlimit(10**9)\ndeeper(0)",
)
case(
    "sleeper",
    "waits without using anything",
    "import",
    "",
    imports="import time",
    opening="time.sleep(600)",
)
for place in ("generate", "opening", "reply", "tool", "verify", "oracle", "ablated"):
    case(f"loop_in_{place}", f"never comes back from {place}", "", "processor time", **{place: LOOP})
case(
    "loop_as_it_loads",
    "never finishes loading",
    "",
    "processor time",
    imports="from itertools import count",
    top="TOTAL = sum(1 for n in count())",
)
case(
    "loop_in_post_init",
    "never comes back from being made",
    "",
    "processor time",
    body="def __post_init__(self):\n    while True:\n        pass",
)
case(
    "loop_in_a_property",
    "never says whether it is over",
    "",
    "processor time",
    body="@property\ndef ended(self) -> bool:\n    while True:\n        pass",
)
case("loop_in_needs", "never says what it needs", "", "", body="def needs(self):\n    while True:\n        pass")
case(
    "loop_in_deepcopy",
    "never comes back from being copied",
    "dunder",
    "processor time",
    body="def __reduce__(self):\n    while True:\n        pass",
)
case("endless_oracle", "has a plan without an end", "", HARMLESS, oracle='while True:\n    yield Say("x")')
case("levels_without_end", "has a thousand million levels", "literal", "", levels="range(1_000_000_000)")
case(
    "levels_by_product",
    "has a thousand million levels, computed",
    "literal",
    levels="range(100_000 * 100_000)",
)
case(
    "levels_by_sum",
    "has more levels than a report could list, computed where the gate does not follow",
    "",
    "levels is range",
    levels="range(sum([100_000] * 100_000))",
)
case("power_tower", "computes a number that fits nowhere", "literal", "", generate="9 ** 9 ** 9")
case("computed_shift", "shifts by what it computed", "literal", "", generate="1 << rng.randrange(10**12)")
case("long_string", "repeats a text a thousand million times", "literal", "", generate='"x" * 1_000_000_000')
case("huge_number", "writes a number of many digits", "literal", "", top=f"N = {'9' * 40}")
case(
    "doubling_text",
    "doubles a text until memory ends",
    "",
    "Memory|memory",
    generate="""
text = "x"
while text:
    text += text
""",
)
case(
    "nested_quantifiers",
    "matches by a pattern that takes exponential time",
    "regex",
    "processor time",
    imports="import re",
    opening='re.match(r"(a+)+$", "a" * 60 + "b")',
)
case(
    "overlapping_choice",
    "matches by a choice of the same",
    "regex",
    "",
    imports="import re",
    top='WORDS = re.compile(r"(\\w|\\d|a)*(x|x)*!")',
    reply="WORDS.match(text)",
)
case(
    "optional_copies",
    "matches by many optional copies",
    "regex",
    "",
    imports="import re",
    top='P = re.compile("(a?){40}a{40}")',
)
case("cubic_pattern", "matches by loops in a row", "regex", "", imports="import re", top='P = re.compile(".*.*.*x")')
case(
    "composed_pattern",
    "puts a pattern together from what the agent says",
    "regex",
    "",
    imports="import re",
    reply="re.search(text, self.thing)",
)
case(
    "pattern_in_a_variable",
    "adds up a pattern",
    "regex",
    "",
    imports="import re",
    reply='half = "(a+"\nre.search(half + ")+$", text)',
)
case(
    "pattern_function_passed_on",
    "passes a function of re on",
    "regex",
    "",
    imports="import re",
    reply="list(map(re.search, [text], [text]))",
)
case(
    "back_reference",
    "matches by what was matched before",
    "regex",
    "",
    imports="import re",
    top='P = re.compile(r"(.+)\\1+$")',
)
case(
    "recursion",
    "calls itself without an end",
    "",
    "Recursion",
    body="def deeper(self): return self.deeper()",
    opening="self.deeper()",
)
