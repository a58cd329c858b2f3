//! The symbols of one text in one order, whether a language server or the syntax tree names them.
//!
//! Pure. Start at `of_server` and `of_outline`.

use std::cmp::Reverse;

use base::{LineFeeds, Span, printable};
use lsp::DocumentSymbol;
use syntax::{OutlineItem, OutlineKind};

use crate::server_symbols::outline_kind;

/// A symbol of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextSymbol {
    pub(crate) name: String,
    /// Further information, such as the signature. May be empty.
    pub(crate) detail: String,
    pub(crate) kind: OutlineKind,
    /// Number of symbols around it.
    pub(crate) depth: usize,
    /// The names of the symbols around it, the outermost first. May be empty.
    pub(crate) container: String,
    /// The whole symbol.
    pub(crate) span: Span,
    pub(crate) name_span: Span,
}

/// Returns the items of a syntax tree's outline.
pub(crate) fn of_outline(outline: Vec<OutlineItem>) -> Vec<TextSymbol> {
    let symbols = outline.into_iter().map(|item| TextSymbol {
        name: item.name,
        detail: item.detail,
        kind: item.kind,
        depth: item.depth,
        container: String::new(),
        span: item.span,
        name_span: item.name_span,
    });
    with_containers(symbols.collect())
}

/// Returns the symbols of a server, each before those inside it, in the order of the text. Symbols of a flat list are
/// nested by their spans.
pub(crate) fn of_server(symbols: Vec<DocumentSymbol>) -> Vec<TextSymbol> {
    let is_flat = symbols.iter().all(|symbol| symbol.children.is_empty());
    let mut found = Vec::new();
    add_level(symbols, 0, &mut found);
    if is_flat {
        nest_by_span(&mut found);
    }
    with_containers(found)
}

fn add_level(mut level: Vec<DocumentSymbol>, depth: usize, found: &mut Vec<TextSymbol>) {
    level.sort_by_key(|symbol| (symbol.span.start, Reverse(symbol.span.end)));
    for symbol in level {
        let text = |text: &str| printable(text, LineFeeds::Escape).into_owned();
        found.push(TextSymbol {
            name: text(&symbol.name),
            detail: symbol.detail.as_deref().map(text).unwrap_or_default(),
            kind: outline_kind(symbol.kind),
            depth,
            container: String::new(),
            span: symbol.span,
            name_span: symbol.selection_span,
        });
        add_level(symbol.children, depth + 1, found);
    }
}

/// Sets the depths of symbols that are sorted by their spans.
fn nest_by_span(symbols: &mut [TextSymbol]) {
    let mut around: Vec<Span> = Vec::new();
    for symbol in symbols {
        let holds = |outer: &Span| symbol.span.end <= outer.end && *outer != symbol.span;
        while around.last().is_some_and(|outer| !holds(outer)) {
            around.pop();
        }
        symbol.depth = around.len();
        around.push(symbol.span);
    }
}

/// Sets the containers of symbols that have their depths.
fn with_containers(mut symbols: Vec<TextSymbol>) -> Vec<TextSymbol> {
    let mut around: Vec<String> = Vec::new();
    for symbol in &mut symbols {
        around.truncate(symbol.depth);
        symbol.container = around.join(" \u{203a} ");
        around.push(symbol.name.clone());
    }
    symbols
}

#[cfg(test)]
mod tests {
    use lsp::SymbolKind;

    use super::*;

    fn symbol(name: &str, span: (usize, usize), children: Vec<DocumentSymbol>) -> DocumentSymbol {
        DocumentSymbol {
            name: name.to_owned(),
            detail: None,
            kind: SymbolKind::Function,
            span: Span::from(span.0..span.1),
            selection_span: Span::from(span.0..span.0 + 1),
            is_deprecated: false,
            children,
        }
    }

    #[track_caller]
    fn check(symbols: Vec<DocumentSymbol>, expected: &[(usize, &str, &str)]) {
        let found = of_server(symbols);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.depth, it.name.as_str(), it.container.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn symbols_are_in_the_order_of_the_text_with_their_containers() {
        let inner = vec![
            symbol("c", (15, 19), Vec::new()),
            symbol("b", (11, 14), Vec::new()),
        ];
        let symbols = vec![
            symbol("d", (30, 40), Vec::new()),
            symbol("a", (10, 20), inner),
        ];
        let expected = [(0, "a", ""), (1, "b", "a"), (1, "c", "a"), (0, "d", "")];
        check(symbols, &expected);
    }

    #[test]
    fn a_flat_list_is_nested_by_spans() {
        let flat = [
            (11, 14, "b"),
            (10, 20, "a"),
            (12, 13, "c"),
            (20, 30, "d"),
            (20, 30, "e"),
        ];
        let flat = flat.map(|(start, end, name)| symbol(name, (start, end), Vec::new()));
        let expected = [
            (0, "a", ""),
            (1, "b", "a"),
            (2, "c", "a \u{203a} b"),
            (0, "d", ""),
            (0, "e", ""),
        ];
        check(flat.into(), &expected);
    }
}
