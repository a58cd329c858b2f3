//! Granted paths that the policy also protects: their profile lets them be read and not changed.
#![expect(
    clippy::disallowed_methods,
    reason = "the paths of a profile are looked up on a real disk"
)]

use std::fs;
use std::os::unix::fs::symlink;

use base::AbsPath;

use super::evaluator::{Question, Rule, is_allowed, is_denied};
use super::{context, reader};
use crate::seatbelt::{ProfilePaths, profile};
use crate::{Policy, UserEnvironment};

/// The operations by which a path is changed.
const CHANGES: [&str; 7] = [
    "file-write-data",
    "file-write-create",
    "file-write-unlink",
    "file-write-mode",
    "file-write-owner",
    "file-write-times",
    "file-write-xattr",
];

/// A home with a repository in `work`, and `link`, another way to it.
struct Scene {
    _folder: tempfile::TempDir,
    home: AbsPath,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = fs::canonicalize(folder.path()).expect("a real path");
        for file in [
            "work/a",
            "work/.git/HEAD",
            "work/.git/config",
            "work/.git/objects/x",
            "work/.git/refs/x",
            "work/.git/modules/lib/HEAD",
            "work/.git/modules/lib/objects/x",
            "other/x",
        ] {
            let file = home.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
            fs::write(file, "x").expect("a file");
        }
        symlink("work", home.join("link")).expect("a link");
        let home = AbsPath::new(home).expect("absolute");
        Self {
            _folder: folder,
            home,
        }
    }

    fn policy(&self, workspace: &str) -> Policy {
        let user = UserEnvironment {
            home: self.home.join("home"),
            own: Vec::new(),
            environment: Vec::new(),
        };
        Policy::usual(self.home.join(workspace), &user, &[".vscode"])
    }

    /// Checks which of these paths can be changed under a policy; all of them can be read.
    #[track_caller]
    fn check(&self, policy: &Policy, open: &[&str], closed: &[&str]) {
        let paths = ProfilePaths::find(policy).expect("paths");
        let text = profile(policy, &paths, &context()).expect("a profile");
        let rules = reader::read(&text).unwrap_or_else(|problem| panic!("{problem} in {text}"));
        let question = |operation, name: &str| {
            let path = self.home.join(name);
            Question::path(operation, path.as_path().to_str().expect("text"))
        };
        for name in open.iter().chain(closed) {
            assert!(
                is_allowed(&rules, &question("file-read-data", name)),
                "{name}"
            );
        }
        for operation in CHANGES {
            let is_open = |name: &&&str| is_allowed(&rules, &question(operation, name));
            let is_closed = |name: &&&str| is_denied(&rules, &question(operation, name));
            let wrong = open.iter().find(|name| !is_open(name));
            let wrong = wrong.or(closed.iter().find(|name| !is_closed(name)));
            assert_eq!(wrong, None, "{operation} in {text}");
        }
        own_places_stay(&rules);
    }
}

fn own_places_stay(rules: &[Rule]) {
    let private = context().private.join("new");
    let private = private.as_path().to_str().expect("text");
    for (operation, path) in [
        ("file-write-create", private),
        ("file-write-data", "/dev/null"),
    ] {
        assert!(
            is_allowed(rules, &Question::path(operation, path)),
            "{path}"
        );
    }
}

const IN_WORKSPACE: [&str; 8] = [
    "work",
    "work/a",
    "work/new",
    "work/.git/HEAD",
    "work/.git/index",
    "work/.git/objects/new",
    "work/.git/modules/lib/HEAD",
    "work/.vscode",
];

#[test]
fn a_protected_workspace_is_read_only_in_every_spelling() {
    let scene = Scene::new();
    for workspace in ["work", "link"] {
        let open = ["work/a", "work/new", "work/.git/HEAD", "work/.git/index"];
        scene.check(&scene.policy(workspace), &open, &["other/x"]);
        for protected in ["work", "link"] {
            let mut policy = scene.policy(workspace);
            policy.protected.paths.push(scene.home.join(protected));
            scene.check(&policy, &[], &IN_WORKSPACE);
        }
    }
}

#[test]
fn a_protected_workspace_below_a_writable_folder_is_read_only() {
    let scene = Scene::new();
    let mut policy = scene.policy("work");
    policy.protected.paths.push(scene.home.join("work"));
    policy.writable.push(scene.home.clone());
    scene.check(&policy, &["other/x", "new"], &IN_WORKSPACE);
    policy.writable = vec![scene.home.join("work/.git"), scene.home.join("other")];
    policy.protected.repositories = vec![scene.home.join("work/.git")];
    scene.check(&policy, &["other/x", "other/new"], &IN_WORKSPACE);
}

#[test]
fn other_protected_folders_are_read_only() {
    let scene = Scene::new();
    let mut policy = scene.policy("work");
    policy.writable.push(scene.home.join("other"));
    policy.protected.paths.push(scene.home.join("other"));
    scene.check(&policy, &["work/new"], &["other", "other/x", "other/new"]);
    policy.protected.paths = vec![scene.home.join("work/.git")];
    let closed = [
        "work/.git/HEAD",
        "work/.git/new",
        "work/.git/modules/lib/HEAD",
    ];
    scene.check(&policy, &["work/new", "other/new"], &closed);
}

#[test]
fn a_protected_workspace_is_shown_in_a_hidden_folder() {
    let scene = Scene::new();
    let mut policy = scene.policy("work");
    policy.hidden.push(scene.home.clone());
    policy.protected.paths.push(scene.home.join("work"));
    scene.check(&policy, &[], &IN_WORKSPACE);
    let paths = ProfilePaths::find(&policy).expect("paths");
    assert_eq!(paths.writable, []);
    assert_eq!(paths.fixed, [scene.home.join("work")]);
}
