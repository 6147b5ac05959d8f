//! Packet socket options missing from libraries.
//!
//! Source: packet(7); option numbers of linux/if_packet.h.

use nix::libc::{self, SOL_PACKET, c_int};
use nix::setsockopt_impl;
use nix::sys::socket::sockopt::SetBool;

const PACKET_VNET_HDR: c_int = 15;
const PACKET_IGNORE_OUTGOING: c_int = 23;

/// `PACKET_VNET_HDR`: segmentation metadata before frames, in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentHeader;
setsockopt_impl!(SegmentHeader, SOL_PACKET, PACKET_VNET_HDR, bool, SetBool);

/// `PACKET_IGNORE_OUTGOING`: suppresses reception of frames that this machine sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct IgnoreOutgoing;
setsockopt_impl!(IgnoreOutgoing, SOL_PACKET, PACKET_IGNORE_OUTGOING, bool, SetBool);
