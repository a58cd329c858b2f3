//! Symbols of a document and of the whole workspace.

use base::{AbsPath, Span};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::{AnswerError, Reading, is_deprecated, read_list, text_member};
use crate::bounded::RawItems;
use crate::locations::{Location, read_location};
use crate::position::PositionEncoding;
use crate::range::WireRange;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::violations::{Violation, Violations};

/// Maximum number of symbols in one answer, children included.
const MAX_SYMBOLS: usize = 100_000;
/// Maximum length of an answer about a document, in bytes.
const MAX_ANSWER: usize = 32 << 20;
/// Maximum depth of children.
const MAX_DEPTH: usize = 64;

/// A symbol of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSymbol {
    /// The name.
    pub name: String,
    /// Further information, such as the signature.
    pub detail: Option<String>,
    /// The kind.
    pub kind: SymbolKind,
    /// The whole symbol in the request's text, such as a function with its body.
    pub span: Span,
    /// The part to select, such as the name.
    pub selection_span: Span,
    /// Whether the symbol should not be used any more.
    pub is_deprecated: bool,
    /// The symbols inside. Empty if the server answered with a flat list.
    pub children: Vec<DocumentSymbol>,
}

/// A symbol of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceSymbol {
    /// The name.
    pub name: String,
    /// The name of the symbol around it, such as the class.
    pub container: Option<String>,
    /// The kind.
    pub kind: SymbolKind,
    /// The place.
    pub location: Location,
}

/// The kind of a symbol, as the protocol distinguishes them.
#[expect(
    missing_docs,
    reason = "the names are the terms of programming languages"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    File,
    Module,
    Namespace,
    Package,
    Class,
    Method,
    Property,
    Field,
    Constructor,
    Enum,
    Interface,
    Function,
    Variable,
    Constant,
    String,
    Number,
    Boolean,
    Array,
    Object,
    Key,
    Null,
    EnumMember,
    Struct,
    Event,
    Operator,
    TypeParameter,
}

/// The kinds in the order of their numbers, from 1.
const KINDS: [SymbolKind; 26] = [
    SymbolKind::File,
    SymbolKind::Module,
    SymbolKind::Namespace,
    SymbolKind::Package,
    SymbolKind::Class,
    SymbolKind::Method,
    SymbolKind::Property,
    SymbolKind::Field,
    SymbolKind::Constructor,
    SymbolKind::Enum,
    SymbolKind::Interface,
    SymbolKind::Function,
    SymbolKind::Variable,
    SymbolKind::Constant,
    SymbolKind::String,
    SymbolKind::Number,
    SymbolKind::Boolean,
    SymbolKind::Array,
    SymbolKind::Object,
    SymbolKind::Key,
    SymbolKind::Null,
    SymbolKind::EnumMember,
    SymbolKind::Struct,
    SymbolKind::Event,
    SymbolKind::Operator,
    SymbolKind::TypeParameter,
];

/// The common members of `DocumentSymbol` and `SymbolInformation`; children stay raw.
#[derive(Deserialize)]
struct WireChildren<'a> {
    #[serde(borrow, default)]
    children: RawItems<'a, MAX_SYMBOLS>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSymbol {
    name: String,
    #[serde(default)]
    detail: Value,
    #[serde(default)]
    kind: Value,
    #[serde(default)]
    tags: Value,
    #[serde(default)]
    deprecated: Value,
    #[serde(default)]
    range: Option<WireRange>,
    #[serde(default)]
    selection_range: Option<WireRange>,
    /// The place in `SymbolInformation`.
    #[serde(default)]
    location: Option<WireLocation>,
}

#[derive(Deserialize)]
struct WireLocation {
    range: WireRange,
}

impl SymbolKind {
    /// Reads the number of a kind; an unknown one is a variable.
    pub(crate) fn of(number: &Value) -> Self {
        let number = number.as_u64().and_then(|it| usize::try_from(it).ok());
        let kind = number.and_then(|number| KINDS.get(number.checked_sub(1)?));
        kind.copied().unwrap_or(Self::Variable)
    }
}

impl LanguageServer {
    /// Asks for the symbols of a document, in the order in which the server lists them.
    pub fn document_symbols(&self, path: &AbsPath) -> Option<Request<Vec<DocumentSymbol>>> {
        let params = |_: &RequestDocument| Some(json!({}));
        let method = "textDocument/documentSymbol";
        self.ask_document(method, path, params, read_document_symbols)
    }

    /// Asks for the symbols whose names match `query`, as the server matches names. Symbols outside of local files are
    /// omitted, and those of other folders if this is the handle of one (`for_folder`).
    pub fn workspace_symbols(&self, query: &str) -> Option<Request<Vec<WorkspaceSymbol>>> {
        let params = json!({ "query": query });
        let (own, others) = (self.folder().cloned(), self.other_folders());
        let is_foreign = move |symbol: &WorkspaceSymbol| {
            let path = &symbol.location.path;
            others.iter().any(|folder| path.is_within(folder))
                && !own.as_ref().is_some_and(|folder| path.is_within(folder))
        };
        let read = move |json: &str, encoding: PositionEncoding, violations: &mut Violations| {
            let symbols = read_list::<_, MAX_SYMBOLS>(json, violations, |item, _| {
                read_workspace_symbol(item, encoding)
            });
            let symbols = symbols?.into_iter().flatten();
            Ok(symbols.filter(|symbol| !is_foreign(symbol)).collect())
        };
        let method = "workspace/symbol";
        let is_offered = |session: &ServerSession| session.offers_workspace(method, |_| true);
        self.ask_workspace(method, params, is_offered, read)
    }
}

/// Reads a `SymbolInformation` or a `WorkspaceSymbol`; `None` if it is malformed, `Some(None)` if it
/// lies outside of local files.
fn read_workspace_symbol(
    item: &Value,
    encoding: PositionEncoding,
) -> Option<Option<WorkspaceSymbol>> {
    let name = text_member(item, "name")?;
    let location = read_location(item.get("location")?, encoding)?;
    Some(location.map(|location| WorkspaceSymbol {
        name,
        container: text_member(item, "containerName").filter(|name| !name.is_empty()),
        kind: SymbolKind::of(&item["kind"]),
        location,
    }))
}

fn read_document_symbols(
    json: &str,
    document: &RequestDocument,
    violations: &mut Violations,
) -> Result<Vec<DocumentSymbol>, AnswerError> {
    if json.len() > MAX_ANSWER {
        return Err(AnswerError::new("it is too long"));
    }
    let items: RawItems<'_, MAX_SYMBOLS> = serde_json::from_str(json)?;
    let mut reader = SymbolReader {
        reading: Reading::new(document, violations),
        rest: MAX_SYMBOLS,
    };
    Ok(reader.read_all(&items, MAX_DEPTH))
}

/// Reads symbols up to the bound of an answer.
struct SymbolReader<'a> {
    reading: Reading<'a>,
    /// Number of symbols that may still be read.
    rest: usize,
}

impl SymbolReader<'_> {
    /// Reads a list of symbols with at most `depth` levels.
    fn read_all(&mut self, items: &RawItems<'_, MAX_SYMBOLS>, depth: usize) -> Vec<DocumentSymbol> {
        self.drop_items(items.dropped());
        let mut symbols = Vec::new();
        for item in items.iter() {
            if self.rest == 0 || depth == 0 {
                self.drop_items(1);
                continue;
            }
            self.rest -= 1;
            symbols.extend(self.read(item, depth));
        }
        symbols
    }

    fn read(&mut self, item: &RawValue, depth: usize) -> Option<DocumentSymbol> {
        let symbol: Option<WireSymbol> = serde_json::from_str(item.get()).ok();
        let range = |it: &WireSymbol| it.range.or_else(|| Some(it.location.as_ref()?.range));
        let symbol = symbol.and_then(|it| Some((range(&it)?, it)));
        let Some((range, symbol)) = symbol else {
            self.reading.violations.count(Violation::MalformedItem, 1);
            return None;
        };
        let span = self.reading.wire_span(range)?;
        let selection = symbol.selection_range.map(|it| self.reading.wire_span(it));
        let selection_span = selection.flatten().unwrap_or(span);
        let children: Result<WireChildren<'_>, _> = serde_json::from_str(item.get());
        let children = children.map(|it| self.read_all(&it.children, depth - 1));
        let flags = json!({ "tags": symbol.tags, "deprecated": symbol.deprecated });
        Some(DocumentSymbol {
            kind: SymbolKind::of(&symbol.kind),
            detail: symbol.detail.as_str().map(str::to_owned),
            name: symbol.name,
            span,
            selection_span,
            is_deprecated: is_deprecated(&flags),
            children: children.unwrap_or_default(),
        })
    }

    fn drop_items(&mut self, number: usize) {
        let violations = &mut self.reading.violations;
        violations.count(Violation::ItemBeyondBound, number);
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use serde_json::{Value, json};

    use super::{DocumentSymbol, SymbolKind, read_document_symbols, read_workspace_symbol};
    use crate::position::PositionEncoding;
    use crate::testing::{document, violations_of};

    fn range(row: u32, start: u32, end: u32) -> Value {
        json!({ "start": { "line": row, "character": start }, "end": { "line": row, "character": end } })
    }

    fn read(answer: &Value) -> (Vec<DocumentSymbol>, Vec<String>) {
        violations_of(|violations| {
            let document = document("fn f() {}\n");
            read_document_symbols(&answer.to_string(), &document, violations).expect("symbols")
        })
    }

    fn symbol(name: &str, children: Value) -> Value {
        json!({
            "name": name, "kind": 12, "tags": [1], "detail": "fn()", "children": children,
            "range": range(0, 0, 9), "selectionRange": range(0, 3, 4),
        })
    }

    #[test]
    fn symbols_keep_their_children() {
        let (symbols, counted) = read(&json!([symbol("f", json!([symbol("g", Value::Null)]))]));
        assert_eq!(counted, [""; 0]);
        let f = &symbols[0];
        assert_eq!((f.name.as_str(), f.kind), ("f", SymbolKind::Function));
        assert_eq!(
            (f.span, f.selection_span),
            (Span::from(0..9), Span::from(3..4))
        );
        assert!(f.is_deprecated && f.detail.as_deref() == Some("fn()"));
        assert_eq!(f.children[0].name, "g");
        assert_eq!(read(&Value::Null).0, []);
    }

    #[test]
    fn flat_symbols_become_the_same() {
        let location = json!({ "uri": "file:///w/a.rs", "range": range(0, 0, 9) });
        let flat = json!([{ "name": "f", "kind": 99, "location": location, "deprecated": true }]);
        let (symbols, _) = read(&flat);
        assert_eq!(symbols[0].kind, SymbolKind::Variable);
        assert_eq!(symbols[0].selection_span, Span::from(0..9));
        assert!(symbols[0].is_deprecated && symbols[0].children.is_empty());
    }

    #[test]
    fn malformed_symbols_hide_no_others() {
        let beyond = json!({ "name": "x", "kind": 1, "range": range(7, 0, 1) });
        let items = json!([7, { "name": "x" }, [1], beyond, symbol("f", json!([1]))]);
        let (symbols, counted) = read(&items);
        assert_eq!(symbols.len(), 1);
        assert_eq!(counted, ["1 out-of-range position", "4 malformed items"]);
    }

    #[test]
    fn the_depth_is_bounded() {
        let deep = (0..100).fold(json!([]), |children, _| json!([symbol("f", children)]));
        let (symbols, counted) = read(&deep);
        let mut depth = 0;
        let mut level = &symbols;
        while let Some(symbol) = level.first() {
            (depth, level) = (depth + 1, &symbol.children);
        }
        assert_eq!(depth, super::MAX_DEPTH);
        assert_eq!(counted, ["1 dropped item"]);
    }

    #[test]
    fn a_workspace_symbol_names_its_container() {
        let location = json!({ "uri": "file:///w/a.rs", "range": range(3, 0, 9) });
        let item = json!({ "name": "f", "kind": 6, "containerName": "C", "location": location });
        let symbol = read_workspace_symbol(&item, PositionEncoding::Utf8);
        let symbol = symbol.flatten().expect("a symbol");
        assert_eq!(symbol.container.as_deref(), Some("C"));
        assert_eq!(symbol.kind, SymbolKind::Method);
        assert_eq!(symbol.location.range.row().0, 3);
        let malformed = json!({ "name": "f", "location": { "uri": "file:///w/a.rs" } });
        assert_eq!(
            read_workspace_symbol(&malformed, PositionEncoding::Utf8),
            None
        );
    }
}
