//! Tests of the conversion of a status.

use git::changes::{ChangeGroup, ChangeKind, ConflictKind};
use git_program::parse_status;

use super::changes_of;

#[test]
fn records_become_changes_of_groups() {
    let ids = "1111111111111111111111111111111111111111 2222222222222222222222222222222222222222";
    let output = format!(
        "1 MM N... 100644 100644 100644 {ids} both\0\
         1 M. N... 100644 100755 100755 {same} mode\0\
         2 R. N... 100644 100644 100644 {ids} R90 new\0old\0\
         u DU N... 100644 000000 100644 100644 {ids} 3333333333333333333333333333333333333333 lost\0\
         ? plain\0? nested/\0",
        same = "1111111111111111111111111111111111111111 1111111111111111111111111111111111111111",
    );
    let report = parse_status(output.as_bytes());
    assert_eq!(report.unknown, 0);
    let changes: Vec<_> = report.entries.iter().flat_map(changes_of).collect();
    let found: Vec<_> = changes
        .iter()
        .map(|change| (change.group, change.path.to_string(), change.kind))
        .collect();
    let of = |group, path: &str, kind| (group, path.to_owned(), kind);
    let expected = [
        of(ChangeGroup::Staged, "both", ChangeKind::Modified),
        of(ChangeGroup::Unstaged, "both", ChangeKind::Modified),
        of(ChangeGroup::Staged, "mode", ChangeKind::ModeChanged),
        of(ChangeGroup::Staged, "new", ChangeKind::Renamed),
        of(
            ChangeGroup::Conflicts,
            "lost",
            ChangeKind::Conflicted(ConflictKind::DeletedByUs),
        ),
        of(ChangeGroup::Untracked, "plain", ChangeKind::Untracked),
        of(ChangeGroup::Untracked, "nested", ChangeKind::Untracked),
    ];
    assert_eq!(found, expected);
    let source = changes[3].old_path.as_ref().map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("old"));
}
