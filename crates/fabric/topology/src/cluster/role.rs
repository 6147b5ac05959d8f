//! Purpose of a node, derived from words in its host name.
//!
//! Dumps do not record the purpose, but sites encode it in names: `selene-login-02`, `ai400x-001`
//! (a storage appliance), `oss12`, `ib-gw1`. Nodes with other names are compute nodes.

/// Purpose of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Node that runs jobs.
    Compute,
    /// File server.
    Storage,
    /// Login, scheduler or fabric manager node.
    Management,
    /// Gateway to another network.
    Gateway,
    /// Node of unknown purpose: its description names no host, whereas other descriptions do.
    Unnamed,
}

const STORAGE: [&str; 25] = [
    "beegfs", "cache", "ceph", "ddn", "ess", "exa", "gpfs", "isilon", "lustre", "mds", "mdt",
    "mgs", "nas", "nfs", "nsd", "nvmf", "oss", "ost", "pfs", "scratch", "stor", "storage", "swift",
    "vast", "weka",
];
const STORAGE_PRODUCTS: [&str; 4] = ["ai200", "ai400", "ai7990", "es400"];
const MANAGEMENT: [&str; 22] = [
    "adm",
    "admin",
    "bcm",
    "console",
    "control",
    "cufm",
    "dns",
    "head",
    "ldap",
    "login",
    "manager",
    "master",
    "mgmt",
    "mgt",
    "monitor",
    "provision",
    "sched",
    "scheduler",
    "service",
    "slurm",
    "svc",
    "ufm",
];
const GATEWAY: [&str; 7] = ["bridge", "gateway", "gw", "lnet", "router", "rtr", "skyway"];

impl Role {
    /// Returns the name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Storage => "storage",
            Self::Management => "management",
            Self::Gateway => "gateway",
            Self::Unnamed => "unnamed",
        }
    }

    /// Derives the role from a name; `is_named` is set if a description or rule gave the name.
    pub(super) fn of(name: &str, is_named: bool) -> Self {
        if !is_named {
            return Self::Unnamed;
        }
        let name = name.to_ascii_lowercase();
        let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
        if parts.any(|part| STORAGE_PRODUCTS.iter().any(|product| part.starts_with(product))) {
            return Self::Storage;
        }
        let mut words = name.split(|c: char| !c.is_ascii_alphabetic());
        let role = |word: &str| {
            let lists = [
                (&STORAGE[..], Self::Storage),
                (&MANAGEMENT[..], Self::Management),
                (&GATEWAY[..], Self::Gateway),
            ];
            lists.into_iter().find(|(list, _)| list.contains(&word)).map(|(_, role)| role)
        };
        words.find_map(role).unwrap_or(Self::Compute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_is_determined_by_words_of_the_name() {
        assert_eq!(Role::of("luna-0173", true), Role::Compute);
        assert_eq!(Role::of("selene-login-02", true), Role::Management);
        assert_eq!(Role::of("SELENE-CACHE-01", true), Role::Storage);
        assert_eq!(Role::of("oss12", true), Role::Storage);
        assert_eq!(Role::of("ai400x-001", true), Role::Storage);
        assert_eq!(Role::of("ib-gw1", true), Role::Gateway);
        assert_eq!(Role::of("headroom7", true), Role::Compute);
        assert_eq!(Role::of("H-0002c903000a0b0c", false), Role::Unnamed);
    }
}
