//! Benchmarks: Burin's figures beside a peer's, interleaved in one run.
//!
//! Started by `cargo xtask bench NAME`. Prints a line per figure and writes
//! `target/bench/NAME.json`. A missing peer is an error that says how to install it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, starts peers and prints; it is not linked into the product"
)]

mod agent;
mod blobs;
mod composer;
mod corpus;
mod crash;
mod edits;
mod figure;
mod git;
mod index;
mod interleave;
mod lsp;
mod open;
mod parse;
mod retrieval;
mod rg;
mod router;
mod samples;
mod sandbox;
mod screen;
mod search;
mod stalls;
mod tab;
mod tab_local;
mod terminal;
mod text_traces;
mod traces;
mod typing;
mod worktree;

use std::process::ExitCode;

use figure::Figure;

/// A benchmark: its name, the thing that it measures, and its function.
struct Bench {
    name: &'static str,
    doc: &'static str,
    run: fn() -> Result<Vec<Figure>, String>,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "text",
        doc: "replay of real editing sessions through a whole buffer, against bare ropes",
        run: text_traces::run,
    },
    Bench {
        name: "open",
        doc: "start to text on the screen, idle CPU and memory, against a bare window and GTK editors",
        run: open::run,
    },
    Bench {
        name: "search",
        doc: "project search against rg: the same results, and the time",
        run: search::run,
    },
    Bench {
        name: "type",
        doc: "key event to scene and CPU of all threads: the editor in very long files, and a whole window in files of 600 to 50,000 lines",
        run: typing::run,
    },
    Bench {
        name: "crash",
        doc: "typing lost to kill -9 (BURIN_BENCH_TRIALS, 200 without)",
        run: crash::run,
    },
    Bench {
        name: "stalls",
        doc: "the longest time the window stood still over files of 200 MB and other bad input",
        run: stalls::run,
    },
    Bench {
        name: "edits",
        doc: "edits as models write them, whole and corrupted, against aider and codex",
        run: edits::run,
    },
    Bench {
        name: "sandbox",
        doc: "starting a command in the sandbox, against a bare one, bubblewrap and codex",
        run: sandbox::run,
    },
    Bench {
        name: "worktree",
        doc: "worktrees for eight agents (BURIN_BENCH_FILES), against git worktree add",
        run: worktree::run,
    },
    Bench {
        name: "router",
        doc: "what the router adds to a call, Tab beside busy agents, cancelling, fair shares",
        run: router::run,
    },
    Bench {
        name: "agent",
        doc: "calls side by side, what the harness adds to a call, memory of sessions, logs made short",
        run: agent::run,
    },
    Bench {
        name: "composer",
        doc: "agents in the window: keys beside eight streams, a long transcript, many sessions, the way back to running sessions",
        run: composer::run,
    },
    Bench {
        name: "tab",
        doc: "key to request on the wire, what a key's frame shows, stale suggestions, coverage and calls against debounce and cancel, and Cody's policy",
        run: tab::run,
    },
    Bench {
        name: "tab_local",
        doc: "Tab without a model over real commits: keys saved, next edits, against nvim and the same identifier; right text refused, wrong text refused",
        run: tab_local::run,
    },
    Bench {
        name: "terminal",
        doc: "the terminal: throughput against alacritty_terminal, tmux and plain reading, memory, idle shells, restoring, echo and floods in a window",
        run: terminal::run,
    },
    Bench {
        name: "lsp",
        doc: "language servers: keys over 20,000 items, an answer of 10 MB, edits, processes left (BURIN_BENCH_TRIALS), floods",
        run: lsp::run,
    },
    Bench {
        name: "git",
        doc: "git: status after a save in 100,000 files, staging, blame, graph and conflicts against the program, keys beside them",
        run: git::run,
    },
    Bench {
        name: "parse",
        doc: "key to highlights of the visible range, against the bare tree-sitter call",
        run: parse::run,
    },
    Bench {
        name: "retrieval",
        doc: "what the index finds: functions by their documentation, files by commits, semble's questions",
        run: retrieval::run,
    },
    Bench {
        name: "weights",
        doc: "fits the weights of the index's ranking on the parts that nothing is measured on",
        run: retrieval::fit,
    },
    Bench {
        name: "index",
        doc: "how soon the index is there, answers and follows, against semble and rg",
        run: index::run,
    },
];

fn main() -> ExitCode {
    if let Some(code) = ::worktree::answer_fsmonitor_query() {
        return code;
    }
    if let Some(code) = lsp::run_client() {
        return code;
    }
    if let Some(code) = composer::run_server() {
        return code;
    }
    let Some(name) = std::env::args().nth(1) else {
        for bench in BENCHES {
            println!("{:<10} {}", bench.name, bench.doc);
        }
        return ExitCode::SUCCESS;
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        eprintln!("there is no benchmark \"{name}\"; run without a name to list them");
        return ExitCode::from(2);
    };
    let measured = (bench.run)().and_then(|mut figures| {
        figure::add_before(&mut figures)?;
        Ok(figures)
    });
    let figures = match measured {
        Ok(figures) => figures,
        Err(reason) => {
            eprintln!("bench {name}: {reason}");
            return ExitCode::FAILURE;
        }
    };
    for figure in &figures {
        println!("{figure}");
    }
    match figure::store(&name, &figures) {
        Ok(path) => println!("written to {path}"),
        Err(error) => eprintln!("cannot write the figures: {error}"),
    }
    ExitCode::SUCCESS
}

/// Whether a part of a benchmark is measured: all parts are, unless `BURIN_BENCH_PARTS` names some, separated by commas.
fn is_wanted(part: &str) -> bool {
    std::env::var("BURIN_BENCH_PARTS").map_or(true, |parts| parts.split(',').any(|it| it == part))
}
