//! A small rail-optimised cluster.

use gingham_topology::{DraftNode, Fabric, FabricBuilder, Guid, NodeKind};

pub(crate) struct Shape {
    pub(crate) units: usize,
    pub(crate) nodes: usize,
    pub(crate) rails: usize,
    pub(crate) spines: usize,
}

impl Shape {
    pub(crate) fn build(&self) -> Fabric {
        self.without(|_, _| false)
    }

    pub(crate) fn without(&self, is_lost: impl Fn(usize, usize) -> bool) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut guid = 0;
        let mut add = |builder: &mut FabricBuilder, kind, name: &str, ports| -> DraftNode {
            guid += 1;
            builder.add_plain(kind, name, Guid(guid), ports)
        };
        let rails: Vec<Vec<DraftNode>> = (0..self.rails)
            .map(|rail| {
                let spine = |number| format!("spine{rail}-{number}");
                let ports = u16::try_from(self.units).expect("few units");
                (0..self.spines)
                    .map(|number| add(&mut builder, NodeKind::Switch, &spine(number), ports))
                    .collect()
            })
            .collect();
        for unit in 0..self.units {
            let ports = u16::try_from(self.nodes + self.spines).expect("few ports");
            let leaves: Vec<DraftNode> = (0..self.rails)
                .map(|rail| {
                    let name = format!("leaf{unit}-{rail}");
                    add(&mut builder, NodeKind::Switch, &name, ports)
                })
                .collect();
            for (leaf, spines) in leaves.iter().zip(&rails) {
                for spine in spines {
                    builder.join(*leaf, *spine).expect("there are free ports");
                }
            }
            for node in 0..self.nodes {
                for (rail, leaf) in leaves.iter().enumerate() {
                    let name = format!("n{:02} mlx5_{rail}", unit * self.nodes + node);
                    let adapter = add(&mut builder, NodeKind::Host, &name, 1);
                    if !is_lost(unit * self.nodes + node, rail) {
                        builder.join(*leaf, adapter).expect("there are free ports");
                    }
                }
            }
        }
        builder.build()
    }
}
