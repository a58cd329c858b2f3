//! vttest in a real pty, driven by keys.

use super::*;
use crate::position::LineNumber;

/// The rows of a page, and the keys that are pressed when it is shown.
struct VttestPage {
    keys: String,
    text: String,
}

/// Returns the stored pages of a menu, the main menu first.
#[expect(
    clippy::disallowed_methods,
    reason = "the pages are files of this repository"
)]
fn pages(menu: u32) -> Vec<VttestPage> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings");
    let stored = std::fs::read_to_string(format!("{folder}/vttest-{menu}.pages"));
    let stored = stored.expect("the pages");
    let pages = stored.split("=== ").skip(1);
    pages
        .map(|page| {
            let (keys, text) = page.split_once('\n').expect("keys and rows");
            VttestPage {
                keys: keys.replace("\\r", "\r"),
                text: text.trim_end().to_owned(),
            }
        })
        .collect()
}

/// Starts vttest. Returns `None` and reports the test as skipped if vttest is missing, or if its version is not that of
/// the stored pages.
fn start(first: &VttestPage) -> Option<Watched> {
    // Where a page follows an equal one, this test cannot tell yet that the second one is shown.
    if std::env::var_os("BURIN_VTTEST").is_none() {
        test_support::skip("BURIN_VTTEST is not set");
        return None;
    }
    let started = Watched::start("vttest", &[], |_, spec| {
        spec.variables
            .retain(|(name, _)| name != "LC_ALL" && name != "LANG");
        spec.variables.push(("LC_ALL".into(), "C.UTF-8".into()));
    });
    let watched = match started {
        Ok(watched) => watched,
        Err(error) if error.to_string().contains("is not installed") => {
            test_support::skip("vttest is not installed");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    watched.shows("Enter choice number");
    let version = |text: &str| {
        let line = text.lines().find(|line| line.contains("version"));
        line.map(str::to_owned)
    };
    if version(&watched.text()) != version(&first.text) {
        test_support::skip("another version of vttest is installed");
        return None;
    }
    Some(watched)
}

/// Returns the text of the screen and the number of its first line, which tells equal pages apart: clearing the screen
/// moves the rows into the scrollback.
fn shown(session: &TerminalSession) -> (String, LineNumber) {
    session.with_emulator(|emulator| {
        let text = crate::test_terminal::text(emulator);
        (text, emulator.snapshot().first_line)
    })
}

#[test]
fn vttest_driven_by_keys_shows_the_stored_pages() {
    for menu in [1, 2, 6, 8, 11] {
        let pages = pages(menu);
        let Some(watched) = start(&pages[0]) else {
            return;
        };
        let mut before = None;
        for (ix, page) in pages.iter().enumerate() {
            let name = format!("page {ix} of menu {menu}, which is\n{}\n", page.text);
            watched.wait(&name, |session| {
                let shown = shown(session);
                shown.0 == page.text && Some(&shown) != before.as_ref()
            });
            before = Some(shown(&watched.session));
            watched.type_text(&page.keys);
        }
    }
}
