//! Links in the text of a terminal: hyperlinks (OSC 8), addresses, and paths in the forms of compilers and other tools.
//!
//! Knows: text alone. Whether a path exists is the caller's question.

use std::ops::Range;
use std::sync::LazyLock;

use base::AbsPath;
use regex::{Captures, Regex};

use crate::position::{CellPosition, CellSpan, LineNumber};
use crate::reported_folder::local_file;

/// The target of a hyperlink that may be opened after the user saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalLink {
    /// An address of `http` or `https`.
    Web(String),
    /// A file on this machine.
    File(AbsPath),
}

/// A path in a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLink {
    /// The bytes of the line to underline: the path with its position.
    pub span: Range<usize>,
    /// The path as written: relative to the folder of the command, or absolute. Begins with `~/` for the home folder.
    pub path: String,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1.
    pub column: Option<u32>,
}

/// An address in a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlLink {
    /// The bytes of the line.
    pub span: Range<usize>,
    /// The address.
    pub url: String,
}

/// Rows joined into the line that the program printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalLine {
    /// The line of its first row.
    pub first: LineNumber,
    /// The text, without blanks at the end.
    pub text: String,
    /// The byte of each cell's character, with the cell; sorted.
    pub(crate) cells: Vec<(usize, CellPosition)>,
}

/// Returns the target of a hyperlink if it may be opened: `http` and `https` addresses, and files of this machine.
/// `host_name` is the name of this machine.
pub fn link_target(uri: &str, host_name: Option<&str>) -> Option<TerminalLink> {
    if uri.len() > MAX_LINK || uri.chars().any(char::is_control) {
        return None;
    }
    let scheme = uri
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme?.as_str() {
        "http" | "https" => Some(TerminalLink::Web(uri.to_owned())),
        "file" => local_file(uri, host_name).map(TerminalLink::File),
        _ => None,
    }
}

/// Returns the paths in a line, in the forms of rustc, gcc, Go, Python, Node and diffs, from left to right.
pub fn find_paths(line: &str) -> Vec<PathLink> {
    let line = head(line);
    if let Some(found) = diff_paths(line) {
        return found;
    }
    let mut links: Vec<PathLink> = PYTHON
        .captures_iter(line)
        .map(|found| quoted_link(&found))
        .collect();
    for found in PATH.captures_iter(line) {
        let link = path_link(line, &found);
        let is_new = |link: &PathLink| {
            !links
                .iter()
                .any(|other| other.span.start < link.span.end && link.span.start < other.span.end)
        };
        links.extend(link.filter(is_new));
    }
    links.sort_by_key(|link| link.span.start);
    links
}

/// Returns the `http` and `https` addresses in a line, from left to right.
pub fn find_urls(line: &str) -> Vec<UrlLink> {
    let found = URL.find_iter(head(line));
    found
        .map(|found| {
            let length = url_length(found.as_str());
            UrlLink {
                span: found.start()..found.start() + length,
                url: found.as_str()[..length].to_owned(),
            }
        })
        .collect()
}

/// Bytes of a hyperlink.
const MAX_LINK: usize = 2_083;
/// Bytes of a line that are searched for links.
const MAX_LINE: usize = 64 << 10;

/// `File "x.py", line 3` of Python's tracebacks.
static PYTHON: LazyLock<Regex> = LazyLock::new(|| pattern(r#"File "([^"]+)", line (\d+)"#));

/// A path, possibly with a position: `a/b.rs:12:3`, `a/b.ts(3,4)`. Its first character is no separator of words.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:file://)?([^\s"'`()\[\]{}<>|:;,*?!=&│┃]+)"#,
        r"(?::(\d+)(?::(\d+))?|\((\d+)(?:, ?(\d+))?\))?"
    ))
});

static URL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)\bhttps?://[^\s"'<>`{}|\\^\p{Cc}]+"#));

#[expect(
    clippy::unwrap_used,
    reason = "the patterns are constant, and each has tests"
)]
fn pattern(source: &str) -> Regex {
    Regex::new(source).unwrap()
}

/// Returns the part of a line that is searched.
fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE)]
}

/// Returns the length of an address without the punctuation of the sentence around it.
fn url_length(url: &str) -> usize {
    let mut end = url.len();
    while let Some(last) = url[..end].chars().next_back() {
        let opening = match last {
            ')' => Some('('),
            ']' => Some('['),
            '.' | ',' | ';' | ':' | '!' | '?' => None,
            _ => break,
        };
        let count = |letter: char| url[..end].matches(letter).count();
        if opening.is_some_and(|opening| count(opening) >= count(last)) {
            break;
        }
        end -= last.len_utf8();
    }
    end
}

/// Returns the paths of a diff's headers without the prefixes `a/` and `b/`; `None` if the line is no header.
fn diff_paths(line: &str) -> Option<Vec<PathLink>> {
    let link = |text: &str, at: usize| {
        let path = text
            .strip_prefix("a/")
            .or_else(|| text.strip_prefix("b/"))
            .unwrap_or(text);
        let start = at + text.len() - path.len();
        (path != "/dev/null" && !path.is_empty()).then(|| PathLink {
            span: start..start + path.len(),
            path: path.to_owned(),
            line: None,
            column: None,
        })
    };
    if let Some(rest) = line.strip_prefix("diff --git ") {
        let at = line.len() - rest.len();
        let middle = rest.find(" b/")?;
        let links = [
            link(&rest[..middle], at),
            link(&rest[middle + 1..], at + middle + 1),
        ];
        return Some(links.into_iter().flatten().collect());
    }
    let prefixes = [
        "--- ",
        "+++ ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    let prefix = prefixes.iter().find(|prefix| line.starts_with(**prefix))?;
    // A time may follow after a tab.
    let text = line[prefix.len()..].split('\t').next().unwrap_or_default();
    Some(link(text, prefix.len()).into_iter().collect())
}

fn quoted_link(found: &Captures) -> PathLink {
    let text = |group: usize| found.get(group).map_or("", |group| group.as_str());
    let start = found.get(1).map_or(0, |group| group.start());
    let end = found.get(2).map_or(0, |group| group.end());
    PathLink {
        span: start..end,
        path: text(1).to_owned(),
        line: text(2).parse().ok(),
        column: None,
    }
}

/// Returns the link of a match of `PATH` if it looks like a path.
fn path_link(line: &str, found: &Captures) -> Option<PathLink> {
    let path = found.get(1)?;
    let number = |groups: [usize; 2]| {
        let group = groups.into_iter().find_map(|group| found.get(group));
        group.and_then(|group| group.as_str().parse::<u32>().ok())
    };
    let position = number([2, 4]);
    let text = match position {
        Some(_) => path.as_str(),
        None => path.as_str().trim_end_matches('.'),
    };
    if !is_path(text) || (text.starts_with("//") && line[..path.start()].ends_with(':')) {
        return None;
    }
    let end = match position {
        Some(_) => found.get(0)?.end(),
        None => path.start() + text.len(),
    };
    Some(PathLink {
        span: path.start()..end,
        path: text.to_owned(),
        line: position,
        column: number([3, 5]),
    })
}

/// Returns whether a word looks like a path: it has a separator and a name, or a name with an extension.
fn is_path(text: &str) -> bool {
    let has_name = text.chars().any(char::is_alphanumeric);
    let extension = text.rsplit_once('.').filter(|(name, _)| !name.is_empty());
    let has_extension = extension.is_some_and(|(_, extension)| {
        (1..=10).contains(&extension.len())
            && extension.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && extension
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric())
    });
    has_name && (text.contains('/') || has_extension)
}

impl LogicalLine {
    /// Returns the byte of the character at a cell; `None` if the cell is not in the line or behind its text.
    pub fn byte_at(&self, position: CellPosition) -> Option<usize> {
        let after = self.cells.partition_point(|(_, cell)| *cell <= position);
        let (byte, cell) = self.cells.get(after.checked_sub(1)?)?;
        // The second cell of a wide character, or one that a tab skipped, belongs to the character before.
        let is_last = after == self.cells.len();
        let is_inside = cell.line == position.line
            && (!is_last || position.column <= cell.column.saturating_add(1));
        is_inside.then_some(*byte)
    }

    /// Returns the cells of some bytes of the text, one span for each row.
    pub fn spans(&self, bytes: Range<usize>) -> Vec<CellSpan> {
        let mut spans: Vec<CellSpan> = Vec::new();
        let is_inside = |(byte, _): &&(usize, CellPosition)| bytes.contains(byte);
        for (_, cell) in self.cells.iter().filter(is_inside) {
            match spans.last_mut().filter(|last| last.last.line == cell.line) {
                Some(last) => last.last = *cell,
                None => spans.push(CellSpan {
                    start: *cell,
                    last: *cell,
                }),
            }
        }
        spans
    }
}

#[cfg(test)]
mod tests;
