//! A grammar with its compiled queries and the meaning of its nodes, looked up by number.
//!
//! Invariant: a query that does not compile is reported and left out; the language still parses.

use std::ops::BitOr;

use base::never;
use tree_sitter::{Node, Query};

use crate::highlight_kind::HighlightKind;
use crate::language::{Definition, NodeKinds};

/// A compiled grammar.
pub(crate) struct Grammar {
    pub(crate) language: tree_sitter::Language,
    /// Injections first, then highlights: one pass over the visible nodes finds both.
    pub(crate) highlights: Option<Query>,
    /// Patterns of `highlights` below this number are injections.
    pub(crate) injection_patterns: usize,
    /// The kind of every capture of `highlights`; `None` for captures that clear the colour.
    pub(crate) capture_kinds: Vec<CaptureKind>,
    /// The injections alone, for passes over a whole text.
    pub(crate) injections: Option<Query>,
    /// Whether large injections in it get layers.
    pub(crate) has_layers: bool,
    pub(crate) folds: Option<Query>,
    pub(crate) outline: Option<Query>,
    /// What each node kind means, by its number.
    roles: Vec<Roles>,
    pub(crate) kinds: &'static NodeKinds,
}

/// What a capture of the highlights query does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureKind {
    /// Colours the node.
    Paint(HighlightKind),
    /// Takes the colour of the nodes around away.
    Clear,
    /// Names the language of an injection.
    InjectionLanguage,
    /// Is the text of an injection.
    InjectionContent,
    /// Only serves the pattern's conditions.
    Ignore,
}

/// Meanings of a node kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles(u8);

impl Roles {
    pub(crate) const STRING: Roles = Roles(1);
    pub(crate) const COMMENT: Roles = Roles(2);
    pub(crate) const EMBEDDED: Roles = Roles(4);
    pub(crate) const CONTEXT: Roles = Roles(8);
    pub(crate) const BLOCK: Roles = Roles(16);
    pub(crate) const START_TAG: Roles = Roles(32);
    pub(crate) const END_TAG: Roles = Roles(64);

    pub(crate) fn has(self, role: Roles) -> bool {
        self.0 & role.0 != 0
    }
}

impl BitOr for Roles {
    type Output = Roles;
    fn bitor(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }
}

impl Grammar {
    pub(crate) fn compile(definition: &'static Definition) -> Grammar {
        let language = (definition.grammar)();
        let sources = &definition.queries;
        let highlights = compile_query(
            definition.name,
            &language,
            &format!("{}\n{}", sources.injections, sources.highlights.join("\n")),
        );
        let injection_patterns = highlights
            .as_ref()
            .map_or(0, |query| patterns_before(query, sources.injections.len()));
        let capture_kinds = highlights.as_ref().map_or_else(Vec::new, capture_kinds);
        Grammar {
            injections: compile_query(definition.name, &language, sources.injections),
            has_layers: sources.has_layers,
            folds: compile_query(definition.name, &language, sources.folds),
            outline: compile_query(definition.name, &language, sources.outline),
            roles: roles(&language, &definition.kinds),
            kinds: &definition.kinds,
            language,
            highlights,
            injection_patterns,
            capture_kinds,
        }
    }

    /// What `node` means, if it is of this grammar.
    pub(crate) fn roles(&self, node: Node<'_>) -> Roles {
        self.roles
            .get(usize::from(node.kind_id()))
            .copied()
            .unwrap_or_default()
    }
}

pub(crate) fn compile_query(
    name: &str,
    language: &tree_sitter::Language,
    source: &str,
) -> Option<Query> {
    if source.trim().is_empty() {
        return None;
    }
    match Query::new(language, source) {
        Ok(query) => Some(query),
        Err(error) => {
            never!("a query of {name} does not compile: {error}");
            None
        }
    }
}

fn patterns_before(query: &Query, length: usize) -> usize {
    (0..query.pattern_count())
        .take_while(|&pattern| query.start_byte_for_pattern(pattern) < length)
        .count()
}

fn capture_kinds(query: &Query) -> Vec<CaptureKind> {
    query
        .capture_names()
        .iter()
        .map(|name| capture_kind(name).unwrap_or(CaptureKind::Ignore))
        .collect()
}

/// What a capture of this name does; `None` for names that mean nothing to us.
pub(crate) fn capture_kind(name: &str) -> Option<CaptureKind> {
    Some(match name {
        "injection.content" => CaptureKind::InjectionContent,
        "injection.language" => CaptureKind::InjectionLanguage,
        "none" => CaptureKind::Clear,
        "spell" | "clean" => CaptureKind::Ignore,
        _ if name.starts_with('_') => CaptureKind::Ignore,
        _ => CaptureKind::Paint(HighlightKind::of_capture(name)?),
    })
}

fn roles(language: &tree_sitter::Language, kinds: &NodeKinds) -> Vec<Roles> {
    let mut roles = vec![Roles::default(); language.node_kind_count()];
    let mut give = |names: &[&str], role: Roles| {
        for (id, entry) in roles.iter_mut().enumerate() {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            if language.node_kind_is_named(id)
                && let Some(name) = language.node_kind_for_id(id)
                && names.contains(&name)
            {
                *entry = *entry | role;
            }
        }
    };
    give(kinds.strings, Roles::STRING);
    give(kinds.comments, Roles::COMMENT);
    give(kinds.embedded, Roles::EMBEDDED);
    give(kinds.context, Roles::CONTEXT);
    give(kinds.blocks, Roles::BLOCK);
    if let Some(tags) = &kinds.tags {
        give(tags.start, Roles::START_TAG);
        give(tags.end, Roles::END_TAG);
    }
    roles
}

#[cfg(test)]
mod tests;
