//! Tests what the panel reads, and when.

use std::collections::BTreeSet;

use base::AbsPath;
use git::changes::{Change, ChangeGroup, ChangeKind, Changes, HeadState};
use git::merge::TreePath;

use super::{PanelState, RefreshScope};
use crate::service::{GitRepository, RepositoryRole};

fn root() -> AbsPath {
    AbsPath::new("/p").expect("absolute")
}

fn change(path: &str) -> Change {
    Change {
        group: ChangeGroup::Unstaged,
        path: TreePath::new(path),
        old_path: None,
        kind: ChangeKind::Modified,
        note: None,
        lines: None,
    }
}

fn changes(paths: &[&str]) -> Changes {
    Changes {
        entries: paths.iter().map(|path| change(path)).collect(),
        head: HeadState::Unborn {
            name: "main".to_owned(),
        },
        operation: None,
        upstream: None,
    }
}

fn state(paths: &[&str]) -> PanelState {
    let mut state = PanelState::default();
    state.set_repositories(vec![GitRepository {
        root: root(),
        name: "p".to_owned(),
        role: RepositoryRole::Main,
    }]);
    let repository = state.repository_mut(&root()).expect("a repository");
    assert_eq!(repository.begin_reading(), Some(RefreshScope::Everything));
    repository.end_reading(Ok(changes(paths)));
    state.update_rows();
    state
}

fn begin(state: &mut PanelState) -> Option<RefreshScope> {
    state.repository_mut(&root())?.begin_reading()
}

#[test]
fn one_reading_runs_and_one_waits() {
    let mut state = state(&["a", "b"]);
    assert_eq!(begin(&mut state), None);
    let file = |path: &str| RefreshScope::Files(BTreeSet::from([TreePath::new(path)]));
    state.request_reading(&root(), file("a"));
    assert_eq!(begin(&mut state), Some(file("a")));
    state.request_reading(&root(), file("a"));
    state.request_reading(&root(), RefreshScope::Everything);
    state.request_reading(&root(), file("b"));
    assert_eq!(begin(&mut state), None, "one is in progress");
    let repository = state.repository_mut(&root()).expect("a repository");
    repository.end_reading_of(&BTreeSet::from([TreePath::new("a")]), Ok(Vec::new()));
    let left = repository.changes.as_ref().expect("changes");
    assert_eq!(left.entries, [change("b")]);
    assert_eq!(begin(&mut state), Some(RefreshScope::Everything));
}

#[test]
fn nothing_is_read_while_a_request_changes_the_repository() {
    let mut state = state(&["a", "b"]);
    let paths = [TreePath::new("a")];
    state.begin_staging(&root(), &paths, true);
    state.begin_staging(&root(), &paths, false);
    state.request_reading(&root(), RefreshScope::Everything);
    assert_eq!(begin(&mut state), None);
    state.end_staging(&root(), &paths);
    assert!(
        state.is_pending(&root(), &paths[0]),
        "one answer is missing"
    );
    assert_eq!(begin(&mut state), None);
    state.end_staging(&root(), &paths);
    assert!(!state.is_pending(&root(), &paths[0]));
    assert_eq!(begin(&mut state), Some(RefreshScope::Everything));
}

#[test]
fn many_files_are_read_as_a_whole() {
    let mut state = state(&["a"]);
    let files = (0..60).map(|ix| TreePath::new(format!("f{ix}"))).collect();
    state.request_reading(&root(), RefreshScope::Files(files));
    assert_eq!(begin(&mut state), Some(RefreshScope::Everything));
}
