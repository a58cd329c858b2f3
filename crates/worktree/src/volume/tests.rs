//! Tests of the decisions over volumes and names.

use git::lease::CommitFile;

use super::*;

fn facts(file_system: &str, is_local: bool, can_clone: bool) -> VolumeFacts {
    VolumeFacts {
        file_system: file_system.to_owned(),
        is_local,
        can_clone,
        folds_case: false,
        normalizes: false,
    }
}

#[test]
fn volumes_without_links_or_across_a_network_are_refused() {
    for (file_system, is_local, can_clone, reason) in [
        ("apfs", true, true, ""),
        ("hfs", true, false, ""),
        ("ext4", true, false, ""),
        ("other", true, false, ""),
        ("nfs", false, true, ""),
        ("nfs", false, false, "network volume (nfs)"),
        ("smbfs", false, false, "network volume (smbfs)"),
        ("webdav", false, false, "network volume (webdav)"),
        ("exfat", true, false, "no links"),
        ("exfat", true, true, "no links"),
        ("msdos", true, false, "no links"),
    ] {
        let refusal = facts(file_system, is_local, can_clone).refusal();
        let refusal = refusal.unwrap_or_default();
        assert_eq!(refusal.is_empty(), reason.is_empty(), "{file_system}");
        assert!(refusal.contains(reason), "{file_system}: {refusal}");
    }
}

fn contents(files: &[&str], submodules: &[&str]) -> CommitContents {
    let file = |path: &&str| CommitFile {
        path: path.as_bytes().to_vec(),
        id: String::new(),
        mode: 0o100644,
    };
    CommitContents {
        files: files.iter().map(file).collect(),
        submodules: submodules
            .iter()
            .map(|path| path.as_bytes().to_vec())
            .collect(),
    }
}

/// Checks a commit on a volume; `expected` names two paths, or is empty.
fn check(files: &[&str], submodules: &[&str], rules: NameRules, expected: &[&str]) {
    let found = check_names(&contents(files, submodules), rules, Path::new("/pool"));
    match found {
        Ok(_) => assert_eq!(expected, [""; 0], "{files:?}"),
        Err(error) => {
            let Error::SameName { one, other, .. } = &error else {
                panic!("{error}");
            };
            assert_eq!(expected, [one, other], "{files:?}");
            let said = error.to_string();
            assert!(expected.iter().all(|name| said.contains(name)), "{said}");
        }
    }
}

#[test]
fn files_that_a_volume_takes_for_one_are_found() {
    let case_only = NameRules {
        folds_case: true,
        normalizes: false,
    };
    let form_only = NameRules {
        folds_case: false,
        normalizes: true,
    };
    let folding = NameRules::FOLDING;
    let pairs = ["Makefile", "makefile"];
    check(&pairs, &[], NameRules::EXACT, &[]);
    check(&pairs, &[], form_only, &[]);
    check(&pairs, &[], case_only, &pairs);
    check(&pairs, &[], folding, &pairs);
    let forms = ["caf\u{e9}", "cafe\u{301}"];
    check(&forms, &[], case_only, &[]);
    check(&forms, &[], form_only, &forms);
    check(
        &["src/Stra\u{df}e", "src/STRASSE"],
        &[],
        folding,
        &["src/Stra\u{df}e", "src/STRASSE"],
    );
    check(&["Src/a", "src/a"], &[], folding, &["Src/a", "src/a"]);
    check(&["Src", "src/deep/a"], &[], folding, &["Src", "src/deep/a"]);
    check(&["Lib/a"], &["lib"], folding, &["lib", "Lib/a"]);
    check(&["a", "b/a", "B/c", "b/d"], &[], folding, &[]);
}

#[test]
fn folders_that_become_one_are_told() {
    let rules = NameRules::FOLDING;
    let found = |files: &[&str]| check_names(&contents(files, &[]), rules, Path::new("/"));
    let merged = found(&["docs/x/a", "Docs/b"]).unwrap();
    assert_eq!(merged, Some(("docs".to_owned(), "Docs".to_owned())));
    assert_eq!(found(&["docs/x/a", "docs/b", "x/docs/c"]).unwrap(), None);
}

#[test]
fn this_volume_is_examined_by_doing() {
    let folder = tempfile::tempdir().unwrap();
    let facts = VolumeFacts::probe(folder.path(), folder.path(), false).unwrap();
    fs::write(folder.path().join("Other"), "").unwrap();
    let folds = folder.path().join("oTHER").exists();
    assert_eq!(facts.names().folds_case, folds);
}
