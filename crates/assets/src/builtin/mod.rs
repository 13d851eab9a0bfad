//! Assets that need no download, named wherever a file could stand.

pub mod mannequin;
pub mod motions;
pub mod proportions;
pub mod wardrobe;

use crate::{Body, Error, Fabric, Garment, Motion, Result, Skeleton};
use proportions::Proportions;

/// A built-in asset for a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `body`, `garment`, `motion`, `motion set` or `fabric`.
    pub kind: &'static str,
    /// What to type.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// Everything built in.
pub fn list() -> Vec<Entry> {
    let bodies =
        [("mannequin:female", "tailor's dummy of an adult woman"), ("mannequin:male", "the same of a man")]
            .map(|(name, about)| Entry { kind: "body", name, about });
    let fabrics = Fabric::BUILT_IN.map(|(name, about)| Entry { kind: "fabric", name, about });
    bodies
        .into_iter()
        .chain(wardrobe::list())
        .chain(motions::list())
        .chain(motions::sets())
        .chain(fabrics)
        .collect()
}

/// A body by name: `mannequin:female`, `mannequin:male`.
pub fn body(name: &str) -> Result<Body> {
    match name {
        "mannequin" | "mannequin:female" => mannequin::mannequin("mannequin:female", &Proportions::female()),
        "mannequin:male" => mannequin::mannequin("mannequin:male", &Proportions::male()),
        _ => Err(unknown("body", name)),
    }
}

/// A garment by name, cut for and placed around `body` in its rest pose: `dress`, `dress:3410`.
pub fn garment(name: &str, body: &Body) -> Result<Garment> {
    wardrobe::garment(name, body)
}

/// A motion by name, for the mannequin's `skeleton`: `walk`, `walk:1.3`.
pub fn motion(name: &str, skeleton: &Skeleton) -> Result<Motion> {
    motions::motion(name, skeleton)
}

/// A fabric by name: `cotton`.
pub fn fabric(name: &str) -> Result<Fabric> {
    Fabric::built_in(name).ok_or_else(|| unknown("fabric", name))
}

/// The error for a name that is not in the list.
pub(crate) fn unknown(kind: &'static str, name: &str) -> Error {
    let known: Vec<&str> = list().into_iter().filter(|e| e.kind == kind).map(|e| e.name).collect();
    let nearest = nearest(name, &known).map_or(String::new(), |n| format!(", did you mean `{n}`?"));
    Error::Unknown { kind, name: name.to_string(), nearest, known: known.join(", ") }
}

/// The name that takes the fewest changes to type, unless that is another word.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let holds = known.iter().find(|k| name.len() > 2 && (k.contains(&name) || name.contains(**k)));
    let best = || known.iter().map(|k| (changes(&name, k), *k)).min().filter(|(n, k)| *n <= 1 + k.len() / 4);
    holds.copied().or_else(|| best().map(|(_, k)| k))
}

/// Letters to put in, leave out or replace (Levenshtein).
fn changes(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_answered_with_the_nearest() {
        let said = |name: &str| fabric(name).unwrap_err().to_string();
        assert!(said("coton").contains("did you mean `cotton`?"), "{}", said("coton"));
        assert!(said("flannel").contains("did you mean `wool-flannel`?"));
        assert!(said("Denim").contains("did you mean `denim`?"));
        assert!(!said("qqqqqq").contains("did you mean") && said("qqqqqq").contains("cotton, jersey"));
        assert_eq!((changes("kitten", "sitting"), changes("", "ab"), changes("ab", "ab")), (3, 2, 0));
    }
}
