//! Detected encodings, and the round trip to the same bytes.

use base::Row;

use super::{Encoding, FileFormat, decode, decode_as, decode_text, encode, looks_binary};
use crate::line_ending::LineEndings;
use crate::random::SeededRng;
use crate::snapshot::Snapshot;

/// Asserts that decoded bytes are encoded back unchanged and that `decode_text` agrees, and describes the detected format.
fn round_trip(bytes: &[u8]) -> String {
    let decoded = decode(bytes);
    let text = (!decoded.binary).then_some(&decoded.text);
    assert_eq!(decode_text(bytes).as_ref(), text);
    let format = decoded.format;
    if decoded.read_only.is_none() {
        let snapshot = Snapshot::new(&decoded.text);
        let again = encode(&snapshot, &format).expect("what was read can be written");
        assert_eq!(again, bytes, "{format:?}");
    }
    format!(
        "{}{}{}{}",
        format.encoding,
        if format.bom { " bom" } else { "" },
        if decoded.read_only.is_some() {
            " read-only"
        } else {
            ""
        },
        if decoded.binary { " binary" } else { "" },
    )
}

fn check(bytes: &[u8], text: &str, expected: &str) {
    assert_eq!(round_trip(bytes), expected, "{bytes:?}");
    assert_eq!(decode(bytes).text, text, "{bytes:?}");
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn encodings_by_example() {
    check(b"", "", "UTF-8");
    check(b"plain\r\n", "plain\r\n", "UTF-8");
    check("grün 語 🦀".as_bytes(), "grün 語 🦀", "UTF-8");
    check(b"\xef\xbb\xbfmarked", "marked", "UTF-8 bom");
    check(b"\xff\xfea\0b\0", "ab", "UTF-16LE bom");
    check(b"\xfe\xff\0a\0b", "ab", "UTF-16BE bom");
    let text = "No mark, yet UTF-16: größe 🦀\r\nand a second line\r\n";
    check(&utf16(text, u16::to_le_bytes), text, "UTF-16LE");
    check(&utf16(text, u16::to_be_bytes), text, "UTF-16BE");
    check(
        b"caf\xe9 cr\xe8me, d\xe9j\xe0 vu",
        "café crème, déjà vu",
        "windows-1252",
    );
    check(b"\x1b[31mred\x1b[0m", "\u{1b}[31mred\u{1b}[0m", "UTF-8");
}

#[test]
fn legacy_encodings_are_detected() {
    let check = |encoding: &str, text: &str| {
        let encoding = Encoding::named(encoding).expect("a known name");
        let format = FileFormat {
            encoding,
            ..FileFormat::NEW
        };
        let bytes = encode(&Snapshot::new(text), &format).expect("it has all characters");
        assert_eq!(round_trip(&bytes), encoding.name());
        assert_eq!(decode(&bytes).text, text);
    };
    check(
        "shift_jis",
        "これは日本語の文章です。文字コードを推定します。\n",
    );
    check("euc-kr", "이것은 한국어 문장입니다. 인코딩을 추측합니다.\n");
    check("gbk", "这是一个中文句子,用来检测编码是否正确。\n");
    check(
        "windows-1251",
        "Это русский текст, по которому узнают кодировку.\n",
    );
    check(
        "windows-1253",
        "Αυτό είναι ένα ελληνικό κείμενο για δοκιμή.\n",
    );
}

#[test]
fn lossy_decoding_is_read_only() {
    let check = |bytes: &[u8], expected: &str, reason: &str| {
        assert_eq!(round_trip(bytes), expected, "{bytes:?}");
        let read_only = decode(bytes).read_only.unwrap_or_default();
        assert!(read_only.contains(reason), "{read_only:?} lacks {reason:?}");
    };
    check(
        b"\xff\xfea\0b",
        "UTF-16LE bom read-only",
        "line 1 is not valid UTF-16LE",
    );
    check(b"\xff\xfe\x00\xd8a\0", "UTF-16LE bom read-only", "UTF-16LE");
    check(
        b"\xef\xbb\xbfa\xffb",
        "UTF-8 bom read-only",
        "(byte 0xFF at 1)",
    );
    let mut bytes = "größe, größe, größe\n".repeat(50).into_bytes();
    bytes.extend_from_slice(b"x\xe9y\n");
    check(
        &bytes,
        "UTF-8 read-only",
        "line 51 is not valid UTF-8 (byte 0xE9",
    );
    check(
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\xff\xfe\x80",
        "UTF-8 read-only binary",
        "not a text file",
    );
}

#[test]
fn valid_utf8_with_control_bytes_is_binary() {
    assert_eq!(round_trip(b"a\0b"), "UTF-8 binary");
    assert_eq!(round_trip(b"\x01\x02\x03abc"), "UTF-8 binary");
    assert!(looks_binary(b"\x7fELF\x02\x01\x01\0\0\0"));
    // File, group, record and unit separators count as text.
    for separator in 0x1c..=0x1fu8 {
        let text = [b'a', separator, b'b', b'\n'];
        assert_eq!(round_trip(&text), "UTF-8");
        assert!(!looks_binary(&text));
    }
    assert!(!looks_binary(b"") && !looks_binary("größe".as_bytes()));
    assert!(!looks_binary(b"\xff\xfea\0") && !looks_binary(b"a\0b\0c\0"));
}

#[test]
fn line_endings_by_example() {
    let check = |text: &str, expected| {
        assert_eq!(
            decode(text.as_bytes()).format.line_endings,
            expected,
            "{text:?}"
        );
    };
    check("", LineEndings::Lf);
    check("a\nb\n", LineEndings::Lf);
    check("a\r\nb\r\n", LineEndings::CrLf);
    check("a\r\nb\n", LineEndings::Mixed);
    check("a\rb", LineEndings::Lf);
}

#[test]
fn unencodable_character_is_named() {
    let text = format!("{}\nab → c", "x".repeat(5000));
    let encoding = Encoding::named("latin1").expect("a known name");
    let format = FileFormat {
        encoding,
        ..FileFormat::NEW
    };
    let snapshot = Snapshot::new(&text);
    let error = encode(&snapshot, &format).expect_err("it has no arrow");
    assert_eq!((error.character, error.row), ('→', Row(1)));
    assert_eq!(snapshot.chars_at(error.offset).next(), Some('→'));
    assert_eq!(
        error.to_string(),
        "cannot write line 2 as windows-1252, which has no '→': choose UTF-8 or replace the \
         character"
    );
}

#[test]
fn every_offered_encoding_writes_what_it_reads() {
    let mut names = std::collections::HashSet::new();
    for encoding in Encoding::all() {
        assert!(names.insert(encoding.name()), "{encoding} twice");
        assert_eq!(Encoding::named(encoding.name()), Some(encoding));
        let format = FileFormat {
            encoding,
            bom: true,
            ..FileFormat::NEW
        };
        let text = "plain text\r\n".repeat(300);
        let bytes = encode(&Snapshot::new(&text), &format).expect("plain text");
        let decoded = decode_as(&bytes, encoding);
        assert_eq!(decoded.text, text, "{encoding}");
        assert_eq!(decoded.read_only, None, "{encoding}");
    }
}

#[test]
fn random_bytes_round_trip_or_are_read_only() {
    for seed in 0..4000 {
        let mut random = SeededRng::new(seed);
        let len = random.next_below(if seed % 50 == 0 { 20_000 } else { 80 });
        let lowest = [0, 1, 32, 128][random.next_below(4)];
        let mut bytes: Vec<u8> = (0..len)
            .map(|_| (lowest + random.next_below(256 - lowest)) as u8)
            .collect();
        if random.one_in(3) {
            let text = random.text(40);
            let at = random.next_below(bytes.len() + 1);
            bytes.splice(at..at, text.bytes());
        }
        for mark in [&b"\xff\xfe"[..], b"\xfe\xff", b"\xef\xbb\xbf"] {
            if random.one_in(8) {
                bytes.splice(0..0, mark.iter().copied());
            }
        }
        round_trip(&bytes);
        let all = Encoding::all();
        let decoded = decode_as(&bytes, all[random.next_below(all.len())]);
        if decoded.read_only.is_none() {
            let snapshot = Snapshot::new(&decoded.text);
            let again = encode(&snapshot, &decoded.format).expect("it was read");
            assert_eq!(again, bytes, "seed {seed} {:?}", decoded.format);
        }
    }
}
