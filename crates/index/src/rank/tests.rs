//! Tests of the order of candidates, shown as paths and indices.

use super::*;

fn candidate(path: &str, place: u32, meaning_z: f32, words_z: f32) -> RankCandidate<'_> {
    RankCandidate {
        chunk: 0,
        path,
        symbol: "",
        place,
        flags: 0,
        words: words_z,
        meaning: meaning_z,
        words_z,
        meaning_z,
        defines: false,
    }
}

/// Returns the order of candidates for a query, each as `path:index`.
fn check(question: &str, candidates: Vec<RankCandidate<'_>>, expected: &[&str]) {
    let (traits, weights) = (QueryTraits::of(question), RankWeights::default());
    let order = |candidates| {
        let ranked = ranked(candidates, &traits, &weights, 0.7, true, 10);
        let named = ranked
            .iter()
            .map(|one| format!("{}:{}", one.candidate.path, one.candidate.place));
        named.collect::<Vec<_>>()
    };
    assert_eq!(order(candidates.clone()), expected, "{question}");
    let mut turned = candidates;
    turned.reverse();
    assert_eq!(
        order(turned),
        expected,
        "whatever order they come in: {question}"
    );
}

#[test]
fn both_scores_count_by_their_weight() {
    let candidates = vec![
        candidate("a.rs", 0, 1.0, 3.0),
        candidate("b.rs", 0, 3.0, 1.0),
        candidate("c.rs", 0, -3.0, -3.0),
    ];
    check(
        "where is it done",
        candidates,
        &["b.rs:0", "a.rs:0", "c.rs:0"],
    );
    let equal = vec![
        candidate("b.rs", 1, 1.0, 1.0),
        candidate("b.rs", 0, 1.0, 1.0),
    ];
    check("where is it done", equal, &["b.rs:0", "b.rs:1"]);
}

#[test]
fn tests_rank_lower_unless_requested() {
    let candidates = || {
        let mut inner = candidate("c.rs", 4, 1.6, 1.6);
        inner.flags = IN_TESTS;
        vec![
            candidate("tests/a.rs", 0, 2.0, 2.0),
            inner,
            candidate("b.rs", 0, 1.5, 1.5),
        ]
    };
    check(
        "saving a session",
        candidates(),
        &["b.rs:0", "tests/a.rs:0", "c.rs:4"],
    );
    check(
        "tests for saving",
        candidates(),
        &["tests/a.rs:0", "c.rs:4", "b.rs:0"],
    );
}

#[test]
fn a_definition_ranks_above_its_uses() {
    let mut defines = candidate("b.rs", 7, 0.5, 1.0);
    defines.defines = true;
    let candidates = vec![candidate("a.rs", 0, 3.0, 3.0), defines.clone()];
    check("save_session", candidates.clone(), &["b.rs:7", "a.rs:0"]);
    check(
        "how does save_session work",
        candidates,
        &["b.rs:7", "a.rs:0"],
    );
    let mut in_stem = candidate("session.rs", 0, 0.5, 1.0);
    in_stem.defines = true;
    check(
        "Session",
        vec![defines, in_stem],
        &["session.rs:0", "b.rs:7"],
    );
}

#[test]
fn a_matching_path_raises_the_score() {
    let candidates = vec![
        candidate("src/a.rs", 0, 2.0, 2.0),
        candidate("src/retry.rs", 0, 1.5, 1.5),
    ];
    check(
        "retry policy",
        candidates,
        &["src/retry.rs:0", "src/a.rs:0"],
    );
}

#[test]
fn one_file_does_not_dominate_the_results() {
    let candidates = vec![
        candidate("a.rs", 0, 3.0, 3.0),
        candidate("a.rs", 1, 2.9, 2.9),
        candidate("a.rs", 2, 2.8, 2.8),
        candidate("b.rs", 0, 2.0, 2.0),
    ];
    check(
        "where is it done",
        candidates,
        &["a.rs:0", "b.rs:0", "a.rs:1", "a.rs:2"],
    );
}

#[test]
fn a_re_exporting_file_ranks_lower() {
    let mut handing = candidate("src/mod.rs", 0, 2.0, 2.0);
    handing.flags = ONLY_REEXPORTS;
    let candidates = vec![
        handing,
        candidate("src/a.rs", 0, 1.5, 1.5),
        candidate("a.d.ts", 0, 1.9, 1.9),
    ];
    check(
        "where is it done",
        candidates,
        &["src/a.rs:0", "a.d.ts:0", "src/mod.rs:0"],
    );
}

#[test]
fn a_score_is_the_sum_of_its_parts() {
    let candidates = vec![
        candidate("tests/retry.rs", 0, 2.0, 2.0),
        candidate("b.rs", 0, 1.0, 1.0),
    ];
    let ranked = ranked(
        candidates,
        &QueryTraits::of("retry policy"),
        &RankWeights::default(),
        0.7,
        true,
        10,
    );
    for one in ranked {
        let base = 0.7 * one.candidate.meaning_z + 0.3 * one.candidate.words_z;
        let sum: f32 = base + one.boosts.iter().map(|(_, amount)| amount).sum::<f32>();
        assert!((one.score - sum).abs() < 1e-4, "{one:?}");
    }
}

#[test]
fn documents_rank_lower_unless_requested() {
    let candidates = || {
        vec![
            candidate("README.md", 0, 2.0, 2.0),
            candidate("b.rs", 0, 1.5, 1.5),
        ]
    };
    check("saving a session", candidates(), &["b.rs:0", "README.md:0"]);
    check(
        "documentation of saving",
        candidates(),
        &["README.md:0", "b.rs:0"],
    );
}

#[test]
fn a_matching_symbol_raises_the_score() {
    let mut named = candidate("b.rs", 0, 1.8, 1.8);
    named.symbol = "write_session";
    let candidates = vec![candidate("a.rs", 0, 2.0, 2.0), named];
    check("writes a session", candidates, &["b.rs:0", "a.rs:0"]);
}
