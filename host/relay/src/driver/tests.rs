//! A client, a relay and holders that end, in memory.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};

use super::*;

/// Connects to one holder after the other.
struct Holders(VecDeque<DuplexStream>);

impl Connect for Holders {
    async fn connect(&mut self) -> Result<Connection, RelayError> {
        let next = self.0.pop_front().ok_or(RelayError::NoHolder {
            message: "no holder is left".to_owned(),
            hint: None,
        })?;
        let (input, output) = split(next);
        Ok(Connection {
            input: Box::new(input),
            output: Box::new(output),
        })
    }
}

/// An end of a stream of lines.
struct End {
    lines: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
}

impl End {
    fn of(stream: DuplexStream) -> End {
        let (input, output) = split(stream);
        End {
            lines: BufReader::new(input),
            output,
        }
    }

    async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).await.expect("read");
        serde_json::from_str(&line).unwrap_or_default()
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.output
            .write_all(line.as_bytes())
            .await
            .expect("written");
    }
}

/// A relay between a client and these many holders.
fn relayed(
    holders: usize,
) -> (
    End,
    Vec<End>,
    tokio::task::JoinHandle<Result<(), RelayError>>,
) {
    let (client, ours) = duplex(1 << 16);
    let pairs: Vec<_> = (0..holders).map(|_| duplex(1 << 16)).collect();
    let (theirs, ends): (VecDeque<_>, Vec<_>) = pairs
        .into_iter()
        .map(|(here, there)| (here, End::of(there)))
        .unzip();
    let running = tokio::spawn(async move {
        let (input, output) = split(ours);
        let (_updates, updates) = mpsc::channel(1);
        let grace = Duration::from_secs(20);
        let stop = std::future::pending();
        relay(input, output, stop, updates, grace, &mut Holders(theirs)).await
    });
    (End::of(client), ends, running)
}

fn call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {}})
}

#[tokio::test]
async fn a_call_in_flight_is_sent_to_the_next_holder() {
    let (mut client, mut holders, running) = relayed(2);
    client.send(call(1)).await;
    client.send(call(2)).await;
    let mut first = holders.remove(0);
    assert_eq!(first.next().await["id"], 1);
    assert_eq!(first.next().await["id"], 2);
    // It answers one, and is killed.
    first.send(json!({"id": 1, "result": {}})).await;
    drop(first);
    let mut second = holders.remove(0);
    let again = second.next().await;
    assert_eq!(again["id"], 2);
    assert_eq!(again["params"]["_meta"]["notehost/call"][1], 1);
    second.send(json!({"id": 2, "result": {}})).await;
    assert_eq!(client.next().await["id"], 1);
    assert_eq!(client.next().await["id"], 2);
    drop(client);
    running.await.expect("no panic").expect("ended");
    assert_eq!(second.next().await, Value::Null);
}

#[tokio::test]
async fn requests_before_the_end_of_input_are_answered() {
    let (mut client, mut holders, running) = relayed(1);
    client.send(call(1)).await;
    client.output.shutdown().await.expect("closed");
    assert_eq!(holders[0].next().await["id"], 1);
    holders[0].send(json!({"id": 1, "result": {}})).await;
    assert_eq!(client.next().await["id"], 1);
    running.await.expect("no panic").expect("ended");
}

#[tokio::test]
async fn without_a_holder_requests_are_answered_with_an_error() {
    let (mut client, mut holders, running) = relayed(1);
    client.send(call(1)).await;
    assert_eq!(holders[0].next().await["id"], 1);
    holders.clear();
    let answer = client.next().await;
    assert_eq!(answer["error"]["message"], "no holder is left");
    assert!(running.await.expect("no panic").is_err());
}
