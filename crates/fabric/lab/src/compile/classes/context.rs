//! Inputs of the compilation of a traffic class.

use super::hosts::Hosts;
use crate::check::Subject;
use crate::compile::gathered::Gathered;
use crate::compile::network::Links;
use crate::scenario::{ScenarioSource, TrafficClass};
use gingham_input::InputError;
use gingham_topology::Fabric;
use std::fmt::Display;

pub(crate) struct ClassContext<'a> {
    pub(crate) source: &'a ScenarioSource,
    pub(crate) links: Links<'a>,
    pub(crate) fabric: &'a Fabric,
    pub(crate) hosts: &'a Hosts,
    pub(crate) index: usize,
    pub(crate) class: &'a TrafficClass,
}

impl ClassContext<'_> {
    pub(crate) fn path(&self, key: &str) -> String {
        format!("traffic.{}.{key}", self.index)
    }

    pub(crate) fn subject<T>(&self, of: T) -> Subject<'_, T> {
        Subject::of_class(self.source, self.index, of)
    }

    pub(crate) fn is_written(&self, key: &str) -> bool {
        self.source.tree.get(&self.path(key)).is_some()
    }

    pub(crate) fn class_called(&self, name: &str) -> Option<usize> {
        self.source.scenario.traffic.iter().position(|class| class.name == name)
    }

    pub(crate) fn error(&self, key: &str, message: impl Display) -> InputError {
        InputError::at(&self.source.tree, &self.path(key), message)
    }

    pub(crate) fn note(&self, gathered: &mut Gathered, text: impl Display) {
        gathered.notes.push(format!("class `{}`: {text}", self.class.name));
    }
}
