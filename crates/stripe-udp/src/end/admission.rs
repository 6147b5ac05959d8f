//! Connections that have come, each to its channel once something authentic came on it.

use std::io;

use gingham_stripe::Instant;
use gingham_stripe_crypt::{Sender, is_handshake};

use super::End;
use super::handshakes::answer;
use crate::channel::Channel;
use crate::link::{LinkPlan, Payload};
use crate::socket::Opener;
use crate::tcp::Listener;

/// A channel is heard where its plan says that it listens, if it does: at one socket with all others
/// that listen there.
pub(super) fn listen(
    listeners: &mut Vec<Listener>,
    channel: usize,
    plan: &LinkPlan,
    opener: Option<&Opener>,
) -> io::Result<()> {
    let LinkPlan::Tcp(plan) = plan else { return Ok(()) };
    if let Some(listener) = listeners.iter_mut().find(|listener| listener.is_for(plan)) {
        listener.add(channel);
    } else if let Some(mut listener) = Listener::open(plan, opener)? {
        listener.add(channel);
        listeners.push(listener);
    }
    Ok(())
}

/// A channel is heard nowhere any more.
pub(super) fn forget(listeners: &mut Vec<Listener>, channel: usize) {
    listeners.retain_mut(|listener| listener.remove(channel));
}

impl End {
    /// Takes what has come on connections of which it is not known whose they are. Handshakes are
    /// answered there. One on which something authentic came, and newer than all before of its
    /// channel, is that channel's from then on, whatever that had before.
    pub(super) fn admit(&mut self, now: Instant) {
        let Self { listeners, encapsulation, striping, sessions, channels, .. } = self;
        for listener in listeners {
            restore(listener, channels, now);
            listener.accept(now);
            let (served, mut place) = (listener.channels(), 0);
            while let Some((from, datagram)) = listener.next_datagram(&mut place) {
                if let (Some(peer), true) = (encapsulation.peer_mut(), is_handshake(datagram)) {
                    let from = Sender { address: from, is_known: false };
                    let reply = answer(peer, now, from, datagram, (striping, sessions));
                    count_strange(channels, served, reply.is_err());
                    listener.keep(place, &reply.unwrap_or_default());
                    continue;
                }
                let datagram_bytes = datagram.len();
                let opened = encapsulation.open(Payload::Packets, datagram);
                let opened = opened.and_then(|(frame, is_newest)| {
                    Some((frame.channel().filter(|one| is_of(served, *one))?, frame, is_newest))
                });
                let Some((channel, frame, is_newest)) = opened else {
                    count_strange(channels, served, true);
                    listener.keep(place, &[]);
                    continue;
                };
                if let Some(peer) = encapsulation.peer() {
                    sessions.follow(peer.sessions(), striping);
                }
                striping.take(now, channel, (frame, 0));
                let Some(one) = &mut channels[channel] else { continue };
                one.counts.came += 1;
                one.metering.came(1, datagram_bytes);
                one.counts.came_bytes += datagram_bytes as u64;
                // In clear there is nothing else to go by.
                if is_newest || encapsulation.peer().is_none() {
                    one.adopt(listener.admit(place));
                    striping.ask(channel);
                } else {
                    listener.keep(place, &[]);
                }
            }
        }
    }
}

/// Opens what listens anew where its interface is gone, as each of its channels may.
fn restore(listener: &mut Listener, channels: &[Option<Channel>], now: Instant) {
    if listener.is_lost(now)
        && let Some(one) = &channels[listener.channels().trailing_zeros() as usize]
        && let Some(Ok(socket)) = one.link.listening()
    {
        listener.reopen(socket);
    }
}

fn is_of(channels: u64, channel: usize) -> bool {
    channel < u64::BITS as usize && channels & 1 << channel != 0
}

/// Counts what is of no channel at the first of these.
fn count_strange(channels: &mut [Option<Channel>], served: u64, is_strange: bool) {
    let first = channels.get_mut(served.trailing_zeros() as usize);
    if let Some(one) = first.and_then(Option::as_mut) {
        one.counts.strange += u64::from(is_strange);
    }
}
