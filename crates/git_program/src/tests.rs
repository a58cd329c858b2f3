//! Tests with the real git in temporary repositories.

mod commits;
mod history;
mod operations;
mod prompts;
mod remotes;

use std::path::PathBuf;
use std::sync::Arc;

use base::AbsPath;
use host::environment::{Recipient, Variable, variables};
use host::process::{ProcessRequest, run};
use host::{Files, RealFiles, TempFolder};

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::commit::CommitRequest;
use crate::error::Error;
use crate::program::{CheckoutTrust, GitProgram, SMALL_OUTPUT, find_program};

/// A repository with the user's git.
struct Fixture {
    folder: TempFolder,
    root: AbsPath,
    git: Arc<GitProgram>,
}

/// Returns variables that keep the user's own configuration out.
fn environment(home: &AbsPath) -> Vec<Variable> {
    let mut environment = variables(Recipient::Personal);
    environment.retain(|(name, _)| {
        let name = name.to_string_lossy().to_uppercase();
        !name.starts_with("GIT_") && !name.ends_with("_PROXY") && name != "EMAIL"
    });
    for (name, value) in [
        ("HOME", home.to_string()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("XDG_CONFIG_HOME", home.join("config").to_string()),
    ] {
        environment.push((name.into(), value.into()));
    }
    environment
}

impl Fixture {
    /// Creates an empty repository; `None`, with the test reported as skipped, without git.
    #[track_caller]
    fn new() -> Option<Self> {
        let folder = TempFolder::new().expect("a folder");
        let environment = environment(folder.path());
        let Some(program) = find_program("git", &environment) else {
            test_support::skip("needs git");
            return None;
        };
        let root = folder.path().join("repository");
        RealFiles.create_folder(&root).expect("a folder");
        let git = GitProgram::new(program, root.clone(), environment, CheckoutTrust::Trusted);
        let git = Arc::new(git.expect("trusted"));
        let fixture = Self { folder, root, git };
        fixture.run(&["init", "--quiet", "--initial-branch=main"]);
        fixture.run(&["config", "user.name", "A B"]);
        fixture.run(&["config", "user.email", "a@example.org"]);
        Some(fixture)
    }

    /// Runs git as the user does.
    fn run(&self, arguments: &[&str]) -> String {
        self.try_run(arguments).expect("git works")
    }

    fn try_run(&self, arguments: &[&str]) -> Result<String, Error> {
        let mut call = GitCall::write_elsewhere(arguments[0]);
        call.arguments.extend(arguments[1..].iter().map(Into::into));
        let output = self
            .git
            .output(call, SMALL_OUTPUT, &Cancellation::default())?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        RealFiles
            .create_folder(&path.parent().expect("below the root"))
            .expect("a folder");
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("a file");
    }

    fn read(&self, name: &str) -> String {
        let bytes = RealFiles
            .read(&self.root.join(name), 1 << 20)
            .expect("a file");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn add(&self, names: &[&str]) {
        let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        self.git
            .add(&paths, &Cancellation::default())
            .expect("staged");
    }

    /// Writes a file and commits it; returns the commit.
    fn commit(&self, name: &str, text: &str, message: &str) -> String {
        self.write(name, text);
        self.add(&[name]);
        let request = CommitRequest {
            message: Some(message.to_owned()),
            ..CommitRequest::default()
        };
        let committed = self
            .git
            .commit(&request, &Cancellation::default(), &mut |_| {});
        committed.expect("a commit")
    }

    /// Installs a hook with a script of the shell.
    #[expect(clippy::disallowed_methods, reason = "a hook needs its mode")]
    fn hook(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.root.join(".git/hooks").join(name);
        std::fs::create_dir_all(path.parent().expect("below").as_path()).expect("a folder");
        let draft = self.root.join(".git/hooks/draft");
        std::fs::write(draft.as_path(), format!("#!/bin/sh\n{script}\n")).expect("a script");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(draft.as_path(), mode).expect("a mode");
        // Only `cp` has the copy open for writing: while a child that another test forks had it, too, the
        // system would refuse to execute it.
        let copy =
            ProcessRequest::new("cp", &self.root).with_arguments([draft.as_path(), path.as_path()]);
        assert!(run(&copy).expect("cp").is_success(), "not copied");
    }

    /// Returns the names in Git's own folder that a call must not leave.
    fn leftovers(&self) -> Vec<String> {
        let listing = RealFiles.list(&self.root.join(".git")).expect("a folder");
        let names = listing.entries.iter().map(|entry| entry.path.name());
        let is_left = |name: &String| name.ends_with(".lock") || name.starts_with("burin-");
        names.filter(is_left).collect()
    }
}
