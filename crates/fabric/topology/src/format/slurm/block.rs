//! Conversion of groups of switches to blocks of `topology/block`.
//!
//! Slurm combines adjacent blocks into blocks of larger sizes. In a two-level fabric, all units are
//! equally close, so only the base size is given.

use super::groups::Groups;
use super::members::first_of;
use super::{Below, Entry, Form, Topology};

pub(super) fn topology(groups: Groups) -> Topology {
    let mut entries = Vec::new();
    let mut sizes = Vec::new();
    for group in groups.all.into_iter().filter(|group| !group.nodes.is_empty()) {
        sizes.push(group.nodes.len());
        entries.push(Entry { name: group.name, below: Below::Nodes(group.nodes) });
    }
    let base = sizes.iter().copied().min().expect("a topology has nodes");
    let largest = sizes.iter().copied().max().expect("a topology has nodes");
    let mut notes = Vec::new();
    if base < largest {
        let smallest = entries.iter().zip(&sizes).filter(|(_, size)| **size == base);
        let names: Vec<&str> = smallest.map(|(entry, _)| &*entry.name).collect();
        notes.push(format!(
            "blocks of {base} to {largest} nodes: BlockSizes is {base}, the nodes of {}",
            first_of(&names)
        ));
    }
    Topology { form: Form::Block, entries, block_size: Some(base), comments: Vec::new(), notes }
}
