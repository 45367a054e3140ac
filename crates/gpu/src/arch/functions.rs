//! The functions of the library by name, and those that ask for devices.

use std::ffi::{CStr, c_char, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::{self, NonNull};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::raw::{
    Batch, RawAnswers, RawDatabase, RawDevice, RawHop, RawLists, RawRoutes, RawShape,
    RawSuperKmers, RawTargets, RawText, RawTransfer, Sequence,
};
use crate::error::GpuError;
use crate::routes::GpuRoutes;

/// The version of the functions that this file calls.
const VERSION: i32 = 4;

/// What a call comes to, by `gyrase_gpu_code`.
const FINE: i32 = 0;
const DECLINED: i32 = 1;
const DAMAGED: i32 = 2;

/// The functions of the library by name.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the caller has seen by the library's version that its functions have
                    // these types.
                    $($name: unsafe {
                        *library.get(concat!("gyrase_gpu_", stringify!($name)).as_bytes())?
                    },)*
                })
            }
        }
    };
}

functions! {
    error: fn() -> *const c_char;
    devices: fn() -> i32;
    describe: fn(i32, *mut RawDevice) -> i32;
    open: fn(i32, *const RawDatabase) -> *mut c_void;
    close: fn(*mut c_void);
    pipeline: fn(*mut c_void, u64, u64) -> *mut c_void;
    pipeline_close: fn(*mut c_void);
    submit: fn(*mut c_void, *const Batch<'_>) -> i32;
    collect: fn(*mut c_void, *mut RawAnswers) -> i32;
    suffixes: fn(i32, *const RawText<'_>, u64, *mut u32, *mut u32) -> i32;
    suffixes_among: fn(
        *const i32, *const u64, u32, *const RawRoutes<'_>, *const RawText<'_>, *mut u32, *mut u32
    ) -> i32;
    records: fn(i32, u64, u32) -> *mut c_void;
    records_close: fn(*mut c_void);
    sketcher: fn(*mut c_void, *const RawShape, u64, u64) -> *mut c_void;
    sketcher_close: fn(*mut c_void);
    sketch: fn(*mut c_void, *const Sequence<'_>, u32, u32) -> i32;
    sort: fn(*mut c_void, *const u32, *const u32, u32, *mut u32, *mut u32) -> i32;
    targets_of: fn(*mut c_void, *const RawTargets<'_>) -> i32;
    lister: fn(*mut c_void, u32, u32, u64, u64) -> *mut c_void;
    lister_close: fn(*mut c_void);
    list: fn(*mut c_void, u32, u64, u32, *mut RawLists) -> i32;
    distinct: fn(*mut c_void, *mut u64) -> i32;
    reader: fn(*mut c_void, u64) -> *mut c_void;
    reader_close: fn(*mut c_void);
    read: fn(*mut c_void, u64, u32, *mut *const u64) -> i32;
    counter: fn(i32, u64) -> *mut c_void;
    counter_close: fn(*mut c_void);
    count: fn(*mut c_void, *const RawSuperKmers<'_>, *mut u32) -> i32;
    rows: fn(*mut c_void, u64, u64, *mut u64, *mut u32) -> i32;
    group: fn(*const i32, *const u64, u32) -> *mut c_void;
    group_close: fn(*mut c_void);
    put: fn(*mut c_void, u32, u64, *const u8, u64) -> i32;
    get: fn(*mut c_void, u32, u64, *mut u8, u64) -> i32;
    exchange: fn(*mut c_void, *const RawTransfer, u32) -> i32;
}

impl Functions {
    /// Loads the library `path`, which is never unloaded: CUDA has threads of its own.
    pub(crate) fn load(path: &Path) -> Result<Functions, GpuError> {
        let unloadable = |source| GpuError::Load {
            path: path.to_path_buf(),
            source,
        };
        // SAFETY: loading runs the start-up code of the library, which is that of C++ and CUDA.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = ManuallyDrop::new(library.map_err(unloadable)?);
        // SAFETY: every version of the library has this function, of this type.
        let version =
            unsafe { library.get::<unsafe extern "C" fn() -> i32>(b"gyrase_gpu_version") };
        // SAFETY: it takes nothing and gives a number.
        let found = unsafe { version.map_err(unloadable)?() };
        if found != VERSION {
            return Err(GpuError::Version {
                path: path.to_path_buf(),
                found,
                expected: VERSION,
            });
        }
        Functions::of(&library).map_err(unloadable)
    }

    /// How many devices there are.
    pub(crate) fn devices(&self) -> Result<usize, GpuError> {
        // SAFETY: it takes nothing and gives a number.
        let count = unsafe { (self.devices)() };
        usize::try_from(count).map_err(|_| GpuError::Driver { why: self.why() })
    }

    /// The name of a device, and what else it is.
    pub(crate) fn describe(&self, number: usize) -> Result<(String, RawDevice), GpuError> {
        let mut device = RawDevice {
            name: [0; 128],
            memory: 0,
            free: 0,
            major: 0,
            minor: 0,
        };
        // SAFETY: the place is of the type that is written, and outlives the call.
        let code = unsafe { (self.describe)(number as i32, &mut device) };
        self.check(code)?;
        let name = device.name.map(|letter| letter as u8);
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok((name.to_string_lossy().into_owned(), device))
    }

    /// Sorts the suffixes of a text of so many codes into slices as long as it; what they share is
    /// not asked for where there is no slice for it.
    pub(crate) fn suffixes(
        &self,
        number: usize,
        (letters, codes): (&[u8], u32),
        bytes: u64,
        (positions, common): (&mut [u32], Option<&mut [u32]>),
    ) -> Result<(), GpuError> {
        let length = letters.len();
        assert!(positions.len() == length && common.as_ref().is_none_or(|to| to.len() == length));
        let text = RawText::new(letters, codes);
        let positions = positions.as_mut_ptr();
        let common = common.map_or(ptr::null_mut(), <[u32]>::as_mut_ptr);
        // SAFETY: the text outlives the call, and the slices have a number for each letter.
        let code = unsafe { (self.suffixes)(number as i32, &text, bytes, positions, common) };
        self.check(code)
    }

    /// Sorts the suffixes of a text of so many codes, on logical devices by the numbers of GPUs and
    /// bytes of each, into slices as long as it: where they begin, and what they share.
    pub(crate) fn suffixes_among(
        &self,
        shares: &[(usize, u64)],
        routes: &GpuRoutes,
        (letters, codes): (&[u8], u32),
        (positions, common): (&mut [u32], &mut [u32]),
    ) -> Result<(), GpuError> {
        let length = letters.len();
        assert!(positions.len() == length && common.len() == length);
        assert_eq!(routes.devices(), shares.len(), "the plan is theirs");
        let (numbers, bytes): (Vec<i32>, Vec<u64>) = shares
            .iter()
            .map(|&(number, bytes)| (number as i32, bytes))
            .unzip();
        let hops: Vec<RawHop> = routes.hops().iter().map(RawHop::from).collect();
        let (text, count) = (RawText::new(letters, codes), shares.len() as u32);
        let routes = RawRoutes::new(&hops, routes.chunks());
        let (numbers, bytes) = (numbers.as_ptr(), bytes.as_ptr());
        let (positions, common) = (positions.as_mut_ptr(), common.as_mut_ptr());
        // SAFETY: there are as many numbers and bytes as is said; the plan brings each message
        // where it should; all outlive the call, and the slices have a number for each letter.
        let code = unsafe {
            (self.suffixes_among)(numbers, bytes, count, &routes, &text, positions, common)
        };
        self.check(code)
    }

    /// What a code of the last call means.
    pub(super) fn check(&self, code: i32) -> Result<(), GpuError> {
        match code {
            FINE => Ok(()),
            DECLINED => Err(GpuError::Declined),
            DAMAGED => Err(GpuError::Damaged),
            _ => Err(GpuError::Failed { why: self.why() }),
        }
    }

    /// What the last call of this thread made.
    pub(super) fn given(&self, made: *mut c_void) -> Result<NonNull<c_void>, GpuError> {
        NonNull::new(made).ok_or_else(|| GpuError::Failed { why: self.why() })
    }

    /// Why the last call of this thread failed.
    pub(super) fn why(&self) -> String {
        // SAFETY: it takes nothing, and gives a text that stays until this thread calls again.
        let text = unsafe { CStr::from_ptr((self.error)()) };
        text.to_string_lossy().into_owned()
    }
}
