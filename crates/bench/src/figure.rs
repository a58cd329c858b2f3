//! One measured figure, as a line and as JSON.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::interleave::Pairs;

/// A measured figure, with a peer's figure to compare with if there is one.
pub(crate) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    peer: Option<Peer>,
    n: usize,
    goal: Option<f64>,
    /// Minimum that the value should reach, if more is better.
    least: Option<f64>,
    /// Standard error, if the value is the mean of a sample.
    error: Option<f64>,
    /// Value of an earlier state of the program.
    before: Option<f64>,
    /// Whether the value should be at least `before`.
    keeps: bool,
}

struct Peer {
    name: String,
    value: f64,
    /// Median ratio of Burin to the peer over the pairs, and the bounds of its 95 % bootstrap
    /// interval.
    ratio: f64,
    low: f64,
    high: f64,
}

impl Figure {
    /// Creates a figure without a peer; `goal` is the maximum, in `unit`.
    pub(crate) fn alone(
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        n: usize,
        goal: Option<f64>,
    ) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            peer: None,
            n,
            goal,
            least: None,
            error: None,
            before: None,
            keeps: false,
        }
    }

    /// Creates a figure from the mean of a sample of `n` and its standard error; `least` is the
    /// minimum that it should reach.
    pub(crate) fn mean(
        name: impl Into<String>,
        (value, error): (f64, f64),
        n: usize,
        least: Option<f64>,
    ) -> Self {
        Self {
            least,
            error: Some(error),
            ..Self::alone(name, value, "", n, None)
        }
    }

    /// Sets the minimum that the value should reach, for rates and factors where more is better.
    pub(crate) fn at_least(self, least: f64) -> Self {
        Self {
            least: Some(least),
            ..self
        }
    }

    /// Requires at least the value of an earlier state of the program, for rates where more is better.
    pub(crate) fn no_less_than_before(self) -> Self {
        Self {
            keeps: true,
            ..self
        }
    }

    /// Adds the conditions of the measurement to the name.
    pub(crate) fn under(mut self, what: &str) -> Self {
        self.name = format!("{}, {what}", self.name);
        self
    }

    /// Creates a figure from interleaved measurements of Burin and a peer; `goal` is the maximum
    /// ratio.
    pub(crate) fn against(
        name: impl Into<String>,
        peer: impl Into<String>,
        pairs: &Pairs,
        unit: &'static str,
        goal: Option<f64>,
    ) -> Self {
        let (ratio, low, high) = pairs.ratio();
        Self {
            name: name.into(),
            value: pairs.ours(),
            unit,
            peer: Some(Peer {
                name: peer.into(),
                value: pairs.peers(),
                ratio,
                low,
                high,
            }),
            n: pairs.len(),
            goal,
            least: None,
            error: None,
            before: None,
            keeps: false,
        }
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "peer": self.peer.as_ref().map(|peer| &peer.name),
            "peer_value": self.peer.as_ref().map(|peer| peer.value),
            "ratio": self.peer.as_ref().map(|peer| peer.ratio),
            "ratio_low": self.peer.as_ref().map(|peer| peer.low),
            "ratio_high": self.peer.as_ref().map(|peer| peer.high),
            "n": self.n,
            "goal": self.goal,
            "least": self.least,
            "standard_error": self.error,
            "before": self.before,
        })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<44} {:>10.3} {}", self.name, self.value, self.unit)?;
        if let Some(error) = self.error {
            write!(f, " ± {error:.3}")?;
        }
        let judged = match &self.peer {
            Some(peer) => {
                write!(
                    f,
                    "  {} {:.3} {}  ratio {:.2} [{:.2}, {:.2}]",
                    peer.name, peer.value, self.unit, peer.ratio, peer.low, peer.high
                )?;
                peer.high
            }
            None => self.value,
        };
        write!(f, "  n={}", self.n)?;
        if let Some(goal) = self.goal {
            let verdict = if judged <= goal { "holds" } else { "MISSED" };
            write!(f, "  goal ≤ {goal} {verdict}")?;
        }
        if let Some(least) = self.least {
            let verdict = if self.value >= least {
                "holds"
            } else {
                "MISSED"
            };
            write!(f, "  goal ≥ {least:.3} {verdict}")?;
        }
        if let Some(before) = self.before {
            write!(f, "  before {before:.3}")?;
            if self.keeps {
                let verdict = if self.value >= before {
                    "holds"
                } else {
                    "MISSED"
                };
                write!(f, " goal ≥ before {verdict}")?;
            }
        }
        Ok(())
    }
}

/// Adds the values of an earlier state of the program: those of the figures with the same names in the file that
/// `BURIN_BENCH_BEFORE` names, which the same benchmark wrote for that state.
pub(crate) fn add_before(figures: &mut [Figure]) -> Result<(), String> {
    let Some(path) = std::env::var_os("BURIN_BENCH_BEFORE") else {
        return Ok(());
    };
    let failed = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let known: Vec<Value> = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    for figure in figures {
        let same = known.iter().find(|it| it["name"] == *figure.name);
        figure.before = same.and_then(|it| it["value"].as_f64());
    }
    Ok(())
}

/// Writes `target/bench/NAME.json` and returns its path.
pub(crate) fn store(name: &str, figures: &[Figure]) -> std::io::Result<String> {
    let folder = target().join("bench");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.json"));
    let values: Vec<_> = figures.iter().map(Figure::json).collect();
    std::fs::write(&path, format!("{:#}\n", Value::Array(values)))?;
    Ok(path.display().to_string())
}

/// Returns Cargo's target folder, which contains the running program.
pub(crate) fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = program.ancestors().nth(2).map(Path::to_path_buf);
    folder.unwrap_or_else(|| PathBuf::from("target"))
}
