//! Refusals and errors of every provider to one failure with a sentence.
//!
//! Providers agree neither on statuses nor on shapes, so a body is read leniently (`body`) and judged by its
//! codes first, its words second and its status last (`judge`).

mod body;
mod judge;
mod part;
mod window;

use std::time::{Duration, SystemTime};

use model::{Failure, FailureClass};
use serde_json::Value;

use self::body::ErrorBody;
use super::limits::retry_after;

/// Who answers, for sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The provider's name for people, such as `Anthropic`.
    pub provider: String,
    /// The host, with a port where it has one.
    pub host: String,
    /// The model that was asked.
    pub model: String,
}

impl Site {
    /// Provider and host, as a sentence names them.
    pub(crate) fn name(&self) -> String {
        if self.host.is_empty() {
            return self.provider.clone();
        }
        format!("{} ({})", self.provider, self.host)
    }
}

/// The failure that a response other than a success is. Header names are lower case; `now` dates a wait. `sent` is
/// the request's body, in which the parts that the provider names are looked up.
pub fn refused(
    site: &Site,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
    sent: &[u8],
    now: SystemTime,
) -> Failure {
    let body = ErrorBody::read(body);
    let class = judge::class(Some(status), &body);
    let part = part::refused(class, &body, sent);
    let wait = retry_after(headers, now).or(body.retry_after);
    let class = match &part {
        Some(_) => FailureClass::InvalidRequest,
        None => class,
    };
    Failure {
        part,
        ..failure(site, class, Some(status), wait, &body)
    }
}

/// The failure that an error in the middle of a stream is.
pub(crate) fn interrupted(site: &Site, error: &Value) -> Failure {
    let body = ErrorBody::of(error);
    let class = judge::class(None, &body);
    Failure {
        part: part::refused(class, &body, &[]),
        ..failure(site, class, None, body.retry_after, &body)
    }
}

fn failure(
    site: &Site,
    class: FailureClass,
    status: Option<u16>,
    wait: Option<Duration>,
    body: &ErrorBody,
) -> Failure {
    Failure {
        class,
        message: sentence(site, class, status, wait, body),
        status,
        retry_after: wait,
        window: match class {
            FailureClass::ContextOverflow => window::told(body),
            _ => None,
        },
        part: None,
    }
}

fn sentence(
    site: &Site,
    class: FailureClass,
    status: Option<u16>,
    wait: Option<Duration>,
    body: &ErrorBody,
) -> String {
    let name = site.name();
    let mut sentence = match class {
        FailureClass::RateLimited => format!("{name} takes no more requests for now"),
        FailureClass::Overloaded => format!("{name} is overloaded"),
        FailureClass::Quota => format!("{name} says that credit or quota is used up"),
        FailureClass::Authentication => format!("{name} did not accept the key"),
        FailureClass::ContextOverflow => {
            format!(
                "The conversation is longer than {} takes at {name}",
                site.model
            )
        }
        FailureClass::NoSuchModel => format!("{name} has no model \"{}\"", site.model),
        FailureClass::ServerError => format!("{name} failed to answer"),
        FailureClass::Malformed => format!("{name} answered with something that is no answer"),
        _ => format!("{name} refused the request"),
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
            format!("It asks to wait {} s.", wait.as_secs_f64().ceil())
        }
        (FailureClass::RateLimited | FailureClass::Overloaded, None) => "Wait a moment.".to_owned(),
        (FailureClass::Quota, _) => {
            "Waiting does not help: add credit there, or choose another provider.".to_owned()
        }
        (FailureClass::Authentication, _) if body.is_page => {
            "A firewall or a proxy may stand between.".to_owned()
        }
        (FailureClass::Authentication, _) => {
            "Check the key and what it may do in the provider's settings.".to_owned()
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
