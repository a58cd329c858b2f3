//! Memory use of a run: during a flood of output, and over hundreds of calls.

use serde_json::{Value, json};

use super::world::{WIRES, World, count, serve};

/// The allowed growth of the peak while a command floods its output, in kB.
const FLOOD: u64 = 64 << 10;
/// Allowed growth from the middle to the end of a long session, in kB: per call, of which the
/// conversation itself takes one, and in total.
const A_CALL: u64 = 8;
const ONCE: u64 = 1 << 10;

#[test]
fn a_flood_of_output_takes_little_memory() {
    let bytes = count("BURIN_FLOOD_MB", 48) << 20;
    let line = "a line of a flood of output, as builds and tests that went astray print it";
    let command = format!("yes '{line}' | head -c {bytes}");
    let server = serve(
        &json!({ "rules": [
            { "match": { "step": 1 }, "reply": [{ "call": { "tool": "exec_command", "arguments": {
                "command": command, "yield_time_ms": 600_000,
            } } }] },
            { "reply": [{ "text": "Done." }] },
        ] })
        .to_string(),
    );
    let world = World::new(WIRES[0], &server);
    let mut going = world.start(&["flood"]);
    let (mut before, mut after) = (0, 0);
    while let Some(told) = going.next() {
        match kind(&told) {
            "call_began" => before = going.memory("VmHWM"),
            "call_ended" => {
                after = going.memory("VmHWM");
                let said = told["record"]["content"].to_string();
                assert!(said.contains("exit code 0"), "{said}");
                assert!(said.contains("lines omitted"), "{}", said.len());
            }
            _ => {}
        }
    }
    assert!(going.child.wait().expect("its end").success());
    assert!(before > 0 && after > 0, "the call ran");
    eprintln!(
        "{} MB of output: peak {} kB before, {} kB after",
        bytes >> 20,
        before,
        after
    );
    assert!(after - before <= FLOOD, "{before} kB, then {after} kB");
}

#[test]
fn memory_stays_flat_over_hundreds_of_calls() {
    let steps = count("BURIN_CALLS", 100) / 4;
    let server = serve(&long_script(steps));
    let world = World::new(WIRES[0], &server);
    for number in 0..10 {
        let lines: String = (0..400)
            .map(|line| format!("line {line} of file {number}\n"))
            .collect();
        std::fs::write(world.project().join(format!("file{number}.txt")), lines).expect("a file");
    }
    let mut going = world.start(&["work"]);
    let mut calls = 0;
    let mut sizes = Vec::new();
    while let Some(told) = going.next() {
        if kind(&told) == "call_ended" {
            calls += 1;
            assert_eq!(told["record"]["outcome"], "ok", "{told}");
            if [steps * 4 / 10, steps * 2, steps * 4].contains(&calls) {
                sizes.push((calls, going.memory("VmRSS")));
            }
        }
    }
    assert!(going.child.wait().expect("its end").success());
    assert_eq!(calls, steps * 4);
    let bodies: Vec<usize> = server
        .requests()
        .iter()
        .map(|seen| seen.body.len())
        .collect();
    eprintln!(
        "memory in kB after calls: {sizes:?}; the last request was {:?} bytes",
        bodies.last()
    );
    let [_, (_, middle), (_, end)] = sizes[..] else {
        panic!("{sizes:?}");
    };
    let calls = steps as u64 * 2;
    assert!(end <= middle + calls * A_CALL + ONCE, "{sizes:?}");
}

fn kind(told: &Value) -> &str {
    told["record"]["kind"].as_str().unwrap_or_default()
}

/// Returns a script of four calls per step, all different.
fn long_script(steps: usize) -> String {
    let steps = (1..=steps).map(|step| {
        json!({ "match": { "step": step }, "reply": [
            { "text": format!("Step {step}.") },
            { "calls": [
                { "tool": "exec_command", "arguments": { "command": format!("seq {step} {}", step + 200) } },
                { "tool": "read", "arguments": { "path": format!("file{}.txt", step % 10), "offset": step % 350 + 1, "limit": 40 } },
                { "tool": "grep", "arguments": { "pattern": format!("line {step} of"), "path": "." } },
                { "tool": "write", "arguments": { "path": format!("out/{step}.txt"), "content": format!("{step}\n") } },
            ] },
        ] })
    });
    let done = json!({ "reply": [{ "text": "Done." }] });
    json!({ "rules": steps.chain([done]).collect::<Vec<_>>() }).to_string()
}
