//! Lists that are long and stay: they hold little more than what is in them.

/// Pushes onto a list that grows by an eighth, not to twice its size.
pub(crate) fn append<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(64 + list.len() / 8);
    }
    list.push(item);
}

/// Gives back what a list does not need that was once far longer: cloth that falls onto a body meets more than cloth that is
/// worn.
pub(crate) fn give_back<T>(list: &mut Vec<T>) {
    if list.capacity() > 256 + 2 * list.len() {
        list.shrink_to(64 + list.len() + list.len() / 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_little_more_room_than_it_needs() {
        let mut list = Vec::new();
        (0..10_000).for_each(|k| append(&mut list, k));
        assert!(list.capacity() < 11_400, "{}", list.capacity());
        list.truncate(1_000);
        give_back(&mut list);
        assert!(list.capacity() < 1_300, "{}", list.capacity());
        assert!(list.iter().copied().eq(0..1_000));
    }
}
