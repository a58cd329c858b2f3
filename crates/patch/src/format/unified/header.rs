//! Headers of files and hunks in a unified diff.

use base::Row;

use crate::edit::PatchOperation;
use crate::format::sink::empty_update;

/// The line numbers of a hunk header such as `@@ -3,7 +3,8 @@`, as the model wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) struct HunkHeader {
    /// First line, one-based, and number of lines.
    pub(super) old: (u32, u32),
    pub(super) new: (u32, u32),
}

impl HunkHeader {
    /// Parses a hunk header; `None` if it has no numbers.
    pub(in crate::format) fn read(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("@@")?.trim_start();
        let (old, rest) = range(rest.strip_prefix('-')?)?;
        let (new, rest) = range(rest.trim_start().strip_prefix('+')?)?;
        rest.trim_start()
            .starts_with("@@")
            .then_some(Self { old, new })
    }

    /// Returns the row, from 0, at which the old lines begin, or before which lines are inserted.
    /// Returns `None` for the line number 0.
    pub(in crate::format) fn row(&self) -> Option<Row> {
        let (line, count) = self.old;
        Some(Row(if count == 0 {
            line
        } else {
            line.checked_sub(1)?
        }))
    }

    /// Returns the text of a header without numbers, such as `@@ fn main` or `@@ ... @@ fn main`.
    pub(super) fn header_text(line: &str) -> Option<String> {
        let words = line.trim_matches('@').trim();
        let words = words.rsplit_once("@@").map_or(words, |(_, words)| words);
        let words = words.trim_start_matches("...").trim();
        (!words.is_empty()).then(|| words.to_owned())
    }
}

/// Parses `3,7` or `3`, and returns the rest.
fn range(text: &str) -> Option<((u32, u32), &str)> {
    let (line, rest) = number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => {
            let (count, rest) = number(rest)?;
            Some(((line, count), rest))
        }
        None => Some(((line, 1), rest)),
    }
}

/// Parses the digits at the start, and returns the rest; `None` if there are none or the number is
/// too large.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|sign: char| !sign.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// Content of the headers of one file.
#[derive(Default)]
pub(super) struct HeaderNames {
    /// Name as written, including its prefix; `None` if missing or `/dev/null`.
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    pub(super) renamed_from: Option<String>,
    pub(super) renamed_to: Option<String>,
    pub(super) is_git: bool,
    pub(super) has_old: bool,
    pub(super) is_new: bool,
    pub(super) is_gone: bool,
    pub(super) is_mode_only: bool,
}

impl HeaderNames {
    /// Returns the path and the operation on it; `None` if no header names a file.
    pub(super) fn target(&self) -> Option<(String, PatchOperation)> {
        if let (Some(from), Some(to)) = (&self.renamed_from, &self.renamed_to) {
            let change = PatchOperation::Update {
                hunks: Vec::new(),
                move_to: Some(to.clone()),
            };
            return Some((from.clone(), change));
        }
        match (&self.old, &self.new) {
            (None, None) => None,
            (Some(old), None) => Some((without_prefix(old, "ai"), deleted())),
            (None, Some(new)) => Some((without_prefix(new, "bw"), created())),
            (Some(old), Some(new)) => {
                let (_, path) = without_prefixes(old, new);
                let change = match (self.is_new, self.is_gone) {
                    (true, _) => created(),
                    (_, true) => deleted(),
                    _ => empty_update(),
                };
                Some((path, change))
            }
        }
    }

    /// Whether the two names denote different files without a rename.
    pub(super) fn differ(&self) -> bool {
        let is_rename = self.renamed_to.is_some();
        let (Some(old), Some(new)) = (&self.old, &self.new) else {
            return false;
        };
        let (old, new) = without_prefixes(old, new);
        !is_rename && old != new
    }

    /// Whether the headers describe a change even without a hunk.
    pub(super) fn says_something(&self) -> bool {
        self.renamed_to.is_some() || self.is_new || self.is_gone
    }
}

fn created() -> PatchOperation {
    PatchOperation::Create {
        text: String::new(),
    }
}

/// Returns a deletion that requires the quoted content.
fn deleted() -> PatchOperation {
    PatchOperation::Delete {
        content: Some(String::new()),
    }
}

/// Prefixes that Git puts before the two names of a file.
const PREFIXES: [(&str, &str); 5] = [
    ("a/", "b/"),
    ("i/", "w/"),
    ("c/", "i/"),
    ("c/", "w/"),
    ("o/", "w/"),
];

/// Strips the prefixes that Git puts before the two names of a file. Strips neither unless both
/// have one of the same pair.
fn without_prefixes(old: &str, new: &str) -> (String, String) {
    let bare = PREFIXES
        .iter()
        .find_map(|(a, b)| Some((old.strip_prefix(a)?, new.strip_prefix(b)?)));
    let (old, new) = bare.unwrap_or((old, new));
    (old.to_owned(), new.to_owned())
}

/// Strips a Git prefix from the only name of a file.
fn without_prefix(name: &str, prefixes: &str) -> String {
    let bare = name
        .split_once('/')
        .filter(|(first, _)| first.len() == 1 && prefixes.contains(first));
    bare.map_or(name, |(_, bare)| bare).to_owned()
}

/// Returns the name after `---` or `+++`, without a timestamp.
pub(super) fn name(text: &str) -> Option<String> {
    let text = if text.starts_with('"') {
        text
    } else {
        text.split('\t').next().unwrap_or(text)
    };
    let name = unquoted(text.trim_end());
    (name != "/dev/null" && !name.is_empty()).then_some(name)
}

/// Returns the two names after `diff --git`: they are equal except for the prefix, or quoted, or
/// one of them follows in its own header.
pub(super) fn git_names(text: &str) -> (Option<String>, Option<String>) {
    if let Some(quoted) = text.strip_prefix('"') {
        let end = end_of_quotes(quoted);
        let (old, new) = quoted.split_at(end);
        let old = unquoted(&format!("\"{old}\""));
        return (Some(old), name(new.trim_start_matches('"').trim()));
    }
    let halves = text.match_indices(' ').find_map(|(at, _)| {
        let (old, new) = (&text[..at], unquoted(&text[at + 1..]));
        let (bare_old, bare_new) = without_prefixes(old, &new);
        (bare_old == bare_new).then(|| (old.to_owned(), new))
    });
    match halves.or_else(|| {
        let (old, new) = text.split_once(' ')?;
        Some((old.to_owned(), unquoted(new)))
    }) {
        Some((old, new)) => (Some(old), Some(new)),
        None => (None, None),
    }
}

/// Returns the byte offset of the first `"` that no backslash escapes; the length of the text if
/// there is none.
fn end_of_quotes(text: &str) -> usize {
    let mut is_escaped = false;
    text.find(|sign| {
        let ends = sign == '"' && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        ends
    })
    .unwrap_or(text.len())
}

/// Decodes a name quoted like a C string with octal bytes; any other name is unchanged.
pub(super) fn unquoted(text: &str) -> String {
    let Some(quoted) = text.strip_prefix('"') else {
        return text.to_owned();
    };
    let quoted = &quoted[..end_of_quotes(quoted)];
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|digit| matches!(digit, b'0'..=b'7')) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
