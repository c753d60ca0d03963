//! Checks a component's imports and exports against the types of the contract, with readable errors in place of the
//! linker's.

use wasmtime::Engine;
use wasmtime::component::types::{Component as ComponentType, ComponentItem};
use wasmtime::component::{Component, ComponentNamedList, Lift, Linker, Lower};

use super::super::component::one_line;
use super::super::contract::{Contract, Track};
use super::super::state::CallState;

/// Why a component does not match the contract.
pub(super) struct ContractMismatch {
    /// The contract that the component declares.
    pub(super) contract: String,
    /// What does not match.
    pub(super) reason: String,
}

/// The types of a component that exports a domain.
pub(super) struct Form {
    /// Its types, with the host's handles in place of the imported ones.
    types: ComponentType,
    engine: Engine,
    /// The full name of its export, and the version in it.
    export: String,
    contract: Contract,
}

impl Form {
    /// The types of a component of this track, if the host provides all of its imports.
    pub(super) fn of(
        track: Track,
        linker: &Linker<CallState>,
        component: &Component,
    ) -> Result<Form, ContractMismatch> {
        let engine = component.engine();
        let own = component.component_type();
        let exports = own.exports(engine);
        let found = exports
            .filter_map(|(name, _)| Some((name.to_owned(), Contract::of_export(name)?)))
            .find(|(_, contract)| track.has(contract));
        let Some((export, contract)) = found else {
            return Err(ContractMismatch {
                contract: track.newest().to_string(),
                reason: "it does not export that version of the domain interface".into(),
            });
        };
        let mismatch = |reason| ContractMismatch {
            contract: contract.to_string(),
            reason: with_advice(reason, track, &contract),
        };
        let types = linker.substituted_component_type(component);
        let types = types.map_err(|error| mismatch(unknown_import(&one_line(&error))))?;
        Ok(Form {
            types,
            engine: engine.clone(),
            export,
            contract,
        })
    }

    /// Checks one of its exported functions against the contract's types.
    pub(super) fn check<Parameters, Returned>(
        &self,
        function: &str,
        signature: &str,
    ) -> Result<(), ContractMismatch>
    where
        Parameters: ComponentNamedList + Lower,
        Returned: ComponentNamedList + Lift,
    {
        let mismatch = |reason| ContractMismatch {
            contract: self.contract.to_string(),
            reason,
        };
        let export = self.types.get_export(&self.engine, &self.export);
        let Some(ComponentItem::ComponentInstance(interface)) = export.map(|export| export.ty)
        else {
            return Err(mismatch(format!(
                "its `{}` is not an interface",
                self.export
            )));
        };
        let item = interface.get_export(&self.engine, function);
        let Some(ComponentItem::ComponentFunc(found)) = item.map(|item| item.ty) else {
            return Err(mismatch(format!(
                "its `{}` has no function `{function}`; it should have `{signature}`",
                self.export
            )));
        };
        let typed = found.typecheck::<Parameters, Returned>(&self.types.instance_type());
        typed.map_err(|error| {
            tracing::debug!("`{function}` has another type: {error:#}");
            mismatch(format!(
                "its function `{function}` does not have the signature `{signature}`"
            ))
        })
    }

    /// Any other mismatch, in the linker's words.
    pub(super) fn mismatch(&self, error: &wasmtime::Error) -> ContractMismatch {
        ContractMismatch {
            contract: self.contract.to_string(),
            reason: one_line(error),
        }
    }
}

/// The unknown import, from the linker's message.
fn unknown_import(error: &str) -> String {
    let quoted = |after: &str| {
        let (_, rest) = error.split_once(after)?;
        let (name, _) = rest.split_once('`')?;
        Some(name.to_owned())
    };
    match (quoted("imports instance `"), quoted("instance export `")) {
        (Some(interface), Some(item)) => format!(
            "it imports `{item}` of `{interface}`, which this host does not provide with that type"
        ),
        (Some(interface), None) => {
            format!("it imports `{interface}`, which this host does not provide with that type")
        }
        _ => format!("it has an import that this host does not provide: {error}"),
    }
}

fn with_advice(reason: String, track: Track, contract: &Contract) -> String {
    match *contract > track.newest() {
        true => format!(
            "{reason}; it was built for {contract}, and this host has {}: upgrade notehost",
            track.newest()
        ),
        false => reason,
    }
}
