//! Formatters as layers over the lines of agents and of the user.

use super::super::groups::{LineGroup, text_without};
use super::super::line_roles::ChangeSet;
use super::super::weave::{Weave, WeaveAuthor};
use crate::change_history::ChangeId;

/// The author of a change of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Agent(&'static str),
    User,
    /// A formatter after an edit of a session.
    FormatterOf(&'static str),
    /// A formatter after a save of the user.
    Formatter,
    Undo,
    /// An undo of an undo.
    Redo,
}

use Writer::{Agent, Formatter, FormatterOf, Redo, Undo, User};

/// A text file with the authors of its changes.
struct WovenFile {
    weave: Weave,
    writers: Vec<Writer>,
}

impl Writer {
    fn session(self) -> Option<&'static str> {
        match self {
            Agent(session) | FormatterOf(session) => Some(session),
            User | Formatter | Undo | Redo => None,
        }
    }
}

impl WovenFile {
    /// A file that had the first text, and then got the others.
    fn new(first: &str, changes: &[(Writer, &str)]) -> Self {
        let mut file = Self {
            weave: Weave::of_text(first.as_bytes()),
            writers: Vec::new(),
        };
        for (writer, text) in changes {
            file.write(*writer, text);
        }
        file
    }

    fn write(&mut self, writer: Writer, text: &str) {
        let author = match writer {
            Agent(_) => WeaveAuthor::Agent,
            User => WeaveAuthor::Other,
            FormatterOf(_) | Formatter => WeaveAuthor::Formatter,
            Undo => WeaveAuthor::Undo,
            Redo => WeaveAuthor::Redo,
        };
        let change = ChangeId(self.writers.len() as u64);
        self.writers.push(writer);
        let is_agents = |id: ChangeId| self.writers[id.0 as usize].session().is_some();
        self.weave
            .apply(change, author, text.as_bytes(), &is_agents);
    }

    fn groups(&self, session: &str) -> Vec<LineGroup> {
        let writer = |id: ChangeId| self.writers[id.0 as usize];
        let set = ChangeSet {
            has: &|id| writer(id).session() == Some(session),
            is_undo: &|id| matches!(writer(id), Undo | Redo),
            spares_kept: true,
        };
        set.groups(&self.weave)
    }

    /// The text without the changes of a session, as far as they are not contested.
    fn without(&self, session: &str) -> String {
        let groups = self.groups(session);
        let groups = groups.iter().filter(|it| it.contested_by.is_none());
        let text = text_without(&self.weave, &groups.collect::<Vec<_>>());
        String::from_utf8(text).unwrap()
    }

    /// The writers whose changes keep those of a session from being taken out.
    fn contested(&self, session: &str) -> Vec<Writer> {
        let groups = self.groups(session).into_iter();
        let by = groups.filter_map(|it| it.contested_by);
        by.map(|id| self.writers[id.0 as usize]).collect()
    }

    /// Takes the changes of a session out.
    fn reject(&mut self, session: &str) {
        let text = self.without(session);
        self.write(Undo, &text);
    }
}

#[test]
fn lines_of_several_calls_that_a_formatter_joins_go() {
    let mut changes = vec![
        (Agent("t"), "a\nx(\nz\n"),
        (Agent("t"), "a\nx(\ny)\nz\n"),
        (FormatterOf("s"), "a\nx(y)\nz\n"),
    ];
    let file = WovenFile::new("a\nz\n", &changes);
    assert_eq!(file.without("t"), "a\nz\n");
    assert_eq!(file.without("s"), "a\nx(\ny)\nz\n");
    changes[2] = (Formatter, "a\nx(y)\nz\n");
    assert_eq!(WovenFile::new("a\nz\n", &changes).without("t"), "a\nz\n");
}

#[test]
fn a_line_joined_with_text_of_others_is_contested() {
    let changes = [
        (Agent("t"), "a\nx(\nz\n"),
        (User, "a\nx(\ny)\nz\n"),
        (Formatter, "a\nx(y)\nz\n"),
    ];
    let file = WovenFile::new("a\nz\n", &changes);
    assert!(file.contested("t") == [Formatter]);
    assert_eq!(file.without("t"), "a\nx(y)\nz\n");
    let changes = [changes[0], (Agent("s"), changes[1].1), changes[2]];
    let file = WovenFile::new("a\nz\n", &changes);
    assert!(file.contested("s") == [Formatter] && file.contested("t") == [Formatter]);
    let changes = [changes[0], changes[1], (FormatterOf("s"), changes[2].1)];
    let file = WovenFile::new("a\nz\n", &changes);
    assert!(file.contested("s").is_empty() && file.contested("t") == [FormatterOf("s")]);
    assert_eq!(file.without("s"), "a\nx(\nz\n");
}

#[test]
fn a_joined_line_that_its_agent_removed_is_contested() {
    let changes = [
        (Agent("t"), "x(\n"),
        (User, "x(\ny)\n"),
        (Formatter, "x(y)\n"),
        (Agent("t"), ""),
    ];
    let file = WovenFile::new("", &changes);
    assert!(file.contested("t") == [Formatter]);
    assert_eq!(file.without("t"), "");
}

#[test]
fn neighbours_whose_text_is_clear_are_not_joined() {
    let changes = [
        (Agent("t"), "a\nx(1, 2)\nz\n"),
        (User, "a\nx(1, 2)\ny\n\nz\n"),
        (Formatter, "a\nx(\n1,\n2)\n y\nz\n"),
    ];
    let file = WovenFile::new("a\nz\n", &changes);
    assert!(file.contested("t").is_empty());
    assert_eq!(file.without("t"), "a\n y\nz\n");
    // As many lines, but the text moved between them.
    let changes = [
        (Agent("t"), "x(1,\n"),
        (User, "x(1,\n2)\n"),
        (Formatter, "x(\n1, 2)\n"),
    ];
    assert!(WovenFile::new("", &changes).contested("t") == [Formatter]);
}

#[test]
fn text_that_was_formatted_again_does_not_return_twice() {
    let changes = [
        (Agent("t"), "a\nx\nz\n"),
        (FormatterOf("s"), "a\n x\nz\n"),
        (Formatter, "a\n  x\nz\n"),
    ];
    let file = WovenFile::new("a\nz\n", &changes);
    assert!(file.groups("s").is_empty());
    assert_eq!(file.without("t"), "a\nz\n");
    let again = [changes[0], changes[1], (FormatterOf("s"), changes[2].1)];
    assert_eq!(WovenFile::new("a\nz\n", &again).without("s"), "a\nx\nz\n");
}

#[test]
fn a_text_formatted_again_in_part_stays_whole() {
    let changes = [
        (Agent("t"), "x(1, 2)\n"),
        (FormatterOf("s"), "x(1,\n2)\n"),
        (Formatter, "x(1,\n    2)\n"),
    ];
    let file = WovenFile::new("", &changes);
    assert!(file.groups("s").is_empty());
    assert_eq!(file.without("t"), "");
}

#[test]
fn rejected_text_does_not_return_without_its_formatter() {
    let changes = [(Agent("t"), "a\nx\nz\n"), (FormatterOf("s"), "a\n x\nz\n")];
    let mut file = WovenFile::new("a\nz\n", &changes);
    file.reject("t");
    assert_eq!(file.without("s"), "a\nz\n");
    file.write(Redo, "a\n x\nz\n");
    assert_eq!(file.without("s"), "a\nx\nz\n");
    file.reject("s");
    assert_eq!(file.without("t"), "a\nz\n");
}

#[test]
fn a_line_that_a_formatter_put_back_is_not_doubled() {
    let changes = [(Agent("t"), "a\n b\nz\n"), (FormatterOf("s"), "a\nb\nz\n")];
    let file = WovenFile::new("a\nb\nz\n", &changes);
    assert!(file.groups("s").is_empty());
    assert!(file.groups("t").is_empty());
}
