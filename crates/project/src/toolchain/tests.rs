//! Package managers and environments of folders with few files.

use std::collections::BTreeMap;

use base::AbsPath;

use super::{ManifestReader, PackageManager, PythonEnvironment};

/// Files below `/p` in memory.
struct FewFiles(BTreeMap<AbsPath, &'static str>);

impl FewFiles {
    fn new(files: &[(&str, &'static str)]) -> Self {
        let files = files.iter();
        Self(
            files
                .map(|(name, text)| (root().join(name), *text))
                .collect(),
        )
    }

    fn manager(&self, folder: &str) -> PackageManager {
        PackageManager::of_folder(&root().join(folder), &root(), self)
    }

    fn python(&self, folder: &str) -> PythonEnvironment {
        PythonEnvironment::of_folder(&root().join(folder), &root(), self)
    }
}

impl ManifestReader for FewFiles {
    fn read(&self, path: &AbsPath) -> Option<String> {
        self.0.get(path).map(|text| (*text).to_owned())
    }

    fn exists(&self, path: &AbsPath) -> bool {
        self.0.contains_key(path)
    }
}

fn root() -> AbsPath {
    AbsPath::new("/p").expect("absolute")
}

#[test]
fn lock_files_name_the_package_manager() {
    for (lock, manager) in [
        ("package-lock.json", PackageManager::Npm),
        ("npm-shrinkwrap.json", PackageManager::Npm),
        ("pnpm-lock.yaml", PackageManager::Pnpm),
        ("yarn.lock", PackageManager::Yarn),
        ("bun.lock", PackageManager::Bun),
        ("bun.lockb", PackageManager::Bun),
        ("README", PackageManager::Npm),
    ] {
        let files = FewFiles::new(&[(lock, ""), ("web/package.json", "{}")]);
        assert_eq!(files.manager("web"), manager, "{lock}");
    }
}

#[test]
fn the_nearest_manifest_or_lock_file_decides() {
    let named = r#"{ "packageManager": "pnpm@9.1.0" }"#;
    let files = FewFiles::new(&[
        ("package.json", named),
        ("yarn.lock", ""),
        ("odd/package.json", r#"{ "packageManager": "other@1" }"#),
        ("broken/package.json", "{"),
        ("inner/bun.lock", ""),
    ]);
    assert_eq!(files.manager("web/deep"), PackageManager::Pnpm);
    assert_eq!(files.manager("odd"), PackageManager::Pnpm);
    assert_eq!(files.manager("broken"), PackageManager::Pnpm);
    assert_eq!(files.manager("inner/deep"), PackageManager::Bun);
    let outside = FewFiles::new(&[("../yarn.lock", "")]);
    assert_eq!(outside.manager(""), PackageManager::Npm);
}

#[test]
fn environments_of_python_are_found() {
    let check = |files: &[(&str, &'static str)], folder: &str, expected: &[&str]| {
        let environment = FewFiles::new(files).python(folder);
        assert_eq!(environment.module_command("pytest"), expected, "{files:?}");
    };
    check(&[], "", &["python3", "-m", "pytest"]);
    check(&[("uv.lock", "")], "a/b", &["uv", "run", "pytest"]);
    check(
        &[("uv.lock", ""), (".venv/bin/python", "")],
        "",
        &["uv", "run", "pytest"],
    );
    check(&[("poetry.lock", "")], "a", &["poetry", "run", "pytest"]);
    check(&[("Pipfile", "")], "a", &["pipenv", "run", "pytest"]);
    check(&[("Pipfile.lock", "")], "", &["pipenv", "run", "pytest"]);
    check(
        &[("poetry.lock", ""), (".venv/bin/python", "")],
        "a",
        &["/p/.venv/bin/python", "-m", "pytest"],
    );
    check(
        &[("uv.lock", ""), ("a/venv/bin/python", "")],
        "a/b",
        &["/p/a/venv/bin/python", "-m", "pytest"],
    );
}
