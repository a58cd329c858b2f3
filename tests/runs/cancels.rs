//! Cancellation at any moment, while commands try to outlive it.

use std::time::Duration;

use agent::record::TurnEnd;
use serde_json::json;

use super::seat::{Seat, block_on};
use super::world::{Dice, WIRES, World, count, marked, serve};

/// The time from cancellation to the end of a turn, for 95 of 100 turns.
const SOON: Duration = Duration::from_millis(250);

/// Commands that would outlive the process that started them.
const STUBBORN: [(&str, &str); 7] = [
    ("setsid", "setsid sleep 300 & sleep 301"),
    (
        "forked",
        "(sh -c 'sh -c \"sleep 300\" & sleep 302 &' &) ; sleep 303",
    ),
    (
        "nohup",
        "nohup sh -c 'sleep 300; sleep 300' >/dev/null 2>&1 & disown; sleep 304",
    ),
    (
        "trapped",
        "trap '' TERM INT HUP; (trap '' TERM INT HUP; sleep 300) & sleep 305; sleep 306",
    ),
    (
        "loop",
        "setsid nohup sh -c \"trap '' TERM INT HUP; while :; do sleep 0.2; done\" >/dev/null 2>&1 & trap '' TERM; while :; do sleep 0.3; done",
    ),
    ("noisy", "trap '' TERM PIPE; yes noise"),
    // A subagent runs the command of `trapped`.
    ("agent", ""),
];

#[test]
fn stopping_a_turn_leaves_no_process_behind() {
    block_on(async {
        let server = serve(&script());
        let world = World::new(WIRES[2], &server);
        let mut seat = Seat::start(&world).await;
        let mut dice = Dice(0x5eed_0002);
        let mut took = Vec::new();
        let mut lingering = 0;
        let cancels = count("BURIN_CANCELS", 21);
        for number in 0..cancels {
            let (kind, _) = STUBBORN[number % STUBBORN.len()];
            let after = Duration::from_millis(dice.below(450));
            let (end, time) = seat
                .stopped_turn(&format!("run {kind} as n{number}n"), after)
                .await;
            assert_eq!(end, TurnEnd::Stopped, "{kind}, stopped after {after:?}");
            took.push(time);
            let mark = format!("BURIN_CANCEL=n{number}n-{}", std::process::id());
            lingering += usize::from(!marked(&mark).is_empty());
            tokio::time::sleep(Duration::from_millis(20)).await;
            let left = marked(&mark);
            assert!(left.is_empty(), "{kind}, stopped after {after:?}: {left:?}");
        }
        took.sort();
        let share = |percent: usize| took[(took.len() - 1) * percent / 100];
        eprintln!(
            "{cancels} cancels: median {:.0?}, p95 {:.0?}, longest {:.0?}; {lingering} with a process that was just ending",
            share(50),
            share(95),
            share(100)
        );
        assert!(share(95) <= SOON, "{took:?}");
        seat.leave().await;
    });
}

fn script() -> String {
    let pid = std::process::id();
    let rules = STUBBORN.iter().map(|(kind, line)| {
        let command = format!("export BURIN_CANCEL={{{{mark}}}}-{pid}; {line}");
        let call = match *kind {
            "agent" => {
                json!({ "tool": "spawn_agent", "arguments": { "task": "run trapped as {{mark}}" } })
            }
            _ => json!({ "tool": "exec_command", "arguments": { "command": command } }),
        };
        json!({
            "match": { "user": { "regex": format!("run {kind} as (?<mark>n\\d+n)") } },
            "reply": [{ "call": call }],
            "pace": { "first_byte_ms": 20 },
        })
    });
    json!({ "rules": rules.collect::<Vec<_>>() }).to_string()
}
