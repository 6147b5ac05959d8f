//! What a class is compiled against, and how its mistakes are told.

use super::hosts::Hosts;
use crate::compile::gathered::Gathered;
use crate::compile::network::Links;
use crate::scenario::{ScenarioSource, TrafficClass};
use gingham_input::InputError;
use gingham_topology::Fabric;
use std::fmt::Display;

/// One class, where it stands, and what it is compiled against.
pub(super) struct ClassContext<'a> {
    pub(super) source: &'a ScenarioSource,
    pub(super) links: Links<'a>,
    pub(super) fabric: &'a Fabric,
    pub(super) hosts: &'a Hosts,
    pub(super) index: usize,
    pub(super) class: &'a TrafficClass,
}

impl ClassContext<'_> {
    /// The dotted path of one of its keys.
    pub(super) fn path(&self, key: &str) -> String {
        format!("traffic.{}.{key}", self.index)
    }

    pub(super) fn error(&self, key: &str, message: impl Display) -> InputError {
        InputError::at(&self.source.tree, &self.path(key), message)
    }

    pub(super) fn note(&self, gathered: &mut Gathered, text: impl Display) {
        gathered.notes.push(format!("class `{}`: {text}", self.class.name));
    }
}
