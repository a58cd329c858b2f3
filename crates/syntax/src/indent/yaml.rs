//! Indents of YAML, relative to the key of a row rather than to the dashes before it.
//!
//! Start at `hint_after`.

use base::ByteOffset;
use text::Snapshot;

use super::IndentHint;
use super::rows::{RowPart, head};
use crate::nodes::path_to;
use crate::snapshot::SyntaxSnapshot;

/// The hint for the row behind `part`; `hint` comes from the rules for all languages.
pub(super) fn hint_after(
    syntax: &SyntaxSnapshot,
    text: &Snapshot,
    part: &RowPart,
    hint: IndentHint,
) -> IndentHint {
    if is_in_block_scalar(syntax, text, part) {
        return IndentHint::new(part.row, 0);
    }
    if hint.base != part.row {
        // Behind a closed collection: the column of the key that holds it.
        let opener = head(text, hint.base);
        let opener = YamlRow::parse(opener.trim());
        return IndentHint {
            columns: if opener.key { opener.width } else { 0 },
            ..hint
        };
    }
    let entry = YamlRow::parse(&part.code);
    let (levels, columns) = match entry.value {
        _ if !part.opened.is_empty() => (1, entry.width),
        YamlValue::Below if entry.key => (1, entry.width),
        YamlValue::Below => (0, entry.width),
        YamlValue::Here if entry.key => (0, entry.width),
        YamlValue::Here => (0, entry.last_indicator),
    };
    IndentHint {
        levels,
        columns,
        ..hint
    }
}

/// The parts of a row of YAML.
struct YamlRow {
    /// Columns of the leading indicators `-`, `?` and `:` with the blanks behind them.
    width: u32,
    /// The column of the last indicator, relative to the first.
    last_indicator: u32,
    /// Whether a key follows the indicators.
    key: bool,
    value: YamlValue,
}

/// Position of the value of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YamlValue {
    /// In the same row.
    Here,
    /// In the rows below.
    Below,
}

impl YamlRow {
    /// Parses a row without its comment and surrounding blanks.
    fn parse(row: &str) -> YamlRow {
        let mut rest = row;
        let mut last_indicator = 0;
        while let Some(behind) = rest.strip_prefix(['-', '?', ':']) {
            let content = behind.trim_start_matches([' ', '\t']);
            if content.len() == behind.len() && !content.is_empty() {
                break;
            }
            last_indicator = row.len() - rest.len();
            rest = content;
        }
        let has_indicators = rest.len() < row.len();
        let width = if rest.is_empty() && has_indicators {
            // An indicator alone: its value starts where one blank would put it.
            last_indicator + 2
        } else {
            row.len() - rest.len()
        };
        let value = value_behind_key(rest);
        let is_open = |value: &str| is_value_below(value) && (has_indicators || value != rest);
        YamlRow {
            width: width as u32,
            last_indicator: last_indicator as u32,
            key: value.is_some(),
            value: if is_open(value.unwrap_or(rest)) {
                YamlValue::Below
            } else {
                YamlValue::Here
            },
        }
    }
}

/// The text behind the key and its colon, if `rest` starts with a key.
fn value_behind_key(rest: &str) -> Option<&str> {
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let behind = rest.get(quoted_len(rest, quote)?..)?;
        return behind.trim_start().strip_prefix(':');
    }
    if rest.starts_with(['[', '{']) {
        return None;
    }
    let colon = rest.find(": ").or_else(|| rest.find(":\t"));
    let colon = colon.or_else(|| rest.len().checked_sub(1).filter(|_| rest.ends_with(':')))?;
    Some(&rest[colon + 1..])
}

/// The length of the quoted scalar that `text` starts with. A backslash escapes in double quotes, a
/// second quote in single ones.
fn quoted_len(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let is_escape = c == '\\' && quote == '"';
        let is_doubled =
            c == '\'' && quote == '\'' && chars.peek().is_some_and(|next| next.1 == quote);
        if is_escape || is_doubled {
            chars.next();
        } else if c == quote {
            return Some(at + 1);
        }
    }
    None
}

/// Whether a value has only anchors, tags and the header of a block scalar in its row.
fn is_value_below(value: &str) -> bool {
    let mut words = value.split_whitespace().peekable();
    while words.next_if(|word| word.starts_with(['&', '!'])).is_some() {}
    let Some(word) = words.next() else {
        return true;
    };
    let header = word.strip_prefix(['|', '>']);
    let is_header = |header: &str| header.chars().all(|c| matches!(c, '0'..='9' | '+' | '-'));
    header.is_some_and(is_header) && words.next().is_none()
}

/// Whether a row is text of a block scalar that begins above it.
fn is_in_block_scalar(syntax: &SyntaxSnapshot, text: &Snapshot, part: &RowPart) -> bool {
    let Some(last) = part.end.0.checked_sub(1) else {
        return false;
    };
    let views = syntax.views_at(text, ByteOffset(last));
    let Some(view) = views.last() else {
        return false;
    };
    let Some(at) = last.checked_sub(view.shift) else {
        return false;
    };
    path_to(view.root(), at).into_iter().any(|node| {
        let start = ByteOffset(node.start_byte() + view.shift);
        node.kind() == "block_scalar" && text.point_at(start).row < part.row
    })
}
