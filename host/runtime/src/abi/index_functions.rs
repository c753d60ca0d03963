//! The functions of the contract's `index` interface: queries of a guest, answered for the caller of the transaction.

use notehost_sdk::Code;
use notehost_sdk::wire::list;
use std::sync::atomic::Ordering;

use notehost_sdk::index::TagsQuery;
use tracing::instrument;
use wasmtime::component::Resource;

use super::super::state::Refusal;
use super::index_query::{MAX_QUERY_BYTES, check_size, query_bytes};
use super::v1::bindings::notehost::domain::index as wire;
use super::vault_view::{VaultHandle, VaultView, no_vault};
use notehost_index::{Answer, CancelFlag, MAX_RESULTS, Question};
use notehost_sdk::index as own;
use notehost_vault::{Effect, VaultError};

/// Cancels the query when the call has ended or was cancelled.
struct Waiting(CancelFlag);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl VaultView<'_> {
    async fn ask<T: TryFrom<Answer, Error = VaultError>>(
        &mut self,
        question: Question,
    ) -> Result<T, Refusal> {
        // Before anything is done for it.
        question.check()?;
        if let Some(index) = self.index.clone() {
            let answer = index.ask_if_quick(self.enter()?, &question);
            if let Some(answer) = answer {
                return Ok(answer?.try_into()?);
            }
        }
        Ok(self.ask_aside(question).await?.try_into()?)
    }

    /// Runs the query on a thread that may block, until the answer is no longer needed.
    async fn ask_aside(&mut self, question: Question) -> Result<Answer, Refusal> {
        let index = self.index.clone();
        let abandoned = CancelFlag::default();
        let _waiting = Waiting(abandoned.clone());
        self.enter_long(move |transaction| match index {
            Some(index) => index.ask_cancellable(transaction, question, Some(&abandoned)),
            None => Err(no_vault()),
        })
        .await
    }

    /// Counts a question, whose content is controlled by the guest: in an action that writes it is kept until the commit.
    fn hold(&mut self, bytes: usize) -> Result<(), Refusal> {
        match self.transaction {
            Some(transaction) if transaction.access().effect > Effect::Read => {
                Ok(transaction.retain(bytes)?)
            }
            _ => Ok(()),
        }
    }

    /// The same, for a question that must be short.
    fn hold_short(&mut self, texts: &[&str]) -> Result<(), Refusal> {
        let bytes = texts.iter().map(held_bytes).sum();
        self.hold(bytes)?;
        match bytes > MAX_QUERY_BYTES {
            true => Err(VaultError::too_large(format!(
                "an index query may have {MAX_QUERY_BYTES} bytes at most"
            ))
            .into()),
            false => Ok(()),
        }
    }
}

fn held_bytes(text: impl AsRef<str>) -> usize {
    text.as_ref().len() + size_of::<String>()
}

impl wire::Host for VaultView<'_> {
    #[instrument(name = "index.state", level = "debug", skip_all)]
    async fn state(&mut self, _: Resource<VaultHandle>) -> wasmtime::Result<wire::IndexState> {
        self.step()?;
        let (Some(index), Some(transaction)) = (self.index.clone(), self.transaction.as_ref())
        else {
            return Ok(None.into());
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
        Ok(state.into())
    }

    #[instrument(name = "index.find", level = "debug", skip_all)]
    async fn find(
        &mut self,
        _: Resource<VaultHandle>,
        query: wire::Query,
    ) -> Result<wire::Found, Refusal> {
        self.hold(query_bytes(&query))?;
        check_size(&query)?;
        let found: own::Found = self.ask(Question::Find(query.try_into()?)).await?;
        Ok(found.into())
    }

    #[instrument(name = "index.backlinks", level = "debug", skip_all)]
    async fn backlinks(
        &mut self,
        _: Resource<VaultHandle>,
        query: wire::BacklinksQuery,
    ) -> Result<wire::BacklinksPage, Refusal> {
        self.hold_short(&[&query.path])?;
        let backlinks: own::Backlinks = self.ask(Question::Backlinks(query.into())).await?;
        Ok(backlinks.into())
    }

    #[instrument(name = "index.unresolved", level = "debug", skip_all)]
    async fn unresolved(
        &mut self,
        _: Resource<VaultHandle>,
        query: wire::UnresolvedQuery,
    ) -> Result<wire::UnresolvedPage, Refusal> {
        self.hold_short(&[&query.under])?;
        let unresolved: own::Unresolved = self.ask(Question::Unresolved(query.into())).await?;
        Ok(unresolved.into())
    }

    #[instrument(name = "index.tags", level = "debug", skip_all)]
    async fn tags(
        &mut self,
        _: Resource<VaultHandle>,
        query: wire::TagsQuery,
    ) -> Result<wire::TagsPage, Refusal> {
        self.hold_short(&[&query.prefix, &query.under])?;
        let query = TagsQuery::from(query);
        let limit = query.limit.min(MAX_RESULTS);
        let question = Question::Tags(TagsQuery { limit, ..query });
        let tags: own::Tags = self.ask(question).await?;
        Ok(tags.into())
    }

    #[instrument(name = "index.edges", level = "debug", skip_all)]
    async fn edges(&mut self, _: Resource<VaultHandle>) -> Result<wire::LinkGraph, Refusal> {
        let edges: own::Edges = self.ask(Question::Edges).await?;
        Ok(edges.into())
    }

    #[instrument(name = "index.files", level = "debug", skip_all)]
    async fn files(&mut self, _: Resource<VaultHandle>) -> Result<Vec<String>, Refusal> {
        self.ask(Question::Files).await
    }

    #[instrument(name = "index.linking", level = "debug", skip_all)]
    async fn linking(
        &mut self,
        _: Resource<VaultHandle>,
        files: Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        self.hold(files.iter().map(held_bytes).sum())?;
        self.ask(Question::Linking(files)).await
    }

    #[instrument(name = "index.containing", level = "debug", skip_all)]
    async fn containing(
        &mut self,
        _: Resource<VaultHandle>,
        texts: Vec<Vec<String>>,
    ) -> Result<Vec<String>, Refusal> {
        self.hold(texts.iter().flatten().map(held_bytes).sum())?;
        self.ask(Question::Containing(texts)).await
    }

    #[instrument(name = "index.names_in", level = "debug", skip_all)]
    async fn names_in(
        &mut self,
        _: Resource<VaultHandle>,
        text: String,
    ) -> Result<Vec<wire::NameAt>, Refusal> {
        self.hold(text.len())?;
        let names: Vec<own::NameAt> = self.ask(Question::NamesIn(text)).await?;
        Ok(list(names))
    }
}
