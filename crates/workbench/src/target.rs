//! A location in a file as users and tools write it: `path`, `path:12`, `path:12:5`, `path(12,5)`.
//!
//! Pure text. Must not know: whether the file exists. Start at `Target::parse`.

/// A path with an optional line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path as written, without line and column.
    pub path: String,
    /// Line and column to go to.
    pub place: Option<LineColumn>,
}

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line number, counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
}

impl Target {
    /// Splits a line and column off the end of `text`, and trims blanks at both ends. Other
    /// suffixes belong to the path. Never fails: without a position, the whole text is the path.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let (path, place) = colons(text)
            .or_else(|| parenthesis(text))
            .or_else(|| fragment(text))
            .unwrap_or((text, None));
        Self {
            path: path.to_owned(),
            place,
        }
    }
}

impl LineColumn {
    /// Creates a line and column, each at least 1.
    pub fn new(line: u32, column: u32) -> Self {
        Self {
            line: line.max(1),
            column: column.max(1),
        }
    }

    /// Parses `12`, `12:5` or `12,5`. A missing column counts as 1. Returns `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches([':', ',']);
        let (line, column) = match text.split_once([':', ',']) {
            Some((line, column)) => (line, number(column.trim())?),
            None => (text, 1),
        };
        Some(Self::new(number(line.trim())?, column))
    }
}

/// Parses `path:12` and `path:12:5`, ignoring text after a further colon, as compilers print it.
fn colons(text: &str) -> Option<(&str, Option<LineColumn>)> {
    let mut at = 0;
    while let Some(found) = text[at..].find(':') {
        let colon = at + found;
        let mut parts = text[colon + 1..].split(':');
        let line = parts.next().and_then(number);
        if let (Some(line), true) = (line, colon > 0) {
            let column = parts.next().and_then(number).unwrap_or(1);
            return Some((&text[..colon], Some(LineColumn::new(line, column))));
        }
        at = colon + 1;
    }
    // `path:` occurs while the user types `path:12`.
    text.strip_suffix(':')
        .filter(|p| !p.is_empty())
        .map(|path| (path, None))
}

/// Parses `path(12)` and `path(12,5)`. Returns `None` for other texts.
fn parenthesis(text: &str) -> Option<(&str, Option<LineColumn>)> {
    let (path, inside) = text.strip_suffix(')')?.rsplit_once('(')?;
    let place = LineColumn::parse(inside)?;
    (!path.is_empty()).then_some((path, Some(place)))
}

/// Parses `path#L12` and `path#L12-L20`, of which only the first line counts. Returns `None` for
/// other texts.
fn fragment(text: &str) -> Option<(&str, Option<LineColumn>)> {
    let (path, line) = text.rsplit_once("#L")?;
    let line = number(line.split('-').next()?)?;
    (!path.is_empty()).then_some((path, Some(LineColumn::new(line, 1))))
}

/// Parses ASCII digits. Returns `None` for other texts, and `u32::MAX` for larger numbers.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // A number that overflows means the last line.
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
