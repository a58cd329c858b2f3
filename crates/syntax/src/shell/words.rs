//! Words: quotes, escapes and expansions.

use super::commands::{ListEnd, ends_word, is_name};
use super::{ShellAssignment, ShellReader, ShellWord};

/// A word being built.
#[derive(Default)]
struct WordBuilder {
    text: String,
    /// For each character of the text, whether it is outside of quotes.
    bare: Vec<bool>,
    is_unknown: bool,
}

impl WordBuilder {
    fn push(&mut self, letter: char, is_bare: bool) {
        self.text.push(letter);
        self.bare.push(is_bare);
    }

    fn push_unknown(&mut self, written: &str) {
        self.is_unknown = true;
        written.chars().for_each(|letter| self.push(letter, false));
    }

    fn finish(self) -> ShellWord {
        let letters: Vec<char> = self.text.chars().collect();
        let is_bare = |at: usize, letter: char| letters[at] == letter && self.bare[at];
        let bare = |letter: char| (0..letters.len()).filter(move |at| is_bare(*at, letter));
        let has_set = bare('[').any(|at| letters[at..].contains(&']'));
        let has_globs = has_set || bare('*').next().is_some() || bare('?').next().is_some();
        let has_braces = bare('{').any(|at| {
            // Content between it and its matching bracket.
            let mut depth = 0;
            let close = (at..letters.len()).find(|at| {
                depth += i32::from(is_bare(*at, '{')) - i32::from(is_bare(*at, '}'));
                depth == 0
            });
            close.is_some_and(|close| {
                let inner = &letters[at + 1..close];
                inner.contains(&',') || inner.windows(2).any(|two| two == ['.', '.'])
            })
        });
        // Bash takes an argument such as `to=~/x` for an assignment.
        let has_tilde = bare('~')
            .any(|at| at == 0 || [':', '='].into_iter().any(|before| is_bare(at - 1, before)));
        ShellWord {
            text: self.text,
            is_known: !self.is_unknown && !has_braces,
            has_globs,
            has_tilde,
        }
    }
}

/// Quoting context of an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpansionContext {
    Nothing,
    Quotes,
}

impl ShellReader {
    /// Parses a word, which must be present.
    pub(super) fn expect_word(&mut self) -> Option<ShellWord> {
        self.word_until(ends_word)
    }

    /// The pattern behind `=~`, in which brackets and bars are letters.
    pub(super) fn pattern(&mut self) -> Option<ShellWord> {
        self.word_until(|letter| matches!(letter, ' ' | '\t' | '\n'))
    }

    /// Parses a word up to an unquoted character for which `is_end` holds. Returns `None` if there
    /// is no word or it is not understood.
    fn word_until(&mut self, is_end: impl Fn(char) -> bool) -> Option<ShellWord> {
        let start = self.at;
        let mut word = WordBuilder::default();
        while let Some(letter) = self.peek() {
            if matches!(letter, '<' | '>') && self.peek_at(1) == Some('(') {
                let from = self.at;
                self.at += 1;
                // Text written to `>( … )` is the input of its commands.
                let was_piped = self.is_piped;
                self.is_piped |= letter == '>';
                self.substitution()?;
                self.is_piped = was_piped;
                word.push_unknown(&self.slice(from, self.at));
                continue;
            }
            if is_end(letter) {
                break;
            }
            self.word_piece(&mut word)?;
        }
        if self.at == start {
            None
        } else {
            Some(word.finish())
        }
    }

    /// Parses a quoted part, an escape, an expansion or one bare character. Returns `None` if it is
    /// incomplete or not understood.
    fn word_piece(&mut self, word: &mut WordBuilder) -> Option<()> {
        match self.next()? {
            '\\' => match self.next() {
                Some('\n') => {}
                Some(letter) => word.push(letter, false),
                // Bash drops it.
                None => return None,
            },
            '\'' => loop {
                match self.next()? {
                    '\'' => break,
                    letter => word.push(letter, false),
                }
            },
            '"' => self.quoted(word)?,
            '$' if self.peek() == Some('\'') => {
                self.at += 1;
                self.ansi(word)?;
            }
            '$' if self.peek() == Some('"') => {
                self.at += 1;
                self.quoted(word)?;
            }
            '$' => self.dollar(word, ExpansionContext::Nothing)?,
            '`' => self.backquoted(word, ExpansionContext::Nothing)?,
            letter => word.push(letter, true),
        }
        Some(())
    }

    /// The rest of a text in double quotes.
    fn quoted(&mut self, word: &mut WordBuilder) -> Option<()> {
        loop {
            match self.next()? {
                '"' => return Some(()),
                '\\' => match self.next()? {
                    '\n' => {}
                    letter @ ('"' | '\\' | '$' | '`') => word.push(letter, false),
                    letter => {
                        word.push('\\', false);
                        word.push(letter, false);
                    }
                },
                '$' => self.dollar(word, ExpansionContext::Quotes)?,
                '`' => self.backquoted(word, ExpansionContext::Quotes)?,
                letter => word.push(letter, false),
            }
        }
    }

    /// The rest of `$'…'`.
    fn ansi(&mut self, word: &mut WordBuilder) -> Option<()> {
        loop {
            let letter = match self.next()? {
                '\'' => return Some(()),
                '\\' => self.escape()?,
                letter => letter,
            };
            word.push(letter, false);
        }
    }

    /// Parses an escape of `$'…'`. Returns `None` if it may not be a character.
    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.number(16, 2, 0)?,
            'u' => self.number(16, 4, 0)?,
            'U' => self.number(16, 8, 0)?,
            digit @ '0'..='7' => self.number(8, 2, digit.to_digit(8)?)?,
            letter @ ('\\' | '\'' | '"' | '?') => letter,
            _ => return None,
        })
    }

    /// Reads at most `most` digits of an escape in this base; `first` is the value of the digits
    /// before them. Returns `None` if the number is 0 or not ASCII.
    fn number(&mut self, base: u32, most: usize, first: u32) -> Option<char> {
        let (mut number, mut count) = (first, 0);
        while count < most
            && let Some(digit) = self.peek().and_then(|letter| letter.to_digit(base))
        {
            number = number * base + digit;
            self.at += 1;
            count += 1;
        }
        // Bytes beyond ASCII are parts of characters; a zero ends the text.
        let is_letter = (1..0x80).contains(&number);
        is_letter.then(|| char::from_u32(number)).flatten()
    }

    /// Parses an expansion after `$`.
    fn dollar(&mut self, word: &mut WordBuilder, within: ExpansionContext) -> Option<()> {
        let from = self.at - 1;
        match self.peek() {
            Some('(') if self.peek_at(1) == Some('(') => self.arithmetic()?,
            Some('(') => self.substitution()?,
            Some('{') => {
                self.at += 1;
                self.nested(|reader| reader.parameter(within))?;
            }
            Some('[') => return None,
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                while self
                    .peek()
                    .is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                {
                    self.at += 1;
                }
            }
            Some('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9') => self.at += 1,
            _ => {
                word.push('$', false);
                return Some(());
            }
        }
        word.push_unknown(&self.slice(from, self.at));
        Some(())
    }

    /// `( … )` of a substitution; its commands join the line's.
    fn substitution(&mut self) -> Option<()> {
        self.take("(").then_some(())?;
        let pending = std::mem::take(&mut self.pending);
        self.list(ListEnd::Bracket)?;
        self.pending.is_empty().then_some(())?;
        self.pending = pending;
        self.take(")").then_some(())
    }

    /// `((…))` behind a `$`.
    fn arithmetic(&mut self) -> Option<()> {
        self.take("((").then_some(())?;
        let start = self.at;
        let mut depth = 0;
        while !(depth == 0 && self.starts_with("))")) {
            match self.next()? {
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                // Quotes, expansions and all that could make it a subshell.
                letter
                    if letter.is_ascii_alphanumeric() || "_ +-*/%<>=&|^!~?:,".contains(letter) => {}
                _ => return None,
            }
        }
        let text = self.slice(start, self.at);
        self.at += 2;
        // The value of a name is arithmetic as well, with all that it may run.
        if text.contains(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
            self.line.effects.push(text);
        }
        Some(())
    }

    /// The rest of `${…}`.
    fn parameter(&mut self, within: ExpansionContext) -> Option<()> {
        let start = self.at;
        let is_indirect = self.peek() == Some('!') && self.peek_at(1) != Some('}');
        if is_indirect || self.peek() == Some('#') && self.peek_at(1) != Some('}') {
            self.at += 1;
        }
        let from = self.at;
        while self
            .peek()
            .is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        {
            self.at += 1;
        }
        if self.at == from {
            self.next()?;
        }
        let name = self.slice(from, self.at);
        let rest = (self.peek()?, self.peek_at(1));
        let evaluates = match rest {
            ('[' | '@', _) => true,
            (':', Some(next)) => !matches!(next, '-' | '=' | '+' | '?'),
            _ => false,
        };
        if matches!(rest, ('=', _) | (':', Some('='))) && is_name(&name) {
            self.line.assignments.push(ShellAssignment {
                name,
                value: ShellWord::default(),
            });
        }
        let mut inner = WordBuilder::default();
        loop {
            match self.peek()? {
                '}' => break,
                '\'' if within == ExpansionContext::Quotes => self.at += 1,
                _ => self.word_piece(&mut inner)?,
            }
        }
        if is_indirect || evaluates {
            self.line.effects.push(self.slice(start, self.at));
        }
        self.take("}").then_some(())
    }

    /// The rest of a substitution in backquotes.
    fn backquoted(&mut self, word: &mut WordBuilder, within: ExpansionContext) -> Option<()> {
        let from = self.at - 1;
        let mut inner = String::new();
        loop {
            match self.next()? {
                '`' => break,
                '\\' => match self.next()? {
                    letter @ ('`' | '\\' | '$') => inner.push(letter),
                    '"' if within == ExpansionContext::Quotes => inner.push('"'),
                    letter => inner.extend(['\\', letter]),
                },
                letter => inner.push(letter),
            }
        }
        let mut reader = ShellReader::new(&inner, self.depth + 1);
        (reader.depth <= super::DEEPEST).then_some(())?;
        reader.is_piped = self.is_piped;
        reader.parse_line()?;
        let line = reader.finished();
        self.join(line);
        word.push_unknown(&self.slice(from, self.at));
        Some(())
    }

    fn join(&mut self, line: super::ShellLine) {
        self.line.commands.extend(line.commands);
        self.line.redirects.extend(line.redirects);
        self.line.assignments.extend(line.assignments);
        self.line.effects.extend(line.effects);
    }

    /// The body of a here-document, whose expansions join the line's.
    pub(super) fn expanded(&mut self, body: String) -> Option<ShellWord> {
        let mut reader = ShellReader::new(&body, self.depth + 1);
        (reader.depth <= super::DEEPEST).then_some(())?;
        let mut word = WordBuilder::default();
        while let Some(letter) = reader.next() {
            match letter {
                '\\' => match reader.next() {
                    Some('\n') => {}
                    Some(letter @ ('\\' | '$' | '`')) => word.push(letter, false),
                    Some(letter) => {
                        word.push('\\', false);
                        word.push(letter, false);
                    }
                    None => word.push('\\', false),
                },
                '$' => reader.dollar(&mut word, ExpansionContext::Quotes)?,
                '`' => reader.backquoted(&mut word, ExpansionContext::Quotes)?,
                letter => word.push(letter, false),
            }
        }
        self.join(reader.finished());
        Some(word.finish())
    }
}
