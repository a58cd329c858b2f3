//! Matching of commands against rules, independent of notation: options before the subcommand,
//! options combined or separate, paths to programs, versioned names.

use syntax::shell::ShellWord;

use super::command::CommandInvocation;
use super::pattern::MatchCertainty;
use super::width::base;

/// A pattern for a whole command; `*` matches anything, `\*` a star and `\\` a backslash.
#[derive(Clone, Debug)]
pub(super) struct CommandPattern {
    /// The literal texts between the stars.
    pieces: Vec<String>,
}

impl CommandPattern {
    /// Parses a pattern as written in a rule. Every text is a pattern.
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

    /// Returns whether the pattern is exactly this text.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(&self.pieces[..], [piece] if piece == text)
    }

    /// Returns the program it names, its first word; `None` if that word contains a star.
    pub(super) fn program(&self) -> Option<&str> {
        let first = self.pieces.first()?;
        let name = first.split_whitespace().next()?;
        let is_whole_word = first.len() > name.len() || self.pieces.len() == 1;
        is_whole_word.then_some(name)
    }

    /// Returns the literal words of the pattern.
    pub(super) fn literals(&self) -> Vec<&str> {
        let words = self
            .pieces
            .iter()
            .flat_map(|piece| piece.split_whitespace());
        words.collect()
    }

    /// Returns whether a command of these words certainly matches. A word that depends on an
    /// expansion, is empty or contains spaces never does.
    pub(super) fn fits(&self, words: &[ShellWord]) -> bool {
        let is_plain = |word: &ShellWord| {
            word.is_certain() && !word.text.is_empty() && !word.text.contains(char::is_whitespace)
        };
        words.iter().all(is_plain) && self.is_like(&joined(words))
    }

    /// Returns whether the pattern matches the whole text, which is not split into words.
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

    /// Returns the words of a pattern that is a prefix or has no stars, and whether further words
    /// are excluded.
    fn prefix_words(&self) -> Option<(Vec<String>, bool)> {
        let (text, is_exact) = match &self.pieces[..] {
            [text] => (text, true),
            [text, last] if last.is_empty() && text.ends_with(' ') => (text, false),
            _ => return None,
        };
        let words = text.split_whitespace().map(str::to_owned);
        Some((words.collect(), is_exact))
    }
}

fn joined(words: &[ShellWord]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// Matches a command against a prefix of words: the program, its first operands in order, and
/// options, which may come anywhere. Other options of the command are ignored.
pub(super) fn begins(command: &CommandInvocation, prefix: &[String]) -> MatchCertainty {
    compared(command, prefix, false)
}

/// Matches a command against a pattern for whole commands.
pub(super) fn is_whole(command: &CommandInvocation, whole: &CommandPattern) -> MatchCertainty {
    if let Some((words, is_exact)) = whole.prefix_words() {
        return compared(command, &words, is_exact);
    }
    let plain = plain(&command.words);
    let all = joined(&command.words);
    let bare: Vec<ShellWord> = plain.iter().filter(|it| !is_option(it)).cloned().collect();
    if [all, joined(&plain), joined(&bare)]
        .iter()
        .any(|text| whole.is_like(text))
    {
        return MatchCertainty::Yes;
    }
    let is_certain = command.words.iter().all(ShellWord::is_certain);
    let other = whole.program().is_some_and(|program| {
        let name = command.name();
        name.is_some_and(|name| !is_program(name, program))
    });
    if is_certain || other {
        MatchCertainty::No
    } else {
        MatchCertainty::Maybe
    }
}

/// Returns the words with the program's path removed.
fn plain(words: &[ShellWord]) -> Vec<ShellWord> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some((_, name)) = first.text.rsplit_once('/')
    {
        first.text = name.to_owned();
    }
    words
}

/// Returns whether `name`, a program without its folders, is the program `wanted` of a rule.
/// Folders of `wanted` and the version numbers at the end of both names are ignored.
fn is_program(name: &str, wanted: &str) -> bool {
    let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
    name == wanted || base(name) == base(wanted)
}

/// Returns whether a word begins with `-` and is longer than that.
fn is_option(word: &ShellWord) -> bool {
    word.text.starts_with('-') && word.text.len() > 1
}

fn compared(command: &CommandInvocation, prefix: &[String], is_exact: bool) -> MatchCertainty {
    let Some((program, rest)) = prefix.split_first() else {
        return MatchCertainty::Yes;
    };
    let Some(name) = command.name() else {
        return MatchCertainty::Maybe;
    };
    if !is_program(name, program) {
        return MatchCertainty::No;
    }
    let words = &command.words[1..];
    let is_flag = |word: &&String| word.starts_with('-') && word.len() > 1;
    let (flags, operands): (Vec<&String>, Vec<&String>) = rest.iter().partition(is_flag);
    has_flags(words, &flags).min(has_operands(words, &operands, is_exact))
}

/// Options with a long and a short form, as programs that delete and overwrite define them.
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

/// Matches the options of a command against a set of flags, combined or separate, long or short.
fn has_flags(words: &[ShellWord], flags: &[&String]) -> MatchCertainty {
    let given = words.iter().filter(|word| is_option(word));
    let given: Vec<&str> = given.map(|word| word.text.as_str()).collect();
    let has_short = |wanted: char| {
        let twin = LONG.iter().find(|(short, _)| *short == wanted);
        given.iter().any(|option| match option.strip_prefix("--") {
            Some(long) => twin.is_some_and(|(_, twin)| is_begun(long, twin)),
            // `-R` and `-r` count as equal, since programs use both for recursion.
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
        // `-rf` may also be a single option, such as `-delete` of `find`.
        None => given.contains(&flag.as_str()) || flag.chars().skip(1).all(has_short),
    };
    if flags.iter().all(has) {
        MatchCertainty::Yes
    } else if words.iter().all(ShellWord::is_certain) {
        MatchCertainty::No
    } else {
        MatchCertainty::Maybe
    }
}

/// Returns whether a long option is this one, or a prefix of it.
fn is_begun(given: &str, wanted: &str) -> bool {
    let name = given.split('=').next().unwrap_or(given);
    !name.is_empty() && wanted.starts_with(name)
}

/// Matches the operands of a command against a prefix. A word after an option may be its value.
fn has_operands(words: &[ShellWord], operands: &[&String], is_exact: bool) -> MatchCertainty {
    operands_from(words, operands, is_exact, false)
}

fn operands_from(
    words: &[ShellWord],
    operands: &[&String],
    is_exact: bool,
    is_value: bool,
) -> MatchCertainty {
    let Some((wanted, later)) = operands.split_first() else {
        let is_done = !is_exact
            || words
                .iter()
                .all(|word| is_option(word) || !word.is_certain());
        return if is_done {
            MatchCertainty::Yes
        } else {
            MatchCertainty::No
        };
    };
    let Some((word, rest)) = words.split_first() else {
        return MatchCertainty::No;
    };
    if !word.is_certain() {
        return MatchCertainty::Maybe;
    }
    let mut touch = MatchCertainty::No;
    if CommandPattern::read(wanted).is_like(&word.text) {
        touch = operands_from(rest, later, is_exact, false);
    }
    if touch != MatchCertainty::Yes && (is_option(word) || is_value) {
        touch = touch.max(operands_from(rest, operands, is_exact, is_option(word)));
    }
    touch
}
