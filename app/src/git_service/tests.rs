//! Stories with the real git in temporary repositories.

mod answers;
mod bisects;
mod by_program;
mod commits;
mod comparisons;
mod hooks;
mod hostile;
mod in_process;
mod kills;
mod kinds;
mod pull_requests;
mod rebases;
mod remotes;
mod signing;

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use base::AbsPath;
use futures::executor::block_on;
use git::changes::{Change, ChangeGroup};
use git::merge::TreePath;
use git::staging::{FileDiff, Side};
use git_panel::{DiffRequest, GitFailure, GitOutcome, GitRun, GitService as _};
use git_program::{CommitRequest, find_program};
use host::environment::{Recipient, Variable, variables};
use host::process::{ProcessEnvironment, ProcessRequest, run};
use host::{Dirs, Files as _, RealFiles, TempFolder};
use runtime::trust::set_trusted;

use super::FolderGit;
use super::folder_state::{GitFolderState, ReadEnvironment};

/// A repository with the service over it. The git of the service counts its calls.
struct Fixture {
    _temporary: Option<TempFolder>,
    folder: AbsPath,
    dirs: Dirs,
    root: AbsPath,
    program: AbsPath,
    environment: Vec<Variable>,
    /// The environment of the service.
    counting: Vec<Variable>,
    service: FolderGit,
}

/// The state of a repository that a failed call must not change.
#[derive(Debug, PartialEq, Eq)]
struct Snapshot {
    head: Option<String>,
    references: String,
    entries: String,
    status: String,
    leftovers: Vec<String>,
}

/// Returns variables that keep the user's own configuration out.
fn environment(home: &AbsPath) -> Vec<Variable> {
    let mut environment = variables(Recipient::Personal);
    environment.retain(|(name, _)| {
        let name = name.to_string_lossy().to_uppercase();
        !name.starts_with("GIT_") && !name.ends_with("_PROXY") && name != "EMAIL" && name != "HOME"
    });
    for (name, value) in [
        ("HOME", home.to_string()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", home.join("gitconfig").to_string()),
    ] {
        environment.retain(|(known, _)| known != name);
        environment.push((name.into(), value.into()));
    }
    environment
}

impl Fixture {
    /// Creates an empty repository with these options of `git init`; `None`, with the test reported as skipped, without a
    /// git that has them.
    #[track_caller]
    fn new(options: &[&str]) -> Option<Self> {
        let temporary = TempFolder::new().expect("a folder");
        let mut fixture = Self::at(temporary.path())?;
        fixture._temporary = Some(temporary);
        let init = ["init", "--quiet", "--initial-branch=main"];
        let created = fixture.try_git(&[&init[..], options].concat());
        if created.is_none() {
            test_support::skip(format!("this git has no {options:?}"));
            return None;
        }
        fixture.git(&["config", "user.name", "A B"]);
        fixture.git(&["config", "user.email", "a@example.org"]);
        Some(fixture)
    }

    /// Creates a fixture in a folder, which may have a repository; `None`, with the test reported as skipped, without git.
    #[track_caller]
    fn at(folder: &AbsPath) -> Option<Self> {
        let folder = RealFiles.canonicalize(folder).expect("it exists");
        let environment = environment(&folder);
        let Some(program) = find_program("git", &environment) else {
            test_support::skip("needs git");
            return None;
        };
        let root = folder.join("repository");
        RealFiles.create_folder(&root).expect("a folder");
        let user = "[user]\n\tname = A B\n\temail = a@example.org\n[protocol \"file\"]\n\tallow = always\n";
        let written = RealFiles.write_private(&folder.join("gitconfig"), user.as_bytes());
        written.expect("a configuration");
        let dirs = Dirs::under(&folder.join("own"));
        dirs.create().expect("folders");
        let counting = counting_environment(&folder, &program, &environment);
        let service = service(&dirs, &root, counting.clone());
        Some(Self {
            _temporary: None,
            folder,
            dirs,
            root,
            program,
            environment,
            counting,
            service,
        })
    }

    /// Opens another working tree.
    fn over(mut self, root: &AbsPath) -> Self {
        self.service = service(&self.dirs, root, self.counting.clone());
        self.root = root.clone();
        self
    }

    fn trust(&self) {
        set_trusted(&RealFiles, &self.dirs, &self.root, true).expect("trust");
    }

    /// Runs git as the user does, and returns what it prints.
    fn git(&self, arguments: &[&str]) -> String {
        self.try_git(arguments).expect("git works")
    }

    fn try_git(&self, arguments: &[&str]) -> Option<String> {
        self.try_git_in(&self.root, arguments)
    }

    /// Runs git in a folder; `None` if it fails.
    fn try_git_in(&self, folder: &AbsPath, arguments: &[&str]) -> Option<String> {
        let mut request =
            ProcessRequest::new(self.program.as_path(), folder).with_arguments(arguments);
        request.environment = ProcessEnvironment::Only(self.environment.clone());
        let output = run(&request).expect("git starts");
        output
            .is_success()
            .then(|| output.text().trim_end().to_owned())
    }

    /// Runs git in a folder and returns what it prints.
    fn git_in(&self, folder: &AbsPath, arguments: &[&str]) -> String {
        self.try_git_in(folder, arguments).expect("git works")
    }

    /// Returns the path of the index.
    fn index(&self) -> AbsPath {
        let arguments = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
        AbsPath::new(self.git(&arguments)).expect("absolute")
    }

    /// Returns the entries of the index.
    fn entries(&self) -> String {
        self.git(&["ls-files", "--stage"])
    }

    fn snapshot(&self) -> Snapshot {
        let status = ["status", "--porcelain=v2", "-z", "--untracked-files=all"];
        Snapshot {
            head: self.try_git(&["rev-parse", "--verify", "--quiet", "HEAD"]),
            references: self.git(&["for-each-ref"]),
            entries: self.entries(),
            status: self.git(&status),
            leftovers: self.leftovers(),
        }
    }

    /// Asserts that git finds nothing damaged.
    #[track_caller]
    fn assert_sound(&self) {
        let checked = self.try_git(&["fsck", "--strict", "--no-progress"]);
        assert!(checked.is_some(), "git fsck finds damage in {}", self.root);
    }

    /// Returns the names of locks in Git's folder, and of files of ours.
    fn leftovers(&self) -> Vec<String> {
        let git_dir = git::git_dir_of(&self.root).expect("a repository");
        let listing = RealFiles.list(&git_dir).expect("a folder");
        let names = listing.entries.iter().map(|entry| entry.path.name());
        let is_left = |name: &String| name.ends_with(".lock") || name.starts_with("burin-");
        names.filter(is_left).collect()
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        RealFiles.read(&self.root.join(name), 1 << 24).ok()
    }

    /// Returns the number of processes that the service started.
    fn calls(&self) -> usize {
        let calls = RealFiles.read(&self.folder.join("calls"), 1 << 20);
        calls.map_or(0, |text| text.split(|byte| *byte == b'\n').count() - 1)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        let parent = path.parent().expect("below the root");
        RealFiles.create_folder(&parent).expect("a folder");
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("a file");
    }

    fn commit_files(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            self.write(name, text);
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message=first"]);
    }

    /// Installs a hook with a script of the shell.
    fn hook(&self, name: &str, script: &str) {
        self.install(&self.root.join(".git/hooks").join(name), script);
    }

    /// Installs a program with a script of the shell.
    fn install(&self, path: &AbsPath, script: &str) {
        let draft = self.folder.join("draft");
        let parent = path.parent().expect("below a folder");
        RealFiles.create_folder(&parent).expect("a folder");
        write_script(&draft, script);
        // Only `cp` has the copy open for writing: while a child that another test forks had it, too, the
        // system would refuse to execute it.
        let copy =
            ProcessRequest::new("cp", &self.root).with_arguments([draft.as_path(), path.as_path()]);
        assert!(run(&copy).expect("cp").is_success(), "not copied");
    }

    fn changes(&self) -> Vec<Change> {
        let changes = block_on(self.service.changes(&self.root));
        changes.expect("a status").entries
    }

    /// Returns the changes as group and path.
    fn listed(&self) -> Vec<(ChangeGroup, String)> {
        let changes = self.changes().into_iter();
        let listed = changes.map(|change| (change.group, change.path.to_string()));
        listed.collect()
    }

    fn diff(&self, name: &str, side: Side) -> Arc<FileDiff> {
        let request = DiffRequest {
            path: TreePath::from(name),
            side,
            buffer: None,
        };
        block_on(self.service.file_diff(&self.root, request)).expect("a diff")
    }

    fn commit(&self, message: &str) -> Result<GitOutcome, GitFailure> {
        let request = CommitRequest {
            message: Some(message.to_owned()),
            ..CommitRequest::default()
        };
        finish(self.service.commit(&self.root, request)).1
    }
}

/// Returns the output and the outcome of a call.
fn finish(call: GitRun) -> (String, Result<GitOutcome, GitFailure>) {
    let GitRun {
        output,
        outcome,
        cancel: _cancel,
    } = call;
    let mut bytes = Vec::new();
    while let Ok(piece) = output.recv_blocking() {
        bytes.extend(piece);
    }
    (
        String::from_utf8_lossy(&bytes).into_owned(),
        block_on(outcome),
    )
}

fn service(dirs: &Dirs, root: &AbsPath, environment: Vec<Variable>) -> FolderGit {
    let environment: ReadEnvironment = Arc::new(move || environment.clone());
    let folder = GitFolderState::new(dirs.clone(), root.clone(), environment);
    FolderGit {
        folder: Arc::new(folder),
        engines: None,
    }
}

#[expect(clippy::disallowed_methods, reason = "a script needs its mode")]
fn write_script(path: &AbsPath, script: &str) {
    std::fs::write(path.as_path(), format!("#!/bin/sh\n{script}\n")).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path.as_path(), mode).expect("a mode");
}

/// Returns an environment whose git writes a line for each call.
fn counting_environment(
    folder: &AbsPath,
    program: &AbsPath,
    environment: &[Variable],
) -> Vec<Variable> {
    let programs = folder.join("programs");
    RealFiles.create_folder(&programs).expect("a folder");
    let script = format!("echo x >> '{folder}/calls'\nexec '{program}' \"$@\"");
    write_script(&programs.join("git"), &script);
    let mut counting = environment.to_vec();
    for (name, value) in &mut counting {
        if *name == *"PATH" {
            let mut path = programs.as_path().as_os_str().to_owned();
            path.push(":");
            path.push(&*value);
            *value = path;
        }
    }
    counting
}
