//! Every query compiles, and means something to us.

use tree_sitter::Query;

use super::capture_kind;
use crate::definition::Definition;
use crate::definitions::{DEFINITIONS, HIDDEN};

fn all() -> impl Iterator<Item = &'static Definition> {
    DEFINITIONS.iter().chain(HIDDEN).copied()
}

fn compile(definition: &Definition, source: &str, problems: &mut Vec<String>) -> Option<Query> {
    match Query::new(&(definition.grammar)(), source) {
        Ok(query) => Some(query),
        Err(error) => {
            let row = source.lines().nth(error.row).unwrap_or_default();
            problems.push(format!("{}: {error}\n    {row}", definition.name));
            None
        }
    }
}

fn check(source: fn(&Definition) -> String, is_known: fn(&str) -> bool) {
    let mut problems = Vec::new();
    for definition in all() {
        let Some(query) = compile(definition, &source(definition), &mut problems) else {
            continue;
        };
        for name in query.capture_names() {
            if !is_known(name) {
                problems.push(format!("{}: @{name} means nothing", definition.name));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn highlights_compile_and_name_kinds() {
    check(
        |it| it.queries.highlights.join("\n"),
        |name| capture_kind(name).is_some(),
    );
}

#[test]
fn injections_compile() {
    check(
        |it| it.queries.injections.to_owned(),
        |name| name.starts_with('_') || name.starts_with("injection."),
    );
}

#[test]
fn folds_compile() {
    check(
        |it| it.queries.folds.to_owned(),
        crate::folds::is_known_capture,
    );
}

#[test]
fn outlines_compile() {
    check(
        |it| it.queries.outline.to_owned(),
        crate::outline_query::is_known_capture,
    );
}

#[test]
fn every_named_node_kind_exists() {
    let mut problems = Vec::new();
    for definition in all() {
        let language = (definition.grammar)();
        let kinds = &definition.kinds;
        let tags = kinds
            .tags
            .iter()
            .flat_map(|tags| tags.start.iter().chain(tags.end));
        let lists = [
            kinds.strings,
            kinds.comments,
            kinds.embedded,
            kinds.context,
            kinds.blocks,
        ];
        for kind in lists.into_iter().flatten().chain(tags) {
            // Kinds shared with TypeScript are not all in JavaScript, and the other way round.
            let is_shared = ["JavaScript", "TypeScript", "TSX"].contains(&definition.name);
            if language.id_for_node_kind(kind, true) == 0 && !is_shared {
                problems.push(format!("{} has no {kind}", definition.name));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
