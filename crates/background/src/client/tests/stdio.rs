//! Tests the link over the input and output of a command: a script in place of `ssh`, which starts this
//! test binary as the proxy.

use std::os::unix::fs::PermissionsExt as _;

use settings::MachineSetting;

use super::*;
use crate::connection::encode;
use crate::protocol::{Hello, PROTOCOL, ProgramStamp};
use crate::proxy::MARK;

/// The variable with the folder of the proxy.
const FOLDER: &str = "BURIN_TEST_PROXY_FOLDER";
/// The test that is the proxy if that variable is set.
const PROXY: &str = "client::tests::stdio::program_of_the_proxy";

/// Not a test by itself: the other tests start it as a program.
#[test]
fn program_of_the_proxy() {
    let Some(folder) = std::env::var_os(FOLDER).and_then(AbsPath::new) else {
        return;
    };
    let program = no_program(&folder);
    let dirs = Dirs::under(&folder);
    let carried = crate::proxy(&dirs, &program, std::io::stdin(), std::io::stdout());
    let code = match carried {
        Ok(()) => 0,
        Err(error) => {
            writeln!(std::io::stderr(), "burin-agent: {error}").expect("standard error");
            1
        }
    };
    // Without a result of the test harness on standard output.
    std::process::exit(code);
}

/// Writes an executable script and returns a client that uses it in place of `ssh`.
fn client_of(served: &Served, script: &str) -> BackgroundAgents {
    let path = served.folder.path().join("ssh");
    let text = format!("#!/bin/sh\n{script}\n");
    RealFiles
        .write_private(&path, text.as_bytes())
        .expect("written");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path.as_path(), mode).expect("executable");
    let own = Dirs::under(&served.folder.path().join("window"));
    own.create().expect("folders");
    let local = EngineServices::new(own.clone(), Arc::default(), IndexRegistry::new(&own));
    let setting = MachineSetting {
        host: "far".to_owned(),
        folder: served.folder.path().to_string(),
        ssh: Some(path.to_string()),
        ..MachineSetting::default()
    };
    let machine = AgentMachine::new("far", &setting).expect("an absolute folder");
    BackgroundAgents::on_machine(machine, Arc::new(local))
}

/// Returns the script that starts the proxy of these folders, after words of a login shell.
fn proxy_script(dirs: &Dirs) -> String {
    let binary = std::env::current_exe().expect("a path");
    let folder = dirs.state.parent().expect("the folder of the user");
    format!(
        "echo Welcome\n{FOLDER}='{folder}' exec '{}' --exact {PROXY} --nocapture",
        binary.display()
    )
}

#[test]
fn commands_that_are_cut_anywhere_lose_and_double_nothing() {
    let served = Served::start();
    // Each proxy first looks whether the process runs, over a connection of its own. The first one is
    // cut there, the others within what they carry.
    let whole = usize::MAX;
    let mut sizes = vec![3];
    for size in [3, 250, 1_000, 1_700, 2_500, 4_000, 6_001, 9_000] {
        sizes.extend([whole, size]);
    }
    let relay = Relay::start(served.folder.path(), &served.dirs, sizes);
    let window = client_of(&served, &proxy_script(&relay.dirs));
    let mut session = loop {
        // A start that the process may have received is not repeated by itself.
        if let Ok(session) = block_on(window.start(served.new_session())) {
            break session;
        }
    };
    let id = session.id.clone();
    (session.send)(prompt("Fix the failing test"));
    let mut seen: BTreeMap<u64, SessionRecord> = BTreeMap::new();
    for (number, record) in finish_turn(&mut session) {
        let before = seen.insert(number, record);
        assert_eq!(before, None, "record {number} came twice");
    }
    assert!(relay.cuts.load(Ordering::Relaxed) >= 5, "nothing was cut");
    let other = served.client();
    let mut again = served.open(&other, &id);
    let expected: BTreeMap<u64, SessionRecord> = finish_turn(&mut again).into_iter().collect();
    assert_eq!(seen, expected);
    let prompts = expected.values();
    let prompts = prompts.filter(|it| matches!(it, SessionRecord::Prompted { .. }));
    assert_eq!(prompts.count(), 1);
}

#[test]
fn another_machine_answers_for_itself() {
    let served = Served::start();
    let window = client_of(&served, &proxy_script(&served.dirs));
    assert_eq!(window.machine().as_deref(), Some("far"));
    let models = block_on(window.models());
    assert!(models.models.iter().any(|it| it.id == "demo"), "{models:?}");
    let root = served.folder.path().clone();
    let kept = KeptPrompts {
        sent: vec!["one".to_owned()],
        ..KeptPrompts::default()
    };
    block_on(window.keep_prompts(root.clone(), kept.clone())).expect("stored");
    // A program on that machine finds them.
    let there = EngineServices::new(
        served.dirs.clone(),
        Arc::default(),
        IndexRegistry::new(&served.dirs),
    );
    assert_eq!(block_on(there.kept_prompts(root.clone())), kept);
    assert_eq!(block_on(window.kept_prompts(root.clone())), kept);
    // A page for this computer's browser would lead to the wrong port.
    let steps: Vec<SignInStep> = block_on(window.sign_in(root, "it".to_owned()).collect());
    let [SignInStep::Done(Err(error))] = steps.as_slice() else {
        panic!("{steps:?}");
    };
    assert!(error.to_string().contains("far"), "{error}");
}

#[test]
fn reasons_why_a_machine_is_not_reached_are_sentences() {
    let served = Served::start();
    let error = |script: &str| {
        let window = client_of(&served, script);
        let mut problems = window.link_problems();
        assert_eq!(block_on(problems.next()), Some(None));
        let listed = block_on(window.sessions(served.folder.path().clone()));
        let error = listed.expect_err("no machine").to_string();
        let problem = block_on(problems.next()).flatten().expect("a problem");
        assert!(problem.contains("\"far\""), "{problem}");
        error
    };
    let refused = error("echo 'me@far: Permission denied (publickey).' >&2; exit 255");
    let expected = "The machine \"far\" cannot be reached: me@far: Permission denied (publickey).";
    assert_eq!(refused, expected);
    assert!(error("exit 127").contains("install Burin on that machine"));
    let said = error("echo 'burin-agent: no \u{202e}room' >&2");
    let is_printable = said.ends_with("room.") && !said.contains(['\u{202e}', '\n']);
    assert!(is_printable && !said.contains("burin-agent"), "{said}");
    for (protocol, words) in [
        (PROTOCOL - 1, "update Burin where it runs"),
        (PROTOCOL + 1, "update Burin on this computer"),
    ] {
        let answer = served.folder.path().join("answer");
        let hello = Hello {
            protocol,
            id: "s".to_owned(),
            program: ProgramStamp::default(),
        };
        let bytes = [MARK, &encode(&hello).expect("a message")].concat();
        RealFiles.write_private(&answer, &bytes).expect("written");
        let error = error(&format!("cat '{answer}'; exec cat > /dev/null"));
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_window_that_ends_ends_its_command() {
    let served = Served::start();
    let folder = served.folder.path();
    let pid = folder.join("pid");
    let script = format!("echo $$ > '{pid}'\n{}", proxy_script(&served.dirs));
    let window = client_of(&served, &script);
    block_on(window.sessions(folder.clone())).expect("listed");
    let clients = || {
        let status = runtime().block_on(ask_status(&served.dirs));
        status.expect("it answers").map(|status| status.clients)
    };
    // The connection by which the proxy looked for the process ends on its own.
    while clients() != Some(1) {
        thread::yield_now();
    }
    drop(window);
    let text = RealFiles.read(&pid, 100).expect("a number");
    let process = String::from_utf8_lossy(&text).trim().to_owned();
    // The process is killed and reaped by other threads; the server notices the end by itself.
    let is_running = || std::path::Path::new(&format!("/proc/{process}/stat")).exists();
    while is_running() || clients() != Some(0) {
        thread::yield_now();
    }
}
