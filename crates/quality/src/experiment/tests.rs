//! Experiments: their file, the assignment of variants, and errors and power of both comparisons.

use model::EditTool;
use model::ModelId;
use statistics::{BetOutcome, SplitMix};

use super::*;
use crate::record::TrialRecord;

/// Number of simulated comparisons: `BURIN_COMPARISONS`, which the soak sets, or a few.
fn comparisons() -> u64 {
    let count = std::env::var("BURIN_COMPARISONS").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(200)
}

fn set(text: &str) -> (ExperimentSet, Vec<String>) {
    ExperimentSet::parse(text)
}

fn experiment(unit: &str, metric: &str) -> Experiment {
    let text = format!(
        r#"{{ "experiments": [{{ "id": "e", "unit": "{unit}", "metric": "{metric}",
            "variants": [{{ "name": "now" }}, {{ "name": "new", "profiles": [{{ "match": ["*"], "edit": "hashline" }}] }}] }}] }}"#
    );
    let (set, problems) = set(&text);
    assert_eq!(problems, Vec::<String>::new());
    set.all()[0].clone()
}

#[test]
fn variants_override_profiles() {
    let experiment = experiment("session", "kept_day");
    let model = ModelId::parse("a/b").expect("a model");
    let [now, new] = &experiment.variants;
    let edit = |variant: &Variant| {
        let profiles = Profiles::default().overlaid(variant.profiles.clone());
        profiles.resolve(&model, None).edit
    };
    assert_eq!(edit(now), EditTool::StrReplace);
    assert_eq!(edit(new), EditTool::Hashline);
}

#[test]
fn wrong_experiments_are_reported_and_skipped() {
    let check = |text: &str, problem: &str| {
        let (set, problems) = set(text);
        assert!(set.all().is_empty(), "{text}");
        assert!(
            problems.iter().any(|it| it.contains(problem)),
            "{problems:?}"
        );
    };
    check("[]", "the experiments cannot be read");
    let one = |id: &str, unit: &str, metric: &str, names: [&str; 2], profiles: &str| {
        format!(
            r#"{{ "experiments": [{{ "id": "{id}", "unit": "{unit}", "metric": "{metric}",
                "variants": [{{ "name": "{}" }}, {{ "name": "{}", "profiles": [{profiles}] }}] }}] }}"#,
            names[0], names[1]
        )
    };
    check(
        &one("e", "day", "reward", ["a", "b"], ""),
        "experiment 1: unknown variant `day`",
    );
    check(
        &one("e", "session", "reward", ["a", "b"], ""),
        "the metric reward belongs to tasks",
    );
    check(&one("e", "task", "reward", ["a", "a"], ""), "the same name");
    let wrong = r#"{ "match": ["*"], "edit": "telepathy" }"#;
    check(
        &one("e", "task", "reward", ["a", "b"], wrong),
        "experiment e, variant b: model profile 1",
    );
}

#[test]
fn subjects_keep_their_variant_and_split_evenly() {
    let experiment = experiment("session", "kept_day");
    let name = |subject: usize| {
        experiment
            .variant_of(&format!("session-{subject}"))
            .name
            .clone()
    };
    let count = (0..2_000).filter(|subject| name(*subject) == "new").count();
    assert!((900..1_100).contains(&count), "{count}");
    // Stored rows name the variant; the assignment must not change between versions.
    let first: String = (0..16)
        .map(|subject| if name(subject) == "new" { '1' } else { '0' })
        .collect();
    assert_eq!(first, FIRST_ASSIGNMENTS);
}

/// The variants of the first sixteen subjects, as the first version assigned them.
const FIRST_ASSIGNMENTS: &str = "1010101001111011";

#[test]
fn one_experiment_of_sessions_runs_at_a_time() {
    let entry = |id: &str, unit: &str, metric: &str| {
        format!(
            r#"{{ "id": "{id}", "unit": "{unit}", "metric": "{metric}", "variants": [{{ "name": "a" }}, {{ "name": "b" }}] }}"#
        )
    };
    let entries = [
        entry("t", "task", "reward"),
        entry("s", "session", "kept_day"),
        entry("z", "session", "kept_hour"),
    ];
    let (set, problems) = set(&format!(r#"{{ "experiments": [{}] }}"#, entries.join(",")));
    assert_eq!((set.all().len(), problems.len()), (3, 0));
    assert_eq!(set.of_sessions().map(|it| it.id.as_str()), Some("s"));
}

fn trial(task: usize, variant: &str, reward: f64, seconds: f64) -> TrialRecord {
    TrialRecord {
        experiment: "e".to_owned(),
        task: format!("task-{task}"),
        variant: variant.to_owned(),
        attempt: 1,
        reward,
        seconds,
        tokens: 100,
        cost_nano: None,
        at_ms: task as u64,
    }
}

/// Makes the trials of tasks. A task differs between variants with a share; then the new one wins with another share.
fn trials(random: &mut SplitMix, tasks: usize, differing: f64, won: f64) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for task in 0..tasks {
        let base = f64::from(u8::from(random.next_share() < 0.5));
        let (now, new) = if random.next_share() >= differing {
            (base, base)
        } else if random.next_share() < won {
            (0.0, 1.0)
        } else {
            (1.0, 0.0)
        };
        trials.push(trial(task, "now", now, 10.0 + random.next_share()));
        trials.push(trial(task, "new", new, 5.0 + random.next_share()));
    }
    trials
}

#[test]
fn equal_variants_are_rarely_told_apart_on_tasks() {
    let experiment = experiment("task", "reward");
    let mut wrong = 0;
    for seed in 0..comparisons() {
        let mut random = SplitMix::new(seed);
        let found = experiment.trials(&trials(&mut random, 200, 0.3, 0.5));
        wrong += u64::from(found.bet.outcome() != BetOutcome::Undecided);
    }
    let share = wrong as f64 / comparisons() as f64;
    assert!(share <= 0.05, "{share}");
}

#[test]
fn planted_differences_are_found_within_sixty_tasks() {
    let experiment = experiment("task", "reward");
    let mut found = 0;
    for seed in 0..comparisons() {
        let mut random = SplitMix::new(seed + 1_000_000);
        let result = experiment.trials(&trials(&mut random, 60, 0.3, 0.9));
        found += u64::from(result.bet.outcome() == BetOutcome::Second);
    }
    let share = found as f64 / comparisons() as f64;
    assert!(share >= 0.75, "{share}");
}

#[test]
fn only_attempts_under_both_variants_count() {
    let experiment = experiment("task", "reward");
    let mut all = trials(&mut SplitMix::new(1), 20, 0.0, 0.5);
    all.push(trial(20, "new", 1.0, 1.0));
    all.push(trial(21, "other", 1.0, 1.0));
    all.push(TrialRecord {
        experiment: "another".to_owned(),
        ..trial(0, "new", 1.0, 1.0)
    });
    let found = experiment.trials(&all);
    assert_eq!(
        (found.bet.first, found.bet.second, found.bet.ties),
        (0, 0, 20)
    );
    let explored: Vec<&str> = found.explored.iter().map(|it| it.name).collect();
    assert_eq!(explored, ["seconds", "tokens"], "no trial has a known cost");
    let seconds = &found.explored[0];
    let interval = seconds.interval.expect("twenty tasks");
    assert!((0.45..0.6).contains(&seconds.ratio), "{}", seconds.ratio);
    assert!(interval.low <= seconds.ratio && seconds.ratio <= interval.high);
    let sentence = experiment.sentence(&found.bet);
    assert_eq!(
        sentence,
        "20 pairs: 0 better with new, 0 with now, 20 equal; evidence 1.00 of 20; undecided; so few pairs show only \
         large differences"
    );
}

/// Makes sessions in folders of different difficulty, of which the new variant improves each by `effect`.
fn sessions(experiment: &Experiment, seed: u64, count: usize, effect: f64) -> Vec<SessionOutcome> {
    let mut random = SplitMix::new(seed);
    let mut folders = vec![(Vec::<f64>::new(), 0.0); 12];
    for folder in &mut folders {
        folder.1 = random.next_share();
    }
    let outcomes = (0..count).map(|ix| {
        let folder = random.next_below(folders.len());
        let (past, level) = &mut folders[folder];
        let variant = experiment.variant_of(&format!("{seed}-{ix}")).name.clone();
        let better = if variant == "new" { effect } else { 0.0 };
        let value = *level + better + 0.3 * (random.next_share() - 0.5);
        let before = (!past.is_empty()).then(|| past.iter().sum::<f64>() / past.len() as f64);
        past.push(value);
        SessionOutcome {
            variant,
            started_ms: ix as u64,
            value,
            before,
        }
    });
    outcomes.collect()
}

#[test]
fn equal_variants_are_rarely_told_apart_on_sessions() {
    let experiment = experiment("session", "kept_day");
    let mut wrong = 0;
    for seed in 0..comparisons() {
        let found = experiment.sessions(&sessions(&experiment, seed, 300, 0.0));
        wrong += u64::from(found.bet.outcome() != BetOutcome::Undecided);
    }
    let share = wrong as f64 / comparisons() as f64;
    assert!(share <= 0.05, "{share}");
}

#[test]
fn the_past_of_a_folder_makes_differences_visible() {
    let experiment = experiment("session", "kept_day");
    let (mut adjusted, mut raw) = (0, 0);
    for seed in 0..comparisons() {
        let mut all = sessions(&experiment, seed + 2_000_000, 120, 0.12);
        let is_found =
            |all: &[SessionOutcome]| experiment.sessions(all).bet.outcome() == BetOutcome::Second;
        adjusted += u64::from(is_found(&all));
        all.iter_mut().for_each(|session| session.before = None);
        raw += u64::from(is_found(&all));
    }
    let share = |count: u64| count as f64 / comparisons() as f64;
    println!(
        "found {} with and {} without the past",
        share(adjusted),
        share(raw)
    );
    assert!(share(adjusted) >= 0.75, "{}", share(adjusted));
    assert!(share(adjusted) > share(raw) + 0.2, "{}", share(raw));
}

#[test]
fn smaller_error_shares_are_better() {
    let experiment = experiment("session", "error_share");
    let outcome = |variant: &str, started_ms: u64, value: f64| SessionOutcome {
        variant: variant.to_owned(),
        started_ms,
        value,
        before: None,
    };
    let mut all: Vec<SessionOutcome> = (0..40).map(|ix| outcome("now", 2 * ix, 0.5)).collect();
    all.extend((0..40).map(|ix| outcome("new", 2 * ix + 1, 0.1)));
    let found = experiment.sessions(&all);
    assert_eq!(
        (found.bet.outcome(), found.sessions),
        (BetOutcome::Second, [40, 40])
    );
    let difference = found.difference.expect("both");
    assert!((difference - 0.4).abs() < 1e-9, "{difference}");
    assert!(found.interval.is_some());
    assert!(experiment.sentence(&found.bet).ends_with("new is better"));
}
