//! The profile decides as the sandbox of Linux does: the same policy, the same disk, and a command that
//! tries each question in a real sandbox.
//!
//! Known differences are not asked: folders that start empty on Linux are hidden on macOS, a missing
//! `.git` can be created by `git init` on Linux only, and scratch folders are read-only on macOS.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "what is compared is what the kernel does to files on the disk"
)]

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use base::AbsPath;

use super::evaluator::{Question, is_allowed, is_denied};
use super::{context, reader};
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Policy, SandboxError, SpawnRequest, UserEnvironment};

const POLICIES: usize = 40;
const CONTENT: &str = "content";

/// A try of the command, by its path below the scene.
#[derive(Clone, Debug)]
enum Trial {
    Read(&'static str),
    Append(&'static str),
    Create(&'static str),
    MakeFolder(&'static str),
    Rename(&'static str),
}

/// The questions, asked where the path exists or, for new paths, where its folder does.
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
    fn path(&self) -> &'static str {
        match self {
            Self::Read(path)
            | Self::Append(path)
            | Self::Create(path)
            | Self::MakeFolder(path)
            | Self::Rename(path) => path,
        }
    }

    fn is_new(&self) -> bool {
        matches!(self, Self::Create(_) | Self::MakeFolder(_))
    }

    /// Returns a command that succeeds if the operation does, and leaves the disk as it was.
    fn script(&self) -> String {
        match self {
            Self::Read(path) => format!("[ \"$(cat {path})\" = {CONTENT} ]"),
            Self::Append(path) => format!("( : >> {path} )"),
            Self::Create(path) => format!("( : > {path} ) && rm {path}"),
            Self::MakeFolder(path) => format!("mkdir {path} && rmdir {path}"),
            Self::Rename(path) => format!("mv -T {path} {path}.moved && mv -T {path}.moved {path}"),
        }
    }

    fn questions(&self, base: &Path) -> Vec<Question> {
        let path = base.join(self.path());
        let folder = fs::canonicalize(path.parent().expect("a folder")).expect("a folder");
        let named = folder.join(path.file_name().expect("a name"));
        let real = fs::canonicalize(&path).unwrap_or_else(|_| named.clone());
        let text = |path: &PathBuf| path.to_str().expect("text").to_owned();
        let moved = format!("{}.moved", text(&named));
        match self {
            Self::Read(_) => vec![Question::path("file-read-data", &text(&real))],
            Self::Append(_) => vec![Question::path("file-write-data", &text(&real))],
            Self::Create(_) | Self::MakeFolder(_) => {
                vec![Question::path("file-write-create", &text(&named))]
            }
            Self::Rename(_) => vec![
                Question::path("file-write-unlink", &text(&named)),
                Question::path("file-write-create", &moved),
            ],
        }
    }
}

/// Bits of a scene's number: what it contains and what its policy says.
struct Scene {
    folder: tempfile::TempDir,
    number: usize,
}

impl Scene {
    fn new(number: usize) -> Self {
        // Not in /tmp, which is private to every sandbox.
        let homes = std::env::var_os("BURIN_TEST_HOMES").unwrap_or("/var".into());
        let folder = tempfile::tempdir_in(homes).expect("a folder");
        let scene = Self { folder, number };
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
        // Every choice meets every other in some scene.
        (self.number.wrapping_mul(0x9e37) >> bit) & 1 == 1
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
        policy
    }

    fn trials(&self) -> Vec<Trial> {
        let is_there = |path: &str| self.at(path).symlink_metadata().is_ok();
        let fits = |trial: &&Trial| {
            let path = trial.path();
            let folder = Path::new(path)
                .parent()
                .and_then(Path::to_str)
                .unwrap_or_default();
            match trial.is_new() {
                true => !is_there(path) && self.at(folder).is_dir(),
                false => is_there(path),
            }
        };
        TRIALS.iter().filter(fits).cloned().collect()
    }

    /// Tries everything in one command of the sandbox.
    fn outcomes(&self, policy: &Policy, trials: &[Trial]) -> Result<Vec<bool>, SandboxError> {
        let mut script = String::from("cd ..\n");
        for trial in trials {
            script.push_str(&format!(
                "if {{ {}; }} 2>/dev/null; then echo 1; else echo 0; fi\n",
                trial.script()
            ));
        }
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let nothing = || -> OwnedFd { File::open("/dev/null").expect("nothing").into() };
        let request = SpawnRequest {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
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

#[test]
fn a_profile_decides_as_the_sandbox_of_linux() {
    let mut questions = 0;
    let mut differences = Vec::new();
    for number in 1..=POLICIES {
        let scene = Scene::new(number);
        let policy = scene.policy();
        let trials = scene.trials();
        let outcomes = match scene.outcomes(&policy, &trials) {
            Err(SandboxError::Missing { layer, .. }) => {
                return test_support::skip(format_args!("{layer} is missing on this machine"));
            }
            outcomes => outcomes.expect("outcomes"),
        };
        assert_eq!(outcomes.len(), trials.len(), "an answer to every question");
        let paths = ProfilePaths::find(&policy).expect("paths");
        let text = profile(&policy, &paths, &context()).expect("a profile");
        let rules = reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"));
        for (trial, expected) in trials.iter().zip(outcomes) {
            let asked = trial.questions(scene.folder.path());
            questions += 1;
            let decides = match expected {
                true => asked.iter().all(|question| is_allowed(&rules, question)),
                false => asked.iter().any(|question| is_denied(&rules, question)),
            };
            if !decides {
                differences.push(format!(
                    "scene {number}: Linux says {expected} to {trial:?}"
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(questions >= 400, "{questions} questions");
}
