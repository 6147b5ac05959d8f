//! InfiniBand arbitration tables from a file of a real fabric: `opensm.conf`, or output of
//! `smpquery vlarb`.
//!
//! A table applies to all ports of all switches, or of all adapters. In `opensm.conf`, the port
//! type selects the table (`qos_swe_` for switches, `qos_ca_` for adapters, else `qos_`). With
//! `smpquery`, all outputs must have equal tables. Slots of missing lanes are skipped, as in real
//! ports [IBA 7.6.9].

use super::Place as _;
use super::plan::Reader;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::subnet_files::{LoadedArbitration, arbitration_of};
use gingham_input::FileRead;
use gingham_net::scheduler::{InfiniBand, has_slots};
use gingham_topology::subnet::{ArbitrationSlot, ArbitrationTables, PortArbitration};

impl Reader<'_> {
    pub(crate) fn resolve(
        &self,
        written: &mut InfiniBand,
        gathered: &mut Gathered,
    ) -> Result<(), LabError> {
        let Some(name) = &written.file else { return Ok(()) };
        if written.high.is_some() || written.low.is_some() {
            let message =
                "the tables come from the file or are written here: leave out one of both";
            return Err(self.refuse("infiniband.file", message));
        }
        let high_limit = written.high_limit;
        let path = self.source.path_of(name);
        let key = format!("{}.infiniband.file", self.place.key());
        let (read, bytes) = FileRead::open(&key, &path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            self.refuse("infiniband.file", message)
        })?;
        let mut tables = match arbitration_of(&read.path, &bytes)? {
            LoadedArbitration::Kinds { is_enabled, kinds } => {
                if !is_enabled {
                    gathered.notes.push(format!(
                        "`{key}`: the file has `qos FALSE`, so OpenSM would not write these tables to any port; \
                         they apply here"
                    ));
                }
                let kind = self.place.port_kind();
                let tables = kinds.into_iter().find(|(of, _)| *of == kind);
                tables.expect("there are tables for every kind of port").1
            }
            LoadedArbitration::Ports(ports) => {
                let (high, low) = self.tables_of_all(&ports)?;
                if high_limit.is_none() {
                    gathered.notes.push(format!(
                        "`{key}`: `smpquery vlarb` does not print the limit of high priority; it is 0, a single \
                         packet, unless `high_limit` beside the file sets it"
                    ));
                }
                ArbitrationTables { high_limit: 0, high, low }
            }
        };
        gathered.files.push(read);
        tables.high_limit = high_limit.unwrap_or(tables.high_limit);
        self.leave_out(&mut tables, &key, gathered);
        *written = InfiniBand::of(tables);
        Ok(())
    }

    fn tables_of_all(
        &self,
        ports: &[PortArbitration],
    ) -> Result<(Vec<ArbitrationSlot>, Vec<ArbitrationSlot>), LabError> {
        let first = tables_of(&ports[0]);
        if let Some(other) = ports.iter().find(|port| tables_of(port) != first) {
            let message = format!(
                "port {} of LID {} (line {}) has other tables than port {} of LID {} (line {}), and one table holds for all \
                 ports here: leave in the file only ports that agree",
                other.port, other.lid, other.line, ports[0].port, ports[0].lid, ports[0].line
            );
            return Err(self.refuse("infiniband.file", message));
        }
        Ok(first)
    }

    fn leave_out(&self, tables: &mut ArbitrationTables, key: &str, gathered: &mut Gathered) {
        let slots = tables.high.iter().chain(&tables.low);
        let beyond =
            slots.filter(|slot| !has_slots(slot.lane, self.among.count) && slot.weight > 0);
        let mut lanes: Vec<u8> = beyond.map(|slot| slot.lane).collect();
        lanes.sort_unstable();
        lanes.dedup();
        if !lanes.is_empty() {
            let list: Vec<String> = lanes.iter().map(u8::to_string).collect();
            let plural = if list.len() == 1 { "" } else { "s" };
            gathered.notes.push(format!(
                "`{key}`: slots of lane{plural} {} are passed over: the network has {} (network.lanes.count)",
                list.join(", "),
                self.among.count
            ));
        }
        tables.high.retain(|slot| has_slots(slot.lane, self.among.count));
        tables.low.retain(|slot| has_slots(slot.lane, self.among.count));
    }
}

/// Omits slots of weight 0, which ports skip.
fn tables_of(port: &PortArbitration) -> (Vec<ArbitrationSlot>, Vec<ArbitrationSlot>) {
    let with_weight =
        |slots: &[ArbitrationSlot]| slots.iter().copied().filter(|slot| slot.weight > 0).collect();
    (with_weight(&port.high), with_weight(&port.low))
}
