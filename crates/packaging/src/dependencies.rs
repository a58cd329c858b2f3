//! The crates that the programs contain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cargo_metadata::{DependencyKind, Metadata, Node, Package, PackageId};

use crate::error::Error;
use crate::licence_expression::{is_allowed, normalized};
use crate::{tools, workspace};

/// A crate that the programs contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkedCrate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An expression of SPDX.
    pub(crate) licence: String,
    pub(crate) repository: Option<String>,
    /// The folder of its source.
    pub(crate) folder: PathBuf,
    /// SHA-256 of its package in the registry; `None` for the crates of this repository.
    pub(crate) checksum: Option<String>,
    /// The crates that it uses, as [`LinkedCrate::id`] names them.
    pub(crate) uses: BTreeSet<String>,
}

impl LinkedCrate {
    /// Returns a name that no other crate has.
    pub(crate) fn id(&self) -> String {
        crate_id(&self.name, &self.version, self.checksum.is_some())
    }

    /// Returns whether the crate is one of the programs.
    pub(crate) fn is_program(&self) -> bool {
        self.checksum.is_none() && PROGRAMS.contains(&self.name.as_str())
    }

    /// Returns a crate of ours that uses an outside crate.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Vec<Self> {
        let log = Self {
            name: "log".to_owned(),
            version: "0.4.29".to_owned(),
            licence: "MIT OR Apache-2.0".to_owned(),
            repository: Some("https://github.com/rust-lang/log".to_owned()),
            folder: PathBuf::from("/no-such-folder/log"),
            checksum: Some("ab".to_owned()),
            uses: BTreeSet::new(),
        };
        let burin = Self {
            name: "burin".to_owned(),
            version: "1.2.3".to_owned(),
            licence: "Apache-2.0 OR MIT".to_owned(),
            repository: None,
            folder: PathBuf::from("/no-such-folder/app"),
            checksum: None,
            uses: [log.id()].into(),
        };
        vec![burin, log]
    }
}

/// Outside crates have the name of their package URL. The names of ours may exist in the registry too.
fn crate_id(name: &str, version: &str, is_outside: bool) -> String {
    if is_outside {
        format!("pkg:cargo/{name}@{version}")
    } else {
        format!("workspace:{name}@{version}")
    }
}

/// The packages that contain the programs.
const PROGRAMS: [&str; 2] = ["burin", "cli"];

/// Returns the crates that the programs contain on this system, sorted by name and version. Crates that only build scripts,
/// macros and tests use are omitted.
pub(crate) fn linked_crates(metadata: &Metadata) -> Result<Vec<LinkedCrate>, Error> {
    let mut cargo = tools::command(workspace::cargo());
    cargo.current_dir(&metadata.workspace_root);
    cargo.args(["tree", "--locked", "--offline", "--prefix", "none"]);
    cargo.args(["--edges", "normal,no-proc-macro", "--format", "{p}"]);
    cargo.args(PROGRAMS.iter().flat_map(|name| ["--package", *name]));
    let linked = parse_tree(&tools::output(&mut cargo, "Install Rust")?);
    let lock = metadata.workspace_root.join("Cargo.lock");
    let text = std::fs::read_to_string(&lock).map_err(Error::io("read", lock.as_std_path()))?;
    collect(metadata, &linked, &checksums(&text))
}

/// Names and versions of packages.
type Versions = BTreeSet<(String, String)>;

/// Parses the output of `cargo tree`: rows such as `name v1.2.3 (/folder) (*)`.
fn parse_tree(output: &str) -> Versions {
    let rows = output.lines().filter_map(|row| {
        let mut words = row.split(' ');
        let (name, version) = (words.next()?, words.next()?);
        Some((name.to_owned(), version.strip_prefix('v')?.to_owned()))
    });
    rows.collect()
}

/// Parses the checksums of a `Cargo.lock`, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |package: &str, key: &str| {
        let start = format!("{key} = \"");
        let mut rows = package.lines();
        let value = rows.find_map(|row| row.strip_prefix(start.as_str()))?;
        Some(value.strip_suffix('"')?.to_owned())
    };
    let packages = lock.split("[[package]]").filter_map(|package| {
        let name = (value(package, "name")?, value(package, "version")?);
        Some((name, value(package, "checksum")?))
    });
    packages.collect()
}

fn name_and_version(package: &Package) -> (String, String) {
    (package.name.to_string(), package.version.to_string())
}

fn id_of(package: &Package) -> String {
    let (name, version) = name_and_version(package);
    crate_id(&name, &version, package.source.is_some())
}

/// Describes the crates of `linked`.
fn collect(
    metadata: &Metadata,
    linked: &Versions,
    checksums: &BTreeMap<(String, String), String>,
) -> Result<Vec<LinkedCrate>, Error> {
    let packages = metadata.packages.iter();
    let packages: BTreeMap<&PackageId, &Package> = packages
        .filter(|package| linked.contains(&name_and_version(package)))
        .map(|package| (&package.id, package))
        .collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let mut uses: BTreeMap<&PackageId, BTreeSet<String>> = nodes
        .map(|node| (&node.id, used_by(node, &packages)))
        .collect();
    let mut crates = Vec::new();
    for (package_id, package) in packages {
        let (name, version) = name_and_version(package);
        let folder = package.manifest_path.parent();
        crates.push(LinkedCrate {
            licence: normalized(package.license.as_deref().unwrap_or_default()),
            repository: package.repository.clone(),
            folder: folder
                .map(|it| it.as_std_path().to_path_buf())
                .unwrap_or_default(),
            checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
            uses: uses.remove(package_id).unwrap_or_default(),
            name,
            version,
        });
    }
    if crates.len() != linked.len() {
        return Err(Error::Output {
            program: "cargo tree",
            problem: format!("{} of {} crates are known", crates.len(), linked.len()),
        });
    }
    crates.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(crates)
}

/// Returns the crates of `packages` that a package uses in the program itself.
fn used_by(node: &Node, packages: &BTreeMap<&PackageId, &Package>) -> BTreeSet<String> {
    let used = node.deps.iter().filter(|used| {
        let mut kinds = used.dep_kinds.iter();
        kinds.any(|it| it.kind == DependencyKind::Normal)
    });
    used.filter_map(|used| packages.get(&used.pkg).map(|package| id_of(package)))
        .collect()
}

/// Fails if packages may not contain one of the crates.
pub(crate) fn check_licences(crates: &[LinkedCrate]) -> Result<(), Error> {
    let refused = crates.iter().filter(|it| !is_allowed(&it.licence));
    let refused: Vec<String> = refused
        .map(|it| format!("{} {} (\"{}\")", it.name, it.version, it.licence))
        .collect();
    if refused.is_empty() {
        Ok(())
    } else {
        Err(Error::LicencesRefused { crates: refused })
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkedCrate, check_licences, checksums, linked_crates, parse_tree};
    use crate::workspace;

    #[test]
    fn all_crates_of_the_programs_have_allowed_licences() {
        let metadata = workspace::metadata(&["--offline"]).expect("the manifests");
        let crates = linked_crates(&metadata).expect("the crates of the programs");
        assert!(crates.len() > 300, "{} crates", crates.len());
        if let Err(problem) = check_licences(&crates) {
            panic!("{problem}");
        }
        let find = |name: &str| crates.iter().find(|it| it.name == name);
        let tantivy = find("tantivy").expect("a library of the programs");
        assert!(tantivy.checksum.is_some() && tantivy.folder.join("Cargo.toml").is_file());
        let index = find("index").expect("a crate of this repository");
        assert_eq!(index.checksum, None);
        assert!(index.uses.contains(&tantivy.id()), "{:?}", index.uses);
        assert!(
            find("thiserror-impl").is_none(),
            "macros are no part of the programs"
        );
    }

    #[test]
    fn a_crate_without_an_allowed_licence_is_named() {
        let crates = LinkedCrate::for_tests();
        assert!(check_licences(&crates).is_ok());
        let mut refused = crates.clone();
        refused[1].licence = "GPL-3.0-only".to_owned();
        let problem = check_licences(&refused).expect_err("refused").to_string();
        let expected = "these licences are not allowed: log 0.4.29 (\"GPL-3.0-only\")";
        assert_eq!(problem, expected);
    }

    #[test]
    fn trees_and_locks_are_parsed() {
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        let tree =
            "burin v0.1.0 (/w/app)\nlog v0.4.29\nlog v0.4.29 (*)\n\nsyn v2.0.1 (proc-macro)\n";
        let expected = [
            pair("burin", "0.1.0"),
            pair("log", "0.4.29"),
            pair("syn", "2.0.1"),
        ];
        assert_eq!(parse_tree(tree).into_iter().collect::<Vec<_>>(), expected);
        let lock = "version = 4\n\n[[package]]\nname = \"log\"\nversion = \"0.4.29\"\nchecksum = \"ab\"\n\n\
                    [[package]]\nname = \"burin\"\nversion = \"0.1.0\"\n";
        let sums = checksums(lock);
        assert_eq!(sums.len(), 1);
        assert_eq!(
            sums.get(&pair("log", "0.4.29")).map(String::as_str),
            Some("ab")
        );
    }
}
