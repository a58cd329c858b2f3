//! Checks that production code uses every public item of a library crate.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::scan::{self, PieceKind};
use crate::tree::{self, Source};

/// List of items without a production user that are kept, each with its reason.
const ALLOWED: &str = "crates/xtask/src/exports.txt";

/// The chore that generates an asset, which counts as production; the rest of this crate does not.
const PRICES: &str = "crates/xtask/src/prices.rs";

/// A public item that a library crate defines.
struct Export<'a> {
    krate: &'a str,
    file: usize,
    line: usize,
    /// `fn`, `struct`, …
    kind: &'a str,
    name: &'a str,
}

/// The code of a production file, without comments; identifiers in format strings count as uses.
struct Code<'a> {
    source: &'a Source,
    text: String,
}

fn production(sources: &[Source]) -> Vec<Code<'_>> {
    sources
        .iter()
        .filter(|source| source.is_production() || source.name == PRICES)
        .map(|source| Code {
            source,
            text: scan::without(source.product(), &[PieceKind::Comment]),
        })
        .collect()
}

/// Parses the public item that `line` defines.
fn public_item(line: &str) -> Option<(&str, &str)> {
    let mut words = line.trim_start().strip_prefix("pub ")?.split_whitespace();
    let mut kind = words.next()?;
    let mut name = words.next()?;
    while matches!(kind, "const" | "async" | "unsafe" | "extern")
        && matches!(name, "fn" | "unsafe" | "async" | "\"C\"")
    {
        (kind, name) = (name, words.next()?);
    }
    let is_item = matches!(
        kind,
        "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static"
    );
    is_item.then_some((kind, scan::words(name).next()?))
}

fn exports<'a>(codes: &'a [Code<'a>]) -> Vec<Export<'a>> {
    let mut exports = Vec::new();
    for (file, code) in codes.iter().enumerate() {
        let name = &code.source.name;
        if !name.starts_with("crates/") || name.ends_with("src/main.rs") {
            continue;
        }
        let mut is_for_tests = false;
        for (ix, line) in code.text.lines().enumerate() {
            if let Some((kind, name)) = public_item(line).filter(|_| !is_for_tests) {
                exports.push(Export {
                    krate: code.source.crate_name(),
                    file,
                    line: ix + 1,
                    kind,
                    name,
                });
            }
            is_for_tests = line.contains("#[cfg(test)]");
        }
    }
    exports
}

/// Returns the code without re-exports, which do not count as uses.
fn without_exports(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("pub use ") {
        left.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = rest.find(';').map_or("", |end| &rest[end..]);
    }
    left + rest
}

/// Returns whether the file that defines the item also uses it, apart from definitions and the heads of `impl`
/// blocks.
fn is_used_beside(export: &Export, text: &str) -> bool {
    text.lines().enumerate().any(|(ix, line)| {
        let head = line.trim_start();
        let is_head = head.starts_with("impl") || head.starts_with("unsafe impl");
        let words: Vec<&str> = scan::words(line).collect();
        let is_use = words.iter().enumerate().any(|(at, word)| {
            let is_definition = at > 0 && words[at - 1] == "fn";
            *word == export.name && !is_definition
        });
        ix + 1 != export.line && !is_head && is_use
    })
}

/// Returns the items that no production code uses, as `crate item`, with their locations.
fn unreached(sources: &[Source]) -> BTreeMap<String, String> {
    let codes = production(sources);
    let mut users: HashMap<String, HashSet<usize>> = HashMap::new();
    for (file, code) in codes.iter().enumerate() {
        for word in scan::words(&without_exports(&code.text)) {
            users.entry(word.to_owned()).or_default().insert(file);
        }
    }
    let is_unreached = |export: &Export| {
        let is_elsewhere = users
            .get(export.name)
            .is_some_and(|files| files.iter().any(|file| *file != export.file));
        !is_elsewhere && !is_used_beside(export, &codes[export.file].text)
    };
    let exports = exports(&codes).into_iter().filter(is_unreached);
    exports
        .map(|export| {
            let file = &codes[export.file].source.name;
            let place = format!("{file}:{} {}", export.line, export.kind);
            (format!("{} {}", export.krate, export.name), place)
        })
        .collect()
}

#[test]
fn public_items_have_production_users() {
    let sources = tree::sources();
    let unreached = unreached(&sources);
    tree::check_list(ALLOWED, &unreached, "not wired yet");
}

#[test]
fn items_and_their_uses_are_found() {
    let source = |name: &str, text: &str| Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let sources = [
        source(
            "crates/a/src/lib.rs",
            "pub use b::Idle;\npub use b::Used;\n",
        ),
        source(
            "crates/a/src/b.rs",
            "pub struct Idle;\nimpl Idle {\n    pub const fn idle() {}\n}\npub struct Used;\npub fn beside() {}\nfn x() { beside() }\n\
             #[cfg(test)]\npub fn for_tests() {}\n",
        ),
        source("crates/c/src/lib.rs", "fn x(_: a::Used) {} // Idle\n"),
        source("crates/c/src/tests.rs", "fn y() { a::Idle::idle() }\n"),
    ];
    let found: BTreeSet<String> = unreached(&sources).into_keys().collect();
    assert_eq!(found, ["a Idle", "a idle"].map(str::to_owned).into());
}
