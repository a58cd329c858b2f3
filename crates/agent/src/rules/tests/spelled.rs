//! Rules about names in other spellings, on volumes that fold them and on those that do not.

use test_support::{Spellings, spelling_count};

use super::*;

fn rules_on(names: NameRules) -> PermissionRules {
    let settings = json!({
        "permissions": {
            "allow": ["Edit(**)", "Bash(*)"],
            "deny": [
                "Read(Secrets/**)",
                "Edit(Secrets/**)",
                "Edit(Stra\u{df}e.txt)",
                "Read(Stra\u{df}e.txt)",
                "Edit(caf\u{e9}/[K]iosk.*)",
                "Read(caf\u{e9}/[K]iosk.*)",
                "Bash(Rsync:*)",
            ],
        },
        "projects": { "/Users/Ada/Project": { "deny": ["Edit(own.txt)"] } },
    });
    let (rules, problems) = PermissionRules::of(&settings, "/users/ada/project", names);
    assert_eq!(problems, []);
    rules
}

const DENIED: [&str; 4] = [
    "secrets/first/key.txt",
    "strasse.txt",
    "caf\u{e9}/kiosk.rs",
    "secrets/new",
];

#[test]
fn a_deny_rule_is_not_passed_by_spelling() {
    let rules = rules_on(NameRules::FOLDING);
    let mut spellings = Spellings::new(11);
    for round in 0..spelling_count(300) {
        let spelled = spellings.of(DENIED[round % DENIED.len()]);
        for tool in ["edit", "read"] {
            assert_eq!(
                file(&rules, tool, &spelled, SessionMode::Build),
                "deny",
                "{spelled}"
            );
        }
        assert_eq!(
            bash(&rules, &format!("cat '{spelled}'")),
            "deny",
            "{spelled}"
        );
        let program = spellings.of("rsync");
        assert_eq!(bash(&rules, &format!("{program} a b")), "deny", "{program}");
        let own = spellings.of("own.txt");
        assert_eq!(
            file(&rules, "edit", &own, SessionMode::Build),
            "deny",
            "{own}"
        );
    }
    assert_eq!(
        file(&rules, "edit", "secret/new", SessionMode::Build),
        "allow"
    );
    assert_eq!(bash(&rules, "make all"), "allow");
}

#[test]
fn other_spellings_are_other_files_on_an_exact_volume() {
    let rules = rules_on(NameRules::EXACT);
    for (path, word) in [
        ("Secrets/new", "deny"),
        ("secrets/new", "allow"),
        ("Stra\u{df}e.txt", "deny"),
        ("strasse.txt", "allow"),
        ("own.txt", "allow"),
    ] {
        assert_eq!(
            file(&rules, "edit", path, SessionMode::Build),
            word,
            "{path}"
        );
    }
    assert_eq!(bash(&rules, "Rsync a b"), "deny");
    assert_eq!(bash(&rules, "rsync a b"), "allow");
}

#[test]
fn sensitive_names_are_recognized_in_every_spelling_and_on_every_volume() {
    let rules = PermissionRules::default();
    let mut spellings = Spellings::new(12);
    for _ in 0..spelling_count(300) {
        for name in [
            ".husky/first",
            "claude.md",
            ".git/hooks/kiss",
            "a/.gitattributes",
        ] {
            let spelled = spellings.of(name);
            assert_eq!(
                file(&rules, "edit", &spelled, SessionMode::Build),
                "ask",
                "{spelled}"
            );
        }
        let spelled = spellings.of("secrets.yml");
        assert_eq!(
            file(&rules, "read", &spelled, SessionMode::Build),
            "ask",
            "{spelled}"
        );
    }
}

#[test]
fn two_spellings_of_a_path_are_one_lock() {
    let mut spellings = Spellings::new(13);
    for _ in 0..spelling_count(300) {
        let [one, two] = [(); 2].map(|()| spellings.of("src/strasse/kiosk.rs"));
        let tree = LockScope::Tree(spellings.of("src/strasse"));
        let [one, two] = [one, two].map(LockScope::Path);
        assert!(one.overlaps(&two) && two.overlaps(&one), "{one:?} {two:?}");
        assert!(
            tree.overlaps(&one) && two.overlaps(&tree),
            "{tree:?} {one:?}"
        );
        let other = LockScope::Path(spellings.of("src/strassen"));
        assert!(!other.overlaps(&one) && !tree.overlaps(&other), "{other:?}");
    }
}
