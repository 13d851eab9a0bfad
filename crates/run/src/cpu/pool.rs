//! Threads that wait for shards.
//!
//! Shards are handed over whole: a worker takes one from a list, works on it and puts it on the other list. Nothing
//! is shared and nothing is allocated, so neither locks within the work nor lifetimes that outlive it are needed.
//! Who has nothing to do looks around for some tens of microseconds before it sleeps: a draw follows its step at
//! once, and to be woken takes about as long as a shard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Work on one item with a thread's scratch memory; the same for all items of a call.
pub(crate) type Work<T, J, S> = fn(&mut T, &J, &mut S);

/// How often to look before sleeping: 50 to 100 µs with the pause that processors make at each look.
const LOOKS: usize = 1500;

struct Lists<T, J, S> {
    todo: Vec<(usize, T)>,
    done: Vec<(usize, T)>,
    job: Option<J>,
    /// Scratch memory that no thread has at the moment; there is one for each.
    scratch: Vec<S>,
    /// Workers that are there; a thread that begins allocates, and must not do so in somebody's frame.
    started: usize,
    /// A worker's work panicked.
    broken: bool,
    closing: bool,
}

struct Shared<T, J, S> {
    lists: Mutex<Lists<T, J, S>>,
    work: Work<T, J, S>,
    /// Items of the call that nobody has taken yet, and those that are not done: what to look at without the lock.
    untaken: AtomicUsize,
    undone: AtomicUsize,
    /// There is something to do.
    wake: Condvar,
    /// Everything is done.
    ready: Condvar,
}

/// Worker threads, one fewer than asked for: the caller works too.
pub(crate) struct Pool<T, J, S> {
    shared: Arc<Shared<T, J, S>>,
    workers: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static, J: Copy + Send + 'static, S: Default + Send + 'static> Pool<T, J, S> {
    /// `threads` counts the caller's own.
    pub fn new(threads: usize, work: Work<T, J, S>) -> Self {
        let lists = Lists {
            todo: Vec::new(),
            done: Vec::new(),
            job: None,
            scratch: (0..threads.max(1)).map(|_| S::default()).collect(),
            started: 0,
            broken: false,
            closing: false,
        };
        let shared = Arc::new(Shared {
            lists: Mutex::new(lists),
            work,
            untaken: AtomicUsize::new(0),
            undone: AtomicUsize::new(0),
            wake: Condvar::new(),
            ready: Condvar::new(),
        });
        let worker = |i: usize| {
            let shared = shared.clone();
            // Where the system gives no thread the caller does the work alone.
            std::thread::Builder::new().name(format!("toile {i}")).spawn(move || shared.serve()).ok()
        };
        let workers: Vec<JoinHandle<()>> = (1..threads).filter_map(worker).collect();
        let mut lists = shared.lock();
        while lists.started < workers.len() {
            lists = shared.ready.wait(lists).unwrap_or_else(PoisonError::into_inner);
        }
        drop(lists);
        Self { shared, workers }
    }

    /// Changes every thread's scratch memory; not while work goes on.
    pub fn provide(&self, change: impl FnMut(&mut S)) {
        self.shared.lock().scratch.iter_mut().for_each(change);
    }

    /// Threads that work, the caller's own included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Works on all items and returns when all are done, in the order they were.
    pub fn run(&self, items: &mut Vec<T>, job: J) {
        if self.workers.is_empty() || items.len() < 2 {
            let mut lists = self.shared.lock();
            let scratch = &mut lists.scratch[0];
            items.iter_mut().for_each(|item| (self.shared.work)(item, &job, scratch));
            return;
        }
        let count = items.len();
        let mut lists = self.shared.lock();
        lists.todo.extend(items.drain(..).enumerate().rev());
        let room = count - lists.done.len();
        lists.done.reserve(room);
        lists.job = Some(job);
        self.shared.undone.store(count, Ordering::Relaxed);
        self.shared.untaken.store(count, Ordering::Release);
        drop(lists);
        self.shared.wake.notify_all();
        self.shared.work_off();
        look_until(|| self.shared.undone.load(Ordering::Acquire) == 0);
        let mut lists = self.shared.lock();
        while lists.done.len() < count {
            lists = self.shared.ready.wait(lists).unwrap_or_else(PoisonError::into_inner);
        }
        lists.done.sort_unstable_by_key(|(i, _)| *i);
        items.extend(lists.done.drain(..).map(|(_, item)| item));
        let broken = std::mem::take(&mut lists.broken);
        drop(lists);
        assert!(!broken, "a worker thread panicked");
    }
}

impl<T, J: Copy, S> Shared<T, J, S> {
    fn lock(&self) -> MutexGuard<'_, Lists<T, J, S>> {
        // Where work is done under the lock nobody else is there, so a poisoned one guards sound lists.
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes items until there are none. An item and its job are taken together: the next call may have begun
    /// since the last item was put back.
    fn work_off(&self) {
        loop {
            let mut lists = self.lock();
            let (Some((i, mut item)), Some(job)) = (lists.todo.pop(), lists.job) else { return };
            self.untaken.fetch_sub(1, Ordering::Relaxed);
            let mut scratch = lists.scratch.pop().expect("there is one for each thread");
            drop(lists);
            let sound = catch_unwind(AssertUnwindSafe(|| (self.work)(&mut item, &job, &mut scratch))).is_ok();
            let mut lists = self.lock();
            lists.scratch.push(scratch);
            lists.broken |= !sound;
            lists.done.push((i, item));
            if self.undone.fetch_sub(1, Ordering::Release) == 1 {
                self.ready.notify_one();
            }
        }
    }

    fn serve(&self) {
        let mut lists = self.lock();
        lists.started += 1;
        self.ready.notify_one();
        loop {
            if lists.closing {
                return;
            }
            if lists.todo.is_empty() {
                lists = self.wake.wait(lists).unwrap_or_else(PoisonError::into_inner);
            } else {
                drop(lists);
                self.work_off();
                look_until(|| self.untaken.load(Ordering::Acquire) > 0);
                lists = self.lock();
            }
        }
    }
}

/// Looks a while; what was looked for may still not be there afterwards.
fn look_until(found: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if found() {
            return;
        }
        std::hint::spin_loop();
    }
}

impl<T, J, S> Drop for Pool<T, J, S> {
    fn drop(&mut self) {
        self.shared.lists.lock().unwrap_or_else(PoisonError::into_inner).closing = true;
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing more to say.
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_comes_back_in_its_place() {
        for threads in [1, 2, 7] {
            let pool = Pool::new(threads, |item: &mut u64, add: &u64, _: &mut ()| *item += add);
            let mut items: Vec<u64> = (0..23).collect();
            let mut sum = 0;
            for round in 1..500 {
                // Another job each time: a worker must not carry the last one over.
                pool.run(&mut items, round);
                sum += round;
                for (i, item) in items.iter().enumerate() {
                    assert_eq!(*item, i as u64 + sum, "{threads} threads, round {round}");
                }
            }
        }
    }

    #[test]
    fn a_panic_in_a_worker_reaches_the_caller_and_leaves_the_items() {
        let pool = Pool::new(3, |item: &mut u64, _: &(), _: &mut ()| assert!(*item != 5, "five"));
        let mut items: Vec<u64> = (0..23).collect();
        let result = catch_unwind(AssertUnwindSafe(|| pool.run(&mut items, ())));
        assert!(result.is_err());
        assert_eq!(items.len(), 23);
        items[5] = 0;
        pool.run(&mut items, ());
    }
}
