#!/usr/bin/env python3
"""Records the output of programs in a pty, for the tests of the terminal engine.

    record.py [NAME...]      records all programs, or some

Needs Linux, root, and pyte (pip install pyte); a program that is not installed is skipped. The programs run in a
namespace with an empty home folder /home/user, the folder /tmp/demo, and the host name demo, so that the recordings hold
nothing of the machine. A recording is a file NAME.rec: a line "burin recording COLUMNSxROWS STOP,STOP...", and the bytes.
A stop is the number of bytes that the program had written when the recorder pressed keys.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import termios
import time

import pyte

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 40 << 10
QUIET = 0.35
PATIENCE = 4.0

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
# A program that shows processes sees its own.
ALONE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"]
# A program with full-screen output gets the keys; each string is sent once the program is quiet.
PROGRAMS = {
    "bash": (["bash", "--norc", "-i"], ["echo hello world\r", "ls -la --color\r", "printf 'a\\tb\\n%s\\n' 漢字\r",
             "\x12ls", "\x07", UP + UP, "\x01# \x05", "\x03", "for i in 1 2 3; do echo $i; done\r", "ec\t\t", "\x15exit\r"]),
    "bash-narrow": (["bash", "--norc", "-i"], ["echo " + "word " * 20, "\x01", "xyz", LEFT * 3, "\x0b", "\x19\x19", "\r",
                    "exit\r"], (30, 10)),
    "sh": (["sh", "-i"], ["echo one; echo two >&2\r", "ls missing\r", "printf '\\033[31mred\\033[m\\n'\r", "exit\r"]),
    "zsh": (["zsh", "-f", "-i"], ["RPROMPT='%~'\r", "autoload -U compinit && compinit -u -D\r", "ls src/\t", "\t\t", "\r",
            "echo a\\\r", "b\r", UP, "\x15exit\r"]),
    "fish": (["fish", "--no-config", "-i"], ["echo hello\r", "ec", "\x1b[C\r", "ls s\t", "\r", "cd src\r", "git \t", "\x1b",
             "\x15exit\r"]),
    "vim": (["vim", "-u", "NONE", "-N", "-c", "syntax on | set number ruler", "src/main.rs"],
            ["oinserted line\x1b", "uGgg", "/let\r", "nN", "vjjd", ":split\r", ":vsplit\r", "\x17w", "yyp",
             ":set list hlsearch\r", "zz", ":qa!\r"]),
    "vimdiff": (["vim", "-u", "NONE", "-N", "-d", "one.txt", "two.txt"], ["]c", "do", "zR", ":qa!\r"]),
    "nvim": (["nvim", "--clean", "-n", "src/main.rs"], ["ihello \x1b", "dd", ":terminal echo in\r", ":q!\r", ":qa!\r"]),
    "nano": (["nano", "src/main.rs"], ["typed ", DOWN * 3, "\x17let\r", "\x0b\x15\x15", "\x07", "\x18", "\x18n"]),
    "less": (["less", "-R", "long.txt"], [" ", " ", "/line 9\r", "n", "N", "G", "g", "-N\r", "-S\r", RIGHT, "q"]),
    "less-colors": (["sh", "-c", "git diff --color HEAD~1 | less -R"], [" ", "b", "q"]),
    "man": (["man", "-P", "less", "gzip"], [" ", "/file\r", "n", "q"]),
    "htop": (ALONE + ["sleep 100 & exec htop"], [DOWN * 3, "\x1b[16~", "\x1b", "t", "q"]),
    "top": (ALONE + ["sleep 100 & exec top -d 1"], ["", "c", "1", "q"]),
    "watch": (["watch", "-n", "1", "-d", "date +%S"], ["", "", "\x03"]),
    "tmux": (["tmux", "-f", "/dev/null", "new-session", "bash --norc"],
             ["echo pane\r", "\x02%", "ls --color\r", "\x02\"", "seq 1 40\r", "\x02[", "\x1b[5~", "q", "\x02o", "exit\r",
              "exit\r", "exit\r"], (90, 28)),
    "git-add": (["git", "add", "-p"], ["?\r", "s\r", "y\r", "q\r"]),
    "git-log": (["git", "log", "--graph", "--color", "--oneline", "--decorate", "--all"], ["q"]),
    "git-status": (["sh", "-c", "git -c color.ui=always status; git -c color.ui=always diff --stat HEAD~2"], []),
    "git-rebase": (["git", "rebase", "-i", "HEAD~2"], ["cwreword\x1b", ":wq\r", ":wq\r"]),
    "git-word-diff": (["git", "--no-pager", "diff", "--color-words", "HEAD~2"], []),
    "python": (["/usr/bin/python3", "-q"], ["1 + 1\r", "for i in range(3):\r", "    print(i)\r", "\r", "1/0\r",
               "print('\\N{SNOWMAN}' * 100)\r", UP, "\x15exit()\r"]),
    "node": (["node"], ["[1, 'a', {b: null}]\r", "x = ", "Math.P", "\t", "I\r", "throw new Error('no')\r", UP, "\x15.exit\r"]),
    "sqlite": (["sqlite3", "-box", "demo.db"], ["create table t(a integer, b text);\r",
               "insert into t values (1, 'one'), (2, 'zwei'), (3, '三');\r", "select * from t;\r", ".schema\r", "selec;\r",
               ".quit\r"]),
    "perl-debugger": (["perl", "-d", "-e", "my $x = 1;\nprint \"$x\\n\";\n"], ["n\r", "p $x\r", "l\r", "q\r"]),
    "bc": (["bc"], ["scale=40; 4*a(1)\r", "2^200\r", "quit\r"]),
    "gdb": (["gdb", "-q", "--nx", "/bin/true"], ["info files\r", "\r", "q\r", "tui enable\r", "q\r"]),
    "ls": (["ls", "-la", "--color", "/tmp/demo", "/tmp/demo/src"], []),
    "grep": (["grep", "-rn", "--color=always", "let", "/tmp/demo/src"], []),
    "make": (["make", "-j2"], []),
    "curl": (["curl", "-o", "/dev/null", "--limit-rate", "2M", "file:///tmp/demo/data.bin"], []),
    "curl-bar": (["curl", "-#", "-o", "/dev/null", "--limit-rate", "2M", "file:///tmp/demo/data.bin"], []),
    "dd": (["dd", "if=/tmp/demo/data.bin", "of=/dev/null", "bs=64k", "status=progress"], []),
    "apt": (["apt-get", "install", "--reinstall", "-y", "-o", "Dpkg::Progress-Fancy=1", "./whiptail.deb"], []),
    "whiptail": (["whiptail", "--title", "Demo", "--menu", "Choose one", "15", "40", "4", "a", "first", "b", "second", "c",
                 "third"], [DOWN, DOWN, "\t", "\r"]),
    "dialog": (["dialog", "--checklist", "Choose some", "15", "50", "5", "1", "eins", "on", "2", "zwei", "off", "3", "三",
               "off"], [DOWN, " ", DOWN + " ", "\r"]),
    "dialog-gauge": (["sh", "-c", "for i in 0 20 40 60 80 100; do echo $i; sleep 0.1; done | dialog --gauge Working 8 40"],
                     []),
    "fzf": (["fzf"], ["ma", DOWN, "\x15line", "\x7f\x7f", "\x1b"]),
    "fzf-height": (["sh", "-c", "seq 1 100 | fzf --height 40% --multi --border"], ["7", "\t", UP, "\x1b"]),
    "mc": (["mc", "-u", "--nosubshell"], [DOWN * 3, "\t", "\x1b3", "\x1b0", "\x1b0", "\r"]),
    "unicode": (["cat", "unicode.txt"], []),
    "clear": (["sh", "-c", "seq 1 60; clear; tput cup 5 10; echo there; tput csr 3 9; tput cup 9 0; seq 1 5; tput reset; "
              "echo end"], []),
}

RETURN = "\r"
# The menus of vttest, with the number of pages up to the return of the menu; some pages ask for keys.
VTTEST = {
    "vttest-1": ["1\r"] + [RETURN] * 9,
    "vttest-2": ["2\r"] + [RETURN] * 18,
    "vttest-6": ["6\r", "3\r", RETURN, "4\r", RETURN, "5\r", RETURN, "0\r"],
    "vttest-8": ["8\r"] + [RETURN] * 18,
    "vttest-11": ["11\r", "5\r"] + [it for ix in "1235678" for it in (f"{ix}\r", RETURN)] + ["0\r", "6\r", "2\r", RETURN]
    + ["4\r", RETURN, RETURN, "5\r", RETURN, RETURN, "0\r", "7\r"]
    + [it for ix in "236" for it in (f"{ix}\r", RETURN)] + ["0\r", "0\r"],
}
for name, keys in VTTEST.items():
    PROGRAMS[name] = (["vttest"], keys)

MAIN = """fn main() {
    let words = ["alpha", "beta", "gamma"];
    for word in words {
        let length = word.len();
        println!("{word}: {length}");
    }
}
"""


class Screen(pyte.Screen):
    """The engine keeps its width when a program asks for 80 or 132 columns."""

    def set_mode(self, *modes, **kwargs):
        self.note_columns(modes, kwargs)
        super().set_mode(*[it for it in modes if it != 3 or not kwargs.get("private")], **kwargs)

    def reset_mode(self, *modes, **kwargs):
        self.note_columns(modes, kwargs)
        super().reset_mode(*[it for it in modes if it != 3 or not kwargs.get("private")], **kwargs)

    def note_columns(self, modes, kwargs):
        if 3 in modes and kwargs.get("private"):
            self.erase_in_display(2)
            self.set_margins()
            self.cursor_position()


def answers(data, screen):
    """Returns the answers of the engine to the queries in some output."""
    sent = b""
    for query in re.findall(rb"\x1b\[(\??>?=?[0-9;]*)([cnt])|\x1b(Z)", data):
        kind = query[0] + query[1] + query[2]
        row = screen.cursor.y + 1
        sent += {
            b"c": b"\x1b[?6c", b"0c": b"\x1b[?6c", b"Z": b"\x1b[?6c", b">c": b"\x1b[>0;2600;1c", b">0c": b"\x1b[>0;2600;1c",
            b"5n": b"\x1b[0n", b"6n": b"\x1b[%d;%dR" % (row, min(screen.cursor.x, screen.columns - 1) + 1),
        }.get(kind, b"")
    return sent


def record(name):
    command, keys, (columns, rows) = (PROGRAMS[name] + ((80, 24),))[:3]
    if shutil.which(command[0]) is None:
        print(f"{name}: {command[0]} is not installed")
        return None
    child, terminal = pty.fork()
    if child == 0:
        os.chdir("/tmp/demo")
        variables = {
            "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "HOME": "/home/user", "USER": "user",
            "LOGNAME": "user", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "PS1": "$ ",
            "EDITOR": "vim -u NONE -N", "LESSHISTFILE": "-", "GIT_CONFIG_NOSYSTEM": "1", "MANPAGER": "less",
            "PYTHONDONTWRITEBYTECODE": "1", "NODE_REPL_HISTORY": "",
        }
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvpe(command[0], command, variables)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    screen = Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    output, stops, pages, left = b"", [], [], list(keys)
    start = last = time.monotonic()
    while True:
        ready, _, _ = select.select([terminal], [], [], 0.05)
        if ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            output += data
            # Parts of it ask for positions in the middle.
            pieces = re.split(rb"(?<=\x1b\[6n)", data)
            for piece in pieces:
                try:
                    stream.feed(piece)
                except Exception:
                    pass
                sent = answers(piece, screen)
                if sent:
                    os.write(terminal, sent)
            last = time.monotonic()
        quiet = time.monotonic() - last
        if quiet > QUIET and left:
            stops.append(len(output))
            pages.append([line.rstrip() for line in screen.display])
            os.write(terminal, left.pop(0).encode())
            last = time.monotonic()
        elif quiet > PATIENCE or time.monotonic() - start > 40:
            break
    try:
        os.kill(child, 9)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)
    output = output[:LIMIT]
    stops = [stop for stop in stops if stop <= len(output)]
    header = f"burin recording {columns}x{rows} {','.join(map(str, stops))}\n"
    return header.encode() + output, pages


def write_pages(path, keys, pages):
    """Writes the keys, with the rows that pyte shows before each: a draft of the rows that the engine should show.

    BURIN_BLESS=1 writes those of the engine; look at the changes.
    """
    with open(path, "w", encoding="utf-8") as file:
        for key, page in zip(keys, pages):
            key = key.replace(RETURN, "\\r")
            file.write(f"=== {key}\n" + "\n".join(page).rstrip() + "\n")


def run(*command, **options):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


def prepare():
    """Makes the folders, in a namespace of their own."""
    deb = "/var/cache/burin-whiptail.deb"
    if not os.path.exists(deb):
        run("sh", "-c", f"cd /var/cache && rm -f whiptail_*.deb && apt-get download whiptail && mv whiptail_*.deb {deb}")
    run("mount", "-t", "tmpfs", "none", "/home")
    run("mount", "-t", "tmpfs", "none", "/tmp")
    socket.sethostname("demo")
    os.environ["HOME"] = "/home/user"
    os.makedirs("/home/user")
    os.makedirs("/tmp/demo/src")
    os.chdir("/tmp/demo")
    shutil.copy(deb, "whiptail.deb")
    files = {
        "src/main.rs": MAIN,
        "src/lib.rs": "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n",
        "one.txt": "".join(f"line {ix}\n" for ix in range(40)),
        "two.txt": "".join(f"line {ix}{' changed' if ix % 9 == 4 else ''}\n" for ix in range(40)),
        "long.txt": "".join(f"\x1b[3{ix % 8}mline {ix}\x1b[m {'text ' * (ix % 30)}\n" for ix in range(300)),
        "unicode.txt": "wide 漢字かな 한글\ncombining e\u0301 a\u0308\nemoji 🚀 👩‍🌾 🇩🇪 ❤️\nboxes ┌─┬─┐ █▓▒░ ⠿\n" +
                       "right to left שלום مرحبا\n" + "漢" * 90 + "\n",
        "Makefile": "all: a b c\na b c:\n\t@echo building $@; printf '\\033[32mok\\033[m %s\\n' $@\n",
    }
    for path, text in files.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open("data.bin", "wb") as file:
        file.write(b"0" * (4 << 20))
    dates = {"GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}
    os.environ.update(dates)
    with open("/home/user/.gitconfig", "w", encoding="utf-8") as file:
        file.write("[user]\n\tname = User\n\temail = user@example.com\n[init]\n\tdefaultBranch = main\n")
    run("git", "init")
    run("git", "add", "src", "one.txt")
    run("git", "commit", "-m", "first")
    run("git", "checkout", "-b", "topic")
    with open("src/lib.rs", "a", encoding="utf-8") as file:
        file.write("\npub fn sub(a: u32, b: u32) -> u32 {\n    a - b\n}\n")
    run("git", "commit", "-am", "add subtraction")
    run("git", "checkout", "main")
    shutil.copy("two.txt", "one.txt")
    run("git", "commit", "-am", "change lines")
    run("git", "merge", "topic", "-m", "merge topic")
    with open("src/main.rs", "w", encoding="utf-8") as file:
        file.write(MAIN.replace("beta", "BETA").replace("}\n}\n", "}\n    println!(\"end\");\n}\n"))


def main():
    names = sys.argv[1:]
    if os.environ.get("BURIN_RECORDER") != "inside":
        os.environ["BURIN_RECORDER"] = "inside"
        os.execvp("unshare", ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", sys.executable, __file__]
                  + names)
    prepare()
    for name in names or PROGRAMS:
        recorded = record(name)
        if recorded is None:
            continue
        content, pages = recorded
        print(f"{name}: {len(content)} bytes, {len(pages)} stops")
        with open(os.path.join(HERE, name + ".rec"), "wb") as file:
            file.write(content)
        if name.startswith("vttest"):
            write_pages(os.path.join(HERE, name + ".pages"), PROGRAMS[name][1], pages)


main()
