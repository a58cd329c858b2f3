//! Describes the result of a set of edits for the model, so that it can correct the failed ones.
//!
//! Start at `for_model`.

use std::fmt::Write;

use base::count_of;

use crate::outcome::{HunkOutcome, HunkRefusal, HunkReport, NearMatch};
use crate::set::{EditReport, SetPlan};

/// Returns the message to the model: each failed hunk with the reason, the lines it may have meant
/// and whether its text is already present; then the applied hunks and the next step.
pub fn for_model(plan: &SetPlan) -> String {
    let hunks = || {
        plan.edits
            .iter()
            .flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)))
    };
    let failed = hunks()
        .filter(|(_, hunk)| !hunk.outcome.is_applied())
        .count();
    let landed = hunks().count() - failed;
    let is_applied = failed == 0 || !plan.files.is_empty();
    let mut text = String::new();
    if failed > 0 {
        text = if is_applied {
            format!(
                "{failed} of {} could not be applied.\n",
                count_of(failed + landed, "hunk")
            )
        } else {
            format!(
                "Nothing was changed: {failed} of {} could not be applied.\n",
                count_of(failed + landed, "hunk")
            )
        };
    }
    for (edit, hunk) in hunks().filter(|(_, hunk)| !hunk.outcome.is_applied()) {
        push_failure(&mut text, edit, hunk);
    }
    push_landed(&mut text, plan, is_applied);
    if failed > 0 && landed > 0 {
        text.push_str(if is_applied {
            "Send only the failed hunks again; the others are in the files now.\n"
        } else {
            "Send all hunks again, the failed ones corrected.\n"
        });
    }
    text
}

/// Describes a refusal, or the differences despite which a hunk was applied, in a sentence. Returns
/// `None` for a hunk that applied exactly.
pub fn reason(hunk: &HunkReport) -> Option<String> {
    if let Some(refusal) = &hunk.refusal {
        return Some(refusal.to_string());
    }
    if hunk.differences.is_empty() {
        return None;
    }
    let differences: Vec<String> = hunk.differences.iter().map(ToString::to_string).collect();
    Some(format!(
        "matched although these differ: {}",
        differences.join(", ")
    ))
}

fn name(edit: &EditReport, hunk: &HunkReport) -> String {
    match edit.hunks.len() {
        1 => edit.path.clone(),
        _ => format!("{}, hunk {}", edit.path, hunk.hunk + 1),
    }
}

fn push_failure(text: &mut String, edit: &EditReport, hunk: &HunkReport) {
    let why = reason(hunk).unwrap_or_default();
    push(text, format_args!("\n{}: {why}.\n", name(edit, hunk)));
    if let Some(row) = hunk.already_at {
        push(
            text,
            format_args!(
                "The new text is already in the file, from line {}. Is this change still needed?\n",
                row.0 + 1
            ),
        );
    }
    let is_several = matches!(hunk.refusal, Some(HunkRefusal::Several { .. }));
    for (ix, place) in hunk.nearest.iter().enumerate() {
        let intro = match (is_several, &hunk.refusal, ix) {
            (true, _, _) => "It occurs at",
            (_, Some(HunkRefusal::AnchorMoved { .. }), _) => "The lines are now, from",
            (_, _, 0) => "Did you mean these lines, from",
            _ => "Or these, from",
        };
        push(text, format_args!("{intro} line {}:\n", place.row.0 + 1));
        push_quoted(text, place);
    }
}

/// Appends lines in a fence longer than any fence within.
fn push_quoted(text: &mut String, place: &NearMatch) {
    let longest = place.text.lines().map(|line| {
        line.trim_start()
            .chars()
            .take_while(|sign| *sign == '`')
            .count()
    });
    let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
    push(text, format_args!("{fence}\n{}\n{fence}\n", place.text));
}

fn push_landed(text: &mut String, plan: &SetPlan, is_applied: bool) {
    for edit in &plan.edits {
        for hunk in edit.hunks.iter().filter(|hunk| hunk.outcome.is_applied()) {
            let at = match hunk.line_number() {
                Some(line) if edit.hunks.len() > 1 || hunk.outcome == HunkOutcome::Explained => {
                    format!(" at line {line}")
                }
                _ => String::new(),
            };
            let done = if is_applied {
                format!("applied{at}")
            } else {
                format!("fits{at}, but was not applied")
            };
            let why = reason(hunk)
                .map(|why| format!("; {why}"))
                .unwrap_or_default();
            push(text, format_args!("{}: {done}{why}.\n", name(edit, hunk)));
            if let Some(place) = hunk.now.as_ref().filter(|_| is_applied) {
                push(
                    text,
                    format_args!("It now reads, from line {}:\n", place.row.0 + 1),
                );
                push_quoted(text, place);
            }
        }
    }
}

fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    if text.write_fmt(what).is_err() {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests;
