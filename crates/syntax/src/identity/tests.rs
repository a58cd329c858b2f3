//! Roles of words and what names are bound to, in several languages.

use base::ByteOffset;

use super::TokenRole::{
    self, Binding, Comment, Function, Import, Literal, Member, String, Type, Variable,
};
use crate::tests::Marked;

/// The roles of the leaves at each `ˇ`, in order.
fn check_roles(language: &str, marked: &str, expected: &[TokenRole]) {
    let it = Marked::new(language, marked);
    let roles: Vec<TokenRole> = it
        .carets
        .iter()
        .map(|&caret| it.syntax.token_at(&it.text, caret).expect("a leaf").role)
        .collect();
    assert_eq!(roles, expected, "{marked}");
}

#[test]
fn words_are_told_apart_by_the_part_they_play() {
    check_roles(
        "Rust",
        "use a::ˇb;\nfn ˇf(ˇx: ˇT) { let ˇy = ˇg(ˇx, ˇ1).ˇfield; a::ˇh(); } // ˇnote\nconst C: u8 = \"ˇtext\";",
        &[
            Import, Function, Binding, Type, Binding, Function, Variable, Literal, Member,
            Function, Comment, String,
        ],
    );
    check_roles(
        "Python",
        "from ˇa import b\ndef ˇf(ˇx, ˇy=1):\n    ˇz = ˇg(ˇx, ˇk=2).ˇm\n    return 'ˇs'\n",
        &[
            Import, Function, Binding, Binding, Binding, Function, Variable, Member, Member, String,
        ],
    );
    check_roles(
        "TypeScript",
        "function ˇf(ˇx: ˇT) { const ˇy = ˇg(ˇx); return y.ˇm(ˇ1); }",
        &[
            Function, Binding, Type, Binding, Function, Variable, Member, Literal,
        ],
    );
    check_roles(
        "Go",
        "package p\nfunc ˇf(ˇx int) { ˇy := ˇg(ˇx); y.ˇm() }",
        &[Function, Binding, Binding, Function, Variable, Member],
    );
    check_roles(
        "C",
        "int ˇf(int ˇx) { int ˇy = ˇg(ˇx); return y->ˇm; }",
        &[Function, Binding, Binding, Function, Variable, Member],
    );
}

/// Which carets have the same binding as the first one: `=` for the same, `x` for another, `-` for none.
fn check_bindings(language: &str, marked: &str, names: &[&str], expected: &str) {
    let it = Marked::new(language, marked);
    let of = |caret: ByteOffset| it.syntax.binding(&it.text, caret, names);
    let first = of(it.carets[0]);
    let told: std::string::String = it
        .carets
        .iter()
        .map(|&caret| match of(caret) {
            None => '-',
            Some(binding) if Some(binding) == first => '=',
            Some(_) => 'x',
        })
        .collect();
    assert_eq!(told, expected, "{marked}");
}

#[test]
fn a_name_is_bound_to_the_innermost_definition_before_it() {
    check_bindings(
        "Rust",
        "fn f(ˇa: u8) { g(ˇa); let ˇa = ˇa; { ˇa } }\nfn h(ˇa: u8) {}\nstatic B: u8 = ˇa;",
        &["a"],
        "==x=xx-",
    );
    check_bindings(
        "Rust",
        "fn f(ˇold: u8) { g(ˇnew); |x| ˇold; }",
        &["old", "new"],
        "===",
    );
    check_bindings("Rust", "fn ˇf() { ˇf(); }", &["f"], "--");
}

#[test]
fn function_scoped_variables_have_one_binding() {
    check_bindings(
        "Python",
        "def f():\n    ˇa = 1\n    if x:\n        ˇa = 2\n    return ˇa\n\ndef g(b):\n    return ˇa\n",
        &["a"],
        "===-",
    );
    check_bindings(
        "JavaScript",
        "function f(ˇa) { ˇa(); { let ˇa = 1; ˇa; } (ˇa) => ˇa; }",
        &["a"],
        "==xxxx",
    );
}

#[test]
fn parameters_are_told_in_order() {
    let it = Marked::new("Python", "«def f(a, b=1, *, c: int = 2):\n    pass»\n");
    assert_eq!(it.syntax.parameters(&it.text, it.span()), ["a", "b", "c"]);
}

#[test]
fn a_function_does_not_have_the_parameters_of_its_enclosing_function() {
    let it = Marked::new("Ruby", "def a(x)\n  «def b\n    1\n  end»\nend\n");
    assert!(it.syntax.parameters(&it.text, it.span()).is_empty());
}

#[test]
fn nodes_around_a_span_come_smallest_first() {
    let it = Marked::new("Rust", "fn f() { «g»(1); }");
    let names: Vec<&str> = it
        .syntax
        .nodes_around(&it.text, it.span(), 3)
        .iter()
        .map(|node| node.name)
        .collect();
    assert_eq!(
        names,
        ["identifier", "call_expression", "expression_statement"]
    );
}
