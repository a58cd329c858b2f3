//! Commands against what rules say of them, however they are written: options before the subcommand, options together
//! or one by one, paths to programs, versions.

use syntax::shell::Word;

use super::command::Command;
use super::pattern::Touch;
use super::width::base;

/// A command as a whole; `*` stands for anything, `\\*` for a star and `\\\\` for a backslash.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    /// What stands between the stars.
    pieces: Vec<String>,
}

impl Whole {
    pub(super) fn read(written: &str) -> Self {
        let mut pieces = vec![String::new()];
        let mut letters = written.chars().peekable();
        while let Some(letter) = letters.next() {
            let Some(last) = pieces.last_mut() else {
                break;
            };
            match letter {
                '*' => pieces.push(String::new()),
                '\\' if matches!(letters.peek(), Some('*' | '\\')) => {
                    last.extend(letters.next());
                }
                letter => last.push(letter),
            }
        }
        Self { pieces }
    }

    /// Whether it is exactly this text.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(&self.pieces[..], [piece] if piece == text)
    }

    /// The program that it is about; `None` where that may be any.
    pub(super) fn program(&self) -> Option<&str> {
        let first = self.pieces.first()?;
        let name = first.split_whitespace().next()?;
        let is_whole_word = first.len() > name.len() || self.pieces.len() == 1;
        is_whole_word.then_some(name)
    }

    /// The words that stand in it.
    pub(super) fn literals(&self) -> Vec<&str> {
        let words = self
            .pieces
            .iter()
            .flat_map(|piece| piece.split_whitespace());
        words.collect()
    }

    /// Whether it is certainly a command of these words.
    pub(super) fn fits(&self, words: &[Word]) -> bool {
        let is_plain = |word: &Word| {
            word.is_certain() && !word.text.is_empty() && !word.text.contains(char::is_whitespace)
        };
        words.iter().all(is_plain) && self.is_like(&joined(words))
    }

    fn is_like(&self, text: &str) -> bool {
        let Some((first, pieces)) = self.pieces.split_first() else {
            return false;
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some((last, middle)) = pieces.split_last() else {
            return rest.is_empty();
        };
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }

    /// The words of one that is a prefix, or has no stars; and whether nothing may follow them.
    fn words(&self) -> Option<(Vec<String>, bool)> {
        let (text, is_exact) = match &self.pieces[..] {
            [text] => (text, true),
            [text, last] if last.is_empty() && text.ends_with(' ') => (text, false),
            _ => return None,
        };
        let words = text.split_whitespace().map(str::to_owned);
        Some((words.collect(), is_exact))
    }
}

fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// Whether a command may be one that begins with these words.
pub(super) fn begins(command: &Command, prefix: &[String]) -> Touch {
    compared(command, prefix, false)
}

/// Whether a command may be one that a rule describes as a whole.
pub(super) fn is_whole(command: &Command, whole: &Whole) -> Touch {
    if let Some((words, is_exact)) = whole.words() {
        return compared(command, &words, is_exact);
    }
    let plain = plain(&command.words);
    let all = joined(&command.words);
    let bare: Vec<Word> = plain.iter().filter(|it| !is_option(it)).cloned().collect();
    if [all, joined(&plain), joined(&bare)]
        .iter()
        .any(|text| whole.is_like(text))
    {
        return Touch::Yes;
    }
    let is_certain = command.words.iter().all(Word::is_certain);
    let other = whole.program().is_some_and(|program| {
        let name = command.name();
        name.is_some_and(|name| !is_program(name, program))
    });
    match is_certain || other {
        true => Touch::No,
        false => Touch::Maybe,
    }
}

/// The words with the program's bare name.
fn plain(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some((_, name)) = first.text.rsplit_once('/')
    {
        first.text = name.to_owned();
    }
    words
}

fn is_program(name: &str, wanted: &str) -> bool {
    let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
    name == wanted || base(name) == base(wanted)
}

fn is_option(word: &Word) -> bool {
    word.text.starts_with('-') && word.text.len() > 1
}

fn compared(command: &Command, prefix: &[String], is_exact: bool) -> Touch {
    let Some((program, rest)) = prefix.split_first() else {
        return Touch::Yes;
    };
    let Some(name) = command.name() else {
        return Touch::Maybe;
    };
    if !is_program(name, program) {
        return Touch::No;
    }
    let words = &command.words[1..];
    let is_flag = |word: &&String| word.starts_with('-') && word.len() > 1;
    let (flags, operands): (Vec<&String>, Vec<&String>) = rest.iter().partition(is_flag);
    has_flags(words, &flags).min(has_operands(words, &operands, is_exact))
}

/// Options that have a long and a short form, as programs that delete and overwrite have them.
const LONG: &[(char, &str)] = &[
    ('r', "recursive"),
    ('f', "force"),
    ('R', "recursive"),
    ('d', "delete"),
    ('a', "all"),
    ('v', "verbose"),
    ('i', "interactive"),
    ('n', "dry-run"),
    ('u', "set-upstream"),
    ('m', "message"),
    ('g', "global"),
    ('y', "yes"),
    ('x', "exec"),
];

/// Whether the options of a command have all of these, together or one by one, long or short.
fn has_flags(words: &[Word], flags: &[&String]) -> Touch {
    let given = words.iter().filter(|word| is_option(word));
    let given: Vec<&str> = given.map(|word| word.text.as_str()).collect();
    let has_short = |wanted: char| {
        let twin = LONG.iter().find(|(short, _)| *short == wanted);
        given.iter().any(|option| match option.strip_prefix("--") {
            Some(long) => twin.is_some_and(|(_, twin)| is_begun(long, twin)),
            // `-R` and `-r` are alike where both mean the same.
            None => option.chars().any(|it| {
                it == wanted || wanted.eq_ignore_ascii_case(&'r') && it.eq_ignore_ascii_case(&'r')
            }),
        })
    };
    let has_long = |wanted: &str| {
        let name = wanted.split('=').next().unwrap_or(wanted);
        let twins = LONG.iter().filter(|(_, long)| *long == name);
        given.iter().any(|option| match option.strip_prefix("--") {
            Some(long) => is_begun(long, name),
            None => twins.clone().any(|(short, _)| option.contains(*short)),
        })
    };
    let has = |flag: &&String| match flag.strip_prefix("--") {
        Some(long) => has_long(long),
        // `-rf` may also be one option: as `-delete` of `find`.
        None => given.contains(&flag.as_str()) || flag.chars().skip(1).all(has_short),
    };
    match flags.iter().all(has) {
        true => Touch::Yes,
        false if words.iter().all(Word::is_certain) => Touch::No,
        false => Touch::Maybe,
    }
}

/// Whether a long option is this one, or a beginning of it.
fn is_begun(given: &str, wanted: &str) -> bool {
    let name = given.split('=').next().unwrap_or(given);
    !name.is_empty() && wanted.starts_with(name)
}

/// Whether the words of a command that are no options begin with these. A word behind an option may be its value.
fn has_operands(words: &[Word], operands: &[&String], is_exact: bool) -> Touch {
    operands_from(words, operands, is_exact, false)
}

fn operands_from(words: &[Word], operands: &[&String], is_exact: bool, is_value: bool) -> Touch {
    let Some((wanted, later)) = operands.split_first() else {
        let is_done = !is_exact
            || words
                .iter()
                .all(|word| is_option(word) || !word.is_certain());
        return match is_done {
            true => Touch::Yes,
            false => Touch::No,
        };
    };
    let Some((word, rest)) = words.split_first() else {
        return Touch::No;
    };
    if !word.is_certain() {
        return Touch::Maybe;
    }
    let mut touch = Touch::No;
    if Whole::read(wanted).is_like(&word.text) {
        touch = operands_from(rest, later, is_exact, false);
    }
    if touch != Touch::Yes && (is_option(word) || is_value) {
        touch = touch.max(operands_from(rest, operands, is_exact, is_option(word)));
    }
    touch
}
