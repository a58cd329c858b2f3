//! Types and functions that a text defines, by name.

use std::sync::Arc;

use sum_tree::TreeMap;
use text::Snapshot;

use crate::outline_item::{OutlineItem, OutlineKind};

/// The members of a type, or the parameters of a function, as the text defines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Kind of the item: an enum, a struct, a function or a method.
    pub kind: OutlineKind,
    /// Fields or variants directly in a type.
    pub fields: Vec<DefinedField>,
    /// Names of the other items directly in a type.
    pub others: Vec<String>,
    /// Names of the parameters of a function.
    pub parameters: Vec<String>,
}

/// A field of a struct or a variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinedField {
    /// Name of the field or variant.
    pub name: String,
    /// Brackets after the name.
    pub payload: FieldPayload,
}

/// The brackets after the name of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPayload {
    /// No brackets.
    None,
    /// Round brackets: the variant has fields without names.
    Tuple,
    /// Curly brackets: the variant has fields with names.
    Record,
}

impl Definition {
    /// Creates the definition of a type from the items within it, in text order.
    pub(super) fn of_type(item: &OutlineItem, within: &[OutlineItem], text: &Snapshot) -> Self {
        let own = within.iter().find(|it| it.name_span == item.name_span);
        let depth = own.map(|own| own.depth + 1);
        let members = within.iter().filter(|it| Some(it.depth) == depth);
        let (fields, others): (Vec<&OutlineItem>, Vec<&OutlineItem>) =
            members.partition(|it| it.kind == OutlineKind::Field);
        Self {
            kind: item.kind,
            fields: fields.iter().map(|it| DefinedField::of(it, text)).collect(),
            others: others.iter().map(|it| it.name.clone()).collect(),
            parameters: Vec::new(),
        }
    }

    /// Creates the definition of a function.
    pub(super) fn of_function(kind: OutlineKind, parameters: Vec<String>) -> Self {
        Self {
            kind,
            fields: Vec::new(),
            others: Vec::new(),
            parameters,
        }
    }
}

impl DefinedField {
    fn of(item: &OutlineItem, text: &Snapshot) -> Self {
        let rest = item.span.end - item.name_span.end;
        let mut behind = text.chars_at(item.name_span.end).take(rest);
        Self {
            name: item.name.clone(),
            payload: match behind.find(|char| !char.is_whitespace()) {
                Some('(') => FieldPayload::Tuple,
                Some('{') => FieldPayload::Record,
                _ => FieldPayload::None,
            },
        }
    }
}

/// Definitions by name. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct DefinitionIndex(TreeMap<DefinitionKey, Arc<Definition>>);

/// A name, and the number of its item, which distinguishes definitions of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct DefinitionKey {
    name: Arc<str>,
    item: u64,
}

impl DefinitionIndex {
    /// Adds definitions with their names and the numbers of their items.
    pub(super) fn insert(&mut self, definitions: Vec<(Arc<str>, u64, Definition)>) {
        if !definitions.is_empty() {
            let entries = definitions.into_iter().map(|(name, item, definition)| {
                (DefinitionKey { name, item }, Arc::new(definition))
            });
            self.0.extend(entries);
        }
    }

    /// Removes the definition of an item, if the index has it.
    pub(super) fn remove(&mut self, name: &Arc<str>, item: u64) {
        let name = name.clone();
        self.0.remove(&DefinitionKey { name, item });
    }

    /// Returns the definition of a name; `None` if it has none or several.
    pub(super) fn only(&self, name: &str) -> Option<&Definition> {
        let first = DefinitionKey {
            name: name.into(),
            item: 0,
        };
        let mut found = self
            .0
            .iter_from(&first)
            .take_while(|(key, _)| &*key.name == name);
        let (_, definition) = found.next()?;
        found.next().is_none().then_some(&**definition)
    }
}
