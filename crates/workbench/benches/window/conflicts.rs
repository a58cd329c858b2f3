//! A text with 200 conflicts in a window: from the key to the scene with a block above each one in sight.
//!
//! The index of Git has no conflict of these files, so the window reads the sides from the markers; `cargo xtask bench git`
//! measures the reading of the index apart. The scheduler runs background work on the window's thread, so the times hold
//! both.

use cpu_time::ThreadTime;
use workbench::actions::conflicts::{AcceptAllOurs, NextConflict};
use workbench::target::LineColumn;

use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::world::{Models, Surroundings, Tab, World};

/// Number of files, and of conflicts in each.
const FILES: usize = 20;
const CONFLICTS: usize = 200;
/// Lines around each conflict.
const LINES: usize = 20;
/// Goal in milliseconds.
const OPENING: f64 = 100.0;

pub(crate) fn run() {
    let text = include_str!("../../src/prediction.rs");
    let file = EditedFile {
        name: "typed.rs",
        text,
        place: LineColumn::new(1, 1),
    };
    let mut world = World::open(Models::None, Tab::Off, &file);
    world.surroundings = Surroundings::Idle;
    let (mut openings, mut resolutions) = (Vec::new(), Vec::new());
    for ix in 0..FILES {
        let path = world.root().join(format!("src/conflicts_{ix}.rs"));
        std::fs::write(path.as_path(), conflicted()).expect("a file");
        world.show(path, LineColumn::new(1, 1));
        assert_eq!(world.text(), conflicted(), "the file is in front");
        let start = ThreadTime::now();
        world.act(NextConflict);
        world.stage.cx.run_until_parked();
        openings.push(start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(
            world.text(),
            conflicted(),
            "showing conflicts changes no text"
        );
        let start = ThreadTime::now();
        world.act(AcceptAllOurs);
        world.stage.cx.run_until_parked();
        resolutions.push(start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(world.text(), resolved(), "all conflicts were shown");
    }
    let name = "200 conflicts by markers: key to scene, all threads of the program";
    print(&format!("{name} p50"), &openings, 0.5, Goal::None);
    let goal = Goal::AtMost(OPENING);
    print(&format!("{name} largest"), &openings, 1.0, goal);
    let name = "200 conflicts by markers: all of ours to scene, all threads of the program";
    print(&format!("{name} p50"), &resolutions, 0.5, Goal::None);
    print(&format!("{name} largest"), &resolutions, 1.0, Goal::None);
}

fn print(name: &str, times: &[f64], share: f64, goal: Goal) {
    let figure = Figure {
        name,
        value: quantile(times, share),
        unit: "ms",
        n: times.len(),
    };
    figure.print(goal);
}

/// Returns a text with the conflicts.
fn conflicted() -> String {
    text_with(|ix| {
        let (ours, theirs) = (side(ix, "ours"), side(ix, "theirs"));
        format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> topic\n")
    })
}

/// Returns the text after all conflicts were resolved with our side.
fn resolved() -> String {
    text_with(|ix| side(ix, "ours"))
}

fn side(ix: usize, name: &str) -> String {
    format!("pub const SIDE_{ix}: &str = \"{name}\";\n")
}

/// Returns a text with `conflict` after each section.
fn text_with(conflict: impl Fn(usize) -> String) -> String {
    let section = |ix: usize| {
        let line = |line: usize| format!("pub const VALUE_{ix}_{line}: u32 = {line};\n");
        let lines: String = (0..LINES).map(line).collect();
        lines + &conflict(ix)
    };
    (0..CONFLICTS).map(section).collect()
}
