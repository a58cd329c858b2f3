//! Tests that simple steps score low, plans and bug hunts high, and that scores are deterministic.

use super::*;
use crate::random::TestRng;

fn task(prompt: &str) -> StepDescription<'_> {
    StepDescription {
        prompt,
        purpose: StepPurpose::Work,
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
fn prompts_map_to_their_tier() {
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
fn planning_needs_strong_and_titles_small_models() {
    let plan = StepDescription {
        purpose: StepPurpose::Plan,
        ..task("add dark mode to the settings page")
    };
    assert_eq!(complexity(&plan).0.tier(), Tier::Strong);
    let title = StepDescription {
        purpose: StepPurpose::Summary,
        ..task("investigate the deadlock in src/pool.rs")
    };
    assert_eq!(complexity(&title).0.tier(), Tier::Small);
}

#[test]
fn stall_raises_the_tier() {
    let simple = task("rename `foo` to `bar`");
    let (before, _) = complexity(&simple);
    let (after, features) = complexity(&StepDescription {
        stalls: 2,
        ..simple
    });
    assert!(after.tier() > before.tier());
    assert!(features.points.contains(&("stalls".to_owned(), 40)));
}

#[test]
fn features_are_extracted() {
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
fn score_is_the_bounded_sum_of_its_points() {
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
        let mut random = TestRng::new(seed);
        let count = random.next_below(60);
        let prompt: Vec<&str> = (0..count).map(|_| *random.pick(&words)).collect();
        let prompt = prompt.join(" ");
        let task = StepDescription {
            prompt: &prompt,
            purpose: *random.pick(&[StepPurpose::Plan, StepPurpose::Work, StepPurpose::Summary]),
            files_touched: random.next_below(1 << 32) as u32,
            diff_lines: random.next_below(1 << 32) as u32,
            plan_depth: random.next_below(1 << 32) as u32,
            context_fill: random.next_below(256) as u8,
            stalls: random.next_below(1 << 32) as u32,
        };
        let (score, features) = complexity(&task);
        assert_eq!(complexity(&task), (score, features.clone()), "seed {seed}");
        let sum: i32 = features.points.iter().map(|(_, points)| points).sum();
        assert_eq!(i32::from(score.0), sum.clamp(0, 100), "seed {seed}");
        let harder = StepDescription {
            stalls: task.stalls.saturating_add(1),
            ..task
        };
        assert!(complexity(&harder).0 >= score, "seed {seed}");
    }
}

#[test]
fn only_both_ends_of_a_long_prompt_are_read() {
    let log = format!("refactor this {} typo", "é and so on\n".repeat(200_000));
    let (_, features) = complexity(&task(&log));
    assert_eq!(
        (features.hard_words.len(), features.easy_words.len()),
        (1, 1)
    );
    assert!(features.words < 10_000, "{}", features.words);
}

#[test]
fn longest_word_bound_covers_the_lexicon() {
    for word in HARD.iter().chain(EASY) {
        assert!(word.len() + "ing".len() <= MAX_WORD_LEN, "{word}");
        assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
    }
}
