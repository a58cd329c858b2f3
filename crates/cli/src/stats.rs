//! The ends of tool calls, the usage and the cost of models, from the ledger.

use std::process::ExitCode;

use agent::spending::{SpendLine, Spending};
use agent::stats::{self, TOKENS, TokenStats};
use agent_service::{AlertLine, OutcomeLine};
use clap::Args;
use host::{Clock, Dirs, RealClock};
use model::Cost;
use serde_json::json;

use crate::quality::{self, ReportPart};
use crate::{Streams, error_text, sessions, write_error};

/// Show results of tool calls, anomalies, the usage and the cost of models
#[derive(Args)]
pub(crate) struct StatsCommand {
    /// Print an object {calls, alerts, tokens, spending}
    #[arg(long)]
    json: bool,
    /// Number of days to look back
    #[arg(long, default_value_t = 30)]
    days: u64,
    /// Show what is kept of agents' and Tab's texts instead
    #[arg(long)]
    keep: bool,
    /// Show the alarms about tools instead
    #[arg(long)]
    alarms: bool,
    /// Show the experiments instead
    #[arg(long)]
    experiments: bool,
}

impl StatsCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let report = quality::read(dirs, streams, self.days)?;
        let parts = self.parts();
        if !parts.is_empty() {
            return quality::print(&report, &parts, self.json, streams);
        }
        let (lines, alerts) = (report.outcomes, report.alerts);
        let store = sessions::open(dirs, streams)?;
        let now_ms = RealClock::default().wall_ms();
        let since_ms = now_ms.saturating_sub(self.days.saturating_mul(86_400_000));
        let tokens = stats::tokens(&store.metrics(TOKENS, since_ms).map_err(error_text)?);
        let tokens: Vec<(String, TokenStats)> = tokens.into_iter().collect();
        let spending = Spending::read(&store, now_ms, self.days).map_err(error_text)?;
        let text = if self.json {
            json_text(&lines, &alerts, &tokens, &spending)
        } else {
            let text = text(&lines, &alerts, &tokens);
            text + &spending_text(&spending, self.days)
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the parts of the report on quality that the user wants instead.
    fn parts(&self) -> Vec<ReportPart> {
        let parts = [
            (self.keep, ReportPart::Kept),
            (self.alarms, ReportPart::Alarms),
            (self.experiments, ReportPart::Experiments),
        ];
        let wanted = parts.into_iter().filter(|(is_wanted, _)| *is_wanted);
        wanted.map(|(_, part)| part).collect()
    }
}

fn json_text(
    lines: &[OutcomeLine],
    alerts: &[AlertLine],
    tokens: &[(String, TokenStats)],
    spending: &Spending,
) -> String {
    let calls: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "tool": line.tool, "model": line.model, "calls": line.calls, "outcomes": line.outcomes,
                "median_ms": line.median_ms, "p95_ms": line.p95_ms, "baselines": line.usual,
            })
        })
        .collect();
    let alerts: Vec<_> = alerts
        .iter()
        .map(|alert| {
            json!({
                "tool": alert.tool, "model": alert.model, "outcome": alert.outcome, "sentence": alert.sentence,
            })
        })
        .collect();
    let tokens: Vec<_> = tokens
        .iter()
        .map(|(model, line)| {
            json!({
                "model": model, "answers": line.answers, "prompt": line.prompt, "cache_read": line.cache_read,
                "output": line.output,
            })
        })
        .collect();
    format!(
        "{}\n",
        json!({ "calls": calls, "alerts": alerts, "tokens": tokens, "spending": spending_json(spending) })
    )
}

fn text(lines: &[OutcomeLine], alerts: &[AlertLine], tokens: &[(String, TokenStats)]) -> String {
    if lines.is_empty() && tokens.is_empty() {
        return "nothing was measured yet; `burin-agent run` does\n".to_owned();
    }
    let mut text = String::new();
    for line in lines {
        let outcomes: Vec<String> = line
            .outcomes
            .iter()
            .map(|(outcome, count)| {
                let usual = line.usual.get(outcome);
                let usual = usual.map(|rate| format!(" (usual {:.1} %)", rate * 100.0));
                format!("{outcome} {count}{}", usual.unwrap_or_default())
            })
            .collect();
        text.push_str(&format!(
            "{}  {}: {} calls, {:.0} ms median, {:.0} ms at most for 95 %; {}\n",
            line.tool,
            line.model,
            line.calls,
            line.median_ms,
            line.p95_ms,
            outcomes.join(", ")
        ));
    }
    for (model, line) in tokens {
        let share = line.cache_read as f64 / line.prompt.max(1) as f64 * 100.0;
        text.push_str(&format!(
            "{model}: {} answers, {} tokens read, {share:.1} % of them from a cache, {} written\n",
            line.answers, line.prompt, line.output
        ));
    }
    for alert in alerts {
        text.push_str(&format!(
            "! {} by {} ends in {}: {}\n",
            alert.tool, alert.model, alert.outcome, alert.sentence
        ));
    }
    text
}

fn spending_json(spending: &Spending) -> serde_json::Value {
    let line = |line: &SpendLine| {
        json!({
            "name": line.name, "cost_nano": line.cost_nano, "has_unknown_cost": line.has_unknown_cost,
            "tokens": line.tokens, "predicted_accepted": line.predicted.0, "predicted_rejected": line.predicted.1,
        })
    };
    let lines = |lines: &[SpendLine]| lines.iter().map(line).collect::<Vec<_>>();
    let notice = |notice: &agent::spending::SpendNotice| json!({ "at_ms": notice.at_ms, "scope": notice.scope, "percent": notice.percent });
    json!({
        "total": line(&spending.total),
        "days": lines(&spending.days),
        "models": lines(&spending.models),
        "agents": lines(&spending.agents),
        "purposes": lines(&spending.purposes),
        "budget_notices": spending.notices.iter().map(notice).collect::<Vec<_>>(),
    })
}

/// Prints the cost of models; empty if there were no calls.
fn spending_text(spending: &Spending, days: u64) -> String {
    if spending.days.is_empty() {
        return String::new();
    }
    let cost = |line: &SpendLine| {
        let and_more = if line.has_unknown_cost {
            " and calls of unknown price"
        } else {
            ""
        };
        format!("{}{and_more}", Cost(line.cost_nano))
    };
    let mut text = format!("cost of models in {days} days: {}\n", cost(&spending.total));
    if let Some(predicted) = spending.total.predicted_text() {
        text.push_str(&format!("predicted outputs: {predicted}\n"));
    }
    for (title, lines) in [
        ("by day (UTC)", &spending.days),
        ("by model", &spending.models),
        ("by agent, with its subagents", &spending.agents),
        ("by purpose", &spending.purposes),
    ] {
        if !lines.is_empty() {
            text.push_str(&format!("{title}:\n"));
        }
        for line in lines {
            let name = line.name.split_whitespace().collect::<Vec<_>>().join(" ");
            text.push_str(&format!("  {name}  {}\n", cost(line)));
        }
    }
    for notice in &spending.notices {
        let day = agent::context::date(notice.at_ms);
        text.push_str(&format!("! {day}: {}\n", notice.sentence()));
    }
    text
}
