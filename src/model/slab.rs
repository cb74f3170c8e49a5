//! Places for things that come and go, by index. A freed place is used again first, so what is in flight
//! stays dense in memory.

#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.items[index as usize] = item;
            return index;
        }
        self.items.push(item);
        u32::try_from(self.items.len() - 1)
            .expect("requests in flight are limited to fewer than 2^32")
    }

    /// Gives a place back. What it holds stays readable until it is used again.
    #[inline]
    pub(super) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Everything that has a place or had one.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: u32) -> &T {
        &self.items[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
