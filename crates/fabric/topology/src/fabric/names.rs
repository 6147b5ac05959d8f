//! Unique node names and the canonical node order.

use super::{Guid, Node, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Replaces each empty or shared name by the node's dump id. Names that still clash are numbered in
/// canonical order.
pub(super) fn make_names_unique(nodes: &mut [Node]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes.iter() {
        *count.entry(node.name.clone()).or_default() += 1;
    }
    for node in nodes.iter_mut() {
        if (count[&node.name] > 1 || node.name.is_empty())
            && let Some(id) = node.dump_id()
        {
            node.name = id;
        }
    }
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_cached_key(|index| canonical_key(&nodes[*index]));
    let mut used: BTreeSet<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut next_number: BTreeMap<String, u64> = BTreeMap::new();
    for index in order {
        let name = nodes[index].name.clone();
        let number = next_number.entry(name.clone()).or_insert(1);
        while *number > 1 {
            nodes[index].name = format!("{name}~{number}");
            if used.insert(nodes[index].name.clone()) {
                break;
            }
            *number += 1;
        }
        *number += 1;
    }
}

/// Returns the sort key of a node: kind, GUID (nodes without a GUID last), then name.
pub(super) fn canonical_key(node: &Node) -> (NodeKind, bool, Option<Guid>, Vec<NamePart>) {
    (node.kind, node.guid.is_none(), node.guid, natural_key(&node.name))
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum NamePart {
    Number(u64),
    Text(String),
}

/// Returns a sort key that compares numbers in names by value: `h9` before `h10`.
pub(crate) fn natural_key(name: &str) -> Vec<NamePart> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let numeric = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != numeric).unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        parts.push(match part.parse() {
            Ok(number) if numeric => NamePart::Number(number),
            _ => NamePart::Text(part.to_owned()),
        });
        rest = tail;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        assert!(natural_key("h9") < natural_key("h10"));
        assert!(natural_key("h9-2") < natural_key("h9-11"));
    }
}
