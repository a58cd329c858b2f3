//! The risk of accepting a hunk, with its reasons.

use std::collections::BTreeSet;

use git::merge::{EntryMode, ObjectEntry, TreePath};

use super::HunkChange;
use crate::markers;

/// A reason for a closer look at a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RiskReason {
    /// It adds conflict markers and cannot land.
    ConflictMarkers,
    /// It is run automatically when the project is built, opened, tested or committed to.
    Executes,
    /// It is a symlink or submodule.
    Link,
    /// It is a configuration file.
    Configuration,
    /// It removes a file.
    FileRemoved,
    /// A binary file, which has no lines to show.
    Binary,
    /// It sets the executable bit.
    MadeExecutable,
    /// It removes more lines than it adds.
    Removes,
    /// It has many lines.
    Long,
    /// No check covered it.
    Unchecked,
}

/// The risk of a hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// Sum of the weights of the reasons; only for ordering.
    pub weight: u32,
    /// All reasons that apply.
    pub reasons: BTreeSet<RiskReason>,
}

impl RiskReason {
    /// Returns the weight of the reason. A higher weight means a higher risk.
    pub(super) fn weight(self) -> u32 {
        match self {
            RiskReason::ConflictMarkers => 200,
            RiskReason::Executes => 100,
            RiskReason::Link => 80,
            RiskReason::MadeExecutable => 60,
            RiskReason::FileRemoved => 50,
            RiskReason::Binary => 45,
            RiskReason::Configuration => 40,
            RiskReason::Unchecked => 20,
            RiskReason::Removes => 10,
            RiskReason::Long => 10,
        }
    }

    /// Describes the reason in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            RiskReason::ConflictMarkers => "has conflict markers, so it cannot land",
            RiskReason::Executes => "runs automatically",
            RiskReason::Link => "is a symlink",
            RiskReason::MadeExecutable => "becomes executable",
            RiskReason::FileRemoved => "removes a file",
            RiskReason::Binary => "is a binary file",
            RiskReason::Configuration => "is configuration",
            RiskReason::Unchecked => "not covered by a check",
            RiskReason::Removes => "mostly removes lines",
            RiskReason::Long => "is long",
        }
    }
}

/// Hunks with more lines than this count as long.
const LONG_HUNK_LINES: usize = 60;

/// Computes the risk of a hunk of the file `path`. `is_checked` indicates whether a check covers the
/// hunk.
pub(super) fn risk(path: &TreePath, part: &HunkChange, is_checked: bool) -> Risk {
    let mut reasons = BTreeSet::new();
    let name = path.to_string().to_lowercase();
    if executes(&name) {
        reasons.insert(RiskReason::Executes);
    } else if is_configuration(&name) {
        reasons.insert(RiskReason::Configuration);
    }
    if !is_checked {
        reasons.insert(RiskReason::Unchecked);
    }
    match part {
        HunkChange::Lines { removed, added, .. } => {
            if markers::first_added(std::slice::from_ref(removed), added).is_some() {
                reasons.insert(RiskReason::ConflictMarkers);
            }
            let count = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
            let (gone, come) = (count(removed), count(added));
            if gone > come {
                reasons.insert(RiskReason::Removes);
            }
            if gone + come > LONG_HUNK_LINES {
                reasons.insert(RiskReason::Long);
            }
        }
        HunkChange::Mode { to, .. } => {
            if *to == EntryMode::Executable {
                reasons.insert(RiskReason::MadeExecutable);
            }
        }
        HunkChange::Name { .. } => {}
        HunkChange::Whole {
            before,
            after,
            is_binary,
        } => {
            if before.is_some() && after.is_none() {
                reasons.insert(RiskReason::FileRemoved);
            }
            if *is_binary {
                reasons.insert(RiskReason::Binary);
            }
            let bytes =
                |entry: &Option<ObjectEntry>| entry.as_ref().and_then(|it| it.bytes.clone());
            let old: Vec<_> = bytes(before).into_iter().collect();
            if bytes(after).is_some_and(|after| markers::first_added(&old, &after).is_some()) {
                reasons.insert(RiskReason::ConflictMarkers);
            }
            match after.as_ref().map(|entry| entry.mode) {
                Some(EntryMode::Link | EntryMode::Module) => reasons.insert(RiskReason::Link),
                Some(EntryMode::Executable) => reasons.insert(RiskReason::MadeExecutable),
                _ => false,
            };
        }
    }
    Risk {
        weight: reasons.iter().map(|reason| reason.weight()).sum(),
        reasons,
    }
}

/// Whether a build, an editor, a shell or a forge runs the file, by its lower-case path.
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

/// Returns whether a path is that of a configuration file, by its extension or a leading dot of its
/// name.
fn is_configuration(name: &str) -> bool {
    const ENDS: [&str; 9] = [
        ".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".lock", ".json", ".env",
    ];
    let last = name.rsplit('/').next().unwrap_or(name);
    last.starts_with('.') || ENDS.iter().any(|end| last.ends_with(end))
}
