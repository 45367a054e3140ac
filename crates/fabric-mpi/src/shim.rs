//! The C shim, loaded: its functions, and a safe call of each. All the crate's unsafe code is here.
//!
//! Soundness rests on three things. The library's functions have the types that `shim.c` gives
//! them: its version is checked before any other is called. The thread that started MPI calls it,
//! and where the library allows it ([`Elsewhere`]) another one, never two at a time but for
//! [`Shim::abort`], behind which nothing comes. An operation owns every buffer that MPI may touch
//! until it has ended, and leaks them when it is dropped before.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gyrase_fabric::{FabricError, Pages};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use crate::StartError;
use crate::error::without_room;
use crate::exit_codes::ExitCodes;
use crate::pieces::Pieces;
use crate::turns::{Turn, Turns};

/// The version of the shim's functions that this file calls.
pub(crate) const VERSION: c_int = 5;

/// Bytes for a message of MPI's.
const TEXT: usize = 512;

/// The functions of the library by name.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the caller has seen by the library's version that its functions have
                    // these types.
                    $($name: unsafe {
                        *library.get(concat!("gyrase_mpi_", stringify!($name)).as_bytes())?
                    },)*
                })
            }
        }
    };
}

type Operations = *mut *mut c_void;

functions! {
    library: fn(*mut c_char, c_int) -> c_int;
    start: fn(c_int, c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
    finish: fn() -> c_int;
    abandon: fn();
    abort: fn();
    aborted: fn() -> c_int;
    error: fn(c_int, *mut c_char, c_int);
    test: fn(Operations, *mut c_int) -> c_int;
    alltoall: fn(*const u32, *mut u32, Operations) -> c_int;
    alltoallv: fn(
        *const u8, *const c_int, *const c_int, *mut u8, *const c_int, *const c_int, Operations
    ) -> c_int;
    heartbeat: fn(*const u64, *mut u64, c_int, Operations) -> c_int;
    max: fn(*const u64, *mut u64, c_int, Operations) -> c_int;
    sum: fn(*const u64, *mut u64, c_int, Operations) -> c_int;
    gather: fn(*const u64, *mut u64, Operations) -> c_int;
    gatherv: fn(*const u8, c_int, *mut u8, *const c_int, *const c_int, Operations) -> c_int;
    barrier: fn(Operations) -> c_int;
    send: fn(c_int, *const u8, c_int, c_int, c_int, Operations) -> c_int;
    arrived: fn(c_int, *mut c_int, *mut c_int, *mut c_int, Operations) -> c_int;
    receive: fn(*mut c_void, *mut u8, c_int, Operations) -> c_int;
    window: fn(u64, *mut *mut c_void) -> c_int;
    window_free: fn(*mut c_void) -> c_int;
    fetch: fn(*mut c_void, c_int, c_int, u64, u64, *mut u64) -> c_int;
    compare_and_swap: fn(*mut c_void, c_int, u64, u64, u64, *mut u64) -> c_int;
}

/// The library, and MPI behind it, as one thread calls it.
pub(crate) struct Shim {
    library: Arc<Loaded>,
    /// How long this thread waits for its turn; for ever where nothing is said.
    patience: Option<Duration>,
    /// A thread goes on to use what it began.
    here: PhantomData<*const ()>,
}

/// What the threads that call share.
struct Loaded {
    functions: Functions,
    turns: Turns,
}

/// What a second thread makes its [`Shim`] of.
pub(crate) struct Elsewhere {
    library: Arc<Loaded>,
    patience: Duration,
}

impl Elsewhere {
    /// The library as this thread calls it.
    pub(crate) fn here(self) -> Shim {
        Shim {
            library: self.library,
            patience: Some(self.patience),
            here: PhantomData,
        }
    }
}

/// Which messages are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Channel {
    /// Those that threads send each other.
    Messages,
    /// The signs of life of ranks.
    Pings,
}

/// Which way numbers are made one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduce {
    /// The largest as signed numbers, on the channel of the heartbeat.
    Heartbeat,
    /// The largest as signed numbers.
    Max,
    /// The sum.
    Sum,
}

/// MPI, started by this thread.
pub(crate) struct Started {
    /// What is called.
    pub(crate) shim: Shim,
    /// This process.
    pub(crate) rank: usize,
    /// How many there are.
    pub(crate) ranks: usize,
    /// Whether several threads may call in turn.
    pub(crate) takes_turns: bool,
}

/// What is done with a number of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fetch {
    /// Nothing.
    Get,
    /// Adds to it.
    Add,
    /// Replaces it.
    Put,
}

/// An operation under way, with everything that MPI reads and writes meanwhile.
pub(crate) struct Operation<B> {
    /// Null once it ended.
    handle: *mut c_void,
    held: ManuallyDrop<B>,
}

impl<B> Operation<B> {
    /// What it held.
    ///
    /// # Panics
    /// When it has not ended.
    pub(crate) fn held(mut self) -> B {
        assert!(self.handle.is_null(), "an operation that ended");
        // SAFETY: the operation is forgotten, so that what it held is taken out once.
        let held = unsafe { ManuallyDrop::take(&mut self.held) };
        std::mem::forget(self);
        held
    }
}

impl<B> Drop for Operation<B> {
    fn drop(&mut self) {
        // MPI may still write to what is held unless the operation ended: then it is lost instead.
        if self.handle.is_null() {
            // SAFETY: `held` is dropped here and nowhere else: `Operation::held` takes it out only
            // to forget the operation.
            unsafe { ManuallyDrop::drop(&mut self.held) }
        }
    }
}

/// What this process gives and what it gets.
pub(crate) type Pair<T> = (Vec<T>, Vec<T>);

/// The buffers of an all-to-all of bytes.
pub(crate) struct Moved {
    /// What is sent.
    pub(crate) sent: Vec<u8>,
    /// What comes.
    pub(crate) came: Pages,
    /// Read by MPI until the operation ends.
    pieces: (Pieces, Pieces),
}

/// The buffers of a gathering at rank 0.
pub(crate) struct Gathered {
    mine: Vec<u8>,
    /// At rank 0 what all ranks gave, one behind the other.
    pub(crate) all: Vec<u8>,
    pieces: Pieces,
}

/// A message that arrived and is not yet received.
pub(crate) struct Arrived {
    message: *mut c_void,
    /// What its sender marked it with.
    pub(crate) tag: c_int,
    bytes: c_int,
}

/// Numbers of every rank that all can use.
pub(crate) struct Numbers {
    handle: *mut c_void,
    each: usize,
}

/// Loads a shim, so that the MPI behind it can load parts of its own where `global`.
fn open(path: &Path, global: bool) -> Result<Functions, StartError> {
    let unloadable = |source| StartError::Load {
        path: path.to_path_buf(),
        source,
    };
    let flags = RTLD_NOW | if global { RTLD_GLOBAL } else { RTLD_LOCAL };
    // SAFETY: loading runs the start-up code of the site's MPI, as linking against it would.
    let library =
        ManuallyDrop::new(unsafe { Library::open(Some(path), flags) }.map_err(unloadable)?);
    // SAFETY: every version of the shim has this function, of this type.
    let version = unsafe {
        library
            .get::<unsafe extern "C" fn() -> c_int>(b"gyrase_mpi_version")
            .map_err(unloadable)?
    };
    // SAFETY: it takes nothing and gives a number.
    let found = unsafe { version() };
    if found != VERSION {
        return Err(StartError::Version {
            path: path.to_path_buf(),
            found,
            expected: VERSION,
        });
    }
    // The library is never unloaded: MPI cannot be.
    Functions::of(&library).map_err(unloadable)
}

/// What the MPI behind the shim at `path` calls itself, in one line. MPI is not started.
pub(crate) fn library(path: &Path) -> Result<String, StartError> {
    let functions = open(path, false)?;
    let mut text = [0; TEXT];
    // SAFETY: `text` has as much room as is said.
    let code = unsafe { (functions.library)(text.as_mut_ptr(), TEXT as c_int) };
    let whole = if code == 0 {
        read(&text)
    } else {
        String::new()
    };
    let words: Vec<_> = whole
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    Ok(words.join(" "))
}

/// The text up to the first zero; the last byte is one.
fn read(text: &[c_char; TEXT]) -> String {
    let bytes = text.map(|letter| letter as u8);
    CStr::from_bytes_until_nul(&bytes).map_or_else(
        |_| String::new(),
        |text| text.to_string_lossy().into_owned(),
    )
}

impl Shim {
    /// Loads the shim and starts MPI on this thread. What it is, this rank, and how many there are.
    pub(crate) fn start(path: &Path, codes: ExitCodes) -> Result<Started, StartError> {
        let shim = Shim {
            library: Arc::new(Loaded {
                functions: open(path, true)?,
                turns: Turns::default(),
            }),
            patience: None,
            here: PhantomData,
        };
        let (mut rank, mut ranks, mut threads) = (0, 0, 0);
        let (memory, mpi) = (codes.memory.into(), codes.mpi.into());
        // SAFETY: the three places outlive the call; nobody else starts MPI in this process.
        let code =
            unsafe { (shim.functions().start)(memory, mpi, &mut rank, &mut ranks, &mut threads) };
        if code != 0 {
            return Err(StartError::Init {
                what: shim.what(code),
            });
        }
        if threads == 0 {
            return Err(StartError::Init {
                what: "it does not allow other threads".into(),
            });
        }
        Ok(Started {
            shim,
            rank: rank as usize,
            ranks: ranks as usize,
            takes_turns: threads > 1,
        })
    }

    fn functions(&self) -> &Functions {
        &self.library.functions
    }

    /// The library for a second thread, which waits no longer than this for its turn.
    pub(crate) fn elsewhere(&self, patience: Duration) -> Elsewhere {
        Elsewhere {
            library: Arc::clone(&self.library),
            patience,
        }
    }

    /// The rank that a call under way waits for.
    pub(crate) fn waits_for(&self) -> Option<usize> {
        self.library.turns.waits_for()
    }

    /// Waits until no other thread calls.
    fn turn(&self) -> Result<Turn<'_>, FabricError> {
        self.library.turns.take(self.patience)
    }

    /// Ends MPI: nothing is under way, and no window is left.
    pub(crate) fn finish(self) -> Result<(), FabricError> {
        let _turn = self.turn()?;
        // SAFETY: it takes nothing; `self` is gone, so that nothing is called after it.
        self.check("MPI_Finalize", unsafe { (self.functions().finish)() })
    }

    /// This process is about to exit although operations are under way; the launcher need not kill
    /// the others for it.
    pub(crate) fn abandon(&self) {
        // SAFETY: it takes nothing, and MPI is started.
        unsafe { (self.functions().abandon)() }
    }

    /// Has the launcher end all processes of the job, a silent one too. Does not return, and waits
    /// for no turn: a call of the other thread may never end.
    pub(crate) fn abort(&self) {
        // SAFETY: it takes nothing, MPI is started, and nothing is done after it.
        unsafe { (self.functions().abort)() }
    }

    /// Whether a thread of this process got no memory: it never goes on, and has said why.
    pub(crate) fn aborted(&self) -> bool {
        // SAFETY: it takes nothing.
        unsafe { (self.functions().aborted)() != 0 }
    }

    fn what(&self, code: c_int) -> String {
        let mut text = [0; TEXT];
        // SAFETY: `text` has as much room as is said.
        unsafe { (self.functions().error)(code, text.as_mut_ptr(), TEXT as c_int) };
        read(&text)
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), FabricError> {
        if code == 0 {
            Ok(())
        } else {
            Err(FabricError::Mpi {
                call,
                what: self.what(code),
            })
        }
    }

    /// Begins an operation that uses what is held.
    fn begin<B>(
        &self,
        call: &'static str,
        held: B,
        begin: impl FnOnce(&mut B, Operations) -> c_int,
    ) -> Result<Operation<B>, FabricError> {
        let mut operation = Operation {
            handle: std::ptr::null_mut(),
            held: ManuallyDrop::new(held),
        };
        let _turn = self.turn()?;
        let code = begin(&mut operation.held, &mut operation.handle);
        self.check(call, code)?;
        Ok(operation)
    }

    /// Whether an operation ended.
    pub(crate) fn has_ended<B>(&self, operation: &mut Operation<B>) -> Result<bool, FabricError> {
        if !operation.handle.is_null() {
            let mut ended = 0;
            let _turn = self.turn()?;
            // SAFETY: the handle is of an operation under way; the shim sets it to null when that
            // ends.
            let code = unsafe { (self.functions().test)(&mut operation.handle, &mut ended) };
            self.check("MPI_Test", code)?;
        }
        Ok(operation.handle.is_null())
    }

    /// Sends number `i` to rank `i`; the second numbers are those that come. There are as many as
    /// ranks.
    pub(crate) fn alltoall(&self, sent: Vec<u32>) -> Result<Operation<Pair<u32>>, FabricError> {
        let came = vec![0; sent.len()];
        // SAFETY: both vectors have a number for each rank, and the operation holds them.
        self.begin(
            "MPI_Ialltoall",
            (sent, came),
            |(sent, came), operation| unsafe {
                (self.functions().alltoall)(from(sent), into(came), operation)
            },
        )
    }

    /// Sends pieces of `sent` to the ranks and receives pieces of theirs in `came`. There are as
    /// many pieces as ranks.
    ///
    /// # Panics
    /// When `sent` or `came` is shorter than its pieces.
    pub(crate) fn alltoallv(
        &self,
        sent: Vec<u8>,
        out: Pieces,
        came: Pages,
        inward: Pieces,
    ) -> Result<Operation<Moved>, FabricError> {
        assert!(
            out.all <= sent.len() && inward.all <= came.len(),
            "pieces of bytes that are there"
        );
        let held = Moved {
            sent,
            came,
            pieces: (out, inward),
        };
        // SAFETY: the pieces lie within the buffers, there is one for each rank, and the operation
        // holds all of them.
        self.begin(
            "MPI_Ialltoallv",
            held,
            |Moved {
                 sent,
                 came,
                 pieces: (out, inward),
             },
             operation| unsafe {
                let buffers = (from(sent), into(came));
                let (out, inward) = (
                    (from(&out.bytes), from(&out.at)),
                    (from(&inward.bytes), from(&inward.at)),
                );
                (self.functions().alltoallv)(
                    buffers.0, out.0, out.1, buffers.1, inward.0, inward.1, operation,
                )
            },
        )
    }

    /// Makes one of every rank's numbers, place by place; the second numbers are the result.
    pub(crate) fn reduce(
        &self,
        how: Reduce,
        mine: Vec<u64>,
    ) -> Result<Operation<Pair<u64>>, FabricError> {
        let function = match how {
            Reduce::Heartbeat => self.functions().heartbeat,
            Reduce::Max => self.functions().max,
            Reduce::Sum => self.functions().sum,
        };
        let all = vec![0; mine.len()];
        // SAFETY: both vectors have as many numbers as is said, and the operation holds them.
        self.begin(
            "MPI_Iallreduce",
            (mine, all),
            |(mine, all), operation| unsafe {
                function(from(mine), into(all), mine.len() as c_int, operation)
            },
        )
    }

    /// Rank 0 gets every rank's number as the second numbers, of which there are as many as
    /// `ranks`.
    pub(crate) fn gather(
        &self,
        mine: u64,
        ranks: usize,
    ) -> Result<Operation<Pair<u64>>, FabricError> {
        // SAFETY: one number is read and `ranks` are written, and the operation holds both vectors.
        self.begin(
            "MPI_Igather",
            (vec![mine], vec![0; ranks]),
            |(mine, all), operation| unsafe {
                (self.functions().gather)(from(mine), into(all), operation)
            },
        )
    }

    /// Rank 0 gets every rank's bytes, of which it knows how many each gives; the others say
    /// nothing of the kind.
    pub(crate) fn gatherv(
        &self,
        mine: Vec<u8>,
        pieces: Pieces,
    ) -> Result<Operation<Gathered>, FabricError> {
        let bytes = count("MPI_Igatherv", mine.len())?;
        let held = Gathered {
            mine,
            all: vec![0; pieces.all],
            pieces,
        };
        // SAFETY: `mine` has as many bytes as is said; the pieces lie within `all`; the operation
        // holds all of them.
        self.begin(
            "MPI_Igatherv",
            held,
            |Gathered { mine, all, pieces }, operation| unsafe {
                let (sizes, at) = (from(&pieces.bytes), from(&pieces.at));
                (self.functions().gatherv)(from(mine), bytes, into(all), sizes, at, operation)
            },
        )
    }

    /// Ends once every rank began it.
    pub(crate) fn barrier(&self) -> Result<Operation<()>, FabricError> {
        // SAFETY: there are no buffers.
        self.begin("MPI_Ibarrier", (), |(), operation| unsafe {
            (self.functions().barrier)(operation)
        })
    }

    /// Sends a message to another rank.
    pub(crate) fn send(
        &self,
        channel: Channel,
        rank: usize,
        tag: c_int,
        message: Vec<u8>,
    ) -> Result<Operation<Vec<u8>>, FabricError> {
        let bytes = count("MPI_Isend", message.len())?;
        let (channel, rank) = (channel as c_int, rank as c_int);
        // SAFETY: the message has as many bytes as is said, and the operation holds it.
        self.begin("MPI_Isend", message, |message, operation| unsafe {
            (self.functions().send)(channel, from(message), bytes, rank, tag, operation)
        })
    }

    /// A message that arrived.
    pub(crate) fn arrived(&self, channel: Channel) -> Result<Option<Arrived>, FabricError> {
        let _turn = self.turn()?;
        let (mut there, mut tag, mut bytes, mut message) = (0, 0, 0, std::ptr::null_mut());
        // SAFETY: the four places outlive the call.
        let code = unsafe {
            (self.functions().arrived)(
                channel as c_int,
                &mut there,
                &mut tag,
                &mut bytes,
                &mut message,
            )
        };
        self.check("MPI_Improbe", code)?;
        Ok((there != 0).then_some(Arrived {
            message,
            tag,
            bytes,
        }))
    }

    /// Receives a message.
    pub(crate) fn receive(&self, arrived: Arrived) -> Result<Operation<Vec<u8>>, FabricError> {
        // SAFETY: the message is of `arrived` and received once; the buffer has as many bytes as
        // it, and the operation holds it.
        self.begin(
            "MPI_Imrecv",
            vec![0; arrived.bytes as usize],
            |bytes, operation| unsafe {
                (self.functions().receive)(arrived.message, into(bytes), arrived.bytes, operation)
            },
        )
    }

    /// A window of so many numbers of each rank, all 0. Waits for every rank to come here.
    pub(crate) fn window(&self, each: usize) -> Result<Numbers, FabricError> {
        let mut handle = std::ptr::null_mut();
        let _turn = self.turn()?;
        // SAFETY: the place outlives the call.
        let code = unsafe { (self.functions().window)(each as u64, &mut handle) };
        self.check("MPI_Win_allocate", code).map_err(without_room)?;
        Ok(Numbers { handle, each })
    }

    /// Frees a window. Waits for every rank to come here.
    pub(crate) fn free(&self, window: Numbers) -> Result<(), FabricError> {
        let _turn = self.turn()?;
        // SAFETY: the handle is of `window`, and gone with it.
        self.check("MPI_Win_free", unsafe {
            (self.functions().window_free)(window.handle)
        })
    }

    /// Does something with number `at` of a rank; what it was before. Waits for that rank's memory.
    ///
    /// # Panics
    /// When there is no such number.
    pub(crate) fn fetch(
        &self,
        window: &Numbers,
        what: Fetch,
        (rank, at): (usize, usize),
        number: u64,
    ) -> Result<u64, FabricError> {
        assert!(
            at < window.each,
            "number {at} of {} in a window",
            window.each
        );
        let mut before = 0;
        let _turn = self.library.turns.take_for(rank, self.patience)?;
        // SAFETY: the number is in the window; MPI refuses a rank that is not. `before` outlives
        // the flush in the call.
        let code = unsafe {
            (self.functions().fetch)(
                window.handle,
                what as c_int,
                rank as c_int,
                at as u64,
                number,
                &mut before,
            )
        };
        self.check("MPI_Fetch_and_op", code)?;
        Ok(before)
    }

    /// Puts `new` for `expected` at number `at` of a rank; what was there. Waits for that rank's
    /// memory.
    ///
    /// # Panics
    /// When there is no such number.
    pub(crate) fn compare_and_swap(
        &self,
        window: &Numbers,
        (rank, at): (usize, usize),
        expected: u64,
        new: u64,
    ) -> Result<u64, FabricError> {
        assert!(
            at < window.each,
            "number {at} of {} in a window",
            window.each
        );
        let mut before = 0;
        let _turn = self.library.turns.take_for(rank, self.patience)?;
        // SAFETY: the number is in the window; MPI refuses a rank that is not. `before` outlives
        // the flush in the call.
        let code = unsafe {
            (self.functions().compare_and_swap)(
                window.handle,
                rank as c_int,
                at as u64,
                expected,
                new,
                &mut before,
            )
        };
        self.check("MPI_Compare_and_swap", code)?;
        Ok(before)
    }
}

/// Where a buffer is. The address of an empty one means nothing to Rust, and "the same buffer for
/// both" to Open MPI.
fn from<T>(buffer: &[T]) -> *const T {
    if buffer.is_empty() {
        std::ptr::null()
    } else {
        buffer.as_ptr()
    }
}

/// The same, to be written to.
fn into<T>(buffer: &mut [T]) -> *mut T {
    if buffer.is_empty() {
        std::ptr::null_mut()
    } else {
        buffer.as_mut_ptr()
    }
}

/// Bytes as MPI numbers them.
fn count(call: &'static str, bytes: usize) -> Result<c_int, FabricError> {
    c_int::try_from(bytes).map_err(|_| FabricError::Mpi {
        call,
        what: format!("{bytes} bytes are more than it can send"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = include_str!("shim.c");

    #[test]
    fn the_source_has_the_version_and_the_functions_that_are_called() {
        assert!(SOURCE.contains(&format!("#define SHIM_VERSION {VERSION}\n")));
        for what in [
            ("GET", Fetch::Get),
            ("ADD", Fetch::Add),
            ("PUT", Fetch::Put),
        ] {
            let order = SOURCE
                .split("enum { GET")
                .nth(1)
                .expect("the enumeration of operations");
            assert_eq!(
                format!("GET{order}")
                    .split(", ")
                    .position(|name| name.starts_with(what.0)),
                Some(what.1 as usize)
            );
        }
    }
}
