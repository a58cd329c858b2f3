//! Eight parallel calls that only wait: the time for all of them against the slowest one.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::world::{Moment, Plan, World};
use crate::figure::Figure;
use crate::interleave::Pairs;

/// Number of parallel calls.
const CALLS: usize = 8;
/// Number of measured rounds.
const ROUNDS: usize = 15;
/// Maximum time for all calls, as a multiple of the slowest.
const GOAL: f64 = 1.15;

pub(super) async fn run() -> Result<Vec<Figure>, String> {
    let address = slow_server().map_err(|error| format!("cannot listen on loopback: {error}"))?;
    // Each call sleeps slightly longer, because the loop check stops eight equal calls.
    let command = |ix: usize| {
        (
            "exec_command",
            json!({ "command": format!("sleep 0.30{ix}") }),
        )
    };
    let commands = move |_| (0..CALLS).map(command).collect();
    let pages = move |step: usize| {
        let page = |ix: usize| {
            let url = format!("http://{address}/{step}/{ix}");
            ("fetch", json!({ "url": url }))
        };
        (0..CALLS).map(page).collect()
    };
    Ok(vec![
        measured("8 commands of 300 ms at once", Arc::new(commands)).await?,
        measured("8 pages of a slow server at once", Arc::new(pages)).await?,
    ])
}

async fn measured(name: &str, calls: Arc<Plan>) -> Result<Figure, String> {
    // Each repetition is a turn of its own, so that the loop check does not stop the repeated
    // calls.
    let plan = move |step: usize| match step % 2 {
        0 => calls(step),
        _ => Vec::new(),
    };
    let world = World::new(Arc::new(plan))?;
    let mut session = world.session();
    let mut pairs = Pairs::default();
    for round in 0..=ROUNDS {
        session.turn().await?;
        let moments = world.take();
        // The first round warms the caches.
        if round > 0 {
            let (all, slowest) = times(&moments).ok_or("a round is not complete")?;
            pairs.push(all, slowest);
        }
    }
    Ok(Figure::against(
        name,
        "the slowest of them",
        &pairs,
        "ms",
        Some(GOAL),
    ))
}

/// Returns the milliseconds from the answer with the calls to the next request, and the duration of the slowest
/// call.
fn times(moments: &[(Moment, Instant)]) -> Option<(f64, f64)> {
    let answered = moments
        .iter()
        .find(|it| matches!(it.0, Moment::Answered))?
        .1;
    let asked = moments.iter().rfind(|it| matches!(it.0, Moment::Asked))?.1;
    let began: Vec<Instant> = times_of(moments, |it| matches!(it, Moment::Began));
    let ended: Vec<Instant> = times_of(moments, |it| matches!(it, Moment::Ended));
    // All calls take about equally long, so they end in the order in which they began.
    let slowest = began
        .iter()
        .zip(&ended)
        .map(|(began, ended)| *ended - *began)
        .max()?;
    (began.len() == CALLS && ended.len() == CALLS).then(|| {
        let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
        (millis(asked - answered), millis(slowest))
    })
}

fn times_of(moments: &[(Moment, Instant)], wanted: impl Fn(&Moment) -> bool) -> Vec<Instant> {
    let found = moments.iter().filter(|it| wanted(&it.0));
    found.map(|it| it.1).collect()
}

/// Starts a server on loopback that takes 300 ms for every page, and returns its address.
fn slow_server() -> std::io::Result<std::net::SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream) {
    let mut request = [0; 4096];
    // A request this small arrives in one read. Its content does not matter, and an empty one is
    // answered too.
    let _count = stream.read(&mut request).unwrap_or(0);
    std::thread::sleep(Duration::from_millis(300));
    let text = "A page that took its time.\n";
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // A client that has disconnected needs no page.
    stream.write_all(reply.as_bytes()).ok();
}
