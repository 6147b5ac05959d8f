//! Reasons for rejecting a datagram.

/// Reason for rejecting a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// The datagram does not belong to the protocol, or its length is wrong.
    Malformed,
    /// Another version of the protocol.
    OtherVersion,
    /// The peer sends unencrypted datagrams.
    InClear,
    /// The key does not exist, or not any more.
    NoKey,
    /// The authentication tag is wrong: the datagram was modified, or sealed with another key.
    NotAuthentic,
    /// A duplicate, or too old to exclude one.
    Replayed,
    /// The initiator does not know our public key.
    BadMac,
    /// The initiator is not the configured peer.
    OtherPeer,
    /// The peer has another public key for us, or another preshared key.
    OtherSecret,
    /// The rate limit of handshakes is exceeded, or no random bytes are available.
    Busy,
}

impl Discard {
    /// All reasons, in the order of their indices.
    pub const ALL: [Self; 10] = [
        Self::Malformed,
        Self::OtherVersion,
        Self::InClear,
        Self::NoKey,
        Self::NotAuthentic,
        Self::Replayed,
        Self::BadMac,
        Self::OtherPeer,
        Self::OtherSecret,
        Self::Busy,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::OtherVersion => "other_version",
            Self::InClear => "in_clear",
            Self::NoKey => "no_key",
            Self::NotAuthentic => "not_authentic",
            Self::Replayed => "replayed",
            Self::BadMac => "bad_mac",
            Self::OtherPeer => "other_peer",
            Self::OtherSecret => "other_secret",
            Self::Busy => "busy",
        }
    }
}

/// Number of rejected datagrams by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards([u64; Discard::ALL.len()]);

impl Discards {
    /// Counts one datagram.
    pub const fn count(&mut self, discard: Discard) {
        self.0[discard as usize] += 1;
    }

    /// Returns the number of datagrams with this reason.
    pub const fn of(&self, discard: Discard) -> u64 {
        self.0[discard as usize]
    }

    /// Returns the sums of two counts.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        Self(std::array::from_fn(|place| self.0[place] + others.0[place]))
    }

    /// Returns the number of all datagrams.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the most frequent reason, if any.
    pub fn most(&self) -> Option<Discard> {
        Discard::ALL.into_iter().max_by_key(|one| self.of(*one)).filter(|one| self.of(*one) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discards_have_distinct_names_and_ordered_indices() {
        let names: std::collections::BTreeSet<_> = Discard::ALL.map(Discard::name).into();
        assert_eq!(names.len(), Discard::ALL.len());
        for (place, discard) in Discard::ALL.into_iter().enumerate() {
            assert_eq!(discard as usize, place);
        }
    }

    #[test]
    fn most_frequent_discard_is_none_until_one_is_counted() {
        let mut counts = Discards::default();
        assert_eq!((counts.total(), counts.most()), (0, None));
        for discard in [Discard::NoKey, Discard::Replayed, Discard::Replayed] {
            counts.count(discard);
        }
        assert_eq!((counts.total(), counts.most()), (3, Some(Discard::Replayed)));
    }
}
