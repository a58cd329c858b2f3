//! Worktrees for eight agents at once, against `git worktree add`.
//!
//! `BURIN_BENCH_FILES` lists the sizes of the repositories, in files, separated by commas; the default is 500, 2,300
//! and 20,000.

mod measure;

use std::time::Duration;

use crate::figure::Figure;
use crate::interleave::Pairs;
use measure::Figures;

/// Maximum time for eight leases in a repository of 2,300 files, in milliseconds.
const LEASES: f64 = 100.0;
/// Maximum time of the first `git status`, in milliseconds.
const STATUS: f64 = 30.0;
/// Maximum disk use of a lease in addition to its base, in bytes.
const DISK: f64 = 1_048_576.0;

/// Measures all sizes and returns the figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let sizes = std::env::var("BURIN_BENCH_FILES").unwrap_or_else(|_| "500,2300,20000".to_owned());
    ::worktree::enter_namespace().map_err(|error| error.to_string())?;
    let mut figures = Vec::new();
    for files in sizes.split(',').filter_map(|size| size.trim().parse().ok()) {
        let folder = std::env::temp_dir().join(format!("burin-bench-{}", std::process::id()));
        let measured = measure::measure(&folder, files);
        std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        figures.extend(told(&measured?));
    }
    Ok(figures)
}

fn told(measured: &Figures) -> Vec<Figure> {
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    let files = measured.files;
    let name = |what: &str| format!("{what}, {files} files ({})", measured.rung);
    let mut leases = Pairs::default();
    leases.push(ms(measured.leases), ms(measured.leases) * measured.ratio);
    let is_small = files <= 2300;
    vec![
        Figure::alone(
            name("8 leases"),
            ms(measured.leases),
            "ms",
            1,
            is_small.then_some(LEASES),
        ),
        Figure::against(
            name("8 leases"),
            "git worktree add",
            &leases,
            "ms",
            Some(1.0 / 15.0),
        ),
        Figure::alone(
            name("git worktree add, 8 times"),
            ms(measured.git),
            "ms",
            1,
            None,
        ),
        Figure::alone(
            name("first git status in a lease"),
            ms(measured.status),
            "ms",
            1,
            Some(STATUS),
        ),
        Figure::alone(
            name("first git status in git's own"),
            ms(measured.git_status),
            "ms",
            1,
            None,
        ),
        Figure::alone(
            name("disk of a lease"),
            measured.disk as f64,
            "bytes",
            1,
            Some(DISK),
        ),
        Figure::alone(name("first base"), ms(measured.cold), "ms", 1, None),
        Figure::alone(name("next base"), ms(measured.next), "ms", 1, None),
    ]
}
