//! Real programs in real pseudo-terminals.

mod vttest;

use std::ffi::OsStr;
use std::sync::mpsc::{Receiver, Sender, channel};

use host::process::ProcessExit;
use host::{RealClock, RealFiles, TempFolder, environment};

use super::*;
use crate::commands::{CommandLineSource, CommandState, ShellCommand};
use crate::integration::{ShellKind, install_integration, integrate};
use crate::test_terminal::{NONCE, options, size};

/// Time after which a program that does not react fails a test.
const DEADLINE: Duration = Duration::from_secs(60);

/// A session whose wake-ups are received.
struct Watched {
    session: TerminalSession,
    woken: Receiver<()>,
    /// The home folder of the shell.
    folder: TempFolder,
}

impl Watched {
    fn start(
        program: &str,
        arguments: &[&str],
        prepare: impl FnOnce(&TempFolder, &mut TerminalSpec),
    ) -> Result<Self, Error> {
        let folder = TempFolder::new().expect("a folder");
        let (sender, woken): (Sender<()>, _) = channel();
        let sender = Mutex::new(sender);
        let wake = move || {
            let sender = sender.lock().expect("no panic");
            // The test may have ended.
            sender.send(()).ok();
        };
        let mut variables = environment::variables(environment::Recipient::Personal);
        variables.retain(|(name, _)| name != "HOME" && name != "PROMPT_COMMAND");
        variables.push(("HOME".into(), folder.path().as_path().into()));
        let mut spec = TerminalSpec {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: folder.path().clone(),
            variables,
            integration: None,
            sandbox: None,
            emulator: EmulatorOptions {
                host_name: None,
                ..options(80, 24)
            },
            restored: None,
            output: None,
        };
        prepare(&folder, &mut spec);
        let session = TerminalSession::start(spec, Arc::new(RealClock::default()), Arc::new(wake))?;
        Ok(Self {
            session,
            woken,
            folder,
        })
    }

    /// Waits until `is_done` holds after a wake-up.
    #[track_caller]
    fn wait(&self, what: &str, is_done: impl Fn(&TerminalSession) -> bool) {
        loop {
            self.session.acknowledge();
            if is_done(&self.session) {
                return;
            }
            let woken = self.woken.recv_timeout(DEADLINE);
            assert!(woken.is_ok(), "{what}: the screen shows\n{}", self.text());
        }
    }

    fn text(&self) -> String {
        self.session.with_emulator(crate::test_terminal::text)
    }

    fn shows(&self, text: &str) {
        self.wait(text, |session| {
            session
                .with_emulator(crate::test_terminal::text)
                .contains(text)
        });
    }

    fn type_text(&self, text: &str) {
        assert!(self.session.write(text.as_bytes().to_vec()), "{text}");
    }
}

#[test]
fn restored_text_comes_before_the_output() {
    let mut earlier = Emulator::new(options(80, 24));
    earlier.feed(b"make: done\r\n", Duration::ZERO);
    let saved = SavedTerminal::of(&mut earlier, 100);
    let watched = Watched::start("echo", &["now"], |_, spec| {
        spec.restored = Some((saved, "restored, 14:02".to_owned()));
    });
    let watched = watched.expect("echo runs");
    watched.shows("now");
    let text = watched.text();
    let places = ["make: done", "restored, 14:02", "now"].map(|part| text.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[test]
fn an_observer_reads_all_output_before_the_end_is_known() {
    let read = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&read);
    let watched = Watched::start("echo", &["one two"], |_, spec| {
        spec.output = Some(OutputObserver::new(move |bytes| {
            sink.lock().expect("no panic").extend_from_slice(bytes);
        }));
    });
    let watched = watched.expect("echo runs");
    watched.wait("the end", |session| session.exit().is_some());
    assert_eq!(read.lock().expect("no panic").as_slice(), b"one two\r\n");
}

/// Starts a shell with its integration; reports a skip if it is not installed.
fn shell(program: &str, arguments: &[&str], files: &[(&str, &str)]) -> Option<Watched> {
    let kind = ShellKind::of(OsStr::new(program)).expect("a shell");
    let started = Watched::start(program, arguments, |folder, spec| {
        let state = folder.path().join("state");
        install_integration(&RealFiles, &state).expect("the files");
        for (name, content) in files {
            let path = folder.path().join(name);
            host::Files::write_private(&RealFiles, &path, content.as_bytes()).expect("a file");
        }
        spec.integration = Some(integrate(kind, &state, NONCE.to_owned(), &spec.variables));
    });
    match started {
        Ok(watched) => Some(watched),
        Err(error) if error.to_string().contains("is not installed") => {
            test_support::skip(format!("{program} is not installed"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Runs commands in a shell and checks the marks. `typed` prints `a;b 42` and exits with `code`.
fn check_shell(watched: &Watched, typed: &str, code: i32) {
    let is_editing = |session: &TerminalSession| {
        session.with_emulator(|emulator| emulator.modes().is_prompt_open)
    };
    watched.wait("a prompt", is_editing);
    watched.type_text(&format!("{typed}\r"));
    watched.wait("the end of the command", |session| {
        is_editing(session)
            && session.with_emulator(|emulator| {
                emulator
                    .commands()
                    .iter()
                    .any(|command| command.state == CommandState::Finished(Some(code)))
            })
    });
    let (command, output) = watched.session.with_emulator(|emulator| {
        let is_ended = |command: &&ShellCommand| matches!(command.state, CommandState::Finished(_));
        let command = emulator.commands().iter().rev().find(is_ended).cloned();
        let command = command.expect("a command");
        let output = emulator
            .command_output(command.id, 1 << 20)
            .expect("an output");
        (command, output.text)
    });
    let line = command.line.expect("a command line");
    assert_eq!(line.source, CommandLineSource::Shell);
    assert_eq!(line.text, typed);
    assert_eq!(output, "a;b 42");
    assert!(command.duration.is_some());
    watched.type_text("mkdir -p 'in ner'; cd 'in ner'; echo \"nonce=[$BURIN_SHELL_NONCE]\"\r");
    let inner = watched.folder.path().join("in ner");
    watched.wait("the folder", |session| {
        session.with_emulator(|emulator| emulator.folder() == Some(&inner))
    });
    watched.shows("nonce=[]");
    watched.type_text("cd ..; rmdir 'in ner'; exit 4\r");
    watched.wait("the end", |session| session.exit().is_some());
    let exit = watched.session.exit().map(|report| report.exit);
    assert_eq!(exit, Some(ProcessExit::Exited(4)));
}

#[test]
fn bash_reports_its_prompts_commands_and_folder() {
    let files = [(".bashrc", "PS1='mine> '\nPROMPT_COMMAND='true'\n")];
    if let Some(watched) = shell("bash", &[], &files) {
        watched.shows("mine>");
        check_shell(&watched, "echo \"a;b\" $((40 + 2)); (exit 3)", 3);
    }
}

#[test]
fn zsh_reports_its_prompts_commands_and_folder() {
    let files = [(".zshrc", "PS1='mine> '\n"), (".zshenv", "MINE=1\n")];
    if let Some(watched) = shell("zsh", &[], &files) {
        watched.shows("mine>");
        check_shell(&watched, "echo \"a;b\" $((40 + 2)); (exit 3)", 3);
    }
}

#[test]
fn fish_reports_its_prompts_commands_and_folder() {
    if let Some(watched) = shell("fish", &[], &[]) {
        check_shell(&watched, "echo \"a;b\" (math 40 + 2); false", 1);
    }
}

#[test]
fn a_prompt_of_another_integration_is_left_alone() {
    let files = [(
        ".bashrc",
        "PS1='\\[\\e]133;A\\a\\]theirs> \\[\\e]133;B\\a\\]'\n",
    )];
    if let Some(watched) = shell("bash", &[], &files) {
        watched.shows("theirs>");
        watched.type_text("echo [${PS0}]\r");
        watched.shows("[]");
    }
}

#[test]
fn input_is_echoed_and_the_program_learns_the_size() {
    let script = "stty size; trap 'stty size' WINCH; while read -r line; do echo got $line; done";
    let watched = Watched::start("bash", &["-c", script], |_, _| {}).expect("bash");
    watched.shows("24 80");
    watched.type_text("typed\r");
    watched.shows("got typed");
    watched.session.resize_grid(size(100, 30));
    assert_eq!(watched.session.snapshot().size, size(100, 30));
    watched.session.resize_program();
    // The trap runs between two commands.
    watched.type_text("x\r");
    watched.shows("30 100");
}

#[test]
fn input_reaches_a_program_that_floods_the_terminal() {
    let script = "stty -echo; (while :; do echo flood; done) & read -r line; kill $!; wait; echo got $line; sleep 100";
    let watched = Watched::start("bash", &["-c", script], |_, _| {}).expect("bash");
    watched.shows("flood");
    watched.type_text("typed\r");
    watched.shows("got typed");
}

#[test]
fn a_shell_in_a_deleted_folder_goes_on() {
    if let Some(watched) = shell("bash", &[], &[]) {
        watched.type_text("mkdir gone; cd gone; rmdir ../gone; echo a''live\r");
        watched.shows("alive");
        watched.wait("the prompt", |session| {
            session.with_emulator(|emulator| emulator.modes().is_prompt_open)
        });
        watched.type_text("cd ..; echo b''ack\r");
        watched.shows("back");
    }
}

#[test]
fn queries_of_the_program_are_answered() {
    let script = "stty -echo; printf 'ask\\e[6n'; IFS= read -r -d R reply; printf '%q' \"$reply\"; sleep 100";
    let watched = Watched::start("bash", &["-c", script], |_, _| {}).expect("bash");
    watched.shows("[1;4'");
    assert_eq!(watched.session.take_events(), []);
}

#[test]
fn an_update_that_the_program_does_not_end_is_shown() {
    let script = "printf 'before\\e[?2026hafter'; sleep 100";
    let watched = Watched::start("bash", &["-c", script], |_, _| {}).expect("bash");
    watched.shows("beforeafter");
}

#[test]
fn dropping_a_session_ends_its_processes() {
    let script = "sleep 1000 & echo $! up; wait";
    let watched = Watched::start("bash", &["-c", script], |_, _| {}).expect("bash");
    watched.shows("up");
    let members = watched.session.members();
    assert!(members.len() >= 2, "{members:?}");
    let shared = Arc::clone(&watched.session.shared);
    drop(watched.session);
    while shared.exit.get().is_none() {
        shared.is_woken.store(false, Ordering::SeqCst);
        if shared.exit.get().is_none() {
            watched.woken.recv_timeout(DEADLINE).expect("the end");
        }
    }
    // The process ends once all its descendants have: `host` has the tests of that.
    let exit = shared.exit.get().map(|report| report.exit);
    assert_eq!(exit, Some(ProcessExit::Signalled(9)));
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let started = Watched::start("no-such-program-here", &[], |_, _| {});
    let error = started.map(|_| ()).expect_err("no program");
    assert!(error.to_string().contains("not installed"), "{error}");
}

#[test]
fn a_flood_of_output_ends_complete() {
    let script = "seq 1 200000; echo finished";
    let watched = Watched::start("bash", &["-c", script], |_, _| {}).expect("bash");
    watched.wait("the end", |session| session.exit().is_some());
    assert!(
        watched.text().ends_with("199999\n200000\nfinished"),
        "{}",
        watched.text()
    );
}
