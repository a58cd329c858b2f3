//! Every attempt of the escape battery that can be put as a question to a profile is denied.
//!
//! `battery.txt` translates the attempts; a test compares its names with the battery's, so that none
//! is forgotten.
#![expect(
    clippy::disallowed_methods,
    reason = "the paths of a profile are looked up on a real disk"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::rc::Rc;

use base::AbsPath;

use super::disk::{Call, Disk};
use super::evaluator::{Object, Question, Rule, is_denied};
use super::{context, path, reader};
use crate::names;
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Network, Policy, UserEnvironment};

const TABLE: &str = include_str!("battery.txt");

/// The sources of the battery, by the name of their list.
const BATTERY: &[(&str, &str)] = &[
    (
        "files",
        include_str!("../../../tests/escape/attempts/files.rs"),
    ),
    ("git", include_str!("../../../tests/escape/attempts/git.rs")),
    (
        "links",
        include_str!("../../../tests/escape/attempts/links.rs"),
    ),
    (
        "network",
        include_str!("../../../tests/escape/attempts/network.rs"),
    ),
    (
        "process",
        include_str!("../../../tests/escape/attempts/process.rs"),
    ),
    (
        "resources",
        include_str!("../../../tests/escape/attempts/resources.rs"),
    ),
];

/// The folder of the scene, as the profile names it.
const BASE: &str = "/Users/ada/scene";

/// One line of the table.
struct Attempt {
    list: &'static str,
    name: &'static str,
    scene: &'static str,
    calls: &'static str,
}

fn attempts() -> Vec<Attempt> {
    let lines = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split(" | ").collect::<Vec<_>>()[..] {
            [list, name, calls] => Attempt {
                list,
                name,
                scene: "plain",
                calls,
            },
            [list, name, scene, calls] => Attempt {
                list,
                name,
                scene,
                calls,
            },
            _ => panic!("cannot read {line}"),
        })
        .collect()
}

/// A profile and the disk beneath it. Cloning copies the disk only: a compiled pattern is expensive.
#[derive(Clone)]
struct Scene {
    rules: Rc<Vec<Rule>>,
    disk: Disk,
}

impl Scene {
    fn new(kind: &str, folds: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let real = fs::canonicalize(folder.path()).expect("a real path");
        let write = |name: &str, text: &str| {
            let path = real.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        for file in [
            "work/a.txt",
            "work/README.md",
            "work/src/b",
            "outside/file.txt",
            "outside/empty",
            "outside/folder/x",
            "other/.git/config",
            "other/.git/hooks/x",
            "canary.sh",
            "run/s",
            "home/.ssh/id_ed25519",
            "home/.aws/credentials",
            "home/.gnupg/secring.gpg",
            "home/.netrc",
            "home/.docker/config.json",
            "home/.kube/config",
            "home/.npmrc",
            "home/.git-credentials",
            "home/.config/gh/hosts.yml",
            "home/.config/gcloud/credentials.db",
            "home/.local/share/keyrings/login.keyring",
            "home/.mozilla/firefox/logins.json",
            "home/.bash_history",
            "home/.pypirc",
            "home/.cargo/credentials.toml",
            "home/.claude/.credentials.json",
            "home/state/ledger.db",
            "home/Library/Keychains/login.keychain-db",
        ] {
            write(file, "x");
        }
        let repository = |name: &str| {
            for file in [
                "HEAD",
                "config",
                "hooks/pre-commit.sample",
                "info/exclude",
                "objects/info/x",
                "refs/x",
                "logs/x",
            ] {
                write(&format!("{name}/{file}"), "x");
            }
        };
        match kind {
            "plain" => repository("work/.git"),
            "linked" => {
                repository("hub/.git");
                let own = "hub/.git/worktrees/work";
                write(&format!("{own}/HEAD"), "x");
                write(&format!("{own}/commondir"), "../..\n");
                write(
                    "work/.git",
                    &format!("gitdir: {}\n", real.join(own).display()),
                );
            }
            _ => {}
        }
        let policy = policy(&real);
        let paths = ProfilePaths::find(&policy).expect("paths");
        let text = profile(&policy, &moved(paths, &real), &context()).expect("a profile");
        let mut disk = Disk::new(folds);
        for device in ["/dev/null", "/dev/urandom", "/dev/fd/2"] {
            disk.add(device);
        }
        load(&real, &real, &mut disk);
        let rules = reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"));
        let rules = Rc::new(rules);
        Self { rules, disk }
    }
}

fn policy(real: &Path) -> Policy {
    let at = |name: &str| AbsPath::new(real.join(name)).expect("absolute");
    let user = UserEnvironment {
        home: at("home"),
        own: vec![at("home/state")],
        environment: Vec::new(),
    };
    let closed: Vec<&str> = names::closed().map(|name| name.path).collect();
    let mut policy = Policy::usual(at("work"), &user, &closed);
    policy.network = Network::Hosts(vec!["allowed.example".parse().expect("a host")]);
    policy
}

/// Moves the paths to where a Mac would have them.
fn moved(paths: ProfilePaths, real: &Path) -> ProfilePaths {
    let one = |at: AbsPath| match at.as_path().strip_prefix(real) {
        Ok(inner) => path(BASE).join(inner),
        Err(_) => at,
    };
    let all = |paths: Vec<AbsPath>| paths.into_iter().map(one).collect();
    ProfilePaths {
        writable: all(paths.writable),
        readable: all(paths.readable),
        hidden: all(paths.hidden),
        fixed: all(paths.fixed),
        open: all(paths.open),
        pins: all(paths.pins),
        names: paths
            .names
            .into_iter()
            .map(|(folder, names)| (one(folder), names))
            .collect(),
    }
}

fn load(folder: &Path, real: &Path, disk: &mut Disk) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let inner = entry.path();
        let name = inner
            .strip_prefix(real)
            .expect("inside")
            .to_str()
            .expect("text");
        disk.add(&format!("{BASE}/{name}"));
        if inner.is_dir() {
            load(&inner, real, disk);
        }
    }
}

fn placed(text: &str) -> String {
    let text = text
        .replace("$W", &format!("{BASE}/work"))
        .replace("$B", BASE);
    let text = text.replace("$O", &format!("{BASE}/outside"));
    text.replace("$H", &format!("{BASE}/home"))
}

/// Returns a path of a call: relative ones are below the workspace.
fn at(text: &str) -> String {
    if text.starts_with('/') {
        text.to_owned()
    } else {
        format!("{BASE}/work/{text}")
    }
}

/// The operations that calls name by themselves.
const NAMED: &[&str] = &[
    "appleevent-send",
    "distributed-notification-post",
    "file-chroot",
    "file-mknod",
    "file-mount",
    "file-mount-update",
    "file-unmount",
    "file-write-mode",
    "file-write-owner",
    "file-write-setugid",
    "file-write-times",
    "file-write-xattr",
    "iokit-open",
    "ipc-posix-shm-read-data",
    "ipc-posix-shm-write-create",
    "ipc-sysv-msg",
    "ipc-sysv-sem",
    "ipc-sysv-shm",
    "job-creation",
    "lsopen",
    "mach-priv-task-port",
    "mach-register",
    "process-info-setcontrol",
    "sysctl-write",
    "user-preference-write",
];

fn named(operation: &str) -> &'static str {
    let known = NAMED.iter().find(|known| **known == operation);
    known.unwrap_or_else(|| panic!("unknown operation {operation}"))
}

/// Returns the questions of a call. If the profile may allow it, makes its change on the disk.
fn ask(scene: &mut Scene, text: &str) -> Vec<Question> {
    let words: Vec<&str> = text.split(' ').collect();
    let one = |operation, object| vec![Question { operation, object }];
    let paths: Vec<String> = words[1..].iter().map(|word| at(word)).collect();
    let call = match (words[0], &paths[..]) {
        ("read", [path]) => Call::Read(path),
        ("execute", [path]) => Call::Execute(path),
        ("stat", [path]) => Call::Stat(path),
        ("write", [path]) => Call::Write(path),
        ("create", [path]) => Call::Create(path),
        ("unlink", [path]) => Call::Unlink(path),
        ("link", [path, _]) => Call::Link(path, words[2]),
        ("rename", [from, to]) => Call::Rename(from, to),
        ("hard", [old, new]) => Call::SecondName(old, new),
        ("clone", [old, new]) => Call::Clone(old, new),
        ("change", [_, path]) => Call::Change(named(words[1]), path),
        ("unix", [path]) => Call::ConnectPath(path),
        ("bind", [path]) => return one("network-bind", Object::LocalSocket(path.clone())),
        ("connect", _) => {
            let port = words[2].parse().expect("a port");
            return one(
                "network-outbound",
                Object::Address(words[1].to_owned(), port),
            );
        }
        ("listen", _) => {
            let port = words[2].parse().expect("a port");
            return one("network-bind", Object::Address(words[1].to_owned(), port));
        }
        ("socket", _) => {
            return one(
                "system-socket",
                Object::Socket(words[1].to_owned(), words[2].to_owned()),
            );
        }
        ("mach", _) => return one("mach-lookup", Object::GlobalName(words[1].to_owned())),
        ("op", _) if words[2] == "other" => return one(named(words[1]), Object::OtherProcess),
        ("op", _) => return one(named(words[1]), Object::Name(words[2].to_owned())),
        ("signal", _) => return one("signal", Object::OtherProcess),
        ("info", _) => return one("process-info-pidinfo", Object::OtherProcess),
        _ => panic!("cannot read {text}"),
    };
    let questions = scene.disk.operations(&call);
    if !questions
        .iter()
        .any(|question| is_denied(&scene.rules, question))
    {
        scene.disk.apply(&call);
    }
    questions
}

#[test]
fn every_attempt_is_denied() {
    let mut counts = [0, 0];
    let mut escapes = Vec::new();
    let mut scenes: BTreeMap<(&str, bool), Scene> = BTreeMap::new();
    for attempt in attempts() {
        if attempt.calls.starts_with("no: ") {
            counts[1] += 1;
            continue;
        }
        counts[0] += 1;
        for folds in [false, true] {
            let key = (attempt.scene, folds);
            let scene = scenes
                .entry(key)
                .or_insert_with(|| Scene::new(key.0, key.1));
            let mut scene = scene.clone();
            // On a volume that tells spellings apart, another spelling is another file.
            let is_spelled = !folds && attempt.name.contains("of another case");
            for call in placed(attempt.calls).split("; ").filter(|_| !is_spelled) {
                let (call, prepares) = match call.strip_prefix('+') {
                    Some(call) => (call, true),
                    None => (call, false),
                };
                let questions = ask(&mut scene, call);
                let is_held = questions
                    .iter()
                    .any(|question| is_denied(&scene.rules, question));
                if !prepares && !is_held {
                    escapes.push(format!(
                        "{} {}: {call} ({questions:?})",
                        attempt.list, attempt.name
                    ));
                }
            }
        }
    }
    assert!(escapes.is_empty(), "{}", escapes.join("\n"));
    assert!(counts[0] >= 230, "{counts:?}");
}

#[test]
fn the_table_names_every_attempt_of_the_battery() {
    let call = regex::Regex::new(r#"\b(?:sh|py|pl)\(\s*"((?:[^"\\]|\\.)*)""#).expect("a pattern");
    let battery = BATTERY.iter().flat_map(|(list, source)| {
        call.captures_iter(source)
            .map(move |found| (*list, found[1].to_owned()))
    });
    let battery: BTreeSet<(&str, String)> = battery.collect();
    let table = attempts()
        .into_iter()
        .filter(|attempt| attempt.list != "mac");
    let table: BTreeSet<(&str, String)> = table
        .map(|attempt| (attempt.list, attempt.name.to_owned()))
        .collect();
    assert_eq!(battery, table);
}

/// Everyday work on a Mac that a profile must not break.
#[test]
fn everyday_work_is_allowed() {
    let scene = Scene::new("plain", true);
    let mut refused = Vec::new();
    for text in [
        "write a.txt",
        "write src/new.rs",
        "create target",
        "rename a.txt src/a.txt",
        "unlink README.md",
        "write .git/index.lock",
        "rename .git/index.lock .git/index",
        "write .git/HEAD",
        "create .git/objects/ab",
        "write .git/refs/heads",
        "write .git/logs/HEAD",
        "write .git/COMMIT_EDITMSG",
        "write .gitignore",
        "write .github/workflows",
        "read .git/config",
        "read .git/hooks/pre-commit.sample",
        "link l src",
        "read $O/file.txt",
        "read $H/Library/Caches/x",
        "read /usr/bin/git",
        "read /etc/hosts",
        "read /opt/homebrew/bin/node",
        "read /System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/x",
        "write /dev/null",
        "read /dev/urandom",
        "write /dev/fd/2",
        "change file-write-mode a.txt",
        "write /private/var/folders/zz/zy/T/b-run/x",
        "unix /private/var/folders/zz/zy/T/b-run/s",
        "connect 127.0.0.1 4711",
        "execute /opt/homebrew/lib/libx.dylib",
        "execute target/debug/libx.dylib",
        "stat /private/var/folders/zz/zy/T",
        "stat /var/select/developer_dir",
    ] {
        let mut scene = scene.clone();
        let questions = ask(&mut scene, &placed(text));
        let is_held = |question: &&Question| !super::evaluator::is_allowed(&scene.rules, question);
        refused.extend(
            questions
                .iter()
                .filter(is_held)
                .map(|question| format!("{text}: {question:?}")),
        );
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
