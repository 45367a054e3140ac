//! A file for each query and a list of them: BLAST's formats 13 (JSON) and 14 (its second XML).
//!
//! A layout writes one text, so each document has its length before it (64 bits, the lowest byte
//! first): who writes the files divides the text again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gyrase_files::{OutputError, OutputFile};

use super::layout::{About, End, Layout, QueryHits};
use super::xml::escape;
use super::{json, xml2};

/// Bytes of the length of a document.
const LENGTH: usize = size_of::<u64>();

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentSyntax {
    /// Format 13.
    Json,
    /// Format 14.
    Xml,
}

impl DocumentSyntax {
    /// How names of documents end.
    fn ending(self) -> &'static str {
        match self {
            DocumentSyntax::Json => "json",
            DocumentSyntax::Xml => "xml",
        }
    }

    /// The name of a document of a list, by its number from 1 on.
    fn name(self, list: &Path, number: usize) -> OsString {
        let own = list.extension().is_some_and(|there| there == self.ending());
        let stem = if own {
            list.file_stem()
        } else {
            list.file_name()
        };
        let mut name = stem.unwrap_or_default().to_owned();
        name.push(format!("_{number}.{}", self.ending()));
        name
    }

    /// Writes the list of documents of these names, as BLAST has it.
    fn list<'n>(
        self,
        out: &mut dyn Write,
        names: impl Iterator<Item = &'n [u8]>,
    ) -> io::Result<()> {
        match self {
            DocumentSyntax::Json => {
                write!(out, "{{\n\t\"BlastJSON\": [")?;
                for (number, name) in names.enumerate() {
                    write!(
                        out,
                        "{}\n\t\t{{\"File\": ",
                        if number > 0 { "," } else { "" }
                    )?;
                    json::quoted(out, name)?;
                    write!(out, " }}")?;
                }
                write!(out, "\n\t]\n}}")
            }
            DocumentSyntax::Xml => {
                out.write_all(xml2::LIST_HEAD.as_bytes())?;
                for name in names {
                    write!(out, "\t<xi:include href=\"")?;
                    escape(out, name)?;
                    writeln!(out, "\"/>")?;
                }
                writeln!(out, "</BlastXML2>")
            }
        }
    }
}

/// The text of all documents, each behind its length.
pub(super) struct Documents(pub DocumentSyntax);

impl Layout for Documents {
    fn head(&self, _: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        Ok(())
    }

    fn query(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
        let mut document = Vec::new();
        match self.0 {
            DocumentSyntax::Json => json::document(&mut document, about, answer)?,
            DocumentSyntax::Xml => xml2::document(&mut document, about, answer)?,
        }
        out.write_all(&(document.len() as u64).to_le_bytes())?;
        out.write_all(&document)
    }

    fn tail(&self, _: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file for each query and a list of them, of the text of a report. All appear when all
/// are whole, the list last: where there is a list, what it names is there.
///
/// Of a list `hits.json` the documents are `hits_1.json`, `hits_2.json` and so on, in its folder.
/// Until [`DocumentFiles::finish`] they are in the folder `hits.json.documents`.
pub struct DocumentFiles {
    syntax: DocumentSyntax,
    /// Locked while it is made, so nobody else writes these documents.
    list: OutputFile,
    folder: Waiting,
    /// What came of the next document.
    next: Vec<u8>,
    names: Vec<OsString>,
}

impl DocumentFiles {
    /// Begins the documents of a list.
    ///
    /// # Errors
    /// The list or the folder of the documents cannot be made.
    pub fn create(syntax: DocumentSyntax, list: &Path) -> Result<DocumentFiles, OutputError> {
        let mut folder = list.as_os_str().to_owned();
        folder.push(".documents");
        let files = DocumentFiles {
            syntax,
            list: OutputFile::create(list)?,
            folder: Waiting(folder.into()),
            next: Vec::new(),
            names: Vec::new(),
        };
        // A run that was killed may have left some.
        let emptied = unless_missing(fs::remove_dir_all(&files.folder.0));
        let made = emptied.and_then(|()| fs::create_dir(&files.folder.0));
        made.map_err(|source| files.error(source))?;
        Ok(files)
    }

    /// Gives all documents their names, then the list.
    ///
    /// # Errors
    /// A file cannot be written. There is no list then.
    pub fn finish(self) -> Result<(), OutputError> {
        let published = self.publish();
        published.map_err(|source| self.error(source))?;
        self.list.commit()
    }

    fn publish(&self) -> io::Result<()> {
        let target = self.list.target();
        let names = self.names.iter().map(|name| name.as_bytes());
        self.syntax.list(&mut self.list.file(), names)?;
        // From now on an older list would name documents that are not its own.
        unless_missing(fs::remove_file(target))?;
        let named =
            |name: &OsString| fs::rename(self.folder.0.join(name), target.with_file_name(name));
        self.names.iter().try_for_each(named)
    }

    /// Names the list in an error of the system.
    pub fn error(&self, source: io::Error) -> OutputError {
        self.list.error(source)
    }

    /// Writes the documents of which all came.
    fn divide(&mut self) -> io::Result<()> {
        let (mut rest, mut documents) = (&self.next[..], Vec::new());
        while let Some((length, behind)) = rest.split_first_chunk::<LENGTH>() {
            let length = u64::from_le_bytes(*length) as usize;
            let Some((document, behind)) = behind.split_at_checked(length) else {
                break;
            };
            documents.push(document);
            rest = behind;
        }
        for document in &documents {
            let name = self.syntax.name(self.list.target(), self.names.len() + 1);
            let mut file = File::create(self.folder.0.join(&name))?;
            file.write_all(document)?;
            file.sync_all()?;
            self.names.push(name);
        }
        let read = self.next.len() - rest.len();
        self.next.drain(..read);
        Ok(())
    }
}

/// A folder that goes with its value, and all in it.
struct Waiting(PathBuf);

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Write for DocumentFiles {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.next.extend_from_slice(text);
        self.divide()?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(document: &str) -> Vec<u8> {
        let length = (document.len() as u64).to_le_bytes();
        [&length[..], document.as_bytes()].concat()
    }

    #[test]
    fn documents_appear_before_their_list_and_only_whole() {
        let place = tempfile::tempdir().unwrap();
        let list = place.path().join("a.json");
        fs::write(&list, "an older list").unwrap();
        let text = [framed("{1}"), framed(""), framed("{three}")].concat();
        for length in 1..text.len() {
            let mut files = DocumentFiles::create(DocumentSyntax::Json, &list).unwrap();
            text.chunks(length)
                .for_each(|some| files.write_all(some).unwrap());
            assert_eq!(fs::read(&list).unwrap(), b"an older list");
            drop(files);
        }
        let mut files = DocumentFiles::create(DocumentSyntax::Json, &list).unwrap();
        text.chunks(5)
            .for_each(|some| files.write_all(some).unwrap());
        assert!(!place.path().join("a_1.json").exists());
        files.finish().unwrap();
        let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
        let expected = "{\n\t\"BlastJSON\": [\n\t\t{\"File\": \"a_1.json\" },\n\t\t{\"File\": \
                        \"a_2.json\" },\n\t\t{\"File\": \"a_3.json\" }\n\t]\n}";
        assert_eq!(read("a.json"), expected);
        assert_eq!(
            ["a_1.json", "a_2.json", "a_3.json"].map(read),
            ["{1}", "", "{three}"]
        );
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 4);
    }

    /// A list of another ending keeps it in the names, as with BLAST.
    #[test]
    fn documents_are_named_after_their_list() {
        let name = |list: &str| DocumentSyntax::Xml.name(Path::new(list), 7).into_string();
        assert_eq!(name("b/x.xml").unwrap(), "x_7.xml");
        assert_eq!(name("x").unwrap(), "x_7.xml");
        assert_eq!(name("x.y.json").unwrap(), "x.y.json_7.xml");
    }
}
