//! Pull requests through a stand-in for gh.

use futures::executor::block_on;
use git_panel::{GitCommand, GitService as _};
use git_program::find_program;

use super::{Fixture, finish, write_script};

/// A script that answers as gh does, with the name of the branch of a pull request as `pr-NUMBER`.
const GH: &str = r#"case "$1 $2" in
"pr list") echo '[{"number":7,"title":"Fix it","author":{"login":"ann"},"headRefName":"fix","baseRefName":"main","url":"u","isDraft":false}]' ;;
"pr checkout") [ "$3" = 7 ] || { echo "no pull request $3" >&2; exit 1; }; git switch --quiet --create "pr-$3" ;;
*) exit 2 ;;
esac"#;

/// A trusted repository with a commit.
#[track_caller]
fn repository() -> Option<Fixture> {
    let fixture = Fixture::new(&[])?;
    fixture.commit_files(&[("a", "one\n")]);
    fixture.trust();
    Some(fixture)
}

#[test]
fn pull_requests_are_listed_and_checked_out() {
    let Some(fixture) = repository() else {
        return;
    };
    write_script(&fixture.folder.join("programs").join("gh"), GH);
    let (service, root) = (&fixture.service, &fixture.root);
    let listed = block_on(service.pull_requests(root)).expect("a list");
    assert_eq!(listed.len(), 1);
    let request = &listed[0];
    assert_eq!(
        (
            request.number,
            request.title.as_str(),
            request.branch.as_str()
        ),
        (7, "Fix it", "fix")
    );
    let outcome = finish(service.run(root, GitCommand::CheckOutPullRequest(7))).1;
    assert_eq!(
        outcome.expect("checked out").sentence,
        "Checked out pull request #7"
    );
    assert_eq!(fixture.git(&["branch", "--show-current"]), "pr-7");
    let refused = finish(service.run(root, GitCommand::CheckOutPullRequest(8))).1;
    let sentence = refused.expect_err("there is none").sentence;
    assert_eq!(sentence, "gh failed: no pull request 8");
}

#[test]
fn a_missing_gh_is_named() {
    let Some(fixture) = repository() else {
        return;
    };
    if find_program("gh", &fixture.environment).is_some() {
        return test_support::skip("gh is installed");
    }
    let listed = block_on(fixture.service.pull_requests(&fixture.root));
    let sentence = listed.expect_err("no gh").sentence;
    assert!(sentence.contains("need the program gh"), "{sentence}");
    assert!(sentence.contains("gh auth login"), "{sentence}");
}
