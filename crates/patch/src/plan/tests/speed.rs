//! A time bound that catches a match strategy with quadratic time.

use super::*;

/// Maximum milliseconds per hunk, generous enough for an unoptimised test on a busy machine.
/// Benchmarks measure the actual times.
const MOST: u128 = 100;

#[test]
#[expect(clippy::disallowed_methods, reason = "this measures")]
fn long_files_take_no_square_of_time() {
    let mut text = String::new();
    for number in 0..2000 {
        let line = match number % 8 {
            0 => format!("fn name_{number}() {{\n"),
            6 => "}\n".to_owned(),
            7 => "\n".to_owned(),
            _ => format!("    let value_{number} = call({number}, \"text {number}\");\n"),
        };
        text.push_str(&line);
    }
    let all: Vec<&str> = text.lines().collect();
    let block = format!("{}\n", all[1000..1040].join("\n"));
    let new = block.replace("value_1012", "other");
    let spoilt = [
        block.clone(),
        block.replace("    ", "  "),
        block.replace("\n}\n\n", "\n}\n"),
        block.replace("call(1020", "coll(1020"),
        block.replace('"', "\u{201c}"),
        block.replace("call", "absent"),
    ];
    for old in spoilt {
        let start = std::time::Instant::now();
        let planned = run(&text, &[hunk(&old, &new)]);
        let taken = start.elapsed();
        println!(
            "{:?} {:?} in {taken:?}",
            planned.hunks[0].outcome, planned.hunks[0].strategy
        );
        assert!(taken.as_millis() < MOST, "{taken:?} for {old}");
    }
}
