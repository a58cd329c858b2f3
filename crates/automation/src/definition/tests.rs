//! Tests what is read from the files of automations, and what is refused.

use super::*;

const FULL: &str = "---
# Each working day.
on:
  schedule: \"0 7 * * 1-5\"   # before work
  zone: Europe/Berlin
role: reviewer
model: near/small
effort: high
budget: { usd: 1.5, tokens: 200000, minutes: 30 }
lease: true
missed: once
until: 2027-01-31
max-per-day: 3
result: review
---

Read the log of @.burin/notes.md, it's new.
";

fn parse(head: &str) -> Result<Automation, Vec<DefinitionProblem>> {
    Automation::parse("nightly", &format!("---\n{head}\n---\nDo it.\n"))
}

#[test]
fn all_keys_are_read() {
    let automation = Automation::parse("nightly", FULL).expect("valid");
    let AutomationTrigger::Schedule(schedule) = &automation.trigger else {
        panic!("it has a schedule");
    };
    assert_eq!(schedule.text(), "0 7 * * 1-5");
    assert_eq!(schedule.zone_name(), Some("Europe/Berlin"));
    assert_eq!(automation.role, "reviewer");
    assert_eq!(automation.model.as_deref(), Some("near/small"));
    assert_eq!(automation.effort, Some(Effort::High));
    let budget = RunBudget {
        cost_nano: Some(1_500_000_000),
        tokens: Some(200_000),
        time: Some(Duration::from_secs(1800)),
    };
    assert_eq!(automation.budget, budget);
    assert!(automation.has_lease);
    assert_eq!(automation.missed, MissedPolicy::Once);
    assert_eq!(
        automation.until_ms,
        end_of_day("2027-01-31", Some("Europe/Berlin"))
    );
    assert_eq!(automation.max_per_day, Some(3));
    assert_eq!(
        automation.prompt,
        "Read the log of @.burin/notes.md, it's new."
    );
}

#[test]
fn triggers_are_read_with_their_defaults() {
    let check = |head: &str, expected: AutomationTrigger| {
        let automation = parse(head).expect(head);
        assert_eq!(automation.trigger, expected, "{head}");
        assert_eq!(automation.role, "builder");
        assert!(!automation.has_lease);
        assert_eq!(automation.missed, MissedPolicy::Skip);
    };
    let branch = "main".to_owned();
    check("on: { git: push main }", AutomationTrigger::Push { branch });
    check("on:\n  git: commit", AutomationTrigger::Commit);
    let every = Duration::from_secs(3600);
    check(
        "on:\n  check: failing",
        AutomationTrigger::FailingChecks { every },
    );
    let command = "cargo test -- 'a, b' # all".to_owned();
    check(
        "on: { command: \"cargo test -- 'a, b' # all\", every: 30m }",
        AutomationTrigger::Command {
            command,
            every: Duration::from_secs(1800),
        },
    );
}

/// Checks the first problem of a head, whose first line is line 2.
fn check_refused(head: &str, expected: &str) {
    let problems = parse(head).expect_err(head);
    assert_eq!(problems[0].to_string(), expected, "{head}");
}

#[test]
fn unknown_key_is_refused_with_its_line() {
    check_refused(
        "on: { git: commit }\nroles: x",
        "line 3: unknown key \"roles\"",
    );
    check_refused(
        "on:\n  git: commit\nbudget:\n  usd: 1\n  euro: 2",
        "line 6: unknown key \"budget.euro\"",
    );
    check_refused(
        "on: { git: commit, at: noon }",
        "line 2: unknown key \"on.at\"",
    );
}

#[test]
fn wrong_values_are_refused_with_their_lines() {
    let one = "\"on\" names one of schedule, git, check and command";
    check_refused("role: builder", &format!("line 1: {one}"));
    check_refused(
        "on:\n  git: commit\n  check: failing",
        &format!("line 4: {one}"),
    );
    check_refused(
        "on: { schedule: 0 7 * * }",
        "line 2: a schedule has five fields, minute, hour, day, month and weekday, not 4",
    );
    check_refused(
        "on: { git: pull main }",
        "line 2: \"on.git\" is commit or push BRANCH, not \"pull main\"",
    );
    check_refused(
        "on: { git: commit }\nbudget: { usd: -1 }",
        "line 3: \"budget.usd\" is an amount above 0, such as 1.50, not \"-1\"",
    );
    check_refused(
        "on: { command: ls, every: 10s }",
        "line 2: \"on.every\" is a time such as 30m, 2h or 1d, not \"10s\"",
    );
    check_refused(
        "on: { git: commit, zone: UTC }",
        "line 2: only a schedule has a zone",
    );
    check_refused(
        "on: { git: commit }\nresult: land",
        "line 3: \"result\" is review, not \"land\"",
    );
    check_refused(
        "on: { git: commit }\nrole:",
        "line 3: \"role\" has no value",
    );
    check_refused(
        "on: { git: commit }\nbudget:\nlease: true",
        "line 3: \"budget\" has no value",
    );
    check_refused(
        "on: { git: commit }\nlease: true\nlease: false",
        "line 4: \"lease\" is given twice",
    );
    check_refused(
        "on: { git: \"commit }",
        "line 2: the quotes of this value do not close",
    );
    check_refused(
        "  git: commit",
        "line 2: this line is indented without a key above it",
    );
}

#[test]
fn file_without_head_or_prompt_is_refused() {
    let check = |text: &str, expected: &str| {
        let problems = Automation::parse("x", text).expect_err(text);
        assert_eq!(problems[0].to_string(), expected);
    };
    check("", "line 1: the file must begin with ---");
    check("Do it.", "line 1: the file must begin with ---");
    check(
        "---\non: { git: commit }\n",
        "line 3: the head must end with ---",
    );
    let empty = "---\non: { git: commit }\n---\n  \n";
    check(empty, "line 1: the prompt below the head is empty");
}
