//! The tracks of the contract that this host supports, one file each (`v1`), and their shared parts.
//! Generated bindings and the track of a component are not visible outside this folder.

mod call;
mod environment_functions;
mod form;
mod host_functions;
mod index_answer;
mod index_functions;
mod index_query;
mod v1;
mod vault_view;

pub(super) use call::{call, describe};

use wasmtime::Engine;
use wasmtime::component::{Component, HasData, Linker};

use super::Sandbox;
use super::component::LoadError;
use super::contract::{Track, track_of};
use super::state::CallState;
use vault_view::VaultView;

/// A component that was linked, ready for instances.
pub(super) struct Ready {
    name: String,
    instances: Instances,
}

/// What makes instances, by the track of the component.
enum Instances {
    V1Rc1(v1::Instances),
}

/// Lends a call's view of the vault to the host functions, and nothing else of the host.
struct Lends;

impl HasData for Lends {
    type Data<'a> = VaultView<'a>;
}

/// Everything that a component may import, of all tracks: the version is part of each name.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    super::http::tell_codes(&mut linker)?;
    v1::add_to_linker(&mut linker)?;
    Ok(linker)
}

/// Checks a component against the contract that it was built for.
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
    let track = track_of(exports.into_iter()).map_err(|error| LoadError::Unfit {
        name: name.to_owned(),
        reason: error.into(),
    })?;
    let linker = &sandbox.linker;
    let instances = match track {
        Track::V1Rc1 => v1::instances(linker, component).map(Instances::V1Rc1),
    };
    let instances = instances.map_err(|mismatch| LoadError::OtherForm {
        name: name.to_owned(),
        contract: mismatch.contract,
        reason: mismatch.reason,
    })?;
    Ok(Ready {
        name: name.to_owned(),
        instances,
    })
}
