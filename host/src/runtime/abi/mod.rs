//! The tracks of the contract that this host speaks, one file each. Nothing outside this folder knows generated
//! bindings.

mod form;
mod host_functions;
mod index_functions;
mod surrounding_functions;
mod v0_1;

pub(super) use v0_1::{Ready, call, describe, linker};

use wasmtime::component::Component;

use super::Sandbox;
use super::component::LoadError;
use super::contract::track_of;

/// Check a component against the contract that it was built for.
pub(super) fn ready(
    name: &str,
    sandbox: &Sandbox,
    component: &Component,
) -> Result<Ready, LoadError> {
    let component_type = component.component_type();
    let exports: Vec<&str> = component_type
        .exports(&sandbox.engine)
        .map(|(name, _)| name)
        .collect();
    track_of(exports.iter().copied()).map_err(|error| LoadError::Unfit {
        name: name.to_owned(),
        reason: error.into(),
    })?;
    v0_1::ready(name, sandbox, component).map_err(|misfit| LoadError::OtherForm {
        name: name.to_owned(),
        contract: misfit.contract,
        reason: misfit.reason,
    })
}
