//! Tests of spellings, over every character of Unicode.

use std::ffi::OsStr;

use super::*;

const RULES: [NameRules; 4] = [
    NameRules::EXACT,
    NameRules::FOLDING,
    NameRules {
        folds_case: true,
        normalizes: false,
    },
    NameRules {
        folds_case: false,
        normalizes: true,
    },
];

/// All planes that hold letters or marks.
fn letters() -> impl Iterator<Item = char> {
    ('\u{1}'..='\u{2ffff}').chain('\u{e0000}'..='\u{e0fff}')
}

#[test]
fn spellings_of_one_name_have_one_key() {
    let folding = NameRules::FOLDING;
    for (one, other) in [
        ("README", "readme"),
        ("Straße", "STRASSE"),
        (".git/conﬁg", ".GIT/CONFIG"),
        ("hook\u{17f}", "HOOKS"),
        ("wor\u{212a}trees", "worktrees"),
        ("caf\u{e9}", "CAFE\u{301}"),
        ("\u{1e9e}", "SS"),
        ("στιγμας", "ΣΤΙΓΜΑΣ"),
        ("\u{1fb3}", "α\u{345}"),
        ("e\u{323}\u{302}", "e\u{302}\u{323}"),
    ] {
        assert!(folding.is_same(one, other), "{one:?} and {other:?}");
        assert_eq!(folding.key(one.as_bytes()), folding.key(other.as_bytes()));
        assert!(
            !NameRules::EXACT.is_same(one, other),
            "{one:?} and {other:?}"
        );
    }
    for (one, other) in [
        ("a", "b"),
        ("ı", "i"),
        ("e", "é"),
        ("①", "1"),
        ("file", "file "),
    ] {
        assert!(!folding.is_same(one, other), "{one:?} and {other:?}");
    }
}

#[test]
fn case_and_normal_form_fold_independently() {
    let [_, _, case_only, form_only] = RULES;
    assert!(case_only.is_same("CAFÉ", "café"));
    assert!(!case_only.is_same("caf\u{e9}", "cafe\u{301}"));
    assert!(form_only.is_same("caf\u{e9}", "cafe\u{301}"));
    assert!(!form_only.is_same("CAFÉ", "café"));
    assert!(!form_only.is_same("A", "a"));
}

#[test]
fn a_key_is_its_own_key() {
    for rules in RULES {
        for letter in letters() {
            let text = format!("x{letter}y{letter}\u{301}\u{345}");
            let once = rules.key(text.as_bytes()).into_owned();
            assert_eq!(rules.key(&once), once, "{rules:?}: {letter:?}");
        }
    }
}

#[test]
fn no_letter_folds_to_a_separator_or_a_dot() {
    for rules in RULES {
        for letter in letters() {
            let text = letter.to_string();
            let key = rules.key(text.as_bytes()).into_owned();
            let special = |bytes: &[u8]| bytes.iter().filter(|it| b"/.\0".contains(it)).count();
            assert_eq!(special(&key), special(text.as_bytes()), "{letter:?}");
        }
    }
}

#[test]
fn a_key_covers_lowercasing_and_both_normal_forms() {
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    let nfd = DecomposingNormalizerBorrowed::new_nfd();
    for letter in letters() {
        let text = letter.to_string();
        for other in [nfc.normalize(&text), nfd.normalize(&text)] {
            assert!(NameRules::FOLDING.is_same(&text, &*other), "{letter:?}");
        }
        // U+0130 is the one letter whose lower case, `i` and a dot, is its own folding.
        assert!(
            NameRules::FOLDING.is_same(&text, text.to_lowercase()),
            "{letter:?}"
        );
    }
}

#[test]
fn bytes_that_are_not_text_stay() {
    let folding = NameRules::FOLDING;
    assert_eq!(*folding.key(b"A\xff\xc3\x89"), *b"a\xffe\xcc\x81");
    assert_eq!(*folding.key(b"\xff\xfe"), *b"\xff\xfe");
    assert_eq!(*widest_key(b".G\xe2\x80\x8cit\xff"), *b".git\xff");
}

#[test]
fn folded_names_are_borrowed() {
    for (rules, name) in [
        (NameRules::FOLDING, "src/main.rs"),
        (NameRules::FOLDING, "cafe\u{301}"),
        (NameRules::EXACT, "CAFÉ"),
    ] {
        assert!(matches!(rules.key(name.as_bytes()), Cow::Borrowed(_)));
    }
}

#[test]
fn a_path_folds_to_a_path() {
    let path = AbsPath::new("/Users/É/Straße.TXT").expect("absolute");
    let key = NameRules::FOLDING.path_key(&path);
    assert_eq!(key.as_path(), Path::new("/users/e\u{301}/strasse.txt"));
    assert_eq!(NameRules::EXACT.path_key(&path), path);
}

#[test]
fn other_spellings_are_spellings_of_the_same_name() {
    for letter in letters() {
        let text = letter.to_string();
        for other in other_spellings(OsStr::new(&text)) {
            assert!(NameRules::FOLDING.is_same(&text, &other), "{letter:?}");
            assert_ne!(other, *text);
        }
    }
    assert_eq!(other_spellings(OsStr::new("a.rs")), ["A.RS"]);
    assert_eq!(other_spellings(OsStr::new("A")), ["a"]);
    assert_eq!(other_spellings(OsStr::new("42")), [""; 0]);
    let accent = other_spellings(OsStr::new("\u{e9}"));
    assert_eq!(accent, ["\u{c9}", "e\u{301}"]);
}

#[test]
fn litter_is_recognized_in_any_spelling() {
    for name in [
        ".DS_Store",
        ".ds_store",
        "Icon\r",
        ".Spotlight-V100",
        ".Trashes",
    ] {
        assert!(is_system_litter(name.as_bytes()), "{name:?}");
    }
    for name in ["DS_Store", "Icon", ".gitignore", "."] {
        assert!(!is_system_litter(name.as_bytes()), "{name:?}");
    }
}

#[test]
fn an_apple_double_names_its_file() {
    assert_eq!(apple_double_of(b"._main.rs"), Some(&b"main.rs"[..]));
    for name in [&b"._"[..], b"_main.rs", b".main", b""] {
        assert_eq!(apple_double_of(name), None);
    }
}
