//! What the relaying side remembers of its client's session, so that another holder can continue it: the handshake of MCP,
//! subscriptions, requests without an answer, questions of the holder. Pure: lines in, lines out.
//!
//! Bounds: `Session::has_room` is false while too much is unanswered, and then nothing more is read from the client. What a
//! client subscribed to is kept only if the holder accepted it, and a holder has bounds of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::CALL_KEY;
use crate::envelope::{Envelope, Params, place, spliced, with_member};

/// How many requests may be unanswered, and how many bytes they may have, before more is read: as for a client that is
/// served directly.
const MAX_UNANSWERED: usize = 1024;
const MAX_UNANSWERED_BYTES: usize = 160 << 20;
/// How many questions of the holder may wait for the client's answer.
const MAX_QUESTIONS: usize = 1024;
/// To how many holders a request is sent that none of them answers: it may be what ends them.
const MAX_HOLDERS: u32 = 6;
/// How many progress tokens are remembered.
const MAX_PROGRESS: usize = 4 * MAX_UNANSWERED;
/// How ids of the relay's own requests begin.
const OWN_ID: &str = "notehost-relay/";
/// The JSON-RPC error for requests that cannot be answered any more.
const INTERNAL_ERROR: i32 = -32603;

/// A client's session.
#[derive(Debug, Default)]
pub struct Session {
    /// The client's `initialize`, once answered or under way, and the notification that it is ready.
    initialize: Option<Vec<u8>>,
    initialized: Option<Vec<u8>>,
    subscriptions: BTreeSet<String>,
    /// The requests without an answer, in their order.
    unanswered: BTreeMap<u64, Request>,
    /// Their numbers by their ids as written.
    numbers: HashMap<String, u64>,
    bytes: usize,
    last_number: u64,
    /// The holder's ids of its questions, by the ids that the client knows.
    questions: HashMap<u64, String>,
    last_question: u64,
    /// The requests of the relay itself, whose answers are not the client's.
    own: HashSet<String>,
    last_own: u64,
    /// The greatest progress that was reported, by token.
    progress: HashMap<String, f64>,
    /// Whether a holder was connected before.
    is_continued: bool,
}

#[derive(Debug)]
struct Request {
    id: String,
    line: Vec<u8>,
    kind: Kind,
    progress_token: Option<String>,
    /// To how many holders it was sent.
    holders: u32,
}

#[derive(Debug)]
enum Kind {
    Plain,
    Initialize,
    Subscribe(String),
    Unsubscribe(String),
    /// A stream of notifications. Answered at its end only, which is the client's decision.
    Listen {
        is_acknowledged: bool,
    },
    /// A call of a tool. The byte at this place of its line shows whether it is sent again.
    Call {
        again_at: Option<usize>,
    },
}

impl Session {
    /// A session that has not begun.
    pub fn new() -> Session {
        Session::default()
    }

    /// Whether more may be read from the client.
    pub fn has_room(&self) -> bool {
        self.unanswered.len() < MAX_UNANSWERED && self.bytes < MAX_UNANSWERED_BYTES
    }

    /// Whether every request was answered, except streams, which have no end.
    pub fn is_idle(&self) -> bool {
        let requests = &mut self.unanswered.values();
        requests.all(|request| matches!(request.kind, Kind::Listen { .. }))
    }

    /// What a line of the client becomes for the holder. `None` if it is not for the holder.
    pub fn from_client(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let Some(envelope) = Envelope::of(&line) else {
            // The holder reports it.
            return Some(line);
        };
        match (envelope.id, envelope.method.as_deref()) {
            (Some(id), Some(method)) => {
                let request = self.request(&line, &envelope, id, method);
                Some(request.unwrap_or(line))
            }
            (None, Some("notifications/initialized")) => {
                self.initialized = Some(line.clone());
                Some(line)
            }
            (None, Some("notifications/cancelled")) => {
                if let Some(id) = envelope.params().request_id {
                    self.finish(id.get());
                }
                Some(line)
            }
            (None, _) => Some(line),
            (Some(id), None) => self.answer(&line, id),
        }
    }

    /// Remembers a request. Its line with the call's id, if it is a call.
    fn request(
        &mut self,
        line: &[u8],
        envelope: &Envelope<'_>,
        id: &RawValue,
        method: &str,
    ) -> Option<Vec<u8>> {
        // A second request with the id of one without an answer is the holder's to judge.
        if self.numbers.contains_key(id.get()) {
            return None;
        }
        let params = envelope.params();
        // The holder answers such a message without its id, or not at all: nobody would finish it here.
        if !is_answerable(envelope, id, &params) {
            return None;
        }
        self.last_number += 1;
        let uri = || params.uri.as_deref().unwrap_or_default().to_owned();
        let mut sent = None;
        let kind = match method {
            "initialize" => {
                self.initialize = Some(line.to_vec());
                Kind::Initialize
            }
            "resources/subscribe" => Kind::Subscribe(uri()),
            "resources/unsubscribe" => Kind::Unsubscribe(uri()),
            "subscriptions/listen" => Kind::Listen {
                is_acknowledged: false,
            },
            "tools/call" => {
                let member = format!("\"{CALL_KEY}\":[{},0]", self.last_number);
                // In the metadata, or in new ones.
                let made = match params.meta {
                    Some(meta) if meta.get() == "null" => {
                        let (place, opening) = (place(line, meta), "{");
                        let at = place.start + opening.len();
                        let with = format!("{opening}{member}}}");
                        Some((spliced(line, place, with.as_bytes()), at))
                    }
                    Some(meta) => with_member(line, meta, &member),
                    None => envelope.params.and_then(|params| {
                        with_member(line, params, &format!("\"_meta\":{{{member}}}"))
                            .map(|(line, at)| (line, at + "\"_meta\":{".len()))
                    }),
                };
                let again_at = made.as_ref().map(|(_, at)| at + member.len() - "0]".len());
                sent = made.map(|(line, _)| line);
                Kind::Call { again_at }
            }
            _ => Kind::Plain,
        };
        let token = params.meta().progress_token;
        let request = Request {
            id: id.get().to_owned(),
            line: sent.clone().unwrap_or_else(|| line.to_vec()),
            kind,
            progress_token: token.map(|token| token.get().to_owned()),
            holders: 1,
        };
        self.bytes += request.line.len();
        self.numbers.insert(request.id.clone(), self.last_number);
        self.unanswered.insert(self.last_number, request);
        sent
    }

    /// The client's answer to a question. `None` if its holder is gone.
    fn answer(&mut self, line: &[u8], id: &RawValue) -> Option<Vec<u8>> {
        let question = self.questions.remove(&id.get().parse().ok()?)?;
        Some(spliced(line, place(line, id), question.as_bytes()))
    }

    fn finish(&mut self, id: &str) -> Option<Request> {
        let number = self.numbers.remove(id)?;
        let request = self.unanswered.remove(&number)?;
        self.bytes -= request.line.len();
        if let Some(token) = &request.progress_token {
            self.progress.remove(token);
        }
        Some(request)
    }

    /// What a line of the holder becomes for the client. `None` if it is not for the client.
    pub fn from_holder(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let Some(envelope) = Envelope::of(&line) else {
            return Some(line);
        };
        match (envelope.id, envelope.method.as_deref()) {
            (Some(id), None) => {
                let is_passed = self.response(id.get(), envelope.result.is_some());
                is_passed.then_some(line)
            }
            (Some(id), Some(_)) => {
                let asked = self.ask(id.get());
                Some(spliced(
                    &line,
                    place(&line, id),
                    asked.to_string().as_bytes(),
                ))
            }
            (None, Some("notifications/progress")) => {
                let params = envelope.params();
                let advances = match (params.progress_token, params.progress) {
                    (Some(token), Some(progress)) => self.advances(token.get(), progress),
                    _ => true,
                };
                advances.then_some(line)
            }
            (None, Some("notifications/cancelled")) => {
                let id = envelope.params().request_id?;
                let known = self.questions.iter().find(|(_, own)| *own == id.get());
                let asked = *known?.0;
                self.questions.remove(&asked);
                Some(spliced(
                    &line,
                    place(&line, id),
                    asked.to_string().as_bytes(),
                ))
            }
            (None, Some("notifications/subscriptions/acknowledged")) => {
                let is_new = match envelope.params().meta().subscription {
                    Some(id) => self.acknowledge(id.get()),
                    None => true,
                };
                is_new.then_some(line)
            }
            (None, _) => Some(line),
        }
    }

    /// Whether a response is for the client.
    fn response(&mut self, id: &str, is_result: bool) -> bool {
        if self.own.remove(id) {
            return false;
        }
        let number = self.numbers.get(id).copied();
        let kind = number.and_then(|number| Some(&self.unanswered.get(&number)?.kind));
        // A holder that stops ends its streams; the next one continues them.
        if is_result && matches!(kind, Some(Kind::Listen { .. })) {
            return false;
        }
        if let Some(request) = self.finish(id) {
            match request.kind {
                Kind::Subscribe(uri) if is_result => _ = self.subscriptions.insert(uri),
                Kind::Unsubscribe(uri) if is_result => _ = self.subscriptions.remove(&uri),
                Kind::Initialize if !is_result => self.initialize = None,
                _ => {}
            }
        }
        true
    }

    /// The id of a question for the client.
    fn ask(&mut self, id: &str) -> u64 {
        if self.questions.len() >= MAX_QUESTIONS {
            let oldest = self.questions.keys().min().copied();
            oldest.map(|oldest| self.questions.remove(&oldest));
        }
        let asked = self.last_question;
        self.last_question += 1;
        self.questions.insert(asked, id.to_owned());
        asked
    }

    /// Whether progress is greater than what was reported: a call that runs again begins anew.
    fn advances(&mut self, token: &str, progress: f64) -> bool {
        let last = self.progress.get(token);
        if last.is_some_and(|last| progress <= *last) {
            return false;
        }
        if self.progress.len() < MAX_PROGRESS || last.is_some() {
            self.progress.insert(token.to_owned(), progress);
        }
        true
    }

    /// Whether the client does not know yet that its stream was opened.
    fn acknowledge(&mut self, id: &str) -> bool {
        let number = self.numbers.get(id);
        let request = number.and_then(|number| self.unanswered.get_mut(number));
        match request.map(|request| &mut request.kind) {
            Some(Kind::Listen { is_acknowledged }) => !mem::replace(is_acknowledged, true),
            _ => true,
        }
    }

    /// The holder is gone: lines for the client, whose open questions nobody waits for any more.
    pub fn disconnected(&mut self) -> Vec<Vec<u8>> {
        self.own.clear();
        let mut questions: Vec<u64> = self.questions.drain().map(|(id, _)| id).collect();
        questions.sort_unstable();
        let cancelled = questions.into_iter().map(|id| {
            to_line(&json!({
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": id, "reason": "the server was replaced; it asks again"},
            }))
        });
        cancelled.collect()
    }

    /// Another holder is connected: the lines that continue the session there, in order.
    pub fn connected(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let is_continued = mem::replace(&mut self.is_continued, true);
        let is_initializing = |request: &Request| matches!(request.kind, Kind::Initialize);
        if let Some(initialize) = self.initialize.clone()
            && !self.unanswered.values().any(is_initializing)
        {
            let own = self.own_id();
            if let Some(id) = Envelope::of(&initialize).and_then(|envelope| envelope.id) {
                lines.push(spliced(&initialize, place(&initialize, id), own.as_bytes()));
            }
            lines.extend(self.initialized.clone());
            for uri in self.subscriptions.clone() {
                let own = self.own_id();
                lines.push(to_line(&json!({
                    "jsonrpc": "2.0",
                    "id": serde_json::from_str::<Value>(&own).unwrap_or_default(),
                    "method": "resources/subscribe",
                    "params": {"uri": uri},
                })));
            }
        }
        for request in self.unanswered.values_mut() {
            request.holders += u32::from(is_continued);
            if let Kind::Call {
                again_at: Some(again_at),
            } = request.kind
                && is_continued
            {
                request.line[again_at] = b'1';
            }
            lines.push(request.line.clone());
        }
        lines
    }

    /// Lines for the client after another holder has taken over: the set of tools may be another one, and what it
    /// subscribed to may have changed while nobody watched.
    pub fn news(&self) -> Vec<Vec<u8>> {
        if self.initialized.is_none() {
            return Vec::new();
        }
        let notice = |method: &str, params: Value| {
            to_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
        };
        let lists = ["tools", "prompts", "resources"];
        let lists =
            lists.map(|list| notice(&format!("notifications/{list}/list_changed"), json!({})));
        let subscriptions = self.subscriptions.iter();
        let updates =
            subscriptions.map(|uri| notice("notifications/resources/updated", json!({"uri": uri})));
        lists.into_iter().chain(updates).collect()
    }

    /// No holder can be reached: an error for every request without an answer.
    pub fn fail(&mut self, message: &str) -> Vec<Vec<u8>> {
        self.fail_if(message, |_| true)
    }

    /// The same for requests that several holders did not answer before they went. A stream and the handshake stay: they
    /// wait for nothing that a holder computes.
    pub fn fail_often_sent(&mut self) -> Vec<Vec<u8>> {
        let message = format!(
            "{MAX_HOLDERS} processes that served the vault ended before they answered this; it is not sent again"
        );
        self.fail_if(&message, |request| {
            let is_call = matches!(request.kind, Kind::Plain | Kind::Call { .. });
            is_call && request.holders >= MAX_HOLDERS
        })
    }

    fn fail_if(&mut self, message: &str, is_failed: impl Fn(&Request) -> bool) -> Vec<Vec<u8>> {
        let failed = self
            .unanswered
            .values()
            .filter(|request| is_failed(request));
        let ids: Vec<String> = failed.map(|request| request.id.clone()).collect();
        let errors = ids.iter().map(|id| {
            self.finish(id);
            to_line(&json!({
                "jsonrpc": "2.0",
                "id": serde_json::from_str::<Value>(id).unwrap_or_default(),
                "error": {"code": INTERNAL_ERROR, "message": message},
            }))
        });
        errors.collect()
    }

    /// A new id of a request of the relay itself, as written.
    fn own_id(&mut self) -> String {
        self.last_own += 1;
        let id = format!("\"{OWN_ID}{}\"", self.last_own);
        self.own.insert(id.clone());
        id
    }
}

fn to_line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// Whether a request has the shape of which a response has its id.
fn is_answerable(envelope: &Envelope<'_>, id: &RawValue, params: &Params<'_>) -> bool {
    let is_id = id.get().starts_with('"') || id.get().parse::<i64>().is_ok();
    let meta = params.meta.map(RawValue::get);
    let is_meta = meta.is_none_or(|meta| meta == "null" || meta.starts_with('{'));
    envelope.jsonrpc.as_deref() == Some("2.0") && is_id && is_meta
}

#[cfg(test)]
mod tests;
