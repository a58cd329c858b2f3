//! Rust: rust-analyzer of the user's toolchain, with `cargo check` and rustfmt.

use std::fs;

use serde_json::json;

use super::super::World;
use super::super::installed::Registry;
use super::client::Client;

const MANIFEST: &str = "[package]\nname = \"p\"\nversion = \"1.0.0\"\nedition = \"2024\"\n";
const UTIL: &str = "/// Twice the value.\npub fn double(value: i32) -> i32 {\n    value * 2\n}\n\n\
    /// A part.\npub struct Half(pub i32);\n\n/// Reads the value.\npub fn read(value: &i32) -> i32 {\n    *value\n}\n";
const FIRST: &str = "use crate::util::double;\n\npub fn six() -> i32 {\n    double(3)\n}\n";
const SECOND: &str = "pub fn eight() -> i32 {\n    crate::util::double(4)\n}\n";
const MAIN: &str =
    "pub mod first;\npub mod second;\npub mod util;\n\npub fn four() -> i32 {\n    dou\n}\n";

/// Opens a crate in which `cargo check` builds into a folder of its own, whatever the environment of the tests says.
fn open_crate() -> Option<Client> {
    let world = World::with_installed_servers();
    if !world.install(Registry::Rustup, &["rust-analyzer"]) {
        return None;
    }
    let options = json!({ "cargo": { "targetDir": world.path("target") } });
    let server = json!({ "settings": { "rust-analyzer": options } });
    let settings = json!({ "lsp": { "servers": { "rust-analyzer": server } } });
    fs::write(world.path("config/settings.json"), settings.to_string()).expect("settings");
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", MAIN),
        ("src/util.rs", UTIL),
        ("src/first.rs", FIRST),
        ("src/second.rs", SECOND),
    ];
    Some(Client::open(world, &files))
}

#[test]
fn rust_is_edited_across_files() {
    let Some(mut client) = open_crate() else {
        return;
    };
    let name = "src/lib.rs";
    client.show(name);
    client.complete_with_import(name, "dou", "double");
    client.expect_text(name, &["use crate::util::double;"]);
    client.replace(name, "double(value)", "double(2");
    let label = client.signature(name, "double(");
    assert_eq!(label, "fn double(value: i32) -> i32");
    client.insert_after(name, "double(2", ")");
    let hover = client.hover(name, "double(2");
    assert!(hover.contains("Twice the value."), "{hover}");
    let files = ["src/first.rs", name, "src/second.rs", "src/util.rs"];
    client.expect_references(name, "double(2", "src/util.rs", &files);
    client.rename_in(name, "double(2", "twice", &files);
    client.insert_after(name, "    twice(2)", " + Half(1).0");
    client.fix(name, "Half(1)", "Import");
    client.expect_text(name, &["use crate::util::{Half, twice};"]);
    client.replace(name, "twice(2)", "util::read(2) + twice(1)");
    client.save(name);
    client.wait_for_diagnostic(name, "mismatched types");
    client.fix(name, "2)", "borrow");
    client.expect_text(name, &["util::read(&2)"]);
    client.save(name);
    client.wait_for_diagnostics(name, &[]);
    client.insert_after(name, "Half(1).0\n}\n", "pub  fn one( )->i32{1}\n");
    client.format(name, "pub fn one() -> i32 {\n    1\n}\n");
    client.end();
}
