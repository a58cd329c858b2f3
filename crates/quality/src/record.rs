//! Rows of the ledger about quality. Each kind has a version and a key.
//!
//! A row says what happened and contains no text of the user. Rows are appended, never changed; a reader accepts all
//! versions up to its own, so later fields have defaults. The key of a row is unique within its kind: a row that is
//! written again, because the same history was read again, is dropped.

use std::collections::HashSet;

use retention::{Fate, Measurement, Milestone, Remainder, UnitStart, WriterKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the rows that this program writes. It grows when the meaning of a field changes.
const VERSION: u32 = 1;

/// A row about quality.
#[derive(Clone, Debug, PartialEq)]
pub enum QualityRecord {
    /// A change that a writer made.
    Unit(UnitRecord),
    /// The rest of a change at one moment.
    Kept(KeptRecord),
    /// A series of calls whose level changed.
    Alarm(AlarmRecord),
    /// A session, turn or task that takes part in an experiment.
    Exposure(ExposureRecord),
    /// A task that was tried under one arm of an experiment.
    Trial(TrialRecord),
    /// A turn that was judged by the user's next message.
    Judgement(JudgementRecord),
}

/// Chooses the rows that say something, when rows are read in the reverse order of their appending: a measurement at a
/// fixed time contains all losses before it, so that only the last one of a change is needed.
#[derive(Debug, Default)]
pub struct LatestRows {
    /// The changes of which a measurement at a fixed time was seen.
    measured: HashSet<String>,
}

impl LatestRows {
    /// Returns whether a row of this kind and key is needed.
    pub fn is_wanted(&mut self, kind: &str, key: &str) -> bool {
        let Some((unit, milestone)) = key.rsplit_once(' ').filter(|_| kind == "kept") else {
            return true;
        };
        let is_of_text = [Milestone::Commit, Milestone::Landing]
            .iter()
            .any(|it| milestone_name(*it) == milestone);
        if is_of_text {
            return true;
        }
        if self.measured.contains(unit) {
            return false;
        }
        self.measured.insert(unit.to_owned())
    }
}

/// Reason why a row cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A newer program wrote it.
    #[error("row of kind {kind} has version {version}, and this program reads up to {VERSION}")]
    Newer {
        /// The kind of the row.
        kind: String,
        /// Its version.
        version: u32,
    },
    /// No kind has this name.
    #[error("there is no kind {0} of rows")]
    UnknownKind(String),
    /// The body does not fit its kind.
    #[error("cannot read a row of kind {kind}: {source}")]
    Invalid {
        /// The kind of the row.
        kind: String,
        /// The reason.
        source: serde_json::Error,
    },
}

/// A change that a writer made in one document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitRecord {
    /// Id of the unit, unique among all.
    pub unit: String,
    /// Path of the file in its working tree.
    pub path: String,
    /// `agent`, `tab`, `formatter` or `person`.
    pub writer: String,
    /// The session of an agent; empty for other writers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The turn of the session; 0 for other writers.
    #[serde(default)]
    pub turn: u64,
    /// Id of the tool call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// Name of the tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Time of the change, in milliseconds since 1970.
    pub at_ms: u64,
    /// Number of inserted tokens.
    pub inserted: u32,
    /// Number of removed tokens.
    pub removed: u32,
    /// Number of rows with inserted tokens.
    pub rows: u32,
}

/// The rest of a change at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRecord {
    /// Id of the unit.
    pub unit: String,
    /// The moment, such as `10m` or `commit`.
    pub milestone: String,
    /// Time since the change, in milliseconds.
    pub after_ms: u64,
    /// The inserted tokens.
    pub inserted: SideRecord,
    /// The removed tokens.
    pub removed: SideRecord,
}

/// The inserted or the removed tokens of a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideRecord {
    /// Number of tokens.
    pub tokens: u32,
    /// Number of kept tokens.
    pub kept: u32,
    /// Number of kept tokens that were moved.
    #[serde(default)]
    pub moved: u32,
    /// The tokens that are not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossRecord>,
}

/// Tokens that were lost at the same time for the same reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossRecord {
    /// Time since the change, in milliseconds.
    pub after_ms: u64,
    /// The reason, such as `reworked_by_person`.
    pub fate: String,
    /// Number of tokens.
    pub tokens: u32,
}

/// A series of calls of one tool by one model whose level changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlarmRecord {
    /// The tool's own name.
    pub tool: String,
    /// The model that made the calls.
    pub model: String,
    /// The outcome that accumulates, or `slower` or `faster`.
    pub class: String,
    /// Time of the call that raised the alarm, in milliseconds since 1970.
    pub at_ms: u64,
    /// Time of the call with which the change began.
    pub since_ms: u64,
    /// The evidence, and the bound that it exceeds.
    pub sum: f64,
    /// The bound.
    pub bound: f64,
    /// The usual share of failures, or the usual duration in milliseconds.
    pub usual: f64,
    /// The share of failures since the beginning, or the median duration.
    pub now: f64,
    /// Number of calls since the beginning.
    pub calls: u64,
    /// Calls that show it, at most three.
    pub examples: Vec<AlarmExample>,
}

/// A call that shows an alarm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlarmExample {
    /// The session.
    pub session: String,
    /// Id of the call.
    pub call: String,
    /// Time of the call, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A session, turn or task that takes part in an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExposureRecord {
    /// Id of the experiment.
    pub experiment: String,
    /// Id of the session, turn or task.
    pub subject: String,
    /// Name of its variant.
    pub variant: String,
    /// Time of the assignment, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A task that was tried under one variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Id of the experiment.
    pub experiment: String,
    /// Name of the task.
    pub task: String,
    /// Name of the variant.
    pub variant: String,
    /// Number of the attempt at the task, from 1. Attempts with the same number are compared.
    pub attempt: u32,
    /// The reward; larger is better.
    pub reward: f64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Number of tokens that the models read and wrote.
    pub tokens: u64,
    /// Billionths of a US dollar; `None` if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nano: Option<u64>,
    /// Time of the end, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A turn that was judged by the user's next message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgementRecord {
    /// The session.
    pub session: String,
    /// The turn.
    pub turn: u64,
    /// The sign from which the judgement follows, such as `praised`; empty if it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sign: String,
    /// Time of the message, in milliseconds since 1970.
    pub at_ms: u64,
}

impl QualityRecord {
    /// Returns the kind of the row.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unit(_) => "unit",
            Self::Kept(_) => "kept",
            Self::Alarm(_) => "alarm",
            Self::Exposure(_) => "exposure",
            Self::Trial(_) => "trial",
            Self::Judgement(_) => "judgement",
        }
    }

    /// Returns the version of the row's body.
    pub fn version(&self) -> u32 {
        VERSION
    }

    /// Returns the key of the row, which is unique within its kind.
    pub fn key(&self) -> String {
        match self {
            Self::Unit(it) => it.unit.clone(),
            Self::Kept(it) => format!("{} {}", it.unit, it.milestone),
            Self::Alarm(it) => format!("{} {} {} {}", it.tool, it.model, it.class, it.since_ms),
            Self::Exposure(it) => format!("{} {}", it.experiment, it.subject),
            Self::Trial(it) => format!(
                "{} {} {} {}",
                it.experiment, it.task, it.variant, it.attempt
            ),
            Self::Judgement(it) => format!("{} {}", it.session, it.turn),
        }
    }

    /// Returns the body of the row as JSON.
    pub fn body(&self) -> String {
        let body = match self {
            Self::Unit(it) => serde_json::to_string(it),
            Self::Kept(it) => serde_json::to_string(it),
            Self::Alarm(it) => serde_json::to_string(it),
            Self::Exposure(it) => serde_json::to_string(it),
            Self::Trial(it) => serde_json::to_string(it),
            Self::Judgement(it) => serde_json::to_string(it),
        };
        // Plain data with text keys can always be written.
        body.unwrap_or_default()
    }

    /// Reads a row.
    ///
    /// # Errors
    ///
    /// Fails if a newer program wrote the row, or if its body does not fit its kind.
    pub fn read(kind: &str, version: u32, body: &str) -> Result<Self, RecordError> {
        if version > VERSION {
            let kind = kind.to_owned();
            return Err(RecordError::Newer { kind, version });
        }
        match kind {
            "unit" => parsed(kind, body).map(Self::Unit),
            "kept" => parsed(kind, body).map(Self::Kept),
            "alarm" => parsed(kind, body).map(Self::Alarm),
            "exposure" => parsed(kind, body).map(Self::Exposure),
            "trial" => parsed(kind, body).map(Self::Trial),
            "judgement" => parsed(kind, body).map(Self::Judgement),
            _ => Err(RecordError::UnknownKind(kind.to_owned())),
        }
    }
}

fn parsed<T: DeserializeOwned>(kind: &str, body: &str) -> Result<T, RecordError> {
    serde_json::from_str(body).map_err(|source| RecordError::Invalid {
        kind: kind.to_owned(),
        source,
    })
}

impl UnitRecord {
    /// Returns the row of a new unit, under an id that is unique among all.
    pub fn of(start: &UnitStart, unit: String) -> Self {
        let call = start.writer.call.as_deref().cloned().unwrap_or_default();
        Self {
            unit,
            path: start.document.clone(),
            writer: writer_name(start.writer.kind).to_owned(),
            session: call.session,
            turn: call.turn,
            call: call.call,
            tool: call.tool,
            at_ms: start.at_ms,
            inserted: start.inserted,
            removed: start.removed,
            rows: start.rows,
        }
    }
}

impl KeptRecord {
    /// Returns the row of a measurement of the unit with this id.
    pub fn of(measured: &Measurement, unit: String) -> Self {
        Self {
            unit,
            milestone: milestone_name(measured.milestone).to_owned(),
            after_ms: measured.after_ms,
            inserted: SideRecord::of(&measured.inserted),
            removed: SideRecord::of(&measured.removed),
        }
    }
}

impl SideRecord {
    fn of(left: &Remainder) -> Self {
        let losses = left.losses.iter().map(|loss| LossRecord {
            after_ms: loss.after_ms,
            fate: fate_name(loss.fate).to_owned(),
            tokens: loss.tokens,
        });
        Self {
            tokens: left.tokens,
            kept: left.kept,
            moved: left.moved,
            losses: losses.collect(),
        }
    }
}

fn writer_name(writer: WriterKind) -> &'static str {
    match writer {
        WriterKind::Agent => "agent",
        WriterKind::Tab => "tab",
        WriterKind::Formatter => "formatter",
        WriterKind::Person => "person",
        WriterKind::Undo => "undo",
        WriterKind::Git => "git",
        WriterKind::Unknown => "unknown",
    }
}

/// Returns the name of a moment.
pub(crate) fn milestone_name(milestone: Milestone) -> &'static str {
    match milestone {
        Milestone::HalfMinute => "30s",
        Milestone::TwoMinutes => "2m",
        Milestone::TenMinutes => "10m",
        Milestone::Hour => "1h",
        Milestone::Day => "24h",
        Milestone::Commit => "commit",
        Milestone::Landing => "landing",
        Milestone::Closed => "closed",
    }
}

/// Returns the name of a reason.
pub(crate) fn fate_name(fate: Fate) -> &'static str {
    match fate {
        Fate::ReworkedByPerson => "reworked_by_person",
        Fate::ReworkedByAgent => "reworked_by_agent",
        Fate::Reformatted => "reformatted",
        Fate::Reverted => "reverted",
        Fate::CheckedOut => "checked_out",
        Fate::ChangedByOthers => "changed_by_others",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<QualityRecord> {
        vec![
            QualityRecord::Unit(UnitRecord {
                unit: "u1".to_owned(),
                writer: "agent".to_owned(),
                ..UnitRecord::default()
            }),
            QualityRecord::Kept(KeptRecord {
                unit: "u1".to_owned(),
                milestone: "10m".to_owned(),
                inserted: SideRecord {
                    tokens: 3,
                    kept: 2,
                    moved: 0,
                    losses: vec![LossRecord::default()],
                },
                ..KeptRecord::default()
            }),
            QualityRecord::Alarm(AlarmRecord {
                examples: vec![AlarmExample::default()],
                ..AlarmRecord::default()
            }),
            QualityRecord::Exposure(ExposureRecord::default()),
            QualityRecord::Trial(TrialRecord {
                cost_nano: Some(7),
                ..TrialRecord::default()
            }),
            QualityRecord::Judgement(JudgementRecord {
                sign: "praised".to_owned(),
                ..JudgementRecord::default()
            }),
        ]
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        for record in records() {
            let read = QualityRecord::read(record.kind(), record.version(), &record.body());
            assert_eq!(read.expect("a row"), record);
        }
    }

    #[test]
    fn newer_unknown_and_broken_rows_are_refused() {
        let read = |kind: &str, version: u32, body: &str| {
            QualityRecord::read(kind, version, body)
                .expect_err("refused")
                .to_string()
        };
        assert_eq!(
            read("unit", 2, "{}"),
            "row of kind unit has version 2, and this program reads up to 1"
        );
        assert_eq!(read("units", 1, "{}"), "there is no kind units of rows");
        assert!(read("unit", 1, "{}").starts_with("cannot read a row of kind unit: missing field"));
    }

    /// The first version of each row, as programs have stored it.
    #[test]
    fn stored_rows_of_version_one_are_read() {
        let unit = r#"{"unit":"t/1","path":"a.rs","writer":"tab","turn":0,"tool":"tab","at_ms":5,"inserted":2,"removed":0,"rows":1}"#;
        let kept = r#"{"unit":"t/1","milestone":"24h","after_ms":86400000,"inserted":{"tokens":2,"kept":1,"moved":0,"losses":[{"after_ms":9,"fate":"reverted","tokens":1}]},"removed":{"tokens":0,"kept":0,"moved":0}}"#;
        let alarm = r#"{"tool":"edit","model":"a/b","class":"timeout","at_ms":9,"since_ms":5,"sum":3.2,"bound":3.0,"usual":0.02,"now":0.5,"calls":4,"examples":[{"session":"s","call":"c","at_ms":9}]}"#;
        let exposure = r#"{"experiment":"e","subject":"s","variant":"v","at_ms":1}"#;
        let trial = r#"{"experiment":"e","task":"t","variant":"v","attempt":1,"reward":1.0,"seconds":2.5,"tokens":10,"at_ms":1}"#;
        let judgement = r#"{"session":"s","turn":2,"sign":"objected","at_ms":1}"#;
        for (kind, body) in [
            ("unit", unit),
            ("kept", kept),
            ("alarm", alarm),
            ("exposure", exposure),
            ("trial", trial),
            ("judgement", judgement),
        ] {
            let read = QualityRecord::read(kind, 1, body).expect("a row of version 1");
            assert_eq!(read.body(), body);
        }
    }

    #[test]
    fn only_the_last_measurement_of_a_change_is_read() {
        let mut latest = LatestRows::default();
        let newest_first = [
            "u 1h",
            "v closed",
            "u commit",
            "u 10m",
            "v 30s",
            "u landing",
        ];
        let wanted = newest_first.map(|key| latest.is_wanted("kept", key));
        assert_eq!(wanted, [true, true, true, false, false, true]);
        assert!(latest.is_wanted("unit", "u") && latest.is_wanted("exposure", "u s"));
    }

    #[test]
    fn keys_tell_rows_of_a_kind_apart() {
        let kept = |milestone: &str| {
            let milestone = milestone.to_owned();
            QualityRecord::Kept(KeptRecord {
                milestone,
                ..KeptRecord::default()
            })
        };
        assert_ne!(kept("1h").key(), kept("24h").key());
        let keys: Vec<String> = records().iter().map(QualityRecord::key).collect();
        assert_eq!(keys[0], "u1");
        assert_eq!(keys[1], "u1 10m");
    }
}
