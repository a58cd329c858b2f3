//! The transport over the pipes of a process.

use std::io;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::framing::{self, LineReader, NoiseCallback, WireLine, excerpt};

/// A transport that sends messages as lines.
pub(crate) struct Stdio<R> {
    lines: LineReader<R>,
    /// `None` once closed: the server then reads the end of its input.
    writer: Option<mpsc::Sender<Vec<u8>>>,
    noise: NoiseCallback,
}

impl<R: AsyncRead + Unpin + Send> Stdio<R> {
    /// Creates a transport over the pipes of a process. `from` is the output of the process, and
    /// `to` is its input. Lines that are not messages go to `noise`.
    pub(crate) fn new(
        from: R,
        to: impl AsyncWrite + Unpin + Send + 'static,
        noise: NoiseCallback,
    ) -> Self {
        Self {
            lines: LineReader::new(from, framing::MAX_LINE_LEN),
            writer: Some(framing::writer(to).0),
            noise,
        }
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleClient> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let writer = self.writer.clone();
        async move {
            let line = serde_json::to_vec(&item)?;
            let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the server is gone");
            writer
                .ok_or_else(gone)?
                .send(line)
                .await
                .map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.lines.next().await {
                Ok(Some(WireLine::Text(text))) => match serde_json::from_str(&text) {
                    Ok(message) => return Some(message),
                    // Many servers print greetings or errors to their output; that does not end the
                    // connection.
                    Err(_) => (self.noise)(format!("it printed: {}", excerpt(&text))),
                },
                Ok(Some(WireLine::Noise(why))) => (self.noise)(why),
                Ok(None) => return None,
                Err(error) => {
                    (self.noise)(format!("its output cannot be read: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.writer = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    async fn hear(bytes: &[u8]) -> (usize, Vec<String>) {
        let noise = Arc::new(Mutex::new(Vec::new()));
        let heard = noise.clone();
        let listen: NoiseCallback = Arc::new(move |text| heard.lock().expect("a lock").push(text));
        let mut stdio = Stdio::new(bytes, tokio::io::sink(), listen);
        let mut messages = 0;
        while stdio.receive().await.is_some() {
            messages += 1;
        }
        let noise = noise.lock().expect("a lock").clone();
        (messages, noise)
    }

    const MESSAGE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    #[tokio::test]
    async fn noise_is_reported_and_messages_still_arrive() {
        let text =
            format!("Listening on stdio\n{MESSAGE}\n[1,2]\n{{\"id\":1}}\n{MESSAGE}\n{{\"json");
        let (messages, noise) = hear(text.as_bytes()).await;
        assert_eq!(messages, 2);
        assert_eq!(noise.len(), 4, "{noise:?}");
        assert_eq!(noise[0], "it printed: Listening on stdio");
    }

    #[tokio::test]
    async fn no_bytes_make_it_panic() {
        let mut random = StdRng::seed_from_u64(11);
        for _ in 0..300 {
            let mut bytes = Vec::new();
            for _ in 0..random.random_range(0..20) {
                let mut line = MESSAGE.as_bytes().to_vec();
                for _ in 0..random.random_range(0..4) {
                    let at = random.random_range(0..line.len());
                    match random.random_range(0..3) {
                        0 => line.truncate(at.max(1)),
                        1 => line[at] = random.random(),
                        _ => line.insert(at, random.random()),
                    }
                }
                bytes.extend(line);
                bytes.push(b'\n');
            }
            hear(&bytes).await;
        }
    }
}
