//! The changes of a project, made one after the other by a simulated user.

use autocomplete::local::{Corpus, TabTables};
use replay::hunks::{Hunk, hunks};
use replay::local_tier::{LocalTier, OpenFile};

use super::projects::Project;

/// Sizes of new texts that are typed, in bytes: longer ones were pasted, shorter ones are not
/// informative.
const TYPED_BYTES: std::ops::RangeInclusive<usize> = 4..=600;

/// A hunk that is about to be typed.
pub(super) struct TypedHunk<'a> {
    pub(super) hunk: &'a Hunk,
    /// Texts of the other files of the change.
    pub(super) others: &'a [&'a str],
    /// Time in milliseconds.
    pub(super) clock: u64,
}

/// Makes all changes of a project. At most `most` hunks, evenly chosen, are passed to `type_hunk`
/// with the caret at their start and their old text deleted.
pub(super) fn make(
    project: &Project,
    tables: &TabTables,
    most: usize,
    mut type_hunk: impl FnMut(&mut LocalTier, &mut OpenFile, &TypedHunk<'_>),
) {
    let mut corpus = Corpus::new();
    for (path, text) in &project.files {
        corpus.insert(path, text);
    }
    let files = project.changes.iter().flatten();
    let all = files.flat_map(|file| hunks(&file.old, &file.new));
    let count = all.filter(is_typed).count();
    let (mut ix, mut clock) = (0, 1_000_000);
    for files in &project.changes {
        let mut tier = LocalTier::new(corpus.view());
        tier.local.set_tables(Ok(tables.clone()));
        for (number, file) in files.iter().enumerate() {
            let mut open = OpenFile::new(file);
            tier.local.note_tree(&open.state());
            let others = files.iter().enumerate().filter(|(it, _)| *it != number);
            let others: Vec<&str> = others
                .map(|(it, other)| if it < number { &other.new } else { &other.old })
                .map(String::as_str)
                .collect();
            for hunk in hunks(&file.old, &file.new) {
                clock += 10_000;
                let is_chosen = is_typed(&hunk) && {
                    ix += 1;
                    count <= most || ix * most / count > (ix - 1) * most / count
                };
                if !is_chosen {
                    open.replace(hunk.old, &hunk.new, clock, &mut tier);
                    clock += 60_000;
                    continue;
                }
                if !hunk.old.is_empty() {
                    open.replace(hunk.old, "", clock, &mut tier);
                }
                open.caret = hunk.old.start;
                if let Some(task) = tier.local.background_task(&[open.state()]) {
                    tier.local.finish(task.run());
                }
                let typed = TypedHunk {
                    hunk: &hunk,
                    others: &others,
                    clock,
                };
                type_hunk(&mut tier, &mut open, &typed);
                clock += 120_000;
            }
            corpus.insert(&file.path, &file.new);
            tier.local.set_corpus(corpus.view());
        }
    }
}

fn is_typed(hunk: &Hunk) -> bool {
    TYPED_BYTES.contains(&hunk.new.len()) && hunk.new.chars().any(char::is_alphanumeric)
}
