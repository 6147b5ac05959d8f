//! Policy routing: a table with the interface's routes, and rules that select the table.
//!
//! ```text
//!   priority
//!       0          local                                     addresses of this machine
//!   32000          fwmark 21332            goto 32511  ──┐   channels' datagrams, by mark
//!   32001          to a channel's end, UDP goto 32511  ──┤   and by destination
//!   32002          to 10.1.0.0/16 main, prefixes longer than /16 only
//!   32003          to 10.1.0.0/16 table 21332            │   the bundle's route
//!   32004, 32005   default route, in the same way        │
//!   32511          nop                     ◄─────────────┘
//!   32766          main                                      all other packets
//! ```
//!
//! Longer prefixes in the main table, such as local networks, thus take precedence over the
//! bundle's routes. The rule by destination serves strict reverse-path filters (RFC 3704), which
//! look up the route to a datagram's source without a mark.
//!
//! Routes disappear with the interface, but rules outlive the process; `proto 83` and their
//! priority identify rules of an earlier run.
//!
//! Invariant: rules and routes of other programs are never changed.

mod check;
mod messages;
mod netlink;

use std::io;
use std::net::SocketAddr;

use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::route::RouteMessage;
use netlink_packet_route::rule::RuleMessage;
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::config::{Config, Prefix};
pub(crate) use check::check_routes;
use messages::{is_ours, priority_of, route, rules, table_of_route, table_of_rule};
use netlink::Netlink;

/// Number of rule priorities of a daemon: one for the mark, one for the final `nop`, 64 for
/// channels, two per route.
pub(crate) const PRIORITIES: u32 = 512;
pub(crate) const ROUTES_MAX: usize = 200;
pub(crate) const TABLES_OF_THE_KERNEL: [u32; 4] = [0, 253, 254, 255];
/// Highest `priority` that keeps all rules ahead of the main table's rule.
pub(crate) const PRIORITY_MAX: u32 = 32_766 - PRIORITIES;
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RoutePlan {
    table: u32,
    priority: u32,
    mark: u32,
    prefixes: Vec<Prefix>,
    remotes: Vec<SocketAddr>,
}

impl RoutePlan {
    pub(crate) fn of(config: &Config) -> Self {
        // Learned remote addresses have no rule; their datagrams are identified by the mark alone.
        let with_remotes = config.channels_at().filter(|at| at.channel.has_remote());
        let mut remotes: Vec<_> = with_remotes.filter_map(|at| at.channel.remote()).collect();
        remotes.sort_unstable();
        remotes.dedup();
        Self {
            table: config.table,
            priority: config.priority,
            mark: config.mark.unwrap_or(0),
            prefixes: config.routes.clone(),
            remotes,
        }
    }

    const fn priority_end(&self) -> u32 {
        self.priority + PRIORITIES - 1
    }

    fn has(&self, rule: &RuleMessage) -> bool {
        (self.priority..=self.priority_end()).contains(&priority_of(rule))
    }
}

pub(crate) type Refusal = (&'static str, String);

pub(crate) struct Routing {
    netlink: Netlink,
    plan: RoutePlan,
    is_added: bool,
}

impl Drop for Routing {
    fn drop(&mut self) {
        if self.is_added {
            // Errors cannot be reported here; the next start removes the rest.
            let _: io::Result<()> = self.take_back();
        }
    }
}

impl Routing {
    pub(crate) fn new(plan: RoutePlan) -> io::Result<Self> {
        Ok(Self { netlink: Netlink::open()?, plan, is_added: false })
    }

    pub(crate) fn conflict(&self) -> io::Result<Option<Refusal>> {
        let plan = &self.plan;
        let rules = self.rules()?;
        let other = rules.iter().find(|rule| plan.has(rule) && !is_ours(rule));
        if let Some(rule) = other {
            let (priority, end) = (plan.priority, plan.priority_end());
            let message = format!(
                "others have a rule of priority {}, of {priority} to {end}: see ip rule",
                priority_of(rule)
            );
            return Ok(Some(("priority", message)));
        }
        let leads = |rule: &&RuleMessage| table_of_rule(rule) == Some(plan.table);
        if rules.iter().filter(leads).any(|rule| !(plan.has(rule) && is_ours(rule))) {
            let message = format!("a rule of others leads to table {}: see ip rule", plan.table);
            return Ok(Some(("table", message)));
        }
        // Rules left by an earlier run point to an empty table, as its routes ended with its
        // interface.
        let left = rules.iter().filter(|rule| plan.has(rule)).filter_map(table_of_rule);
        let ours: Vec<_> = left.filter(|table| !is_of_kernel(*table)).collect();
        let in_use = self.routes()?.into_iter().map(|route| table_of_route(&route));
        let in_use = in_use.filter(|table| *table == plan.table || ours.contains(table)).min();
        Ok(in_use.map(|table| {
            let message = format!(
                "table {table} is in use (ip route show table {table}); another daemon has another \
                 table, and another priority"
            );
            ("table", message)
        }))
    }

    pub(crate) fn take_left(&self) -> io::Result<()> {
        // A conflict may mean that another daemon is running.
        if self.conflict()?.is_none() { self.take_back() } else { Ok(()) }
    }

    pub(crate) fn add(&mut self, index: u32) -> io::Result<()> {
        self.is_added = !self.plan.prefixes.is_empty();
        for prefix in &self.plan.prefixes {
            let route = route(self.plan.table, prefix, index);
            self.netlink.create(RouteNetlinkMessage::NewRoute(route))?;
        }
        for rule in FAMILIES.into_iter().flat_map(|family| rules(&self.plan, family)) {
            self.netlink.create(RouteNetlinkMessage::NewRule(rule))?;
        }
        Ok(())
    }

    pub(crate) fn follow(&mut self, plan: RoutePlan, index: u32) -> io::Result<()> {
        let all = |plan: &RoutePlan| -> Vec<_> {
            FAMILIES.into_iter().flat_map(|family| rules(plan, family)).collect()
        };
        let (old, new) = (all(&self.plan), all(&plan));
        let before = std::mem::replace(&mut self.plan, plan);
        self.is_added |= !self.plan.prefixes.is_empty();
        let (table, plan) = (before.table, &self.plan);
        for prefix in plan.prefixes.iter().filter(|one| !before.prefixes.contains(one)) {
            let route = route(table, prefix, index);
            self.netlink.create(RouteNetlinkMessage::NewRoute(route))?;
        }
        for rule in new.iter().filter(|rule| !old.contains(rule)) {
            self.netlink.create(RouteNetlinkMessage::NewRule(rule.clone()))?;
        }
        for rule in old.into_iter().filter(|rule| !new.contains(rule)) {
            self.netlink.change(RouteNetlinkMessage::DelRule(rule))?;
        }
        for prefix in before.prefixes.iter().filter(|one| !plan.prefixes.contains(one)) {
            let route = route(table, prefix, index);
            self.netlink.change(RouteNetlinkMessage::DelRoute(route))?;
        }
        Ok(())
    }

    fn take_back(&self) -> io::Result<()> {
        for rule in self.rules()? {
            if self.plan.has(&rule) && is_ours(&rule) {
                self.netlink.change(RouteNetlinkMessage::DelRule(rule))?;
            }
        }
        Ok(())
    }

    pub(crate) fn set_mtu(&self, index: u32, mtu: u16) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.attributes.push(LinkAttribute::Mtu(mtu.into()));
        self.netlink.change(RouteNetlinkMessage::SetLink(link))
    }

    fn rules(&self) -> io::Result<Vec<RuleMessage>> {
        let mut rules = Vec::new();
        for family in FAMILIES {
            let mut asked = RuleMessage::default();
            asked.header.family = family;
            for reply in self.netlink.dump(RouteNetlinkMessage::GetRule(asked))? {
                if let RouteNetlinkMessage::NewRule(rule) = reply
                    && rule.header.family == family
                {
                    rules.push(rule);
                }
            }
        }
        Ok(rules)
    }

    fn routes(&self) -> io::Result<Vec<RouteMessage>> {
        let mut routes = Vec::new();
        for family in FAMILIES {
            let mut asked = RouteMessage::default();
            asked.header.address_family = family;
            for reply in self.netlink.dump(RouteNetlinkMessage::GetRoute(asked))? {
                if let RouteNetlinkMessage::NewRoute(route) = reply
                    && route.header.address_family == family
                {
                    routes.push(route);
                }
            }
        }
        Ok(routes)
    }
}

fn is_of_kernel(table: u32) -> bool {
    TABLES_OF_THE_KERNEL.contains(&table)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use gingham_input::{Overrides, Source};

    use super::*;

    /// The kernel rejects rules with port 0, the port of a learned address.
    #[test]
    fn rules_name_configured_remotes_and_no_learned_ones() {
        let text = r#"
            name = "b"
            addresses = ["10.90.0.1/24"]
            routes = ["192.168.1.0/24"]
            [[channel]]
            local = "198.51.100.1:7000"
            [[channel]]
            remote = "192.0.2.1:7001"
        "#;
        let source = Source::<Config>::parse("b", text, Path::new("."), &Overrides::default());
        let config = source.unwrap_or_else(|error| panic!("{error}")).scenario;
        let expected: SocketAddr = "192.0.2.1:7001".parse().expect("an address");
        assert_eq!(RoutePlan::of(&config).remotes, [expected]);
    }
}
