//! The shown rows of a tree over fake files.

use super::{NameEdit, ShownRow, TreeState, entry_path};
use base::AbsPath;
use host::{FakeFiles, Files};
use project::{ListJob, ProjectTree};

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

fn tree() -> ProjectTree {
    let files = FakeFiles::new();
    files.write(&path("/p/Cargo.toml"), "");
    files.write(&path("/p/src/main.rs"), "");
    files.write(&path("/p/src/deep/leaf.rs"), "");
    files.write(&path("/p/.gitignore"), "out\n");
    files.write(&path("/p/out/log.txt"), "");
    let (mut tree, job) = ProjectTree::new(path("/p"));
    run(&mut tree, &files, [job]);
    for folder in ["/p/src", "/p/src/deep", "/p/out"] {
        let job = tree.open(&path(folder));
        run(&mut tree, &files, job);
    }
    tree
}

fn run(tree: &mut ProjectTree, files: &FakeFiles, jobs: impl IntoIterator<Item = ListJob>) {
    for job in jobs {
        let listed = job.run(files as &dyn Files);
        tree.accept(listed);
    }
}

fn names(state: &TreeState, tree: &ProjectTree) -> Vec<String> {
    let name = |row: &ShownRow| match row {
        ShownRow::NewName { depth, is_folder } => format!("new {depth} {is_folder}"),
        _ => entry_path(tree, row).map(AbsPath::name).unwrap_or_default(),
    };
    state.visible_rows(tree).iter().map(name).collect()
}

#[test]
fn filters_keep_the_folders_above() {
    let tree = tree();
    let mut state = TreeState::default();
    let all = [
        "out",
        "log.txt",
        "src",
        "deep",
        "leaf.rs",
        "main.rs",
        ".gitignore",
        "Cargo.toml",
    ];
    assert_eq!(names(&state, &tree), all);
    state.hides_ignored = true;
    assert_eq!(names(&state, &tree)[..1], ["src"]);
    state.hides_ignored = false;
    state.filter = "LEAF".to_owned();
    assert_eq!(names(&state, &tree), ["src", "deep", "leaf.rs"]);
    state.select_first_match(&tree);
    assert_eq!(state.selected, Some(path("/p/src/deep/leaf.rs")));
    state.filter = "zzz".to_owned();
    assert!(names(&state, &tree).is_empty());
}

#[test]
fn the_selection_steps_and_names_a_folder() {
    let tree = tree();
    let mut state = TreeState::default();
    state.select_by(&tree, 1);
    assert_eq!(state.selected, Some(path("/p/out")));
    assert_eq!(state.target_folder(&tree), path("/p/out"));
    state.select_by(&tree, 1);
    assert_eq!(
        state.target_folder(&tree),
        path("/p/out"),
        "the folder around a file"
    );
    state.select_by(&tree, 100);
    assert_eq!(state.selected, Some(path("/p/Cargo.toml")));
    assert_eq!(state.target_folder(&tree), path("/p"));
    state.select_by(&tree, -100);
    assert_eq!(state.selected, Some(path("/p/out")));
    state.selected = None;
    state.select_edge(&tree, super::ListEdge::Last);
    assert_eq!(state.selected, Some(path("/p/Cargo.toml")));
}

#[test]
fn new_names_stand_below_their_folder() {
    let tree = tree();
    let mut state = TreeState {
        editing: Some(NameEdit::NewFile(path("/p/src"))),
        ..TreeState::default()
    };
    assert_eq!(names(&state, &tree)[2..5], ["src", "new 1 false", "deep"]);
    state.editing = Some(NameEdit::NewFolder(path("/p")));
    assert_eq!(names(&state, &tree)[0], "new 0 true");
}
