//! Tests that every profile converts to valid options.

use model::{Effort, ModelId, Profiles};

use crate::wire::{EffortValue, ThinkingMode, WireOptions};

use super::*;

fn options(model: &str) -> WireOptions {
    let text = include_str!("../../../../../assets/models/profiles.json");
    let (profiles, problems) = Profiles::parse(text);
    assert_eq!(problems, Vec::<String>::new());
    let id = ModelId::parse(model).expect("an id");
    let profile = profiles.resolve(&id, None);
    WireOptions::layered([&profile_options(&profile)]).expect("options")
}

#[test]
fn vendored_profiles_convert_to_options() {
    let budgets = options("anthropic/claude-haiku-4-5");
    assert_eq!(budgets.thinking, ThinkingMode::Budget);
    assert_eq!(
        budgets.effort.value(Effort::None),
        Some(&EffortValue::Switch(false))
    );
    assert!(budgets.cache_marks);
    assert_eq!(
        options("vllm/qwen2.5-coder-7b").fim_template.as_deref(),
        Some("qwen")
    );
    assert!(!options("openrouter/openai/gpt-5").cache_marks);
}
