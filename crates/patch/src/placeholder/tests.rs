//! Tests which lines are placeholders, and which only look like them.

use super::*;

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

const OLD: &str =
    "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n";

/// Returns whether `line` in place of the second method is taken for a placeholder.
fn replaced(line: &str, style: PlaceholderStyle) -> bool {
    let new = lines(&format!(
        "class A:\n    def one(self):\n        return 3\n\n    {line}\n"
    ));
    added(&lines(OLD), &new, style).is_some()
}

#[test]
fn placeholders_of_every_comment_style_are_found() {
    let said = [
        "... existing code ...",
        "... rest of the methods ...",
        "...rest of the code remains the same...",
        "… rest of class unchanged …",
        "rest of methods ...",
        "(rest of methods ...)",
        "... (rest of the file stays the same)",
        "[... remaining code unchanged ...]",
        "... other methods ...",
        "... keep existing implementation ...",
        "... rest of the UserService class ...",
        "rest of methods",
        "rest of the code unchanged",
        "unchanged",
        "remaining code stays the same",
        "same as before",
        "existing code here",
        "existing methods",
        "The rest of the file is unchanged.",
        "no changes below",
        "code omitted for brevity",
        "...",
        "…",
        "... snip ...",
    ];
    let comments = [
        ("// ", ""),
        ("//", ""),
        ("# ", ""),
        ("/* ", " */"),
        ("<!-- ", " -->"),
        ("{/* ", " */}"),
        ("-- ", ""),
        ("; ", ""),
        ("% ", ""),
        ("(* ", " *)"),
        ("{- ", " -}"),
        ("{# ", " #}"),
        ("--[[ ", " ]]"),
    ];
    for said in said {
        for (open, close) in comments {
            let line = format!("{open}{said}{close}");
            assert!(replaced(&line, PlaceholderStyle::Code), "{line}");
        }
    }
}

#[test]
fn placeholders_need_no_comment_sign() {
    for line in [
        "... existing code ...",
        "...existing code...",
        "... rest of the file ...",
        "(rest of methods ...)",
        "[rest of the code]",
        "<rest of the file unchanged>",
        "remaining code stays the same",
        "rest of the code is unchanged",
        "\"\"\"... existing docstring ...\"\"\"",
    ] {
        assert!(replaced(line, PlaceholderStyle::Code), "{line}");
    }
}

#[test]
fn placeholders_behind_and_between_code_are_found() {
    for line in [
        "pass  # ... rest of the class unchanged ...",
        "foo(); // ... existing code ...",
        "function b() { /* ... existing code ... */ }",
        "<div>{/* ... rest of the form ... */}</div>",
        "function b() { ... }",
        "def two(self):  # unchanged",
    ] {
        assert!(replaced(line, PlaceholderStyle::Code), "{line}");
    }
}

#[test]
fn lines_that_the_old_text_has_stay_what_they_are() {
    let old = lines("a\n# ... existing code ...\nb\nc\n");
    let new = lines("a\n# ... existing code ...\nB\n");
    assert_eq!(added(&old, &new, PlaceholderStyle::Code), None);
    // A second one is a placeholder.
    let new = lines("a\n# ... existing code ...\n# ... existing code ...\n");
    assert_eq!(
        added(&old, &new, PlaceholderStyle::Code),
        Some("# ... existing code ...")
    );
}

#[test]
fn code_with_dots_is_code() {
    let old = lines("one\ntwo\nthree\nfour\nfive\n");
    for line in [
        "...rest,",
        "...existing,",
        "...other",
        "    ...this.state,",
        "def f(*args, **kwargs): ...",
        "int printf(const char *format, ...);",
        "case 1 ... 5:",
        "x[..., 0]",
        "let all = [...previous, next];",
        "Foo { a, .. }",
        "for i in 0..rest {",
        "..Default::default()",
        "print(\"... existing code ...\")",
        "url = 'http://a/#...'",
        "template<typename... Args>",
        "catch (...) { throw; }",
        "# Loading...",
        "// Wait for the rest of the bytes before the header is checked",
        "// ... and because of this the previous result is wrong",
        "// TODO: handle the remaining cases once the parser knows them",
        "# keep the same order as the remote database for joins",
        "existing = previous.rest",
        "const { id, ...rest } = props;",
        "/// ...",
        "raise NotImplementedError  # pragma: no cover",
        "x = 1  # other value",
        "More options...",
        "(\"as\", \"is\" | \"before\" | \"above\")",
        "// {...} is an object",
        "--rest-width: 10px;",
        "#existing {",
    ] {
        let new = lines(&format!("one\n{line}\nfive\n"));
        assert_eq!(added(&old, &new, PlaceholderStyle::Code), None, "{line}");
    }
}

#[test]
fn dots_that_are_a_body_are_code() {
    let new =
        lines("class A:\n    def one(self):\n        ...\n\n    def two(self):\n        ...\n");
    assert_eq!(added(&lines(OLD), &new, PlaceholderStyle::Code), None);
    let new = lines("class A:\n    \"\"\"Documented.\"\"\"\n    ...\n");
    assert_eq!(added(&lines(OLD), &new, PlaceholderStyle::Code), None);
    // Dots beside other statements are not code.
    let new = lines("class A:\n    ...\n    def three(self):\n        return 3\n");
    assert_eq!(
        added(&lines(OLD), &new, PlaceholderStyle::Code),
        Some("...")
    );
    let new = lines("class A:\n    def one(self):\n        return 3\n...\n");
    assert_eq!(
        added(&lines(OLD), &new, PlaceholderStyle::Code),
        Some("...")
    );
}

#[test]
fn headings_of_code_are_no_placeholders() {
    let old = lines("a = 1\nb = 2\nc = 3\n");
    for heading in [
        "# Other settings",
        "// Remaining arguments",
        "# Existing users",
    ] {
        let new = lines(&format!("a = 1\n{heading}\nb = 3\nc = 4\nd = 5\n"));
        assert_eq!(added(&old, &new, PlaceholderStyle::Code), None, "{heading}");
    }
    // The sentence continues the line above, and no line is removed.
    let new = lines("a = 1\n# ...the rest is handled below\nb = 2\nc = 3\n");
    assert_eq!(added(&old, &new, PlaceholderStyle::Code), None);
    let new = lines("a = 1\n# unchanged\nb = 2\nc = 3\n");
    assert_eq!(added(&old, &new, PlaceholderStyle::Code), None);
}

#[test]
fn prose_speaks_of_what_stays() {
    for line in [
        "# Unchanged",
        "## Rest of the methods",
        "* same as before",
        "- remaining tests",
        "The rest of the file is unchanged.",
        "Same as before...",
        "# Existing code",
        "(see the remaining sections)",
    ] {
        assert!(!replaced(line, PlaceholderStyle::Prose), "{line}");
    }
    for line in [
        "... rest of the document ...",
        "<!-- ... existing content ... -->",
        "[... remaining sections unchanged ...]",
    ] {
        assert!(replaced(line, PlaceholderStyle::Prose), "{line}");
    }
}

#[test]
fn styles_follow_the_name_of_the_file() {
    assert_eq!(
        PlaceholderStyle::of_path("docs/a.md"),
        PlaceholderStyle::Prose
    );
    assert_eq!(
        PlaceholderStyle::of_path("README.TXT"),
        PlaceholderStyle::Prose
    );
    assert_eq!(PlaceholderStyle::of_path("src/md"), PlaceholderStyle::Code);
    assert_eq!(
        PlaceholderStyle::of_path("a.md/b.rs"),
        PlaceholderStyle::Code
    );
}
