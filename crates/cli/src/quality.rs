//! The report on quality: what is kept, outcomes of calls with alarms, satisfaction, experiments.

use std::process::ExitCode;

use agent_service::{
    AlarmRecord, ExperimentLine, KeptLine, OutcomeLine, QualityReport, SatisfactionLine,
};
use clap::Args;
use host::{Clock, Dirs, RealClock};
use runtime::quality_records;

use crate::{Streams, error_text, print_notice, sessions, write_error};

/// Show what is kept of agents' and Tab's texts, alarms about tools, satisfaction, and experiments
///
/// docs/quality.md explains every figure. An unknown figure is shown as `?`.
#[derive(Args)]
pub(crate) struct QualityCommand {
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Number of days to look back
    #[arg(long, default_value_t = 30)]
    days: u64,
}

/// A part of the report that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportPart {
    /// The shares of text that are kept.
    Kept,
    /// The alarms about tools.
    Alarms,
    /// The judgements of turns.
    Satisfaction,
    /// The experiments.
    Experiments,
}

impl QualityCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a sentence that the caller
    /// prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let parts = [
            ReportPart::Kept,
            ReportPart::Alarms,
            ReportPart::Satisfaction,
            ReportPart::Experiments,
        ];
        let report = read(dirs, streams, self.days)?;
        print(&report, &parts, self.json, streams)
    }
}

/// Prints these parts of a report as text, or the whole report as JSON.
pub(crate) fn print(
    report: &QualityReport,
    parts: &[ReportPart],
    is_json: bool,
    streams: &mut Streams<'_>,
) -> Result<ExitCode, String> {
    let text = if is_json {
        format!("{}\n", serde_json::to_string(report).map_err(error_text)?)
    } else {
        text(report, parts)
    };
    streams
        .output
        .write_all(text.as_bytes())
        .map_err(write_error)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the report of some days, and prints problems of the experiments.
pub(crate) fn read(
    dirs: &Dirs,
    streams: &mut Streams<'_>,
    days: u64,
) -> Result<QualityReport, String> {
    let store = sessions::open(dirs, streams)?;
    let (experiments, problems) = quality_records::experiments(dirs);
    for problem in problems {
        print_notice(streams, &problem);
    }
    let now_ms = RealClock::default().wall_ms();
    store
        .quality_report(&experiments, now_ms, days)
        .map_err(error_text)
}

fn text(report: &QualityReport, parts: &[ReportPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        ReportPart::Kept => kept_text(&report.kept),
        ReportPart::Alarms => alarm_text(&report.alarms, &report.outcomes),
        ReportPart::Satisfaction => satisfaction_text(&report.satisfaction),
        ReportPart::Experiments => experiment_text(&report.experiments),
    });
    let mut text: String = texts.collect();
    if report.unreadable > 0 {
        let count = base::count_of(report.unreadable, "row");
        text += &format!("{count} cannot be read; a newer program may have written them\n");
    }
    text
}

fn kept_text(lines: &[KeptLine]) -> String {
    if lines.is_empty() {
        return "kept text: nothing was measured yet\n".to_owned();
    }
    let mut text = "kept text, by tokens\n".to_owned();
    for line in lines {
        let kept = line.kept.iter();
        let kept = kept.map(|(moment, share)| format!("{moment} {}", percent(*share)));
        let kept: Vec<String> = kept.collect();
        let interval = line
            .interval
            .map(|(low, high)| format!(" ({}\u{2013}{})", percent(Some(low)), percent(Some(high))));
        text += &format!(
            "{}: {} of {} tokens; {}{}; in commits {}, landed {}\n",
            line.name,
            base::count_of(usize::try_from(line.units).unwrap_or(usize::MAX), "change"),
            line.tokens,
            kept.join(", "),
            interval.unwrap_or_default(),
            percent(line.at_commit),
            percent(line.at_landing),
        );
        let lost = line.lost.iter();
        let lost = lost
            .map(|(fate, share)| format!("{} {}", fate.replace('_', " "), percent(Some(*share))));
        let lost: Vec<String> = lost.collect();
        if !lost.is_empty() {
            text += &format!("  lost: {}\n", lost.join(", "));
        }
        if line.calls > 0 {
            text += &format!(
                "  beside it: {} edits, {} tokens and {} questions a turn; {} of {} calls failed; {} tokens written \
                 for a kept row\n",
                number(line.edits_per_turn),
                number(line.tokens_per_turn),
                number(line.questions_per_turn),
                percent(line.error_share),
                line.calls,
                number(line.output_per_kept_row),
            );
        }
        text += &format!("  {}\n", line.change);
    }
    text
}

fn alarm_text(alarms: &[AlarmRecord], outcomes: &[OutcomeLine]) -> String {
    let calls: u64 = outcomes.iter().map(|line| line.calls).sum();
    if alarms.is_empty() {
        return format!("alarms: none in {calls} calls of tools\n");
    }
    let mut text = format!("alarms in {calls} calls of tools\n");
    for alarm in alarms {
        text += &format!(
            "! {} by {}, {}, since {}: {}; evidence {:.1} of {:.1}\n",
            alarm.tool,
            alarm.model,
            agent::context::date(alarm.at_ms),
            agent::context::date(alarm.since_ms),
            alarm.sentence(),
            alarm.sum,
            alarm.bound,
        );
        for example in &alarm.examples {
            text += &format!("  call {} of session {}\n", example.call, example.session);
        }
    }
    text
}

fn satisfaction_text(line: &SatisfactionLine) -> String {
    format!(
        "satisfaction: {} of known turns; {} satisfied, {} dissatisfied, {} unknown\n",
        percent(line.share),
        line.satisfied,
        line.dissatisfied,
        line.unknown
    )
}

fn experiment_text(lines: &[ExperimentLine]) -> String {
    if lines.is_empty() {
        return "experiments: none in experiments.json\n".to_owned();
    }
    let mut text = "experiments\n".to_owned();
    for line in lines {
        text += &format!("{}: {}\n", line.id, line.sentence);
        if let Some((usual, tried)) = line.sessions {
            let interval = line
                .interval
                .map(|(low, high)| format!(" ({low:.3} to {high:.3})"));
            text += &format!(
                "  {usual} and {tried} sessions; difference {}{}\n",
                line.difference
                    .map_or("?".to_owned(), |it| format!("{it:.3}")),
                interval.unwrap_or_default(),
            );
        }
        for explored in &line.explored {
            let (name, ratio) = (&explored.name, explored.ratio);
            let interval = explored
                .interval
                .map(|(low, high)| format!(" ({low:.2} to {high:.2})"));
            text += &format!(
                "  {name}: {ratio:.2} times{}, which decides nothing\n",
                interval.unwrap_or_default()
            );
        }
    }
    text
}

fn percent(share: Option<f64>) -> String {
    share.map_or("?".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn number(value: Option<f64>) -> String {
    value.map_or("?".to_owned(), |value| format!("{value:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_figures_are_question_marks() {
        let line = KeptLine {
            name: "a/b".to_owned(),
            units: 1,
            tokens: 9,
            kept: vec![("30s".to_owned(), Some(0.5)), ("24h".to_owned(), None)],
            change: "nothing to compare".to_owned(),
            ..KeptLine::default()
        };
        let expected = "kept text, by tokens\na/b: 1 change of 9 tokens; 30s 50.0 %, 24h ?; in commits ?, landed ?\n  \
                        nothing to compare\n";
        assert_eq!(kept_text(&[line]), expected);
        let nothing = satisfaction_text(&SatisfactionLine::default());
        assert!(
            nothing.starts_with("satisfaction: ? of known turns"),
            "{nothing}"
        );
    }

    #[test]
    fn alarms_name_their_calls() {
        let alarm = AlarmRecord {
            tool: "edit".to_owned(),
            model: "a/b".to_owned(),
            class: "timeout".to_owned(),
            sum: 3.5,
            bound: 3.0,
            calls: 4,
            now: 0.5,
            usual: 0.02,
            examples: vec![agent_service::AlarmExample {
                session: "s".to_owned(),
                call: "c".to_owned(),
                at_ms: 1,
            }],
            ..AlarmRecord::default()
        };
        let text = alarm_text(&[alarm], &[]);
        assert!(
            text.contains("! edit by a/b, 1970-01-01, since 1970-01-01: timeout: "),
            "{text}"
        );
        assert!(text.ends_with("  call c of session s\n"), "{text}");
    }
}
