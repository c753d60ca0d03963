//! The functions of the contract's `index` interface: questions come in as JSON, the index answers for whoever began
//! the call's transaction.

use serde::de::DeserializeOwned;
use wasmtime::component::Resource;

use super::super::state::Refusal;
use super::host_functions::{VaultHandle, VaultView, no_vault};
use super::v0_1::bindings::notehost::domain::index as wire;
use crate::index::{Answer, Question};
use crate::vault::VaultError;

impl VaultView<'_> {
    async fn ask(&mut self, question: Question) -> Result<Answer, Refusal> {
        let index = self.index.clone();
        let is_quick = match (&index, &self.transaction) {
            (Some(index), Some(transaction)) => index.is_quick(transaction, &question),
            _ => false,
        };
        if let (true, Some(index)) = (is_quick, &index) {
            return Ok(index.ask(self.enter()?, question)?);
        }
        self.enter_long(move |transaction| match index {
            Some(index) => index.ask(transaction, question),
            None => Err(no_vault()),
        })
        .await
    }

    async fn ask_for_json(&mut self, question: Question) -> Result<String, Refusal> {
        match self.ask(question).await? {
            Answer::Json(json) => Ok(json),
            Answer::Paths(_) => Err(VaultError::broken("the index answered paths").into()),
        }
    }

    async fn ask_for_paths(&mut self, question: Question) -> Result<Vec<String>, Refusal> {
        match self.ask(question).await? {
            Answer::Paths(paths) => Ok(paths),
            Answer::Json(_) => Err(VaultError::broken("the index answered no paths").into()),
        }
    }
}

/// Controlled by the guest: a question that cannot be read is its mistake.
fn read<T: DeserializeOwned>(json: &str) -> Result<T, Refusal> {
    serde_json::from_str(json).map_err(|error| {
        Refusal::Error(VaultError::invalid(format!(
            "the question cannot be understood: {error}"
        )))
    })
}

impl wire::Host for VaultView<'_> {
    async fn state(&mut self, _: Resource<VaultHandle>) -> wasmtime::Result<String> {
        self.step()?;
        let state = match (self.index, &self.transaction) {
            (Some(index), Some(transaction)) => Some(index.state(transaction)),
            _ => None,
        };
        Ok(serde_json::to_string(&state).unwrap_or_default())
    }

    async fn find(&mut self, _: Resource<VaultHandle>, query: String) -> Result<String, Refusal> {
        self.ask_for_json(Question::Find(read(&query)?)).await
    }

    async fn backlinks(&mut self, _: Resource<VaultHandle>, of: String) -> Result<String, Refusal> {
        self.ask_for_json(Question::Backlinks(read(&of)?)).await
    }

    async fn unresolved(
        &mut self,
        _: Resource<VaultHandle>,
        within: String,
    ) -> Result<String, Refusal> {
        self.ask_for_json(Question::Unresolved(read(&within)?))
            .await
    }

    async fn tags(&mut self, _: Resource<VaultHandle>, of: String) -> Result<String, Refusal> {
        self.ask_for_json(Question::Tags(read(&of)?)).await
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
        self.ask_for_paths(Question::Linking(files)).await
    }

    async fn containing(
        &mut self,
        _: Resource<VaultHandle>,
        texts: Vec<Vec<String>>,
    ) -> Result<Vec<String>, Refusal> {
        self.ask_for_paths(Question::Containing(texts)).await
    }

    async fn names_in(
        &mut self,
        _: Resource<VaultHandle>,
        text: String,
    ) -> Result<String, Refusal> {
        self.ask_for_json(Question::NamesIn(text)).await
    }
}
