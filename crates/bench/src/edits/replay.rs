//! Encodes real edits of single files in every format and applies them; the result must equal the
//! new file byte for byte.

use patch::format::EditFormat;

use crate::figure::Figure;
use crate::interleave::quantile;

use super::truth::Edit;
use super::{Pool, Wanted, encode, keep, ours};

/// The results of the edits in one format.
#[derive(Default)]
struct Tally {
    exact: usize,
    wrong: usize,
    refused: usize,
    /// Edits that the format cannot express: a change of line endings or of the final line feed.
    unsayable: usize,
    millis: Vec<f64>,
    cpu_millis: Vec<f64>,
    /// Total bytes of the encoded edits.
    length: usize,
}

pub(super) fn run(pool: &mut Pool, count: usize) -> Result<Vec<Figure>, String> {
    let mut tallies: Vec<(EditFormat, Tally)> = EditFormat::ALL
        .into_iter()
        .map(|format| (format, Tally::default()))
        .collect();
    let mut edits = 0;
    pool.each(&[], |edit| {
        if edit.old == edit.new {
            return Ok(Wanted::More);
        }
        for (format, tally) in &mut tallies {
            replay(*format, &edit, tally);
        }
        edits += 1;
        Ok(if edits < count {
            Wanted::More
        } else {
            Wanted::Nothing
        })
    })?;
    println!("{edits} edits of single files replayed");
    let mut figures = Vec::new();
    for (format, tally) in &tallies {
        let said = tally.exact + tally.wrong + tally.refused;
        println!(
            "  {:<15} exact {:>6}  wrong {:>3}  refused {:>3}  not to be said {:>4}  {:>9} bytes each",
            format.name(),
            tally.exact,
            tally.wrong,
            tally.refused,
            tally.unsayable,
            tally.length / said.max(1),
        );
        let failed = (tally.wrong + tally.refused) as f64;
        let name = format.name();
        figures.push(Figure::alone(
            format!("replay {name} not exact"),
            failed,
            "edits",
            said,
            Some(0.0),
        ));
        for (clock, millis) in [
            ("", &tally.millis),
            (", of the processor", &tally.cpu_millis),
        ] {
            let p99 = quantile(millis.iter().copied(), 0.99);
            let name = format!("replay {name} p99{clock}");
            figures.push(Figure::alone(name, p99, "ms", said, Some(2.0)));
        }
    }
    Ok(figures)
}

fn replay(format: EditFormat, edit: &Edit, tally: &mut Tally) {
    let Some(text) = encoded(format, edit) else {
        tally.unsayable += 1;
        return;
    };
    tally.length += text.len();
    let answer = ours::apply(format, &edit.path, &edit.old, &text);
    tally.millis.push(answer.millis);
    tally.cpu_millis.push(answer.cpu_millis);
    let count = match &answer.text {
        Ok(new) if *new == edit.new => &mut tally.exact,
        Ok(_) => &mut tally.wrong,
        Err(_) => &mut tally.refused,
    };
    *count += 1;
    let failures = tally.wrong + tally.refused;
    let got = answer.text.unwrap_or_else(|reason| reason);
    if got != edit.new && failures <= 20 {
        keep(
            &format!("replay-{}-{failures}", format.name()),
            edit,
            &text,
            &got,
        );
    }
}

fn encoded(format: EditFormat, edit: &Edit) -> Option<String> {
    let is_sayable = match format {
        // A line feed represents the line ending of the file, so an edit in this format cannot
        // change line endings.
        EditFormat::Whole | EditFormat::UnifiedDiff => edit.keeps_endings(),
        EditFormat::SearchReplace | EditFormat::ApplyPatch | EditFormat::Anchors => {
            edit.is_of_lines()
        }
    };
    if !is_sayable {
        return None;
    }
    Some(match format {
        EditFormat::SearchReplace => encode::search_replace(&edit.path, &edit.blocks(3))?,
        EditFormat::ApplyPatch => encode::apply_patch(&edit.path, &edit.blocks(3)),
        EditFormat::UnifiedDiff => encode::unified(edit, &edit.blocks(3)),
        EditFormat::Whole => encode::whole(edit),
        EditFormat::Anchors => encode::anchors(edit, ours::hashes(&edit.old)),
    })
}
