//! Replacing what a search found: in open texts as an edit that undo takes back, in closed files by
//! way of a document that is loaded, edited and saved.
//!
//! Blocks on the disk for closed files: runs in the background. Must not know: gpui.
//! Invariant: only matches in rows that were shown are replaced, whatever else the file holds now.
//! Start at `edits_for` and `replace_in_file`.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use base::{AbsPath, Row};
use caret::find::{LetterCase, Matcher, Query, Replacement};
use host::Files;
use project::{Binary, Document, SaveOptions, SaveTarget, load};
use text::{Author, Edit, EditKind, LineEnding, Origin, Snapshot, Timestamp};

/// What replaces what.
#[derive(Clone, Debug)]
pub(crate) struct Replace {
    /// What is looked for.
    pub query: Query,
    /// The template of the replacement, as typed.
    pub template: String,
}

/// The matches of one file that are to be replaced.
#[derive(Clone, Debug)]
pub(crate) struct InFile {
    /// The file.
    pub path: AbsPath,
    /// The rows whose matches count.
    pub rows: HashSet<Row>,
}

/// The edits that replace the matches in `rows` of a text.
pub(crate) fn edits_for(
    replace: &Replace,
    snapshot: &Snapshot,
    rows: &HashSet<Row>,
) -> Result<Vec<Edit>, String> {
    let matcher = replace.query.compile().map_err(|error| error.to_string())?;
    let ending = if snapshot_has_crlf(snapshot) {
        LineEnding::CrLf
    } else {
        LineEnding::Lf
    };
    let replacement = Replacement::parse(
        &replace.template,
        replace.query.pattern,
        LetterCase::AsTyped,
        ending,
    );
    let found = matcher.matches(snapshot, snapshot.full_span());
    let wanted = found.filter(|span| rows.contains(&snapshot.point_at(span.start).row));
    Ok(wanted
        .map(|span| matcher.replace(snapshot, span, &replacement))
        .collect())
}

fn snapshot_has_crlf(snapshot: &Snapshot) -> bool {
    let end = snapshot.row_end(Row(0));
    snapshot.row_count() > 1 && snapshot.row_start(Row(1)) - end == 2
}

/// Replaces in a file that no window shows, and saves it. Answers how many matches went.
pub(crate) fn replace_in_file(
    replace: &Replace,
    file: &InFile,
    files: &dyn Files,
    recovery: &AbsPath,
    at: Timestamp,
) -> Result<usize, String> {
    let loaded = load(files, &file.path, Binary::Refuse, &AtomicBool::new(false));
    let mut document = Document::from_loaded(loaded.map_err(|error| error.to_string())?);
    if !document.can_edit() {
        return Err(format!(
            "cannot replace in {}: it cannot be written back",
            file.path
        ));
    }
    let edits = edits_for(replace, &document.snapshot(), &file.rows)?;
    if edits.is_empty() {
        return Ok(0);
    }
    let origin = Origin::new(Author::User, EditKind::Other, at);
    document.buffer_mut().edit(&edits, &origin);
    let job = document
        .prepare_save(SaveTarget::Own, SaveOptions::default(), recovery, at)
        .map_err(|error| error.to_string())?;
    let outcome = job.run(files);
    document
        .accept_save(outcome)
        .map_err(|error| error.to_string())?;
    Ok(edits.len())
}

/// What becomes of one row, for the preview; `None` when the pattern cannot be read.
pub(crate) fn preview(matcher: &Matcher, replacement: &Replacement, row: &str) -> String {
    let snapshot = Snapshot::new(row);
    let mut text = String::with_capacity(row.len());
    let mut at = 0;
    for span in matcher.matches(&snapshot, snapshot.full_span()) {
        let edit = matcher.replace(&snapshot, span, replacement);
        text.push_str(row.get(at..span.start.0).unwrap_or_default());
        text.push_str(&edit.text);
        at = span.end.0;
    }
    text.push_str(row.get(at..).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use base::{AbsPath, Row};
    use caret::find::{Case, LetterCase, Pattern, Query, Replacement, WordBounds};
    use host::FakeFiles;
    use text::{LineEnding, Timestamp};

    use super::{InFile, Replace, preview, replace_in_file};

    fn query(text: &str, pattern: Pattern) -> Query {
        Query {
            text: text.to_owned(),
            pattern,
            case: Case::Sensitive,
            words: WordBounds::Anywhere,
        }
    }

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    #[test]
    fn only_the_wanted_rows_of_a_file_change() {
        let files = FakeFiles::new();
        files.write(&path("/p/a.rs"), "old(1)\r\nold(2)\r\nold(3)\r\n");
        let replace = Replace {
            query: query(r"old\((\d)\)", Pattern::Regex),
            template: "new<$1>".to_owned(),
        };
        let file = InFile {
            path: path("/p/a.rs"),
            rows: HashSet::from([Row(0), Row(2)]),
        };
        let count = replace_in_file(&replace, &file, &files, &path("/r"), Timestamp(1));
        assert_eq!(count, Ok(2));
        let text = files.content(&path("/p/a.rs")).expect("there");
        assert_eq!(
            String::from_utf8_lossy(&text),
            "new<1>\r\nold(2)\r\nnew<3>\r\n"
        );
    }

    #[test]
    fn a_missing_file_is_a_sentence() {
        let replace = Replace {
            query: query("x", Pattern::Literal),
            template: String::new(),
        };
        let file = InFile {
            path: path("/gone"),
            rows: HashSet::new(),
        };
        let result = replace_in_file(
            &replace,
            &file,
            &FakeFiles::new(),
            &path("/r"),
            Timestamp(1),
        );
        assert!(result.is_err_and(|sentence| sentence.contains("/gone")));
    }

    #[test]
    fn previews_show_the_row_to_be() {
        let query = query("(a)(b)", Pattern::Regex);
        let matcher = query.compile().expect("valid");
        let replacement =
            Replacement::parse("$2$1", Pattern::Regex, LetterCase::AsTyped, LineEnding::Lf);
        assert_eq!(preview(&matcher, &replacement, "xab ab y"), "xba ba y");
    }
}
