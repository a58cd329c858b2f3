//! Resolves mentions to the text that is added to the prompt: files, folders, symbols and changes.

use base::AbsPath;
use git::{FileStatus, Repository};
use host::FileKind;
use model::LineNumbers;

use super::mentions::{MentionKind, mentions};
use super::reading::{display_path, read_inside, truncate};
use crate::error::Error;
use crate::services::{CodeMatch, CodeSearch, SessionServices};

/// Maximum bytes added for one mention.
const MAX_MENTION_BYTES: usize = 40_000;
/// Maximum lines added for one mention.
const MAX_MENTION_LINES: usize = 1_500;
/// Maximum number of folder entries listed.
const MAX_FOLDER_ENTRIES: usize = 200;
/// Maximum number of locations added for one symbol.
const MAX_SYMBOL_PLACES: usize = 3;
/// Maximum number of locations added for a codebase mention.
const MAX_CODEBASE_PLACES: usize = 8;
/// The mention that searches the codebase for the whole prompt.
pub(crate) const CODEBASE: &str = "@codebase";
/// Maximum number of changed files whose diffs are shown.
const MAX_CHANGED_FILES: usize = 50;

/// The locations found for a symbol or a search of one mention.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeLocations {
    /// Name as written in the mention.
    pub name: String,
    /// Best matching locations, best first.
    pub places: Vec<CodeMatch>,
}

/// Looks up the names in a prompt that are not files, if there is an index. Never fails: an unknown
/// name is not a mention.
pub async fn symbols(sources: &SessionServices, root: &AbsPath, text: &str) -> Vec<CodeLocations> {
    let Some(search) = &sources.search else {
        return Vec::new();
    };
    let mut found: Vec<CodeLocations> = Vec::new();
    for mention in mentions(text) {
        if mention.kind == MentionKind::Codebase
            && let Some(places) = search_codebase(search.as_ref(), root, text).await
        {
            found.retain(|known| known.name != CODEBASE);
            found.push(places);
        }
        let MentionKind::Name { name, lines: None } = mention.kind else {
            continue;
        };
        let is_known = found.iter().any(|known| known.name == name);
        if is_known || !is_symbol(&name) || sources.files.exists(&root.join(&name)) {
            continue;
        }
        let wanted = name.trim_end_matches("()").to_owned();
        if let Ok(places) = search.symbols(root, wanted, MAX_SYMBOL_PLACES).await
            && !places.is_empty()
        {
            found.push(CodeLocations { name, places });
        }
    }
    found
}

/// Searches the codebase for the prompt without its mentions.
async fn search_codebase(
    search: &dyn CodeSearch,
    root: &AbsPath,
    text: &str,
) -> Option<CodeLocations> {
    let mut question = String::new();
    let mut at = 0;
    for mention in mentions(text) {
        if mention.kind == MentionKind::Codebase {
            question.push_str(&text[at..mention.at.start]);
            at = mention.at.end;
        }
    }
    question.push_str(&text[at..]);
    let question = question.trim().to_owned();
    let places = search
        .by_meaning(root, question, None, MAX_CODEBASE_PLACES)
        .await;
    Some(CodeLocations {
        name: CODEBASE.to_owned(),
        places: places.ok()?,
    })
}

/// Returns whether a name may be a program symbol: letters, digits and `_`, separated by `.`, `::`
/// or `#`.
fn is_symbol(name: &str) -> bool {
    let name = name.trim_end_matches("()");
    let is_letter = |letter: char| letter.is_alphanumeric() || "_.:#".contains(letter);
    name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && name.chars().all(is_letter)
}

/// Returns the text of a file or folder below the root for the prompt. `lines` (first and last,
/// from 1) limits a file to these lines, and `numbers` decides whether they are numbered. Returns
/// `None` if nothing below the root has that name, and an error if it cannot be read. Blocks on the
/// disk.
pub(crate) fn path_text(
    sources: &SessionServices,
    root: &AbsPath,
    name: &str,
    lines: Option<(u32, u32)>,
    numbers: LineNumbers,
) -> Option<Result<String, Error>> {
    let path = root.join(name);
    if !path.is_within(root) {
        let is_there = sources.files.exists(&path);
        return is_there.then(|| {
            Err(Error::MentionOutsideRoot {
                name: name.to_owned(),
                root: root.clone(),
            })
        });
    }
    if let Some(text) = sources
        .buffers
        .as_ref()
        .and_then(|buffers| buffers.text(&path))
    {
        return Some(Ok(file_text(
            &display_path(&path, root),
            &text,
            lines,
            numbers,
        )));
    }
    match sources.files.stat(&path).ok()?.kind {
        FileKind::File => {}
        FileKind::Folder => return Some(folder_text(sources, root, &path)),
        FileKind::BrokenLink | FileKind::Other => {
            return Some(Err(Error::NeitherFileNorFolder(name.to_owned())));
        }
    }
    let read = read_inside(sources.files.as_ref(), &path, root);
    let text = match read {
        Ok(text) => text?,
        Err(error) => return Some(Err(error)),
    };
    Some(Ok(file_text(
        &display_path(&path, root),
        &text.text,
        lines,
        numbers,
    )))
}

fn file_text(path: &str, text: &str, lines: Option<(u32, u32)>, numbers: LineNumbers) -> String {
    let count = text.lines().count();
    let (first, last) = match lines {
        Some((first, last)) => (first as usize, (last as usize).min(count)),
        None => (1, count),
    };
    if lines.is_some() && first > count {
        return format!("<file path=\"{path}\">\n[the file has only {count} lines]\n</file>\n");
    }
    if count == 0 {
        return format!("<file path=\"{path}\">\n[empty]\n</file>\n");
    }
    let end = last.min(first + MAX_MENTION_LINES - 1);
    let mut body = String::new();
    for (ix, line) in text.lines().enumerate().take(end).skip(first - 1) {
        body.push_str(&numbered(ix + 1, line, numbers));
    }
    if end < last {
        body.push_str(&format!(
            "[truncated: lines {first} to {end} of {last}; read the rest if you need it]\n"
        ));
    }
    let body = truncate(&body, MAX_MENTION_BYTES, path);
    let range = match lines {
        Some(_) => format!(" lines=\"{first}-{last}\" of=\"{count}\""),
        None => String::new(),
    };
    format!("<file path=\"{path}\"{range}>\n{body}</file>\n")
}

/// Formats a line with the line number style of the profile.
fn numbered(number: usize, line: &str, numbers: LineNumbers) -> String {
    match numbers {
        LineNumbers::None => format!("{line}\n"),
        LineNumbers::Tab => format!("{number:>6}\t{line}\n"),
        LineNumbers::Label => format!("L{number}: {line}\n"),
        LineNumbers::Hash => format!("{number}#{}|{line}\n", patch::anchor::line_hash(line)),
    }
}

/// Lists the entries of the folder `path` except `.git`, one a line, folders with a final `/`;
/// beyond `MAX_FOLDER_ENTRIES` only their number. The tag names the path relative to `root`. Fails
/// if the folder cannot be listed.
fn folder_text(sources: &SessionServices, root: &AbsPath, path: &AbsPath) -> Result<String, Error> {
    let listing = sources.files.list(path)?;
    let entries = listing
        .entries
        .iter()
        .filter(|entry| entry.path.name() != ".git");
    let names: Vec<String> = entries
        .map(|entry| match entry.kind {
            FileKind::Folder => format!("{}/", entry.path.name()),
            _ => entry.path.name(),
        })
        .collect();
    let mut body: String = names
        .iter()
        .take(MAX_FOLDER_ENTRIES)
        .map(|name| format!("{name}\n"))
        .collect();
    if let Some(more @ 1..) = names.len().checked_sub(MAX_FOLDER_ENTRIES) {
        body.push_str(&format!("[and {more} more]\n"));
    }
    if names.is_empty() {
        body.push_str("[empty]\n");
    }
    let path = display_path(path, root);
    Ok(format!("<folder path=\"{path}\">\n{body}</folder>\n"))
}

/// Formats the locations of a symbol for the prompt.
pub(crate) fn locations_text(found: &CodeLocations) -> String {
    let body = body_of(found);
    match found.name.as_str() {
        CODEBASE => format!("<codebase>\n{body}</codebase>\n"),
        name => format!("<symbol name=\"{name}\">\n{body}</symbol>\n"),
    }
}

fn body_of(found: &CodeLocations) -> String {
    let mut body = String::new();
    let most = if found.name == CODEBASE {
        MAX_CODEBASE_PLACES
    } else {
        MAX_SYMBOL_PLACES
    };
    for place in found.places.iter().take(most) {
        let (first, last) = place.lines;
        let symbol = place.symbol.as_deref().unwrap_or(&found.name);
        let text = truncate(&place.text, MAX_MENTION_BYTES / most, &place.path);
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        body.push_str(&format!(
            "{symbol} in {}:{first}-{last}\n{text}{newline}",
            place.path
        ));
    }
    body
}

/// Returns the difference of the working tree from the last commit as a unified diff, limited to
/// files below `root` and without ignored ones. Blocks on the disk.
pub(crate) fn diff_text(sources: &SessionServices, root: &AbsPath) -> Result<String, Error> {
    let repository = Repository::discover(root)?;
    let statuses = repository.statuses()?;
    let mut changed: Vec<(&AbsPath, FileStatus)> = statuses
        .files()
        .filter(|(path, status)| *status != FileStatus::Ignored && path.is_within(root))
        .collect();
    changed.sort_by_key(|(path, _)| (*path).clone());
    let mut body = String::new();
    for (path, status) in changed.iter().take(MAX_CHANGED_FILES) {
        let before = repository.head_bytes(path)?;
        let after = match status {
            FileStatus::Deleted => None,
            _ => sources.files.read(path, 1 << 20).ok(),
        };
        body.push_str(&unified(
            &display_path(path, root),
            before.as_deref(),
            after.as_deref(),
        ));
    }
    if let Some(more @ 1..) = changed.len().checked_sub(MAX_CHANGED_FILES) {
        body.push_str(&format!("[and {more} more changed files]\n"));
    }
    if changed.is_empty() {
        body.push_str("[no changes]\n");
    }
    let body = truncate(&body, MAX_MENTION_BYTES, "the changes");
    Ok(format!("<diff against=\"HEAD\">\n{body}</diff>\n"))
}

/// Returns the unified diff of two contents with three lines of context.
fn unified(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let is_binary = |bytes: Option<&[u8]>| bytes.is_some_and(|bytes| bytes.contains(&0));
    let side = |prefix: &str, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{prefix}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let mut whole = format!("--- {}\n+++ {}\n", side("a", before), side("b", after));
    if is_binary(before) || is_binary(after) {
        whole.push_str("[no text]\n");
        return whole;
    }
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (before, after) = (text(before), text(after));
    let (old, new) = (text::Snapshot::new(&before), text::Snapshot::new(&after));
    let old_lines: Vec<&str> = before.lines().collect();
    let new_lines: Vec<&str> = after.lines().collect();
    let hunks = old.diff_rows(&new);
    let mut at = 0;
    while at < hunks.len() {
        // Changes with touching context form one hunk.
        let mut end = at + 1;
        while end < hunks.len() && hunks[end].before.start.0 <= hunks[end - 1].before.end.0 + 6 {
            end += 1;
        }
        whole.push_str(&hunk(&hunks[at..end], &old_lines, &new_lines));
        at = end;
    }
    whole
}

fn hunk(changes: &[text::RowHunk], old: &[&str], new: &[&str]) -> String {
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return String::new();
    };
    let around = first.before.start.0.min(3);
    let old_start = first.before.start.0 - around;
    let new_start = first.after.start.0 - around;
    let behind = (old.len() as u32).saturating_sub(last.before.end.0).min(3);
    let old_end = last.before.end.0 + behind;
    let new_end = last.after.end.0 + behind;
    let mut body = format!(
        "@@ -{},{} +{},{} @@\n",
        old_start + 1,
        old_end - old_start,
        new_start + 1,
        new_end - new_start
    );
    let mut push = |sign: char, lines: &[&str], rows: std::ops::Range<u32>| {
        for row in rows {
            let line = lines.get(row as usize).copied().unwrap_or_default();
            body.push_str(&format!("{sign}{line}\n"));
        }
    };
    let mut at = old_start;
    for change in changes {
        push(' ', old, at..change.before.start.0);
        push('-', old, change.before.start.0..change.before.end.0);
        push('+', new, change.after.start.0..change.after.end.0);
        at = change.before.end.0;
    }
    push(' ', old, at..old_end);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_follow_the_profile() {
        let check = |numbers: LineNumbers, expected: &str| {
            assert_eq!(numbered(7, "let x;", numbers), expected);
        };
        check(LineNumbers::None, "let x;\n");
        check(LineNumbers::Tab, "     7\tlet x;\n");
        check(LineNumbers::Label, "L7: let x;\n");
        check(
            LineNumbers::Hash,
            &format!("7#{}|let x;\n", patch::anchor::line_hash("let x;")),
        );
    }

    #[test]
    fn file_text_has_the_requested_lines() {
        let check = |lines: Option<(u32, u32)>, expected: &str| {
            let text = file_text("a", "one\ntwo\nthree\n", lines, LineNumbers::Label);
            assert_eq!(text, expected);
        };
        check(
            None,
            "<file path=\"a\">\nL1: one\nL2: two\nL3: three\n</file>\n",
        );
        check(
            Some((2, 2)),
            "<file path=\"a\" lines=\"2-2\" of=\"3\">\nL2: two\n</file>\n",
        );
        check(
            Some((3, 9)),
            "<file path=\"a\" lines=\"3-3\" of=\"3\">\nL3: three\n</file>\n",
        );
        check(
            Some((4, 9)),
            "<file path=\"a\">\n[the file has only 3 lines]\n</file>\n",
        );
        let long = "x\n".repeat(2_000);
        let text = file_text("a", &long, None, LineNumbers::None);
        assert!(text.contains("[truncated: lines 1 to 1500 of 2000;"));
    }

    #[test]
    fn diff_matches_git_format() {
        let check = |before: Option<&str>, after: Option<&str>, expected: &str| {
            let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
            let (before, after) = (bytes(before), bytes(after));
            assert_eq!(unified("f", before.as_deref(), after.as_deref()), expected);
        };
        check(
            Some("1\n2\n3\n4\n5\n6\n7\n8\n"),
            Some("1\n2\n3\n4\nfive\n6\n7\n8\n"),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
        );
        check(
            None,
            Some("a\n"),
            "--- /dev/null\n+++ b/f\n@@ -1,0 +1,1 @@\n+a\n",
        );
        check(
            Some("a\n"),
            None,
            "--- a/f\n+++ /dev/null\n@@ -1,1 +1,0 @@\n-a\n",
        );
        check(Some("\0"), Some("b"), "--- a/f\n+++ b/f\n[no text]\n");
    }

    #[test]
    fn symbol_names_are_recognised() {
        for name in ["Cart", "Cart.total", "a::b::c", "total()", "_x", "größe"] {
            assert!(is_symbol(name), "{name}");
        }
        for name in ["types/node", "a b", "-x", "3d", "a.rs/", "x(y)"] {
            assert!(!is_symbol(name), "{name}");
        }
    }
}
