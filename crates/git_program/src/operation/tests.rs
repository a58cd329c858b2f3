//! Tests of the state of operations.

use host::{Files, RealFiles, TempFolder};

use super::{OperationKind, read_state};

#[test]
fn the_operation_in_progress_is_read_from_its_files() {
    let folder = TempFolder::new().expect("a folder");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        RealFiles
            .create_folder(&path.parent().expect("below"))
            .expect("a folder");
        RealFiles
            .write_private(&path, content.as_bytes())
            .expect("a file");
    };
    assert_eq!(read_state(folder.path()), None);
    write("MERGE_HEAD", "x\n");
    assert_eq!(
        read_state(folder.path()).map(|it| it.kind),
        Some(OperationKind::Merge)
    );
    write("rebase-merge/msgnum", "2\n");
    write("rebase-merge/end", "5\n");
    write("rebase-merge/head-name", "refs/heads/topic\n");
    let state = read_state(folder.path()).expect("a rebase");
    assert_eq!(
        (state.kind, state.progress),
        (OperationKind::Rebase, Some((2, 5)))
    );
    assert_eq!(state.branch.as_deref(), Some("topic"));
}
