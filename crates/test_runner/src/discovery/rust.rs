//! Tests of Rust: functions with an attribute such as `#[test]`, in modules.

use syntax::PlainNode;

use super::{FoundName, TestSearch};
use crate::item::TestKind;

/// Visits the items of a file or module.
pub(super) fn visit(search: &mut TestSearch<'_>, list: PlainNode<'_>, depth: usize) {
    // Attributes and comments that belong to the next item.
    let mut leading: Vec<PlainNode<'_>> = Vec::new();
    for node in list.named_children() {
        if !search.enters(depth) {
            return;
        }
        match node.kind() {
            "attribute_item" => leading.push(node),
            "line_comment" | "block_comment" => {}
            "function_item" => {
                let kind = leading.iter().filter_map(|it| kind_of(search, *it)).max();
                if let (Some(kind), Some(name)) = (kind, node.field("name")) {
                    let found = found(search, name, &leading, node);
                    search.add(found, kind.into());
                }
                leading.clear();
            }
            "mod_item" => {
                if let (Some(name), Some(body)) = (node.field("name"), node.field("body")) {
                    let found = found(search, name, &leading, node);
                    search.add_suite(found, |search| visit(search, body, depth + 1));
                }
                leading.clear();
            }
            _ => leading.clear(),
        }
    }
}

fn found(
    search: &TestSearch<'_>,
    name: PlainNode<'_>,
    leading: &[PlainNode<'_>],
    node: PlainNode<'_>,
) -> FoundName {
    let start = leading.first().unwrap_or(&node).range().start;
    let text = search.text_of(name);
    FoundName {
        // The name of a raw identifier is the part after `r#`.
        name: text.strip_prefix("r#").unwrap_or(&text).to_owned(),
        span: start..node.range().end,
        name_span: name.range(),
    }
}

/// The effect of an attribute; the greater one counts if there are several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TestAttribute {
    Test,
    Parameterized,
}

impl From<TestAttribute> for TestKind {
    fn from(attribute: TestAttribute) -> Self {
        match attribute {
            TestAttribute::Test => Self::Test,
            TestAttribute::Parameterized => Self::Parameterized,
        }
    }
}

/// Returns the effect of an attribute: `#[test]`, `#[tokio::test(flavor = "…")]`, `#[rstest]`; `None` for other attributes.
fn kind_of(search: &TestSearch<'_>, item: PlainNode<'_>) -> Option<TestAttribute> {
    let text = search.text_of(item);
    let text = text.trim_start_matches(['#', '[', ' ']);
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | ':')));
    let path = &text[..end.unwrap_or(text.len())];
    let name = path.rsplit("::").next()?;
    match name {
        "rstest" | "test_case" | "case" | "parameterized" => Some(TestAttribute::Parameterized),
        name if name.ends_with("test") => Some(TestAttribute::Test),
        _ => None,
    }
}
