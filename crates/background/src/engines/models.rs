//! The list of available models.

use agent_service::{ModelEntry, ModelList, ModelTraits};
use runtime::agent_services::AgentServices;

/// Returns the models that can be used, the demo model last.
pub(super) fn model_list(services: &AgentServices) -> ModelList {
    let able = services.models().iter().filter(|model| model.has_tools);
    let mut models: Vec<ModelEntry> = able
        .map(|model| ModelEntry {
            id: model.id.clone(),
            name: model.id.clone(),
            about: if model.is_local {
                "on this machine".to_owned()
            } else {
                String::new()
            },
            traits: Some(ModelTraits {
                tier: model.tier,
                price: model.price.clone(),
                context: model.context.0,
                efforts: model.efforts.clone(),
                takes_images: model.takes_images,
            }),
        })
        .collect();
    let wanted = services.default_model();
    let is_known = wanted == "auto" || models.iter().any(|model| model.id == wanted);
    let default = match models.first() {
        None => "demo",
        Some(_) if is_known => wanted,
        Some(first) => &first.id,
    };
    let default = default.to_owned();
    let advice = if models.is_empty() {
        no_models(services.missing_keys())
    } else {
        String::new()
    };
    if !models.is_empty() {
        let auto = ModelEntry {
            id: "auto".to_owned(),
            name: "Auto".to_owned(),
            about: "chosen for each task".to_owned(),
            traits: None,
        };
        models.insert(0, auto);
    }
    models.push(ModelEntry {
        id: "demo".to_owned(),
        name: "Demo model".to_owned(),
        about: "a script, on a sample project".to_owned(),
        traits: None,
    });
    ModelList {
        models,
        default,
        advice,
        problems: services.problems().to_vec(),
    }
}

fn no_models(missing_keys: &[String]) -> String {
    let keys: Vec<&str> = missing_keys.iter().map(String::as_str).take(3).collect();
    let keys = if keys.is_empty() {
        String::new()
    } else {
        format!(
            "put a key into {} and start Burin again, ",
            keys.join(" or ")
        )
    };
    format!(
        "No model was found: {keys}or start Ollama, llama.cpp or LM Studio. The demo model needs neither: it plays a \
         script on a sample project, with real tools."
    )
}
