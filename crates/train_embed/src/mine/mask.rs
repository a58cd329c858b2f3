//! Blanks the insides of comments and strings of a source text, so that the rest can be searched for braces and
//! names. Works for languages with braces; it is not a parser.

/// A family of languages with the same comments and quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Rust,
    Script,
    Go,
    C,
}

/// A comment, or several line comments on consecutive lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A source text with comments and quoted text blanked, and the spans of its comments, in bytes.
pub(super) struct Masked {
    /// The text with comments and quoted text as spaces; line ends are kept.
    pub(super) code: Vec<u8>,
    pub(super) comments: Vec<Comment>,
}

/// Blanks comments and quoted text, so that the rest can be searched for braces and names. Adjacent
/// line comments count as one.
pub(super) fn mask(text: &str, dialect: Dialect) -> Masked {
    let mut reader = Reader {
        text: text.as_bytes(),
        code: text.as_bytes().to_vec(),
        comments: Vec::new(),
        dialect,
        before: b'\n',
    };
    let mut at = 0;
    while at < reader.text.len() {
        at = reader.step(at).max(at + 1);
    }
    Masked {
        code: reader.code,
        comments: joined(text.as_bytes(), reader.comments),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    code: Vec<u8>,
    comments: Vec<Comment>,
    dialect: Dialect,
    /// The last byte of code that is not a blank.
    before: u8,
}

impl Reader<'_> {
    /// Handles the token at `at` and returns the offset after it.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let begins_line = || {
            let line = self.text[..at]
                .rsplit(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            line.iter().all(u8::is_ascii_whitespace)
        };
        let end = match rest {
            [b'/', b'/', ..] => self.comment(at, line_end(self.text, at)),
            [b'/', b'*', ..] => self.comment(at, self.block_end(at)),
            [b'#', ..] if self.dialect == Dialect::C && begins_line() => self.directive_end(at),
            [b'r' | b'R', ..] => match self.raw_end(at) {
                Some(end) => end,
                None => return self.plain(at),
            },
            [b'"', ..] => self.quoted_end(at, b'"', self.dialect == Dialect::Rust),
            [b'`', ..] if self.dialect == Dialect::Go => find(self.text, at + 1, b"`"),
            [b'`', ..] if self.dialect == Dialect::Script => self.quoted_end(at, b'`', true),
            [b'\'', ..] if self.dialect == Dialect::Rust => match self.character_end(at) {
                Some(end) => end,
                None => return self.plain(at),
            },
            [b'\'', ..] => self.quoted_end(at, b'\'', false),
            [b'/', ..] if self.dialect == Dialect::Script && self.may_be_pattern() => {
                match self.pattern_end(at) {
                    Some(end) => end,
                    None => return self.plain(at),
                }
            }
            _ => return self.plain(at),
        };
        self.blank(at, end);
        end
    }

    /// Skips one byte of code and returns the offset after it.
    fn plain(&mut self, at: usize) -> usize {
        if !self.text[at].is_ascii_whitespace() {
            self.before = self.text[at];
        }
        at + 1
    }

    fn blank(&mut self, start: usize, end: usize) {
        for byte in &mut self.code[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    /// Records a comment and returns its end.
    fn comment(&mut self, start: usize, end: usize) -> usize {
        self.comments.push(Comment { start, end });
        end
    }

    /// Returns the offset after the block comment at `at`, which may be nested in Rust. Without an
    /// end, it extends to the end of the text.
    fn block_end(&self, at: usize) -> usize {
        if self.dialect != Dialect::Rust {
            return find(self.text, at + 2, b"*/");
        }
        let mut depth = 0;
        let mut here = at;
        while here < self.text.len() {
            match &self.text[here..] {
                [b'/', b'*', ..] => (depth, here) = (depth + 1, here + 2),
                [b'*', b'/', ..] => (depth, here) = (depth - 1, here + 2),
                _ => here += 1,
            }
            if depth == 0 {
                break;
            }
        }
        here
    }

    /// Returns the end of the line at `at`, with the lines joined to it by backslashes.
    fn directive_end(&self, at: usize) -> usize {
        let mut end = line_end(self.text, at);
        while self.text[..end].ends_with(b"\\") && end < self.text.len() {
            end = line_end(self.text, end + 1);
        }
        end
    }

    /// Returns the offset after the quoted text at `at`. Without an end, it extends to the end of
    /// the text, or of the line unless it `has_lines`.
    fn quoted_end(&self, at: usize, quote: u8, has_lines: bool) -> usize {
        let mut here = at + 1;
        while here < self.text.len() {
            match self.text[here] {
                b'\\' => here += 1,
                b'\n' if !has_lines => return here,
                byte if byte == quote => return here + 1,
                _ => {}
            }
            here += 1;
        }
        self.text.len()
    }

    /// `r"…"`, `r#"…"#` of Rust and `R"x(…)x"` of C++.
    fn raw_end(&self, at: usize) -> Option<usize> {
        if at > 0 && is_name(self.text[at - 1]) && self.text[at - 1] != b'b' {
            return None;
        }
        let rest = &self.text[at + 1..];
        if self.dialect == Dialect::C && self.text[at] == b'R' && rest.first() == Some(&b'"') {
            let mark = rest[1..].iter().take(17).position(|byte| *byte == b'(')?;
            let close = [b")", &rest[1..=mark], b"\""].concat();
            return Some(find(self.text, at + 2, &close));
        }
        if self.dialect != Dialect::Rust || self.text[at] != b'r' {
            return None;
        }
        let marks = rest.iter().take_while(|byte| **byte == b'#').count();
        if rest.get(marks) != Some(&b'"') {
            return None;
        }
        let close = [b"\"".as_slice(), &rest[..marks]].concat();
        Some(find(self.text, at + marks + 2, &close))
    }

    /// A character literal of Rust, unless it is a lifetime.
    fn character_end(&self, at: usize) -> Option<usize> {
        if self.text.get(at + 1) == Some(&b'\\') {
            return Some(find(self.text, at + 3, b"'"));
        }
        (at + 2..at + 6)
            .find(|end| self.text.get(*end) == Some(&b'\''))
            .map(|end| end + 1)
            .filter(|end| {
                let inside = &self.text[at + 1..end - 1];
                inside.len() == 1 || !inside[0].is_ascii()
            })
    }

    /// Whether a `/` after the last byte of code may begin a regular expression rather than divide.
    fn may_be_pattern(&self) -> bool {
        b"(,=:[!&|?{};\n+<>~^%n".contains(&self.before)
    }

    /// Returns the offset after the regular expression at `at`, without its flags; `None` if it
    /// does not end in its line.
    fn pattern_end(&self, at: usize) -> Option<usize> {
        let mut is_in_class = false;
        let mut here = at + 1;
        while here < self.text.len() {
            match self.text[here] {
                b'\\' => here += 1,
                b'\n' => return None,
                b'[' => is_in_class = true,
                b']' => is_in_class = false,
                b'/' if !is_in_class => return Some(here + 1),
                _ => {}
            }
            here += 1;
        }
        None
    }
}

/// Joins comments on consecutive lines.
fn joined(text: &[u8], comments: Vec<Comment>) -> Vec<Comment> {
    let mut joined: Vec<Comment> = Vec::new();
    for comment in comments {
        let is_line = text[comment.start..].starts_with(b"//");
        match joined.last_mut() {
            Some(last)
                if is_line
                    && text[last.start..].starts_with(b"//")
                    && is_next_line(&text[last.end..comment.start]) =>
            {
                last.end = comment.end;
            }
            _ => joined.push(comment),
        }
    }
    joined
}

/// Whether the bytes between two comments are blanks with exactly one line feed.
fn is_next_line(between: &[u8]) -> bool {
    between.iter().all(u8::is_ascii_whitespace)
        && between.iter().filter(|byte| **byte == b'\n').count() == 1
}

/// Whether a byte belongs to a name: an ASCII letter or digit, `_` or `$`.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Returns the offset of the next line feed, `at` included; the end of the text if there is none.
fn line_end(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    text[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |length| at + length)
}

/// Returns the offset after the next `what`; the end of the text if there is none.
fn find(text: &[u8], at: usize, what: &[u8]) -> usize {
    let at = at.min(text.len());
    let found = text[at..]
        .windows(what.len())
        .position(|window| window == what);
    found.map_or(text.len(), |length| at + length + what.len())
}
