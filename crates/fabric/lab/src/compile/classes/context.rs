//! What a class is compiled against, and how its mistakes are told.

use super::hosts::Hosts;
use crate::compile::gathered::Gathered;
use crate::compile::network::Links;
use crate::scenario::{ScenarioSource, TrafficClass};
use gingham_input::InputError;
use gingham_topology::Fabric;
use std::fmt::Display;

/// One class, where it stands, and what it is compiled against.
pub(crate) struct ClassContext<'a> {
    pub(crate) source: &'a ScenarioSource,
    pub(crate) links: Links<'a>,
    pub(crate) fabric: &'a Fabric,
    pub(crate) hosts: &'a Hosts,
    pub(crate) index: usize,
    pub(crate) class: &'a TrafficClass,
}

impl ClassContext<'_> {
    /// The dotted path of one of its keys.
    pub(crate) fn path(&self, key: &str) -> String {
        format!("traffic.{}.{key}", self.index)
    }

    pub(crate) fn error(&self, key: &str, message: impl Display) -> InputError {
        InputError::at(&self.source.tree, &self.path(key), message)
    }

    pub(crate) fn note(&self, gathered: &mut Gathered, text: impl Display) {
        gathered.notes.push(format!("class `{}`: {text}", self.class.name));
    }
}
