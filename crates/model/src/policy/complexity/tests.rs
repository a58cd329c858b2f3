//! Simple steps score low, plans and hunts for bugs high, and a score never depends on anything else.

use super::*;
use crate::random::Random;

fn task(prompt: &str) -> Task<'_> {
    Task {
        prompt,
        purpose: Purpose::Work,
        files_touched: 0,
        diff_lines: 0,
        plan_depth: 0,
        context_fill: 0,
        stalls: 0,
    }
}

fn check(prompt: &str, expected: Tier) {
    let (complexity, features) = complexity(&task(prompt));
    assert_eq!(
        complexity.tier(),
        expected,
        "{prompt}: {complexity:?} {features:?}"
    );
}

#[test]
fn prompts_find_their_tier() {
    check("fix the typo in README.md", Tier::Fast);
    check("rename `foo` to `bar`", Tier::Fast);
    check("add a button to the settings page", Tier::Fast);
    check(
        "refactor src/lexer.rs and src/parser.rs to share one cursor",
        Tier::Standard,
    );
    check(
        "investigate why the tests are flaky; I suspect a race in src/pool.rs",
        Tier::Strong,
    );
    check(
        "redesign the storage layer: plan a migration of the entire codebase to the new protocol",
        Tier::Strong,
    );
}

#[test]
fn planning_is_for_the_strong_and_titles_for_the_small() {
    let plan = Task {
        purpose: Purpose::Plan,
        ..task("add dark mode to the settings page")
    };
    assert_eq!(complexity(&plan).0.tier(), Tier::Strong);
    let title = Task {
        purpose: Purpose::Summary,
        ..task("investigate the deadlock in src/pool.rs")
    };
    assert_eq!(complexity(&title).0.tier(), Tier::Small);
}

#[test]
fn a_stall_asks_for_a_stronger_model() {
    let simple = task("rename `foo` to `bar`");
    let (before, _) = complexity(&simple);
    let (after, features) = complexity(&Task {
        stalls: 2,
        ..simple
    });
    assert!(after.tier() > before.tier());
    assert!(features.points.contains(&("stalls".to_owned(), 40)));
}

#[test]
fn features_are_seen() {
    let prompt = "Renaming PoolConfig in src/pool.rs and `max_idle`: panicked at src/main.rs:3";
    let (_, features) = complexity(&task(prompt));
    assert_eq!(features.easy_words, ["rename"]);
    assert_eq!(features.symbols_mentioned, 2);
    assert!(
        features.files_mentioned >= 1 && features.has_trace,
        "{features:?}"
    );
}

#[test]
fn the_score_is_what_its_points_say_and_within_bounds() {
    let words = [
        "refactor",
        "typo",
        "why",
        "src/a.rs",
        "fooBar",
        "and",
        "race",
        "title",
        "panicked at",
        "日本語",
        "plan",
    ];
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let count = random.below(60);
        let prompt: Vec<&str> = (0..count).map(|_| *random.pick(&words)).collect();
        let prompt = prompt.join(" ");
        let task = Task {
            prompt: &prompt,
            purpose: *random.pick(&[Purpose::Plan, Purpose::Work, Purpose::Summary]),
            files_touched: random.below(1 << 32) as u32,
            diff_lines: random.below(1 << 32) as u32,
            plan_depth: random.below(1 << 32) as u32,
            context_fill: random.below(256) as u8,
            stalls: random.below(1 << 32) as u32,
        };
        let (score, features) = complexity(&task);
        assert_eq!(complexity(&task), (score, features.clone()), "seed {seed}");
        let sum: i32 = features.points.iter().map(|(_, points)| points).sum();
        assert_eq!(i32::from(score.0), sum.clamp(0, 100), "seed {seed}");
        let harder = Task {
            stalls: task.stalls.saturating_add(1),
            ..task
        };
        assert!(complexity(&harder).0 >= score, "seed {seed}");
    }
}

#[test]
fn a_pasted_log_is_read_from_both_ends_only() {
    let log = format!("refactor this {} typo", "é and so on\n".repeat(200_000));
    let (_, features) = complexity(&task(&log));
    assert_eq!(
        (features.hard_words.len(), features.easy_words.len()),
        (1, 1)
    );
    assert!(features.words < 10_000, "{}", features.words);
}

#[test]
fn no_word_of_the_lexicon_is_too_long_to_be_found() {
    for word in HARD.iter().chain(EASY) {
        assert!(word.len() + "ing".len() <= LONGEST, "{word}");
        assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
    }
}
