//! Editing with installed servers, as a window does it: completions with imports, signatures, hovers, definitions,
//! references, renames across files, fixes, organized imports, formatting, diagnostics that come and go.
//!
//! A story is skipped as those of `installed` are.

mod client;
mod native;
mod python;
mod rust;
mod shell;
mod typescript;
mod web;

use lsp::LocationKind;

use super::World;
use super::installed::Registry;
use client::Client;

/// Installs servers and opens a project with these files; `None` if the story is skipped.
fn project(registry: Registry, ids: &[&str], files: &[(&str, &str)]) -> Option<Client> {
    let world = World::with_installed_servers();
    if !world.install(registry, ids) {
        return None;
    }
    Some(Client::open(world, files))
}

impl Client {
    /// Waits until the symbol at the first `place` has this definition, and references in these files: a server that is
    /// still loading knows only some.
    fn expect_references(&self, name: &str, place: &str, definition: &str, references: &[&str]) {
        let including = LocationKind::References {
            include_declaration: true,
        };
        for (kind, expected) in [
            (LocationKind::Definition, &[definition][..]),
            (including, references),
        ] {
            self.until(&format!("{kind:?} in {expected:?}"), || {
                (self.locations(kind, name, place) == expected).then_some(())
            });
        }
    }

    /// Renames the symbol with which the first `place` begins, and checks that these files have only the new name.
    fn rename_in(&mut self, name: &str, place: &str, new: &str, files: &[&str]) {
        self.rename(name, place, new);
        let end = place.find(|letter: char| !letter.is_alphanumeric());
        let old = &place[..end.unwrap_or(place.len())];
        for file in files {
            let text = self.text(file);
            assert!(text.contains(new) && !text.contains(old), "{file}: {text}");
        }
    }

    /// Checks that a text contains all of these.
    fn expect_text(&self, name: &str, parts: &[&str]) {
        let text = self.text(name);
        for part in parts {
            assert!(text.contains(part), "no {part:?} in {text:?}");
        }
    }
}
