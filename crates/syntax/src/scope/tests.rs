//! Code, strings and comments.

use super::Scope;
use crate::tests::Marked;

fn check(language: &str, before: &str, expected: Scope) {
    let marked = Marked::new(language, before);
    assert_eq!(
        marked.syntax.scope_at(&marked.text, marked.caret()),
        expected,
        "{language} {before}"
    );
}

#[test]
fn scopes() {
    check("Rust", "let a = ˇ\"b\";", Scope::Code);
    check("Rust", "let a = \"ˇb\";", Scope::String);
    check("Rust", "let a = \"bˇ\";", Scope::String);
    check("Rust", "let a = \"b\"ˇ;", Scope::Code);
    check("Rust", "let a = \"ˇ\";", Scope::String);
    check("Rust", "a(); ˇ// b", Scope::Code);
    check("Rust", "a(); // bˇ", Scope::Comment);
    check("Rust", "a(); // bˇ\nc()", Scope::Comment);
    check("Rust", "/// aˇ\nfn f() {}", Scope::Comment);
    check("Rust", "/// a\nˇfn f() {}", Scope::Code);
    check("Rust", "/* aˇ */", Scope::Comment);
    check("Rust", "/* a */ˇ", Scope::Code);
    check("Rust", "println!(\"aˇ\");", Scope::String);
    check("Rust", "'ˇa'", Scope::String);
    check("Python", "f\"aˇ{b}\"", Scope::String);
    check("Python", "f\"a{bˇ}\"", Scope::Code);
    check("Python", "x = 1 # yˇ", Scope::Comment);
    check("TypeScript", "`a${bˇ}c`", Scope::Code);
    check("TypeScript", "`a${b}cˇ`", Scope::String);
    check("Go", "x := `aˇ`", Scope::String);
    check("Ruby", "\"a#{bˇ}\"", Scope::Code);
    check("Lua", "x = [[aˇ]]", Scope::String);
    check("HTML", "<a b=\"cˇ\">", Scope::String);
    check("HTML", "<script>let a = 'bˇ'</script>", Scope::String);
    check("HTML", "<script>let aˇ = 'b'</script>", Scope::Code);
    check("JSON", "{\"aˇ\": 1}", Scope::String);
    check("YAML", "a: 'bˇ'\n", Scope::String);
    check("Markdown", "a `bˇ` c\n", Scope::String);
    check("Markdown", "```rust\nlet aˇ = 1;\n```\n", Scope::Code);
}
