//! Real editing sessions (josephg/editing-traces, CC BY 4.0), read from `tests/data`.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

/// A session: patches from a start text to an end text. Positions count chars.
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) patches: Vec<Patch>,
}

/// A replacement of `removed` chars at `at` by `inserted`.
pub(crate) struct Patch {
    /// Time in seconds since 1970; 0 if unknown.
    pub(crate) second: u64,
    pub(crate) at: usize,
    pub(crate) removed: usize,
    pub(crate) inserted: String,
}

const NAMES: [&str; 4] = [
    "automerge-paper",
    "rustcode",
    "sveltecomponent",
    "seph-blog1",
];

/// Returns the four sessions for which peers publish figures.
pub(crate) fn all() -> Result<Vec<Trace>, String> {
    NAMES.iter().map(|name| read(name)).collect()
}

pub(crate) fn read(name: &'static str) -> Result<Trace, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../tests/data/editing-traces/{name}.json.gz"));
    let file = std::fs::File::open(&path)
        .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    let mut json = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut json)
        .map_err(|error| format!("cannot unpack {}: {error}", path.display()))?;
    let json: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    parse(name, &json).ok_or_else(|| format!("{} is not an editing trace", path.display()))
}

fn parse(name: &'static str, json: &Value) -> Option<Trace> {
    let text = |key: &str| json.get(key)?.as_str().map(str::to_owned);
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let mut patches = Vec::new();
    for transaction in json.get("txns")?.as_array()? {
        let second = transaction.get("time").and_then(Value::as_str);
        let second = second.and_then(second_of).unwrap_or(0);
        for patch in transaction.get("patches")?.as_array()? {
            patches.push(Patch {
                second,
                at: number(patch.get(0)?)?,
                removed: number(patch.get(1)?)?,
                inserted: patch.get(2)?.as_str()?.to_owned(),
            });
        }
    }
    Some(Trace {
        name,
        start: text("startContent")?,
        end: text("endContent")?,
        patches,
    })
}

/// Reads `2020-09-10T04:23:15.000Z` as seconds since 1970. Source of the count of days: Hinnant, "chrono-compatible
/// low-level date algorithms".
fn second_of(time: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| time.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    let days = days.checked_sub(719_468)?;
    Some(((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?)
}
