//! Reasons for discarding a datagram.

/// Reason for discarding a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Datagram of another protocol, or with a wrong length.
    Malformed,
    /// Different protocol version.
    OtherVersion,
    /// Unencrypted data or message.
    InClear,
    /// Unknown or expired key.
    NoKey,
    /// Invalid authentication tag.
    NotAuthentic,
    /// Duplicate, or a number below the replay window.
    Replayed,
    /// Initiation from a sender that does not know our public key.
    BadMac,
    /// Initiation from a different peer.
    OtherPeer,
    /// Handshake for a public key other than ours, or with a different preshared key.
    OtherSecret,
    /// Handshake above the rate limit, or without random bytes from the operating system.
    Busy,
}

impl Discard {
    /// All reasons, in index order.
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

    /// Returns the name used in reports.
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

/// Discarded datagrams by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards([u64; Discard::ALL.len()]);

impl Discards {
    /// Counts a discarded datagram.
    pub const fn count(&mut self, discard: Discard) {
        self.0[discard as usize] += 1;
    }

    /// Returns the number of datagrams discarded for a reason.
    pub const fn of(&self, discard: Discard) -> u64 {
        self.0[discard as usize]
    }

    /// Returns the sum of two sets of counts.
    #[must_use]
    pub fn with(&self, others: &Self) -> Self {
        Self(std::array::from_fn(|place| self.0[place] + others.0[place]))
    }

    /// Returns the number of discarded datagrams.
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
