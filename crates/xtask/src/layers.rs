//! Checks the layering rule and the owners of heavy libraries with `cargo metadata`.

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::tree;

/// Heavy outside crates, with the only workspace crates that may depend on them.
const OWNERS: &[(&str, &[&str])] = &[
    ("ropey", &["text", "bench"]),
    ("imara-diff", &["text"]),
    ("encoding_rs", &["text"]),
    ("chardetng", &["text"]),
    ("jsonc-parser", &["settings"]),
    ("schemars", &["settings"]),
    ("tree-sitter", &["syntax", "bench"]),
    ("gpui-pre-sum-tree", &["text", "syntax", "display"]),
    ("icu_normalizer", &["base", "sandbox"]),
    ("unicase", &["base"]),
    ("notify", &["host"]),
    ("trash", &["host"]),
    ("fuser", &["test_support"]),
    ("rustix", &["host", "sandbox", "worktree"]),
    ("xattr", &["host"]),
    ("git2", &["git"]),
    ("libc", &["host", "sandbox", "worktree"]),
    ("seccompiler", &["sandbox"]),
    ("security-framework", &["router"]),
    ("ashpd", &["ui"]),
    ("objc2-app-kit", &["ui"]),
    ("axum", &["mockllm"]),
    ("csv-core", &["preview"]),
    ("pulldown-cmark", &["preview"]),
    ("resvg", &["packaging", "preview"]),
    ("ruzstd", &["mockllm"]),
    ("rusqlite", &["ledger"]),
    ("jiff", &["automation", "burin"]),
    ("gen-lsp-types", &["lsp"]),
    ("alacritty_terminal", &["terminal", "bench"]),
    ("ignore", &["project", "worktree"]),
    ("nucleo-matcher", &["project"]),
    ("tantivy", &["index"]),
    ("memmap2", &["index"]),
    ("candle-core", &["index"]),
    ("candle-nn", &["index"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("reqwest", &["router"]),
    ("eventsource-stream", &["router"]),
    ("rmcp", &["connect"]),
    ("agent-client-protocol", &["connect"]),
    (
        "gpui-kit",
        &[
            "pacing",
            "ui",
            "editor",
            "composer_panel",
            "git_history",
            "git_panel",
            "preview_view",
            "terminal_panel",
            "workbench",
            "burin",
            "bench",
        ],
    ),
    ("gpui", &[]),
    ("gpui-pre", &[]),
];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(tree::root().join("Cargo.toml"))
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .expect("cargo metadata works in a checkout")
}

fn rank(package: &Package) -> Option<u64> {
    package.metadata.get("layer")?.get("rank")?.as_u64()
}

#[test]
fn every_dependency_lies_in_a_lower_layer() {
    let metadata = metadata();
    let ranks: BTreeMap<_, _> = metadata
        .packages
        .iter()
        .map(|package| {
            let rank = rank(package);
            assert!(
                rank.is_some(),
                "{} says no [package.metadata.layer] rank",
                package.name
            );
            (package.name.to_string(), rank)
        })
        .collect();
    assert!(ranks.len() > 10, "the workspace was read");
    for package in &metadata.packages {
        for dependency in &package.dependencies {
            let Some(below) = ranks.get(&dependency.name) else {
                continue;
            };
            assert!(
                *below < rank(package),
                "{} (rank {:?}) depends on {} (rank {below:?})",
                package.name,
                rank(package),
                dependency.name,
            );
        }
    }
}

#[test]
fn heavy_libraries_are_named_by_their_owners_alone() {
    for package in &metadata().packages {
        // It depends on crates only to set their features.
        if package.name == "workspace_hack" {
            continue;
        }
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            let family = if name.starts_with("tree-sitter-") {
                "tree-sitter"
            } else {
                name
            };
            let Some((_, owners)) = OWNERS.iter().find(|(library, _)| *library == family) else {
                continue;
            };
            assert!(
                owners.contains(&package.name.as_str()),
                "{} names {name}, which belongs to {owners:?}",
                package.name,
            );
        }
    }
}

#[test]
fn nothing_below_the_line_can_name_gpui() {
    for package in &metadata().packages {
        let below = rank(package) < Some(40);
        let names_gpui = package.dependencies.iter().any(|dependency| {
            dependency.name.starts_with("gpui") && dependency.name != "gpui-pre-sum-tree"
        });
        assert!(!(below && names_gpui), "{} names gpui", package.name);
    }
}

/// Crates that may create temporary folders outside their tests: support for tests and measurements, the host, and the
/// sandbox, which gives the commands of macOS a private folder.
const TEMPORARY_FOLDERS: [&str; 5] = ["host", "sandbox", "test_support", "bench", "stories"];

#[test]
fn temporary_folders_have_few_owners() {
    for package in &metadata().packages {
        for dependency in &package.dependencies {
            let is_test = dependency.kind == DependencyKind::Development;
            let allowed = is_test || TEMPORARY_FOLDERS.contains(&package.name.as_str());
            assert!(
                dependency.name != "tempfile" || allowed,
                "{} names tempfile outside its tests",
                package.name,
            );
        }
    }
}
