//! Compares generated cases with Neovim.
//!
//! The gate runs a small number with fixed seeds; `BURIN_VIM_CASES` sets another number, and `BURIN_VIM_SEED` another
//! first seed. Known differences are listed in `docs/vim.md`; the generator leaves them out.

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::fixture::Fixture;
use super::generator;
use super::neovim::{Case, Neovim, Outcome};
use crate::key::Key;
use crate::register::{CaretSlot, RegisterShape};
use crate::vim::marking;

/// Cases in the gate.
const CASES: usize = 1500;

/// Cases that one process of Neovim runs.
const BATCH: usize = 500;

/// Mismatches that are reduced and reported.
const REPORTED: usize = 12;

/// Runs a case on our machine, and ends unfinished commands as Neovim's `feedkeys` does.
fn ours(case: &Case) -> Outcome {
    let mut fixture = Fixture::new(&(case.lines.join("\n") + "\n"));
    let mut exec = super::super::exec::Exec::new(&mut fixture.vim, &mut fixture.globals, &mut fixture.host);
    if !case.set.is_empty() {
        super::super::ex::run_line(&mut exec, &format!("set {}", case.set)).expect("options");
    }
    exec.set_pos(crate::lines::Pos::new(case.row, case.col));
    drop(exec);
    for key in Key::parse(&case.keys(), '\\') {
        fixture.press(key);
    }
    if fixture.vim.prompt().is_some() || fixture.vim.is_waiting() {
        fixture.press(Key::Escape);
    }
    if matches!(fixture.vim.mode(), crate::Mode::Insert | crate::Mode::Replace) {
        fixture.press(Key::Escape);
    }
    outcome(&mut fixture)
}

fn outcome(fixture: &mut Fixture) -> Outcome {
    let text = fixture.text();
    let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
    let exec = super::super::exec::Exec::new(&mut fixture.vim, &mut fixture.globals, &mut fixture.host);
    let mut outcome = Outcome {
        lines: text.split('\n').map(str::to_owned).collect(),
        row: exec.pos().row,
        col: exec.pos().col,
        ..Outcome::default()
    };
    for name in ['[', ']', '<', '>', '.', '^', 'a', 'b'] {
        if let Ok(pos) = marking::place(&exec, name) {
            outcome.marks.insert(name.to_string(), (pos.row, pos.col));
        }
    }
    let slot = CaretSlot { ix: 0, count: 1 };
    for name in ['"', '0', '1', '2', '3', '-', 'a', 'b'] {
        if let Some(text) = exec.globals.registers.read(name, slot) {
            let kind = match text.shape {
                RegisterShape::Chars => "v".to_owned(),
                RegisterShape::Lines => "V".to_owned(),
                RegisterShape::Block(width) => format!("\u{16}{width}"),
            };
            outcome.registers.insert(name.to_string(), (text.text, kind));
        }
    }
    let inserted = exec.globals.registers.inserted.clone();
    if !inserted.is_empty() {
        outcome.registers.insert(".".to_owned(), (inserted, "v".to_owned()));
    }
    outcome
}

/// The parts in which two outcomes differ.
fn differences(ours: &Outcome, theirs: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(error) = &theirs.error {
        return vec![format!("script: {error}")];
    }
    if ours.lines != theirs.lines {
        found.push(format!("lines {:?} instead of {:?}", ours.lines, theirs.lines));
        return found;
    }
    let line = &theirs.lines[theirs.row as usize];
    let col = crate::lines::floor_grapheme(line, theirs.col);
    if (ours.row, ours.col) != (theirs.row, col) {
        let (a, b) = ((ours.row, ours.col), (theirs.row, col));
        found.push(format!("caret {a:?} instead of {b:?}"));
    }
    let has = |name: &str| std::env::var("BURIN_VIM_CHECK").map_or(true, |list| list.contains(name));
    if has("registers") {
        for (name, theirs) in &theirs.registers {
            let own = ours.registers.get(name);
            let is_same = match own {
                Some(own) => own == theirs,
                None => theirs.0.is_empty() || matches!(name.as_str(), "." | ":" | "/" | "\""),
            };
            if !is_same {
                found.push(format!("register {name} {own:?} instead of {theirs:?}"));
            }
        }
    }
    if has("marks") {
        for name in ["<", ">", "[", "]", "a", "b"] {
            let (own, theirs) = (ours.marks.get(name), theirs.marks.get(name));
            if own.is_some() && theirs.is_some() && own.map(|it| it.0) != theirs.map(|it| it.0) {
                found.push(format!("mark {name} {own:?} instead of {theirs:?}"));
            }
        }
    }
    found
}

/// Removes commands and lines from a case as long as the machines still differ.
fn reduced(neovim: &Neovim, case: &Case) -> Case {
    let mut case = case.clone();
    loop {
        let mut smaller = Vec::new();
        for ix in 0..case.commands.len() {
            let mut next = case.clone();
            next.commands.remove(ix);
            smaller.push(next);
        }
        for ix in 0..case.lines.len() {
            if case.lines.len() > 1 && ix as u32 != case.row {
                let mut next = case.clone();
                next.lines.remove(ix);
                next.row -= u32::from((ix as u32) < case.row);
                smaller.push(next);
            }
        }
        let theirs = neovim.run(&smaller);
        let found = smaller
            .into_iter()
            .zip(theirs)
            .find(|(case, theirs)| !differences(&ours(case), theirs).is_empty());
        match found {
            Some((next, _)) => case = next,
            None => return case,
        }
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn generated_commands_do_as_in_neovim() {
    let Some(neovim) = Neovim::find() else {
        test_support::skip("no nvim");
        return;
    };
    let count = setting("BURIN_VIM_CASES", CASES);
    let seed = setting("BURIN_VIM_SEED", 1);
    let mut mismatches = Vec::new();
    let mut total = 0;
    for start in (0..count).step_by(BATCH) {
        let cases: Vec<Case> = (start..count.min(start + BATCH))
            .map(|ix| generator::case(&mut StdRng::seed_from_u64((seed * 1_000_003 + ix) as u64)))
            .collect();
        let theirs = neovim.run(&cases);
        for (case, theirs) in cases.into_iter().zip(theirs) {
            total += 1;
            if !differences(&ours(&case), &theirs).is_empty() {
                mismatches.push(case);
            }
        }
    }
    if mismatches.is_empty() {
        return;
    }
    let number = mismatches.len();
    let reported = setting("BURIN_VIM_REPORT", REPORTED);
    let mut report = format!("{number} of {total} cases differ from nvim {}\n", neovim.version);
    for case in mismatches.iter().take(reported) {
        let case = reduced(&neovim, case);
        let theirs = neovim.run(std::slice::from_ref(&case));
        let found = differences(&ours(&case), &theirs[0]);
        let (row, col) = (case.row, case.col);
        report += &format!(
            "\n{} at {row}:{col} set {:?} in {:?}\n  {}\n",
            case.commands.join(" "),
            case.set,
            case.lines,
            found.join("\n  ")
        );
    }
    panic!("{report}");
}
