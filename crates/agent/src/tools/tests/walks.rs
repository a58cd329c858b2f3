//! Every error case of every tool has its outcome and a sentence with a remedy.
//!
//! The tests of the sibling modules produce the errors; this module collects and counts them. It
//! fails for a tool without error cases, and for an outcome or detail in a tool's source that no
//! case produces.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use host::{ErrorReason, FakeOperation};
use serde_json::json;

use super::*;
use crate::context::{SkillTool, TrustedFolders};
use crate::outcome::Detail;
use crate::spawn;
use crate::tools::{fetch, language};

/// The tests that produce each tool's errors, and the outcomes its source may contain.
const SOURCES: &[(&str, &[&str], &[&str])] = &[
    ("read", &["read"], &[include_str!("../read.rs")]),
    ("list", &["list"], &[include_str!("../list.rs")]),
    ("glob", &["glob"], &[include_str!("../glob.rs")]),
    ("grep", &["grep"], &[include_str!("../grep.rs")]),
    (
        "search",
        &["semantic_search", "symbols"],
        &[include_str!("../search.rs")],
    ),
    (
        "language",
        &[
            "diagnostics",
            "definition",
            "references",
            "hover",
            "rename",
            "code_action",
        ],
        &[
            include_str!("../language.rs"),
            include_str!("../language/changes.rs"),
            include_str!("../language/navigation.rs"),
            include_str!("../language/position.rs"),
        ],
    ),
    (
        "edit",
        &["edit", "apply_patch", "edit_lines", "edit_blocks"],
        &[include_str!("../edit.rs"), include_str!("../edit/apply.rs")],
    ),
    ("write", &["write"], &[include_str!("../write.rs")]),
    (
        "shift",
        &["move", "delete"],
        &[include_str!("../relocate.rs")],
    ),
    (
        "exec",
        &["exec_command", "write_stdin", "run_tests"],
        &[
            include_str!("../exec.rs"),
            include_str!("../exec/testing.rs"),
            include_str!("../exec/write_stdin.rs"),
        ],
    ),
    ("git", &["git"], &[include_str!("../git.rs")]),
    ("fetch", &["fetch"], &[include_str!("../fetch.rs")]),
    (
        "talk",
        &["plan", "ask_user", "memory"],
        &[include_str!("../interaction.rs")],
    ),
    (
        "skill",
        &["skill"],
        &[include_str!("../../context/skill_tool.rs")],
    ),
    ("spawn", &["spawn_agent"], &[include_str!("../../spawn.rs")]),
];

/// Words of which every error contains at least one: a remedy or an alternative.
const ADVICE: &[&str] = &[
    "add ",
    "again",
    "another way",
    "ask ",
    "call ",
    "change",
    "check ",
    "choose",
    "did you mean",
    "do without",
    "fewer",
    "fix",
    "give",
    "go on",
    "higher",
    "install",
    "leave out",
    "load ",
    "look ",
    "make ",
    "must ",
    "name ",
    "narrow",
    "needs",
    "one of",
    "put ",
    "read ",
    "remove ",
    "repair ",
    "running are",
    "say ",
    "search",
    "send",
    "shorter",
    "split",
    "start ",
    "take ",
    "there are ",
    "try ",
    "use ",
    "wait ",
    "write ",
];

/// An error returned by a tool.
#[derive(Clone, Debug)]
struct Walked {
    tool: String,
    outcome: CallOutcome,
    detail: Option<Detail>,
    text: String,
}

thread_local! {
    static WALKED: RefCell<Vec<Walked>> = const { RefCell::new(Vec::new()) };
}

/// Records a tool's result in this test.
pub(super) fn note(tool: &str, answer: &ToolResult) {
    let walked = Walked {
        tool: tool.to_owned(),
        outcome: answer.outcome,
        detail: answer.detail.clone(),
        text: answer.text(),
    };
    WALKED.with_borrow_mut(|all| all.push(walked));
}

#[test]
fn every_tool_error_has_an_outcome_and_advice() {
    walk_what_is_tested_elsewhere();
    walk_the_rest();
    walk_skills();
    let answers = spawn::error_cases::refusals().into_iter();
    for answer in answers.chain(spawn::error_cases::ends()) {
        note(spawn::SPAWN_AGENT, &answer);
    }
    let walked = WALKED.take();
    assert_all_tools_walk(&walked);
    let is_error = |walked: &&Walked| walked.outcome.is_error();
    let dumb: BTreeSet<String> = walked
        .iter()
        .filter(is_error)
        // The user who stopped the call needs no remedy.
        .filter(|walked| walked.outcome != CallOutcome::UserAborted)
        .filter_map(|walked| {
            Some(format!(
                "{}: {}: {:?}",
                walked.tool,
                fault(&walked.text)?,
                walked.text
            ))
        })
        .collect();
    assert!(
        dumb.is_empty(),
        "{}",
        dumb.into_iter().collect::<Vec<_>>().join("\n")
    );
    assert_sources_are_walked(&walked);
    let ways: BTreeSet<String> = walked
        .iter()
        .filter(is_error)
        .map(|walked| {
            format!(
                "{} {} {}",
                walked.tool,
                walked.outcome.name(),
                walked.detail.as_ref().map_or("", kind)
            )
        })
        .collect();
    println!(
        "{} errors, {} ways:",
        walked.iter().filter(is_error).count(),
        ways.len()
    );
    ways.iter().for_each(|way| println!("  {way}"));
}

/// The tests that produce errors; each has its own runtime on this thread.
fn walk_what_is_tested_elsewhere() {
    files::every_way_of_reading_to_fail_says_what_to_do();
    files::a_long_file_is_read_in_parts();
    files::pictures_are_shown();
    files::folders_are_listed();
    files::files_are_found_by_name_and_content();
    changes::every_way_of_changing_to_fail_says_what_to_do();
    changes::what_changed_after_it_was_read_is_not_edited();
    changes::a_file_is_replaced_only_by_who_has_read_it();
    changes::a_patch_changes_all_of_its_files_or_none();
    commands::every_way_of_running_to_fail_says_what_to_do();
    commands::a_command_ends_at_its_limit_and_when_it_is_stopped();
    commands::a_long_output_is_cut_and_kept();
    commands::what_runs_in_the_background_is_heard_interrupted_and_ended();
    running::every_way_of_testing_to_fail_says_what_to_do();
    others::every_way_of_asking_others_to_fail_says_what_to_do();
    others::the_repository_is_read();
    others::unsaved_texts_are_read_and_searched_and_not_edited();
    language::tests::every_way_of_asking_servers_to_fail_says_what_to_do();
    fetch::tests::every_way_of_fetching_to_fail_says_what_to_do();
    fetch::tests::a_page_that_does_not_come_is_given_up();
    fetch::tests::a_long_page_is_cut_and_kept();
}

/// Produces errors that no other test covers.
#[tokio::main(flavor = "current_thread")]
async fn walk_the_rest() {
    let (world, files) = World::fake();
    world.write("a", "x\n");
    let edit = json!({ "path": "a", "old_string": "x", "new_string": "y" });
    // Another program creates the file at the moment it is written.
    files.fail_always(FakeOperation::Save, ErrorReason::AlreadyExists);
    let answer = world.call("edit", edit).await;
    assert_eq!(
        answer.detail,
        Some(Detail::ExternalChange),
        "{}",
        answer.text()
    );
    files.heal();
    for input in [
        json!({}),
        json!({ "input": "no blocks" }),
        json!({ "input": "a\n<<<<<<< SEARCH\nz\n=======\ny\n>>>>>>> REPLACE\n" }),
    ] {
        world.call("edit_blocks", input).await;
    }
    for input in [json!({}), json!({ "input": "no lines" })] {
        world.call("edit_lines", input).await;
    }
    for number in 0..1_001 {
        world.write(&format!("many/{number}"), "x\n");
    }
    for (tool, input) in [
        ("list", json!({ "path": "many" })),
        ("glob", json!({ "pattern": "many/*" })),
        ("grep", json!({ "pattern": "x", "path": "many" })),
    ] {
        let answer = world.call(tool, input).await;
        assert_eq!(answer.detail, Some(Detail::OutputTruncated), "{tool}");
    }
    world.write("AGENTS.md/no-file", "");
    world
        .call("memory", json!({ "rule": "Run the tests." }))
        .await;
    let mut real = World::real();
    let (sender, stop) = tokio::sync::watch::channel(false);
    let command = json!({ "command": "sleep 30", "background": true, "yield_time_ms": 50 });
    real.call("exec_command", command).await;
    real.context.stop = stop;
    sender.send(true).expect("somebody listens");
    real.call("write_stdin", json!({ "terminal": 1 })).await;
    real.call("ask_user", json!({ "question": "Which?" })).await;
}

#[tokio::main(flavor = "current_thread")]
async fn walk_skills() {
    let (world, files) = World::fake();
    let skill = "---\nname: release\ndescription: Makes a release\n---\nTag it.\n";
    world.write(".agents/skills/release/SKILL.md", skill);
    world.write(".agents/skills/release/steps.md", "1. Tag\n");
    let ask = async |trust: TrustedFolders, input: CallInput| {
        let tool = SkillTool::new(trust, None);
        let call = ToolCall {
            input,
            ..call("skill", Value::Null)
        };
        let answer = match tool.access(&call, &world.context) {
            Ok(access) => tool.run(&call, &access, &world.context).await,
            Err(answer) => answer,
        };
        note("skill", &answer);
        answer
    };
    let inputs = [
        json!({}),
        json!({ "name": "none" }),
        json!({ "name": "release", "file": 3 }),
        json!({ "name": "release", "file": "none" }),
        json!({ "name": "release", "file": "../../../a" }),
    ];
    for input in inputs {
        let answer = ask(TrustedFolders::all(), CallInput::Json(input)).await;
        assert!(answer.outcome.is_error(), "{}", answer.text());
    }
    ask(TrustedFolders::all(), CallInput::Text("release".to_owned())).await;
    ask(
        TrustedFolders::none(),
        CallInput::Json(json!({ "name": "release" })),
    )
    .await;
    files.fail_always(FakeOperation::Read, ErrorReason::Device);
    ask(
        TrustedFolders::all(),
        CallInput::Json(json!({ "name": "release", "file": "steps.md" })),
    )
    .await;
}

/// Checks that every tool refused its arguments and failed at least once.
fn assert_all_tools_walk(walked: &[Walked]) {
    let world = World::with_language(Arc::default());
    let mut tools: BTreeSet<String> = world
        .tools
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    tools.insert(spawn::SPAWN_AGENT.to_owned());
    tools.insert("skill".to_owned());
    let listed: BTreeSet<String> = SOURCES
        .iter()
        .flat_map(|(_, tools, _)| tools.iter().map(|tool| (*tool).to_owned()))
        .collect();
    assert_eq!(
        tools, listed,
        "every tool has a walk, and every walk a tool"
    );
    for tool in &tools {
        let outcomes: BTreeSet<CallOutcome> = walked
            .iter()
            .filter(|walked| walked.tool == *tool)
            .map(|walked| walked.outcome)
            .collect();
        assert!(
            outcomes.contains(&CallOutcome::InvalidArguments),
            "{tool}: {outcomes:?}"
        );
        assert!(!outcomes.contains(&CallOutcome::Unknown), "{tool}");
    }
}

/// Checks that some case produces every outcome in a tool's source.
fn assert_sources_are_walked(walked: &[Walked]) {
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (file, tools, sources) in SOURCES {
        let own = walked
            .iter()
            .filter(|walked| tools.contains(&walked.tool.as_str()));
        let met: BTreeSet<String> = own
            .flat_map(|walked| {
                let detail = walked
                    .detail
                    .as_ref()
                    .map(|detail| format!("Detail::{}", kind(detail)));
                [Some(format!("CallOutcome::{:?}", walked.outcome)), detail]
            })
            .flatten()
            .collect();
        for source in *sources {
            let written = written(source).into_iter().filter(|way| !met.contains(way));
            missing.entry(file).or_default().extend(written);
        }
    }
    missing.retain(|_, ways| !ways.is_empty());
    assert!(missing.is_empty(), "no walk meets {missing:?}");
}

/// Returns the outcomes and details that a source names.
fn written(source: &str) -> BTreeSet<String> {
    let mut written = BTreeSet::new();
    for start in ["CallOutcome::", "Detail::"] {
        for (at, _) in source.match_indices(start) {
            let word = &source[at + start.len()..];
            let end = word
                .find(|letter: char| !letter.is_alphanumeric())
                .unwrap_or(word.len());
            written.insert(format!("{start}{}", &word[..end]));
        }
    }
    for (helper, way) in [
        ("invalid(", "CallOutcome::InvalidArguments"),
        ("unexpected(", "CallOutcome::UnexpectedEnvironment"),
    ] {
        if source.contains(helper) {
            written.insert(way.to_owned());
        }
    }
    written
}

/// Returns the defect of an error's sentence.
fn fault(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let is_debris = ["Err(", "Some(", "Os {", "panicked", "unwrap"]
        .iter()
        .any(|word| text.contains(word));
    if is_debris {
        return Some("it is not written for a reader");
    }
    if text.split_whitespace().count() < 4 {
        return Some("it is not a sentence");
    }
    let has_advice = ADVICE.iter().any(|word| lower.contains(word));
    (!has_advice).then_some("it does not say what to do")
}

fn kind(detail: &Detail) -> &'static str {
    match detail {
        Detail::Overloaded => "Overloaded",
        Detail::RateLimited { .. } => "RateLimited",
        Detail::QuotaExhausted => "QuotaExhausted",
        Detail::ContextOverflow => "ContextOverflow",
        Detail::StreamTorn => "StreamTorn",
        Detail::ContentFiltered => "ContentFiltered",
        Detail::SandboxDenied { .. } => "SandboxDenied",
        Detail::Planted { .. } => "Planted",
        Detail::SandboxUnavailable => "SandboxUnavailable",
        Detail::StaleEdit => "StaleEdit",
        Detail::AmbiguousEdit => "AmbiguousEdit",
        Detail::ExternalChange => "ExternalChange",
        Detail::OutputTruncated => "OutputTruncated",
        Detail::ToolOutcomeUnknown => "ToolOutcomeUnknown",
        Detail::Denied => "Denied",
    }
}
