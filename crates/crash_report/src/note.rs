//! The text of a note about a panic.
//!
//! A note is a text that people can read: one line for each field, then message and backtrace, indented.

use std::ops::Range;

/// The first line of a note; the number is the version of its format.
const HEADING: &str = "burin crash note 1";
/// Indentation of the texts with several lines.
const INDENT: &str = "  ";

/// A program with its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramVersion {
    /// The name of the program: `burin` or `burin-agent`.
    pub name: &'static str,
    /// Its version, as `--version` prints it.
    pub version: &'static str,
}

/// A panic of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashNote {
    /// Name and version of the program.
    pub program: String,
    /// The build id of the program, if it is known.
    pub build: Option<String>,
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Name of the thread.
    pub thread: String,
    /// File, line and column of the source.
    pub place: String,
    /// The message of the panic. It may quote a text of the user.
    pub message: String,
    /// The calls on the thread, the newest first; empty until they were resolved. Addresses in the program count from
    /// its beginning.
    pub backtrace: String,
}

impl CrashNote {
    /// Returns the text of the note.
    pub fn to_text(&self) -> String {
        let build = self.build.as_deref().unwrap_or("unknown");
        let mut text = format!(
            "{HEADING}\nprogram: {}\nbuild: {build}\ntime: {}\nthread: {}\nplace: {}\nmessage:\n{}",
            self.program,
            self.at_ms,
            one_line(&self.thread),
            one_line(&self.place),
            indented(&self.message),
        );
        if !self.backtrace.is_empty() {
            text.push_str("backtrace:\n");
            text.push_str(&indented(&self.backtrace));
        }
        text
    }

    /// Parses the text of a note. `None` if it is not one, or one of a newer format.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADING) {
            return None;
        }
        let mut note = Self::default();
        // The text to which indented lines belong.
        let mut open = None;
        for line in lines {
            if let Some(content) = line.strip_prefix(INDENT) {
                let text: &mut String = match open {
                    Some(NoteText::Message) => &mut note.message,
                    Some(NoteText::Backtrace) => &mut note.backtrace,
                    None => continue,
                };
                text.push_str(content);
                text.push('\n');
                continue;
            }
            let (name, value) = line.split_once(':')?;
            let value = value.trim_start();
            open = None;
            match name {
                "program" => note.program = value.to_owned(),
                "build" => note.build = (value != "unknown").then(|| value.to_owned()),
                "time" => note.at_ms = value.parse().ok()?,
                "thread" => note.thread = value.to_owned(),
                "place" => note.place = value.to_owned(),
                "message" => open = Some(NoteText::Message),
                "backtrace" => open = Some(NoteText::Backtrace),
                _ => {}
            }
        }
        note.message.truncate(note.message.trim_end().len());
        note.backtrace.truncate(note.backtrace.trim_end().len());
        Some(note)
    }
}

/// A text with several lines, while it is parsed.
#[derive(Clone, Copy)]
enum NoteText {
    Message,
    Backtrace,
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("{INDENT}{line}\n"))
        .collect()
}

/// Replaces addresses in the program by their distance from its beginning, so that they can be resolved without the
/// process: `0x55d0c1a2f010` becomes `burin+0x1010`. Each line of the backtrace has at most one address.
pub(crate) fn relative_backtrace(backtrace: &str, program: &str, addresses: &Range<u64>) -> String {
    let lines = backtrace.lines().map(|line| {
        let Some(at) = line.find("0x") else {
            return line.to_owned();
        };
        let digits = &line[at + 2..];
        let end = digits.find(|letter: char| !letter.is_ascii_hexdigit());
        let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
        match u64::from_str_radix(digits, 16) {
            Ok(address) if addresses.contains(&address) => {
                let offset = address - addresses.start;
                format!("{}{program}+{offset:#x}{rest}", &line[..at])
            }
            _ => line.to_owned(),
        }
    });
    let lines: Vec<String> = lines.collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{CrashNote, relative_backtrace};

    fn note() -> CrashNote {
        CrashNote {
            program: "burin 1.2.3".to_owned(),
            build: Some("0aff".to_owned()),
            at_ms: 1_796_008_113_000,
            thread: "main".to_owned(),
            place: "crates/text/src/a.rs:3:5".to_owned(),
            message: "first line\n\nthird: line".to_owned(),
            backtrace: "0: a\n     at b.rs:1".to_owned(),
        }
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let note = note();
        assert_eq!(CrashNote::parse(&note.to_text()).as_ref(), Some(&note));
        let short = CrashNote {
            build: None,
            backtrace: String::new(),
            ..note
        };
        let text = short.to_text();
        assert!(!text.contains("backtrace"), "{text}");
        assert_eq!(CrashNote::parse(&text), Some(short));
    }

    #[test]
    fn names_with_line_feeds_cannot_add_fields() {
        let note = CrashNote {
            thread: "a\nprogram: other".to_owned(),
            ..note()
        };
        let read = CrashNote::parse(&note.to_text()).expect("a note");
        assert_eq!(read.program, "burin 1.2.3");
        assert_eq!(read.thread, "a program: other");
    }

    #[test]
    fn other_texts_are_no_notes() {
        for text in ["", "burin crash note 2\n", "burin crash note 1\nrubbish\n"] {
            assert_eq!(CrashNote::parse(text), None, "{text:?}");
        }
        let cut = note().to_text();
        for end in 0..cut.len() {
            // A note that was cut may be incomplete, and reading it never panics.
            CrashNote::parse(&cut[..end]);
        }
    }

    #[test]
    fn addresses_count_from_the_program() {
        let backtrace =
            "   0:     0x5010 - <unknown>\n   1:     0x9000 - libc\n             at x.c:1";
        let expected =
            "   0:     burin+0x10 - <unknown>\n   1:     0x9000 - libc\n             at x.c:1";
        let addresses = 0x5000..0x6000;
        assert_eq!(relative_backtrace(backtrace, "burin", &addresses), expected);
        assert_eq!(relative_backtrace(backtrace, "burin", &(0..0)), backtrace);
    }
}
