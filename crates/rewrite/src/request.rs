//! The parts that requests for a file and for lines share.

use model::{CacheMark, Message, ModelId, ModelRequest, Role, Sampling, SystemBlock, TokenCount};

/// Bytes per token, fewer than in most code.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens for added text and for reasoning.
const MARGIN: u64 = 8192;

/// Builds a request without tools, whose answer is about as long as `expected`. Without `max_output`,
/// it may be somewhat longer.
pub(crate) fn plain_request(
    model: ModelId,
    system: Vec<String>,
    message: String,
    (expected, max_output): (&str, Option<TokenCount>),
) -> ModelRequest {
    let size = TokenCount(expected.len() as u64 / BYTES_PER_TOKEN + MARGIN);
    let messages = vec![Message::text(Role::User, message)];
    let mut request = ModelRequest::new(model, messages, max_output.unwrap_or(size));
    let block = |text| SystemBlock {
        text,
        cache: CacheMark::None,
    };
    request.system = system.into_iter().map(block).collect();
    request
}

/// Adds the text that most of the answer will repeat.
pub(crate) fn predict(request: &mut ModelRequest, expected: String) {
    // Models accept most of a prediction without randomness.
    request.sampling = Sampling {
        temperature: Some(0.0),
        top_p: None,
    };
    request.prediction = Some(expected);
}
