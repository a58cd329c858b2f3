//! The text form of paths: readable where possible, always reversible.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{path_text, text_path};

fn check(bytes: &[u8], text: &str) {
    let path = Path::new(OsStr::from_bytes(bytes));
    assert_eq!(path_text(path), text, "{bytes:?}");
    assert_eq!(text_path(text), path, "{text}");
}

#[test]
fn printable_paths_are_their_own_text_form() {
    for path in [
        "",
        "a.rs",
        " lead.txt",
        "trail ",
        "src/a b.rs",
        "Füße/日本語.md",
        "a\\b",
        "back\\name",
        "a\\xZZ",
        "a\\u{}",
        "👩\u{200d}👧.txt",
    ] {
        check(path.as_bytes(), path);
    }
}

#[test]
fn hidden_characters_and_invalid_bytes_are_escaped() {
    check(b"nl-end\n", "nl-end\\u{A}");
    check(b"caf\xe9.txt", "caf\\xE9.txt");
    check(b"\xff\xfe/x", "\\xFF\\xFE/x");
    check("a\u{202e}txt.exe".as_bytes(), "a\\u{202E}txt.exe");
    check(b"tab\there", "tab\\u{9}here");
    check(b"a\\x41", "a\\x5Cx41");
    check(b"a\\u{41}", "a\\x5Cu{41}");
    check(b"a\\x4\xe9", "a\\x4\\xE9");
}

#[test]
fn awkward_bytes_round_trip() {
    let parts: [&[u8]; 9] = [
        b"\\",
        b"x",
        b"4",
        b"u{",
        b"}",
        b"\xe9",
        b"\n",
        b"a",
        b"\xc3\xa9",
    ];
    for first in parts {
        for second in parts {
            for third in parts {
                for fourth in parts {
                    let bytes = [first, second, third, fourth].concat();
                    let path = Path::new(OsStr::from_bytes(&bytes));
                    let text = path_text(path);
                    assert_eq!(text_path(&text), path, "{text}");
                    assert!(!text.chars().any(char::is_control), "{text:?}");
                }
            }
        }
    }
}
