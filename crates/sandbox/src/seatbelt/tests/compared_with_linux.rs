//! Tests that the profile decides as the sandbox of Linux does, with the same policy and disk: a
//! command in a real sandbox tries every operation.
//!
//! Two differences are tested and expected (`Trial::KNOWN`): on Linux, `git init` can create a
//! missing `.git`, since the filter reads the configuration before it allows the rename, and a
//! command can listen on its private loopback. In a read-only workspace both deny `git init`.
//!
//! Not tested are folders that start empty on Linux and are hidden on macOS, scratch folders, which
//! are read-only on macOS, and a granted port of one address of `localhost`, which macOS reaches
//! only through the proxy.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "what is compared is what the kernel does to files on the disk"
)]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;

use base::AbsPath;

use super::evaluator::{Object, Question, is_allowed, is_denied};
use super::{context, reader};
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Network, Policy, SandboxError, SpawnRequest, UserEnvironment};

const POLICIES: usize = 40;
/// Sandboxes that run at the same time.
const THREADS: usize = 4;
const CONTENT: &str = "content";

/// Port of the proxy inside the sandbox of Linux.
const LINUX_PROXY: u16 = 3128;

/// A try of the command, by its path below the scene or by a port.
#[derive(Clone, Debug)]
enum Trial {
    Read(&'static str),
    Append(&'static str),
    Create(&'static str),
    MakeFolder(&'static str),
    Rename(&'static str),
    /// Connecting to a socket of the machine.
    ConnectPath(&'static str),
    /// Connecting to an address and port.
    Connect(&'static str, u16),
    Proxy,
    Listen,
    /// Making the `.git` of a first repository, which stays.
    MakeRepository,
}

/// The command: tries what its arguments say, and prints a digit for each.
const PROGRAM: &str = r#"
import os, socket, sys

def connect(family, address):
    with socket.socket(family) as client:
        client.settimeout(5)
        client.connect(address)

def connect_to(host):
    host, port = host.split(" ")
    connect(socket.AF_INET, (host, int(port)))

def listen(_):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

def read(path):
    with open(path) as file:
        if file.read() != "content":
            raise OSError("it is empty")

def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)

def make_folder(path):
    os.mkdir(path)
    os.rmdir(path)

def rename(path):
    os.rename(path, path + ".moved")
    os.rename(path + ".moved", path)

TRIALS = {
    "read": read,
    "append": lambda path: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)),
    "create": create,
    "folder": make_folder,
    "rename": rename,
    "repository": os.mkdir,
    "socket": lambda path: connect(socket.AF_UNIX, path),
    "connect": connect_to,
    "listen": listen,
}

os.chdir("..")
for trial in sys.argv[1:]:
    kind, at = trial.split(":", 1)
    try:
        TRIALS[kind](at)
        print(1)
    except OSError:
        print(0)
"#;

/// The questions about paths, asked where the path exists or, for new paths, where its folder does.
const TRIALS: &[Trial] = &[
    Trial::Read("home/notes"),
    Trial::Append("home/notes"),
    Trial::Create("home/new"),
    Trial::Rename("home/notes"),
    Trial::Read("home/.ssh/key"),
    Trial::Append("home/.ssh/key"),
    Trial::Read("work/a"),
    Trial::Append("work/a"),
    Trial::Create("work/new"),
    Trial::MakeFolder("work/folder"),
    Trial::Rename("work/a"),
    Trial::Rename("work/src"),
    Trial::Read("work/secret/key"),
    Trial::Append("work/secret/key"),
    Trial::Create("work/.vscode"),
    Trial::MakeFolder("work/.VSCode"),
    Trial::Append("work/.vscode/tasks.json"),
    Trial::Rename("work/.vscode"),
    Trial::Create("work/.envrc"),
    Trial::Append("work/.envrc"),
    Trial::Append("work/src/target"),
    Trial::Rename("work/src/target"),
    Trial::Append("work/keep/file"),
    Trial::Create("work/keep/other"),
    Trial::Rename("work/keep"),
    Trial::MakeFolder("work/missing"),
    Trial::Read("work/.git/config"),
    Trial::Append("work/.git/config"),
    Trial::Append("work/.git/HEAD"),
    Trial::Create("work/.git/index"),
    Trial::Create("work/.git/hooks/pre-commit"),
    Trial::Create("work/.git/config.worktree"),
    Trial::Create("work/.git/info/attributes"),
    Trial::Create("work/.git/objects/info/alternates"),
    Trial::Create("work/.git/objects/new"),
    Trial::Rename("work/.git"),
    Trial::Rename("work/.git/info"),
    Trial::Rename("work/.git/objects"),
    Trial::Append("work/.git/modules/lib/HEAD"),
    Trial::Append("work/.git/modules/lib/config"),
    Trial::MakeFolder("work/.git/modules/other"),
    Trial::Append("hub/.git/config"),
    Trial::Create("hub/.git/refs/new"),
    Trial::Append("hub/.git/HEAD"),
    Trial::Append("hub/.git/worktrees/work/HEAD"),
    Trial::Append("hub/.git/worktrees/work/commondir"),
    Trial::Read("other/x"),
    Trial::Append("other/x"),
    Trial::Create("other/.vscode"),
    Trial::Read("other/secret/key"),
    Trial::Append("other/secret/key"),
    Trial::Read("cover/shown/x"),
    Trial::Append("cover/shown/x"),
    Trial::Read("cover/x"),
];

impl Trial {
    /// The trials that succeed on Linux only.
    const KNOWN: [Self; 2] = [Self::Listen, Self::MakeRepository];

    /// Returns the path below the scene, if the trial is about one.
    fn path(&self) -> Option<&'static str> {
        match *self {
            Self::Read(path)
            | Self::Append(path)
            | Self::Create(path)
            | Self::MakeFolder(path)
            | Self::Rename(path)
            | Self::ConnectPath(path) => Some(path),
            Self::MakeRepository => Some("work/.git"),
            Self::Connect(..) | Self::Proxy | Self::Listen => None,
        }
    }

    fn is_new(&self) -> bool {
        matches!(
            self,
            Self::Create(_) | Self::MakeFolder(_) | Self::MakeRepository
        )
    }

    fn is_known_difference(&self, scene: &Scene) -> bool {
        let same = |known: &Self| std::mem::discriminant(known) == std::mem::discriminant(self);
        let is_same = scene.is_read_only() && matches!(self, Self::MakeRepository);
        Self::KNOWN.iter().any(same) && !is_same
    }

    /// Returns the argument of the command.
    fn argument(&self) -> String {
        match self {
            Self::Read(path) => format!("read:{path}"),
            Self::Append(path) => format!("append:{path}"),
            Self::Create(path) => format!("create:{path}"),
            Self::MakeFolder(path) => format!("folder:{path}"),
            Self::Rename(path) => format!("rename:{path}"),
            Self::ConnectPath(path) => format!("socket:{path}"),
            Self::Connect(host, port) => format!("connect:{host} {port}"),
            Self::Proxy => format!("connect:127.0.0.1 {LINUX_PROXY}"),
            Self::Listen => "listen:".to_owned(),
            Self::MakeRepository => "repository:work/.git".to_owned(),
        }
    }

    /// Returns the operations of a trial that is about a path.
    fn path_questions(&self, path: &Path) -> Vec<Question> {
        let folder = fs::canonicalize(path.parent().expect("a folder")).expect("a folder");
        let named = folder.join(path.file_name().expect("a name"));
        let real = fs::canonicalize(path).unwrap_or_else(|_| named.clone());
        let text = |path: &PathBuf| path.to_str().expect("text").to_owned();
        let moved = format!("{}.moved", text(&named));
        match self {
            Self::Read(_) => vec![Question::path("file-read-data", &text(&real))],
            Self::Append(_) => vec![Question::path("file-write-data", &text(&real))],
            Self::Rename(_) => vec![
                Question::path("file-write-unlink", &text(&named)),
                Question::path("file-write-create", &moved),
            ],
            Self::ConnectPath(_) => vec![Question {
                operation: "network-outbound",
                object: Object::RemoteSocket(text(&real)),
            }],
            _ => vec![Question::path("file-write-create", &text(&named))],
        }
    }

    fn questions(&self, base: &Path) -> Vec<Question> {
        let address = |operation, host: &str, port| {
            let object = Object::Address(host.to_owned(), port);
            vec![Question { operation, object }]
        };
        match (self, self.path()) {
            (_, Some(path)) => self.path_questions(&base.join(path)),
            (Self::Connect(host, port), _) => address("network-outbound", host, *port),
            (Self::Listen, _) => address("network-bind", "127.0.0.1", 0),
            _ => {
                let proxy = context().proxy.expect("a proxy");
                address("network-outbound", "127.0.0.1", proxy)
            }
        }
    }
}

/// Bits of a scene's number: what it contains and what its policy says.
struct Scene {
    folder: tempfile::TempDir,
    number: usize,
    /// Servers of the machine: of the first the port is granted by some policies.
    servers: [TcpListener; 2],
    _sockets: [UnixListener; 2],
}

impl Scene {
    fn new(number: usize) -> Self {
        // Not in /tmp, which is private to every sandbox.
        let homes = std::env::var_os("BURIN_TEST_HOMES").unwrap_or("/var".into());
        let folder = tempfile::tempdir_in(homes).expect("a folder");
        let server = || TcpListener::bind("127.0.0.1:0").expect("a port");
        for folder_of_socket in ["work", "other"] {
            fs::create_dir(folder.path().join(folder_of_socket)).expect("a folder");
        }
        let socket = |name: &str| UnixListener::bind(folder.path().join(name)).expect("a socket");
        let scene = Self {
            servers: [server(), server()],
            _sockets: [socket("work/socket"), socket("other/socket")],
            folder,
            number,
        };
        for file in [
            "home/notes",
            "home/.ssh/key",
            "work/a",
            "work/src/b",
            "work/src/target",
            "work/secret/key",
            "work/keep/file",
            "other/x",
            "other/secret/key",
            "cover/x",
            "cover/shown/x",
        ] {
            scene.write(file, CONTENT);
        }
        if scene.has(0) {
            scene.repository("work/.git");
            if scene.has(1) {
                scene.repository("work/.git/modules/lib");
            }
        } else if scene.has(1) {
            scene.repository("hub/.git");
            let own = scene.at("hub/.git/worktrees/work");
            scene.write("hub/.git/worktrees/work/HEAD", "ref: refs/heads/main\n");
            scene.write("hub/.git/worktrees/work/commondir", "../..\n");
            scene.write(
                "hub/.git/worktrees/work/gitdir",
                &format!("{}\n", scene.at("work/.git").display()),
            );
            scene.write("work/.git", &format!("gitdir: {}\n", own.display()));
        }
        if scene.has(2) {
            scene.write("work/.vscode/tasks.json", CONTENT);
        }
        if scene.has(3) {
            symlink("src/target", scene.at("work/.envrc")).expect("a link");
        }
        scene
    }

    fn has(&self, bit: usize) -> bool {
        // Every pair of choices occurs in some scene.
        (self.number.wrapping_mul(0x9e37) >> bit) & 1 == 1
    }

    /// Returns whether the workspace is read-only as a whole.
    fn is_read_only(&self) -> bool {
        self.has(12) && self.has(13)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn path(&self, name: &str) -> AbsPath {
        AbsPath::new(self.at(name)).expect("absolute")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    fn repository(&self, name: &str) {
        for folder in ["hooks", "info", "objects/info", "refs/heads", "logs"] {
            fs::create_dir_all(self.at(name).join(folder)).expect("folders");
        }
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{name}/config"), CONTENT);
    }

    fn policy(&self) -> Policy {
        let user = UserEnvironment {
            home: self.path("home"),
            own: Vec::new(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        };
        let mut policy = Policy::usual(self.path("work"), &user, &[".vscode", ".envrc"]);
        policy.scratch.clear();
        policy.hidden = vec![self.path("home/.ssh"), self.path("cover")];
        policy.readable = vec![self.path("cover/shown")];
        for (bit, hidden) in [(4, "work/secret"), (5, "other/secret")] {
            if self.has(bit) {
                policy.hidden.push(self.path(hidden));
            }
        }
        if self.has(6) {
            policy.writable.push(self.path("other"));
        }
        for (bit, kept) in [
            (7, "work/keep/file"),
            (8, "work/keep"),
            (9, "work/missing/inner"),
        ] {
            if self.has(bit) {
                policy.protected.paths.push(self.path(kept));
            }
        }
        if self.is_read_only() {
            policy.protected.paths.push(self.path("work"));
        }
        if self.has(13) && self.has(14) {
            policy.protected.paths.push(self.path("other"));
        }
        let mut hosts = Vec::new();
        if self.has(10) {
            hosts.push(format!("localhost:{}", self.port(0)));
        }
        if self.has(11) {
            hosts.push("*.allowed.example".to_owned());
        }
        if !hosts.is_empty() {
            let hosts = hosts.iter().map(|host| host.parse().expect("a host"));
            policy.network = Network::Hosts(hosts.collect());
        }
        policy
    }

    fn port(&self, server: usize) -> u16 {
        let address = self.servers[server].local_addr().expect("an address");
        address.port()
    }

    fn trials(&self) -> Vec<Trial> {
        let is_there = |path: &str| self.at(path).symlink_metadata().is_ok();
        let fits = |trial: &Trial| {
            let Some(path) = trial.path() else {
                return true;
            };
            let folder = Path::new(path)
                .parent()
                .and_then(Path::to_str)
                .unwrap_or_default();
            if trial.is_new() {
                !is_there(path) && self.at(folder).is_dir()
            } else {
                is_there(path)
            }
        };
        let hosts = [
            Trial::ConnectPath("work/socket"),
            Trial::ConnectPath("other/socket"),
            Trial::Connect("127.0.0.1", self.port(0)),
            Trial::Connect("127.0.0.1", self.port(1)),
            // An address that is reserved for documentation.
            Trial::Connect("192.0.2.1", 443),
            Trial::Proxy,
            Trial::Listen,
            // The last trial, since it changes the results of others.
            Trial::MakeRepository,
        ];
        TRIALS.iter().cloned().chain(hosts).filter(fits).collect()
    }

    /// Tries everything in one command of the sandbox.
    fn outcomes(&self, policy: &Policy, trials: &[Trial]) -> Result<Vec<bool>, SandboxError> {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let nothing = || -> OwnedFd { File::open("/dev/null").expect("nothing").into() };
        let mut arguments: Vec<OsString> = vec!["-ISc".into(), PROGRAM.into()];
        arguments.extend(trials.iter().map(|trial| trial.argument().into()));
        let request = SpawnRequest {
            program: "python3".into(),
            arguments,
            folder: policy.workspace.clone(),
            environment: Vec::new(),
            streams: [nothing(), writer.into(), nothing()],
            terminal: false,
        };
        let running = crate::start(policy, request)?;
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("text");
        running.wait();
        Ok(text.lines().map(|line| line == "1").collect())
    }
}

/// The results of one scene.
struct Comparison {
    /// The numbers of questions about paths and about hosts and sockets.
    questions: [usize; 2],
    differences: Vec<String>,
}

fn compare(number: usize) -> Result<Comparison, SandboxError> {
    let scene = Scene::new(number);
    let policy = scene.policy();
    let trials = scene.trials();
    let paths = ProfilePaths::find(&policy).expect("paths");
    let text = profile(&policy, &paths, &context()).expect("a profile");
    let rules = reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"));
    // Before the command runs: a trial may leave something on the disk.
    let base = scene.folder.path();
    let asked = trials.iter().map(|trial| trial.questions(base));
    let asked: Vec<Vec<Question>> = asked.collect();
    let outcomes = scene.outcomes(&policy, &trials)?;
    assert_eq!(outcomes.len(), trials.len(), "an answer to every question");
    let mut comparison = Comparison {
        questions: [0; 2],
        differences: Vec::new(),
    };
    for ((trial, asked), linux) in trials.iter().zip(asked).zip(outcomes) {
        let is_host = asked
            .iter()
            .any(|question| question.operation.starts_with("network"));
        comparison.questions[usize::from(is_host)] += 1;
        let is_known_difference = trial.is_known_difference(&scene);
        let decides = if linux && !is_known_difference {
            asked.iter().all(|question| is_allowed(&rules, question))
        } else {
            asked.iter().any(|question| is_denied(&rules, question))
        };
        let is_expected = decides && (linux || !is_known_difference);
        if !is_expected {
            let difference = format!("scene {number}: Linux says {linux} to {trial:?}");
            comparison.differences.push(difference);
        }
    }
    Ok(comparison)
}

#[test]
fn a_profile_decides_as_the_sandbox_of_linux() {
    let compared = thread::scope(|scope| {
        let compare_some = |first| {
            move || -> Vec<_> { (first..=POLICIES).step_by(THREADS).map(compare).collect() }
        };
        let threads: Vec<_> = (1..=THREADS)
            .map(|first| scope.spawn(compare_some(first)))
            .collect();
        let compared = threads.into_iter();
        let compared = compared.flat_map(|thread| thread.join().expect("no panic"));
        compared.collect::<Vec<_>>()
    });
    let mut questions = [0; 2];
    let mut differences = Vec::new();
    for comparison in compared {
        let comparison = match comparison {
            Err(SandboxError::Missing { layer, .. }) => {
                return test_support::skip(format_args!("{layer} is missing on this machine"));
            }
            Err(SandboxError::Program { .. }) => {
                return test_support::skip("there is no python3");
            }
            comparison => comparison.expect("outcomes"),
        };
        for (sum, count) in questions.iter_mut().zip(comparison.questions) {
            *sum += count;
        }
        differences.extend(comparison.differences);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(
        questions[0] >= 800 && questions[1] >= 200,
        "{questions:?} questions"
    );
}
