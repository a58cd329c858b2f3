//! Brackets, told as marked text.

use base::{ByteOffset, Span};
use text::Snapshot;

use crate::tests::{Marked, SAMPLES, mark, parsed};

/// The pair at the caret; an expectation without marks says that there is none.
fn check(language: &str, before: &str, after: &str) {
    let marked = Marked::new(language, before);
    let pair = marked.syntax.matching_bracket(&marked.text, marked.caret());
    compare(&marked, pair, after, language);
}

fn check_enclosing(language: &str, before: &str, after: &str) {
    let marked = Marked::new(language, before);
    let pair = marked
        .syntax
        .enclosing_brackets(&marked.text, marked.span());
    compare(&marked, pair, after, language);
}

fn compare(marked: &Marked, pair: Option<super::BracketPair>, after: &str, language: &str) {
    let spans: Vec<Span> = pair
        .iter()
        .flat_map(|pair| [pair.open, pair.close])
        .collect();
    assert_eq!(mark(&marked.text.to_string(), &spans), after, "{language}");
}

#[test]
fn brackets_pair_up() {
    check("Rust", "fn f() ˇ{ a(b) }", "fn f() «{» a(b) «}»");
    check("Rust", "fn f() { a(b) }ˇ", "fn f() «{» a(b) «}»");
    check("Rust", "fn f() { aˇ(b) }", "fn f() { a«(»b«)» }");
    check("Rust", "fn f() { a(b)ˇ }", "fn f() { a«(»b«)» }");
    check("Rust", "fn f() { ˇa(b) }", "fn f() { a(b) }");
    check(
        "Rust",
        "let x: Vecˇ<u8> = 1 < 2;",
        "let x: Vec«<»u8«>» = 1 < 2;",
    );
    check("Rust", "fn f() { 1 ˇ< 2; }", "fn f() { 1 < 2; }");
    check(
        "Rust",
        "fn f() { \"(\" ; ˇ(\")\") }",
        "fn f() { \"(\" ; «(»\")\"«)» }",
    );
    check("Rust", "m!ˇ[a, (b]);", "m!«[»a, (b«]»);");
    check("Python", "print(ˇ[1, (2)])", "print(«[»1, (2)«]»)");
    check(
        "TypeScript",
        "const f = (a) => ˇ{ return `x${a}` }",
        "const f = (a) => «{» return `x${a}` «}»",
    );
    check("TypeScript", "`x$ˇ{a}`", "`x«${»a«}»`");
    check(
        "Go",
        "func f() { a := []int{1, 2ˇ} }",
        "func f() { a := []int«{»1, 2«}» }",
    );
    check(
        "C",
        "int f(void) { if ˇ(a) { b; } }",
        "int f(void) { if «(»a«)» { b; } }",
    );
    check(
        "JSON",
        "{\"a\": ˇ[1, {\"b\": []}]}",
        "{\"a\": «[»1, {\"b\": []}«]»}",
    );
    check("YAML", "a: ˇ[1, {b: 2}]\n", "a: «[»1, {b: 2}«]»\n");
    check("CSS", "a ˇ{ b: c(1) }", "a «{» b: c(1) «}»");
}

#[test]
fn words_and_tags_pair_up() {
    check("Ruby", "ˇdef f\n  1\nend\n", "«def» f\n  1\n«end»\n");
    check(
        "Ruby",
        "class A\n  def f\n  end\nˇend\n",
        "«class» A\n  def f\n  end\n«end»\n",
    );
    check(
        "Ruby",
        "a.each ˇdo |x|\n  x\nend\n",
        "a.each «do» |x|\n  x\n«end»\n",
    );
    check(
        "Lua",
        "ˇfunction f()\n  if a then b() end\nend\n",
        "«function» f()\n  if a then b() end\n«end»\n",
    );
    check(
        "Bash",
        "for a in b; do\n  if c; then d; fi\nˇdone\n",
        "for a in b; «do»\n  if c; then d; fi\n«done»\n",
    );
    check("HTML", "<ˇdiv><p>a</p></div>", "«<div>»<p>a</p>«</div>»");
    check("HTML", "<div><p>a</ˇp></div>", "<div>«<p>»a«</p>»</div>");
    check(
        "TSX",
        "let a = <ˇB c={1}>d</B>;",
        "let a = «<B c={1}>»d«</B>»;",
    );
}

#[test]
fn injections_have_their_own_brackets() {
    check(
        "HTML",
        "<script>fˇ({a: 1})</script>",
        "<script>f«(»{a: 1}«)»</script>",
    );
    check(
        "Markdown",
        "```rust\nfn f() ˇ{ }\n```\n",
        "```rust\nfn f() «{» «}»\n```\n",
    );
}

#[test]
fn broken_text_is_scanned() {
    check("Rust", "fn f( { ˇ(a, [b) } (", "fn f( { «(»a, [b«)» } (");
    check("Rust", "fn f() ˇ{ a(b", "fn f() { a(b");
    check("JSON", "ˇ{\"a\": [1, }", "«{»\"a\": [1, «}»");
}

#[test]
fn brackets_around_a_place() {
    check_enclosing("Rust", "fn f() { a(b, ˇc) }", "fn f() { a«(»b, c«)» }");
    check_enclosing("Rust", "fn f() { ˇa(b, c) }", "fn f() «{» a(b, c) «}»");
    check_enclosing("Rust", "fn f() { a«(b, c)» }", "fn f() «{» a(b, c) «}»");
    check_enclosing("Rust", "fn f() { a(\"ˇ)\") }", "fn f() { a«(»\")\"«)» }");
    check_enclosing("Rust", "ˇfn f() {}", "fn f() {}");
    check_enclosing("Python", "f(x,\n  [1,ˇ 2])", "f(x,\n  «[»1, 2«]»)");
    check_enclosing("JSON", "[1, ˇ2", "[1, 2");
    check_enclosing("Ruby", "def f\n  ˇ1\nend\n", "«def» f\n  1\n«end»\n");
    check_enclosing(
        "HTML",
        "<script>f({ˇa: 1})</script>",
        "<script>f(«{»a: 1«}»)</script>",
    );
}

#[test]
fn long_lists_find_their_far_end() {
    let list = "1,".repeat(20_000) + "1";
    let marked = Marked::new("JSON", &format!("ˇ[{list}]"));
    let pair = marked.syntax.matching_bracket(&marked.text, marked.caret());
    let pair = pair.expect("a pair");
    assert_eq!((pair.open.start.0, pair.close.end), (0, marked.text.len()));
    let back = marked
        .syntax
        .matching_bracket(&marked.text, marked.text.len());
    assert_eq!(back, Some(pair));
    let middle = base::ByteOffset(20_001);
    assert_eq!(
        marked
            .syntax
            .enclosing_brackets(&marked.text, Span::at(middle)),
        Some(pair)
    );
}

#[test]
fn pairs_are_found_only_where_one_may_be() {
    for (language, sample) in SAMPLES {
        let text = Snapshot::new(sample);
        let syntax = parsed(language, &text).snapshot();
        for (at, _) in sample.char_indices() {
            let at = ByteOffset(at);
            if syntax.matching_bracket(&text, at).is_some() {
                assert!(syntax.may_match_bracket(&text, at), "{language}, {at:?}");
            }
        }
    }
}
