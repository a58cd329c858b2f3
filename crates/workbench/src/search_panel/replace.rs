//! Replaces what a search found: in open texts as an edit that undo takes back, in closed files by way of a document
//! that is loaded, edited and saved.
//!
//! Blocks on the disk for closed files: runs in the background. Must not know: gpui.
//! Invariant: exactly the byte ranges of the results are replaced, in the text that was searched and in no other; what
//! replaces them is made of the groups of the search, as in the preview.
//! Start at `preview`, `InFile::replace` and `replace_in_file`.

use std::sync::atomic::AtomicBool;

use base::{AbsPath, Span};
use caret::find::{LetterCase, Matcher, Pattern, Replacement};
use host::{ContentHash, Files};
use project::search::{FileMatches, FoundRow, TextMatch};
use project::{Binary, Document, SaveOptions, SaveTarget, load};
use text::{Author, Edit, EditKind, FileFormat, LineEnding, Origin, Timestamp};

/// What replaces the results of a search.
#[derive(Clone, Debug)]
pub(crate) struct Replace {
    /// The matcher of the search.
    pub matcher: Matcher,
    /// How its pattern is read, and with it the template.
    pub pattern: Pattern,
    /// The template of the replacement, as typed.
    pub template: String,
}

/// The matches of one file that are to be replaced.
#[derive(Clone, Debug)]
pub(crate) struct InFile {
    /// The file.
    pub path: AbsPath,
    /// The fingerprint of the text that was searched.
    pub content: ContentHash,
    /// What line feeds of the template become.
    pub line_ending: LineEnding,
    /// The matches to replace, sorted and disjoint.
    pub matches: Vec<TextMatch>,
    /// The other matches of the file, sorted and disjoint.
    pub rest: Vec<TextMatch>,
    /// Rows around a match in the results.
    pub context_rows: usize,
}

/// What was replaced in a file, and how to take it back.
#[derive(Clone, Debug)]
pub(crate) struct ReplacedFile {
    /// The file.
    pub path: AbsPath,
    /// What was done to its text.
    pub edits: Vec<Edit>,
    /// Leads back to the text of before.
    pub inverse: Vec<Edit>,
    /// The fingerprint of the text of before.
    pub before: ContentHash,
    /// The fingerprint of the text now.
    pub after: ContentHash,
    /// What is left of its results.
    pub rest: Option<FileMatches>,
    /// The encoding of a closed file before, which the text of now need not tell any more.
    pub format: Option<FileFormat>,
}

/// The disk, for closed files.
pub(crate) struct Disk<'a> {
    /// The files.
    pub files: &'a dyn Files,
    /// The folder for recovery records.
    pub recovery: &'a AbsPath,
    /// The time of the edits.
    pub at: Timestamp,
}

impl Replace {
    fn replacement(&self, line_ending: LineEnding) -> Replacement {
        Replacement::parse(
            &self.template,
            self.pattern,
            LetterCase::AsTyped,
            line_ending,
        )
    }
}

/// What becomes of a row, with its line ending if that stays. Matches that are not shown whole stay as they are.
pub(crate) fn preview(replace: &Replace, line_ending: LineEnding, row: &FoundRow) -> String {
    let replacement = replace.replacement(line_ending);
    let shown = format!("{}{}", row.text, row.ending);
    let mut text = String::with_capacity(shown.len());
    let mut at = 0;
    for (column, groups) in row.columns.iter().zip(&row.groups) {
        let range = column.start.saturating_sub(row.cut)..column.end.saturating_sub(row.cut);
        let Some(found) = shown.get(range.clone()) else {
            break;
        };
        text.push_str(&shown[at..range.start]);
        text.push_str(&replace.matcher.expand(found, groups, &replacement));
        at = range.end;
    }
    text.push_str(&shown[at..]);
    text
}

impl InFile {
    /// Replaces the matches in `text`, or refuses with a sentence if that is not the text that was searched.
    pub(crate) fn replace(&self, replace: &Replace, text: &str) -> Result<ReplacedFile, String> {
        if ContentHash::of(text.as_bytes()) != self.content {
            return Err(format!(
                "nothing was replaced in {}: it changed since it was searched; search again",
                self.path
            ));
        }
        let replacement = replace.replacement(self.line_ending);
        let edit = |found: &TextMatch| {
            let old = text.get(found.span.range())?;
            let new = replace.matcher.expand(old, &found.groups, &replacement);
            Some(Edit::new(found.span, new))
        };
        let edits: Option<Vec<Edit>> = self.matches.iter().map(edit).collect();
        let Some(edits) = edits else {
            base::never!("a match of {} lies outside of its text", self.path);
            return Err(format!("nothing was replaced in {}", self.path));
        };
        let after = edited(text, &edits);
        let rest = moved(&self.rest, &edits);
        Ok(ReplacedFile {
            path: self.path.clone(),
            inverse: inverse(text, &edits),
            before: self.content,
            after: ContentHash::of(after.as_bytes()),
            rest: FileMatches::of(&self.path, &after, rest, self.context_rows),
            edits,
            format: None,
        })
    }
}

impl ReplacedFile {
    /// The edits that take it back in `text`; none where it was taken back already. Refuses with a sentence if the text
    /// changed since.
    pub(crate) fn take_back(&self, text: &str) -> Result<Vec<Edit>, String> {
        let content = ContentHash::of(text.as_bytes());
        if content == self.after {
            return Ok(self.inverse.clone());
        }
        if content == self.before {
            return Ok(Vec::new());
        }
        Err(format!(
            "{} keeps what was replaced in it: it changed since",
            self.path
        ))
    }
}

/// Replaces in a file that no window shows, and saves it.
pub(crate) fn replace_in_file(
    replace: &Replace,
    file: &InFile,
    disk: &Disk<'_>,
) -> Result<ReplacedFile, String> {
    let mut replaced = None;
    let format = edit_file(&file.path, None, disk, |text| {
        let done = file.replace(replace, text)?;
        Ok(replaced.insert(done).edits.clone())
    })?;
    let replaced = replaced.map(|replaced| ReplacedFile { format, ..replaced });
    replaced.ok_or_else(|| format!("nothing was replaced in {}", file.path))
}

/// Takes back what was replaced in a file that no window shows, and saves it. Answers whether there was anything to do.
pub(crate) fn take_back_in_file(file: &ReplacedFile, disk: &Disk<'_>) -> Result<bool, String> {
    let before = edit_file(&file.path, file.format, disk, |text| file.take_back(text))?;
    Ok(before.is_some())
}

/// Loads a file, edits it and saves it in the encoding of `format`, or else in its own. Answers the format that it had,
/// where there was an edit.
fn edit_file(
    path: &AbsPath,
    format: Option<FileFormat>,
    disk: &Disk<'_>,
    edits: impl FnOnce(&str) -> Result<Vec<Edit>, String>,
) -> Result<Option<FileFormat>, String> {
    let loaded = load(disk.files, path, Binary::Refuse, &AtomicBool::new(false));
    let mut document = Document::from_loaded(loaded.map_err(|error| error.to_string())?);
    if !document.can_edit() {
        return Err(format!(
            "cannot replace in {path}: it cannot be written back"
        ));
    }
    let edits = edits(&document.snapshot().to_string())?;
    if edits.is_empty() {
        return Ok(None);
    }
    let before = document.format();
    if let Some(format) = format {
        document.set_format(FileFormat {
            line_endings: before.line_endings,
            ..format
        });
    }
    let origin = Origin::new(Author::User, EditKind::Other, disk.at);
    document.buffer_mut().edit(&edits, &origin);
    let options = SaveOptions::default();
    let job = document
        .prepare_save(SaveTarget::Own, options, disk.recovery, disk.at)
        .map_err(|error| error.to_string())?;
    let outcome = job.run(disk.files);
    document
        .accept_save(outcome)
        .map_err(|error| error.to_string())?;
    Ok(Some(before))
}

/// The text after edits, which are sorted and disjoint.
fn edited(text: &str, edits: &[Edit]) -> String {
    let mut after = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        after.push_str(&text[at..edit.span.start.0]);
        after.push_str(&edit.text);
        at = edit.span.end.0;
    }
    after.push_str(&text[at..]);
    after
}

fn inverse(text: &str, edits: &[Edit]) -> Vec<Edit> {
    let mut shift = Shift::default();
    let back = edits.iter().map(|edit| {
        let start = shift.place(edit.span.start.0);
        shift.pass(edit);
        let span = Span::from(start..start + edit.text.len());
        Edit::new(span, &text[edit.span.range()])
    });
    back.collect()
}

/// Where matches lie after edits that touch none of them.
fn moved<'a>(matches: &'a [TextMatch], edits: &'a [Edit]) -> impl Iterator<Item = TextMatch> + 'a {
    let mut shift = Shift::default();
    let mut edits = edits.iter().peekable();
    matches.iter().map(move |found| {
        while let Some(edit) = edits.next_if(|edit| edit.span.end <= found.span.start) {
            shift.pass(edit);
        }
        let (start, end) = (found.span.start.0, found.span.end.0);
        TextMatch {
            span: Span::from(shift.place(start)..shift.place(end)),
            groups: found.groups.clone(),
        }
    })
}

/// How far edits moved the text behind them.
#[derive(Default)]
struct Shift {
    added: usize,
    removed: usize,
}

impl Shift {
    fn pass(&mut self, edit: &Edit) {
        self.added += edit.text.len();
        self.removed += edit.span.len();
    }

    fn place(&self, offset: usize) -> usize {
        offset + self.added - self.removed
    }
}

#[cfg(test)]
mod tests;
