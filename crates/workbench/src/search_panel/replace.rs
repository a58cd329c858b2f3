//! Replaces search results: in open texts as an undoable edit, in closed files by loading, editing
//! and saving a document.
//!
//! Blocks on the disk for closed files, so it runs in the background. Must not know: gpui.
//! Invariant: exactly the byte ranges of the results are replaced, and only in the text that was
//! searched; the replacement expands the groups of the search, as in the preview.
//! Start at `preview`, `FileReplacement::replace` and `replace_in_file`.

use std::sync::atomic::AtomicBool;

use base::{AbsPath, Span};
use caret::find::{LetterCase, Matcher, PatternKind, ReplacementTemplate};
use host::{ContentHash, Files};
use project::search::{FileMatches, MatchingRow, TextMatch};
use project::{Binary, Document, SaveOptions, SaveTarget, load};
use text::{Author, Edit, EditKind, EditOrigin, FileFormat, LineEnding, Timestamp};

use crate::error::Error;
use crate::reread::load_as;

/// Replacement for the results of a search.
#[derive(Clone, Debug)]
pub(crate) struct Replacer {
    /// Matcher of the search.
    pub matcher: Matcher,
    /// Kind of the pattern, which also determines the syntax of the template.
    pub pattern: PatternKind,
    /// Replacement template, as typed.
    pub template: String,
}

/// Matches to replace in one file.
#[derive(Clone, Debug)]
pub(crate) struct FileReplacement {
    /// Path of the file.
    pub path: AbsPath,
    /// Hash of the text that was searched.
    pub content: ContentHash,
    /// Line ending that replaces line feeds in the template.
    pub line_ending: LineEnding,
    /// Matches to replace, sorted and disjoint.
    pub matches: Vec<TextMatch>,
    /// Remaining matches of the file, sorted and disjoint.
    pub rest: Vec<TextMatch>,
    /// Rows of context around a match in the results.
    pub context_rows: usize,
}

/// Record of the replacement in one file, for undoing it.
#[derive(Clone, Debug)]
pub(crate) struct ReplacedFile {
    /// Path of the file.
    pub path: AbsPath,
    /// Edits applied to the text.
    pub edits: Vec<Edit>,
    /// Edits that restore the original text.
    pub inverse: Vec<Edit>,
    /// Hash of the original text.
    pub before: ContentHash,
    /// Hash of the text after the replacement.
    pub after: ContentHash,
    /// Remaining results of the file.
    pub rest: Option<FileMatches>,
    /// Original encoding of a closed file, which may not be detectable from the new text.
    pub format: Option<FileFormat>,
}

/// Access to closed files.
pub(crate) struct DiskWriter<'a> {
    /// File system to use.
    pub files: &'a dyn Files,
    /// Folder for recovery records.
    pub recovery: &'a AbsPath,
    /// Time stamp of the edits.
    pub at: Timestamp,
}

impl Replacer {
    fn replacement(&self, line_ending: LineEnding) -> ReplacementTemplate {
        ReplacementTemplate::parse(
            &self.template,
            self.pattern,
            LetterCase::AsTyped,
            line_ending,
        )
    }
}

/// Returns a row after the replacement, including its line ending if that remains. Truncated
/// matches stay unchanged.
pub(crate) fn preview(replace: &Replacer, line_ending: LineEnding, row: &MatchingRow) -> String {
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

impl FileReplacement {
    /// Returns the edits that replace the matches in `text`, without applying them. Fails if `text`
    /// is not the text that was searched.
    pub(crate) fn replace(&self, replace: &Replacer, text: &str) -> Result<ReplacedFile, Error> {
        if ContentHash::of(text.as_bytes()) != self.content {
            return Err(Error::ChangedSinceSearch(self.path.clone()));
        }
        let replacement = replace.replacement(self.line_ending);
        let edit = |found: &TextMatch| {
            let old = text.get(found.span.range())?;
            let new = replace.matcher.expand(old, &found.groups, &replacement);
            Some(Edit::new(found.span, new))
        };
        let edits: Option<Vec<Edit>> = self.matches.iter().map(edit).collect();
        let Some(edits) = edits else {
            base::never!("a match of {} is outside its text", self.path);
            return Err(Error::NotReplaced(self.path.clone()));
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
    /// Returns the edits that undo the replacement in `text`; none if it is already undone. Fails
    /// if the text changed since.
    pub(crate) fn take_back(&self, text: &str) -> Result<Vec<Edit>, Error> {
        let content = ContentHash::of(text.as_bytes());
        if content == self.after {
            return Ok(self.inverse.clone());
        }
        if content == self.before {
            return Ok(Vec::new());
        }
        Err(Error::ChangedSinceReplace(self.path.clone()))
    }
}

/// Replaces matches in a file that is not open, and saves it.
pub(crate) fn replace_in_file(
    replace: &Replacer,
    file: &FileReplacement,
    disk: &DiskWriter<'_>,
) -> Result<ReplacedFile, Error> {
    let mut replaced = None;
    let format = edit_file(&file.path, None, disk, |text| {
        let done = file.replace(replace, text)?;
        Ok(replaced.insert(done).edits.clone())
    })?;
    let replaced = replaced.map(|replaced| ReplacedFile { format, ..replaced });
    replaced.ok_or_else(|| Error::NotReplaced(file.path.clone()))
}

/// Undoes a replacement in a file that is not open, and saves it. Returns `true` if it changed the
/// file, and `false` if the replacement was already undone. Fails if the file changed after the
/// replacement.
pub(crate) fn take_back_in_file(file: &ReplacedFile, disk: &DiskWriter<'_>) -> Result<bool, Error> {
    let before = edit_file(&file.path, file.format, disk, |text| file.take_back(text))?;
    Ok(before.is_some())
}

/// Loads a file, edits it and saves it, in the encoding of `format` or else in its own. Returns the
/// original format if there were edits.
fn edit_file(
    path: &AbsPath,
    format: Option<FileFormat>,
    disk: &DiskWriter<'_>,
    edits: impl FnOnce(&str) -> Result<Vec<Edit>, Error>,
) -> Result<Option<FileFormat>, Error> {
    let loaded = load(disk.files, path, Binary::Refuse, &AtomicBool::new(false));
    let mut loaded = loaded?;
    if let Some(format) = format
        && loaded.format.encoding != format.encoding
    {
        // Replaced text may look like text in another encoding than the one it was written in.
        loaded = load_as(disk.files, path.clone(), format.encoding)?;
    }
    let mut document = Document::from_loaded(loaded);
    if !document.can_edit() {
        return Err(Error::NotWritable(path.clone()));
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
    let origin = EditOrigin::new(Author::User, EditKind::Other, disk.at);
    document.buffer_mut().edit(&edits, &origin);
    let options = SaveOptions::default();
    let job = document.prepare_save(SaveTarget::Own, options, disk.recovery, disk.at)?;
    let outcome = job.run(disk.files);
    document.accept_save(outcome)?;
    Ok(Some(before))
}

/// Applies sorted, disjoint edits to a text.
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
    let mut shift = OffsetShift::default();
    let back = edits.iter().map(|edit| {
        let start = shift.shifted(edit.span.start.0);
        shift.pass(edit);
        let span = Span::from(start..start + edit.text.len());
        Edit::new(span, &text[edit.span.range()])
    });
    back.collect()
}

/// Maps matches through edits that do not touch them.
fn moved<'a>(matches: &'a [TextMatch], edits: &'a [Edit]) -> impl Iterator<Item = TextMatch> + 'a {
    let mut shift = OffsetShift::default();
    let mut edits = edits.iter().peekable();
    matches.iter().map(move |found| {
        while let Some(edit) = edits.next_if(|edit| edit.span.end <= found.span.start) {
            shift.pass(edit);
        }
        let (start, end) = (found.span.start.0, found.span.end.0);
        TextMatch {
            span: Span::from(shift.shifted(start)..shift.shifted(end)),
            groups: found.groups.clone(),
        }
    })
}

/// Accumulated offset shift caused by edits.
#[derive(Default)]
struct OffsetShift {
    added: usize,
    removed: usize,
}

impl OffsetShift {
    fn pass(&mut self, edit: &Edit) {
        self.added += edit.text.len();
        self.removed += edit.span.len();
    }

    /// Converts an offset in the text before the passed edits to one after them.
    fn shifted(&self, offset: usize) -> usize {
        offset + self.added - self.removed
    }
}

#[cfg(test)]
mod tests;
