//! Suggestions of similar names.

use strsim::damerau_levenshtein;

/// Returns the known name closest to `found`, or `None` if none is similar.
///
/// Case is ignored, and `-` and `_` are equal. Names are similar if at most one character in three
/// must be inserted, deleted, replaced or swapped with its neighbour (Damerau-Levenshtein
/// distance), or if one name starts with the other and has at least three characters. Among equally
/// close names, the first is returned.
pub fn nearest<'a, S>(found: &str, known: impl IntoIterator<Item = &'a S>) -> Option<&'a str>
where
    S: AsRef<str> + ?Sized + 'a,
{
    // Maximum length in bytes, longer than all known names; it bounds the comparison time.
    const LENGTH_MAX: usize = 80;
    if found.len() > LENGTH_MAX {
        return None;
    }
    let found = fold(found);
    let compare = |name: &'a S| (name.as_ref(), fold(name.as_ref()));
    let known: Vec<(&str, String)> = known.into_iter().map(compare).collect();
    let distance = |(_, name): &&(&str, String)| damerau_levenshtein(&found, name);
    let close = |known: &&(&str, String)| {
        distance(known) * 3 <= found.chars().count().max(known.1.chars().count())
    };
    let shared_start = |(_, name): &&(&str, String)| {
        found.len().min(name.len()) >= 3 && (name.starts_with(&found) || found.starts_with(name))
    };
    let near = known.iter().filter(close).min_by_key(distance);
    near.or_else(|| known.iter().find(shared_start)).map(|(name, _)| *name)
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_get_suggestions_and_unrelated_names_do_not() {
        let known = ["arrivals", "destinations", "length", "link_rate", "load"];
        let cases = [
            ("laod", Some("load")),
            ("Link-Rate", Some("link_rate")),
            ("lenght", Some("length")),
            ("dest", Some("destinations")),
            ("arrival", Some("arrivals")),
            ("seed", None),
            ("l", None),
            ("", None),
        ];
        for (found, expected) in cases {
            assert_eq!(nearest(found, known), expected, "{found}");
        }
        assert_eq!(nearest(&"load".repeat(1_000), known), None);
    }
}
