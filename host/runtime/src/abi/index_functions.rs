//! The functions of the contract's `index` interface: queries arrive as JSON and are answered for the caller of the
//! transaction.

use notehost_sdk::Code;
use std::sync::atomic::Ordering;

use notehost_sdk::index::TagsQuery;
use serde::de::DeserializeOwned;
use wasmtime::component::Resource;

use super::super::state::Refusal;
use super::host_functions::{VaultHandle, VaultView, no_vault};
use super::v0_1::bindings::notehost::domain::index as wire;
use notehost_index::{Answer, CancelFlag, MAX_RESULTS, Question};
use notehost_vault::{Effect, VaultError};

/// The longest query: most of it can only be a text that notes shall be like.
const MAX_QUERY_BYTES: usize = 8 << 20;
/// The longest other question, and the longest query that is parsed on an async worker.
const MAX_QUESTION_BYTES: usize = 256 << 10;
/// How much of a query may be outside of strings: what is parsed of it takes many times as much memory.
const MAX_STRUCTURE_BYTES: usize = 256 << 10;

/// Says, when the call is over or was cancelled, that nobody waits for its answer.
struct Waiting(CancelFlag);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl VaultView<'_> {
    async fn ask(&mut self, question: Question) -> Result<Answer, Refusal> {
        // Before anything is done for it.
        question.check()?;
        if let Some(index) = self.index.clone() {
            let answer = index.ask_if_quick(self.enter()?, &question);
            if let Some(answer) = answer {
                return Ok(answer?);
            }
        }
        self.ask_aside(move || Ok(question)).await
    }

    /// Asks on a thread on which nobody waits, until nobody waits for the answer either.
    async fn ask_aside(
        &mut self,
        question: impl FnOnce() -> Result<Question, VaultError> + Send + 'static,
    ) -> Result<Answer, Refusal> {
        let index = self.index.clone();
        let abandoned = CancelFlag::default();
        let _waiting = Waiting(abandoned.clone());
        self.enter_long(move |transaction| match index {
            Some(index) => index.ask_cancellable(transaction, question()?, Some(&abandoned)),
            None => Err(no_vault()),
        })
        .await
    }

    /// Counts a question, whose content is controlled by the guest: in an action that writes it is held until the commit.
    fn hold(&mut self, bytes: usize) -> Result<(), Refusal> {
        match self.transaction {
            Some(transaction) if transaction.terms().effect > Effect::Read => {
                Ok(transaction.retain(bytes)?)
            }
            _ => Ok(()),
        }
    }

    async fn ask_for_json(&mut self, question: Question) -> Result<String, Refusal> {
        as_json(self.ask(question).await?)
    }

    async fn ask_for_paths(&mut self, question: Question) -> Result<Vec<String>, Refusal> {
        match self.ask(question).await? {
            Answer::Paths(paths) => Ok(paths),
            Answer::Json(_) => Err(VaultError::broken("the index returned no paths").into()),
        }
    }
}

fn held_bytes(text: impl AsRef<str>) -> usize {
    text.as_ref().len() + size_of::<String>()
}

fn as_json(answer: Answer) -> Result<String, Refusal> {
    match answer {
        Answer::Json(json) => Ok(json),
        Answer::Paths(_) => Err(VaultError::broken("the index returned paths").into()),
    }
}

/// Controlled by the guest: a question that cannot be read is its mistake.
fn read<T: DeserializeOwned>(json: &str) -> Result<T, VaultError> {
    bounded(json, MAX_QUESTION_BYTES)?;
    parsed(json)
}

/// The same for a query, which may have a long text in it.
fn read_query(json: &str) -> Result<Question, VaultError> {
    bounded(json, MAX_QUERY_BYTES)?;
    if structure_bytes(json) > MAX_STRUCTURE_BYTES {
        return Err(VaultError::too_large(format!(
            "a query may have {MAX_STRUCTURE_BYTES} bytes at most, not counting its texts"
        )));
    }
    Ok(Question::Find(parsed(json)?))
}

fn bounded(json: &str, limit: usize) -> Result<(), VaultError> {
    match json.len() > limit {
        true => Err(VaultError::too_large(format!(
            "an index query may have {limit} bytes at most"
        ))),
        false => Ok(()),
    }
}

fn parsed<T: DeserializeOwned>(json: &str) -> Result<T, VaultError> {
    serde_json::from_str(json)
        .map_err(|error| VaultError::invalid(format!("invalid index query: {error}")))
}

/// How many bytes of a JSON text are not within strings; quotes count.
fn structure_bytes(json: &str) -> usize {
    let bytes = json.as_bytes();
    let (mut at, mut outside) = (0, 0);
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
        outside += quote + 2;
        at += quote + 1;
        loop {
            let Some(special) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
                // A string without an end.
                return outside;
            };
            let is_end = bytes[at + special] == b'"';
            // An escaped quote does not end a string.
            at = bytes.len().min(at + special + if is_end { 1 } else { 2 });
            if is_end {
                break;
            }
        }
    }
    outside + bytes.len() - at
}

impl wire::Host for VaultView<'_> {
    async fn state(&mut self, _: Resource<VaultHandle>) -> wasmtime::Result<String> {
        self.step()?;
        let (Some(index), Some(transaction)) = (self.index.clone(), self.transaction.as_ref())
        else {
            return Ok("null".to_owned());
        };
        let mut state = index.state_if_quick(transaction);
        if state.is_none() {
            // Notes that were just written are read first, which may take a while.
            let aside = self.enter_long(move |transaction| index.state(transaction));
            state = match aside.await {
                Ok(state) => Some(state),
                Err(Refusal::Stop(stopped)) => return Err(stopped.into()),
                Err(Refusal::Error(error)) if error.code() == Code::Timeout => {
                    // The deadline of the call, which ends here.
                    self.step()?;
                    return Err(wasmtime::Error::msg(error.to_string()));
                }
                Err(Refusal::Error(_)) => None,
            };
        }
        Ok(serde_json::to_string(&state).unwrap_or_default())
    }

    async fn find(&mut self, _: Resource<VaultHandle>, query: String) -> Result<String, Refusal> {
        self.hold(query.len())?;
        if query.len() <= MAX_QUESTION_BYTES {
            let question = read_query(&query)?;
            return self.ask_for_json(question).await;
        }
        // So long a text is parsed where that holds up nobody.
        as_json(self.ask_aside(move || read_query(&query)).await?)
    }

    async fn backlinks(&mut self, _: Resource<VaultHandle>, of: String) -> Result<String, Refusal> {
        self.hold(of.len())?;
        self.ask_for_json(Question::Backlinks(read(&of)?)).await
    }

    async fn unresolved(
        &mut self,
        _: Resource<VaultHandle>,
        within: String,
    ) -> Result<String, Refusal> {
        self.hold(within.len())?;
        self.ask_for_json(Question::Unresolved(read(&within)?))
            .await
    }

    async fn tags(&mut self, _: Resource<VaultHandle>, of: String) -> Result<String, Refusal> {
        self.hold(of.len())?;
        let of: TagsQuery = read(&of)?;
        let limit = of.limit.min(MAX_RESULTS);
        self.ask_for_json(Question::Tags(TagsQuery { limit, ..of }))
            .await
    }

    async fn edges(&mut self, _: Resource<VaultHandle>) -> Result<String, Refusal> {
        self.ask_for_json(Question::Edges).await
    }

    async fn files(&mut self, _: Resource<VaultHandle>) -> Result<Vec<String>, Refusal> {
        self.ask_for_paths(Question::Files).await
    }

    async fn linking(
        &mut self,
        _: Resource<VaultHandle>,
        files: Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        self.hold(files.iter().map(held_bytes).sum())?;
        self.ask_for_paths(Question::Linking(files)).await
    }

    async fn containing(
        &mut self,
        _: Resource<VaultHandle>,
        texts: Vec<Vec<String>>,
    ) -> Result<Vec<String>, Refusal> {
        self.hold(texts.iter().flatten().map(held_bytes).sum())?;
        self.ask_for_paths(Question::Containing(texts)).await
    }

    async fn names_in(
        &mut self,
        _: Resource<VaultHandle>,
        text: String,
    ) -> Result<String, Refusal> {
        self.hold(text.len())?;
        self.ask_for_json(Question::NamesIn(text)).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_do_not_count_as_structure() {
        for (json, outside) in [
            ("", 0),
            ("{}", 2),
            (r#"{"a":1}"#, 6),
            (r#"{"where":{"like":"a \" {[,:"}}"#, 12),
            (r#""\\""#, 2),
            (r#""open"#, 2),
            (r#""\"#, 2),
        ] {
            assert_eq!(structure_bytes(json), outside, "{json}");
        }
    }

    #[test]
    fn only_the_text_of_a_query_may_be_long() {
        let long = json!({"where": {"like": "\"a\" ".repeat(300_000)}, "limit": 1}).to_string();
        assert!(long.len() > MAX_QUESTION_BYTES && read_query(&long).is_ok());
        let wide = json!({"where": {"any": vec![json!({"any": []}); 40_000]}, "limit": 1});
        let refused = read_query(&wide.to_string()).unwrap_err();
        assert_eq!(refused.code(), "too_large");
        let path = "x".repeat(MAX_QUESTION_BYTES);
        let backlinks = json!({"path": path, "limit": 1}).to_string();
        let refused = read::<notehost_sdk::index::BacklinksQuery>(&backlinks).unwrap_err();
        assert_eq!(refused.code(), "too_large");
    }
}
