//! What a landing and the branch fight over, put so that a person can settle it.

use std::ops::Range;

use git::merge::{Conflict, ConflictKind, Marks, Version};

use super::{Dispute, Fight};
use crate::forecast::symbols::Symbols;

/// Symbols that a sentence names at most.
const NAMED: usize = 3;

/// What an agent's landing is fought over, file by file. `branch` is the branch's name, `title` the landing's; ours is
/// the branch's side.
pub fn disputes(
    agent: &str,
    (branch, title): (&str, &str),
    conflicts: &[Conflict],
) -> Vec<Dispute> {
    let mut symbols = Symbols::default();
    let disputes = conflicts.iter().map(|conflict| Dispute {
        agent: agent.to_owned(),
        path: conflict.path.to_string(),
        text: sentence(branch, conflict, &mut symbols),
        places: places(conflict),
        draft: draft(conflict, (branch, title)),
    });
    disputes.collect()
}

fn sentence(branch: &str, conflict: &Conflict, symbols: &mut Symbols) -> String {
    let path = &conflict.path;
    match conflict.kind {
        ConflictKind::Content => match symbols_of(conflict, symbols).as_slice() {
            [] => format!("{branch} and the agent changed the same lines"),
            names => format!("{branch} and the agent both changed {}", names.join(", ")),
        },
        ConflictKind::Binary => {
            format!("{branch} and the agent both changed it, and it has no lines to be merged")
        }
        ConflictKind::BothAdded => format!("{branch} and the agent both added it"),
        ConflictKind::RemovedByThem => format!("{branch} changed it, the agent removed it"),
        ConflictKind::RemovedByUs => format!("{branch} removed it, the agent changed it"),
        ConflictKind::BothRenamed => {
            let name = |version: &Option<Version>| {
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
        ConflictKind::Kind => format!("{branch} and the agent made different kinds of file of it"),
        ConflictKind::FolderMoved => {
            "one side added it to a folder that the other renamed".to_owned()
        }
    }
}

/// The functions and types that are fought over, as the branch has them.
fn symbols_of(conflict: &Conflict, symbols: &mut Symbols) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Some(ours) = &conflict.ours else {
        return names;
    };
    for lines in &conflict.lines {
        let name = symbols.around(&ours.path, &ours.bytes, lines.ours.clone());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names.truncate(NAMED);
    names
}

fn places(conflict: &Conflict) -> Vec<Fight> {
    let fights = conflict.lines.iter().map(|lines| Fight {
        line: lines.ours.start + 1,
        base: cut(conflict.base.as_ref(), &lines.base),
        branch: cut(conflict.ours.as_ref(), &lines.ours),
        agent: cut(conflict.theirs.as_ref(), &lines.theirs),
    });
    fights.collect()
}

/// Lines of a version, without their endings.
fn cut(version: Option<&Version>, lines: &Range<u32>) -> Vec<String> {
    let text = version.map_or_else(String::new, |version| {
        String::from_utf8_lossy(&version.bytes).into_owned()
    });
    let all = text.split_inclusive('\n');
    let wanted = all.skip(lines.start as usize).take(lines.len());
    wanted
        .map(|line| line.trim_end_matches(['\r', '\n']).to_owned())
        .collect()
}

/// The merged text with marks; where nothing was merged, the text of the side that has one.
fn draft(conflict: &Conflict, (branch, title): (&str, &str)) -> Option<String> {
    let bytes = match &conflict.merge {
        Some(merge) => merge.marked(Marks {
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

/// Whether a text still has a mark that `Dispute::draft` puts around what differs.
pub fn has_marks(draft: &str, text: &str) -> bool {
    let is_mark = |line: &&str| {
        let signs = ["<<<<<<< ", ">>>>>>> "];
        signs.iter().any(|sign| line.starts_with(sign))
    };
    let mut marks = draft.lines().filter(is_mark);
    marks.any(|mark| text.lines().any(|line| line == mark))
}

#[cfg(test)]
mod tests {
    use git::merge::{Entry, Mode, Piece, TreePath, merge_bytes};

    use super::*;

    fn version(path: &str, text: &str) -> Version {
        let entry = Entry::of_bytes(Mode::Plain, text.as_bytes());
        Version {
            path: TreePath::from(path),
            bytes: text.as_bytes().into(),
            entry,
        }
    }

    fn conflict(kind: ConflictKind, texts: [Option<&str>; 3]) -> Conflict {
        let [base, ours, theirs] = texts.map(|text| text.map(|text| version("a.rs", text)));
        let bytes = |version: &Option<Version>| version.clone().map(|it| it.bytes);
        let merge = match (bytes(&base), bytes(&ours), bytes(&theirs)) {
            (Some(base), Some(ours), Some(theirs)) => Some(merge_bytes(&base, &ours, &theirs)),
            _ => None,
        };
        let lines = merge.iter().flat_map(|merge| &merge.pieces);
        let lines = lines.filter_map(|piece| match piece {
            Piece::Fought { lines, .. } => Some(lines.clone()),
            Piece::Agreed(_) => None,
        });
        Conflict {
            path: TreePath::from("a.rs"),
            kind,
            lines: lines.collect(),
            base,
            ours,
            theirs,
            merge,
        }
    }

    fn dispute(conflict: &Conflict) -> Dispute {
        let all = disputes("a2", ("main", "port flags"), std::slice::from_ref(conflict));
        all.into_iter().next().unwrap()
    }

    #[test]
    fn lines_that_both_want_are_named_with_their_function_and_marked() {
        let text = |body: &str| format!("fn first() {{}}\n\nfn second() {{\n    {body}\n}}\n");
        let (base, ours, theirs) = (text("1"), text("22"), text("333"));
        let texts = [&base, &ours, &theirs].map(|text| Some(text.as_str()));
        let dispute = dispute(&conflict(ConflictKind::Content, texts));
        assert_eq!(dispute.text, "main and the agent both changed second");
        let line = |text: &str| vec![format!("    {text}")];
        let fight = Fight {
            line: 4,
            base: line("1"),
            branch: line("22"),
            agent: line("333"),
        };
        assert_eq!(dispute.places, [fight]);
        let draft = dispute.draft.unwrap();
        assert!(
            draft.contains("<<<<<<< main\n    22\n=======\n    333\n>>>>>>> port flags\n"),
            "{draft}"
        );
        assert!(has_marks(&draft, &draft));
        assert!(!has_marks(&draft, &ours));
    }

    #[test]
    fn files_as_a_whole_have_no_places() {
        let removed = dispute(&conflict(
            ConflictKind::RemovedByUs,
            [Some("1\n"), None, Some("2\n")],
        ));
        assert_eq!(removed.text, "main removed it, the agent changed it");
        assert_eq!(
            (removed.places.len(), removed.draft.as_deref()),
            (0, Some("2\n"))
        );
        let binary = dispute(&conflict(
            ConflictKind::Binary,
            [None, Some("1\0"), Some("2\0")],
        ));
        assert_eq!((binary.places.len(), binary.draft), (0, None));
    }
}
