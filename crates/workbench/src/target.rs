//! A place in a file as people and tools write it: `path`, `path:12`, `path:12:5`, `path(12,5)`.
//!
//! Pure text. Must not know: whether the file exists. Start at `Target::parse`.

/// A path and the place in it that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The path as written, without the place.
    pub path: String,
    /// Where to go.
    pub place: Option<Place>,
}

/// A line and a column as people count: from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
}

impl Target {
    /// Splits a place off the end of `text`. What does not look like one belongs to the path.
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

impl Place {
    /// A line and a column, each at least 1.
    pub fn new(line: u32, column: u32) -> Self {
        Self {
            line: line.max(1),
            column: column.max(1),
        }
    }

    /// Reads `12`, `12:5` or `12,5`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches([':', ',']);
        let (line, column) = match text.split_once([':', ',']) {
            Some((line, column)) => (line, number(column.trim())?),
            None => (text, 1),
        };
        Some(Self::new(number(line.trim())?, column))
    }
}

/// `path:12`, `path:12:5`, with more text behind a further colon as compilers print it.
fn colons(text: &str) -> Option<(&str, Option<Place>)> {
    let mut at = 0;
    while let Some(found) = text[at..].find(':') {
        let colon = at + found;
        let mut parts = text[colon + 1..].split(':');
        let line = parts.next().and_then(number);
        if let (Some(line), true) = (line, colon > 0) {
            let column = parts.next().and_then(number).unwrap_or(1);
            return Some((&text[..colon], Some(Place::new(line, column))));
        }
        at = colon + 1;
    }
    // `path:` is what one types on the way to `path:12`.
    text.strip_suffix(':')
        .filter(|p| !p.is_empty())
        .map(|path| (path, None))
}

fn parenthesis(text: &str) -> Option<(&str, Option<Place>)> {
    let (path, inside) = text.strip_suffix(')')?.rsplit_once('(')?;
    let place = Place::parse(inside)?;
    (!path.is_empty()).then_some((path, Some(place)))
}

fn fragment(text: &str) -> Option<(&str, Option<Place>)> {
    let (path, line) = text.rsplit_once("#L")?;
    let line = number(line.split('-').next()?)?;
    (!path.is_empty()).then_some((path, Some(Place::new(line, 1))))
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // A number too large to count lines means the last line.
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
