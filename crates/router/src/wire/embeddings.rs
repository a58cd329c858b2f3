//! The OpenAI embeddings protocol, also implemented by Ollama, llama.cpp, vLLM, LM Studio, Mistral
//! and others.
//!
//! Source: the reference of OpenAI's API, "Create embeddings".

use serde::Deserialize;
use serde_json::json;

use super::{EncodedRequest, EndpointPath};
use crate::error::Error;

/// Encodes a request for the embeddings of texts.
pub fn encode_embeddings(model: &str, texts: &[&str]) -> EncodedRequest {
    let body = json!({ "model": model, "input": texts, "encoding_format": "float" });
    EncodedRequest {
        path: EndpointPath::Base("embeddings".to_owned()),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    }
}

/// Parses the embeddings of `count` texts, in the order of the texts.
///
/// # Errors
///
/// `Error::Malformed` if the response is not a list of vectors, or lacks some.
pub fn read_embeddings(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, Error> {
    #[derive(Deserialize)]
    struct EmbeddingsBody {
        data: Vec<EmbeddingRow>,
    }
    #[derive(Deserialize)]
    struct EmbeddingRow {
        index: Option<usize>,
        embedding: Vec<f32>,
    }
    let response: EmbeddingsBody = serde_json::from_slice(body)
        .map_err(|error| Error::Malformed(format!("it is not a list of vectors ({error})")))?;
    let mut vectors: Vec<Option<Vec<f32>>> = Vec::new();
    vectors.resize_with(count, || None);
    for (ix, entry) in response.data.into_iter().enumerate() {
        match vectors.get_mut(entry.index.unwrap_or(ix)) {
            Some(vector) if vector.is_none() => *vector = Some(entry.embedding),
            _ => return malformed("it has more vectors than the request has texts"),
        }
    }
    let vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
    let size = vectors.first().map_or(0, Vec::len);
    let is_valid =
        |vector: &Vec<f32>| vector.len() == size && vector.iter().all(|number| number.is_finite());
    if vectors.len() == count && (size > 0 || count == 0) && vectors.iter().all(is_valid) {
        Ok(vectors)
    } else {
        malformed("it lacks a vector for some text, or its vectors differ in length")
    }
}

/// Returns `Error::Malformed` with this problem.
fn malformed<T>(problem: &str) -> Result<T, Error> {
    Err(Error::Malformed(problem.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, count: usize, expected: Option<&[&[f32]]>) {
        let read = read_embeddings(body.as_bytes(), count).ok();
        let expected = expected.map(|vectors| vectors.iter().map(|it| it.to_vec()).collect());
        assert_eq!(read, expected, "{body}");
    }

    #[test]
    fn request_matches_the_reference() {
        let encoded = encode_embeddings("m", &["a", "b\"c"]);
        assert_eq!(encoded.path, EndpointPath::Base("embeddings".to_owned()));
        assert_eq!(
            String::from_utf8_lossy(&encoded.body),
            r#"{"model":"m","input":["a","b\"c"],"encoding_format":"float"}"#
        );
    }

    #[test]
    fn vectors_follow_the_order_of_texts() {
        let body = r#"{"object":"list","model":"m","usage":{},"data":[
            {"object":"embedding","index":1,"embedding":[3,4]},
            {"object":"embedding","index":0,"embedding":[1,2.5]}]}"#;
        check(body, 2, Some(&[&[1.0, 2.5], &[3.0, 4.0]]));
        let body = r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#;
        check(body, 2, Some(&[&[1.0], &[2.0]]));
        check(r#"{"data":[]}"#, 0, Some(&[]));
    }

    #[test]
    fn invalid_responses_are_rejected() {
        check("", 1, None);
        check("<html>", 1, None);
        check(r#"{"error":{"message":"no"}}"#, 1, None);
        check(r#"{"data":[]}"#, 1, None);
        check(r#"{"data":[{"embedding":[]}]}"#, 1, None);
        check(r#"{"data":[{"embedding":[1]}]}"#, 2, None);
        check(r#"{"data":[{"embedding":[1]},{"embedding":[1]}]}"#, 1, None);
        check(
            r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#,
            2,
            None,
        );
        check(
            r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
            2,
            None,
        );
        check(r#"{"data":[{"index":9,"embedding":[1]}]}"#, 1, None);
        check(r#"{"data":[{"embedding":[1e99]}]}"#, 1, None);
    }
}
