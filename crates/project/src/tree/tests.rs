//! Opening, refreshing and revealing, with rows as indented text.

use base::{AbsPath, NameRules};
use host::{FakeFiles, Files as _};

use super::{ListJob, ProjectTree};

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

fn fixture() -> FakeFiles {
    let files = FakeFiles::new();
    for name in [
        "Cargo.toml",
        "build.rs",
        "src/main.rs",
        "src/a/deep.rs",
        "src/B.rs",
        "target/debug/x",
    ] {
        files.write(&path("/repo").join(name), "");
    }
    files.write(&path("/repo/.gitignore"), "/target\n*.log\n");
    files.write(&path("/repo/.git/HEAD"), "");
    files
}

fn run(tree: &mut ProjectTree, files: &FakeFiles, jobs: impl IntoIterator<Item = ListJob>) {
    for job in jobs {
        let listed = job.run(files);
        tree.accept(listed);
    }
}

fn loaded(files: &FakeFiles) -> ProjectTree {
    let (mut tree, job) = ProjectTree::new(path("/repo"));
    assert!(!tree.is_loaded());
    run(&mut tree, files, [job]);
    tree
}

fn shown(tree: &ProjectTree) -> String {
    let rows = tree.rows().iter().map(|row| {
        let mark = if row.is_open { "▾" } else { "" };
        let ignored = if row.entry.is_ignored {
            " (ignored)"
        } else {
            ""
        };
        format!(
            "{}{mark}{}{ignored}",
            "  ".repeat(row.depth),
            row.entry.path.name()
        )
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn folders_come_first_and_open_on_demand() {
    let files = fixture();
    let mut tree = loaded(&files);
    assert_eq!(
        shown(&tree),
        "src\ntarget (ignored)\n.gitignore\nbuild.rs\nCargo.toml"
    );

    let job = tree.open(&path("/repo/src"));
    run(&mut tree, &files, job);
    assert_eq!(
        shown(&tree),
        "▾src\n  a\n  B.rs\n  main.rs\ntarget (ignored)\n.gitignore\nbuild.rs\nCargo.toml"
    );
    tree.close(&path("/repo/src"));
    assert_eq!(
        tree.open(&path("/repo/src")),
        None,
        "known folders are not listed again"
    );
    assert_eq!(tree.row_of(&path("/repo/src/main.rs")), Some(3));
}

#[test]
fn entries_of_ignored_folders_are_ignored() {
    let files = fixture();
    let mut tree = loaded(&files);
    let jobs = tree.reveal(&path("/repo/target/debug/x"));
    run(&mut tree, &files, jobs);
    assert!(shown(&tree).contains("▾target (ignored)\n  ▾debug (ignored)\n    x (ignored)"));
}

#[test]
fn a_change_lists_only_known_folders() {
    let files = fixture();
    let mut tree = loaded(&files);
    files.write(&path("/repo/new.log"), "");
    files.write(&path("/repo/src/unseen.rs"), "");
    let jobs = tree.refresh(&[path("/repo/new.log"), path("/repo/src/unseen.rs")]);
    assert_eq!(jobs.len(), 1);
    run(&mut tree, &files, jobs);
    assert!(shown(&tree).contains("new.log (ignored)"));
}

#[test]
fn changed_ignore_rules_update_visible_rows() {
    let files = fixture();
    let mut tree = loaded(&files);
    let job = tree.open(&path("/repo/src"));
    run(&mut tree, &files, job);
    files.write(&path("/repo/.gitignore"), "*.rs\n");
    let jobs = tree.refresh(&[path("/repo/.gitignore")]);
    run(&mut tree, &files, jobs);
    assert!(
        shown(&tree).contains("  main.rs (ignored)"),
        "{}",
        shown(&tree)
    );
    assert!(shown(&tree).contains("\ntarget\n"), "{}", shown(&tree));
}

#[test]
fn removed_folders_are_dropped() {
    let files = fixture();
    let mut tree = loaded(&files);
    let job = tree.open(&path("/repo/src"));
    run(&mut tree, &files, job);
    files.delete(&path("/repo/src"));
    let jobs = tree.refresh(&[path("/repo/src")]);
    run(&mut tree, &files, jobs);
    assert_eq!(tree.open_folders().count(), 0);
    files.write(&path("/repo/src/other.rs"), "");
    let jobs = tree.refresh(&[path("/repo/src")]);
    run(&mut tree, &files, jobs);
    let job = tree.open(&path("/repo/src"));
    assert!(job.is_some(), "it is listed afresh");
    run(&mut tree, &files, job);
    assert!(
        shown(&tree).starts_with("▾src\n  other.rs\n"),
        "{}",
        shown(&tree)
    );
}

#[test]
fn unreadable_folders_report_the_reason() {
    let files = fixture();
    let mut tree = loaded(&files);
    files.fail_always(
        host::FakeOperation::Look,
        host::ErrorReason::PermissionDenied,
    );
    let job = tree.open(&path("/repo/src"));
    run(&mut tree, &files, job);
    let row = &tree.rows()[0];
    let problem = row.problem.as_deref().expect("a sentence");
    assert!(problem.contains("/repo/src"), "{problem}");
}

fn folding_tree() -> (FakeFiles, ProjectTree) {
    let files = FakeFiles::with_names(NameRules::FOLDING);
    files.write(&path("/repo/Readme.md"), "one");
    files.write(&path("/repo/Src/Main.rs"), "");
    let tree = loaded(&files);
    (files, tree)
}

#[test]
fn a_rename_of_case_alone_leaves_one_row() {
    let (files, mut tree) = folding_tree();
    let (old, new) = (path("/repo/Readme.md"), path("/repo/README.md"));
    files.rename(&old, &new).expect("renamed");
    // The events name both, in either order.
    for changed in [[old.clone(), new.clone()], [new.clone(), old.clone()]] {
        let jobs = tree.refresh(&changed);
        run(&mut tree, &files, jobs);
        assert_eq!(shown(&tree), "Src\nREADME.md");
    }
    let row = tree.row_of(&new).expect("a row");
    files.remove(&tree.rows()[row].entry.path).expect("removed");
    let jobs = tree.refresh(&[new]);
    run(&mut tree, &files, jobs);
    assert_eq!(shown(&tree), "Src");
    assert!(!files.exists(&old));
}

#[test]
fn a_respelled_folder_is_one_open_folder() {
    let (files, mut tree) = folding_tree();
    let jobs = tree.open(&path("/repo/Src"));
    run(&mut tree, &files, jobs);
    files
        .rename(&path("/repo/Src"), &path("/repo/src"))
        .expect("renamed");
    let jobs = tree.refresh(&[path("/repo/Src"), path("/repo/src")]);
    run(&mut tree, &files, jobs);
    assert_eq!(shown(&tree), "src\nReadme.md");
}

#[test]
fn what_macos_adds_for_itself_has_no_row() {
    let files = fixture();
    for name in [
        ".DS_Store",
        "Icon\r",
        ".Trashes/501/x",
        "._Cargo.toml",
        "._alone",
    ] {
        files.write(&path("/repo").join(name), "");
    }
    let tree = loaded(&files);
    let names: Vec<_> = tree
        .rows()
        .iter()
        .map(|row| row.entry.path.name())
        .collect();
    assert!(names.contains(&"._alone".to_owned()), "{names:?}");
    assert_eq!(names.len(), 6, "{names:?}");
}
