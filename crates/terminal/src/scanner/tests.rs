//! The scanner alone and in front of the core.

use super::*;
use crate::event::{TerminalNotification, TerminalProgress};

#[derive(Debug, PartialEq, Eq)]
enum Scanned {
    Core(Vec<u8>),
    Sequence(OscSequence),
}

/// Scans pieces; adjacent bytes for the core are joined.
fn scan<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Scanned> {
    let mut scanner = Scanner::default();
    let mut scanned = Vec::new();
    for piece in pieces {
        scanner.scan(piece, &mut |output| match output {
            ScannerOutput::Core(bytes) => match scanned.last_mut() {
                Some(Scanned::Core(last)) => last.extend_from_slice(bytes),
                _ => scanned.push(Scanned::Core(bytes.to_vec())),
            },
            ScannerOutput::Sequence(sequence) => scanned.push(Scanned::Sequence(sequence)),
        });
    }
    scanned
}

fn sequences(bytes: &[u8]) -> Vec<OscSequence> {
    let scanned = scan([bytes]).into_iter();
    scanned
        .filter_map(|scanned| match scanned {
            Scanned::Sequence(sequence) => Some(sequence),
            Scanned::Core(_) => None,
        })
        .collect()
}

fn core(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for scanned in scan([bytes]) {
        if let Scanned::Core(bytes) = scanned {
            all.extend(bytes);
        }
    }
    all
}

fn path(path: &str) -> OscSequence {
    OscSequence::Folder(ReportedFolder::Path(path.to_owned()))
}

fn notification(title: Option<&str>, body: &str) -> OscSequence {
    OscSequence::Notification(TerminalNotification {
        title: title.map(str::to_owned),
        body: body.to_owned(),
    })
}

#[test]
fn sequences_are_recognised() {
    let address = |text: &str| OscSequence::Folder(ReportedFolder::Address(text.to_owned()));
    let line = |text: &str, nonce: Option<&str>| OscSequence::CommandLine {
        text: text.to_owned(),
        nonce: nonce.map(str::to_owned),
    };
    let cases = [
        ("7;file:///a", Some(address("file:///a"))),
        ("9;done; all", Some(notification(None, "done; all"))),
        ("9;\u{1}a\u{85}b", Some(notification(None, "ab"))),
        (
            "9;4;1;50",
            Some(OscSequence::Progress(TerminalProgress::Percent(50))),
        ),
        (
            "9;4;1;250",
            Some(OscSequence::Progress(TerminalProgress::Percent(100))),
        ),
        (
            "9;4;2;7",
            Some(OscSequence::Progress(TerminalProgress::Failed(7))),
        ),
        (
            "9;4;3",
            Some(OscSequence::Progress(TerminalProgress::Indeterminate)),
        ),
        (
            "9;4;4;1",
            Some(OscSequence::Progress(TerminalProgress::Paused(1))),
        ),
        (
            "9;4;0;",
            Some(OscSequence::Progress(TerminalProgress::None)),
        ),
        ("9;9;\"/a b\"", Some(path("/a b"))),
        ("9;1;500", None),
        ("133;A", Some(OscSequence::PromptStart)),
        ("133;A;k=s", None),
        ("133;A;cl=m;aid=1", Some(OscSequence::PromptStart)),
        ("133;B", Some(OscSequence::InputStart)),
        ("133;C", Some(OscSequence::OutputStart)),
        ("133;D", Some(OscSequence::CommandEnd(None))),
        ("133;D;-1", Some(OscSequence::CommandEnd(Some(-1)))),
        ("133;D;x", Some(OscSequence::CommandEnd(None))),
        ("133;Z", None),
        ("633;D;2", Some(OscSequence::CommandEnd(Some(2)))),
        (
            "633;E;a\\x3bb\\x0ac\\\\d;n",
            Some(line("a;b\nc\\d", Some("n"))),
        ),
        ("633;E;a\\x1b[31m", Some(line("a[31m", None))),
        ("633;E;a\\", Some(line("a\\", None))),
        ("633;P;Cwd=/a\\x3bb", Some(path("/a;b"))),
        ("633;P;Task=x", None),
        ("777;notify;T;B;C", Some(notification(Some("T"), "B;C"))),
        ("777;other;T;B", None),
        ("1337;CurrentDir=/x", Some(path("/x"))),
        ("1337;SetMark", None),
    ];
    for (payload, expected) in cases {
        for (start, end) in [("\x1b]", "\x07"), ("\x1b]", "\x1b\\")] {
            let bytes = format!("{start}{payload}{end}");
            let expected: Vec<_> = expected.clone().into_iter().collect();
            assert_eq!(sequences(bytes.as_bytes()), expected, "{payload}");
        }
        let mut bytes = vec![0x9d];
        bytes.extend(payload.bytes());
        bytes.push(0x9c);
        // The letter é of no case contains the byte of the C1 terminator.
        assert_eq!(
            sequences(&bytes),
            expected.into_iter().collect::<Vec<_>>(),
            "{payload}"
        );
    }
}

#[test]
fn other_sequences_pass_unchanged() {
    let cases: [&[u8]; 8] = [
        b"plain \x1b[31mred\x1b[m",
        b"\x1b]0;title\x07x",
        b"\x1b]8;;http://a;b\x1b\\link\x1b]8;;\x1b\\",
        b"\x1b]52;c;YQ==\x07",
        b"\x1bPdcs]133;A\x1b\\x",
        b"\x1b(]133;A\x07",
        "\u{dd}\u{271d}\u{1f91d}".as_bytes(),
        b"\x1b_apc\x1b\\",
    ];
    for bytes in cases {
        assert_eq!(core(bytes), bytes, "{}", bytes.escape_ascii());
        assert_eq!(sequences(bytes), []);
    }
}

#[test]
fn a_letter_that_contains_a_c1_byte_starts_no_sequence() {
    // The second byte of Ý is 0x9d.
    for split in [None, Some(1)] {
        let bytes = "Ý133;A\u{7}".as_bytes();
        let (first, rest) = bytes.split_at(split.unwrap_or(0));
        assert_eq!(scan([first, rest]), [Scanned::Core(bytes.to_vec())]);
    }
}

#[test]
fn an_aborted_sequence_has_no_effect() {
    for abort in [b'\x18', b'\x1a'] {
        let bytes = [b"\x1b]133;A".as_slice(), &[abort], b"x"].concat();
        assert_eq!(sequences(&bytes), []);
        assert!(core(&bytes).ends_with(&[abort, b'x']));
    }
}

#[test]
fn a_string_without_end_is_cut_and_the_rest_is_shown() {
    for (prefix, limit) in [
        ("\x1b]133;A", MAX_OSC),
        ("\x1b]2;", MAX_OSC),
        ("\x1b]52;c;", MAX_CLIPBOARD),
    ] {
        let mut bytes = prefix.as_bytes().to_vec();
        bytes.resize(limit + 2, b'a');
        bytes.extend_from_slice(b"shown");
        let text = core(&bytes);
        assert!(
            text.ends_with(b"]\x07shown"),
            "{prefix:?}: {}",
            text[..20].escape_ascii()
        );
        assert_eq!(text.len(), 1 + EMPTY_OSC.len() + 5);
    }
    let mut bytes = b"\x1bP".to_vec();
    bytes.resize(MAX_STRING + 2, b'a');
    bytes.extend_from_slice(b"shown");
    assert!(core(&bytes).ends_with(b"a\x18shown"));
}

#[test]
fn a_file_is_dropped_whatever_its_length() {
    let mut bytes = b"a\x1b]1337;File=name=x:".to_vec();
    bytes.resize(4 * MAX_OSC, b'Z');
    bytes.extend_from_slice(b"\x07b");
    assert_eq!(core(&bytes), b"a\x1b]\x07b");
}

#[test]
fn a_string_may_end_exactly_at_its_limit() {
    let mut bytes = b"\x1b]9;".to_vec();
    bytes.resize(MAX_OSC + 2, b'n');
    for terminator in [b"\x07".as_slice(), b"\x1b\\"] {
        let whole = [&bytes, terminator].concat();
        let split = scan([&whole[..bytes.len()], &whole[bytes.len()..]]);
        assert_eq!(split, scan([whole.as_slice()]));
        assert_eq!(sequences(&whole).len(), 1);
    }
}
