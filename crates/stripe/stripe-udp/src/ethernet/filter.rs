//! Socket filter for a channel's frames.
//!
//! Source: McCanne and Jacobson, "The BSD Packet Filter", USENIX 1993; the kernel's
//! Documentation/networking/filter.rst.

use nix::libc::{
    BPF_ABS, BPF_B, BPF_H, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SKF_AD_OFF,
    SKF_AD_VLAN_TAG_PRESENT,
};
use socket2::SockFilter;

use super::{EtherTypes, MacAddress};

const WHOLE: u32 = u32::MAX;

pub(super) fn nothing() -> [SockFilter; 1] {
    [take(0)]
}

/// Returns a program that accepts untagged frames with these EtherTypes and MAC addresses.
pub(super) fn of(to: MacAddress, from: MacAddress, types: EtherTypes) -> [SockFilter; 15] {
    let ([to_first, to_last], [from_first, from_last]) = (halves(to), halves(from));
    let vlan = SKF_AD_OFF.wrapping_add(SKF_AD_VLAN_TAG_PRESENT).cast_unsigned();
    [
        load(BPF_B, vlan),
        unless(0, 12),
        load(BPF_H, 12),
        when(types.packets.into(), 1),
        unless(types.messages.into(), 9),
        load(BPF_W, 6),
        unless(from_first, 7),
        load(BPF_H, 10),
        unless(from_last, 5),
        load(BPF_W, 0),
        unless(to_first, 3),
        load(BPF_H, 4),
        unless(to_last, 1),
        take(WHOLE),
        take(0),
    ]
}

fn halves(address: MacAddress) -> [u32; 2] {
    let bytes = |range: std::ops::Range<usize>| {
        address.0[range].iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
    };
    [bytes(0..4), bytes(4..6)]
}

fn load(width: u32, at: u32) -> SockFilter {
    SockFilter::new(code(BPF_LD | width | BPF_ABS), 0, 0, at)
}

fn when(value: u32, over: u8) -> SockFilter {
    SockFilter::new(code(BPF_JMP | BPF_JEQ | BPF_K), over, 0, value)
}

fn unless(value: u32, over: u8) -> SockFilter {
    SockFilter::new(code(BPF_JMP | BPF_JEQ | BPF_K), 0, over, value)
}

fn take(bytes: u32) -> SockFilter {
    SockFilter::new(code(BPF_RET | BPF_K), 0, 0, bytes)
}

fn code(code: u32) -> u16 {
    u16::try_from(code).expect("codes are short")
}

#[cfg(test)]
mod tests {
    use socket2::{Domain, Socket, Type};

    use super::*;

    #[test]
    fn kernel_accepts_filter_programs() {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).expect("a socket");
        let address = MacAddress([2, 0, 0, 0, 0, 1]);
        socket.attach_filter(&of(address, address, EtherTypes::default())).expect("it is one");
        socket.attach_filter(&nothing()).expect("it is one");
    }
}
