//! Results of a project search, as rows that a list can draw.
//!
//! Plain data. Must not know: how searching works, gpui. Files are sorted by path, independently of
//! the order of arrival.
//! Invariant: `lines` shows `files` without dismissed matches and without the rows of collapsed
//! files.
//! Start at `Results::add`.

use std::ops::Range;

use base::{AbsPath, Row};
use host::ContentHash;
use project::search::{FileMatches, MatchingRow};
use text::LineEnding;

/// The results of one search.
#[derive(Clone, Debug, Default)]
pub struct Results {
    files: Vec<MatchedFile>,
    lines: Vec<ResultLine>,
    matches: usize,
}

/// A file with matches.
#[derive(Clone, Debug)]
pub struct MatchedFile {
    /// Path of the file.
    pub path: AbsPath,
    /// Rows from top to bottom.
    pub rows: Vec<MatchingRow>,
    /// Hash of the text that was searched.
    pub content: ContentHash,
    /// Prevailing line ending of the file.
    pub line_ending: LineEnding,
    /// Whether its rows are collapsed.
    pub is_closed: bool,
}

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultLine {
    /// Heading with the name of a file.
    File {
        /// Index of the file.
        file: usize,
    },
    /// A row with a match.
    Match {
        /// Index of the file.
        file: usize,
        /// Index of the row in the file.
        row: usize,
    },
    /// Preview of the replacement in the row above.
    Replaced {
        /// Index of the file.
        file: usize,
        /// Index of the row in the file.
        row: usize,
    },
    /// A row of context.
    Context {
        /// Index of the file.
        file: usize,
        /// Index of the match row that it belongs to.
        row: usize,
        /// Whether the context precedes that row.
        is_before: bool,
        /// Index of the context row.
        index: usize,
    },
    /// A gap where rows are omitted.
    Gap,
}

/// Selection in the list, which is stable while results change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    /// A file heading, by path.
    File(AbsPath),
    /// A row of a file.
    Match(AbsPath, Row),
}

impl Picked {
    /// Returns the path of the selected file or row.
    pub fn path(&self) -> &AbsPath {
        let (Self::File(path) | Self::Match(path, _)) = self;
        path
    }
}

impl Results {
    /// Adds a file with matches at its position in the order of paths. Ignores a file without rows.
    /// `replaced` indicates whether each match is followed by a preview of its replacement.
    pub fn add(&mut self, found: FileMatches, replaced: ReplacementPreview) {
        if found.rows.is_empty() {
            return;
        }
        self.matches += found
            .rows
            .iter()
            .map(MatchingRow::match_count)
            .sum::<usize>();
        let at = self.files.partition_point(|file| file.path < found.path);
        let file = MatchedFile {
            path: found.path,
            rows: found.rows,
            content: found.content,
            line_ending: found.line_ending,
            is_closed: false,
        };
        if at == self.files.len() {
            // Appending, the usual case, costs only the new lines.
            self.files.push(file);
            push_file(at, &self.files[at], replaced, &mut self.lines);
        } else {
            self.files.insert(at, file);
            self.rebuild(replaced);
        }
    }

    /// Rebuilds the lines after the replacement was shown or hidden.
    pub fn rebuild(&mut self, replaced: ReplacementPreview) {
        let mut lines = Vec::with_capacity(self.lines.len());
        for (index, file) in self.files.iter().enumerate() {
            push_file(index, file, replaced, &mut lines);
        }
        self.lines = lines;
    }

    /// Expands or collapses the rows of the file with the index `file`. Ignores an unknown index.
    /// `replaced` indicates whether previews are listed.
    pub fn toggle(&mut self, file: usize, replaced: ReplacementPreview) {
        if let Some(file) = self.files.get_mut(file) {
            file.is_closed = !file.is_closed;
            self.rebuild(replaced);
        }
    }

    /// Removes a file or a row from the list, not from the disk. Returns the next selection, or
    /// `None` if the list is empty.
    pub fn dismiss(&mut self, picked: &Picked, replaced: ReplacementPreview) -> Option<Picked> {
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

    /// Removes replaced results from the list; `rest` is what remains of the file. Returns the next
    /// selection in place of `picked`.
    pub fn take_rest(
        &mut self,
        path: &AbsPath,
        rest: Option<FileMatches>,
        picked: &Picked,
        replaced: ReplacementPreview,
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

    fn count_anew(&mut self, replaced: ReplacementPreview) {
        let rows = self.files.iter().flat_map(|file| &file.rows);
        self.matches = rows.map(MatchingRow::match_count).sum();
        self.rebuild(replaced);
    }

    /// Returns the selection `step` matches or headings after `from`, stopping at the ends. If
    /// `from` is not listed, returns the first one, or the last one if `step` is negative. Returns
    /// `None` for an empty list.
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

    /// Returns the selection `step` matches after `from`, skipping headings and wrapping around, or
    /// `None` for an empty list.
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

    /// Returns the selection for a line; `None` for context and gaps.
    pub fn picked_at(&self, line: usize) -> Option<Picked> {
        match *self.lines.get(line)? {
            ResultLine::File { file } => Some(Picked::File(self.files.get(file)?.path.clone())),
            ResultLine::Match { file, row } => {
                let file = self.files.get(file)?;
                Some(Picked::Match(file.path.clone(), file.rows.get(row)?.row))
            }
            ResultLine::Replaced { .. } | ResultLine::Context { .. } | ResultLine::Gap => None,
        }
    }

    /// Returns the index of the line that shows the selection, or `None` if the selection is
    /// collapsed or gone.
    pub fn line_of(&self, picked: &Picked) -> Option<usize> {
        let (Picked::File(path) | Picked::Match(path, _)) = picked;
        let index = self.files.iter().position(|file| file.path == *path)?;
        self.lines.iter().position(|line| match (*line, picked) {
            (ResultLine::File { file }, Picked::File(_)) => file == index,
            (ResultLine::Match { file, row }, Picked::Match(_, wanted)) => {
                file == index && self.files[file].rows[row].row == *wanted
            }
            _ => false,
        })
    }

    /// Returns the selected file and row. The row is `None` if the selection is a heading or the
    /// row is gone. Returns `None` if the file is gone.
    pub fn picked_match(&self, picked: &Picked) -> Option<(&MatchedFile, Option<&MatchingRow>)> {
        let (Picked::File(path) | Picked::Match(path, _)) = picked;
        let file = self.files.iter().find(|file| file.path == *path)?;
        let row = match picked {
            Picked::File(_) => None,
            Picked::Match(_, row) => file.rows.iter().find(|found| found.row == *row),
        };
        Some((file, row))
    }

    /// Returns the files with matches.
    pub fn files(&self) -> &[MatchedFile] {
        &self.files
    }

    /// Returns the lines to draw.
    pub fn lines(&self) -> &[ResultLine] {
        &self.lines
    }

    /// Returns the number of matches in all files.
    pub fn match_count(&self) -> usize {
        self.matches
    }

    /// Returns the row number and text of a context line, or `None` for other lines.
    pub fn context(&self, line: ResultLine) -> Option<(Row, &str)> {
        let ResultLine::Context {
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

/// Whether previews of the replacement are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplacementPreview {
    /// Previews follow their matches.
    Shown,
    /// Only the matches are listed.
    #[default]
    Hidden,
}

/// Returns the number of rows of the file that a found row covers.
fn rows_of(found: &MatchingRow) -> u32 {
    let feeds = found.text.bytes().filter(|b| *b == b'\n').count();
    u32::try_from(feeds).unwrap_or(0) + 1
}

fn push_file(
    index: usize,
    file: &MatchedFile,
    replaced: ReplacementPreview,
    lines: &mut Vec<ResultLine>,
) {
    lines.push(ResultLine::File { file: index });
    if file.is_closed {
        return;
    }
    let mut shown_to: Option<u32> = None;
    for (row, found) in file.rows.iter().enumerate() {
        let first = found.row.0.saturating_sub(found.before.len() as u32);
        if shown_to.is_some_and(|end| first > end) {
            lines.push(ResultLine::Gap);
        }
        lines.extend(context(index, row, true, 0..found.before.len()));
        lines.push(ResultLine::Match { file: index, row });
        if replaced == ReplacementPreview::Shown {
            lines.push(ResultLine::Replaced { file: index, row });
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
) -> impl Iterator<Item = ResultLine> {
    range.map(move |index| ResultLine::Context {
        file,
        row,
        is_before,
        index,
    })
}

#[cfg(test)]
mod tests;
