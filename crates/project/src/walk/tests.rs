//! The walk finds the same files on the disk and in a fake.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::{FakeFiles, Files, RealFiles};

use super::{HiddenFiles, IgnoredFiles, WalkBackend, WalkOptions, file_list};

const FILES: &[(&str, &str)] = &[
    (".gitignore", "target/\n*.log\n!keep.log\n"),
    ("Cargo.toml", ""),
    ("a.log", ""),
    ("keep.log", ""),
    ("src/main.rs", ""),
    ("src/.gitignore", "gen.rs\n"),
    ("src/gen.rs", ""),
    ("src/deep/er/lib.rs", ""),
    ("target/debug/out.rs", ""),
    (".github/ci.yml", ""),
    ("docs/a b.md", ""),
    (".git/config", ""),
];

/// Added by macOS, and never part of the project.
const LITTER: &[&str] = &[
    ".DS_Store",
    "src/.ds_store",
    "src/Icon\r",
    "docs/._a b.md",
    ".Spotlight-V100/store.db",
];

#[track_caller]
fn check(options: &WalkOptions, expect: &[&str]) {
    let fake = FakeFiles::new();
    let fake_root = AbsPath::new("/repo").expect("absolute");
    let real = RealFiles;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let real_root = AbsPath::new(folder.path()).expect("absolute");
    let real_root = real.canonicalize(&real_root).expect("it exists");
    let litter = LITTER.iter().map(|name| (*name, ""));
    for (name, text) in FILES.iter().copied().chain(litter) {
        fake.write(&fake_root.join(name), text);
        let path = real_root.join(name);
        real.create_folder(&path.parent().expect("below the root"))
            .expect("create");
        real.write_private(&path, text.as_bytes()).expect("write");
    }
    let cancel = AtomicBool::new(false);
    for (backend, root) in [
        (WalkBackend::Disk, real_root),
        (WalkBackend::Listed(Arc::new(fake)), fake_root),
    ] {
        let (paths, problems) = file_list(&backend, &root, options, &cancel).expect("good globs");
        let names: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        assert_eq!(names, expect, "{root}");
        assert_eq!(problems, []);
    }
}

fn globs(globs: &[&str]) -> Vec<String> {
    globs.iter().map(|glob| (*glob).to_owned()).collect()
}

#[test]
fn ignore_files_and_hidden_names_are_heeded() {
    let expect = [
        "Cargo.toml",
        "docs/a b.md",
        "keep.log",
        "src/deep/er/lib.rs",
        "src/main.rs",
    ];
    check(&WalkOptions::default(), &expect);
}

#[test]
fn include_and_exclude_narrow_the_walk() {
    let options = WalkOptions {
        include: globs(&["*.rs"]),
        exclude: globs(&["deep"]),
        ..WalkOptions::default()
    };
    // As in rg, an include glob overrides an ignore rule for a file, but ignored folders stay
    // excluded.
    check(&options, &["src/gen.rs", "src/main.rs"]);
    let options = WalkOptions {
        include: globs(&["docs"]),
        ..WalkOptions::default()
    };
    check(&options, &["docs/a b.md"]);
}

#[test]
fn globs_with_braces_blanks_and_folders_match_contents() {
    let included = |include: &[&str]| WalkOptions {
        include: globs(include),
        ..WalkOptions::default()
    };
    check(
        &included(&["{docs,Cargo}*"]),
        &["Cargo.toml", "docs/a b.md"],
    );
    check(&included(&["{docs,nothing}"]), &["docs/a b.md"]);
    check(&included(&["docs/a b.{md,txt}"]), &["docs/a b.md"]);
    check(&included(&["do[ck]s/"]), &["docs/a b.md"]);
    check(&included(&["src/*/er"]), &["src/deep/er/lib.rs"]);
    let excluded = WalkOptions {
        exclude: globs(&["{docs,src}", "*.{toml,log}"]),
        ..WalkOptions::default()
    };
    check(&excluded, &[]);
}

#[test]
fn visiting_everything_still_skips_git() {
    let options = WalkOptions {
        hidden: HiddenFiles::Visit,
        ignored: IgnoredFiles::Visit,
        ..WalkOptions::default()
    };
    let all: Vec<&str> = FILES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.starts_with(".git/"))
        .collect();
    let mut all = all;
    all.sort_unstable_by_key(|name| std::path::PathBuf::from(name));
    check(&options, &all);
}

#[test]
fn invalid_globs_are_named() {
    let options = WalkOptions {
        include: globs(&["a{b"]),
        ..WalkOptions::default()
    };
    let root = AbsPath::new("/repo").expect("absolute");
    let error = file_list(&WalkBackend::Disk, &root, &options, &AtomicBool::new(false))
        .expect_err("a bad glob");
    assert!(error.to_string().contains("a{b"), "{error}");
    let options = WalkOptions {
        include: globs(&["*.rs"]),
        exclude: globs(&["ok", "x[y"]),
        ..WalkOptions::default()
    };
    let error = file_list(&WalkBackend::Disk, &root, &options, &AtomicBool::new(false))
        .expect_err("a bad glob");
    assert_eq!(error.glob, "x[y", "as it is written");
}
