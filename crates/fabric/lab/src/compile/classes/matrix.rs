//! Traffic matrices: a weight for each source and destination.
//!
//! ```text
//!             h0   h1   h2      row sums: 1, 3 and 0, with a mean of 4/3; with load = 0.2:
//!      h0      0    1    0      h0 offers a load of 0.15, all of it to h1
//!      h1      1    0    2      h1 offers 0.45, a third to h0 and two thirds to h2
//!      h2      0    0    0      h2 is silent
//! ```

use super::arrivals::{is_too_much, shown_limit};
use super::context::ClassContext;
use super::destinations::Aim;
use super::sheet::Sheet;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_kernel::FileName;
use gingham_net::traffic::{ArrivalPlan, DestinationPlan, Weighted};
use gingham_topology::EndpointId;
use std::collections::BTreeMap;
use std::sync::Arc;

struct Row {
    source: EndpointId,
    line: u64,
    weights: Option<Weighted<EndpointId>>,
}

impl Row {
    fn sum(&self) -> f64 {
        self.weights.as_ref().map_or(0.0, Weighted::total)
    }
}

pub(super) fn matrix(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    arrivals: &ArrivalPlan,
    file: &FileName,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    let mut sheet = super::sheet::open_sheet(context, "destinations.matrix", file, gathered)?;
    let rows = read_rows(context, &mut sheet, hosts)?;
    let total: f64 = rows.iter().map(Row::sum).sum();
    if !(total > 0.0 && total.is_finite()) {
        return Err(sheet.all_zero().into());
    }
    #[expect(clippy::cast_precision_loss, reason = "rows are few")]
    let mean = total / rows.len() as f64;
    let mut aims = BTreeMap::new();
    for row in rows {
        let load_factor = row.sum() / mean;
        check_row(context, &sheet, &row, arrivals, load_factor)?;
        let aim = match row.weights {
            Some(weights) => {
                let destinations = DestinationPlan::Weighted(Arc::new(weights));
                Aim::At { destinations, load_factor }
            }
            None => Aim::Nowhere("have a row without weights in the matrix"),
        };
        aims.insert(row.source, aim);
    }
    let missing = || Aim::Nowhere("have no row in the matrix");
    Ok(hosts.iter().map(|host| aims.remove(host).unwrap_or_else(missing)).collect())
}

fn check_row(
    context: &ClassContext<'_>,
    sheet: &Sheet,
    row: &Row,
    arrivals: &ArrivalPlan,
    load_factor: f64,
) -> Result<(), LabError> {
    let scaled = arrivals.scaled(load_factor);
    let (Some(peak), Some(load)) = (scaled.peak_load(), arrivals.load()) else {
        return Ok(());
    };
    if !is_too_much(peak) {
        return Ok(());
    }
    let name = context.fabric.endpoint_name(row.source);
    let message = format!(
        "with load = {load} the host `{name}` would send {peak:.2} times what its link carries; \
         the load may be {} at most",
        shown_limit(load / peak)
    );
    Err(sheet.error_at(row.line, message).into())
}

fn read_rows(
    context: &ClassContext<'_>,
    sheet: &mut Sheet,
    hosts: &[EndpointId],
) -> Result<Vec<Row>, LabError> {
    let columns = read_columns(context, sheet)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut seen = vec![false; context.fabric.endpoints().len()];
    while sheet.advance()? {
        let name = sheet.text(0);
        let source = host_in(context, sheet, name)?;
        if std::mem::replace(&mut seen[source.index()], true) {
            return Err(sheet.error(format!("`{name}` has two rows")).into());
        }
        if hosts.binary_search(&source).is_err() {
            let message = format!("`{name}` is none of the hosts of the class");
            return Err(sheet.error(message).into());
        }
        let weights = read_weights(context, sheet, source, &columns)?;
        rows.push(Row { source, line: sheet.line(), weights: Weighted::new(weights) });
    }
    Ok(rows)
}

fn read_columns(context: &ClassContext<'_>, sheet: &Sheet) -> Result<Vec<EndpointId>, LabError> {
    let mut columns: Vec<EndpointId> = Vec::new();
    let mut seen = vec![false; context.fabric.endpoints().len()];
    for name in &sheet.header()[1..] {
        let destination = host_in(context, sheet, name)?;
        if std::mem::replace(&mut seen[destination.index()], true) {
            return Err(sheet.error(format!("`{name}` has two columns")).into());
        }
        columns.push(destination);
    }
    Ok(columns)
}

fn read_weights(
    context: &ClassContext<'_>,
    sheet: &Sheet,
    source: EndpointId,
    columns: &[EndpointId],
) -> Result<Vec<(EndpointId, f64)>, LabError> {
    let mut weights = Vec::with_capacity(columns.len());
    for (column, destination) in (1..).zip(columns) {
        let weight = sheet.weight(column)?;
        if weight > 0.0 {
            check_pair(context, sheet, source, *destination)?;
        }
        weights.push((*destination, weight));
    }
    Ok(weights)
}

pub(super) fn host_in(
    context: &ClassContext<'_>,
    sheet: &Sheet,
    name: &str,
) -> Result<EndpointId, LabError> {
    let found = context.hosts.find(context.fabric, name);
    found.map_err(|fault| fault.within(|message| sheet.error(message)))
}

pub(super) fn check_pair(
    context: &ClassContext<'_>,
    sheet: &Sheet,
    source: EndpointId,
    destination: EndpointId,
) -> Result<(), LabError> {
    if source != destination && context.hosts.joined(source, destination) {
        return Ok(());
    }
    let [from, to] = [source, destination].map(|host| context.fabric.endpoint_name(host));
    let message = if source == destination {
        format!("`{from}` would send to itself, and no host does")
    } else {
        format!("no path leads from `{from}` to `{to}`")
    };
    Err(sheet.error(message).into())
}
