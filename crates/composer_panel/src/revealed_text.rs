//! Untrusted text to be approved, of which only a part is shown until the user asks for more.
//!
//! Plain data. Invariant: the text is printable and is shown from its beginning without gaps.
//! Start at `RevealedText::new`.

use base::{LineFeeds, printable};

/// Number of rows shown at first.
const FIRST_ROWS: usize = 12;
/// Number of rows added by each request for more.
const MORE_ROWS: usize = 400;
/// Number of columns per row; longer lines wrap.
const COLUMNS: usize = 48;

/// A text and the part of it that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RevealedText {
    text: String,
    /// Number of bytes that are shown.
    end: usize,
    /// Number of rows that are not shown.
    hidden: usize,
}

impl RevealedText {
    /// Creates a printable form of a text. `asked` is the number of times that the user asked for
    /// more. Each time reveals a fixed number of further rows.
    pub(crate) fn new(text: &str, asked: usize) -> Self {
        let text = printable(text, LineFeeds::Keep).into_owned();
        let room = FIRST_ROWS + asked * MORE_ROWS;
        let (mut end, mut rows, mut start) = (text.len(), 0, 0);
        for line in text.split('\n') {
            let taken = columns(line).div_ceil(COLUMNS).max(1);
            if rows < room && rows + taken > room {
                end = start + cut(line, (room - rows) * COLUMNS);
            } else if rows == room && end == text.len() {
                end = start.saturating_sub(1);
            }
            rows += taken;
            start += line.len() + 1;
        }
        Self {
            end,
            hidden: rows.saturating_sub(room),
            text,
        }
    }

    /// The part that is shown.
    pub(crate) fn visible(&self) -> &str {
        &self.text[..self.end]
    }

    /// Returns the number of rows that are not shown, which is 0 if the whole text is shown.
    pub(crate) fn hidden(&self) -> usize {
        self.hidden
    }

    /// The reason why the text cannot be approved yet; `None` if all of it is shown.
    pub(crate) fn approval_obstacle(&self) -> Option<String> {
        match self.hidden {
            0 => None,
            1 => Some("Show the last line before you allow this.".to_owned()),
            hidden => Some(format!(
                "Show the other {hidden} lines before you allow this."
            )),
        }
    }
}

/// Returns the columns that a char may take: 8 for a tab, 1 for other ASCII, 2 for all others.
fn width(char: char) -> usize {
    match char {
        '\t' => 8,
        _ if char.is_ascii() => 1,
        _ => 2,
    }
}

/// Returns the columns that a line may take, the sum of its chars' widths.
fn columns(line: &str) -> usize {
    line.chars().map(width).sum()
}

/// The number of bytes of a line that fit into `room` columns.
fn cut(line: &str, room: usize) -> usize {
    let mut columns = 0;
    let mut chars = line.char_indices();
    let over = chars.find(|(_, char)| {
        columns += width(*char);
        columns > room
    });
    over.map_or(line.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile_lines() -> Vec<String> {
        let lines = include_str!("../../base/src/printable/hostile-lines.json");
        serde_json::from_str(lines).expect("a list of lines")
    }

    /// Requests more until nothing is hidden, and counts the requests.
    fn read(text: &str) -> (RevealedText, usize) {
        let asked = (0..100).find(|asked| RevealedText::new(text, *asked).hidden() == 0);
        let asked = asked.expect("an end");
        (RevealedText::new(text, asked), asked)
    }

    #[test]
    fn what_is_shown_equals_what_runs() {
        for line in hostile_lines() {
            let (whole, _) = read(&line);
            assert_eq!(
                whole.visible(),
                printable(&line, LineFeeds::Keep),
                "{line:?}"
            );
            assert_eq!(whole.approval_obstacle(), None);
            let is_clean = |char: char| char == '\n' || char == '\t' || !char.is_control();
            assert!(whole.visible().chars().all(is_clean), "{line:?}");
        }
    }

    #[test]
    fn what_is_not_shown_stands_in_the_way() {
        for (text, asked) in [
            ("ls".to_owned(), 0),
            ("ls\n".repeat(11) + "ls", 0),
            ("ls\n".repeat(12) + "rm victim.txt", 1),
            (format!("ls{}; rm victim.txt", " ".repeat(200)), 0),
            (format!("ls{}; rm victim.txt", " ".repeat(2000)), 1),
            (format!("ls{}; rm victim.txt", "\t".repeat(200)), 1),
            (format!("ls{}; rm victim.txt", "\u{65e5}".repeat(300)), 1),
            ("\n".repeat(1000) + "rm victim.txt", 3),
        ] {
            assert_eq!(read(&text).1, asked, "{text:?}");
            let first = RevealedText::new(&text, 0);
            assert_eq!(first.approval_obstacle().is_some(), asked > 0, "{text:?}");
            assert_eq!(
                first.visible().contains("rm victim"),
                asked == 0 && text.contains("rm")
            );
            let begins = printable(&text, LineFeeds::Keep).starts_with(first.visible());
            assert!(begins, "{text:?}");
        }
    }
}
