//! Converts errors of all providers to a failure with a sentence.
//!
//! Providers agree neither on statuses nor on formats, so a body is parsed leniently (`body`) and
//! classified by its codes first, its words second and its status last (module `classify`).

mod body;
mod classify;
mod refused_part;
mod window;

use std::time::{Duration, SystemTime};

use model::{Failure, FailureClass};
use serde_json::Value;

use self::body::ErrorBody;
use super::limits::retry_after;

/// Target of a request, for error sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTarget {
    /// Display name of the provider, such as `Anthropic`.
    pub provider: String,
    /// Host, with its port if present.
    pub host: String,
    /// Model that was requested.
    pub model: String,
}

impl RequestTarget {
    /// Returns provider and host for use in a sentence: `Anthropic (api.anthropic.com)`.
    pub(crate) fn name(&self) -> String {
        if self.host.is_empty() {
            return self.provider.clone();
        }
        format!("{} ({})", self.provider, self.host)
    }
}

/// Converts an error response of any format to a failure with a sentence. Header names are lower
/// case; waits are relative to `now`. Resolves paths in the error in `sent`, the request's body.
pub fn refused(
    target: &RequestTarget,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
    sent: &[u8],
    now: SystemTime,
) -> Failure {
    let body = ErrorBody::read(body);
    let class = classify::class(Some(status), &body);
    let part = refused_part::refused(class, &body, sent);
    let wait = retry_after(headers, now).or(body.retry_after);
    let class = match &part {
        Some(_) => FailureClass::InvalidRequest,
        None => class,
    };
    Failure {
        part,
        ..failure(target, class, Some(status), wait, &body)
    }
}

/// Converts an error object in the middle of a stream to a failure.
pub(crate) fn interrupted(target: &RequestTarget, error: &Value) -> Failure {
    let body = ErrorBody::of(error);
    let class = classify::class(None, &body);
    Failure {
        part: refused_part::refused(class, &body, &[]),
        ..failure(target, class, None, body.retry_after, &body)
    }
}

fn failure(
    target: &RequestTarget,
    class: FailureClass,
    status: Option<u16>,
    wait: Option<Duration>,
    body: &ErrorBody,
) -> Failure {
    Failure {
        class,
        message: sentence(target, class, status, wait, body),
        status,
        retry_after: wait,
        window: match class {
            FailureClass::ContextOverflow => window::stated_window(body),
            _ => None,
        },
        part: None,
    }
}

fn sentence(
    target: &RequestTarget,
    class: FailureClass,
    status: Option<u16>,
    wait: Option<Duration>,
    body: &ErrorBody,
) -> String {
    let name = target.name();
    let mut sentence = match class {
        FailureClass::RateLimited => format!("{name} is rate limiting requests"),
        FailureClass::Overloaded => format!("{name} is overloaded"),
        FailureClass::Quota => format!("{name} reports that credit or quota is exhausted"),
        FailureClass::Authentication => format!("{name} rejected the key"),
        FailureClass::ContextOverflow => {
            format!(
                "The conversation exceeds the context window of {} at {name}",
                target.model
            )
        }
        FailureClass::NoSuchModel => format!("{name} has no model \"{}\"", target.model),
        FailureClass::ServerError => format!("{name} had a server error"),
        FailureClass::Malformed => format!("{name} sent an invalid response"),
        _ => format!("{name} rejected the request"),
    };
    if let Some(status) = status.filter(|status| *status != 200) {
        sentence.push_str(&format!(" (HTTP {status})"));
    }
    match body.message.trim() {
        "" => sentence.push('.'),
        said => {
            sentence.push_str(": ");
            sentence.push_str(said);
            if !said.ends_with(['.', '!', '?']) {
                sentence.push('.');
            }
        }
    }
    let advice = match (class, wait) {
        (FailureClass::RateLimited | FailureClass::Overloaded, Some(wait)) => {
            format!("It requests a wait of {} s.", wait.as_secs_f64().ceil())
        }
        (FailureClass::RateLimited | FailureClass::Overloaded, None) => "Wait a moment.".to_owned(),
        (FailureClass::Quota, _) => {
            "Waiting does not help: add credit there, or choose another provider.".to_owned()
        }
        (FailureClass::Authentication, _) if body.is_page => {
            "A firewall or a proxy may be interfering.".to_owned()
        }
        (FailureClass::Authentication, _) => {
            "Check the key and its permissions in the provider's settings.".to_owned()
        }
        (FailureClass::ContextOverflow, _) => "Compact it, or start a new one.".to_owned(),
        (FailureClass::NoSuchModel, _) => "Check the model's name and the base address.".to_owned(),
        (FailureClass::Malformed, _) => "Check the base address.".to_owned(),
        _ => return sentence,
    };
    format!("{sentence} {advice}")
}

#[cfg(test)]
mod tests;
