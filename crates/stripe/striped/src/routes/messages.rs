//! Rules and routes as rtnetlink messages.
//!
//! Invariant: all messages carry our `proto` number.

use std::net::{IpAddr, SocketAddr};

use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage, RulePortRange};
use netlink_packet_route::{AddressFamily, IpProtocol};

use super::RoutePlan;
use crate::config::Prefix;

/// Our `proto` number, unused by other known programs (`/etc/iproute2/rt_protos`, `rtnetlink.h`).
pub(super) const PROTOCOL: RouteProtocol = RouteProtocol::Other(83);
const MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;

pub(super) const fn family_of(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// Returns the rules in creation order: the target of the `goto` rules first.
pub(super) fn rules(plan: &RoutePlan, family: AddressFamily) -> Vec<RuleMessage> {
    let mut prefixes: Vec<_> =
        plan.prefixes.iter().filter(|prefix| family_of(prefix.address()) == family).collect();
    if prefixes.is_empty() {
        return Vec::new();
    }
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.bits()));
    let remotes = plan.remotes.iter().filter(|remote| family_of(remote.ip()) == family);
    let mut made = Made { rules: Vec::new(), family, priority: plan.priority };
    let end = plan.priority_end();
    made.push(RuleAction::Goto, [RuleAttribute::FwMark(plan.mark), RuleAttribute::Goto(end)]);
    for remote in remotes {
        made.push(
            RuleAction::Goto,
            of_channel(*remote).into_iter().chain([RuleAttribute::Goto(end)]),
        );
    }
    for prefix in prefixes {
        let suppressed = RuleAttribute::SuppressPrefixLen(prefix.bits().into());
        made.push_table(MAIN, prefix, Some(suppressed));
        made.push_table(plan.table, prefix, None);
    }
    made.priority = end;
    made.push(RuleAction::Nop, []);
    made.rules.rotate_right(1);
    made.rules
}

fn of_channel(remote: SocketAddr) -> [RuleAttribute; 3] {
    let port = RulePortRange { start: remote.port(), end: remote.port() };
    [
        RuleAttribute::Destination(remote.ip()),
        RuleAttribute::IpProtocol(IpProtocol::Udp),
        RuleAttribute::DestinationPortRange(port),
    ]
}

struct Made {
    rules: Vec<RuleMessage>,
    family: AddressFamily,
    priority: u32,
}

impl Made {
    fn push(&mut self, action: RuleAction, attributes: impl IntoIterator<Item = RuleAttribute>) {
        let mut rule = RuleMessage::default();
        rule.header.family = self.family;
        rule.header.action = action;
        rule.attributes.extend(attributes);
        for attribute in &rule.attributes {
            if let RuleAttribute::Destination(address) = attribute {
                rule.header.dst_len = if address.is_ipv4() { 32 } else { 128 };
            }
        }
        rule.attributes.push(RuleAttribute::Priority(self.priority));
        rule.attributes.push(RuleAttribute::Protocol(PROTOCOL));
        self.priority += 1;
        self.rules.push(rule);
    }

    fn push_table(&mut self, table: u32, to: &Prefix, suppressed: Option<RuleAttribute>) {
        let destination = (to.bits() > 0).then_some(RuleAttribute::Destination(to.address()));
        let attributes = destination.into_iter().chain(suppressed);
        self.push(RuleAction::ToTable, attributes.chain([RuleAttribute::Table(table)]));
        if let Some(rule) = self.rules.last_mut() {
            rule.header.dst_len = to.bits();
        }
    }
}

pub(super) fn route(table: u32, to: &Prefix, index: u32) -> RouteMessage {
    let mut route = RouteMessage::default();
    route.header = RouteHeader {
        address_family: family_of(to.address()),
        destination_prefix_length: to.bits(),
        protocol: PROTOCOL,
        scope: if to.address().is_ipv4() { RouteScope::Link } else { RouteScope::Universe },
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    if to.bits() > 0 {
        route.attributes.push(RouteAttribute::Destination(to.address().into()));
    }
    route.attributes.push(RouteAttribute::Oif(index));
    route.attributes.push(RouteAttribute::Table(table));
    route
}

pub(super) fn priority_of(rule: &RuleMessage) -> u32 {
    let found = rule.attributes.iter().find_map(|attribute| match attribute {
        RuleAttribute::Priority(priority) => Some(*priority),
        _ => None,
    });
    found.unwrap_or(0)
}

pub(super) fn is_ours(rule: &RuleMessage) -> bool {
    rule.attributes.contains(&RuleAttribute::Protocol(PROTOCOL))
}

pub(super) fn table_of_rule(rule: &RuleMessage) -> Option<u32> {
    let found = rule.attributes.iter().find_map(|attribute| match attribute {
        RuleAttribute::Table(table) => Some(*table),
        _ => None,
    });
    let is_to_table = rule.header.action == RuleAction::ToTable;
    is_to_table.then(|| found.unwrap_or_else(|| rule.header.table.into()))
}

pub(super) fn table_of_route(route: &RouteMessage) -> u32 {
    let found = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Table(table) => Some(*table),
        _ => None,
    });
    found.unwrap_or_else(|| route.header.table.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> RoutePlan {
        let prefix = |text: &str| text.parse().expect("a prefix");
        RoutePlan {
            table: 7,
            priority: 100,
            mark: 9,
            prefixes: ["0.0.0.0/0", "10.1.0.0/16", "::/0"].map(prefix).to_vec(),
            remotes: vec!["192.0.2.1:7000".parse().expect("an address")],
        }
    }

    #[test]
    fn rules_are_in_order_of_priority() {
        let found: Vec<_> = rules(&plan(), AddressFamily::Inet)
            .iter()
            .map(|rule| {
                assert!(is_ours(rule));
                let table = table_of_rule(rule);
                (priority_of(rule), rule.header.action, rule.header.dst_len, table)
            })
            .collect();
        let end = plan().priority_end();
        let expected = [
            (end, RuleAction::Nop, 0, None),
            (100, RuleAction::Goto, 0, None),
            (101, RuleAction::Goto, 32, None),
            (102, RuleAction::ToTable, 16, Some(MAIN)),
            (103, RuleAction::ToTable, 16, Some(7)),
            (104, RuleAction::ToTable, 0, Some(MAIN)),
            (105, RuleAction::ToTable, 0, Some(7)),
        ];
        assert_eq!(found, expected);
        assert_eq!(rules(&plan(), AddressFamily::Inet6).len(), 4);
        let without = RoutePlan { prefixes: Vec::new(), ..plan() };
        assert_eq!(rules(&without, AddressFamily::Inet), []);
    }

    #[test]
    fn longer_connected_prefixes_precede_a_route_but_equal_do_not() {
        let all = rules(&plan(), AddressFamily::Inet);
        let suppressed = |rule: &RuleMessage| {
            rule.attributes.iter().find_map(|attribute| match attribute {
                RuleAttribute::SuppressPrefixLen(bits) => Some(*bits),
                _ => None,
            })
        };
        let found: Vec<_> = all.iter().filter_map(suppressed).collect();
        assert_eq!(found, [16, 0]);
    }

    #[test]
    fn route_uses_the_interface() {
        let made = route(7, &plan().prefixes[1], 5);
        assert_eq!((table_of_route(&made), made.header.destination_prefix_length), (7, 16));
        assert_eq!(made.header.protocol, PROTOCOL);
        assert!(made.attributes.contains(&RouteAttribute::Oif(5)));
    }
}
