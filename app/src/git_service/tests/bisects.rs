//! The search for the commit that broke something.

use futures::executor::block_on;
use git_panel::{GitCommand, GitOutcome, GitService as _};
use git_program::{BisectState, BisectVerdict};
use host::{Files as _, RealFiles};

use super::{Fixture, finish};

fn run(fixture: &Fixture, command: GitCommand) -> GitOutcome {
    let outcome = finish(fixture.service.run(&fixture.root, command)).1;
    outcome.expect("git works")
}

fn state(fixture: &Fixture) -> BisectState {
    block_on(fixture.service.bisect_state(&fixture.root)).expect("a state")
}

#[test]
fn a_bisection_leads_to_the_first_bad_commit() {
    let Some(fixture) = Fixture::new(&[]) else {
        return;
    };
    fixture.commit_files(&[("a", "0\n")]);
    for number in 1..8 {
        fixture.write("a", &format!("{number}\n"));
        fixture.git(&["commit", "--quiet", "--all", "--message=more"]);
    }
    fixture.trust();
    assert_eq!(state(&fixture), BisectState::Waiting);
    let (head, fifth) = (
        fixture.git(&["rev-parse", "HEAD"]),
        fixture.git(&["rev-parse", "HEAD~2"]),
    );
    let start = GitCommand::BisectStart {
        bad: "HEAD".to_owned(),
        good: "HEAD~7".to_owned(),
    };
    let mut sentence = run(&fixture, start).sentence;
    let mut steps = 0;
    while let BisectState::Testing { steps: left, .. } = state(&fixture) {
        assert!(sentence.starts_with("Test this commit"), "{sentence}");
        assert!(left <= 3 && steps < 4, "{left} after {steps}");
        let text = RealFiles.read(&fixture.root.join("a"), 16).expect("a");
        // The fifth change brought the error.
        let verdict = if text < b"5".to_vec() {
            BisectVerdict::Good
        } else {
            BisectVerdict::Bad
        };
        sentence = run(&fixture, GitCommand::BisectMark(verdict)).sentence;
        steps += 1;
    }
    assert_eq!(state(&fixture), BisectState::Found(fifth.clone()));
    let expected = format!("{} is the first commit with the error: more", &fifth[..8]);
    assert_eq!(sentence, expected);
    run(&fixture, GitCommand::BisectReset);
    assert_eq!(fixture.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(state(&fixture), BisectState::Waiting);
}
