//! Pasted text of all kinds.

use super::*;

fn modes(is_bracketed: bool, is_prompt: bool, is_alternate: bool) -> TerminalModes {
    TerminalModes {
        is_bracketed_paste: is_bracketed,
        is_prompt_open: is_prompt,
        is_alternate_screen: is_alternate,
        ..TerminalModes::default()
    }
}

#[test]
fn pasted_text_cannot_end_its_brackets() {
    for text in [
        "a\x1b[201~rm -rf /\n",
        "a\u{9b}201~b",
        "a\x1b\x1b[201~[201~b",
        "\x03\x04x\x7f",
    ] {
        let pasted = prepare_paste(text, &modes(true, true, false));
        let inside = pasted.bytes.strip_prefix(b"\x1b[200~").expect("a start");
        let inside = inside.strip_suffix(b"\x1b[201~").expect("an end");
        let inside = str::from_utf8(inside).expect("text");
        assert!(
            inside
                .chars()
                .all(|letter| !letter.is_control() || "\t\r".contains(letter))
        );
    }
}

#[test]
fn newlines_become_returns() {
    let pasted = prepare_paste("a\nb\r\nc\rd\te", &modes(false, false, false));
    assert_eq!(pasted.bytes, b"a\rb\rc\rd\te");
}

#[test]
fn several_lines_are_confirmed_unless_a_prompt_reads_brackets() {
    let cases = [
        ("one", false, false, false, None),
        ("a\nb", false, false, false, Some(PasteRisk::ManyLines)),
        ("a\n", false, true, false, Some(PasteRisk::ManyLines)),
        (
            "a\nb",
            true,
            false,
            false,
            Some(PasteRisk::UnconfirmedBrackets),
        ),
        ("a\nb", true, true, false, None),
        ("a\nb", true, false, true, None),
        ("one", true, false, false, None),
    ];
    for (text, bracketed, prompt, alternate, risk) in cases {
        let pasted = prepare_paste(text, &modes(bracketed, prompt, alternate));
        assert_eq!(
            pasted.risk, risk,
            "{text:?} {bracketed} {prompt} {alternate}"
        );
    }
}
