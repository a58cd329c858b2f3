//! Parses the output of `rg --json`.

use std::collections::BTreeSet;

use serde_json::Value;

/// Path, row (from 1) and byte range in the row of every match.
pub(crate) type Places = BTreeSet<(String, u64, usize, usize)>;

/// Returns the matches in the output.
pub(crate) fn places(printed: &[u8]) -> Result<Places, String> {
    let mut places = Places::new();
    for line in printed
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let event: Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if event["type"] != "match" {
            continue;
        }
        let data = &event["data"];
        let path = data["path"]["text"].as_str().unwrap_or_default();
        let number = data["line_number"].as_u64().unwrap_or_default();
        for found in data["submatches"].as_array().into_iter().flatten() {
            let byte = |key: &str| {
                found[key]
                    .as_u64()
                    .and_then(|byte| usize::try_from(byte).ok())
            };
            if let (Some(start), Some(end)) = (byte("start"), byte("end")) {
                places.insert((path.to_owned(), number, start, end));
            }
        }
    }
    Ok(places)
}
