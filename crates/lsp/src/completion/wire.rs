//! Completion lists as servers write them.
//!
//! Only the label of an item is required. The other members are kept as JSON text while an item is
//! scanned, and a malformed one counts as absent.

use std::sync::Arc;

use base::Span;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::answer::{AnswerError, Reading, is_deprecated, text_member};
use crate::bounded::RawItems;
use crate::command::ServerCommand;
use crate::completion::{
    CompletionInsert, CompletionItem, CompletionKind, CompletionList, CompletionSource, ListSource,
};
use crate::document_edits::additional_edits;
use crate::range::WireRange;
use crate::request_document::RequestDocument;
use crate::violations::{Violation, Violations};

/// Maximum number of items.
const MAX_ITEMS: usize = 100_000;
/// Maximum length of an answer, in bytes.
const MAX_ANSWER: usize = 64 << 20;
/// Maximum length of an item, in bytes.
const MAX_ITEM: usize = 512 << 10;
/// Maximum length of the defaults that each item takes over, in bytes.
const MAX_DEFAULTS: usize = 64 << 10;
/// Maximum number of commit characters of an item.
const MAX_COMMIT: usize = 128;

/// The number for snippets in `insertTextFormat`.
const SNIPPET: u64 = 2;
/// The number for texts that keep their indentation in `insertTextMode`.
const AS_IS: u64 = 1;
/// The number for merging in `applyKind`.
const MERGE: u64 = 2;

/// A `CompletionList`; a list without the object around it is complete.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireList<'a> {
    #[serde(default)]
    is_incomplete: Value,
    #[serde(borrow, default)]
    items: RawItems<'a, MAX_ITEMS>,
    #[serde(borrow, default)]
    item_defaults: Option<&'a RawValue>,
    #[serde(borrow, default)]
    apply_kind: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireItem<'a> {
    label: String,
    #[serde(borrow, default)]
    label_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tags: Option<&'a RawValue>,
    #[serde(borrow, default)]
    deprecated: Option<&'a RawValue>,
    #[serde(borrow, default)]
    detail: Option<&'a RawValue>,
    #[serde(borrow, default)]
    preselect: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sort_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    filter_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    insert_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    insert_text_format: Option<&'a RawValue>,
    #[serde(borrow, default)]
    insert_text_mode: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text_edit: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text_edit_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    additional_text_edits: Option<&'a RawValue>,
    #[serde(borrow, default)]
    commit_characters: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
}

/// `TextEdit` or `InsertReplaceEdit`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireItemEdit {
    new_text: String,
    #[serde(flatten)]
    range: WireEditRange,
}

/// A range to replace, or one for each of two ways of inserting.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum WireEditRange {
    Two {
        insert: WireRange,
        replace: WireRange,
    },
    Member {
        range: WireRange,
    },
    One(WireRange),
}

/// Members that the items of a list have in common.
#[derive(Debug, Default)]
pub(super) struct ItemDefaults {
    /// The values by the names of the members of an item.
    members: Map<String, Value>,
    edit_range: Option<WireEditRange>,
    merges_commit_characters: bool,
    merges_data: bool,
}

impl ItemDefaults {
    fn of(defaults: Option<&RawValue>, apply_kind: Option<&RawValue>) -> Self {
        let defaults = defaults.filter(|it| it.get().len() <= MAX_DEFAULTS);
        let members: Map<String, Value> = parse(defaults).unwrap_or_default();
        let kinds: Value = parse(apply_kind).unwrap_or_default();
        let merges = |name: &str| kinds.get(name).and_then(Value::as_u64) == Some(MERGE);
        Self {
            edit_range: members
                .get("editRange")
                .and_then(|range| WireEditRange::deserialize(range).ok()),
            merges_commit_characters: merges("commitCharacters"),
            merges_data: merges("data"),
            members,
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.members.get(name)?.as_u64()
    }

    /// Returns the commit characters of an item with those of the list.
    fn commit_characters(&self, own: Option<Vec<String>>) -> Vec<char> {
        let default = || {
            let default = self
                .members
                .get("commitCharacters")
                .and_then(Value::as_array);
            let default = default.into_iter().flatten().filter_map(Value::as_str);
            default.map(str::to_owned).collect::<Vec<_>>()
        };
        let mut texts = match own {
            Some(mut own) => {
                if self.merges_commit_characters {
                    own.extend(default());
                }
                own
            }
            None => default(),
        };
        texts.truncate(MAX_COMMIT);
        let mut chars: Vec<char> = texts.iter().filter_map(|it| it.chars().next()).collect();
        chars.sort_unstable();
        chars.dedup();
        chars
    }

    /// Adds the members that an item lacks, so that the server recognises it.
    pub(super) fn complete(&self, item: &mut Map<String, Value>) {
        for name in [
            "commitCharacters",
            "insertTextFormat",
            "insertTextMode",
            "data",
        ] {
            let Some(default) = self.members.get(name) else {
                continue;
            };
            match item.get_mut(name) {
                None | Some(Value::Null) => {
                    item.insert(name.to_owned(), default.clone());
                }
                Some(Value::Object(own)) if name == "data" && self.merges_data => {
                    for (name, value) in default.as_object().into_iter().flatten() {
                        own.entry(name).or_insert_with(|| value.clone());
                    }
                }
                Some(Value::Array(own))
                    if name == "commitCharacters" && self.merges_commit_characters =>
                {
                    own.extend(default.as_array().into_iter().flatten().cloned());
                }
                Some(_) => {}
            }
        }
    }
}

/// Reads an answer: a list, a list with properties, or `null`.
pub(super) fn read_list(
    json: &str,
    document: &RequestDocument,
    violations: &mut Violations,
) -> Result<CompletionList, AnswerError> {
    if json.len() > MAX_ANSWER {
        return Err(AnswerError::new("it is too long"));
    }
    let list = match json.trim_start().as_bytes().first() {
        Some(b'{') => serde_json::from_str(json)?,
        _ => WireList {
            items: serde_json::from_str(json)?,
            ..WireList::default()
        },
    };
    let source = Arc::new(ListSource {
        document: document.clone(),
        defaults: ItemDefaults::of(list.item_defaults, list.apply_kind),
    });
    let dropped = list.items.dropped();
    violations.count(Violation::ItemBeyondBound, dropped);
    let mut reading = Reading::new(document, violations);
    let items = list.items.iter();
    Ok(CompletionList {
        items: items
            .filter_map(|item| read_item(item, &source, &mut reading))
            .collect(),
        // Items that were dropped may be the ones that the user types.
        is_incomplete: dropped > 0 || list.is_incomplete == Value::Bool(true),
        text: document.text.clone(),
    })
}

/// Reads an item; `None`, and a violation, if it is malformed or too long, or replaces something
/// beyond the text.
fn read_item(
    item: &RawValue,
    list: &Arc<ListSource>,
    reading: &mut Reading<'_>,
) -> Option<CompletionItem> {
    if item.get().len() > MAX_ITEM {
        reading.violations.count(Violation::ItemBeyondBound, 1);
        return None;
    }
    // The parser would take a list for an object without names.
    let wire: Option<WireItem<'_>> = (!item.get().starts_with('['))
        .then(|| serde_json::from_str(item.get()).ok())
        .flatten();
    let Some(wire) = wire else {
        reading.violations.count(Violation::MalformedItem, 1);
        return None;
    };
    let insert = wire.insert(&list.defaults, reading)?;
    let details: Value = parse(wire.label_details).unwrap_or_default();
    let edits: Option<Value> = parse(wire.additional_text_edits);
    let command: Option<Value> = parse(wire.command);
    Some(CompletionItem {
        label_detail: text_member(&details, "detail"),
        label_description: text_member(&details, "description"),
        detail: parse(wire.detail),
        kind: CompletionKind::of(parse(wire.kind)),
        filter_text: parse(wire.filter_text),
        sort_text: parse(wire.sort_text),
        is_preselected: parse(wire.preselect).unwrap_or_default(),
        is_deprecated: wire.is_deprecated(),
        commit_characters: list
            .defaults
            .commit_characters(parse(wire.commit_characters)),
        insert,
        additional_edits: edits.map_or_else(Vec::new, |edits| additional_edits(&edits, reading)),
        command: command.as_ref().and_then(ServerCommand::of),
        source: CompletionSource {
            json: item.get().into(),
            list: list.clone(),
        },
        label: wire.label,
    })
}

impl WireItem<'_> {
    fn is_deprecated(&self) -> bool {
        let mut flags = Map::new();
        for (name, value) in [("tags", self.tags), ("deprecated", self.deprecated)] {
            flags.extend(parse(value).map(|value: Value| (name.to_owned(), value)));
        }
        is_deprecated(&Value::Object(flags))
    }

    /// Returns the text to insert and the spans that it may replace; `None`, and a violation, if a
    /// span lies beyond the text.
    fn insert(
        &self,
        defaults: &ItemDefaults,
        reading: &mut Reading<'_>,
    ) -> Option<CompletionInsert> {
        let edit: Option<WireItemEdit> = parse(self.text_edit);
        let (text, range) = match edit {
            Some(edit) => (edit.new_text, Some(edit.range)),
            // The protocol ignores `insertText` if the list has a default range.
            None if defaults.edit_range.is_some() => {
                let text = parse(self.text_edit_text).unwrap_or_else(|| self.label.clone());
                (text, defaults.edit_range.clone())
            }
            None => {
                let text = parse(self.insert_text).unwrap_or_else(|| self.label.clone());
                (text, None)
            }
        };
        let (insert_span, replace_span) = match range {
            Some(range) => {
                let (insert, replace) = range.spans(reading)?;
                (Some(insert), Some(replace))
            }
            None => (None, None),
        };
        let format = parse(self.insert_text_format).or(defaults.number("insertTextFormat"));
        let mode = parse(self.insert_text_mode).or(defaults.number("insertTextMode"));
        Some(CompletionInsert {
            text,
            is_snippet: format == Some(SNIPPET),
            insert_span,
            replace_span,
            keeps_indent: mode == Some(AS_IS),
        })
    }
}

impl WireEditRange {
    /// Returns the spans for inserting and for replacing.
    fn spans(&self, reading: &mut Reading<'_>) -> Option<(Span, Span)> {
        match self {
            Self::Two { insert, replace } => {
                Some((reading.wire_span(*insert)?, reading.wire_span(*replace)?))
            }
            Self::Member { range } | Self::One(range) => {
                let span = reading.wire_span(*range)?;
                Some((span, span))
            }
        }
    }
}

/// Parses a member; `None` if it is absent or malformed.
fn parse<T: DeserializeOwned>(member: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(member?.get()).ok()
}
