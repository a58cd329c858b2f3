//! Tests of JavaScript and TypeScript: calls of `describe`, `it` and `test` with a title.
//!
//! The name of a title with placeholders (`%s`, `$name`, `${name}`) is the title as it is written.

use syntax::PlainNode;

use super::literal::{javascript_string, template_text};
use super::{FoundName, TestSearch};
use crate::item::TestKind;

/// Visits a node and all nodes within it.
pub(super) fn visit(search: &mut TestSearch<'_>, node: PlainNode<'_>, depth: usize) {
    if !search.enters(depth) {
        return;
    }
    if node.kind() == "call_expression"
        && let Some(call) = TestCall::of(search, node)
    {
        match call.kind {
            TestKind::Suite => search.add_suite(call.found, |search| {
                for argument in call.rest {
                    visit(search, argument, depth + 1);
                }
            }),
            kind => search.add(call.found, kind),
        }
        return;
    }
    for child in node.named_children() {
        visit(search, child, depth + 1);
    }
}

/// A call that defines a test or a suite.
struct TestCall<'tree> {
    found: FoundName,
    kind: TestKind,
    /// The arguments after the title.
    rest: Vec<PlainNode<'tree>>,
}

impl<'tree> TestCall<'tree> {
    fn of(search: &TestSearch<'_>, call: PlainNode<'tree>) -> Option<Self> {
        let callee = Callee::of(search, call.field("function")?)?;
        let arguments = call.field("arguments")?;
        if arguments.kind() != "arguments" {
            return None;
        }
        let arguments = arguments.named_children().into_iter();
        let mut arguments = arguments.filter(|argument| !argument.is_comment());
        let title = arguments.next()?;
        let rest: Vec<_> = arguments.collect();
        let text = search.text_of(title);
        let (name, has_values) = match title.kind() {
            "string" => (javascript_string(&text), false),
            "template_string" => template_text(&text),
            _ => return None,
        };
        let kind = match callee.kind {
            TestKind::Test if callee.is_each || has_values => TestKind::Parameterized,
            kind => kind,
        };
        // A call without a function, such as `test("a")` of another library, defines nothing.
        let has_body = rest.iter().any(|argument| is_function(*argument));
        let found = FoundName {
            name,
            span: call.range(),
            name_span: title.range(),
        };
        (has_body || callee.is_planned).then_some(Self { found, kind, rest })
    }
}

fn is_function(node: PlainNode<'_>) -> bool {
    matches!(
        node.kind(),
        "arrow_function" | "function_expression" | "function" | "identifier" | "call_expression"
    )
}

/// The called function: `it`, `test.only`, `describe.each([…])`.
struct Callee {
    kind: TestKind,
    is_each: bool,
    /// Whether it is `it.todo`, which needs no body.
    is_planned: bool,
}

impl Callee {
    fn of(search: &TestSearch<'_>, mut node: PlainNode<'_>) -> Option<Self> {
        let mut callee = Self {
            kind: TestKind::Test,
            is_each: false,
            is_planned: false,
        };
        let mut is_suite = false;
        // A chain such as `test.concurrent.only.each` is short.
        for _ in 0..8 {
            match node.kind() {
                "identifier" => {
                    callee.kind = match search.text_of(node).as_str() {
                        "describe" | "suite" | "context" | "fdescribe" | "xdescribe" => {
                            TestKind::Suite
                        }
                        "it" | "test" | "specify" | "fit" | "xit" | "xtest" if is_suite => {
                            TestKind::Suite
                        }
                        "it" | "test" | "specify" | "fit" | "xit" | "xtest" => TestKind::Test,
                        _ => return None,
                    };
                    return Some(callee);
                }
                "member_expression" => {
                    match search.text_of(node.field("property")?).as_str() {
                        "each" | "for" => callee.is_each = true,
                        "todo" => callee.is_planned = true,
                        "describe" => is_suite = true,
                        "only" | "skip" | "concurrent" | "sequential" | "failing" | "fails"
                        | "skipIf" | "runIf" | "shuffle" => {}
                        _ => return None,
                    }
                    node = node.field("object")?;
                }
                "call_expression" => node = node.field("function")?,
                _ => return None,
            }
        }
        None
    }
}
