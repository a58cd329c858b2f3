//! Order, match positions and cancelling.

use std::sync::atomic::AtomicBool;

use super::{CandidateKind, positions, rank};

#[track_caller]
fn check(query: &str, candidates: &[&str], expect: &[&str]) {
    let ranked = rank(
        query,
        candidates,
        CandidateKind::Path,
        10,
        &AtomicBool::new(false),
    );
    let names: Vec<_> = ranked
        .iter()
        .map(|ranked| candidates[ranked.index])
        .collect();
    assert_eq!(names, expect, "{query}");
}

#[test]
fn better_matches_come_first() {
    let paths = [
        "src/main.rs",
        "src/domain.rs",
        "docs/m-a-i-n.md",
        "Cargo.toml",
    ];
    check(
        "main",
        &paths,
        &["src/main.rs", "docs/m-a-i-n.md", "src/domain.rs"],
    );
    check("toml", &paths, &["Cargo.toml"]);
    check("", &paths, &paths);
    check("zzz", &paths, &[]);
    check("src main", &paths, &["src/main.rs", "src/domain.rs"]);
}

#[test]
fn operators_match_literally_if_a_name_has_them() {
    let paths = ["!read me.txt", "read.txt", "price$.csv", "^up.rs", "'q'.rs"];
    check("!read", &paths, &["!read me.txt"]);
    check("!", &paths, &["!read me.txt"]);
    check("!read me", &paths, &["!read me.txt"]);
    check("me !read", &paths, &["!read me.txt"]);
    check("read !", &paths, &["!read me.txt"]);
    check("price$", &paths, &["price$.csv"]);
    check("^up", &paths, &["^up.rs"]);
    check("'q'", &paths, &["'q'.rs"]);
    assert_eq!(
        positions("!me", "!read me.txt", CandidateKind::Path),
        [0, 6, 7]
    );
}

#[test]
fn operators_apply_if_no_name_has_them() {
    let paths = ["src/main.rs", "src/domain.rs", "main.md"];
    check("^main", &paths, &["main.md"]);
    check("rs$", &paths, &["src/main.rs", "src/domain.rs"]);
    check("main !src", &paths, &["main.md"]);
    check("'dom", &paths, &["src/domain.rs"]);
}

#[test]
fn capital_letters_match_case() {
    check(
        "cargo",
        &["Cargo.toml", "cargo.lock"],
        &["Cargo.toml", "cargo.lock"],
    );
    check("Cargo", &["Cargo.toml", "cargo.lock"], &["Cargo.toml"]);
}

#[test]
fn positions_are_char_indices() {
    assert_eq!(positions("é", "caché.rs", CandidateKind::Path), [4]);
    assert_eq!(positions("crs", "caché.rs", CandidateKind::Path), [0, 6, 7]);
    assert!(positions("x", "caché.rs", CandidateKind::Path).is_empty());
}

#[test]
fn threads_do_not_change_the_ranking() {
    let candidates: Vec<String> = (0..60_000)
        .map(|n| format!("dir{}/file{n}.rs", n % 97))
        .collect();
    let many = rank(
        "f123",
        &candidates,
        CandidateKind::Path,
        50,
        &AtomicBool::new(false),
    );
    let pattern = super::Pattern::parse(
        "f123",
        super::CaseMatching::Smart,
        super::Normalization::Smart,
    );
    let mut one = super::match_share(
        &pattern,
        &candidates,
        0,
        CandidateKind::Path,
        &AtomicBool::new(false),
    );
    one.sort_by_key(|r| {
        (
            std::cmp::Reverse(r.score),
            candidates[r.index].len(),
            r.index,
        )
    });
    one.truncate(50);
    assert_eq!(many, one);
}

#[test]
fn a_cancelled_ranking_is_empty() {
    assert_eq!(
        rank("a", &["a"], CandidateKind::Text, 1, &AtomicBool::new(true)),
        []
    );
}
