//! A log whose lines are marked one by one, and the rendering of the result.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A log that is being reduced: its lines, the decision about each, and messages grouped by kind.
/// The functions for each tool mark the lines, and `render` writes the result.
pub(crate) struct LogReducer<'a> {
    pub(crate) lines: Vec<&'a str>,
    marks: Vec<LineState>,
    groups: Vec<MessageGroup>,
    by_key: HashMap<String, usize>,
    /// Kinds of omitted lines, with their counts.
    left_out: BTreeMap<&'static str, usize>,
}

/// The treatment of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LineState {
    /// No rule has marked the line yet.
    Open,
    Keep,
    Gone,
    /// Another text replaces the line.
    Instead(String),
    /// The line belongs to the first message of a group.
    Head(usize),
}

/// Messages with the same text at different locations.
struct MessageGroup {
    head: Range<usize>,
    /// A text that replaces the head, if its lines alone are unclear.
    title: Option<String>,
    /// Number of head lines that suffice when more severe messages exist.
    brief: usize,
    is_error: bool,
    first: MessageLocation,
    more: Vec<MessageLocation>,
}

/// The location and subject of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageLocation {
    pub(crate) path: String,
    pub(crate) line: String,
    /// The name that distinguishes it from other messages of its kind.
    pub(crate) name: Option<String>,
}

/// A message of a compiler or linter that spans some lines of the log.
pub(crate) struct LogMessage {
    pub(crate) lines: Range<usize>,
    /// Equal for messages with the same text.
    pub(crate) key: String,
    pub(crate) place: MessageLocation,
    pub(crate) is_error: bool,
    pub(crate) brief: usize,
}

/// Maximum number of lines shown per message.
const HEAD_LINES: usize = 24;
/// Maximum number of warning kinds shown with errors present, and without.
const WARNINGS: (usize, usize) = (8, 25);
/// Further warning kinds that are shown by their message alone.
const NAMED: usize = 30;
/// Maximum number of further locations named per message.
const PLACES: usize = 40;
/// Maximum number of further locations named per error.
const ERROR_PLACES: usize = 150;
/// Maximum length of a line, in characters.
const LINE: usize = 300;

impl<'a> LogReducer<'a> {
    /// Splits a log into lines, all of them undecided.
    pub(crate) fn new(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        Self {
            marks: vec![LineState::Open; lines.len()],
            lines,
            groups: Vec::new(),
            by_key: HashMap::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// Returns whether the line is still undecided. Returns `false` for an index past the last
    /// line.
    pub(crate) fn is_open(&self, ix: usize) -> bool {
        self.marks.get(ix) == Some(&LineState::Open)
    }

    /// Decides to keep an undecided line. Later marks have no effect on the line.
    pub(crate) fn keep_line(&mut self, ix: usize) {
        self.set(ix, LineState::Keep);
    }

    /// Drops an undecided line and counts it as `what`, such as `passing tests`. If `what` is
    /// empty, does not count the line.
    pub(crate) fn drop_line(&mut self, ix: usize, what: &'static str) {
        if self.is_open(ix) {
            self.set(ix, LineState::Gone);
            self.count(what, 1);
        }
    }

    /// Shows `text`, possibly several lines, in place of an undecided line.
    pub(crate) fn replace_line(&mut self, ix: usize, text: String) {
        self.set(ix, LineState::Instead(text));
    }

    /// Adds to the count of omitted lines of the kind `what`, which the last line of the result
    /// reports. Does nothing if `what` is empty.
    pub(crate) fn count(&mut self, what: &'static str, times: usize) {
        if !what.is_empty() && times > 0 {
            *self.left_out.entry(what).or_default() += times;
        }
    }

    /// Adds a message: the first of its kind is shown in full, the others by their location.
    pub(crate) fn add_message(&mut self, complaint: LogMessage) {
        self.take(complaint, None);
    }

    /// Like `add_message`, with a title that replaces the lines of the first message of its kind.
    pub(crate) fn add_message_titled(&mut self, complaint: LogMessage, title: String) {
        self.take(complaint, Some(title));
    }

    fn take(&mut self, complaint: LogMessage, title: Option<String>) {
        let LogMessage {
            lines,
            key,
            place,
            is_error,
            brief,
        } = complaint;
        if let Some(ix) = self.by_key.get(&key).copied() {
            let group = &mut self.groups[ix];
            // Several targets of one build repeat the same message at the same location.
            if group.first != place
                && group.more.last() != Some(&place)
                && !group.more.contains(&place)
            {
                group.more.push(place);
            }
            for line in lines {
                self.set(line, LineState::Gone);
            }
            return;
        }
        let ix = self.groups.len();
        self.by_key.insert(key, ix);
        for line in lines.clone() {
            self.set(line, LineState::Head(ix));
        }
        self.groups.push(MessageGroup {
            head: lines,
            title,
            brief,
            is_error,
            first: place,
            more: Vec::new(),
        });
    }

    /// Returns the remaining lines, followed by a line with the number of omitted lines of each
    /// kind.
    pub(crate) fn render(mut self) -> String {
        let has_errors = self.groups.iter().any(|group| group.is_error);
        let most = if has_errors { WARNINGS.0 } else { WARNINGS.1 };
        let mut warnings = 0;
        let mut text = String::new();
        let mut ix = 0;
        while ix < self.lines.len() {
            match self.marks[ix].clone() {
                LineState::Open | LineState::Keep => push_line(&mut text, self.lines[ix]),
                LineState::Gone => {}
                LineState::Instead(instead) => {
                    instead.lines().for_each(|line| push_line(&mut text, line));
                }
                LineState::Head(group) => {
                    let group = &self.groups[group];
                    let end = group.head.end;
                    warnings += usize::from(!group.is_error);
                    if group.is_error || warnings <= most {
                        group.push(&mut text, &self.lines, has_errors);
                    } else if warnings <= most + NAMED {
                        group.push_name(&mut text, &self.lines);
                    } else {
                        let times = group.more.len() + 1;
                        *self
                            .left_out
                            .entry("warnings of further kinds")
                            .or_default() += times;
                    }
                    ix = end.max(ix + 1);
                    continue;
                }
            }
            ix += 1;
        }
        let left_out: Vec<String> = self
            .left_out
            .iter()
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        let left_out = if left_out.is_empty() {
            "nothing but repetitions".to_owned()
        } else {
            left_out.join(", ")
        };
        text.push_str(&format!("[left out: {left_out}]"));
        text
    }

    fn set(&mut self, ix: usize, mark: LineState) {
        if let Some(old) = self.marks.get_mut(ix)
            && *old == LineState::Open
        {
            *old = mark;
        }
    }
}

impl MessageGroup {
    /// Appends the message and its count, without locations.
    fn push_name(&self, text: &mut String, lines: &[&str]) {
        let first = self.head.clone().next().map_or("", |ix| lines[ix]);
        let line = self.title.as_deref().unwrap_or(first);
        let line: String = line.chars().take(120).collect();
        match self.more.len() {
            0 => push_line(text, &line),
            more => push_line(text, &format!("{line} [and {more} more]")),
        }
    }

    fn push(&self, text: &mut String, lines: &[&str], has_errors: bool) {
        let is_brief = has_errors && !self.is_error;
        let limit = match (is_brief, self.is_error) {
            (true, _) => self.brief,
            (false, true) => HEAD_LINES,
            // The first lines of a kind of warning suffice.
            (false, false) => self.brief + 3,
        };
        if let Some(title) = &self.title {
            push_line(text, title);
        }
        let limit = if self.title.is_some() { 0 } else { limit };
        let head = self.head.clone().take(limit);
        for line in head
            .map(|ix| lines[ix])
            .filter(|line| !line.trim().is_empty())
        {
            push_line(text, line);
        }
        if self.more.is_empty() {
            return;
        }
        let most = if self.is_error { ERROR_PLACES } else { PLACES };
        let named = format_locations(&self.more[..self.more.len().min(most)], self.is_error);
        let rest = match self.more.len().checked_sub(most) {
            Some(rest @ 1..) => format!(" and {rest} more places"),
            _ => String::new(),
        };
        text.push_str(&format!(
            "[{} more like this: {named}{rest}]\n",
            self.more.len()
        ));
    }
}

/// Formats locations with each path once in a row, and consecutive lines as a range: `src/a.rs:3-5,
/// 7; b.rs:2`. A file in the same folder as the previous one is named without it.
fn format_locations(places: &[MessageLocation], with_names: bool) -> String {
    let names_differ = places.windows(2).any(|two| two[0].name != two[1].name);
    let with_names = with_names && names_differ;
    let mut text = String::new();
    let mut path = "";
    let mut ix = 0;
    while ix < places.len() {
        let place = &places[ix];
        if place.path == path {
            text.push_str(", ");
        } else {
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(without_shared_folder(path, &place.path));
            text.push(':');
            path = &place.path;
        }
        text.push_str(&place.line);
        if let Some(name) = place.name.as_ref().filter(|_| with_names) {
            text.push_str(&format!(" `{name}`"));
            ix += 1;
            continue;
        }
        let end = range_end(places, ix);
        if end > ix {
            text.push_str(&format!("-{}", places[end].line));
        }
        ix = end + 1;
    }
    text
}

/// Returns `path` without its folder if `before` is in the same folder.
fn without_shared_folder<'a>(before: &str, path: &'a str) -> &'a str {
    match (before.rsplit_once('/'), path.rsplit_once('/')) {
        (Some((one, _)), Some((two, name))) if one == two => name,
        _ => path,
    }
}

/// Returns the last of the locations from `begin` on whose lines are consecutive.
fn range_end(places: &[MessageLocation], begin: usize) -> usize {
    let number = |ix: usize| places[ix].line.parse::<u32>().ok();
    let mut end = begin;
    while end + 1 < places.len()
        && places[end + 1].path == places[begin].path
        && number(end).is_some_and(|line| number(end + 1) == Some(line + 1))
    {
        end += 1;
    }
    end
}

fn push_line(text: &mut String, line: &str) {
    let line = line.trim_end();
    // Consecutive blank lines are merged.
    if line.is_empty() && (text.is_empty() || text.ends_with("\n\n")) {
        return;
    }
    let letters = line.chars().count();
    if letters <= LINE {
        text.push_str(line);
    } else {
        text.extend(line.chars().take(LINE * 2 / 3));
        text.push_str(" … ");
        text.extend(line.chars().skip(letters - LINE / 3));
    }
    text.push('\n');
}

/// Returns a message without the details that vary between locations (quoted names and numbers),
/// and the first quoted name.
pub(crate) fn shape(message: &str) -> (String, Option<String>) {
    let mut shape = String::with_capacity(message.len());
    let mut name = None;
    let mut letters = message.chars().peekable();
    while let Some(letter) = letters.next() {
        let close = match letter {
            '`' => Some('`'),
            '\'' => Some('\''),
            '"' => Some('"'),
            '‘' => Some('’'),
            _ => None,
        };
        if let Some(close) = close {
            let rest: String = letters
                .clone()
                .take_while(|letter| *letter != close)
                .collect();
            let is_closed = letters.clone().nth(rest.chars().count()) == Some(close);
            // An apostrophe occurs within a word and does not quote.
            if is_closed && !(close == '\'' && rest.contains(' ') && rest.len() > 40) {
                let count = rest.chars().count() + 1;
                letters.by_ref().take(count).for_each(drop);
                name.get_or_insert(rest);
                shape.push('…');
                continue;
            }
        }
        // Digits within a word are part of a code, such as `TS2322`.
        if letter.is_ascii_digit()
            && !shape.ends_with(|last: char| last.is_alphanumeric() && last != '0')
        {
            if !shape.ends_with('0') {
                shape.push('0');
            }
            continue;
        }
        shape.push(letter);
    }
    (shape, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_kind_have_one_shape() {
        let check = |one: &str, two: &str, same: bool| {
            assert_eq!(shape(one).0 == shape(two).0, same, "{one} / {two}");
        };
        check("unused variable: `a`", "unused variable: `b`", true);
        check("unused variable: ‘a’", "unused variable: ‘bcd’", true);
        check(
            "expected 3 arguments, got 12",
            "expected 1 arguments, got 5",
            true,
        );
        check(
            "Property 'x' does not exist",
            "Property 'y' does not exist",
            true,
        );
        check("unused variable: `a`", "unused import: `a`", false);
        check("don't do this", "don't do that", false);
        assert_eq!(shape("a `b` c `d`"), ("a … c …".into(), Some("b".into())));
    }

    #[test]
    fn places_name_a_path_once_in_a_row() {
        let place = |path: &str, line: &str| MessageLocation {
            path: path.into(),
            line: line.into(),
            name: Some("n".into()),
        };
        let all = [
            place("s/a", "1"),
            place("s/a", "2"),
            place("s/a", "4"),
            place("s/b", "3"),
            place("c", "1"),
        ];
        assert_eq!(format_locations(&all, false), "s/a:1-2, 4; b:3; c:1");
        // A name that is the same everywhere is redundant.
        assert_eq!(format_locations(&all, true), "s/a:1-2, 4; b:3; c:1");
        let other = MessageLocation {
            name: Some("m".into()),
            ..place("s/b", "9")
        };
        assert_eq!(
            format_locations(&[place("s/a", "1"), other], true),
            "s/a:1 `n`; b:9 `m`"
        );
    }
}
