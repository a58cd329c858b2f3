//! Tests of Python: functions and methods of pytest, and classes of `unittest`.

use syntax::PlainNode;

use super::{FoundName, TestSearch};
use crate::item::TestKind;

/// Visits the statements of a module or a class.
pub(super) fn visit(search: &mut TestSearch<'_>, block: PlainNode<'_>, depth: usize) {
    for node in block.named_children() {
        if !search.enters(depth) {
            return;
        }
        visit_statement(search, node, depth);
    }
}

fn visit_statement(search: &mut TestSearch<'_>, node: PlainNode<'_>, depth: usize) {
    let definition = match node.kind() {
        "decorated_definition" => node.field("definition"),
        _ => Some(node),
    };
    let Some(definition) = definition else {
        return;
    };
    let Some(name) = definition.field("name") else {
        return;
    };
    let found = FoundName {
        name: search.text_of(name),
        span: node.range(),
        name_span: name.range(),
    };
    match definition.kind() {
        "function_definition" if found.name.starts_with("test") => {
            let kind = function_kind(search, node);
            search.add(found, kind);
        }
        "class_definition" if is_test_class(search, &found.name, definition) => {
            if let Some(body) = definition.field("body") {
                search.add_suite(found, |search| visit(search, body, depth + 1));
            }
        }
        _ => {}
    }
}

/// pytest collects classes by their name, and those of `unittest` by their base.
fn is_test_class(search: &TestSearch<'_>, name: &str, class: PlainNode<'_>) -> bool {
    let bases = class.field("superclasses").into_iter();
    let mut bases = bases.flat_map(|list| list.named_children());
    name.starts_with("Test") || bases.any(|base| search.text_of(base).ends_with("TestCase"))
}

fn function_kind(search: &TestSearch<'_>, node: PlainNode<'_>) -> TestKind {
    let children = node.named_children().into_iter();
    let mut decorators = children.filter(|child| child.kind() == "decorator");
    if decorators.any(|it| search.text_of(it).contains("parametrize")) {
        TestKind::Parameterized
    } else {
        TestKind::Test
    }
}
