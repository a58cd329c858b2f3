//! Compaction plans: each step by example, all of them over random sessions.

use super::*;
use crate::record::TodoState;
use serde_json::json;

const WIDE: CompactLimits = CompactLimits {
    context_tokens: 1_000_000,
    fixed_bytes: 0,
    steps: 3,
};

/// Builder for a conversation.
#[derive(Default)]
struct Talk {
    items: Vec<CompactItem>,
    seq: u64,
    step: u64,
    calls: u64,
}

impl Talk {
    fn push(&mut self, kind: CompactItemKind, text: &str) {
        self.items.push(CompactItem {
            seq: self.seq,
            step: self.step,
            kind,
            text: text.to_owned(),
            bytes: text.len() as u64,
        });
    }

    fn person(&mut self, text: &str) -> &mut Self {
        self.seq += 1;
        self.step += 1;
        self.push(CompactItemKind::User, text);
        // The following answer has the same step.
        self.step -= 1;
        if let Some(item) = self.items.last_mut() {
            item.step = self.step + 1;
        }
        self
    }

    fn joined(&mut self, origin: PromptOrigin, text: &str) -> &mut Self {
        self.seq += 1;
        self.push(CompactItemKind::Joined(origin), text);
        if let Some(item) = self.items.last_mut() {
            item.step = self.step + 1;
        }
        self
    }

    /// Adds an answer with calls: tool, arguments, result, whether it failed.
    fn answer(&mut self, words: &str, calls: &[(&str, Value, &str, bool)]) -> &mut Self {
        self.seq += 1;
        self.step += 1;
        self.push(CompactItemKind::Model, words);
        let first = self.calls;
        for (tool, input, _, _) in calls {
            let kind = CompactItemKind::Call {
                id: format!("c{}", self.calls),
                tool: (*tool).to_owned(),
                input: input.clone(),
            };
            self.calls += 1;
            self.push(kind, &input.to_string());
        }
        for (ix, (_, _, text, is_error)) in calls.iter().enumerate() {
            self.seq += 1;
            let kind = CompactItemKind::Result {
                call: format!("c{}", first + ix as u64),
                is_error: *is_error,
            };
            self.push(kind, text);
        }
        self
    }
}

fn long(text: &str) -> String {
    format!("{text} ").repeat(400)
}

#[test]
fn short_conversations_are_not_compacted() {
    let mut talk = Talk::default();
    talk.person("hello").answer("hi", &[]);
    assert_eq!(
        plan(&talk.items, &WIDE, &TokenEstimator::default(), false),
        None
    );
    assert_eq!(plan(&[], &WIDE, &TokenEstimator::default(), true), None);
}

#[test]
fn old_results_are_reduced_before_the_latest_steps() {
    let mut log: String = (0..400)
        .map(|ix| format!("test tests::case_{ix} ... ok\n"))
        .collect();
    log.push_str("test result: ok. 400 passed; 0 failed; 0 ignored; 0 measured\n");
    let (file, again) = (long("let a = 1;"), long("let a = 2;"));
    let read = json!({"path": "a.rs"});
    let edit = |old: &str| json!({"path": "a.rs", "old": old});
    let run = json!({"cmd": "cargo test"});
    let mut talk = Talk::default();
    talk.person("make it faster")
        .answer(
            "",
            &[
                ("read", read.clone(), &file, false),
                ("exec_command", run.clone(), &log, false),
            ],
        )
        .answer("", &[("edit", edit("x"), "no such text", true)])
        .answer("", &[("edit", edit("a"), "done", false)])
        .answer("", &[("read", read, &again, false)])
        .answer("", &[("exec_command", run, &log, false)])
        .answer("done", &[]);
    let compaction = plan(&talk.items, &WIDE, &TokenEstimator::default(), true).unwrap();
    assert_eq!(compaction.dropped, ["c2"]);
    assert_eq!(compaction.reduced.len(), 2, "{:?}", compaction.reduced);
    assert!(compaction.reduced[0].1.contains("as c4"));
    assert!(compaction.reduced[1].1.contains("400 passed"));
    assert_eq!(compaction.summary, None);
    let shorter = apply(&talk.items, &compaction, None);
    assert_eq!(total(&shorter), compaction.bytes.1);
    // The log of the latest steps is unchanged.
    assert!(shorter.iter().any(|item| item.text == log));
    assert_eq!(
        plan(&shorter, &WIDE, &TokenEstimator::default(), true),
        None
    );
}

#[test]
fn summary_replaces_old_items_and_keeps_user_messages() {
    let rules = PromptOrigin::Rules {
        path: "web/AGENTS.md".into(),
    };
    let mut talk = Talk::default();
    talk.joined(
        PromptOrigin::Header,
        "<environment>\nGit: branch main\n</environment>\n",
    )
    .person("port the parser; keep the public names");
    talk.joined(
        rules,
        "<instructions path=\"web/AGENTS.md\">\nTwo spaces.\n</instructions>\n",
    );
    for ix in 0..40 {
        let text = long(&format!("words {ix}"));
        talk.answer(&text, &[("fetch", json!({"url": ix}), &text, false)]);
    }
    talk.person("and the printer, too").answer("yes", &[]);
    let limits = CompactLimits {
        context_tokens: 40_000,
        fixed_bytes: 3_000,
        steps: 3,
    };
    let estimator = TokenEstimator::default();
    let compaction = plan(&talk.items, &limits, &estimator, false).unwrap();
    let summarise = compaction.summary.clone().unwrap();
    assert_eq!(
        summarise.user_messages,
        ["port the parser; keep the public names"]
    );
    assert!(summarise.transcript.len() < 60_000);
    let summary = ConversationSummary::read(r#"{"goal":"port","next":["go on"]}"#).unwrap();
    let around = SummaryContext {
        todos: vec![TodoItem {
            text: "lexer".into(),
            state: TodoState::Doing,
        }],
        files: vec![("a.rs".into(), "fn a() {}".into())],
    };
    let beginning = summarise.summary_text(&summary, &around);
    for kept in [
        "Goal: port",
        "- go on",
        "port the parser; keep the public names",
        "Two spaces.",
        "- [doing] lexer",
        "fn a() {}",
        "Git: branch main",
    ] {
        assert!(beginning.0.contains(kept), "{kept}");
    }
    let shorter = apply(&talk.items, &compaction, Some(&beginning.0));
    assert_eq!(shorter[0].kind, CompactItemKind::Summary);
    assert!(
        shorter
            .iter()
            .any(|item| item.text == "and the printer, too")
    );
    assert!(!limits.is_over(total(&shorter), &estimator));
    assert_eq!(plan(&shorter, &limits, &estimator, false), None);
    // Neither the model's summary nor the fallback loses anything.
    assert_eq!(summarise.by_hand().next.len(), 1);
}

#[test]
fn uncompactable_conversations_state_the_reason() {
    let mut talk = Talk::default();
    for ix in 0..30 {
        talk.person(&long(&format!("say {ix}")));
    }
    talk.answer("yes", &[]);
    let limits = CompactLimits {
        context_tokens: 20_000,
        fixed_bytes: 0,
        steps: 3,
    };
    assert_eq!(
        plan(&talk.items, &limits, &TokenEstimator::default(), false),
        None
    );
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn random_talk(random: &mut Random) -> Vec<CompactItem> {
    let mut talk = Talk::default();
    talk.joined(
        PromptOrigin::Header,
        "<environment>\nGit: branch main\n</environment>\n",
    );
    talk.person("the task of the day");
    let logs: String = (0..200)
        .map(|ix| format!("test t::case_{ix} ... ok\n"))
        .collect();
    for step in 0..random.below(60) + 5 {
        if random.below(6) == 0 {
            let words = format!("message {step} {}", "x ".repeat(random.below(200) as usize));
            talk.person(&words);
        }
        let count = random.below(4);
        let calls: Vec<(&str, Value, String, bool)> = (0..count)
            .map(|_| {
                let path = format!("f{}.rs", random.below(5));
                let is_error = random.below(4) == 0;
                let words = format!("{path} ").repeat(random.below(900) as usize + 1);
                match random.below(3) {
                    0 => ("read", json!({"path": path}), words, is_error),
                    1 => ("edit", json!({"path": path, "old": step}), words, is_error),
                    _ => (
                        "exec_command",
                        json!({"cmd": "cargo test"}),
                        logs.clone(),
                        is_error,
                    ),
                }
            })
            .collect();
        let calls: Vec<(&str, Value, &str, bool)> = calls
            .iter()
            .map(|(tool, input, text, is_error)| (*tool, input.clone(), text.as_str(), *is_error))
            .collect();
        talk.answer(&"thinking aloud ".repeat(random.below(60) as usize), &calls);
    }
    talk.items
}

fn assert_pairs(items: &[CompactItem], seed: u64) {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        match &item.kind {
            CompactItemKind::Call { id, .. } => open.push(id),
            CompactItemKind::Result { call, .. } => {
                let at = open.iter().position(|id| id == call);
                let at =
                    at.unwrap_or_else(|| panic!("seed {seed}: result of {call} without its call"));
                open.remove(at);
            }
            _ => {}
        }
    }
    assert_eq!(
        open,
        Vec::<&str>::new(),
        "seed {seed}: calls without result"
    );
}

#[test]
fn random_compactions_keep_pairs_and_user_messages() {
    let estimator = TokenEstimator::default();
    let (mut planned, mut summarised, mut short) = (0, 0, 0);
    for seed in 400..600 {
        let mut random = Random(seed);
        let items = random_talk(&mut random);
        let limits = CompactLimits {
            context_tokens: 2_000 + random.below(60_000),
            fixed_bytes: random.below(3_000),
            steps: 1 + random.below(6),
        };
        let is_wanted = random.below(4) == 0;
        assert_pairs(&items, seed);
        let Some(compaction) = plan(&items, &limits, &estimator, is_wanted) else {
            continue;
        };
        planned += 1;
        assert!(
            is_wanted || limits.is_over(total(&items), &estimator),
            "seed {seed}"
        );
        let beginning = compaction.summary.as_ref().map(|summarise| {
            summarised += 1;
            let summary = ConversationSummary::read(r#"{"goal":"g","next":["n"]}"#).unwrap();
            summarise
                .summary_text(&summary, &SummaryContext::default())
                .0
        });
        let shorter = apply(&items, &compaction, beginning.as_deref());
        assert_pairs(&shorter, seed);
        // The remaining items keep their order, and the last step is unchanged.
        assert!(shorter.is_sorted_by_key(|item| item.seq), "seed {seed}");
        let last = items.last().unwrap().step;
        let step_of = |items: &[CompactItem]| -> Vec<CompactItem> {
            items
                .iter()
                .filter(|item| item.step == last && item.kind != CompactItemKind::Summary)
                .cloned()
                .collect()
        };
        assert_eq!(step_of(&shorter), step_of(&items), "seed {seed}");
        // Every user message is still there, verbatim.
        for item in items
            .iter()
            .filter(|item| item.kind == CompactItemKind::User)
        {
            let is_there = shorter
                .iter()
                .any(|left| left.text.contains(item.text.as_str()));
            assert!(
                is_there,
                "seed {seed}: {:?} is lost",
                &item.text[..20.min(item.text.len())]
            );
        }
        assert!(total(&shorter) <= total(&items) + 2_000, "seed {seed}");
        let tokens = limits.tokens(total(&shorter), &estimator);
        if beginning.is_some() {
            short += 1;
            let is_short = tokens <= limits.share(TARGET_PERCENT);
            assert!(
                is_short || compaction.shortfall.is_some(),
                "seed {seed}: {tokens} of {}",
                limits.context_tokens
            );
        }
        // Planning again changes nothing.
        let again = plan(&shorter, &limits, &estimator, false);
        let does_more = again.as_ref().is_some_and(|again| again.summary.is_some());
        assert!(
            !does_more || compaction.summary.is_none(),
            "seed {seed}: {again:?}"
        );
        if let Some(again) = again {
            assert!(
                again.reduced.is_empty() && again.dropped.is_empty(),
                "seed {seed}"
            );
        }
    }
    assert!(
        planned > 70 && summarised > 20 && short > 20,
        "{planned} {summarised} {short}"
    );
}

/// A second summary keeps the verbatim parts of the first.
#[test]
fn user_messages_survive_several_summaries() {
    let estimator = TokenEstimator::default();
    let limits = CompactLimits {
        context_tokens: 30_000,
        fixed_bytes: 0,
        steps: 2,
    };
    let mut talk = Talk::default();
    talk.joined(
        PromptOrigin::Header,
        "<environment>\nGit: branch main\n</environment>\n",
    );
    let mut said = Vec::new();
    let mut times = 0;
    for round in 0..6 {
        said.push(format!("message number {round}"));
        talk.person(&said[round]);
        for ix in 0..25 {
            let text = long(&format!("{round} {ix}"));
            talk.answer("", &[("fetch", json!({"url": text}), &text, false)]);
        }
        if let Some(compaction) = plan(&talk.items, &limits, &estimator, false)
            && let Some(summarise) = &compaction.summary
        {
            times += 1;
            let beginning =
                summarise.summary_text(&summarise.by_hand(), &SummaryContext::default());
            talk.items = apply(&talk.items, &compaction, Some(&beginning.0));
        }
    }
    assert!(times >= 4, "{times}");
    for message in &said {
        let count = talk
            .items
            .iter()
            .map(|item| item.text.matches(message.as_str()).count())
            .sum::<usize>();
        assert_eq!(count, 1, "{message}");
    }
    assert!(talk.items[0].text.contains("Git: branch main"));
}
