//! Resolution of cable ends to ports.

use super::schema::CableTable;
use crate::format::error::FormatError;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

pub(super) type NodePort = (usize, u16);

#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, usize>);

impl Names {
    pub(super) fn add(&mut self, name: &str) -> bool {
        let next = self.0.len();
        self.0.insert(name.to_owned(), next).is_none()
    }

    fn nearest(&self, name: &str) -> Option<&str> {
        let distance = |known: &&String| strsim::damerau_levenshtein(name, known);
        self.0.keys().min_by_key(distance).map(String::as_str)
    }
}

#[derive(Debug)]
pub(super) struct Ends<'a> {
    text: &'a str,
    names: &'a Names,
    claims: &'a [Option<u16>],
    taken: BTreeSet<NodePort>,
    /// Lowest port of each node that may be free.
    lowest: Vec<u16>,
}

impl<'a> Ends<'a> {
    pub(super) fn new(text: &'a str, names: &'a Names, claims: &'a [Option<u16>]) -> Self {
        Self { text, names, claims, taken: BTreeSet::new(), lowest: vec![1; claims.len()] }
    }

    pub(super) fn resolve(
        &mut self,
        cables: &[CableTable],
    ) -> Result<Vec<[NodePort; 2]>, FormatError> {
        let mut found = Vec::new();
        for cable in cables {
            found.push([self.named(&cable.ends[0])?, self.named(&cable.ends[1])?]);
        }
        let mut places = Vec::new();
        for (cable, found) in cables.iter().zip(found) {
            let first = self.place(&cable.ends[0], found[0])?;
            places.push([first, self.place(&cable.ends[1], found[1])?]);
        }
        Ok(places)
    }

    /// Returns the number of ports of a node: the declared number, otherwise the highest cabled
    /// port.
    pub(super) fn ports(&self, node: usize) -> u16 {
        let used = || self.taken.range((node, 0)..=(node, u16::MAX)).next_back();
        self.claims[node].unwrap_or_else(|| used().map_or(0, |(_, port)| *port))
    }

    fn named(&mut self, end: &Spanned<String>) -> Result<(usize, Option<u16>), FormatError> {
        if let Some((name, port)) = split(end.get_ref())
            && let Some(node) = self.names.0.get(name).copied()
        {
            self.take(end, node, port)?;
            return Ok((node, Some(port)));
        }
        match self.names.0.get(end.get_ref()) {
            Some(node) => Ok((*node, None)),
            None => Err(self.unknown(end)),
        }
    }

    fn take(&mut self, end: &Spanned<String>, node: usize, port: u16) -> Result<(), FormatError> {
        let ports = self.claims[node].unwrap_or(u16::MAX);
        if port == 0 || port > ports {
            let name = split(end.get_ref()).map_or("", |(name, _)| name);
            let message = format!("{name} has ports 1 to {ports}, not {port}");
            return Err(self.error(end, message, "expected one of them"));
        }
        if !self.taken.insert((node, port)) {
            let message = format!("{} holds a cable already", end.get_ref());
            return Err(self.error(end, message, "expected a free port"));
        }
        Ok(())
    }

    fn place(
        &mut self,
        end: &Spanned<String>,
        (node, port): (usize, Option<u16>),
    ) -> Result<NodePort, FormatError> {
        if let Some(port) = port {
            return Ok((node, port));
        }
        let ports = self.claims[node].unwrap_or(u16::MAX);
        let free = (self.lowest[node]..=ports).find(|port| !self.taken.contains(&(node, *port)));
        let Some(port) = free else {
            let message = format!("none of the {ports} ports of {} is free", end.get_ref());
            return Err(self.error(end, message, "expected fewer cables or more `ports`"));
        };
        self.taken.insert((node, port));
        self.lowest[node] = port;
        Ok((node, port))
    }

    fn unknown(&self, end: &Spanned<String>) -> FormatError {
        let name = split(end.get_ref()).map_or(end.get_ref().as_str(), |(name, _)| name);
        let expected = match self.names.nearest(name) {
            Some(nearest) => format!("did you mean {nearest:?}?"),
            None => "expected a [[switch]] or [[host]] of this name".to_owned(),
        };
        self.error(end, format!("no node is called {name:?}"), &expected)
    }

    fn error(&self, end: &Spanned<String>, message: String, expected: &str) -> FormatError {
        FormatError::at_offset(self.text, end.span().start, message, expected)
    }
}

/// Splits `name[port]`; the name may contain brackets.
fn split(end: &str) -> Option<(&str, u16)> {
    let (name, port) = end.strip_suffix(']')?.rsplit_once('[')?;
    Some((name, port.parse().ok()?))
}
