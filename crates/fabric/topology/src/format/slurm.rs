//! Slurm's topology files, used for job placement.
//!
//! ```text
//!   topology.conf, tree                 topology.conf, block       topology.yaml
//!   SwitchName=leaf1 Nodes=n1,n2        BlockName=b1 Nodes=n1,n2   - topology: "tree"
//!   SwitchName=leaf2 Nodes=n3           BlockName=b2 Nodes=n3        cluster_default: true
//!   SwitchName=top Switches=leaf1,..    BlockSizes=1                 tree:
//!                                                                      switches: ..
//! ```
//!
//! Each unit of the [`Cluster`] (nodes on common leaf switches) becomes one leaf switch or one
//! block.
//!
//! - **Tree** (`tree`): units and other switches form a tree if their cables do; otherwise one top
//!   switch replaces all switches without nodes. A switch with both nodes and child switches is
//!   split in two.
//! - **Block** (`block`): one block per unit with compute nodes. The base block size is the size of
//!   the smallest block, because Slurm refuses blocks below the base size.
//! - **YAML**: several topologies in one file.
//!
//! Invariants: switches precede their parents; each node occurs once; names have at most 64
//! characters of `[A-Za-z0-9_.-]`; every topology has nodes, because Slurm would not start
//! otherwise.
//!
//! Sources: Slurm, `topology.conf(5)`, `topology.yaml(5)` of 25.05.

mod block;
mod groups;
mod members;
mod names;
mod text;
mod tree;

use self::groups::Groups;
use self::members::Members;
use super::error::WriteError;
use super::text::Written;
use crate::Fabric;
use crate::cluster::{Cluster, Naming};
use std::collections::BTreeSet;

/// Topology plug-in of Slurm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `topology/tree`.
    Tree,
    /// `topology/block`.
    Block,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 2] = [Self::Tree, Self::Block];

    /// Returns the name used in options and `topology.yaml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Block => "block",
        }
    }

    /// Returns the form with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// Slurm topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Topology plug-in.
    pub form: Form,
    /// Switches or blocks in file order.
    pub entries: Vec<Entry>,
    /// Base block size in nodes; `None` for a tree.
    pub block_size: Option<usize>,
    comments: Vec<String>,
    /// Sentences about decisions and omissions, for users.
    pub notes: Vec<String>,
}

/// Switch of a tree, or block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Unique switch or block name.
    pub name: String,
    /// Nodes or child switches of this switch or block.
    pub below: Below,
}

/// Names of the nodes or child switches of a switch or block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Below {
    /// Node names.
    Nodes(Vec<String>),
    /// Names of child switches.
    Switches(Vec<String>),
}

impl Topology {
    /// Derives the topology of a fabric; fails without host names.
    pub fn of(fabric: &Fabric, form: Form) -> Result<Self, WriteError> {
        let cluster = Cluster::of(fabric, &Naming::default());
        let members = Members::of(fabric, &cluster, form);
        if members.names.iter().all(Option::is_none) {
            return Err(without_nodes(form, &members.notes));
        }
        let groups = Groups::of(fabric, &cluster, &members);
        let mut notes = members.notes;
        notes.extend(groups.notes(fabric));
        let mut comments = groups.comments(fabric);
        let mut topology = match form {
            Form::Tree => tree::topology(groups),
            Form::Block => block::topology(groups),
        };
        notes.append(&mut topology.notes);
        comments.append(&mut topology.comments);
        notes.push("Slurm's file holds which nodes are near, no ports and no speeds".to_owned());
        Ok(Self { comments, notes, ..topology })
    }
}

fn without_nodes(form: Form, notes: &[String]) -> WriteError {
    let kind = match form {
        Form::Tree => "no adapter names its host",
        Form::Block => "no adapter names a compute node",
    };
    let details = notes.iter().fold(String::new(), |text, note| text + &format!(" ({note})"));
    WriteError {
        message: format!("{kind}: Slurm refuses a topology without nodes{details}"),
        expected:
            "set the adapters' descriptions, such as \"node7 mlx5_0\" (`rdma-ndd`), and take \
                   the dump again"
                .to_owned(),
    }
}

pub(super) fn write_conf(fabric: &Fabric, form: Form) -> Result<Written, WriteError> {
    let topology = Topology::of(fabric, form)?;
    Ok(Written { text: text::conf(&topology), notes: topology.notes })
}

pub(super) fn write_yaml(fabric: &Fabric) -> Result<Written, WriteError> {
    let tree = Topology::of(fabric, Form::Tree)?;
    let named = |topology: Topology| (topology.form.name().to_owned(), topology);
    let mut topologies = vec![named(tree)];
    let blocks = Topology::of(fabric, Form::Block);
    let without_blocks =
        blocks.as_ref().err().map(|refused| format!("no blocks: {}", refused.message));
    topologies.extend(blocks.ok().map(named));
    let mut written = yaml(&topologies)?;
    written.notes.extend(without_blocks);
    Ok(written)
}

/// Writes a `topology.yaml`; the first topology is the cluster's default. Fails for an empty list,
/// duplicate names, or names that Slurm cannot parse.
pub fn yaml(topologies: &[(String, Topology)]) -> Result<Written, WriteError> {
    let mut used = BTreeSet::new();
    for (name, _) in topologies {
        let refused = |message| WriteError {
            message,
            expected: "name each topology with up to 64 letters, digits, `-`, `_` and `.`"
                .to_owned(),
        };
        if !names::is_word(name) {
            return Err(refused(format!("\"{name}\" cannot name a topology of Slurm")));
        }
        if !used.insert(name) {
            return Err(refused(format!("two topologies are called \"{name}\"")));
        }
    }
    if topologies.is_empty() {
        return Err(WriteError {
            message: "Slurm refuses a topology.yaml without topologies".to_owned(),
            expected: "give at least one fabric".to_owned(),
        });
    }
    let several = topologies.len() > 1;
    let mut notes: Vec<String> = Vec::new();
    for (name, topology) in topologies {
        for note in &topology.notes {
            let note = if several { format!("{name}: {note}") } else { note.clone() };
            notes.push(note);
        }
    }
    Ok(Written { text: text::yaml(topologies), notes })
}
