//! Definitions in a text: enumerations with variants, structures with fields, functions with
//! parameters.

use std::collections::HashMap;

use base::{Revision, Span};
use syntax::{OutlineItem, OutlineKind};

use crate::EditorState;

/// The enums, structs and functions defined in a text, with their members. A name that is defined
/// twice is ambiguous and left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileDefinitions {
    pub(crate) revision: Revision,
    enums: HashMap<String, Vec<EnumVariant>>,
    structs: HashMap<String, Vec<String>>,
    functions: HashMap<String, Vec<String>>,
}

/// A variant of an enum, with the pattern that its payload needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EnumVariant {
    pub(crate) name: String,
    /// Pattern that the payload needs after the name: nothing, `(..)` or ` { .. }`.
    pub(crate) payload: &'static str,
}

impl FileDefinitions {
    /// Reads the definitions of a text from its syntax tree. Without a tree, the result is empty.
    /// Takes time proportional to the text.
    pub(crate) fn of(state: &EditorState) -> Self {
        let revision = state.snapshot.revision();
        let Some(syntax) = &state.syntax else {
            return Self {
                revision,
                ..Self::default()
            };
        };
        let outline = syntax.outline(&state.snapshot);
        let mut facts = Self {
            revision,
            ..Self::default()
        };
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (ix, item) in outline.iter().enumerate() {
            match item.kind {
                OutlineKind::Enum => {
                    let variants = member_items(&outline, ix)
                        .map(|it| variant(it, state))
                        .collect();
                    facts.enums.insert(item.name.clone(), variants);
                }
                OutlineKind::Struct => {
                    let fields = member_items(&outline, ix)
                        .map(|it| it.name.clone())
                        .collect();
                    facts.structs.insert(item.name.clone(), fields);
                }
                OutlineKind::Function | OutlineKind::Method => {
                    let parameters = syntax.parameters(&state.snapshot, item.span);
                    facts.functions.insert(item.name.clone(), parameters);
                }
                _ => continue,
            }
            *seen.entry(&item.name).or_default() += 1;
        }
        for (name, _) in seen.into_iter().filter(|(_, count)| *count > 1) {
            facts.enums.remove(name);
            facts.structs.remove(name);
            facts.functions.remove(name);
        }
        facts
    }

    /// Returns the variants of the enum `name`. Returns `None` if the name is unknown or ambiguous.
    pub(crate) fn variants(&self, name: &str) -> Option<&[EnumVariant]> {
        self.enums.get(name).map(Vec::as_slice)
    }

    /// Returns the names of the fields of the struct `name`. Returns `None` if the name is unknown
    /// or ambiguous.
    pub(crate) fn fields(&self, name: &str) -> Option<&[String]> {
        self.structs.get(name).map(Vec::as_slice)
    }

    /// Returns the names of the parameters of the function `name`. Returns `None` if the name is
    /// unknown or ambiguous.
    pub(crate) fn parameters(&self, name: &str) -> Option<&[String]> {
        self.functions.get(name).map(Vec::as_slice)
    }
}

/// Returns the direct fields or variants of an outline item.
fn member_items(outline: &[OutlineItem], ix: usize) -> impl Iterator<Item = &OutlineItem> {
    let whole = outline.get(ix).map_or(Span::default(), |item| item.span);
    let depth = outline.get(ix).map_or(0, |item| item.depth + 1);
    outline
        .iter()
        .skip(ix + 1)
        .take_while(move |item| whole.covers(item.span))
        .filter(move |item| item.depth == depth && item.kind == OutlineKind::Field)
}

fn variant(item: &OutlineItem, state: &EditorState) -> EnumVariant {
    let behind = Span::new(item.name_span.end, item.span.end.max(item.name_span.end));
    let behind = state.snapshot.text(behind);
    EnumVariant {
        name: item.name.clone(),
        payload: match behind.trim_start().chars().next() {
            Some('(') => "(..)",
            Some('{') => " { .. }",
            _ => "",
        },
    }
}
