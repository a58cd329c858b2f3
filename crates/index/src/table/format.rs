//! The bytes of a table.
//!
//! A head of 40 bytes, numbers little-endian: the mark `BURINEMB`, version, dimensions, rows, length of the
//! vocabulary, a name (8 bytes of the SHA-256 of what follows the head), its CRC-32, and the factor that brings a
//! row back to what was trained. Then the tokens, each as what it shares with the one before, its further length
//! and its further letters; then one row for each, a signed byte a number.
//! Invariant: a table that parses has a row for every token.

use std::borrow::Cow;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{DIMS, Table};
use crate::wordpiece::Vocabulary;

const MARK: &[u8; 8] = b"BURINEMB";
const VERSION: u32 = 1;
const HEAD: usize = 40;
/// Part of a table's name: when texts are weighed in another way, vectors that are kept are of another table.
const WEIGHING: &[u8] = b"roots of counts, the first 12 tokens thrice";

/// Why bytes are no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Something else, or the beginning is gone.
    #[error("the embedding table does not begin as one does; it is another file")]
    Foreign,
    /// Written by another version of Burin.
    #[error("the embedding table is of version {0}, and this Burin reads version {VERSION}")]
    Version(u32),
    /// The end is missing, or some bytes are not what was written.
    #[error("the embedding table is damaged: {0}")]
    Torn(&'static str),
    /// A sound table of a kind that cannot be used here.
    #[error("the embedding table cannot be used: {0}")]
    Unfit(String),
}

pub(super) fn parse(bytes: Cow<'static, [u8]>) -> Result<Table, TableError> {
    if !bytes.starts_with(MARK) {
        return Err(TableError::Foreign);
    }
    let Some((head, body)) = bytes.split_at_checked(HEAD) else {
        return Err(TableError::Torn("it ends within its head"));
    };
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (version, dims, rows, letters) = (
        number(8),
        number(12),
        number(16) as usize,
        number(20) as usize,
    );
    if version != VERSION {
        return Err(TableError::Version(version));
    }
    if dims as usize != DIMS {
        return Err(TableError::Unfit(format!(
            "its rows have {dims} numbers, not {DIMS}"
        )));
    }
    if rows
        .checked_mul(DIMS)
        .and_then(|size| size.checked_add(letters))
        != Some(body.len())
    {
        return Err(TableError::Torn("its length is not what its head says"));
    }
    if crc32fast::hash(body) != number(32) {
        return Err(TableError::Torn("its checksum differs"));
    }
    let vocabulary = tokens(&body[..letters], rows)?;
    let mut hash = [0; 8];
    hash.copy_from_slice(&head[24..32]);
    Ok(Table {
        vocabulary: Arc::new(vocabulary),
        rows: HEAD + letters,
        hash,
        bytes,
    })
}

fn tokens(mut bytes: &[u8], count: usize) -> Result<Vocabulary, TableError> {
    let mut text = String::new();
    let mut ends = Vec::with_capacity(count);
    let mut before = Vec::new();
    while let [shared, length, rest @ ..] = bytes {
        let (shared, length) = (usize::from(*shared), usize::from(*length));
        if shared > before.len() || length > rest.len() {
            return Err(TableError::Torn("a token reaches beyond its place"));
        }
        before.truncate(shared);
        before.extend_from_slice(&rest[..length]);
        let token =
            std::str::from_utf8(&before).map_err(|_| TableError::Torn("a token is no text"))?;
        text.push_str(token);
        ends.push(text.len());
        bytes = &rest[length..];
    }
    if ends.len() != count || !bytes.is_empty() {
        return Err(TableError::Torn("it has not as many tokens as rows"));
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    Ok(Vocabulary::new(
        starts.zip(&ends).map(|(start, end)| &text[start..*end]),
    ))
}

/// The bytes of a table of these tokens. `rows` has [`DIMS`] numbers for each; they are rounded to 255 steps
/// between the largest and its opposite.
///
/// # Errors
/// There are not as many rows as tokens, or a token is longer than 255 bytes.
pub fn pack(tokens: &[impl AsRef<str>], rows: &[f32]) -> Result<Vec<u8>, TableError> {
    if rows.len() != tokens.len() * DIMS {
        return Err(TableError::Unfit(format!(
            "{} tokens need other rows than {}",
            tokens.len(),
            rows.len()
        )));
    }
    let mut body = Vec::with_capacity(tokens.len() * (DIMS + 8));
    let mut before = "";
    for token in tokens {
        let token = token.as_ref();
        let shared = before
            .bytes()
            .zip(token.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let (Ok(shared), Ok(length)) = (u8::try_from(shared), u8::try_from(token.len() - shared))
        else {
            return Err(TableError::Unfit(format!("the token {token} is too long")));
        };
        body.extend([shared, length]);
        body.extend_from_slice(&token.as_bytes()[usize::from(shared)..]);
        before = token;
    }
    let letters = body.len() as u32;
    let most = rows
        .iter()
        .fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
    body.extend(
        rows.iter()
            .map(|number| (number * (127.0 / most)).round() as i8 as u8),
    );
    let mut bytes = MARK.to_vec();
    for number in [VERSION, DIMS as u32, tokens.len() as u32, letters] {
        bytes.extend(number.to_le_bytes());
    }
    let name = Sha256::new_with_prefix(WEIGHING)
        .chain_update(&body)
        .finalize();
    bytes.extend(&name[..8]);
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend((most / 127.0).to_le_bytes());
    bytes.extend(body);
    Ok(bytes)
}
