//! A share of the clips: many machines fill one folder, each with its own.

use std::fmt;
use std::str::FromStr;

/// The `i`-th of `n` shares, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    i: usize,
    n: usize,
}

impl Shard {
    /// What falls to this share: every `n`-th of all names in order. Whoever asks gets the same answer, and no name falls
    /// to two.
    pub fn of<T>(self, mut all: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
        all.sort_by_key(|t| name(t));
        let mut k = 0;
        all.retain(|_| {
            k += 1;
            (k - 1) % self.n == self.i - 1
        });
        all
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}of{}", self.i, self.n)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "shards are `i/n` with i from 1 to n and n at most 10000, as in 2/8".to_string();
        let (i, n) = text.split_once('/').ok_or_else(wanted)?;
        let (i, n) = (i.trim().parse().map_err(|_| wanted())?, n.trim().parse().map_err(|_| wanted())?);
        if (1..=10_000).contains(&n) && (1..=n).contains(&i) { Ok(Self { i, n }) } else { Err(wanted()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_of_it_and_nothing_twice() {
        let names: Vec<String> =
            ["walk", "run", "turn", "jump", "bow", "sit", "hop"].map(String::from).into();
        for n in [1, 2, 3, 10] {
            let mut all: Vec<String> = Vec::new();
            for i in 1..=n {
                let shard: Shard = format!("{i}/{n}").parse().unwrap();
                let mut other = names.clone();
                other.reverse();
                let share = shard.of(names.clone(), Clone::clone);
                assert_eq!(share, shard.of(other, Clone::clone), "the order given does not matter");
                assert!(share.len().abs_diff(names.len() / n) <= 1);
                all.extend(share);
            }
            all.sort();
            let mut sorted = names.clone();
            sorted.sort();
            assert_eq!(all, sorted);
        }
        for bad in ["", "3", "0/4", "5/4", "1/0", "a/b", "1/99999", "-1/3"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
