//! Tests of profiles as text.

use super::{context, path, repository_paths};
use crate::seatbelt::spelling::any_spelling;
use crate::seatbelt::{ProfileContext, ProfilePaths, profile};
use crate::{Network, Policy, UserEnvironment};

fn policy() -> Policy {
    let user = UserEnvironment {
        home: path("/Users/ada"),
        own: Vec::new(),
        environment: Vec::new(),
    };
    Policy::usual(path("/Users/ada/work"), &user, &[])
}

fn refusal(paths: &ProfilePaths) -> String {
    profile(&policy(), paths, &context())
        .expect_err("a refusal")
        .to_string()
}

#[test]
fn an_inner_rule_follows_the_outer_one() {
    let text = profile(&policy(), &repository_paths(), &context()).expect("a profile");
    let at = |line: &str| {
        text.find(line)
            .unwrap_or_else(|| panic!("{line} in {text}"))
    };
    let order = [
        "(deny file-read* file-write* (subpath \"/private/tmp\")",
        "(allow file-read* file-write* (literal \"/Users/ada/work\")",
        "(deny file-write* (literal \"/Users/ada/work/.git\")",
        "(allow file-read* file-write* (literal \"/Users/ada/work/.git\")",
        "(allow file-read* file-write* (literal \"/Users/ada/work/.git/modules/lib\")",
        "(deny file-write-create file-write-unlink (literal \"/Users/ada/work/.git\") ",
        "(deny file-link file-clone ",
        "(allow network-bind",
    ];
    for pair in order.windows(2) {
        assert!(at(pair[0]) < at(pair[1]), "{pair:?}");
    }
    // A clone of a plain subpath denial with a narrower allowance was reported to win: no rule joins
    // a path and a file type.
    assert!(!text.contains("vnode-type"));
}

#[test]
fn every_denial_names_its_sandbox() {
    let text = profile(&policy(), &repository_paths(), &context()).expect("a profile");
    let denials: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("(deny "))
        .collect();
    assert!(denials.len() > 15, "{text}");
    for line in denials {
        assert!(
            line.ends_with(" (with message \"b-run_burin_1\"))"),
            "{line}"
        );
    }
}

#[test]
fn paths_cannot_inject_rules() {
    let mut paths = repository_paths();
    paths.hidden = vec![path("/Users/ada/x\"))(allow default)((\"\\")];
    let text = profile(&policy(), &paths, &context()).expect("a profile");
    assert!(
        text.contains(r#"(literal "/Users/ada/x\"))(allow default)((\"\\")"#),
        "{text}"
    );
    assert!(super::reader::read(&text).is_ok());
    for name in ["a\nb", "a\u{7f}", "\u{85}"] {
        paths.hidden = vec![path("/Users/ada").join(name)];
        assert!(refusal(&paths).contains("cannot be expressed"), "{name:?}");
    }
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = std::ffi::OsStr::from_bytes(b"/Users/ada/\xff");
    paths.hidden = vec![base::AbsPath::new(bytes).expect("absolute")];
    assert!(refusal(&paths).contains("rename it"));
}

#[test]
fn a_long_pattern_is_refused_before_the_system_does() {
    let mut paths = repository_paths();
    let names = (0..2000).map(|number| format!("protected-{number}"));
    paths.names = vec![(path("/Users/ada/work"), names.collect())];
    let refused = refusal(&paths);
    assert!(refused.contains("macOS accepts 65535"), "{refused}");
}

#[test]
fn hosts_need_a_proxy() {
    let mut policy = policy();
    policy.network = Network::Hosts(vec!["crates.io".parse().expect("a host")]);
    let nowhere = ProfileContext {
        proxy: None,
        ..context()
    };
    let refused = profile(&policy, &repository_paths(), &nowhere).expect_err("no proxy");
    assert!(
        refused.to_string().contains("there is no proxy"),
        "{refused}"
    );
}

/// Names that a volume takes for the same, and names that it does not.
#[test]
fn a_pattern_matches_every_spelling() {
    let check = |name: &str, same: &[&str], others: &[&str]| {
        let pattern = format!("^{}$", any_spelling(name).expect("a pattern"));
        let pattern = regex::Regex::new(&pattern).expect("a pattern");
        for text in same.iter().chain([&name]) {
            assert!(pattern.is_match(text), "{text:?} is {name:?}: {pattern}");
        }
        for text in others {
            assert!(
                !pattern.is_match(text),
                "{text:?} is not {name:?}: {pattern}"
            );
        }
    };
    check(
        ".git",
        &[".GIT", ".g\u{200c}iT", "\u{feff}.git"],
        &[".gitignore", "git", "xgit", ".gt"],
    );
    check(".cursor", &[".CUR\u{17f}OR"], &[".cursors", ".curor"]);
    check(".kiro", &[".\u{212a}IRO"], &[".iro"]);
    check(
        "config",
        &["con\u{fb01}g", "CON\u{fb01}G"],
        &["cong", "conf", "configs"],
    );
    check(
        "office",
        &["o\u{fb03}ce", "of\u{fb01}ce", "o\u{fb00}ice"],
        &["ofice"],
    );
    check(
        "stra\u{df}e",
        &["STRASSE", "stra\u{1e9e}e", "strasse", "\u{fb06}rasse"],
        &["strase"],
    );
    check(
        "caf\u{e9}",
        &["CAF\u{c9}", "cafe\u{301}", "CAFE\u{301}"],
        &["cafe", "caf"],
    );
    check("cafe\u{301}", &["caf\u{e9}"], &["cafe"]);
    check(
        "\u{1d6}",
        &[
            "u\u{308}\u{304}",
            "\u{fc}\u{304}",
            "U\u{308}\u{304}",
            "\u{1d5}",
        ],
        &["u"],
    );
    check(
        "\u{3c3}\u{3c2}",
        &["\u{3a3}\u{3a3}", "\u{3c2}\u{3c3}"],
        &["s"],
    );
    check("\u{914d}\u{7f6e}", &[], &["\u{6587}\u{6863}", "config"]);
    check("a.b(c)[d]", &["A.B(C)[D]"], &["axb(c)[d]"]);
    check("say \"hi\"", &["SAY \"HI\""], &["say hi"]);
}
