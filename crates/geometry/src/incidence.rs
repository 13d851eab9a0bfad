//! Which elements of a mesh lie about each vertex.

/// For each vertex the elements that have it, triangles or others, in their order.
#[derive(Clone, Debug, Default)]
pub struct Incidence {
    first: Vec<u32>,
    elements: Vec<u32>,
}

impl Incidence {
    /// Of elements given by their vertices, each below `vertices`.
    pub fn new<const N: usize>(vertices: usize, elements: impl Iterator<Item = [u32; N]> + Clone) -> Self {
        let mut first = vec![0u32; vertices + 1];
        elements.clone().flatten().for_each(|v| first[v as usize + 1] += 1);
        (0..vertices).for_each(|v| first[v + 1] += first[v]);
        let mut next = first.clone();
        let mut about = vec![0; first[vertices] as usize];
        for (e, corners) in elements.enumerate() {
            for v in corners {
                about[next[v as usize] as usize] = e as u32;
                next[v as usize] += 1;
            }
        }
        Self { first, elements: about }
    }

    /// The elements about vertex `v`.
    #[inline]
    pub fn of(&self, v: u32) -> &[u32] {
        &self.elements[self.first[v as usize] as usize..self.first[v as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_listed_about_their_vertices() {
        let triangles = [[0u32, 1, 2], [2, 1, 3], [4, 2, 3]];
        let about = Incidence::new(6, triangles.iter().copied());
        assert_eq!(about.of(0), [0]);
        assert_eq!(about.of(2), [0, 1, 2]);
        assert_eq!(about.of(3), [1, 2]);
        assert!(about.of(5).is_empty());
    }
}
