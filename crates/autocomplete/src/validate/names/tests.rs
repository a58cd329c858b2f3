//! Members that a type has, lacks, or may have.

use std::sync::Arc;

use base::Span;

use super::TypeMembers;
use crate::samples::{state, suggestion};
use crate::validate::{RecentEdits, check};

const SHAPES: &str = "enum Shape { Circle, Square }
struct Cart { items: Vec<u8>, total: u64 }
impl Cart {
    fn add(&mut self) { let x = ˇ; }
}
fn last() {}
";

fn check_name(language: &str, text: &str, new: &str, unknown: Option<&str>) {
    let state = state(language, text);
    let mut recent = RecentEdits::default();
    let names = TypeMembers::of(&state).expect("a tree");
    recent.set_names(Arc::new(names));
    let verdict = check(
        &state,
        &suggestion(&state, Span::at(state.caret), new),
        &recent,
    );
    let words = verdict.err().map(|refused| refused.to_string());
    let expected = unknown.map(|name| format!("{name} does not exist"));
    assert_eq!(words, expected, "{new}");
}

#[test]
fn variants_and_fields_are_complete() {
    check_name("rust", SHAPES, "Shape::Circle", None);
    check_name("rust", SHAPES, "Shape::Triangle", Some("Shape::Triangle"));
    check_name("rust", SHAPES, "Shape::default()", None);
    check_name("rust", SHAPES, "Shape::ALL", None);
    check_name("rust", SHAPES, "self.total", None);
    check_name("rust", SHAPES, "self.sum", Some("self.sum"));
    check_name("rust", SHAPES, "self.sum()", None);
    check_name("rust", SHAPES, "other.sum", None);
}

#[test]
fn a_present_name_prefix_is_joined_with_inserted_text() {
    let text = SHAPES.replace("ˇ", "Shape::Tˇ");
    check_name("rust", &text, "riangle", Some("Shape::Triangle"));
    let text = SHAPES.replace("ˇ", "Shape::ˇircle");
    check_name("rust", &text, "C", None);
}
