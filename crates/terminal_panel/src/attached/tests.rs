//! Output of programs that run elsewhere, also hostile output.

use super::*;

type Sent = Arc<Mutex<Vec<AttachedInput>>>;

fn attached(has_terminal: bool) -> (AttachedProgram, Sent) {
    let sent = Sent::default();
    let sink = sent.clone();
    let size = TerminalSize {
        rows: 5,
        columns: 40,
    };
    let program = AttachedProgram::new(size, 100, has_terminal, move |input| {
        sink.lock().expect("no panic").push(input);
    });
    (program, sent)
}

fn take(sent: &Sent) -> Vec<AttachedInput> {
    std::mem::take(&mut *sent.lock().expect("no panic"))
}

fn rows(program: &AttachedProgram) -> Vec<String> {
    let mut rows = Vec::new();
    program.visit_emulator(&mut |emulator| {
        let snapshot = emulator.snapshot();
        rows = snapshot.rows.iter().map(|row| row.text()).collect();
    });
    let rows = rows.iter().map(|row| row.trim_end().to_owned());
    rows.filter(|row| !row.is_empty()).collect()
}

/// Requests that must have no answer: clipboards, titles, settings, and text that programs want to type.
const HOSTILE: [&[u8]; 12] = [
    b"\x1b]52;c;?\x07",
    b"\x1b]52;c;cm0gLXJmIC8K\x07",
    b"\x1b]52;p;?\x1b\\",
    b"\x1b[21t",
    b"\x1b]2;rm -rf /\x07\x1b[21t",
    b"\x1b]1337;ReportVariable=cGF0aA==\x07",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e\x1b\\",
    b"\x1b]633;E;rm -rf /;00000000\x07\x1b]133;C\x07",
    b"\x1b]7;file:///etc\x07",
    b"\x05",
    b"\x1b]777;notify;a;b\x07",
];

#[test]
fn hostile_output_sends_nothing_back() {
    for output in HOSTILE {
        for is_backlog in [false, true] {
            let (program, sent) = attached(true);
            program.feed(output, is_backlog);
            assert!(take(&sent).is_empty(), "{output:?}");
            let has_effect = |event: &TerminalEvent| {
                matches!(
                    event,
                    TerminalEvent::ClipboardRead(_)
                        | TerminalEvent::ClipboardWrite { .. }
                        | TerminalEvent::Folder(_)
                        | TerminalEvent::Notification(_)
                )
            };
            assert!(!program.take_events().iter().any(has_effect));
        }
    }
}

#[test]
fn queries_are_answered_only_while_the_program_waits() {
    for (has_terminal, is_backlog, is_answered) in [
        (true, false, true),
        (true, true, false),
        (false, false, false),
    ] {
        let (program, sent) = attached(has_terminal);
        program.feed(b"\x1b[6n", is_backlog);
        program.feed(b"\x1b]11;?\x07", is_backlog);
        let answers = take(&sent);
        assert_eq!(!answers.is_empty(), is_answered);
        assert!(
            answers
                .iter()
                .all(|it| matches!(it, AttachedInput::Reply(_)))
        );
        let asks_color = |event: &TerminalEvent| matches!(event, TerminalEvent::ColorQuery(_));
        let asks = program.take_events().iter().any(asks_color);
        assert_eq!(asks, !is_backlog);
        // The view answers about colours; a pipe takes no answer.
        assert_eq!(program.reply(b"x".to_vec()), has_terminal);
    }
}

#[test]
fn output_of_a_pipe_begins_lines_at_the_left() {
    let (program, _) = attached(false);
    for piece in ["one\ntw", "o\r", "\nthree\n"] {
        program.feed(piece.as_bytes(), false);
    }
    assert_eq!(rows(&program), ["one", "two", "three"]);
    assert!(!program.write(b"x".to_vec()));
    let (program, _) = attached(true);
    program.feed(b"one\ntwo", false);
    assert_eq!(rows(&program), ["one", "   two"]);
}

#[test]
fn missing_output_is_counted_on_an_empty_screen() {
    let (program, sent) = attached(true);
    program.feed(b"\x1b[?1049hold\x1b[31m", false);
    program.skip(1234);
    program.feed(b"new", true);
    assert_eq!(rows(&program), ["[skipped 1234 bytes of output]", "new"]);
    assert!(take(&sent).is_empty());
}

#[test]
fn an_update_without_an_end_is_shown() {
    let (program, _) = attached(true);
    program.feed(b"\x1b[?2026hshown", false);
    assert_eq!(rows(&program), ["shown"]);
}

#[test]
fn nothing_is_sent_after_the_end() {
    let (program, sent) = attached(true);
    assert!(program.write(b"x".to_vec()));
    program.set_control(true);
    program.end(ProcessExit::Exited(3));
    program.end(ProcessExit::TimedOut);
    assert_eq!(program.exit(), Some(ProcessExit::Exited(3)));
    assert!(!program.write(b"y".to_vec()));
    let expected = [AttachedInput::Typed(b"x".to_vec()), AttachedInput::TakeOver];
    assert_eq!(take(&sent), expected);
}

fn shell() -> (AttachedProgram, Sent, Arc<AtomicBool>) {
    let (sent, is_ended) = (Sent::default(), Arc::new(AtomicBool::new(false)));
    let (sink, end) = (sent.clone(), is_ended.clone());
    let options = EmulatorOptions {
        size: TerminalSize {
            rows: 5,
            columns: 40,
        },
        scrollback: 100,
        cursor_shape: CursorShape::Block,
        clipboard: ClipboardAccess::WriteAndRead,
        nonce: Some("0123456789abcdef".to_owned()),
        host_name: None,
    };
    let link = KeptShellLink {
        id: "s1".to_owned(),
        clock: Arc::new(host::FakeClock::at(0)),
        send: Box::new(move |input| sink.lock().expect("no panic").push(input)),
        end: Box::new(move || end.store(true, Ordering::SeqCst)),
    };
    (AttachedProgram::of_shell(options, link), sent, is_ended)
}

#[test]
fn queries_of_a_shell_are_answered_by_its_owner_alone() {
    let (program, sent, _) = shell();
    program.note_caught_up(b"");
    for is_backlog in [false, true] {
        program.feed(b"\x1b[6n\x1b[c\x1b]11;?\x07", is_backlog);
    }
    assert!(take(&sent).is_empty());
    let is_query = |event: &TerminalEvent| matches!(event, TerminalEvent::ColorQuery(_));
    assert!(!program.take_events().iter().any(is_query));
    assert_eq!(program.control(), None);
    assert!(program.write(b"x".to_vec()));
    assert_eq!(take(&sent), [AttachedInput::Typed(b"x".to_vec())]);
}

#[test]
fn earlier_output_of_a_shell_has_its_own_sizes() {
    let (program, _, _) = shell();
    let narrow = TerminalSize {
        rows: 5,
        columns: 4,
    };
    program.resize_grid(TerminalSize {
        rows: 5,
        columns: 20,
    });
    program.set_output_size(narrow);
    program.feed(b"abcdef\r\n\x1b]52;c;cm0=\x07\x07", true);
    assert_eq!(rows(&program), ["abcd", "ef"]);
    program.note_caught_up(b"\x1b[?2004h");
    program.set_output_size(narrow);
    assert_eq!(rows(&program), ["abcdef"]);
    program.visit_emulator(&mut |emulator| assert!(emulator.modes().is_bracketed_paste));
    assert_eq!(program.take_events(), []);
}

#[test]
fn closing_the_terminal_ends_a_shell_and_dropping_does_not() {
    let (program, _, is_ended) = shell();
    assert_eq!(program.kept_id().as_deref(), Some("s1"));
    program.note_processes(3);
    assert_eq!(program.process_count(), 3);
    drop(program);
    assert!(!is_ended.load(Ordering::SeqCst));
    let (program, _, is_ended) = shell();
    program.close();
    assert!(is_ended.load(Ordering::SeqCst));
}
