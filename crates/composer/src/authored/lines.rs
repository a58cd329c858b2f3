//! Which lines of a file come from whom: carried through every change that the log knows of.

use std::collections::HashMap;
use std::ops::Range;

use super::Authored;
use super::change::{Author, ChangeId, Version};
use super::merge::{hunks, lines};

/// Lines that came from one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// Lines, from 0. Of what is no text, the whole is line 0.
    pub rows: Range<u32>,
    /// The change that brought them; `None` where they are as in the base.
    pub change: Option<ChangeId>,
}

impl Authored {
    /// The lines of a file as it was last seen, with the changes they came from; no lines where there is no file.
    /// Lines that an undo brought back are those of whoever wrote them first.
    pub fn lines(&self, path: &str) -> Result<Vec<Owned>, String> {
        let mut carried = Carried::default();
        if let Some(version) = self.base_files.get(path) {
            carried.become_text(self.text(Some(version))?, None, Returns::No);
        }
        for change in self.changes.iter().filter(|change| change.path == path) {
            let returns = match change.author {
                Author::Undo { .. } => Returns::Yes,
                _ => Returns::No,
            };
            let text = self.text(change.after.as_ref())?;
            carried.become_text(text, Some(change.id), returns);
        }
        Ok(carried.owned())
    }

    /// Who wrote these lines of a file, each once, the first line's first; `None` is the base.
    pub fn authors(&self, path: &str, rows: Range<u32>) -> Result<Vec<Option<Author>>, String> {
        let mut authors = Vec::new();
        for owned in self.lines(path)? {
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

    /// Who had a hand in these lines of a file, each once; in all of it where none are named. Where no line is left to
    /// be anybody's, whoever changed the file last.
    pub fn hands(&self, path: &str, rows: Option<Range<u32>>) -> Result<Vec<Author>, String> {
        let mut changes = self.changes.iter().filter(|it| it.path == path);
        let mut authors: Vec<Author> = Vec::new();
        match rows {
            // Where lines only went, those around them say nothing.
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

    /// A version's text; empty where there is none, and for what was not kept.
    fn text(&self, version: Option<&Version>) -> Result<String, String> {
        match version.filter(|version| version.is_kept()) {
            Some(version) => Ok(String::from_utf8_lossy(&self.content(version)?).into_owned()),
            None => Ok(String::new()),
        }
    }
}

/// Whether lines that are put in may be ones that were taken out before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    No,
    Yes,
}

/// A text and where each of its lines came from.
#[derive(Default)]
struct Carried {
    text: String,
    owners: Vec<Option<ChangeId>>,
    /// Whose lines were that were taken out.
    out: HashMap<String, Option<ChangeId>>,
}

impl Carried {
    fn become_text(&mut self, text: String, change: Option<ChangeId>, returns: Returns) {
        let before = lines(&self.text);
        let after = lines(&text);
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
                let returned = self.out.get(line).filter(|_| returns == Returns::Yes);
                owners.push(returned.copied().unwrap_or(change));
            }
        }
        owners.extend_from_slice(&self.owners[at..]);
        self.owners = owners;
        self.text = text;
    }

    fn owned(self) -> Vec<Owned> {
        let mut owned: Vec<Owned> = Vec::new();
        for (row, change) in (0..).zip(self.owners) {
            match owned.last_mut() {
                Some(last) if last.change == change => last.rows.end = row + 1,
                _ => owned.push(Owned {
                    rows: row..row + 1,
                    change,
                }),
            }
        }
        owned
    }
}
