//! Checks that every way to build compiles outside crates with the same features.
//!
//! Cargo compiles a crate again for another set of features, so a second program of the workspace may cost as much as
//! the first. `workspace_hack` unites the sets; these tests report the features that it lacks. They run Cargo offline.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::tree;

/// Outside crates with their feature sets. A crate that build scripts or macros use too may have two.
type FeatureSets = BTreeMap<String, BTreeSet<String>>;

/// Crates that tests build with more features than the programs: the other sides of the agent
/// protocols.
const FOR_TESTS: &[&str] = &[
    "agent-client-protocol",
    "agent-client-protocol-schema",
    "rmcp",
];

fn feature_sets(arguments: &[&str]) -> FeatureSets {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(tree::root())
        .args(["tree", "--offline", "--locked", "--prefix", "none"])
        .args(["--format", "{p}|{f}"])
        .args(arguments)
        .output()
        .expect("cargo");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo tree {arguments:?}: {errors}"
    );
    let text = String::from_utf8(output.stdout).expect("names are UTF-8");
    let mut sets = FeatureSets::new();
    // The workspace's own crates have a path after the version.
    for line in text.lines().filter(|line| !line.contains(" (/")) {
        let Some((package, features)) = line.split_once('|') else {
            continue;
        };
        let package = package.trim_end_matches(" (proc-macro)");
        let features = features.trim_end_matches(" (*)");
        let sets = sets.entry(package.to_owned()).or_default();
        sets.insert(features.to_owned());
    }
    assert!(sets.len() > 100, "cargo tree {arguments:?} was read");
    sets
}

/// Returns the crates that both ways use and that the second compiles with a feature set that the first did
/// not.
fn compiled_again(first: &FeatureSets, second: &FeatureSets) -> Vec<String> {
    let name = |package: &str| package.split(' ').next().unwrap_or_default().to_owned();
    second
        .iter()
        .filter(|(package, _)| !FOR_TESTS.contains(&name(package).as_str()))
        .filter_map(|(package, sets)| {
            let built = first.get(package)?;
            let new: Vec<&String> = sets.difference(built).collect();
            (!new.is_empty()).then(|| format!("{package}: {new:?}, but built are {built:?}"))
        })
        .collect()
}

/// Returns the packages that `make test` tests again with the portable implementations.
fn portable_packages() -> Vec<&'static str> {
    let makefile = include_str!("../../../Makefile");
    let mut lines = makefile.lines();
    let line = lines.find_map(|line| line.strip_prefix("PORTABLE_CRATES := "));
    line.expect("the packages").split_whitespace().collect()
}

/// Fails if a way to build compiles an outside crate that an earlier way has compiled with other features. `kinds` are
/// the kinds of dependencies that are compared, without those of tests.
fn assert_shared(kinds: &str) {
    let of =
        |kinds: &str, packages: &[&str]| feature_sets(&[&["--edges", kinds], packages].concat());
    let window = of(kinds, &["-p", "burin", "--features", "test-support"]);
    let command_line = of(kinds, &["-p", "cli"]);
    let with_tests = format!("{kinds},dev");
    let tests = of(&with_tests, &["--workspace"]);
    // A crate is compiled again if a macro that it uses is.
    let portable = of(&with_tests, &portable_packages());
    let mut problems = Vec::new();
    for (way, first, second) in [
        ("the command line after the window", &window, &command_line),
        ("the window after the tests", &tests, &window),
        ("the command line after the tests", &tests, &command_line),
        ("the portable tests after the tests", &tests, &portable),
    ] {
        let again = compiled_again(first, second);
        problems.extend(again.into_iter().map(|line| format!("{way}: {line}")));
    }
    assert!(
        problems.is_empty(),
        "\nadd the features to crates/workspace_hack/Cargo.toml:\n{}\n",
        problems.join("\n")
    );
}

#[test]
fn all_ways_to_build_share_outside_crates() {
    assert_shared("normal,build");
}

/// A feature set that only build scripts and macros have serves no program.
#[test]
fn all_programs_share_outside_crates() {
    assert_shared("normal,no-proc-macro");
}

#[test]
fn the_portable_tests_compile_no_outside_crate() {
    // Macros are excluded, because the tests do not link feature sets that only they use.
    let edges = ["--edges", "normal,dev,no-proc-macro"];
    let tests = feature_sets(&[&edges[..], &["--workspace"]].concat());
    let portable = feature_sets(&[&edges[..], &portable_packages()].concat());
    let differing: Vec<String> = portable
        .iter()
        .filter(|(package, sets)| tests.get(*package) != Some(*sets))
        .map(|(package, sets)| {
            format!(
                "{package}: {sets:?}, but built are {:?}",
                tests.get(package)
            )
        })
        .collect();
    assert!(
        differing.is_empty(),
        "\nadd the features to crates/workspace_hack/Cargo.toml:\n{}\n",
        differing.join("\n")
    );
}

#[test]
fn a_new_feature_set_is_found() {
    let sets = |features: &[(&str, &str)]| {
        let mut sets = FeatureSets::new();
        for (package, features) in features {
            let entry = sets.entry((*package).to_owned()).or_default();
            entry.insert((*features).to_owned());
        }
        sets
    };
    let first = sets(&[("a v1", "x"), ("a v1", "x,y"), ("b v1", "")]);
    let second = sets(&[("a v1", "x,y"), ("b v1", "z"), ("c v1", "new")]);
    assert_eq!(
        compiled_again(&first, &second),
        ["b v1: [\"z\"], but built are {\"\"}"]
    );
}
