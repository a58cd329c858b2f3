//! How closely a hunk wants to be looked at, and why.

use std::collections::BTreeSet;

use git::merge::{Entry, Mode, TreePath};

use super::Part;
use crate::markers;

/// Why to look closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Conflict markers come with it: it cannot land.
    ConflictMarkers,
    /// Something runs it: when the project is built, opened, tested or committed to.
    Executes,
    /// A link.
    Link,
    /// It decides how other things behave.
    Configuration,
    /// A file goes.
    FileRemoved,
    /// A file whose content cannot be shown as lines.
    Binary,
    /// It may be executed from now on.
    MadeExecutable,
    /// More goes than comes.
    Removes,
    /// It is long.
    Long,
    /// No check ran over it.
    Unchecked,
}

/// How closely to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// More is riskier; only good for ordering.
    pub weight: u32,
    /// Why.
    pub reasons: BTreeSet<Reason>,
}

impl Reason {
    pub(super) fn weight(self) -> u32 {
        match self {
            Reason::ConflictMarkers => 200,
            Reason::Executes => 100,
            Reason::Link => 80,
            Reason::MadeExecutable => 60,
            Reason::FileRemoved => 50,
            Reason::Binary => 45,
            Reason::Configuration => 40,
            Reason::Unchecked => 20,
            Reason::Removes => 10,
            Reason::Long => 10,
        }
    }

    /// In a few words.
    pub fn told(self) -> &'static str {
        match self {
            Reason::ConflictMarkers => "has conflict markers, so it cannot land",
            Reason::Executes => "runs by itself",
            Reason::Link => "is a link",
            Reason::MadeExecutable => "becomes executable",
            Reason::FileRemoved => "removes a file",
            Reason::Binary => "has no lines",
            Reason::Configuration => "is configuration",
            Reason::Unchecked => "no check ran over it",
            Reason::Removes => "removes more than it adds",
            Reason::Long => "is long",
        }
    }
}

/// Longer hunks are long, in lines.
const LONG: usize = 60;

pub(super) fn risk(path: &TreePath, part: &Part, is_checked: bool) -> Risk {
    let mut reasons = BTreeSet::new();
    let name = path.to_string().to_lowercase();
    if executes(&name) {
        reasons.insert(Reason::Executes);
    } else if is_configuration(&name) {
        reasons.insert(Reason::Configuration);
    }
    if !is_checked {
        reasons.insert(Reason::Unchecked);
    }
    match part {
        Part::Lines { removed, added, .. } => {
            if markers::added(std::slice::from_ref(removed), added).is_some() {
                reasons.insert(Reason::ConflictMarkers);
            }
            let count = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
            let (gone, come) = (count(removed), count(added));
            if gone > come {
                reasons.insert(Reason::Removes);
            }
            if gone + come > LONG {
                reasons.insert(Reason::Long);
            }
        }
        Part::Mode { to, .. } => {
            if *to == Mode::Executable {
                reasons.insert(Reason::MadeExecutable);
            }
        }
        Part::Name { .. } => {}
        Part::Whole {
            before,
            after,
            is_binary,
        } => {
            if before.is_some() && after.is_none() {
                reasons.insert(Reason::FileRemoved);
            }
            if *is_binary {
                reasons.insert(Reason::Binary);
            }
            let bytes = |entry: &Option<Entry>| entry.as_ref().and_then(|it| it.bytes.clone());
            let old: Vec<_> = bytes(before).into_iter().collect();
            if bytes(after).is_some_and(|after| markers::added(&old, &after).is_some()) {
                reasons.insert(Reason::ConflictMarkers);
            }
            match after.as_ref().map(|entry| entry.mode) {
                Some(Mode::Link | Mode::Module) => reasons.insert(Reason::Link),
                Some(Mode::Executable) => reasons.insert(Reason::MadeExecutable),
                _ => false,
            };
        }
    }
    Risk {
        weight: reasons.iter().map(|reason| reason.weight()).sum(),
        reasons,
    }
}

/// Files that a build, an editor, a shell or a forge runs, by their name in small letters.
fn executes(name: &str) -> bool {
    const NAMES: [&str; 27] = [
        "makefile",
        "gnumakefile",
        "justfile",
        "rakefile",
        "gulpfile.js",
        "gruntfile.js",
        "build.rs",
        "build.gradle",
        "build.gradle.kts",
        "setup.py",
        "conftest.py",
        "noxfile.py",
        "package.json",
        "dockerfile",
        "docker-compose.yml",
        "compose.yaml",
        ".envrc",
        ".bashrc",
        ".profile",
        ".zshrc",
        ".gitlab-ci.yml",
        "jenkinsfile",
        "tasks.json",
        "launch.json",
        ".pre-commit-config.yaml",
        "binding.gyp",
        "sitecustomize.py",
    ];
    const ENDS: [&str; 8] = [
        ".sh", ".bash", ".zsh", ".ps1", ".bat", ".cmd", ".mk", ".pth",
    ];
    const FOLDERS: [&str; 10] = [
        ".github/",
        ".husky/",
        ".circleci/",
        ".cargo/",
        ".vscode/",
        ".idea/",
        ".devcontainer/",
        "hooks/",
        ".claude/",
        ".cursor/",
    ];
    let last = name.rsplit('/').next().unwrap_or(name);
    NAMES.contains(&last)
        || ENDS.iter().any(|end| last.ends_with(end))
        || FOLDERS
            .iter()
            .any(|folder| name.starts_with(folder) || name.contains(&format!("/{folder}")))
}

fn is_configuration(name: &str) -> bool {
    const ENDS: [&str; 9] = [
        ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".lock", ".json", ".env",
    ];
    let last = name.rsplit('/').next().unwrap_or(name);
    last.starts_with('.') || ENDS.iter().any(|end| last.ends_with(end))
}
