//! Rebases with an edited list of commits.

use futures::executor::block_on;
use git::merge::TreePath;
use git_panel::{GitCommand, GitFailure, GitFailureKind, GitOutcome, GitService as _, RebasePlan};
use git_program::{RebaseAction, RebaseRequest};

use super::{Fixture, finish};

/// A trusted repository with the commits `first`, `one`, `two` and `three`.
#[track_caller]
fn four_commits() -> Option<Fixture> {
    let fixture = Fixture::new(&[])?;
    fixture.commit_files(&[("a", "base\n")]);
    for (name, text, message) in [
        ("a", "one\n", "one"),
        ("a", "two\n", "two"),
        ("b", "b\n", "three"),
    ] {
        fixture.write(name, text);
        fixture.git(&["add", "--all"]);
        let message = format!("--message={message}");
        fixture.git(&["commit", "--quiet", "--no-verify", &message]);
    }
    fixture.trust();
    Some(fixture)
}

fn plan(fixture: &Fixture, first: Option<&str>) -> Result<RebasePlan, GitFailure> {
    let first = first.map(str::to_owned);
    block_on(fixture.service.rebase_plan(&fixture.root, first))
}

fn rebase(fixture: &Fixture, plan: RebasePlan) -> Result<GitOutcome, GitFailure> {
    let request = RebaseRequest {
        upstream: plan.upstream,
        onto: None,
        autostash: true,
        steps: Some(plan.steps),
    };
    let command = GitCommand::Rebase(request);
    finish(fixture.service.run(&fixture.root, command)).1
}

fn subjects(fixture: &Fixture) -> String {
    fixture.git(&["log", "--format=%s"])
}

#[test]
fn an_edited_list_is_replayed() {
    let Some(fixture) = four_commits() else {
        return;
    };
    let refused = plan(&fixture, None).expect_err("no upstream");
    assert_eq!(refused.kind, GitFailureKind::NoUpstream);
    plan(&fixture, Some("HEAD~3")).expect_err("nothing is before the first commit");
    let mut plan = plan(&fixture, Some("HEAD~2")).expect("a plan");
    let listed: Vec<&str> = plan
        .steps
        .iter()
        .map(|step| step.subject.as_str())
        .collect();
    assert_eq!((listed, plan.merges), (vec!["one", "two", "three"], 0));
    plan.steps[0].action = RebaseAction::Reword("uno\n\nbody".to_owned());
    plan.steps[1].action = RebaseAction::Fixup;
    let outcome = rebase(&fixture, plan).expect("a rebase");
    assert_eq!(outcome.sentence, "Rebased");
    assert_eq!(subjects(&fixture), "three\nuno\nfirst");
    let message = fixture
        .service
        .commit_message(&fixture.root, "HEAD~1".to_owned());
    assert_eq!(block_on(message).expect("a message"), "uno\n\nbody");
    let recent = block_on(fixture.service.recent_commits(&fixture.root));
    assert_eq!(recent.expect("commits").len(), 3);
}

#[test]
fn a_conflict_stops_the_rebase_until_it_is_aborted() {
    let Some(fixture) = four_commits() else {
        return;
    };
    let mut plan = plan(&fixture, Some("HEAD~2")).expect("a plan");
    plan.steps[0].action = RebaseAction::Drop;
    let outcome = rebase(&fixture, plan).expect("a stop");
    assert_eq!(outcome.conflicts, [TreePath::from("a")]);
    let aborted = finish(fixture.service.run(&fixture.root, GitCommand::Abort)).1;
    aborted.expect("aborted");
    assert_eq!(subjects(&fixture), "three\ntwo\none\nfirst");
}
