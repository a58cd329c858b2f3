//! Tests of Go: functions `TestXxx`, and their subtests with literal names.

use syntax::PlainNode;

use super::literal::go_string;
use super::{FoundName, TestSearch};
use crate::item::TestKind;

/// Visits the declarations of a file.
pub(super) fn visit(search: &mut TestSearch<'_>, file: PlainNode<'_>) {
    for node in file.named_children() {
        if !search.enters(0) {
            return;
        }
        if node.kind() == "function_declaration" {
            visit_function(search, node);
        }
    }
}

fn visit_function(search: &mut TestSearch<'_>, function: PlainNode<'_>) {
    let (Some(name), Some(parameters)) = (function.field("name"), function.field("parameters"))
    else {
        return;
    };
    let found = FoundName {
        name: search.text_of(name),
        span: function.range(),
        name_span: name.range(),
    };
    let takes_test = search.text_of(parameters).contains("testing.T");
    if !takes_test || !is_test_name(&found.name) {
        return;
    }
    let test = found.name.clone();
    search.add(found, TestKind::Test);
    if let Some(body) = function.field("body") {
        search.names.push(test);
        visit_subtests(search, body, 1);
        search.names.pop();
    }
}

/// Returns whether `go test` runs a function: `TestAdd`, `Test_add` and `Test`, but not `Testify`.
fn is_test_name(name: &str) -> bool {
    let rest = name.strip_prefix("Test");
    rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

fn visit_subtests(search: &mut TestSearch<'_>, node: PlainNode<'_>, depth: usize) {
    if !search.enters(depth) {
        return;
    }
    let found = (node.kind() == "call_expression")
        .then(|| subtest(search, node))
        .flatten();
    let Some((found, body)) = found else {
        for child in node.named_children() {
            visit_subtests(search, child, depth + 1);
        }
        return;
    };
    let name = found.name.clone();
    search.add(found, TestKind::Test);
    search.names.push(name);
    for node in body {
        visit_subtests(search, node, depth + 1);
    }
    search.names.pop();
}

/// Returns the name of a call `t.Run("name", …)` and the arguments after it.
fn subtest<'tree>(
    search: &TestSearch<'_>,
    call: PlainNode<'tree>,
) -> Option<(FoundName, Vec<PlainNode<'tree>>)> {
    let function = call.field("function")?;
    let is_run = function.kind() == "selector_expression"
        && search.text_of(function.field("field")?) == "Run";
    if !is_run {
        return None;
    }
    let mut arguments = call.field("arguments")?.named_children().into_iter();
    let title = arguments.next()?;
    let is_literal = matches!(
        title.kind(),
        "interpreted_string_literal" | "raw_string_literal"
    );
    let found = FoundName {
        name: go_string(&search.text_of(title)),
        span: call.range(),
        name_span: title.range(),
    };
    is_literal.then(|| (found, arguments.collect()))
}
