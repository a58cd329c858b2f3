//! Conflicts of a landing with the branch, presented so that the user can resolve them.
//!
//! Start at `Conflict::describe_all`.

use std::ops::Range;

use git::merge::{ConflictKind, ConflictLabels, ConflictSide, MergeConflict};
use serde::{Deserialize, Serialize};

use crate::job::JobId;
use crate::symbols::SymbolCache;

/// Maximum number of symbols that a sentence names.
const MAX_SYMBOLS: usize = 3;

/// A file in which the work of a job conflicts: with the branch as it lands, or, as predicted, with
/// the branch, the user or another job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The job whose work conflicts.
    pub job: JobId,
    /// The job on the other side; `None` if that is the branch or the user.
    pub other: Option<JobId>,
    /// Path of the file, relative to the root.
    pub path: String,
    /// A sentence about the conflict: `main and the agent both changed parse_header`.
    pub text: String,
    /// The conflicting hunks of a landing; empty if it is predicted or the file conflicts as a
    /// whole.
    pub hunks: Vec<ConflictHunk>,
    /// The merged file with conflict markers, from which the user writes the resolution. `None` for
    /// a binary file and a predicted conflict.
    pub draft: Option<String>,
}

/// A hunk that both sides changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictHunk {
    /// Its first line in the branch's file, from 1.
    pub line: u32,
    /// The lines of the base.
    pub base: Vec<String>,
    /// The lines of the branch.
    pub branch: Vec<String>,
    /// The lines of the agent.
    pub agent: Vec<String>,
}

/// The resolution of a conflicting file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    /// The version of the branch.
    Branch,
    /// The version of the agent.
    Agent,
    /// This text, for the whole file.
    Text(String),
}

impl Conflict {
    /// Describes the conflicts of a job's landing, one per file, in the given order. `branch` is
    /// the name of the branch, and `title` is the title of the landing. "Ours" is the branch's
    /// side.
    pub fn describe_all(
        job: &str,
        (branch, title): (&str, &str),
        conflicts: &[MergeConflict],
    ) -> Vec<Self> {
        let mut symbols = SymbolCache::default();
        let described = conflicts.iter().map(|conflict| Self {
            job: job.to_owned(),
            other: None,
            path: conflict.path.to_string(),
            text: sentence(branch, conflict, &mut symbols),
            hunks: conflict_hunks(conflict),
            draft: draft(conflict, (branch, title)),
        });
        described.collect()
    }

    /// Returns whether a job is on one of its sides.
    pub fn involves(&self, job: &str) -> bool {
        self.job == job || self.other.as_deref() == Some(job)
    }
}

/// Describes a kind of conflict as a clause for the user.
pub fn conflict_kind_text(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::Content => "both change the same lines",
        ConflictKind::Binary => "both change a binary file",
        ConflictKind::BothAdded => "both add a file of this name",
        ConflictKind::RemovedByThem => "one changes it, the other removes it",
        ConflictKind::RemovedByUs => "one removes it, the other changes it",
        ConflictKind::BothRenamed => "both rename it, to different names",
        ConflictKind::FileAndFolder => "one has a file where the other has a folder",
        ConflictKind::Kind => "both change its file type",
        ConflictKind::FolderMoved => "one adds it to a folder that the other renames",
    }
}

fn sentence(branch: &str, conflict: &MergeConflict, symbols: &mut SymbolCache) -> String {
    let path = &conflict.path;
    match conflict.kind {
        ConflictKind::Content => match symbols_of(conflict, symbols).as_slice() {
            [] => format!("{branch} and the agent changed the same lines"),
            names => format!("{branch} and the agent both changed {}", names.join(", ")),
        },
        ConflictKind::Binary => {
            format!("{branch} and the agent both changed this binary file")
        }
        ConflictKind::BothAdded => format!("{branch} and the agent both added this file"),
        ConflictKind::RemovedByThem => format!("{branch} changed it, the agent removed it"),
        ConflictKind::RemovedByUs => format!("{branch} removed it, the agent changed it"),
        ConflictKind::BothRenamed => {
            let name = |version: &Option<ConflictSide>| {
                let version = version.as_ref();
                version.map_or_else(|| path.to_string(), |version| version.path.to_string())
            };
            format!(
                "{branch} renamed it to {}, the agent to {}",
                name(&conflict.ours),
                name(&conflict.theirs)
            )
        }
        ConflictKind::FileAndFolder => {
            "one side has a file where the other has a folder".to_owned()
        }
        ConflictKind::Kind => format!(
            "{branch} and the agent changed its file type in different \
            ways"
        ),
        ConflictKind::FolderMoved => {
            "one side added it to a folder that the other renamed".to_owned()
        }
    }
}

/// The functions and types with conflicts, as the branch has them.
fn symbols_of(conflict: &MergeConflict, symbols: &mut SymbolCache) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Some(ours) = &conflict.ours else {
        return names;
    };
    for lines in &conflict.lines {
        let name = symbols.enclosing(&ours.path, &ours.bytes, lines.ours.clone());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names.truncate(MAX_SYMBOLS);
    names
}

fn conflict_hunks(conflict: &MergeConflict) -> Vec<ConflictHunk> {
    let hunks = conflict.lines.iter().map(|lines| ConflictHunk {
        line: lines.ours.start + 1,
        base: slice_lines(conflict.base.as_ref(), &lines.base),
        branch: slice_lines(conflict.ours.as_ref(), &lines.ours),
        agent: slice_lines(conflict.theirs.as_ref(), &lines.theirs),
    });
    hunks.collect()
}

/// Lines of a version, without their line endings.
fn slice_lines(version: Option<&ConflictSide>, lines: &Range<u32>) -> Vec<String> {
    let text = version.map_or_else(String::new, |version| {
        String::from_utf8_lossy(&version.bytes).into_owned()
    });
    let all = text.split_inclusive('\n');
    let wanted = all.skip(lines.start as usize).take(lines.len());
    wanted
        .map(|line| line.trim_end_matches(['\r', '\n']).to_owned())
        .collect()
}

/// The merged text with conflict markers; if nothing was merged, the text of the only side that has
/// one.
fn draft(conflict: &MergeConflict, (branch, title): (&str, &str)) -> Option<String> {
    let bytes = match &conflict.merge {
        Some(merge) => merge.with_markers(ConflictLabels {
            ours: branch,
            base: None,
            theirs: title,
        }),
        None => match (&conflict.ours, &conflict.theirs) {
            (Some(only), None) | (None, Some(only)) => only.bytes.to_vec(),
            _ => return None,
        },
    };
    let text = String::from_utf8(bytes).ok();
    text.filter(|text| !text.contains('\0'))
}

/// Returns whether an edited text still contains a conflict marker line of `draft`, the text of
/// `Conflict::draft`. Ignores marker lines that `draft` does not contain.
pub fn has_conflict_markers(draft: &str, text: &str) -> bool {
    let is_mark = |line: &&str| {
        let signs = ["<<<<<<< ", ">>>>>>> "];
        signs.iter().any(|sign| line.starts_with(sign))
    };
    let mut marks = draft.lines().filter(is_mark);
    marks.any(|mark| text.lines().any(|line| line == mark))
}

#[cfg(test)]
mod tests {
    use git::merge::{EntryMode, MergeRegion, ObjectEntry, TreePath, merge_bytes};

    use super::*;

    fn version(path: &str, text: &str) -> ConflictSide {
        let entry = ObjectEntry::of_bytes(EntryMode::Plain, text.as_bytes());
        ConflictSide {
            path: TreePath::from(path),
            bytes: text.as_bytes().into(),
            entry,
        }
    }

    fn conflict(kind: ConflictKind, texts: [Option<&str>; 3]) -> MergeConflict {
        let [base, ours, theirs] = texts.map(|text| text.map(|text| version("a.rs", text)));
        let bytes = |version: &Option<ConflictSide>| version.clone().map(|it| it.bytes);
        let merge = match (bytes(&base), bytes(&ours), bytes(&theirs)) {
            (Some(base), Some(ours), Some(theirs)) => Some(merge_bytes(&base, &ours, &theirs)),
            _ => None,
        };
        let lines = merge.iter().flat_map(|merge| &merge.regions);
        let lines = lines.filter_map(|piece| match piece {
            MergeRegion::Conflicted { lines, .. } => Some(lines.clone()),
            MergeRegion::Clean(_) => None,
        });
        MergeConflict {
            path: TreePath::from("a.rs"),
            kind,
            lines: lines.collect(),
            base,
            ours,
            theirs,
            merge,
        }
    }

    fn describe(conflict: &MergeConflict) -> Conflict {
        let all =
            Conflict::describe_all("a2", ("main", "port flags"), std::slice::from_ref(conflict));
        all.into_iter().next().unwrap()
    }

    #[test]
    fn conflict_names_function_and_drafts_markers() {
        let text = |body: &str| format!("fn first() {{}}\n\nfn second() {{\n    {body}\n}}\n");
        let (base, ours, theirs) = (text("1"), text("22"), text("333"));
        let texts = [&base, &ours, &theirs].map(|text| Some(text.as_str()));
        let described = describe(&conflict(ConflictKind::Content, texts));
        assert_eq!(described.text, "main and the agent both changed second");
        let line = |text: &str| vec![format!("    {text}")];
        let hunk = ConflictHunk {
            line: 4,
            base: line("1"),
            branch: line("22"),
            agent: line("333"),
        };
        assert_eq!(described.hunks, [hunk]);
        let draft = described.draft.unwrap();
        assert!(
            draft.contains("<<<<<<< main\n    22\n=======\n    333\n>>>>>>> port flags\n"),
            "{draft}"
        );
        assert!(has_conflict_markers(&draft, &draft));
        assert!(!has_conflict_markers(&draft, &ours));
    }

    #[test]
    fn whole_file_conflicts_have_no_hunks() {
        let removed = describe(&conflict(
            ConflictKind::RemovedByUs,
            [Some("1\n"), None, Some("2\n")],
        ));
        assert_eq!(removed.text, "main removed it, the agent changed it");
        assert_eq!(
            (removed.hunks.len(), removed.draft.as_deref()),
            (0, Some("2\n"))
        );
        let binary = describe(&conflict(
            ConflictKind::Binary,
            [None, Some("1\0"), Some("2\0")],
        ));
        assert_eq!((binary.hunks.len(), binary.draft), (0, None));
    }
}
