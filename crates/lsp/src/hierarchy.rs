//! Callers and callees of functions, supertypes and subtypes of types.
//!
//! One request returns the item at an offset; a second one returns the items related to it.
//! Start at `LanguageServer::prepare_calls`.

use base::{AbsPath, ByteOffset};
use serde_json::{Value, json};

use crate::answer::{read_list, text_member};
use crate::hover::position_params;
use crate::locations::{Location, read_location};
use crate::position::PositionEncoding;
use crate::range::{ServerRange, WireRange};
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::symbols::SymbolKind;

/// Maximum number of symbols in one answer.
const MAX_ITEMS: usize = 10_000;
/// Maximum number of calls of one function in another.
const MAX_CALLS: usize = 1_000;

/// A function or type in a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchyItem {
    /// The name.
    pub name: String,
    /// Further information, such as the signature or the module.
    pub detail: Option<String>,
    /// The kind.
    pub kind: SymbolKind,
    /// The place of its definition.
    pub location: Location,
    /// The item as the server wrote it; it is sent back with requests about it.
    value: Value,
}

/// The function at the other end of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchyCall {
    /// The caller or the callee.
    pub item: HierarchyItem,
    /// The places of the calls, in the file of the caller.
    pub ranges: Vec<ServerRange>,
}

/// The direction in which calls are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallDirection {
    /// To the callers.
    Incoming,
    /// To the callees.
    Outgoing,
}

/// The direction in which a hierarchy of types is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeDirection {
    /// To the types from which a type is derived.
    Supertypes,
    /// To the types that are derived from a type.
    Subtypes,
}

impl LanguageServer {
    /// Asks for the functions at `offset`, about whose calls `calls` asks.
    pub fn prepare_calls(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
    ) -> Option<Request<Vec<HierarchyItem>>> {
        self.prepare("textDocument/prepareCallHierarchy", path, offset)
    }

    /// Asks for the types at `offset`, about whose relations `related_types` asks.
    pub fn prepare_types(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
    ) -> Option<Request<Vec<HierarchyItem>>> {
        self.prepare("textDocument/prepareTypeHierarchy", path, offset)
    }

    fn prepare(
        &self,
        method: &'static str,
        path: &AbsPath,
        offset: ByteOffset,
    ) -> Option<Request<Vec<HierarchyItem>>> {
        let params = |document: &RequestDocument| position_params(document, offset);
        self.ask_document(method, path, params, |json, document, violations| {
            let items = read_list::<_, MAX_ITEMS>(json, violations, |item, _| {
                read_item(item, document.encoding)
            });
            Ok(items?.into_iter().flatten().collect())
        })
    }

    /// Requests the callers or callees of a function. Omits items whose URI is not a local file.
    pub fn calls(
        &self,
        direction: CallDirection,
        item: &HierarchyItem,
    ) -> Option<Request<Vec<HierarchyCall>>> {
        let (method, member) = match direction {
            CallDirection::Incoming => ("callHierarchy/incomingCalls", "from"),
            CallDirection::Outgoing => ("callHierarchy/outgoingCalls", "to"),
        };
        let params = json!({ "item": item.value });
        let is_offered = ServerSession::is_running;
        self.ask_workspace(
            method,
            params,
            is_offered,
            move |json, encoding, violations| {
                let calls = read_list::<_, MAX_ITEMS>(json, violations, |call, _| {
                    read_call(call, member, encoding)
                });
                Ok(calls?.into_iter().flatten().collect())
            },
        )
    }

    /// Requests the supertypes or subtypes of a type. Omits items whose URI is not a local file.
    pub fn related_types(
        &self,
        direction: TypeDirection,
        item: &HierarchyItem,
    ) -> Option<Request<Vec<HierarchyItem>>> {
        let method = match direction {
            TypeDirection::Supertypes => "typeHierarchy/supertypes",
            TypeDirection::Subtypes => "typeHierarchy/subtypes",
        };
        let params = json!({ "item": item.value });
        let is_offered = ServerSession::is_running;
        self.ask_workspace(method, params, is_offered, |json, encoding, violations| {
            let items =
                read_list::<_, MAX_ITEMS>(json, violations, |item, _| read_item(item, encoding));
            Ok(items?.into_iter().flatten().collect())
        })
    }
}

/// Reads a `CallHierarchyItem` or `TypeHierarchyItem`; `None` if it is malformed, `Some(None)` if it lies outside of
/// local files.
fn read_item(item: &Value, encoding: PositionEncoding) -> Option<Option<HierarchyItem>> {
    let name = text_member(item, "name")?;
    let location = read_location(item, encoding)?;
    let selection = item.get("selectionRange").and_then(WireRange::of);
    Some(location.map(|location| HierarchyItem {
        name,
        detail: text_member(item, "detail").filter(|detail| !detail.is_empty()),
        kind: SymbolKind::of(&item["kind"]),
        location: Location {
            selection: selection.map_or(location.range, |it| it.server_range(encoding)),
            ..location
        },
        value: item.clone(),
    }))
}

/// Reads a call, whose other end is in `member`; as `read_item`.
fn read_call(
    call: &Value,
    member: &str,
    encoding: PositionEncoding,
) -> Option<Option<HierarchyCall>> {
    let item = read_item(call.get(member)?, encoding)?;
    let ranges = call.get("fromRanges").and_then(Value::as_array);
    let ranges = ranges.into_iter().flatten().filter_map(WireRange::of);
    let ranges = ranges.take(MAX_CALLS).map(|it| it.server_range(encoding));
    Some(item.map(|item| HierarchyCall {
        item,
        ranges: ranges.collect(),
    }))
}

#[cfg(test)]
mod tests {
    use base::Row;
    use serde_json::{Value, json};

    use super::{read_call, read_item};
    use crate::position::PositionEncoding;
    use crate::symbols::SymbolKind;

    fn range(row: u32, start: u32, end: u32) -> Value {
        json!({ "start": { "line": row, "character": start }, "end": { "line": row, "character": end } })
    }

    fn item() -> Value {
        json!({
            "name": "f", "kind": 12, "detail": "", "uri": "file:///w/a.rs", "data": 7,
            "range": range(1, 0, 9), "selectionRange": range(2, 3, 4),
        })
    }

    #[test]
    fn an_item_keeps_the_value_that_is_sent_back() {
        let read = read_item(&item(), PositionEncoding::Utf8);
        let read = read.flatten().expect("an item");
        assert_eq!((read.name.as_str(), read.kind), ("f", SymbolKind::Function));
        assert_eq!(read.location.range.row(), Row(1));
        assert_eq!(read.location.selection.row(), Row(2));
        assert_eq!((read.detail, read.value), (None, item()));
        let mut outside = item();
        outside["uri"] = json!("jdt://x");
        assert_eq!(read_item(&outside, PositionEncoding::Utf8), Some(None));
        assert_eq!(read_item(&json!({}), PositionEncoding::Utf8), None);
    }

    #[test]
    fn a_call_names_its_other_end() {
        let call = json!({ "from": item(), "fromRanges": [range(5, 0, 1), 7, range(6, 0, 1)] });
        let read = read_call(&call, "from", PositionEncoding::Utf8);
        let read = read.flatten().expect("a call");
        let rows: Vec<u32> = read.ranges.iter().map(|it| it.row().0).collect();
        assert_eq!((read.item.name.as_str(), rows), ("f", vec![5, 6]));
        assert_eq!(read_call(&call, "to", PositionEncoding::Utf8), None);
    }
}
