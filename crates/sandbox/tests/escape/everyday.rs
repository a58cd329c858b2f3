//! Everyday commands, inside and outside: the same exit code and the same output, without a
//! network.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base::AbsPath;
use sandbox::{Policy, SpawnRequest, UserEnvironment, names, start};

use crate::scene::{Ground, Kind, Scene, copy};

/// A required program, and a shell line for a folder with a project of every kind.
const COMMANDS: &[(&str, &str)] = &[
    ("sh", "pwd | sed 's,.*/,,'"),
    ("ls", "ls -la | awk '{print $1,$NF}'"),
    ("ls", "ls -R"),
    ("cat", "cat README.md"),
    ("sh", "echo hello > new.txt && cat new.txt"),
    ("cp", "cp a.txt b.txt && cat b.txt"),
    ("mv", "mv a.txt c.txt && ls"),
    ("rm", "rm -r src && ls"),
    ("mkdir", "mkdir -p x/y/z && find x"),
    ("ln", "ln -s a.txt l && readlink l && cat l"),
    ("ln", "ln a.txt hard && stat -c %h hard"),
    ("chmod", "chmod +x run.sh && ./run.sh"),
    ("touch", "touch -d 2001-01-01 t && stat -c %Y t"),
    ("head", "head -2 lines.txt"),
    ("tail", "tail -3 lines.txt"),
    ("wc", "wc lines.txt"),
    ("sort", "sort -r lines.txt"),
    ("uniq", "sort lines.txt | uniq -c"),
    ("cut", "cut -c1-3 lines.txt"),
    ("tr", "tr a-z A-Z < a.txt"),
    ("paste", "paste a.txt a.txt"),
    ("join", "join lines.txt lines.txt"),
    ("comm", "comm a.txt a.txt"),
    ("diff", "diff a.txt README.md"),
    ("diff", "diff -r src lib"),
    ("cmp", "cmp a.txt README.md"),
    ("sed", "sed -n 2p lines.txt"),
    ("sed", "sed -i s/one/two/ a.txt && cat a.txt"),
    ("awk", "awk '{print NR\": \"$0}' lines.txt"),
    ("grep", "grep -n t lines.txt"),
    ("grep", "grep -r fn ."),
    ("find", "find . -name '*.rs' -type f"),
    ("xargs", "ls | xargs -n1 echo"),
    ("tee", "echo x | tee t.txt"),
    ("seq", "seq 1 100 | tail -1"),
    ("date", "date -u -d @0"),
    ("env", "env -i A=b sh -c 'echo $A'"),
    ("expr", "expr 2 + 3"),
    ("test", "test -f a.txt"),
    ("sh", "exit 3"),
    ("sh", "kill -TERM $$"),
    ("false", "false"),
    ("sh", "nosuchcommand"),
    ("sh", "./a.txt"),
    ("sh", "cat nosuchfile"),
    ("sh", "trap 'echo bye' EXIT; echo hi"),
    ("sh", "(echo a; echo b) | cat -n"),
    ("sh", "cat <<E\nhere\nE"),
    ("sh", "x=$(echo y); echo $x"),
    ("sh", "sleep 0.05 & wait; echo done"),
    ("bash", "bash -c 'a=(1 2 3); echo ${#a[@]}'"),
    ("bash", "bash -c 'cat <(echo sub)'"),
    ("bash", "bash -c 'set -o pipefail; false | true'"),
    ("mktemp", "f=$(mktemp) && echo x > $f && cat $f"),
    ("mktemp", "d=$(mktemp -d) && ls $d"),
    ("sh", "echo x > /tmp/mine && cat /tmp/mine"),
    ("df", "df -P . | wc -l"),
    ("du", "du -a src | cut -f2"),
    ("stat", "stat -c '%a %s' a.txt"),
    ("file", "file a.txt"),
    ("od", "od -c a.txt"),
    ("md5sum", "md5sum a.txt"),
    ("sha256sum", "sha256sum lines.txt"),
    ("base64", "base64 a.txt | base64 -d"),
    ("xxd", "xxd a.txt"),
    ("tar", "tar cf t.tar src && tar tf t.tar"),
    (
        "tar",
        "tar czf t.tgz src && mkdir o && tar xzf t.tgz -C o && find o",
    ),
    ("gzip", "gzip -k a.txt && zcat a.txt.gz"),
    ("bzip2", "bzip2 -k a.txt && bzcat a.txt.bz2"),
    ("xz", "xz -k a.txt && xzcat a.txt.xz"),
    (
        "zip",
        "zip -q t.zip a.txt && unzip -l t.zip | tail -1 | awk '{print $2}'",
    ),
    (
        "cpio",
        "echo a.txt | cpio -o 2>/dev/null | cpio -t 2>/dev/null",
    ),
    (
        "patch",
        "printf -- '--- a.txt\\n+++ a.txt\\n@@ -1 +1 @@\\n-one\\n+two\\n' | patch -p0 && cat a.txt",
    ),
    ("jq", "echo '{\"a\":1}' | jq .a"),
    (
        "sqlite3",
        "sqlite3 t.db 'create table t(a); insert into t values(1); select * from t'",
    ),
    ("bc", "echo 2^10 | bc"),
    ("timeout", "timeout 0.1 sleep 5"),
    ("nice", "nice -n 5 echo x"),
    ("nohup", "nohup echo x 2>/dev/null"),
    ("time", "bash -c 'time true' 2>/dev/null"),
    ("flock", "flock lock echo locked"),
    ("mkfifo", "mkfifo p; (echo x > p &) ; cat p"),
    ("split", "split -l 2 lines.txt part- && ls part-*"),
    (
        "tmux",
        "tmux -L t new-session -d 'echo hi > out'; sleep 0.3; cat out",
    ),
    ("script", "script -qec 'echo tty' /dev/null"),
    ("tty", "tty"),
    ("stty", "stty size"),
    ("id", "id -u"),
    ("whoami", "whoami"),
    ("id", "id -gn"),
    ("uname", "uname -s"),
    ("nproc", "nproc"),
    ("ps", "ps -o args= -p $$"),
    ("getent", "getent passwd root"),
    ("sh", "echo $HOME"),
    ("sh", "umask"),
    ("sh", "ulimit -c"),
    ("sh", "ls ~ > /dev/null"),
    ("sh", "cat /etc/passwd | wc -l"),
    ("sh", "cat /proc/self/comm"),
    (
        "sh",
        "test -w /dev/null && test -r /dev/urandom && head -c 3 /dev/zero | wc -c",
    ),
    ("sh", "exec 5<a.txt; cat <&5"),
    ("sh", "test -d /dev/pts"),
    // git
    ("git", "git status --short"),
    ("git", "git log --oneline --format=%s"),
    ("git", "git diff"),
    ("git", "echo x >> a.txt; git diff"),
    (
        "git",
        "echo x >> a.txt; git add a.txt; git diff --cached --stat",
    ),
    (
        "git",
        "echo x >> a.txt; git commit -qam two && git log --format=%s",
    ),
    ("git", "git checkout -qb other && git branch --show-current"),
    ("git", "git branch b && git branch"),
    ("git", "git switch -qc s && git status -b --short"),
    (
        "git",
        "git stash list; echo x >> a.txt; git stash -q && git status --short && git stash pop -q && git status --short",
    ),
    ("git", "git show --stat --format=%s"),
    ("git", "git blame -s a.txt | cut -c10-"),
    ("git", "git ls-files"),
    ("git", "git rev-parse --abbrev-ref HEAD"),
    ("git", "git tag v1 && git tag"),
    ("git", "git tag -am v2 v2 && git describe"),
    ("git", "echo x > u; git clean -fdq && ls"),
    ("git", "rm a.txt; git checkout -q -- a.txt && cat a.txt"),
    ("git", "git mv a.txt z.txt && git status --short"),
    ("git", "git rm -q a.txt && git status --short"),
    ("git", "git reset -q --hard && git status --short"),
    (
        "git",
        "git checkout -qb o; echo o >> a.txt; git commit -qam o; git checkout -q -; git merge -q o && git log --format=%s",
    ),
    (
        "git",
        "git checkout -qb o; echo o >> a.txt; git commit -qam o; git checkout -q -; echo m > m; git add m; git commit -qm m; git rebase -q o && git log --format=%s",
    ),
    (
        "git",
        "echo x >> a.txt; git commit -qam x; git revert --no-edit HEAD -q 2>/dev/null || git revert --no-edit HEAD >/dev/null; git log --format=%s",
    ),
    (
        "git",
        "echo x >> a.txt; git commit -qam x; git reset -q --soft HEAD~; git status --short",
    ),
    (
        "git",
        "git checkout -qb o; echo o >> a.txt; git commit -qam o; git checkout -q -; git cherry-pick o >/dev/null && git log --format=%s",
    ),
    ("git", "git archive HEAD | tar t"),
    ("git", "git grep -n fn"),
    ("git", "git fsck 2>&1 | tail -1"),
    ("git", "git gc -q && git count-objects | cut -d, -f1"),
    ("git", "git reflog --format=%gs"),
    ("git", "git worktree list | wc -l"),
    ("git", "git config user.name"),
    ("git", "git init -q n && cd n && git status --short"),
    ("git", "git clone -q . n && cd n && git log --format=%s"),
    (
        "git",
        "echo x >> a.txt; git add -A; git commit -q --amend --no-edit && git log --format=%s",
    ),
    ("git", "git hash-object a.txt"),
    ("git", "git shortlog -s HEAD"),
    // building
    ("make", "make -s"),
    ("make", "make -s -j2 all"),
    ("make", "make -n"),
    ("make", "make -s fails"),
    ("gcc", "gcc -o prog src/prog.c && ./prog"),
    ("gcc", "gcc -c bad.c 2>&1 | head -1"),
    ("g++", "echo 'int main(){}' > m.cc && g++ -o m m.cc && ./m"),
    ("cc", "cc -E -P src/prog.c | tail -1"),
    (
        "ar",
        "gcc -c src/prog.c -o p.o && ar rcs p.a p.o && ar t p.a",
    ),
    ("strip", "gcc -o prog src/prog.c && strip prog && ./prog"),
    ("ldd", "ldd /bin/sh | wc -l"),
    ("pkg-config", "pkg-config --version"),
    ("cmake", "cmake --version | head -1"),
    (
        "cargo",
        "cd crate && cargo build -q --offline && ls target/debug/crate",
    ),
    ("cargo", "cd crate && cargo run -q --offline"),
    (
        "cargo",
        "cd crate && cargo test -q --offline 2>/dev/null | grep 'test result' | cut -d';' -f1",
    ),
    ("cargo", "cd crate && cargo check -q --offline"),
    (
        "cargo",
        "cd crate && cargo metadata --offline --no-deps --format-version 1 | head -c 12",
    ),
    ("cargo", "cargo --version"),
    ("rustc", "rustc --version"),
    ("rustfmt", "cd crate && rustfmt --check src/main.rs"),
    ("cargo", "cargo new -q fresh && ls fresh"),
    ("go", "cd gomod && go build -o m . && ./m"),
    ("go", "cd gomod && go vet ."),
    ("go", "cd gomod && go test . | cut -f1,2"),
    ("gofmt", "cd gomod && gofmt -l ."),
    ("node", "node -e 'console.log(1+1)'"),
    ("node", "node --test crate/none.js >/dev/null 2>&1; echo $?"),
    ("node", "node pkg/index.js"),
    ("npm", "cd pkg && npm run -s hello"),
    ("npm", "cd pkg && npm test -s"),
    ("npm", "npm --version"),
    ("npm", "cd pkg && npm ls --depth=0 2>/dev/null | tail -1"),
    ("npm", "cd pkg && npm pack -s && ls *.tgz"),
    (
        "npm",
        "cd pkg && npm install --offline -s --no-audit && ls package-lock.json",
    ),
    ("python3", "python3 -c 'print(1+1)'"),
    (
        "python3",
        "python3 -m unittest -q pymod.test_it 2>&1 | tail -1",
    ),
    ("python3", "python3 -m json.tool pkg/package.json | head -2"),
    (
        "python3",
        "python3 -m py_compile pymod/it.py && ls pymod/__pycache__ | wc -l",
    ),
    (
        "python3",
        "python3 -c 'import tempfile;print(len(tempfile.mkdtemp())>3)'",
    ),
    (
        "python3",
        "python3 -c 'import subprocess;print(subprocess.check_output([\"echo\",\"x\"]))'",
    ),
    (
        "python3",
        "python3 -c 'import multiprocessing as m;print(m.Pool(2).map(abs,[-1,2]))'",
    ),
    (
        "python3",
        "python3 -c 'import socket;s=socket.socket();s.bind((\"127.0.0.1\",0));s.listen();c=socket.create_connection(s.getsockname());print(\"ok\")'",
    ),
    (
        "python3",
        "python3 -c 'import sqlite3;print(sqlite3.connect(\":memory:\").execute(\"select 1\").fetchone())'",
    ),
    (
        "python3",
        "python3 -c 'import asyncio;asyncio.run(asyncio.sleep(.01));print(1)'",
    ),
    (
        "python3",
        "python3 -m venv --without-pip v && v/bin/python -c 'print(3)'",
    ),
    ("pytest", "pytest -q pymod | tail -1 | cut -c1-8"),
    ("pip", "pip --version | cut -d' ' -f1"),
    ("perl", "perl -ne 'print if /t/' lines.txt"),
    ("perl", "perl -MPOSIX -e 'print floor(2.5)'"),
    ("openssl", "openssl dgst -sha1 a.txt"),
    ("openssl", "openssl rand 4 | wc -c"),
    ("strace", "strace --version | head -1 | cut -c1-6"),
    ("gdb", "gdb --version | head -1 | cut -c1-7"),
    ("vim", "vim -es -c '%s/one/two/' -c wq a.txt; cat a.txt"),
    (
        "ed",
        "printf 's/one/two/\\nw\\nq\\n' | ed -s a.txt; cat a.txt",
    ),
    ("less", "less a.txt"),
    ("man", "man --version | cut -c1-3"),
    ("which", "which sh"),
    ("curl", "curl --version | cut -d' ' -f1 | head -1"),
    ("sudo", "sudo -n true 2>/dev/null; echo"),
    ("locale", "locale 2>/dev/null | head -1"),
    ("printf", "printf '%05d\\n' 42"),
    ("yes", "yes | head -2"),
    ("shuf", "shuf -n1 -e x"),
    ("realpath", "realpath --relative-to=. src/main.rs"),
    ("basename", "basename /a/b.c .c"),
];

#[test]
fn everyday_commands_behave_as_outside() {
    let ground = Ground::new("everyday");
    let template = ground.scene(Kind::Plain);
    projects(&template);
    let next = AtomicUsize::new(0);
    let lists = Mutex::new((Vec::new(), Vec::new(), 0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((tool, line)) = COMMANDS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = both(&ground, &template, tool, line);
                    let mut lists = lists.lock().expect("the lists");
                    match outcome {
                        None => lists.0.push(*tool),
                        Some((outside, inside)) if outside == inside => lists.2 += 1,
                        Some((outside, inside)) => {
                            lists.1.push(format!(
                                "{line:?}\n  outside {outside:?}\n  inside {inside:?}"
                            ));
                        }
                    }
                }
            });
        }
    });
    let (skipped, mut different, same) = lists.into_inner().expect("the lists");
    let count = same + different.len();
    println!("{same} of {count} everyday commands behave as outside; without {skipped:?}");
    different.sort();
    for line in &different {
        println!("{line}");
    }
    assert!(same * 100 >= count * 98, "{}", different.join("\n"));
}

/// Returns exit code and output, with the folder's path replaced.
type Outcome = (i32, String);

fn both(ground: &Ground, template: &Scene, tool: &str, line: &str) -> Option<(Outcome, Outcome)> {
    let is_there = Command::new("/bin/sh")
        .args(["-c", &format!("command -v {tool}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_there {
        return None;
    }
    let run = |is_inside: bool| {
        let scene = ground.scene(Kind::NoGit);
        fs::remove_dir_all(scene.base.join("work")).expect("removed");
        copy(&template.base.join("work"), &scene.base.join("work"));
        let mut outcome = if is_inside {
            sandboxed(&scene, line)
        } else {
            bare(&scene, line)
        };
        outcome.1 = outcome
            .1
            .replace(&*scene.base.to_string_lossy(), "BASE")
            .replace(&scene.shared, "NAME");
        outcome
    };
    Some((run(false), run(true)))
}

fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let mut all: Vec<_> = host::environment::variables(host::environment::Recipient::Foreign)
        .into_iter()
        .filter(|(name, _)| {
            matches!(
                name.to_str(),
                Some("PATH" | "HOME" | "USER" | "LANG" | "CARGO_HOME" | "RUSTUP_HOME")
            )
        })
        .collect();
    let own = [
        ("GIT_AUTHOR_NAME", "Ada"),
        ("GIT_AUTHOR_EMAIL", "a@b"),
        ("GIT_COMMITTER_NAME", "Ada"),
        ("GIT_COMMITTER_EMAIL", "a@b"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_DATE", "2001-01-01T00:00Z"),
        ("GIT_COMMITTER_DATE", "2001-01-01T00:00Z"),
        ("TERM", "xterm"),
        ("RUSTUP_TOOLCHAIN", ""),
    ];
    let toolchain = std::env::var_os("RUSTUP_TOOLCHAIN");
    all.extend(own.map(|(name, value)| (name.into(), value.into())));
    all.retain(|(name, _)| name != "RUSTUP_TOOLCHAIN");
    all.extend(toolchain.map(|value| ("RUSTUP_TOOLCHAIN".into(), value)));
    all
}

fn bare(scene: &Scene, line: &str) -> Outcome {
    let done = Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(scene.work())
        .env_clear()
        .envs(environment())
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    use std::os::unix::process::ExitStatusExt;
    let code = done
        .status
        .code()
        .unwrap_or_else(|| 128 + done.status.signal().unwrap_or(0));
    (code, String::from_utf8_lossy(&done.stdout).into_owned())
}

fn sandboxed(scene: &Scene, line: &str) -> Outcome {
    use std::io::{Read, Seek};
    let home = std::env::var_os("HOME")
        .and_then(AbsPath::new)
        .expect("a home folder");
    let person = UserEnvironment {
        home,
        own: Vec::new(),
        environment: environment(),
    };
    let closed: Vec<&str> = names::closed().map(|name| name.path).collect();
    let mut policy = Policy::usual(scene.work(), &person, &closed);
    policy.environment = environment();
    let mut output = tempfile::tempfile().expect("a file");
    let order = SpawnRequest {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), line.into()],
        folder: scene.work(),
        environment: Vec::new(),
        streams: [
            fs::File::open("/dev/null").expect("nothing").into(),
            output.try_clone().expect("a descriptor").into(),
            fs::File::options()
                .write(true)
                .open("/dev/null")
                .expect("nothing")
                .into(),
        ],
        terminal: false,
    };
    let finished = match start(&policy, order) {
        Ok(running) => running.wait(),
        Err(refused) => return (125, refused.to_string()),
    };
    let mut bytes = Vec::new();
    output.rewind().expect("rewound");
    output.read_to_end(&mut bytes).expect("read");
    (
        finished.exit.code(),
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// Creates a project of every kind, in addition to the scene.
fn projects(scene: &Scene) {
    let work = scene.base.join("work");
    let put = |path: &str, text: &str| {
        let path: &Path = &work.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    };
    put("lines.txt", "one\ntwo\nthree\nfour\nthree\n");
    put("run.sh", "#!/bin/sh\necho ran\n");
    put("lib/main.rs", "fn other() {}\n");
    put(
        "src/prog.c",
        "#include <stdio.h>\nint main(void) { puts(\"prog\"); return 0; }\n",
    );
    put("bad.c", "int main( {\n");
    put(
        "Makefile",
        "all: out\nout: a.txt\n\tcp a.txt out\nfails:\n\tfalse\n",
    );
    put(
        "crate/Cargo.toml",
        "[package]\nname = \"crate\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    put(
        "crate/src/main.rs",
        "fn main() {\n    println!(\"run\");\n}\n#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n",
    );
    put("gomod/go.mod", "module m\n\ngo 1.19\n");
    put(
        "gomod/m.go",
        "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"go\") }\n",
    );
    put(
        "gomod/m_test.go",
        "package main\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {}\n",
    );
    put(
        "pkg/package.json",
        "{\"name\": \"pkg\", \"version\": \"1.0.0\", \"scripts\": {\"hello\": \"echo hello\", \"test\": \"node index.js\"}}\n",
    );
    put("pkg/index.js", "console.log('js')\n");
    put("pymod/__init__.py", "");
    put("pymod/it.py", "def f():\n    return 1\n");
    put(
        "pymod/test_it.py",
        "import unittest\nfrom pymod.it import f\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(), 1)\n",
    );
    let home = scene.base.join("home");
    for arguments in [&["add", "."][..], &["commit", "-qm", "projects"]] {
        let done = crate::scene::git(&work, &home, arguments);
        assert!(done.status.success(), "{done:?}");
    }
}
