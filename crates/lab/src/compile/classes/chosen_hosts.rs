//! The hosts of a class: who sends, and who can be sent to.

use super::context::ClassContext;
use super::hosts::matching;
use crate::error::LabError;
use gingham_model::traffic::OtherHosts;
use gingham_topology::EndpointId;
use std::sync::Arc;

impl ClassContext<'_> {
    /// The endpoints whose hosts send, in canonical order.
    pub(super) fn sending_hosts(&self) -> Result<Vec<EndpointId>, LabError> {
        let patterns = self.class.hosts.as_deref().unwrap_or_default();
        if patterns.is_empty() {
            let message = "a class needs at least one host; `[\"*\"]` means all";
            return Err(self.error("hosts", message).into());
        }
        self.hosts_matching("hosts", patterns)
    }

    /// The endpoints that a list of patterns under a key stands for, in canonical order.
    pub(super) fn hosts_matching(
        &self,
        key: &str,
        patterns: &[String],
    ) -> Result<Vec<EndpointId>, LabError> {
        let mut chosen = vec![false; self.fabric.endpoints().len()];
        for (index, pattern) in patterns.iter().enumerate() {
            let matched = matching(self.fabric, pattern);
            if matched.is_empty() {
                let report = |message| self.error(&format!("{key}.{index}"), message);
                return Err(self.hosts.unknown(pattern).within(report));
            }
            for endpoint in matched {
                chosen[endpoint.index()] = true;
            }
        }
        Ok(self.fabric.endpoint_ids().filter(|endpoint| chosen[endpoint.index()]).collect())
    }

    /// The one endpoint that a pattern under a key stands for.
    pub(super) fn host_matching(&self, key: &str, pattern: &str) -> Result<EndpointId, LabError> {
        let found = matching(self.fabric, pattern);
        let one = self.hosts.the_one(self.fabric, pattern, &found);
        one.map_err(|fault| fault.within(|message| self.error(key, message)))
    }

    /// All hosts that `source` can reach, but for its own.
    pub(super) fn hosts_near(&self, source: EndpointId) -> OtherHosts {
        let island = self.hosts.island[source.index()];
        let near = self.hosts.on_island.get(&island).cloned().unwrap_or_default();
        self.but_own(near, source)
    }

    /// Whether two endpoints are ports of one host.
    pub(super) fn is_own(&self, source: EndpointId, other: EndpointId) -> bool {
        self.fabric.endpoint(source).node == self.fabric.endpoint(other).node
    }

    /// Endpoints in canonical order without those on the node of `source`.
    pub(super) fn but_own(&self, among: Arc<[EndpointId]>, source: EndpointId) -> OtherHosts {
        let node = |endpoint: &EndpointId| self.fabric.endpoint(*endpoint).node;
        let home = node(&source);
        let own = among.partition_point(|other| node(other) < home)
            ..among.partition_point(|other| node(other) <= home);
        OtherHosts { among, own }
    }
}
