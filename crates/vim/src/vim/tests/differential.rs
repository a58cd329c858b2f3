//! Compares generated cases with Neovim.
//!
//! The gate runs a small number with fixed seeds; `BURIN_VIM_CASES` sets another number, `BURIN_VIM_SEED` another first seed.
//! Each table allows a share of cases that differ; one over it fails, and its first cases are reduced and reported.
//! Set `BURIN_VIM_REPORT` to a number to report all differences. Those that are meant are listed in `differences.md`.

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::fixture::Fixture;
use super::generator;
use super::neovim::{Case, Neovim, Outcome, RELEASE, outcome};
use super::recorded;
use crate::key::Key;
use crate::register::{CaretSlot, RegisterShape, RegisterText};
use crate::vim::marking;

/// Cases in the gate.
const CASES: usize = 500;

/// Cases that one process of Neovim runs.
const BATCH: usize = 500;

/// Mismatches that are reduced and reported.
const REPORTED: usize = 12;

/// The state from which every case starts, which `nvim.lua` sets as well.
fn primed() -> Fixture {
    let mut fixture = Fixture::new("|x");
    fixture.keys("fzix<Esc>vy:s/zz/yy/e<CR>");
    fixture
}

fn prime(globals: &mut crate::VimGlobals) {
    let primed = primed().globals;
    globals.repeat = primed.repeat;
    globals.last_find = primed.last_find;
    globals.substitute = primed.substitute;
    globals.visual_size = primed.visual_size;
    globals.search.pattern = Some("zz".to_owned());
    let slot = CaretSlot { ix: 0, count: 1 };
    let lines = RegisterText::new("la\nlb", RegisterShape::Lines);
    globals.registers.write('a', slot, lines);
    globals
        .registers
        .write('b', slot, RegisterText::new("bee", RegisterShape::Chars));
    globals
        .registers
        .write('0', slot, RegisterText::new("zero", RegisterShape::Chars));
}

/// Runs a case on our machine, and ends unfinished commands as Neovim's `feedkeys` does.
pub(super) fn ours(case: &Case) -> Outcome {
    let mut fixture = Fixture::new(&(case.lines.join("\n") + "\n"));
    let mut exec =
        super::super::exec::Exec::new(&mut fixture.vim, &mut fixture.globals, &mut fixture.host);
    if !case.set.is_empty() {
        super::super::ex::run_line(&mut exec, &format!("set {}", case.set)).expect("options");
    }
    exec.set_pos(crate::lines::Pos::new(case.row, case.col));
    drop(exec);
    prime(&mut fixture.globals);
    for command in &case.commands {
        feed(&mut fixture, command);
    }
    Outcome {
        // Keys whose marks are not compared.
        mode: case.keys(),
        ..own_outcome(&mut fixture)
    }
}

/// Presses the keys of a command, and ends what is unfinished.
fn feed(fixture: &mut Fixture, command: &str) {
    for key in Key::parse(command, '\\') {
        fixture.press(key);
    }
    if fixture.vim.prompt().is_some() || fixture.vim.is_waiting() {
        fixture.press(Key::Escape);
    }
    if fixture.is_inserting() {
        fixture.press(Key::Escape);
    }
}

fn own_outcome(fixture: &mut Fixture) -> Outcome {
    let text = fixture.text();
    let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
    let exec =
        super::super::exec::Exec::new(&mut fixture.vim, &mut fixture.globals, &mut fixture.host);
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
            outcome
                .registers
                .insert(name.to_string(), (text.text, kind));
        }
    }
    let inserted = exec.globals.registers.inserted.clone();
    if !inserted.is_empty() {
        outcome
            .registers
            .insert(".".to_owned(), (inserted, "v".to_owned()));
    }
    outcome
}

/// The parts in which two outcomes differ.
pub(super) fn differences(ours: &Outcome, theirs: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    if theirs.error.is_some() {
        return found;
    }
    if ours.lines != theirs.lines {
        found.push(format!(
            "lines {:?} instead of {:?}",
            ours.lines, theirs.lines
        ));
        return found;
    }
    let line = &theirs.lines[theirs.row as usize];
    // Neovim may leave the caret behind the end of a line until it draws.
    let last = crate::lines::prev_grapheme(line, line.len());
    let col = crate::lines::floor_grapheme(line, theirs.col).min(last);
    if (ours.row, ours.col) != (theirs.row, col) {
        let (a, b) = ((ours.row, ours.col), (theirs.row, col));
        found.push(format!("caret {a:?} instead of {b:?}"));
    }
    let has =
        |name: &str| std::env::var("BURIN_VIM_CHECK").map_or(true, |list| list.contains(name));
    if has("registers") {
        for (name, theirs) in &theirs.registers {
            let own = ours.registers.get(name);
            if name == "." {
                continue;
            }
            let is_same = match own {
                Some(own) => own == theirs,
                None => theirs.0.is_empty() || matches!(name.as_str(), ":" | "/" | "\""),
            };
            if !is_same {
                found.push(format!("register {name} {own:?} instead of {theirs:?}"));
            }
        }
    }
    let keys = ours.mode.as_str();
    // The marks of a formatted or restored text differ.
    let skips = [
        "gq", "gw", "u", "R", "\\n", "<BS>", "<C-d>", "<C-w>", "<C-u>", "<C-r>",
    ]
    .iter()
    .any(|skipped| keys.contains(skipped));
    if has("marks") && !skips {
        for name in ["<", ">", "[", "]"] {
            let last = theirs.lines.len() as u32 - 1;
            let row = |mark: Option<&(u32, usize)>| mark.map(|mark| mark.0.min(last));
            let (own, theirs) = (ours.marks.get(name), theirs.marks.get(name));
            if own.is_some() && theirs.is_some() && row(own) != row(theirs) {
                found.push(format!("mark {name} {own:?} instead of {theirs:?}"));
            }
        }
    }
    found
}

/// Cases with a command or a line less.
fn smaller(case: &Case) -> Vec<Case> {
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
    if !case.set.is_empty() {
        smaller.push(Case {
            set: String::new(),
            ..case.clone()
        });
    }
    smaller
}

/// Removes commands and lines from cases as long as the machines still differ. Runs all cases of a
/// round at once.
fn reduced(neovim: &Neovim, mut cases: Vec<Case>) -> Vec<Case> {
    for _ in 0..30 {
        let candidates: Vec<Vec<Case>> = cases.iter().map(smaller).collect();
        let theirs = neovim.run(&candidates.concat());
        let mut theirs = theirs.iter();
        let mut is_done = true;
        for (case, candidates) in cases.iter_mut().zip(&candidates) {
            let theirs: Vec<&Outcome> = theirs.by_ref().take(candidates.len()).collect();
            let found = candidates
                .iter()
                .zip(theirs)
                .find(|(case, theirs)| !differences(&ours(case), theirs).is_empty());
            if let Some((next, _)) = found {
                *case = next.clone();
                is_done = false;
            }
        }
        if is_done {
            break;
        }
    }
    cases
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// Whether more cases differ than a table allows. A report that is asked for names them all.
fn is_failure(differing: usize, total: usize, allowed_of_1000: usize) -> bool {
    if std::env::var_os("BURIN_VIM_REPORT").is_some() {
        return differing > 0;
    }
    differing * 1000 > total * allowed_of_1000
}

/// Compares cases of a table, of which a share may differ.
fn compare(generate: fn(&mut StdRng) -> Case, allowed_of_1000: usize) {
    let Some(neovim) = Neovim::find() else {
        test_support::skip(format!("there is no nvim {RELEASE}x"));
        return;
    };
    let count = setting("BURIN_VIM_CASES", CASES);
    let seed = setting("BURIN_VIM_SEED", 1);
    let mut mismatches = Vec::new();
    for start in (0..count).step_by(BATCH) {
        let cases: Vec<Case> = (start..count.min(start + BATCH))
            .map(|ix| generate(&mut StdRng::seed_from_u64((seed * 1_000_003 + ix) as u64)))
            .collect();
        let states = neovim.states(&cases);
        for (case, state) in cases.into_iter().zip(states) {
            if differences(&ours(&case), &outcome(&state)).is_empty() {
                recorded::record(&case, &state);
            } else {
                mismatches.push(case);
            }
        }
    }
    if is_failure(mismatches.len(), count, allowed_of_1000) {
        panic!("{}", report(&neovim, mismatches, count));
    }
}

/// Describes the first cases that differ.
fn report(neovim: &Neovim, mut mismatches: Vec<Case>, total: usize) -> String {
    let mut report = format!(
        "{} of {total} cases differ from nvim {}\n",
        mismatches.len(),
        neovim.version
    );
    mismatches.truncate(setting("BURIN_VIM_REPORT", REPORTED));
    let cases = reduced(neovim, mismatches);
    let theirs = neovim.run(&cases);
    for (case, theirs) in cases.iter().zip(&theirs) {
        let found = differences(&ours(case), theirs);
        let (row, col) = (case.row, case.col);
        report += &format!(
            "\n{} at {row}:{col} set {:?} in {:?}\n  {}\n",
            case.commands.join(" "),
            case.set,
            case.lines,
            found.join("\n  ")
        );
    }
    report
}

#[test]
fn generated_commands_do_as_in_neovim() {
    compare(generator::case, 20);
}

#[test]
fn essential_commands_do_as_in_neovim() {
    compare(generator::essential_case, 10);
}
