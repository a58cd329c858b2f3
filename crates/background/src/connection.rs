//! A connection that carries messages.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::Error;
use crate::protocol::MAX_MESSAGE_BYTES;

/// Reads the next message. Returns `None` at the end of the connection between two messages. Fails
/// if the connection breaks within a message, or if the message is too long or is not one.
pub(crate) async fn read_message<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> Result<Option<T>, Error> {
    let mut length = [0; 4];
    match from.read_exact(&mut length).await {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_MESSAGE_BYTES {
        return Err(Error::Unreadable(format!("it has {length} bytes")));
    }
    // The bytes are taken as they come: a length alone reserves no memory.
    let mut bytes = Vec::new();
    let taken = from.take(length as u64).read_to_end(&mut bytes).await?;
    if taken < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let message = serde_json::from_slice(&bytes);
    message
        .map(Some)
        .map_err(|error| Error::Unreadable(error.to_string()))
}

/// Writes a message.
pub(crate) async fn write_message<T: Serialize>(
    to: &mut (impl AsyncWrite + Unpin),
    message: &T,
) -> Result<(), Error> {
    to.write_all(&encode(message)?).await?;
    to.flush().await?;
    Ok(())
}

/// Encodes a message with its length. Fails if a path is not valid UTF-8, or if the message is too
/// long.
pub(crate) fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)
        .map_err(|error| Error::Unreadable(error.to_string()))?;
    let body = bytes.len() - 4;
    let length = u32::try_from(body)
        .ok()
        .filter(|_| body <= MAX_MESSAGE_BYTES);
    let length = length.ok_or_else(|| Error::Unreadable(format!("it has {body} bytes")))?;
    if let Some(head) = bytes.first_chunk_mut::<4>() {
        *head = length.to_le_bytes();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(future)
    }

    #[test]
    fn messages_arrive_in_order_however_they_are_cut() {
        let messages = ["", "one", "\u{1f980}\n\0"];
        let bytes: Vec<u8> = messages
            .iter()
            .flat_map(|message| encode(message).expect("text"))
            .collect();
        for size in 1..bytes.len() {
            let mut reader = tokio_test_reader(&bytes, size);
            for expected in messages {
                let read: Option<String> = block_on(read_message(&mut reader)).expect("whole");
                assert_eq!(read.as_deref(), Some(expected));
            }
            let end: Option<String> = block_on(read_message(&mut reader)).expect("an end");
            assert_eq!(end, None);
        }
    }

    /// A reader that returns at most `size` bytes at once.
    fn tokio_test_reader(bytes: &[u8], size: usize) -> impl AsyncRead + Unpin + use<> {
        let chunks: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).collect();
        ChunkReader(chunks.into_iter().collect())
    }

    struct ChunkReader(std::collections::VecDeque<Vec<u8>>);

    impl AsyncRead for ChunkReader {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            if let Some(mut chunk) = self.0.pop_front() {
                let rest = chunk.split_off(chunk.len().min(buffer.remaining()));
                buffer.put_slice(&chunk);
                if !rest.is_empty() {
                    self.0.push_front(rest);
                }
            }
            std::task::Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn broken_and_foreign_bytes_are_errors() {
        let whole = encode(&"text").expect("text");
        for cut in 5..whole.len() {
            let read = block_on(read_message::<String>(&mut &whole[..cut]));
            assert!(matches!(read, Err(Error::Io(_))), "{cut}: {read:?}");
        }
        for wrong in [
            &b"\xff\xff\xff\xff"[..],
            b"\x02\0\0\0{}",
            b"GET / HTTP/1.1\r\n",
        ] {
            let read = block_on(read_message::<String>(&mut &wrong[..]));
            assert!(read.is_err(), "{wrong:?}: {read:?}");
        }
    }
}
