//! Replaces the index if the SDK is built without the feature `markdown`: every query is an error.

use super::view::View;
use crate::index::{
    Backlinks, BacklinksQuery, Edges, Found, IndexState, NameAt, Progress, Query, Tags, TagsQuery,
    Unresolved, UnresolvedQuery,
};
use crate::{Error, Result};

pub(super) fn state(_: &View<'_>) -> IndexState {
    IndexState {
        state: Progress::Building,
        done: 0,
        total: 0,
        assistant_tag: Some("assistant".to_owned()),
    }
}

pub(super) fn find(_: &View<'_>, _: &Query) -> Result<Found> {
    Err(missing())
}

pub(super) fn backlinks(_: &View<'_>, _: &BacklinksQuery) -> Result<Backlinks> {
    Err(missing())
}

pub(super) fn unresolved(_: &View<'_>, _: &UnresolvedQuery) -> Result<Unresolved> {
    Err(missing())
}

pub(super) fn tags(_: &View<'_>, _: &TagsQuery) -> Result<Tags> {
    Err(missing())
}

pub(super) fn edges(_: &View<'_>) -> Result<Edges> {
    Err(missing())
}

pub(super) fn linking(_: &View<'_>, _: &[String]) -> Result<Vec<String>> {
    Err(missing())
}

pub(super) fn containing(_: &View<'_>, _: &[Vec<String>]) -> Result<Vec<String>> {
    Err(missing())
}

pub(super) fn names_in(_: &View<'_>, _: &str) -> Result<Vec<NameAt>> {
    Err(missing())
}

fn missing() -> Error {
    Error::unsupported("the index of a vault in memory needs the feature `markdown`")
}
