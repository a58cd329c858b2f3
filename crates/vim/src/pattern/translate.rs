//! Translation of Vim's regular expressions to those of the engine.
//!
//! Start at `translate`.

use super::collection;
use crate::error::{Done, Error};

/// A translated pattern.
#[derive(Debug, Default)]
pub(super) struct Translation {
    pub(super) regex: String,
    pub(super) groups: Vec<usize>,
    pub(super) start: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) is_multi_line: bool,
    /// Case as set by `\c` or `\C`.
    pub(super) ignore_case: Option<bool>,
    pub(super) has_capital: bool,
}

/// Which signs are special without a backslash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Magic {
    /// `\v`.
    Very,
    /// `\m`.
    Usual,
    /// `\M`.
    Little,
    /// `\V`.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A sign with a meaning, or a letter after a backslash.
    Special(char),
    Literal(char),
}

/// Deepest nesting of groups.
const MAX_DEPTH: usize = 50;

/// Translates a pattern. `last_replacement` is the text that `~` matches.
pub(super) fn translate(source: &str, last_replacement: &str) -> Done<Translation> {
    let mut translator = Translator {
        chars: source.chars().collect(),
        ix: 0,
        magic: Magic::Usual,
        captures: 0,
        depth: 0,
        last_replacement,
        translation: Translation::default(),
    };
    let regex = translator.alternatives()?;
    if translator.peek().is_some() {
        return Err(unsupported(source, "a group is closed that is not open"));
    }
    translator.translation.regex = regex;
    Ok(translator.translation)
}

fn unsupported(what: &str, why: &str) -> Error {
    Error::Pattern(format!("cannot search for {what:?}: {why}"))
}

/// A class with the marks that combine with its character. A literal takes none: it does not match
/// a character with a mark.
fn with_marks(class: &str) -> String {
    format!("(?:{class}\\p{{M}}*)")
}

struct Translator<'a> {
    chars: Vec<char>,
    ix: usize,
    magic: Magic,
    /// Groups of the engine so far.
    captures: usize,
    depth: usize,
    last_replacement: &'a str,
    translation: Translation,
}

impl Translator<'_> {
    /// Returns the token at an index and the index behind it, without switches such as `\v`.
    fn token_at(&self, ix: usize) -> Option<(Token, usize)> {
        let char = *self.chars.get(ix)?;
        if char != '\\' {
            let token = if self.is_special(char) {
                Token::Special(char)
            } else {
                Token::Literal(char)
            };
            return Some((token, ix + 1));
        }
        let Some(&next) = self.chars.get(ix + 1) else {
            return Some((Token::Literal('\\'), ix + 1));
        };
        let is_sign = ".*[~^$(){}|&+=?@%<>".contains(next);
        let is_word = next.is_ascii_alphanumeric() || next == '_';
        let token = if is_word || (is_sign && !self.is_special(next)) {
            Token::Special(next)
        } else {
            Token::Literal(next)
        };
        Some((token, ix + 2))
    }

    fn is_special(&self, char: char) -> bool {
        match self.magic {
            Magic::Very => ".*[~^$(){|&+=?@%<>".contains(char),
            Magic::Usual => ".*[~^$".contains(char),
            Magic::Little | Magic::None => "^$".contains(char),
        }
    }

    /// Applies switches here, and returns the next token without taking it.
    fn peek(&mut self) -> Option<Token> {
        loop {
            let (token, behind) = self.token_at(self.ix)?;
            match token {
                Token::Special('v') => self.magic = Magic::Very,
                Token::Special('m') => self.magic = Magic::Usual,
                Token::Special('M') => self.magic = Magic::Little,
                Token::Special('V') => self.magic = Magic::None,
                Token::Special('c') => self.translation.ignore_case = Some(true),
                Token::Special('C') => self.translation.ignore_case = Some(false),
                Token::Special('Z') => {}
                _ => return Some(token),
            }
            self.ix = behind;
        }
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek()?;
        if let Some((_, behind)) = self.token_at(self.ix) {
            self.ix = behind;
        }
        Some(token)
    }

    fn alternatives(&mut self) -> Done<String> {
        let mut branches = vec![self.branch()?];
        while self.peek() == Some(Token::Special('|')) {
            self.next();
            branches.push(self.branch()?);
        }
        Ok(branches.join("|"))
    }

    fn branch(&mut self) -> Done<String> {
        let mut regex = String::new();
        let mut is_start = true;
        while let Some(token) = self.peek() {
            match token {
                Token::Special('|' | ')') => break,
                Token::Special('&') => {
                    return Err(unsupported("\\&", "concatenation is not supported"));
                }
                _ => {}
            }
            let is_anchor = token == Token::Special('^') && is_start;
            let is_break = token == Token::Special('n');
            let atom = self.atom(is_start)?;
            regex.push_str(&self.repeated(atom, is_anchor)?);
            is_start = is_anchor || is_break;
        }
        Ok(regex)
    }

    /// Adds the repetitions behind an atom.
    fn repeated(&mut self, atom: String, is_anchor: bool) -> Done<String> {
        let mut regex = atom;
        while let Some(Token::Special(sign)) = self.peek() {
            let suffix = match sign {
                '*' if is_anchor => break,
                '*' => "*".to_owned(),
                '+' => "+".to_owned(),
                '=' | '?' => "?".to_owned(),
                '{' => {
                    self.next();
                    let bounds = self.bounds()?;
                    regex = format!("(?:{regex}){bounds}");
                    continue;
                }
                '@' => return Err(unsupported("\\@", "lookaround is not supported")),
                _ => break,
            };
            self.next();
            regex = format!("(?:{regex}){suffix}");
        }
        Ok(regex)
    }

    /// Reads `n,m}` behind `\{`.
    fn bounds(&mut self) -> Done<String> {
        let rest = &self.chars[self.ix..];
        let Some(end) = rest.iter().position(|char| *char == '}') else {
            return Err(unsupported("\\{", "the closing } is missing"));
        };
        let inner: String = rest[..end].iter().collect();
        self.ix += end + 1;
        let inner = inner.strip_suffix('\\').unwrap_or(&inner);
        let (inner, lazy) = match inner.strip_prefix('-') {
            Some(inner) => (inner, "?"),
            None => (inner, ""),
        };
        let (low, high) = match inner.split_once(',') {
            Some((low, high)) => (low, Some(high)),
            None => (inner, None),
        };
        let number = |digits: &str| match digits {
            "" => Ok(None),
            _ => digits
                .parse::<u16>()
                .map(Some)
                .map_err(|_| unsupported("\\{", "a count is no number or too large")),
        };
        let bounds = match (number(low)?, high.map(number).transpose()?) {
            (None, None | Some(None)) => "*".to_owned(),
            (Some(low), None) => format!("{{{low}}}"),
            (Some(low), Some(None)) => format!("{{{low},}}"),
            (low, Some(Some(high))) => {
                let low = low.unwrap_or(0);
                format!("{{{},{}}}", low.min(high), low.max(high))
            }
        };
        Ok(bounds + lazy)
    }

    fn atom(&mut self, is_start: bool) -> Done<String> {
        let Some(token) = self.next() else {
            return Ok(String::new());
        };
        let sign = match token {
            Token::Literal(char) => return Ok(self.literal(char)),
            Token::Special(sign) => sign,
        };
        match sign {
            '.' => Ok(with_marks(".")),
            '^' if is_start => Ok("^".to_owned()),
            '$' if self.is_end() => Ok("$".to_owned()),
            '*' | '^' | '$' => Ok(self.literal(sign)),
            '~' => {
                let text: Vec<char> = self.last_replacement.chars().collect();
                Ok(text.into_iter().map(|char| self.literal(char)).collect())
            }
            '<' => Ok(r"\b{start}".to_owned()),
            '>' => Ok(r"\b{end}".to_owned()),
            '[' => self.collection(false),
            '(' => self.group(true),
            '%' => self.percent(),
            '_' => self.with_line_end(),
            'z' => self.edge(),
            'n' => {
                self.translation.is_multi_line = true;
                Ok(r"\n".to_owned())
            }
            't' => Ok(r"\t".to_owned()),
            'e' => Ok(r"\x1b".to_owned()),
            'b' => Ok(r"\x08".to_owned()),
            'r' => Ok(r"\r".to_owned()),
            '0'..='9' => Err(unsupported(
                &format!("\\{sign}"),
                "back references are not supported",
            )),
            _ => match collection::class(sign) {
                Some(class) => Ok(with_marks(class)),
                None if sign.is_ascii_alphabetic() => {
                    Err(unsupported(&format!("\\{sign}"), "it is not supported"))
                }
                None => Ok(self.literal(sign)),
            },
        }
    }

    fn literal(&mut self, char: char) -> String {
        self.translation.has_capital |= char.is_uppercase();
        collection::escaped(char)
    }

    /// Whether nothing but the end of a branch follows.
    fn is_end(&mut self) -> bool {
        let next = self.peek();
        matches!(next, None | Some(Token::Special('|' | ')' | '&' | 'n')))
    }

    fn group(&mut self, is_captured: bool) -> Done<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(unsupported("\\(", "groups are nested too deeply"));
        }
        if is_captured {
            self.captures += 1;
            self.translation.groups.push(self.captures);
        }
        let inner = self.alternatives()?;
        if self.next() != Some(Token::Special(')')) {
            return Err(unsupported("\\(", "the closing \\) is missing"));
        }
        self.depth -= 1;
        let opening = if is_captured { "(" } else { "(?:" };
        Ok(format!("{opening}{inner})"))
    }

    /// Reads a collection behind `[`; a bracket that is not closed is literal.
    fn collection(&mut self, with_line_end: bool) -> Done<String> {
        let parsed = collection::parse(&self.chars[self.ix..]);
        let Some(collection) = parsed else {
            return Ok(self.literal('['));
        };
        self.ix += collection.length;
        self.translation.has_capital |= collection.has_capital;
        if with_line_end || collection.has_line_end {
            self.translation.is_multi_line = true;
            return Ok(format!("(?:{}|\\n)", with_marks(&collection.regex)));
        }
        Ok(with_marks(&collection.regex))
    }

    /// Reads the atom behind `\_`, which matches line ends too.
    fn with_line_end(&mut self) -> Done<String> {
        let Some(&char) = self.chars.get(self.ix) else {
            return Err(unsupported("\\_", "a class is missing"));
        };
        self.ix += 1;
        let class = match char {
            '^' => return Ok("^".to_owned()),
            '$' => return Ok("$".to_owned()),
            '[' => return self.collection(true),
            '.' => ".",
            _ => collection::class(char)
                .ok_or_else(|| unsupported(&format!("\\_{char}"), "it is not supported"))?,
        };
        self.translation.is_multi_line = true;
        Ok(format!("(?:{}|\\n)", with_marks(class)))
    }

    /// Reads `\zs` and `\ze`.
    fn edge(&mut self) -> Done<String> {
        let char = self.chars.get(self.ix).copied();
        self.captures += 1;
        let edge = match char {
            Some('s') => &mut self.translation.start,
            Some('e') => &mut self.translation.end,
            _ => return Err(unsupported("\\z", "it is not supported")),
        };
        *edge = Some(self.captures);
        self.ix += 1;
        Ok("()".to_owned())
    }

    /// Reads the atom behind `\%`.
    fn percent(&mut self) -> Done<String> {
        let Some(&char) = self.chars.get(self.ix) else {
            return Err(unsupported("\\%", "an atom is missing"));
        };
        self.ix += 1;
        match char {
            '(' => self.group(false),
            '^' => Ok(r"\A".to_owned()),
            '$' => Ok(r"\z".to_owned()),
            '[' => self.optional_sequence(),
            'd' | 'x' | 'u' | 'U' | 'o' => {
                let (code, length) = collection::code(char, &self.chars[self.ix..])
                    .ok_or_else(|| unsupported("\\%", "the number of a character is missing"))?;
                self.ix += length;
                Ok(collection::escaped(code))
            }
            _ => Err(unsupported(
                &format!("\\%{char}"),
                "atoms for positions are not supported",
            )),
        }
    }

    /// Reads `\%[abc]`, which matches as much of a sequence as there is.
    fn optional_sequence(&mut self) -> Done<String> {
        let mut atoms = Vec::new();
        loop {
            match self.chars.get(self.ix) {
                None => return Err(unsupported("\\%[", "the closing ] is missing")),
                Some(']') => break,
                Some(_) => atoms.push(self.atom(false)?),
            }
        }
        self.ix += 1;
        let nested = atoms
            .iter()
            .rev()
            .fold(String::new(), |inner, atom| format!("(?:{atom}{inner})?"));
        Ok(nested)
    }
}
