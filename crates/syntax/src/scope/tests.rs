//! Code, strings and comments.

use super::SyntaxScope;
use crate::tests::Marked;

fn check(language: &str, before: &str, expected: SyntaxScope) {
    let marked = Marked::new(language, before);
    assert_eq!(
        marked.syntax.scope_at(&marked.text, marked.caret()),
        expected,
        "{language} {before}"
    );
}

#[test]
fn scopes() {
    check("Rust", "let a = ˇ\"b\";", SyntaxScope::Code);
    check("Rust", "let a = \"ˇb\";", SyntaxScope::String);
    check("Rust", "let a = \"bˇ\";", SyntaxScope::String);
    check("Rust", "let a = \"b\"ˇ;", SyntaxScope::Code);
    check("Rust", "let a = \"ˇ\";", SyntaxScope::String);
    check("Rust", "a(); ˇ// b", SyntaxScope::Code);
    check("Rust", "a(); // bˇ", SyntaxScope::Comment);
    check("Rust", "a(); // bˇ\nc()", SyntaxScope::Comment);
    check("Rust", "/// aˇ\nfn f() {}", SyntaxScope::Comment);
    check("Rust", "/// a\nˇfn f() {}", SyntaxScope::Code);
    check("Rust", "/* aˇ */", SyntaxScope::Comment);
    check("Rust", "/* a */ˇ", SyntaxScope::Code);
    check("Rust", "println!(\"aˇ\");", SyntaxScope::String);
    check("Rust", "'ˇa'", SyntaxScope::String);
    check("Python", "f\"aˇ{b}\"", SyntaxScope::String);
    check("Python", "f\"a{bˇ}\"", SyntaxScope::Code);
    check("Python", "x = 1 # yˇ", SyntaxScope::Comment);
    check("TypeScript", "`a${bˇ}c`", SyntaxScope::Code);
    check("TypeScript", "`a${b}cˇ`", SyntaxScope::String);
    check("Go", "x := `aˇ`", SyntaxScope::String);
    check("Ruby", "\"a#{bˇ}\"", SyntaxScope::Code);
    check("Lua", "x = [[aˇ]]", SyntaxScope::String);
    check("HTML", "<a b=\"cˇ\">", SyntaxScope::String);
    check("HTML", "<script>let a = 'bˇ'</script>", SyntaxScope::String);
    check("HTML", "<script>let aˇ = 'b'</script>", SyntaxScope::Code);
    check("JSON", "{\"aˇ\": 1}", SyntaxScope::String);
    check("YAML", "a: 'bˇ'\n", SyntaxScope::String);
    check("Markdown", "a `bˇ` c\n", SyntaxScope::String);
    check("Markdown", "```rust\nlet aˇ = 1;\n```\n", SyntaxScope::Code);
}
