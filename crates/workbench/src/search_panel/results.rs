//! What a search through the project found, as rows that a list can draw.
//!
//! Plain data. Must not know: how searching works, gpui. Files stand in the order of their paths,
//! in whatever order they arrive.
//! Invariant: `lines` is what `files` shows: no dismissed match, nothing beneath a closed file.
//! Start at `Results::add`.

use std::ops::Range;

use base::{AbsPath, Row};
use host::ContentHash;
use project::search::{FileMatches, FoundRow};
use text::LineEnding;

/// The results of one search.
#[derive(Clone, Debug, Default)]
pub struct Results {
    files: Vec<FoundFile>,
    lines: Vec<Line>,
    matches: usize,
}

/// A file with matches.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Where it is.
    pub path: AbsPath,
    /// From top to bottom.
    pub rows: Vec<FoundRow>,
    /// The fingerprint of the text that was searched.
    pub content: ContentHash,
    /// The ending that most of its lines have.
    pub line_ending: LineEnding,
    /// Whether only its name shows.
    pub is_closed: bool,
}

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The name of a file.
    File {
        /// Which of the files.
        file: usize,
    },
    /// A row with a match.
    Match {
        /// Which of the files.
        file: usize,
        /// Which of its rows.
        row: usize,
    },
    /// What the row above becomes when it is replaced.
    Replaced {
        /// Which of the files.
        file: usize,
        /// Which of its rows.
        row: usize,
    },
    /// A row beside a match.
    Context {
        /// Which of the files.
        file: usize,
        /// Which of its rows it stands beside.
        row: usize,
        /// Whether it stands above that row.
        is_before: bool,
        /// Which of the context rows.
        index: usize,
    },
    /// Rows are left out here.
    Gap,
}

/// What is selected in the list, which stays while results come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    /// A file.
    File(AbsPath),
    /// A row of a file.
    Match(AbsPath, Row),
}

impl Picked {
    /// The file, or the file of the row.
    pub fn path(&self) -> &AbsPath {
        let (Self::File(path) | Self::Match(path, _)) = self;
        path
    }
}

impl Results {
    /// Takes a file with matches. With `replaced`, a line for the replacement follows each match.
    pub fn add(&mut self, found: FileMatches, replaced: Replaced) {
        if found.rows.is_empty() {
            return;
        }
        self.matches += found.rows.iter().map(FoundRow::match_count).sum::<usize>();
        let at = self.files.partition_point(|file| file.path < found.path);
        let file = FoundFile {
            path: found.path,
            rows: found.rows,
            content: found.content,
            line_ending: found.line_ending,
            is_closed: false,
        };
        if at == self.files.len() {
            // The usual case costs only what is new.
            self.files.push(file);
            push_file(at, &self.files[at], replaced, &mut self.lines);
        } else {
            self.files.insert(at, file);
            self.rebuild(replaced);
        }
    }

    /// Builds the lines anew, after the replacement came or went.
    pub fn rebuild(&mut self, replaced: Replaced) {
        let mut lines = Vec::with_capacity(self.lines.len());
        for (index, file) in self.files.iter().enumerate() {
            push_file(index, file, replaced, &mut lines);
        }
        self.lines = lines;
    }

    /// Opens or closes the rows of a file.
    pub fn toggle(&mut self, file: usize, replaced: Replaced) {
        if let Some(file) = self.files.get_mut(file) {
            file.is_closed = !file.is_closed;
            self.rebuild(replaced);
        }
    }

    /// Takes a file or a row off the list; answers what is selected next.
    pub fn dismiss(&mut self, picked: &Picked, replaced: Replaced) -> Option<Picked> {
        let next = self.step(Some(picked), 1).filter(|next| next != picked);
        let before = self
            .step(Some(picked), -1)
            .filter(|before| before != picked);
        match picked {
            Picked::File(path) => self.files.retain(|file| file.path != *path),
            Picked::Match(path, row) => {
                for file in self.files.iter_mut().filter(|file| file.path == *path) {
                    file.rows.retain(|found| found.row != *row);
                }
                self.files.retain(|file| !file.rows.is_empty());
            }
        }
        self.count_anew(replaced);
        [next, before]
            .into_iter()
            .flatten()
            .find(|picked| self.line_of(picked).is_some())
    }

    /// Takes what was replaced off the list; `rest` is what is left of the file. Answers what is selected next, where
    /// `picked` was.
    pub fn take_rest(
        &mut self,
        path: &AbsPath,
        rest: Option<FileMatches>,
        picked: &Picked,
        replaced: Replaced,
    ) -> Option<Picked> {
        let at = self.line_of(picked);
        match rest {
            None => self.files.retain(|file| file.path != *path),
            Some(rest) => {
                for file in self.files.iter_mut().filter(|file| file.path == *path) {
                    file.rows.clone_from(&rest.rows);
                    file.content = rest.content;
                    file.line_ending = rest.line_ending;
                }
            }
        }
        self.count_anew(replaced);
        let at = at.unwrap_or(0).min(self.lines.len());
        let (before, behind) = (0..at, at..self.lines.len());
        let mut near = behind.chain(before.rev());
        near.find_map(|line| self.picked_at(line))
    }

    fn count_anew(&mut self, replaced: Replaced) {
        let rows = self.files.iter().flat_map(|file| &file.rows);
        self.matches = rows.map(FoundRow::match_count).sum();
        self.rebuild(replaced);
    }

    /// What one reaches from `from` by going `step` matches or files up or down.
    pub fn step(&self, from: Option<&Picked>, step: isize) -> Option<Picked> {
        let at = from.and_then(|picked| self.line_of(picked));
        let stops: Vec<usize> = (0..self.lines.len())
            .filter(|line| self.picked_at(*line).is_some())
            .collect();
        let last = stops.len().checked_sub(1)?;
        let place = match at.and_then(|at| stops.iter().position(|stop| *stop == at)) {
            Some(place) => place.saturating_add_signed(step).min(last),
            None if step < 0 => last,
            None => 0,
        };
        self.picked_at(*stops.get(place)?)
    }

    /// The next match in any file, headings left out, around the ends.
    pub fn step_match(&self, from: Option<&Picked>, step: isize) -> Option<Picked> {
        let all: Vec<Picked> = self
            .files
            .iter()
            .flat_map(|file| {
                file.rows
                    .iter()
                    .map(|row| Picked::Match(file.path.clone(), row.row))
            })
            .collect();
        let count = isize::try_from(all.len()).ok().filter(|count| *count > 0)?;
        let at = match from {
            Some(Picked::File(path)) => {
                let first = |p: &Picked| matches!(p, Picked::Match(other, _) if other == path);
                all.iter()
                    .position(first)
                    .map(|at| at as isize - isize::from(step > 0))
            }
            Some(picked) => all.iter().position(|p| p == picked).map(|at| at as isize),
            None => None,
        };
        let at = at.unwrap_or(if step > 0 { -1 } else { 0 });
        let next = usize::try_from((at + step).rem_euclid(count)).ok()?;
        all.get(next).cloned()
    }

    /// What a line selects; context and gaps select nothing.
    pub fn picked_at(&self, line: usize) -> Option<Picked> {
        match *self.lines.get(line)? {
            Line::File { file } => Some(Picked::File(self.files.get(file)?.path.clone())),
            Line::Match { file, row } => {
                let file = self.files.get(file)?;
                Some(Picked::Match(file.path.clone(), file.rows.get(row)?.row))
            }
            Line::Replaced { .. } | Line::Context { .. } | Line::Gap => None,
        }
    }

    /// The line that shows what is selected.
    pub fn line_of(&self, picked: &Picked) -> Option<usize> {
        let (Picked::File(path) | Picked::Match(path, _)) = picked;
        let index = self.files.iter().position(|file| file.path == *path)?;
        self.lines.iter().position(|line| match (*line, picked) {
            (Line::File { file }, Picked::File(_)) => file == index,
            (Line::Match { file, row }, Picked::Match(_, wanted)) => {
                file == index && self.files[file].rows[row].row == *wanted
            }
            _ => false,
        })
    }

    /// The row that is selected, and its file.
    pub fn found(&self, picked: &Picked) -> Option<(&FoundFile, Option<&FoundRow>)> {
        let (Picked::File(path) | Picked::Match(path, _)) = picked;
        let file = self.files.iter().find(|file| file.path == *path)?;
        let row = match picked {
            Picked::File(_) => None,
            Picked::Match(_, row) => file.rows.iter().find(|found| found.row == *row),
        };
        Some((file, row))
    }

    /// The files with matches.
    pub fn files(&self) -> &[FoundFile] {
        &self.files
    }

    /// The lines to draw.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Matches in all files.
    pub fn match_count(&self) -> usize {
        self.matches
    }

    /// The text of a context line.
    pub fn context(&self, line: Line) -> Option<(Row, &str)> {
        let Line::Context {
            file,
            row,
            is_before,
            index,
        } = line
        else {
            return None;
        };
        let found = self.files.get(file)?.rows.get(row)?;
        if is_before {
            let above = u32::try_from(found.before.len() - index).ok()?;
            Some((found.row - above, found.before.get(index)?))
        } else {
            let below = u32::try_from(index + 1).ok()?;
            Some((
                Row(found.row.0 + rows_of(found) - 1 + below),
                found.after.get(index)?,
            ))
        }
    }
}

/// Whether lines with the replacement are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replaced {
    /// They are.
    Shown,
    /// They are not.
    #[default]
    Hidden,
}

/// How many rows of the file a found row covers.
fn rows_of(found: &FoundRow) -> u32 {
    let feeds = found.text.bytes().filter(|b| *b == b'\n').count();
    u32::try_from(feeds).unwrap_or(0) + 1
}

fn push_file(index: usize, file: &FoundFile, replaced: Replaced, lines: &mut Vec<Line>) {
    lines.push(Line::File { file: index });
    if file.is_closed {
        return;
    }
    let mut shown_to: Option<u32> = None;
    for (row, found) in file.rows.iter().enumerate() {
        let first = found.row.0.saturating_sub(found.before.len() as u32);
        if shown_to.is_some_and(|end| first > end) {
            lines.push(Line::Gap);
        }
        lines.extend(context(index, row, true, 0..found.before.len()));
        lines.push(Line::Match { file: index, row });
        if replaced == Replaced::Shown {
            lines.push(Line::Replaced { file: index, row });
        }
        lines.extend(context(index, row, false, 0..found.after.len()));
        shown_to = Some(found.row.0 + rows_of(found) + found.after.len() as u32);
    }
}

fn context(
    file: usize,
    row: usize,
    is_before: bool,
    range: Range<usize>,
) -> impl Iterator<Item = Line> {
    range.map(move |index| Line::Context {
        file,
        row,
        is_before,
        index,
    })
}

#[cfg(test)]
mod tests;
