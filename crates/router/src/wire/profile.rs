//! Converts a model's profile to wire options.

use model::{CacheStyle, EffortSetting, FimFormat, ParallelTools, Profile};
use serde_json::{Map, Value, json};

use super::json::object;

/// Converts a profile to the format of `WireOptions`. Unknown fields are left to the provider's
/// options.
pub fn profile_options(profile: &Profile) -> Map<String, Value> {
    let has_budgets = profile
        .efforts
        .values()
        .any(|setting| matches!(setting, EffortSetting::Budget(_)));
    let thinking = match (profile.adaptive_thinking, has_budgets) {
        (true, _) => "adaptive",
        (false, true) => "budget",
        (false, false) => "none",
    };
    let efforts = profile.efforts.iter().map(|(effort, setting)| {
        let name = serde_json::to_value(effort).unwrap_or_default();
        let value = match setting {
            EffortSetting::Budget(0) => json!(false),
            EffortSetting::Budget(budget) => json!(budget),
            EffortSetting::Word(word) => json!(word),
        };
        (name.as_str().unwrap_or_default().to_owned(), value)
    });
    let mut options = object([
        ("system_messages", json!(profile.mid_system)),
        ("thinking", json!(thinking)),
        ("effort", Value::Object(efforts.collect())),
        (
            "cache_marks",
            json!(profile.cache == CacheStyle::Breakpoints),
        ),
        ("cache_minimum", json!(profile.cache_min)),
        (
            "parallel_tools",
            json!(profile.parallel != ParallelTools::Never),
        ),
        ("forced_tool", json!(profile.forced_tool)),
        ("schema_quirks", json!(profile.schema_quirks)),
        ("reasoning_back", json!(profile.replay)),
    ]);
    // A provider whose models all accept predictions says so in its own options.
    if profile.predicted_output {
        options.insert("predicted_output".to_owned(), json!(true));
    }
    if let Some(images) = profile.vision {
        options.insert("images".to_owned(), json!(images));
    }
    // A provider whose models all support sampling says so in its own options.
    if profile.sampling {
        options.insert("sampling".to_owned(), json!(true));
    }
    if let Some(format) = profile.fim.filter(|format| *format != FimFormat::Endpoint) {
        options.insert("fim_template".to_owned(), json!(format));
    }
    options
}

#[cfg(test)]
mod tests;
