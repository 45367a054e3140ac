//! What one thread did: its spans, as many as there is room for, and sums of the shortest of the
//! rest.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A span that ended. Times are in nanoseconds since the start of the process.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What was done.
    pub name: &'static str,
    /// When it began.
    pub start: u64,
    /// How long it took.
    pub time: u64,
    /// Of that, what was spent in no other span.
    pub own: u64,
    /// Of the own time, processor time.
    pub cpu: u64,
    /// Of the own time, what the thread was ready to run and had no core.
    pub queued: u64,
    /// Bytes that moved.
    pub bytes: Option<u64>,
    /// Which of the calls of its kind it was, equal on all ranks.
    pub instance: Option<u64>,
    /// What was waited for: its number among the words of the lane.
    pub at: Word,
    /// What was called: its number among the words of the lane.
    pub call: Word,
    /// The stage of the run, by number.
    pub stage: u16,
    /// It was open beside others of its thread, not within them.
    pub beside: bool,
}

/// A word of a lane; 0 is none.
pub type Word = u8;
/// The first word of every lane.
const COLLECTIVE: Word = 1;

/// What spans that were folded have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// The stage.
    pub stage: u16,
    /// What was done.
    pub name: &'static str,
    /// What was waited for.
    pub at: Word,
    /// What was called.
    pub call: Word,
}

/// Sums over spans that are not kept one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// How many.
    pub spans: u64,
    /// Their own time, in nanoseconds.
    pub own: u64,
    /// Of that, processor time.
    pub cpu: u64,
    /// Of that, time in which the thread had no core.
    pub queued: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The lane of a thread.
#[derive(Debug)]
pub struct Lane {
    /// The thread's name.
    pub name: String,
    /// Its thread is gone; another one of the same name may take the lane over.
    pub free: AtomicBool,
    kept: Mutex<Kept>,
}

/// Spans and sums.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// In the order in which they ended.
    pub events: Vec<Event>,
    /// Sums over the others.
    pub folded: BTreeMap<Kind, Folded>,
    /// Words by number, from 1.
    pub words: Vec<String>,
    /// Spans shorter than this are folded.
    shortest: u64,
}

impl Lane {
    /// The lane of a thread of this name.
    pub fn new(name: String) -> Lane {
        Lane {
            name,
            free: AtomicBool::new(false),
            kept: Mutex::default(),
        }
    }

    /// Takes the lane over if its thread, of the same name, is gone.
    pub fn take_over(&self, name: &str) -> bool {
        self.name == name && self.free.swap(false, Relaxed)
    }

    /// Keeps or folds a span, where there is room for `room` of them. While the run goes on hardly
    /// anybody but its own thread takes the lock.
    pub fn add(&self, event: Event, at: &str, call: &str, room: usize) {
        let mut kept = self
            .kept
            .lock()
            .expect("no thread panics while it holds its lane");
        let event = Event {
            at: kept.word(at),
            call: kept.word(call),
            ..event
        };
        kept.add(event, room);
    }

    /// What there is.
    pub fn kept(&self) -> Kept {
        self.kept
            .lock()
            .expect("no thread panics while it holds its lane")
            .clone()
    }
}

impl Kept {
    fn word(&mut self, text: &str) -> Word {
        if text.is_empty() {
            return 0;
        }
        if self.words.is_empty() {
            self.words.push("collective".to_string());
        }
        let known = self.words.iter().position(|word| word == text);
        let number = known.unwrap_or_else(|| {
            self.words.push(text.to_string());
            self.words.len() - 1
        });
        // The words are constants of the source: there are not nearly so many.
        Word::try_from(number + 1).unwrap_or(0)
    }

    /// The text of a word.
    pub fn text(&self, word: Word) -> &str {
        self.words
            .get(usize::from(word).wrapping_sub(1))
            .map_or("", String::as_str)
    }

    fn add(&mut self, event: Event, room: usize) {
        if weight(&event) < self.shortest {
            return self.fold(event);
        }
        if self.events.len() >= room.max(2) {
            self.thin();
        }
        self.events.push(event);
    }

    /// Folds the shorter half.
    fn thin(&mut self) {
        let mut weights: Vec<u64> = self.events.iter().map(weight).collect();
        let middle = weights.len() / 2;
        let (_, &mut median, _) = weights.select_nth_unstable(middle);
        self.shortest = median;
        let mut equal = weights[middle..]
            .iter()
            .filter(|&&weight| weight == median)
            .count();
        for event in std::mem::take(&mut self.events) {
            let keep = match weight(&event).cmp(&median) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                // Of equal ones so many that half of all are kept.
                std::cmp::Ordering::Equal => {
                    equal = equal.saturating_sub(1);
                    equal > 0
                }
            };
            if keep {
                self.events.push(event);
            } else {
                self.fold(event);
            }
        }
    }

    fn fold(&mut self, event: Event) {
        let Event {
            stage,
            name,
            at,
            call,
            ..
        } = event;
        let folded = self
            .folded
            .entry(Kind {
                stage,
                name,
                at,
                call,
            })
            .or_default();
        folded.spans += 1;
        folded.own += event.own;
        folded.cpu += event.cpu;
        folded.queued += event.queued;
        folded.bytes += event.bytes.unwrap_or(0);
    }
}

/// What is kept longest: collectives, which must be seen on all ranks to be understood, then what
/// took long.
fn weight(event: &Event) -> u64 {
    if event.at == COLLECTIVE {
        u64::MAX
    } else {
        event.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time: u64) -> Event {
        let (at, call, stage) = (0, 0, 0);
        Event {
            name: "read",
            start: 0,
            time,
            own: time,
            cpu: 0,
            queued: 0,
            bytes: Some(1),
            instance: None,
            at,
            call,
            stage,
            beside: false,
        }
    }

    #[test]
    fn the_shortest_are_folded_and_sums_stay_exact() {
        for room in [2, 3, 16, 17] {
            let lane = Lane::new("worker 0".into());
            let times: Vec<u64> = (0..1000).map(|n| n * 7919 % 1009).collect();
            times
                .iter()
                .for_each(|&time| lane.add(event(time), "", "", room));
            lane.add(event(0), "collective", "sum", room);
            let kept = lane.kept();
            assert!(
                kept.events.len() <= room && kept.events.iter().any(|event| event.at == COLLECTIVE),
                "{room}"
            );
            let folded: u64 = kept.folded.values().map(|folded| folded.own).sum();
            let own: u64 = kept.events.iter().map(|event| event.own).sum();
            assert_eq!(folded + own, times.iter().sum::<u64>(), "{room}");
            let spans: u64 = kept.folded.values().map(|folded| folded.spans).sum();
            assert_eq!(spans as usize + kept.events.len(), 1001, "{room}");
        }
    }

    #[test]
    fn spans_of_one_length_are_bounded_too() {
        let lane = Lane::new("worker 0".into());
        (0..100).for_each(|_| lane.add(event(5), "turn", "", 8));
        let kept = lane.kept();
        assert!(kept.events.len() <= 8 && !kept.events.is_empty());
        assert_eq!(kept.text(kept.events[0].at), "turn");
        assert_eq!(kept.text(kept.events[0].call), "");
    }
}
