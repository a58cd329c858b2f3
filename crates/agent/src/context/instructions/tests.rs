//! Discovery of instruction files, and the resulting texts.

use super::*;
use host::FakeFiles;

const WIDE: InstructionLimits = InstructionLimits {
    file: 10_000,
    all: 100_000,
};

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).unwrap()
}

fn world(contents: &[(&str, &str)]) -> FakeFiles {
    let files = FakeFiles::new();
    files.folder(&path("/p"));
    for (name, text) in contents {
        files.write(&path(name), text);
    }
    files
}

#[test]
fn root_instructions_have_a_fixed_order() {
    let check = |contents: &[(&str, &str)], expected: &[&str]| {
        let files = world(contents);
        let found = Instructions::find(&files, &path("/p"), true, Some(&path("/c")), WIDE);
        let paths: Vec<&str> = found.texts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, expected, "{contents:?}");
    };
    check(&[], &[]);
    check(&[("/p/AGENTS.md", "a")], &["AGENTS.md"]);
    check(
        &[
            ("/p/CLAUDE.md", "c"),
            ("/p/AGENTS.md", "a"),
            ("/p/.cursorrules", "r"),
            ("/p/GEMINI.md", "g"),
        ],
        &["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules"],
    );
    // The same text under two names is added once; an empty text is not added.
    check(
        &[("/p/CLAUDE.md", "a\n"), ("/p/AGENTS.md", "a")],
        &["AGENTS.md"],
    );
    check(
        &[("/p/CLAUDE.md", "\n"), ("/p/AGENTS.md", "a")],
        &["AGENTS.md"],
    );
    check(
        &[("/c/AGENTS.md", "mine"), ("/p/AGENTS.md", "a")],
        &["/c/AGENTS.md", "AGENTS.md"],
    );
    // Folders below the root wait until one of their files is touched.
    check(&[("/p/sub/AGENTS.md", "s")], &[]);
}

#[test]
fn untrusted_instructions_are_not_read() {
    let files = world(&[
        ("/p/AGENTS.md", "obey"),
        (
            "/p/.cursor/rules/x.mdc",
            "---\nalwaysApply: true\n---\nobey",
        ),
        ("/c/AGENTS.md", "mine"),
    ]);
    let found = Instructions::find(&files, &path("/p"), false, Some(&path("/c")), WIDE);
    assert_eq!(
        found.texts,
        [("/c/AGENTS.md".to_owned(), "mine".to_owned())]
    );
    assert_eq!(found.rules, []);
    assert!(found.problems[0].contains("not trusted"), "{found:?}");
}

#[test]
fn nested_instructions_are_ordered_from_the_root() {
    let files = world(&[
        ("/p/AGENTS.md", "root"),
        ("/p/a/AGENTS.md", "a"),
        ("/p/a/b/AGENTS.md", "b"),
        ("/p/a/b/c/x.rs", ""),
        ("/p/other/AGENTS.md", "o"),
    ]);
    let check = |file: &str, seen: &[&str], expected: &[&str]| {
        let seen = seen.iter().map(|path| (*path).to_owned()).collect();
        let found = Instructions::nested(&files, &path("/p"), &path(file), WIDE, &seen);
        let paths: Vec<&str> = found.texts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, expected, "{file}");
    };
    check("/p/a/b/c/x.rs", &[], &["a/AGENTS.md", "a/b/AGENTS.md"]);
    check("/p/a/b/c/x.rs", &["a/AGENTS.md"], &["a/b/AGENTS.md"]);
    check("/p/a/new.rs", &[], &["a/AGENTS.md"]);
    check("/p/x.rs", &[], &[]);
    check("/elsewhere/a/x.rs", &[], &[]);
}

#[test]
fn imports_stay_inside_the_fence_and_depth() {
    let check = |contents: &[(&str, &str)], expected: &[&str], problems: usize| {
        let files = world(contents);
        let found = Instructions::find(&files, &path("/p"), true, None, WIDE);
        let paths: Vec<&str> = found.texts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, expected, "{contents:?}");
        assert_eq!(found.problems.len(), problems, "{:?}", found.problems);
    };
    check(
        &[
            ("/p/CLAUDE.md", "See @docs/style.md."),
            ("/p/docs/style.md", "s"),
        ],
        &["CLAUDE.md", "docs/style.md"],
        0,
    );
    check(
        &[
            ("/p/CLAUDE.md", "not `@docs/style.md`"),
            ("/p/docs/style.md", "s"),
        ],
        &["CLAUDE.md"],
        0,
    );
    // In a cycle, and relative to the importing file.
    check(
        &[
            ("/p/CLAUDE.md", "@d/a.md"),
            ("/p/d/a.md", "@b.md"),
            ("/p/d/b.md", "@a.md @../CLAUDE.md"),
        ],
        &["CLAUDE.md", "d/a.md", "d/b.md"],
        0,
    );
    check(
        &[
            ("/p/CLAUDE.md", "@1.md"),
            ("/p/1.md", "@2.md"),
            ("/p/2.md", "@3.md"),
            ("/p/3.md", "@4.md"),
            ("/p/4.md", "deep"),
        ],
        &["CLAUDE.md", "1.md", "2.md", "3.md"],
        1,
    );
    check(
        &[
            ("/p/CLAUDE.md", "@~/.ssh/id @/etc/passwd @../x.md @nobody"),
            ("/x.md", "x"),
        ],
        &["CLAUDE.md"],
        3,
    );
    check(
        &[
            ("/p/AGENTS.md", "@docs/style.md"),
            ("/p/docs/style.md", "s"),
        ],
        &["AGENTS.md"],
        0,
    );
}

#[test]
fn rule_use_follows_front_matter() {
    let check = |front: &str, expected: RuleUse| {
        let text = format!("---\n{front}---\nBody.\n");
        let files = world(&[("/p/.cursor/rules/web/x.mdc", &text)]);
        let found = Instructions::find(&files, &path("/p"), true, None, WIDE);
        let rule = found.rule("x").expect("it is found");
        assert_eq!(
            (&rule.usage, rule.text.as_str()),
            (&expected, "Body.\n"),
            "{front}"
        );
    };
    check("alwaysApply: true\nglobs: *.rs\n", RuleUse::Always);
    check(
        "globs: src/**/*.ts, *.tsx\nalwaysApply: false\n",
        RuleUse::Globs(vec!["src/**/*.ts".into(), "*.tsx".into()]),
    );
    check(
        "description: How to name things\nglobs:\n",
        RuleUse::Offered("How to name things".into()),
    );
    check(
        "description:\nglobs:\nalwaysApply: false\n",
        RuleUse::Mentioned,
    );
}

#[test]
fn long_instructions_are_truncated_with_a_message() {
    let long = "a line\n".repeat(100);
    let files = world(&[
        ("/p/AGENTS.md", &long),
        ("/p/CLAUDE.md", "second\n"),
        ("/p/GEMINI.md", &long.replace('a', "b")),
    ]);
    let limits = InstructionLimits {
        file: 100,
        all: 120,
    };
    let found = Instructions::find(&files, &path("/p"), true, None, limits);
    assert!(
        found.texts[0]
            .1
            .contains("[truncated: the first 14 of 100 lines of AGENTS.md")
    );
    assert_eq!(found.texts[1].1, "second\n");
    assert!(
        found.texts[2].1.starts_with("b line\n[truncated:"),
        "{}",
        found.texts[2].1
    );
    assert_eq!(found.problems.len(), 2);
    assert_eq!(
        InstructionLimits::of(8_192),
        InstructionLimits {
            file: 2_000,
            all: 4_000
        }
    );
    assert_eq!(
        InstructionLimits::of(1_000_000),
        InstructionLimits {
            file: 32_000,
            all: 96_000
        }
    );
}

#[test]
fn a_file_gets_the_instructions_of_its_folders_by_trust() {
    let files = world(&[
        ("/c/AGENTS.md", "mine"),
        ("/p/AGENTS.md", "root"),
        ("/p/sub/AGENTS.md", "sub"),
        ("/p/other/AGENTS.md", "other"),
        (
            "/p/.cursor/rules/rust.mdc",
            "---\nglobs: \"*.rs\"\n---\nrust\n",
        ),
        ("/p/.cursor/rules/go.mdc", "---\nglobs: \"*.go\"\n---\ngo\n"),
    ]);
    let texts = |is_trusted| {
        let (root, file, config) = (path("/p"), path("/p/sub/a.rs"), path("/c"));
        Instructions::for_file(&files, &root, &file, is_trusted, Some(&config), 100_000)
    };
    let own = "<instructions path=\"/c/AGENTS.md\">\nmine\n</instructions>\n";
    assert_eq!(texts(false), [own]);
    let all = texts(true);
    assert_eq!(all.len(), 4, "{all:?}");
    for (text, part) in all.iter().zip(["mine", "root", "rust", "sub"]) {
        assert!(text.contains(part), "{text}");
    }
}
