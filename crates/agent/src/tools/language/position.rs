//! The position of a symbol, from the line and the text that a model gives: models rarely count columns right.

use crate::language::SymbolPosition;
use crate::tool::{ToolContext, ToolResult};

use super::super::arguments::CallArguments;
use super::super::paths::{ToolPath, missing, resolve_below};
use super::super::{files_of, invalid, unexpected};
use crate::error::sentence;

/// The largest file in which a symbol is looked for, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Number of lines before and after the given one in which the symbol may be.
const NEAR_LINES: usize = 10;

/// A symbol that a call names.
pub(super) struct NamedSymbol {
    /// The name without qualifiers.
    pub(super) name: String,
    pub(super) position: SymbolPosition,
}

/// Finds the symbol that the arguments `path`, `line`, `symbol` and `column` mean. Fails with the result of the call.
pub(super) fn named_symbol(
    arguments: &CallArguments<'_>,
    context: &ToolContext,
) -> Result<NamedSymbol, ToolResult> {
    let path = resolve_below(context, arguments.needed("path")?)?;
    let line = line_number(arguments, "line")?.ok_or_else(|| arguments.missing("line"))?;
    let symbol = arguments.needed("symbol")?.trim().trim_end_matches("()");
    let column = arguments.number("column")?;
    if symbol.is_empty() {
        return Err(invalid("`symbol` is empty; give its text on that line"));
    }
    let text = text_of(context, &path)?;
    let column = column.map(|column| usize::try_from(column).unwrap_or(usize::MAX));
    let Some((line, column)) = find(&text, line as usize, symbol, column) else {
        let text = format!(
            "There is no {symbol:?} in line {line} of {} or near it. Read the file again and give the line and the text as they are.",
            path.name()
        );
        return Err(unexpected(text));
    };
    Ok(NamedSymbol {
        name: symbol[last_word(symbol)..].to_owned(),
        position: SymbolPosition {
            path: path.shown,
            line,
            column,
        },
    })
}

/// Returns a line number, counted from 1; `None` if it is omitted. Fails for other values.
pub(super) fn line_number(
    arguments: &CallArguments<'_>,
    name: &str,
) -> Result<Option<u32>, ToolResult> {
    let Some(number) = arguments.number(name)? else {
        return Ok(None);
    };
    match u32::try_from(number) {
        Ok(line) if line > 0 => Ok(Some(line)),
        _ => Err(invalid(format!("`{name}` must be a line, counted from 1"))),
    }
}

/// Returns the text of a file as the tools see it.
fn text_of(context: &ToolContext, path: &ToolPath) -> Result<String, ToolResult> {
    let buffers = context.sources.buffers.as_ref();
    if let Some(text) = buffers.and_then(|it| it.text(&path.path)) {
        return Ok(text);
    }
    let bytes = files_of(context).read(&path.path, MAX_FILE_BYTES);
    match bytes {
        Ok(bytes) => Ok(text::decode(&bytes).text.into_owned()),
        Err(error) if error.is_not_found() => Err(missing(context, path)),
        Err(error) => Err(unexpected(sentence(&error))),
    }
}

/// Returns the line and the column, in chars, of the last word of `symbol` in or near a line, counted from 1. Of several
/// occurrences in a line, the one nearest to `column` is taken, or the first.
fn find(text: &str, line: usize, symbol: &str, column: Option<usize>) -> Option<(u32, u32)> {
    let lines: Vec<&str> = text.lines().collect();
    for distance in 0..=NEAR_LINES {
        let before = line.checked_sub(distance);
        let after = (distance > 0).then_some(line + distance);
        for number in after.into_iter().chain(before) {
            let content = number.checked_sub(1).and_then(|row| lines.get(row));
            let Some(start) = content.and_then(|it| nearest(it, symbol, column)) else {
                continue;
            };
            return Some((u32::try_from(number).ok()?, u32::try_from(start + 1).ok()?));
        }
    }
    None
}

/// Returns the start of the last word of the occurrence, in chars from 0.
fn nearest(line: &str, symbol: &str, column: Option<usize>) -> Option<usize> {
    let word = last_word(symbol);
    let starts = line.match_indices(symbol).map(|(start, _)| start);
    let starts = starts.filter(|start| is_whole(line, *start, symbol));
    let columns = starts.map(|start| line[..start + word].chars().count());
    match column {
        Some(column) => columns.min_by_key(|start| start.abs_diff(column.saturating_sub(1))),
        None => columns.into_iter().next(),
    }
}

/// Returns whether the occurrence is not a part of a longer word.
fn is_whole(line: &str, start: usize, symbol: &str) -> bool {
    let touches = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(is_word) && outer.is_some_and(is_word)
    };
    let before = line[..start].chars().next_back();
    let after = line[start + symbol.len()..].chars().next();
    !touches(symbol.chars().next(), before) && !touches(symbol.chars().next_back(), after)
}

/// Returns the offset of the last word of a qualified name.
fn last_word(symbol: &str) -> usize {
    let end = symbol.trim_end_matches(|char| !is_word(char));
    let start = end.rfind(|char| !is_word(char));
    let start = start.map_or(0, |at| {
        at + end[at..].chars().next().map_or(1, char::len_utf8)
    });
    if end.is_empty() { 0 } else { start }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        text: &str,
        line: usize,
        symbol: &str,
        column: Option<usize>,
        expected: Option<(u32, u32)>,
    ) {
        assert_eq!(
            find(text, line, symbol, column),
            expected,
            "{text:?} {symbol}"
        );
    }

    #[test]
    fn a_symbol_is_found_by_its_text() {
        check("let é = save(x);", 1, "save", None, Some((1, 9)));
        check("save(saved, save)", 1, "save", None, Some((1, 1)));
        check("save(saved, save)", 1, "save", Some(12), Some((1, 13)));
        check("saved", 1, "save", None, None);
    }

    #[test]
    fn the_last_word_of_a_qualified_name_counts() {
        check("a::Store::open(x)", 1, "Store::open", None, Some((1, 11)));
        check("store.open()", 1, "store.open", None, Some((1, 7)));
        check("x + y", 1, "+", None, Some((1, 3)));
    }

    #[test]
    fn a_symbol_may_be_some_lines_away() {
        let text = "save\n\n\n\nsave\n";
        check(text, 4, "save", None, Some((5, 1)));
        check(text, 2, "save", None, Some((1, 1)));
        check(text, 0, "save", None, Some((1, 1)));
        check(text, 40, "save", None, None);
    }
}
