//! Symbol search: exact names first, then prefixes, then similar names.

use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;

use base::Span;
use project::fuzzy::{CandidateKind, rank};

use crate::answer::HitTexts;
use crate::chunk::{CodeChunk, Defined};
use crate::hit::{ScoreParts, SearchHit};
use crate::record::chunks_of;
use crate::repo_layout::relative;
use crate::state::IndexState;

/// Maximum number of bytes shown of a definition.
const MAX_SHOWN_BYTES: usize = 4_000;
/// Base scores of the three kinds of matches.
const SAME: f32 = 3.0;
const BEGINS: f32 = 2.0;
const ALIKE: f32 = 1.0;

/// A definition in a visible file.
struct Symbol {
    path: std::sync::Arc<str>,
    around: Vec<String>,
    defined: Defined,
}

impl IndexState {
    /// Returns the definitions of a name, at most `limit`; see `Index::symbols`.
    pub(crate) fn symbols(&self, name: &str, limit: usize) -> Vec<SearchHit> {
        let (outer, name) = split_qualified(name);
        let Some((layout, _)) = self.store.get() else {
            return Vec::new();
        };
        let mut symbols = self.all_symbols();
        if !outer.is_empty() {
            let lies_in = |symbol: &Symbol| {
                symbol.around.iter().any(|around| {
                    around
                        .split(|it: char| !is_letter(it))
                        .any(|word| word == outer)
                }) || symbol.path.split(['/', '.']).any(|part| part == outer)
            };
            if symbols
                .iter()
                .any(|symbol| symbol.defined.name == name && lies_in(symbol))
            {
                symbols.retain(lies_in);
            }
        }
        let scores = scores(&symbols, name, limit);
        let mut reader = HitTexts::new(self, &layout.top);
        scores
            .into_iter()
            .filter_map(|(at, score)| {
                let symbol = symbols.get(at)?;
                let text = reader.text(&symbol.path);
                let (span, text) = rows_of(text, symbol.defined.rows.clone());
                Some(SearchHit {
                    path: relative(&symbol.path, &layout.prefix),
                    rows: symbol.defined.rows.clone(),
                    span,
                    symbol: Some(symbol.defined.name.clone()),
                    kind: Some(symbol.defined.kind),
                    text,
                    score,
                    parts: ScoreParts::default(),
                })
            })
            .collect()
    }

    /// Returns every visible definition, by path and row.
    fn all_symbols(&self) -> Vec<Symbol> {
        let Some((layout, store)) = self.store.get() else {
            return Vec::new();
        };
        let contents = store.contents();
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
        let entries = view.entries().filter_map(|id| contents.entry(id));
        let entries = entries.filter(|entry| entry.path.starts_with(&layout.prefix));
        let symbols = entries.flat_map(|entry| {
            let chunks = chunks_of(&entry.layout, &entry.bytes).into_iter();
            chunks.flat_map(move |chunk| of_chunk(&entry.path, chunk))
        });
        symbols.collect()
    }
}

fn of_chunk(path: &std::sync::Arc<str>, chunk: CodeChunk) -> Vec<Symbol> {
    let (around, symbol) = (chunk.around, chunk.symbol);
    let within = |defined: &Defined| {
        let own = symbol.iter().filter(|symbol| **symbol != defined.name);
        around.iter().chain(own).cloned().collect()
    };
    let symbols = chunk.defines.into_iter().map(|defined| Symbol {
        path: path.clone(),
        around: within(&defined),
        defined,
    });
    symbols.collect()
}

/// Splits `Type::name` into `Type` and `name`.
fn split_qualified(name: &str) -> (&str, &str) {
    let name = name
        .trim()
        .trim_end_matches("()")
        .trim_end_matches(|letter| !is_letter(letter));
    let Some(at) = name.rfind(|letter| !is_letter(letter)) else {
        return ("", name);
    };
    let inner = name[at..].trim_start_matches(|letter| !is_letter(letter));
    let outer = name[..at].trim_end_matches(|letter| !is_letter(letter));
    let outer = outer
        .rsplit(|letter| !is_letter(letter))
        .next()
        .unwrap_or_default();
    (outer, inner)
}

/// Whether a char belongs to a name: a letter, a digit, `_` or `$`.
fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

/// Returns the matching symbols with their scores, best first.
fn scores(symbols: &[Symbol], name: &str, limit: usize) -> Vec<(usize, f32)> {
    let small = name.to_lowercase();
    let direct = |symbol: &Symbol| {
        let own = &symbol.defined.name;
        // The same letters in another case rank below the exact name.
        if own == name {
            Some(SAME)
        } else if own.to_lowercase() == small {
            Some(SAME - 0.5)
        } else if own.to_lowercase().starts_with(&small) {
            Some(BEGINS + name.len() as f32 / own.len().max(1) as f32 / 2.0)
        } else {
            None
        }
    };
    let mut found: Vec<(usize, f32)> = symbols
        .iter()
        .enumerate()
        .filter_map(|(at, symbol)| Some((at, direct(symbol)?)))
        .collect();
    found.sort_by(|left, right| right.1.total_cmp(&left.1));
    if found.len() < limit && !name.is_empty() {
        let names: Vec<&str> = symbols
            .iter()
            .map(|symbol| symbol.defined.name.as_str())
            .collect();
        let alike = rank(
            name,
            &names,
            CandidateKind::Text,
            limit + found.len(),
            &AtomicBool::new(false),
        );
        let best = alike.first().map_or(1, |best| best.score.max(1)) as f32;
        for ranked in alike {
            if !found.iter().any(|(at, _)| *at == ranked.index) {
                found.push((ranked.index, ALIKE * ranked.score as f32 / best));
            }
        }
    }
    found.truncate(limit);
    found
}

/// Returns some rows of a text and their span; long ones are cut at a row's end.
fn rows_of(text: &str, rows: std::ops::Range<u32>) -> (Span, String) {
    let mut start = text.len();
    let (mut at, mut end) = (0, 0);
    for (row, line) in (0_u32..).zip(text.split_inclusive('\n')) {
        if row == rows.start {
            start = at;
        }
        at += line.len();
        if rows.contains(&row) {
            end = at;
        }
    }
    let start = start.min(end);
    let mut shown = text.get(start..end).unwrap_or_default();
    if shown.len() > MAX_SHOWN_BYTES {
        let cut = shown.floor_char_boundary(MAX_SHOWN_BYTES);
        shown = &shown[..shown[..cut].rfind('\n').unwrap_or(cut)];
    }
    (Span::from(start..end), shown.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qualified_name_is_taken_apart() {
        let check =
            |name: &str, expected: (&str, &str)| assert_eq!(split_qualified(name), expected);
        check("total", ("", "total"));
        check("Cart::total", ("Cart", "total"));
        check("shop.Cart.total()", ("Cart", "total"));
        check("Cart::", ("", "Cart"));
        check("", ("", ""));
    }

    #[test]
    fn rows_are_cut_out_of_a_text() {
        let check = |text: &str, rows, expected: &str| {
            let (span, shown) = rows_of(text, rows);
            assert_eq!(shown, expected);
            assert_eq!(&text[span.range()], expected);
        };
        check("a\nb\nc\n", 1..2, "b\n");
        check("a\nb\nc", 1..9, "b\nc");
        check("a", 5..6, "");
        check("", 0..1, "");
    }
}
