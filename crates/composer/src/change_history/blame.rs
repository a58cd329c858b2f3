//! Blame: the origin of every line of a file, followed through all changes in the log.

use std::collections::HashMap;
use std::ops::Range;

use super::ChangeHistory;
use super::change::{ChangeAuthor, ChangeId, StoredVersion};
use super::merge::{hunks, split_lines};
use crate::Error;

/// Lines that one change introduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameRange {
    /// Rows from 0. A binary file has the single row 0.
    pub rows: Range<u32>,
    /// The change that introduced the lines; `None` if they are in the base.
    pub change: Option<ChangeId>,
}

impl ChangeHistory {
    /// The lines of a file as last observed, with the changes that introduced them; empty if there
    /// is no file. Lines that an undo restored keep their original author.
    pub fn blame(&self, path: &str) -> Result<Vec<BlameRange>, Error> {
        let mut carried = BlamedText::default();
        if let Some(version) = self.base_files.get(path) {
            carried.update(self.text(Some(version))?, None, Reinsertion::No);
        }
        for change in self.changes.iter().filter(|change| change.path == path) {
            let returns = match change.author {
                ChangeAuthor::Undo { .. } => Reinsertion::Yes,
                _ => Reinsertion::No,
            };
            let text = self.text(change.after.as_ref())?;
            carried.update(text, Some(change.id), returns);
        }
        Ok(carried.into_ranges())
    }

    /// The distinct authors of some rows, in row order; `None` is the base.
    pub fn authors(
        &self,
        path: &str,
        rows: Range<u32>,
    ) -> Result<Vec<Option<ChangeAuthor>>, Error> {
        let mut authors = Vec::new();
        for owned in self.blame(path)? {
            if owned.rows.start < rows.end && rows.start < owned.rows.end {
                let change = owned.change.and_then(|id| self.change(id));
                let author = change.map(|change| change.author.clone());
                if !authors.contains(&author) {
                    authors.push(author);
                }
            }
        }
        Ok(authors)
    }

    /// The distinct authors who changed some rows, or any row if `rows` is `None`. Falls back to
    /// the author of the file's last change if no line is left to attribute.
    pub fn contributors(
        &self,
        path: &str,
        rows: Option<Range<u32>>,
    ) -> Result<Vec<ChangeAuthor>, Error> {
        let mut changes = self.changes.iter().filter(|it| it.path == path);
        let mut authors: Vec<ChangeAuthor> = Vec::new();
        match rows {
            // For a pure deletion, the surrounding lines do not identify the author.
            Some(rows) if rows.is_empty() => {}
            Some(rows) => authors.extend(self.authors(path, rows)?.into_iter().flatten()),
            None => {
                for change in changes.clone() {
                    if !authors.contains(&change.author) {
                        authors.push(change.author.clone());
                    }
                }
            }
        }
        if authors.is_empty() {
            authors.extend(changes.next_back().map(|it| it.author.clone()));
        }
        Ok(authors)
    }

    /// The text of a version; empty if there is none or it was not stored.
    fn text(&self, version: Option<&StoredVersion>) -> Result<String, Error> {
        match version.filter(|version| version.is_kept()) {
            Some(version) => Ok(String::from_utf8_lossy(&self.content(version)?).into_owned()),
            None => Ok(String::new()),
        }
    }
}

/// Whether inserted lines may be lines that were deleted before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reinsertion {
    No,
    Yes,
}

/// A text with the origin of each line.
#[derive(Default)]
struct BlamedText {
    text: String,
    owners: Vec<Option<ChangeId>>,
    /// The origins of deleted lines, by text.
    out: HashMap<String, Option<ChangeId>>,
}

impl BlamedText {
    fn update(&mut self, text: String, change: Option<ChangeId>, returns: Reinsertion) {
        let before = split_lines(&self.text);
        let after = split_lines(&text);
        let mut owners = Vec::with_capacity(after.len());
        let mut at = 0;
        for hunk in hunks(&self.text, &text) {
            let (start, end) = (hunk.before.start.0 as usize, hunk.before.end.0 as usize);
            owners.extend_from_slice(&self.owners[at..start]);
            for (line, owner) in before[start..end].iter().zip(&self.owners[start..end]) {
                self.out.insert((*line).to_owned(), *owner);
            }
            at = end;
            for row in hunk.after.start.0..hunk.after.end.0 {
                let line = after.get(row as usize).copied().unwrap_or_default();
                let returned = self.out.get(line).filter(|_| returns == Reinsertion::Yes);
                owners.push(returned.copied().unwrap_or(change));
            }
        }
        owners.extend_from_slice(&self.owners[at..]);
        self.owners = owners;
        self.text = text;
    }

    fn into_ranges(self) -> Vec<BlameRange> {
        let mut owned: Vec<BlameRange> = Vec::new();
        for (row, change) in (0..).zip(self.owners) {
            match owned.last_mut() {
                Some(last) if last.change == change => last.rows.end = row + 1,
                _ => owned.push(BlameRange {
                    rows: row..row + 1,
                    change,
                }),
            }
        }
        owned
    }
}
