//! The file format of a table.
//!
//! A header of 40 bytes, numbers little-endian: the magic `BURINEMB`, version, dimensions, rows,
//! length of the vocabulary, a name (8 bytes of the SHA-256 of everything after the header), its
//! CRC-32, and the factor that scales a row back to its trained values. Then the tokens, each as
//! the length of the prefix shared with the previous one, the length of the rest, and the rest;
//! then one row for each, one signed byte per number.
//! Invariant: a table that parses has a row for every token.

use std::borrow::Cow;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{DIMS, EmbeddingTable};
use crate::wordpiece::Vocabulary;

const MARK: &[u8; 8] = b"BURINEMB";
const VERSION: u32 = 1;
const HEAD: usize = 40;
/// Part of a table's name: with another weighting, stored vectors belong to another table.
const WEIGHING: &[u8] = b"roots of counts, the first 12 tokens thrice";

/// The reason that a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not a table, or its beginning is missing.
    #[error("the file is not an embedding table")]
    Foreign,
    /// Written by another version of Burin.
    #[error("the embedding table has version {0}, but this Burin reads version {VERSION}")]
    Version(u32),
    /// The end is missing, or some bytes are damaged.
    #[error("the embedding table is damaged: {0}")]
    Torn(&'static str),
    /// A valid table of a kind that is not supported here.
    #[error("the embedding table cannot be used: {0}")]
    Unfit(String),
}

/// Parses a table in Burin's own format; see `EmbeddingTable::parse`.
pub(super) fn parse(bytes: Cow<'static, [u8]>) -> Result<EmbeddingTable, TableError> {
    if !bytes.starts_with(MARK) {
        return Err(TableError::Foreign);
    }
    let Some((head, body)) = bytes.split_at_checked(HEAD) else {
        return Err(TableError::Torn("it ends within its header"));
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
        return Err(TableError::Torn("its length does not match its header"));
    }
    if crc32fast::hash(body) != number(32) {
        return Err(TableError::Torn("its checksum differs"));
    }
    let vocabulary = tokens(&body[..letters], rows)?;
    let mut hash = [0; 8];
    hash.copy_from_slice(&head[24..32]);
    Ok(EmbeddingTable {
        vocabulary: Arc::new(vocabulary),
        rows: HEAD + letters,
        hash,
        bytes,
    })
}

/// Decodes the tokens, each with the prefix it shares with the previous one. Returns an error if a
/// length is wrong, a token is not UTF-8, or their number is not `count`.
fn tokens(mut bytes: &[u8], count: usize) -> Result<Vocabulary, TableError> {
    let mut text = String::new();
    let mut ends = Vec::with_capacity(count);
    let mut before = Vec::new();
    while let [shared, length, rest @ ..] = bytes {
        let (shared, length) = (usize::from(*shared), usize::from(*length));
        if shared > before.len() || length > rest.len() {
            return Err(TableError::Torn("a token exceeds the vocabulary"));
        }
        before.truncate(shared);
        before.extend_from_slice(&rest[..length]);
        let token =
            std::str::from_utf8(&before).map_err(|_| TableError::Torn("a token is not UTF-8"))?;
        text.push_str(token);
        ends.push(text.len());
        bytes = &rest[length..];
    }
    if ends.len() != count || !bytes.is_empty() {
        return Err(TableError::Torn("the numbers of tokens and rows differ"));
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    Ok(Vocabulary::new(
        starts.zip(&ends).map(|(start, end)| &text[start..*end]),
    ))
}

/// Encodes a table of these tokens. `rows` has [`DIMS`] numbers for each; they are rounded to 255
/// steps between the largest absolute value and its negative.
///
/// # Errors
/// The numbers of rows and tokens differ, or a token is longer than 255 bytes.
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
