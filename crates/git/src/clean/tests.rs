//! Tests of the conversions; `staging` compares them with git on random files.

use super::encoding::to_utf8;
use super::line_ends::{TextStats, is_crlf_text, without_cr};
use super::{CleanError, without_ident};
use crate::capabilities::GitFeature;

#[test]
fn every_keyword_of_a_line_is_shortened() {
    let check = |text: &str, expected: Option<&str>| {
        let cleaned = without_ident(text.as_bytes());
        assert_eq!(cleaned.as_deref(), expected.map(str::as_bytes), "{text}");
    };
    check("a $Id: 12 $ b $Id: 34$\n", Some("a $Id$ b $Id$\n"));
    check("$Id$ and $Identity is $5\n", None);
    check("$Id: open\n$Id: 1 $\n", Some("$Id: open\n$Id$\n"));
    check("$$Id: 1 $$", Some("$$Id$$"));
    check("$Id: 1", None);
}

#[test]
fn text_is_recognized_by_git_rules() {
    let is_binary = |bytes: &[u8]| TextStats::of(bytes).is_binary();
    assert!(!is_binary(b"one\r\ntwo\n\x1a"));
    assert!(is_binary(b"one\rtwo\n"));
    assert!(is_binary(b"one\0two\n"));
    assert!(is_binary(b"\x01\x02\x03"));
    assert!(!is_binary(&[&[b'a'; 128][..], b"\x01"].concat()));
    assert!(is_crlf_text(b"a\r\nb\n"));
    assert!(!is_crlf_text(b"a\rb\r\n"));
    assert_eq!(without_cr(b"a\r\r\nb\rc\r\n\r"), b"a\r\nb\rc\n\r");
}

#[test]
fn encodings_are_decoded_or_refused() {
    let check = |name: &str, raw: &[u8], expected: Result<&str, CleanError>| {
        let text = to_utf8(name, raw).map(|text| String::from_utf8(text.into_owned()));
        let text = text.map(|text| text.expect("UTF-8"));
        assert_eq!(text, expected.map(str::to_owned), "{name} {raw:?}");
    };
    check("utf-16", b"\xff\xfeA\0", Ok("A"));
    check("UTF-16", b"\xfe\xff\0A", Ok("A"));
    check("UTF-16LE", b"A\0", Ok("A"));
    check("UTF-16BE", b"\0A", Ok("A"));
    check("latin1", b"\xe4\x80", Ok("\u{e4}\u{80}"));
    check("UTF-16", b"", Ok(""));
    let undecodable = |name: &str| Err(CleanError::Undecodable(name.to_owned()));
    check("UTF-16", b"A\0", undecodable("UTF-16"));
    check("UTF-16LE", b"\xff\xfeA\0", undecodable("UTF-16LE"));
    check("UTF-16LE", b"A", undecodable("UTF-16LE"));
    check("UTF-16BE", b"\xd8\0", undecodable("UTF-16BE"));
    let program = CleanError::Program(GitFeature::Encoding("SHIFT-JIS".to_owned()));
    check("SHIFT-JIS", b"a", Err(program));
}
