//! Places for things that come and go, by index. A freed place is used again first, so what is in flight
//! stays dense in memory.

#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
    /// What a new place holds at first.
    blank: T,
    /// Places at the most.
    room: usize,
}

/// No place.
pub(super) const NONE: u32 = u32::MAX;

impl<T: Copy> Slab<T> {
    /// No places yet, and at most `room`, which is below 2^32.
    pub(super) const fn new(room: usize, blank: T) -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
            blank,
            room,
        }
    }

    /// A place, to be filled where it is: an item that is made elsewhere and copied costs more than its
    /// making. [`NONE`] when there is no room.
    #[inline(always)]
    pub(super) fn claim(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.append())
    }

    #[cold]
    #[inline(never)]
    fn append(&mut self) -> u32 {
        if self.items.len() >= self.room {
            return NONE;
        }
        self.items.push(self.blank);
        u32::try_from(self.items.len() - 1).expect("the room is below 2^32")
    }

    /// Gives a place back. What it holds stays readable until it is used again.
    #[inline]
    pub(super) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Places that are or were in use: all below this.
    pub(super) fn len(&self) -> u32 {
        self.items.len() as u32
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_place_is_used_again_and_a_full_slab_says_so() {
        let mut slab = Slab::new(2, ' ');
        assert_eq!((slab.claim(), slab.claim()), (0, 1));
        slab[1] = 'b';
        slab.remove(1);
        assert_eq!(slab[1], 'b', "it stays readable");
        assert_eq!((slab.claim(), slab.claim()), (1, NONE));
        assert_eq!(slab.iter().count(), 2);
    }
}
