//! Checks of configured routes, before any changes.

use gingham_input::{InputError, Source};

use super::{PRIORITIES, PRIORITY_MAX, ROUTES_MAX, RoutePlan, Routing, is_of_kernel};
use crate::check::Place;
use crate::config::{ChannelAt, Config};
use crate::problem::Problem;

pub(crate) fn check_routes(source: &Source<Config>, place: &Place<'_>) -> Result<(), Problem> {
    let config = &source.scenario;
    if config.routes.is_empty() {
        return Ok(());
    }
    check_numbers(source)?;
    check_prefixes(source)?;
    if place.running.is_some() {
        // During a reload, the rules found are this daemon's own, as its table and priorities do
        // not change.
        return Ok(());
    }
    let refused = |error| Problem::environment("routes", error);
    let routing = Routing::new(RoutePlan::of(config)).map_err(refused)?;
    match routing.conflict().map_err(refused)? {
        Some((key, message)) => Err(source.refuse(key, message).into()),
        None => Ok(()),
    }
}

fn check_numbers(source: &Source<Config>) -> Result<(), InputError> {
    let Config { table, priority, mark, routes, .. } = &source.scenario;
    if is_of_kernel(*table) {
        let message = format!("table {table} is the kernel's; take one of your own, from 256 on");
        return Err(source.refuse("table", message));
    }
    if !(1..=PRIORITY_MAX).contains(priority) {
        let message = format!(
            "{PRIORITIES} rules from {priority} on would not stand between the kernel's at 0 and \
             32766: 1 to {PRIORITY_MAX}"
        );
        return Err(source.refuse("priority", message));
    }
    if routes.len() > ROUTES_MAX {
        let message = format!("{} are too many: there are rules for {ROUTES_MAX}", routes.len());
        return Err(source.refuse("routes", message));
    }
    let is_inside = |at: &ChannelAt<'_>| {
        let remote = at.channel.remote();
        remote.is_some_and(|remote| routes.iter().any(|route| route.contains(remote.ip())))
    };
    if let Some(at) = source.scenario.channels_at().find(is_inside).filter(|_| *mark == Some(0)) {
        let message = format!(
            "{at} goes where a route of the bundle leads; without a mark it would go \
             through itself"
        );
        return Err(source.refuse("mark", message));
    }
    Ok(())
}

fn check_prefixes(source: &Source<Config>) -> Result<(), InputError> {
    let Config { routes, addresses, .. } = &source.scenario;
    for (number, route) in routes.iter().enumerate() {
        let refuse = |message| Err(source.refuse(&format!("routes.{number}"), message));
        if route.network() != *route {
            return refuse(format!("{route} is an address in {}", route.network()));
        }
        if let Some(other) = routes[..number].iter().position(|other| other == route) {
            return refuse(format!("routes[{other}] is {route} as well"));
        }
        let is_v4 = route.address().is_ipv4();
        if !addresses.iter().any(|address| address.address().is_ipv4() == is_v4) {
            let family = if is_v4 { "IPv4" } else { "IPv6" };
            return refuse(format!(
                "the interface has no address of {family} for packets to {route} to come from"
            ));
        }
    }
    Ok(())
}
