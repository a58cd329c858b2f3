//! Tests which pairs are mined from small sources, and their sides.

use super::{Language, Side, functions, is_source, query::query};

fn check(language: Language, text: &str, expected: &[(&str, &str)]) {
    let found = functions(language, text);
    let found: Vec<_> = found
        .iter()
        .map(|function| {
            (
                function.name.as_str(),
                query(&function.doc, &function.name).unwrap_or_default(),
            )
        })
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|(name, query)| (*name, query.as_str()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn rust() {
    let text = "/// Reads the whole file at [`Path`]. Then more.\n/// More.\n#[inline]\npub(crate) async fn read<'a>(path: &'a Path) -> [u8; 3] {\n    let brace = '{';\n    r#\"}\"#\n}\n\nfn other() {}\n";
    check(
        Language::Rust,
        text,
        &[("read", "Reads the whole file at Path")],
    );
    let code = &functions(Language::Rust, text)[0].code;
    assert!(
        code.starts_with("pub(crate) async fn read") && code.ends_with("\"}\"#\n}"),
        "{code}"
    );
    check(
        Language::Rust,
        "/// A trait method without any body.\nfn a(&self);\n",
        &[],
    );
    check(
        Language::Rust,
        "/// A struct with some fields.\npub struct A { a: u8 }\n",
        &[],
    );
}

#[test]
fn python() {
    let text = "class A:\n    def read(self, path: str = ')',\n             mode=1):\n        \"\"\"Read the whole file into memory.\n\n        Args: more.\n        \"\"\"\n        if mode:\n            return 1\n\n        return 2\n\n    def none(self):\n        \"\"\"Only a documentation and nothing else.\"\"\"\n\nx = 1\n";
    check(
        Language::Python,
        text,
        &[("read", "Read the whole file into memory")],
    );
    let code = &functions(Language::Python, text)[0].code;
    assert!(
        code.starts_with("def read(") && code.ends_with("return 2") && !code.contains("Args"),
        "{code}"
    );
}

#[test]
fn script() {
    let text = "/**\n * Splits the {@link List list} in two <b>halves</b>.\n * @param {List} a\n */\nexport async function split(a: { b: string }): Promise<void> {\n  return a.replace(/[{/]/g, `}`);\n}\n/** Gives back what was put in. */\nexports.give = function (a) { return a }\nclass B {\n  /** Turns the thing around its axis. */\n  static turn<T>(a) { if (a) { b() } }\n}\n/** Adds one to the given number. */\nconst add = (a) => { return a + 1 }\n";
    check(
        Language::Script,
        text,
        &[
            ("split", "Splits the list in two halves"),
            ("give", "Gives back what was put in"),
            ("turn", "Turns the thing around its axis"),
            ("add", "Adds one to the given number"),
        ],
    );
    check(
        Language::Script,
        "/** Only a class and nothing else. */\nclass A { }\n",
        &[],
    );
}

#[test]
fn go() {
    let text = "// Read returns the next line of the input.\n// It is slow.\nfunc (r *Reader) Read(a interface{}) (x struct{}, err error) {\n\ts := `}`\n\treturn\n}\n";
    check(
        Language::Go,
        text,
        &[("Read", "returns the next line of the input")],
    );
    assert!(functions(Language::Go, text)[0].code.ends_with("return\n}"));
}

#[test]
fn c() {
    let text = "/**\n * \\brief Compute the sum of two numbers.\n */\nstatic inline int sum(int a, int b)\n{\n#if X {\n#endif\n  return a + '}';\n}\n\n// Frees all that was taken before.\nvoid Pool::clear() const noexcept {\n}\n/* Only a declaration and no body. */\nint a(void);\n";
    check(
        Language::C,
        text,
        &[
            ("sum", "Compute the sum of two numbers"),
            ("clear", "Frees all that was taken before"),
        ],
    );
}

#[test]
fn queries_are_sentences() {
    let say = |doc: &str| query(doc, "x");
    assert_eq!(say("/// Too short."), None);
    assert_eq!(say("/// TODO: write this at some point."), None);
    assert_eq!(
        say("/// Maps a [key](Key) to its `value`, e.g. the first. Second.").as_deref(),
        Some("Maps a key to its value, e.g. the first")
    );
    assert_eq!(say("// See the other function for more."), None);
    assert_eq!(say("/** größer als alles andere hier */"), None);
    assert_eq!(
        say("/*\n** Compare two values a < b and b > c.\n** More\n*/").as_deref(),
        Some("Compare two values a < b and b > c")
    );
}

#[test]
fn a_package_is_on_one_side_whatever_its_version() {
    // The md5 of these names modulo 5, computed independently.
    for (name, side) in [
        ("django", Side::HeldOut),
        ("scikit-learn", Side::Weights),
        ("pandas", Side::Train),
        ("sympy", Side::Train),
    ] {
        assert_eq!(Side::of(name), side, "{name}");
    }
    assert_eq!(Side::of("libpython3.11-stdlib"), Side::HeldOut);
}

#[test]
fn tests_and_strangers_are_left_out() {
    for path in ["a/src/lib.rs", "a/b.py", "usr/share/gocode/src/x/y.go"] {
        assert!(is_source(path), "{path}");
    }
    for path in [
        "a/tests/b.rs",
        "a/test_b.py",
        "a/b_test.go",
        "pip/_vendor/x.py",
        "a/dist/x.min.js",
        "a/x.d.ts",
    ] {
        assert!(!is_source(path), "{path}");
    }
}
