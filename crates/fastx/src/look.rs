//! A look at the first bytes of an input, before it is read.

use std::path::Path;

use crate::decoder::Bytes;
use crate::error::Error;
use crate::list;
use crate::options::{Compression, Input, Options};
use crate::sniff::{self, Start};
use crate::source::{self, Origin};
use crate::window::window;

/// An input after a look at its first bytes.
pub(crate) struct Looked {
    /// What it is.
    pub input: Input,
    /// Where its bytes come from.
    pub origin: Origin,
    /// Where the first record starts, in a plain file.
    pub start: Option<usize>,
    /// There is nothing in it.
    pub empty: bool,
}

impl Looked {
    /// A pipe of which nothing is known.
    fn unseen(path: &Path) -> Looked {
        let (path, name) = (path.to_path_buf(), path.display().to_string());
        let input = Input {
            path,
            name,
            format: None,
            compression: Compression::Plain,
            window: 0,
            size: None,
        };
        Looked {
            input,
            origin: Origin::Unseen,
            start: None,
            empty: false,
        }
    }
}

/// Whether this can be read only once.
pub(crate) fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Looks at the first bytes of an input.
pub(crate) fn look(path: &Path, options: &Options) -> Result<Looked, Error> {
    if options.shared && list::is_standard_input(path) {
        let what = "standard input (-) reaches only one process of a job; name files";
        return Err(Error::Arguments(what.to_owned()));
    }
    if options.shared && is_pipe(path) {
        return Ok(Looked::unseen(path));
    }
    if list::is_standard_input(path) {
        return look_at(
            path,
            "standard input".to_owned(),
            None,
            Box::new(std::io::stdin()),
            options,
        );
    }
    let file = source::open(path)?;
    // A file of unknown size (a pipe, a device) can be read only once.
    let size = file
        .metadata()
        .ok()
        .filter(|metadata| metadata.is_file())
        .map(|metadata| metadata.len());
    let name = path.display().to_string();
    look_at(path, name, size, Box::new(file), options)
}

/// Looks at the first bytes of a stream; with a size it is a file that can be opened again.
pub(crate) fn look_at(
    path: &Path,
    name: String,
    size: Option<u64>,
    mut bytes: Bytes,
    options: &Options,
) -> Result<Looked, Error> {
    let head = sniff::head(&mut bytes).map_err(|source| Error::Read {
        input: name.clone(),
        at: 0,
        source,
    })?;
    let (empty, compression) = (head.is_empty(), sniff::compression(&head));
    if empty && Compression::for_output(path) != Compression::Plain {
        tracing::warn!("{name} is empty, which no compressed file is: was it written to its end?");
    }
    let window = window(&head, compression);
    let (origin, mut text) = match size {
        Some(_) => (Origin::File, sniff::text(head, compression)),
        None => (
            Origin::Pipe {
                head: head.clone(),
                rest: bytes,
            },
            sniff::text(head, compression),
        ),
    };
    let mut format = None;
    let mut start = None;
    match sniff::look(&text) {
        Start::Records(found, at) => {
            format = Some(found);
            start = sniff::range_start(found, &mut text, at, options.batch());
        }
        Start::Blank => {}
        Start::Other(found) => return Err(Error::UnknownFormat { input: name, found }),
    }
    let input = Input {
        path: path.to_path_buf(),
        name,
        format,
        compression,
        window,
        size,
    };
    Ok(Looked {
        input,
        origin,
        start,
        empty,
    })
}
