//! Analyses rows: unclosed and closing brackets, and their first and last tokens.
//!
//! Invariant: at most `MAX_ROW_BYTES` of a row are read, and at most `MAX_ROWS` rows are
//! searched.

use std::borrow::Cow;

use base::{Bias, ByteOffset, Row, Span};
use text::Snapshot;

use super::{IndentHint, yaml};
use crate::brackets::Scanner;
use crate::definition::IndentRules;
use crate::language::Language;
use crate::scope::SyntaxScope;
use crate::snapshot::SyntaxSnapshot;

/// Bytes read of a row; of longer rows only the end is read.
const MAX_ROW_BYTES: usize = 4096;

/// Rows searched upwards for the beginning of a block.
const MAX_ROWS: u32 = 2000;

/// Reads rows of one language.
pub(super) struct RowReader<'a> {
    syntax: &'a SyntaxSnapshot,
    text: &'a Snapshot,
    language: Language,
    rules: &'static IndentRules,
    scanner: Scanner<'a>,
}

/// A row, or its part before the caret.
pub(super) struct RowPart {
    pub(super) row: Row,
    /// The text without the comment at its end and without the blanks around.
    pub(super) code: String,
    pub(super) end: ByteOffset,
    /// Offsets of brackets that nothing on the row closes, with their pair.
    pub(super) opened: Vec<(usize, usize)>,
    /// Offsets of brackets that nothing on the row opens.
    closed: Vec<(usize, usize)>,
}

/// The first token of a row: a word, or a char with its offset.
pub(super) struct FirstToken {
    text: String,
    at: usize,
}

impl RowPart {
    /// Whether the part has only blanks and comments.
    pub(super) fn is_blank(&self) -> bool {
        self.code.is_empty()
    }
}

impl<'a> RowReader<'a> {
    /// A reader for the language at an offset.
    pub(super) fn new(syntax: &'a SyntaxSnapshot, text: &'a Snapshot, at: ByteOffset) -> Self {
        let language = syntax.language_at(text, at);
        Self {
            syntax,
            text,
            language,
            rules: &language.definition().indent,
            scanner: Scanner::new(syntax, text, at),
        }
    }

    /// The part of a row before `end`.
    pub(super) fn row(&self, row: Row, end: ByteOffset) -> RowPart {
        let near = self.text.clip(end - MAX_ROW_BYTES, Bias::Right);
        let start = self.text.row_start(row).max(near);
        let line = self.text.text(Span::new(start, end.max(start)));
        let mut part = RowPart {
            row,
            code: String::new(),
            end,
            opened: Vec::new(),
            closed: Vec::new(),
        };
        let mut code_end = 0;
        for (ix, c) in line.char_indices() {
            let at = start.0 + ix;
            if c.is_whitespace() || self.scanner.scope(at) == SyntaxScope::Comment {
                continue;
            }
            code_end = ix + c.len_utf8();
            if let Some((pair, opens)) = self.scanner.bracket(c, at) {
                if opens {
                    part.opened.push((at, pair));
                } else if part.opened.pop().is_none() {
                    part.closed.push((at, pair));
                }
            }
        }
        part.code = line.get(..code_end).unwrap_or(&line).trim().to_owned();
        part
    }

    /// The first token between two offsets of one row.
    pub(super) fn first_token(&self, start: ByteOffset, end: ByteOffset) -> FirstToken {
        let end = self.text.clip(end.min(start + MAX_ROW_BYTES), Bias::Left);
        let line = self.text.text(Span::new(start, end));
        let rest = line.trim_start();
        let at = start.0 + (line.len() - rest.len());
        let is_tag = rest.starts_with("</");
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match rest.find(|c: char| !is_word(c)) {
            _ if is_tag => 2,
            Some(0) => rest.chars().next().map_or(0, char::len_utf8),
            Some(length) => length,
            None => rest.len(),
        };
        FirstToken {
            text: rest[..length].to_owned(),
            at,
        }
    }

    /// Returns the indentation hint for the row after a row.
    pub(super) fn hint_after(&self, part: &RowPart) -> IndentHint {
        let hint = self.hint_by_rules(part);
        match self.language.name() {
            "YAML" => yaml::hint_after(self.syntax, self.text, part, hint),
            _ => hint,
        }
    }

    fn hint_by_rules(&self, part: &RowPart) -> IndentHint {
        if !part.opened.is_empty() {
            return IndentHint::new(part.row, 1);
        }
        let base = self.base_row(part);
        if self.opens_block(part) || self.opens_tag(part) {
            return IndentHint::new(base, 1);
        }
        let leaves = self.rules.leaves.contains(&first_word(&part.code));
        IndentHint::new(base, -i32::from(leaves))
    }

    /// Returns the row whose indentation a row returns to: the one that opened what it closes, or
    /// the first row of the statement it ends.
    fn base_row(&self, part: &RowPart) -> Row {
        if let Some((at, _)) = part.closed.last()
            && let Some(pair) = self.syntax.matching_bracket(self.text, ByteOffset(*at))
        {
            return self.text.point_at(pair.open.start).row;
        }
        let end = part.end;
        let code_end = end - self.blanks_before(end);
        self.syntax
            .statement_row(self.text, code_end)
            .unwrap_or(part.row)
    }

    /// Returns whether a row opens a level by the words or signs of its language.
    fn opens_block(&self, part: &RowPart) -> bool {
        let code = part.code.as_str();
        let rules = self.rules;
        if rules
            .after_suffix
            .iter()
            .any(|suffix| code.ends_with(suffix))
        {
            return true;
        }
        let first = first_word(code);
        let starts = rules.labels.iter().any(|label| is_label_line(code, label));
        let closes = || {
            self.split_words(code)
                .filter(|word| rules.closing_words.contains(word))
                .count()
        };
        if rules.after_word.contains(&first) {
            // `end` on the same row closes it; the word itself may be a closing one, as `else` is.
            let own = usize::from(rules.closing_words.contains(&first));
            return closes() <= own && !is_one_line_definition(code);
        }
        let last = code
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or("");
        let opens_function = self.language.name() == "Lua" && leaves_function_open(code);
        starts || rules.after_last_word.contains(&last) || opens_function
    }

    fn split_words<'s>(&self, code: &'s str) -> impl Iterator<Item = &'s str> {
        code.split(|c: char| !c.is_alphanumeric() && c != '_')
    }

    /// Whether a row ends in a start tag that nothing on it closes.
    fn opens_tag(&self, part: &RowPart) -> bool {
        let code = part.code.as_str();
        if self.language.grammar().kinds.tags.is_none() || !code.ends_with('>') {
            return false;
        }
        let opened = code.rfind('<').map(|at| &code[at..]);
        opened.is_some_and(|tag| {
            let name = tag[1..]
                .chars()
                .take_while(|c| c.is_alphanumeric())
                .collect::<String>();
            let is_start = !name.is_empty() && !tag.ends_with("/>") && !tag.ends_with("=>");
            is_start && !VOID_TAGS.contains(&name.to_ascii_lowercase().as_str())
        })
    }

    /// Whether the token behind a caret closes what the row before it leaves open.
    pub(super) fn closes(&self, before: &RowPart, behind: &FirstToken) -> bool {
        match before.opened.last() {
            Some((_, pair)) => {
                let (_, close) = self.language.config().brackets[*pair];
                behind.text.chars().eq([close])
            }
            None => behind.text == "</" && self.opens_tag(before),
        }
    }

    /// Whether a token begins with what closes a level.
    pub(super) fn starts_with_closer(&self, token: &FirstToken) -> bool {
        let brackets = self.language.config().brackets;
        brackets
            .iter()
            .any(|(_, close)| token.text.chars().eq([*close]))
            || token.text == "</"
    }

    /// The row of the bracket or tag that a row's first token closes.
    pub(super) fn row_of_opener(&self, token: &FirstToken) -> Option<Row> {
        if !self.starts_with_closer(token) {
            return None;
        }
        let pair = self
            .syntax
            .matching_bracket(self.text, ByteOffset(token.at))?;
        let row = self.text.point_at(pair.open.start).row;
        (pair.open.start.0 < token.at).then_some(row)
    }

    /// Returns whether a row with this first token is one level shallower than its block.
    pub(super) fn is_dedent_word(&self, token: &FirstToken) -> bool {
        self.language
            .config()
            .dedent_words
            .contains(&token.text.as_str())
    }

    /// The row whose word opened the block that `word` goes on with or ends, by counting the words
    /// of the rows above.
    pub(super) fn row_of_block_word(&self, row: Row, token: &FirstToken) -> Option<Row> {
        if self.rules.closing_words.is_empty() {
            return self.row_of_suite(row, token);
        }
        let mut depth = 0;
        for count in 1..=row.0.min(MAX_ROWS) {
            let above = row - count;
            let part = self.row(above, self.text.row_end(above));
            if part.is_blank() {
                continue;
            }
            let code = part.code.as_str();
            if is_end_word(first_word(code)) {
                depth += 1;
            } else if self.opens_block(&part) && !self.continues_block(code) {
                if depth == 0 {
                    return Some(above);
                }
                depth -= 1;
            }
        }
        None
    }

    /// Returns whether the code continues a block, as `else` does, without beginning a new one.
    fn continues_block(&self, code: &str) -> bool {
        let first = first_word(code);
        self.rules.closing_words.contains(&first)
    }

    /// In languages with colons and indentation: returns the nearest row above that `token` can
    /// continue and that is not deeper than any row between.
    fn row_of_suite(&self, row: Row, token: &FirstToken) -> Option<Row> {
        let openers: &[&str] = match token.text.as_str() {
            "else" => &["if", "elif", "for", "while", "try", "except", "async"],
            "elif" => &["if", "elif"],
            "except" | "finally" => &["try", "except", "else"],
            _ => return None,
        };
        let mut deepest = usize::MAX;
        for count in 1..=row.0.min(MAX_ROWS) {
            let above = row - count;
            let line = head(self.text, above);
            let indent = line.len() - line.trim_start().len();
            if line.trim().is_empty() || indent >= deepest {
                continue;
            }
            let is_first = deepest == usize::MAX;
            if openers.contains(&first_word(line.trim()))
                && (!is_first || line.trim_end().ends_with(':'))
            {
                return Some(above);
            }
            deepest = indent.max(usize::from(is_first));
        }
        None
    }

    /// Whether a token begins a label: `case`, `default`.
    pub(super) fn is_label(&self, token: &FirstToken) -> bool {
        let rest = self.text.text(Span::new(
            ByteOffset(token.at),
            self.text
                .row_end(self.text.point_at(ByteOffset(token.at)).row),
        ));
        self.rules
            .labels
            .iter()
            .any(|label| is_label_line(rest.trim(), label))
    }

    /// Returns the hint for a label: aligned with the previous label, or with the start of its
    /// block.
    pub(super) fn label_hint(&self, hint: IndentHint, before: &RowPart) -> IndentHint {
        let starts_block = !before.opened.is_empty();
        if starts_block {
            return IndentHint::new(hint.base, i32::from(self.labels_are_deeper()));
        }
        for count in 0..before.row.0.min(MAX_ROWS) {
            let above = before.row - count;
            let line = head(self.text, above);
            if self
                .rules
                .labels
                .iter()
                .any(|label| is_label_line(line.trim(), label))
            {
                return IndentHint::new(above, 0);
            }
        }
        IndentHint::new(hint.base, hint.levels - 1)
    }

    /// Go puts `case` beneath `switch`; the others a level deeper.
    fn labels_are_deeper(&self) -> bool {
        self.language.name() != "Go"
    }

    /// Returns the number of bytes of white space right before an offset, across rows, for at most
    /// `MAX_ROW_BYTES` chars.
    fn blanks_before(&self, offset: ByteOffset) -> usize {
        let blanks = self
            .text
            .chars_before(offset)
            .take_while(|c| c.is_whitespace());
        blanks.take(MAX_ROW_BYTES).map(char::len_utf8).sum()
    }
}

const VOID_TAGS: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// The start of a row, all of it unless it is very long.
pub(super) fn head(text: &Snapshot, row: Row) -> Cow<'_, str> {
    let span = text.row_span(row);
    let end = text.clip(span.end.min(span.start + MAX_ROW_BYTES), Bias::Left);
    text.text(Span::new(span.start, end.max(span.start)))
}

fn first_word(code: &str) -> &str {
    let end = code
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(code.len());
    &code[..end]
}

/// Whether a word ends a block in a language without brackets, such as Ruby, Lua or shell.
fn is_end_word(word: &str) -> bool {
    matches!(word, "end" | "fi" | "done" | "esac" | "until")
}

/// `case 1:` and `public:`, but not `default_value = 1` and not `case 1: return x`.
fn is_label_line(code: &str, label: &str) -> bool {
    let Some(rest) = code.strip_prefix(label) else {
        return false;
    };
    let is_whole_word = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '(');
    is_whole_word && (label.ends_with(':') || code.ends_with(':') || code.ends_with("->"))
}

/// Ruby's `def double(x) = x * 2`: an equals sign outside the parentheses.
fn is_one_line_definition(code: &str) -> bool {
    let mut depth = 0;
    let mut is_outside = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    };
    let outside: String = code.chars().filter(|c| is_outside(*c)).collect();
    first_word(code) == "def" && outside.contains(" = ")
}

/// Lua's `local f = function(a)` and `return function()`.
fn leaves_function_open(code: &str) -> bool {
    let words = || code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let opened = words().filter(|word| *word == "function").count();
    let closed = words().filter(|word| *word == "end").count();
    opened > closed && code.ends_with(')')
}
