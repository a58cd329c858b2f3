//! Elicitation forms: a flat object of simple values.

use serde_json::{Map, Value};

/// A form requested by a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationForm {
    /// The explanation the server gives.
    pub message: String,
    /// The fields, in the server's order.
    pub fields: Vec<FormField>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// The key in the answer.
    pub name: String,
    /// The label for display.
    pub title: Option<String>,
    /// The explanation of the field.
    pub description: Option<String>,
    /// The type of its value.
    pub kind: FieldKind,
    /// Whether it must be given.
    pub is_required: bool,
    /// The value used if none is given.
    pub default: Option<Value>,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A text; `format` is `email`, `uri`, `date`, `date-time` or nothing.
    Text {
        /// The format of the text.
        format: Option<String>,
        /// Minimum length, in characters.
        shortest: Option<u64>,
        /// Maximum length, in characters.
        longest: Option<u64>,
    },
    /// A number within a range.
    Number {
        /// Whether it is an integer.
        is_whole: bool,
        /// The minimum allowed value.
        least: Option<f64>,
        /// The maximum allowed value.
        most: Option<f64>,
    },
    /// A boolean: yes or no.
    Truth,
    /// One of several choices.
    One(Vec<FormChoice>),
    /// Any number of several choices.
    Many(Vec<FormChoice>),
}

/// A possible value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormChoice {
    /// The value in the answer.
    pub value: String,
    /// The label for display.
    pub title: String,
}

/// The user's answer to a form.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// The form was filled in. Missing fields get their defaults.
    Accepted(Map<String, Value>),
    /// The user declined the form.
    Declined,
    /// The user dismissed the form.
    Cancelled,
}

impl ElicitationForm {
    /// Parses a form from the JSON schema of its answer. A field that is not understood becomes a
    /// text.
    pub fn new(message: String, schema: &Value) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|it| it.as_str() == Some(name)))
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| FormField {
                name: name.clone(),
                title: text(schema, "title"),
                description: text(schema, "description"),
                kind: FieldKind::of(schema),
                is_required: is_required(name),
                default: schema.get("default").cloned(),
            });
        Self {
            message,
            fields: fields.collect(),
        }
    }

    /// Returns the default values of all fields that have one.
    pub fn defaults(&self) -> Map<String, Value> {
        self.complete(Map::new())
    }

    /// Adds the defaults of missing fields to `values`; present values stay as they are.
    pub fn complete(&self, mut values: Map<String, Value>) -> Map<String, Value> {
        for field in &self.fields {
            if let Some(default) = &field.default
                && !values.contains_key(&field.name)
            {
                values.insert(field.name.clone(), default.clone());
            }
        }
        values
    }

    /// Returns a sentence about the first missing or invalid value. Returns `None` if the server
    /// can accept all values.
    pub fn complaint(&self, values: &Map<String, Value>) -> Option<String> {
        self.fields.iter().find_map(|field| {
            let shown = field.title.as_deref().unwrap_or(&field.name);
            match values.get(&field.name) {
                None | Some(Value::Null) => {
                    field.is_required.then(|| format!("{shown} is missing"))
                }
                Some(value) => {
                    let why = field.kind.complaint(value)?;
                    Some(format!("{shown} {why}"))
                }
            }
        })
    }
}

impl FieldKind {
    fn of(schema: &Value) -> Self {
        let choices = FormChoice::all(schema);
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        match schema.get("type").and_then(Value::as_str) {
            Some("boolean") => Self::Truth,
            Some(kind @ ("number" | "integer")) => Self::Number {
                is_whole: kind == "integer",
                least: number("minimum"),
                most: number("maximum"),
            },
            Some("array") => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                Self::Many(FormChoice::all(items))
            }
            _ if !choices.is_empty() => Self::One(choices),
            _ => Self::Text {
                format: text(schema, "format"),
                shortest: count("minLength"),
                longest: count("maxLength"),
            },
        }
    }

    /// Returns why a value does not fit the field, to follow its name in a sentence; `None` if it
    /// fits. The length of a text counts in chars.
    fn complaint(&self, value: &Value) -> Option<String> {
        let is_one_of = |choices: &[FormChoice], value: &Value| {
            choices
                .iter()
                .any(|choice| Some(choice.value.as_str()) == value.as_str())
        };
        let wanted = match self {
            Self::Text {
                shortest, longest, ..
            } => {
                let Some(text) = value.as_str() else {
                    return Some("is not a text".to_owned());
                };
                let count = text.chars().count() as u64;
                let fits = shortest.is_none_or(|least| count >= least)
                    && longest.is_none_or(|most| count <= most);
                (!fits).then_some("is too short or too long")
            }
            Self::Number {
                is_whole,
                least,
                most,
            } => {
                let Some(number) = value.as_f64() else {
                    return Some("is not a number".to_owned());
                };
                let fits = least.is_none_or(|least| number >= least)
                    && most.is_none_or(|most| number <= most)
                    && (!is_whole || number.fract() == 0.0);
                (!fits).then_some("is not a number that fits")
            }
            Self::Truth => (!value.is_boolean()).then_some("is neither true nor false"),
            Self::One(choices) => {
                (!is_one_of(choices, value)).then_some("is not one of the choices")
            }
            Self::Many(choices) => {
                let fits = value.as_array().is_some_and(|values| {
                    choices.is_empty() || values.iter().all(|value| is_one_of(choices, value))
                });
                (!fits).then_some("has a value that is not a choice")
            }
        };
        wanted.map(str::to_owned)
    }
}

impl FormChoice {
    /// Returns the choices of a schema: `enum` with or without `enumNames`, or `oneOf`/`anyOf` of
    /// constants.
    fn all(schema: &Value) -> Vec<Self> {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        if let Some(values) = list("enum") {
            let names = list("enumNames");
            let title = |index: usize, value: &str| {
                let name = names.and_then(|names| names.get(index)?.as_str());
                name.unwrap_or(value).to_owned()
            };
            let values = values.iter().filter_map(Value::as_str).enumerate();
            let choices = values.map(|(index, value)| Self {
                value: value.to_owned(),
                title: title(index, value),
            });
            return choices.collect();
        }
        let constants = list("oneOf").or_else(|| list("anyOf"));
        let choices = constants.into_iter().flatten().filter_map(|constant| {
            let value = text(constant, "const")?;
            let title = text(constant, "title").unwrap_or_else(|| value.clone());
            Some(Self { value, title })
        });
        choices.collect()
    }
}

/// Returns a member that is a string; `None` if it is missing or something else.
fn text(schema: &Value, key: &str) -> Option<String> {
    schema.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests;
