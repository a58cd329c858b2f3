//! Real commands.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::outcome::Detail;
use crate::tool::{LockScope, ToolDisplay};

#[tokio::test]
async fn a_command_answers_with_its_output_and_code() {
    let world = World::real();
    let answer = world
        .call(
            "exec_command",
            json!({ "command": "echo out; echo err >&2; exit 3" }),
        )
        .await;
    assert_says(&answer, CallOutcome::Ok, "out\nerr\n[exit code 3 after ");
    let [
        ToolDisplay::Command {
            code: Some(3),
            output,
            ..
        },
    ] = &answer.display[..]
    else {
        panic!("{:?}", answer.display);
    };
    assert_eq!(output, "out\nerr\n");
    world.write("dir/x", "");
    let answer = world
        .call(
            "exec_command",
            json!({ "cmd": ["ls", "-a b"], "workdir": "dir" }),
        )
        .await;
    assert_says(&answer, CallOutcome::Ok, "exit code 2");
    let answer = world
        .call(
            "exec_command",
            json!({ "command": ["bash", "-lc", "pwd"], "workdir": "dir" }),
        )
        .await;
    assert_says(&answer, CallOutcome::Ok, "/root/dir\n");
}

#[tokio::test]
pub(super) async fn a_long_output_is_cut_and_kept() {
    let mut world = World::real();
    world.context.output_tokens = 500;
    let answer = world
        .call("exec_command", json!({ "command": "seq 1 20000" }))
        .await;
    let text = answer.text();
    assert!(
        text.starts_with("1\n2\n") && text.contains("\n20000\n[exit code 0"),
        "{text}"
    );
    assert!(
        text.contains("lines omitted; whole output: out-1"),
        "{text}"
    );
    assert!(text.len() < 2400, "{}", text.len());
    assert_eq!(answer.detail, Some(Detail::OutputTruncated));
    let answer = world
        .call(
            "read",
            json!({ "path": "out-1", "offset": 9999, "limit": 2 }),
        )
        .await;
    assert_says(
        &answer,
        CallOutcome::Ok,
        "9999\n10000\n(lines 9999 to 10000; read on with offset 10001)",
    );
}

/// Reads terminal 1 from `answer` on until the output contains `wanted`; a busy machine may need
/// several calls.
pub(super) async fn listen(world: &World, mut answer: ToolResult, wanted: &str) {
    for _ in 0..60 {
        assert_says(&answer, CallOutcome::Ok, "[still running after ");
        if answer.text().contains(wanted) {
            return;
        }
        let more = json!({ "terminal": 1, "chars": "", "yield_time_ms": 500 });
        answer = world.call("write_stdin", more).await;
    }
    assert_says(&answer, CallOutcome::Ok, wanted);
}

#[tokio::test]
async fn a_command_goes_on_as_a_terminal() {
    let world = World::real();
    let command = "echo first; read line; echo \"got $line\"; sleep 0.1; echo last";
    let input = json!({ "command": command, "tty": true, "yield_time_ms": 300 });
    let answer = world.call("exec_command", input).await;
    assert_says(&answer, CallOutcome::Ok, "as terminal 1;");
    listen(&world, answer, "first\n[still running after ").await;
    assert_eq!(
        world.options.states.running("s1"),
        [(1, command.to_owned())]
    );
    let answer = world
        .call(
            "write_stdin",
            json!({ "terminal": 1, "chars": "hello\n", "yield_time_ms": 20000 }),
        )
        .await;
    assert_says(&answer, CallOutcome::Ok, "got hello\nlast\n[exit code 0");
    let answer = world.call("write_stdin", json!({ "terminal": 1 })).await;
    assert_says(&answer, CallOutcome::UnexpectedEnvironment, "no terminal 1");
}

#[tokio::test]
pub(super) async fn what_runs_in_the_background_is_heard_interrupted_and_ended() {
    let world = World::real();
    let command = "trap 'echo caught' INT; echo up; while :; do sleep 0.02; done";
    let input = json!({ "command": command, "background": true, "yield_time_ms": 400 });
    let answer = world.call("exec_command", input).await;
    listen(&world, answer, "up\n[still running").await;
    let typed = |chars: &str| json!({ "terminal": 1, "chars": chars, "yield_time_ms": 400 });
    let answer = world.call("write_stdin", typed("\u{3}")).await;
    listen(&world, answer, "caught\n[still running").await;
    let answer = world.call("write_stdin", typed("hello\n")).await;
    assert_says(&answer, CallOutcome::InvalidArguments, "has no input");
    let answer = world
        .call("write_stdin", json!({ "session_id": "1", "stop": true }))
        .await;
    assert_says(&answer, CallOutcome::Ok, "ended by signal");
    assert!(world.options.states.running("s1").is_empty());
}

#[tokio::test]
async fn closing_a_session_stops_its_commands() {
    let world = World::real();
    let input = json!({ "command": "setsid sleep 300 & sleep 301", "background": true, "yield_time_ms": 200 });
    world.call("exec_command", input).await;
    let room = world.options.states.of(&world.context);
    let terminal = room.terminal(1).expect("it runs");
    let mut members = terminal.members();
    while members.len() < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        members = terminal.members();
    }
    drop((room, terminal));
    world.options.states.close_session("s1");
    for pid in members {
        assert!(!is_alive(pid), "{pid} lives on");
    }
}

fn is_alive(pid: u32) -> bool {
    let path = AbsPath::new(format!("/proc/{pid}/stat")).expect("absolute");
    let stat = RealFiles.read(&path, 1 << 16).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[tokio::test]
pub(super) async fn a_command_ends_at_its_limit_and_when_it_is_stopped() {
    let mut world = World::real();
    let input = json!({ "command": "echo begun; sleep 60", "timeout_ms": 1500 });
    let answer = world.call("exec_command", input).await;
    assert_says(
        &answer,
        CallOutcome::Timeout,
        "begun\n[ended after its limit of 1.5 s",
    );
    let (sender, stop) = tokio::sync::watch::channel(false);
    world.context.stop = stop;
    let start = RealClock::default();
    let stopping = async {
        while world.text("begun").is_none_or(|text| text.is_empty()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        sender.send(true).expect("somebody listens");
    };
    let script = "trap '' TERM; echo begun | tee begun; setsid nohup sleep 77 & sleep 60";
    let (answer, ()) = tokio::join!(
        world.call("exec_command", json!({ "command": script })),
        stopping
    );
    assert_says(&answer, CallOutcome::UserAborted, "begun\n");
    assert!(start.elapsed() < Duration::from_secs(5));
    let answer = world
        .call("exec_command", json!({ "command": "echo no" }))
        .await;
    assert_says(&answer, CallOutcome::UserAborted, "Stopped");
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_running() {
    let world = World::real();
    let script = "echo $$ > pid; setsid nohup sleep 300 >/dev/null 2>&1 & sleep 300";
    let call = world.call("exec_command", json!({ "command": script }));
    let has_begun = async {
        while !world.text("pid").is_some_and(|pid| pid.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        answer = call => panic!("it was to be given up: {}", answer.text()),
        () = has_begun => {}
    }
    let pid = world.text("pid").expect("it ran");
    assert!(!is_alive(pid.trim().parse().expect("a number")));
}

#[tokio::test]
async fn a_patch_typed_as_a_command_is_applied() {
    let world = World::real();
    world.write("a", "a\n");
    let command = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** End Patch\nEOF\n";
    let access = world
        .access("exec_command", json!({ "command": command }))
        .expect("a patch");
    assert_eq!(access.writes, [LockScope::Path("a".to_owned())]);
    let answer = world
        .call("exec_command", json!({ "command": command }))
        .await;
    assert_says(&answer, CallOutcome::Ok, "apply_patch is not a program");
    assert_eq!(world.text("a").as_deref(), Some("A\n"));
}

#[tokio::test]
pub(super) async fn every_way_of_running_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, UnexpectedEnvironment};
    let world = World::real();
    world.write("file", "");
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Frob: a\n*** End Patch\nEOF";
    let cases = [
        (
            "exec_command",
            json!({}),
            InvalidArguments,
            "`command` is missing",
        ),
        (
            "exec_command",
            json!({ "command": "  " }),
            InvalidArguments,
            "is empty",
        ),
        (
            "exec_command",
            json!({ "command": [1] }),
            InvalidArguments,
            "list of strings",
        ),
        (
            "exec_command",
            json!({ "command": "ls", "tty": "x" }),
            InvalidArguments,
            "true or false",
        ),
        (
            "exec_command",
            json!({ "command": "ls", "timeout_ms": "x" }),
            InvalidArguments,
            "whole number",
        ),
        (
            "exec_command",
            json!({ "command": "ls", "workdir": "none" }),
            UnexpectedEnvironment,
            "There is no file none",
        ),
        (
            "exec_command",
            json!({ "command": "ls", "workdir": "file" }),
            UnexpectedEnvironment,
            "not a folder",
        ),
        (
            "exec_command",
            json!({ "command": "ls", "workdir": "/" }),
            UnexpectedEnvironment,
            "outside",
        ),
        (
            "exec_command",
            json!({ "command": patch }),
            InvalidArguments,
            "line 2",
        ),
        (
            "write_stdin",
            json!({}),
            InvalidArguments,
            "`terminal` is missing",
        ),
        (
            "write_stdin",
            json!({ "terminal": 9 }),
            UnexpectedEnvironment,
            "no command is running",
        ),
        (
            "write_stdin",
            json!({ "terminal": "x" }),
            InvalidArguments,
            "whole number",
        ),
    ];
    for (tool, input, outcome, says) in cases {
        let answer = world.call(tool, input.clone()).await;
        assert!(
            answer.outcome == outcome && answer.text().contains(says),
            "{tool} {input}: {answer:?}"
        );
    }
    let mut gone = World::real();
    gone.context.root = gone.context.root.join("gone");
    let answer = gone.call("exec_command", json!({ "command": "ls" })).await;
    assert_says(&answer, UnexpectedEnvironment, "run a program in");
}

/// Returns the resident memory of this process, in bytes.
fn memory() -> usize {
    let path = AbsPath::new("/proc/self/statm").expect("absolute");
    let statm = RealFiles.read(&path, 1 << 16).expect("readable");
    let statm = String::from_utf8_lossy(&statm);
    let pages: usize = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("a number");
    pages * 4096
}

#[tokio::test]
async fn memory_stays_flat_whatever_a_command_prints() {
    let world = World::real();
    let before = memory();
    // More output than is saved on disk.
    let command = "yes 'a line that is as long as lines of builds are, more or less, and says nothing' | head -c 300000000";
    let answer = world
        .call(
            "exec_command",
            json!({ "command": command, "timeout_ms": 300_000 }),
        )
        .await;
    let grown = memory().saturating_sub(before);
    assert_says(&answer, CallOutcome::Ok, "whole output: out-1");
    assert_says(&answer, CallOutcome::Ok, "[exit code 0");
    // Concurrent tests need memory too; the complete output would still not fit.
    assert!(grown < 200 << 20, "{grown}");
    let path = world.context.sources.state.join("outputs/s1/out-1.txt");
    let kept = RealFiles.stat(&path).expect("a file").stamp.size;
    assert!((200 << 20..=257 << 20).contains(&kept), "{kept}");
}

#[tokio::test]
async fn every_stop_is_quick_and_leaves_nothing() {
    const SCRIPTS: [&str; 4] = [
        "setsid sleep 300 & echo $! >> pids; echo $$ >> pids; wait",
        "( ( sleep 300 & echo $! >> pids ) & ); echo $$ >> pids; sleep 300",
        "nohup sleep 300 >/dev/null 2>&1 & echo $! >> pids; echo $$ >> pids; wait",
        "trap '' TERM HUP; ( setsid nohup sleep 300 >/dev/null 2>&1 & echo $! >> pids ); echo $$ >> pids; sleep 300",
    ];
    let mut times = Vec::new();
    for (ix, script) in SCRIPTS.iter().cycle().take(40).enumerate() {
        let mut world = World::real();
        let (sender, stop) = tokio::sync::watch::channel(false);
        world.context.stop = stop;
        let input = json!({ "command": script, "tty": ix % 8 >= 4 });
        let clock = RealClock::default();
        let stopping = async {
            while world
                .text("pids")
                .is_none_or(|pids| pids.lines().count() < 2)
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let at = clock.elapsed();
            sender.send(true).expect("somebody listens");
            at
        };
        let (answer, at) = tokio::join!(world.call("exec_command", input), stopping);
        times.push(clock.elapsed() - at);
        assert_eq!(
            answer.outcome,
            CallOutcome::UserAborted,
            "{}",
            answer.text()
        );
        for pid in world.text("pids").expect("it ran").lines() {
            assert!(
                !is_alive(pid.parse().expect("a number")),
                "{pid} of {script} lives on"
            );
        }
    }
    times.sort();
    let (median, late) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    println!("stopped within {median:?} (median), {late:?} (95 of 100)");
    // A busy machine may take long; a stop that hangs does not pass.
    assert!(late < Duration::from_secs(2), "{late:?}");
}
